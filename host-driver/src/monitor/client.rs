//! Asks a monitor.
//!
//! Who answers is another process: it gets a time to answer in, and its answer a length.

use super::protocol::{Answer, Body, ConnectionReport, Info, Page, RegionReport, Request, VERSION};
use rustix::io::Errno;
use rustix::net::{connect, send, socket_with};
use rustix::net::{AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType};
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Octets of the longest answer that is read.
pub const ANSWER_OCTETS_MAX: usize = 1 << 20;

/// Why a monitor has not answered.
#[derive(Debug, Error)]
pub enum MonitorError {
    /// There is no socket.
    #[error(
        "there is no socket {}: start the application with a monitor first, and check the path; \
         `rnicctl list` shows the monitors that answer",
        path.display()
    )]
    NoSocket {
        /// Path of the socket.
        path: PathBuf,
    },
    /// The application has ended without removing its socket.
    #[error(
        "no application serves {}: its application has ended; start it again",
        path.display()
    )]
    Left {
        /// Path of the socket.
        path: PathBuf,
    },
    /// It is not the user's socket.
    #[error(
        "no right to use {}: run as the user of its application, or as root",
        path.display()
    )]
    Forbidden {
        /// Path of the socket.
        path: PathBuf,
    },
    /// The application does not come to serve its monitor.
    #[error(
        "the monitor at {} has not answered in {} s: its application is busy or stopped; try again",
        path.display(),
        timeout.as_secs_f64()
    )]
    Timeout {
        /// Path of the socket.
        path: PathBuf,
        /// Time that it had.
        timeout: Duration,
    },
    /// The socket failed.
    #[error("failed to ask the monitor at {}: {source}; check the path", path.display())]
    Socket {
        /// Path of the socket.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// Another protocol.
    #[error(
        "{} is not the socket of a Ferrowarp monitor of version {VERSION}: {reason}; check the \
         path, and that application and command are of the same release",
        path.display()
    )]
    Protocol {
        /// Path of the socket.
        path: PathBuf,
        /// What is not understood.
        reason: String,
    },
    /// The monitor answers that it cannot.
    #[error("the monitor at {} refuses: {reason}", path.display())]
    Refused {
        /// Path of the socket.
        path: PathBuf,
        /// Its words.
        reason: String,
    },
}

/// Asks one monitor.
#[derive(Clone, Debug)]
pub struct Client {
    path: PathBuf,
    timeout: Duration,
}

impl Client {
    /// For the socket at `path`; each answer may take `timeout`. Nothing is connected yet.
    pub fn new(path: &Path, timeout: Duration) -> Self {
        Self {
            path: path.to_owned(),
            timeout,
        }
    }

    /// What the device is, and what it has free.
    ///
    /// # Errors
    /// A [`MonitorError`], whose message says what to do; so the others.
    pub fn info(&self) -> Result<Info, MonitorError> {
        match self.ask(Request::Info)? {
            Body::Info(info) => Ok(info),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Every counter by name, modulo 2^32.
    ///
    /// # Errors
    /// As [`Client::info`].
    pub fn counters(&self) -> Result<BTreeMap<String, u32>, MonitorError> {
        match self.ask(Request::Counters)? {
            Body::Counters(counters) => Ok(counters),
            other => Err(self.unexpected(&other)),
        }
    }

    /// The regions, by their STags.
    ///
    /// # Errors
    /// As [`Client::info`].
    pub fn regions(&self) -> Result<Vec<RegionReport>, MonitorError> {
        self.pages(|from| match self.ask(Request::Regions { from })? {
            Body::Regions(page) => Ok(page),
            other => Err(self.unexpected(&other)),
        })
    }

    /// The connections, by their ids.
    ///
    /// # Errors
    /// As [`Client::info`].
    pub fn connections(&self) -> Result<Vec<ConnectionReport>, MonitorError> {
        self.pages(|from| match self.ask(Request::Connections { from })? {
            Body::Connections(page) => Ok(page),
            other => Err(self.unexpected(&other)),
        })
    }

    fn pages<T>(
        &self,
        page: impl Fn(u64) -> Result<Page<T>, MonitorError>,
    ) -> Result<Vec<T>, MonitorError> {
        let (mut items, mut from) = (Vec::new(), 0);
        loop {
            let page = page(from)?;
            items.extend(page.items);
            match page.next {
                None => return Ok(items),
                Some(next) if next > from => from = next,
                Some(next) => return Err(self.protocol(format!("page {next} follows page {from}"))),
            }
        }
    }

    /// One request and its answer.
    ///
    /// # Errors
    /// As [`Client::info`].
    pub fn ask(&self, request: Request) -> Result<Body, MonitorError> {
        let end = Instant::now() + self.timeout;
        let mut socket = self.connect().map_err(|errno| self.failed(errno.into()))?;
        let line = format!("{request}\n");
        // A socket that was just connected has room for it.
        send(&socket, line.as_bytes(), SendFlags::NOSIGNAL)
            .map_err(|errno| self.failed(errno.into()))?;
        let line = self.read_line(&mut socket, end)?;
        let answer: Answer =
            serde_json::from_slice(&line).map_err(|error| self.protocol(error.to_string()))?;
        match answer.body {
            Body::Error(reason) => Err(MonitorError::Refused {
                path: self.path.clone(),
                reason,
            }),
            body => Ok(body),
        }
    }

    fn connect(&self) -> Result<UnixStream, Errno> {
        // Connecting to a socket whose queue is full would block.
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        connect(&socket, &SocketAddrUnix::new(&self.path)?)?;
        rustix::io::ioctl_fionbio(&socket, false)?;
        Ok(socket.into())
    }

    /// What the monitor sends, up to its newline or the end of the connection.
    fn read_line(&self, socket: &mut UnixStream, end: Instant) -> Result<Vec<u8>, MonitorError> {
        let mut line = Vec::new();
        let mut part = [0; 1 << 14];
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(self.failed(io::ErrorKind::WouldBlock.into()));
            }
            let waits = socket.set_read_timeout(Some(left));
            waits.map_err(|error| self.failed(error))?;
            match socket.read(&mut part) {
                Ok(0) => return Ok(line),
                Ok(octets) => line.extend_from_slice(&part[..octets]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error)),
            }
            if line.ends_with(b"\n") {
                return Ok(line);
            }
            if line.len() > ANSWER_OCTETS_MAX {
                let reason = format!("its answer has more than {ANSWER_OCTETS_MAX} octets");
                return Err(self.protocol(reason));
            }
        }
    }

    fn failed(&self, source: io::Error) -> MonitorError {
        let path = self.path.clone();
        match source.kind() {
            io::ErrorKind::NotFound => MonitorError::NoSocket { path },
            io::ErrorKind::ConnectionRefused => MonitorError::Left { path },
            io::ErrorKind::PermissionDenied => MonitorError::Forbidden { path },
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => MonitorError::Timeout {
                path,
                timeout: self.timeout,
            },
            _ => MonitorError::Socket { path, source },
        }
    }

    fn protocol(&self, reason: String) -> MonitorError {
        MonitorError::Protocol {
            path: self.path.clone(),
            reason,
        }
    }

    fn unexpected(&self, body: &Body) -> MonitorError {
        self.protocol(format!("an answer to another question: {body:?}"))
    }
}
