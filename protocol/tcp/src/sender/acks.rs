//! Acknowledgements: what has left the network, what is lost, how far the windows go.
//!
//! ```text
//!             three duplicate ACKs,          all acknowledged
//!             or IsLost of a segment         that was in flight
//!  [None] ------------------------> [Fast] ---------------------> [None]
//!     |                               |
//!     |  the timer expires            |  the timer expires
//!     `-----------> [TimeOut] <-------'        ends as Fast does
//! ```
//!
//! With SACK this is RFC 6675, without it NewReno (RFC 6582) with limited transmit (RFC 3042).
use super::types::{Limit, Recovery, Undo};
use super::Sender;
use crate::options::SackBlocks;
use crate::scoreboard::Progress;
use crate::seq::SeqNumber;

/// Duplicate ACKs that begin fast recovery (RFC 5681 section 3.2).
const DUPLICATE_ACKS: u32 = 3;

/// What a segment, or an event of the device, says of what has arrived at the peer.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct AckReport {
    /// SEG.ACK.
    pub ack: SeqNumber,
    /// SEG.WND as it is in the header.
    pub window: u16,
    /// SEG.SEQ; an event of the device has none and is taken as newer than all before.
    pub seq: Option<SeqNumber>,
    /// SACK blocks.
    pub sack: SackBlocks,
    /// Duplicate ACKs that the report stands for, if SEG.ACK is SND.UNA: 1 for a segment without
    /// payload, SYN and FIN, any number for an event.
    pub duplicates: u32,
}

/// Whether an acknowledgement number can be one (RFC 5961 section 5.2).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum AckVerdict {
    /// It has been taken.
    Taken,
    /// Below SND.UNA, by no more than the largest window: old, and to be ignored.
    Old,
    /// Of what was never sent, or older than any segment can be: to be answered, and dropped.
    Unacceptable,
}

impl Sender {
    /// What became of an acknowledgement number.
    pub fn judge_ack(&self, ack: SeqNumber) -> AckVerdict {
        if ack.is_within(self.una, self.nxt) {
            return AckVerdict::Taken;
        }
        if ack.is_within(self.una - self.window.max_octets, self.una) {
            return AckVerdict::Old;
        }
        AckVerdict::Unacceptable
    }

    /// Take a report.
    pub fn on_ack(&mut self, report: &AckReport, now_us: u64) -> AckVerdict {
        let verdict = self.judge_ack(report.ack);
        if verdict != AckVerdict::Taken {
            return verdict;
        }
        if self.persist_us.is_some() || self.probe_due {
            // RFC 9293 section 3.8.6.1: a peer that answers probes may keep its window closed.
            (self.attempts, self.progress_us) = (0, now_us);
        }
        let same_window = report.window == self.window.unscaled;
        self.update_window(report);
        let (was_full, una) = (self.limit == Limit::Congestion, self.una);
        let unanswered_us = now_us.saturating_sub(self.rto.least_us().unwrap_or(0));
        self.scoreboard.begin_report(self.una, unanswered_us);
        let mut progress = self.acknowledge(report.ack);
        let mut sacked = false;
        for &(left, right) in report.sack.as_slice().iter().filter(|_| self.sack) {
            let of_block = self.scoreboard.sack(left, right);
            sacked |= of_block.octets > 0;
            progress.join(of_block);
        }
        if let Some(sent_us) = progress.sent_us {
            self.rto.sample(now_us.saturating_sub(sent_us));
        }
        if self.sack && !matches!(self.recovery, Recovery::TimeOut { .. }) {
            self.judge_reordering(&progress);
        }
        if self.una == una {
            // RFC 6675 counts ACKs with news in their blocks, RFC 5681 those without any news.
            let repeated = !self.scoreboard.is_empty() && same_window;
            match self.sack {
                true if sacked => self.on_duplicate(1, now_us),
                false if repeated => self.on_duplicate(report.duplicates, now_us),
                _ => {}
            }
        } else {
            self.on_progress(una, progress, was_full, now_us);
        }
        if self.sack {
            self.judge_losses(now_us);
        }
        self.scoreboard.end_report();
        verdict
    }

    /// What came late was not lost. If all that was sent again in this recovery was sent in vain,
    /// and nothing else is lost, the congestion control is as it was before.
    fn judge_reordering(&mut self, progress: &Progress) {
        let emss_octets = self.emss_octets.into();
        self.scoreboard.tolerate(progress.late_octets, emss_octets);
        let Some(undo) = &mut self.undo else {
            return;
        };
        undo.sent_again = undo.sent_again.saturating_sub(progress.in_vain);
        let was_in_vain = progress.in_vain > 0 || progress.late_octets > 0;
        if !was_in_vain || undo.sent_again > 0 || self.scoreboard.has_lost() {
            return;
        }
        if let Some(undo) = self.undo.take() {
            self.congestion = undo.congestion;
            self.counts.undone_recoveries += 1;
            self.end_recovery();
        }
    }

    /// RFC 9293 section 3.10.7.4: the window of the newest segment. One of a segment that is not
    /// older in what it acknowledges is taken if SEG.SEQ is missing.
    fn update_window(&mut self, report: &AckReport) {
        let seq = report.seq.unwrap_or(self.window.seq);
        let is_newer = self.window.seq.is_before(seq)
            || (self.window.seq == seq && !report.ack.is_before(self.window.ack));
        if !is_newer {
            return;
        }
        self.window.seq = seq;
        self.window.ack = report.ack;
        self.window.unscaled = report.window;
        self.window.octets = u32::from(report.window) << self.window.shift;
        self.window.max_octets = self.window.max_octets.max(self.window.octets);
    }

    fn acknowledge(&mut self, ack: SeqNumber) -> Progress {
        self.una = ack;
        let acknowledged = &mut self.acknowledged;
        self.scoreboard.acknowledge(ack, |entry| {
            if let Some(piece) = entry.piece.filter(|_| entry.is_last) {
                acknowledged.push_back(piece.id);
            }
        })
    }

    /// SND.UNA has moved, from `before`.
    fn on_progress(&mut self, before: SeqNumber, news: Progress, was_full: bool, now_us: u64) {
        (self.attempts, self.progress_us, self.duplicate_acks) = (0, now_us, 0);
        self.rto.end_back_off();
        // RFC 6298 (5.2) and (5.3).
        self.timer_us = None;
        if !self.scoreboard.is_empty() {
            self.start_timer(now_us);
        }
        match self.recovery {
            Recovery::Fast { point } if self.una.is_before(point) => {
                if !self.sack {
                    self.on_partial_ack(self.una.octets_since(before));
                }
                return;
            }
            Recovery::Fast { .. } => {
                if !self.sack {
                    self.congestion
                        .end_recovery(self.scoreboard.flying_octets());
                }
                self.end_recovery();
                return;
            }
            Recovery::TimeOut { point } if !self.una.is_before(point) => self.end_recovery(),
            _ => self.inflation_octets = 0,
        }
        if was_full {
            let srtt_us = self.rto.srtt_us().unwrap_or(0);
            self.congestion.on_ack(news.octets, now_us, srtt_us);
        }
    }

    fn end_recovery(&mut self) {
        self.recovery = Recovery::None;
        self.undo = None;
        self.inflation_octets = 0;
        self.force = false;
    }

    /// RFC 6582 section 3.2, step 3, second way.
    fn on_partial_ack(&mut self, octets: u32) {
        let (octets, emss) = (u64::from(octets), u64::from(self.emss_octets));
        self.inflation_octets = self.inflation_octets.saturating_sub(octets);
        if octets >= emss {
            self.inflation_octets += emss;
        }
        self.scoreboard.lose_head();
        self.force = true;
    }

    /// `count` duplicate ACKs.
    fn on_duplicate(&mut self, count: u32, now_us: u64) {
        self.counts.duplicate_acks += u64::from(count);
        self.duplicate_acks = self.duplicate_acks.saturating_add(count);
        let threshold = match self.sack {
            true => self.scoreboard.threshold(),
            false => DUPLICATE_ACKS,
        };
        let emss = u64::from(self.emss_octets);
        match self.recovery {
            // RFC 6582 section 3.2, step 1: not for duplicates that a time-out has caused.
            Recovery::None
                if self.duplicate_acks >= threshold
                    && (self.sack || self.una.is_after(self.recover)) =>
            {
                self.begin_recovery(now_us);
                self.scoreboard.lose_head();
                if !self.sack {
                    self.inflation_octets = u64::from(self.duplicate_acks) * emss;
                }
            }
            Recovery::None if self.duplicate_acks >= threshold => {}
            Recovery::None if !self.sack => {
                self.inflation_octets = u64::from(self.duplicate_acks) * emss;
            }
            Recovery::Fast { .. } if !self.sack => {
                // No more segments than were in flight can have left the network.
                let most = u64::from(self.nxt.octets_since(self.una));
                let widened = self.inflation_octets + u64::from(count) * emss;
                self.inflation_octets = widened.min(most.max(self.inflation_octets));
            }
            _ => {}
        }
    }

    /// RFC 6675 section 5, after each ACK.
    fn judge_losses(&mut self, now_us: u64) {
        let reorder_us = self.rto.srtt_us().unwrap_or(0) / 4;
        let again = self.scoreboard.judge(self.emss_octets.into(), reorder_us);
        self.counts.lost_retransmissions += u64::from(again.is_some());
        if !self.scoreboard.has_lost() {
            return;
        }
        match (self.recovery, again) {
            (Recovery::None, _) => self.begin_recovery(now_us),
            // A retransmission was lost: congestion again (RFC 5681 section 4.3), unless it was
            // sent before the window was last reduced.
            (Recovery::Fast { .. }, Some(sent_us)) if sent_us >= self.reduced_us => {
                self.begin_recovery(now_us);
            }
            _ => {}
        }
    }

    fn begin_recovery(&mut self, now_us: u64) {
        self.reduced_us = now_us;
        // A second reduction for the same losses is not taken back.
        self.undo = (self.recovery == Recovery::None && self.sack).then(|| Undo {
            congestion: self.congestion.clone(),
            sent_again: 0,
        });
        let flight = u64::from(self.nxt.octets_since(self.una));
        self.congestion.on_loss(flight);
        self.recovery = Recovery::Fast { point: self.nxt };
        self.recover = self.nxt;
        self.force = true;
        self.counts.fast_recoveries += 1;
    }
}
