//! A socket to which clients connect.

use std::fs::{remove_file, symlink_metadata};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::{connect, socket_with, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use thiserror::Error;

use crate::session::Session;

/// Why there is no socket, or no session from it.
#[derive(Debug, Error)]
pub enum ServerError {
    /// A server listens at this path.
    #[error("a server listens on {path}; stop it or choose another path")]
    InUse {
        /// The path asked for.
        path: PathBuf,
    },
    /// A file of another kind has this path.
    #[error("{path} exists and is no socket; choose another path")]
    NoSocket {
        /// The path asked for.
        path: PathBuf,
    },
    /// The socket could not be made.
    #[error("cannot listen on {path}: {source}")]
    Bind {
        /// The path asked for.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A client could not be accepted.
    #[error("cannot accept a client: {0}")]
    Accept(#[source] io::Error),
}

/// A socket that listens. Who may write to its file may use the device, and may have this process
/// map files: put it into a directory of the user.
#[derive(Debug)]
pub struct Server {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the socket's file.
    file: (u64, u64),
    sealed_only: bool,
}

impl Server {
    /// Listens on `path`. A socket that is left there and on which nobody listens is removed.
    pub fn bind(path: &Path) -> Result<Self, ServerError> {
        let failed = |source: io::Error| ServerError::Bind {
            path: path.into(),
            source,
        };
        match symlink_metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(failed(error)),
            Ok(found) if !found.file_type().is_socket() => {
                return Err(ServerError::NoSocket { path: path.into() })
            }
            Ok(_) if is_listening(path).map_err(|errno| failed(errno.into()))? => {
                return Err(ServerError::InUse { path: path.into() })
            }
            Ok(_) => remove_file(path).map_err(failed)?,
        }
        let listener = UnixListener::bind(path).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let file = symlink_metadata(path).map_err(failed)?;
        Ok(Self {
            listener,
            path: path.into(),
            file: (file.dev(), file.ino()),
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
        match self.listener.accept() {
            Ok((socket, _)) => {
                let mut session = Session::over(OwnedFd::from(socket));
                if self.sealed_only {
                    session.require_sealed();
                }
                Ok(Some(session))
            }
            // Nobody waits, or who did has left.
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock
                | io::ErrorKind::Interrupted
                | io::ErrorKind::ConnectionAborted => Ok(None),
                _ => Err(ServerError::Accept(error)),
            },
        }
    }
}

/// Ready to read when a client waits.
impl AsFd for Server {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Not what another server has put there since.
        let found = symlink_metadata(&self.path).map(|file| (file.dev(), file.ino()));
        if found.is_ok_and(|file| file == self.file) {
            let _ = remove_file(&self.path);
        }
    }
}

/// Somebody listens on the socket at `path`: it takes a connection, or would if it had room.
fn is_listening(path: &Path) -> Result<bool, Errno> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    match connect(&socket, &SocketAddrUnix::new(path)?) {
        Ok(()) | Err(Errno::AGAIN) => Ok(true),
        Err(Errno::CONNREFUSED | Errno::NOENT) => Ok(false),
        Err(errno) => Err(errno),
    }
}
