//! When may the splitter's beats go on? With room for them, for their record, and after a pause.
//!
//! | latency    | 1 cycle, every input to `open`, which is a register                         |
//! | throughput | one beat per cycle in an FPDU; 3 idle cycles after its last beat            |
//!
//! The pause keeps an FPDU's flushed beat, its verdict and what is known of it apart from the next
//! one's. It also makes `record_room` sure: when an FPDU begins, at most the record of the one
//! before it is still on its way uncounted, so that room for two records suffices. Inside an FPDU
//! only the placement buffer can close the gate.
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
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, gate, in_fpdu, closed_1, closed_2);
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
mod tests {
    use super::*;
    use rnic_hdl_tools::testkit::{settle, tick, Random};

    #[test]
    fn three_idle_cycles_follow_a_last_beat_and_no_fpdu_begins_without_room_for_its_record() {
        let mut random = Random::from_environment();
        let mut uut = Admission::default();
        uut.connect_all();
        settle(&mut uut);
        let (mut since_last, mut inside, mut passed) = (3, false, 0);
        let (mut offered, mut last, mut crowded_before, mut room_before) =
            (false, false, true, false);
        for cycle in 0..20_000 {
            if !offered && random.chance(5, 8) {
                (offered, last) = (true, random.chance(1, 3));
            }
            uut.valid.next = offered;
            uut.last.next = last;
            uut.crowded.next = random.chance(1, 8);
            uut.record_room.next = random.chance(5, 8);
            settle(&mut uut);
            let open = uut.open.val();
            let must = since_last >= 3 && !crowded_before && (inside || room_before) && cycle > 0;
            assert_eq!(open, must, "cycle {cycle}, {random}");
            (crowded_before, room_before) = (uut.crowded.next, uut.record_room.next);
            since_last += 1;
            if open && offered {
                (inside, offered) = (!last, false);
                since_last = if last { 0 } else { since_last };
                passed += 1;
            }
            tick(&mut uut, |uut| &mut uut.clock);
        }
        assert!(
            passed > 2000,
            "only {passed} beats in 20000 cycles, {random}"
        );
    }
}
