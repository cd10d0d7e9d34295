//! What goes wrong with an endpoint and its connections: which peer, which layer, which octet.

use crate::device::error::DriverError;
use crate::stack::{SettingsError, Unroutable};
use rnic_iwarp::queue_pair::PostError;
use rnic_iwarp::startup::{self, AnswerError, StartupError};
use rnic_tcp::{HandoverError, Lost, OutOfRange};
use rnic_vfio_user::ServerError;
use std::io;
use std::net::{IpAddr, SocketAddr};
use thiserror::Error;

/// Why a call of an endpoint, a stream or a queue pair failed.
#[derive(Debug, Error)]
pub enum EndpointError {
    /// The device.
    #[error(transparent)]
    Device(#[from] DriverError),
    /// The operating system: a thread or a file.
    #[error("the operating system refuses the endpoint {what}: {source}")]
    System {
        /// What was asked for.
        what: &'static str,
        /// Its answer.
        source: io::Error,
    },
    /// The socket of the monitor.
    #[error("the monitor: {0}")]
    Monitor(#[from] ServerError),
    /// The interface cannot be as it was asked for.
    #[error("the interface: {0}")]
    Interface(#[from] SettingsError),
    /// A setting of TCP.
    #[error("TCP: {0}")]
    Tcp(#[from] OutOfRange),
    /// A setting of MPA's start-up, or the length of Private Data.
    #[error("MPA: {0}")]
    Startup(#[from] startup::SettingsError),
    /// The peer cannot be reached.
    #[error(transparent)]
    Unroutable(#[from] Unroutable),
    /// The interface has no address of the peer's family.
    #[error("the interface has no address to speak to {0}")]
    NoAddress(IpAddr),
    /// Not one of the interface's addresses.
    #[error("{0} is no address of the interface")]
    NotOwn(IpAddr),
    /// Every port of this host is in use towards that peer.
    #[error("no port is free for a connection to {0}")]
    NoPort(SocketAddr),
    /// Somebody listens there already.
    #[error("{0} has a listener already")]
    Listening(SocketAddr),
    /// TCP has ended before its time, or the peer has closed it.
    #[error("the connection to {peer}: {lost}")]
    Lost {
        /// The peer.
        peer: SocketAddr,
        /// Why.
        lost: Lost,
    },
    /// The peer has closed the connection.
    #[error("{peer} has closed the connection")]
    Closed {
        /// The peer.
        peer: SocketAddr,
    },
    /// MPA's start-up has failed.
    #[error("MPA's start-up with {peer}: {error}")]
    StartupFailed {
        /// The peer.
        peer: SocketAddr,
        /// What is wrong, and in which octet.
        error: StartupError,
        /// A revision that the peer may know: try it on a new connection, with
        /// [`Settings::in_revision`](startup::Settings::in_revision).
        fallback: Option<u8>,
    },
    /// The peer has rejected the Request: the queue pair can be a stream again.
    #[error("{peer} has rejected the connection, with {} octets of Private Data", reason.len())]
    Rejected {
        /// The peer.
        peer: SocketAddr,
        /// Its Private Data.
        reason: Vec<u8>,
    },
    /// A Request cannot be answered so.
    #[error("the answer to {peer}: {error}")]
    Answer {
        /// The peer.
        peer: SocketAddr,
        /// Why.
        error: AnswerError,
    },
    /// The switch to full operation.
    #[error("the switch to full operation with {peer}: {error}")]
    Switch {
        /// The peer.
        peer: SocketAddr,
        /// Why.
        error: HandoverError,
    },
    /// A work request.
    #[error("nothing is posted for {peer}: {error}")]
    Post {
        /// The peer.
        peer: SocketAddr,
        /// Why.
        error: PostError,
    },
    /// It is not the time for that.
    #[error("the connection to {peer} {state}")]
    State {
        /// The peer.
        peer: SocketAddr,
        /// What it is.
        state: &'static str,
    },
    /// Nothing has happened in the time given.
    #[error("nothing has happened in the time given")]
    TimedOut,
    /// The endpoint has been closed.
    #[error("the endpoint has been closed")]
    Ended,
}

/// Of requests that were posted together, not all are.
#[derive(Debug, Error)]
#[error("{error}; {posted} requests before it are posted")]
pub struct Unposted {
    /// How many are: those before the first that could not be.
    pub posted: usize,
    /// Why that one is not.
    pub error: EndpointError,
}
