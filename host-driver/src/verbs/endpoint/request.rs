//! A peer's Request that waits for its answer.

use super::error::EndpointError;
use super::handle::Handle;
use super::queue_pair::{PairOptions, QueuePair};
use super::stream::Stream;
use crate::verbs::ProtectionDomain;
use rnic_iwarp::startup::{self, Request};
use std::net::SocketAddr;

/// A peer's Request: accept it with a queue pair, or reject it. Dropped, the connection is reset.
#[derive(Debug)]
pub struct ConnectionRequest {
    handle: Handle,
    request: Request,
    startup: startup::Settings,
}

impl ConnectionRequest {
    pub(super) fn new(handle: Handle, request: Request, startup: startup::Settings) -> Self {
        Self {
            handle,
            request,
            startup,
        }
    }

    /// The peer's address.
    pub fn peer_addr(&self) -> SocketAddr {
        self.handle.peer
    }

    /// What the peer asks for.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The peer's Private Data.
    pub fn private_data(&self) -> &[u8] {
        &self.request.private_data
    }

    /// A queue pair that takes receives, and with [`QueuePair::accept`] the Request.
    ///
    /// # Errors
    /// The device has no room for it ([`EndpointError::Device`]); the connection has ended.
    pub fn queue_pair(
        self,
        domain: &ProtectionDomain,
        options: &PairOptions,
    ) -> Result<QueuePair, EndpointError> {
        QueuePair::reserve(self.handle, domain, &self.startup, options)
    }

    /// Reject it, with Private Data that says why: the connection is a stream again (START-008).
    ///
    /// # Errors
    /// [`EndpointError::Answer`]: the Private Data is too long. [`EndpointError::Ended`].
    pub fn reject(self, private_data: &[u8]) -> Result<Stream, EndpointError> {
        self.handle.change(|live, _| live.reject(private_data))?;
        Ok(Stream {
            handle: self.handle,
        })
    }
}
