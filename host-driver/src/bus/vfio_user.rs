//! A function that another process serves over a socket, by the vfio-user protocol.

use super::error::OpenError;
use super::function::{Function, Region};
use super::iova::{Access, IovaSpace};
use super::raw::{MappedRegisters, SharedMemory};
use rnic_vfio_user::protocol::IRQ_MSIX;
use rnic_vfio_user::{Client, ClientError};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// Bus addresses that are used. The protocol has no limit; this is what IOMMUs of 48 bits map.
const ADDRESSES_END: u64 = 1 << 48;
/// Octets of the pages that every server takes.
const PAGE_OCTETS: u64 = 4096;

/// A function behind a socket.
#[derive(Debug)]
pub(crate) struct VfioUser {
    client: Client,
}

impl VfioUser {
    /// # Errors
    /// [`OpenError::NoSocket`], [`OpenError::Server`].
    pub(crate) fn connect(path: &Path) -> Result<Self, OpenError> {
        let failed = |source| OpenError::Server {
            path: path.to_owned(),
            source,
        };
        match path.try_exists() {
            Ok(true) => {}
            Ok(false) => {
                return Err(OpenError::NoSocket {
                    path: path.to_owned(),
                })
            }
            Err(error) => return Err(failed(error)),
        }
        let client = Client::connect(path).map_err(|error| failed(reason(error)))?;
        Self::of_client(client).map_err(failed)
    }

    /// A function that is served at the other end of `socket`.
    ///
    /// # Errors
    /// Those of the protocol.
    pub(crate) fn over(socket: OwnedFd) -> io::Result<Self> {
        Self::of_client(Client::over(socket).map_err(reason)?)
    }

    fn of_client(mut client: Client) -> io::Result<Self> {
        match client.device_info().map_err(reason)?.pci {
            true => Ok(Self { client }),
            false => Err(io::Error::other("it serves no PCI function")),
        }
    }
}

impl Function for VfioUser {
    fn region_octets(&mut self, region: Region) -> io::Result<u64> {
        let info = self.client.region_info(region as u32).map_err(reason)?;
        Ok(info.octets)
    }

    fn read(&mut self, region: Region, offset: u64, data: &mut [u8]) -> io::Result<()> {
        let read = self.client.read(region as u32, offset, data);
        read.map_err(reason)
    }

    /// A write of BAR0 is posted, as on a bus: it is sent, and not waited for. Whatever is asked of
    /// the server later is done after it. One that the server refuses is lost, and the server says
    /// so where it runs.
    fn write(&mut self, region: Region, offset: u64, data: &[u8]) -> io::Result<()> {
        let region_number = region as u32;
        let written = match region {
            Region::Bar0 => self.client.write_posted(region_number, offset, data),
            Region::Configuration => self.client.write(region_number, offset, data),
        };
        written.map_err(reason)
    }

    /// Never: a served device acts on each access of a register, and a mapped one would go on to
    /// answer when its server has ended.
    fn map_bar0(&mut self, _: usize) -> io::Result<Option<MappedRegisters>> {
        Ok(None)
    }

    fn iova_space(&mut self) -> io::Result<IovaSpace> {
        Ok(IovaSpace {
            ranges: std::iter::once(0..ADDRESSES_END).collect(),
            page_octets: PAGE_OCTETS,
        })
    }

    fn map(&mut self, iova: u64, memory: &SharedMemory, access: Access) -> io::Result<()> {
        let access = match access {
            Access::Read => rnic_vfio_user::Access::READ,
            Access::ReadWrite => rnic_vfio_user::Access::READ_WRITE,
        };
        let (octets, offset) = (memory.octets() as u64, memory.file_offset());
        let mapped = self.client.map(iova, octets, memory.file(), offset, access);
        mapped.map_err(reason)
    }

    fn unmap(&mut self, iova: u64, octets: u64) -> io::Result<()> {
        self.client.unmap(iova, octets).map(drop).map_err(reason)
    }

    fn vectors(&mut self) -> io::Result<u32> {
        let info = self.client.irq_info(IRQ_MSIX).map_err(reason)?;
        Ok(if info.eventfd { info.count } else { 0 })
    }

    fn enable_vectors(&mut self, eventfds: &[OwnedFd]) -> io::Result<()> {
        let eventfds: Vec<_> = eventfds
            .iter()
            .map(|eventfd| Some(eventfd.as_fd()))
            .collect();
        let set = self.client.set_irqs(IRQ_MSIX, 0, &eventfds);
        set.map_err(reason)
    }

    fn reset(&mut self) -> io::Result<bool> {
        if !self.client.device_info().map_err(reason)?.resettable {
            return Ok(false);
        }
        self.client.reset().map_err(reason)?;
        Ok(true)
    }
}

/// An error of the client, of the kind that the server's errno has.
fn reason(error: ClientError) -> io::Error {
    let kind = match &error {
        ClientError::Refused { errno, .. } => io::Error::from(*errno).kind(),
        ClientError::Timeout { .. } => io::ErrorKind::TimedOut,
        _ => io::ErrorKind::Other,
    };
    io::Error::new(kind, error)
}

#[cfg(test)]
mod tests;
