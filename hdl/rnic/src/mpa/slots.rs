//! Free slots of the frame tables, for frames that hold several runs of accepted octets.
//!
//! ```text
//! free ------> [ freed (FIFO, block RAM) ] --+
//!              [ never used: counts up   ] --+--> slot
//! ```
//!
//! | enters     | slots that are free again                                                   |
//! | leaves     | a free slot, 512 to 1023                                                    |
//! | latency    | 5 cycles from `free_valid` to `slot`, if there was no other                 |
//! | throughput | one slot per cycle each way                                                 |
//! | units      | slots                                                                       |
//!
//! TCP holds a credit for each slot, so one is free whenever `take` comes.
use crate::common::block_fifo::BlockFifo;
use rnic_abi::limits::SHARED_RUNS;
use rust_hdl::prelude::*;

/// Slots not in use.
#[derive(LogicBlock)]
pub struct FreeSlots {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; every slot is free.
    pub reset: Signal<In, Bit>,
    /// A free slot.
    pub slot: Signal<Out, Bits<10>>,
    /// It is taken.
    pub take: Signal<In, Bit>,
    /// Lower bits of a slot that is free again.
    pub free: Signal<In, Bits<9>>,
    /// For one cycle.
    pub free_valid: Signal<In, Bit>,
    freed: BlockFifo<Bits<9>, 9, 10>,
    // Slots that were never used begin here; when there is none left, its highest bit is set.
    unused: DFF<Bits<10>>,
    number: Signal<Local, Bits<9>>,
    exhausted: Signal<Local, Bit>,
    one: Constant<Bits<10>>,
    upper_half: Constant<Bits<10>>,
}

impl Default for FreeSlots {
    fn default() -> Self {
        const { assert!(SHARED_RUNS == 512, "one slot per frame and shared run") }
        Self {
            clock: Default::default(),
            reset: Default::default(),
            slot: Default::default(),
            take: Default::default(),
            free: Default::default(),
            free_valid: Default::default(),
            freed: BlockFifo::new(1),
            unused: Default::default(),
            number: Default::default(),
            exhausted: Default::default(),
            one: Constant::new(1u64.into()),
            upper_half: Constant::new(512u64.into()),
        }
    }
}

impl Logic for FreeSlots {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, unused);
        self.freed.clock.next = self.clock.val();
        self.freed.reset.next = self.reset.val();
        self.freed.data_in.next = self.free.val();
        self.freed.write.next = self.free_valid.val();
        self.exhausted.next = self.unused.q.val().get_bit(9);
        self.freed.read.next = self.take.val() & self.exhausted.val();
        self.number.next = self.unused.q.val().get_bits::<9>(0);
        if self.exhausted.val() {
            self.number.next = self.freed.data_out.val();
        }
        self.slot.next = self.upper_half.val() | bit_cast::<10, 9>(self.number.val());
        if self.take.val() & !self.exhausted.val() {
            self.unused.d.next = self.unused.q.val() + self.one.val();
        }
        if self.reset.val() {
            self.unused.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{lockstep, settle};

    /// A slot is out once at a time, whether it was used before or not.
    #[test]
    fn lockstep_with_verilog_and_no_slot_is_given_twice() {
        let (mut out, mut reused, mut cycle) = (Vec::new(), 0, 0);
        // A slot that was freed is offered again only after it has passed the block RAM.
        let mut resting = [0u8; 8];
        let mut seen = vec![false; SHARED_RUNS];
        lockstep(
            "free_slots",
            FreeSlots::default(),
            8000,
            |uut| &mut uut.clock,
            |uut, random| {
                uut.reset.next = cycle == 0;
                cycle += 1;
                settle(uut);
                let resting_now: u8 = resting.iter().sum();
                let free = SHARED_RUNS - out.len() - usize::from(resting_now);
                let wanted = [7, 1][(cycle / 1000) % 2];
                uut.take.next = cycle > 2 && free > 0 && random.chance(wanted, 8);
                if uut.take.next {
                    let slot = uut.slot.val().index();
                    assert!(
                        slot >= SHARED_RUNS && !out.contains(&slot),
                        "{slot}, {random}"
                    );
                    reused += usize::from(std::mem::replace(&mut seen[slot - SHARED_RUNS], true));
                    out.push(slot);
                }
                uut.free_valid.next = out.len() > 1 && random.chance(8 - wanted, 8);
                resting.rotate_right(1);
                resting[0] = u8::from(uut.free_valid.next);
                if uut.free_valid.next {
                    let at = random.below(out.len() as u64 - 1) as usize;
                    uut.free.next = ((out.remove(at) - SHARED_RUNS) as u64).into();
                }
            },
        );
        assert!(seen.iter().all(|seen| *seen) && reused > 500, "{reused}");
    }
}
