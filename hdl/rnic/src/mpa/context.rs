//! What the stream manager keeps of each connection and of each queued frame.
// LogicStruct derives accessors without documentation; every field here is documented by hand.
#![allow(missing_docs)]
use rust_hdl::prelude::*;

/// A connection's stream: where its next FPDU begins, and the frames that hold its octets.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct StreamContext {
    /// Sequence number of the next FPDU's first octet.
    pub sequence: Bits<32>,
    /// Words since the last marker position there; 0: at one.
    pub phase: Bits<7>,
    /// Markers are expected.
    pub markers: Bit,
    /// CRC32C is checked.
    pub crc: Bit,
    /// The stream has been started.
    pub active: Bit,
    /// DDP put the connection in error, or the driver takes its pages back.
    pub stopped: Bit,
    /// A job is out.
    pub busy: Bit,
    /// The next FPDU has been checked and is to be placed.
    pub place_next: Bit,
    /// Octets queued, from `sequence` on.
    pub avail: Bits<18>,
    /// Octets that must come before the next job makes sense; defined while no job is out.
    pub missing: Bits<18>,
    /// First queued frame: its first page. Defined while `avail` is not 0, as all that follows.
    pub head_page: Bits<9>,
    /// Its last page.
    pub head_tail: Bits<9>,
    /// Its first octet not consumed, from the start of the stored frame.
    pub head_offset: Bits<14>,
    /// Its octets not consumed.
    pub head_octets: Bits<14>,
    /// First page of the last queued frame.
    pub last_frame: Bits<9>,
}

/// A queued frame, kept under the first page of the frame before it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct QueuedFrame {
    /// First page.
    pub head_page: Bits<9>,
    /// Last page.
    pub tail_page: Bits<9>,
    /// First accepted octet, from the start of the stored frame.
    pub offset: Bits<14>,
    /// Accepted octets.
    pub octets: Bits<14>,
}
