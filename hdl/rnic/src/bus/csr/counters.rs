//! Counters: 61 pulse inputs, 32 bits each, in distributed RAM.
//!
//! ```text
//! counts[i] --> 7-bit tally i --+
//!                               +--(slot i's turn)--> + --> RAM[i] --> read_data
//!                 RAM[i] -------+
//! ```
//!
//! | latency    | a pulse is in the RAM within 68 cycles; a read takes 4 to 68           |
//! | throughput | every input may pulse in every cycle; one read at a time               |
//! | units      | pulses, modulo 2^32                                                    |
//!
//! Each of 64 slots has its turn every 64 cycles, so a tally never exceeds 64. A read is answered
//! at its slot's next turn with the count of everything up to that turn. Reset clears tallies, not
//! RAM.
use crate::common::lut_ram::LutRam;
use rnic_abi::counters::COUNT;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = assert!(COUNT == 61, "the port `counts` has one bit a counter");

/// Counter block.
#[derive(LogicBlock, Init)]
pub struct Counters {
    pub clock: Signal<In, Clock>,
    /// Synchronous; forgets what is not yet in the RAM.
    pub reset: Signal<In, Bit>,
    /// One bit a counter, in the order of `rnic_abi::counters`.
    pub counts: Signal<In, Bits<61>>,
    /// One cycle: read the counter `read_index`, which holds until `read_valid`.
    pub read: Signal<In, Bit>,
    /// Counter to read; beyond the last one the answer is 0.
    pub read_index: Signal<In, Bits<6>>,
    /// The count.
    pub read_data: Signal<Out, Bits<32>>,
    pub read_valid: Signal<Out, Bit>,
    memory: LutRam<Bits<32>, 6>,
    pulses: DFF<Bits<61>>,
    tallies: [DFF<Bits<7>>; COUNT],
    turn: DFF<Bits<6>>,
    // One bit a counter: it is its turn.
    turns: DFF<Bits<61>>,
    // Second stage: old count and tally of the slot.
    old: DFF<Bits<32>>,
    tally: DFF<Bits<7>>,
    slot: DFF<Bits<6>>,
    // Third stage: the sum, on its way into the RAM.
    sum: DFF<Bits<32>>,
    sum_slot: DFF<Bits<6>>,
    reading: DFF<Bit>,
    picked: Signal<Local, Bits<7>>,
    first_turn: Signal<Local, Bit>,
    #[constant(1)]
    one: Constant<Bits<6>>,
    #[constant(63)]
    last_slot: Constant<Bits<6>>,
}

impl Logic for Counters {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; pulses, turn, turns, old, tally, slot, sum, sum_slot, reading);
        self.memory.clock.next = self.clock.val();
        self.pulses.d.next = self.counts.val();
        self.turn.d.next = self.turn.q.val() + self.one.val();
        // The one-hot turn follows the number: bit i is high when `turn` is i.
        self.first_turn.next = self.turn.q.val() == self.last_slot.val();
        self.turns.d.next = (self.turns.q.val() << 1).replace_bit(0, self.first_turn.val());

        // At its turn a tally is taken and starts again with this cycle's pulse.
        self.picked.next = 0.into();
        for i in 0..COUNT {
            self.tallies[i].clock.next = self.clock.val();
            self.tallies[i].d.next = self.tallies[i].q.val();
            if self.turns.q.val().get_bit(i) {
                self.picked.next = self.picked.val() | self.tallies[i].q.val();
                self.tallies[i].d.next = 0.into();
                if self.pulses.q.val().get_bit(i) {
                    self.tallies[i].d.next = 1.into();
                }
            } else if self.pulses.q.val().get_bit(i) {
                self.tallies[i].d.next = self.tallies[i].q.val() + 1;
            }
            if self.reset.val() {
                self.tallies[i].d.next = 0.into();
            }
        }
        self.memory.read_address.next = self.turn.q.val();
        self.old.d.next = self.memory.read_data.val();
        self.tally.d.next = self.picked.val();
        self.slot.d.next = self.turn.q.val();
        self.sum.d.next = self.old.q.val() + bit_cast::<32, 7>(self.tally.q.val());
        self.sum_slot.d.next = self.slot.q.val();
        self.memory.write_address.next = self.sum_slot.q.val();
        self.memory.write_data.next = self.sum.q.val();
        // In reset the stages still hold what was before it, at power-up anything.
        self.memory.write_enable.next = !self.reset.val();

        self.read_data.next = self.sum.q.val();
        self.read_valid.next =
            self.reading.q.val() & (self.sum_slot.q.val() == self.read_index.val());
        if self.read_valid.val() {
            self.reading.d.next = false;
        }
        if self.read.val() {
            self.reading.d.next = true;
        }
        if self.reset.val() {
            self.pulses.d.next = 0.into();
            self.turn.d.next = 0.into();
            self.turns.d.next = 0.into();
            self.reading.d.next = false;
        }
    }
}
