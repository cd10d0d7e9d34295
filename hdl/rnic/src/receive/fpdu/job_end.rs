//! The end of a stream job: the report to the stream manager, and the word to the reader to stop.
//!
//! | latency    | 1 cycle, `finish` to `job_done_valid` and `kill`                            |
//! | throughput | one job per cycle                                                           |
//! | units      | words of 4 octets in, octets out                                            |
use super::job_queue::StartedJob;
use crate::messages::JobDone;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Reports the end of a job.
#[derive(LogicBlock, Init)]
pub struct JobEnd {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub job: Signal<In, StartedJob>,
    /// Its end is to be reported; held until `finished`.
    pub finish: Signal<In, Bit>,
    /// The report is taken.
    pub finished: Signal<Out, Bit>,
    /// Words of the FPDUs handed on.
    pub consumed: Signal<In, Bits<16>>,
    /// The next FPDU opens with a marker.
    pub lead: Signal<In, Bit>,
    /// The length of the next FPDU is known, and all of it needed.
    pub need_words: Signal<In, Bit>,
    /// Words of that FPDU.
    pub words: Signal<In, Bits<15>>,
    /// It was checked and is to be placed next.
    pub place_next: Signal<In, Bit>,
    /// It cannot be placed before it is in order.
    pub unfit: Signal<In, Bit>,
    /// A job begins.
    pub begins: Signal<In, Bit>,
    /// An FPDU of it is handed on.
    pub advance: Signal<In, Bit>,
    /// Sequence number after the FPDUs handed on.
    pub sequence_end: Signal<In, Bits<32>>,
    /// Octets of the job may still be on their way.
    pub unread: Signal<In, Bit>,
    /// The report.
    pub job_done: Signal<Out, JobDone>,
    pub job_done_valid: Signal<Out, Bit>,
    pub job_done_ready: Signal<In, Bit>,
    /// For one cycle: nothing more of job `kill_tag` is wanted.
    pub kill: Signal<Out, Bit>,
    /// The reader's number of the job.
    pub kill_tag: Signal<Out, Bits<3>>,
    done: DFF<JobDone>,
    done_valid: DFF<Bit>,
    killing: DFF<Bit>,
    killed_tag: DFF<Bits<3>>,
    fpdus: DFF<Bits<16>>,
    report: Signal<Local, JobDone>,
    free: Signal<Local, Bit>,
    wire_octets: Signal<Local, Bits<18>>,
    consumed_octets: Signal<Local, Bits<18>>,
    #[constant(4)]
    head_octets: Constant<Bits<18>>,
    #[constant(8)]
    marked_head_octets: Constant<Bits<18>>,
    #[constant(1)]
    one: Constant<Bits<16>>,
}

impl Logic for JobEnd {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; done, done_valid, killing, killed_tag, fpdus);
        if self.begins.val() {
            self.fpdus.d.next = 0.into();
        } else if self.advance.val() {
            self.fpdus.d.next = self.fpdus.q.val() + self.one.val();
        }
        self.wire_octets.next = bit_cast::<18, 15>(self.words.val()) << 2;
        self.consumed_octets.next = bit_cast::<18, 16>(self.consumed.val()) << 2;
        self.report.next.connection = self.job.val().connection;
        self.report.next.consumed = self.consumed_octets.val();
        self.report.next.need = self.head_octets.val();
        self.report.next.place_next = self.place_next.val();
        self.report.next.early = self.job.val().early;
        self.report.next.span = self.job.val().span;
        self.report.next.fpdus = self.fpdus.q.val();
        self.report.next.sequence_end = self.sequence_end.val();
        self.report.next.refused = self.unfit.val();
        if self.need_words.val() {
            self.report.next.need = self.wire_octets.val();
        } else if self.lead.val() {
            self.report.next.need = self.marked_head_octets.val();
        }
        self.free.next = !self.done_valid.q.val() | self.job_done_ready.val();
        self.finished.next = self.free.val();
        self.killing.d.next = false;
        if self.free.val() {
            self.done_valid.d.next = self.finish.val();
            self.done.d.next = self.report.val();
            self.killing.d.next = self.finish.val() & self.unread.val();
            self.killed_tag.d.next = self.job.val().tag;
        }
        if self.reset.val() {
            self.done_valid.d.next = false;
            self.killing.d.next = false;
        }
        self.job_done.next = self.done.q.val();
        self.job_done_valid.next = self.done_valid.q.val();
        self.kill.next = self.killing.q.val();
        self.kill_tag.next = self.killed_tag.q.val();
    }
}
