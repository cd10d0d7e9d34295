//! Cycles in which a class of packets does not move although it has credits.
//!
//! ```text
//!   seed, tick, class --> a number below 100 --> stalled, if below the class's percentage
//!   block(class)      --> stalled at every tick, until unblock(class)
//! ```
//!
//! It is what a device sees of a hard block, an arbiter or a busy receiver: a ready that falls at
//! any moment. Whether a tick stalls follows from seed, tick and class alone, so that asking twice,
//! or not at all, changes nothing.

use super::class::FlowClass;
use crate::choices::mix;

/// The stalls of one direction. The default never stalls.
///
/// ```
/// use pcie_sim::flow_control::{FlowClass, Stall};
/// let mut stall = Stall::new(1).with_percent(FlowClass::Posted, 20);
/// let stalled = (0..1000).filter(|now| stall.stalls(*now, FlowClass::Posted)).count();
/// assert!((150..250).contains(&stalled), "{stalled}");
/// stall.block(FlowClass::NonPosted);
/// assert!((0..1000).all(|now| stall.stalls(now, FlowClass::NonPosted)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stall {
    seed: u64,
    percents: [u8; 3],
    blocked: [bool; 3],
}

impl Stall {
    /// No stall yet; `seed` is for percentages to come.
    pub const fn new(seed: u64) -> Self {
        Self {
            seed,
            percents: [0; 3],
            blocked: [false; 3],
        }
    }

    /// Stalls `class` in `percent` of 100 ticks; from 100 on, in every one.
    #[must_use]
    pub const fn with_percent(mut self, class: FlowClass, percent: u8) -> Self {
        self.percents[class as usize] = percent;
        self
    }

    /// Stalls every class in `percent` of 100 ticks, each by its own draw.
    #[must_use]
    pub const fn with_percent_each(mut self, percent: u8) -> Self {
        self.percents = [percent; 3];
        self
    }

    /// Stalls `class` until [`unblock`](Self::unblock).
    pub fn block(&mut self, class: FlowClass) {
        self.blocked[class as usize] = true;
    }

    /// Ends [`block`](Self::block).
    pub fn unblock(&mut self, class: FlowClass) {
        self.blocked[class as usize] = false;
    }

    /// Whether `class` does not move at `now`.
    pub const fn stalls(&self, now: u64, class: FlowClass) -> bool {
        let drawn = mix(mix(self.seed ^ (class as u64) << 62).wrapping_add(now)) % 100;
        self.blocked[class as usize] || drawn < self.percents[class as usize] as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_class_stalls_at_its_own_rate_and_moments() {
        let stall = Stall::new(3)
            .with_percent(FlowClass::Posted, 5)
            .with_percent(FlowClass::NonPosted, 50)
            .with_percent(FlowClass::Completion, 50);
        let stalled = |class| (0..10_000).filter(move |now| stall.stalls(*now, class));
        assert!((400..600).contains(&stalled(FlowClass::Posted).count()));
        let [reads, completions] = [FlowClass::NonPosted, FlowClass::Completion].map(stalled);
        let [reads, completions]: [Vec<u64>; 2] = [reads.collect(), completions.collect()];
        assert!((4_700..5_300).contains(&reads.len()), "{}", reads.len());
        let both = reads.iter().filter(|now| completions.contains(now)).count();
        assert!(
            (2_200..2_800).contains(&both),
            "{both} of 2500: independent"
        );
    }

    #[test]
    fn nothing_stalls_at_zero_and_everything_at_a_hundred() {
        let none = Stall::new(9);
        let all = Stall::new(9).with_percent_each(100);
        for now in 0..1000 {
            for class in FlowClass::ALL {
                assert!(!none.stalls(now, class));
                assert!(all.stalls(now, class));
            }
        }
    }

    #[test]
    fn a_blocked_class_stalls_until_it_is_unblocked_and_no_other_does() {
        let mut stall = Stall::default();
        stall.block(FlowClass::Completion);
        for now in [0, 1, u64::MAX] {
            let stalled = FlowClass::ALL.map(|class| stall.stalls(now, class));
            assert_eq!(stalled, [false, false, true]);
        }
        stall.unblock(FlowClass::Completion);
        assert!(!stall.stalls(2, FlowClass::Completion));
    }

    #[test]
    fn seeds_stall_at_different_moments() {
        let moments = |seed| {
            let stall = Stall::new(seed).with_percent_each(20);
            (0..200).map(move |now| stall.stalls(now, FlowClass::Posted))
        };
        assert!(moments(1).eq(moments(1)));
        assert!(!moments(1).eq(moments(2)));
    }
}
