//! `unix:PATH`: one peer at a time on a socket.
//!
//! The framing is that of QEMU's `-netdev stream`: four octets of length, most significant first,
//! then a frame.

use super::end::{Link, LinkError};
use rnic_vfio_user::{Listener, ServerError};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;

/// Octets of the length before a frame.
const LENGTH_OCTETS: usize = 4;
/// Longest frame on a socket: what QEMU sends.
const FRAME_OCTETS_MAX: usize = 68 * 1024;
/// Octets that wait for a peer that does not read; frames beyond are dropped, as on a wire.
const UNREAD_OCTETS_MAX: usize = 4 << 20;

/// A socket on which one peer at a time is connected.
#[derive(Debug)]
pub(super) struct SocketLink {
    listener: Listener,
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
    pub(super) fn listen(path: &Path) -> Result<Self, LinkError> {
        let listener = Listener::bind(path).map_err(|error| failed(path, error))?;
        Ok(Self {
            listener,
            peer: None,
        })
    }

    /// Take the peer that waits, if there is one.
    fn accept(&mut self) -> Result<(), LinkError> {
        let path = self.listener.path();
        let accepted = self.listener.accept();
        if let Some(stream) = accepted.map_err(|error| failed(path, error))? {
            let unblocked = stream.set_nonblocking(true);
            unblocked.map_err(|source| failed(path, ServerError::Accept(source)))?;
            self.peer = Some(Peer {
                stream,
                input: VecDeque::new(),
                output: VecDeque::new(),
            });
        }
        Ok(())
    }
}

/// The error of a listener, which [`LinkError::Socket`] puts after the path.
fn failed(path: &Path, error: ServerError) -> LinkError {
    let source = match error {
        ServerError::InUse { .. } => ErrorKind::AddrInUse.into(),
        ServerError::NoSocket { .. } => io::Error::other("it exists and is no socket"),
        ServerError::Bind { source, .. } | ServerError::Accept(source) => source,
    };
    LinkError::Socket {
        path: path.into(),
        source,
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
            self.accept()?;
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
