//! Test support for blocks: the direct simulation loop, seeded randomness, lockstep.
//!
//! Compiled under the feature `testkit`; no hardware depends on it.
//!
//! * [`settle`] and [`tick`] step a block directly, seven times faster than the crate's threads;
//! * [`Random`] is the one source of randomness, seeded by `RNIC_SEED`, printed on failure;
//! * [`lockstep`] drives a block and its emitted Verilog, under Verilator, with one stimulus.
//!
//! ```no_run
//! use rnic_hdl_tools::testkit::lockstep;
//! use rust_hdl::prelude::*;
//!
//! #[derive(LogicBlock, Default)]
//! struct Hold {
//!     clock: Signal<In, Clock>,
//!     data: Signal<In, Bits<8>>,
//!     held: Signal<Out, Bits<8>>,
//!     register: DFF<Bits<8>>,
//! }
//!
//! impl Logic for Hold {
//!     #[hdl_gen]
//!     fn update(&mut self) {
//!         dff_setup!(self, clock, register);
//!         self.register.d.next = self.data.val();
//!         self.held.next = self.register.q.val();
//!     }
//! }
//!
//! lockstep("hold", Hold::default(), 2000, |hold| &mut hold.clock, |hold, random| {
//!     hold.data.next = random.wide();
//! });
//! ```
mod lockstep;
mod ports;
mod random;
mod verilator;

pub use lockstep::{lockstep, lockstep_as_synthesised, lockstep_combinational};
pub use random::Random;

use rust_hdl::prelude::*;

/// Passes after which a block that still changes is taken for a combinational loop.
const SETTLE_PASSES_MAX: usize = 10_000;

/// Lets every combinational path of `block` settle after its inputs were set.
///
/// # Panics
/// When the block does not settle: it holds a combinational loop.
pub fn settle<B: Block>(block: &mut B) {
    assert!(
        simulate(block, SETTLE_PASSES_MAX),
        "the block still changes after {SETTLE_PASSES_MAX} passes: combinational loop"
    );
}

/// One whole clock cycle: settles the inputs, raises the clock, lowers it again.
///
/// Outputs read afterwards are those of the next cycle (with this cycle's inputs still applied).
pub fn tick<B: Block>(block: &mut B, clock: impl Fn(&mut B) -> &mut Signal<In, Clock>) {
    settle(block);
    clock(block).next = true.into();
    settle(block);
    clock(block).next = false.into();
    settle(block);
}
