//! What goes wrong with RPC over the driver.

use rnic_driver::verbs::endpoint::EndpointError;
use rnic_driver::DriverError;
use rpcrdma::{Failure, SubmitError};
use std::io;
use std::net::SocketAddr;
use thiserror::Error;

/// Why a client or a server cannot go on.
#[derive(Debug, Error)]
pub enum RpcError {
    /// The device.
    #[error(transparent)]
    Device(#[from] DriverError),
    /// The connection, or the endpoint.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// A call could not be made.
    #[error("a call: {0}")]
    Submit(#[from] SubmitError),
    /// The client to be called has gone.
    #[error("client {0} has gone; it may connect again under another number")]
    Gone(u32),
    /// A call has failed.
    #[error("a call to {peer} has failed: {failure}")]
    Call {
        /// The server.
        peer: SocketAddr,
        /// Why.
        failure: Failure,
    },
    /// Nothing has answered in time, on as many connections as are tried.
    #[error("{peer} has not answered in {seconds} s; look at the server, or wait longer")]
    Silent {
        /// The server.
        peer: SocketAddr,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The system cannot wait.
    #[error("cannot wait for files: {0}")]
    Wait(#[from] io::Error),
}
