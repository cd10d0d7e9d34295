//! Memory that the device can access.

use crate::device::error::DriverError;

/// A piece of memory at one contiguous bus address.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct DmaBuffer {
    /// Bus address (IOVA) of the first octet.
    pub address: u64,
    /// Octets.
    pub octets: usize,
}

/// Allocator of, and access to, device-visible memory. Access is by copy only: the device may write
/// at any time, so an implementation over mapped memory copies through raw pointers (volatile, or
/// atomic for a doubleword) and forms no reference to it.
pub trait Dma {
    /// Allocate zeroed memory whose bus address is a multiple of `align` (a power of two). `name`
    /// appears in diagnostics. The zeros are there before the device sees a later register write
    /// ([`Bar`](crate::Bar)): they must not come over what it writes.
    fn allocate(&mut self, name: &str, octets: usize, align: u64)
        -> Result<DmaBuffer, DriverError>;
    /// Free memory. The device must not be able to access it any more: the region or queue is
    /// closed, or the device was reset ([`Device::close`](crate::Device::close)).
    fn free(&mut self, buffer: DmaBuffer);
    /// The little-endian doubleword at bus address `address`, a multiple of 4: one access, with
    /// Acquire ordering: a later [`Dma::read`] sees whatever the device wrote before this
    /// doubleword. The driver reads the phase of an entry with it before it reads the entry, and
    /// gives the slot back with a register write, which has Release ordering
    /// ([`Bar`](crate::Bar)).
    fn read_u32_acquire(&self, address: u64) -> u32;
    /// Copy `out.len()` octets from bus address `address`. Octets that the device writes meanwhile
    /// may be old or new, independently of each other.
    fn read(&self, address: u64, out: &mut [u8]);
    /// Copy `data` to bus address `address`. It is there before the device sees a later register
    /// write.
    fn write(&mut self, address: u64, data: &[u8]);
}

impl<D: Dma + ?Sized> Dma for Box<D> {
    fn allocate(
        &mut self,
        name: &str,
        octets: usize,
        align: u64,
    ) -> Result<DmaBuffer, DriverError> {
        (**self).allocate(name, octets, align)
    }

    fn free(&mut self, buffer: DmaBuffer) {
        (**self).free(buffer);
    }

    fn read_u32_acquire(&self, address: u64) -> u32 {
        (**self).read_u32_acquire(address)
    }

    fn read(&self, address: u64, out: &mut [u8]) {
        (**self).read(address, out);
    }

    fn write(&mut self, address: u64, data: &[u8]) {
        (**self).write(address, data);
    }
}
