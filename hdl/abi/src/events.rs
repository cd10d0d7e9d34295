//! Trace events: what the core decided of each segment and each FPDU, on ports that synthesis may
//! leave open. The test bench reads its report and compares with the model from these.

/// Verdict of a segment with payload (`segment_event`).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum SegmentVerdict {
    /// Accepted in order, whole.
    InOrder = 0,
    /// Accepted in order after octets already received were cut off.
    Trimmed = 1,
    /// Nothing new; dropped.
    Duplicate = 2,
    /// Beyond rcv_nxt; dropped.
    OutOfOrder = 3,
    /// Beyond the window; dropped.
    OutsideWindow = 4,
}
