//! Sequencer: when the record in front enters the checks, and when its result leaves.
//!
//! ```text
//!  FIFO head        lookups            checks                    outputs
//!   head_valid --> age 0,1,2,3,4 --> phase 1,2,3,4,5 --> load (or 6: wait for the receivers)
//!                       take ----^        |   |   |
//!                                     address decide commit
//! ```
//!
//! | latency    | `head_valid` to `load`: 9 cycles when nothing waits |
//! | throughput | one record per 6 cycles                             |
//! | units      | `age` and `phase` count cycles                      |
//!
//! The record in front looks up what only table operations change: it may wait there and look
//! again. Between `take` and `commit` a record reads and writes what records change; one record at
//! a time is there, so that each sees all that the one before it wrote.
use rust_hdl::prelude::*;

/// Steps records through the room.
#[derive(LogicBlock)]
pub struct Sequencer {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; forgets the records inside.
    pub reset: Signal<In, Bit>,
    /// A record is at the head of the FIFO.
    pub head_valid: Signal<In, Bit>,
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
    /// Cycle 0 of the checks: the record leaves the FIFO.
    pub take: Signal<Out, Bit>,
    /// Cycle 3: the bus address is there.
    pub address: Signal<Out, Bit>,
    /// Cycle 4: the verdict is there.
    pub decide: Signal<Out, Bit>,
    /// Cycle 5: what the record changes is written.
    pub commit: Signal<Out, Bit>,
    /// Cycle 5 or later: the outputs are loaded.
    pub load: Signal<Out, Bit>,
    age: DFF<Bits<3>>,
    is_ready: DFF<Bit>,
    phase: DFF<Bits<3>>,
    is_busy: DFF<Bit>,
    is_committing: DFF<Bit>,
    is_waiting: DFF<Bit>,
    // A table operation made the record in front start again, and it has not been taken since.
    was_restarted: DFF<Bit>,
    takes: Signal<Local, Bit>,
    loads: Signal<Local, Bit>,
    one: Constant<Bits<3>>,
}

impl Default for Sequencer {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            head_valid: Default::default(),
            outputs_free: Default::default(),
            hold: Default::default(),
            restart: Default::default(),
            may_start: Default::default(),
            may_run: Default::default(),
            take: Default::default(),
            address: Default::default(),
            decide: Default::default(),
            commit: Default::default(),
            load: Default::default(),
            age: Default::default(),
            is_ready: Default::default(),
            phase: Default::default(),
            is_busy: Default::default(),
            is_committing: Default::default(),
            is_waiting: Default::default(),
            was_restarted: Default::default(),
            takes: Default::default(),
            loads: Default::default(),
            one: Constant::new(1u64.into()),
        }
    }
}

impl Logic for Sequencer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            age,
            is_ready,
            phase,
            is_busy,
            is_committing,
            is_waiting,
            was_restarted
        );
        self.takes.next = self.is_ready.q.val() & !self.is_busy.q.val() & !self.hold.val();
        self.loads.next =
            (self.is_committing.q.val() | self.is_waiting.q.val()) & self.outputs_free.val();

        // In front: four cycles of lookups, then ready until taken.
        if self.head_valid.val() & !self.is_ready.q.val() {
            self.age.d.next = self.age.q.val() + self.one.val();
            self.is_ready.d.next = self.age.q.val() == 3;
        }
        if self.takes.val() | self.restart.val() {
            self.age.d.next = 0.into();
            self.is_ready.d.next = false;
        }

        // One record at a time is in the checks.
        self.address.next = false;
        self.decide.next = false;
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
                self.decide.next = true;
                self.is_committing.d.next = true;
                self.phase.d.next = 5.into();
            }
            5 => {
                self.phase.d.next = 6.into();
                self.is_waiting.d.next = true;
            }
            _ => {}
        }
        if self.takes.val() {
            self.phase.d.next = 1.into();
            self.is_busy.d.next = true;
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
        self.load.next = self.loads.val();
        if self.reset.val() {
            self.age.d.next = 0.into();
            self.is_ready.d.next = false;
            self.phase.d.next = 0.into();
            self.is_busy.d.next = false;
            self.is_committing.d.next = false;
            self.is_waiting.d.next = false;
            self.was_restarted.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
