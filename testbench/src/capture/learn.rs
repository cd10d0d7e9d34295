//! What a flow will need, read from its whole octet stream by the model's own MPA and DDP rooms.

use crate::capture::flow::{Flow, Message, RegionUse};
use crate::capture::reassembly::Reassembly;
use crate::model::ddp::{Head, Segment, Tagged, Untagged};
use crate::model::mpa::{Fpdu, MpaReceiver};
use rnic_abi::tables::{RIGHT_READ_SINK, RIGHT_REMOTE_INVALIDATE, RIGHT_REMOTE_WRITE};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// Longest region that is made for a stream.
const REGION_OCTETS_MAX: u64 = 1 << 32;
const OPCODE_READ_RESPONSE: u8 = 2;
const OPCODES_INVALIDATE: [u8; 2] = [4, 6];

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
}

/// Learn a flow.
pub fn flow(direction: &Direction) -> Flow {
    let sequence_start = direction.stream.sequence(direction.start);
    let mut receiver = MpaReceiver::new(sequence_start, direction.markers, direction.crc);
    let mut learned = Learned::default();
    let (mut longest_fpdu, mut fpdus) = (0, Vec::new());
    for fpdu in receiver.push(&direction.stream.octets()[direction.start..]) {
        longest_fpdu = longest_fpdu.max(fpdu.sequence_end.wrapping_sub(fpdu.sequence));
        // Behind a bad FPDU nothing can be trusted; the device will stop there too.
        if !fpdu.crc_good || !fpdu.marker_good {
            break;
        }
        let offset =
            |sequence: u32| direction.start + sequence.wrapping_sub(sequence_start) as usize;
        let first_frame = direction.stream.arrival(offset(fpdu.sequence) + 1);
        learned.take(&fpdu, first_frame);
        fpdus.push(fpdu.sequence..fpdu.sequence_end);
    }
    Flow {
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
        longest_fpdu: longest_fpdu.max(receiver.held_octets() as u32),
        fpdus,
    }
}

impl Learned {
    fn take(&mut self, fpdu: &Fpdu, first_frame: usize) {
        let Some(head) = Head::trusted(fpdu) else {
            return;
        };
        match Segment::parse(head, &fpdu.ulpdu) {
            Segment::Tagged(segment) => self.take_tagged(&segment, first_frame),
            Segment::Untagged(segment) => self.take_untagged(&segment, first_frame),
        }
    }

    fn take_tagged(&mut self, segment: &Tagged, first_frame: usize) {
        // A segment without payload makes no region.
        if segment.payload.is_empty() {
            return;
        }
        let right = match segment.head.opcode {
            OPCODE_READ_RESPONSE => RIGHT_READ_SINK,
            _ => RIGHT_REMOTE_WRITE,
        };
        let region = self.region(segment.stag, right, first_frame);
        let end = segment.offset.saturating_add(segment.payload.len() as u64);
        let whole = region.base.min(segment.offset)..end.max(region.base + region.octets);
        // What lies further away is refused, as by any owner: it takes no memory.
        if region.octets > 0 && whole.end - whole.start > REGION_OCTETS_MAX {
            return;
        }
        if region.octets == 0 {
            region.base = segment.offset;
            region.octets = end - segment.offset;
            return;
        }
        let old_end = region.base + region.octets;
        region.base = region.base.min(segment.offset);
        region.octets = end.max(old_end) - region.base;
    }

    fn take_untagged(&mut self, segment: &Untagged, first_frame: usize) {
        let octets = segment.mo.saturating_add(segment.payload.len() as u32);
        let (qn, msn, opcode) = (segment.qn, segment.msn, segment.head.opcode);
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
                opcode,
                first_frame,
            }),
        }
        if segment.head.last && OPCODES_INVALIDATE.contains(&opcode) {
            let stag = segment.invalidate_stag;
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
