//! The raw edge: memory that is shared with a device, mapped registers, and calls of Linux' VFIO
//! that the crate vfio-ioctls lacks. All `unsafe` of the driver is here.
//!
//! A device, or a server in another process, writes shared memory at any time. The only accesses
//! are therefore volatile ones through raw pointers; no reference to this memory is ever formed.
//! What is mapped comes from a memfd or a device, never from Rust's heap, so no reference of
//! somebody else exists either. Each access is within the map, which is asserted, and the map lives
//! as long as its owner here.

use super::iova::Access;
use memmap2::{MmapOptions, MmapRaw};
use rustix::ioctl::{ioctl, opcode, NoArg, Opcode, Setter, Updater};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use std::sync::atomic::{fence, Ordering};
use vfio_bindings::bindings::vfio::{
    vfio_iommu_type1_dma_map, VFIO_BASE, VFIO_DMA_MAP_FLAG_READ, VFIO_DMA_MAP_FLAG_WRITE, VFIO_TYPE,
};
use vfio_ioctls::{VfioContainer, VfioDevice};
use vmm_sys_util::eventfd::EventFd;

/// Octets of the accesses that copies are made of, where they are aligned.
const WORD: usize = 8;

/// A part of a file, mapped: memory that a device may share.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    file: OwnedFd,
    file_offset: u64,
    map: MmapRaw,
    access: Access,
}

impl SharedMemory {
    /// Map `octets` octets of `file` from `file_offset` on, a multiple of the page size. With
    /// [`Access::Read`] this process cannot write them either. The file must not shrink below them:
    /// an access would raise SIGBUS.
    pub(crate) fn map(
        file: OwnedFd,
        file_offset: u64,
        octets: usize,
        access: Access,
    ) -> io::Result<Self> {
        let mut options = MmapOptions::new();
        options.offset(file_offset).len(octets);
        let map = match access {
            Access::Read => options.map_raw_read_only(&file)?,
            Access::ReadWrite => options.map_raw(&file)?,
        };
        Ok(Self {
            file,
            file_offset,
            map,
            access,
        })
    }

    /// Octets.
    pub(crate) fn octets(&self) -> usize {
        self.map.len()
    }

    /// The file.
    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Where in the file it is.
    pub(crate) fn file_offset(&self) -> u64 {
        self.file_offset
    }

    /// Copy from `offset` on.
    pub(crate) fn read(&self, offset: usize, out: &mut [u8]) {
        let (lead, words) = split(offset, out.len());
        let (first, rest) = out.split_at_mut(lead);
        let (middle, last) = rest.split_at_mut(words);
        for (at, octet) in (offset..).zip(first) {
            *octet = self.load_octet(at);
        }
        let places = (offset + lead..).step_by(WORD);
        for (at, word) in places.zip(middle.chunks_exact_mut(WORD)) {
            word.copy_from_slice(&self.load_word(at).to_ne_bytes());
        }
        for (at, octet) in (offset + lead + words..).zip(last) {
            *octet = self.load_octet(at);
        }
    }

    /// Copy to `offset` on.
    pub(crate) fn write(&self, offset: usize, data: &[u8]) {
        let (lead, words) = split(offset, data.len());
        let (first, rest) = data.split_at(lead);
        let (middle, last) = rest.split_at(words);
        for (at, octet) in (offset..).zip(first) {
            self.store_octet(at, *octet);
        }
        let places = (offset + lead..).step_by(WORD);
        for (at, word) in places.zip(middle.chunks_exact(WORD)) {
            let word = word.try_into().expect("a chunk has as many octets");
            self.store_word(at, u64::from_ne_bytes(word));
        }
        for (at, octet) in (offset + lead + words..).zip(last) {
            self.store_octet(at, *octet);
        }
    }

    /// The little-endian doubleword at `offset`, a multiple of four. No later access comes before
    /// it.
    pub(crate) fn load_acquire(&self, offset: usize) -> u32 {
        let from = self.at(offset, 4).cast::<u32>();
        assert!(from.is_aligned(), "a doubleword at {offset:#x}");
        // SAFETY: four octets of the map, aligned; see the head of this file.
        let value = unsafe { from.read_volatile() };
        // An aligned volatile load of 32 bits is one access. The fence orders what follows after
        // it; together they are a load with Acquire, without a reference to an atomic.
        fence(Ordering::Acquire);
        u32::from_le(value)
    }

    /// Address of `octets` octets of the map.
    fn at(&self, offset: usize, octets: usize) -> *mut u8 {
        let end = offset.checked_add(octets);
        assert!(
            end.is_some_and(|end| end <= self.map.len()),
            "{octets} octets at {offset:#x} are in a map of {}",
            self.map.len()
        );
        self.map.as_mut_ptr().wrapping_add(offset)
    }

    /// As [`SharedMemory::at`], for a store.
    fn writable_at(&self, offset: usize, octets: usize) -> *mut u8 {
        let is_writable = self.access == Access::ReadWrite;
        assert!(is_writable, "memory that is mapped for reading is written");
        self.at(offset, octets)
    }

    fn load_octet(&self, offset: usize) -> u8 {
        let from = self.at(offset, 1);
        // SAFETY: an octet of the map; see the head of this file.
        unsafe { from.read_volatile() }
    }

    fn load_word(&self, offset: usize) -> u64 {
        let from = self.at(offset, WORD).cast::<u64>();
        assert!(from.is_aligned(), "a word at {offset:#x}");
        // SAFETY: eight octets of the map, aligned; see the head of this file.
        unsafe { from.read_volatile() }
    }

    fn store_octet(&self, offset: usize, octet: u8) {
        let to = self.writable_at(offset, 1);
        // SAFETY: an octet of the map, which is writable; see the head of this file.
        unsafe { to.write_volatile(octet) }
    }

    fn store_word(&self, offset: usize, word: u64) {
        let to = self.writable_at(offset, WORD).cast::<u64>();
        assert!(to.is_aligned(), "a word at {offset:#x}");
        // SAFETY: eight octets of the map, aligned and writable; see the head of this file.
        unsafe { to.write_volatile(word) }
    }
}

/// Of `octets` octets at `offset`, those before the first whole word, and those in whole
/// words. A map begins at a page, so an offset is aligned as its address is.
fn split(offset: usize, octets: usize) -> (usize, usize) {
    let lead = octets.min(offset.wrapping_neg() % WORD);
    (lead, (octets - lead) / WORD * WORD)
}

/// Registers of a device in this process's memory.
#[derive(Debug)]
pub(crate) struct MappedRegisters {
    map: MmapRaw,
}

impl MappedRegisters {
    /// Map `octets` octets of registers, which are at `offset` of a device's file.
    pub(crate) fn map(device: BorrowedFd, offset: u64, octets: usize) -> io::Result<Self> {
        let mut options = MmapOptions::new();
        let map = options.offset(offset).len(octets).map_raw(&device)?;
        Ok(Self { map })
    }

    /// Read a doubleword. No later access comes before it.
    pub(crate) fn read32(&self, offset: u32) -> u32 {
        let from = self.at(offset);
        // SAFETY: a doubleword of the map, aligned; see the head of this file.
        let value = unsafe { from.read_volatile() };
        fence(Ordering::Acquire);
        u32::from_le(value)
    }

    /// Write a doubleword. No earlier access comes after it.
    pub(crate) fn write32(&self, offset: u32, value: u32) {
        let to = self.at(offset);
        fence(Ordering::Release);
        // SAFETY: a doubleword of the map, aligned; see the head of this file.
        unsafe { to.write_volatile(value.to_le()) }
    }

    fn at(&self, offset: u32) -> *mut u32 {
        let offset = offset as usize;
        let is_inside = offset
            .checked_add(4)
            .is_some_and(|end| end <= self.map.len());
        assert!(is_inside, "register {offset:#x} is in the BAR");
        let address = self.map.as_mut_ptr().wrapping_add(offset).cast::<u32>();
        assert!(address.is_aligned(), "a doubleword at {offset:#x}");
        address
    }
}

/// The file of a device.
pub(crate) fn device_file(device: &VfioDevice) -> BorrowedFd<'_> {
    // SAFETY: the device's file is open as long as the device, which the result borrows.
    unsafe { BorrowedFd::borrow_raw(device.as_raw_fd()) }
}

fn container_file(container: &VfioContainer) -> BorrowedFd<'_> {
    // SAFETY: the container's file is open as long as the container, which the result borrows.
    unsafe { BorrowedFd::borrow_raw(container.as_raw_fd()) }
}

/// An eventfd as vfio-ioctls wants it.
pub(crate) fn event(eventfd: OwnedFd) -> EventFd {
    // SAFETY: the file is an open eventfd, and the result alone owns it.
    unsafe { EventFd::from_raw_fd(eventfd.into_raw_fd()) }
}

/// An ioctl of VFIO, whose numbers say nothing about their argument.
const fn vfio_opcode(number: u32) -> Opcode {
    opcode::none(VFIO_TYPE, (VFIO_BASE + number) as u8)
}

const VFIO_DEVICE_RESET: Opcode = vfio_opcode(11);
const VFIO_IOMMU_GET_INFO: Opcode = vfio_opcode(12);
const VFIO_IOMMU_MAP_DMA: Opcode = vfio_opcode(13);

/// Reset a device; its error is not lost, as it is in `VfioDevice::reset`.
pub(crate) fn reset_device(device: &VfioDevice) -> io::Result<()> {
    // SAFETY: VFIO_DEVICE_RESET has no argument.
    unsafe { ioctl(device_file(device), NoArg::<VFIO_DEVICE_RESET>::new())? };
    Ok(())
}

/// Doublewords of the answer to VFIO_IOMMU_GET_INFO: what is known, and 200 ranges.
pub(crate) const INFO_WORDS: usize = 1024;

/// The `struct vfio_iommu_type1_info` of a container, with its capabilities if they fit.
pub(crate) fn iommu_info(container: &VfioContainer) -> io::Result<[u32; INFO_WORDS]> {
    let mut info = [0; INFO_WORDS];
    // `argsz`: what the kernel may write.
    info[0] = (INFO_WORDS * size_of::<u32>()) as u32;
    // SAFETY: the kernel reads the structure's head and writes at most `argsz` octets, which `info`
    // has.
    unsafe {
        let update = Updater::<VFIO_IOMMU_GET_INFO, _>::new(&mut info);
        ioctl(container_file(container), update)?;
    }
    Ok(info)
}

/// Give the devices of a container `memory` at bus address `iova`, also for reading alone, which
/// `VfioContainer::vfio_dma_map` cannot.
pub(crate) fn map_dma(
    container: &VfioContainer,
    iova: u64,
    memory: &SharedMemory,
    access: Access,
) -> io::Result<()> {
    let map = vfio_iommu_type1_dma_map {
        argsz: size_of::<vfio_iommu_type1_dma_map>() as u32,
        flags: match access {
            Access::Read => VFIO_DMA_MAP_FLAG_READ,
            Access::ReadWrite => VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE,
        },
        vaddr: memory.map.as_mut_ptr().expose_provenance() as u64,
        iova,
        size: memory.octets() as u64,
    };
    // SAFETY: the kernel reads the structure. It pins the pages behind the addresses, so they stay
    // what they are until they are unmapped there, however long this process has them; only this
    // file accesses them here.
    unsafe {
        let set = Setter::<VFIO_IOMMU_MAP_DMA, _>::new(map);
        ioctl(container_file(container), set)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
