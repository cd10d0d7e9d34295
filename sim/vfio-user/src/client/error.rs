//! Why a call of a client failed.

use std::path::PathBuf;
use std::time::Duration;

use rustix::io::Errno;
use thiserror::Error;

use crate::protocol::{Command, VERSION_MAJOR};
use crate::socket::SessionEnd;

/// Why a call failed.
#[derive(Debug, Error)]
pub enum ClientError {
    /// No server takes the connection.
    #[error("cannot connect to {path}: {errno}")]
    Connect {
        /// Path of the socket.
        path: PathBuf,
        /// What the system says.
        errno: Errno,
    },
    /// The server refused; the session goes on.
    #[error("the server refused {command:?}: {errno}")]
    Refused {
        /// What it refused.
        command: Command,
        /// Why; `EIO` if it does not say.
        errno: Errno,
    },
    /// More data than the server takes in one access; nothing was sent.
    #[error("{octets} octets in one access, the server takes {most}")]
    TooLong {
        /// Octets asked for.
        octets: usize,
        /// What the server announced.
        most: u32,
    },
    /// The server has another major version.
    #[error("the server speaks version {major}, not {VERSION_MAJOR}")]
    Version {
        /// Its major version.
        major: u16,
    },
    /// The server did not answer in time.
    #[error("no reply to {command:?} within {timeout:?}")]
    Timeout {
        /// What it did not answer.
        command: Command,
        /// How long was waited.
        timeout: Duration,
    },
    /// The reply is not as the protocol has it.
    #[error("malformed reply to {command:?}: {what}")]
    Malformed {
        /// What it answers.
        command: Command,
        /// What is wrong.
        what: &'static str,
    },
    /// The connection broke off.
    #[error(transparent)]
    Ended(#[from] SessionEnd),
    /// An earlier call left the stream out of step.
    #[error("the connection failed in an earlier call; connect again")]
    Broken,
}
