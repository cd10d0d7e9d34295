//! A socket in the file system on which this process listens.
//!
//! ```text
//!   path --> nothing there, or a socket that is left --> bound --> UnixStream for each client
//!        `-> somebody serves it, or another file     --> error
//! ```
//!
//! Nothing blocks. The file goes with the listener, unless another one has taken its place.

use std::fs::{remove_file, symlink_metadata};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::{fchmod, linkat, open, unlinkat, AtFlags, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{
    bind, connect, listen, socket_with, AddressFamily, SocketAddrUnix, SocketFlags, SocketType,
};
use thiserror::Error;

/// Clients that may wait for [`Listener::accept`], as in std.
const BACKLOG: i32 = 128;

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

/// A socket that listens.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode of the socket's file.
    file: (u64, u64),
}

impl Listener {
    /// Listens on `path`. A socket that is left there and on which nobody listens is removed. Who
    /// may connect is decided by the umask.
    ///
    /// # Errors
    /// [`ServerError`], with the path.
    pub fn bind(path: &Path) -> Result<Self, ServerError> {
        Self::bind_with(path, None)
    }

    /// As [`Listener::bind`], and only the user of this process may connect: the file has mode
    /// 0600 from the moment it exists.
    ///
    /// # Errors
    /// As there.
    pub fn bind_private(path: &Path) -> Result<Self, ServerError> {
        Self::bind_with(path, Some(Mode::RUSR | Mode::WUSR))
    }

    fn bind_with(path: &Path, mode: Option<Mode>) -> Result<Self, ServerError> {
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
        let listener = listen_on(path, mode).map_err(|errno| failed(errno.into()))?;
        let file = symlink_metadata(path).map_err(failed)?;
        Ok(Self {
            listener,
            path: path.into(),
            file: (file.dev(), file.ino()),
        })
    }

    /// The next client that waits, if there is one. Its socket blocks.
    ///
    /// # Errors
    /// [`ServerError::Accept`], such as for lack of file descriptors.
    pub fn accept(&self) -> Result<Option<UnixStream>, ServerError> {
        match self.listener.accept() {
            Ok((socket, _)) => Ok(Some(socket)),
            // Nobody waits, or who did has left.
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock
                | io::ErrorKind::Interrupted
                | io::ErrorKind::ConnectionAborted => Ok(None),
                _ => Err(ServerError::Accept(error)),
            },
        }
    }

    /// Path of the socket.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Ready to read when a client waits.
impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.listener.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // Not what another one has put there since.
        let found = symlink_metadata(&self.path).map(|file| (file.dev(), file.ino()));
        if found.is_ok_and(|file| file == self.file) {
            let _ = remove_file(&self.path);
        }
    }
}

/// A new socket at `path`. Who finds its name can connect: it is bound under another one, and gets
/// its own when it listens.
fn listen_on(path: &Path, mode: Option<Mode>) -> Result<UnixListener, Errno> {
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    if let Some(mode) = mode {
        // Linux gives the file the mode that the socket has when it is bound.
        fchmod(&socket, mode)?;
    }
    // What cannot be bound under its own name is refused before anything is made.
    SocketAddrUnix::new(path)?;
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let folder = open(
        folder,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )?;
    let name = path.file_name().ok_or(Errno::INVAL)?;
    // A path through the folder's descriptor is short, however long the folder's own is.
    let other = format!(".{}.{}", std::process::id(), socket.as_raw_fd());
    let bound = format!("/proc/self/fd/{}/{other}", folder.as_raw_fd());
    bind(&socket, &SocketAddrUnix::new(bound.as_str())?)?;
    let named = listen(&socket, BACKLOG)
        .and_then(|()| linkat(&folder, &other, &folder, name, AtFlags::empty()));
    let removed = unlinkat(&folder, &other, AtFlags::empty());
    named.and(removed)?;
    Ok(socket.into())
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn mode(path: &Path) -> u32 {
        let found = symlink_metadata(path).expect("it was bound");
        found.permissions().mode() & 0o777
    }

    #[test]
    fn a_private_socket_is_its_users_alone_and_goes_with_the_listener() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let listener = Listener::bind_private(&path).expect("it binds");
        assert_eq!(mode(&path), 0o600);
        let _client = UnixStream::connect(&path).expect("it listens");
        assert!(listener.accept().expect("it accepts").is_some());
        assert!(listener.accept().expect("it does not block").is_none());
        let second = Listener::bind_private(&path).expect_err("it is served");
        assert!(matches!(second, ServerError::InUse { .. }), "{second}");
        drop(listener);
        assert!(!path.exists());
    }

    /// Who waits for the name of the socket and connects then is never refused.
    #[test]
    fn who_finds_the_socket_can_connect() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let other = path.clone();
        let client = std::thread::spawn(move || {
            for _ in 0..200 {
                while !other.exists() {
                    std::hint::spin_loop();
                }
                match UnixStream::connect(&other) {
                    Ok(_) => {}
                    // It has gone again meanwhile.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        });
        while !client.is_finished() {
            let listener = Listener::bind(&path).expect("it binds");
            std::thread::yield_now();
            // The name goes before the socket: nobody finds one that does not listen.
            drop(listener);
        }
        client.join().expect("no panic").expect("it listens");
        let names = std::fs::read_dir(folder.path()).expect("a folder");
        assert_eq!(names.count(), 0);
    }

    /// The longest name that a socket may have, and one octet more.
    #[test]
    fn a_name_may_be_as_long_as_the_system_takes() {
        let folder = tempfile::tempdir().expect("a folder");
        let rest = 108 - folder.path().as_os_str().len() - 1;
        for (octets, is_bound) in [(rest, true), (rest + 1, false)] {
            let path = folder.path().join("s".repeat(octets));
            assert_eq!(Listener::bind(&path).is_ok(), is_bound, "{octets}");
        }
    }

    #[test]
    fn a_socket_that_is_left_is_replaced_and_another_file_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        drop(UnixListener::bind(&path).expect("it binds"));
        assert!(path.exists(), "std leaves it");
        drop(Listener::bind_private(&path).expect("nobody listens"));
        std::fs::write(&path, "text").expect("a file");
        let refused = Listener::bind(&path).expect_err("it is no socket");
        assert!(matches!(refused, ServerError::NoSocket { .. }), "{refused}");
    }
}
