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
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// The whole room: lookup and acceptance.
#[derive(LogicBlock, Init)]
pub struct TcpRoom {
    pub clock: Signal<In, Clock>,
    /// Synchronous; clears control, not the tables.
    pub reset: Signal<In, Bit>,
    /// A stored frame.
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
    pub unfinished: Signal<In, Unfinished>,
    pub unfinished_valid: Signal<In, Bit>,
    /// MPA is done with a run that was not the last one of its frame, for one cycle.
    pub key_free: Signal<In, Bit>,
    /// MPA is done with a span.
    pub span_free: Signal<In, Bit>,
    /// Table bus; tables `LOOKUP`, `TCP`, `EARLY`, `RANGE` and `IN_USE` are answered here.
    pub table_request: Signal<In, TableRequest>,
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
    #[constant(1)]
    one: Constant<Bits<5>>,
    #[constant(LiteralType::from(tables::LOOKUP))]
    table_lookup: Constant<Bits<4>>,
    #[constant(LiteralType::from(tables::WRITE))]
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
        wire!(self => self.frames; take as write, waiting as data_in);

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
        stream!(self.acceptance => self; accepted, host_frame, page_release);
        wire!(self.acceptance => self; segment_event, segment_event_valid, counts);
        wire!(self => self.acceptance;
            early_pages, early_share, free_pages, reserve_pages, long_pages, reserve_grown,
            long_fpdu, long_connection);
        self.grows.next = self.acceptance.grows.val();
        wire!(self => self.acceptance;
            hold_log2, unfinished, unfinished_valid, key_free, span_free);

        // Table bus. LOOKUP: store, then wait for the frames that were here before.
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
