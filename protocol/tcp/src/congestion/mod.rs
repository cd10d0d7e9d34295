//! Congestion control: how many octets may be in flight (RFC 5681).
//!
//! ```text
//!            acknowledged           recovery begins             the timer expires
//!  slow start ---------> avoidance ----------------> ssthresh ----------------> one segment
//!      ^  cwnd >= ssthresh            cwnd = ssthresh                                |
//!      `------------------------------------------------------------------------------'
//! ```
//!
//! [`Congestion`] has what all algorithms share: slow start, initial and loss window, restart after
//! idling. What is left to an algorithm is growth in congestion avoidance and the window after a
//! loss: [`newreno`] and [`cubic`].
pub mod newreno;
pub mod cubic;

use cubic::Cubic;

/// Which algorithm.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub enum Algorithm {
    /// A segment a round trip, and half after a loss (RFC 5681).
    #[default]
    NewReno,
    /// A cubic function of the time since the last loss, and 0.7 after one (RFC 9438).
    Cubic,
}

/// Windows of a connection, in octets.
#[derive(Clone, Debug, Hash)]
pub struct Congestion {
    algorithm: Algorithm,
    window_octets: u64,
    threshold_octets: u64,
    emss_octets: u64,
    /// NewReno: octets acknowledged in avoidance that have not yet made a segment.
    counted_octets: u64,
    cubic: Cubic,
}

/// A window cannot use more than the largest window that a peer can announce.
const WINDOW_OCTETS_MAX: u64 = 1 << 30;

impl Congestion {
    /// At the start of a connection; `syn_was_lost` if the handshake needed a retransmission.
    pub fn new(algorithm: Algorithm, emss_octets: u16, syn_was_lost: bool) -> Self {
        let mut congestion = Self {
            algorithm,
            window_octets: 0,
            threshold_octets: WINDOW_OCTETS_MAX,
            emss_octets: u64::from(emss_octets),
            counted_octets: 0,
            cubic: Cubic::default(),
        };
        congestion.window_octets = congestion.initial_octets();
        if syn_was_lost {
            // RFC 5681 section 3.1: at most one segment.
            congestion.window_octets = congestion.emss_octets;
        }
        congestion
    }

    /// The initial window of RFC 6928 section 2.
    fn initial_octets(&self) -> u64 {
        (10 * self.emss_octets).min(14_600.max(2 * self.emss_octets))
    }

    /// Octets that may be in flight.
    pub fn window_octets(&self) -> u64 {
        self.window_octets
    }

    /// Above it congestion avoidance begins.
    pub fn threshold_octets(&self) -> u64 {
        self.threshold_octets
    }

    /// The path carries other segments now. Windows stay as they are, in octets.
    pub fn set_emss(&mut self, emss_octets: u16) {
        self.emss_octets = u64::from(emss_octets);
        self.window_octets = self.window_octets.max(self.emss_octets);
    }

    /// `octets` were acknowledged for the first time, outside of recovery, and the window had been
    /// in use: a window that the application does not fill does not grow (RFC 7661 section 3).
    pub fn on_ack(&mut self, octets: u64, now_us: u64, srtt_us: u64) {
        if self.window_octets < self.threshold_octets {
            // Appropriate byte counting with L = 2 (RFC 3465 section 2.2).
            self.window_octets += octets.min(2 * self.emss_octets);
        } else {
            match self.algorithm {
                Algorithm::NewReno => {
                    let (window, counted) = (&mut self.window_octets, &mut self.counted_octets);
                    newreno::grow(window, counted, octets, self.emss_octets);
                }
                Algorithm::Cubic => {
                    let (window, emss) = (self.window_octets, self.emss_octets);
                    self.window_octets = self.cubic.grow(window, octets, emss, now_us, srtt_us);
                }
            }
        }
        self.window_octets = self.window_octets.min(WINDOW_OCTETS_MAX);
    }

    /// A loss was found other than by the timer; `flight_octets` were not acknowledged.
    pub fn on_loss(&mut self, flight_octets: u64) {
        self.reduce(flight_octets);
        self.window_octets = self.threshold_octets;
    }

    /// The timer expired. `again`: for octets that the timer had sent again before, of which the
    /// threshold has been taken already (RFC 5681 section 3.1).
    pub fn on_time_out(&mut self, flight_octets: u64, again: bool) {
        if !again {
            self.reduce(flight_octets);
        }
        self.window_octets = self.emss_octets;
        self.counted_octets = 0;
    }

    /// What is not acknowledged is more than the window while recovery sends new octets; it was
    /// never allowed at once, and half of it may be more than the window.
    fn reduce(&mut self, flight_octets: u64) {
        let flight_octets = flight_octets.min(self.window_octets);
        let after = match self.algorithm {
            Algorithm::NewReno => newreno::after_loss(flight_octets),
            Algorithm::Cubic => self.cubic.after_loss(self.window_octets, flight_octets),
        };
        self.threshold_octets = after.max(2 * self.emss_octets);
        self.counted_octets = 0;
    }

    /// Recovery is over (RFC 6582 section 3.2, step 3, first way): no burst of what is now allowed.
    pub fn end_recovery(&mut self, flight_octets: u64) {
        let burst = flight_octets.max(self.emss_octets) + self.emss_octets;
        self.window_octets = self.threshold_octets.min(burst);
    }

    /// Nothing was sent for longer than a time-out (RFC 5681 section 4.1).
    pub fn restart(&mut self) {
        self.window_octets = self.window_octets.min(self.initial_octets());
        self.cubic = Cubic::default();
    }
}

#[cfg(test)]
mod tests;
