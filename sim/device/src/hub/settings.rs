//! What a hub does to frames.

use std::str::FromStr;

/// How often something happens: 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rate(f64);

impl Rate {
    /// `rate`, if it is one.
    pub fn new(rate: f64) -> Option<Self> {
        (0.0..=1.0).contains(&rate).then_some(Self(rate))
    }

    /// The probability.
    pub(super) fn probability(self) -> f64 {
        self.0
    }
}

impl FromStr for Rate {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let rate = text.parse().ok().and_then(Self::new);
        rate.ok_or("a rate is a number from 0 to 1")
    }
}

/// What becomes of frames. The default changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// A frame does not arrive.
    pub loss: Rate,
    /// A frame arrives twice.
    pub duplicate: Rate,
    /// Up to three later frames of its port overtake a frame.
    pub reorder: Rate,
    /// Microseconds from a port to the others.
    pub delay_us: u64,
    /// Megabits a second that a port takes in; 0 is no limit.
    pub megabits: u32,
    /// Of every random choice.
    pub seed: u64,
}
