//! The other end: uses a PCI function that a server offers.
//!
//! Each method is a command of the protocol; `channel` carries it, one at a time.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::Duration;

use crate::dma::Access;
use crate::protocol::{
    self, device_flags, set_irqs_flags, unmap_flags, Capabilities, Command, DmaUnmap, RegionAccess,
    SetIrqs, Version, MESSAGE_FDS_MAX, VERSION_MAJOR, VERSION_MINOR,
};
use channel::Channel;

mod channel;
mod error;
mod information;

pub use error::ClientError;
pub use information::{DeviceInfo, IrqInfo, MmapArea, RegionInfo};

/// A connection to a server.
#[derive(Debug)]
pub struct Client {
    channel: Channel,
    /// What the server can receive.
    server: Capabilities,
}

impl Client {
    /// Connects and settles the version.
    pub fn connect(path: &Path) -> Result<Self, ClientError> {
        Self::over(channel::connect(path)?)
    }

    /// Settles the version over a connected stream socket.
    pub fn over(socket: OwnedFd) -> Result<Self, ClientError> {
        let mut channel = Channel::over(socket);
        let ours = Version {
            major: VERSION_MAJOR,
            minor: VERSION_MINOR,
        };
        let command = Command::Version;
        let capabilities = Capabilities::OURS.encode();
        let reply = channel.call(command, &[&ours.encode(), &capabilities], &[])?;
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
        let server = capabilities.map_err(|_| malformed("capabilities"))?;
        Ok(Self { channel, server })
    }

    /// How long a reply may take from now on.
    pub fn set_timeout(&mut self, timeout: Duration) {
        self.channel.set_timeout(timeout);
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
        let reply = self.channel.call(command, &[&request.encode()], &[])?;
        let info = protocol::DeviceInfo::decode(&reply.payload);
        let info = info.ok_or_else(|| self.channel.malformed(command, "too short"))?;
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
            let reply = self.channel.call(command, &[&request.encode()], &[])?;
            match information::region(index, &request, reply) {
                Ok(Some(info)) => return Ok(info),
                // The server has more to say: once more, with the room it asks for.
                Ok(None) if argsz < information::REGION_INFO_OCTETS_MAX => {
                    argsz = information::REGION_INFO_OCTETS_MAX;
                }
                Ok(None) => return Err(self.channel.malformed(command, "too many capabilities")),
                Err(what) => return Err(self.channel.malformed(command, what)),
            }
        }
    }

    /// Reads a region.
    pub fn read(&mut self, region: u32, offset: u64, out: &mut [u8]) -> Result<(), ClientError> {
        let access = self.access(region, offset, out.len())?;
        let command = Command::RegionRead;
        let reply = self.channel.call(command, &[&access.encode()], &[])?;
        match reply.payload.split_at_checked(RegionAccess::OCTETS) {
            Some((_, data)) if data.len() == out.len() => out.copy_from_slice(data),
            _ => {
                return Err(self
                    .channel
                    .malformed(command, "not as many octets as asked for"))
            }
        }
        Ok(())
    }

    /// Writes a region.
    pub fn write(&mut self, region: u32, offset: u64, data: &[u8]) -> Result<(), ClientError> {
        let access = self.access(region, offset, data.len())?;
        let command = Command::RegionWrite;
        let reply = self.channel.call(command, &[&access.encode(), data], &[])?;
        let done = RegionAccess::decode(&reply.payload);
        if done.is_none_or(|done| done.count != access.count) {
            return Err(self
                .channel
                .malformed(command, "not as many octets as written"));
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
        self.channel.post(Command::RegionWrite, &payload)
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
        self.channel
            .call(Command::DmaMap, &[&request.encode()], fds)?;
        Ok(())
    }

    /// Takes back the maps in a range, and says how many octets they had. When it returns, the
    /// device uses them no longer.
    pub fn unmap(&mut self, iova: u64, octets: u64) -> Result<u64, ClientError> {
        self.unmap_with(0, iova, octets)
    }

    /// Takes back all maps, as [`Client::unmap`].
    pub fn unmap_all(&mut self) -> Result<u64, ClientError> {
        self.unmap_with(unmap_flags::ALL, 0, 0)
    }

    fn unmap_with(&mut self, flags: u32, iova: u64, octets: u64) -> Result<u64, ClientError> {
        let request = DmaUnmap {
            argsz: DmaUnmap::OCTETS as u32,
            flags,
            address: iova,
            size: octets,
        };
        let command = Command::DmaUnmap;
        let reply = self.channel.call(command, &[&request.encode()], &[])?;
        match DmaUnmap::decode(&reply.payload) {
            Some(unmapped) => Ok(unmapped.size),
            None => Err(self.channel.malformed(command, "too short")),
        }
    }

    /// One kind of interrupts.
    pub fn irq_info(&mut self, index: u32) -> Result<IrqInfo, ClientError> {
        let request = protocol::IrqInfo {
            argsz: protocol::IrqInfo::OCTETS as u32,
            index,
            ..protocol::IrqInfo::default()
        };
        let command = Command::DeviceGetIrqInfo;
        let reply = self.channel.call(command, &[&request.encode()], &[])?;
        match protocol::IrqInfo::decode(&reply.payload) {
            Some(info) if info.index == index => Ok(IrqInfo::from(info)),
            _ => Err(self.channel.malformed(command, "not the kind asked for")),
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
        self.channel
            .call(Command::DeviceSetIrqs, &[&request.encode()], fds)?;
        Ok(())
    }

    /// Resets the device.
    pub fn reset(&mut self) -> Result<(), ClientError> {
        self.channel.call(Command::DeviceReset, &[], &[])?;
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
}
