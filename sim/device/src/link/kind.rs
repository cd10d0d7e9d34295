//! `--link`: which link, and how it is opened.

use super::capture::CaptureLink;
use super::connect::ConnectLink;
use super::end::{Link, LinkError};
use super::socket::SocketLink;
use super::stream::StreamLink;
use super::tap::TapLink;
use rnic_output::shown;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::str::FromStr;

/// Which link, as in `--link`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// No peer.
    None,
    /// A capture.
    Pcap(PathBuf),
    /// A socket on which this process listens.
    Unix(PathBuf),
    /// A socket on which another process listens.
    UnixConnect(PathBuf),
    /// An interface of Linux.
    Tap(String),
}

impl FromStr for LinkKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            Some(("pcap", path)) if !path.is_empty() => Ok(Self::Pcap(path.into())),
            Some(("unix", path)) if !path.is_empty() => Ok(Self::Unix(path.into())),
            Some(("unix-connect", path)) if !path.is_empty() => Ok(Self::UnixConnect(path.into())),
            Some(("tap", name)) if !name.is_empty() => Ok(Self::Tap(name.into())),
            _ => Err("use none, pcap:FILE, unix:PATH, unix-connect:PATH or tap:NAME".into()),
        }
    }
}

impl LinkKind {
    /// As [`LinkKind::open`], and if this process listens on a socket, nobody but its user can
    /// connect.
    ///
    /// # Errors
    /// As there.
    pub fn open_privately(&self) -> Result<Box<dyn Link>, LinkError> {
        match self {
            Self::Unix(path) => Ok(Box::new(SocketLink::listen_privately(path)?)),
            other => other.open(),
        }
    }

    /// Open it: read the capture, listen on the socket or connect to it, or attach to the
    /// interface.
    ///
    /// # Errors
    /// That cannot be done.
    pub fn open(&self) -> Result<Box<dyn Link>, LinkError> {
        Ok(match self {
            Self::None => Box::new(NoLink),
            Self::Pcap(path) => Box::new(CaptureLink::read(path)?),
            Self::Unix(path) => Box::new(SocketLink::listen(path)?),
            Self::UnixConnect(path) => Box::new(ConnectLink::open(path)?),
            Self::Tap(name) => Box::new(TapLink::open(name)?),
        })
    }
}

impl Display for LinkKind {
    /// As it is written.
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => formatter.write_str("none"),
            Self::Pcap(path) => write!(formatter, "pcap:{}", shown(path)),
            Self::Unix(path) => write!(formatter, "unix:{}", shown(path)),
            Self::UnixConnect(path) => write!(formatter, "unix-connect:{}", shown(path)),
            Self::Tap(name) => write!(formatter, "tap:{name}"),
        }
    }
}

/// One side of a connected socket whose other side is in this process.
///
/// # Errors
/// The socket is none.
pub fn within(stream: UnixStream) -> io::Result<Box<dyn Link>> {
    Ok(Box::new(StreamLink::new(stream)?))
}

/// No peer.
#[derive(Debug)]
struct NoLink;

impl Link for NoLink {}
