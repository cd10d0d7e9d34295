//! What a flow will need, read from its whole octet stream by `rnic-wire`.

use crate::flow::{Flow, Message, ReadUse, RegionUse};
use crate::reassembly::Reassembly;
use rnic_abi::tables::{RIGHT_READ_SINK, RIGHT_REMOTE_INVALIDATE, RIGHT_REMOTE_WRITE};
use rnic_wire::ddp::control::Control;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::read_request::ReadRequest;
use rnic_wire::ddp::tagged::TaggedHeader;
use rnic_wire::ddp::untagged::UntaggedHeader;
use rnic_wire::mpa::crc32c;
use rnic_wire::mpa::fpdu::Framing;
use rnic_wire::mpa::marker::{fpduptr, octets_to_marker, Marker, MARKER_INTERVAL_OCTETS};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::ops::Range;

/// Octets that may be missing in a gap: beyond a window of 1 GiB no sender goes (RFC 7323).
pub(crate) const GAP_OCTETS_MAX: usize = 1 << 30;

/// A direction in full operation.
#[derive(Debug)]
pub struct Direction<'a> {
    /// Sender.
    pub source: SocketAddr,
    /// Receiver.
    pub destination: SocketAddr,
    /// All it sent.
    pub stream: &'a Reassembly,
    /// Offset of the first octet of full operation.
    pub start: usize,
    /// Its start-up frame is in the capture, so its MSNs begin with 1.
    pub has_startup: bool,
    /// Revision.
    pub revision: u8,
    /// Markers.
    pub markers: bool,
    /// CRC32C.
    pub crc: bool,
    /// First frame.
    pub first_frame: usize,
    /// Last frame of the connection.
    pub last_frame: usize,
}

/// Regions and messages while they are collected.
#[derive(Debug, Default)]
struct Learned {
    regions: BTreeMap<u32, RegionUse>,
    invalidated: BTreeSet<u32>,
    /// The STag that each stag_index stands for at this point of the stream.
    current: BTreeMap<u32, u32>,
    messages: Vec<Message>,
    reads: Vec<ReadUse>,
    /// The last read lacks its last segment.
    is_responding: bool,
    /// Read Requests that are not answered, oldest first.
    requests: VecDeque<Request>,
}

/// What a Read Request asks for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Request {
    stag: u32,
    offset: u64,
    octets: u32,
}

/// The Read Requests in a direction, up to its first bad FPDU.
fn requests(direction: &Direction) -> VecDeque<Request> {
    let stream = &direction.stream.octets()[direction.start..];
    let framing = Framing {
        markers: direction.markers,
        crc: direction.crc,
    };
    let (mut at, mut found) = (0, VecDeque::new());
    while let Ok((fpdu, octets)) = framing.extract(stream, at) {
        if !is_good(stream, at..at + octets, framing) {
            break;
        }
        at += octets;
        found.extend(request(fpdu.ulpdu()));
    }
    found
}

fn request(ulpdu: &[u8]) -> Option<Request> {
    let control = Control::new_checked(ulpdu).ok()?;
    if control.tagged() || control.opcode() != Opcode::ReadRequest {
        return None;
    }
    let segment = UntaggedHeader::new_checked(ulpdu).ok()?;
    let request = ReadRequest::new_checked(segment.payload()).ok()?;
    Some(Request {
        stag: request.sink_stag(),
        offset: request.sink_to(),
        octets: request.size(),
    })
}

/// Learn a flow; `peer` is the other direction of its connection.
pub fn flow(direction: &Direction, peer: Option<&Direction>) -> Flow {
    let sequence_start = direction.stream.sequence(direction.start);
    let stream = &direction.stream.octets()[direction.start..];
    let framing = Framing {
        markers: direction.markers,
        crc: direction.crc,
    };
    let mut learned = Learned {
        requests: peer.map(requests).unwrap_or_default(),
        ..Learned::default()
    };
    let (mut longest_fpdu, mut fpdus) = (0, Vec::new());
    let (mut at, mut is_trusted) = (0, true);
    while let Ok((fpdu, octets)) = framing.extract(stream, at) {
        let end = at + octets;
        if is_trusted {
            longest_fpdu = longest_fpdu.max(octets);
            // The device stops at a bad FPDU; what follows it means nothing.
            is_trusted = is_good(stream, at..end, framing);
        }
        if is_trusted {
            let first_frame = direction.stream.arrival(direction.start + at + 1);
            learned.take(fpdu.ulpdu(), first_frame);
            let sequence = |offset| sequence_start.wrapping_add(offset as u32);
            fpdus.push(sequence(at)..sequence(end));
        }
        at = end;
    }
    learned.complete_reads();
    let gap = direction
        .stream
        .gap()
        .filter(|gap| gap.missing <= GAP_OCTETS_MAX);
    let first_msns = match direction.has_startup {
        true => BTreeMap::new(),
        false => first_msns(&learned.messages),
    };
    Flow {
        number: 0,
        source: direction.source,
        destination: direction.destination,
        revision: direction.revision,
        markers: direction.markers,
        crc: direction.crc,
        sequence_start,
        first_frame: direction.first_frame,
        last_frame: direction.last_frame,
        regions: learned.regions.into_values().collect(),
        messages: learned.messages,
        reads: learned.reads,
        first_msns,
        gap,
        gap_after: Some(direction.stream.arrival(direction.stream.octets().len())),
        sequence_end: direction.stream.sequence(direction.stream.octets().len()),
        longest_fpdu: longest_fpdu.max(stream.len() - at) as u32,
        fpdus,
    }
}

/// The MSN of each queue's first message.
fn first_msns(messages: &[Message]) -> BTreeMap<u32, u32> {
    let mut first = BTreeMap::new();
    for message in messages {
        first.entry(message.qn).or_insert(message.msn);
    }
    first
}

/// Whether CRC and markers of the FPDU in these octets of the stream are right.
fn is_good(stream: &[u8], octets: Range<usize>, framing: Framing) -> bool {
    let has_leading_marker = octets_to_marker(octets.start as u64) == 0;
    let first = octets.start + octets_to_marker(octets.start as u64);
    let mut markers = (first..octets.end).step_by(MARKER_INTERVAL_OCTETS);
    let points_to_start = |at: usize| {
        let (offset, marker) = (at - octets.start, Marker::new_unchecked(&stream[at..]));
        // Peers of the older draft count from the leading marker (MPA-011).
        let starts = [has_leading_marker, false].map(|leading| fpduptr(offset, leading));
        starts.contains(&marker.distance_octets())
    };
    (!framing.crc || crc32c::verify(&stream[octets.clone()]))
        && (!framing.markers || markers.all(points_to_start))
}

impl Learned {
    fn take(&mut self, ulpdu: &[u8], first_frame: usize) {
        let Ok(control) = Control::new_checked(ulpdu) else {
            return;
        };
        if control.tagged() {
            if let Ok(segment) = TaggedHeader::new_checked(ulpdu) {
                self.take_response(&segment, first_frame);
                self.take_tagged(&segment, first_frame);
            }
        } else if let Ok(segment) = UntaggedHeader::new_checked(ulpdu) {
            self.take_untagged(&segment, first_frame);
        }
    }

    fn take_tagged(&mut self, segment: &TaggedHeader<&[u8]>, first_frame: usize) {
        // A segment without payload makes no region.
        if segment.payload().is_empty() {
            return;
        }
        let right = match segment.control().opcode() {
            Opcode::ReadResponse => RIGHT_READ_SINK,
            _ => RIGHT_REMOTE_WRITE,
        };
        let region = self.region(segment.stag(), right, first_frame);
        let octets = segment.payload().len() as u64;
        region.widen(segment.to(), octets);
    }

    /// A segment of a Read Response: what it answers is the oldest Read Request, if it begins where
    /// that asks for, and has as many octets in the end.
    fn take_response(&mut self, segment: &TaggedHeader<&[u8]>, first_frame: usize) {
        if segment.control().opcode() != Opcode::ReadResponse {
            return;
        }
        let octets = segment.payload().len() as u32;
        if !self.is_responding {
            self.reads.push(ReadUse {
                stag: segment.stag(),
                offset: segment.to(),
                octets: 0,
                first_frame,
                requested: false,
            });
        }
        let read = self.reads.last_mut().expect("one was pushed");
        read.octets = read.octets.saturating_add(octets);
        self.is_responding = !segment.control().last();
        if !self.is_responding {
            let asked = |request: &&Request| {
                let is_empty = read.octets == 0;
                let same = (request.stag, request.offset) == (read.stag, read.offset);
                request.octets == read.octets && (is_empty || same)
            };
            read.requested = self.requests.front().filter(asked).is_some();
            if read.requested {
                self.requests.pop_front();
            }
        }
    }

    /// Of a response whose end is not in the capture: what was asked for, or an octet more than was
    /// seen, so that it does not end.
    fn complete_reads(&mut self) {
        let Some(read) = self.reads.last_mut().filter(|_| self.is_responding) else {
            return;
        };
        let asked = |request: &&Request| {
            (request.stag, request.offset) == (read.stag, read.offset)
                && request.octets > read.octets
        };
        let asked = self.requests.front().filter(asked).copied();
        read.requested = asked.is_some();
        let seen = read.octets.saturating_add(1);
        read.octets = asked.map_or(seen, |request| request.octets);
    }

    fn take_untagged(&mut self, segment: &UntaggedHeader<&[u8]>, first_frame: usize) {
        let octets = segment.mo().saturating_add(segment.payload().len() as u32);
        let (qn, msn, opcode) = (segment.qn(), segment.msn(), segment.control().opcode());
        let open = self
            .messages
            .iter_mut()
            .rev()
            .find(|known| (known.qn, known.msn) == (qn, msn));
        match open {
            Some(message) => message.octets = message.octets.max(octets),
            None => self.messages.push(Message {
                qn,
                msn,
                octets,
                opcode: opcode.into(),
                first_frame,
            }),
        }
        if segment.control().last() && opcode.invalidates() {
            let stag = segment.invalidate_stag();
            self.region(stag, RIGHT_REMOTE_INVALIDATE, first_frame);
            self.invalidated.insert(stag);
        }
    }

    /// The entry of `stag`, made valid again before `first_frame` if it was invalidated or its
    /// index had another key.
    fn region(&mut self, stag: u32, right: u32, first_frame: usize) -> &mut RegionUse {
        let before = self.current.insert(stag >> 8, stag);
        let empty = RegionUse {
            stag,
            base: 0,
            octets: 0,
            rights: 0,
            initial: before.is_none(),
            renewals: Vec::new(),
            uses: Vec::new(),
        };
        let region = self.regions.entry(stag).or_insert(empty);
        region.rights |= right;
        if region.uses.last() != Some(&first_frame) {
            region.uses.push(first_frame);
        }
        let replaced = before.is_some_and(|before| before != stag);
        if self.invalidated.remove(&stag) || replaced {
            region.renewals.push(first_frame);
        }
        region
    }
}

#[cfg(test)]
mod tests;
