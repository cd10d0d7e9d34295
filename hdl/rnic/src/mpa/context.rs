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
    /// First queued frame: the page of its first octet not consumed. Defined while `avail` is
    /// not 0, as all that follows.
    pub head_page: Bits<9>,
    /// Its last page.
    pub head_tail: Bits<9>,
    /// Its first octet not consumed, from the start of `head_page`.
    pub head_offset: Bits<14>,
    /// Its octets not consumed.
    pub head_octets: Bits<14>,
    /// Its slot.
    pub head_slot: Bits<10>,
    /// Other runs of its frame are or were queued too.
    pub head_shared: Bit,
    /// Slot of the last queued frame.
    pub last_slot: Bits<10>,
}

/// A queued frame, or what is left of one. All but the first of a queue are kept under the slot of
/// the frame before them.
///
/// Slots tell queued frames apart: 0 to 511 is the last page of the frame, which stays while the
/// frame does. A frame that holds several runs of accepted octets is queued once for each of them
/// and shared; all of these but the last one take a slot from 512 on.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct QueuedFrame {
    /// First page.
    pub head_page: Bits<9>,
    /// Last page.
    pub tail_page: Bits<9>,
    /// First accepted octet not consumed, from the start of the first page.
    pub offset: Bits<14>,
    /// Accepted octets not consumed.
    pub octets: Bits<14>,
    /// Its slot.
    pub slot: Bits<10>,
    /// It holds several runs of accepted octets: its pages go back when all of them are consumed.
    pub shared: Bit,
}

/// An early run: octets of a connection received beyond a gap, and the frames that hold them.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct EarlyRun {
    /// Its first frame.
    pub head: QueuedFrame,
    /// Slot of its last frame.
    pub last_slot: Bits<10>,
    /// Octets.
    pub octets: Bits<18>,
}

/// The event that the stream manager handles, decoded.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct EventKind {
    /// Octets were accepted.
    pub accepting: Bit,
    /// A stream job has ended.
    pub finishing: Bit,
    /// The table bus starts a stream.
    pub starting: Bit,
    /// A frame goes to the host.
    pub hosting: Bit,
    /// A connection was put in error.
    pub stopping: Bit,
    /// The table bus takes a connection's pages back.
    pub releasing: Bit,
    /// ... and no job is out.
    pub clearing: Bit,
    /// All that is queued goes, whatever it is.
    pub purging: Bit,
    /// Accepted octets that lie beyond a gap.
    pub early: Bit,
    /// The octets accepted close a gap: an early run follows them.
    pub joining: Bit,
    /// An early run that nobody waits for goes.
    pub dropping_run: Bit,
    /// TCP asks for what is unfinished.
    pub asking: Bit,
}
