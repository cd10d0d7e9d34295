//! State of the stream manager per connection, span, queued frame and out-of-order range.
use rust_hdl::prelude::*;

/// Context of a connection's stream, or of a *span* of octets beyond a gap: where its next FPDU
/// begins, and the frames that hold its octets.
///
/// A span has no gaps: placed FPDUs, whose frames are released, then queued octets. Only the last
/// span of a range grows. The spans of a range are chained, and so are those that follow the
/// stream, until it reaches their first octet.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct StreamContext {
    /// Sequence number of the next FPDU's first octet.
    pub sequence: Bits<32>,
    /// Words since the last marker position at `sequence`; 0: a marker is there.
    pub phase: Bits<7>,
    /// Markers are expected.
    pub markers: Bit,
    /// CRC32C is checked.
    pub crc: Bit,
    /// The stream has been started.
    pub active: Bit,
    /// DDP put the connection in error, or the driver releases it.
    pub stopped: Bit,
    /// A job is in flight.
    pub busy: Bit,
    /// The next FPDU has been checked and is to be placed.
    pub place_next: Bit,
    /// Octets queued, from `sequence` on.
    pub avail: Bits<18>,
    /// Octets to wait for before the next job; defined while no job is in flight.
    pub missing: Bits<18>,
    /// First queued frame: the page of its first octet not consumed. This and the fields up to
    /// `last_slot` are defined while `avail` is not 0.
    pub head_page: Bits<9>,
    /// Its last page.
    pub head_tail: Bits<9>,
    /// Its first octet not consumed, from the start of `head_page`.
    pub head_offset: Bits<14>,
    /// Its octets not consumed.
    pub head_octets: Bits<14>,
    /// Its slot.
    pub head_slot: Bits<10>,
    /// Other fragments of its frame are or were queued too.
    pub head_shared: Bit,
    /// Slot of the last queued frame.
    pub last_slot: Bits<10>,
    /// A span follows the queued octets.
    pub has_next: Bit,
    /// Its number.
    pub next_span: Bits<9>,
    /// Stream with `has_next`: the last span of the chain.
    pub last_span: Bits<9>,
    /// Span: FPDUs before the queued octets are placed, so an FPDU begins at `sequence`.
    pub placed: Bit,
    /// Span: nothing more of it is placed until it is in order.
    pub refused: Bit,
}

/// A queued frame, or the rest of one. All but the first of a queue are stored under the slot of
/// the frame before them.
///
/// Slots identify queued frames. Slots 0 to 511 are the frame's last page, which is held as long as
/// the frame. A frame with several runs of accepted octets is shared: it is queued once per run,
/// and all runs but the last are *fragments* with slots from 512 on.
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
    /// It holds several runs of accepted octets; its pages are released with the last of them.
    pub shared: Bit,
}

/// An out-of-order range of TCP: a chain of spans.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct RangeSpans {
    /// Its first span.
    pub first: Bits<9>,
    /// Its last span.
    pub last: Bits<9>,
}

/// The current event of the stream manager, decoded.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct EventKind {
    /// Octets were accepted.
    pub accepting: Bit,
    /// A stream job has ended.
    pub finishing: Bit,
    /// The table bus starts a stream.
    pub starting: Bit,
    /// A frame for the host.
    pub hosting: Bit,
    /// A connection was put in error.
    pub stopping: Bit,
    /// The table bus releases a connection.
    pub releasing: Bit,
    /// ... and no job is in flight.
    pub clearing: Bit,
    /// All queued octets are released.
    pub purging: Bit,
    /// The accepted octets are beyond a gap.
    pub ooo: Bit,
    /// They open a span.
    pub opening: Bit,
    /// An out-of-order range follows the accepted octets.
    pub joining: Bit,
    /// An out-of-order range of an ended connection is dropped.
    pub dropping_range: Bit,
    /// The current context is a span's.
    pub of_span: Bit,
    /// The stream has reached its first span and takes it over.
    pub advancing: Bit,
    /// An FPDU of the stream overlaps a placed FPDU of its first span (MPA-055).
    pub faulting: Bit,
    /// The last span of the stream's chain changes.
    pub relinking: Bit,
    /// TCP queries the FPDU status.
    pub asking: Bit,
}
