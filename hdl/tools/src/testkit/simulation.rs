//! A block under direct simulation, with its clock, its cycle and the seed of its stimulus.
use super::{connected, edge, settle_changes, Random};
use rust_hdl::prelude::*;
use std::fmt::Debug;
use std::ops::{Deref, DerefMut};

/// A connected block and its clock; dereferences to the block.
///
/// A panic during its lifetime prints the cycle, as [`Random`] prints the seed: assertion messages
/// need neither.
pub struct Simulation<B: Block> {
    block: B,
    clock: fn(&mut B) -> &mut Signal<In, Clock>,
    cycle: u64,
    /// The stimulus.
    pub random: Random,
}

/// A [`Simulation`] of a block whose clock is its port `clock`.
#[macro_export]
macro_rules! simulate {
    ($block:expr) => {
        $crate::testkit::Simulation::new($block, |block| &mut block.clock)
    };
}

impl<B: Block> Simulation<B> {
    /// Connects `block` and lets it settle.
    pub fn new(block: B, clock: fn(&mut B) -> &mut Signal<In, Clock>) -> Self {
        Self {
            block: connected(block),
            clock,
            cycle: 0,
            random: Random::from_environment(),
        }
    }

    /// Cycles so far.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Lets every combinational path settle after inputs were set.
    pub fn settle(&mut self) {
        settle_changes(&mut self.block);
    }

    /// One clock cycle with the inputs as they are; outputs are then those of the next cycle.
    pub fn tick(&mut self) {
        self.settle();
        edge(&mut self.block, self.clock);
        self.cycle += 1;
    }

    /// One clock cycle in which the input that `port` names is high; it is low before and after.
    pub fn pulse(&mut self, port: impl Fn(&mut B) -> &mut Signal<In, Bit>) {
        port(&mut self.block).next = true;
        self.tick();
        port(&mut self.block).next = false;
    }

    /// `cycles` clock cycles.
    pub fn ticks(&mut self, cycles: usize) {
        (0..cycles).for_each(|_| self.tick());
    }

    /// Runs until `step`, which sets the inputs of a cycle, returns nothing outstanding.
    ///
    /// Returns the cycles it took; the last call of `step` has no clock edge after it.
    ///
    /// # Panics
    /// After `limit` cycles, with what `step` says is outstanding.
    pub fn run_until<O: Debug>(
        &mut self,
        limit: u64,
        mut step: impl FnMut(&mut B, &mut Random) -> Option<O>,
    ) -> u64 {
        let start = self.cycle;
        while let Some(outstanding) = step(&mut self.block, &mut self.random) {
            assert!(
                self.cycle - start < limit,
                "{}: after {limit} cycles outstanding: {outstanding:?}",
                block_name::<B>(),
            );
            self.tick();
        }
        self.cycle - start
    }

    /// Waits, with the inputs as they are, for `condition`; returns the cycles it took.
    ///
    /// # Panics
    /// When the condition does not hold after `limit` cycles.
    pub fn wait_for(&mut self, limit: u64, condition: impl Fn(&B) -> bool) -> u64 {
        self.run_until(limit, |block, _| {
            (!condition(block)).then_some("the condition")
        })
    }
}

/// The type's name without its path and parameters.
fn block_name<B>() -> &'static str {
    let path = std::any::type_name::<B>().split('<').next();
    path.and_then(|path| path.rsplit("::").next())
        .unwrap_or("block")
}

impl<B: Block> Deref for Simulation<B> {
    type Target = B;

    fn deref(&self) -> &B {
        &self.block
    }
}

impl<B: Block> DerefMut for Simulation<B> {
    fn deref_mut(&mut self) -> &mut B {
        &mut self.block
    }
}

impl<B: Block> Drop for Simulation<B> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{}: in cycle {}", block_name::<B>(), self.cycle);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testkit::random::tests::output_of;
    use rnic_macros::kernel;
    use rust_hdl::prelude::*;

    #[derive(LogicBlock, Default)]
    struct Counter {
        pub clock: Signal<In, Clock>,
        pub enable: Signal<In, Bit>,
        pub count: Signal<Out, Bits<8>>,
        register: DFF<Bits<8>>,
    }

    impl Logic for Counter {
        #[kernel]
        fn update(&mut self) {
            dff_setup!(self, clock, register);
            if self.enable.val() {
                self.register.d.next = self.register.q.val() + 1;
            }
            self.count.next = self.register.q.val();
        }
    }

    #[test]
    fn cycles_and_steps_are_counted() {
        let mut uut = simulate!(Counter::default());
        uut.enable.next = true;
        assert_eq!(uut.wait_for(20, |uut| uut.count.val() == 7u64), 7);
        let steps = uut.run_until(20, |uut, _| {
            (uut.count.val() != 9u64).then(|| uut.count.val())
        });
        assert_eq!((steps, uut.cycle()), (2, 9));
        uut.ticks(3);
        assert_eq!(uut.count.val(), 12u64);
        uut.enable.next = false;
        uut.ticks(2);
        uut.pulse(|uut| &mut uut.enable);
        uut.ticks(2);
        assert_eq!(uut.count.val(), 13u64);
    }

    #[test]
    #[should_panic(expected = "Counter: after 5 cycles outstanding: \"the condition\"")]
    fn canary_a_condition_that_never_holds_ends_the_wait() {
        simulate!(Counter::default()).wait_for(5, |uut| uut.count.val() == 1u64);
    }

    #[test]
    #[ignore = "fails on purpose: run by the test below"]
    fn fails_in_cycle_3() {
        let mut uut = simulate!(Counter::default());
        uut.ticks(3);
        assert_eq!(uut.count.val(), 3u64);
    }

    #[test]
    fn canary_a_failure_prints_its_cycle_and_its_seed() {
        let output = output_of("testkit::simulation::tests::fails_in_cycle_3");
        assert!(output.contains("Counter: in cycle 3"), "{output}");
        assert!(output.contains("replay with RNIC_SEED="), "{output}");
    }
}
