//! What the stream manager keeps of each connection and of each queued frame.
use rust_hdl::prelude::*;

/// A connection's stream, or a *span* of what lies beyond a gap: where its next FPDU begins, and
/// the frames that hold its octets.
///
/// A span is octets without a gap: first FPDUs that were placed, and so are gone, then octets that
/// are queued. Only the queued ones of the last span grow. Spans that follow one another are
/// chained; so are those that follow the stream, until it has come to their first octet.
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
    /// A span follows the octets queued.
    pub has_next: Bit,
    /// Its number.
    pub next_span: Bits<9>,
    /// Of a stream with `has_next`: the last span of the chain.
    pub last_span: Bits<9>,
    /// Of a span: FPDUs in front of the octets queued are placed, so that one begins at `sequence`.
    pub placed: Bit,
    /// Of a span: nothing more of it is placed before it is in order.
    pub refused: Bit,
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

/// An out-of-order range, a received range of TCP: a chain of spans.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RangeSpans {
    /// Its first span.
    pub first: Bits<9>,
    /// Its last span.
    pub last: Bits<9>,
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
    pub ooo: Bit,
    /// They open a span.
    pub opening: Bit,
    /// A run of spans follows the octets accepted.
    pub joining: Bit,
    /// An out-of-order range that nobody waits for goes.
    pub dropping_run: Bit,
    /// The context at hand is a span's.
    pub of_span: Bit,
    /// The stream has come to its first span, and takes it over.
    pub advancing: Bit,
    /// The stream has not come to its first span's FPDUs but into one of them.
    pub faulting: Bit,
    /// The stream's chain has got another last span.
    pub relinking: Bit,
    /// TCP asks for what is unfinished.
    pub asking: Bit,
}
