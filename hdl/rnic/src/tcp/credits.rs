//! Key credits: how many runs of new octets may still be sent of which another of the same frame
//! follows.
//!
//! | latency    | 1 cycle, `take` and `give` to `available`, a register                       |
//! | throughput | one taken and one given back per cycle                                      |
//! | units      | credits, `rnic_abi::limits::SHARED_RUNS` of them                            |
//!
//! MPA keeps a key for each such run until it is done with it; the credit makes sure that it has
//! one. A credit given back that was never taken is ignored.
use rnic_abi::limits::SHARED_RUNS;
use rust_hdl::prelude::*;

const _: () = assert!(
    SHARED_RUNS == 64,
    "bit 6 of the count says that all are taken"
);

/// Counts the credits that are out.
#[derive(LogicBlock)]
pub struct KeyCredits {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; no credit is out.
    pub reset: Signal<In, Bit>,
    /// A credit is left.
    pub available: Signal<Out, Bit>,
    /// Takes one; only while `available`.
    pub take: Signal<In, Bit>,
    /// Gives one back.
    pub give: Signal<In, Bit>,
    out: DFF<Bits<7>>,
    out_now: Signal<Local, Bits<7>>,
    one: Constant<Bits<7>>,
}

impl Default for KeyCredits {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            available: Default::default(),
            take: Default::default(),
            give: Default::default(),
            out: Default::default(),
            out_now: Default::default(),
            one: Constant::new(1u64.into()),
        }
    }
}

impl Logic for KeyCredits {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, out);
        self.out_now.next = self.out.q.val();
        self.available.next = !self.out_now.val().get_bit(6);
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
mod tests {
    use super::*;
    use crate::testkit::lockstep;

    #[test]
    fn a_credit_is_available_until_sixty_four_are_out() {
        let (mut cycle, mut out, mut all_out) = (0, 0, 0);
        lockstep(
            "key_credits",
            KeyCredits::default(),
            4_000,
            |uut| &mut uut.clock,
            |uut, random| {
                assert_eq!(uut.available.val(), out < SHARED_RUNS, "{random}");
                all_out += usize::from(out == SHARED_RUNS);
                let taking = (cycle / 200) % 2 == 0;
                uut.reset.next = cycle == 2_111;
                uut.take.next = uut.available.val() && random.chance(if taking { 7 } else { 2 }, 8);
                // Also one that was never taken.
                uut.give.next = random.chance(if taking { 2 } else { 6 }, 8);
                let given = usize::from(uut.give.next);
                out = if uut.take.next {
                    out + 1 - given
                } else {
                    out - given.min(out)
                };
                if uut.reset.next {
                    out = 0;
                }
                cycle += 1;
            },
        );
        assert!(all_out > 100, "{all_out}");
    }
}
