//! One command and its reply over the socket.
//!
//! ```text
//!   call --> command, descriptors --> socket
//!        <-- reply of the same id and command, in time <-- socket
//! ```
//!
//! One command is under way at a time. A server that does not answer in time, answers something
//! else or breaks off leaves the stream out of step: from then on every call fails.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_timeout, Timeout};
use rustix::net::{socket_with, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};

use super::error::ClientError;
use crate::protocol::{header_flags, Command, Header};
use crate::socket::{Message, Receiver, Sender, SessionEnd};

/// How long a reply may take unless [`Channel::set_timeout`] says otherwise. QEMU waits as long.
const TIMEOUT: Duration = Duration::from_secs(5);

/// A connected stream socket and the numbers of its messages.
#[derive(Debug)]
pub(super) struct Channel {
    socket: OwnedFd,
    receiver: Receiver,
    next_id: u16,
    timeout: Duration,
    broken: bool,
}

/// Connects to the server that listens at a path.
pub(super) fn connect(path: &Path) -> Result<OwnedFd, ClientError> {
    let flags = SocketFlags::CLOEXEC;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None);
    let connected = socket.and_then(|socket| {
        // A server that listens and never accepts has a full queue at some time.
        set_socket_timeout(&socket, Timeout::Send, Some(TIMEOUT))?;
        rustix::net::connect(&socket, &SocketAddrUnix::new(path)?)?;
        Ok(socket)
    });
    let path = path.into();
    connected.map_err(|errno| ClientError::Connect { path, errno })
}

impl Channel {
    /// Over a connected stream socket.
    pub(super) fn over(socket: OwnedFd) -> Self {
        Self {
            socket,
            receiver: Receiver::default(),
            next_id: 0,
            timeout: TIMEOUT,
            broken: false,
        }
    }

    /// How long a reply may take from now on.
    pub(super) fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// The reply cannot be trusted, nor what follows.
    pub(super) fn malformed(&mut self, command: Command, what: &'static str) -> ClientError {
        self.broken = true;
        ClientError::Malformed { command, what }
    }

    /// Sends a command and waits for its reply.
    pub(super) fn call(
        &mut self,
        command: Command,
        payload: &[&[u8]],
        fds: &[BorrowedFd],
    ) -> Result<Message, ClientError> {
        let deadline = Instant::now() + self.timeout;
        let id = self.send(command, 0, payload, fds, deadline)?;
        let reply = self.reply(id, command, deadline);
        self.broken = reply.is_err();
        let reply = reply?;
        if reply.header.is_error() {
            let errno = i32::try_from(reply.header.error).ok();
            let errno = errno.filter(|errno| (1..4096).contains(errno));
            return Err(ClientError::Refused {
                command,
                errno: errno.map_or(Errno::IO, Errno::from_raw_os_error),
            });
        }
        Ok(reply)
    }

    /// Sends a command that has no reply.
    pub(super) fn post(&mut self, command: Command, payload: &[&[u8]]) -> Result<(), ClientError> {
        let deadline = Instant::now() + self.timeout;
        self.send(command, header_flags::NO_REPLY, payload, &[], deadline)?;
        Ok(())
    }

    fn send(
        &mut self,
        command: Command,
        flags: u32,
        payload: &[&[u8]],
        fds: &[BorrowedFd],
        deadline: Instant,
    ) -> Result<u16, ClientError> {
        if self.broken {
            return Err(ClientError::Broken);
        }
        let payload = payload.concat();
        let id = self.next_id;
        self.next_id = id.wrapping_add(1);
        let header = Header {
            flags,
            ..Header::command(id, command, payload.len())
        };
        let sent = self.send_whole(&header, &payload, fds, deadline);
        self.broken = sent.is_err();
        sent.map(|()| id)
    }

    fn send_whole(
        &self,
        header: &Header,
        payload: &[u8],
        fds: &[BorrowedFd],
        deadline: Instant,
    ) -> Result<(), ClientError> {
        let mut sender = Sender::default();
        sender.push(header, payload);
        while !sender.flush(self.socket.as_fd(), fds)? {
            let command = Command::from_code(header.command);
            self.wait(PollFlags::OUT, command, deadline)?;
        }
        Ok(())
    }

    fn reply(
        &mut self,
        id: u16,
        command: Command,
        deadline: Instant,
    ) -> Result<Message, ClientError> {
        loop {
            let Some(message) = self.receiver.receive(self.socket.as_fd())? else {
                self.wait(PollFlags::IN, command, deadline)?;
                continue;
            };
            let header = message.header;
            if !header.is_reply() {
                // The server asks for memory by messages; it has been given files.
                if !header.is_final() {
                    let errno = Errno::NOTSUP.raw_os_error().unsigned_abs();
                    self.send_whole(&header.error_reply(errno), &[], &[], deadline)?;
                }
                continue;
            }
            let what = if header.message_id != id || header.command != command.code() {
                "it answers another command"
            } else if message.damage.is_some() {
                "too large"
            } else {
                return Ok(message);
            };
            return Err(ClientError::Malformed { command, what });
        }
    }

    /// Waits until the socket is ready.
    fn wait(
        &self,
        flags: PollFlags,
        command: Command,
        deadline: Instant,
    ) -> Result<(), ClientError> {
        let left = deadline.saturating_duration_since(Instant::now());
        let timespec = Timespec::try_from(left).ok();
        let mut fds = [PollFd::new(&self.socket, flags)];
        match poll(&mut fds, timespec.as_ref()) {
            Ok(1..) | Err(Errno::INTR) => Ok(()),
            Ok(0) => Err(ClientError::Timeout {
                command,
                timeout: self.timeout,
            }),
            Err(errno) => Err(SessionEnd::Socket(errno).into()),
        }
    }
}
