//! A PCI function as VFIO shows it. Linux and a vfio-user server show it alike, so the parts above
//! do not know which of them they use; their tests use a third one, in memory.

use super::iova::{Access, IovaSpace};
use super::raw::{MappedRegisters, SharedMemory};
use std::fmt::Debug;
use std::io;
use std::os::fd::OwnedFd;

/// A region of a function. The numbers are those of VFIO, for each PCI function.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Region {
    /// BAR0.
    Bar0 = 0,
    /// Configuration space.
    Configuration = 7,
}

/// A PCI function that this process owns. Dropping it gives it up: its memory is no longer
/// accessible to it, its interrupts are off.
pub(crate) trait Function: Debug + Send {
    /// Octets of a region; 0 if the function does not have it.
    fn region_octets(&mut self, region: Region) -> io::Result<u64>;

    /// Read all of `data` at `offset` of a region, as one access if it has 1, 2 or 4 octets.
    fn read(&mut self, region: Region, offset: u64, data: &mut [u8]) -> io::Result<()>;

    /// Write all of `data` at `offset` of a region, as one access if it has 1, 2 or 4 octets. A
    /// write of BAR0 may be posted: it takes effect before any later access.
    fn write(&mut self, region: Region, offset: u64, data: &[u8]) -> io::Result<()>;

    /// The first `octets` octets of BAR0, mapped; `None` if they cannot be.
    fn map_bar0(&mut self, octets: usize) -> io::Result<Option<MappedRegisters>>;

    /// Bus addresses that may be mapped.
    fn iova_space(&mut self) -> io::Result<IovaSpace>;

    /// Give the function all of `memory` at bus address `iova`. Both are multiples of
    /// [`IovaSpace::page_octets`]. After an error it has none of it.
    fn map(&mut self, iova: u64, memory: &SharedMemory, access: Access) -> io::Result<()>;

    /// Take the function the `octets` octets at `iova`, which is one map. After `Ok` it does not
    /// access them any more.
    fn unmap(&mut self, iova: u64, octets: u64) -> io::Result<()>;

    /// MSI-X vectors of the function.
    fn vectors(&mut self) -> io::Result<u32>;

    /// Enable MSI-X, with vector `v` signalled to `eventfds[v]`. All at once: enabling one after
    /// the other takes quadratic time.
    fn enable_vectors(&mut self, eventfds: &[OwnedFd]) -> io::Result<()>;

    /// Reset the function, if it can be; `Ok(false)`: it has no reset. Its maps stay.
    fn reset(&mut self) -> io::Result<bool>;
}
