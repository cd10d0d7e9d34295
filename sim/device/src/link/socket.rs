//! `unix:PATH`: one peer at a time on a socket.

use super::end::{Link, LinkError};
use super::peer::Peer;
use rnic_vfio_user::{Listener, ServerError};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

/// A socket on which one peer at a time is connected.
#[derive(Debug)]
pub(super) struct SocketLink {
    listener: Listener,
    peer: Option<Peer>,
}

impl SocketLink {
    pub(super) fn listen(path: &Path) -> Result<Self, LinkError> {
        Self::with(path, Listener::bind(path))
    }

    /// As [`SocketLink::listen`]; nobody but this user can connect.
    pub(super) fn listen_privately(path: &Path) -> Result<Self, LinkError> {
        Self::with(path, Listener::bind_private(path))
    }

    fn with(path: &Path, bound: Result<Listener, ServerError>) -> Result<Self, LinkError> {
        let listener = bound.map_err(|error| failed(path, error))?;
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
            let peer = Peer::new(stream);
            let peer = peer.map_err(|source| failed(path, ServerError::Accept(source)))?;
            self.peer = Some(peer);
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
            Some(peer) => peer.as_fd(),
            None => self.listener.as_fd(),
        })
    }

    fn has_frame(&self) -> bool {
        self.peer.as_ref().is_some_and(Peer::has_frame)
    }

    fn wants_write(&self) -> bool {
        self.peer.as_ref().is_some_and(Peer::wants_write)
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

    fn send(&mut self, frame: &[u8]) -> Result<bool, LinkError> {
        let sent = self
            .peer
            .as_mut()
            .map_or(Ok(false), |peer| peer.send(frame));
        if sent.is_err() {
            self.peer = None;
        }
        Ok(sent.unwrap_or(false))
    }

    fn flush(&mut self) -> Result<(), LinkError> {
        if self.peer.as_mut().is_some_and(|peer| peer.flush().is_err()) {
            self.peer = None;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
