//! Memory of a function: memfds, mapped here once and given to the function at a bus address.
//!
//! ```text
//!  allocate, small  -> piece of an arena --+
//!  allocate, large  -> a map of its own ---+-> Map: memfd, mmap, bus address -> Function::map
//!  allocate_huge    -> the same, 2 MiB ----+
//!  map_memfd        -> the caller's file --+
//! ```
//!
//! Each map is followed by addresses that are never mapped, so an access beyond its end fails
//! instead of changing the next one. A map is unmapped at the function before its bus address or
//! its memory is used again. If that fails, neither is: it stays as it is until the process ends.

use super::iova::{Access, FirstFit, IovaSpace};
use super::memfd::{self, Pages, HUGE_PAGE_OCTETS};
use super::pci_function::PciFunction;
use super::raw::SharedMemory;
use crate::device::access::{Dma, DmaBuffer};
use crate::device::error::DriverError;
use std::collections::BTreeMap;
use std::io;
use std::mem::ManuallyDrop;
use std::ops::Range;
use std::os::fd::{BorrowedFd, OwnedFd};

/// Octets of an arena.
const ARENA_OCTETS: u64 = 1 << 20;
/// Octets up to which an allocation is a piece of an arena.
const PIECE_OCTETS_MAX: u64 = 1 << 16;
/// Pieces begin and end at multiples of this: a cache line, so that the device and the driver do
/// not share one over two pieces.
const PIECE_UNIT: u64 = 64;
/// From this size on a map is aligned as an IOMMU's large pages are.
const LARGE_PAGE_OCTETS: u64 = HUGE_PAGE_OCTETS as u64;
/// Bus addresses below are not used: a null pointer that the driver passes on must fail.
const LOWEST_ADDRESS: u64 = 1 << 16;

/// Memory that the function may access.
#[derive(Debug)]
struct Map {
    /// Not dropped where the function may still have it.
    memory: ManuallyDrop<SharedMemory>,
    /// Bus addresses, with those after the map that stay unmapped.
    reserved: Range<u64>,
    content: Content,
}

#[derive(Debug)]
enum Content {
    /// One buffer of as many octets.
    Buffer { octets: usize },
    /// Pieces: free ones, and the octets of the allocated ones by bus address.
    Arena {
        free: FirstFit,
        pieces: BTreeMap<u64, usize>,
    },
}

/// Memory that a function may access, and the bus addresses of it.
///
/// Dropping it takes all of it from the function.
#[derive(Debug)]
pub struct FunctionMemory {
    function: PciFunction,
    addresses: FirstFit,
    page_octets: u64,
    /// By bus address.
    maps: BTreeMap<u64, Map>,
}

impl FunctionMemory {
    /// Memory of a function that has none yet.
    pub(crate) fn new(function: PciFunction) -> io::Result<Self> {
        let IovaSpace {
            ranges,
            page_octets,
        } = function.lock().iova_space()?;
        let machine_page = rustix::param::page_size() as u64;
        let usable = ranges.into_iter().map(|range| Range {
            start: range.start.max(LOWEST_ADDRESS),
            ..range
        });
        Ok(Self {
            function,
            addresses: FirstFit::new(usable),
            page_octets: page_octets.max(machine_page),
            maps: BTreeMap::new(),
        })
    }

    /// The function.
    pub fn function(&self) -> &PciFunction {
        &self.function
    }

    /// Give the device memory of the caller: `octets` octets of `file` from `offset` on, at one
    /// contiguous bus address. The caller keeps its own map of it. [`Dma::free`] takes it from the
    /// device.
    ///
    /// The file is a memfd that is sealed against shrinking; offset and octets are multiples of its
    /// page size. With [`Access::Read`] the device can only read it, and [`Dma::write`] to it
    /// panics.
    ///
    /// # Errors
    /// [`DriverError::Memory`].
    pub fn map_memfd(
        &mut self,
        file: BorrowedFd,
        offset: u64,
        octets: usize,
        access: Access,
    ) -> Result<DmaBuffer, DriverError> {
        let failed = failed("the caller's memory", octets);
        memfd::check(file, offset, octets, self.page_octets).map_err(&failed)?;
        let file = file.try_clone_to_owned().map_err(&failed)?;
        let memory = SharedMemory::map(file, offset, octets, access).map_err(&failed)?;
        let address = self.map(memory, access, Content::Buffer { octets }, 1);
        let address = address.map_err(&failed)?;
        Ok(DmaBuffer { address, octets })
    }

    /// As [`Dma::allocate`], in huge pages of 2 MiB: an IOMMU maps each as one, and so does a
    /// virtual machine's, which is slow at many small ones. Its octets are rounded up to such
    /// pages.
    ///
    /// # Errors
    /// [`DriverError::Memory`], also if the administrator has not set aside enough huge pages.
    pub fn allocate_huge(&mut self, name: &str, octets: usize) -> Result<DmaBuffer, DriverError> {
        let failed = failed(name, octets);
        let create = || {
            let size = round_up(octets, LARGE_PAGE_OCTETS)?;
            let file = memfd::create(name, size, Pages::Huge)?;
            SharedMemory::map(file, 0, size as usize, Access::ReadWrite)
        };
        let memory = create().map_err(|error| {
            failed(io::Error::other(format!(
                "{error}; set aside huge pages of 2 MiB, as root: \
                 `echo COUNT > /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages`"
            )))
        })?;
        let content = Content::Buffer { octets };
        let address = self.map(memory, Access::ReadWrite, content, 1);
        let address = address.map_err(&failed)?;
        Ok(DmaBuffer { address, octets })
    }

    /// Give `memory` to the function. Its bus address is a multiple of `align`.
    fn map(
        &mut self,
        memory: SharedMemory,
        access: Access,
        content: Content,
        align: u64,
    ) -> io::Result<u64> {
        let octets = memory.octets() as u64;
        let large = if octets >= LARGE_PAGE_OCTETS {
            LARGE_PAGE_OCTETS
        } else {
            1
        };
        let align = align.max(self.page_octets).max(large);
        let reserved = octets.checked_add(self.page_octets);
        let reserved = reserved.and_then(|octets| self.addresses.allocate(octets, align));
        let reserved = reserved.ok_or_else(|| {
            io::Error::other("no free range of bus addresses is large enough; free memory first")
        })?;
        let address = reserved.start;
        let mapped = self.function.lock().map(address, &memory, access);
        if let Err(error) = mapped {
            self.addresses.free(reserved);
            return Err(explain(error));
        }
        let map = Map {
            memory: ManuallyDrop::new(memory),
            reserved,
            content,
        };
        self.maps.insert(address, map);
        Ok(address)
    }

    /// Take a map from the function; then its memory and addresses are free. They stay as they are
    /// if the function does not give it back.
    fn unmap(&mut self, address: u64) {
        let map = self.maps.remove(&address).expect("the caller has found it");
        let octets = map.memory.octets() as u64;
        let unmapped = self.function.lock().unmap(address, octets);
        if unmapped.is_ok() {
            drop(ManuallyDrop::into_inner(map.memory));
            self.addresses.free(map.reserved);
        }
    }

    /// A map of zeros, of its own or for an arena.
    fn map_new(
        &mut self,
        name: &str,
        octets: u64,
        align: u64,
        content: Content,
    ) -> io::Result<u64> {
        let file: OwnedFd = memfd::create(name, octets, Pages::Normal)?;
        let size = usize::try_from(octets).map_err(io::Error::other)?;
        let memory = SharedMemory::map(file, 0, size, Access::ReadWrite)?;
        self.map(memory, Access::ReadWrite, content, align)
    }

    /// A piece of an arena, zeroed; of a new one if none has room.
    fn allocate_piece(&mut self, octets: usize, align: u64) -> io::Result<u64> {
        let size = round_up(octets, PIECE_UNIT)?;
        let align = align.max(PIECE_UNIT);
        if let Some(address) = self.piece(octets, size, align) {
            return Ok(address);
        }
        let content = Content::Arena {
            free: FirstFit::default(),
            pieces: BTreeMap::new(),
        };
        let arena = self.map_new("ferrowarp arena", ARENA_OCTETS, ARENA_OCTETS, content)?;
        let map = self.maps.get_mut(&arena).expect("it was just mapped");
        if let Content::Arena { free, .. } = &mut map.content {
            free.free(arena..arena + ARENA_OCTETS);
        }
        let piece = self.piece(octets, size, align);
        Ok(piece.expect("an arena has room for a piece"))
    }

    /// A piece of an arena that has room.
    fn piece(&mut self, octets: usize, size: u64, align: u64) -> Option<u64> {
        self.maps.iter_mut().find_map(|(&base, map)| {
            let Content::Arena { free, pieces } = &mut map.content else {
                return None;
            };
            let piece = free.allocate(size, align)?;
            pieces.insert(piece.start, octets);
            let zeros = [0; PIECE_UNIT as usize];
            for at in piece.clone().step_by(zeros.len()) {
                map.memory.write((at - base) as usize, &zeros);
            }
            Some(piece.start)
        })
    }

    /// The map that has `octets` octets at a bus address, and where in it they are.
    fn find(&self, address: u64, octets: usize) -> (&Map, usize) {
        let map = self.maps.range(..=address).next_back();
        let found = map.and_then(|(base, map)| {
            let offset = usize::try_from(address - base).ok()?;
            let end = offset.checked_add(octets)?;
            (end <= map.memory.octets()).then_some((map, offset))
        });
        found.unwrap_or_else(|| panic!("{octets} octets at {address:#x} are not mapped"))
    }
}

impl Dma for FunctionMemory {
    fn allocate(
        &mut self,
        name: &str,
        octets: usize,
        align: u64,
    ) -> Result<DmaBuffer, DriverError> {
        let failed = failed(name, octets);
        let allocated = if octets as u64 <= PIECE_OCTETS_MAX && align <= ARENA_OCTETS {
            self.allocate_piece(octets, align)
        } else {
            round_up(octets, self.page_octets).and_then(|size| {
                let name = format!("ferrowarp {name}");
                self.map_new(&name, size, align, Content::Buffer { octets })
            })
        };
        let address = allocated.map_err(failed)?;
        Ok(DmaBuffer { address, octets })
    }

    /// # Panics
    /// If the buffer is not one of this memory.
    fn free(&mut self, buffer: DmaBuffer) {
        let DmaBuffer { address, octets } = buffer;
        let map = self.maps.range_mut(..=address).next_back();
        let unknown = || panic!("{buffer:x?} is not allocated");
        let (&base, map) = map.unwrap_or_else(unknown);
        let is_unused = match &mut map.content {
            Content::Buffer { octets: allocated } => {
                assert!(
                    base == address && *allocated == octets,
                    "{buffer:x?} is not allocated"
                );
                true
            }
            Content::Arena { free, pieces } => {
                let allocated = pieces.remove(&address);
                assert!(allocated == Some(octets), "{buffer:x?} is not allocated");
                let size = round_up(octets, PIECE_UNIT).expect("it was allocated");
                free.free(address..address + size);
                pieces.is_empty()
            }
        };
        if is_unused {
            self.unmap(base);
        }
    }

    fn read_u32_acquire(&self, address: u64) -> u32 {
        let (map, offset) = self.find(address, 4);
        map.memory.load_acquire(offset)
    }

    fn read(&self, address: u64, out: &mut [u8]) {
        let (map, offset) = self.find(address, out.len());
        map.memory.read(offset, out);
    }

    fn write(&mut self, address: u64, data: &[u8]) {
        let (map, offset) = self.find(address, data.len());
        map.memory.write(offset, data);
    }
}

impl Drop for FunctionMemory {
    fn drop(&mut self) {
        while let Some((&address, _)) = self.maps.first_key_value() {
            self.unmap(address);
        }
    }
}

/// At least one unit, in whole units.
fn round_up(octets: usize, unit: u64) -> io::Result<u64> {
    let octets = (octets as u64).max(1).checked_next_multiple_of(unit);
    let octets = octets.filter(|octets| *octets <= i64::MAX as u64);
    octets.ok_or_else(|| io::Error::other("no machine has as much memory"))
}

/// What an error of memory for `name` is for the driver's user.
fn failed(name: &str, octets: usize) -> impl Fn(io::Error) -> DriverError + '_ {
    move |error| DriverError::Memory {
        name: name.to_owned(),
        octets,
        reason: error.to_string(),
    }
}

/// An error of a map, with what to do about it.
fn explain(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::OutOfMemory => io::Error::new(
            error.kind(),
            format!(
                "{error}: the device's memory is locked, and the limit may be too low; \
                 `ulimit -l` shows it in KiB, and LimitMEMLOCK= or limits.conf raises it"
            ),
        ),
        io::ErrorKind::StorageFull => io::Error::new(
            error.kind(),
            format!("{error}: Linux allows no more maps; allocate fewer, larger buffers"),
        ),
        _ => error,
    }
}

#[cfg(test)]
mod tests;
