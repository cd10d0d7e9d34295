//! A segment in a connection: the checks of RFC 9293 section 3.10.7.4 in their order, with those of
//! RFC 5961.
//!
//! ```text
//!  RST -> SYN -> window -> ACK -> payload -> FIN
//!   |      |       |        |
//!   |      |       |        `-- of what was never sent: challenge ACK
//!   |      |       `-- outside: ACK
//!   |      `-- challenge ACK
//!   `-- exact: reset; in the window: challenge ACK
//! ```
use super::handshake::reset_at;
use super::Connection;
use crate::error::Lost;
use crate::handover::{late, Late};
use crate::output::State;
use crate::receiver::{Arrival, Receiver};
use crate::segment::{Head, Segment};
use crate::sender::acks::{AckReport, AckVerdict};
use crate::settings::{TimeOut, CHALLENGE_INTERVAL_US};
use crate::time_wait::Answer;

impl Connection {
    /// Take a segment of this connection, whose checksum has been verified.
    pub fn on_segment(&mut self, segment: &Segment, now_us: u64) {
        self.counts.segments += 1;
        match self.state {
            State::Closed => {}
            State::SynSent => self.on_segment_in_syn_sent(segment, now_us),
            State::TimeWait => self.on_segment_in_time_wait(segment, now_us),
            _ => self.on_segment_in_connection(segment, now_us),
        }
    }

    fn on_segment_in_time_wait(&mut self, segment: &Segment, now_us: u64) {
        let time_wait_us = self.time_out_us(TimeOut::TimeWait);
        let Some(time_wait) = &mut self.time_wait else {
            return;
        };
        match time_wait.on_segment(segment, now_us, time_wait_us) {
            Answer::Ack => self.challenge(now_us),
            Answer::Nothing => {}
        }
    }

    fn on_segment_in_connection(&mut self, segment: &Segment, now_us: u64) {
        let head = &segment.head;
        if head.flags.rst {
            return self.on_reset(head, now_us);
        }
        if head.flags.syn {
            let irs = self.handshake.peer.map(|peer| peer.irs);
            if self.state == State::SynReceived && irs == Some(head.seq) {
                return self.on_repeated_syn(segment, now_us);
            }
            self.counts.syns += 1;
            return self.challenge(now_us);
        }
        let Some(receiver) = &self.receiver else {
            return;
        };
        if !receiver.is_acceptable(head.seq, segment.sequence_octets()) {
            self.counts.unacceptable += 1;
            return self.on_unacceptable(segment);
        }
        if !head.flags.ack {
            self.counts.without_ack += 1;
            return;
        }
        if !self.on_acknowledgement(segment, now_us) {
            return;
        }
        self.heard(now_us);
        self.on_payload(segment, now_us);
        if head.flags.fin {
            let fin = head.seq + segment.payload.len() as u32;
            self.on_peer_fin(fin, now_us);
        }
    }

    /// The peer lives.
    pub(super) fn heard(&mut self, now_us: u64) {
        (self.heard_us, self.keepalive_probes) = (now_us, 0);
    }

    /// RFC 5961 section 3.2.
    fn on_reset(&mut self, head: &Head, now_us: u64) {
        let Some(receiver) = &self.receiver else {
            return;
        };
        if head.seq == receiver.ack() {
            self.counts.resets += 1;
            return self.lose(Lost::Reset { seq: head.seq });
        }
        self.counts.inexact_resets += 1;
        if receiver.is_acceptable(head.seq, 0) {
            self.challenge(now_us);
        }
    }

    /// A segment outside of the window is answered, so that a peer that has missed an
    /// acknowledgement, or probes, learns where this end is. Of octets that hardware is to judge,
    /// software says nothing: its event does.
    fn on_unacceptable(&mut self, segment: &Segment) {
        let is_old_fin = segment.head.flags.fin && self.receiver_is_ended();
        if self.is_handed_over() && !is_old_fin {
            return;
        }
        if !segment.payload.is_empty() || segment.head.flags.fin {
            self.counts.not_kept += 1;
        }
        self.schedule.duplicates(1);
    }

    pub(super) fn receiver_is_ended(&self) -> bool {
        self.receiver.as_ref().is_some_and(Receiver::is_ended)
    }

    pub(super) fn is_handed_over(&self) -> bool {
        self.receiver.as_ref().is_some_and(Receiver::is_handed_over)
    }

    /// Take SEG.ACK; false if the segment ends there.
    fn on_acknowledgement(&mut self, segment: &Segment, now_us: u64) -> bool {
        let head = &segment.head;
        if self.state == State::SynReceived {
            if head.ack != self.handshake.iss + 1 {
                self.counts.bad_acks += 1;
                self.reset = Some(reset_at(head.ack));
                return false;
            }
            self.establish(head, now_us);
        }
        let is_bare = segment.payload.is_empty() && !head.flags.fin;
        // Once hardware has the receiver, its events count duplicates.
        let counts = is_bare && !self.is_handed_over();
        let report = AckReport {
            ack: head.ack,
            window: head.window,
            seq: Some(head.seq),
            sack: head.options.sack,
            duplicates: u32::from(counts),
        };
        self.on_ack_report(&report, now_us)
    }

    /// Take a report of the peer's side, of a segment or an event; false if it is not acceptable.
    pub(super) fn on_ack_report(&mut self, report: &AckReport, now_us: u64) -> bool {
        let Some(sender) = &mut self.sender else {
            return false;
        };
        match sender.on_ack(report, now_us) {
            AckVerdict::Taken => self.counts.acks += 1,
            AckVerdict::Old => self.counts.old_acks += 1,
            AckVerdict::Unacceptable => {
                self.counts.bad_acks += 1;
                self.challenge(now_us);
                return false;
            }
        }
        if sender.is_finished() {
            self.on_fin_acknowledged(now_us);
        }
        true
    }

    fn on_payload(&mut self, segment: &Segment, now_us: u64) {
        let (seq, payload) = (segment.head.seq, segment.payload);
        let Some(receiver) = &mut self.receiver else {
            return;
        };
        if payload.is_empty() {
            return;
        }
        let end = seq + payload.len() as u32;
        if let Some(fin) = receiver.fin().filter(|&fin| end.is_after(fin)) {
            return self.abort_beyond_fin(fin, end);
        }
        if receiver.is_handed_over() {
            // Rule 2 of the switch: known, or to come again for hardware.
            let switch = receiver.next();
            self.counts.not_kept +=
                u64::from(late(switch, seq, payload.len() as u32) == Late::Dropped);
            return;
        }
        let arrival = receiver.on_octets(seq, payload);
        match arrival {
            Arrival::InOrder { .. } => self.counts.in_order += 1,
            Arrival::OutOfOrder => self.counts.out_of_order += 1,
            Arrival::Nothing => self.counts.not_kept += 1,
        }
        match arrival {
            Arrival::InOrder { filled_gap: false } => {
                let delay_us = self.time_out_us(TimeOut::DelayedAck);
                self.schedule.on_segment(now_us, delay_us);
            }
            Arrival::InOrder { filled_gap: true } => self.schedule.at_once(),
            Arrival::OutOfOrder | Arrival::Nothing => self.schedule.duplicates(1),
        }
        // A FIN that came before its last octets takes effect with them.
        self.on_peer_end(now_us);
    }

    /// RFC 5961 section 7: an ACK that answers what may be an attack, a limited number of times.
    pub(super) fn challenge(&mut self, now_us: u64) {
        let challenges = &mut self.challenges;
        if now_us.saturating_sub(challenges.since_us) >= CHALLENGE_INTERVAL_US {
            (challenges.since_us, challenges.count) = (now_us, 0);
        }
        if challenges.count < self.settings.challenge_acks_max {
            challenges.count += 1;
            self.counts.challenges += 1;
            self.schedule.at_once();
        } else {
            self.counts.challenges_left_out += 1;
        }
    }
}
