//! Growth and reduction of CUBIC (RFC 9438).
//!
//! ```text
//!  W(t) = 0.4 (t - K)^3 + W_max,  K = cbrt((W_max - W_epoch) / 0.4)     segments, seconds
//!  W_est: a segment each W_est acknowledged, times 9/17, until it is W_max, then times 1
//! ```
//!
//! In integers: windows in octets, times in microseconds, so that equal inputs give equal windows
//! on every machine.

/// State since the last loss.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cubic {
    /// Window before the last reduction (W_max), in octets.
    max_octets: u64,
    epoch: Option<Epoch>,
}

/// Since congestion avoidance began.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Epoch {
    start_us: u64,
    /// Time until W(t) is W_max (K).
    to_max_us: u64,
    /// Window of NewReno in its place (W_est), in octets.
    estimate_octets: u64,
    /// Octets acknowledged that have not yet made a segment of the estimate, times 9.
    counted: u64,
    /// Octets of growth below one octet, as a part of the window.
    remainder: u64,
}

/// Beta of section 4.6, in tenths.
const BETA_TENTHS: u64 = 7;

impl Cubic {
    /// The window after `octets` more were acknowledged (sections 4.2 to 4.5).
    pub fn grow(&mut self, window: u64, octets: u64, emss: u64, now: u64, srtt: u64) -> u64 {
        let max = self.max_octets.max(window);
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            start_us: now,
            to_max_us: cubic_root_us(max - window, emss),
            estimate_octets: window,
            counted: 0,
            remainder: 0,
        });
        epoch.grow_estimate(octets, emss, max);
        let ahead_us = now.saturating_sub(epoch.start_us).saturating_add(srtt);
        let target = cubic_octets(max, ahead_us, epoch.to_max_us, emss);
        // At most half as much again a round trip (section 4.2).
        let target = target.clamp(window, window + window / 2);
        let growth = u128::from(target - window) * u128::from(octets) + u128::from(epoch.remainder);
        epoch.remainder = (growth % u128::from(window.max(1))) as u64;
        let cubic = window + (growth / u128::from(window.max(1))) as u64;
        cubic.max(epoch.estimate_octets)
    }

    /// The threshold after a loss (sections 4.6 and 4.7).
    pub fn after_loss(&mut self, window: u64, flight: u64) -> u64 {
        // Fast convergence: a flow that lost below its last maximum leaves room for others.
        self.max_octets = if window < self.max_octets {
            window * (10 + BETA_TENTHS) / 20
        } else {
            window
        };
        self.epoch = None;
        flight * BETA_TENTHS / 10
    }
}

impl Epoch {
    /// Section 4.3: alpha = 3 (1 - beta) / (1 + beta) = 9/17 until W_max is reached, then 1.
    fn grow_estimate(&mut self, octets: u64, emss: u64, max: u64) {
        self.counted += octets * if self.estimate_octets < max { 9 } else { 17 };
        let whole = self.estimate_octets.max(1) * 17;
        self.estimate_octets += self.counted / whole * emss;
        self.counted %= whole;
    }
}

/// Microseconds until a cubic that is `below` octets under its middle reaches it.
fn cubic_root_us(below: u64, emss: u64) -> u64 {
    // K^3 = segments / 0.4 in seconds, here times 10^18.
    let cube = u128::from(below) * 2_500_000_000_000_000_000 / u128::from(emss.max(1));
    let (mut low, mut high) = (0u64, 1 << 42);
    while low < high {
        let middle = (low + high).div_ceil(2);
        if u128::from(middle).pow(3) <= cube {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// W(t) in octets.
fn cubic_octets(max: u64, at_us: u64, to_max_us: u64, emss: u64) -> u64 {
    // A day is beyond any window; it keeps the cube within 128 bits.
    let distance = u128::from(at_us.abs_diff(to_max_us).min(86_400_000_000));
    let octets = distance.pow(3) / 1_000_000_000 * 4 * u128::from(emss) / 10_000_000_000;
    let octets = octets.min(1 << 40) as u64;
    if at_us < to_max_us {
        max.saturating_sub(octets)
    } else {
        max + octets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMSS: u64 = 1_000;

    /// TCP-044: Section 4.2 in floating point, for windows and times of every size.
    #[test]
    fn the_integers_follow_the_formula() {
        for segments in [10u64, 100, 1_000, 10_000] {
            let max = segments * EMSS;
            let k = (segments as f64 * 0.3 / 0.4).cbrt();
            let root = cubic_root_us(max * 3 / 10, EMSS);
            assert!((root as f64 / 1e6 - k).abs() < 1e-5, "{segments}: {root}");
            for tenth in 0..100u64 {
                let t = tenth as f64 / 10.0;
                let expected = (0.4 * (t - k).powi(3) + segments as f64).max(0.0) * EMSS as f64;
                let found = cubic_octets(max, tenth * 100_000, root, EMSS) as f64;
                let slack = expected.abs() * 1e-4 + 4.0;
                assert!((found - expected).abs() < slack, "{t}: {found} {expected}");
            }
        }
    }

    /// TCP-044: Section 4.7: the second loss below the maximum leaves 0.85 of the window as the
    /// maximum.
    #[test]
    fn a_loss_below_the_last_maximum_lowers_it() {
        let mut cubic = Cubic::default();
        assert_eq!(cubic.after_loss(100_000, 100_000), 70_000);
        assert_eq!(cubic.max_octets, 100_000);
        assert_eq!(cubic.after_loss(80_000, 60_000), 42_000);
        assert_eq!(cubic.max_octets, 68_000);
    }

    /// TCP-044: Section 4.3: with short round trips CUBIC grows at least as NewReno with its factor
    /// would.
    #[test]
    fn short_round_trips_grow_as_the_estimate() {
        let mut cubic = Cubic::default();
        let mut window = cubic.after_loss(20 * EMSS, 20 * EMSS);
        let start = window;
        let mut now = 0;
        for _ in 0..1_000 {
            now += 100;
            window = cubic.grow(window, EMSS, EMSS, now, 1_000);
        }
        assert!(window > start + 20 * EMSS, "{window}");
    }

    /// Neither a clock at its end nor windows at theirs panic.
    #[test]
    fn extremes_are_saturated() {
        let mut cubic = Cubic::default();
        cubic.after_loss(1 << 30, 1 << 30);
        let grown = cubic.grow(1 << 29, 1 << 30, 64, 0, u64::MAX);
        assert!(grown >= 1 << 29);
        let grown = cubic.grow(1 << 30, 1 << 30, 65_495, u64::MAX, u64::MAX);
        assert!(grown >= 1 << 30);
        let root = cubic_root_us(u64::MAX >> 20, 1);
        assert_eq!(root, 35_298_257_961, "the cube root of 2^44 / 0.4 seconds");
    }
}
