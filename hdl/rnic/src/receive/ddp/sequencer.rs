//! Sequencer: when the record in front enters the checks, and when its result leaves.
//!
//! ```text
//!  FIFO head        lookups            checks                    outputs
//!   head_valid --> age 0,1,2,3,4 --> phase 1,2,3,4,5 --> load (or 6: wait for the receivers)
//!       ^               take ----^        |   |   |
//!       |                             address decide commit
//!       +------ hold, no verdict ---------+   ^-- verdict_valid
//! ```
//!
//! | latency    | `head_valid` to `load`: 9 cycles when nothing waits; `verdict_valid` to   |
//! |            | `load`: 1 cycle, if that is later                                         |
//! | throughput | one record per 6 cycles whose verdicts are there before them; one per 10  |
//! |            | where each waits for its verdict: such FPDUs pass in more than 10 cycles  |
//! | units      | `age` and `phase` count cycles                                            |
//!
//! The record in front looks up what only table operations change: it may wait there and look
//! again. Between `take` and `commit` a record reads and writes what records change; one record at
//! a time is there, so that each sees all that the one before it wrote.
//!
//! A record comes while its FPDU is still passing, and its verdict later. Until the verdict is
//! there the record stays the head of the FIFO, though it is in the checks: it writes nothing, and
//! `hold` sends it back to where it was. So no table operation waits for an FPDU's end, which may
//! itself wait for a full completion queue.
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Steps records through the room.
#[derive(LogicBlock, Init)]
pub struct Sequencer {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A record is at the head of the FIFO.
    pub head_valid: Signal<In, Bit>,
    /// A verdict belongs to it.
    pub head_judged: Signal<In, Bit>,
    /// The oldest verdict not taken is there.
    pub verdict_valid: Signal<In, Bit>,
    /// Every output message has been taken.
    pub outputs_free: Signal<In, Bit>,
    /// A table operation keeps records out of the checks.
    pub hold: Signal<In, Bit>,
    /// A table operation makes the record in front start again.
    pub restart: Signal<In, Bit>,
    /// A table operation may stop the records.
    pub may_start: Signal<Out, Bit>,
    /// No record is between `take` and `commit`.
    pub may_run: Signal<Out, Bit>,
    /// Cycle 0 of the checks.
    pub take: Signal<Out, Bit>,
    /// The record leaves the FIFO: with `take`, or when its verdict comes.
    pub leave: Signal<Out, Bit>,
    /// Cycle 3: the bus address is there.
    pub address: Signal<Out, Bit>,
    /// Cycle 4, when the verdict of MPA is there: the verdict of all checks is there.
    pub decide: Signal<Out, Bit>,
    /// From cycle 1 on: a verdict belongs to the record.
    pub is_judged: Signal<Out, Bit>,
    /// With `decide`: the verdict of MPA is used.
    pub take_verdict: Signal<Out, Bit>,
    /// Cycle 5: what the record changes is written.
    pub commit: Signal<Out, Bit>,
    /// Cycle 5 or later: the outputs are loaded.
    pub load: Signal<Out, Bit>,
    age: DFF<Bits<3>>,
    is_ready: DFF<Bit>,
    phase: DFF<Bits<3>>,
    is_busy: DFF<Bit>,
    // The record in the checks is still the head of the FIFO.
    is_early: DFF<Bit>,
    held_judged: DFF<Bit>,
    is_committing: DFF<Bit>,
    is_waiting: DFF<Bit>,
    // A table operation made the record in front start again, and it has not been taken since.
    was_restarted: DFF<Bit>,
    takes: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    yields: Signal<Local, Bit>,
    decides: Signal<Local, Bit>,
    loads: Signal<Local, Bit>,
    #[constant(1)]
    one: Constant<Bits<3>>,
}

impl Logic for Sequencer {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; age, is_ready, phase, is_busy, is_early);
        registers!(clock; held_judged, is_committing, is_waiting, was_restarted);
        self.takes.next = self.is_ready.q.val() & !self.is_busy.q.val() & !self.hold.val();
        self.leaves.next = (self.takes.val()
            & (self.verdict_valid.val() | !self.head_judged.val()))
            | (self.is_early.q.val() & self.verdict_valid.val());
        self.yields.next = self.is_early.q.val() & self.hold.val() & !self.verdict_valid.val();
        self.loads.next =
            (self.is_committing.q.val() | self.is_waiting.q.val()) & self.outputs_free.val();

        // In front: four cycles of lookups, then ready until it leaves.
        if self.head_valid.val() & !self.is_ready.q.val() {
            self.age.d.next = self.age.q.val() + self.one.val();
            self.is_ready.d.next = self.age.q.val() == 3;
        }
        if self.leaves.val() | self.restart.val() {
            self.age.d.next = 0.into();
            self.is_ready.d.next = false;
        }

        // One record at a time is in the checks.
        self.address.next = false;
        self.decides.next = false;
        self.commit.next = self.is_committing.q.val();
        self.is_committing.d.next = false;
        match self.phase.q.val().index() {
            1 => self.phase.d.next = 2.into(),
            2 => self.phase.d.next = 3.into(),
            3 => {
                self.address.next = true;
                self.phase.d.next = 4.into();
            }
            4 => {
                if self.verdict_valid.val() | !self.is_early.q.val() {
                    self.decides.next = true;
                    self.is_committing.d.next = true;
                    self.phase.d.next = 5.into();
                }
            }
            5 => {
                self.phase.d.next = 6.into();
                self.is_waiting.d.next = true;
            }
            _ => {}
        }
        if self.leaves.val() {
            self.is_early.d.next = false;
        }
        if self.takes.val() {
            self.phase.d.next = 1.into();
            self.is_busy.d.next = true;
            self.is_early.d.next = !self.leaves.val();
            self.held_judged.d.next = self.head_judged.val();
        }
        if self.yields.val() {
            self.phase.d.next = 0.into();
            self.is_busy.d.next = false;
            self.is_early.d.next = false;
        }
        if self.loads.val() {
            self.phase.d.next = 0.into();
            self.is_busy.d.next = false;
            self.is_waiting.d.next = false;
        }
        self.was_restarted.d.next = (self.was_restarted.q.val() | self.restart.val())
            & self.head_valid.val()
            & !self.takes.val();
        self.may_start.next = !self.was_restarted.q.val() | self.is_waiting.q.val();
        self.may_run.next = !self.is_busy.q.val() | self.is_waiting.q.val();
        self.take.next = self.takes.val();
        self.leave.next = self.leaves.val();
        self.decide.next = self.decides.val();
        self.is_judged.next = self.held_judged.q.val();
        self.take_verdict.next = self.decides.val() & self.held_judged.q.val();
        self.load.next = self.loads.val();
        if self.reset.val() {
            self.age.d.next = 0.into();
            self.is_ready.d.next = false;
            self.phase.d.next = 0.into();
            self.is_busy.d.next = false;
            self.is_early.d.next = false;
            self.is_committing.d.next = false;
            self.is_waiting.d.next = false;
            self.was_restarted.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
