//! `tap:NAME`: a network interface of Linux is the other end of the wire.
//!
//! What Linux sends on the interface is received by the device, and what the device sends arrives
//! on it, so Linux' own TCP, or a bridge to a real network, can be the peer.
//!
//! An interface that exists and belongs to this user takes no privilege; one that does not exist is
//! made, with CAP_NET_ADMIN, and ends with this process:
//!
//! ```sh
//! sudo ip tuntap add dev rnic0 mode tap user $USER
//! sudo ip address add 10.0.0.1/24 dev rnic0
//! sudo ip link set rnic0 up
//! ```

use super::end::{Link, LinkError};
use crate::tun;
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};

/// Shortest frame on a wire, without FCS (IEEE 802.3): Linux leaves padding to the hardware.
const FRAME_OCTETS_MIN: usize = 60;
/// Longest frame that an interface sends.
const FRAME_OCTETS_MAX: usize = 64 * 1024;

/// An interface.
#[derive(Debug)]
pub(super) struct TapLink {
    name: String,
    queue: File,
    buffer: Box<[u8]>,
}

impl TapLink {
    /// # Errors
    /// [`LinkError::Tap`].
    pub(super) fn open(name: &str) -> Result<Self, LinkError> {
        let queue = tun::open_tap(name).map_err(|source| failed(name, source))?;
        Ok(Self {
            name: name.to_owned(),
            queue,
            buffer: vec![0; FRAME_OCTETS_MAX].into(),
        })
    }
}

impl Link for TapLink {
    fn fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.queue.as_fd())
    }

    fn receive(&mut self) -> Result<Option<Vec<u8>>, LinkError> {
        match self.queue.read(&mut self.buffer) {
            Ok(octets) => {
                let mut frame = self.buffer[..octets].to_vec();
                frame.resize(octets.max(FRAME_OCTETS_MIN), 0);
                Ok(Some(frame))
            }
            Err(error) if is_no_frame(&error) => Ok(None),
            Err(error) => Err(failed(&self.name, error)),
        }
    }

    /// Lost if the interface is down or its queue is full, as on a wire.
    fn send(&mut self, frame: &[u8]) -> Result<bool, LinkError> {
        match self.queue.write(frame) {
            Ok(_) => Ok(true),
            Err(error) if is_no_frame(&error) => Ok(false),
            Err(error) => Err(failed(&self.name, error)),
        }
    }
}

/// No frame waits, or has room; the interface is down, or the frame is none that Linux takes.
fn is_no_frame(error: &io::Error) -> bool {
    let passing = [
        Errno::AGAIN,
        Errno::INTR,
        Errno::IO,
        Errno::NOBUFS,
        Errno::INVAL,
    ];
    Errno::from_io_error(error).is_some_and(|errno| passing.contains(&errno))
}

fn failed(name: &str, source: io::Error) -> LinkError {
    LinkError::Tap {
        name: name.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests;
