//! Access hold: keeps the next access of BAR0 waiting while what an access has started is under
//! way, so that its effect precedes everything that comes after it.
//!
//! ```text
//! register_write to TABLE_COMMAND, POST --> [ 5 cycles ] --+
//! table_short ---------------------------------------------+--> register_hold
//! post_busy ---------------------------------> [ register ]+
//! ```
//!
//! | latency    | 1 cycle, `register_write` to `register_hold`; from `post_busy` falling 1      |
//! | throughput | one access at a time                                                          |
//! | units      | cycles                                                                        |
//! | source     | `rnic_abi::registers`; PCI Express Base Specification, section 2.4.1          |
//!
//! A write reaches the table engine after 3 cycles and the posting port after 4: until then the
//! hold is its own. After that it is theirs. Both finish in a bounded number of cycles, whatever
//! becomes of the TLPs that the device sends: a posted request may wait for that, and for nothing
//! that the host takes.
use rnic_abi::registers as map;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Keeps accesses of BAR0 waiting; see the head of this file.
#[derive(LogicBlock, Init)]
pub struct AccessHold {
    pub clock: Signal<In, Clock>,
    /// Synchronous: no access is held any more.
    pub reset: Signal<In, Bit>,
    /// The register bus.
    pub register_address: Signal<In, Bits<10>>,
    pub register_write: Signal<In, Bit>,
    /// A short table operation runs.
    pub table_short: Signal<In, Bit>,
    /// The posting port has a post that is not done.
    pub post_busy: Signal<In, Bit>,
    /// The next access waits.
    pub register_hold: Signal<Out, Bit>,
    // Cycles left until what was written shows in `table_short` or `posts`.
    settling: DFF<Bits<3>>,
    posts: DFF<Bit>,
    starts: Signal<Local, Bit>,
    #[constant(LiteralType::from(map::TABLE_COMMAND / 4))]
    table_command: Constant<Bits<10>>,
    #[constant(LiteralType::from(map::POST / 4))]
    post: Constant<Bits<10>>,
    #[constant(1)]
    one: Constant<Bits<3>>,
    // The posting port is busy in the fourth cycle after the write, and `posts` in the fifth.
    #[constant(5)]
    settle_cycles: Constant<Bits<3>>,
}

impl Logic for AccessHold {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; settling, posts);
        self.starts.next = self.register_write.val()
            & ((self.register_address.val() == self.table_command.val())
                | (self.register_address.val() == self.post.val()));
        if self.settling.q.val().any() {
            self.settling.d.next = self.settling.q.val() - self.one.val();
        }
        if self.starts.val() {
            self.settling.d.next = self.settle_cycles.val();
        }
        self.posts.d.next = self.post_busy.val();
        self.register_hold.next =
            self.settling.q.val().any() | self.posts.q.val() | self.table_short.val();
        if self.reset.val() {
            self.settling.d.next = 0.into();
            self.posts.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rnic_hdl_tools::testkit::{lockstep, simulate, Simulation};

    fn connected() -> Simulation<AccessHold> {
        let mut uut = simulate!(AccessHold::default());
        uut.pulse(|uut| &mut uut.reset);
        uut
    }

    /// Cycles in which an access waits after a write of `offset`, if what it starts is busy in the
    /// cycles of `busy`, counted from the write on.
    fn held(offset: u32, busy: std::ops::Range<usize>, table: bool) -> usize {
        let mut uut = connected();
        uut.register_address.next = u64::from(offset / 4).into();
        uut.register_write.next = true;
        uut.settle();
        assert!(!uut.register_hold.val(), "the access itself is not held");
        uut.tick();
        uut.register_write.next = false;
        let mut cycles = 0;
        for cycle in 1..30 {
            uut.table_short.next = table && busy.contains(&cycle);
            uut.post_busy.next = !table && busy.contains(&cycle);
            uut.settle();
            if !uut.register_hold.val() {
                assert!(cycle >= busy.end, "let go in cycle {cycle} of {busy:?}");
                break;
            }
            cycles += 1;
            uut.tick();
        }
        cycles
    }

    #[test]
    fn an_access_waits_for_what_the_one_before_has_started() {
        // The engine shows an operation after 3 cycles, the port a post after 4.
        assert_eq!(held(map::TABLE_COMMAND, 3..20, true), 19);
        assert_eq!(held(map::POST, 4..20, false), 20);
        // What is not started is not waited for.
        assert_eq!(held(map::TABLE_COMMAND, 0..0, true), 5);
        assert_eq!(held(map::POST, 0..0, false), 5);
    }

    #[test]
    fn no_other_register_holds_an_access() {
        for offset in (0..map::BAR0_OCTETS as u32).step_by(4) {
            if offset != map::TABLE_COMMAND && offset != map::POST {
                assert_eq!(held(offset, 0..0, true), 0, "{offset:#x}");
            }
        }
    }

    #[test]
    fn a_reset_lets_go() {
        let mut uut = connected();
        uut.register_address.next = u64::from(map::POST / 4).into();
        uut.pulse(|uut| &mut uut.register_write);
        uut.post_busy.next = true;
        uut.ticks(10);
        uut.settle();
        assert!(uut.register_hold.val());
        uut.post_busy.next = false;
        uut.pulse(|uut| &mut uut.reset);
        uut.settle();
        assert!(!uut.register_hold.val());
    }

    #[test]
    fn rust_and_verilog_agree() {
        lockstep!("access_hold", AccessHold::default(), 2000, |uut, random| {
            uut.reset.next = random.chance(1, 100);
            uut.register_write.next = random.chance(1, 4);
            let offset = [map::TABLE_COMMAND, map::POST, map::POST_0][random.below(3) as usize];
            uut.register_address.next = u64::from(offset / 4).into();
            uut.table_short.next = random.chance(1, 8);
            uut.post_busy.next = random.chance(1, 8);
        });
    }
}
