//! From a stream to a queue pair, and back: what one handle of a connection becomes.
//!
//! ```text
//!  Stream --queue_pair--> QueuePair --into_stream--> Stream
//!     \--expect_request, request--> ConnectionRequest --queue_pair--> QueuePair
//!                                          \--reject--> Stream
//! ```

use super::error::EndpointError;
use super::live::Startup;
use super::queue_pair::{PairOptions, QueuePair};
use super::request::ConnectionRequest;
use super::stream::{ExpectedRequest, Stream};
use crate::device::access::{Bar, Dma};
use crate::verbs::ProtectionDomain;
use rnic_iwarp::startup::{self, Responder};
use std::sync::Arc;

impl<B: Bar, D: Dma> Stream<B, D> {
    /// Begin MPA as its initiator, whichever end opened TCP: a queue pair that takes receives and
    /// is started with [`QueuePair::start`].
    ///
    /// # Errors
    /// The device has no room for it ([`EndpointError::Device`]); the stream has ended.
    pub fn queue_pair(
        self,
        domain: &ProtectionDomain<B, D>,
        startup: &startup::Settings,
        options: &PairOptions,
    ) -> Result<QueuePair<B, D>, EndpointError> {
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
    ) -> Result<ConnectionRequest<B, D>, EndpointError> {
        self.write_all(last)?;
        let expected = self.expect_request(startup)?;
        let outcome = expected.handle.wait_for_outcome()?;
        ConnectionRequest::of(expected.handle, outcome, startup)
    }

    /// Begin MPA as its responder, and do not wait for the Request: [`ExpectedRequest::poll`].
    ///
    /// # Errors
    /// [`EndpointError::Startup`], [`EndpointError::Ended`].
    pub fn expect_request(
        self,
        startup: &startup::Settings,
    ) -> Result<ExpectedRequest<B, D>, EndpointError> {
        let settings = *startup;
        self.handle.change(|live, wire| {
            let machine = Responder::new(settings, wire.now)?;
            live.begin_startup(Startup::Responder(machine), wire.now);
            Ok(())
        })?;
        let handle = self.handle;
        Ok(ExpectedRequest { handle, settings })
    }
}

impl<B: Bar, D: Dma> ExpectedRequest<B, D> {
    /// The Request if it is there; otherwise this one again.
    ///
    /// # Errors
    /// As [`Stream::request`].
    pub fn poll(self) -> Result<Result<ConnectionRequest<B, D>, Self>, EndpointError> {
        match self.handle.poll_outcome()? {
            None => Ok(Err(self)),
            Some(outcome) => ConnectionRequest::of(self.handle, outcome, &self.settings).map(Ok),
        }
    }
}

impl<B: Bar, D: Dma> ConnectionRequest<B, D> {
    /// A queue pair that takes receives, and with [`QueuePair::accept`] the Request.
    ///
    /// # Errors
    /// The device has no room for it ([`EndpointError::Device`]); the connection has ended.
    pub fn queue_pair(
        self,
        domain: &ProtectionDomain<B, D>,
        options: &PairOptions,
    ) -> Result<QueuePair<B, D>, EndpointError> {
        QueuePair::reserve(self.handle, domain, &self.startup, options)
    }

    /// Reject it, with Private Data that says why: the connection is a stream again (START-008).
    ///
    /// # Errors
    /// [`EndpointError::Answer`]: the Private Data is too long. [`EndpointError::Ended`].
    pub fn reject(self, private_data: &[u8]) -> Result<Stream<B, D>, EndpointError> {
        self.handle.change(|live, _| live.reject(private_data))?;
        Ok(Stream {
            handle: self.handle,
        })
    }
}

impl<B: Bar, D: Dma> QueuePair<B, D> {
    /// The stream that is left after a rejection (START-011), or before MPA has begun.
    ///
    /// # Errors
    /// [`EndpointError::State`]: MPA has begun. [`EndpointError::Ended`].
    pub fn into_stream(self) -> Result<Stream<B, D>, EndpointError> {
        let handle = self.handle;
        handle.shared.change(|engine, now| {
            let peer = handle.peer;
            let live = engine.lives.get_mut(&handle.key);
            let live = live.ok_or(EndpointError::Ended)?;
            if live.startup.is_some() || live.pair.is_some() {
                let state = "has begun MPA";
                return Err(EndpointError::State { peer, state });
            }
            live.early_receives.clear();
            live.lent.clear();
            let core = Arc::clone(&engine.core);
            engine.release(handle.key, &mut core.lock(), now);
            Ok(())
        })?;
        Ok(Stream { handle })
    }
}
