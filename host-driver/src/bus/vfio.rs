//! A function through Linux' VFIO: container, group and device, as
//! `Documentation/driver-api/vfio.rst` describes them, in that order.
//!
//! Registers are read and written with `pread` and `pwrite` where they are not mapped:
//! `VfioDevice::region_read` loses errors. `make vm-test` runs this file in a guest with an
//! emulated IOMMU; it has not run on hardware yet.

use super::error::OpenError;
use super::function::{Function, Region};
use super::iommu_info;
use super::iova::{Access, IovaSpace};
use super::raw::{self, MappedRegisters, SharedMemory};
use super::sysfs::{self, BoundFunction, Places};
use rustix::io::{pread, pwrite};
use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use vfio_bindings::bindings::vfio::{VFIO_PCI_MSIX_IRQ_INDEX, VFIO_REGION_INFO_FLAG_MMAP};
use vfio_ioctls::{VfioContainer, VfioDevice, VfioError, VfioRegionInfoCap};

/// A function that is bound to `vfio-pci`, alone in its container.
pub(crate) struct Vfio {
    device: VfioDevice,
    container: Arc<VfioContainer>,
    name: String,
}

impl fmt::Debug for Vfio {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_tuple("Vfio").field(&self.name).finish()
    }
}

impl Vfio {
    /// # Errors
    /// Those of [`sysfs::check`], [`OpenError::NoIommuDriver`], [`OpenError::Group`],
    /// [`OpenError::GroupNotViable`], [`OpenError::Vfio`].
    pub(crate) fn open(places: &Places, function: &str) -> Result<Self, OpenError> {
        let BoundFunction { folder, group } = sysfs::check(places, function)?;
        let explain = |error| match error {
            VfioError::OpenGroup(source, group) => OpenError::Group { group, source },
            VfioError::GroupViable => OpenError::GroupNotViable {
                group: group.clone(),
            },
            VfioError::VfioExtension => OpenError::NoIommuDriver,
            error => OpenError::Vfio(error),
        };
        let container = Arc::new(VfioContainer::new(None).map_err(&explain)?);
        let device = VfioDevice::new(&folder, container.clone(), false);
        Ok(Self {
            device: device.map_err(explain)?,
            container,
            name: function.to_owned(),
        })
    }

    /// Where `octets` octets at `offset` of a region are in the device's file.
    fn place(&self, region: Region, offset: u64, octets: usize) -> io::Result<u64> {
        let (index, octets) = (region as u32, octets as u64);
        let size = self.device.get_region_size(index);
        match offset.checked_add(octets).is_some_and(|end| end <= size) {
            true => Ok(self.device.get_region_offset(index) + offset),
            false => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("{octets} octets at {offset:#x} are not in {region:?} of {size} octets"),
            )),
        }
    }
}

impl Function for Vfio {
    fn region_octets(&mut self, region: Region) -> io::Result<u64> {
        Ok(self.device.get_region_size(region as u32))
    }

    fn read(&mut self, region: Region, offset: u64, data: &mut [u8]) -> io::Result<()> {
        let place = self.place(region, offset, data.len())?;
        let octets = data.len();
        whole(pread(raw::device_file(&self.device), data, place)?, octets)
    }

    fn write(&mut self, region: Region, offset: u64, data: &[u8]) -> io::Result<()> {
        let place = self.place(region, offset, data.len())?;
        let written = pwrite(raw::device_file(&self.device), data, place)?;
        whole(written, data.len())
    }

    fn map_bar0(&mut self, octets: usize) -> io::Result<Option<MappedRegisters>> {
        let index = Region::Bar0 as u32;
        let has_map = self.device.get_region_flags(index) & VFIO_REGION_INFO_FLAG_MMAP != 0;
        // Kernels that do not let the page of the MSI-X table be mapped list the other areas.
        let capabilities = self.device.get_region_caps(index);
        let is_whole = capabilities.iter().all(|capability| match capability {
            VfioRegionInfoCap::SparseMmap(sparse) => {
                let mut areas = sparse.areas.iter();
                areas.any(|area| area.offset == 0 && area.size >= octets as u64)
            }
            _ => true,
        });
        if !has_map || !is_whole {
            return Ok(None);
        }
        let place = self.place(Region::Bar0, 0, octets)?;
        let file = raw::device_file(&self.device);
        MappedRegisters::map(file, place, octets).map(Some)
    }

    fn iova_space(&mut self) -> io::Result<IovaSpace> {
        Ok(iommu_info::parse(&raw::iommu_info(&self.container)?))
    }

    fn map(&mut self, iova: u64, memory: &SharedMemory, access: Access) -> io::Result<()> {
        raw::map_dma(&self.container, iova, memory, access)
    }

    fn unmap(&mut self, iova: u64, octets: u64) -> io::Result<()> {
        let unmapped = self.container.vfio_dma_unmap(iova, octets as usize);
        unmapped.map_err(io::Error::other)
    }

    fn vectors(&mut self) -> io::Result<u32> {
        let msix = self.device.get_irq_info(VFIO_PCI_MSIX_IRQ_INDEX);
        Ok(msix.map_or(0, |irq| irq.count))
    }

    fn enable_vectors(&mut self, eventfds: &[OwnedFd]) -> io::Result<()> {
        let events = eventfds
            .iter()
            .map(|eventfd| eventfd.try_clone().map(raw::event));
        let events = events.collect::<io::Result<Vec<_>>>()?;
        let enabled = self.device.enable_msix(events.iter().collect());
        enabled.map_err(io::Error::other)
    }

    fn reset(&mut self) -> io::Result<bool> {
        match raw::reset_device(&self.device) {
            Ok(()) => Ok(true),
            // VFIO_DEVICE_FLAGS_RESET is not set: the function has no reset.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(false),
            Err(error) => Err(error),
        }
    }
}

/// An access of a region moves all octets or fails.
fn whole(moved: usize, octets: usize) -> io::Result<()> {
    match moved == octets {
        true => Ok(()),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}
