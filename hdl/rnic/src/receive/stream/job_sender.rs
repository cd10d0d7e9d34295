//! Job sender: makes the read jobs, and knows how many stream jobs are out.
//!
//! ```text
//! connection, stream ---+--> [ job ] --> job
//! host_frame -----------+       |
//! send, ended ------------> [ jobs out ] --> credit
//! ```
//!
//! | enters     | a stream's context over whose queued octets a job goes, or a host frame     |
//! | leaves     | [`ReadJob`]s                                                                |
//! | latency    | 1 cycle `send` to `job_valid`                                               |
//! | throughput | a job per cycle                                                             |
//! | units      | octets                                                                      |
//!
//! A job is sent only while `room`; one for a stream, and a replay, only while `credit`, or in the
//! cycle in which another one has ended.
use super::context::StreamContext;
use super::inbox::JOBS_OUT_MAX;
use crate::common::skid::Skid;
use crate::messages::{HostFrame, ReadJob, JOB_HOST, JOB_PLACE, JOB_STREAM};
use rnic_abi::limits::FRAME_PAD_OCTETS;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Read jobs of streams and of the host path.
#[derive(LogicBlock, Init)]
pub struct JobSender {
    pub clock: Signal<In, Clock>,
    /// Synchronous; no job is out.
    pub reset: Signal<In, Bit>,
    /// A job over all octets of `stream` is sent.
    pub send: Signal<In, Bit>,
    /// Its connection.
    pub connection: Signal<In, Bits<10>>,
    /// Where the octets lie, and how they are to be read.
    pub stream: Signal<In, StreamContext>,
    /// `stream` is that of a span beyond a gap.
    pub early: Signal<In, Bit>,
    /// Its number.
    pub span: Signal<In, Bits<9>>,
    /// A replay is sent, which ends as a stream job does.
    pub replays: Signal<In, Bit>,
    /// A stream job has ended.
    pub ended: Signal<In, Bit>,
    /// `host_frame` and not `stream` makes the job.
    pub hosting: Signal<In, Bit>,
    /// A job over all of `host_frame` is sent.
    pub send_host: Signal<In, Bit>,
    pub host_frame: Signal<In, HostFrame>,
    /// A job can be sent.
    pub room: Signal<Out, Bit>,
    /// One more stream job may be out.
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
    #[constant(JOB_STREAM)]
    kind_stream: Constant<Bits<2>>,
    #[constant(JOB_PLACE)]
    kind_place: Constant<Bits<2>>,
    #[constant(JOB_HOST)]
    kind_host: Constant<Bits<2>>,
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

        // The job: over all that is queued, from the first frame on; or a host frame.
        self.next_job.next.kind = self.kind_stream.val();
        if self.stream.val().place_next {
            self.next_job.next.kind = self.kind_place.val();
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
        self.next_job.next.early = self.early.val();
        self.next_job.next.span = self.span.val();
        self.next_job.next.proven = self.stream.val().placed;
        if self.hosting.val() {
            self.next_job.next.kind = self.kind_host.val();
            self.next_job.next.head_page = self.host_frame.val().head_page;
            self.next_job.next.tail_page = self.host_frame.val().tail_page;
            self.next_job.next.offset = self.pad_octets.val();
            self.next_job.next.run_octets = self.host_frame.val().frame_octets;
            self.next_job.next.octets = bit_cast::<18, 14>(self.host_frame.val().frame_octets);
        }
        self.job_out.s_data.next = self.next_job.val();
        self.job_out.s_valid.next = self.send.val() | self.send_host.val();

        // Stream jobs out; one that ends makes room for the next in the same cycle.
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
