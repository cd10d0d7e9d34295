//! Test support for blocks: the direct simulation loop, seeded randomness, lockstep.
//!
//! Compiled for this crate's tests and under the feature `testkit`; no hardware depends on it.
//!
//! * [`settle`] and [`tick`] step a block directly, seven times faster than the crate's threads;
//! * [`Random`] is the one source of randomness, seeded by `RNIC_SEED`, printed on failure.
use rust_hdl::prelude::*;
use std::fmt;

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

/// Seeded generator (SplitMix64); prints as the setting that replays it.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    state: u64,
}

impl Random {
    /// The generator of `seed`.
    pub fn new(seed: u64) -> Self {
        Self { seed, state: seed }
    }

    /// The generator of the environment's `RNIC_SEED`, or of a fixed seed.
    ///
    /// # Panics
    /// When `RNIC_SEED` is set and is not a decimal number.
    pub fn from_environment() -> Self {
        Self::new(match std::env::var("RNIC_SEED") {
            Ok(text) => text
                .parse()
                .expect("RNIC_SEED must be a decimal number below 2^64"),
            Err(_) => 0x5eed,
        })
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..limit`.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }

    /// True in `hits` of `of` cases.
    pub fn chance(&mut self, hits: u64, of: u64) -> bool {
        self.below(of) < hits
    }

    /// `N` random bits.
    pub fn wide<const N: usize>(&mut self) -> Bits<N> {
        let mut value = Bits::<N>::default();
        for start in (0..N).step_by(64) {
            let word = self.bits();
            for bit in start..N.min(start + 64) {
                value = value.replace_bit(bit, (word >> (bit - start)) & 1 == 1);
            }
        }
        value
    }
}

impl fmt::Display for Random {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "replay with RNIC_SEED={}", self.seed)
    }
}
