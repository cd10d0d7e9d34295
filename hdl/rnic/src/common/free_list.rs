//! Free list of a shared pool of 2^A numbers.
//!
//! ```text
//! never used: 0, 1, 2, ... --+--> number, available --> (take)
//! given --> [ FIFO, 2^A ] ---+
//! ```
//!
//! | latency    | 5 cycles, `give` to `available`; 1 cycle, `take` to the next number         |
//! | throughput | one taken and one given back per cycle                                      |
//! | units      | numbers, 0 to 2^A - 1                                                       |
//!
//! Numbers never used come first, then returned ones in the order of their return. The block needs
//! one reset; after it all numbers are free.
use super::block_fifo::BlockFifo;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Allocates numbers of `A` bits, each once until it is returned; `F = A + 1`.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        F == A + 1,
        "FreeList: F = {F} must be A + 1 with A = {A}"
    );
)]
pub struct FreeList<const A: usize, const F: usize> {
    pub clock: Signal<In, Clock>,
    /// Synchronous; all numbers are free.
    pub reset: Signal<In, Bit>,
    /// `number` is free.
    pub available: Signal<Out, Bit>,
    /// The number to be taken next; from registers.
    pub number: Signal<Out, Bits<A>>,
    /// Takes `number`; only while `available`.
    pub take: Signal<In, Bit>,
    /// Returns `given`.
    pub give: Signal<In, Bit>,
    /// A number that was taken.
    pub given: Signal<In, Bits<A>>,
    /// Numbers that are not free.
    pub used: Signal<Out, Bits<F>>,
    #[init(BlockFifo::new(1))]
    used_before: BlockFifo<Bits<A>, A, F>,
    // The next number never used; 2^A: there is none.
    fresh: DFF<Bits<F>>,
    out: DFF<Bits<F>>,
    fresh_now: Signal<Local, Bits<F>>,
    exhausted: Signal<Local, Bit>,
    #[constant(1)]
    one: Constant<Bits<F>>,
}

impl<const A: usize, const F: usize> Logic for FreeList<A, F> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; fresh, out);
        wire!(self => self.used_before; clock, reset, give as write, given as data_in);
        self.used_before.read.next = false;
        self.fresh_now.next = self.fresh.q.val();
        self.available.next = true;
        self.number.next = self.fresh_now.val().get_bits::<A>(0);
        // Bit A; an index is a loop's variable or a literal.
        for top in A..(A + 1) {
            self.exhausted.next = self.fresh_now.val().get_bit(top);
        }
        if self.exhausted.val() {
            self.available.next = !self.used_before.empty.val();
            self.number.next = self.used_before.data_out.val();
            self.used_before.read.next = self.take.val();
        } else if self.take.val() {
            self.fresh.d.next = self.fresh.q.val() + self.one.val();
        }
        self.used.next = self.out.q.val();
        if self.take.val() & !self.give.val() {
            self.out.d.next = self.out.q.val() + self.one.val();
        } else if self.give.val() & !self.take.val() {
            self.out.d.next = self.out.q.val() - self.one.val();
        }
        if self.reset.val() {
            self.fresh.d.next = 0.into();
            self.out.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
