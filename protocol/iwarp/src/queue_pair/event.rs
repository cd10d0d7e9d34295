//! What happens to a connection, and why it fails: what the peer did, and in which octet.

use crate::terminate::Received;
use rnic_wire::ddp::errors::Cause;
use std::fmt;

/// Where an error was found.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// In the peer's FPDU that begins so many octets from SeqStart.
    Fpdu(u64),
    /// In the peer's Read Request of this Message Sequence Number, or in what it reads.
    ReadRequest(u32),
    /// In the peer's Send of this Message Sequence Number.
    Send(u32),
    /// In this end, or in what its device reported.
    Here,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fpdu(octet) => write!(f, "the peer's FPDU at octet {octet} of its stream"),
            Self::ReadRequest(msn) => write!(f, "the peer's Read Request {msn}"),
            Self::Send(msn) => write!(f, "the peer's Send {msn}"),
            Self::Here => f.write_str("this end"),
        }
    }
}

/// Why the connection has failed.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The peer's stream is wrong, or this end cannot go on with it.
    #[error("{place}: {cause}")]
    Refused {
        /// The error that the Terminate names, if one may be sent.
        cause: Cause,
        /// Where it is.
        place: Place,
    },
    /// The peer sent a Terminate.
    #[error("{0}")]
    Terminated(Received),
    /// TCP is lost: MPA's error 1. TCP knows by what (MPA-053).
    #[error("TCP is lost")]
    Lost,
    /// The peer sent something after its FIN (DDP-029).
    #[error("the peer sent octets after its FIN")]
    DataAfterFin,
    /// This end aborted.
    #[error("this end aborted")]
    Aborted,
}

/// What happened, and what TCP is to do. Each at most once.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// This end may send; a responder's first FPDU has arrived (START-014).
    Established,
    /// The peer has closed its half; sending goes on (DDP-030, MPA-060).
    HalfClosed,
    /// The connection has failed (DDP-032). TCP stays, and acknowledges, until the application lets
    /// go (DDP-035).
    Failed(Failure),
    /// Send a FIN after everything that has been handed over.
    CloseSend,
    /// Send a RST.
    Abort,
    /// Both halves have ended, nothing waits for an acknowledgement, and the application has let
    /// go. The last event.
    Closed,
}
