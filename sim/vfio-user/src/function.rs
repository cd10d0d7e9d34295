//! What is behind the socket: a PCI function, as its host sees it.

use std::ops::RangeInclusive;

use rustix::io::Errno;

use crate::irqs::Irqs;
use crate::protocol::IRQ_COUNT;

/// A region of the function: a BAR or configuration space.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct RegionDescription {
    /// Its length; 0 if there is no such region.
    pub octets: u64,
    /// The client may read it.
    pub readable: bool,
    /// The client may write it.
    pub writable: bool,
}

impl RegionDescription {
    /// There is no such region.
    pub const ABSENT: Self = Self {
        octets: 0,
        readable: false,
        writable: false,
    };

    /// A region to read and write.
    pub const fn new(octets: u64) -> Self {
        Self {
            octets,
            readable: true,
            writable: true,
        }
    }
}

/// A PCI function. A [`Session`](crate::Session) calls it for what its client asks, one call at a
/// time, with accesses that are within a region and allowed there.
///
/// An error is the errno of the reply. To a write that wants no reply, which is how QEMU writes
/// BARs, there is none: the error is lost.
pub trait Function {
    /// The regions by their index in vfio-pci: BAR 0 to 5, ROM, configuration space, VGA. Those
    /// past the end are absent. They do not change during a session.
    fn regions(&self) -> &[RegionDescription];

    /// Vectors of INTx, MSI, MSI-X, ERR and REQ. They do not change during a session.
    fn irq_counts(&self) -> [u32; IRQ_COUNT as usize];

    /// Reads a region.
    fn read(&mut self, region: u32, offset: u64, out: &mut [u8]) -> Result<(), Errno>;

    /// Writes a region.
    fn write(&mut self, region: u32, offset: u64, data: &[u8]) -> Result<(), Errno>;

    /// Resets the function. Maps and eventfds are the client's and stay.
    fn reset(&mut self) -> Result<(), Errno>;

    /// The client changed eventfds or masks, or the session ended and took all away.
    fn irqs_changed(&mut self, irqs: &Irqs);

    /// The maps within `range` go away when this returns, and the client gets its reply: finish or
    /// drop what still uses them. When the session ends, the range is all addresses.
    fn quiesce(&mut self, range: RangeInclusive<u64>);
}
