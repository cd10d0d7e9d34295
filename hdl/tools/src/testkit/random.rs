//! The one source of randomness of every test: seeded, replayable; a panic prints the seed.
use rust_hdl::prelude::*;
use std::fmt;

/// Seeded generator (SplitMix64); displays as the setting that replays it.
///
/// A panic while it lives prints that setting: messages of assertions need not.
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

impl Drop for Random {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("{self}");
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use std::process::Command;

    /// What the test of this path prints, which is ignored and fails on purpose.
    pub fn output_of(test: &str) -> String {
        let this = std::env::current_exe().expect("the path of the running tests");
        let output = Command::new(this)
            .args(["--exact", "--ignored", "--nocapture", test])
            .env_remove("RNIC_SEED")
            .output()
            .expect("the running tests run again");
        assert!(!output.status.success(), "{test} must fail");
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    #[test]
    #[ignore = "fails on purpose: run by the test below"]
    fn fails_with_a_generator() {
        let random = Random::new(1234);
        assert_eq!(random.seed, 0);
    }

    #[test]
    fn canary_a_failure_prints_the_seed() {
        let output = output_of("testkit::random::tests::fails_with_a_generator");
        assert!(output.contains("replay with RNIC_SEED=1234"), "{output}");
    }

    #[test]
    fn one_seed_gives_one_sequence_and_another_seed_another() {
        let sequence = |seed| {
            let mut random = Random::new(seed);
            [random.bits(), random.bits(), random.below(1000)]
        };
        assert_eq!(sequence(7), sequence(7));
        assert_ne!(sequence(7), sequence(8));
    }

    #[test]
    fn wide_values_reach_their_highest_bit() {
        let mut random = Random::new(1);
        assert!((0..64).any(|_| random.wide::<130>().get_bit(129)));
    }
}
