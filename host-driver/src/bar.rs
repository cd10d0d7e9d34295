//! BAR0 as the driver sees it.

use crate::error::DriverError;

/// 32-bit register access; offsets as in `rnic_abi::registers`.
///
/// A write may be posted: it takes effect before any later access of this BAR does. It has Release
/// ordering, which an implementation over mapped registers ensures with a barrier in front of the
/// store. What this thread has stored in device-visible memory is there before the device sees the
/// write: the zeros of a new ring, before the device learns its address. What this thread has
/// loaded from there was loaded before: an entry, before the device learns that it may write the
/// next one in its place.
pub trait Bar {
    /// Read the doubleword at `offset`, a multiple of four. All ones if there is no device, as a
    /// host bridge returns them after a surprise removal.
    fn read32(&mut self, offset: u32) -> u32;
    /// Write the doubleword at `offset`, a multiple of four.
    fn write32(&mut self, offset: u32, value: u32);
}

impl<B: Bar + ?Sized> Bar for Box<B> {
    fn read32(&mut self, offset: u32) -> u32 {
        (**self).read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        (**self).write32(offset, value);
    }
}

/// BAR0 as the driver's parts use it: an access fails once the device is known to be gone.
///
/// # Errors
/// [`DriverError::Gone`].
pub(crate) trait Registers {
    /// Read the doubleword at `offset`.
    fn read(&mut self, offset: u32) -> Result<u32, DriverError>;
    /// Write the doubleword at `offset`. That a device is gone shows when it is next read.
    fn write(&mut self, offset: u32, value: u32) -> Result<(), DriverError>;
}
