//! FPDU splitter: puts the first octet of each FPDU of a job in lane 0 and ends the job at the first
//! FPDU that is not whole.
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
//! | latency    | 5 cycles, first joined beat of a job to the first beat of its FPDU             |
//! | throughput | one beat per cycle; between two FPDUs 3 idle cycles, 4 before an FPDU that     |
//! |            | opens with a marker or follows one of less than three beats; between two jobs  |
//! |            | 7 more at most (a stream job's `JobDone` 2 cycles after its last beat)         |
//! | units      | a beat is D bits, L = 2^LG words of 4 octets; lengths in octets                |
//! | source     | RFC 5044 sections 4 and 5 (MPA-001, MPA-013, MPA-042, MPA-043)                 |
//!
//! Lengths come from the job alone: the joined stream must hold its octets, at least one beat, the
//! last one marked, and may be cut short after `kill`. Each FPDU's words beyond its end are zero.
use super::cursor::JobCursor;
use super::length::FpduLength;
use super::split_control::SplitControl;
use super::window::BeatWindow;
use crate::common::fifo::Fifo;
use crate::messages::{FpduInfo, JobDone, ReadJob};
use crate::messages::{FPDU_CHECK, FPDU_HOST, FPDU_NORMAL, FPDU_PLACE, JOB_HOST};
use rust_hdl::prelude::*;

/// What the splitter keeps of a `ReadJob`, and its number.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct StartedJob {
    kind: Bits<2>,
    connection: Bits<10>,
    octets: Bits<18>,
    sequence: Bits<32>,
    phase: Bits<7>,
    markers: Bit,
    crc: Bit,
    head_page: Bits<9>,
    tail_page: Bits<9>,
    tag: Bits<3>,
}

/// FPDU splitter for beats of `D` bits; `P = 2 D`, `D = 32 * 2^LG`.
#[derive(LogicBlock)]
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

    jobs: Fifo<StartedJob, 2, 3>,
    window: BeatWindow<D, P, LG>,
    length: FpduLength<LG>,
    cursor: JobCursor,
    control: SplitControl<LG>,
    job: DFF<StartedJob>,
    out_data: DFF<Bits<D>>,
    out_first: DFF<Bit>,
    out_last: DFF<Bit>,
    out_tail: DFF<Bits<LG>>,
    out_valid: DFF<Bit>,
    out_info: DFF<FpduInfo>,
    done: DFF<JobDone>,
    done_valid: DFF<Bit>,
    killing: DFF<Bit>,
    killed_tag: DFF<Bits<3>>,
    entry: Signal<Local, StartedJob>,
    head_job: Signal<Local, StartedJob>,
    info: Signal<Local, FpduInfo>,
    report: Signal<Local, JobDone>,
    free: Signal<Local, Bit>,
    report_free: Signal<Local, Bit>,
    wire_octets: Signal<Local, Bits<18>>,
    consumed_octets: Signal<Local, Bits<18>>,
    used_lanes: Signal<Local, Bits<LG>>,
    amount: Signal<Local, Bits<9>>,
    beyond: Signal<Local, Bits<D>>,
    ones: Constant<Bits<D>>,
    no_lanes: Constant<Bits<LG>>,
    kind_host: Constant<Bits<2>>,
    fpdu_normal: Constant<Bits<2>>,
    fpdu_check: Constant<Bits<2>>,
    fpdu_place: Constant<Bits<2>>,
    fpdu_host: Constant<Bits<2>>,
    head_octets: Constant<Bits<18>>,
    marked_head_octets: Constant<Bits<18>>,
}

impl<const D: usize, const P: usize, const LG: usize> Default for Splitter<D, P, LG> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            joined_data: Default::default(),
            joined_last: Default::default(),
            joined_valid: Default::default(),
            joined_ready: Default::default(),
            started: Default::default(),
            started_tag: Default::default(),
            started_valid: Default::default(),
            started_ready: Default::default(),
            kill: Default::default(),
            kill_tag: Default::default(),
            job_done: Default::default(),
            job_done_valid: Default::default(),
            job_done_ready: Default::default(),
            fpdu_data: Default::default(),
            fpdu_first: Default::default(),
            fpdu_last: Default::default(),
            fpdu_tail_words: Default::default(),
            fpdu_valid: Default::default(),
            fpdu_ready: Default::default(),
            fpdu_info: Default::default(),
            jobs: Default::default(),
            window: Default::default(),
            length: Default::default(),
            cursor: Default::default(),
            control: Default::default(),
            job: Default::default(),
            out_data: Default::default(),
            out_first: Default::default(),
            out_last: Default::default(),
            out_tail: Default::default(),
            out_valid: Default::default(),
            out_info: Default::default(),
            done: Default::default(),
            done_valid: Default::default(),
            killing: Default::default(),
            killed_tag: Default::default(),
            entry: Default::default(),
            head_job: Default::default(),
            info: Default::default(),
            report: Default::default(),
            free: Default::default(),
            report_free: Default::default(),
            wire_octets: Default::default(),
            consumed_octets: Default::default(),
            used_lanes: Default::default(),
            amount: Default::default(),
            beyond: Default::default(),
            ones: Constant::new(Bits::<D>::mask()),
            no_lanes: Constant::new(0u64.into()),
            kind_host: Constant::new(JOB_HOST.into()),
            fpdu_normal: Constant::new(FPDU_NORMAL.into()),
            fpdu_check: Constant::new(FPDU_CHECK.into()),
            fpdu_place: Constant::new(FPDU_PLACE.into()),
            fpdu_host: Constant::new(FPDU_HOST.into()),
            head_octets: Constant::new(4u64.into()),
            marked_head_octets: Constant::new(8u64.into()),
        }
    }
}

impl<const D: usize, const P: usize, const LG: usize> Logic for Splitter<D, P, LG> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, job, out_data, out_first, out_last, out_tail, out_valid, out_info);
        dff_setup!(self, clock, done, done_valid, killing, killed_tag);
        self.jobs.clock.next = self.clock.val();
        self.jobs.reset.next = self.reset.val();
        self.window.clock.next = self.clock.val();
        self.window.reset.next = self.reset.val();
        self.length.clock.next = self.clock.val();
        self.cursor.clock.next = self.clock.val();
        self.control.clock.next = self.clock.val();
        self.control.reset.next = self.reset.val();

        // Jobs.
        self.entry.next.kind = self.started.val().kind;
        self.entry.next.connection = self.started.val().connection;
        self.entry.next.octets = self.started.val().octets;
        self.entry.next.sequence = self.started.val().sequence;
        self.entry.next.phase = self.started.val().phase;
        self.entry.next.markers = self.started.val().markers;
        self.entry.next.crc = self.started.val().crc;
        self.entry.next.head_page = self.started.val().head_page;
        self.entry.next.tail_page = self.started.val().tail_page;
        self.entry.next.tag = self.started_tag.val();
        if self.started.val().kind == self.kind_host.val() {
            self.entry.next.markers = false;
            self.entry.next.crc = false;
        }
        self.jobs.write.next = self.started_valid.val();
        self.jobs.data_in.next = self.entry.val();
        self.started_ready.next = !self.jobs.full.val();
        self.head_job.next = self.jobs.data_out.val();
        self.jobs.read.next = self.control.job_take.val();
        self.control.job_valid.next = !self.jobs.empty.val();
        self.control.job_kind.next = self.head_job.val().kind;
        self.control.job_octets.next = self.head_job.val().octets;
        if self.control.job_take.val() {
            self.job.d.next = self.head_job.val();
        }

        // Window.
        self.window.joined_data.next = self.joined_data.val();
        self.window.joined_last.next = self.joined_last.val();
        self.window.joined_valid.next = self.joined_valid.val();
        self.joined_ready.next = self.window.joined_ready.val();
        self.window.offset.next = self.control.offset.val();
        self.window.shift.next = self.control.shift.val();
        self.window.peek_offset.next = self.control.next_offset.val();
        self.window.peek_high.next = self.control.next_wraps.val();
        self.control.low_valid.next = self.window.low_valid.val();
        self.control.low_last.next = self.window.low_last.val();
        self.control.usable.next = self.window.usable.val();
        self.control.word_0.next = self.window.turned.val().get_bits::<32>(0);
        self.control.word_1.next = self.window.turned.val().get_bits::<32>(32);
        self.control.peeked.next = self.window.peeked.val();
        self.control.peek_valid.next = self.window.peek_valid.val();
        self.control.arrives.next = self.joined_valid.val() & self.window.joined_ready.val();
        self.control.arriving_0.next = self.joined_data.val().get_bits::<32>(0);
        self.control.arriving_1.next = self.joined_data.val().get_bits::<32>(32);

        // Length and position.
        self.length.ulpdu_length.next = self.control.ulpdu_length.val();
        self.length.host.next = self.control.host.val();
        self.length.phase.next = self.cursor.phase.val();
        self.length.markers.next = self.job.q.val().markers;
        self.length.words_left.next = self.cursor.words_left.val();
        self.length.sum.next = self.control.sum.val();
        self.length.divide.next = self.control.divide.val();
        self.length.decide.next = self.control.decide.val();
        self.control.words.next = self.length.words.val();
        self.control.beats.next = self.length.beats.val();
        self.control.single.next = self.length.single.val();
        self.control.whole.next = self.length.whole.val();
        self.control.too_long.next = self.length.too_long.val();
        self.cursor.load.next = self.control.job_take.val();
        self.cursor.octets.next = self.head_job.val().octets;
        self.cursor.first_sequence.next = self.head_job.val().sequence;
        self.cursor.first_phase.next = self.head_job.val().phase;
        self.cursor.markers.next = self.head_job.val().markers;
        self.cursor.advance.next = self.control.advance.val();
        self.cursor.words.next = self.length.words.val();
        self.control.lead.next = self.cursor.lead.val();
        self.control.missing.next = self.cursor.missing.val();
        self.control.first.next = self.cursor.first.val();

        // What is known of the FPDU.
        self.wire_octets.next = bit_cast::<18, 15>(self.length.words.val()) << 2;
        self.info.next.kind = self.fpdu_normal.val();
        self.info.next.connection = self.job.q.val().connection;
        self.info.next.sequence = self.cursor.next_sequence.val();
        self.info.next.ulpdu_length = self.control.ulpdu_length.val();
        self.info.next.wire_octets = self.wire_octets.val();
        self.info.next.phase = self.cursor.phase.val();
        self.info.next.markers = self.job.q.val().markers;
        self.info.next.crc = self.job.q.val().crc;
        self.info.next.head_page = self.job.q.val().head_page;
        self.info.next.tail_page = self.job.q.val().tail_page;
        if self.control.host.val() {
            self.info.next.kind = self.fpdu_host.val();
            self.info.next.wire_octets = self.job.q.val().octets;
        } else if self.control.place.val() {
            self.info.next.kind = self.fpdu_place.val();
        } else if self.control.check.val() {
            self.info.next.kind = self.fpdu_check.val();
        }

        // Beats.
        self.free.next = !self.out_valid.q.val() | self.fpdu_ready.val();
        self.control.free.next = self.free.val();
        self.used_lanes.next = self.length.words.val().get_bits::<LG>(0);
        self.amount.next = bit_cast::<9, LG>(self.used_lanes.val()) << 5;
        self.beyond.next = 0.into();
        if self.control.ends.val() & self.used_lanes.val().any() {
            self.beyond.next = self.ones.val() << self.amount.val();
        }
        if self.free.val() {
            self.out_valid.d.next = self.control.send.val();
            self.out_data.d.next = self.window.turned.val() & !self.beyond.val();
            self.out_first.d.next = self.control.opens.val();
            self.out_last.d.next = self.control.ends.val();
            self.out_tail.d.next = self.no_lanes.val() - self.used_lanes.val();
        }
        if self.control.send.val() & self.control.opens.val() {
            self.out_info.d.next = self.info.val();
        }

        // End of a job.
        self.consumed_octets.next = bit_cast::<18, 16>(self.cursor.consumed.val()) << 2;
        self.report.next.connection = self.job.q.val().connection;
        self.report.next.consumed = self.consumed_octets.val();
        self.report.next.need = self.head_octets.val();
        self.report.next.place_next = self.control.place_next.val();
        if self.control.need_words.val() {
            self.report.next.need = self.wire_octets.val();
        } else if self.cursor.lead.val() {
            self.report.next.need = self.marked_head_octets.val();
        }
        self.report_free.next = !self.done_valid.q.val() | self.job_done_ready.val();
        self.control.finished.next = self.report_free.val();
        self.killing.d.next = false;
        if self.report_free.val() {
            self.done_valid.d.next = self.control.finish.val();
            self.done.d.next = self.report.val();
            self.killing.d.next = self.control.finish.val() & self.control.unread.val();
            self.killed_tag.d.next = self.job.q.val().tag;
        }
        if self.reset.val() {
            self.out_valid.d.next = false;
            self.done_valid.d.next = false;
            self.killing.d.next = false;
        }
        self.fpdu_data.next = self.out_data.q.val();
        self.fpdu_first.next = self.out_first.q.val();
        self.fpdu_last.next = self.out_last.q.val();
        self.fpdu_tail_words.next = self.out_tail.q.val();
        self.fpdu_valid.next = self.out_valid.q.val();
        self.fpdu_info.next = self.out_info.q.val();
        self.job_done.next = self.done.q.val();
        self.job_done_valid.next = self.done_valid.q.val();
        self.kill.next = self.killing.q.val();
        self.kill_tag.next = self.killed_tag.q.val();
    }
}
