//! First-word fall-through FIFO in block RAM.
//!
//! ```text
//! write, data_in --> [ SdpRam, 2^A words ] --> [ Fifo, 8 words ] --> data_out, empty
//!                          2 cycles               prefetched
//! ```
//!
//! | latency    | 4 cycles from `write` into an empty FIFO to `empty` low                     |
//! | throughput | one write and one read per cycle                                            |
//! | units      | words of `T`; `almost_full` counts the free places of the RAM               |
//! | depth      | `2^A` words in the RAM, and up to 8 that were prefetched                    |
//!
//! `data_out`, `empty`, `full` and `almost_full` come from registers. `data_out` is valid while
//! `empty` is low and stays until `read` is high at a clock edge. A `write` while `full` and a
//! `read` while `empty` are ignored.
use super::fifo::Fifo;
use super::ram::SdpRam;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// FIFO of `2^A` words of type `T` in block RAM; `F = A + 1`.
#[derive(LogicBlock)]
pub struct BlockFifo<T: Synth, const A: usize, const F: usize> {
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
    memory: SdpRam<T, A>,
    prefetched: Fifo<T, 3, 4>,
    write_pointer: DFF<Bits<A>>,
    read_pointer: DFF<Bits<A>>,
    // Words in the RAM that were not fetched yet.
    count: DFF<Bits<F>>,
    waits: DFF<Bit>,
    is_full: DFF<Bit>,
    is_almost_full: DFF<Bit>,
    // Fetched words in flight, and unclaimed places of the prefetch FIFO.
    fetched_1: DFF<Bit>,
    fetched_2: DFF<Bit>,
    credits: DFF<Bits<4>>,
    push: Signal<Local, Bit>,
    fetch: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    one_address: Constant<Bits<A>>,
    one: Constant<Bits<F>>,
    one_credit: Constant<Bits<4>>,
    all_credits: Constant<Bits<4>>,
    last_place: Constant<Bits<F>>,
    threshold: Constant<Bits<F>>,
    below_threshold: Constant<Bits<F>>,
    above_threshold: Constant<Bits<F>>,
}

impl<T: Synth, const A: usize, const F: usize> BlockFifo<T, A, F> {
    /// A FIFO whose `almost_full` is high while at most `almost_full_free_words` places are free.
    ///
    /// # Panics
    /// When `F != A + 1`, or the number of places is not within `1..2^A`.
    pub fn new(almost_full_free_words: usize) -> Self {
        let depth = 1usize << A;
        assert!(F == A + 1, "BlockFifo: F = {F} must be A + 1 = {}", A + 1);
        assert!(
            (1..depth).contains(&almost_full_free_words),
            "BlockFifo: {almost_full_free_words} free words for almost_full is outside 1..{depth}"
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
            memory: Default::default(),
            prefetched: Default::default(),
            write_pointer: Default::default(),
            read_pointer: Default::default(),
            count: Default::default(),
            waits: Default::default(),
            is_full: Default::default(),
            is_almost_full: Default::default(),
            fetched_1: Default::default(),
            fetched_2: Default::default(),
            credits: Default::default(),
            push: Default::default(),
            fetch: Default::default(),
            taken: Default::default(),
            one_address: Constant::new(1u64.into()),
            one: Constant::new(1u64.into()),
            one_credit: Constant::new(1u64.into()),
            all_credits: Constant::new(8u64.into()),
            last_place: Constant::new((depth as LiteralType - 1).into()),
            threshold: Constant::new(threshold.into()),
            below_threshold: Constant::new((threshold - 1).into()),
            above_threshold: Constant::new((threshold + 1).into()),
        }
    }
}

impl<T: Synth, const A: usize, const F: usize> Default for BlockFifo<T, A, F> {
    /// `almost_full` one word before `full`.
    fn default() -> Self {
        Self::new(1)
    }
}

impl<T: Synth, const A: usize, const F: usize> Logic for BlockFifo<T, A, F> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; write_pointer, read_pointer, count, waits, is_full);
        registers!(clock; is_almost_full, fetched_1, fetched_2, credits);
        self.memory.clock.next = self.clock.val();
        wire!(self => self.prefetched; clock, reset);
        self.full.next = self.is_full.q.val();
        self.almost_full.next = self.is_almost_full.q.val();

        self.push.next = self.write.val() & !self.is_full.q.val();
        // A counted word was written in an earlier cycle: no read meets its own write.
        self.fetch.next = self.waits.q.val() & self.credits.q.val().any();
        self.memory.write_enable.next = self.push.val();
        self.memory.write_address.next = self.write_pointer.q.val();
        self.memory.write_data.next = self.data_in.val();
        self.memory.read_address.next = self.read_pointer.q.val();
        if self.push.val() {
            self.write_pointer.d.next = self.write_pointer.q.val() + self.one_address.val();
        }
        if self.fetch.val() {
            self.read_pointer.d.next = self.read_pointer.q.val() + self.one_address.val();
        }
        if self.push.val() & !self.fetch.val() {
            self.count.d.next = self.count.q.val() + self.one.val();
            self.waits.d.next = true;
            self.is_full.d.next = self.count.q.val() == self.last_place.val();
            self.is_almost_full.d.next = self.count.q.val() >= self.below_threshold.val();
        }
        if self.fetch.val() & !self.push.val() {
            self.count.d.next = self.count.q.val() - self.one.val();
            self.waits.d.next = self.count.q.val() != self.one.val();
            self.is_full.d.next = false;
            self.is_almost_full.d.next = self.count.q.val() >= self.above_threshold.val();
        }
        if self.fetch.val() & self.push.val() {
            self.is_almost_full.d.next = self.count.q.val() >= self.threshold.val();
        }

        // Fetched words arrive two cycles later in a place that was claimed for them.
        self.fetched_1.d.next = self.fetch.val();
        self.fetched_2.d.next = self.fetched_1.q.val();
        self.prefetched.write.next = self.fetched_2.q.val();
        self.prefetched.data_in.next = self.memory.read_data.val();
        self.prefetched.read.next = self.read.val();
        wire!(self.prefetched => self; data_out, empty);
        self.taken.next = self.read.val() & !self.prefetched.empty.val();
        if self.fetch.val() & !self.taken.val() {
            self.credits.d.next = self.credits.q.val() - self.one_credit.val();
        }
        if self.taken.val() & !self.fetch.val() {
            self.credits.d.next = self.credits.q.val() + self.one_credit.val();
        }
        if self.reset.val() {
            self.write_pointer.d.next = 0.into();
            self.read_pointer.d.next = 0.into();
            self.count.d.next = 0.into();
            self.waits.d.next = false;
            self.is_full.d.next = false;
            self.is_almost_full.d.next = false;
            self.fetched_1.d.next = false;
            self.fetched_2.d.next = false;
            self.credits.d.next = self.all_credits.val();
        }
    }
}

#[cfg(test)]
mod tests;
