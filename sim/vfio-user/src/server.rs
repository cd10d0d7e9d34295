//! A socket to which clients connect.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use crate::listener::{Listener, ServerError};
use crate::session::Session;

/// A socket that listens. Who may write to its file may use the device, and may have this process
/// map files: put it into a directory of the user.
#[derive(Debug)]
pub struct Server {
    listener: Listener,
    sealed_only: bool,
}

impl Server {
    /// Listens on `path`. A socket that is left there and on which nobody listens is removed.
    pub fn bind(path: &Path) -> Result<Self, ServerError> {
        Ok(Self {
            listener: Listener::bind(path)?,
            sealed_only: false,
        })
    }

    /// Refuses memory whose file could shrink under its mapping, with `EPERM`.
    ///
    /// Without this a client can stop the server: by shrinking a file that is mapped, which ends
    /// this process with SIGBUS, or with a file on a file system of its own making that does not
    /// answer. QEMU seals the memory of `memory-backend-memfd` unless it is told not to; files of a
    /// directory cannot be sealed.
    pub fn require_sealed(&mut self) {
        self.sealed_only = true;
    }

    /// The next client that waits, if there is one.
    pub fn accept(&self) -> Result<Option<Session>, ServerError> {
        let Some(socket) = self.listener.accept()? else {
            return Ok(None);
        };
        let mut session = Session::over(OwnedFd::from(socket));
        if self.sealed_only {
            session.require_sealed();
        }
        Ok(Some(session))
    }
}

/// Ready to read when a client waits.
impl AsFd for Server {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}
