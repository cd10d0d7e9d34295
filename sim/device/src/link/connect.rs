//! `unix-connect:PATH`: whoever listens on a socket, such as another device's `unix:PATH`.
//!
//! ```text
//!  seeking -- somebody listens --> connected -- it leaves, or sends what is no frame --> seeking
//! ```
//!
//! Processes start in any order and end when they like: nobody there is no error, and frames are
//! dropped meanwhile, as on a cable with a free end. It is said once each time.

use super::end::{Link, LinkError};
use super::peer::Peer;
use rnic_output::shown;
use rnic_output::stdout::complain;
use rustix::io::Errno;
use std::io;
use std::os::fd::BorrowedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// A socket on which somebody else listens.
#[derive(Debug)]
pub(super) struct ConnectLink {
    path: PathBuf,
    peer: Option<Peer>,
}

impl ConnectLink {
    /// # Errors
    /// [`LinkError::Socket`]: it is no socket, or not for this user.
    pub(super) fn open(path: &Path) -> Result<Self, LinkError> {
        let mut link = Self {
            path: path.into(),
            peer: None,
        };
        if !link.connect()? {
            link.say("nobody listens yet; it is tried again");
        }
        Ok(link)
    }

    fn say(&self, what: &str) {
        complain(&format!("link unix-connect:{}: {what}", shown(&self.path)));
    }

    /// Says whether somebody is there now.
    fn connect(&mut self) -> Result<bool, LinkError> {
        if self.peer.is_none() {
            let connected = UnixStream::connect(&self.path).and_then(Peer::new);
            match connected {
                Ok(peer) => self.peer = Some(peer),
                Err(error) if is_nobody(&error) => {}
                Err(source) => {
                    let path = self.path.clone();
                    return Err(LinkError::Socket { path, source });
                }
            }
        }
        Ok(self.peer.is_some())
    }

    fn leave(&mut self) {
        self.peer = None;
        self.say("the other end has left; it is tried again");
    }
}

/// Nobody listens.
fn is_nobody(error: &io::Error) -> bool {
    let passing = [Errno::NOENT, Errno::CONNREFUSED, Errno::INTR];
    Errno::from_io_error(error).is_some_and(|errno| passing.contains(&errno))
}

impl Link for ConnectLink {
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.peer.as_ref().map(Peer::as_fd)
    }

    fn wants_write(&self) -> bool {
        self.peer.as_ref().is_some_and(Peer::wants_write)
    }

    fn has_frame(&self) -> bool {
        self.peer.as_ref().is_some_and(Peer::has_frame)
    }

    fn is_seeking(&self) -> bool {
        self.peer.is_none()
    }

    fn receive(&mut self) -> Result<Option<Vec<u8>>, LinkError> {
        self.connect()?;
        let received = self.peer.as_mut().map_or(Ok(None), Peer::receive);
        if received.is_err() {
            self.leave();
        }
        Ok(received.unwrap_or(None))
    }

    fn send(&mut self, frame: &[u8]) -> Result<bool, LinkError> {
        self.connect()?;
        let sent = self
            .peer
            .as_mut()
            .map_or(Ok(false), |peer| peer.send(frame));
        if sent.is_err() {
            self.leave();
        }
        Ok(sent.unwrap_or(false))
    }

    fn flush(&mut self) -> Result<(), LinkError> {
        if self.peer.as_mut().is_some_and(|peer| peer.flush().is_err()) {
            self.leave();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
