//! Hostile playback: what malicious peers and a misbehaving owner or host do, drawn for each frame.
//!
//! ```text
//!  (seed, frame) -> HostileAction --+-> Forge: another frame instead of it   (forge)
//!                                   +-> all else: through the driver, on every receiver   (player)
//! ```
//!
//! An action depends only on the seed, the rate and the frame number, so that a prefix of a capture
//! sees the same ones. The receivers mostly go idle before the driver acts: what the device has
//! decided by then depends only on the frames. `player/mid_traffic.rs` has the actions that do not
//! wait. A revocation under load has a test of its own, where the model learns how far the device
//! was (`tests/attacks/revocation.rs`).

pub mod forge;

use crate::former_keys;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// What happens before a frame, or to it.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HostileAction {
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
    /// A connection's window is written, its right edge where it was or beyond.
    Window,
}

/// How often each action was taken, in a report's JSON; nothing if none was.
pub(crate) fn actions<S: Serializer>(
    taken: &BTreeMap<HostileAction, u64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    former_keys::serialize_some(["actions", "deeds"], taken, serializer)
}

impl HostileAction {
    /// Every action.
    pub const ALL: [Self; 9] = [
        Self::Forge,
        Self::Revoke,
        Self::Restore,
        Self::Reopen,
        Self::Close,
        Self::Withhold,
        Self::Churn,
        Self::CloseAtOnce,
        Self::Window,
    ];
    /// Weights, in the order of [`HostileAction::ALL`].
    const WEIGHTS: [u32; 9] = [20, 4, 3, 3, 1, 3, 6, 1, 4];

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
            Self::Window => "window",
        }
    }
}

/// The action before frame `frame`, if there is one, at `rate` actions a frame; and the generator
/// of its further choices.
pub fn action(seed: u64, rate: f64, frame: usize) -> Option<(HostileAction, ChaCha8Rng)> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(frame as u64);
    if !generator.random_bool(rate) {
        return None;
    }
    let mut place = generator.random_range(0..HostileAction::WEIGHTS.iter().sum());
    let weighted = HostileAction::ALL.into_iter().zip(HostileAction::WEIGHTS);
    for (action, weight) in weighted {
        if place < weight {
            return Some((action, generator));
        }
        place -= weight;
    }
    unreachable!("the place is below the sum of the weights")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_is_drawn_at_its_rate_and_repeats() {
        let drawn = |frame| action(9, 0.1, frame).map(|(action, _)| action);
        let actions: Vec<HostileAction> = (0..10_000).filter_map(drawn).collect();
        assert!((800..1200).contains(&actions.len()), "{}", actions.len());
        for one in HostileAction::ALL {
            assert!(actions.contains(&one), "{}", one.name());
        }
        let again: Vec<HostileAction> = (0..10_000).filter_map(drawn).collect();
        assert_eq!(actions, again);
        assert!((0..1000).all(|frame| action(9, 0.0, frame).is_none()));
    }
}
