//! The splitter's state machine, the end of a job, and the queue of started jobs.
//!
//! ```text
//! Idle -> Head -> Sum -> Divide -> Decide -> First -> Stream ... -> Head (next FPDU)
//!   |               ^                          |         \-> Sum   (its length was read ahead)
//!   \-- host job ---/                          \-> Done -> Drain -> Idle
//! ```
//!
//! | latency    | none from `usable` to `send`; the decisions take the cycles drawn above     |
//! | throughput | see [`super::splitter`]                                                     |
//!
//! An FPDU that is not whole ends the job, and so does one over `SINGLE_PASS_ULPDU_OCTETS`. The
//! latter is left for the next job unless it is the first of this one: then it is handed on to be
//! checked, and again in a `JobKind::Place`. Beyond a gap it is left until it is in order.
use crate::common::fifo::Fifo;
use crate::messages::{JobDone, JobKind, ReadJob};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// State of the splitter.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum SplitState {
    /// Waits for a job.
    Idle,
    /// Waits for the words that hold ULPDU_Length.
    Head,
    /// Length, first step.
    Sum,
    /// Length, second step.
    Divide,
    /// Length, third step.
    Decide,
    /// Hands on the first beat, or refuses the FPDU.
    First,
    /// Hands on further beats.
    Stream,
    /// Reports the end of the job.
    Done,
    /// Takes the rest of the job out of the window.
    Drain,
}

/// State machine of the splitter.
#[derive(LogicBlock, Init)]
pub struct SplitControl {
    pub clock: Signal<In, Clock>,
    /// Synchronous; back to waiting for a job.
    pub reset: Signal<In, Bit>,
    /// A job waits.
    pub job_waiting: Signal<In, Bit>,
    /// Its kind, as in `ReadJob`.
    pub job_kind: Signal<In, JobKind>,
    /// Its octets.
    pub job_octets: Signal<In, Bits<18>>,
    /// The current job is out of order.
    pub ooo: Signal<In, Bit>,
    /// The job is taken.
    pub job_take: Signal<Out, Bit>,
    /// The window has a low beat.
    pub low_valid: Signal<In, Bit>,
    /// It is the last one of the job.
    pub low_last: Signal<In, Bit>,
    /// The window has a whole beat, up to the end of the job.
    pub usable: Signal<In, Bit>,
    /// The low beat is used up.
    pub shift: Signal<Out, Bit>,
    /// ULPDU_Length of the next FPDU ...
    pub head_length: Signal<In, Bits<16>>,
    /// ... is there.
    pub head_valid: Signal<In, Bit>,
    /// Look for it after the FPDU that is being handed on.
    pub head_ahead: Signal<Out, Bit>,
    /// ULPDU_Length, or the octets of a host frame.
    pub ulpdu_length: Signal<Out, Bits<16>>,
    /// First step of the length.
    pub sum: Signal<Out, Bit>,
    /// Second step.
    pub divide: Signal<Out, Bit>,
    /// Third step.
    pub decide: Signal<Out, Bit>,
    /// The FPDU is one beat long.
    pub single: Signal<In, Bit>,
    /// The FPDU is whole in the job.
    pub whole: Signal<In, Bit>,
    /// The FPDU is too long for one pass.
    pub too_long: Signal<In, Bit>,
    /// The next beat is the FPDU's last.
    pub final_next: Signal<In, Bit>,
    /// After its last beat the low beat of the window is used up.
    pub wraps: Signal<In, Bit>,
    /// The next FPDU opens with a marker.
    pub lead: Signal<In, Bit>,
    /// The job ends before the ULPDU_Length of the next FPDU.
    pub missing: Signal<In, Bit>,
    /// No FPDU of the job was handed on yet.
    pub first: Signal<In, Bit>,
    /// The FPDU belongs to what is consumed.
    pub advance: Signal<Out, Bit>,
    /// The output register is free.
    pub free: Signal<In, Bit>,
    /// A beat is handed on.
    pub send: Signal<Out, Bit>,
    /// It is the first one of its FPDU.
    pub opens: Signal<Out, Bit>,
    /// It is the last one of its FPDU.
    pub ends: Signal<Out, Bit>,
    /// The job is a host frame.
    pub host: Signal<Out, Bit>,
    /// The FPDU is to be checked only.
    pub check: Signal<Out, Bit>,
    /// The FPDU was checked before.
    pub place: Signal<Out, Bit>,
    /// The end of the job is to be reported; held until `finished`.
    pub finish: Signal<Out, Bit>,
    /// The report is taken.
    pub finished: Signal<In, Bit>,
    /// The job needs the words of the FPDU it ends before, not only its head.
    pub need_words: Signal<Out, Bit>,
    /// That FPDU has just been checked.
    pub place_next: Signal<Out, Bit>,
    /// That FPDU cannot be placed before it is in order.
    pub unfit: Signal<Out, Bit>,
    /// Octets of the job may still be in flight.
    pub unread: Signal<Out, Bit>,

    state: DFF<SplitState>,
    kind: DFF<JobKind>,
    // `kind` is a host frame: a bit of its own, as the shift of every beat depends on it.
    is_host: DFF<Bit>,
    length: DFF<Bits<16>>,
    // Too long, and not the first FPDU of a job in order; known a cycle before `whole`.
    is_barred: DFF<Bit>,
    // The last beat of the job has left the window.
    over: DFF<Bit>,
    // The job ends before an FPDU whose length is known.
    known: DFF<Bit>,
    // Output of the cursor one cycle ago, and whether it was for the next FPDU.
    lead_late: DFF<Bit>,
    missing_late: DFF<Bit>,
    settled: DFF<Bit>,
    is_check: Signal<Local, Bit>,
    refuse: Signal<Local, Bit>,
    ends_here: Signal<Local, Bit>,
    sends: Signal<Local, Bit>,
    opens_now: Signal<Local, Bit>,
    closes: Signal<Local, Bit>,
    shifts: Signal<Local, Bit>,
}

impl Logic for SplitControl {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, kind, length, over, known);
        registers!(clock; lead_late, missing_late, settled, is_host, is_barred);
        // `refuse` passes a too long FPDU only as the first one of its job.
        self.is_check.next = self.too_long.val()
            & !self.is_host.q.val()
            & !self.ooo.val()
            & (self.kind.q.val() != JobKind::Place);
        self.is_barred.d.next = self.too_long.val() & (!self.first.val() | self.ooo.val());
        self.refuse.next = !self.is_host.q.val() & (!self.whole.val() | self.is_barred.q.val());
        // The low beat is the job's last one.
        self.ends_here.next = self.low_valid.val() & self.low_last.val() & !self.over.q.val();
        self.lead_late.d.next = self.lead.val();
        self.missing_late.d.next = self.missing.val();
        self.settled.d.next = self.state.q.val() == SplitState::Stream;

        self.job_take.next = false;
        self.sends.next = false;
        self.opens_now.next = false;
        self.closes.next = false;
        self.shifts.next = false;
        match self.state.q.val() {
            // Waits for a job.
            SplitState::Idle => {
                self.over.d.next = false;
                self.known.d.next = false;
                self.kind.d.next = self.job_kind.val();
                self.is_host.d.next = self.job_kind.val() == JobKind::Host;
                self.length.d.next = self.job_octets.val().get_bits::<16>(0);
                self.job_take.next = self.job_waiting.val();
                if self.job_waiting.val() {
                    self.state.d.next = SplitState::Head;
                    if self.job_kind.val() == JobKind::Host {
                        self.state.d.next = SplitState::Sum;
                    }
                }
            }
            // Waits for the words that hold ULPDU_Length, unless the job ends before them.
            SplitState::Head => {
                self.length.d.next = self.head_length.val();
                if self.missing.val() {
                    self.state.d.next = SplitState::Done;
                } else if self.head_valid.val() {
                    self.state.d.next = SplitState::Sum;
                }
            }
            // Three steps of the length.
            SplitState::Sum => {
                self.state.d.next = SplitState::Divide;
            }
            SplitState::Divide => {
                self.state.d.next = SplitState::Decide;
            }
            SplitState::Decide => {
                self.state.d.next = SplitState::First;
            }
            // Waits until the first beat can be sent, or refuses the FPDU (MPA-042).
            SplitState::First => {
                self.opens_now.next = true;
                self.closes.next = self.single.val();
                self.sends.next = !self.refuse.val() & self.free.val() & self.usable.val();
                self.known.d.next = self.refuse.val() | self.is_check.val();
                if self.refuse.val() {
                    self.state.d.next = SplitState::Done;
                }
            }
            // Waits until each further beat can be sent.
            SplitState::Stream => {
                self.closes.next = self.final_next.val();
                self.sends.next = self.free.val() & self.usable.val();
            }
            // Waits until the report is taken.
            SplitState::Done => {
                if self.finished.val() {
                    self.state.d.next = SplitState::Drain;
                    self.shifts.next = self.ends_here.val();
                    if self.over.q.val() | self.ends_here.val() {
                        self.state.d.next = SplitState::Idle;
                    }
                }
            }
            // Waits for the job's last beat.
            SplitState::Drain => {
                self.shifts.next = self.low_valid.val();
                if self.ends_here.val() {
                    self.state.d.next = SplitState::Idle;
                }
            }
            _ => {
                self.state.d.next = SplitState::Idle;
            }
        }
        // A beat is sent: the window shifts, and after the last one the next FPDU follows.
        if self.sends.val() {
            self.shifts.next = !self.closes.val() | self.wraps.val() | self.is_host.q.val();
            self.state.d.next = SplitState::Stream;
            if self.closes.val() {
                self.state.d.next = SplitState::Head;
                if self.is_host.q.val() {
                    self.state.d.next = SplitState::Drain;
                    if self.low_last.val() {
                        self.state.d.next = SplitState::Idle;
                    }
                } else if self.is_check.val() | (self.settled.q.val() & self.missing_late.q.val()) {
                    self.state.d.next = SplitState::Done;
                } else if self.settled.q.val() & !self.lead_late.q.val() & self.head_valid.val() {
                    self.length.d.next = self.head_length.val();
                    self.state.d.next = SplitState::Sum;
                }
            }
        }
        if self.shifts.val() & self.low_last.val() {
            self.over.d.next = true;
        }
        if self.reset.val() {
            self.state.d.next = SplitState::Idle;
        }

        self.sum.next = self.state.q.val() == SplitState::Sum;
        self.divide.next = self.state.q.val() == SplitState::Divide;
        self.decide.next = self.state.q.val() == SplitState::Decide;
        self.finish.next = self.state.q.val() == SplitState::Done;
        self.head_ahead.next = self.state.q.val() == SplitState::Stream;
        self.send.next = self.sends.val();
        self.opens.next = self.opens_now.val();
        self.ends.next = self.closes.val();
        self.advance.next =
            self.sends.val() & self.opens_now.val() & !self.is_host.q.val() & !self.is_check.val();
        self.shift.next = self.shifts.val();
        self.ulpdu_length.next = self.length.q.val();
        self.host.next = self.is_host.q.val();
        self.check.next = self.is_check.val();
        self.place.next = (self.kind.q.val() == JobKind::Place) & self.first.val();
        self.need_words.next = self.known.q.val();
        self.place_next.next = self.known.q.val() & self.is_check.val() & !self.refuse.val();
        self.unfit.next =
            self.known.q.val() & self.ooo.val() & self.whole.val() & self.too_long.val();
        self.unread.next = !self.over.q.val() & !self.ends_here.val();
    }
}

/// Ends a stream job: reports it to the stream manager, and cancels the rest in the reader.
///
/// | latency    | 1 cycle, `finish` to `job_done_valid` and `cancel` |
/// | throughput | one job per cycle                                  |
/// | units      | words of 4 octets in, octets out                   |
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
    /// Octets of the job may still be in flight.
    pub unread: Signal<In, Bit>,
    /// The report.
    pub job_done: Signal<Out, JobDone>,
    pub job_done_valid: Signal<Out, Bit>,
    pub job_done_ready: Signal<In, Bit>,
    /// For one cycle: job `cancel_tag` needs no more beats.
    pub cancel: Signal<Out, Bit>,
    /// The reader's number of the job.
    pub cancel_tag: Signal<Out, Bits<3>>,
    done: DFF<JobDone>,
    done_valid: DFF<Bit>,
    cancelling: DFF<Bit>,
    cancelled_tag: DFF<Bits<3>>,
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
        registers!(clock; done, done_valid, cancelling, cancelled_tag, fpdus);
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
        self.report.next.ooo = self.job.val().ooo;
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
        self.cancelling.d.next = false;
        if self.free.val() {
            self.done_valid.d.next = self.finish.val();
            self.done.d.next = self.report.val();
            self.cancelling.d.next = self.finish.val() & self.unread.val();
            self.cancelled_tag.d.next = self.job.val().tag;
        }
        if self.reset.val() {
            self.done_valid.d.next = false;
            self.cancelling.d.next = false;
        }
        self.job_done.next = self.done.q.val();
        self.job_done_valid.next = self.done_valid.q.val();
        self.cancel.next = self.cancelling.q.val();
        self.cancel_tag.next = self.cancelled_tag.q.val();
    }
}

/// Fields of a `ReadJob` that the splitter uses, and the reader's number of it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct StartedJob {
    /// As in `ReadJob`.
    pub kind: JobKind,
    /// As in `ReadJob`.
    pub connection: Bits<10>,
    /// As in `ReadJob`.
    pub octets: Bits<18>,
    /// As in `ReadJob`.
    pub sequence: Bits<32>,
    /// As in `ReadJob`.
    pub phase: Bits<7>,
    /// As in `ReadJob`; false for host frames.
    pub markers: Bit,
    /// As in `ReadJob`; false for host frames.
    pub crc: Bit,
    /// As in `ReadJob`.
    pub head_page: Bits<9>,
    /// As in `ReadJob`.
    pub tail_page: Bits<9>,
    /// As in `ReadJob`; false for host frames.
    pub ooo: Bit,
    /// As in `ReadJob`.
    pub span: Bits<9>,
    /// As in `ReadJob`.
    pub proven: Bit,
    /// The reader's number.
    pub tag: Bits<3>,
}

/// Queue of the jobs that the reader has started, and the current job.
///
/// | latency    | 2 cycles, `started` into an empty queue to `waiting`; 1, `take` to `job`    |
/// | throughput | one job per cycle                                                           |
/// | depth      | 4 jobs, and the current one                                                 |
#[derive(LogicBlock, Init)]
pub struct JobQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A job whose octets will follow.
    pub started: Signal<In, ReadJob>,
    /// The reader's number of it.
    pub started_tag: Signal<In, Bits<3>>,
    pub started_valid: Signal<In, Bit>,
    pub started_ready: Signal<Out, Bit>,
    /// A job waits.
    pub waiting: Signal<Out, Bit>,
    /// The job that waits.
    pub next_job: Signal<Out, StartedJob>,
    /// Makes the waiting job the current one; only while `waiting`.
    pub take: Signal<In, Bit>,
    /// The current job.
    pub job: Signal<Out, StartedJob>,
    jobs: Fifo<StartedJob, 2, 3>,
    current: DFF<StartedJob>,
    entry: Signal<Local, StartedJob>,
}

impl Logic for JobQueue {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; current);
        wire!(self => self.jobs; clock, reset);
        self.entry.next.kind = self.started.val().kind;
        self.entry.next.connection = self.started.val().connection;
        self.entry.next.octets = self.started.val().octets;
        self.entry.next.sequence = self.started.val().sequence;
        self.entry.next.phase = self.started.val().phase;
        self.entry.next.markers = self.started.val().markers;
        self.entry.next.crc = self.started.val().crc;
        self.entry.next.head_page = self.started.val().head_page;
        self.entry.next.tail_page = self.started.val().tail_page;
        self.entry.next.ooo = self.started.val().ooo;
        self.entry.next.span = self.started.val().span;
        self.entry.next.proven = self.started.val().proven;
        self.entry.next.tag = self.started_tag.val();
        if self.started.val().kind == JobKind::Host {
            self.entry.next.markers = false;
            self.entry.next.crc = false;
            self.entry.next.ooo = false;
        }
        wire!(self => self.jobs; started_valid as write, entry as data_in);
        self.started_ready.next = !self.jobs.full.val();
        self.waiting.next = !self.jobs.empty.val();
        self.next_job.next = self.jobs.data_out.val();
        self.jobs.read.next = self.take.val();
        if self.take.val() {
            self.current.d.next = self.jobs.data_out.val();
        }
        self.job.next = self.current.q.val();
    }
}
