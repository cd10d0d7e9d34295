//! Numbers for received ranges: which of the 256 places of the shared pool are free.
//!
//! ```text
//! never used: 0, 1, 2, ... --+--> number, available --> (take)
//! given --> [ FIFO, 256 ] ---+
//! ```
//!
//! | latency    | 5 cycles, `give` to `available`; 1 cycle, `take` to the next number         |
//! | throughput | one taken and one given back per cycle                                      |
//! | units      | numbers of ranges, `rnic_abi::limits::RANGES` of them                       |
//!
//! Numbers never used come first, then those given back, the one first that has been free longest.
//! After a reset, and it needs one, all are free.
use crate::common::block_fifo::BlockFifo;
use rnic_abi::limits::{RANGES, RANGES_LOG2};
use rust_hdl::prelude::*;

const _: () = assert!(
    RANGES_LOG2 == 8 && RANGES == 256,
    "numbers of ranges are 8 bits"
);

/// Gives out numbers, each once until it comes back.
#[derive(LogicBlock)]
pub struct RangeNumbers {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; all numbers are free.
    pub reset: Signal<In, Bit>,
    /// `number` is free.
    pub available: Signal<Out, Bit>,
    /// The number to be taken next; from registers.
    pub number: Signal<Out, Bits<8>>,
    /// Takes `number`; only while `available`.
    pub take: Signal<In, Bit>,
    /// Gives `given` back.
    pub give: Signal<In, Bit>,
    /// A number that was taken.
    pub given: Signal<In, Bits<8>>,
    used_before: BlockFifo<Bits<8>, 8, 9>,
    // The next number never used; 256: there is none.
    fresh: DFF<Bits<9>>,
    fresh_now: Signal<Local, Bits<9>>,
    one: Constant<Bits<9>>,
}

impl Default for RangeNumbers {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            available: Default::default(),
            number: Default::default(),
            take: Default::default(),
            give: Default::default(),
            given: Default::default(),
            used_before: BlockFifo::new(1),
            fresh: Default::default(),
            fresh_now: Default::default(),
            one: Constant::new(1u64.into()),
        }
    }
}

impl Logic for RangeNumbers {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, fresh);
        self.used_before.clock.next = self.clock.val();
        self.used_before.reset.next = self.reset.val();
        self.used_before.write.next = self.give.val();
        self.used_before.data_in.next = self.given.val();
        self.used_before.read.next = false;
        self.fresh_now.next = self.fresh.q.val();
        self.available.next = true;
        self.number.next = self.fresh_now.val().get_bits::<8>(0);
        if self.fresh_now.val().get_bit(8) {
            self.available.next = !self.used_before.empty.val();
            self.number.next = self.used_before.data_out.val();
            self.used_before.read.next = self.take.val();
        } else if self.take.val() {
            self.fresh.d.next = self.fresh.q.val() + self.one.val();
        }
        if self.reset.val() {
            self.fresh.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::lockstep;
    use std::collections::VecDeque;

    /// Takes and gives at random, with stretches that empty the pool and stretches that fill it.
    #[test]
    fn every_number_is_out_once_and_all_can_be_out() {
        let mut free: VecDeque<u64> = (0..RANGES as u64).collect();
        let (mut taken, mut most, mut cycle, mut since_give) = (Vec::new(), 0, 0usize, 0);
        lockstep(
            "range_numbers",
            RangeNumbers::default(),
            12_000,
            |uut| &mut uut.clock,
            |uut, random| {
                let filling = (cycle / 1000) % 2 == 0;
                let reset = matches!(cycle, 0 | 7_777);
                uut.reset.next = reset;
                if since_give > 6 {
                    let expected = !free.is_empty();
                    assert_eq!(uut.available.val(), expected, "cycle {cycle}, {random}");
                }
                uut.take.next =
                    !reset && uut.available.val() && random.chance(if filling { 4 } else { 1 }, 6);
                if uut.take.next {
                    let number = uut.number.val().index() as u64;
                    assert_eq!(Some(number), free.pop_front(), "cycle {cycle}, {random}");
                    taken.push(number);
                }
                uut.give.next =
                    !reset && !taken.is_empty() && random.chance(if filling { 1 } else { 4 }, 6);
                since_give += 1;
                if uut.give.next {
                    let place = random.below(taken.len() as u64) as usize;
                    let number = taken.swap_remove(place);
                    uut.given.next = number.into();
                    free.push_back(number);
                    since_give = 0;
                }
                if reset {
                    free = (0..RANGES as u64).collect();
                    taken.clear();
                }
                most = most.max(taken.len());
                cycle += 1;
            },
        );
        assert_eq!(most, RANGES, "the pool was never empty");
    }
}
