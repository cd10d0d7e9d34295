//! TCP: finds the connection of a stored frame, and decides which of its octets are accepted.
//!
//! ```text
//!            +--> [ lookup: 3 ways, keys ] --> results --+
//! stored --->|                                           +--> [ acceptance ] --> accepted (MPA)
//!            +--> [ queued frames, 16 ] -----------------+       |   ^   |-----> host_frame
//!                                                                v   |   +-----> page_release
//!                                              ranges <--> walk <--> contexts
//!                                   free_pages --> reserve <--> (MPA: unfinished FPDUs)
//! ```
//!
//! Enters: [`StoredFrame`]. Leaves: each frame once, as [`Accepted`] octets (one message for each
//! run of new octets), as a [`HostFrame`], or as a [`PageChain`] to release; in the order of
//! arrival per destination.
//!
//! | the segment                                        | leaves as      | counter                |
//! |----------------------------------------------------|----------------|------------------------|
//! | `FrameVerdict::Host`, or no connection has its key | `host_frame`   |                        |
//! | TCP checksum wrong                                 | `page_release` | `DropTcpChecksum`      |
//! | SYN, RST or URG; FIN without payload               | `host_frame`   | `TcpControl`           |
//! | no payload, options other than timestamps          | `host_frame`   | `TcpPureAck`           |
//! | no payload                                         | `page_release` | `TcpPureAck`           |
//! | memory is short, the reserve not for it            | `page_release` | `DropTcpNoRoom`        |
//! | begins at or beyond the right edge                 | `page_release` | `DropTcpOutsideWindow` |
//! | begins beyond rcv_nxt (*out of order*):            |                |                        |
//! | ... no octet of it is new                          | `page_release` | `DropTcpDuplicate`     |
//! | ... out-of-order segments have their pages         | `page_release` | `DropTcpNoRoom`        |
//! | ... touches no range, and none can be opened       | `page_release` | `DropTcpNoRange`       |
//! | ... else                                           | `accepted`     | `TcpOutOfOrder`        |
//! | ends at or before rcv_nxt                          | `page_release` | `DropTcpDuplicate`     |
//! | new octets, but the window is 0                    | `page_release` | `DropTcpOutsideWindow` |
//! | else: has the octet at rcv_nxt                     | `accepted`     | `TcpInOrder`           |
//!
//! Tests in this order; accepted octets end at the window's right edge. An accepted segment that
//! begins before rcv_nxt, or has octets received before or not taken, also counts as `TcpTrimmed`.
//! SEG.ACK and SEG.WND are kept of acceptable segments (RFC 9293 section 3.10.7.4) from "no
//! payload" on, unless memory is short for them. MPA receives what TCP commits to (MPA-037), each
//! octet once (MPA-038).
//!
//! **In order, without ranges**: [`lookup`], [`accept`], [`decision`], [`context`]. All else is
//! apart: out-of-order octets in [`ranges`], short memory in [`reserve`], the driver in [`tables`].
//!
//! **Ranges.** Octets received beyond gaps are kept as ranges `[left, right)` in a pool of 256 that
//! all connections share, at most 16 a connection, in sequence order; those of one connection do
//! not overlap or touch. `accepted` names them by number. A frame in a range is charged to its
//! connection (`OUT_OF_ORDER_SHARE`) and to the device (`OUT_OF_ORDER_PAGES`) with all its pages
//! until the range is in order or purged; 40 pages remain for segments in order. A segment across
//! ranges is reported in several runs; each but the last is one of 64 fragments until MPA releases
//! it (`fragment_free`). Without a free fragment the run is the last one taken of its segment; the
//! peer retransmits the rest.
//!
//! **The reserve.** While fewer pages are free than register `IN_ORDER_RESERVE` says, a segment
//! with payload waits until MPA has reported its connection's unfinished FPDU. [`reserve`] then
//! gives it a window: to the end of its FPDU, its own if its connection owns the reserve, or none.
//! Octets received before are still duplicates; outside of this window it is `DropTcpNoRoom`.
//!
//! **Events.** Each decided segment of a connection is reported with what a sender in software
//! needs to know of it ([`report`]); [`events`](crate::bus::events) reads the context when it
//! composes the event.
//!
//! The driver reads from the context how many duplicate ACKs to send; [`decision`] has the causes.
//!
//! | latency    | 12 cycles, `stored_valid` to `accepted_valid` (nothing else queued) |
//! | throughput | one frame per 5 cycles; with ranges or out of order see [`ranges`]  |
//! | units      | octets; sequence numbers modulo 2^32; pages of packet memory        |
//! | tables     | `LOOKUP` (write), `TCP` (read, write, release);                     |
//! |            | `OUT_OF_ORDER`, `RANGE`, `IN_USE` (read)                            |
//! | ECP5-5G -8 | 5200 LUT4, 5862 FF, 49 DP16KD in the whole core at W = 64           |
pub mod lookup;
pub mod accept;
pub mod decision;
pub mod context;

pub mod ranges;
pub mod report;
pub mod reserve;
pub mod tables;

use crate::common::fifo::Fifo;
use crate::messages::{
    Accepted, ConnectionKey, ConnectionReport, FrameInfo, HostFrame, PageChain, ReportedContext,
    SegmentEvent, StoredFrame, KEY_BITS,
};
use crate::messages::{FpduStatus, TableRequest};
use accept::SegmentAcceptance;
use context::QueuedFrame;
use decision::COUNTS;
use lookup::{ConnectionLookup, LookupEntry, LookupResult};
use rnic_abi::tables as abi;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// The TCP room: frames wait here while their connections are looked up, then are decided one by
/// one.
///
/// ```text
/// stored -+-> [ lookup, 7 cycles ] -> [ results, 16 ] -+
///         |                     \--- when empty -------+-> [ acceptance, 5 cycles ] -> outputs
///         +-> [ frames, 16 ] --------------------------+
/// ```
///
/// There are never more results than frames, so the lookup needs no backpressure.
///
/// A write to table `LOOKUP` is done only when every frame that may have been looked up before it
/// has left this room: once the driver has removed a key, no octet of that connection follows.
#[derive(LogicBlock, Init)]
pub struct TcpRoom {
    pub clock: Signal<In, Clock>,
    /// Synchronous; empties the tables entry by entry, as `table_request` counts them.
    pub reset: Signal<In, Bit>,
    pub stored: Signal<In, StoredFrame>,
    pub stored_valid: Signal<In, Bit>,
    pub stored_ready: Signal<Out, Bit>,
    pub accepted: Signal<Out, Accepted>,
    pub accepted_valid: Signal<Out, Bit>,
    pub accepted_ready: Signal<In, Bit>,
    pub host_frame: Signal<Out, HostFrame>,
    pub host_frame_valid: Signal<Out, Bit>,
    pub host_frame_ready: Signal<In, Bit>,
    pub page_release: Signal<Out, PageChain>,
    pub page_release_valid: Signal<Out, Bit>,
    pub page_release_ready: Signal<In, Bit>,
    pub segment_event: Signal<Out, SegmentEvent>,
    pub segment_event_valid: Signal<Out, Bit>,
    /// One-cycle pulses, `COUNT_*` of [`decision`].
    pub counts: Signal<Out, Bits<COUNTS>>,
    /// Register `OUT_OF_ORDER_PAGES`.
    pub ooo_pages: Signal<In, Bits<10>>,
    /// Register `OUT_OF_ORDER_SHARE`.
    pub ooo_share: Signal<In, Bits<10>>,
    /// Pages of packet memory without owner.
    pub free_pages: Signal<In, Bits<10>>,
    /// Register `IN_ORDER_RESERVE`: pages of the reserve.
    pub reserve_pages: Signal<In, Bits<10>>,
    /// Register `IN_ORDER_RESERVE`: pages of the reserve once it has grown for long FPDUs.
    pub long_pages: Signal<In, Bits<10>>,
    /// Two streams had long FPDUs, and the reserve is not off.
    pub reserve_grown: Signal<In, Bit>,
    /// A stream, of connection `long_connection`, has a long FPDU; one cycle or more.
    pub long_fpdu: Signal<In, Bit>,
    pub long_connection: Signal<In, Bits<10>>,
    /// It is the second such stream; one cycle or more.
    pub grows: Signal<Out, Bit>,
    /// Register `IN_ORDER_RESERVE`: timeout of a silent reserve owner, log2 of cycles.
    pub hold_log2: Signal<In, Bits<5>>,
    pub fpdu_status: Signal<In, FpduStatus>,
    pub fpdu_status_valid: Signal<In, Bit>,
    /// MPA released a run of octets that was not the last one of its frame; one cycle.
    pub fragment_free: Signal<In, Bit>,
    /// MPA released a span; one cycle.
    pub span_free: Signal<In, Bit>,
    /// Tables `LOOKUP`, `TCP`, `OUT_OF_ORDER`, `RANGE` and `IN_USE`.
    pub table_request: Signal<In, TableRequest>,
    pub table_valid: Signal<In, Bit>,
    pub table_done: Signal<Out, Bit>,
    pub table_data: Signal<Out, Bits<128>>,
    /// A segment of a connection is decided, or a context written; at least 5 cycles apart.
    pub report: Signal<Out, ConnectionReport>,
    pub report_valid: Signal<Out, Bit>,
    /// Events ask for the context of `event_connection`, until `event_read_taken`.
    pub event_read: Signal<In, Bit>,
    pub event_connection: Signal<In, Bits<10>>,
    pub event_read_taken: Signal<Out, Bit>,
    /// The context, two cycles later; includes every segment reported before the read was taken.
    pub event_context: Signal<Out, ReportedContext>,
    pub event_context_valid: Signal<Out, Bit>,
    lookup: ConnectionLookup,
    acceptance: SegmentAcceptance,
    frames: Fifo<QueuedFrame, 4, 5>,
    results: Fifo<LookupResult, 4, 5>,
    // A LOOKUP write: being stored; stored, and `to_drain` frames taken before it are queued.
    storing: DFF<Bit>,
    draining: DFF<Bit>,
    // All of them are decided; the last message to MPA may not be taken yet.
    flushing: DFF<Bit>,
    to_drain: DFF<Bits<5>>,
    done: DFF<Bit>,
    take: Signal<Local, Bit>,
    leave: Signal<Local, Bit>,
    info: Signal<Local, FrameInfo>,
    key_fields: Signal<Local, ConnectionKey>,
    key: Signal<Local, Bits<KEY_BITS>>,
    waiting: Signal<Local, QueuedFrame>,
    request_here: Signal<Local, Bit>,
    request_data: Signal<Local, Bits<320>>,
    request_index: Signal<Local, Bits<16>>,
    entry: Signal<Local, LookupEntry>,
    #[constant(1)]
    one: Constant<Bits<5>>,
    #[constant(LiteralType::from(abi::LOOKUP))]
    table_lookup: Constant<Bits<4>>,
    #[constant(LiteralType::from(abi::WRITE))]
    operation_write: Constant<Bits<2>>,
}

impl Logic for TcpRoom {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; storing, draining, flushing, to_drain, done);
        wire!(self => self.lookup; clock, reset);
        wire!(self => self.acceptance; clock, reset);
        wire!(self => self.frames; clock, reset);
        wire!(self => self.results; clock, reset);

        // The oldest frame's key is at the lookup; once that has it, the frame is queued.
        self.info.next = self.stored.val().info;
        self.key_fields.next = self.info.val().key;
        self.key.next = self.key_fields.val().into();
        self.lookup.lookup.next = self.stored_valid.val() & !self.frames.full.val();
        self.lookup.ipv6.next = self.info.val().ipv6;
        self.lookup.key.next = self.key.val();
        self.lookup.hash.next = self.stored.val().key_hash;
        self.stored_ready.next = self.lookup.ready.val() & !self.frames.full.val();
        self.take.next =
            self.stored_valid.val() & self.lookup.ready.val() & !self.frames.full.val();
        self.waiting.next.segment = self.info.val().segment;
        self.waiting.next.pages = self.stored.val().pages;
        wire!(self => self.frames; take as write, waiting as data_in);

        // Acceptance gets the oldest frame and its result: the oldest queued one, or, if there is
        // none, the one that leaves the lookup in this cycle.
        self.acceptance.frame_valid.next =
            !self.frames.empty.val() & (!self.results.empty.val() | self.lookup.result_valid.val());
        self.leave.next = self.acceptance.frame_valid.val() & self.acceptance.frame_ready.val();
        self.results.write.next =
            self.lookup.result_valid.val() & !(self.results.empty.val() & self.leave.val());
        self.results.data_in.next = self.lookup.result.val();
        self.results.read.next = self.leave.val();
        self.acceptance.frame.next = self.frames.data_out.val();
        self.acceptance.found.next = self.results.data_out.val();
        if self.results.empty.val() {
            self.acceptance.found.next = self.lookup.result.val();
        }
        self.frames.read.next = self.leave.val();
        stream!(self.acceptance => self; accepted, host_frame, page_release);
        wire!(self.acceptance => self; segment_event, segment_event_valid, counts);
        wire!(self => self.acceptance;
            ooo_pages, ooo_share, free_pages, reserve_pages, long_pages, reserve_grown,
            long_fpdu, long_connection);
        self.grows.next = self.acceptance.grows.val();
        wire!(self => self.acceptance;
            hold_log2, fpdu_status, fpdu_status_valid, fragment_free, span_free);

        wire!(self.acceptance => self; report, report_valid);
        wire!(self => self.acceptance; event_read, event_connection);
        wire!(self.acceptance => self; event_read_taken, event_context, event_context_valid);

        // Table bus. LOOKUP: store, then wait for the frames taken before.
        wire!(self => self.acceptance; table_request, table_valid);
        self.table_done.next = self.done.q.val() | self.acceptance.table_done.val();
        self.table_data.next = self.acceptance.table_data.val();
        self.request_here.next = self.table_valid.val()
            & !self.done.q.val()
            & !self.draining.q.val()
            & !self.storing.q.val()
            & (self.table_request.val().table == self.table_lookup.val());
        self.request_data.next = self.table_request.val().data;
        self.request_index.next = self.table_request.val().index;
        self.entry.next.valid = self.request_data.val().get_bit(31);
        self.entry.next.ipv6 = self.request_data.val().get_bit(30);
        self.entry.next.connection = self.request_data.val().get_bits::<10>(0);
        self.entry.next.key = self.request_data.val().get_bits::<KEY_BITS>(32);
        self.lookup.write_entry.next = self.entry.val();
        self.lookup.write_index.next = self.request_index.val().get_bits::<11>(0);
        self.lookup.write.next = self.storing.q.val();
        if self.request_here.val()
            & (self.table_request.val().operation == self.operation_write.val())
        {
            self.storing.d.next = true;
        }
        self.done.d.next = self.request_here.val()
            & (self.table_request.val().operation != self.operation_write.val());
        if self.lookup.written.val() {
            self.storing.d.next = false;
            self.draining.d.next = true;
            self.to_drain.d.next = self.frames.fill.val();
            if self.leave.val() {
                self.to_drain.d.next = self.frames.fill.val() - self.one.val();
            }
        }
        if self.draining.q.val() {
            if self.to_drain.q.val().any() {
                if self.leave.val() {
                    self.to_drain.d.next = self.to_drain.q.val() - self.one.val();
                }
            } else if !self.acceptance.busy.val() {
                self.flushing.d.next = true;
            }
        }
        if self.flushing.q.val() & !self.acceptance.accepted_valid.val() {
            self.draining.d.next = false;
            self.flushing.d.next = false;
            self.done.d.next = true;
        }
        if self.reset.val() {
            self.storing.d.next = false;
            self.draining.d.next = false;
            self.flushing.d.next = false;
            self.done.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
