//! `--link`: which link, and how it is opened.

use super::capture::CaptureLink;
use super::end::{Link, LinkError};
use super::socket::SocketLink;
use super::tap::TapLink;
use std::path::PathBuf;
use std::str::FromStr;

/// Which link, as in `--link`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// No peer.
    None,
    /// A capture.
    Pcap(PathBuf),
    /// A socket.
    Unix(PathBuf),
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
            Some(("tap", name)) if !name.is_empty() => Ok(Self::Tap(name.into())),
            _ => Err("use none, pcap:FILE, unix:PATH or tap:NAME".into()),
        }
    }
}

impl LinkKind {
    /// Open it: read the capture, listen on the socket, or attach to the interface.
    ///
    /// # Errors
    /// That cannot be done.
    pub fn open(&self) -> Result<Box<dyn Link>, LinkError> {
        Ok(match self {
            Self::None => Box::new(NoLink),
            Self::Pcap(path) => Box::new(CaptureLink::read(path)?),
            Self::Unix(path) => Box::new(SocketLink::listen(path)?),
            Self::Tap(name) => Box::new(TapLink::open(name)?),
        })
    }
}

/// No peer.
#[derive(Debug)]
struct NoLink;

impl Link for NoLink {}
