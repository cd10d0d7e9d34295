//! What is at the other end of a served device's wire.
//!
//! | link         | frames to the device                 | frames of the device           |
//! |--------------|--------------------------------------|--------------------------------|
//! | `none`       | none                                 | are dropped                    |
//! | `pcap:FILE`  | those of a capture, at line rate     | the first one starts them      |
//! | `unix:PATH`  | of one peer at a time on that socket | to that peer, if there is one  |
//! | `tap:NAME`   | what Linux sends on an interface     | arrive on that interface       |
//!
//! A capture waits for the first frame that the device sends, so that its driver can set up what
//! the capture needs; each client gets all of it.

mod socket;
mod tap;

use crate::capture::{self, CaptureError};
use rustix::io::Errno;
use socket::SocketLink;
use std::fmt::Debug;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tap::TapLink;
use thiserror::Error;

/// Why a link cannot be used.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The capture cannot be read.
    #[error(transparent)]
    Capture(#[from] CaptureError),
    /// The socket cannot be used.
    #[error("link socket {path}: {source}")]
    Socket {
        /// Its path.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The interface cannot be used.
    #[error("interface {name}: {source}; {}", tap_advice(source))]
    Tap {
        /// Its name.
        name: String,
        /// What the system says.
        source: io::Error,
    },
}

/// What to do about an interface.
fn tap_advice(error: &io::Error) -> &'static str {
    match Errno::from_io_error(error) {
        Some(Errno::NOENT | Errno::NODEV) => {
            "load the driver with `modprobe tun`; in a container, pass /dev/net/tun to it"
        }
        Some(Errno::PERM | Errno::ACCESS) => {
            "make it as root, for you: `ip tuntap add dev NAME mode tap user USER`"
        }
        Some(Errno::BUSY) => "another process uses it; choose another one",
        _ => "it must be a TAP interface, with a name of 1 to 15 characters",
    }
}

/// The other end of the wire.
pub trait Link: Debug {
    /// A client of the device begins.
    fn restart(&mut self) {}
    /// Readable when [`Link::receive`] may have a frame.
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        None
    }
    /// Frames wait until [`Link::fd`] can be written.
    fn wants_write(&self) -> bool {
        false
    }
    /// Whether [`Link::receive`] has a frame, whatever becomes of [`Link::fd`].
    fn has_frame(&self) -> bool {
        false
    }
    /// The next frame for the device, if one is there; without FCS.
    ///
    /// # Errors
    /// The link is of no more use.
    fn receive(&mut self) -> Result<Option<Vec<u8>>, LinkError> {
        Ok(None)
    }
    /// A frame of the device, without FCS.
    ///
    /// # Errors
    /// The link is of no more use.
    fn send(&mut self, _frame: &[u8]) -> Result<(), LinkError> {
        Ok(())
    }
}

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

/// A capture.
#[derive(Debug)]
struct CaptureLink {
    frames: Vec<Vec<u8>>,
    /// The next frame; none until the device has sent one.
    next: Option<usize>,
}

impl CaptureLink {
    fn read(path: &Path) -> Result<Self, LinkError> {
        let frames = capture::read(path)?.frames;
        Ok(Self { frames, next: None })
    }
}

impl Link for CaptureLink {
    fn restart(&mut self) {
        self.next = None;
    }

    fn has_frame(&self) -> bool {
        self.next.is_some_and(|next| next < self.frames.len())
    }

    fn receive(&mut self) -> Result<Option<Vec<u8>>, LinkError> {
        let Some(next) = &mut self.next else {
            return Ok(None);
        };
        let frame = self.frames.get(*next).cloned();
        *next += usize::from(frame.is_some());
        Ok(frame)
    }

    fn send(&mut self, _frame: &[u8]) -> Result<(), LinkError> {
        self.next.get_or_insert(0);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
