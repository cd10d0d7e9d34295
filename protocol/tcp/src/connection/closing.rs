//! FIN in every order (RFC 9293 section 3.6), abort, and the ends that time-outs make.
//!
//! ```text
//!                 close                 ACK of FIN
//!  Established --------> FinWait1 ----------------> FinWait2
//!       |                   | FIN                      | FIN
//!       | FIN               v        ACK of FIN        v
//!       |                Closing -----------------> TimeWait --> Closed
//!       v       close               ACK of FIN
//!  CloseWait ----------> LastAck ----------------------------> Closed
//! ```
use super::Connection;
use crate::error::Lost;
use crate::output::{Event, State};
use crate::segment::{Flags, Head};
use crate::seq::SeqNumber;
use crate::settings::TimeOut;
use crate::time_wait::TimeWait;

impl Connection {
    /// Send a FIN after the last record. Reading goes on until the peer closes too. Before the
    /// handshake is over this ends the connection.
    pub fn close(&mut self) {
        self.state = match self.state {
            State::SynSent => return self.end(),
            State::SynReceived => return self.abort(),
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            state => state,
        };
        if let Some(sender) = &mut self.sender {
            sender.finish();
        }
    }

    /// Reset the connection.
    pub fn abort(&mut self) {
        self.abort_for(Lost::Aborted);
    }

    /// The peer contradicts its FIN.
    pub(super) fn abort_beyond_fin(&mut self, fin: SeqNumber, end: SeqNumber) {
        self.counts.beyond_fin += 1;
        self.abort_for(Lost::DataBeyondFin { fin, end });
    }

    /// End the connection with an RST.
    pub(super) fn abort_for(&mut self, lost: Lost) {
        let (Some(receiver), Some(sender)) = (&self.receiver, &self.sender) else {
            if self.state == State::SynReceived {
                let ack = self.receiver.as_ref().map(|receiver| receiver.ack());
                self.reset = Some(reset(self.handshake.iss + 1, ack.unwrap_or_default()));
            }
            return self.lose(lost);
        };
        if !matches!(self.state, State::TimeWait | State::Closed) {
            self.reset = Some(reset(sender.nxt(), receiver.ack()));
        }
        self.lose(lost);
    }

    /// The connection has ended before its time.
    pub(super) fn lose(&mut self, lost: Lost) {
        if self.state == State::Closed {
            return;
        }
        self.lost = Some(lost);
        self.events.push_back(Event::Lost(lost));
        self.release();
    }

    fn end(&mut self) {
        self.events.push_back(Event::Closed);
        self.release();
    }

    /// Nothing of the connection is needed any more but its statistics, and octets that can still
    /// be read.
    fn release(&mut self) {
        self.state = State::Closed;
        self.time_wait = None;
        (self.fin_wait_2_us, self.startup_us) = (None, None);
    }

    /// A FIN with this number has arrived.
    pub(super) fn on_peer_fin(&mut self, fin: SeqNumber, now_us: u64) {
        let Some(receiver) = &mut self.receiver else {
            return;
        };
        match receiver.fin() {
            Some(known) if known != fin => {
                return self.abort_beyond_fin(known, fin);
            }
            Some(_) => self.counts.fins += 1,
            None => {
                // Octets after it that are here already, beyond a gap.
                let mut beyond = receiver.ranges().as_slice().iter();
                if let Some(range) = beyond.find(|range| range.1.is_after(fin)) {
                    let end = range.1;
                    return self.abort_beyond_fin(fin, end);
                }
                // A bare FIN may reach the host's ring ahead of octets that hardware has not
                // reported yet: it comes again.
                if receiver.is_handed_over() && fin != receiver.next() {
                    return;
                }
                receiver.on_fin(fin);
                self.counts.fins += 1;
            }
        }
        // A FIN, as what is out of order, is acknowledged at once.
        self.schedule.at_once();
        self.on_peer_end(now_us);
    }

    /// Go on if all octets before the peer's FIN are here.
    pub(super) fn on_peer_end(&mut self, now_us: u64) {
        if !self.receiver_is_ended() {
            return;
        }
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.wait(now_us),
            _ => return,
        }
        self.schedule.at_once();
        self.startup_us = None;
        self.events.push_back(Event::PeerClosed);
    }

    /// The peer has acknowledged this end's FIN.
    pub(super) fn on_fin_acknowledged(&mut self, now_us: u64) {
        match self.state {
            State::FinWait1 => {
                self.state = State::FinWait2;
                let limit_us = self.time_out_us(TimeOut::FinWait2);
                self.fin_wait_2_us = Some(now_us.saturating_add(limit_us));
            }
            State::Closing => self.wait(now_us),
            State::LastAck => self.end(),
            _ => {}
        }
    }

    fn wait(&mut self, now_us: u64) {
        self.state = State::TimeWait;
        self.fin_wait_2_us = None;
        let (Some(receiver), Some(sender)) = (&self.receiver, &self.sender) else {
            return;
        };
        let time_wait_us = self.time_out_us(TimeOut::TimeWait);
        let (snd_nxt, rcv_nxt) = (sender.nxt(), receiver.ack());
        self.time_wait = Some(TimeWait::new(snd_nxt, rcv_nxt, now_us, time_wait_us));
    }

    /// Time-outs of the end.
    pub(super) fn on_time_in_closing(&mut self, now_us: u64) {
        let is_over = |deadline: Option<u64>| deadline.is_some_and(|deadline| deadline <= now_us);
        if is_over(self.time_wait.map(|time_wait| time_wait.deadline_us())) {
            self.end();
        }
        if is_over(self.fin_wait_2_us) {
            self.abort_for(Lost::FinWait2TimeOut);
        }
        if is_over(self.startup_us) {
            self.abort_for(Lost::StartupTimeOut);
        }
    }

    /// Whether a SYN of the peer may open a new connection in place of this one, which is in
    /// TIME-WAIT, and with which smallest initial sequence number.
    pub fn successor(&self, syn: &Head) -> Option<SeqNumber> {
        self.time_wait
            .and_then(|time_wait| time_wait.successor(syn))
    }
}

fn reset(seq: SeqNumber, ack: SeqNumber) -> Head {
    let flags = Flags {
        rst: true,
        ack: true,
        ..Flags::default()
    };
    Head {
        seq,
        ack,
        flags,
        ..Head::default()
    }
}
