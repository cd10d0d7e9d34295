//! Settings of a connection: sizes, and a value for each time-out.
use crate::congestion::Algorithm;
use std::ops::RangeInclusive;
use thiserror::Error;

/// Microseconds of a second.
pub const SECOND_US: u64 = 1_000_000;
/// Microseconds of a millisecond.
const MILLISECOND_US: u64 = 1_000;
/// Smallest maximum segment size that is used. A peer that announces less is sent this, so that one
/// octet of payload does not cost a header each.
pub const EMSS_OCTETS_MIN: u16 = 64;
/// Largest maximum segment size: an IPv4 packet of 65,535 octets.
pub const EMSS_OCTETS_MAX: u16 = 65_495;
/// What a peer takes that announces no maximum segment size (RFC 9293, MUST-15), over IPv4; the
/// caller sets less for IPv6 only if its path needs it.
pub const EMSS_OCTETS_UNKNOWN: u16 = 536;

/// A time-out, or a limit that is counted.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum TimeOut {
    /// From the first SYN, or SYN-ACK, to the connection, in microseconds.
    Syn,
    /// From the first transmission of what is not acknowledged to the end of the connection, in
    /// microseconds (R2 of RFC 9293 section 3.8.3).
    RetransmissionTime,
    /// Retransmissions by timer in a row of the same octets.
    RetransmissionCount,
    /// From [`begin_startup`](crate::Connection::begin_startup) to the hand-over, in microseconds.
    Startup,
    /// In FIN-WAIT-2, in microseconds.
    FinWait2,
    /// Idle time before the first keepalive probe, in microseconds; 0 sends none.
    KeepaliveIdle,
    /// From one keepalive probe to the next, in microseconds.
    KeepaliveInterval,
    /// Keepalive probes in a row without an answer.
    KeepaliveCount,
    /// In TIME-WAIT, in microseconds: twice the lifetime of a segment.
    TimeWait,
    /// Smallest retransmission time-out, in microseconds.
    RtoMin,
    /// Largest retransmission time-out and time between two probes of a closed window, in
    /// microseconds.
    RtoMax,
    /// Longest delay of an acknowledgement, in microseconds.
    DelayedAck,
}

impl TimeOut {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Syn,
        Self::RetransmissionTime,
        Self::RetransmissionCount,
        Self::Startup,
        Self::FinWait2,
        Self::KeepaliveIdle,
        Self::KeepaliveInterval,
        Self::KeepaliveCount,
        Self::TimeWait,
        Self::RtoMin,
        Self::RtoMax,
        Self::DelayedAck,
    ];

    /// The value without a setting.
    pub const fn default_value(self) -> u64 {
        match self {
            // RFC 9293, MUST-23.
            Self::Syn => 180 * SECOND_US,
            // RFC 9293 section 3.8.3: at least 100 s.
            Self::RetransmissionTime => 100 * SECOND_US,
            Self::RetransmissionCount => 15,
            Self::Startup => 10 * SECOND_US,
            Self::FinWait2 | Self::TimeWait | Self::RtoMax => 60 * SECOND_US,
            // RFC 9293, MUST-25 and MUST-28: off unless asked for.
            Self::KeepaliveIdle => 0,
            Self::KeepaliveInterval => 75 * SECOND_US,
            Self::KeepaliveCount => 9,
            Self::RtoMin => 200 * MILLISECOND_US,
            Self::DelayedAck => 500,
        }
    }

    /// The values that can be set.
    pub const fn range(self) -> RangeInclusive<u64> {
        match self {
            Self::Syn | Self::RetransmissionTime | Self::Startup => SECOND_US..=3_600 * SECOND_US,
            Self::RetransmissionCount => 1..=100,
            Self::FinWait2 => SECOND_US..=600 * SECOND_US,
            Self::KeepaliveIdle => 0..=86_400 * SECOND_US,
            Self::KeepaliveInterval => SECOND_US..=3_600 * SECOND_US,
            Self::KeepaliveCount => 1..=100,
            Self::TimeWait => 0..=240 * SECOND_US,
            Self::RtoMin => MILLISECOND_US..=SECOND_US,
            Self::RtoMax => SECOND_US..=120 * SECOND_US,
            // RFC 9293, MUST-58: less than 0.5 s.
            Self::DelayedAck => 0..=499 * MILLISECOND_US,
        }
    }
}

/// A value that a setting cannot have.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Error)]
#[error("{name} is {value}, which is not within {lowest} and {highest}")]
pub struct OutOfRange {
    /// The setting.
    pub name: &'static str,
    /// The value that was given.
    pub value: u64,
    /// The smallest one allowed.
    pub lowest: u64,
    /// The largest one allowed.
    pub highest: u64,
}

/// A value for each [`TimeOut`], always within its range.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct TimeOuts {
    values: [u64; TimeOut::ALL.len()],
}

impl Default for TimeOuts {
    fn default() -> Self {
        Self {
            values: TimeOut::ALL.map(TimeOut::default_value),
        }
    }
}

impl TimeOuts {
    /// The value of one.
    pub const fn get(&self, which: TimeOut) -> u64 {
        self.values[which as usize]
    }

    /// Set one.
    ///
    /// # Errors
    /// A value that is not in its range.
    pub fn set(&mut self, which: TimeOut, value: u64) -> Result<(), OutOfRange> {
        check(name(which), value, which.range())?;
        self.values[which as usize] = value;
        Ok(())
    }
}

const fn name(which: TimeOut) -> &'static str {
    match which {
        TimeOut::Syn => "the time-out of a SYN",
        TimeOut::RetransmissionTime => "the time-out of retransmission",
        TimeOut::RetransmissionCount => "the number of retransmissions",
        TimeOut::Startup => "the time-out of start-up",
        TimeOut::FinWait2 => "the time-out of FIN-WAIT-2",
        TimeOut::KeepaliveIdle => "the idle time before keepalive",
        TimeOut::KeepaliveInterval => "the interval of keepalive",
        TimeOut::KeepaliveCount => "the number of keepalive probes",
        TimeOut::TimeWait => "the time in TIME-WAIT",
        TimeOut::RtoMin => "the smallest retransmission time-out",
        TimeOut::RtoMax => "the largest retransmission time-out",
        TimeOut::DelayedAck => "the delay of acknowledgements",
    }
}

fn check(name: &'static str, value: u64, range: RangeInclusive<u64>) -> Result<(), OutOfRange> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(OutOfRange {
        name,
        value,
        lowest: *range.start(),
        highest: *range.end(),
    })
}

/// Sizes and time-outs of a connection.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Settings {
    /// Maximum segment size that is announced, and the largest that is sent: MTU less the headers
    /// of IP and TCP.
    pub emss_octets: u16,
    /// Octets that the receiver holds until they are read, before the hand-over.
    pub receive_octets: u32,
    /// Shift of the windows that are announced; 0 to 14.
    pub window_shift: u8,
    /// SACK is offered and accepted.
    pub sack: bool,
    /// Records that can be queued, and pieces of records that can be in flight.
    pub records_max: u32,
    /// Congestion control.
    pub algorithm: Algorithm,
    /// Challenge ACKs in [`CHALLENGE_INTERVAL_US`], at most.
    pub challenge_acks_max: u32,
    /// Time-outs.
    pub time_outs: TimeOuts,
}

/// The interval in which challenge ACKs are counted, in microseconds (RFC 5961 section 7).
pub const CHALLENGE_INTERVAL_US: u64 = 5 * SECOND_US;

impl Default for Settings {
    /// For Ethernet with IPv4: 1460 octets a segment; a receiver of 65,535 octets; 1,024 records.
    fn default() -> Self {
        Self {
            emss_octets: 1460,
            receive_octets: 65_535,
            window_shift: 0,
            sack: true,
            records_max: 1024,
            algorithm: Algorithm::NewReno,
            challenge_acks_max: 10,
            time_outs: TimeOuts::default(),
        }
    }
}

impl Settings {
    /// Whether a connection can be made with these.
    ///
    /// # Errors
    /// The first value that is out of its range.
    pub fn check(&self) -> Result<(), OutOfRange> {
        let emss = u64::from(EMSS_OCTETS_MIN)..=u64::from(EMSS_OCTETS_MAX);
        check("the maximum segment size", self.emss_octets.into(), emss)?;
        // The largest window is 65,535 shifted by 14 (RFC 7323 section 2.3).
        let receive = 1..=65_535 << 14;
        check("the receive buffer", self.receive_octets.into(), receive)?;
        check("the window's shift", self.window_shift.into(), 0..=14)?;
        check(
            "the number of records",
            self.records_max.into(),
            1..=1 << 20,
        )?;
        let challenges = self.challenge_acks_max.into();
        check("the number of challenge ACKs", challenges, 1..=1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each time-out at its limits and one beyond, and its default between them.
    #[test]
    fn each_time_out_has_a_default_a_range_and_a_setting() {
        let mut time_outs = TimeOuts::default();
        for (index, which) in TimeOut::ALL.into_iter().enumerate() {
            assert_eq!(
                which as usize, index,
                "the order of ALL is that of the type"
            );
            let (lowest, highest) = (*which.range().start(), *which.range().end());
            assert!(which.range().contains(&which.default_value()), "{which:?}");
            assert_eq!(time_outs.get(which), which.default_value());
            for value in [lowest, highest] {
                assert_eq!(time_outs.set(which, value), Ok(()));
                assert_eq!(time_outs.get(which), value);
            }
            let name = name(which);
            let refused = |value| {
                Err(OutOfRange {
                    name,
                    value,
                    lowest,
                    highest,
                })
            };
            assert_eq!(time_outs.set(which, highest + 1), refused(highest + 1));
            if lowest > 0 {
                assert_eq!(time_outs.set(which, lowest - 1), refused(lowest - 1));
            }
            assert_eq!(
                time_outs.get(which),
                highest,
                "a refused value changes nothing"
            );
        }
    }

    #[test]
    fn settings_out_of_range_are_named() {
        type Change = fn(&mut Settings);
        let good: [Change; 8] = [
            |settings| settings.emss_octets = EMSS_OCTETS_MIN,
            |settings| settings.emss_octets = EMSS_OCTETS_MAX,
            |settings| settings.receive_octets = 1,
            |settings| settings.receive_octets = 65_535 << 14,
            |settings| settings.window_shift = 14,
            |settings| settings.records_max = 1,
            |settings| settings.records_max = 1 << 20,
            |settings| settings.challenge_acks_max = 1,
        ];
        let bad: [Change; 8] = [
            |settings| settings.emss_octets = EMSS_OCTETS_MIN - 1,
            |settings| settings.emss_octets = EMSS_OCTETS_MAX + 1,
            |settings| settings.receive_octets = 0,
            |settings| settings.receive_octets = (65_535 << 14) + 1,
            |settings| settings.window_shift = 15,
            |settings| settings.records_max = 0,
            |settings| settings.records_max = (1 << 20) + 1,
            |settings| settings.challenge_acks_max = 0,
        ];
        let checked = |change: Change| {
            let mut settings = Settings::default();
            change(&mut settings);
            settings.check()
        };
        assert!(good.into_iter().all(|change| checked(change).is_ok()));
        assert!(bad.into_iter().all(|change| checked(change).is_err()));
        let refused = checked(bad[4]).expect_err("15 is too much");
        let text = "the window's shift is 15, which is not within 0 and 14";
        assert_eq!(refused.to_string(), text);
    }
}
