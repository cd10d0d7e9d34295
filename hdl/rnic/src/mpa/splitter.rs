//! FPDU splitter: puts the first octet of each FPDU of a job in lane 0, and ends the job at the
//! first FPDU that is not whole.
//!
//! ```text
//! joined --> [ window ] --> turn, blank the tail --> fpdu beats
//!               | first two words      ^
//!               v                      |
//!            ULPDU_Length --> [ length, 3 cycles ] --> hand on, or JobDone and kill
//!                                ^
//! started --> [ 4 jobs ] --> [ cursor: sequence, phase, words left ]
//! ```
//!
//! | latency    | 5 cycles, first joined beat of a job to the first beat of its FPDU           |
//! | throughput | one beat per cycle; between two FPDUs 3 idle cycles, 4 before an FPDU that   |
//! |            | opens with a marker or follows one of less than three beats; a stream job's  |
//! |            | `JobDone` 2 or 3 cycles after its last beat; 7 idle cycles between two jobs  |
//! | units      | a beat is D bits, L = 2^LG words of 4 octets; lengths in octets                |
//! | source     | RFC 5044 sections 4 and 5 (MPA-001, MPA-013, MPA-042, MPA-043)                 |
//!
//! Lengths come from the job alone: the joined stream must hold its octets, at least one beat, the
//! last one marked, and may be cut short after `kill`. Each FPDU's words beyond its end are zero.
use super::beat_output::BeatOutput;
use super::cursor::JobCursor;
use super::head_word::HeadWord;
use super::job_end::JobEnd;
use super::job_queue::{JobQueue, StartedJob};
use super::length::FpduLength;
use super::span::FpduSpan;
use super::split_control::SplitControl;
use super::window::BeatWindow;
use crate::messages::{FpduInfo, JobDone, ReadJob};
use rust_hdl::prelude::*;

/// FPDU splitter for beats of `D` bits; `P = 2 D`, `D = 32 * 2^LG`.
#[derive(LogicBlock, Default)]
pub struct Splitter<const D: usize, const P: usize, const LG: usize> {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; forgets jobs and beats.
    pub reset: Signal<In, Bit>,
    /// Beat of the joined stream.
    pub joined_data: Signal<In, Bits<D>>,
    /// It is the last one of its job.
    pub joined_last: Signal<In, Bit>,
    /// The joiner offers the beat.
    pub joined_valid: Signal<In, Bit>,
    /// It is taken at this clock edge.
    pub joined_ready: Signal<Out, Bit>,
    /// A job whose octets will come in the joined stream, in this order.
    pub started: Signal<In, ReadJob>,
    /// The reader's number of that job.
    pub started_tag: Signal<In, Bits<3>>,
    /// The reader offers the job.
    pub started_valid: Signal<In, Bit>,
    /// It is taken at this clock edge.
    pub started_ready: Signal<Out, Bit>,
    /// For one cycle: nothing more of job `kill_tag` is wanted.
    pub kill: Signal<Out, Bit>,
    /// The reader's number of the job.
    pub kill_tag: Signal<Out, Bits<3>>,
    /// A stream job has ended.
    pub job_done: Signal<Out, JobDone>,
    /// `job_done` is offered.
    pub job_done_valid: Signal<Out, Bit>,
    /// It is taken at this clock edge.
    pub job_done_ready: Signal<In, Bit>,
    /// Beat of an FPDU; words beyond its end are zero.
    pub fpdu_data: Signal<Out, Bits<D>>,
    /// First beat of an FPDU.
    pub fpdu_first: Signal<Out, Bit>,
    /// Last beat of an FPDU.
    pub fpdu_last: Signal<Out, Bit>,
    /// With `fpdu_last`: words of this beat beyond the FPDU.
    pub fpdu_tail_words: Signal<Out, Bits<LG>>,
    /// A beat is offered.
    pub fpdu_valid: Signal<Out, Bit>,
    /// It is taken at this clock edge.
    pub fpdu_ready: Signal<In, Bit>,
    /// The FPDU, valid with its first beat and until the next first one.
    pub fpdu_info: Signal<Out, FpduInfo>,
    /// For one cycle: the first beat of an FPDU or host frame has entered the output register.
    pub begun: Signal<Out, Bit>,

    queue: JobQueue,
    window: BeatWindow<D, P, LG>,
    head: HeadWord,
    length: FpduLength<LG>,
    cursor: JobCursor,
    span: FpduSpan<LG>,
    control: SplitControl,
    out: BeatOutput<D, LG>,
    job_end: JobEnd,
    next_job: Signal<Local, StartedJob>,
    job: Signal<Local, StartedJob>,
    turned: Signal<Local, Bits<D>>,
}

impl<const D: usize, const P: usize, const LG: usize> Logic for Splitter<D, P, LG> {
    #[hdl_gen]
    fn update(&mut self) {
        self.queue.clock.next = self.clock.val();
        self.window.clock.next = self.clock.val();
        self.length.clock.next = self.clock.val();
        self.cursor.clock.next = self.clock.val();
        self.span.clock.next = self.clock.val();
        self.control.clock.next = self.clock.val();
        self.out.clock.next = self.clock.val();
        self.job_end.clock.next = self.clock.val();
        self.queue.reset.next = self.reset.val();
        self.window.reset.next = self.reset.val();
        self.control.reset.next = self.reset.val();
        self.out.reset.next = self.reset.val();
        self.job_end.reset.next = self.reset.val();

        // Jobs.
        self.queue.started.next = self.started.val();
        self.queue.started_tag.next = self.started_tag.val();
        self.queue.started_valid.next = self.started_valid.val();
        self.started_ready.next = self.queue.started_ready.val();
        self.queue.take.next = self.control.job_take.val();
        self.next_job.next = self.queue.next_job.val();
        self.job.next = self.queue.job.val();
        self.control.job_waiting.next = self.queue.waiting.val();
        self.control.job_kind.next = self.next_job.val().kind;
        self.control.job_octets.next = self.next_job.val().octets;
        self.control.early.next = self.job.val().early;

        // Window, and the head of the next FPDU in it.
        self.window.joined_data.next = self.joined_data.val();
        self.window.joined_last.next = self.joined_last.val();
        self.window.joined_valid.next = self.joined_valid.val();
        self.joined_ready.next = self.window.joined_ready.val();
        self.window.offset.next = self.span.offset.val();
        self.window.shift.next = self.control.shift.val();
        self.window.peek_offset.next = self.span.next_offset.val();
        self.window.peek_high.next = self.span.next_wraps.val();
        self.turned.next = self.window.turned.val();
        self.control.low_valid.next = self.window.low_valid.val();
        self.control.low_last.next = self.window.low_last.val();
        self.control.usable.next = self.window.usable.val();
        self.head.lead.next = self.cursor.lead.val();
        self.head.word_0.next = self.turned.val().get_bits::<32>(0);
        self.head.word_1.next = self.turned.val().get_bits::<32>(32);
        self.head.low_valid.next = self.window.low_valid.val();
        self.head.usable.next = self.window.usable.val();
        self.head.aligned.next = self.span.aligned.val();
        self.head.arrives.next = self.joined_valid.val() & self.window.joined_ready.val();
        self.head.arriving_0.next = self.joined_data.val().get_bits::<32>(0);
        self.head.arriving_1.next = self.joined_data.val().get_bits::<32>(32);
        self.head.ahead.next = self.control.head_ahead.val();
        self.head.peeked.next = self.window.peeked.val();
        self.head.peek_valid.next = self.window.peek_valid.val();
        self.control.head_length.next = self.head.ulpdu_length.val();
        self.control.head_valid.next = self.head.valid.val();

        // Length and position.
        self.length.ulpdu_length.next = self.control.ulpdu_length.val();
        self.length.host.next = self.control.host.val();
        self.length.phase.next = self.cursor.phase.val();
        self.length.markers.next = self.job.val().markers;
        self.length.words_left.next = self.cursor.words_left.val();
        self.length.sum.next = self.control.sum.val();
        self.length.divide.next = self.control.divide.val();
        self.length.decide.next = self.control.decide.val();
        self.control.single.next = self.length.single.val();
        self.control.whole.next = self.length.whole.val();
        self.control.too_long.next = self.length.too_long.val();
        self.span.clear.next = self.control.job_take.val();
        self.span.send.next = self.control.send.val();
        self.span.opens.next = self.control.opens.val();
        self.span.ends.next = self.control.ends.val();
        self.span.words.next = self.length.words.val();
        self.span.beats.next = self.length.beats.val();
        self.control.final_next.next = self.span.final_next.val();
        self.control.wraps.next = self.span.wraps.val();
        self.cursor.load.next = self.control.job_take.val();
        self.cursor.octets.next = self.next_job.val().octets;
        self.cursor.first_sequence.next = self.next_job.val().sequence;
        self.cursor.first_phase.next = self.next_job.val().phase;
        self.cursor.markers.next = self.next_job.val().markers;
        self.cursor.advance.next = self.control.advance.val();
        self.cursor.words.next = self.length.words.val();
        self.control.lead.next = self.cursor.lead.val();
        self.control.missing.next = self.cursor.missing.val();
        self.control.first.next = self.cursor.first.val();

        // Beats out.
        self.out.send.next = self.control.send.val();
        self.out.data.next = self.turned.val();
        self.out.opens.next = self.control.opens.val();
        self.out.ends.next = self.control.ends.val();
        self.control.free.next = self.out.free.val();
        self.out.words.next = self.length.words.val();
        self.out.job.next = self.job.val();
        self.out.host.next = self.control.host.val();
        self.out.place.next = self.control.place.val();
        self.out.check.next = self.control.check.val();
        self.out.first.next = self.cursor.first.val();
        self.out.ulpdu_length.next = self.control.ulpdu_length.val();
        self.out.fpdu_sequence.next = self.cursor.next_sequence.val();
        self.out.phase.next = self.cursor.phase.val();
        self.fpdu_data.next = self.out.fpdu_data.val();
        self.fpdu_first.next = self.out.fpdu_first.val();
        self.fpdu_last.next = self.out.fpdu_last.val();
        self.fpdu_tail_words.next = self.out.fpdu_tail_words.val();
        self.fpdu_valid.next = self.out.fpdu_valid.val();
        self.out.fpdu_ready.next = self.fpdu_ready.val();
        self.fpdu_info.next = self.out.fpdu_info.val();
        self.begun.next = self.control.send.val() & self.control.opens.val();

        // End of a job.
        self.job_end.job.next = self.job.val();
        self.job_end.finish.next = self.control.finish.val();
        self.control.finished.next = self.job_end.finished.val();
        self.job_end.consumed.next = self.cursor.consumed.val();
        self.job_end.lead.next = self.cursor.lead.val();
        self.job_end.need_words.next = self.control.need_words.val();
        self.job_end.words.next = self.length.words.val();
        self.job_end.place_next.next = self.control.place_next.val();
        self.job_end.unfit.next = self.control.unfit.val();
        self.job_end.begins.next = self.control.job_take.val();
        self.job_end.advance.next = self.control.advance.val();
        self.job_end.sequence_end.next = self.cursor.next_sequence.val();
        self.job_end.unread.next = self.control.unread.val();
        self.job_done.next = self.job_end.job_done.val();
        self.job_done_valid.next = self.job_end.job_done_valid.val();
        self.job_end.job_done_ready.next = self.job_done_ready.val();
        self.kill.next = self.job_end.kill.val();
        self.kill_tag.next = self.job_end.kill_tag.val();
    }
}
