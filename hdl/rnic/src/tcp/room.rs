//! The TCP room: frames wait here while their connections are looked up, then are decided one by
//! one. Contract, drop reasons and counters: the door, [`super`].
//!
//! ```text
//! stored -+-> [ lookup, 7 cycles ] -> [ results, 16 ] -+
//!         |                     \--- when empty -------+-> [ acceptance, 5 cycles ] -> outputs
//!         +-> [ frames, 16 ] --------------------------+
//! ```
//!
//! A frame's key goes to the lookup as the frame is taken; the rest of the frame waits. A result
//! that comes while its queue is empty and acceptance waits for it passes beside the queue. There
//! are never more results than frames, so the lookup needs no backpressure.
//!
//! A write to table `LOOKUP` is done only when every frame that may have been looked up before it
//! has left this room: once the driver has removed a key, no octet of that connection follows.
use super::accept::{SegmentAcceptance, COUNTS};
use super::hash::KEY_BITS;
use super::lookup::ConnectionLookup;
use super::records::{KeyFields, LookupEntry, LookupResult, WaitingFrame};
use crate::common::fifo::Fifo;
use crate::messages::{Accepted, HostFrame, PageChain, SegmentEvent, StoredFrame};
use crate::messages::{TableRequest, Unfinished};
use rnic_abi::tables;
use rust_hdl::prelude::*;

/// The whole room: lookup and acceptance.
#[derive(LogicBlock)]
pub struct TcpRoom {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; clears control, not the tables.
    pub reset: Signal<In, Bit>,
    /// A stored frame.
    pub stored: Signal<In, StoredFrame>,
    /// `stored` holds a message.
    pub stored_valid: Signal<In, Bit>,
    /// It is taken.
    pub stored_ready: Signal<Out, Bit>,
    /// Octets accepted, in order or beyond a gap.
    pub accepted: Signal<Out, Accepted>,
    /// `accepted` holds a message.
    pub accepted_valid: Signal<Out, Bit>,
    /// It is taken.
    pub accepted_ready: Signal<In, Bit>,
    /// A frame for the host.
    pub host_frame: Signal<Out, HostFrame>,
    /// `host_frame` holds a message.
    pub host_frame_valid: Signal<Out, Bit>,
    /// It is taken.
    pub host_frame_ready: Signal<In, Bit>,
    /// Pages of a frame nobody wants.
    pub page_release: Signal<Out, PageChain>,
    /// `page_release` holds a message.
    pub page_release_valid: Signal<Out, Bit>,
    /// It is taken.
    pub page_release_ready: Signal<In, Bit>,
    /// Trace: verdict on a segment with payload.
    pub segment_event: Signal<Out, SegmentEvent>,
    /// For one cycle.
    pub segment_event_valid: Signal<Out, Bit>,
    /// One-cycle pulses, see `accept::COUNT_CHECKSUM` and the following.
    pub counts: Signal<Out, Bits<COUNTS>>,
    /// Register `EARLY_PAGES`.
    pub early_pages: Signal<In, Bits<10>>,
    /// Register `EARLY_SHARE`.
    pub early_share: Signal<In, Bits<10>>,
    /// Pages of packet memory that nobody owns.
    pub free_pages: Signal<In, Bits<10>>,
    /// Register `IN_ORDER_RESERVE`: its pages.
    pub reserve_pages: Signal<In, Bits<10>>,
    /// Register `IN_ORDER_RESERVE`: its pages for long FPDUs.
    pub long_pages: Signal<In, Bits<10>>,
    /// Two streams have shown long FPDUs, and the reserve is not off.
    pub reserve_grown: Signal<In, Bit>,
    /// A stream has shown a long FPDU; one cycle or more.
    pub long_fpdu: Signal<In, Bit>,
    /// Its connection.
    pub long_connection: Signal<In, Bits<10>>,
    /// It is the second stream that has; one cycle or more.
    pub grows: Signal<Out, Bit>,
    /// Register `IN_ORDER_RESERVE`: log2 of the cycles that a silent holder stays.
    pub hold_log2: Signal<In, Bits<5>>,
    /// What MPA was asked for in `accepted`.
    pub unfinished: Signal<In, Unfinished>,
    /// `unfinished` counts; one cycle.
    pub unfinished_valid: Signal<In, Bit>,
    /// MPA is done with a run that was not the last one of its frame, for one cycle.
    pub key_free: Signal<In, Bit>,
    /// MPA is done with a span.
    pub span_free: Signal<In, Bit>,
    /// Table bus; tables `LOOKUP`, `TCP`, `EARLY`, `RANGE` and `IN_USE` are answered here.
    pub table_request: Signal<In, TableRequest>,
    /// The request stands.
    pub table_valid: Signal<In, Bit>,
    /// It is done, for one cycle.
    pub table_done: Signal<Out, Bit>,
    /// What was read, with `table_done`; zero otherwise.
    pub table_data: Signal<Out, Bits<128>>,
    lookup: ConnectionLookup,
    acceptance: SegmentAcceptance,
    frames: Fifo<WaitingFrame, 4, 5>,
    results: Fifo<LookupResult, 4, 5>,
    // A LOOKUP write is in the table, and so many frames taken before it still wait.
    storing: DFF<Bit>,
    draining: DFF<Bit>,
    // All of them are decided; octets of the last ones may still wait for MPA.
    flushing: DFF<Bit>,
    to_drain: DFF<Bits<5>>,
    done: DFF<Bit>,
    take: Signal<Local, Bit>,
    leave: Signal<Local, Bit>,
    key_fields: Signal<Local, KeyFields>,
    key: Signal<Local, Bits<KEY_BITS>>,
    waiting: Signal<Local, WaitingFrame>,
    request_here: Signal<Local, Bit>,
    request_data: Signal<Local, Bits<320>>,
    request_index: Signal<Local, Bits<16>>,
    entry: Signal<Local, LookupEntry>,
    one: Constant<Bits<5>>,
    table_lookup: Constant<Bits<4>>,
    operation_write: Constant<Bits<2>>,
}

impl Default for TcpRoom {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            stored: Default::default(),
            stored_valid: Default::default(),
            stored_ready: Default::default(),
            accepted: Default::default(),
            accepted_valid: Default::default(),
            accepted_ready: Default::default(),
            host_frame: Default::default(),
            host_frame_valid: Default::default(),
            host_frame_ready: Default::default(),
            page_release: Default::default(),
            page_release_valid: Default::default(),
            page_release_ready: Default::default(),
            segment_event: Default::default(),
            segment_event_valid: Default::default(),
            counts: Default::default(),
            early_pages: Default::default(),
            early_share: Default::default(),
            free_pages: Default::default(),
            reserve_pages: Default::default(),
            long_pages: Default::default(),
            reserve_grown: Default::default(),
            long_fpdu: Default::default(),
            long_connection: Default::default(),
            grows: Default::default(),
            hold_log2: Default::default(),
            unfinished: Default::default(),
            unfinished_valid: Default::default(),
            key_free: Default::default(),
            span_free: Default::default(),
            table_request: Default::default(),
            table_valid: Default::default(),
            table_done: Default::default(),
            table_data: Default::default(),
            lookup: Default::default(),
            acceptance: Default::default(),
            frames: Default::default(),
            results: Default::default(),
            storing: Default::default(),
            draining: Default::default(),
            flushing: Default::default(),
            to_drain: Default::default(),
            done: Default::default(),
            take: Default::default(),
            leave: Default::default(),
            key_fields: Default::default(),
            key: Default::default(),
            waiting: Default::default(),
            request_here: Default::default(),
            request_data: Default::default(),
            request_index: Default::default(),
            entry: Default::default(),
            one: Constant::new(1u64.into()),
            table_lookup: Constant::new(LiteralType::from(tables::LOOKUP).into()),
            operation_write: Constant::new(LiteralType::from(tables::WRITE).into()),
        }
    }
}

impl Logic for TcpRoom {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, storing, draining, flushing, to_drain, done);
        self.lookup.clock.next = self.clock.val();
        self.lookup.reset.next = self.reset.val();
        self.acceptance.clock.next = self.clock.val();
        self.acceptance.reset.next = self.reset.val();
        self.frames.clock.next = self.clock.val();
        self.frames.reset.next = self.reset.val();
        self.results.clock.next = self.clock.val();
        self.results.reset.next = self.reset.val();

        // A frame is taken: its key is looked up, the rest waits.
        self.take.next = self.stored_valid.val() & !self.frames.full.val();
        self.stored_ready.next = !self.frames.full.val();
        self.key_fields.next.remote_address = self.stored.val().remote_address;
        self.key_fields.next.local_address = self.stored.val().local_address;
        self.key_fields.next.ports = self.stored.val().ports;
        self.key.next = self.key_fields.val().into();
        self.lookup.lookup.next = self.take.val();
        self.lookup.ipv6.next = self.stored.val().ipv6;
        self.lookup.key.next = self.key.val();
        self.waiting.next.verdict = self.stored.val().verdict;
        self.waiting.next.frame_octets = self.stored.val().frame_octets;
        self.waiting.next.flags = self.stored.val().flags;
        self.waiting.next.checksum_good = self.stored.val().checksum_good;
        self.waiting.next.seg_seq = self.stored.val().seg_seq;
        self.waiting.next.seg_ack = self.stored.val().seg_ack;
        self.waiting.next.seg_wnd = self.stored.val().seg_wnd;
        self.waiting.next.payload_offset = self.stored.val().payload_offset;
        self.waiting.next.payload_octets = self.stored.val().payload_octets;
        self.waiting.next.head_page = self.stored.val().head_page;
        self.waiting.next.tail_page = self.stored.val().tail_page;
        self.frames.write.next = self.take.val();
        self.frames.data_in.next = self.waiting.val();

        // Acceptance gets the oldest frame and its result: the oldest queued one, or, when there is
        // none, the one that comes out of the lookup in this cycle.
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
        self.accepted.next = self.acceptance.accepted.val();
        self.accepted_valid.next = self.acceptance.accepted_valid.val();
        self.acceptance.accepted_ready.next = self.accepted_ready.val();
        self.host_frame.next = self.acceptance.host_frame.val();
        self.host_frame_valid.next = self.acceptance.host_frame_valid.val();
        self.acceptance.host_frame_ready.next = self.host_frame_ready.val();
        self.page_release.next = self.acceptance.page_release.val();
        self.page_release_valid.next = self.acceptance.page_release_valid.val();
        self.acceptance.page_release_ready.next = self.page_release_ready.val();
        self.segment_event.next = self.acceptance.segment_event.val();
        self.segment_event_valid.next = self.acceptance.segment_event_valid.val();
        self.counts.next = self.acceptance.counts.val();
        self.acceptance.early_pages.next = self.early_pages.val();
        self.acceptance.early_share.next = self.early_share.val();
        self.acceptance.free_pages.next = self.free_pages.val();
        self.acceptance.reserve_pages.next = self.reserve_pages.val();
        self.acceptance.long_pages.next = self.long_pages.val();
        self.acceptance.reserve_grown.next = self.reserve_grown.val();
        self.acceptance.long_fpdu.next = self.long_fpdu.val();
        self.acceptance.long_connection.next = self.long_connection.val();
        self.grows.next = self.acceptance.grows.val();
        self.acceptance.hold_log2.next = self.hold_log2.val();
        self.acceptance.unfinished.next = self.unfinished.val();
        self.acceptance.unfinished_valid.next = self.unfinished_valid.val();
        self.acceptance.key_free.next = self.key_free.val();
        self.acceptance.span_free.next = self.span_free.val();

        // Table bus. LOOKUP: store, then wait for the frames that were here before.
        self.acceptance.table_request.next = self.table_request.val();
        self.acceptance.table_valid.next = self.table_valid.val();
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
