//! First-word fall-through FIFO in distributed RAM with a registered output.
//!
//! ```text
//! write, data_in -+-> [ LutRam, 2^A words ] -+-> [ output register ] --> data_out, empty
//!                 +----- nothing waits ------+
//! ```
//!
//! | latency    | 1 cycle from `write` into an empty FIFO to `empty` low                |
//! | throughput | one write and one read per cycle                                      |
//! | units      | `fill`, `almost_full` count words; the output register is one of them |
//! | depth      | `2^A` words in all                                                    |
//!
//! ECP5-5G -8, 140 bits, out of context, before ADR 34: 16 words 334 MHz (30 LUT4, 35 DPR16X4, 156
//! registers), 64 words 269 MHz (455 LUT4, 140 DPR16X4): past 32 words look at a block RAM first.
//!
//! `data_out`, `empty`, `full`, `almost_full` and `fill` come from registers: a consumer has the
//! whole cycle. `data_out` is valid while `empty` is low and stays until `read` is high at a
//! clock edge. A `write` while `full` and a `read` while `empty` are ignored: nothing is lost or
//! duplicated but the refused word, which the writer must hold.
use super::lut_ram::LutRam;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// FIFO of `2^A` words of type `T`; `F` is the width of `fill` and must be `A + 1`.
#[derive(LogicBlock)]
pub struct Fifo<T: Synth, const A: usize, const F: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Stores `data_in` at the clock edge unless `full`.
    pub write: Signal<In, Bit>,
    /// The word to store.
    pub data_in: Signal<In, T>,
    /// No word is accepted in this cycle.
    pub full: Signal<Out, Bit>,
    /// At most the constructor's number of places is free.
    pub almost_full: Signal<Out, Bit>,
    /// Takes `data_out` at the clock edge unless `empty`.
    pub read: Signal<In, Bit>,
    /// The oldest word, valid while `empty` is low.
    pub data_out: Signal<Out, T>,
    /// `data_out` holds no word.
    pub empty: Signal<Out, Bit>,
    /// Number of words inside, 0..=2^A.
    pub fill: Signal<Out, Bits<F>>,
    memory: LutRam<T, A>,
    write_pointer: DFF<Bits<A>>,
    read_pointer: DFF<Bits<A>>,
    count: DFF<Bits<F>>,
    is_full: DFF<Bit>,
    is_almost_full: DFF<Bit>,
    head: DFF<T>,
    head_valid: DFF<Bit>,
    push: Signal<Local, Bit>,
    pop: Signal<Local, Bit>,
    // A word waits in the memory; a register, as every bit of the output register depends on it.
    waits: DFF<Bit>,
    // It is the only one.
    one_waits: Signal<Local, Bit>,
    // The output register takes a word in this cycle, if there is one.
    makes_room: Signal<Local, Bit>,
    // The memory moves a word to the output register.
    load: Signal<Local, Bit>,
    // The written word enters the output register at once.
    bypass: Signal<Local, Bit>,
    // The written word waits in the memory.
    stores: Signal<Local, Bit>,
    one_address: Constant<Bits<A>>,
    one: Constant<Bits<F>>,
    last_place: Constant<Bits<F>>,
    // Fill at which `almost_full` is high, and its neighbours.
    threshold: Constant<Bits<F>>,
    below_threshold: Constant<Bits<F>>,
    above_threshold: Constant<Bits<F>>,
}

impl<T: Synth, const A: usize, const F: usize> Fifo<T, A, F> {
    /// A FIFO whose `almost_full` is high while at most `almost_full_free_words` places are free.
    ///
    /// # Panics
    /// When `F != A + 1`, or the number of places is not within `1..2^A`.
    pub fn new(almost_full_free_words: usize) -> Self {
        let depth = 1usize << A;
        assert!(F == A + 1, "Fifo: F = {F} must be A + 1 = {}", A + 1);
        assert!(
            (1..depth).contains(&almost_full_free_words),
            "Fifo: {almost_full_free_words} free words for almost_full is outside 1..{depth}"
        );
        let threshold = (depth - almost_full_free_words) as LiteralType;
        Self {
            clock: Default::default(),
            reset: Default::default(),
            write: Default::default(),
            data_in: Default::default(),
            full: Default::default(),
            almost_full: Default::default(),
            read: Default::default(),
            data_out: Default::default(),
            empty: Default::default(),
            fill: Default::default(),
            memory: Default::default(),
            write_pointer: Default::default(),
            read_pointer: Default::default(),
            count: Default::default(),
            is_full: Default::default(),
            is_almost_full: Default::default(),
            head: Default::default(),
            head_valid: Default::default(),
            push: Default::default(),
            pop: Default::default(),
            waits: Default::default(),
            one_waits: Default::default(),
            makes_room: Default::default(),
            load: Default::default(),
            bypass: Default::default(),
            stores: Default::default(),
            one_address: Constant::new(1u64.into()),
            one: Constant::new(1u64.into()),
            last_place: Constant::new((depth as LiteralType - 1).into()),
            threshold: Constant::new(threshold.into()),
            below_threshold: Constant::new((threshold - 1).into()),
            above_threshold: Constant::new((threshold + 1).into()),
        }
    }
}

impl<T: Synth, const A: usize, const F: usize> Default for Fifo<T, A, F> {
    /// `almost_full` one word before `full`.
    fn default() -> Self {
        Self::new(1)
    }
}

impl<T: Synth, const A: usize, const F: usize> Logic for Fifo<T, A, F> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; write_pointer, read_pointer, count, is_full, is_almost_full);
        registers!(clock; head, head_valid, waits);
        self.memory.clock.next = self.clock.val();
        self.full.next = self.is_full.q.val();
        self.almost_full.next = self.is_almost_full.q.val();
        self.empty.next = !self.head_valid.q.val();
        self.data_out.next = self.head.q.val();
        self.fill.next = self.count.q.val();

        self.push.next = self.write.val() & !self.is_full.q.val();
        self.pop.next = self.read.val() & self.head_valid.q.val();
        // The memory never holds 2^A words, as one word is always in the output register before
        // another waits; so the place at the write pointer is always free. It is written in every
        // cycle: a word that waits there is the last one written before the pointer moved on, and
        // `write`, which comes late, need not reach each cell of a wide memory.
        self.one_waits.next =
            self.read_pointer.q.val() + self.one_address.val() == self.write_pointer.q.val();
        self.makes_room.next = !self.head_valid.q.val() | self.read.val();
        self.load.next = self.waits.q.val() & self.makes_room.val();
        self.bypass.next = self.push.val() & !self.waits.q.val() & self.makes_room.val();
        self.stores.next = self.push.val() & (self.waits.q.val() | !self.makes_room.val());

        self.memory.write_enable.next = true;
        self.memory.write_address.next = self.write_pointer.q.val();
        self.memory.write_data.next = self.data_in.val();
        self.memory.read_address.next = self.read_pointer.q.val();
        if self.load.val() {
            self.read_pointer.d.next = self.read_pointer.q.val() + self.one_address.val();
        }
        if self.stores.val() {
            self.write_pointer.d.next = self.write_pointer.q.val() + self.one_address.val();
        }
        // Written out, so that `write`, which comes late, passes one gate.
        self.waits.d.next = self.stores.val()
            | (self.waits.q.val() & !(self.makes_room.val() & self.one_waits.val()));
        // Without a word to wait for, the register follows the input; `head_valid` qualifies it.
        if self.makes_room.val() {
            self.head.d.next = self.data_in.val();
            if self.waits.q.val() {
                self.head.d.next = self.memory.read_data.val();
            }
        }
        self.head_valid.d.next =
            self.load.val() | self.bypass.val() | (self.head_valid.q.val() & !self.read.val());

        // The compares use the registered count; the late inputs only select.
        if self.push.val() & !self.pop.val() {
            self.count.d.next = self.count.q.val() + self.one.val();
            self.is_full.d.next = self.count.q.val() == self.last_place.val();
            self.is_almost_full.d.next = self.count.q.val() >= self.below_threshold.val();
        }
        if self.pop.val() & !self.push.val() {
            self.count.d.next = self.count.q.val() - self.one.val();
            self.is_full.d.next = false;
            self.is_almost_full.d.next = self.count.q.val() >= self.above_threshold.val();
        }
        if self.push.val() & self.pop.val() {
            self.is_almost_full.d.next = self.count.q.val() >= self.threshold.val();
        }
        if self.reset.val() {
            self.write_pointer.d.next = 0.into();
            self.read_pointer.d.next = 0.into();
            self.count.d.next = 0.into();
            self.is_full.d.next = false;
            self.is_almost_full.d.next = false;
            self.head_valid.d.next = false;
            self.waits.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
