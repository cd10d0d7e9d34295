//! The parts of a timeline: streams with their segments, gaps and placements; TLPs by use.

use super::coverage::Gap;
use rnic_abi::events::SegmentVerdict;

/// One device's run.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// Connections in the order in which they were opened.
    pub streams: Vec<Stream>,
    /// Pages of packet memory held from a cycle on.
    pub pages: Vec<(u64, u32)>,
    /// TLPs by what they are for.
    pub tlps: Vec<TlpCount>,
    /// The first cycle after the last event.
    pub end_cycle: u64,
    /// Payload writes that belong to no FPDU the core reported as placed: of FPDUs placed out of
    /// order on a stream that ended before it reached them.
    pub unclaimed_writes: u64,
    /// Verdicts on segments that match no frame.
    pub unmatched_verdicts: u64,
}

/// One opening of a flow's connection.
#[derive(Clone, Debug)]
pub struct Stream {
    /// The flow.
    pub flow: usize,
    /// Sequence number of position 0.
    pub sequence_start: u32,
    /// Segments with octets of full operation, in order of arrival.
    pub segments: Vec<Segment>,
    /// Gaps in order of their opening.
    pub gaps: Vec<Gap>,
    /// FPDUs with payload in memory, in the order in which they were reported.
    pub placements: Vec<Placement>,
    /// Segments that hold only octets before position 0: start-up frames sent again.
    pub startup_segments: u64,
}

/// What became of a segment.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SegmentKind {
    /// Accepted in order.
    InOrder,
    /// Accepted beyond a gap.
    OutOfOrder,
    /// Nothing new.
    Duplicate,
    /// Beyond the window.
    OutsideWindow,
    /// Refused for lack of pages or ranges.
    NoRoom,
    /// Dropped before TCP's acceptance: bad checksum, no page.
    Dropped,
}

impl SegmentKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::InOrder,
        Self::OutOfOrder,
        Self::Duplicate,
        Self::OutsideWindow,
        Self::NoRoom,
        Self::Dropped,
    ];

    /// The kind of a verdict.
    pub(super) fn of(verdict: u8) -> Self {
        const IN_ORDER: u8 = SegmentVerdict::InOrder as u8;
        const TRIMMED: u8 = SegmentVerdict::Trimmed as u8;
        const OUT_OF_ORDER: u8 = SegmentVerdict::OutOfOrder as u8;
        const DUPLICATE: u8 = SegmentVerdict::Duplicate as u8;
        const OUTSIDE_WINDOW: u8 = SegmentVerdict::OutsideWindow as u8;
        match verdict {
            IN_ORDER | TRIMMED => Self::InOrder,
            OUT_OF_ORDER => Self::OutOfOrder,
            DUPLICATE => Self::Duplicate,
            OUTSIDE_WINDOW => Self::OutsideWindow,
            _ => Self::NoRoom,
        }
    }
}

/// A segment that arrived.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Frame of the capture, from 0.
    pub frame: usize,
    /// Cycle in which its last octet entered.
    pub cycle: u64,
    /// What became of it.
    pub kind: SegmentKind,
    /// Some of its octets had arrived before, accepted or not: the peer, or the player for lack of
    /// room, sent them again.
    pub is_repeat: bool,
    /// It begins below octets that had arrived before: it was sent again or overtaken.
    pub is_late: bool,
    /// SEG.SEQ.
    pub sequence: u32,
    /// Position of its first octet; negative if it begins before full operation.
    pub position: i64,
    /// Payload octets.
    pub octets: u32,
}

/// An FPDU whose payload was written to memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// Sequence number of its first octet.
    pub sequence: u32,
    /// Position of its first octet.
    pub position: i64,
    /// Octets on the wire, markers included.
    pub octets: u32,
    /// Payload octets.
    pub placed_octets: u32,
    /// It was placed while octets before it were missing.
    pub is_out_of_order: bool,
    /// Cycle in which the last octet that it waited for entered: of its own octets if it was placed
    /// out of order, else of all octets up to its end. `None` if not all of them were seen.
    pub ready: Option<u64>,
    /// Cycles of the first and the last memory write of its payload; `None` if they were not found.
    pub writes: Option<(u64, u64)>,
}

impl Placement {
    /// Cycles from the last octet in to the last memory write.
    pub fn latency(&self) -> Option<u64> {
        let (_, last) = self.writes?;
        last.checked_sub(self.ready?)
    }
}

/// What a TLP is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlpUse {
    /// Memory write of payload.
    Payload,
    /// Memory write of a completion entry.
    CompletionEntry,
    /// Memory write into the host receive ring.
    HostFrame,
    /// Memory write of an event.
    Event,
    /// Completion with the value of a register.
    RegisterValue,
    /// Memory write to a register, from the host.
    RegisterWrite,
    /// Memory read of a register, from the host.
    RegisterRead,
    /// Any other.
    Other,
}

impl TlpUse {
    /// Every use.
    pub const ALL: [Self; 8] = [
        Self::Payload,
        Self::CompletionEntry,
        Self::HostFrame,
        Self::Event,
        Self::RegisterValue,
        Self::RegisterWrite,
        Self::RegisterRead,
        Self::Other,
    ];
}

/// TLPs of one use.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TlpCount {
    /// What for.
    pub role: TlpUse,
    /// Packets.
    pub count: u64,
    /// Payload octets, in whole doublewords.
    pub octets: u64,
}

impl Stream {
    /// Sequence number at `position`.
    pub fn sequence(&self, position: i64) -> u32 {
        self.sequence_start.wrapping_add(position as u32)
    }
}
