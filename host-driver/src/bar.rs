//! BAR0 as the driver sees it.

/// 32-bit register access; offsets as in `rnic_abi::registers`.
///
/// A write may be posted: it takes effect before any later access of this BAR does.
pub trait Bar {
    /// Read the doubleword at `offset`, a multiple of four.
    fn read32(&mut self, offset: u32) -> u32;
    /// Write the doubleword at `offset`, a multiple of four.
    fn write32(&mut self, offset: u32, value: u32);
}
