//! A parser that is plain and slow: it makes lists of everything, then looks for every fault. Of
//! the crate it has the names of reasons, and nothing else.
use rpcrdma::wire::{Caps, Refused};
use std::collections::{BTreeMap, BTreeSet};

/// Handle, length and offset.
pub type Range = (u32, u32, u64);

/// What is in a header.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Fields {
    pub xid: u32,
    pub credits: u32,
    pub kind: u32,
    /// Words that only this type has: alignment and threshold, or code and words of an error.
    pub extra: Vec<u32>,
    pub reads: Vec<(u32, Range)>,
    pub writes: Vec<Vec<Range>>,
    pub reply: Option<Vec<Range>>,
    pub header_octets: usize,
    pub body: Vec<u8>,
    /// The only handle, if there is just one.
    pub handle: Option<u32>,
    /// Why it is no call, although it is a header.
    pub no_call: Option<Refused>,
}

/// What the parser has come to.
#[derive(Debug)]
pub struct Parsed {
    pub fields: Fields,
    /// Faults in the order in which they are to be reported.
    faults: Vec<Refused>,
}

impl Parsed {
    pub fn refused(&self) -> Option<Refused> {
        self.faults.first().copied()
    }

    /// Lose a rule.
    pub fn forget(&mut self, broken: Option<Refused>) {
        self.faults.retain(|fault| Some(*fault) != broken);
    }
}

/// Words of a message, one after the other.
struct Words<'a> {
    octets: &'a [u8],
    at: usize,
}

impl Words<'_> {
    fn left(&self) -> usize {
        self.octets.len() - self.at
    }

    fn next(&mut self) -> Option<u32> {
        if self.left() < 4 {
            return None;
        }
        let mut word = 0_u32;
        for _ in 0..4 {
            word = word * 256 + u32::from(self.octets[self.at]);
            self.at += 1;
        }
        Some(word)
    }

    fn range(&mut self) -> Option<Range> {
        let (handle, length) = (self.next()?, self.next()?);
        let high = u64::from(self.next()?);
        Some((handle, length, high * (1 << 32) + u64::from(self.next()?)))
    }
}

/// Reads the lists; faults of the caps are noted, and the first fault of structure ends it.
fn lists(words: &mut Words<'_>, fields: &mut Fields, caps: &Caps, faults: &mut Vec<Refused>) {
    let mut segments = 0_u64;
    let structure = (|| {
        let present = |words: &mut Words<'_>| match words.next() {
            None => Err(Refused::Truncated),
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            Some(_) => Err(Refused::Option),
        };
        while present(words)? {
            if words.left() < 20 {
                return Err(Refused::Truncated);
            }
            let position = words.next().ok_or(Refused::Truncated)?;
            fields
                .reads
                .push((position, words.range().ok_or(Refused::Truncated)?));
            segments += 1;
            if segments > u64::from(caps.segments_max) {
                faults.push(Refused::Segments);
            }
        }
        let mut array = |words: &mut Words<'_>, faults: &mut Vec<Refused>| {
            let count = words.next().ok_or(Refused::Truncated)?;
            if u64::from(count) * 16 > words.left() as u64 {
                return Err(Refused::Count);
            }
            segments += u64::from(count);
            if segments > u64::from(caps.segments_max) {
                faults.push(Refused::Segments);
            }
            (0..count)
                .map(|_| words.range().ok_or(Refused::Count))
                .collect::<Result<Vec<_>, _>>()
        };
        while present(words)? {
            fields.writes.push(array(words, faults)?);
            if fields.writes.len() > caps.write_chunks_max as usize {
                faults.push(Refused::WriteChunks);
            }
        }
        if present(words)? {
            fields.reply = Some(array(words, faults)?);
        }
        Ok(())
    })();
    faults.extend(structure.err());
}

/// Items that are read: position and sum of lengths of entries that follow each other.
fn items(fields: &Fields) -> Vec<(u64, u64)> {
    let mut items: Vec<(u64, u64)> = Vec::new();
    for (position, (_, length, _)) in &fields.reads {
        match items.last_mut() {
            Some((last, sum)) if *last == u64::from(*position) => *sum += u64::from(*length),
            _ => items.push((u64::from(*position), u64::from(*length))),
        }
    }
    items
}

fn sum(ranges: &[Range]) -> u64 {
    ranges.iter().map(|range| u64::from(range.1)).sum()
}

fn up(octets: u64) -> u64 {
    octets + (4 - octets % 4) % 4
}

/// Octets before each item that is read, were it where it is allowed last; results before it may
/// have so many octets.
fn beyond(fields: &Fields, results: u64) -> bool {
    let items = items(fields);
    let whole: u64 = items
        .iter()
        .filter(|item| item.0 == 0)
        .map(|item| item.1)
        .sum();
    let inline = match (fields.kind, &fields.reply) {
        (1, Some(reply)) if whole == 0 => sum(reply),
        (1, _) => whole,
        _ => fields.body.len() as u64,
    };
    let apart: Vec<_> = items.iter().filter(|item| item.0 != 0).collect();
    (0..apart.len()).any(|index| {
        let before: u64 = apart[..index].iter().map(|item| up(item.1)).sum();
        apart[index].0 > inline + results + before
    })
}

/// All faults of the meaning.
fn meaning(fields: &Fields, caps: &Caps) -> BTreeSet<Refused> {
    let mut faults = BTreeSet::new();
    let mut check = |fault: Refused, wrong: bool| {
        if wrong {
            faults.insert(fault);
        }
    };
    let results: Vec<Range> = fields
        .writes
        .iter()
        .chain(&fields.reply)
        .flatten()
        .copied()
        .collect();
    let reads = fields.reads.iter().map(|read| read.1);
    let beyond_address = |range: Range| u128::from(range.2) + u128::from(range.1) > 1 << 64;
    check(
        Refused::Wraps,
        reads.chain(results.iter().copied()).any(beyond_address),
    );
    let align = fields.extra.first().copied().unwrap_or(4);
    check(Refused::Align, !(2..32).any(|power| align == 1 << power));
    check(
        Refused::Unaligned,
        fields.reads.iter().any(|read| read.0 % 4 > 0),
    );
    let items = items(fields);
    let inside = items.windows(2).any(|pair| {
        let octets = if pair[0].0 == 0 { 0 } else { pair[0].1 };
        pair[1].0 < pair[0].0 + octets
    });
    check(Refused::Inside, inside);
    let (long, first) = (fields.kind == 1, items.first().copied());
    check(
        Refused::PositionZero,
        !long && items.iter().any(|item| item.0 == 0),
    );
    let whole = first.filter(|item| item.0 == 0).map(|_| {
        items
            .iter()
            .filter(|item| item.0 == 0)
            .map(|item| item.1)
            .sum::<u64>()
    });
    check(
        Refused::Nowhere,
        long && whole.is_none() && fields.reply.is_none(),
    );
    check(Refused::Behind, long && !fields.body.is_empty());
    let short = if long {
        whole.is_some_and(|octets| octets < 4)
    } else {
        fields.body.len() < 4
    };
    check(Refused::ShortBody, short);
    check(
        Refused::OtherXid,
        !long && !fields.body.starts_with(&fields.xid.to_be_bytes()),
    );
    let written = fields.writes.iter().map(|chunk| up(sum(chunk))).sum();
    check(Refused::Beyond, beyond(fields, written));
    let octets: u64 = fields.reads.iter().map(|read| u64::from(read.1 .1)).sum();
    check(Refused::ReadOctets, octets > caps.read_octets_max);
    check(Refused::Overlap, overlap(&results));
    faults
}

/// Ranges of a handle, in the order of their offsets, reach into the next one.
fn overlap(results: &[Range]) -> bool {
    let mut of_handle: BTreeMap<u32, Vec<(u128, u128)>> = BTreeMap::new();
    for (handle, length, offset) in results.iter().filter(|range| range.1 > 0) {
        let begin = u128::from(*offset);
        of_handle
            .entry(*handle)
            .or_default()
            .push((begin, begin + u128::from(*length)));
    }
    of_handle.into_values().any(|mut ranges| {
        ranges.sort_unstable();
        let mut end = 0;
        ranges.into_iter().any(|range| {
            let reaches = range.0 < end;
            end = end.max(range.1);
            reaches
        })
    })
}

fn refused(fields: Fields, fault: Refused) -> Parsed {
    Parsed {
        fields,
        faults: vec![fault],
    }
}

/// Reads a message.
pub fn parse(octets: &[u8], caps: &Caps) -> Parsed {
    let (mut words, mut fields) = (Words { octets, at: 0 }, Fields::default());
    if octets.len() < 16 {
        return refused(fields, Refused::Short);
    }
    let mut next = || words.next().unwrap_or(0);
    let version;
    (fields.xid, version, fields.credits, fields.kind) = (next(), next(), next(), next());
    if version != 1 {
        let error = fields.kind == 4;
        let fault = if error {
            Refused::OtherVersionError
        } else {
            Refused::Version
        };
        return refused(fields, fault);
    }
    if fields.kind > 4 {
        return refused(fields, Refused::Type);
    }
    if fields.kind >= 3 {
        // DONE has no more words; an error has a code, and words by its code.
        let mut count = usize::from(fields.kind == 4);
        while fields.extra.len() < count {
            let Some(word) = words.next() else {
                return refused(fields, Refused::ShortError);
            };
            fields.extra.push(word);
            let by_code = |code: u32| [8, 2, 0].get(code as usize).copied().unwrap_or(8);
            count = 1 + by_code(fields.extra[0]);
        }
        fields.header_octets = words.at;
        return Parsed {
            fields,
            faults: Vec::new(),
        };
    }
    let mut faults = Vec::new();
    for _ in 0..if fields.kind == 2 { 2 } else { 0 } {
        match words.next() {
            Some(word) => fields.extra.push(word),
            None => return refused(fields, Refused::Truncated),
        }
    }
    lists(&mut words, &mut fields, caps, &mut faults);
    fields.header_octets = words.at;
    fields.body = octets[words.at..].to_vec();
    if faults.is_empty() {
        faults.extend(meaning(&fields, caps));
    }
    let reads = fields.reads.iter().map(|read| read.1 .0);
    let results = fields
        .writes
        .iter()
        .chain(&fields.reply)
        .flatten()
        .map(|range| range.0);
    let handles: BTreeSet<u32> = reads.chain(results).collect();
    fields.handle = handles.first().copied().filter(|_| handles.len() == 1);
    let whole = fields.reads.first().is_some_and(|read| read.0 == 0);
    fields.no_call = match (fields.kind == 1 && !whole, beyond(&fields, 0)) {
        (true, _) => Some(Refused::Nowhere),
        (false, true) => Some(Refused::Beyond),
        (false, false) => None,
    };
    Parsed { fields, faults }
}
