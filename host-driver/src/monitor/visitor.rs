//! One client of a monitor: a request that arrives in parts, then an answer that leaves in parts.
//!
//! Nothing blocks. Neither side is kept beyond its bound: a request is read up to its longest, an
//! answer is as long as the device makes it.

use super::protocol::REQUEST_OCTETS_MAX;
use rustix::io::Errno;
use rustix::net::{recv, send, RecvFlags, SendFlags};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// A client.
#[derive(Debug)]
pub(crate) struct Visitor {
    socket: UnixStream,
    request: Vec<u8>,
    /// Octets of the answer that were not sent, once there is one.
    answer: Option<Vec<u8>>,
    /// Octets of it that were.
    sent: usize,
}

/// What is next with a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It has to send or to take more.
    Wait,
    /// It asks; without the newline.
    Answer(Vec<u8>),
    /// It asks for more than the longest request.
    TooLong,
    /// It has its answer, or is gone.
    End,
}

impl Visitor {
    /// A client that has just come. Its socket may block.
    pub(crate) fn new(socket: UnixStream) -> Self {
        Self {
            socket,
            request: Vec::new(),
            answer: None,
            sent: 0,
        }
    }

    /// Has its request been answered, and is the rest of the answer on its way?
    pub(crate) fn is_answered(&self) -> bool {
        self.answer.is_some()
    }

    /// Read or write once what its socket takes.
    pub(crate) fn turn(&mut self) -> Next {
        match &self.answer {
            Some(_) => self.write(),
            None => self.read(),
        }
    }

    /// The answer, of which as much is sent as its socket takes.
    pub(crate) fn answer(&mut self, answer: Vec<u8>) -> Next {
        self.answer = Some(answer);
        self.write()
    }

    fn read(&mut self) -> Next {
        let mut octets = [0; REQUEST_OCTETS_MAX];
        let room = &mut octets[self.request.len()..];
        let received = match recv(&self.socket, room, RecvFlags::DONTWAIT) {
            Ok((received, _)) if received > 0 => received,
            Err(Errno::AGAIN | Errno::INTR) => return Next::Wait,
            Ok(_) | Err(_) => return Next::End,
        };
        let start = self.request.len();
        self.request
            .extend_from_slice(&octets[start..start + received]);
        match self.request.iter().position(|&octet| octet == b'\n') {
            Some(end) => Next::Answer(self.request[..end].to_vec()),
            None if self.request.len() == REQUEST_OCTETS_MAX => Next::TooLong,
            None => Next::Wait,
        }
    }

    fn write(&mut self) -> Next {
        let left = &self.answer.as_deref().unwrap_or_default()[self.sent..];
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        match send(&self.socket, left, flags) {
            Ok(sent) if sent == left.len() => Next::End,
            Ok(sent) => {
                self.sent += sent;
                Next::Wait
            }
            Err(Errno::AGAIN | Errno::INTR) => Next::Wait,
            Err(_) => Next::End,
        }
    }
}

impl AsFd for Visitor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
