//! Draws a run's oddities and its conditions on the receiving side, in addition to its workload and
//! faults.
//!
//! They come from a generator of their own, so that a new kind does not change the rest of a run.
//! Oddities that end a stream are rare; those that leave octets missing for long are left out where
//! packet memory could not hold what waits for them.

use crate::fuzz::draw::{longest_fpdu, Draw};
use crate::play::Conditions;
use crate::workload::describe::TO_START;
use crate::workload::{Interleave, Oddity, Workload};
use rand::Rng;

/// Octets of an FPDU above which no octets may be missing.
const GAP_FPDU_OCTETS: f64 = 16_000.0;
/// Connections up to which frames may take the most pages.
const LONGEST_FRAMES_CONNECTIONS: usize = 4;
/// Seeds of conditions are smaller than this: a user types them.
const SEED_MAX: u64 = 1_000_000_000;

impl Draw {
    /// Oddities of segments, keys and numbers.
    pub(super) fn oddities(&mut self, workload: &mut Workload) {
        let may_wait = longest_fpdu(workload) <= GAP_FPDU_OCTETS;
        for oddity in Oddity::ALL {
            let (share, most) = match oddity {
                Oddity::IpOptions | Oddity::Window => (0.3, 0.5),
                Oddity::Fragments | Oddity::TooLong | Oddity::Runt => (0.3, 0.02),
                Oddity::Longest => (0.1, 0.02),
                Oddity::Stranger => (0.4, 0.1),
                Oddity::Differ => (0.5, 0.8),
                Oddity::Fin => (0.7, 1.0),
                Oddity::Reuse => (0.3, 0.1),
                // Of messages, whose number is not known yet.
                Oddity::Terminate => (0.0, 0.0),
                // Drawn last, by itself.
                Oddity::Sack => continue,
            };
            let possible = match oddity {
                Oddity::Differ => workload.crc,
                Oddity::Longest => workload.connections <= LONGEST_FRAMES_CONNECTIONS,
                other => may_wait || !other.is_loss(),
            };
            if possible && self.happens(share) {
                let rate = self.rate(most);
                workload.faults.oddities.insert(oddity, rate);
            }
        }
        workload.neighbours = self.happens(0.25);
        let random = self.generator.random();
        let starts = [0, 0xffff_f000, random, u64::MAX - 700_000, u64::MAX - 5_000];
        if self.happens(0.4) {
            workload.to_start = self.one_of(&starts);
        } else {
            workload.to_start = TO_START;
        }
    }

    /// A Terminate in one of a few streams.
    pub(super) fn terminates(&mut self, workload: &mut Workload) {
        if self.happens(0.25) {
            let rate = self.rate(0.9) / workload.messages as f64;
            workload.faults.oddities.insert(Oddity::Terminate, rate);
        }
    }

    /// Acknowledgements with SACK blocks. Drawn last, so runs without them stay what they were
    /// before this kind was added.
    pub(super) fn selective_acks(&mut self, workload: &mut Workload) {
        if self.happens(0.1) {
            let rate = self.rate(0.1);
            workload.faults.oddities.insert(Oddity::Sack, rate);
        }
    }

    /// The seed of conditions, if the run has some, which its sender then knows as far as it must.
    pub(super) fn conditions(&mut self, workload: &mut Workload) -> Option<u64> {
        if longest_fpdu(workload) > GAP_FPDU_OCTETS || !self.happens(0.4) {
            return None;
        }
        let seed = self.generator.random_range(0..SEED_MAX);
        let conditions = Conditions::draw(seed);
        workload.msn_start = conditions.first_msn;
        if conditions.leaves_gaps() {
            workload.interleave = Interleave::Segment;
        }
        Some(seed)
    }
}
