//! The peer's end of a wire: frames on a socket, as TCP sees them, and a record of all of them.
//!
//! ```text
//!  hub --length, frame--> seen --> dropped while silent, or longer than the path --> inbox --> TCP
//!                                                                 TCP --> Faults --> sent --> hub
//! ```

use crate::frame::{ETHERNET_OCTETS, MTU_OCTETS};
use crate::icmp;
use crate::wiretap::Segment;
use smoltcp::phy::{self, DeviceCapabilities, Medium};
use smoltcp::time::Instant;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// How long a reader waits before it checks the time.
const TICK: Duration = Duration::from_millis(1);

/// Frames as they come off the socket.
pub(crate) struct Reader {
    socket: UnixStream,
    input: Vec<u8>,
}

impl Reader {
    /// Frames that are there, or none after [`TICK`]; `None`: the wire is gone.
    pub fn read(&mut self) -> Option<Vec<Vec<u8>>> {
        let mut octets = [0; 16 * 1024];
        match self.socket.read(&mut octets) {
            Ok(0) => return None,
            Ok(count) => self.input.extend_from_slice(&octets[..count]),
            Err(error)
                if [ErrorKind::WouldBlock, ErrorKind::Interrupted].contains(&error.kind()) => {}
            Err(_) => return None,
        }
        let mut frames = Vec::new();
        while let Some((length, rest)) = self.input.split_first_chunk::<4>() {
            let octets = u32::from_be_bytes(*length) as usize;
            let Some(frame) = rest.get(..octets) else {
                break;
            };
            frames.push(frame.to_vec());
            self.input.drain(..4 + octets);
        }
        Some(frames)
    }
}

/// What becomes of segments with octets, numbered from 1 on since these faults were set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// Of those that leave, these are lost.
    pub lost: Vec<u32>,
    /// Of those that leave, these do so twice.
    pub twice: Vec<u32>,
    /// Of those that leave, these do so after the next one.
    pub late: Vec<u32>,
    /// Of those that come, these are lost.
    pub unheard: Vec<u32>,
}

/// What is sent and received.
pub(crate) struct Port {
    socket: UnixStream,
    inbox: VecDeque<Vec<u8>>,
    /// Frames that came.
    pub seen: Vec<Vec<u8>>,
    /// Frames that left.
    pub sent: Vec<Vec<u8>>,
    /// Nothing comes in or leaves any more.
    pub is_silent: bool,
    /// What a link on the way takes, in octets of an IP packet: longer ones are reported.
    pub path_octets: usize,
    /// What the reports say; 0: there are none.
    pub reported_octets: u16,
    faults: Faults,
    /// Segments with octets since the faults were set: those that left, those that came.
    counts: [u32; 2],
    /// A frame that the next one overtakes.
    held: Option<Vec<u8>>,
}

impl Port {
    /// Join a wire.
    pub fn join(socket: UnixStream) -> io::Result<(Self, Reader)> {
        let reading = socket.try_clone()?;
        reading.set_read_timeout(Some(TICK))?;
        let port = Self {
            socket,
            inbox: VecDeque::new(),
            seen: Vec::new(),
            sent: Vec::new(),
            is_silent: false,
            path_octets: MTU_OCTETS,
            reported_octets: 0,
            faults: Faults::default(),
            counts: [0; 2],
            held: None,
        };
        let input = Vec::new();
        let reader = Reader {
            socket: reading,
            input,
        };
        Ok((port, reader))
    }

    /// Segments are counted from here on.
    pub fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
        self.counts = [0; 2];
    }

    /// The number of a frame's segment, if it has octets.
    fn number(&mut self, side: usize, frame: &[u8]) -> Option<u32> {
        if self.faults == Faults::default() {
            return None;
        }
        let segment = Segment::read_unsummed(frame)?;
        if segment.payload.is_empty() {
            return None;
        }
        self.counts[side] += 1;
        Some(self.counts[side])
    }

    /// A frame has come.
    pub fn take(&mut self, frame: Vec<u8>) {
        if self.is_silent {
            return;
        }
        let number = self.number(1, &frame);
        if number.is_some_and(|number| self.faults.unheard.contains(&number)) {
            return;
        }
        self.seen.push(frame.clone());
        if frame.len() <= ETHERNET_OCTETS + self.path_octets {
            self.inbox.push_back(frame);
        } else if self.reported_octets > 0 {
            self.send(icmp::too_big(&frame, self.reported_octets));
        }
    }

    /// Send a frame, unless a fault has it otherwise.
    pub fn send(&mut self, frame: Vec<u8>) {
        if self.is_silent {
            return;
        }
        let number = self.number(0, &frame);
        let is_among = |numbers: &Vec<u32>| number.is_some_and(|number| numbers.contains(&number));
        if is_among(&self.faults.lost) {
            return;
        }
        if is_among(&self.faults.late) {
            self.held = Some(frame);
            return;
        }
        if is_among(&self.faults.twice) {
            self.put(frame.clone());
        }
        self.put(frame);
        if let Some(held) = self.held.take() {
            self.put(held);
        }
    }

    fn put(&mut self, frame: Vec<u8>) {
        let mut octets = (frame.len() as u32).to_be_bytes().to_vec();
        octets.extend_from_slice(&frame);
        // A wire that is gone takes nothing.
        let _ = self.socket.write_all(&octets);
        self.sent.push(frame);
    }
}

/// A frame for TCP.
pub(crate) struct Incoming(Vec<u8>);

impl phy::RxToken for Incoming {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(&self.0)
    }
}

/// Room for a frame of TCP.
pub(crate) struct Outgoing<'a>(&'a mut Port);

impl phy::TxToken for Outgoing<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, octets: usize, fill: F) -> R {
        let mut frame = vec![0; octets];
        let filled = fill(&mut frame);
        self.0.send(frame);
        filled
    }
}

impl phy::Device for Port {
    type RxToken<'a> = Incoming;
    type TxToken<'a> = Outgoing<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Incoming, Outgoing<'_>)> {
        let frame = self.inbox.pop_front()?;
        Some((Incoming(frame), Outgoing(self)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Outgoing<'_>> {
        Some(Outgoing(self))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = ETHERNET_OCTETS + MTU_OCTETS;
        capabilities
    }
}
