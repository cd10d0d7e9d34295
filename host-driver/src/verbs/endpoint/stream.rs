//! A connection before MPA: octets both ways.

use super::error::EndpointError;
use super::handle::{error_of, Handle};
use super::live::{Outcome, Startup};
use super::queue_pair::{PairOptions, QueuePair};
use super::request::ConnectionRequest;
use crate::verbs::ProtectionDomain;
use rnic_iwarp::startup::{self, Responder};
use rnic_tcp::{State, Statistics};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

/// A TCP connection that the application reads and writes itself, until it begins MPA on it from
/// either end (RFC 5044 section 7.1).
#[derive(Debug)]
pub struct Stream {
    pub(super) handle: Handle,
}

impl Stream {
    /// This end's address.
    pub fn local_addr(&self) -> SocketAddr {
        self.handle.own
    }

    /// The peer's address.
    pub fn peer_addr(&self) -> SocketAddr {
        self.handle.peer
    }

    /// TCP at this moment.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub fn statistics(&self) -> Result<Statistics, EndpointError> {
        self.handle.statistics()
    }

    /// Wait until the handshake is over.
    pub(super) fn wait_connected(&self) -> Result<(), EndpointError> {
        self.handle.wait_for(None, |live| {
            let has_ended = live.tcp.state() == State::Closed;
            match (live.is_connected, has_ended) {
                (_, true) => Some(Err(live.why_ended())),
                (true, false) => Some(Ok(())),
                (false, false) => None,
            }
        })?
    }

    /// Read octets, as soon as there are some; 0: the peer has sent its last one.
    ///
    /// # Errors
    /// [`EndpointError::Lost`], [`EndpointError::TimedOut`], [`EndpointError::Ended`].
    pub fn read(&self, into: &mut [u8], timeout: Option<Duration>) -> Result<usize, EndpointError> {
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let count = self.handle.wait_for(end, |live| {
            let count = live.tcp.read(into);
            let is_over = live.is_peer_closed || into.is_empty();
            match (count, live.tcp.state()) {
                (0, _) if is_over => Some(Ok(0)),
                (0, State::Closed) => Some(Err(live.why_ended())),
                (0, _) => None,
                (count, _) => Some(Ok(count)),
            }
        })??;
        // The window may have opened.
        self.handle.change(|_, _| Ok(()))?;
        Ok(count)
    }

    /// Send octets; waits until TCP has taken all of them.
    ///
    /// # Errors
    /// [`EndpointError::Lost`], [`EndpointError::Closed`], [`EndpointError::Ended`].
    pub fn write_all(&self, octets: &[u8]) -> Result<(), EndpointError> {
        let mut rest = octets;
        while !rest.is_empty() {
            let seen = self.handle.notice.count();
            let taken = self.handle.change(|live, _| {
                if live.tcp.state() == State::Closed {
                    return Err(live.why_ended());
                }
                let emss = usize::from(live.tcp.statistics().emss_octets);
                let (now, _) = rest.split_at(rest.len().min(emss));
                Ok(match live.push_copied(now.to_vec(), None) {
                    true => now.len(),
                    false => 0,
                })
            })?;
            rest = &rest[taken..];
            if taken == 0 {
                self.handle.notice.wait(seen, None);
            }
        }
        Ok(())
    }

    /// Send no more; the peer reads what was sent, and then the end. Reading goes on.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub fn finish(&self) -> Result<(), EndpointError> {
        self.handle.change(|live, _| {
            live.tcp.close();
            Ok(())
        })
    }

    /// Begin MPA as its initiator, whichever end opened TCP: a queue pair that takes receives and
    /// is started with [`QueuePair::start`].
    ///
    /// # Errors
    /// The device has no room for it ([`EndpointError::Device`]); the stream has ended.
    pub fn queue_pair(
        self,
        domain: &ProtectionDomain,
        startup: &startup::Settings,
        options: &PairOptions,
    ) -> Result<QueuePair, EndpointError> {
        QueuePair::reserve(self.handle, domain, startup, options)
    }

    /// Begin MPA as its responder: wait for the peer's Request. `last` is what the application has
    /// to say before; nothing of it can be sent afterwards.
    ///
    /// # Errors
    /// [`EndpointError::StartupFailed`], [`EndpointError::Lost`], [`EndpointError::Startup`],
    /// [`EndpointError::Ended`].
    pub fn request(
        self,
        startup: &startup::Settings,
        last: &[u8],
    ) -> Result<ConnectionRequest, EndpointError> {
        self.write_all(last)?;
        let settings = *startup;
        self.handle.change(|live, wire| {
            live.startup = Some(Startup::Responder(Responder::new(settings, wire.now)?));
            live.tcp.begin_startup(wire.now);
            Ok(())
        })?;
        match self.handle.wait_for_outcome()? {
            Outcome::Request(request) => Ok(ConnectionRequest::new(self.handle, request, settings)),
            other => {
                let lost = self.handle.view(|live| live.lost)?;
                Err(error_of(self.handle.peer, other, lost))
            }
        }
    }
}

impl AsFd for Stream {
    /// Readable after something has happened: octets, room, an end.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.notice.as_fd()
    }
}
