//! Connections that others open, within limits.
//!
//! ```text
//!  SYN --> half-open (SynReceived) --ACK--> backlog --accept--> the caller's
//!           |  at most so many in all,        |  at most so many
//!           |  and so many of a peer          v
//!           `--> dropped and counted        SYNs are dropped and counted
//! ```
//!
//! There are no SYN cookies: a flood of SYNs from many addresses fills the half-open connections,
//! and further SYNs are dropped until some of these end ([`TimeOut::Syn`](crate::TimeOut::Syn)).
//! Peers that are connected do not notice. A SYN is dropped, not refused, so that its sender tries
//! again.
//!
//! Memory: a connection for each half-open and each waiting one, the receive buffers of those that
//! have sent octets. A look-up passes over all of them.
use crate::connection::Connection;
use crate::output::State;
use crate::segment::{Flags, Head, Outgoing, Segment};
use crate::seq::SeqNumber;
use crate::settings::{OutOfRange, Settings};
use std::collections::VecDeque;
use std::net::{IpAddr, SocketAddr};

/// Limits of a listener.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ListenerSettings {
    /// Connections that are established and wait to be accepted, at most.
    pub backlog_max: usize,
    /// Half-open connections, at most.
    pub half_open_max: usize,
    /// Half-open connections of one address, at most.
    pub half_open_of_peer_max: usize,
    /// Settings of its connections.
    pub connection: Settings,
}

impl Default for ListenerSettings {
    fn default() -> Self {
        Self {
            backlog_max: 64,
            half_open_max: 128,
            half_open_of_peer_max: 16,
            connection: Settings::default(),
        }
    }
}

/// What a listener has counted.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ListenerCounts {
    /// SYNs that began a connection.
    pub opened: u64,
    /// SYNs dropped because as many connections were waiting as can.
    pub backlog_full: u64,
    /// SYNs dropped because as many were half-open as can.
    pub half_open_full: u64,
    /// SYNs dropped because as many of that address were half-open as can.
    pub peer_full: u64,
    /// Segments of no connection that were answered with an RST.
    pub refused: u64,
    /// Connections that ended before they were accepted.
    pub ended: u64,
}

#[derive(Debug)]
struct Waiting {
    peer: SocketAddr,
    connection: Connection,
}

/// A listener on one address and port; a peer is the other address and port.
#[derive(Debug)]
pub struct Listener {
    settings: ListenerSettings,
    waiting: Vec<Waiting>,
    resets: VecDeque<(SocketAddr, Head)>,
    counts: ListenerCounts,
}

/// RSTs that wait to be sent, at most; more are left out.
const RESETS_MAX: usize = 64;

impl Listener {
    /// Listen.
    ///
    /// # Errors
    /// A setting of connections that is out of its range.
    pub fn new(settings: ListenerSettings) -> Result<Self, OutOfRange> {
        settings.connection.check()?;
        Ok(Self {
            settings,
            waiting: Vec::new(),
            resets: VecDeque::new(),
            counts: ListenerCounts::default(),
        })
    }

    /// What was counted.
    pub fn counts(&self) -> ListenerCounts {
        self.counts
    }

    /// Take a segment of `peer` that is of no connection the caller has. `iss` is called for the
    /// initial sequence number of a new connection, which is to be unpredictable for others.
    pub fn on_segment(
        &mut self,
        peer: SocketAddr,
        segment: &Segment,
        iss: impl FnOnce() -> SeqNumber,
        now_us: u64,
    ) {
        let known = self.waiting.iter_mut().find(|waiting| waiting.peer == peer);
        if let Some(waiting) = known {
            waiting.connection.on_segment(segment, now_us);
            return;
        }
        let flags = segment.head.flags;
        // RFC 9293 section 3.10.7.2: an RST is ignored, an ACK reset, a SYN taken.
        if flags.rst {
            return;
        }
        if flags.ack || !flags.syn {
            return self.refuse(peer, segment);
        }
        if !self.has_room(peer.ip()) {
            return;
        }
        let accepted = Connection::accept(self.settings.connection, segment, iss(), now_us);
        if let Ok(Some(connection)) = accepted {
            self.counts.opened += 1;
            self.waiting.push(Waiting { peer, connection });
        }
    }

    fn has_room(&mut self, address: IpAddr) -> bool {
        let half_open = self.waiting.iter().filter(|waiting| !waiting.is_open());
        let of_peer = half_open
            .clone()
            .filter(|waiting| waiting.peer.ip() == address);
        let (half_open, of_peer) = (half_open.count(), of_peer.count());
        let open = self.waiting.len() - half_open;
        let limits = [
            (
                open,
                self.settings.backlog_max,
                &mut self.counts.backlog_full,
            ),
            (
                half_open,
                self.settings.half_open_max,
                &mut self.counts.half_open_full,
            ),
            (
                of_peer,
                self.settings.half_open_of_peer_max,
                &mut self.counts.peer_full,
            ),
        ];
        for (count, most, counter) in limits {
            if count >= most {
                *counter += 1;
                return false;
            }
        }
        true
    }

    /// RFC 9293 section 3.5.2: the answer to a segment of no connection.
    fn refuse(&mut self, peer: SocketAddr, segment: &Segment) {
        self.counts.refused += 1;
        if self.resets.len() < RESETS_MAX {
            self.resets.push_back((peer, reset_for(segment)));
        }
    }

    /// The next segment to be sent; `None` until something arrives or the deadline passes. Events
    /// of a connection wait in it until it is accepted.
    pub fn poll(&mut self, now_us: u64) -> Option<(SocketAddr, Outgoing)> {
        if let Some((peer, head)) = self.resets.pop_front() {
            return Some((peer, Outgoing { head, piece: None }));
        }
        for waiting in &mut self.waiting {
            if let Some(outgoing) = waiting.connection.poll_outgoing(now_us) {
                return Some((waiting.peer, outgoing));
            }
        }
        let before = self.waiting.len();
        self.waiting
            .retain(|waiting| waiting.connection.state() != State::Closed);
        self.counts.ended += (before - self.waiting.len()) as u64;
        None
    }

    /// A connection that is established, if there is one, with its peer; the oldest first.
    pub fn accept(&mut self) -> Option<(SocketAddr, Connection)> {
        let is_open =
            |waiting: &Waiting| waiting.is_open() && waiting.connection.state() != State::Closed;
        let index = self.waiting.iter().position(is_open)?;
        let waiting = self.waiting.remove(index);
        Some((waiting.peer, waiting.connection))
    }

    /// Nobody will accept what is waiting, half-open or established: each is reset, once
    /// [`Self::poll`] has said so. A peer that heard nothing might wait for long, as one that has
    /// closed already, in FIN-WAIT-2.
    pub fn abort(&mut self) {
        for waiting in &mut self.waiting {
            waiting.connection.abort();
        }
    }

    /// When [`Self::poll`] has something to do although nothing has arrived.
    pub fn deadline_us(&self) -> Option<u64> {
        let deadlines = self.waiting.iter();
        deadlines
            .filter_map(|waiting| waiting.connection.deadline_us())
            .min()
    }
}

impl Waiting {
    /// It has been established, and may have ended since.
    fn is_open(&self) -> bool {
        self.connection.state() != State::SynReceived
    }
}

/// The RST for a segment of no connection, which is no RST itself.
pub fn reset_for(segment: &Segment) -> Head {
    let head = &segment.head;
    let flags = Flags {
        rst: true,
        ack: !head.flags.ack,
        ..Flags::default()
    };
    let (seq, ack) = if head.flags.ack {
        (head.ack, SeqNumber::default())
    } else {
        (SeqNumber::default(), head.seq + segment.sequence_octets())
    };
    Head {
        seq,
        ack,
        flags,
        ..Head::default()
    }
}

#[cfg(test)]
mod tests;
