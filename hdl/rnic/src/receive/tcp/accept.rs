//! Acceptance: which payload octets of a frame are taken, and where the frame goes.
//!
//! ```text
//!                           Forget <-+<-- Ask <-+  memory is short
//!                                 +->v          |  [ reserve ] <-> MPA
//! frame, found --> Idle -> Fetch -> Load -> Judge -> Decide --+----------> accepted | host_frame |
//!                   | |     class      |  [ window check ]    |    ^       release
//!                   | +-- address -> [ contexts ] <-----------+    |
//!                   |                  ^       rcv_nxt, ACK, FIN   |
//! table bus [ tables ] <-> Table ------+                           |
//! events --> Report (reads a context) -+                           |
//!                                  out of order, or ranges -> Walk [ ranges ]
//! ```
//!
//! | latency    | 5 cycles, `frame_valid` to `accepted_valid`; out of order or with ranges: see |
//! |            | [`ranges`](super::ranges)                                                     |
//! | throughput | one frame per 5 cycles; `Judge` waits until all three outputs have space;     |
//! |            | while memory is short, a segment with payload waits for MPA's answer, and     |
//! |            | until its connection's ranges are discarded, if they must be                  |
//! | units      | octets; sequence numbers modulo 2^32                                          |
//!
//! A frame is taken in `Idle` and held here: its queue advances while it is decided. Frames are
//! processed one by one, because a context must be written back before the next segment reads it.
//! The window the reserve allows reaches the window check as the window of a context that is
//! forwarded and never written. A connection without ranges is not delayed by them.
//!
//! Events read contexts through the same RAM port: in the last cycle of a frame, when it is free,
//! or between frames while none waits (`Report`). A segment's report comes in the cycle in which
//! its context is written, so a read that follows the report sees it.
use super::context::{ContextStore, QueuedFrame, TcpContext};
use super::decision::{FrameClassifier, SegmentResult, WindowCheck, COUNTS};
use super::lookup::LookupResult;
use super::ranges::RangeWalk;
use super::report::{EventContextReader, SegmentReporter};
use super::reserve::PageReserve;
use super::tables::TcpTables;
use crate::common::skid::Skid;
use crate::messages::{
    Accepted, ConnectionReport, FpduStatus, HostFrame, PageChain, ReportedContext, SegmentEvent,
    SegmentInfo, TableRequest,
};
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// States of acceptance.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum AcceptState {
    /// Waits for a table request or a frame, and addresses the context RAM.
    Idle,
    /// The RAM reads; the frame is classified.
    Fetch,
    /// The context goes to the window check.
    Load,
    /// The window check compares.
    Judge,
    /// Memory is short: waits for the reserve's answer.
    Ask,
    /// The connection's own ranges occupy the pages that its segment needs: waits until they are
    /// discarded.
    Forget,
    /// Decides, if no ranges are involved.
    Decide,
    /// The segment is compared with the ranges, then decided.
    Walk,
    /// A table operation uses contexts and ranges.
    Table,
    /// Addresses the context that events ask for.
    Report,
}

/// Decides on frames one by one; ports as in [`TcpRoom`](super::TcpRoom).
#[derive(LogicBlock, Default)]
pub struct SegmentAcceptance {
    pub clock: Signal<In, Clock>,
    /// Synchronous; writes an empty context for each index that the table bus shows.
    pub reset: Signal<In, Bit>,
    pub frame: Signal<In, QueuedFrame>,
    pub found: Signal<In, LookupResult>,
    pub frame_valid: Signal<In, Bit>,
    pub frame_ready: Signal<Out, Bit>,
    /// A frame or a table operation is in progress.
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
    pub counts: Signal<Out, Bits<COUNTS>>,
    pub ooo_pages: Signal<In, Bits<10>>,
    pub ooo_share: Signal<In, Bits<10>>,
    pub free_pages: Signal<In, Bits<10>>,
    pub reserve_pages: Signal<In, Bits<10>>,
    pub long_pages: Signal<In, Bits<10>>,
    pub reserve_grown: Signal<In, Bit>,
    pub long_fpdu: Signal<In, Bit>,
    pub long_connection: Signal<In, Bits<10>>,
    pub grows: Signal<Out, Bit>,
    pub hold_log2: Signal<In, Bits<5>>,
    pub fpdu_status: Signal<In, FpduStatus>,
    pub fpdu_status_valid: Signal<In, Bit>,
    pub fragment_free: Signal<In, Bit>,
    pub span_free: Signal<In, Bit>,
    pub table_request: Signal<In, TableRequest>,
    pub table_valid: Signal<In, Bit>,
    pub table_done: Signal<Out, Bit>,
    pub table_data: Signal<Out, Bits<128>>,
    pub report: Signal<Out, ConnectionReport>,
    pub report_valid: Signal<Out, Bit>,
    pub event_read: Signal<In, Bit>,
    pub event_connection: Signal<In, Bits<10>>,
    pub event_read_taken: Signal<Out, Bit>,
    pub event_context: Signal<Out, ReportedContext>,
    pub event_context_valid: Signal<Out, Bit>,
    contexts: ContextStore,
    loaded: Signal<Local, TcpContext>,
    classifier: FrameClassifier,
    judge: WindowCheck,
    outcome: SegmentResult,
    walk: RangeWalk,
    tables: TcpTables,
    reserve: PageReserve,
    reporter: SegmentReporter,
    event_reader: EventContextReader,
    outputs: AcceptanceOutputs,
    state: DFF<AcceptState>,
    // The frame, held so that the queue does not depend on late results.
    held: DFF<QueuedFrame>,
    segment: Signal<Local, SegmentInfo>,
    connection: DFF<Bits<10>>,
    owner: Signal<Local, Bits<10>>,
    connected: DFF<Bit>,
    current: DFF<TcpContext>,
    earlier: Signal<Local, TcpContext>,
    // `current` has ranges.
    has_ranges: DFF<Bit>,
    // The segment has to ask the reserve; it has asked; its window is smaller than the
    // connection's.
    must_ask: DFF<Bit>,
    asked: DFF<Bit>,
    limited: DFF<Bit>,
    // The reserve's answer becomes the segment's window.
    answered: Signal<Local, Bit>,
    // SEG.ACK and SEG.WND are those of `current`; stable from state Decide on.
    same_ack: DFF<Bit>,
    // The ranges that the reserve discards are purged.
    purged: DFF<Bit>,
    // The context RAM's port is not used by frames or tables.
    port_free: Signal<Local, Bit>,
    pulses: DFF<Bits<COUNTS>>,
    counted_before: Signal<Local, Bits<COUNTS>>,
    flags: Signal<Local, Bits<6>>,
    walks: Signal<Local, Bit>,
    // The frame is decided in this cycle: without, or after a walk.
    decide: Signal<Local, Bit>,
    settle: Signal<Local, Bit>,
    accepts: Signal<Local, Bit>,
    range_count: Signal<Local, Bits<5>>,
}

impl Logic for SegmentAcceptance {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, held, connection, connected, current, has_ranges, pulses);
        registers!(clock; must_ask, asked, limited, same_ack, purged);
        self.purged.d.next = self.walk.done.val() & (self.state.q.val() == AcceptState::Forget);
        wire!(self => self.{classifier, judge}; clock);
        wire!(self => self.{
            contexts, walk, tables, reserve, outputs, reporter, event_reader
        }; clock, reset);
        stream!(self.outputs => self; accepted, host_frame, page_release);
        self.counts.next = self.pulses.q.val();
        self.segment.next = self.held.q.val().segment;
        self.owner.next = self.connection.q.val();
        wire!(self => self.{walk, reserve, outputs, reporter}; owner as connection);
        self.earlier.next = self.current.q.val();
        wire!(self => self.{walk, tables, outcome, reporter}; earlier as current);
        // The window check follows the context RAM; its result is sampled in state Decide.
        self.judge.seg_seq.next = self.segment.val().seg_seq;
        self.judge.seg_len.next = self.segment.val().payload_octets;
        self.judge.payload_offset.next = self.segment.val().payload_offset;
        self.loaded.next = self.contexts.loaded.val();
        self.judge.rcv_nxt.next = self.loaded.val().rcv_nxt;
        self.judge.window.next = self.loaded.val().window;
        self.judge.wanted.next = self.current.q.val().rcv_nxt;
        self.flags.next = self.segment.val().flags;
        self.classifier.frame.next = self.held.q.val();
        self.classifier.connected.next = self.connected.q.val();
        self.classifier.classify.next = self.state.q.val() == AcceptState::Fetch;
        // A segment is compared with the ranges if it is out of order, or there are some.
        self.walks.next = self.classifier.is_data.val()
            & (self.judge.ooo.val() | (self.judge.accept.val() & self.has_ranges.q.val()));
        self.decide.next = (self.state.q.val() == AcceptState::Decide) & !self.walks.val();
        self.settle.next = self.walk.done.val() & (self.state.q.val() == AcceptState::Walk);
        self.walk.start.next = (self.state.q.val() == AcceptState::Decide) & self.walks.val();
        self.reserve.has_ranges.next =
            self.judge.accept.val() & !self.judge.ooo.val() & self.has_ranges.q.val();
        self.answered.next =
            (self.reserve.decided.val() & !self.reserve.discards.val()) | self.purged.q.val();
        self.walk.purge.next = self.tables.purge.val() | self.reserve.discards.val();
        self.walk.frame.next = self.held.q.val();
        self.walk.segment.next = self.judge.segment.val();
        self.walk.ooo_pages.next = self.reserve.ooo_limit.val();
        wire!(self => self.walk; ooo_share, fragment_free, span_free);
        self.walk.message_ready.next = self.outputs.accepted_room.val();
        wire!(self.tables => self.walk; peek, peek_number);
        wire!(self => self.reserve;
            free_pages, reserve_pages, long_pages, reserve_grown as grown, long_fpdu,
            long_connection, hold_log2, ooo_pages, fpdu_status as answer,
            fpdu_status_valid as answer_valid);
        self.grows.next = self.reserve.grows.val();
        self.reserve.window.next = self.current.q.val().window;
        self.reserve.reach.next = self.judge.end_in_window.val();
        self.reserve.start.next = false;
        self.counted_before.next = self.pulses.q.val();
        self.reserve.in_order.next = self.counted_before.val().get_bit(3) & self.asked.q.val();
        wire!(self => self.tables; table_request, table_valid);
        self.tables.grant.next = self.state.q.val() == AcceptState::Table;
        wire!(self.walk => self.tables; range, done as purged, in_use);
        self.tables.message_waits.next = self.outputs.accepted_valid.val();
        wire!(self.tables => self; table_done, table_data);

        // The outputs: class and window check select the one that gets a message.
        self.outputs.frame.next = self.held.q.val();
        wire!(self.judge => self.outputs; offset, octets);
        wire!(self.walk => self.outputs; message as walked, message_valid as send_walked);
        self.outputs.is_run.next = self.state.q.val() == AcceptState::Decide;
        self.outputs.is_question.next = self.state.q.val() == AcceptState::Ask;
        wire!(self.reserve => self.outputs; subject, queries as send_question);
        self.accepts.next = self.classifier.is_data.val() & self.judge.accept.val();
        self.frame_ready.next =
            (self.state.q.val() == AcceptState::Idle) & !self.tables.wants.val();
        self.busy.next = self.state.q.val() != AcceptState::Idle;
        self.outputs.send_run.next = self.decide.val() & self.accepts.val();
        self.outputs.send_host.next = self.decide.val() & self.classifier.to_host.val();
        self.outputs.send_release.next =
            (self.decide.val() & !self.classifier.to_host.val() & !self.accepts.val())
                | (self.settle.val() & self.walk.refused.val());

        // The next context: after a segment, or from the table bus.
        self.outcome.is_data.next = self.classifier.is_data.val();
        self.outcome.seg_ack.next = self.segment.val().seg_ack;
        self.outcome.seg_wnd.next = self.segment.val().seg_wnd;
        self.outcome.fin.next = self.flags.val().get_bit(0);
        wire!(self.judge => self.outcome;
            verdict as judged, accept, ooo, acknowledges, to_the_end, rcv_nxt_after);
        self.outcome.limited.next = self.limited.q.val();
        wire!(self.walk => self.outcome; verdict as walked, refused, trimmed, complete, result);
        self.contexts.write.next = false;
        self.contexts.connection.next = self.connection.q.val();
        self.contexts.take.next = self.state.q.val() == AcceptState::Idle;
        self.contexts.updated.next = self.outcome.updated.val();
        if self.state.q.val() == AcceptState::Table {
            wire!(self.tables => self.contexts; written as updated, write);
        }
        if self.answered.val() {
            // Forwarded to the window check only, never written: the connection keeps its window.
            self.contexts.updated.next = self.tables.written.val();
            self.contexts.updated.next.window = self.reserve.limit.val();
        }
        if self.tables.sweeps.val() {
            self.contexts.updated.next = self.tables.written.val();
        }
        self.contexts.hold.next = self.settle.val()
            | self.decide.val()
            | self.answered.val()
            | (self.state.q.val() == AcceptState::Table);
        self.contexts.show.next = self.answered.val();
        self.pulses.d.next = 0.into();
        self.range_count.next = self.current.q.val().ranges;

        // Reports to events, and the contexts that these read.
        self.same_ack.d.next = (self.segment.val().seg_ack == self.current.q.val().seg_ack)
            & (self.segment.val().seg_wnd == self.current.q.val().seg_wnd);
        self.outcome.same_ack.next = self.same_ack.q.val();
        self.reporter.same_ack.next = self.same_ack.q.val();
        wire!(self.classifier => self.reporter; is_data, is_kept);
        wire!(self.judge => self.reporter; accept, ooo);
        wire!(self.walk => self.reporter; refused, changed);
        wire!(self => self.reporter; segment, decide);
        wire!(self => self.{reporter, outcome}; settle);
        wire!(self.outcome => self.reporter; verdict, keeps_ack as acknowledges, updated as after);
        self.reporter.begins.next =
            self.tables.begins.val() & (self.state.q.val() == AcceptState::Table);
        wire!(self.reporter => self; report, report_valid, segment_event, segment_event_valid);
        self.port_free.next =
            self.decide.val() | self.settle.val() | (self.state.q.val() == AcceptState::Report);
        if self.port_free.val() {
            self.contexts.connection.next = self.event_connection.val();
        }
        wire!(self => self.event_reader; event_read, port_free);
        wire!(self.contexts => self.event_reader; stored);
        wire!(self.event_reader => self; event_read_taken, event_context, event_context_valid);

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
                } else if self.event_read.val() {
                    self.state.d.next = AcceptState::Report;
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
            // Waits for space in every output; only this frame can use it up.
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
                if self.reserve.discards.val() {
                    self.state.d.next = AcceptState::Forget;
                } else if self.reserve.decided.val() {
                    self.asked.d.next = true;
                    self.limited.d.next = self.reserve.limited.val();
                    self.state.d.next = AcceptState::Load;
                }
            }
            AcceptState::Forget => {
                if self.purged.q.val() {
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
            AcceptState::Report => self.state.d.next = AcceptState::Idle,
            _ => {}
        }
        self.contexts.owner.next = self.connection.q.val();
        if self.reset.val() {
            self.connection.d.next = self.tables.connection.val();
            self.state.d.next = AcceptState::Idle;
            self.pulses.d.next = 0.into();
        }
    }
}

/// The three outputs of acceptance, each with a register slice.
///
/// ```text
/// frame, accepted octets --+--> accepted ------> MPA
/// walk, FPDU query --------+
/// frame ----------------------> host_frame ----> host path
///       \--------------------> page_release --> pool
/// ```
///
/// | latency    | 1 cycle, a `send_*` to the message's valid                                  |
/// | throughput | one message of each kind per cycle                                          |
///
/// `room` stays high until a message is sent, as there is one sender.
#[derive(LogicBlock, Default)]
pub struct AcceptanceOutputs {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub frame: Signal<In, QueuedFrame>,
    pub connection: Signal<In, Bits<10>>,
    /// Offset of the accepted octets, if they are in order without ranges.
    pub offset: Signal<In, Bits<14>>,
    pub octets: Signal<In, Bits<14>>,
    /// The message of the walk.
    pub walked: Signal<In, Accepted>,
    /// Send `offset` and `octets`.
    pub is_run: Signal<In, Bit>,
    /// Send a query about connection `subject`. Neither: send `walked`.
    pub is_question: Signal<In, Bit>,
    pub subject: Signal<In, Bits<10>>,
    /// Sends octets, the message of the walk, or the query, to MPA.
    pub send_run: Signal<In, Bit>,
    pub send_walked: Signal<In, Bit>,
    pub send_question: Signal<In, Bit>,
    /// Sends the frame to the host.
    pub send_host: Signal<In, Bit>,
    /// Releases the frame.
    pub send_release: Signal<In, Bit>,
    /// `accepted` can take a message.
    pub accepted_room: Signal<Out, Bit>,
    /// All three can take a message.
    pub room: Signal<Out, Bit>,
    pub accepted: Signal<Out, Accepted>,
    pub accepted_valid: Signal<Out, Bit>,
    pub accepted_ready: Signal<In, Bit>,
    pub host_frame: Signal<Out, HostFrame>,
    pub host_frame_valid: Signal<Out, Bit>,
    pub host_frame_ready: Signal<In, Bit>,
    pub page_release: Signal<Out, PageChain>,
    pub page_release_valid: Signal<Out, Bit>,
    pub page_release_ready: Signal<In, Bit>,
    accepted_out: Skid<Accepted>,
    host_out: Skid<HostFrame>,
    release_out: Skid<PageChain>,
    message: Signal<Local, Accepted>,
    host_message: Signal<Local, HostFrame>,
    segment: Signal<Local, SegmentInfo>,
    pages: Signal<Local, PageChain>,
}

impl Logic for AcceptanceOutputs {
    #[kernel]
    fn update(&mut self) {
        wire!(self => self.accepted_out; clock, reset);
        wire!(self => self.host_out; clock, reset);
        wire!(self => self.release_out; clock, reset);
        wire!(self.accepted_out => self; m_data as accepted, m_valid as accepted_valid);
        self.accepted_out.m_ready.next = self.accepted_ready.val();
        wire!(self.host_out => self; m_data as host_frame, m_valid as host_frame_valid);
        self.host_out.m_ready.next = self.host_frame_ready.val();
        wire!(self.release_out => self; m_data as page_release, m_valid as page_release_valid);
        self.release_out.m_ready.next = self.page_release_ready.val();
        self.accepted_room.next = self.accepted_out.s_ready.val();
        self.room.next = self.accepted_out.s_ready.val()
            & self.host_out.s_ready.val()
            & self.release_out.s_ready.val();

        self.message.next.connection = self.connection.val();
        self.segment.next = self.frame.val().segment;
        self.pages.next = self.frame.val().pages;
        self.message.next.head_page = self.pages.val().head_page;
        self.message.next.tail_page = self.pages.val().tail_page;
        self.message.next.offset = self.offset.val();
        self.message.next.octets = self.octets.val();
        self.message.next.sequence = 0.into();
        self.message.next.ooo = false;
        self.message.next.has_left = false;
        self.message.next.left = 0.into();
        self.message.next.has_right = false;
        self.message.next.right = 0.into();
        self.message.next.shared = false;
        self.message.next.first = true;
        self.message.next.last = true;
        self.message.next.purges = false;
        self.message.next.queries = false;
        if !self.is_run.val() & !self.is_question.val() {
            self.message.next = self.walked.val();
        }
        if self.is_question.val() {
            self.message.next.connection = self.subject.val();
            self.message.next.queries = true;
        }
        wire!(self => self.accepted_out; message as s_data);
        self.accepted_out.s_valid.next =
            self.send_run.val() | self.send_walked.val() | self.send_question.val();
        self.host_message.next.head_page = self.pages.val().head_page;
        self.host_message.next.tail_page = self.pages.val().tail_page;
        self.host_message.next.frame_octets = self.segment.val().frame_octets;
        wire!(self => self.host_out; host_message as s_data, send_host as s_valid);
        wire!(self => self.release_out; pages as s_data, send_release as s_valid);
    }
}

#[cfg(test)]
mod tests;
