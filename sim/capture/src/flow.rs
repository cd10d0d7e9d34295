//! A flow: one direction of a TCP connection that entered MPA full operation, and what its receiver
//! must know.

use crate::reassembly::Gap;
use rnic_abi::tables::RIGHT_READ_SINK;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::ops::Range;

/// A flow, and what the device must know before its frames are played.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Its number in the capture, in the order of start.
    pub number: usize,
    /// Sender.
    pub source: SocketAddr,
    /// Receiver: the side the device plays.
    pub destination: SocketAddr,
    /// MPA revision of the Reply.
    pub revision: u8,
    /// Markers are expected: the receiver's own start-up frame has M.
    pub markers: bool,
    /// CRC32C is in use: either start-up frame has C.
    pub crc: bool,
    /// Sequence number of the first octet of full operation.
    pub sequence_start: u32,
    /// Frame, from 0, before which the device must know the connection.
    pub first_frame: usize,
    /// Last frame, from 0, of its connection.
    pub last_frame: usize,
    /// Regions that it writes, by rising STag.
    pub regions: Vec<RegionUse>,
    /// Untagged messages, in order of their last segment.
    pub messages: Vec<Message>,
    /// Reads of the receiver that it answers, in order.
    pub reads: Vec<ReadUse>,
    /// The first MSN of each queue, where the capture begins in mid-connection; 1 for the others.
    pub first_msns: BTreeMap<u32, u32>,
    /// Where it stops, if the capture lacks octets of it.
    pub gap: Option<Gap>,
    /// The frame, from 0, that brought its last octet, up to the gap.
    pub gap_after: Option<usize>,
    /// Sequence number after that octet.
    pub sequence_end: u32,
    /// Octets on the wire of its longest FPDU, whole or not.
    pub longest_fpdu: u32,
    /// Sequence numbers of its whole FPDUs, markers included, up to the first bad one.
    pub fpdus: Vec<Range<u32>>,
}

impl Flow {
    /// A flow that carries nothing: revision 1, without markers, with CRC32C.
    pub fn between(source: SocketAddr, destination: SocketAddr) -> Self {
        Self {
            number: 0,
            source,
            destination,
            revision: 1,
            markers: false,
            crc: true,
            sequence_start: 0,
            first_frame: 0,
            last_frame: 0,
            regions: Vec::new(),
            messages: Vec::new(),
            reads: Vec::new(),
            first_msns: BTreeMap::new(),
            gap: None,
            gap_after: None,
            sequence_end: 0,
            longest_fpdu: 0,
            fpdus: Vec::new(),
        }
    }
}

/// Use of one STag by a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionUse {
    /// STag.
    pub stag: u32,
    /// Lowest Tagged Offset written.
    pub base: u64,
    /// Octets from there to the highest one written; 0 if it is only invalidated.
    pub octets: u64,
    /// Rights it must have, `rnic_abi::tables::RIGHT_*`.
    pub rights: u32,
    /// No other STag of the flow had its stag_index before: it is registered with the connection.
    pub initial: bool,
    /// Frames before which it must be made valid again, because the flow invalidated it before, or
    /// used its stag_index with another key.
    pub renewals: Vec<usize>,
    /// Frames that write to it or invalidate it.
    pub uses: Vec<usize>,
}

/// Longest region that is made for a stream; the device's own have 48 bits.
const REGION_OCTETS_MAX: u64 = 1 << 40;
/// As long as a sink of Read Responses may be: see `rnic_abi::tables::RECEIVE_POOL`.
const SINK_OCTETS_MAX: u64 = (1 << 35) - 1;

impl RegionUse {
    /// Take `octets` octets from `offset` on into the region. What lies too far away is refused, as
    /// by any owner: it takes no memory.
    pub(crate) fn widen(&mut self, offset: u64, octets: u64) {
        let end = offset.saturating_add(octets);
        let (base, old_end) = match self.octets {
            0 => (offset, end),
            known => (self.base, self.base.saturating_add(known)),
        };
        let (first, last) = (base.min(offset), old_end.max(end));
        let most = match self.rights & RIGHT_READ_SINK {
            0 => REGION_OCTETS_MAX,
            _ => SINK_OCTETS_MAX,
        };
        if last - first <= most {
            (self.base, self.octets) = (first, last - first);
        }
        if self.octets > SINK_OCTETS_MAX {
            self.rights &= !RIGHT_READ_SINK;
        }
    }
}

/// A read that a flow answers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ReadUse {
    /// STag of the sink.
    pub stag: u32,
    /// Tagged Offset of its first octet.
    pub offset: u64,
    /// Octets.
    pub octets: u32,
    /// Frame, from 0, before which it must be outstanding.
    pub first_frame: usize,
    /// The receiver's own Read Request for it is in the capture. If not, as where a capture begins
    /// in mid-stream, the response is taken for what was asked for.
    pub requested: bool,
}

/// An untagged message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Queue.
    pub qn: u32,
    /// Message Sequence Number.
    pub msn: u32,
    /// Octets.
    pub octets: u32,
    /// RDMAP opcode.
    pub opcode: u8,
    /// Frame, from 0, before which its buffer must be posted.
    pub first_frame: usize,
}

/// What `--mpa` says of a flow whose start-up frames are not in the capture.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StartupOverride {
    /// Markers are expected.
    pub markers: bool,
    /// CRC32C is in use.
    pub crc: bool,
    /// Sequence number of the first octet of full operation.
    pub start: u32,
}
