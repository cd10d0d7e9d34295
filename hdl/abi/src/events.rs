//! Trace events: the core's decision on each segment and each FPDU, on ports that synthesis may
//! leave unconnected. The test bench makes its report from them and compares them with the model.

/// Verdict of a segment with payload (`segment_event`).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SegmentVerdict {
    /// Accepted in order, completely.
    InOrder = 0,
    /// Accepted in order, except for octets received before or (for lack of a fragment) after such.
    Trimmed = 1,
    /// No new octets; dropped.
    Duplicate = 2,
    /// Accepted beyond rcv_nxt, wholly or in part.
    OutOfOrder = 3,
    /// Beyond the window; dropped.
    OutsideWindow = 4,
    /// Dropped for lack of pages: beyond rcv_nxt, and out-of-order segments hold their limit
    /// already; or only the reserve is left, which the segment may not use.
    NoRoom = 5,
    /// Beyond rcv_nxt, and no range number is free; dropped.
    NoRange = 6,
}

/// The verdict on a segment with payload.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct SegmentTrace {
    /// Connection.
    pub connection: u16,
    /// [`SegmentVerdict`] as its number.
    pub verdict: u8,
    /// SEG.SEQ as received.
    pub seg_seq: u32,
    /// Payload octets as received.
    pub seg_len: u16,
}

/// The result of an FPDU.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct FpduTrace {
    /// Connection.
    pub connection: u16,
    /// Sequence number of its first octet.
    pub sequence: u32,
    /// ULPDU_Length in octets.
    pub ulpdu_length: u16,
    /// `crate::errors::StreamError` as its number, 0 for none.
    pub error: u8,
    /// RDMAP opcode, if CRC and markers are right and there is a complete DDP header.
    pub opcode: Option<u8>,
    /// Octets placed in memory.
    pub placed_octets: u16,
    /// They were placed while octets before the FPDU were missing.
    pub placed_out_of_order: bool,
}
