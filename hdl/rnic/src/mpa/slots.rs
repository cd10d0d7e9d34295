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
