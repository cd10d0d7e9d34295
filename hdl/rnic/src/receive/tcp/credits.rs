//! Credits: how many things may still be taken that MPA gives out, and gets back.
//!
//! | latency    | 1 cycle, `take` and `give` to `available`, a register                       |
//! | throughput | one taken and one given back per cycle                                      |
//! | units      | credits, 2^A of them                                                        |
//!
//! MPA keeps a key for each run of new octets of which another of the same frame follows, until it
//! is done with it, and a span for each that lies beyond a gap and follows no other. The credit
//! makes sure that it has one. A credit given back that was never taken is ignored.
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Counts the credits that are out; `F = A + 1`.
#[derive(LogicBlock, Init)]
#[init(
    assert!(F == A + 1, "Credits: F = {F} must be A + 1 with A = {A}");
)]
pub struct Credits<const A: usize, const F: usize> {
    pub clock: Signal<In, Clock>,
    /// Synchronous; no credit is out.
    pub reset: Signal<In, Bit>,
    /// A credit is left.
    pub available: Signal<Out, Bit>,
    /// Takes one; only while `available`.
    pub take: Signal<In, Bit>,
    /// Gives one back.
    pub give: Signal<In, Bit>,
    /// Credits that are out.
    pub used: Signal<Out, Bits<F>>,
    out: DFF<Bits<F>>,
    out_now: Signal<Local, Bits<F>>,
    #[constant(1)]
    one: Constant<Bits<F>>,
}

impl<const A: usize, const F: usize> Logic for Credits<A, F> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; out);
        self.out_now.next = self.out.q.val();
        self.used.next = self.out.q.val();
        // Bit A; an index is a loop's variable or a literal.
        for top in A..(A + 1) {
            self.available.next = !self.out_now.val().get_bit(top);
        }
        if self.take.val() {
            if !self.give.val() {
                self.out.d.next = self.out.q.val() + self.one.val();
            }
        } else if self.give.val() & self.out_now.val().any() {
            self.out.d.next = self.out.q.val() - self.one.val();
        }
        if self.reset.val() {
            self.out.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
