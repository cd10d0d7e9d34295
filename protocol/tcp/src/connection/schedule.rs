//! When acknowledgements are due (RFC 9293 section 3.8.6.3, RFC 5681 section 4.2).

/// Segments with payload that are acknowledged together.
const SEGMENTS: u32 = 2;
/// Acknowledgements that can be owed; the device counts them modulo 256.
const OWED_MAX: u32 = 255;

/// What is owed to the peer.
#[derive(Copy, Clone, Debug, Default, Hash)]
pub(super) struct Schedule {
    /// ACKs to be sent at once; more than one only for duplicates, which the peer counts.
    owed: u32,
    /// Segments that have not been acknowledged yet.
    segments: u32,
    deadline_us: Option<u64>,
}

impl Schedule {
    /// A segment with payload has arrived in order.
    pub(super) fn on_segment(&mut self, now_us: u64, delay_us: u64) {
        self.segments += 1;
        if self.segments >= SEGMENTS || delay_us == 0 {
            self.owed = self.owed.max(1);
        } else if self.deadline_us.is_none() {
            self.deadline_us = Some(now_us.saturating_add(delay_us));
        }
    }

    /// An ACK is due now; one that is due already will do.
    pub(super) fn at_once(&mut self) {
        self.owed = self.owed.max(1);
    }

    /// `count` ACKs are due, each of which the peer counts.
    pub(super) fn duplicates(&mut self, count: u32) {
        self.owed = (self.owed + count).min(OWED_MAX);
    }

    /// When a delay ends.
    pub(super) fn deadline_us(&self) -> Option<u64> {
        self.deadline_us
    }

    /// Let a delay end.
    pub(super) fn on_time(&mut self, now_us: u64) {
        if self.deadline_us.is_some_and(|deadline| deadline <= now_us) {
            self.at_once();
            self.deadline_us = None;
        }
    }

    /// ACKs that are due.
    pub(super) fn owed(&self) -> u32 {
        self.owed
    }

    /// A segment with an acknowledgement leaves.
    pub(super) fn on_sent(&mut self) {
        self.owed = self.owed.saturating_sub(1);
        (self.segments, self.deadline_us) = (0, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9293, MUST-58 and SHLD-18: every second segment, and none later than the delay.
    #[test]
    fn the_second_segment_or_the_delay_makes_an_ack_due() {
        let mut schedule = Schedule::default();
        schedule.on_segment(100, 500);
        assert_eq!((schedule.owed(), schedule.deadline_us()), (0, Some(600)));
        schedule.on_time(599);
        assert_eq!(schedule.owed(), 0);
        schedule.on_time(600);
        assert_eq!((schedule.owed(), schedule.deadline_us()), (1, None));
        schedule.on_sent();
        schedule.on_segment(700, 500);
        schedule.on_segment(800, 500);
        assert_eq!((schedule.owed(), schedule.deadline_us()), (1, Some(1_200)));
        schedule.on_sent();
        assert_eq!((schedule.owed(), schedule.deadline_us()), (0, None));
    }

    #[test]
    fn duplicates_are_owed_one_by_one_up_to_what_the_device_counts() {
        let mut schedule = Schedule::default();
        schedule.at_once();
        schedule.at_once();
        schedule.duplicates(3);
        for owed in (0..4).rev() {
            schedule.on_sent();
            assert_eq!(schedule.owed(), owed);
        }
        for _ in 0..3 {
            schedule.duplicates(255);
        }
        assert_eq!(schedule.owed(), OWED_MAX);
    }
}
