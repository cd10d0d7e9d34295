//! Structs of the packet room that are not messages between rooms.
use rust_hdl::prelude::*;

/// Frame table entry: the accepted octets of a queued frame, at the index of its slot.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FrameEntry {
    /// First page of the frame.
    pub head_page: Bits<9>,
    /// First accepted octet, from the start of the stored frame.
    pub offset: Bits<14>,
    /// Accepted octets.
    pub octets: Bits<14>,
}

/// Planner to streamer: octets of a job that lie in one page.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Segment {
    /// The page.
    pub page: Bits<9>,
    /// First octet, from the start of the page.
    pub first_octet: Bits<8>,
    /// Last octet (not one past it), from the start of the page.
    pub last_octet: Bits<8>,
    /// No octets at all: only `job_last` counts.
    pub nothing: Bit,
    /// The job ends with this segment.
    pub job_last: Bit,
}
