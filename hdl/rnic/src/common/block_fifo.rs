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
use rust_hdl::prelude::*;

/// FIFO of `2^A` words of type `T` in block RAM; `F = A + 1`.
#[derive(LogicBlock)]
pub struct BlockFifo<T: Synth, const A: usize, const F: usize> {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; empties the FIFO.
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
    // Fetched words on their way, and places of the prefetch FIFO that nobody has claimed.
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
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            write_pointer,
            read_pointer,
            count,
            waits,
            is_full
        );
        dff_setup!(self, clock, is_almost_full, fetched_1, fetched_2, credits);
        self.memory.clock.next = self.clock.val();
        self.prefetched.clock.next = self.clock.val();
        self.prefetched.reset.next = self.reset.val();
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
        self.data_out.next = self.prefetched.data_out.val();
        self.empty.next = self.prefetched.empty.val();
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
mod tests {
    use super::*;
    use crate::testkit::{lockstep, settle, tick, Random};
    use std::collections::VecDeque;

    type Uut = BlockFifo<Bits<16>, 5, 6>;

    fn connected(free_words: usize) -> Uut {
        let mut uut = Uut::new(free_words);
        uut.connect_all();
        uut.reset.next = true;
        tick(&mut uut, |uut| &mut uut.clock);
        uut.reset.next = false;
        settle(&mut uut);
        uut
    }

    /// Moves counted words with the given odds; the writer stops at `almost_full`, as those do
    /// that have words on their way, and sends as many more as it said it might.
    fn walk(free_words: usize, write_of_8: u64, read_of_8: u64) {
        let mut random = Random::from_environment();
        let mut uut = connected(free_words);
        let mut model = VecDeque::new();
        let (mut written, mut taken, mut on_the_way) = (0u64, 0, 0);
        for cycle in 0..6000 {
            on_the_way = if uut.almost_full.val() {
                on_the_way + 1
            } else {
                0
            };
            let write = random.chance(write_of_8, 8) && on_the_way <= free_words;
            let read = random.chance(read_of_8, 8);
            uut.write.next = write;
            uut.data_in.next = (written & 0xffff).into();
            uut.read.next = read;
            settle(&mut uut);
            assert!(
                !(write && uut.full.val()),
                "cycle {cycle}: a word is lost, {random}"
            );
            if !uut.empty.val() {
                let head = *model.front().expect("a word that was written");
                assert_eq!(uut.data_out.val(), head, "cycle {cycle}, {random}");
                if read {
                    model.pop_front();
                    taken += 1;
                }
            }
            if write {
                model.push_back(written & 0xffff);
                written += 1;
            }
            tick(&mut uut, |uut| &mut uut.clock);
        }
        assert!(taken > 500, "only {taken} words moved, {random}");
    }

    #[test]
    fn keeps_order_and_count_under_every_mix_of_stalls() {
        for free_words in [1, 4, 12] {
            for (write, read) in [(8, 8), (8, 3), (3, 8), (5, 5)] {
                walk(free_words, write, read);
            }
        }
    }

    #[test]
    fn the_first_word_falls_through_in_four_cycles_and_then_one_moves_per_cycle() {
        let mut uut = connected(1);
        uut.write.next = true;
        uut.read.next = true;
        for cycle in 0..100u64 {
            uut.data_in.next = cycle.into();
            tick(&mut uut, |uut| &mut uut.clock);
            assert_eq!(uut.empty.val(), cycle < 3, "after cycle {cycle}");
            if cycle >= 3 {
                assert_eq!(uut.data_out.val(), cycle - 3);
            }
        }
    }

    #[test]
    fn holds_its_depth_and_refuses_more() {
        let mut uut = connected(3);
        uut.write.next = true;
        let mut accepted = 0;
        for cycle in 0..60u64 {
            uut.data_in.next = cycle.into();
            settle(&mut uut);
            accepted += u32::from(!uut.full.val());
            assert!(!uut.full.val() || uut.almost_full.val());
            tick(&mut uut, |uut| &mut uut.clock);
        }
        assert_eq!(accepted, 32 + 8);
    }

    #[test]
    fn lockstep_with_verilog() {
        lockstep(
            "block_fifo",
            Uut::new(4),
            4000,
            |uut| &mut uut.clock,
            |uut, random| {
                uut.reset.next = random.chance(1, 300);
                uut.write.next = random.chance(5, 8);
                uut.data_in.next = random.wide();
                uut.read.next = random.chance(1, 2);
            },
        );
    }

    #[test]
    #[should_panic(expected = "F = 4 must be A + 1 = 6")]
    fn refuses_a_count_that_cannot_hold_the_depth() {
        let _ = BlockFifo::<Bits<8>, 5, 4>::new(1);
    }
}
