//! A peer on a socket of a stream: the framing of QEMU's `-netdev stream`, four octets of length,
//! most significant first, then a frame.

use rustix::io::Errno;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

/// Octets of the length before a frame.
pub(super) const LENGTH_OCTETS: usize = 4;
/// Longest frame on a socket: what QEMU sends.
pub(super) const FRAME_OCTETS_MAX: usize = 68 * 1024;
/// Octets that are read together.
const READ_OCTETS: usize = 64 << 10;
/// Octets that are written together: frames of one turn of a device.
const BATCH_OCTETS: usize = 64 << 10;
/// Octets that wait for a peer that does not read; frames beyond are dropped, as on a wire.
pub(super) const UNREAD_OCTETS_MAX: usize = 4 << 20;

/// Whoever is connected.
#[derive(Debug)]
pub(super) struct Peer {
    stream: UnixStream,
    /// What a read fills.
    buffer: Box<[u8]>,
    /// Received; the first `taken` octets of it were taken.
    input: Vec<u8>,
    taken: usize,
    /// To be sent.
    pub(super) output: VecDeque<u8>,
}

impl Peer {
    /// Whoever is at the other end of `stream`, which does not block from here on.
    pub(super) fn new(stream: UnixStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self {
            stream,
            buffer: vec![0; READ_OCTETS].into(),
            input: Vec::new(),
            taken: 0,
            output: VecDeque::new(),
        })
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    /// A whole frame has been read.
    pub(super) fn has_frame(&self) -> bool {
        self.frame_octets().is_some()
    }

    pub(super) fn wants_write(&self) -> bool {
        !self.output.is_empty()
    }

    /// What was received and not taken.
    fn rest(&self) -> &[u8] {
        &self.input[self.taken..]
    }

    /// Length of the frame at the beginning of the input, once all of it is there.
    fn frame_octets(&self) -> Option<usize> {
        let octets = self.announced_octets()?;
        (self.rest().len() >= LENGTH_OCTETS + octets).then_some(octets)
    }

    fn announced_octets(&self) -> Option<usize> {
        let length = self.rest().first_chunk::<LENGTH_OCTETS>()?;
        Some(u32::from_be_bytes(*length) as usize)
    }

    /// The next frame, if it is there.
    ///
    /// # Errors
    /// The peer has left, or sends what is no frame: it is of no more use.
    pub(super) fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.flush()?;
        if self.frame_octets().is_none() {
            self.input.drain(..std::mem::take(&mut self.taken));
            match self.stream.read(&mut self.buffer) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(count) => self.input.extend_from_slice(&self.buffer[..count]),
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
        let frame = self.rest()[LENGTH_OCTETS..][..octets].to_vec();
        self.taken += LENGTH_OCTETS + octets;
        Ok(Some(frame))
    }

    /// Send a frame, with others or at [`Peer::flush`]; false if too much is unread.
    ///
    /// # Errors
    /// The peer has left.
    pub(super) fn send(&mut self, frame: &[u8]) -> io::Result<bool> {
        if self.output.len() + LENGTH_OCTETS + frame.len() > BATCH_OCTETS {
            self.flush()?;
        }
        let has_room = self.output.len() + frame.len() <= UNREAD_OCTETS_MAX;
        if has_room {
            self.output.extend((frame.len() as u32).to_be_bytes());
            self.output.extend(frame);
        }
        Ok(has_room)
    }

    /// Send what waits, as far as the peer reads.
    ///
    /// # Errors
    /// The peer has left.
    pub(super) fn flush(&mut self) -> io::Result<()> {
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
