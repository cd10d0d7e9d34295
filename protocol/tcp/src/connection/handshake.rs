//! SYN in both roles and at the same time (RFC 9293 section 3.5).
//!
//! ```text
//!  connect --> SynSent ----- SYN-ACK -----> Established
//!                 |                            ^
//!                 `-- SYN --> SynReceived -----'  ACK
//!  accept ----------------------^
//! ```
//!
//! Simultaneous open is supported: a SYN that meets a SYN leads to SYN-RECEIVED at both ends.
//! Payload and FIN of a SYN are not taken; the peer sends them again.
use super::{Connection, PeerSyn};
use crate::error::Lost;
use crate::options::Options;
use crate::output::{Event, State};
use crate::receiver::Receiver;
use crate::segment::{Flags, Head, Outgoing, Segment};
use crate::sender::{Agreed, Sender};
use crate::seq::SeqNumber;
use crate::settings::{OutOfRange, Settings, TimeOut};

impl Connection {
    /// Answer a SYN: the SYN-ACK leaves with the next [`Self::poll`]. `None` if the segment is no
    /// bare SYN. `iss` is to be unpredictable for others (RFC 6528).
    ///
    /// # Errors
    /// A setting that is out of its range.
    pub fn accept(
        settings: Settings,
        syn: &Segment,
        iss: SeqNumber,
        now_us: u64,
    ) -> Result<Option<Self>, OutOfRange> {
        settings.check()?;
        let flags = syn.head.flags;
        if !flags.syn || flags.ack || flags.rst {
            return Ok(None);
        }
        let mut connection = Self::new(settings, State::SynReceived, iss, now_us);
        connection.counts.segments = 1;
        connection.on_peer_syn(&syn.head);
        Ok(Some(connection))
    }

    fn on_peer_syn(&mut self, head: &Head) {
        let peer = PeerSyn {
            irs: head.seq,
            mss: head.options.mss,
            shift: head.options.window_shift,
            sack: head.options.sack_permitted,
        };
        self.handshake.peer = Some(peer);
        let Settings {
            receive_octets,
            window_shift,
            ..
        } = self.settings;
        let mut receiver = Receiver::new(peer.irs + 1, receive_octets, window_shift);
        if peer.shift.is_none() {
            receiver.without_shift();
        }
        // What the SYN of this end announces, or has announced.
        receiver.announce(0);
        self.receiver = Some(receiver);
    }

    /// RFC 9293 section 3.10.7.3.
    pub(super) fn on_segment_in_syn_sent(&mut self, segment: &Segment, now_us: u64) {
        let Head { flags, ack, .. } = segment.head;
        let acknowledges = flags.ack && ack == self.handshake.iss + 1;
        if flags.ack && !acknowledges {
            self.counts.bad_acks += 1;
            if !flags.rst {
                self.reset = Some(reset_at(ack));
            }
            return;
        }
        if flags.rst {
            if acknowledges {
                self.counts.resets += 1;
                self.lose(Lost::Refused);
            } else {
                self.counts.inexact_resets += 1;
            }
            return;
        }
        if !flags.syn {
            self.counts.strays += 1;
            return;
        }
        self.on_peer_syn(&segment.head);
        if acknowledges {
            self.establish(&segment.head, now_us);
            self.schedule.at_once();
        } else {
            self.state = State::SynReceived;
            self.send_syn_now();
        }
    }

    /// A SYN in SYN-RECEIVED with the number of the first one: the SYN-ACK was lost, or the peer
    /// opened at the same time and acknowledges.
    pub(super) fn on_repeated_syn(&mut self, segment: &Segment, now_us: u64) {
        if segment.head.flags.ack && segment.head.ack == self.handshake.iss + 1 {
            self.establish(&segment.head, now_us);
            self.schedule.at_once();
        } else {
            self.send_syn_now();
        }
    }

    fn send_syn_now(&mut self) {
        self.handshake.timer_us = None;
    }

    /// The SYN of this end has been acknowledged by `head`.
    pub(super) fn establish(&mut self, head: &Head, now_us: u64) {
        let Some(peer) = self.handshake.peer else {
            return;
        };
        // A window in a SYN is never scaled (RFC 7323 section 2.2).
        let shift = peer.shift.unwrap_or(0);
        let window_shift = if head.flags.syn { 0 } else { shift };
        let once = self.handshake.transmissions == 1;
        let sent_us = self.handshake.sent_us;
        let agreed = Agreed {
            first: self.handshake.iss + 1,
            seq: head.seq,
            window_octets: u32::from(head.window) << window_shift,
            window_unscaled: head.window,
            shift,
            emss_octets: self.agreed_emss(),
            sack: self.settings.sack && peer.sack,
            rtt_us: once.then(|| now_us.saturating_sub(sent_us)),
            syn_was_lost: self.handshake.transmissions > 1,
        };
        self.sender = Some(Sender::new(&self.settings, &agreed, now_us));
        self.state = State::Established;
        self.handshake.timer_us = None;
        self.events.push_back(Event::Connected);
    }

    /// Send the SYN or SYN-ACK if it is due.
    pub(super) fn poll_syn(&mut self, now_us: u64) -> Option<Outgoing> {
        let is_open = matches!(self.state, State::SynSent | State::SynReceived);
        if !is_open || self.handshake.timer_us.is_some() {
            return None;
        }
        let handshake = &mut self.handshake;
        handshake.sent_us = now_us;
        handshake.transmissions = handshake.transmissions.saturating_add(1);
        handshake.timer_us = Some(now_us.saturating_add(handshake.rto.rto_us()));
        handshake.rto.back_off();
        let settings = &self.settings;
        let peer = self.handshake.peer;
        // RFC 7323 section 2.2, RFC 2018 section 2: in a SYN-ACK only if the SYN had the option.
        let options = Options {
            mss: Some(settings.emss_octets),
            window_shift: peer
                .is_none_or(|peer| peer.shift.is_some())
                .then_some(settings.window_shift),
            sack_permitted: settings.sack && peer.is_none_or(|peer| peer.sack),
            ..Options::default()
        };
        let ack = self.receiver.as_ref().map(Receiver::ack);
        let window = match &mut self.receiver {
            Some(receiver) => receiver.announce(0),
            None => settings.receive_octets.min(u16::MAX.into()) as u16,
        };
        let flags = Flags {
            syn: true,
            ack: ack.is_some(),
            ..Flags::default()
        };
        let head = Head {
            seq: self.handshake.iss,
            ack: ack.unwrap_or_default(),
            flags,
            window,
            options,
        };
        Some(Outgoing { head, piece: None })
    }

    /// Timers of the handshake.
    pub(super) fn on_time_in_handshake(&mut self, now_us: u64) {
        if !matches!(self.state, State::SynSent | State::SynReceived) {
            return;
        }
        if self.syn_give_up_us() <= now_us {
            self.lose(Lost::SynTimeOut);
        } else if self.handshake.timer_us.is_some_and(|timer| timer <= now_us) {
            self.send_syn_now();
        }
    }

    fn syn_give_up_us(&self) -> u64 {
        let limit_us = self.time_out_us(TimeOut::Syn);
        self.handshake.begun_us.saturating_add(limit_us)
    }

    pub(super) fn handshake_deadline_us(&self) -> Option<u64> {
        if !matches!(self.state, State::SynSent | State::SynReceived) {
            return None;
        }
        let timer = self.handshake.timer_us.unwrap_or(0);
        Some(timer.min(self.syn_give_up_us()))
    }
}

/// An RST that answers a segment with an acknowledgement (RFC 9293 section 3.5.2).
pub(super) fn reset_at(ack: SeqNumber) -> Head {
    Head {
        seq: ack,
        flags: Flags {
            rst: true,
            ..Flags::default()
        },
        ..Head::default()
    }
}
