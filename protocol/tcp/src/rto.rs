//! The retransmission time-out (RFC 6298).
//!
//! ```text
//!  first sample R:  SRTT = R, RTTVAR = R/2
//!  others:          RTTVAR = 3/4 RTTVAR + 1/4 |SRTT - R|,  SRTT = 7/8 SRTT + 1/8 R
//!  RTO = SRTT + max(40 ms, 4 RTTVAR), within its limits, doubled by each back-off
//! ```
//!
//! The caller takes no sample of what was sent more than once (Karn's algorithm, section 3).
use crate::settings::{TimeOut, TimeOuts, SECOND_US};

/// G of the RFC: how much a round trip varies though RTTVAR says it does not. Linux delays an
/// acknowledgement by 40 ms at least, if it does.
const GRANULARITY_US: u64 = 40_000;
/// RTO before the first sample (2.1).
const INITIAL_US: u64 = SECOND_US;
/// RTO once data is sent if the SYN had to be sent again (5.7).
const AFTER_LOST_SYN_US: u64 = 3 * SECOND_US;

/// Smoothed round-trip time and the time-out that follows from it, in microseconds.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct RtoEstimator {
    /// SRTT times 8 and RTTVAR times 4, so that no fraction is lost; `None` before a sample.
    scaled: Option<(u64, u64)>,
    base_us: u64,
    least_us: Option<u64>,
    back_off: u32,
    min_us: u64,
    max_us: u64,
}

impl RtoEstimator {
    /// Without a sample.
    pub fn new(time_outs: &TimeOuts) -> Self {
        Self {
            scaled: None,
            base_us: INITIAL_US,
            least_us: None,
            back_off: 0,
            min_us: time_outs.get(TimeOut::RtoMin),
            max_us: time_outs.get(TimeOut::RtoMax),
        }
    }

    /// Take a round-trip time. It ends a back-off (section 5, last paragraph).
    pub fn sample(&mut self, rtt_us: u64) {
        self.least_us = Some(self.least_us.map_or(rtt_us, |least| least.min(rtt_us)));
        let rtt_us = rtt_us.min(self.max_us);
        let (srtt, rttvar) = match self.scaled {
            None => (rtt_us * 8, rtt_us * 2),
            Some((srtt, rttvar)) => {
                let error = (srtt / 8).abs_diff(rtt_us);
                (srtt - srtt / 8 + rtt_us, rttvar - rttvar / 4 + error)
            }
        };
        self.scaled = Some((srtt, rttvar));
        // RTTVAR is held times 4, which is the factor K of the RFC.
        self.base_us = srtt / 8 + rttvar.max(GRANULARITY_US);
        self.back_off = 0;
    }

    /// The timer has expired (5.5).
    pub fn back_off(&mut self) {
        self.back_off = (self.back_off + 1).min(32);
    }

    /// What was in doubt is acknowledged: the time-out is that of the samples again.
    pub fn end_back_off(&mut self) {
        self.back_off = 0;
    }

    /// The SYN was sent again (5.7).
    pub fn syn_was_lost(&mut self) {
        self.scaled = None;
        self.base_us = AFTER_LOST_SYN_US;
        self.back_off = 0;
    }

    /// The time-out.
    pub fn rto_us(&self) -> u64 {
        let base = self.base_us.clamp(self.min_us, self.max_us);
        // At most 120 s times 2^32: no overflow.
        (base << self.back_off).min(self.max_us)
    }

    /// The shortest round-trip time, if there was a sample.
    pub fn least_us(&self) -> Option<u64> {
        self.least_us
    }

    /// Smoothed round-trip time, if there was a sample.
    pub fn srtt_us(&self) -> Option<u64> {
        self.scaled.map(|(srtt, _)| srtt / 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator() -> RtoEstimator {
        RtoEstimator::new(&TimeOuts::default())
    }

    /// TCP-027: RFC 6298 section 2, with the arithmetic of its formulas on fractions.
    #[test]
    fn samples_are_smoothed_as_the_formulas_have_it() {
        let mut rto = estimator();
        assert_eq!((rto.rto_us(), rto.srtt_us()), (1_000_000, None));
        let samples = [300_000u64, 420_000, 180_000, 1_000_000, 350_000, 350_000];
        let (mut srtt, mut rttvar) = (0f64, 0f64);
        for (index, sample) in samples.into_iter().enumerate() {
            rto.sample(sample);
            let r = sample as f64;
            if index == 0 {
                (srtt, rttvar) = (r, r / 2.0);
            } else {
                rttvar = 0.75 * rttvar + 0.25 * (srtt - r).abs();
                srtt = 0.875 * srtt + 0.125 * r;
            }
            let expected = srtt + 4.0 * rttvar;
            assert!((rto.rto_us() as f64 - expected).abs() < 8.0, "{rto:?}");
            assert!((rto.srtt_us().expect("a sample") as f64 - srtt).abs() < 2.0);
        }
    }

    /// TCP-030: RFC 6298 section 2.4 with a minimum of 200 ms: the limits, and one beyond.
    #[test]
    fn the_time_out_stays_within_its_limits() {
        let mut rto = estimator();
        for _ in 0..1_000 {
            rto.sample(10);
        }
        assert_eq!(rto.rto_us(), 200_000);
        rto.sample(u64::MAX);
        assert!(rto.rto_us() <= 60_000_000);
        let mut slow = estimator();
        slow.sample(59_000_000);
        assert_eq!(slow.rto_us(), 60_000_000);
    }

    /// TCP-029: RFC 6298 section 5.5: doubled each time, up to the maximum; a sample ends it.
    #[test]
    fn back_off_doubles_up_to_the_maximum() {
        let mut rto = estimator();
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            assert_eq!(rto.rto_us(), seconds * SECOND_US);
            rto.back_off();
        }
        for _ in 0..100 {
            rto.back_off();
        }
        assert_eq!(rto.rto_us(), 60 * SECOND_US);
        rto.end_back_off();
        assert_eq!(rto.rto_us(), SECOND_US);
        rto.back_off();
        rto.sample(100_000);
        assert_eq!(rto.rto_us(), 300_000);
    }

    /// TCP-031: RFC 6298 section 5.7.
    #[test]
    fn a_lost_syn_leaves_three_seconds() {
        let mut rto = estimator();
        rto.back_off();
        rto.syn_was_lost();
        assert_eq!(rto.rto_us(), 3 * SECOND_US);
        rto.sample(100_000);
        assert_eq!(rto.rto_us(), 300_000);
    }
}
