//! What must be true of a header whose structure is right.
use super::lists::word;
use super::segment::ReadSegment;
use super::{Caps, Header, Kind, Refused, WORD_OCTETS};

/// Checks the meaning of a header, in the order of [`Refused`].
pub(super) fn message(header: &Header<'_>, caps: &Caps) -> Result<(), Refused> {
    let long = match header.kind() {
        Kind::Done | Kind::Error(_) => return Ok(()),
        Kind::Nomsg => true,
        Kind::Msg | Kind::Msgp(_) => false,
    };
    addresses(header)?;
    alignment(header)?;
    let (octets, long_octets) = positions(header, long)?;
    if long {
        place_of_message(header, long_octets)?;
    } else {
        body(header)?;
    }
    // In a reply, results that were written are in the stream, too.
    let results = header.writes().map(|chunk| rounded(chunk.octets()));
    let inline = inline_octets(header, long_octets) + results.sum::<u64>();
    within_stream(header, inline)?;
    if octets > caps.read_octets_max {
        return Err(Refused::ReadOctets);
    }
    results_are_apart(header)
}

fn addresses(header: &Header<'_>) -> Result<(), Refused> {
    let reads = header.reads().map(|read| read.segment);
    if reads
        .chain(header.results())
        .all(|segment| segment.has_end())
    {
        Ok(())
    } else {
        Err(Refused::Wraps)
    }
}

fn alignment(header: &Header<'_>) -> Result<(), Refused> {
    match header.padding() {
        Some(padding) if !padding.is_valid() => Err(Refused::Align),
        _ => Ok(()),
    }
}

/// Positions are multiples of a word and ascend by at least the octets of each chunk; 0 is for a
/// message without body. Octets of all chunks, and of that at position 0.
fn positions(header: &Header<'_>, long: bool) -> Result<(u64, u64), Refused> {
    let reads = || header.reads();
    if reads().any(|read| read.position as usize % WORD_OCTETS != 0) {
        return Err(Refused::Unaligned);
    }
    let (mut before, mut end) = (None, 0);
    for ReadSegment { position, segment } in reads() {
        if before != Some(position) {
            if u64::from(position) < end {
                return Err(Refused::Inside);
            }
            end = u64::from(position);
        }
        // The octets of position 0 are the stream itself: they move no later item.
        end += if position == 0 {
            0
        } else {
            u64::from(segment.length)
        };
        before = Some(position);
    }
    if !long && reads().any(|read| read.position == 0) {
        return Err(Refused::PositionZero);
    }
    Ok(header.read_octets())
}

/// A message without body is in a chunk, whole, and nothing else is after the header.
fn place_of_message(header: &Header<'_>, long_octets: u64) -> Result<(), Refused> {
    let in_reads = header.reads().next().is_some_and(|read| read.position == 0);
    if !in_reads && header.reply().is_none() {
        return Err(Refused::Nowhere);
    }
    if !header.body().is_empty() {
        return Err(Refused::Behind);
    }
    if in_reads && long_octets < WORD_OCTETS as u64 {
        return Err(Refused::ShortBody);
    }
    Ok(())
}

/// RPC-025: the body begins with the XID of the header.
fn body(header: &Header<'_>) -> Result<(), Refused> {
    let (xid, _) = word(header.body()).ok_or(Refused::ShortBody)?;
    if xid == header.xid() {
        Ok(())
    } else {
        Err(Refused::OtherXid)
    }
}

/// Octets of the reduced stream: after the header, at position 0, or in the reply chunk.
fn inline_octets(header: &Header<'_>, long_octets: u64) -> u64 {
    match (header.kind(), header.reply()) {
        (Kind::Nomsg, Some(reply)) if long_octets == 0 => reply.octets(),
        (Kind::Nomsg, _) => long_octets,
        _ => header.body().len() as u64,
    }
}

fn rounded(octets: u64) -> u64 {
    octets.next_multiple_of(WORD_OCTETS as u64)
}

/// What must be true of a call beyond any other message; see [`Header::check_call`].
pub(super) fn call(header: &Header<'_>) -> Result<(), Refused> {
    let (_, long_octets) = header.read_octets();
    let in_reads = header.reads().next().is_some_and(|read| read.position == 0);
    if header.kind() == Kind::Nomsg && !in_reads {
        return Err(Refused::Nowhere);
    }
    within_stream(header, inline_octets(header, long_octets))
}

/// No position is beyond the `inline` octets and the chunks before it. Each of these may end with
/// roundup that is in no octets (RFC 5666, 3.7).
fn within_stream(header: &Header<'_>, inline: u64) -> Result<(), Refused> {
    let (mut stream, mut chunk, mut before) = (inline, 0_u64, 0);
    for ReadSegment { position, segment } in header.reads() {
        if position == 0 {
            continue;
        }
        if position != before {
            stream += rounded(chunk);
            (chunk, before) = (0, position);
        }
        if u64::from(position) > stream {
            return Err(Refused::Beyond);
        }
        chunk += u64::from(segment.length);
    }
    Ok(())
}

/// A peer that writes one result must not overwrite another one by it.
fn results_are_apart(header: &Header<'_>) -> Result<(), Refused> {
    let mut segments = header.results();
    while let Some(segment) = segments.next() {
        if segments.clone().any(|other| segment.overlaps(other)) {
            return Err(Refused::Overlap);
        }
    }
    Ok(())
}
