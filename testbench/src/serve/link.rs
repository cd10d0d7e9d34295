//! What is at the other end of a served device's wire.
//!
//! | link         | frames to the device                 | frames of the device           |
//! |--------------|--------------------------------------|--------------------------------|
//! | `none`       | none                                 | are dropped                    |
//! | `pcap:FILE`  | those of a capture, at line rate     | the first one starts them      |
//! | `unix:PATH`  | of one peer at a time on that socket | to that peer, if there is one  |
//!
//! A capture waits for the first frame that the device sends, so that its driver can set up what
//! the capture needs; each client gets all of it. The socket has the framing of QEMU's `-netdev
//! stream`: four octets of length, most significant first, then a frame.

use crate::capture::{self, CaptureError};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::FileTypeExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use thiserror::Error;

/// Octets of the length in front of a frame.
const LENGTH_OCTETS: usize = 4;
/// Longest frame on a socket: what QEMU sends.
const FRAME_OCTETS_MAX: usize = 68 * 1024;
/// Octets that wait for a peer that does not read; frames beyond are dropped, as on a wire.
const UNREAD_OCTETS_MAX: usize = 4 << 20;

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
}

impl FromStr for LinkKind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(':') {
            None if text == "none" => Ok(Self::None),
            Some(("pcap", path)) if !path.is_empty() => Ok(Self::Pcap(path.into())),
            Some(("unix", path)) if !path.is_empty() => Ok(Self::Unix(path.into())),
            _ => Err("use none, pcap:FILE or unix:PATH".into()),
        }
    }
}

impl LinkKind {
    /// Open it: read the capture, or listen on the socket.
    ///
    /// # Errors
    /// That cannot be done.
    pub fn open(&self) -> Result<Box<dyn Link>, LinkError> {
        Ok(match self {
            Self::None => Box::new(NoLink),
            Self::Pcap(path) => Box::new(CaptureLink::read(path)?),
            Self::Unix(path) => Box::new(SocketLink::listen(path)?),
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

/// A socket on which one peer at a time is connected.
#[derive(Debug)]
struct SocketLink {
    path: PathBuf,
    listener: UnixListener,
    peer: Option<Peer>,
}

/// A connected peer.
#[derive(Debug)]
struct Peer {
    stream: UnixStream,
    /// Received, not yet a whole frame.
    input: VecDeque<u8>,
    /// To be sent.
    output: VecDeque<u8>,
}

impl SocketLink {
    fn listen(path: &Path) -> Result<Self, LinkError> {
        let failed = |source| LinkError::Socket {
            path: path.into(),
            source,
        };
        // What an earlier process has left; a file of another kind is in the way and stays. A
        // connection to one is refused as well.
        let file = std::fs::symlink_metadata(path);
        let is_socket = file.is_ok_and(|file| file.file_type().is_socket());
        let refused = |error: io::Error| error.kind() == ErrorKind::ConnectionRefused;
        if is_socket && UnixStream::connect(path).is_err_and(refused) {
            std::fs::remove_file(path).map_err(failed)?;
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            path: path.into(),
            listener,
            peer: None,
        })
    }

    fn accept(&mut self) -> io::Result<()> {
        match self.listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(true)?;
                self.peer = Some(Peer {
                    stream,
                    input: VecDeque::new(),
                    output: VecDeque::new(),
                });
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(error),
        }
    }
}

impl Link for SocketLink {
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(match &self.peer {
            Some(peer) => peer.stream.as_fd(),
            None => self.listener.as_fd(),
        })
    }

    fn has_frame(&self) -> bool {
        let peer = self.peer.as_ref();
        peer.is_some_and(|peer| peer.frame_octets().is_some())
    }

    fn wants_write(&self) -> bool {
        let peer = self.peer.as_ref();
        peer.is_some_and(|peer| !peer.output.is_empty())
    }

    fn receive(&mut self) -> Result<Option<Vec<u8>>, LinkError> {
        if self.peer.is_none() {
            self.accept().map_err(|source| LinkError::Socket {
                path: self.path.clone(),
                source,
            })?;
        }
        let Some(peer) = &mut self.peer else {
            return Ok(None);
        };
        // A peer that leaves, or sends what is no frame, is gone; the next one may come.
        match peer.receive() {
            Ok(frame) => Ok(frame),
            Err(_) => {
                self.peer = None;
                Ok(None)
            }
        }
    }

    fn send(&mut self, frame: &[u8]) -> Result<(), LinkError> {
        if let Some(peer) = &mut self.peer {
            if peer.send(frame).is_err() {
                self.peer = None;
            }
        }
        Ok(())
    }
}

impl Peer {
    /// Length of the frame at the beginning of the input, once all of it is there.
    fn frame_octets(&self) -> Option<usize> {
        let octets = self.announced_octets()?;
        (self.input.len() >= LENGTH_OCTETS + octets).then_some(octets)
    }

    fn announced_octets(&self) -> Option<usize> {
        let length = self.input.iter().take(LENGTH_OCTETS);
        (length.len() == LENGTH_OCTETS)
            .then(|| length.fold(0, |value, &octet| value << 8 | usize::from(octet)))
    }

    fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.flush()?;
        if self.frame_octets().is_none() {
            let mut octets = [0; 16 * 1024];
            match self.stream.read(&mut octets) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.input.extend(&octets[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        if self
            .announced_octets()
            .is_some_and(|octets| octets > FRAME_OCTETS_MAX)
        {
            return Err(Errno::MSGSIZE.into());
        }
        let Some(octets) = self.frame_octets() else {
            return Ok(None);
        };
        self.input.drain(..LENGTH_OCTETS);
        Ok(Some(self.input.drain(..octets).collect()))
    }

    fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        if self.output.len() + frame.len() <= UNREAD_OCTETS_MAX {
            self.output.extend((frame.len() as u32).to_be_bytes());
            self.output.extend(frame);
        }
        self.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        while !self.output.is_empty() {
            let (first, _) = self.output.as_slices();
            match self.stream.write(first) {
                Ok(count) => self.output.drain(..count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            };
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
