//! Doubles for the tests of this folder: a function in memory, and a folder of a test's own.

use super::function::{Function, Region};
use super::iova::{Access, IovaSpace};
use super::raw::{MappedRegisters, SharedMemory};
use crate::device::access::Bar;
use crate::testing::Tables;
use rnic_abi::pci::{BAR0_OCTETS, DEVICE_ID, VENDOR_ID};
use std::collections::BTreeMap;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Where the capability of PCI Express is in it.
pub(crate) const PCI_EXPRESS: usize = 0x70;

/// Configuration space of a Ferrowarp RNIC at a port that takes packets of 128 octets: another
/// capability, then that of PCI Express.
fn configuration() -> Vec<u8> {
    let mut space = vec![0; 256];
    let mut put = |at: usize, octets: &[u8]| space[at..at + octets.len()].copy_from_slice(octets);
    put(0, &VENDOR_ID.to_le_bytes());
    put(2, &DEVICE_ID.to_le_bytes());
    put(4, &[0x00, 0x01, 0x10, 0x00]);
    put(0x34, &[0x40]);
    put(0x40, &[0x11, PCI_EXPRESS as u8]);
    put(PCI_EXPRESS, &[0x10, 0]);
    put(PCI_EXPRESS + 8, &[0x10, 0x28]);
    space
}

/// What happened at a function, in order.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// It was given octets at a bus address.
    Map(u64, usize, Access),
    /// They were taken from it.
    Unmap(u64, u64),
    /// MSI-X was enabled with so many vectors.
    Vectors(usize),
    /// It was reset through the bus.
    Reset,
    /// Its Command register was written.
    Command(u16),
    /// The device's CONTROL register was written.
    Control(u32),
    /// The function was given up.
    Dropped,
}

/// What a function in memory is, and what the test wants of it.
#[derive(Debug)]
pub(crate) struct Inside {
    pub(crate) tables: Tables,
    /// Configuration space.
    pub(crate) configuration: Vec<u8>,
    pub(crate) bar_octets: u64,
    pub(crate) space: IovaSpace,
    pub(crate) vectors: u32,
    pub(crate) has_reset: bool,
    /// Accesses of regions fail.
    pub(crate) is_cut_off: bool,
    /// The next map fails for this reason.
    pub(crate) map_error: Option<io::ErrorKind>,
    /// Unmaps fail.
    pub(crate) keeps_maps: bool,
    /// Vectors cannot be enabled.
    pub(crate) refuses_vectors: bool,
    /// By bus address: as a server maps them, on its own.
    pub(crate) maps: BTreeMap<u64, SharedMemory>,
    pub(crate) eventfds: Vec<OwnedFd>,
    pub(crate) steps: Vec<Step>,
}

impl Inside {
    fn check(&self) -> io::Result<()> {
        match self.is_cut_off {
            true => Err(io::ErrorKind::BrokenPipe.into()),
            false => Ok(()),
        }
    }

    /// The map with the octets at a bus address.
    fn find(&self, address: u64) -> (&SharedMemory, usize) {
        let (base, map) = self.maps.range(..=address).next_back().expect("mapped");
        (map, (address - base) as usize)
    }

    /// The device reads.
    pub(crate) fn device_reads(&self, address: u64, octets: usize) -> Vec<u8> {
        let (map, offset) = self.find(address);
        let mut out = vec![0xa5; octets];
        map.read(offset, &mut out);
        out
    }

    /// The device writes.
    pub(crate) fn device_writes(&self, address: u64, data: &[u8]) {
        let (map, offset) = self.find(address);
        map.write(offset, data);
    }
}

/// A function in memory; a test keeps a clone.
#[derive(Clone, Debug)]
pub(crate) struct TestFunction(Arc<Mutex<Inside>>);

impl TestFunction {
    /// A Ferrowarp RNIC that may be given addresses on both sides of a hole, as on an x86 machine.
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Inside {
            tables: Tables::default(),
            configuration: configuration(),
            bar_octets: BAR0_OCTETS,
            space: IovaSpace {
                ranges: vec![0..0xfee0_0000, 0xfef0_0000..1 << 39],
                page_octets: 4096,
            },
            vectors: 8,
            has_reset: true,
            is_cut_off: false,
            map_error: None,
            keeps_maps: false,
            refuses_vectors: false,
            maps: BTreeMap::new(),
            eventfds: Vec::new(),
            steps: Vec::new(),
        })))
    }

    pub(crate) fn inside(&self) -> MutexGuard<'_, Inside> {
        // A test that has failed is still unwound.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the driver owns.
    pub(crate) fn owned(&self) -> Box<dyn Function> {
        Box::new(Owned(self.clone()))
    }

    /// What happened since the last call.
    pub(crate) fn steps(&self) -> Vec<Step> {
        std::mem::take(&mut self.inside().steps)
    }
}

#[derive(Debug)]
struct Owned(TestFunction);

impl Drop for Owned {
    fn drop(&mut self) {
        self.0.inside().steps.push(Step::Dropped);
    }
}

impl Function for Owned {
    fn region_octets(&mut self, region: Region) -> io::Result<u64> {
        Ok(match region {
            Region::Bar0 => self.0.inside().bar_octets,
            Region::Configuration => 256,
        })
    }

    fn read(&mut self, region: Region, offset: u64, data: &mut [u8]) -> io::Result<()> {
        let mut inside = self.0.inside();
        inside.check()?;
        match region {
            Region::Bar0 => {
                let value = inside.tables.read32(offset as u32);
                data.copy_from_slice(&value.to_le_bytes());
            }
            Region::Configuration => {
                let at = offset as usize;
                data.copy_from_slice(&inside.configuration[at..at + data.len()]);
            }
        }
        Ok(())
    }

    fn write(&mut self, region: Region, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut inside = self.0.inside();
        inside.check()?;
        match (region, data) {
            (Region::Bar0, &[a, b, c, d]) => {
                let value = u32::from_le_bytes([a, b, c, d]);
                if offset == u64::from(rnic_abi::registers::CONTROL) {
                    inside.steps.push(Step::Control(value));
                }
                inside.tables.write32(offset as u32, value);
            }
            (Region::Configuration, &[low, high]) if offset == 4 => {
                let command = u16::from_le_bytes([low, high]);
                inside.steps.push(Step::Command(command));
            }
            _ => panic!("{data:x?} at {offset:#x} of {region:?}"),
        }
        Ok(())
    }

    fn map_bar0(&mut self, _: usize) -> io::Result<Option<MappedRegisters>> {
        Ok(None)
    }

    fn iova_space(&mut self) -> io::Result<IovaSpace> {
        Ok(self.0.inside().space.clone())
    }

    fn map(&mut self, iova: u64, memory: &SharedMemory, access: Access) -> io::Result<()> {
        let mut inside = self.0.inside();
        if let Some(kind) = inside.map_error.take() {
            return Err(kind.into());
        }
        let octets = memory.octets();
        let below = inside.maps.range(..iova + octets as u64).next_back();
        let is_free = below.is_none_or(|(at, map)| at + (map.octets() as u64) < iova);
        assert!(is_free, "{iova:#x} is mapped, or next to what is");
        let file = memory.file().try_clone_to_owned()?;
        let map = SharedMemory::map(file, memory.file_offset(), octets, access)?;
        inside.maps.insert(iova, map);
        inside.steps.push(Step::Map(iova, octets, access));
        Ok(())
    }

    fn unmap(&mut self, iova: u64, octets: u64) -> io::Result<()> {
        let mut inside = self.0.inside();
        inside.steps.push(Step::Unmap(iova, octets));
        if inside.keeps_maps {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let map = inside.maps.remove(&iova).expect("it is mapped");
        assert_eq!(map.octets() as u64, octets);
        Ok(())
    }

    fn vectors(&mut self) -> io::Result<u32> {
        Ok(self.0.inside().vectors)
    }

    fn enable_vectors(&mut self, eventfds: &[OwnedFd]) -> io::Result<()> {
        let mut inside = self.0.inside();
        inside.steps.push(Step::Vectors(eventfds.len()));
        if inside.refuses_vectors {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let clones = eventfds.iter().map(OwnedFd::try_clone);
        inside.eventfds = clones.collect::<io::Result<_>>()?;
        Ok(())
    }

    fn reset(&mut self) -> io::Result<bool> {
        let mut inside = self.0.inside();
        inside.steps.push(Step::Reset);
        Ok(inside.has_reset)
    }
}

/// The device interrupts.
pub(crate) fn signal(eventfd: BorrowedFd) {
    rustix::io::write(eventfd, &1_u64.to_ne_bytes()).expect("an eventfd");
}

/// A folder that is removed with the test.
#[derive(Debug)]
pub(crate) struct TestFolder(PathBuf);

impl TestFolder {
    pub(crate) fn new(name: &str) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("ferrowarp-{name}-{process}-{count}"));
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
