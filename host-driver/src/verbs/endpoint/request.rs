//! A peer's Request that waits for its answer.

use super::error::EndpointError;
use super::handle::Handle;
use super::live::Outcome;
use crate::bus::{FunctionBar, FunctionMemory};
use crate::device::access::{Bar, Dma};
use rnic_iwarp::startup::{self, Request};
use std::net::SocketAddr;

/// A peer's Request: accept it with a queue pair, or reject it. Dropped, the connection is reset.
///
/// ```no_run
/// use rnic_driver::verbs::endpoint::{ConnectionRequest, EndpointError, PairOptions, QueuePair};
/// use rnic_driver::verbs::{Context, ProtectionDomain};
///
/// /// Accepts those that ask for the right thing.
/// fn answer(
///     request: ConnectionRequest,
///     context: &Context,
///     domain: &ProtectionDomain,
/// ) -> Result<Option<QueuePair>, EndpointError> {
///     if request.private_data() != b"storage" {
///         request.reject(b"no such service")?;
///         return Ok(None);
///     }
///     let pair = request.queue_pair(domain, &PairOptions::default())?;
///     // The peer's first message may come right after the Reply.
///     pair.post_receive(0, context.allocate(4096)?)?;
///     pair.accept(b"welcome")?;
///     Ok(Some(pair))
/// }
/// ```
#[derive(Debug)]
pub struct ConnectionRequest<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    pub(super) handle: Handle<B, D>,
    request: Request,
    pub(super) startup: startup::Settings,
}

impl<B: Bar, D: Dma> ConnectionRequest<B, D> {
    /// What the outcome of a responder's start-up is for its user.
    pub(super) fn of(
        handle: Handle<B, D>,
        outcome: Outcome,
        startup: &startup::Settings,
    ) -> Result<Self, EndpointError> {
        match outcome {
            Outcome::Request(request) => Ok(Self {
                handle,
                request,
                startup: *startup,
            }),
            other => Err(handle.error_of(other)),
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
}
