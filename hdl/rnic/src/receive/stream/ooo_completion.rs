//! Ends an out-of-order job once DDP has reported whether each of its FPDUs was placed.
//!
//! ```text
//! job_done -+- of a stream ----------------------------------+--> done
//!           +- out-of-order --> [ 32 ] --> [ all reported? ] +
//! result ------------> [ judged, good_end, failed ] --^      |
//! replayed ---+- delivered, fault ---------------------------+
//!             +- delivered, forgotten --> span_back
//! ```
//!
//! | enters     | ended jobs, results of out-of-order FPDUs, ended replays                   |
//! | leaves     | ended jobs with the octets they consumed; spans without stored records     |
//! | latency    | none for a stream job; 3 cycles after its last result for an out-of-order  |
//! |            | one                                                                        |
//! | throughput | one message per cycle; an out-of-order one per 3                           |
//! | units      | octets, FPDUs                                                              |
//!
//! Results and jobs end in the order of the FPDUs, so the sums over the results belong to the
//! oldest waiting out-of-order job. The first FPDU with a bad result ends the consumed octets; DDP
//! places none after it. DDP takes at least 6 cycles per FPDU, so a job completes before the first
//! result of the next one arrives.
//!
//! `done_ready` is high whenever a completed job is offered: the queue after it has a place for
//! each job in flight.
use super::arbiter::JOBS_OUT_MAX;
use crate::common::fifo::Fifo;
use crate::messages::{JobDone, OutOfOrderResult, ReplayKind, Replayed};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Octets to wait for before a stream's next job after a replay: no FPDU is shorter.
const NEED_ANY: u64 = 8;

/// Collects results for ended out-of-order jobs.
#[derive(LogicBlock, Init)]
#[init(
    const { assert!(JOBS_OUT_MAX == 32, "the queue holds 32 out-of-order jobs") }
)]
pub struct OutOfOrderCompletion {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub job_done: Signal<In, JobDone>,
    pub job_done_valid: Signal<In, Bit>,
    pub job_done_ready: Signal<Out, Bit>,
    /// Result of an out-of-order FPDU.
    pub result: Signal<In, OutOfOrderResult>,
    pub result_valid: Signal<In, Bit>,
    /// A replay has ended.
    pub replayed: Signal<In, Replayed>,
    pub replayed_valid: Signal<In, Bit>,
    pub replayed_ready: Signal<Out, Bit>,
    /// A job, or a replay, has ended.
    pub done: Signal<Out, JobDone>,
    pub done_valid: Signal<Out, Bit>,
    pub done_ready: Signal<In, Bit>,
    /// No records of this span are stored any more.
    pub span_back: Signal<Out, Bits<9>>,
    pub span_back_valid: Signal<Out, Bit>,
    pub span_back_ready: Signal<In, Bit>,
    waiting: Fifo<JobDone, 5, 6>,
    judged: DFF<Bits<16>>,
    good_end: DFF<Bits<32>>,
    any_good: DFF<Bit>,
    failed: DFF<Bit>,
    // Octets handed on and not placed; all results have arrived.
    beyond: DFF<Bits<32>>,
    complete: DFF<Bit>,
    settled: DFF<JobDone>,
    settled_valid: DFF<Bit>,
    ended: DFF<Replayed>,
    ended_owes_done: DFF<Bit>,
    ended_owes_span: DFF<Bit>,
    head: Signal<Local, JobDone>,
    fpdus: Signal<Local, Bits<16>>,
    has_fpdus: Signal<Local, Bit>,
    all_judged: Signal<Local, Bit>,
    beyond_octets: Signal<Local, Bits<32>>,
    is_fault: Signal<Local, Bit>,
    is_forget: Signal<Local, Bit>,
    ended_free: Signal<Local, Bit>,
    sum: Signal<Local, JobDone>,
    #[constant(1)]
    one: Constant<Bits<16>>,
    #[constant(NEED_ANY)]
    need_any: Constant<Bits<18>>,
}

impl Logic for OutOfOrderCompletion {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; judged, good_end, any_good, failed, beyond, complete);
        registers!(clock; settled, settled_valid, ended, ended_owes_done, ended_owes_span);
        wire!(self => self.waiting; clock, reset, job_done as data_in);
        self.head.next = self.waiting.data_out.val();

        // Results of the oldest out-of-order job.
        if self.result_valid.val() {
            self.judged.d.next = self.judged.q.val() + self.one.val();
            if self.result.val().good & !self.failed.q.val() {
                self.good_end.d.next = self.result.val().sequence_end;
                self.any_good.d.next = true;
            } else {
                self.failed.d.next = true;
            }
        }
        // The sums may belong to a later job already if this one has no FPDUs.
        self.fpdus.next = self.head.val().fpdus;
        self.has_fpdus.next = self.fpdus.val().any();
        self.all_judged.next = !self.waiting.empty.val()
            & (!self.has_fpdus.val() | (self.judged.q.val() == self.fpdus.val()));
        self.complete.d.next = self.all_judged.val() & !self.complete.q.val();
        self.beyond.d.next = self.head.val().sequence_end - self.good_end.q.val();
        self.beyond_octets.next = self.beyond.q.val();
        self.waiting.read.next = self.complete.q.val();
        if self.complete.q.val() & self.has_fpdus.val() {
            self.judged.d.next = 0.into();
            self.any_good.d.next = false;
            self.failed.d.next = false;
        }

        // The completed job.
        self.sum.next = self.head.val();
        if self.failed.q.val() & self.has_fpdus.val() {
            self.sum.next.refused = true;
            self.sum.next.consumed =
                self.head.val().consumed - self.beyond_octets.val().get_bits::<18>(0);
            if !self.any_good.q.val() {
                self.sum.next.consumed = 0.into();
            }
        }
        if self.settled_valid.q.val() & self.done_ready.val() {
            self.settled_valid.d.next = false;
        }
        if self.complete.q.val() {
            self.settled.d.next = self.sum.val();
            self.settled_valid.d.next = true;
        }

        // Ended replays: the span is free, and its stream continues.
        self.is_fault.next = self.replayed.val().kind == ReplayKind::Fault;
        self.is_forget.next = self.replayed.val().kind == ReplayKind::Forget;
        self.ended_free.next = !self.ended_owes_done.q.val() & !self.ended_owes_span.q.val();
        self.replayed_ready.next = self.ended_free.val();
        self.span_back.next = self.ended.q.val().span;
        self.span_back_valid.next = self.ended_owes_span.q.val();
        if self.span_back_ready.val() {
            self.ended_owes_span.d.next = false;
        }
        if self.ended_owes_done.q.val() & !self.settled_valid.q.val() & self.done_ready.val() {
            self.ended_owes_done.d.next = false;
        }
        if self.ended_free.val() {
            self.ended.d.next = self.replayed.val();
            self.ended_owes_done.d.next = self.replayed_valid.val() & !self.is_forget.val();
            self.ended_owes_span.d.next = self.replayed_valid.val() & !self.is_fault.val();
        }

        // Completed out-of-order jobs first, then replays, then stream jobs, which pass through.
        self.waiting.write.next = self.job_done_valid.val() & self.job_done.val().ooo;
        self.job_done_ready.next = self.job_done.val().ooo
            | (!self.settled_valid.q.val() & !self.ended_owes_done.q.val() & self.done_ready.val());
        self.done.next = self.job_done.val();
        self.done_valid.next = self.job_done_valid.val() & !self.job_done.val().ooo;
        if self.settled_valid.q.val() {
            self.done.next = self.settled.q.val();
            self.done_valid.next = true;
        } else if self.ended_owes_done.q.val() {
            self.done.next.connection = self.ended.q.val().connection;
            self.done.next.consumed = 0.into();
            self.done.next.need = self.need_any.val();
            self.done.next.place_next = false;
            self.done.next.ooo = false;
            self.done.next.refused = false;
            self.done_valid.next = true;
        }
        if self.reset.val() {
            self.judged.d.next = 0.into();
            self.any_good.d.next = false;
            self.failed.d.next = false;
            self.complete.d.next = false;
            self.settled_valid.d.next = false;
            self.ended_owes_done.d.next = false;
            self.ended_owes_span.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
