//! Test support for blocks: the direct simulation loop, seeded randomness, lockstep.
//!
//! Compiled for this crate's tests and under the feature `testkit`; no hardware depends on it.
//!
//! * [`settle`] and [`tick`] step a block directly, seven times faster than the crate's threads;
//! * [`Random`] is the one source of randomness, seeded by `RNIC_SEED`, printed on failure;
//! * [`lockstep`] drives a block and its emitted Verilog, under Verilator, with one stimulus.
//!
//! ```no_run
//! use rnic_hdl::common::skid::Skid;
//! use rnic_hdl::testkit::lockstep;
//! use rust_hdl::prelude::*;
//!
//! lockstep("skid", Skid::<Bits<16>>::default(), 2000, |skid| &mut skid.clock, |skid, random| {
//!     skid.s_valid.next = random.chance(3, 4);
//!     skid.s_data.next = random.wide();
//!     skid.m_ready.next = random.chance(1, 2);
//! });
//! ```
mod lockstep;
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
