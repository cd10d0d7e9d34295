//! A hostile playback: what its peers, its owner and its host do against it, drawn for each frame.
//!
//! ```text
//!  (seed, frame) -> Deed --+-> Forge: another frame instead of it   (forge)
//!                          +-> all else: through the driver, on every receiver at rest   (player)
//! ```
//!
//! A deed depends on seed, rate and number of the frame alone, so a prefix of a capture meets the
//! same ones. Receivers come to rest before the driver acts, mostly: what the device had decided by
//! then depends on nothing but the frames. What is done without that stands in
//! `player/hasty.rs`. A revocation under load is played by itself, with a model
//! that is told how far the device was (`tests/attacks/revocation.rs`).

pub mod forge;

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;

/// What is done before a frame, or to it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// The frame is changed, and its checksums are made right again, mostly.
    Forge,
    /// A region is taken away.
    Revoke,
    /// One that was taken away is registered again.
    Restore,
    /// A connection is closed, and another one opened on the same addresses and ports.
    Reopen,
    /// A connection is closed for good.
    Close,
    /// No buffers are posted to a connection for a while.
    Withhold,
    /// Tables that concern no traffic are written in its middle.
    Churn,
    /// A connection is closed in the middle of its traffic.
    CloseAtOnce,
}

impl Deed {
    /// Every deed.
    pub const ALL: [Self; 8] = [
        Self::Forge,
        Self::Revoke,
        Self::Restore,
        Self::Reopen,
        Self::Close,
        Self::Withhold,
        Self::Churn,
        Self::CloseAtOnce,
    ];
    /// Weights, in the order of [`Deed::ALL`].
    const WEIGHTS: [u32; 8] = [20, 4, 3, 3, 1, 3, 6, 1];

    /// The name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Forge => "forge",
            Self::Revoke => "revoke",
            Self::Restore => "restore",
            Self::Reopen => "reopen",
            Self::Close => "close",
            Self::Withhold => "withhold",
            Self::Churn => "churn",
            Self::CloseAtOnce => "close_at_once",
        }
    }
}

/// The deed before frame `frame`, if there is one, at `rate` deeds a frame; and what its further
/// choices are drawn from.
pub fn deed(seed: u64, rate: f64, frame: usize) -> Option<(Deed, ChaCha8Rng)> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(frame as u64);
    if !generator.random_bool(rate) {
        return None;
    }
    let mut place = generator.random_range(0..Deed::WEIGHTS.iter().sum());
    let weighted = Deed::ALL.into_iter().zip(Deed::WEIGHTS);
    for (deed, weight) in weighted {
        if place < weight {
            return Some((deed, generator));
        }
        place -= weight;
    }
    unreachable!("the place is below the sum of the weights")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_deed_is_drawn_at_the_rate_asked_for_and_drawn_again_alike() {
        let drawn = |frame| deed(9, 0.1, frame).map(|(deed, _)| deed);
        let deeds: Vec<Deed> = (0..10_000).filter_map(drawn).collect();
        assert!((800..1200).contains(&deeds.len()), "{}", deeds.len());
        for one in Deed::ALL {
            assert!(deeds.contains(&one), "{}", one.name());
        }
        let again: Vec<Deed> = (0..10_000).filter_map(drawn).collect();
        assert_eq!(deeds, again);
        assert!((0..1000).all(|frame| deed(9, 0.0, frame).is_none()));
    }
}
