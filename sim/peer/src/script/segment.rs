//! FPDUs, good and malformed.

use super::state::{pattern, State, Stop};
use super::step::{Segment, Step, Which};
use crate::ddp::{self, ReadRequest};
use crate::mpa::Fpdu;

/// Reserved bits of the octet that DDP has first, and of RDMAP's.
const RESERVED: [u8; 2] = [0x3c, 0x30];
/// T.
const TAGGED: u8 = 0x80;

/// The ULPDU that a step asks for, and whether it takes a number of a queue.
fn ulpdu(state: &State<'_>, step: &Step, segment: &Segment) -> Result<Vec<u8>, Stop> {
    let mut ulpdu = match step {
        Step::Send(_) | Step::SendInvalidate(_) => send(state, step, segment)?,
        Step::Write(_) => {
            let (stag, to) = place(state, segment)?;
            let octets = segment.octets.unwrap_or(state.buffer_octets);
            let data = written(state, segment, octets);
            [&ddp::tagged(ddp::WRITE, stag, to)[..], &data].concat()
        }
        Step::Read(_) => {
            let (source_stag, source_to) = place(state, segment)?;
            let sink = state.own(Which::Sink);
            let request = ReadRequest {
                sink_stag: sink.stag,
                sink_to: sink.to,
                octets: segment.octets.unwrap_or(state.buffer_octets),
                source_stag,
                source_to,
            };
            request.ulpdu(number(segment, state.reads.ours))
        }
        Step::Response(_) => {
            let (stag, to) = place(state, &at(segment, Which::Read))?;
            let whole = state.read.map_or(state.buffer_octets, |read| read.octets);
            let begin = segment.offset.max(0) as u32;
            let octets = segment.octets.unwrap_or(whole.saturating_sub(begin));
            let mut data = pattern(whole);
            data.resize(data.len().max((begin + octets) as usize), b'z');
            let data = &data[begin as usize..][..octets as usize];
            [&ddp::tagged(ddp::READ_RESPONSE, stag, to)[..], data].concat()
        }
        Step::Terminate(_) => {
            let [layer, kind, code] = segment.cause.unwrap_or([1, 1, 0]);
            let payload = [layer << 4 | kind & 0x0f, code, 0, 0];
            let header = ddp::untagged(ddp::TERMINATE, 2, 1, 0);
            [&header[..], &payload].concat()
        }
        _ => Vec::new(),
    };
    spoil(&mut ulpdu, segment);
    Ok(ulpdu)
}

/// The octets of a Write: those that were read, where the target compares them.
fn written(state: &State<'_>, segment: &Segment, octets: u32) -> Vec<u8> {
    let begin = match segment.end {
        true => state.response.len() as i64 + segment.offset,
        false => segment.offset,
    };
    let begin = usize::try_from(begin).unwrap_or(usize::MAX);
    let end = begin.saturating_add(octets as usize);
    match state.response.get(begin..end) {
        Some(data) => data.to_vec(),
        None => pattern(octets),
    }
}

/// With this region unless it has one.
fn at(segment: &Segment, which: Which) -> Segment {
    let at = segment.at.or(Some(which));
    Segment {
        at,
        ..segment.clone()
    }
}

fn number(segment: &Segment, due: u32) -> u32 {
    segment
        .msn
        .unwrap_or(due.wrapping_add_signed(segment.msn_off))
}

fn send(state: &State<'_>, step: &Step, segment: &Segment) -> Result<Vec<u8>, Stop> {
    let invalidates = matches!(step, Step::SendInvalidate(_));
    let opcode = if invalidates {
        ddp::SEND_INVALIDATE
    } else {
        ddp::SEND
    };
    let (qn, msn) = (segment.qn.unwrap_or(0), number(segment, state.sends.ours));
    let mut header = ddp::untagged(opcode, qn, msn, segment.mo);
    if invalidates {
        let (stag, _) = place(state, segment)?;
        header[2..6].copy_from_slice(&stag.to_be_bytes());
    }
    let payload = match (segment.record, segment.octets) {
        (Some(which), _) => {
            let record = state.own(which).record();
            let [from, to] = segment.part.unwrap_or([0, record.len()]);
            record.get(from..to).unwrap_or_default().to_vec()
        }
        (None, Some(octets)) => pattern(octets),
        (None, None) => vec![0; 16],
    };
    Ok([&header[..], &payload].concat())
}

/// STag and Tagged Offset.
fn place(state: &State<'_>, segment: &Segment) -> Result<(u32, u64), Stop> {
    let region = segment.at.map(|which| state.region(which)).transpose()?;
    let stag = segment.stag.or(region.map(|region| region.stag));
    let begin = region.map_or(0, |region| match segment.end {
        true => region.to.wrapping_add(u64::from(region.octets)),
        false => region.to,
    });
    let to = match &segment.to {
        Some(digits) => {
            u64::from_str_radix(digits.trim_start_matches("0x"), 16).expect("checked with the case")
        }
        None => begin.wrapping_add_signed(segment.offset),
    };
    Ok((stag.unwrap_or(0) ^ segment.stag_xor, to))
}

/// Fields that are not as they should be.
fn spoil(ulpdu: &mut Vec<u8>, segment: &Segment) {
    if let [first, second, ..] = &mut ulpdu[..] {
        let set = |octet: &mut u8, mask: u8, value: Option<u8>| {
            if let Some(value) = value {
                *octet = *octet & !mask | value;
            }
        };
        set(
            first,
            TAGGED,
            segment.tagged.map(|is_set| u8::from(is_set) << 7),
        );
        set(
            first,
            ddp::LAST,
            segment.last.map(|is_set| u8::from(is_set) << 6),
        );
        set(first, 0x03, segment.ddp_version);
        set(
            second,
            0xc0,
            segment.rdmap_version.map(|version| version << 6),
        );
        set(second, 0x0f, segment.opcode);
        if segment.reserved {
            *first |= RESERVED[0];
            *second |= RESERVED[1];
        }
    }
    ulpdu.truncate(segment.keep.unwrap_or(usize::MAX));
    ulpdu.resize(ulpdu.len() + segment.more, 0);
}

/// An octet of an FPDU, from its end if below zero.
fn octet(fpdu: &Fpdu, at: i64) -> Result<usize, Stop> {
    let octets = fpdu.octets.len();
    let index = match usize::try_from(at) {
        Ok(index) => Some(index),
        Err(_) => octets.checked_sub(at.unsigned_abs() as usize),
    };
    let index = index.filter(|index| *index < octets);
    index.ok_or_else(|| Stop::Unseen(format!("the FPDU has {octets} octets, and none at {at}")))
}

impl State<'_> {
    /// Send what a step asks for, as often as it asks.
    pub(crate) fn say(&mut self, step: &Step, segment: &Segment) -> Result<(), Stop> {
        let times = segment.times.unwrap_or(1);
        if segment.bad || !self.is_bad_named {
            (self.bad, self.is_bad_named) = (Vec::new(), segment.bad);
        }
        let is_bad = segment.bad == self.is_bad_named;
        for time in 1..=times {
            let ulpdu = ulpdu(self, step, segment)?;
            self.count(step, segment, &ulpdu);
            let begin = self.talk.framing.position;
            let fpdu = self.talk.framing.fpdu(&ulpdu);
            let fpdu = self.changed(fpdu, &ulpdu, begin, segment)?;
            if is_bad {
                self.bad.push(ulpdu);
            }
            // Of several that share segments the last one ends the sharing.
            let is_joined = segment.joined && (times == 1 || time < times);
            self.put_fpdu(&fpdu.octets, segment, is_joined);
        }
        Ok(())
    }

    /// The last segment of a message takes its number; one with another number takes none.
    fn count(&mut self, step: &Step, segment: &Segment, ulpdu: &[u8]) {
        let is_odd = segment.msn.is_some() || segment.msn_off != 0;
        let is_last = ulpdu.first().is_some_and(|first| first & ddp::LAST != 0);
        if is_odd || !is_last {
            return;
        }
        match step {
            Step::Send(_) | Step::SendInvalidate(_) => self.sends.ours += 1,
            Step::Read(_) => {
                self.reads.ours += 1;
                self.asked_octets = segment.octets.unwrap_or(self.buffer_octets);
            }
            _ => {}
        }
    }

    fn changed(
        &self,
        mut fpdu: Fpdu,
        ulpdu: &[u8],
        begin: u64,
        segment: &Segment,
    ) -> Result<Fpdu, Stop> {
        if let Some(fill) = segment.pad {
            // Without markers: ULPDU_Length, the ULPDU, PAD, the CRC.
            let end = fpdu.octets.len() - 4;
            fpdu.octets[2 + ulpdu.len()..end].fill(fill);
            fpdu = fpdu.seal();
        }
        if let Some([number, bits]) = segment.marker {
            let first = begin.next_multiple_of(512) - begin;
            let at = octet(&fpdu, first as i64 + i64::from(number) * 512 + 3)? - 3;
            for (off, bits) in bits.to_be_bytes().into_iter().enumerate() {
                fpdu = fpdu.flip(at + off, bits);
            }
            fpdu = fpdu.seal();
        }
        if let Some([at, bits]) = segment.flip {
            let at = octet(&fpdu, at)?;
            fpdu = fpdu.flip(at, bits as u8);
            if segment.sealed {
                fpdu = fpdu.seal();
            }
        }
        Ok(fpdu)
    }

    fn put_fpdu(&mut self, octets: &[u8], segment: &Segment, is_joined: bool) {
        let mut octets = [&std::mem::take(&mut self.joined)[..], octets].concat();
        let conn = &self.talk.conn;
        if is_joined {
            self.joined = octets;
        } else if segment.singly {
            conn.send_singly(&octets);
        } else {
            for piece in &segment.pieces {
                let rest = octets.split_off((*piece).min(octets.len()));
                conn.send(&octets);
                octets = rest;
            }
            conn.send(&octets);
        }
    }
}
