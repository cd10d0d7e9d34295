//! Connections that others open.

use super::error::EndpointError;
use super::handle::Handle;
use super::live::Live;
use super::notice::{end_of, Notice};
use super::shared::Shared;
use super::stream::Stream;
use crate::bus::{FunctionBar, FunctionMemory};
use crate::device::access::{Bar, Dma};
use rnic_tcp::ListenerCounts;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::Duration;

/// Connections to one of the interface's addresses and a port. Dropped, those that nobody has
/// accepted are reset.
///
/// ```no_run
/// use rnic_driver::verbs::endpoint::{Endpoint, EndpointError, Stream};
/// use std::net::IpAddr;
///
/// /// The next connection of a host that is known.
/// fn next(endpoint: &Endpoint, known: IpAddr) -> Result<Stream, EndpointError> {
///     let listener = endpoint.listen(([192, 0, 2, 1], 7174).into())?;
///     loop {
///         let stream = listener.accept(None)?;
///         if stream.peer_addr().ip() == known {
///             return Ok(stream);
///         }
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Listener<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    shared: Arc<Shared<B, D>>,
    own: SocketAddr,
    notice: Arc<Notice>,
}

impl<B: Bar, D: Dma> Listener<B, D> {
    pub(super) fn new(shared: &Arc<Shared<B, D>>, own: SocketAddr, notice: Arc<Notice>) -> Self {
        Self {
            shared: Arc::clone(shared),
            own,
            notice,
        }
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.own
    }

    /// What was counted.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub fn counts(&self) -> Result<ListenerCounts, EndpointError> {
        self.shared.view(|engine| {
            let listening = engine.listening(self.own);
            let counts = listening.map(|listening| listening.tcp.counts());
            counts.ok_or(EndpointError::Ended)
        })
    }

    /// The next connection; its peer's address is known, and nothing of MPA was read.
    ///
    /// # Errors
    /// [`EndpointError::TimedOut`], [`EndpointError::Ended`], [`EndpointError::System`].
    pub fn accept(&self, timeout: Option<Duration>) -> Result<Stream<B, D>, EndpointError> {
        self.notice.wait_for(end_of(timeout), || self.poll())
    }

    /// The next connection, if there is one.
    ///
    /// # Errors
    /// [`EndpointError::Ended`], [`EndpointError::System`].
    pub fn poll(&self) -> Result<Option<Stream<B, D>>, EndpointError> {
        let notice = Notice::new("a file for a connection")?;
        self.shared.change(|engine, _| {
            // Cleared under the lock, under which it is raised.
            self.notice.take();
            let Some((ends, tcp)) = engine.accept(self.own) else {
                return Ok(None);
            };
            self.notice.raise();
            let live = Live::new(ends, tcp, Arc::new(notice));
            let handle = Handle::enter(&self.shared, engine, live);
            Ok(Some(Stream { handle }))
        })
    }
}

impl<B: Bar, D: Dma> Drop for Listener<B, D> {
    fn drop(&mut self) {
        // An endpoint that has ended has no listeners.
        let _ = self.shared.change(|engine, now| {
            engine.stop_listening(self.own, now);
            Ok(())
        });
    }
}

impl<B: Bar, D: Dma> AsFd for Listener<B, D> {
    /// Readable after something has arrived: [`Listener::poll`] then.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.notice.as_fd()
    }
}
