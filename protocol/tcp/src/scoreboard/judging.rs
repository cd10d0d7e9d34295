//! Which segments are lost (RFC 6675, IsLost), and how far the path is known to reorder.
//!
//! The threshold of the RFC is three segments. A path that delivers one of them later than that
//! would have it sent again and the window halved, so each segment that arrives late, and was not
//! sent again or cannot have been answered since, raises the threshold to its distance (RFC 4653
//! has the reasons). The timer sets it back.
use super::entry::{Entry, Progress, State};
use super::Scoreboard;
use crate::seq::SeqNumber;

/// The threshold with reordering, at most: beyond it a loss waits for the timer too often.
const THRESHOLD_MAX: u32 = 300;

impl Scoreboard {
    /// A report follows. What was sent later than `unanswered_us` has been answered by nobody: an
    /// acknowledgement of it is of an earlier transmission.
    pub fn begin_report(&mut self, una: SeqNumber, unanswered_us: u64) {
        self.furthest = self.ranges.last().map_or(una, |range| range.1);
        self.unanswered_us = unanswered_us;
    }

    /// The report has been taken.
    pub fn end_report(&mut self) {
        (self.furthest, self.unanswered_us) = (SeqNumber::default(), 0);
    }

    /// Duplicates that make the first segment lost.
    pub fn threshold(&self) -> u32 {
        self.threshold
    }

    /// An entry has arrived that had neither been acknowledged nor sacked.
    pub(super) fn note(&mut self, entry: &Entry, progress: &mut Progress) {
        progress.add(entry);
        let is_again = entry.transmissions > 1;
        let in_vain = is_again && entry.sent_us > self.unanswered_us;
        progress.in_vain += u32::from(in_vain);
        if !in_vain {
            self.arrived_us = self.arrived_us.max(entry.sent_us);
        }
        if !is_again || in_vain {
            let late = self.furthest.octets_since(entry.end());
            progress.late_octets = progress.late_octets.max(late);
        }
    }

    /// A segment has arrived after others that were up to `late_octets` beyond it: raise the
    /// threshold, and take back what was judged lost by the old one and has not been sent again.
    pub fn tolerate(&mut self, late_octets: u32, emss_octets: u32) {
        let threshold = (late_octets.div_ceil(emss_octets) + 1).min(THRESHOLD_MAX);
        if late_octets == 0 || threshold <= self.threshold {
            return;
        }
        self.threshold = threshold;
        for index in (0..self.entries.len()).rev() {
            let entry = self.entries[index];
            let is_unsent = entry.state == State::Lost && entry.transmissions == 1;
            if is_unsent && !self.is_passed(entry.end(), emss_octets) {
                self.entries[index].state = State::Flying;
                self.lost -= 1;
                self.flying += 1;
                self.flying_octets += u64::from(entry.octets());
                self.judged = self.judged.earlier(entry.seq);
            }
        }
    }

    /// Enough was sacked beyond `seq` to judge lost what was sent before it (RFC 6675, IsLost).
    fn is_passed(&self, seq: SeqNumber, emss_octets: u32) -> bool {
        let (mut runs, mut octets) = (0, 0);
        for range in self.ranges.iter().rev() {
            let beyond = range.1.octets_since(range.0.later(seq));
            if beyond == 0 {
                return false;
            }
            runs += 1;
            octets += beyond;
            if runs >= self.threshold || octets > (self.threshold - 1) * emss_octets {
                return true;
            }
        }
        false
    }

    /// Judge what has been passed by enough sacked octets, once, and what was sent again by what
    /// was sent more than `reorder_us` after it and has arrived (RFC 8985 section 6.2). Returns
    /// when the latest retransmission was sent that is now known to be lost.
    pub fn judge(&mut self, emss_octets: u32, reorder_us: u64) -> Option<u64> {
        let begin = self
            .entries
            .partition_point(|entry| entry.seq.is_before(self.judged));
        for index in begin..self.entries.len() {
            let entry = &self.entries[index];
            let end = entry.end();
            if entry.state == State::Flying && entry.transmissions == 1 {
                if !self.is_passed(end, emss_octets) {
                    break;
                }
                self.lose(index);
            } else if self.ranges.last().is_none_or(|range| end.is_after(range.1)) {
                break;
            }
            self.judged = end;
        }
        let mut found = None;
        while let Some(&(sent_us, seq)) = self.again.front() {
            if sent_us.saturating_add(reorder_us) >= self.arrived_us {
                break;
            }
            self.again.pop_front();
            if let Some(index) = self.flying_again(sent_us, seq) {
                self.lose(index);
                found = Some(sent_us);
            }
        }
        found
    }

    /// The entry at `seq`, if it was last sent at `sent_us` and flies.
    fn flying_again(&self, sent_us: u64, seq: SeqNumber) -> Option<usize> {
        let entries = &self.entries;
        let index = entries.partition_point(|entry| entry.seq.is_before(seq));
        let entry = entries.get(index)?;
        let is_it = entry.seq == seq && entry.sent_us == sent_us && entry.state == State::Flying;
        is_it.then_some(index)
    }

    /// Most of what was sent again has arrived, and nothing sent after it: a peer that answers
    /// faster than it did can go on like this.
    pub(super) fn forget_settled(&mut self) {
        let again = std::mem::take(&mut self.again);
        let flies = |&(sent_us, seq): &(u64, SeqNumber)| self.flying_again(sent_us, seq).is_some();
        self.again = again.into_iter().filter(flies).collect();
    }

    /// An entry that flies is lost.
    fn lose(&mut self, index: usize) {
        let entry = &mut self.entries[index];
        entry.state = State::Lost;
        let (seq, octets) = (entry.seq, entry.octets());
        self.ground(octets);
        self.lost += 1;
        self.lost_from = self.lost_from.earlier(seq);
    }

    /// The first segment is lost; by duplicate ACKs, whose sender does not say what it has.
    pub fn lose_head(&mut self) {
        let Some(head) = self.entries.front() else {
            return;
        };
        self.judged = self.judged.later(head.end());
        if head.state == State::Flying {
            self.lose(0);
        }
    }
}
