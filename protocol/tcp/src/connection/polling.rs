//! What leaves, in which order, and the timers.
//!
//! ```text
//!  timers -> RST -> events -> acknowledged records -> SYN -> ACKs that are owed -> payload, FIN
//! ```
//!
//! A single ACK that is owed waits for the segment with payload that would carry it, if one leaves
//! now. SACK blocks and duplicates have segments of their own: the peer counts those without
//! payload.
use super::Connection;
use crate::error::Lost;
use crate::options::Options;
use crate::output::{Output, State};
use crate::segment::{Flags, Head, Outgoing};
use crate::sender::{Emission, Sender};
use crate::seq::SeqNumber;
use crate::settings::TimeOut;

impl Connection {
    /// The next thing that the connection has for its caller; `None` until something arrives or the
    /// deadline passes.
    pub fn poll(&mut self, now_us: u64) -> Option<Output> {
        self.on_time(now_us);
        if let Some(head) = self.reset.take() {
            return Some(Output::Segment(Outgoing { head, piece: None }));
        }
        if let Some(id) = self.sender.as_mut().and_then(Sender::next_acknowledged) {
            return Some(Output::Acked(id));
        }
        if let Some(event) = self.events.pop_front() {
            return Some(Output::Event(event));
        }
        self.poll_segment(now_us).map(Output::Segment)
    }

    /// The next segment; records and events wait for [`Self::poll`].
    pub(crate) fn poll_outgoing(&mut self, now_us: u64) -> Option<Outgoing> {
        self.on_time(now_us);
        let reset = self.reset.take().map(|head| Outgoing { head, piece: None });
        reset.or_else(|| self.poll_segment(now_us))
    }

    fn poll_segment(&mut self, now_us: u64) -> Option<Outgoing> {
        match self.state {
            State::SynSent => return self.poll_syn(now_us),
            State::SynReceived => {
                let syn = self.poll_syn(now_us);
                return syn.or_else(|| self.poll_ack_in_syn_received());
            }
            State::Closed => return None,
            _ => {}
        }
        let has_ranges = self
            .receiver
            .as_ref()
            .is_some_and(|receiver| !receiver.ranges().is_empty());
        if self.schedule.owed() > 1 || (self.schedule.owed() == 1 && has_ranges) {
            return self.pure_ack();
        }
        let emission = match &mut self.sender {
            Some(sender) if self.state != State::TimeWait => sender.next(now_us),
            _ => None,
        };
        match emission {
            Some(Emission::Data { seq, piece, push }) => {
                let flags = Flags {
                    psh: push,
                    ..Flags::default()
                };
                let head = self.head(seq, flags)?;
                let piece = Some(piece);
                Some(Outgoing { head, piece })
            }
            Some(Emission::Fin { seq }) => {
                let flags = Flags {
                    fin: true,
                    ..Flags::default()
                };
                let head = self.head(seq, flags)?;
                Some(Outgoing { head, piece: None })
            }
            Some(Emission::Probe { seq }) => {
                let head = self.head(seq, Flags::default())?;
                Some(Outgoing { head, piece: None })
            }
            None if self.schedule.owed() > 0 => self.pure_ack(),
            None => self.poll_keepalive(now_us),
        }
    }

    /// A segment that is not acceptable is answered before the handshake is over, too (RFC 9293
    /// section 3.10.7.4).
    fn poll_ack_in_syn_received(&mut self) -> Option<Outgoing> {
        if self.schedule.owed() == 0 {
            return None;
        }
        let head = self.head(self.handshake.iss + 1, Flags::default())?;
        Some(Outgoing { head, piece: None })
    }

    fn pure_ack(&mut self) -> Option<Outgoing> {
        let seq = self.sender.as_ref()?.nxt();
        let newer = self.schedule.owed().saturating_sub(1) as usize;
        let mut head = self.head(seq, Flags::default())?;
        if self.settings.sack && self.handshake.peer.is_some_and(|peer| peer.sack) {
            let ranges = self.receiver.as_ref()?.ranges();
            head.options = Options {
                sack: ranges.blocks(newer),
                ..Options::default()
            };
        }
        Some(Outgoing { head, piece: None })
    }

    /// A header with the current acknowledgement, which nothing has to send any more.
    fn head(&mut self, seq: SeqNumber, flags: Flags) -> Option<Head> {
        let receiver = self.receiver.as_mut()?;
        let (ack, shift) = (receiver.ack(), receiver.shift());
        let window = receiver.announce(shift);
        self.schedule.on_sent();
        Some(Head {
            seq,
            ack,
            flags: Flags { ack: true, ..flags },
            window,
            options: Options::default(),
        })
    }

    /// When [`Self::poll`] has something to do although nothing has arrived.
    pub fn deadline_us(&self) -> Option<u64> {
        let sender = self.sender.as_ref().filter(|_| self.state.sends());
        let deadlines = [
            self.handshake_deadline_us(),
            sender.and_then(Sender::deadline_us),
            self.schedule.deadline_us(),
            self.time_wait.map(|time_wait| time_wait.deadline_us()),
            self.fin_wait_2_us,
            self.startup_us,
            self.keepalive_deadline_us(),
        ];
        let deadlines = deadlines
            .into_iter()
            .filter(|_| self.state != State::Closed);
        deadlines.flatten().min()
    }

    fn on_time(&mut self, now_us: u64) {
        if self.state == State::Closed {
            return;
        }
        self.on_time_in_handshake(now_us);
        self.on_time_in_closing(now_us);
        self.schedule.on_time(now_us);
        let sends = self.state.sends();
        let sender = self.sender.as_mut().filter(|_| sends);
        if let Some(Err(lost)) = sender.map(|sender| sender.on_time(now_us)) {
            self.abort_for(lost);
        }
        let is_over = self
            .keepalive_deadline_us()
            .is_some_and(|deadline| deadline <= now_us);
        let count = self.time_out_us(TimeOut::KeepaliveCount) as u32;
        if is_over && self.keepalive_probes >= count {
            self.abort_for(Lost::KeepaliveTimeOut { count });
        }
    }

    /// RFC 9293 section 3.8.4: only where nothing is in flight that would find out.
    fn keepalive_deadline_us(&self) -> Option<u64> {
        let idle_us = self.time_out_us(TimeOut::KeepaliveIdle);
        let is_idle = self.sender.as_ref().is_some_and(Sender::is_idle);
        let is_open = matches!(self.state, State::Established | State::CloseWait);
        if idle_us == 0 || !is_idle || !is_open {
            return None;
        }
        let interval_us = self.time_out_us(TimeOut::KeepaliveInterval);
        let waited_us = idle_us + u64::from(self.keepalive_probes) * interval_us;
        Some(self.heard_us.saturating_add(waited_us))
    }

    fn poll_keepalive(&mut self, now_us: u64) -> Option<Outgoing> {
        if self.keepalive_deadline_us()? > now_us {
            return None;
        }
        self.keepalive_probes += 1;
        let seq = self.sender.as_ref()?.nxt() - 1;
        let head = self.head(seq, Flags::default())?;
        Some(Outgoing { head, piece: None })
    }
}
