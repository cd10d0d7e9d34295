//! Messages of the transmit room, and its sizes.
use rust_hdl::prelude::*;

/// log2 of the units of a ring that the device can hold.
pub const BUFFER_UNITS_LOG2: usize = 7;
/// Octets of a read of units at most: a request takes one tag of the read engine.
pub const FETCH_OCTETS: usize = 512;
/// Reads of units of one ring under way at most.
pub const FETCHES_MAX: LiteralType = 4;

/// Order of reads: what is read.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ReadKind {
    /// Units of `ring`; else the octets of a frame.
    pub units: Bit,
    /// The bulk ring; else the control ring.
    pub ring: Bit,
}

/// What the read engine says of a beat beside its octets.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct BeatEnd {
    /// Valid octets, from lane 0 on.
    pub octets: Bits<7>,
    /// Last beat of its read.
    pub last: Bit,
    /// With `last`: octets are missing.
    pub error: Bit,
}

/// Heads to intake: a frame whose octets are being read, or which is refused.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FrameJob {
    /// As in [`ReadKind`].
    pub ring: Bit,
    /// Units of the frame, 1 to 9.
    pub units: Bits<4>,
    /// Nothing is read; the other fields mean nothing.
    pub refused: Bit,
    /// Octets of the frame.
    pub octets: Bits<14>,
    /// Insert a checksum.
    pub has_checksum: Bit,
    /// Octet from which on it is summed.
    pub sum_start: Bits<14>,
    /// Octet where it stands.
    pub checksum_place: Bits<14>,
    /// Insert a CRC32C.
    pub has_crc: Bit,
    /// First octet that it covers.
    pub crc_first: Bits<14>,
    /// Octet where it stands: the first one that it does not cover.
    pub crc_place: Bits<14>,
}

/// Intake to writer: the units of a frame are not needed any more.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FrameEnd {
    /// As in [`ReadKind`].
    pub ring: Bit,
    /// Units of the frame.
    pub units: Bits<4>,
    /// 0, or `rnic_abi::transmit_ring::STATUS_*`.
    pub status: Bits<2>,
}

/// Finisher to sender: a frame in the store, and what is put in its octets' place.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct FramePatch {
    /// Octets of the frame.
    pub octets: Bits<14>,
    /// As in [`FrameJob`].
    pub has_checksum: Bit,
    /// As in [`FrameJob`].
    pub checksum_place: Bits<14>,
    /// Octets for even places in 7:0, for odd places in 15:8.
    pub checksum: Bits<16>,
    /// As in [`FrameJob`].
    pub has_crc: Bit,
    /// As in [`FrameJob`].
    pub crc_place: Bits<14>,
    /// Octets for places that are 0, 1, 2, 3 modulo 4, in that order.
    pub crc: Bits<32>,
}

/// One beat of a frame as it leaves; `W` is the width of the frame path.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct BeatNote {
    /// Valid octets, from lane 0 on.
    pub octets: Bits<7>,
    /// Last beat of its frame.
    pub last: Bit,
}

/// Bits of the room's `counts`, each high for one cycle an event.
pub mod count {
    /// A frame has left.
    pub const SENT: usize = 0;
    /// A head was refused.
    pub const REFUSED: usize = 1;
    /// A frame was given up because a read of its octets failed.
    pub const FAILED: usize = 2;
    /// A read of units failed, and its ring has stopped.
    pub const STOPPED: usize = 3;
    /// A tail was not taken.
    pub const TAIL_IGNORED: usize = 4;
    /// Number of events.
    pub const COUNT: usize = 5;
}
