//! The other end: uses a PCI function that a server offers.
//!
//! ```text
//!   call --> command, descriptors --> socket
//!        <-- reply of the same id and command, in time <-- socket
//! ```
//!
//! One command is under way at a time. A server that does not answer in time, answers something
//! else or breaks off leaves the stream out of step: from then on every call fails.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::sockopt::{set_socket_timeout, Timeout};
use rustix::net::{connect, socket_with, AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use thiserror::Error;

use crate::dma::Access;
use crate::protocol::{
    self, device_flags, header_flags, set_irqs_flags, unmap_flags, Capabilities, Command, DmaUnmap,
    Header, RegionAccess, SetIrqs, Version, MESSAGE_FDS_MAX, VERSION_MAJOR, VERSION_MINOR,
};
use crate::socket::{Message, Receiver, Sender, SessionEnd};

mod information;

pub use information::{DeviceInfo, IrqInfo, MmapArea, RegionInfo};

/// How long a reply may take unless [`Client::set_timeout`] says otherwise. QEMU waits as long.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Why a call failed.
#[derive(Debug, Error)]
pub enum ClientError {
    /// No server takes the connection.
    #[error("cannot connect to {path}: {errno}")]
    Connect {
        /// Path of the socket.
        path: PathBuf,
        /// What the system says.
        errno: Errno,
    },
    /// The server refused; the session goes on.
    #[error("the server refused {command:?}: {errno}")]
    Refused {
        /// What it refused.
        command: Command,
        /// Why; `EIO` if it does not say.
        errno: Errno,
    },
    /// More data than the server takes in one access; nothing was sent.
    #[error("{octets} octets in one access, the server takes {most}")]
    TooLong {
        /// Octets asked for.
        octets: usize,
        /// What the server announced.
        most: u32,
    },
    /// The server has another major version.
    #[error("the server speaks version {major}, not {VERSION_MAJOR}")]
    Version {
        /// Its major version.
        major: u16,
    },
    /// The server did not answer in time.
    #[error("no reply to {command:?} within {timeout:?}")]
    Timeout {
        /// What it did not answer.
        command: Command,
        /// How long was waited.
        timeout: Duration,
    },
    /// The reply is not as the protocol has it.
    #[error("malformed reply to {command:?}: {what}")]
    Malformed {
        /// What it answers.
        command: Command,
        /// What is wrong.
        what: &'static str,
    },
    /// The connection broke off.
    #[error(transparent)]
    Ended(#[from] SessionEnd),
    /// An earlier call left the stream out of step.
    #[error("the connection failed in an earlier call; connect again")]
    Broken,
}

/// A connection to a server.
#[derive(Debug)]
pub struct Client {
    socket: OwnedFd,
    receiver: Receiver,
    next_id: u16,
    /// What the server can receive.
    server: Capabilities,
    timeout: Duration,
    broken: bool,
}

impl Client {
    /// Connects and settles the version.
    pub fn connect(path: &Path) -> Result<Self, ClientError> {
        let flags = SocketFlags::CLOEXEC;
        let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None);
        let connected = socket.and_then(|socket| {
            // A server that listens and never accepts has a full queue at some time.
            set_socket_timeout(&socket, Timeout::Send, Some(TIMEOUT))?;
            connect(&socket, &SocketAddrUnix::new(path)?)?;
            Ok(socket)
        });
        let path = path.into();
        Self::over(connected.map_err(|errno| ClientError::Connect { path, errno })?)
    }

    /// Settles the version over a connected stream socket.
    pub fn over(socket: OwnedFd) -> Result<Self, ClientError> {
        let mut client = Self {
            socket,
            receiver: Receiver::default(),
            next_id: 0,
            server: Capabilities::DEFAULT,
            timeout: TIMEOUT,
            broken: false,
        };
        let ours = Version {
            major: VERSION_MAJOR,
            minor: VERSION_MINOR,
        };
        let command = Command::Version;
        let capabilities = Capabilities::OURS.encode();
        let reply = client.call(command, &[&ours.encode(), &capabilities], &[])?;
        let malformed = |what| ClientError::Malformed { command, what };
        let version = Version::decode(&reply.payload).ok_or(malformed("no version"))?;
        if version.major != VERSION_MAJOR {
            let major = version.major;
            return Err(ClientError::Version { major });
        }
        if version.minor > VERSION_MINOR {
            return Err(malformed("a minor version above the proposed one"));
        }
        let capabilities = Capabilities::decode(&reply.payload[Version::OCTETS..]);
        client.server = capabilities.map_err(|_| malformed("capabilities"))?;
        Ok(client)
    }

    /// How long a reply may take from now on.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.timeout = timeout;
    }

    /// What the server said that it can receive.
    pub fn server_capabilities(&self) -> Capabilities {
        self.server
    }

    /// What the device has.
    pub fn device_info(&mut self) -> Result<DeviceInfo, ClientError> {
        let request = protocol::DeviceInfo {
            argsz: protocol::DeviceInfo::OCTETS as u32,
            ..protocol::DeviceInfo::default()
        };
        let command = Command::DeviceGetInfo;
        let reply = self.call(command, &[&request.encode()], &[])?;
        let info = protocol::DeviceInfo::decode(&reply.payload);
        let info = info.ok_or_else(|| self.malformed(command, "too short"))?;
        Ok(DeviceInfo {
            pci: info.flags & device_flags::PCI != 0,
            resettable: info.flags & device_flags::RESET != 0,
            regions: info.num_regions,
            irqs: info.num_irqs,
        })
    }

    /// One region: its size, rights, and what of it can be mapped.
    pub fn region_info(&mut self, index: u32) -> Result<RegionInfo, ClientError> {
        let command = Command::DeviceGetRegionInfo;
        let mut argsz = information::REGION_INFO_OCTETS;
        loop {
            let request = protocol::RegionInfo {
                argsz,
                index,
                ..protocol::RegionInfo::default()
            };
            let reply = self.call(command, &[&request.encode()], &[])?;
            match information::region(index, &request, reply) {
                Ok(Some(info)) => return Ok(info),
                // The server has more to say: once more, with the room it asks for.
                Ok(None) if argsz < information::REGION_INFO_OCTETS_MAX => {
                    argsz = information::REGION_INFO_OCTETS_MAX;
                }
                Ok(None) => return Err(self.malformed(command, "too many capabilities")),
                Err(what) => return Err(self.malformed(command, what)),
            }
        }
    }

    /// Reads a region.
    pub fn read(&mut self, region: u32, offset: u64, out: &mut [u8]) -> Result<(), ClientError> {
        let access = self.access(region, offset, out.len())?;
        let command = Command::RegionRead;
        let reply = self.call(command, &[&access.encode()], &[])?;
        match reply.payload.split_at_checked(RegionAccess::OCTETS) {
            Some((_, data)) if data.len() == out.len() => out.copy_from_slice(data),
            _ => return Err(self.malformed(command, "not as many octets as asked for")),
        }
        Ok(())
    }

    /// Writes a region.
    pub fn write(&mut self, region: u32, offset: u64, data: &[u8]) -> Result<(), ClientError> {
        let access = self.access(region, offset, data.len())?;
        let command = Command::RegionWrite;
        let reply = self.call(command, &[&access.encode(), data], &[])?;
        let done = RegionAccess::decode(&reply.payload);
        if done.is_none_or(|done| done.count != access.count) {
            return Err(self.malformed(command, "not as many octets as written"));
        }
        Ok(())
    }

    /// Writes a region without waiting for a reply: an error is not reported. Later commands are
    /// carried out after it.
    pub fn write_posted(
        &mut self,
        region: u32,
        offset: u64,
        data: &[u8],
    ) -> Result<(), ClientError> {
        let access = self.access(region, offset, data.len())?;
        let payload = [&access.encode()[..], data];
        let deadline = Instant::now() + self.timeout;
        let flags = header_flags::NO_REPLY;
        self.send(Command::RegionWrite, flags, &payload, &[], deadline)?;
        Ok(())
    }

    /// Lets the device use `octets` of the file from `fd_offset` on, at `iova`.
    pub fn map(
        &mut self,
        iova: u64,
        octets: u64,
        fd: BorrowedFd,
        fd_offset: u64,
        access: Access,
    ) -> Result<(), ClientError> {
        self.map_with(iova, octets, &[fd], fd_offset, access)
    }

    /// Names memory that the server cannot reach, as clients do for memory without a file.
    pub fn map_unreachable(
        &mut self,
        iova: u64,
        octets: u64,
        access: Access,
    ) -> Result<(), ClientError> {
        self.map_with(iova, octets, &[], 0, access)
    }

    fn map_with(
        &mut self,
        iova: u64,
        octets: u64,
        fds: &[BorrowedFd],
        fd_offset: u64,
        access: Access,
    ) -> Result<(), ClientError> {
        let request = protocol::DmaMap {
            argsz: protocol::DmaMap::OCTETS as u32,
            flags: access.flags(),
            offset: fd_offset,
            address: iova,
            size: octets,
        };
        self.call(Command::DmaMap, &[&request.encode()], fds)?;
        Ok(())
    }

    /// Takes back the maps in a range. When it returns, the device uses them no longer.
    pub fn unmap(&mut self, iova: u64, octets: u64) -> Result<(), ClientError> {
        self.unmap_with(0, iova, octets)
    }

    /// Takes back all maps.
    pub fn unmap_all(&mut self) -> Result<(), ClientError> {
        self.unmap_with(unmap_flags::ALL, 0, 0)
    }

    fn unmap_with(&mut self, flags: u32, iova: u64, octets: u64) -> Result<(), ClientError> {
        let request = DmaUnmap {
            argsz: DmaUnmap::OCTETS as u32,
            flags,
            address: iova,
            size: octets,
        };
        self.call(Command::DmaUnmap, &[&request.encode()], &[])?;
        Ok(())
    }

    /// One kind of interrupts.
    pub fn irq_info(&mut self, index: u32) -> Result<IrqInfo, ClientError> {
        let request = protocol::IrqInfo {
            argsz: protocol::IrqInfo::OCTETS as u32,
            index,
            ..protocol::IrqInfo::default()
        };
        let command = Command::DeviceGetIrqInfo;
        let reply = self.call(command, &[&request.encode()], &[])?;
        match protocol::IrqInfo::decode(&reply.payload) {
            Some(info) if info.index == index => Ok(IrqInfo::from(info)),
            _ => Err(self.malformed(command, "not the kind asked for")),
        }
    }

    /// Sets what vectors from `start` on signal; none takes the eventfd away.
    pub fn set_irqs(
        &mut self,
        index: u32,
        start: u32,
        eventfds: &[Option<BorrowedFd>],
    ) -> Result<(), ClientError> {
        let most = (self.server.max_msg_fds as usize).clamp(1, MESSAGE_FDS_MAX);
        let flags = set_irqs_flags::DATA_EVENTFD | set_irqs_flags::ACTION_TRIGGER;
        let mut start = start;
        // A message has a descriptor for each of its vectors, or none for any.
        for alike in eventfds.chunk_by(|one, next| one.is_some() == next.is_some()) {
            for some in alike.chunks(most) {
                let fds: Vec<BorrowedFd> = some.iter().copied().flatten().collect();
                self.act(index, flags, start, some.len() as u32, &fds)?;
                start += some.len() as u32;
            }
        }
        Ok(())
    }

    /// Takes all eventfds of a kind away.
    pub fn disable_irqs(&mut self, index: u32) -> Result<(), ClientError> {
        let flags = set_irqs_flags::DATA_NONE | set_irqs_flags::ACTION_TRIGGER;
        self.act(index, flags, 0, 0, &[])
    }

    /// Triggers, masks or unmasks a range of vectors: an action of [`set_irqs_flags`].
    pub fn act_on_irqs(
        &mut self,
        index: u32,
        action: u32,
        start: u32,
        count: u32,
    ) -> Result<(), ClientError> {
        self.act(index, set_irqs_flags::DATA_NONE | action, start, count, &[])
    }

    fn act(
        &mut self,
        index: u32,
        flags: u32,
        start: u32,
        count: u32,
        fds: &[BorrowedFd],
    ) -> Result<(), ClientError> {
        let request = SetIrqs {
            argsz: SetIrqs::OCTETS as u32,
            flags,
            index,
            start,
            count,
        };
        self.call(Command::DeviceSetIrqs, &[&request.encode()], fds)?;
        Ok(())
    }

    /// Resets the device.
    pub fn reset(&mut self) -> Result<(), ClientError> {
        self.call(Command::DeviceReset, &[], &[])?;
        Ok(())
    }

    fn access(&self, region: u32, offset: u64, octets: usize) -> Result<RegionAccess, ClientError> {
        let most = self
            .server
            .max_data_xfer_size
            .min(protocol::TRANSFER_OCTETS_MAX);
        let count = u32::try_from(octets).ok().filter(|count| *count <= most);
        let count = count.ok_or(ClientError::TooLong { octets, most })?;
        Ok(RegionAccess {
            offset,
            region,
            count,
        })
    }

    /// The reply cannot be trusted, nor what follows.
    fn malformed(&mut self, command: Command, what: &'static str) -> ClientError {
        self.broken = true;
        ClientError::Malformed { command, what }
    }

    /// Sends a command and waits for its reply.
    fn call(
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
