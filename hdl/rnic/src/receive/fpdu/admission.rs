//! When may the splitter's beats go on? With room for them, for their record, and after a pause.
//!
//! | latency    | 1 cycle, every input to `open`, which is a register                         |
//! | throughput | one beat per cycle in an FPDU; 3 idle cycles after its last beat            |
//!
//! The pause keeps an FPDU's flushed beat, its verdict and what is known of it apart from the next
//! one's. It also makes `record_room` sure: when an FPDU begins, at most the record of the one
//! before it is still on its way uncounted, so that room for two records suffices. Inside an FPDU
//! only the placement buffer can close the gate.
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// The gate between the splitter and what follows it.
#[derive(LogicBlock, Default)]
pub struct Admission {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A beat is offered.
    pub valid: Signal<In, Bit>,
    /// It is the last one of its FPDU.
    pub last: Signal<In, Bit>,
    /// The placement buffer is nearly full: no room for more than what is on its way.
    pub crowded: Signal<In, Bit>,
    /// Two records more can be taken.
    pub record_room: Signal<In, Bit>,
    /// Beats are taken in this cycle.
    pub open: Signal<Out, Bit>,
    gate: DFF<Bit>,
    in_fpdu: DFF<Bit>,
    closed_1: DFF<Bit>,
    closed_2: DFF<Bit>,
    taken: Signal<Local, Bit>,
    closes: Signal<Local, Bit>,
}

impl Logic for Admission {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; gate, in_fpdu, closed_1, closed_2);
        self.taken.next = self.valid.val() & self.gate.q.val();
        self.closes.next = self.taken.val() & self.last.val();
        if self.taken.val() {
            self.in_fpdu.d.next = !self.last.val();
        }
        self.closed_1.d.next = self.closes.val();
        self.closed_2.d.next = self.closed_1.q.val();
        self.gate.d.next = !self.closes.val()
            & !self.closed_1.q.val()
            & !self.closed_2.q.val()
            & !self.crowded.val()
            & (self.taken.val() | self.in_fpdu.q.val() | self.record_room.val());
        if self.reset.val() {
            self.gate.d.next = false;
            self.in_fpdu.d.next = false;
            self.closed_1.d.next = false;
            self.closed_2.d.next = false;
        }
        self.open.next = self.gate.q.val();
    }
}

#[cfg(test)]
mod tests;
