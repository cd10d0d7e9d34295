//! Acceptance of segments: which payload octets of a frame are taken, and where all other frames
//! go.
//!
//! ```text
//!                           Forget <-+<-- Ask <-+  few pages are left
//!                                 +->v          |  [ reserve ] <-> MPA
//! frame, found --> Idle -> Fetch -> Load -> Judge -> Decide --+----------> accepted | host_frame |
//!                   | |     class      |  [ judge ]           |    ^       release
//!                   | +-- address -> [ contexts ] <-----------+    |
//!                   |                  ^       rcv_nxt, ACK, FIN   |
//! table bus [ tables ] <-> Table ------+                           |
//!                                early, or ranges to go along -> Walk [ walk ]
//! ```
//!
//! | latency    | 5 cycles, `frame_valid` to `accepted_valid`; with ranges to go along or     |
//! |            | beyond a gap see [`super::walk`]                                            |
//! | throughput | one frame per 5 cycles; `Judge` waits until all three outputs have room;    |
//! |            | while few pages are left, one with payload waits for MPA's answer, and for  |
//! |            | the walk along its connection's ranges where these are to be forgotten      |
//! | units      | octets; sequence numbers modulo 2^32                                        |
//!
//! A frame is taken in `Idle` and held here from then on: its queue goes on while it is decided.
//! Serial on purpose: a context is written back before the next segment reads it. The arithmetic of
//! the window is in [`super::judge`], what becomes of received ranges in [`super::walk`], the
//! tables in [`super::tables`], the order of the tests in the room's door ([`super`]). A connection
//! without ranges does not pay for them. What [`super::reserve`] allows reaches the judge as the
//! window of a context that is forwarded and never written.
use super::class::FrameClassifier;
use super::contexts::ContextStore;
use super::judge::SegmentJudge;
use super::outcome::SegmentOutcome;
use super::outputs::AcceptanceOutputs;
use super::records::{LookupResult, TcpContext, WaitingFrame};
use super::reserve::PageReserve;
use super::tables::TcpTables;
use super::walk::RangeWalk;
use crate::messages::{Accepted, HostFrame, PageChain, SegmentEvent, TableRequest, Unfinished};
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Pulses of `counts`, one bit each.
pub const COUNTS: usize = 10;
/// Bit of `counts`: `Counter::DropTcpChecksum`.
pub const COUNT_CHECKSUM: usize = 0;
/// Bit of `counts`: `Counter::TcpPureAck`.
pub const COUNT_PURE_ACK: usize = 1;
/// Bit of `counts`: `Counter::TcpControl`.
pub const COUNT_CONTROL: usize = 2;
/// Bit of `counts`: `Counter::TcpInOrder`.
pub const COUNT_IN_ORDER: usize = 3;
/// Bit of `counts`: `Counter::TcpTrimmed`.
pub const COUNT_TRIMMED: usize = 4;
/// Bit of `counts`: `Counter::DropTcpDuplicate`.
pub const COUNT_DUPLICATE: usize = 5;
/// Bit of `counts`: `Counter::TcpOutOfOrder`.
pub const COUNT_OUT_OF_ORDER: usize = 6;
/// Bit of `counts`: `Counter::DropTcpOutsideWindow`.
pub const COUNT_OUTSIDE_WINDOW: usize = 7;
/// Bit of `counts`: `Counter::DropTcpNoRoom`.
pub const COUNT_NO_ROOM: usize = 8;
/// Bit of `counts`: `Counter::DropTcpNoRange`.
pub const COUNT_NO_RANGE: usize = 9;

const _: () = assert!(COUNT_IN_ORDER == 3, "the kernel looks at that bit");

/// What the machine does.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum AcceptState {
    /// Waits for a table request or a frame, and gives the context RAM the frame's address.
    Idle,
    /// The RAM reads; the frame's class is found out.
    Fetch,
    /// The context is there and goes to the judge.
    Load,
    /// The judge compares.
    Judge,
    /// Few pages are left: waits for how far the segment may go.
    Ask,
    /// The connection's own ranges are in the way of its segment: waits until they are forgotten.
    Forget,
    /// The verdict, if there are no ranges to go along.
    Decide,
    /// The segment is compared with the ranges; its verdict comes last.
    Walk,
    /// Contexts and ranges are the table bus'.
    Table,
}

/// Decides on one frame after the other.
#[derive(LogicBlock, Default)]
pub struct SegmentAcceptance {
    pub clock: Signal<In, Clock>,
    /// Synchronous; clears control, not the contexts.
    pub reset: Signal<In, Bit>,
    /// The frame to decide on.
    pub frame: Signal<In, WaitingFrame>,
    /// What its lookup found.
    pub found: Signal<In, LookupResult>,
    /// Both are there.
    pub frame_valid: Signal<In, Bit>,
    pub frame_ready: Signal<Out, Bit>,
    /// A frame taken is not yet decided, or a table operation is not done.
    pub busy: Signal<Out, Bit>,
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
    /// One-cycle pulses, see `COUNT_CHECKSUM` and the following.
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
    /// Table bus; the tables `TCP`, `EARLY`, `RANGE` and `IN_USE` are answered here.
    pub table_request: Signal<In, TableRequest>,
    pub table_valid: Signal<In, Bit>,
    /// It is done, for one cycle.
    pub table_done: Signal<Out, Bit>,
    /// What was read, with `table_done`; zero otherwise.
    pub table_data: Signal<Out, Bits<128>>,
    contexts: ContextStore,
    loaded: Signal<Local, TcpContext>,
    classifier: FrameClassifier,
    judge: SegmentJudge,
    outcome: SegmentOutcome,
    walk: RangeWalk,
    tables: TcpTables,
    reserve: PageReserve,
    outputs: AcceptanceOutputs,
    state: DFF<AcceptState>,
    // The frame taken: the queue it comes from need not hear of a verdict that comes late.
    held: DFF<WaitingFrame>,
    connection: DFF<Bits<10>>,
    connected: DFF<Bit>,
    current: DFF<TcpContext>,
    // `current` has ranges.
    has_ranges: DFF<Bit>,
    // The segment has to ask; it has asked, and its window is not the connection's.
    must_ask: DFF<Bit>,
    asked: DFF<Bit>,
    limited: DFF<Bit>,
    // The reserve's answer becomes the segment's window; first its ranges are to be forgotten.
    answered: Signal<Local, Bit>,
    gives_up: Signal<Local, Bit>,
    trace: DFF<SegmentEvent>,
    trace_valid: DFF<Bit>,
    pulses: DFF<Bits<COUNTS>>,
    counted_before: Signal<Local, Bits<COUNTS>>,
    flags: Signal<Local, Bits<6>>,
    walks: Signal<Local, Bit>,
    // The frame is decided: at once, or after a walk.
    decide: Signal<Local, Bit>,
    settle: Signal<Local, Bit>,
    accepts: Signal<Local, Bit>,
    range_count: Signal<Local, Bits<5>>,
}

impl Logic for SegmentAcceptance {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, held, connection, connected, current);
        registers!(clock; has_ranges, trace, trace_valid, pulses);
        registers!(clock; must_ask, asked, limited);
        wire!(self => self.contexts; clock, reset);
        wire!(self => self.{classifier, judge, walk}; clock);
        self.walk.reset.next = self.reset.val();
        wire!(self => self.tables; clock, reset);
        wire!(self => self.reserve; clock, reset);
        wire!(self => self.outputs; clock, reset);
        stream!(self.outputs => self; accepted, host_frame, page_release);
        self.segment_event.next = self.trace.q.val();
        self.segment_event_valid.next = self.trace_valid.q.val();
        self.counts.next = self.pulses.q.val();
        // The judge follows the context RAM; its answer counts in state Decide.
        self.judge.seg_seq.next = self.held.q.val().seg_seq;
        self.judge.seg_len.next = self.held.q.val().payload_octets;
        self.judge.payload_offset.next = self.held.q.val().payload_offset;
        self.loaded.next = self.contexts.loaded.val();
        self.judge.rcv_nxt.next = self.loaded.val().rcv_nxt;
        self.judge.window.next = self.loaded.val().window;
        self.judge.wanted.next = self.current.q.val().rcv_nxt;
        self.flags.next = self.held.q.val().flags;
        self.classifier.frame.next = self.held.q.val();
        self.classifier.connected.next = self.connected.q.val();
        self.classifier.classify.next = self.state.q.val() == AcceptState::Fetch;
        // The segment goes along the ranges, if it is early or there are some.
        self.walks.next = self.classifier.is_data.val()
            & (self.judge.early.val() | (self.judge.accept.val() & self.has_ranges.q.val()));
        self.decide.next = (self.state.q.val() == AcceptState::Decide) & !self.walks.val();
        self.settle.next = self.walk.done.val() & (self.state.q.val() == AcceptState::Walk);
        self.walk.start.next = (self.state.q.val() == AcceptState::Decide) & self.walks.val();
        self.gives_up.next = self.reserve.decided.val()
            & self.reserve.distant.val()
            & self.judge.accept.val()
            & !self.judge.early.val()
            & self.has_ranges.q.val();
        self.answered.next = (self.reserve.decided.val() & !self.gives_up.val())
            | ((self.state.q.val() == AcceptState::Forget) & self.walk.done.val());
        self.walk.purge.next = self.tables.purge.val() | self.gives_up.val();
        self.walk.frame.next = self.held.q.val();
        self.walk.segment.next = self.judge.segment.val();
        self.walk.connection.next = self.connection.q.val();
        self.walk.current.next = self.current.q.val();
        self.walk.early_pages.next = self.reserve.early_limit.val();
        wire!(self => self.walk; early_share, key_free, span_free);
        self.walk.message_ready.next = self.outputs.accepted_room.val();
        wire!(self.tables => self.walk; peek, peek_number);
        wire!(self => self.reserve;
            free_pages, reserve_pages, long_pages, reserve_grown as grown, long_fpdu,
            long_connection);
        self.grows.next = self.reserve.grows.val();
        wire!(self => self.reserve; hold_log2, early_pages);
        self.reserve.connection.next = self.connection.q.val();
        self.reserve.window.next = self.current.q.val().window;
        self.reserve.reach.next = self.judge.end_in_window.val();
        self.reserve.start.next = false;
        wire!(self => self.reserve; unfinished as answer, unfinished_valid as answer_valid);
        self.counted_before.next = self.pulses.q.val();
        self.reserve.in_order.next = self.counted_before.val().get_bit(3) & self.asked.q.val();
        wire!(self => self.tables; table_request, table_valid);
        self.tables.grant.next = self.state.q.val() == AcceptState::Table;
        self.tables.current.next = self.current.q.val();
        wire!(self.walk => self.tables; range, done as purged, in_use);
        self.tables.message_waits.next = self.outputs.accepted_valid.val();
        wire!(self.tables => self; table_done, table_data);

        // The three messages; the class and the verdict say which one is sent.
        self.outputs.frame.next = self.held.q.val();
        self.outputs.connection.next = self.connection.q.val();
        wire!(self.judge => self.outputs; offset, octets);
        self.outputs.walked.next = self.walk.message.val();
        self.outputs.is_run.next = self.state.q.val() == AcceptState::Decide;
        self.outputs.is_question.next = self.state.q.val() == AcceptState::Ask;
        self.outputs.subject.next = self.reserve.subject.val();
        self.accepts.next = self.classifier.is_data.val() & self.judge.accept.val();
        self.frame_ready.next =
            (self.state.q.val() == AcceptState::Idle) & !self.tables.wants.val();
        self.busy.next = self.state.q.val() != AcceptState::Idle;
        self.outputs.send_accepted.next = (self.decide.val() & self.accepts.val())
            | self.walk.message_valid.val()
            | self.reserve.asks.val();
        self.outputs.send_host.next = self.decide.val() & self.classifier.to_host.val();
        self.outputs.send_release.next =
            (self.decide.val() & !self.classifier.to_host.val() & !self.accepts.val())
                | (self.settle.val() & self.walk.refused.val());
        self.trace.d.next.connection = self.connection.q.val();
        self.trace.d.next.verdict = self.outcome.verdict.val();
        self.trace.d.next.seg_seq = self.held.q.val().seg_seq;
        self.trace.d.next.seg_len = self.held.q.val().payload_octets;
        self.trace_valid.d.next =
            (self.decide.val() & self.classifier.is_data.val()) | self.settle.val();

        // The context after a segment that counts, or the table bus' words.
        self.outcome.current.next = self.current.q.val();
        self.outcome.is_data.next = self.classifier.is_data.val();
        self.outcome.seg_ack.next = self.held.q.val().seg_ack;
        self.outcome.seg_wnd.next = self.held.q.val().seg_wnd;
        self.outcome.fin.next = self.flags.val().get_bit(0);
        wire!(self.judge => self.outcome;
            verdict as judged, accept, early, to_the_end, rcv_nxt_after);
        self.outcome.limited.next = self.limited.q.val();
        self.outcome.settle.next = self.settle.val();
        wire!(self.walk => self.outcome; verdict as walked, refused, trimmed, complete, result);
        self.contexts.write.next = false;
        self.contexts.connection.next = self.connection.q.val();
        self.contexts.take.next = self.state.q.val() == AcceptState::Idle;
        self.contexts.updated.next = self.outcome.updated.val();
        if self.state.q.val() == AcceptState::Table {
            wire!(self.tables => self.contexts; written as updated, write);
        }
        if self.answered.val() {
            // Not to be kept: the judge alone gets it, with rcv_nxt as it was.
            self.contexts.updated.next = self.tables.written.val();
            self.contexts.updated.next.window = self.reserve.limit.val();
        }
        self.contexts.hold.next = self.settle.val()
            | self.decide.val()
            | self.answered.val()
            | (self.state.q.val() == AcceptState::Table);
        self.contexts.show.next = self.answered.val();
        self.pulses.d.next = 0.into();
        self.range_count.next = self.current.q.val().ranges;
        match self.state.q.val() {
            AcceptState::Idle => {
                self.asked.d.next = false;
                self.limited.d.next = false;
                self.contexts.connection.next = self.found.val().connection;
                self.held.d.next = self.frame.val();
                if self.tables.wants.val() {
                    self.connection.d.next = self.tables.connection.val();
                    self.state.d.next = AcceptState::Table;
                } else if self.frame_valid.val() {
                    self.connection.d.next = self.found.val().connection;
                    self.connected.d.next = self.found.val().hit;
                    self.state.d.next = AcceptState::Fetch;
                }
            }
            AcceptState::Fetch => self.state.d.next = AcceptState::Load,
            AcceptState::Load => {
                self.must_ask.d.next =
                    self.reserve.short.val() & self.classifier.is_data.val() & !self.asked.q.val();
                if !self.asked.q.val() {
                    self.current.d.next = self.loaded.val();
                }
                self.state.d.next = AcceptState::Judge;
            }
            // Waits for room for every message; none but this frame takes it away.
            AcceptState::Judge => {
                self.has_ranges.d.next = self.range_count.val().any();
                if self.outputs.room.val() {
                    self.state.d.next = AcceptState::Decide;
                    if self.must_ask.q.val() {
                        self.reserve.start.next = true;
                        self.state.d.next = AcceptState::Ask;
                    }
                }
            }
            AcceptState::Ask => {
                if self.gives_up.val() {
                    self.state.d.next = AcceptState::Forget;
                } else if self.reserve.decided.val() {
                    self.asked.d.next = true;
                    self.limited.d.next = self.reserve.limited.val();
                    self.state.d.next = AcceptState::Load;
                }
            }
            AcceptState::Forget => {
                if self.walk.done.val() {
                    self.current.d.next = self.tables.written.val();
                    self.asked.d.next = true;
                    self.limited.d.next = true;
                    self.state.d.next = AcceptState::Load;
                }
            }
            AcceptState::Decide => {
                self.pulses.d.next = self.classifier.counts.val();
                self.contexts.write.next = self.classifier.is_kept.val() & !self.walks.val();
                if self.classifier.is_data.val() & !self.walks.val() {
                    self.pulses.d.next = self.outcome.counts.val();
                }
                self.state.d.next = AcceptState::Idle;
                if self.walks.val() {
                    self.state.d.next = AcceptState::Walk;
                }
            }
            AcceptState::Walk => {
                if self.walk.done.val() {
                    self.pulses.d.next = self.outcome.counts.val();
                    self.contexts.write.next = true;
                    self.state.d.next = AcceptState::Idle;
                }
            }
            AcceptState::Table => {
                self.current.d.next = self.contexts.stored.val();
                if self.tables.finished.val() {
                    self.state.d.next = AcceptState::Idle;
                }
            }
            _ => {}
        }
        self.contexts.owner.next = self.connection.q.val();
        if self.reset.val() {
            self.state.d.next = AcceptState::Idle;
            self.trace_valid.d.next = false;
            self.pulses.d.next = 0.into();
        }
    }
}
