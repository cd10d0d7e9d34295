//! Where a piece of memory is for the device.

/// A piece of memory at one contiguous bus address.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct DmaBuffer {
    /// Bus address (IOVA) of the first octet.
    pub address: u64,
    /// Octets.
    pub octets: usize,
}
