//! One client: its messages are carried out one at a time, without ever waiting for it.
//!
//! ```text
//!   socket --> Receiver --> check --> Function, DmaMap, Irqs --> reply --> Sender --> socket
//! ```
//!
//! What is wrong with a message ends in an error reply, and the next message is read where it
//! begins. While a reply waits for room in the socket no further message is read, so that a client
//! that does not read costs one reply's memory and nobody's time.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use crate::dma::{self, DmaMap};
use crate::function::{Function, RegionDescription};
use crate::irqs::Irqs;
use crate::protocol::{
    self, device_flags, header_flags, region_flags, unmap_flags, Capabilities, Command, DeviceInfo,
    DmaUnmap, IrqInfo, RegionAccess, RegionInfo, SetIrqs, Version, IRQ_COUNT, REGION_COUNT,
    TRANSFER_OCTETS_MAX, VERSION_MAJOR, VERSION_MINOR,
};
use crate::socket::{Message, Receiver, Sender, SessionEnd};

/// What [`Session::serve_one`] did.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Served {
    /// Nothing: no whole message is there, or a reply still waits for room in the socket.
    Idle,
    /// It carried out or refused a message.
    Message,
}

/// A client that is connected.
///
/// When it ends, or is dropped, all maps and eventfds of the client are released, also for those
/// who hold a [`DmaMap`] or [`Irqs`] of it.
#[derive(Debug)]
pub struct Session {
    socket: OwnedFd,
    receiver: Receiver,
    sender: Sender,
    /// The version is settled.
    negotiated: bool,
    dma: DmaMap,
    irqs: Irqs,
    sealed_only: bool,
    refused: Refused,
    end: Option<SessionEnd>,
}

/// Commands that wanted no reply and were refused: nobody else says so.
#[derive(Debug, Default)]
struct Refused {
    commands: Vec<(Command, Errno)>,
}

impl Refused {
    /// Commands that are kept until they are taken.
    const MAX: usize = 64;

    fn push(&mut self, command: Command, errno: Errno) {
        if self.commands.len() < Self::MAX {
            self.commands.push((command, errno));
        }
    }
}

impl Session {
    /// A session over a connected stream socket.
    pub fn over(socket: OwnedFd) -> Self {
        Self {
            socket,
            receiver: Receiver::default(),
            sender: Sender::default(),
            negotiated: false,
            dma: DmaMap::default(),
            irqs: Irqs::default(),
            sealed_only: false,
            refused: Refused::default(),
            end: None,
        }
    }

    /// The commands that wanted no reply and were refused since this was called last, in their
    /// order; the first 64 of them. A client cannot learn of these.
    pub fn take_refused(&mut self) -> Vec<(Command, Errno)> {
        std::mem::take(&mut self.refused.commands)
    }

    /// As [`Server::require_sealed`](crate::Server::require_sealed).
    pub fn require_sealed(&mut self) {
        self.sealed_only = true;
    }

    /// The client's memory.
    pub fn dma(&self) -> DmaMap {
        self.dma.clone()
    }

    /// The client's eventfds.
    pub fn irqs(&self) -> Irqs {
        self.irqs.clone()
    }

    /// A reply waits for room in the socket: wait until it can be written, not read.
    pub fn wants_write(&self) -> bool {
        !self.sender.is_empty()
    }

    /// Carries out at most one message, if a whole one is there. Returns at once.
    ///
    /// The first error is the session's end; it is returned from then on.
    pub fn serve_one<F: Function + ?Sized>(
        &mut self,
        function: &mut F,
    ) -> Result<Served, SessionEnd> {
        if let Some(end) = self.end {
            return Err(end);
        }
        self.try_serve_one(function).inspect_err(|end| {
            self.end = Some(*end);
            function.quiesce(0..=u64::MAX);
            self.release();
            function.irqs_changed(&self.irqs);
        })
    }

    fn try_serve_one<F: Function + ?Sized>(
        &mut self,
        function: &mut F,
    ) -> Result<Served, SessionEnd> {
        if !self.sender.flush(self.socket.as_fd(), &[])? {
            return Ok(Served::Idle);
        }
        let Some(message) = self.receiver.receive(self.socket.as_fd())? else {
            return Ok(Served::Idle);
        };
        let header = message.header;
        // Nothing was asked of the client, so a reply answers nothing.
        if header.is_reply() {
            return Ok(Served::Message);
        }
        let result = self.carry_out(message, function);
        if header.is_final() {
            if let Err(errno) = result {
                let command = Command::from_code(header.command);
                self.refused.push(command, errno);
            }
        } else {
            match result {
                Ok(payload) => self.sender.push(&header.reply(payload.len()), &payload),
                Err(errno) => {
                    let errno = errno.raw_os_error().unsigned_abs();
                    self.sender.push(&header.error_reply(errno), &[]);
                }
            }
            self.sender.flush(self.socket.as_fd(), &[])?;
        }
        Ok(Served::Message)
    }

    fn release(&mut self) {
        self.dma.remove(&(0..=u64::MAX));
        self.irqs.clear();
    }

    /// The payload of the reply.
    fn carry_out<F: Function + ?Sized>(
        &mut self,
        message: Message,
        function: &mut F,
    ) -> Result<Vec<u8>, Errno> {
        if let Some(errno) = message.damage {
            return Err(errno);
        }
        if message.header.flags & !header_flags::NO_REPLY != 0 {
            return Err(Errno::INVAL);
        }
        let command = Command::from_code(message.header.command);
        if self.negotiated == (command == Command::Version) {
            return Err(Errno::INVAL);
        }
        let takes_fds = matches!(command, Command::DmaMap | Command::DeviceSetIrqs);
        if !takes_fds && !message.fds.is_empty() {
            return Err(Errno::INVAL);
        }
        let payload = &message.payload;
        match command {
            Command::Version => self.version(payload),
            Command::DmaMap => self.dma_map(payload, message.fds),
            Command::DmaUnmap => self.dma_unmap(payload, function),
            Command::DeviceGetInfo => device_info(payload),
            Command::DeviceGetRegionInfo => region_info(payload, function),
            Command::DeviceGetIrqInfo => irq_info(payload, function),
            Command::DeviceSetIrqs => self.set_irqs(payload, message.fds, function),
            Command::RegionRead => region_read(payload, function),
            Command::RegionWrite => region_write(payload, function),
            Command::DeviceReset if payload.is_empty() => function.reset().map(|()| Vec::new()),
            Command::DeviceReset => Err(Errno::INVAL),
            Command::DeviceGetRegionIoFds
            | Command::DmaRead
            | Command::DmaWrite
            | Command::DirtyPages
            | Command::Other(_) => Err(Errno::NOTSUP),
        }
    }

    fn version(&mut self, payload: &[u8]) -> Result<Vec<u8>, Errno> {
        let version = Version::decode(payload).ok_or(Errno::INVAL)?;
        // "The major version in the reply must be the same as proposed."
        if version.major != VERSION_MAJOR {
            return Err(Errno::INVAL);
        }
        // The server sends no descriptors and no requests, so the client's limits do not matter.
        Capabilities::decode(&payload[Version::OCTETS..]).map_err(|_| Errno::INVAL)?;
        self.negotiated = true;
        let settled = Version {
            major: VERSION_MAJOR,
            minor: version.minor.min(VERSION_MINOR),
        };
        Ok([&settled.encode()[..], &Capabilities::OURS.encode()].concat())
    }

    fn dma_map(&mut self, payload: &[u8], mut fds: Vec<OwnedFd>) -> Result<Vec<u8>, Errno> {
        let request = protocol::DmaMap::decode_whole(payload).ok_or(Errno::INVAL)?;
        check_argsz(request.argsz, protocol::DmaMap::OCTETS)?;
        let file = fds.pop();
        if !fds.is_empty() {
            return Err(Errno::INVAL);
        }
        self.dma.map(&request, file, self.sealed_only)?;
        Ok(Vec::new())
    }

    fn dma_unmap<F: Function + ?Sized>(
        &mut self,
        payload: &[u8],
        function: &mut F,
    ) -> Result<Vec<u8>, Errno> {
        let request = DmaUnmap::decode_whole(payload).ok_or(Errno::INVAL)?;
        check_argsz(request.argsz, DmaUnmap::OCTETS)?;
        let range = match request.flags {
            0 => dma::range(request.address, request.size)?,
            unmap_flags::ALL => 0..=u64::MAX,
            unmap_flags::GET_DIRTY_BITMAP => return Err(Errno::NOTSUP),
            _ => return Err(Errno::INVAL),
        };
        // "The server must release all references to that DMA region before replying."
        let mut reply = DmaUnmap { size: 0, ..request };
        if self.dma.covered(&range)? > 0 {
            function.quiesce(range.clone());
            // As of the kernel's vfio: "the actual unmapped size".
            reply.size = self.dma.remove(&range);
        }
        Ok(reply.encode().into())
    }

    fn set_irqs<F: Function + ?Sized>(
        &mut self,
        payload: &[u8],
        fds: Vec<OwnedFd>,
        function: &mut F,
    ) -> Result<Vec<u8>, Errno> {
        let request = SetIrqs::decode(payload).ok_or(Errno::INVAL)?;
        check_argsz(request.argsz, SetIrqs::OCTETS)?;
        let counts = function.irq_counts();
        let count = counts.get(request.index as usize).ok_or(Errno::INVAL)?;
        let data = &payload[SetIrqs::OCTETS..];
        self.irqs.set(&request, data, fds, *count)?;
        function.irqs_changed(&self.irqs);
        Ok(Vec::new())
    }
}

/// Ready to read when the client has sent something or has left.
impl AsFd for Session {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.release();
    }
}

/// "It should be at least the size of the fixed reply payload", or of the structure itself.
fn check_argsz(argsz: u32, octets: usize) -> Result<(), Errno> {
    if (argsz as usize) < octets {
        return Err(Errno::INVAL);
    }
    Ok(())
}

fn device_info(payload: &[u8]) -> Result<Vec<u8>, Errno> {
    let request = DeviceInfo::decode_whole(payload).ok_or(Errno::INVAL)?;
    check_argsz(request.argsz, DeviceInfo::OCTETS)?;
    let info = DeviceInfo {
        argsz: DeviceInfo::OCTETS as u32,
        flags: device_flags::PCI | device_flags::RESET,
        num_regions: REGION_COUNT,
        num_irqs: IRQ_COUNT,
    };
    Ok(info.encode().into())
}

fn region<F: Function + ?Sized>(function: &F, index: u32) -> Result<RegionDescription, Errno> {
    if index >= REGION_COUNT {
        return Err(Errno::INVAL);
    }
    let region = function.regions().get(index as usize).copied();
    Ok(region.unwrap_or(RegionDescription::ABSENT))
}

fn region_info<F: Function + ?Sized>(payload: &[u8], function: &F) -> Result<Vec<u8>, Errno> {
    let request = RegionInfo::decode_whole(payload).ok_or(Errno::INVAL)?;
    check_argsz(request.argsz, RegionInfo::OCTETS)?;
    let region = region(function, request.index)?;
    let flag = |holds: bool, flag: u32| if holds { flag } else { 0 };
    let info = RegionInfo {
        argsz: RegionInfo::OCTETS as u32,
        flags: flag(region.readable, region_flags::READ)
            | flag(region.writable, region_flags::WRITE),
        index: request.index,
        size: region.octets,
        ..RegionInfo::default()
    };
    Ok(info.encode().into())
}

fn irq_info<F: Function + ?Sized>(payload: &[u8], function: &F) -> Result<Vec<u8>, Errno> {
    let request = IrqInfo::decode_whole(payload).ok_or(Errno::INVAL)?;
    check_argsz(request.argsz, IrqInfo::OCTETS)?;
    let counts = function.irq_counts();
    let count = counts.get(request.index as usize).ok_or(Errno::INVAL)?;
    let info = IrqInfo {
        argsz: IrqInfo::OCTETS as u32,
        flags: Irqs::flags(request.index),
        index: request.index,
        count: *count,
    };
    Ok(info.encode().into())
}

/// The access is within its region, and not larger than announced.
fn check_access(access: &RegionAccess, region: &RegionDescription) -> Result<(), Errno> {
    let end = access.offset.checked_add(u64::from(access.count));
    let within = end.is_some_and(|end| end <= region.octets);
    if !within || access.count > TRANSFER_OCTETS_MAX {
        return Err(Errno::INVAL);
    }
    Ok(())
}

fn region_read<F: Function + ?Sized>(payload: &[u8], function: &mut F) -> Result<Vec<u8>, Errno> {
    let access = RegionAccess::decode_whole(payload).ok_or(Errno::INVAL)?;
    let region = region(function, access.region)?;
    check_access(&access, &region)?;
    if !region.readable {
        return Err(Errno::ACCESS);
    }
    let mut reply = payload.to_vec();
    reply.resize(RegionAccess::OCTETS + access.count as usize, 0);
    let out = &mut reply[RegionAccess::OCTETS..];
    function.read(access.region, access.offset, out)?;
    Ok(reply)
}

fn region_write<F: Function + ?Sized>(payload: &[u8], function: &mut F) -> Result<Vec<u8>, Errno> {
    let access = RegionAccess::decode(payload).ok_or(Errno::INVAL)?;
    let (head, data) = payload.split_at(RegionAccess::OCTETS);
    if data.len() != access.count as usize {
        return Err(Errno::INVAL);
    }
    let region = region(function, access.region)?;
    check_access(&access, &region)?;
    if !region.writable {
        return Err(Errno::ACCESS);
    }
    function.write(access.region, access.offset, data)?;
    Ok(head.to_vec())
}
