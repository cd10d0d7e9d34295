//! Whole messages over a stream socket that never blocks.
//!
//! ```text
//!   socket --> Receiver: 16 octets, then as many as the header says, and not one more --> Message
//!   socket <-- Sender: what does not fit is kept
//! ```
//!
//! A file descriptor arrives with the first octet it was sent with. Since a receiver never reads
//! past the end of a message, each descriptor belongs to the message it was read with. Those past
//! the limit are never installed, or closed at once.
//!
//! A message that is larger than memory is given for is read and dropped, so that the next one is
//! found. Only a size that cannot be one ends the stream.

use std::io::{IoSlice, IoSliceMut};
use std::mem::{take, MaybeUninit};
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    recvmsg, sendmsg, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
};
use thiserror::Error;

use crate::protocol::{Header, DROPPED_OCTETS_MAX, MESSAGE_FDS_MAX, MESSAGE_OCTETS_MAX};

/// Octets that are dropped at once.
const DROP_OCTETS: usize = 1 << 16;

/// A message with what came beside it.
pub(crate) struct Message {
    pub header: Header,
    pub payload: Vec<u8>,
    pub fds: Vec<OwnedFd>,
    /// Why it must be refused: dropped payload or file descriptors.
    pub damage: Option<Errno>,
}

/// Why no message will come any more: the session is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum SessionEnd {
    /// The peer closed the socket between two messages.
    #[error("the peer closed the connection")]
    Closed,
    /// The peer closed the socket within a message.
    #[error("the peer closed the connection within a message")]
    ClosedWithinMessage,
    /// A header with a size below its own or above what is read and dropped: where the next
    /// message begins is unknown.
    #[error("a message of {size} octets cannot be: the stream is out of step")]
    BadSize {
        /// The header's size field.
        size: u32,
    },
    /// The socket failed.
    #[error("the socket failed: {0}")]
    Socket(Errno),
}

/// Puts messages together.
#[derive(Default, Debug)]
pub(crate) struct Receiver {
    header_octets: [u8; Header::OCTETS],
    header_have: usize,
    payload: Vec<u8>,
    /// Of payload and dropped octets together.
    payload_have: usize,
    fds: Vec<OwnedFd>,
    damage: Option<Errno>,
}

impl Receiver {
    /// Takes what the socket has. None: the message is not whole yet.
    pub fn receive(&mut self, socket: BorrowedFd) -> Result<Option<Message>, SessionEnd> {
        loop {
            let header = match self.header_have {
                Header::OCTETS => Header::decode(&self.header_octets),
                _ => None,
            };
            let payload_octets = header.map(|header| header.size as usize - Header::OCTETS);
            if let (Some(header), true) = (header, payload_octets == Some(self.payload_have)) {
                return Ok(Some(self.take(header)));
            }
            let left = payload_octets.map(|octets| octets - self.payload_have);
            let Some(count) = self.receive_some(socket, left)? else {
                return Ok(None);
            };
            if left.is_some() {
                self.payload_have += count;
                continue;
            }
            self.header_have += count;
            if self.header_have == Header::OCTETS {
                self.begin_payload()?;
            }
        }
    }

    /// Memory for the payload, if the header's size is one.
    fn begin_payload(&mut self) -> Result<(), SessionEnd> {
        let header = Header::decode(&self.header_octets).expect("all octets are there");
        let size = header.size;
        if (size as usize) < Header::OCTETS || size > DROPPED_OCTETS_MAX {
            return Err(SessionEnd::BadSize { size });
        }
        if size > MESSAGE_OCTETS_MAX {
            self.damage = Some(Errno::MSGSIZE);
        } else {
            self.payload.resize(size as usize - Header::OCTETS, 0);
        }
        Ok(())
    }

    fn take(&mut self, header: Header) -> Message {
        self.header_have = 0;
        self.payload_have = 0;
        Message {
            header,
            payload: take(&mut self.payload),
            fds: take(&mut self.fds),
            damage: self.damage.take(),
        }
    }

    /// Some octets of the header, or of `left` octets of payload. None: there are none yet.
    fn receive_some(
        &mut self,
        socket: BorrowedFd,
        left: Option<usize>,
    ) -> Result<Option<usize>, SessionEnd> {
        let mut dropped = Vec::new();
        let place = match left {
            None => &mut self.header_octets[self.header_have..],
            Some(_) if !self.payload.is_empty() => &mut self.payload[self.payload_have..],
            Some(left) => {
                dropped.resize(left.min(DROP_OCTETS), 0);
                &mut dropped[..]
            }
        };
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MESSAGE_FDS_MAX))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let received = loop {
            match recvmsg(socket, &mut [IoSliceMut::new(place)], &mut ancillary, flags) {
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::CONNRESET) => break Err(SessionEnd::Closed),
                Err(errno) => break Err(SessionEnd::Socket(errno)),
                Ok(received) if received.bytes == 0 => break Err(SessionEnd::Closed),
                Ok(received) => break Ok(received),
            }
        };
        let received = match received {
            Err(SessionEnd::Closed) if self.header_have > 0 => {
                return Err(SessionEnd::ClosedWithinMessage)
            }
            received => received?,
        };
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(fds) = message {
                self.fds.extend(fds);
            }
        }
        if self.fds.len() > MESSAGE_FDS_MAX {
            self.fds.truncate(MESSAGE_FDS_MAX);
            self.damage = Some(Errno::TOOBIG);
        } else if received.flags.contains(ReturnFlags::CTRUNC) {
            // The kernel closed some: the peer sent too many, or this process has too many.
            let full = self.fds.len() == MESSAGE_FDS_MAX;
            self.damage = Some(if full { Errno::TOOBIG } else { Errno::MFILE });
        }
        Ok(Some(received.bytes))
    }
}

/// Octets that wait for room in the socket.
#[derive(Default, Debug)]
pub(crate) struct Sender {
    octets: Vec<u8>,
    sent: usize,
}

impl Sender {
    /// Puts a message after those that wait.
    pub fn push(&mut self, header: &Header, payload: &[u8]) {
        debug_assert_eq!(header.size as usize, Header::OCTETS + payload.len());
        self.octets.extend_from_slice(&header.encode());
        self.octets.extend_from_slice(payload);
    }

    /// Nothing waits.
    pub fn is_empty(&self) -> bool {
        self.octets.is_empty()
    }

    /// Sends what the socket takes, `fds` with the first octet. True: nothing waits any more.
    pub fn flush(&mut self, socket: BorrowedFd, fds: &[BorrowedFd]) -> Result<bool, SessionEnd> {
        while self.sent < self.octets.len() {
            let mut space =
                [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MESSAGE_FDS_MAX))];
            let mut ancillary = SendAncillaryBuffer::new(&mut space);
            if self.sent == 0 && !fds.is_empty() {
                let fits = ancillary.push(SendAncillaryMessage::ScmRights(fds));
                assert!(fits, "senders respect the most descriptors of a message");
            }
            let octets = [IoSlice::new(&self.octets[self.sent..])];
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match sendmsg(socket, &octets, &mut ancillary, flags) {
                Ok(count) => self.sent += count,
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return Ok(false),
                Err(Errno::PIPE | Errno::CONNRESET) => return Err(SessionEnd::Closed),
                Err(errno) => return Err(SessionEnd::Socket(errno)),
            }
        }
        self.octets.clear();
        self.sent = 0;
        Ok(true)
    }
}
