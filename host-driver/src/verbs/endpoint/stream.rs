//! A connection before MPA: octets both ways.

use super::error::EndpointError;
use super::handle::Handle;
use super::live::Live;
use super::notice::end_of;
use crate::bus::{FunctionBar, FunctionMemory};
use crate::device::access::{Bar, Dma};
use rnic_iwarp::startup;
use rnic_tcp::{State, Statistics};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// A TCP connection that the application reads and writes itself, until it begins MPA on it from
/// either end (RFC 5044 section 7.1).
///
/// ```no_run
/// use rnic_driver::verbs::endpoint::{startup, ConnectionRequest, EndpointError, Stream};
///
/// /// Applications agree in words first; then the peer starts MPA.
/// fn greet(stream: Stream) -> Result<ConnectionRequest, EndpointError> {
///     let mut word = [0; 5];
///     let count = stream.read(&mut word, None)?;
///     assert_eq!(&word[..count], b"hello");
///     stream.request(&startup::Settings::default(), b"go ahead")
/// }
/// ```
#[derive(Debug)]
pub struct Stream<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    pub(super) handle: Handle<B, D>,
}

impl<B: Bar, D: Dma> Stream<B, D> {
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

    /// Whether the handshake is over.
    ///
    /// # Errors
    /// [`EndpointError::Lost`], [`EndpointError::Ended`].
    pub fn is_connected(&self) -> Result<bool, EndpointError> {
        self.handle.view(|live| match live.tcp.state() {
            State::Closed => Err(live.why_ended()),
            _ => Ok(live.is_connected),
        })?
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
        let count = self.handle.wait_for(end_of(timeout), |live| {
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
            let push = |live: &mut Live| {
                if live.tcp.state() == State::Closed {
                    return Err(live.why_ended());
                }
                let emss = usize::from(live.tcp.emss_octets());
                let (now, _) = rest.split_at(rest.len().min(emss));
                let is_taken = live.push_copied(now.to_vec(), None);
                Ok(is_taken.then_some(now.len()))
            };
            let taken = self
                .handle
                .notice
                .wait_for(None, || self.handle.change(|live, _| push(live)))?;
            rest = &rest[taken..];
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
}

/// A stream whose peer is to send a Request. Dropped, the connection is reset.
#[derive(Debug)]
pub struct ExpectedRequest<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    pub(super) handle: Handle<B, D>,
    pub(super) settings: startup::Settings,
}

impl<B: Bar, D: Dma> AsFd for ExpectedRequest<B, D> {
    /// Readable after something has happened.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.notice.as_fd()
    }
}

impl<B: Bar, D: Dma> AsFd for Stream<B, D> {
    /// Readable after something has happened: octets, room, an end.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.notice.as_fd()
    }
}
