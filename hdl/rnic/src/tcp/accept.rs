//! Acceptance of segments: which payload octets of a frame are taken, and where all other frames
//! go.
//!
//! ```text
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
//! | throughput | one frame per 5 cycles; `Judge` waits until all three outputs have room     |
//! | units      | octets; sequence numbers modulo 2^32                                        |
//!
//! Serial on purpose: a context is written back before the next segment reads it. The arithmetic of
//! the window is in [`super::judge`], what becomes of received ranges in [`super::walk`], the
//! tables in [`super::tables`], the order of the tests in the room's door ([`super`]). A connection
//! without ranges does not pay for them.
use super::class::{FrameClass, FrameClassifier};
use super::judge::SegmentJudge;
use super::outcome::SegmentOutcome;
use super::records::{LookupResult, TcpContext, WaitingFrame, WalkSegment};
use super::tables::TcpTables;
use super::walk::RangeWalk;
use crate::common::ram::SdpRam;
use crate::common::skid::Skid;
use crate::messages::{Accepted, HostFrame, PageChain, SegmentEvent, TableRequest};
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
    /// The verdict, if there are no ranges to go along.
    Decide,
    /// The segment is compared with the ranges; its verdict comes last.
    Walk,
    /// Contexts and ranges are the table bus'.
    Table,
}

/// Decides on one frame after the other.
#[derive(LogicBlock)]
pub struct SegmentAcceptance {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; clears control, not the contexts.
    pub reset: Signal<In, Bit>,
    /// The frame to decide on.
    pub frame: Signal<In, WaitingFrame>,
    /// What its lookup found; counts in the first cycle only.
    pub found: Signal<In, LookupResult>,
    /// Both are there; `frame` holds until `frame_ready`.
    pub frame_valid: Signal<In, Bit>,
    /// The frame is decided.
    pub frame_ready: Signal<Out, Bit>,
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
    /// One-cycle pulses, see `COUNT_CHECKSUM` and the following.
    pub counts: Signal<Out, Bits<COUNTS>>,
    /// Register `EARLY_PAGES`.
    pub early_pages: Signal<In, Bits<10>>,
    /// Register `EARLY_SHARE`.
    pub early_share: Signal<In, Bits<10>>,
    /// MPA is done with a run that was not the last one of its frame, for one cycle.
    pub key_free: Signal<In, Bit>,
    /// MPA is done with a span.
    pub span_free: Signal<In, Bit>,
    /// Table bus; the tables `TCP`, `EARLY` and `RANGE` are answered here.
    pub table_request: Signal<In, TableRequest>,
    /// The request stands.
    pub table_valid: Signal<In, Bit>,
    /// It is done, for one cycle.
    pub table_done: Signal<Out, Bit>,
    /// What was read, with `table_done`; zero otherwise.
    pub table_data: Signal<Out, Bits<128>>,
    contexts: SdpRam<TcpContext, 10>,
    // The context that is written, from registers. A frame of the same connection that is taken in
    // that cycle gets it from here.
    writing: DFF<Bit>,
    written_connection: DFF<Bits<10>>,
    written: DFF<TcpContext>,
    forwards: DFF<Bit>,
    loaded: Signal<Local, TcpContext>,
    writes: Signal<Local, Bit>,
    classifier: FrameClassifier,
    judge: SegmentJudge,
    outcome: SegmentOutcome,
    walk: RangeWalk,
    tables: TcpTables,
    accepted_out: Skid<Accepted>,
    host_out: Skid<HostFrame>,
    release_out: Skid<PageChain>,
    state: DFF<AcceptState>,
    connection: DFF<Bits<10>>,
    connected: DFF<Bit>,
    current: DFF<TcpContext>,
    // `current` has ranges.
    has_ranges: DFF<Bit>,
    trace: DFF<SegmentEvent>,
    trace_valid: DFF<Bit>,
    pulses: DFF<Bits<COUNTS>>,
    flags: Signal<Local, Bits<6>>,
    walks: Signal<Local, Bit>,
    // The frame is decided: at once, or after a walk.
    decide: Signal<Local, Bit>,
    settle: Signal<Local, Bit>,
    segment: Signal<Local, WalkSegment>,
    message: Signal<Local, Accepted>,
    host_message: Signal<Local, HostFrame>,
    chain: Signal<Local, PageChain>,
    accepts: Signal<Local, Bit>,
    to_host: Signal<Local, Bit>,
    range_count: Signal<Local, Bits<5>>,
    counted: Signal<Local, Bits<COUNTS>>,
    count_checksum: Constant<Bits<COUNTS>>,
    count_pure_ack: Constant<Bits<COUNTS>>,
    count_control: Constant<Bits<COUNTS>>,
}

impl Default for SegmentAcceptance {
    fn default() -> Self {
        let pulse = |bit: usize| Constant::new((1 as LiteralType).wrapping_shl(bit as u32).into());
        Self {
            clock: Default::default(),
            reset: Default::default(),
            frame: Default::default(),
            found: Default::default(),
            frame_valid: Default::default(),
            frame_ready: Default::default(),
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
            key_free: Default::default(),
            span_free: Default::default(),
            table_request: Default::default(),
            table_valid: Default::default(),
            table_done: Default::default(),
            table_data: Default::default(),
            contexts: Default::default(),
            writing: Default::default(),
            written_connection: Default::default(),
            written: Default::default(),
            forwards: Default::default(),
            loaded: Default::default(),
            writes: Default::default(),
            classifier: Default::default(),
            judge: Default::default(),
            outcome: Default::default(),
            walk: Default::default(),
            tables: Default::default(),
            accepted_out: Default::default(),
            host_out: Default::default(),
            release_out: Default::default(),
            state: Default::default(),
            connection: Default::default(),
            connected: Default::default(),
            current: Default::default(),
            has_ranges: Default::default(),
            trace: Default::default(),
            trace_valid: Default::default(),
            pulses: Default::default(),
            flags: Default::default(),
            walks: Default::default(),
            decide: Default::default(),
            settle: Default::default(),
            segment: Default::default(),
            message: Default::default(),
            host_message: Default::default(),
            chain: Default::default(),
            accepts: Default::default(),
            to_host: Default::default(),
            range_count: Default::default(),
            counted: Default::default(),
            count_checksum: pulse(COUNT_CHECKSUM),
            count_pure_ack: pulse(COUNT_PURE_ACK),
            count_control: pulse(COUNT_CONTROL),
        }
    }
}

impl Logic for SegmentAcceptance {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, connection, connected, current);
        dff_setup!(self, clock, has_ranges, trace, trace_valid, pulses);
        dff_setup!(self, clock, writing, written_connection, written, forwards);
        self.contexts.clock.next = self.clock.val();
        self.classifier.clock.next = self.clock.val();
        self.judge.clock.next = self.clock.val();
        self.walk.clock.next = self.clock.val();
        self.walk.reset.next = self.reset.val();
        self.tables.clock.next = self.clock.val();
        self.tables.reset.next = self.reset.val();
        self.accepted_out.clock.next = self.clock.val();
        self.accepted_out.reset.next = self.reset.val();
        self.host_out.clock.next = self.clock.val();
        self.host_out.reset.next = self.reset.val();
        self.release_out.clock.next = self.clock.val();
        self.release_out.reset.next = self.reset.val();
        self.accepted.next = self.accepted_out.m_data.val();
        self.accepted_valid.next = self.accepted_out.m_valid.val();
        self.accepted_out.m_ready.next = self.accepted_ready.val();
        self.host_frame.next = self.host_out.m_data.val();
        self.host_frame_valid.next = self.host_out.m_valid.val();
        self.host_out.m_ready.next = self.host_frame_ready.val();
        self.page_release.next = self.release_out.m_data.val();
        self.page_release_valid.next = self.release_out.m_valid.val();
        self.release_out.m_ready.next = self.page_release_ready.val();
        self.segment_event.next = self.trace.q.val();
        self.segment_event_valid.next = self.trace_valid.q.val();
        self.counts.next = self.pulses.q.val();

        // The judge follows the context RAM; its answer counts in state Decide.
        self.judge.seg_seq.next = self.frame.val().seg_seq;
        self.judge.seg_len.next = self.frame.val().payload_octets;
        self.judge.payload_offset.next = self.frame.val().payload_offset;
        self.loaded.next = self.contexts.read_data.val();
        if self.forwards.q.val() {
            self.loaded.next = self.written.q.val();
        }
        self.judge.rcv_nxt.next = self.loaded.val().rcv_nxt;
        self.judge.window.next = self.loaded.val().window;
        self.flags.next = self.frame.val().flags;
        self.classifier.frame.next = self.frame.val();
        self.classifier.connected.next = self.connected.q.val();
        self.classifier.classify.next = self.state.q.val() == AcceptState::Fetch;

        // The segment goes along the ranges, if it is early or there are some.
        self.walks.next = self.classifier.is_data.val()
            & (self.judge.early.val() | (self.judge.accept.val() & self.has_ranges.q.val()));
        self.decide.next = (self.state.q.val() == AcceptState::Decide) & !self.walks.val();
        self.settle.next = self.walk.done.val() & (self.state.q.val() == AcceptState::Walk);
        self.segment.next.early = self.judge.early.val();
        self.segment.next.trimmed = self.judge.cut.val();
        self.segment.next.left_distance = 0.into();
        self.segment.next.left = self.current.q.val().rcv_nxt;
        if self.judge.early.val() {
            self.segment.next.left_distance = self.judge.distance.val();
            self.segment.next.left = self.frame.val().seg_seq;
        }
        self.segment.next.right_distance = self.judge.end_in_window.val();
        self.segment.next.right = self.judge.rcv_nxt_after.val();
        self.segment.next.origin = self.judge.offset.val();
        self.walk.start.next = (self.state.q.val() == AcceptState::Decide) & self.walks.val();
        self.walk.purge.next = self.tables.purge.val();
        self.walk.frame.next = self.frame.val();
        self.walk.segment.next = self.segment.val();
        self.walk.connection.next = self.connection.q.val();
        self.walk.current.next = self.current.q.val();
        self.walk.early_pages.next = self.early_pages.val();
        self.walk.early_share.next = self.early_share.val();
        self.walk.key_free.next = self.key_free.val();
        self.walk.span_free.next = self.span_free.val();
        self.walk.message_ready.next = self.accepted_out.s_ready.val();
        self.walk.peek.next = self.tables.peek.val();
        self.walk.peek_number.next = self.tables.peek_number.val();
        self.tables.table_request.next = self.table_request.val();
        self.tables.table_valid.next = self.table_valid.val();
        self.tables.grant.next = self.state.q.val() == AcceptState::Table;
        self.tables.current.next = self.current.q.val();
        self.tables.range.next = self.walk.range.val();
        self.tables.purged.next = self.walk.done.val();
        self.tables.message_waits.next = self.accepted_out.m_valid.val();
        self.table_done.next = self.tables.table_done.val();
        self.table_data.next = self.tables.table_data.val();

        // The three messages; the class and the verdict say which one is sent.
        self.message.next.connection = self.connection.q.val();
        self.message.next.head_page = self.frame.val().head_page;
        self.message.next.tail_page = self.frame.val().tail_page;
        self.message.next.offset = self.judge.offset.val();
        self.message.next.octets = self.judge.octets.val();
        self.message.next.sequence = 0.into();
        self.message.next.early = false;
        self.message.next.has_left = false;
        self.message.next.left = 0.into();
        self.message.next.has_right = false;
        self.message.next.right = 0.into();
        self.message.next.shared = false;
        self.message.next.first = true;
        self.message.next.last = true;
        self.message.next.purges = false;
        if self.state.q.val() != AcceptState::Decide {
            self.message.next = self.walk.message.val();
        }
        self.accepted_out.s_data.next = self.message.val();
        self.host_message.next.head_page = self.frame.val().head_page;
        self.host_message.next.tail_page = self.frame.val().tail_page;
        self.host_message.next.frame_octets = self.frame.val().frame_octets;
        self.host_out.s_data.next = self.host_message.val();
        self.chain.next.head_page = self.frame.val().head_page;
        self.chain.next.tail_page = self.frame.val().tail_page;
        self.release_out.s_data.next = self.chain.val();
        self.to_host.next = (self.classifier.kind.val() == FrameClass::Foreign)
            | (self.classifier.kind.val() == FrameClass::Control);
        self.accepts.next = self.classifier.is_data.val() & self.judge.accept.val();
        self.frame_ready.next = self.decide.val() | self.settle.val();
        self.accepted_out.s_valid.next =
            (self.decide.val() & self.accepts.val()) | self.walk.message_valid.val();
        self.host_out.s_valid.next = self.decide.val() & self.to_host.val();
        self.release_out.s_valid.next =
            (self.decide.val() & !self.to_host.val() & !self.accepts.val())
                | (self.settle.val() & self.walk.refused.val());
        self.trace.d.next.connection = self.connection.q.val();
        self.trace.d.next.verdict = self.outcome.verdict.val();
        self.trace.d.next.seg_seq = self.frame.val().seg_seq;
        self.trace.d.next.seg_len = self.frame.val().payload_octets;
        self.trace_valid.d.next =
            (self.decide.val() & self.classifier.is_data.val()) | self.settle.val();

        // The context after a segment that counts, or the table bus' words.
        self.outcome.current.next = self.current.q.val();
        self.outcome.is_data.next = self.classifier.is_data.val();
        self.outcome.seg_ack.next = self.frame.val().seg_ack;
        self.outcome.seg_wnd.next = self.frame.val().seg_wnd;
        self.outcome.fin.next = self.flags.val().get_bit(0);
        self.outcome.judged.next = self.judge.verdict.val();
        self.outcome.accept.next = self.judge.accept.val();
        self.outcome.early.next = self.judge.early.val();
        self.outcome.to_the_end.next = self.judge.to_the_end.val();
        self.outcome.rcv_nxt_after.next = self.judge.rcv_nxt_after.val();
        self.outcome.settle.next = self.settle.val();
        self.outcome.walked.next = self.walk.verdict.val();
        self.outcome.refused.next = self.walk.refused.val();
        self.outcome.trimmed.next = self.walk.trimmed.val();
        self.outcome.complete.next = self.walk.complete.val();
        self.outcome.result.next = self.walk.result.val();
        self.writes.next = false;
        if self.settle.val() | self.decide.val() {
            self.written.d.next = self.outcome.updated.val();
        }
        if self.state.q.val() == AcceptState::Table {
            self.written.d.next = self.tables.written.val();
            self.writes.next = self.tables.write.val();
        }
        self.written_connection.d.next = self.connection.q.val();
        self.contexts.write_enable.next = self.writing.q.val();
        self.contexts.write_address.next = self.written_connection.q.val();
        self.contexts.write_data.next = self.written.q.val();
        self.contexts.read_address.next = self.connection.q.val();
        self.counted.next = 0.into();
        self.range_count.next = self.current.q.val().ranges;

        match self.state.q.val() {
            AcceptState::Idle => {
                self.contexts.read_address.next = self.found.val().connection;
                if self.tables.wants.val() {
                    self.connection.d.next = self.tables.connection.val();
                    self.state.d.next = AcceptState::Table;
                } else if self.frame_valid.val() {
                    self.connection.d.next = self.found.val().connection;
                    self.connected.d.next = self.found.val().hit;
                    self.forwards.d.next = self.writing.q.val()
                        & (self.written_connection.q.val() == self.found.val().connection);
                    self.state.d.next = AcceptState::Fetch;
                }
            }
            AcceptState::Fetch => self.state.d.next = AcceptState::Load,
            AcceptState::Load => {
                self.current.d.next = self.loaded.val();
                self.state.d.next = AcceptState::Judge;
            }
            // Waits for room for every message; none but this frame takes it away.
            AcceptState::Judge => {
                self.has_ranges.d.next = self.range_count.val().any();
                if self.accepted_out.s_ready.val()
                    & self.host_out.s_ready.val()
                    & self.release_out.s_ready.val()
                {
                    self.state.d.next = AcceptState::Decide;
                }
            }
            AcceptState::Decide => {
                match self.classifier.kind.val() {
                    FrameClass::Foreign => {}
                    FrameClass::BadChecksum => self.counted.next = self.count_checksum.val(),
                    FrameClass::Control => self.counted.next = self.count_control.val(),
                    FrameClass::PureAck => {
                        self.counted.next = self.count_pure_ack.val();
                        self.writes.next = true;
                    }
                    FrameClass::Data => {
                        if !self.walks.val() {
                            self.counted.next = self.outcome.counts.val();
                            self.writes.next = true;
                        }
                    }
                    _ => {}
                }
                self.state.d.next = AcceptState::Idle;
                if self.walks.val() {
                    self.state.d.next = AcceptState::Walk;
                }
            }
            AcceptState::Walk => {
                if self.walk.done.val() {
                    self.counted.next = self.outcome.counts.val();
                    self.writes.next = true;
                    self.state.d.next = AcceptState::Idle;
                }
            }
            AcceptState::Table => {
                self.current.d.next = self.contexts.read_data.val();
                if self.tables.finished.val() {
                    self.state.d.next = AcceptState::Idle;
                }
            }
            _ => {}
        }
        self.writing.d.next = self.writes.val();
        self.pulses.d.next = self.counted.val();
        if self.reset.val() {
            self.state.d.next = AcceptState::Idle;
            self.trace_valid.d.next = false;
            self.writing.d.next = false;
            self.pulses.d.next = 0.into();
        }
    }
}
