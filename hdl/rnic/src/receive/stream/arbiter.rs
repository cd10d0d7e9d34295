//! Event arbiter and job sender: the messages in to the stream manager, and its read jobs out.
//!
//! ```text
//! table bus --------------------+
//! job_done -----> [ 32 ] -------+--> next_event, connection, and the oldest message of each queue
//! stream_error -> [  4 ] -------+
//! accepted -----> [ 16 ] -------+    in this order; messages hold until `take_*`
//! host_frame ---> [ 16 ] -------+
//!
//! connection, stream, host_frame --> [ job ] --> job
//! send, ended ---------------------> [ jobs in flight ] --> credit
//! ```
//!
//! | latency    | 1 cycle, a message taken to `next_event`; 1 cycle, `send` to `job_valid`  |
//! | throughput | one event, and one job, per cycle                                         |
//! | units      | octets                                                                    |
//!
//! Events that may send a job are offered only while a job can be sent. Otherwise the manager would
//! wait for the packet reader, which waits for DDP, which waits for `stream_error` to be taken: a
//! deadlock. `job_done` has priority over other messages as it frees pages; its queue has a place
//! for each job in flight. The table bus precedes all messages, but only once every message queued
//! in `accepted` before the request is handled, and no `stream_error` is queued: it may be for the
//! connection that had this id before.
//!
//! A release is answered after the record fence of DDP: the records of the connection's last FPDUs
//! have left the checks by then. Other events go on meanwhile, as these records may wait for them.
//!
//! Spans are dropped one by one. Events that may drop others wait until the last of them is
//! dropped.
use super::types::StreamContext;
use crate::common::fifo::Fifo;
use crate::common::skid::Skid;
use crate::messages::{Accepted, HostFrame, JobDone, JobKind, ReadJob, TableRequest};
use rnic_abi::limits::FRAME_PAD_OCTETS;
use rnic_abi::tables;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Stream jobs in flight at most: the depth of the queue of `job_done`.
pub const JOBS_OUT_MAX: usize = 32;

/// Next event of the manager.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum StreamEvent {
    /// None.
    Nothing,
    /// A job has ended.
    JobDone,
    /// Stop a connection.
    Stop,
    /// Queue accepted octets.
    Accept,
    /// Send a frame to the host.
    Host,
    /// Table bus: start an empty stream.
    Start,
    /// Table bus: release a connection's frames and spans.
    Release,
    /// Table bus: an operation that this table does not have; it is only acknowledged.
    Refuse,
}

/// Queues the messages of the manager and selects its next event.
#[derive(LogicBlock, Init)]
pub struct EventArbiter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub accepted: Signal<In, Accepted>,
    pub accepted_valid: Signal<In, Bit>,
    pub accepted_ready: Signal<Out, Bit>,
    pub host_frame: Signal<In, HostFrame>,
    pub host_frame_valid: Signal<In, Bit>,
    pub host_frame_ready: Signal<Out, Bit>,
    pub job_done: Signal<In, JobDone>,
    pub job_done_valid: Signal<In, Bit>,
    pub job_done_ready: Signal<Out, Bit>,
    /// A connection enters error.
    pub stream_error: Signal<In, Bits<10>>,
    pub stream_error_valid: Signal<In, Bit>,
    pub stream_error_ready: Signal<Out, Bit>,
    pub table_request: Signal<In, TableRequest>,
    pub table_valid: Signal<In, Bit>,
    pub table_done: Signal<Out, Bit>,
    /// A job can be sent.
    pub job_room: Signal<In, Bit>,
    /// Another stream job may be sent.
    pub job_credit: Signal<In, Bit>,
    /// Of a release nothing is left here; holds to `record_fence_done`.
    pub record_fence: Signal<Out, Bit>,
    /// One cycle: DDP has nothing of it any more either.
    pub record_fence_done: Signal<In, Bit>,
    /// A release waits for its connection's job.
    pub release_waits: Signal<In, Bit>,
    /// More spans are to be dropped.
    pub drop_pending: Signal<In, Bit>,
    pub next_event: Signal<Out, StreamEvent>,
    /// Its connection; undefined for `Nothing` and `Host`.
    pub connection: Signal<Out, Bits<10>>,
    pub next_accepted: Signal<Out, Accepted>,
    pub next_host: Signal<Out, HostFrame>,
    pub next_done: Signal<Out, JobDone>,
    /// Removes the oldest message, here and below.
    pub take_accepted: Signal<In, Bit>,
    pub take_host: Signal<In, Bit>,
    pub take_done: Signal<In, Bit>,
    pub take_stream_error: Signal<In, Bit>,
    /// The table operation is done.
    pub take_request: Signal<In, Bit>,
    accepted_queue: Fifo<Accepted, 4, 5>,
    host_queue: Fifo<HostFrame, 4, 5>,
    done_queue: Fifo<JobDone, 5, 6>,
    stream_error_queue: Fifo<Bits<10>, 2, 3>,
    // The table request has been seen, and so many accepted messages were queued before it.
    seen: DFF<Bit>,
    ahead: DFF<Bits<5>>,
    answer: DFF<Bit>,
    // A release waits for the record fence.
    fencing: DFF<Bit>,
    // The request may be selected.
    is_due: DFF<Bit>,
    releases: Signal<Local, Bit>,
    may_drop: Signal<Local, Bit>,
    oldest: Signal<Local, Accepted>,
    request_here: Signal<Local, Bit>,
    request_next: Signal<Local, Bit>,
    request_index: Signal<Local, Bits<16>>,
    #[constant(1)]
    one: Constant<Bits<5>>,
    #[constant(LiteralType::from(tables::MPA))]
    table_mpa: Constant<Bits<4>>,
    #[constant(LiteralType::from(tables::WRITE))]
    operation_write: Constant<Bits<2>>,
    #[constant(LiteralType::from(tables::RELEASE))]
    operation_release: Constant<Bits<2>>,
}

impl Logic for EventArbiter {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; seen, ahead, answer, fencing, is_due);
        wire!(self => self.accepted_queue;
            clock, reset, accepted as data_in, accepted_valid as write);
        self.accepted_ready.next = !self.accepted_queue.full.val();
        wire!(self => self.host_queue;
            clock, reset, host_frame as data_in, host_frame_valid as write);
        self.host_frame_ready.next = !self.host_queue.full.val();
        wire!(self => self.done_queue; clock, reset, job_done as data_in, job_done_valid as write);
        self.job_done_ready.next = !self.done_queue.full.val();
        wire!(self => self.stream_error_queue;
            clock, reset, stream_error as data_in, stream_error_valid as write);
        self.stream_error_ready.next = !self.stream_error_queue.full.val();
        self.next_accepted.next = self.accepted_queue.data_out.val();
        self.next_host.next = self.host_queue.data_out.val();
        self.next_done.next = self.done_queue.data_out.val();

        // Handled messages leave their queues.
        self.accepted_queue.read.next = self.take_accepted.val();
        self.host_queue.read.next = self.take_host.val();
        self.done_queue.read.next = self.take_done.val();
        self.stream_error_queue.read.next = self.take_stream_error.val();

        // Table bus: a new request waits for the accepted messages queued before it.
        self.request_here.next = self.table_valid.val()
            & !self.answer.q.val()
            & !self.fencing.q.val()
            & (self.table_request.val().table == self.table_mpa.val());
        // Registered for timing; a release may begin to wait meanwhile.
        self.is_due.d.next = self.request_here.val()
            & self.seen.q.val()
            & !self.ahead.q.val().any()
            & !self.release_waits.val()
            & !self.take_request.val();
        self.request_next.next = self.is_due.q.val()
            & !self.release_waits.val()
            & !self.drop_pending.val()
            & self.stream_error_queue.empty.val();
        if self.request_here.val() & !self.seen.q.val() {
            self.seen.d.next = true;
            self.ahead.d.next = self.accepted_queue.fill.val();
            if self.take_accepted.val() {
                self.ahead.d.next = self.accepted_queue.fill.val() - self.one.val();
            }
        } else if self.take_accepted.val() & self.ahead.q.val().any() {
            self.ahead.d.next = self.ahead.q.val() - self.one.val();
        }
        self.releases.next = self.table_request.val().operation == self.operation_release.val();
        if self.take_request.val() & self.releases.val() {
            self.fencing.d.next = true;
        } else if self.record_fence_done.val() {
            self.fencing.d.next = false;
        }
        self.record_fence.next = self.fencing.q.val();
        self.answer.d.next = (self.take_request.val() & !self.releases.val())
            | (self.fencing.q.val() & self.record_fence_done.val());
        if self.answer.q.val() {
            self.seen.d.next = false;
        }
        self.table_done.next = self.answer.q.val();

        // Selection.
        self.request_index.next = self.table_request.val().index;
        self.oldest.next = self.accepted_queue.data_out.val();
        self.may_drop.next =
            self.oldest.val().purges | (self.oldest.val().has_right & !self.oldest.val().ooo);
        self.next_event.next = StreamEvent::Nothing;
        self.connection.next = self.accepted_queue.data_out.val().connection;
        if self.request_next.val() {
            self.connection.next = self.request_index.val().get_bits::<10>(0);
            if self.table_request.val().operation == self.operation_write.val() {
                self.next_event.next = StreamEvent::Start;
            } else if self.releases.val() {
                self.next_event.next = StreamEvent::Release;
            } else {
                self.next_event.next = StreamEvent::Refuse;
            }
        } else if !self.done_queue.empty.val() & self.job_room.val() {
            self.connection.next = self.done_queue.data_out.val().connection;
            self.next_event.next = StreamEvent::JobDone;
        } else if !self.stream_error_queue.empty.val() {
            self.connection.next = self.stream_error_queue.data_out.val();
            self.next_event.next = StreamEvent::Stop;
        } else if !self.accepted_queue.empty.val()
            & self.job_room.val()
            & self.job_credit.val()
            & (!self.may_drop.val() | !self.drop_pending.val())
        {
            self.next_event.next = StreamEvent::Accept;
        } else if !self.host_queue.empty.val() & self.job_room.val() {
            self.next_event.next = StreamEvent::Host;
        }

        if self.reset.val() {
            self.seen.d.next = false;
            self.answer.d.next = false;
            self.fencing.d.next = false;
            self.is_due.d.next = false;
        }
    }
}

/// Sends read jobs, and counts the stream jobs in flight.
///
/// A job is sent only while `room`; a stream job or a replay only while `credit`, or in the cycle
/// in which another one ends.
#[derive(LogicBlock, Init)]
pub struct JobSender {
    pub clock: Signal<In, Clock>,
    /// Synchronous; no job is in flight.
    pub reset: Signal<In, Bit>,
    /// Sends a job over all octets of `stream`.
    pub send: Signal<In, Bit>,
    pub connection: Signal<In, Bits<10>>,
    /// Context of the octets to read.
    pub stream: Signal<In, StreamContext>,
    /// `stream` is a span beyond a gap.
    pub ooo: Signal<In, Bit>,
    /// Its number.
    pub span: Signal<In, Bits<9>>,
    /// A replay is sent; it ends as a stream job does.
    pub replays: Signal<In, Bit>,
    /// A stream job has ended.
    pub ended: Signal<In, Bit>,
    /// The job is for `host_frame`, not `stream`.
    pub hosting: Signal<In, Bit>,
    /// Sends a job over all of `host_frame`.
    pub send_host: Signal<In, Bit>,
    pub host_frame: Signal<In, HostFrame>,
    /// A job can be sent.
    pub room: Signal<Out, Bit>,
    /// Another stream job may be sent.
    pub credit: Signal<Out, Bit>,
    pub job: Signal<Out, ReadJob>,
    pub job_valid: Signal<Out, Bit>,
    pub job_ready: Signal<In, Bit>,
    job_out: Skid<ReadJob>,
    jobs_out: DFF<Bits<6>>,
    job_credit: DFF<Bit>,
    jobs_next: Signal<Local, Bits<6>>,
    next_job: Signal<Local, ReadJob>,
    leaves: Signal<Local, Bit>,
    #[constant(FRAME_PAD_OCTETS as LiteralType)]
    pad_octets: Constant<Bits<14>>,
    #[constant(1)]
    one_job: Constant<Bits<6>>,
    #[constant(JOBS_OUT_MAX as LiteralType)]
    jobs_max: Constant<Bits<6>>,
}

impl Logic for JobSender {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; jobs_out, job_credit);
        wire!(self => self.job_out; clock, reset);
        wire!(self.job_out => self; m_data as job, m_valid as job_valid);
        self.job_out.m_ready.next = self.job_ready.val();
        self.room.next = self.job_out.s_ready.val();

        // The job: all queued octets, from the first frame on; or a host frame.
        self.next_job.next.kind = JobKind::Stream;
        if self.stream.val().place_next {
            self.next_job.next.kind = JobKind::Place;
        }
        self.next_job.next.connection = self.connection.val();
        self.next_job.next.head_page = self.stream.val().head_page;
        self.next_job.next.tail_page = self.stream.val().head_tail;
        self.next_job.next.slot = self.stream.val().head_slot;
        self.next_job.next.offset = self.stream.val().head_offset;
        self.next_job.next.run_octets = self.stream.val().head_octets;
        self.next_job.next.octets = self.stream.val().avail;
        self.next_job.next.sequence = self.stream.val().sequence;
        self.next_job.next.phase = self.stream.val().phase;
        self.next_job.next.markers = self.stream.val().markers;
        self.next_job.next.crc = self.stream.val().crc;
        self.next_job.next.ooo = self.ooo.val();
        self.next_job.next.span = self.span.val();
        self.next_job.next.proven = self.stream.val().placed;
        if self.hosting.val() {
            self.next_job.next.kind = JobKind::Host;
            self.next_job.next.head_page = self.host_frame.val().head_page;
            self.next_job.next.tail_page = self.host_frame.val().tail_page;
            self.next_job.next.offset = self.pad_octets.val();
            self.next_job.next.run_octets = self.host_frame.val().frame_octets;
            self.next_job.next.octets = bit_cast::<18, 14>(self.host_frame.val().frame_octets);
        }
        self.job_out.s_data.next = self.next_job.val();
        self.job_out.s_valid.next = self.send.val() | self.send_host.val();

        // Stream jobs in flight; one that ends frees a credit in the same cycle.
        self.leaves.next = self.send.val() | self.replays.val();
        self.jobs_next.next = self.jobs_out.q.val();
        if self.leaves.val() & !self.ended.val() {
            self.jobs_next.next = self.jobs_out.q.val() + self.one_job.val();
        } else if !self.leaves.val() & self.ended.val() {
            self.jobs_next.next = self.jobs_out.q.val() - self.one_job.val();
        }
        self.jobs_out.d.next = self.jobs_next.val();
        self.job_credit.d.next = self.jobs_next.val() != self.jobs_max.val();
        self.credit.next = self.job_credit.q.val();

        if self.reset.val() {
            self.jobs_out.d.next = 0.into();
            self.job_credit.d.next = true;
        }
    }
}

#[cfg(test)]
mod tests;
