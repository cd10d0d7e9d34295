//! The sender's timers: retransmission, the closed window, and when to give up.
use super::types::{Emission, Limit, Recovery, SenderCounts};
use super::Sender;
use crate::error::Lost;
use crate::seq::SeqNumber;

impl Sender {
    /// When [`Self::on_time`] has something to do.
    pub fn deadline_us(&self) -> Option<u64> {
        let timer = self.timer_us.into_iter().chain(self.persist_us).min()?;
        Some(timer.min(self.progress_us.saturating_add(self.give_up_us)))
    }

    /// Let timers expire.
    ///
    /// # Errors
    /// The peer has acknowledged nothing for too long.
    pub fn on_time(&mut self, now_us: u64) -> Result<(), Lost> {
        if self.deadline_us().is_none_or(|deadline| deadline > now_us) {
            return Ok(());
        }
        if now_us >= self.progress_us.saturating_add(self.give_up_us) {
            return Err(Lost::RetransmissionTimeOut { seq: self.una });
        }
        if self.timer_us.is_some_and(|deadline| deadline <= now_us) {
            self.on_retransmission_time_out(now_us)?;
        }
        if self.persist_us.is_some_and(|deadline| deadline <= now_us) {
            self.persist_us = None;
            self.count_attempt()?;
            self.rto.back_off();
            self.probe_due = true;
        }
        Ok(())
    }

    /// RFC 6298 (5.4) to (5.6).
    fn on_retransmission_time_out(&mut self, now_us: u64) -> Result<(), Lost> {
        self.timer_us = None;
        if self.blocked {
            // The segment may still be in the transmit ring: time, not the network, is short.
            self.start_timer(now_us);
            return Ok(());
        }
        self.count_attempt()?;
        self.counts.time_outs += 1;
        let flight = u64::from(self.nxt.octets_since(self.una));
        self.congestion.on_time_out(flight, self.attempts > 1);
        self.rto.back_off();
        self.scoreboard.lose_all();
        self.recovery = Recovery::TimeOut { point: self.nxt };
        self.undo = None;
        self.recover = self.nxt;
        (self.duplicate_acks, self.inflation_octets) = (0, 0);
        Ok(())
    }

    fn count_attempt(&mut self) -> Result<(), Lost> {
        self.attempts += 1;
        if self.attempts > self.attempts_max {
            let count = self.attempts_max;
            return Err(Lost::RetransmissionCount {
                seq: self.una,
                count,
            });
        }
        Ok(())
    }

    /// The peer's window has no room for the next segment, and nothing in flight can bring an ACK
    /// that opens it: ask (RFC 9293 section 3.8.6.1). A probe has no payload, which would have
    /// other bounds than a record.
    pub(super) fn probe(&mut self, now_us: u64) -> Option<Emission> {
        let is_stuck = self.scoreboard.is_empty()
            || (self.scoreboard.is_grounded() && self.scoreboard.has_lost());
        if self.limit != Limit::Window || !is_stuck {
            (self.persist_us, self.probe_due) = (None, false);
            if !self.scoreboard.is_empty() {
                self.start_timer(now_us);
            }
            return None;
        }
        self.timer_us = None;
        if self.persist_us.is_none() {
            if self.scoreboard.is_empty() && !self.probe_due {
                self.progress_us = now_us;
            }
            self.persist_us = Some(now_us.saturating_add(self.rto.rto_us()));
        }
        if !self.probe_due {
            return None;
        }
        self.probe_due = false;
        self.counts.window_probes += 1;
        Some(Emission::Probe { seq: self.una - 1 })
    }

    /// SND.UNA: the first octet that is not acknowledged.
    pub fn una(&self) -> SeqNumber {
        self.una
    }

    /// SND.NXT: the number after the last that was sent.
    pub fn nxt(&self) -> SeqNumber {
        self.nxt
    }

    /// SEG.WND of the last window update, as it was in the header.
    pub fn window_unscaled(&self) -> u16 {
        self.window.unscaled
    }

    /// Shift of the peer's windows.
    pub fn window_shift(&self) -> u8 {
        self.window.shift
    }

    /// The peer's window, in octets from SND.UNA on.
    pub fn window_octets(&self) -> u32 {
        self.window.octets
    }

    /// Octets that are believed to be in the network.
    pub fn flying_octets(&self) -> u64 {
        self.scoreboard.flying_octets()
    }

    /// Octets that may be in the network: the congestion window as it is used.
    pub fn congestion_octets(&self) -> u64 {
        self.usable_octets()
    }

    /// Above it the congestion window grows slowly.
    pub fn threshold_octets(&self) -> u64 {
        self.congestion.threshold_octets()
    }

    /// Smoothed round-trip time, in microseconds.
    pub fn srtt_us(&self) -> Option<u64> {
        self.rto.srtt_us()
    }

    /// The retransmission time-out with its back-off, in microseconds.
    pub fn time_out_us(&self) -> u64 {
        self.rto.rto_us()
    }

    /// Largest segment, in octets.
    pub fn emss_octets(&self) -> u16 {
        self.emss_octets
    }

    /// What was counted.
    pub fn counts(&self) -> SenderCounts {
        self.counts
    }
}
