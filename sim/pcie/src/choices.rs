//! Where a model that may choose takes its choices from: a seed, or a script.
//!
//! ```text
//!   Seeded(seed) --+
//!                  +--> below(Choice, bound) --> splits, delays, order, faults
//!   Scripted ------+
//! ```
//!
//! A random run is repeated by its seed alone; a test that needs one exact sequence scripts it.
//! Nothing here reads a clock or the operating system.

use std::collections::VecDeque;
use std::fmt::Debug;

/// What is being chosen, so that a script can answer one question and leave the others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Choice {
    /// At which of the permitted boundaries a completion ends; 0 is the nearest.
    Split,
    /// Ticks that an answer takes beyond its latency.
    Delay,
    /// Which of several answers that are ready goes on first; 0 is the oldest.
    Answer,
    /// Whether a packet passes the oldest one that may be sent (out of 100).
    Pass,
    /// Which packet that is; 0 is the oldest.
    Packet,
    /// Whether a read meets a fault (out of 100).
    Fault,
    /// Which of a read's completions is the faulty one; 0 is the first.
    FaultPlace,
}

/// A source of choices.
pub trait Choices: Debug + Send + Sync {
    /// A number below `bound`; 0 if `bound` is 0 or 1.
    fn below(&mut self, choice: Choice, bound: u64) -> u64;

    /// A copy that will choose as this one would.
    fn duplicate(&self) -> Box<dyn Choices>;

    /// True in `percent` of 100 cases.
    fn percent(&mut self, choice: Choice, percent: u8) -> bool {
        // Without a draw for 0: a fault that is off leaves the other choices as they were.
        percent > 0 && self.below(choice, 100) < percent.into()
    }
}

impl Clone for Box<dyn Choices> {
    fn clone(&self) -> Self {
        self.duplicate()
    }
}

/// Mixes the bits of `value`: each bit of the result depends on all of them (SplitMix64).
pub(crate) const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ value >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ value >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ value >> 31
}

/// Choices that follow from a seed. Not for secrets.
///
/// ```
/// use pcie_sim::choices::{Choice, Choices, Seeded};
/// let (mut one, mut other) = (Seeded::new(7), Seeded::new(7));
/// let draw = |choices: &mut Seeded| choices.below(Choice::Delay, 1000);
/// assert_eq!([draw(&mut one), draw(&mut one)], [draw(&mut other), draw(&mut other)]);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Seeded(u64);

impl Seeded {
    /// The choices of `seed`; any value will do.
    pub const fn new(seed: u64) -> Self {
        // Mixed, so that neighbouring seeds do not run through the same states one step apart.
        Self(mix(seed))
    }
}

impl Choices for Seeded {
    fn below(&mut self, _choice: Choice, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        // The high half of a product: less biased than a remainder, and bounded by construction.
        ((u128::from(mix(self.0)) * u128::from(bound)) >> 64) as u64
    }

    fn duplicate(&self) -> Box<dyn Choices> {
        Box::new(*self)
    }
}

/// Choices that a test writes down; 0 to every question that it does not answer.
///
/// ```
/// use pcie_sim::choices::{Choice, Choices, Scripted};
/// let mut choices = Scripted::new([(Choice::Answer, 2), (Choice::Answer, 1)]);
/// assert_eq!(choices.below(Choice::Split, 8), 0);
/// assert_eq!(choices.below(Choice::Answer, 4), 2);
/// assert_eq!(choices.below(Choice::Answer, 4), 1);
/// assert_eq!(choices.below(Choice::Answer, 4), 0);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scripted(VecDeque<(Choice, u64)>);

impl Scripted {
    /// Answers each kind of question in the order of `answers`; one that is out of bounds
    /// becomes the largest that is not.
    pub fn new(answers: impl IntoIterator<Item = (Choice, u64)>) -> Self {
        Self(answers.into_iter().collect())
    }
}

impl Choices for Scripted {
    fn below(&mut self, choice: Choice, bound: u64) -> u64 {
        let place = self.0.iter().position(|(asked, _)| *asked == choice);
        let answer = place.and_then(|place| self.0.remove(place));
        answer.map_or(0, |(_, value)| value.min(bound.saturating_sub(1)))
    }

    fn duplicate(&self) -> Box<dyn Choices> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeded_choices_stay_below_their_bound_and_reach_every_value() {
        let mut choices = Seeded::new(1);
        for bound in [1, 2, 7, 100] {
            let mut seen = vec![0; bound as usize];
            for _ in 0..20 * bound * bound {
                seen[choices.below(Choice::Split, bound) as usize] += 1;
            }
            assert!(!seen.contains(&0), "{bound}: {seen:?}");
        }
        assert_eq!(choices.below(Choice::Split, 0), 0);
    }

    #[test]
    fn a_percentage_is_met_within_a_few_in_a_thousand() {
        let mut choices = Seeded::new(2);
        for percent in [0u8, 5, 20, 100] {
            let hits = (0..10_000).filter(|_| choices.percent(Choice::Fault, percent));
            let found = hits.count() as i64;
            assert!((found - i64::from(percent) * 100).abs() < 150, "{found}");
        }
    }

    #[test]
    fn different_seeds_choose_differently() {
        let drawn = |seed| {
            let mut choices = Seeded::new(seed);
            [(); 8].map(|()| choices.below(Choice::Delay, 1 << 32))
        };
        assert_ne!(drawn(1), drawn(2));
        // Nor is one the other a step later.
        assert_ne!(drawn(1)[1..], drawn(2)[..7]);
    }

    #[test]
    fn a_script_never_leaves_the_bound() {
        let mut choices = Scripted::new([(Choice::Split, 9), (Choice::Split, 9)]);
        assert_eq!(choices.below(Choice::Split, 4), 3);
        assert_eq!(choices.below(Choice::Split, 0), 0);
    }
}
