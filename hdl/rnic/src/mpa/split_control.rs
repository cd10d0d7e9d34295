//! The splitter's state machine: which word of the window is an FPDU's first, what becomes of it.
//!
//! ```text
//! Idle -> Head -> Sum -> Divide -> Decide -> First -> Stream ... -> Head (next FPDU)
//!   |               ^                          |         \-> Sum   (its length was seen in time)
//!   \-- host job ---/                          \-> Done -> Drain -> Idle
//! ```
//!
//! | latency    | none from `usable` to `send`; the decisions take the cycles drawn above     |
//! | throughput | see [`super::splitter`]                                                     |
//! | units      | words of 4 octets                                                           |
//!
//! An FPDU that is not whole in the job ends it, and so does a too long one: unless it is the first
//! of the job, it is left for the next job; if it is, it is handed on once to be checked, and again
//! in a `JOB_PLACE` (`SINGLE_PASS_ULPDU_OCTETS`).
use crate::messages::{JOB_HOST, JOB_PLACE};
use rust_hdl::prelude::*;

/// What the splitter does.
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

/// State machine of the splitter; `2^LG` words a beat.
#[derive(LogicBlock)]
pub struct SplitControl<const LG: usize> {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; back to waiting for a job.
    pub reset: Signal<In, Bit>,
    // Jobs.
    /// A job waits.
    pub job_valid: Signal<In, Bit>,
    /// Its kind, as in `ReadJob`.
    pub job_kind: Signal<In, Bits<2>>,
    /// Its octets.
    pub job_octets: Signal<In, Bits<18>>,
    /// The job is taken.
    pub job_take: Signal<Out, Bit>,
    // Window.
    /// See `BeatWindow`.
    pub low_valid: Signal<In, Bit>,
    /// See `BeatWindow`.
    pub low_last: Signal<In, Bit>,
    /// See `BeatWindow`.
    pub usable: Signal<In, Bit>,
    /// Word `offset` of the window.
    pub word_0: Signal<In, Bits<32>>,
    /// Word `offset + 1` of the window.
    pub word_1: Signal<In, Bits<32>>,
    /// See `BeatWindow`.
    pub peeked: Signal<In, Bits<32>>,
    /// See `BeatWindow`.
    pub peek_valid: Signal<In, Bit>,
    /// A beat arrives at the window; its words 0 and 1.
    pub arrives: Signal<In, Bit>,
    /// Word 0 of the arriving beat.
    pub arriving_0: Signal<In, Bits<32>>,
    /// Word 1 of the arriving beat.
    pub arriving_1: Signal<In, Bits<32>>,
    /// First word of what is to be handed on.
    pub offset: Signal<Out, Bits<LG>>,
    /// The low beat is used up.
    pub shift: Signal<Out, Bit>,
    /// Where the next FPDU will begin.
    pub next_offset: Signal<Out, Bits<LG>>,
    /// It will begin in the high beat.
    pub next_wraps: Signal<Out, Bit>,
    // Length.
    /// ULPDU_Length, or the octets of a host frame.
    pub ulpdu_length: Signal<Out, Bits<16>>,
    /// First step.
    pub sum: Signal<Out, Bit>,
    /// Second step.
    pub divide: Signal<Out, Bit>,
    /// Third step.
    pub decide: Signal<Out, Bit>,
    /// See `FpduLength`.
    pub words: Signal<In, Bits<15>>,
    /// See `FpduLength`.
    pub beats: Signal<In, Bits<15>>,
    /// See `FpduLength`.
    pub single: Signal<In, Bit>,
    /// See `FpduLength`.
    pub whole: Signal<In, Bit>,
    /// See `FpduLength`.
    pub too_long: Signal<In, Bit>,
    // Cursor.
    /// See `JobCursor`.
    pub lead: Signal<In, Bit>,
    /// See `JobCursor`.
    pub missing: Signal<In, Bit>,
    /// See `JobCursor`.
    pub first: Signal<In, Bit>,
    /// The FPDU belongs to what is consumed.
    pub advance: Signal<Out, Bit>,
    // Beats handed on.
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
    // End of the job.
    /// The report is to be made; held until `finished`.
    pub finish: Signal<Out, Bit>,
    /// The report is taken.
    pub finished: Signal<In, Bit>,
    /// The job needs the `words` of the FPDU it ends before, not only its head.
    pub need_words: Signal<Out, Bit>,
    /// The FPDU it ends before has just been checked.
    pub place_next: Signal<Out, Bit>,
    /// Octets of the job may still be on their way.
    pub unread: Signal<Out, Bit>,

    state: DFF<SplitState>,
    kind: DFF<Bits<2>>,
    start: DFF<Bits<LG>>,
    length: DFF<Bits<16>>,
    // The last beat of the job has left the window.
    over: DFF<Bit>,
    known: DFF<Bit>,
    // Where the next FPDU begins, one cycle late.
    next_start: DFF<Bits<LG>>,
    wraps_late: DFF<Bit>,
    // What the cursor said one cycle ago, and whether that was about the next FPDU.
    lead_late: DFF<Bit>,
    missing_late: DFF<Bit>,
    settled: DFF<Bit>,
    beats_left: DFF<Bits<15>>,
    final_next: DFF<Bit>,
    is_host: Signal<Local, Bit>,
    is_check: Signal<Local, Bit>,
    refuse: Signal<Local, Bit>,
    sends: Signal<Local, Bit>,
    opens_now: Signal<Local, Bit>,
    closes: Signal<Local, Bit>,
    shifts: Signal<Local, Bit>,
    start_sum: Signal<Local, Bits<LG>>,
    wraps: Signal<Local, Bit>,
    head: Signal<Local, Bits<32>>,
    high_octet: Signal<Local, Bits<8>>,
    low_octet: Signal<Local, Bits<8>>,
    head_length: Signal<Local, Bits<16>>,
    head_valid: Signal<Local, Bit>,
    kind_host: Constant<Bits<2>>,
    kind_place: Constant<Bits<2>>,
    one: Constant<Bits<15>>,
    two: Constant<Bits<15>>,
}

impl<const LG: usize> Default for SplitControl<LG> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            job_valid: Default::default(),
            job_kind: Default::default(),
            job_octets: Default::default(),
            job_take: Default::default(),
            low_valid: Default::default(),
            low_last: Default::default(),
            usable: Default::default(),
            word_0: Default::default(),
            word_1: Default::default(),
            peeked: Default::default(),
            peek_valid: Default::default(),
            arrives: Default::default(),
            arriving_0: Default::default(),
            arriving_1: Default::default(),
            offset: Default::default(),
            shift: Default::default(),
            next_offset: Default::default(),
            next_wraps: Default::default(),
            ulpdu_length: Default::default(),
            sum: Default::default(),
            divide: Default::default(),
            decide: Default::default(),
            words: Default::default(),
            beats: Default::default(),
            single: Default::default(),
            whole: Default::default(),
            too_long: Default::default(),
            lead: Default::default(),
            missing: Default::default(),
            first: Default::default(),
            advance: Default::default(),
            free: Default::default(),
            send: Default::default(),
            opens: Default::default(),
            ends: Default::default(),
            host: Default::default(),
            check: Default::default(),
            place: Default::default(),
            finish: Default::default(),
            finished: Default::default(),
            need_words: Default::default(),
            place_next: Default::default(),
            unread: Default::default(),
            state: Default::default(),
            kind: Default::default(),
            start: Default::default(),
            length: Default::default(),
            over: Default::default(),
            known: Default::default(),
            next_start: Default::default(),
            wraps_late: Default::default(),
            lead_late: Default::default(),
            missing_late: Default::default(),
            settled: Default::default(),
            beats_left: Default::default(),
            final_next: Default::default(),
            is_host: Default::default(),
            is_check: Default::default(),
            refuse: Default::default(),
            sends: Default::default(),
            opens_now: Default::default(),
            closes: Default::default(),
            shifts: Default::default(),
            start_sum: Default::default(),
            wraps: Default::default(),
            head: Default::default(),
            high_octet: Default::default(),
            low_octet: Default::default(),
            head_length: Default::default(),
            head_valid: Default::default(),
            kind_host: Constant::new(JOB_HOST.into()),
            kind_place: Constant::new(JOB_PLACE.into()),
            one: Constant::new(1u64.into()),
            two: Constant::new(2u64.into()),
        }
    }
}

impl<const LG: usize> Logic for SplitControl<LG> {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, kind, start, length, over, known, next_start, wraps_late);
        dff_setup!(self, clock, lead_late, missing_late, settled, beats_left, final_next);
        self.is_host.next = self.kind.q.val() == self.kind_host.val();
        // A too long FPDU gets past `refuse` only as the first one of its job.
        self.is_check.next = self.too_long.val()
            & !self.is_host.val()
            & (self.kind.q.val() != self.kind_place.val());
        self.refuse.next = !self.is_host.val()
            & (!self.whole.val() | (self.too_long.val() & !self.first.val()));
        self.start_sum.next = self.start.q.val() + self.words.val().get_bits::<LG>(0);
        self.wraps.next = self.start_sum.val() <= self.start.q.val();
        self.next_start.d.next = self.start_sum.val();
        self.wraps_late.d.next = self.wraps.val();
        self.lead_late.d.next = self.lead.val();
        self.missing_late.d.next = self.missing.val();

        // The word with ULPDU_Length: in the window, or just arriving at an empty one.
        self.head.next = self.word_0.val();
        self.head_valid.next = self.low_valid.val();
        if self.lead.val() {
            self.head.next = self.word_1.val();
            self.head_valid.next = self.usable.val();
        }
        if !self.low_valid.val() & !self.start.q.val().any() {
            self.head_valid.next = self.arrives.val();
            self.head.next = self.arriving_0.val();
            if self.lead.val() {
                self.head.next = self.arriving_1.val();
            }
        }
        if self.state.q.val() == SplitState::Stream {
            self.head.next = self.peeked.val();
        }
        self.high_octet.next = self.head.val().get_bits::<8>(0);
        self.low_octet.next = self.head.val().get_bits::<8>(8);
        self.head_length.next = (bit_cast::<16, 8>(self.high_octet.val()) << 8)
            | bit_cast::<16, 8>(self.low_octet.val());

        self.job_take.next = false;
        self.sum.next = false;
        self.divide.next = false;
        self.decide.next = false;
        self.sends.next = false;
        self.closes.next = false;
        self.opens_now.next = false;
        self.shifts.next = false;
        self.finish.next = false;
        self.settled.d.next = false;
        match self.state.q.val() {
            // Waits for a job.
            SplitState::Idle => {
                self.over.d.next = false;
                self.known.d.next = false;
                self.start.d.next = 0.into();
                self.kind.d.next = self.job_kind.val();
                self.length.d.next = self.job_octets.val().get_bits::<16>(0);
                self.job_take.next = self.job_valid.val();
                if self.job_valid.val() {
                    self.state.d.next = SplitState::Head;
                    if self.job_kind.val() == self.kind_host.val() {
                        self.state.d.next = SplitState::Sum;
                    }
                }
            }
            // Waits for the words that hold ULPDU_Length.
            SplitState::Head => {
                self.length.d.next = self.head_length.val();
                if self.missing.val() {
                    self.state.d.next = SplitState::Done;
                } else if self.head_valid.val() {
                    self.state.d.next = SplitState::Sum;
                }
            }
            // Waits for the length.
            SplitState::Sum => {
                self.sum.next = true;
                self.state.d.next = SplitState::Divide;
            }
            SplitState::Divide => {
                self.divide.next = true;
                self.state.d.next = SplitState::Decide;
            }
            SplitState::Decide => {
                self.decide.next = true;
                self.state.d.next = SplitState::First;
            }
            // Waits for the first beat to be movable, or refuses the FPDU.
            SplitState::First => {
                self.opens_now.next = true;
                self.closes.next = self.single.val();
                self.sends.next = !self.refuse.val() & self.free.val() & self.usable.val();
                self.known.d.next = self.refuse.val() | self.is_check.val();
                if self.refuse.val() {
                    self.state.d.next = SplitState::Done;
                }
            }
            // Waits for each further beat to be movable.
            SplitState::Stream => {
                self.settled.d.next = true;
                self.closes.next = self.final_next.q.val();
                self.sends.next = self.free.val() & self.usable.val();
            }
            // Waits for the report to be taken.
            SplitState::Done => {
                self.finish.next = true;
                if self.finished.val() {
                    self.state.d.next = SplitState::Drain;
                    if self.over.q.val() {
                        self.state.d.next = SplitState::Idle;
                    }
                }
            }
            // Waits for the job's last beat.
            SplitState::Drain => {
                self.shifts.next = self.low_valid.val();
                if self.low_valid.val() & self.low_last.val() {
                    self.state.d.next = SplitState::Idle;
                }
            }
            _ => {
                self.state.d.next = SplitState::Idle;
            }
        }
        // A beat goes: the window moves on, and after the last one the next FPDU is looked for.
        self.advance.next = false;
        if self.sends.val() {
            self.shifts.next = true;
            self.state.d.next = SplitState::Stream;
            self.beats_left.d.next = self.beats_left.q.val() - self.one.val();
            self.final_next.d.next = self.beats_left.q.val() == self.two.val();
            if self.opens_now.val() {
                self.advance.next = !self.is_host.val() & !self.is_check.val();
                self.beats_left.d.next = self.beats.val() - self.one.val();
                self.final_next.d.next = self.beats.val() == self.two.val();
            }
            if self.closes.val() {
                self.shifts.next = self.wraps.val() | self.is_host.val();
                self.start.d.next = self.start_sum.val();
                self.state.d.next = SplitState::Head;
                if self.is_host.val() {
                    self.state.d.next = SplitState::Drain;
                    if self.low_last.val() {
                        self.state.d.next = SplitState::Idle;
                    }
                } else if self.is_check.val() | (self.settled.q.val() & self.missing_late.q.val()) {
                    self.state.d.next = SplitState::Done;
                } else if self.settled.q.val() & !self.lead_late.q.val() & self.peek_valid.val() {
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

        self.send.next = self.sends.val();
        self.opens.next = self.opens_now.val();
        self.ends.next = self.closes.val();
        self.shift.next = self.shifts.val();
        self.offset.next = self.start.q.val();
        self.next_offset.next = self.next_start.q.val();
        self.next_wraps.next = self.wraps_late.q.val();
        self.ulpdu_length.next = self.length.q.val();
        self.host.next = self.is_host.val();
        self.check.next = self.is_check.val();
        self.place.next = (self.kind.q.val() == self.kind_place.val()) & self.first.val();
        self.need_words.next = self.known.q.val();
        self.place_next.next = self.known.q.val() & self.is_check.val() & !self.refuse.val();
        self.unread.next = !self.over.q.val();
    }
}
