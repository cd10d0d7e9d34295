//! Test support for blocks: the direct simulation loop, seeded randomness, lockstep.
//!
//! Compiled under the feature `testkit`; no hardware depends on it.
//!
//! * [`simulate!`](crate::simulate) makes a [`Simulation`] of a clocked block, stepped directly:
//!   seven times faster than rust-hdl's threads, and kernels of which no signal has changed are
//!   skipped (ADR 53); [`connected`] and [`settle`] do for a block without a clock;
//! * [`StreamDriver`] and [`StreamMonitor`] are the two ends of a stream, each with its [`Pace`];
//! * [`Random`] is the one source of randomness, seeded by `RNIC_SEED`, printed on failure;
//! * [`bits_of`], [`octets_of`] and their like turn octets and words into ports and back;
//! * [`lockstep!`](crate::lockstep!) drives a block and its emitted Verilog, under Verilator, with
//!   one stimulus.
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
//! lockstep!("hold", Hold::default(), 2000, |hold, random| {
//!     hold.data.next = random.wide();
//! });
//! ```
mod lockstep;
mod octets;
mod ports;
mod random;
mod simulation;
mod stream;
mod verilator;

pub use crate::{lockstep, simulate};
pub use lockstep::{lockstep, lockstep_as_synthesised, lockstep_combinational};
pub use octets::{bits_of, bits_of_words, octets_of, words_of};
pub use random::Random;
pub use simulation::Simulation;
pub use stream::{Pace, StreamDriver, StreamMonitor};

use crate::kernel::Skipping;
use rust_hdl::prelude::*;

/// Passes after which a block that still changes is taken for a combinational loop.
const SETTLE_PASSES_MAX: usize = 10_000;

/// `block`, connected and settled.
pub fn connected<B: Block>(mut block: B) -> B {
    block.connect_all();
    settle(&mut block);
    block
}

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

/// [`settle`] of a block that was settled before: kernels of which no signal has changed are
/// skipped.
pub(crate) fn settle_changes<B: Block>(block: &mut B) {
    let _skipping = Skipping::begin();
    settle(block);
}

/// One whole clock cycle: settles the inputs, then an edge.
///
/// Outputs read afterwards are those of the next cycle (with this cycle's inputs still applied).
pub fn tick<B: Block>(block: &mut B, clock: impl Fn(&mut B) -> &mut Signal<In, Clock>) {
    settle(block);
    edge(block, clock);
}

/// A rising edge of the clock of a settled block.
///
/// The clock falls as the next inputs settle: nothing here listens to that, and passes of its own
/// would be a quarter of all.
fn edge<B: Block>(block: &mut B, clock: impl Fn(&mut B) -> &mut Signal<In, Clock>) {
    clock(block).next = true.into();
    settle_changes(block);
    clock(block).next = false.into();
}
