//! Free slots of the frame tables, for frames that hold several runs of accepted octets.
//!
//! ```text
//! free ------> [ freed (FIFO)           ] --+
//!              [ never used: counts up  ] --+--> slot
//! ```
//!
//! | enters     | slots that are free again                                                   |
//! | leaves     | a free slot, 512 to 575                                                     |
//! | latency    | 1 cycle from `free_valid` to `slot`, if there was no other                  |
//! | throughput | one slot per cycle each way                                                 |
//! | units      | slots                                                                       |
//!
//! TCP holds a credit for each slot, so one is free whenever `take` comes.
use crate::common::fifo::Fifo;
use rnic_abi::limits::SHARED_RUNS;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Slots not in use.
#[derive(LogicBlock, Init)]
#[init(
    const {
        assert!(
            SHARED_RUNS == 64,
            "bit 6 of `unused` says that none is left"
        )
    }
)]
pub struct FreeSlots {
    pub clock: Signal<In, Clock>,
    /// Synchronous; every slot is free.
    pub reset: Signal<In, Bit>,
    /// A free slot.
    pub slot: Signal<Out, Bits<10>>,
    /// It is taken.
    pub take: Signal<In, Bit>,
    /// Lower bits of a slot that is free again.
    pub free: Signal<In, Bits<6>>,
    pub free_valid: Signal<In, Bit>,
    freed: Fifo<Bits<6>, 6, 7>,
    // Slots that were never used begin here; when there is none left, its highest bit is set.
    unused: DFF<Bits<7>>,
    number: Signal<Local, Bits<6>>,
    exhausted: Signal<Local, Bit>,
    #[constant(1)]
    one: Constant<Bits<7>>,
    #[constant(512)]
    upper_half: Constant<Bits<10>>,
}

impl Logic for FreeSlots {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; unused);
        wire!(self => self.freed; clock, reset, free as data_in, free_valid as write);
        self.exhausted.next = self.unused.q.val().get_bit(6);
        self.freed.read.next = self.take.val() & self.exhausted.val();
        self.number.next = self.unused.q.val().get_bits::<6>(0);
        if self.exhausted.val() {
            self.number.next = self.freed.data_out.val();
        }
        self.slot.next = self.upper_half.val() | bit_cast::<10, 6>(self.number.val());
        if self.take.val() & !self.exhausted.val() {
            self.unused.d.next = self.unused.q.val() + self.one.val();
        }
        if self.reset.val() {
            self.unused.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
