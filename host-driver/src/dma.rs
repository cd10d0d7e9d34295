//! Memory that the device can reach.

use crate::error::DriverError;

/// A piece of memory at one contiguous bus address.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DmaBuffer {
    /// Bus address (IOVA) of the first octet.
    pub address: u64,
    /// Octets.
    pub octets: usize,
}

/// Allocator of, and access to, device-visible memory. Access is by copy only.
pub trait Dma {
    /// Allocate zeroed memory whose bus address is a multiple of `align` (a power of two). `name`
    /// appears in diagnostics.
    fn allocate(&mut self, name: &str, octets: usize, align: u64)
        -> Result<DmaBuffer, DriverError>;
    /// Give memory back; the device must not be able to reach it any more.
    fn free(&mut self, buffer: DmaBuffer);
    /// Copy `out.len()` octets from bus address `address`.
    fn read(&self, address: u64, out: &mut [u8]);
    /// Copy `data` to bus address `address`.
    fn write(&mut self, address: u64, data: &[u8]);
}
