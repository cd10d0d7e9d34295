//! BAR0 as the driver sees it, and BAR0 of a device that may be removed at any time.
//!
//! ```text
//!  read --> all ones? -- no --> value
//!                |               ^
//!               yes --> IDENTITY-+    the device answers: the register holds all ones
//!                          |
//!                       all ones --> gone: no further access, every one fails
//! ```

use crate::device::error::DriverError;
use rnic_abi::registers::{IDENTITY, IDENTITY_VALUE, TABLE_COMMAND};

/// 32-bit register access; offsets as in `rnic_abi::registers`.
///
/// A write may be posted: it takes effect before any later access of this BAR does. It has Release
/// ordering, which an implementation over mapped registers ensures with a barrier before the
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

/// Accesses of BAR0 since the device was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// Reads: each takes as long as the bus takes both ways.
    pub reads: u64,
    /// Writes, which are posted.
    pub writes: u64,
    /// Those of them that began a table operation.
    pub table_operations: u64,
}

/// What a register reads as without a device.
const ALL_ONES: u32 = u32::MAX;
const _: () = assert!(IDENTITY_VALUE != ALL_ONES);

/// BAR0, and whether the device was found to be gone. A device that is back in its slot has neither
/// addresses nor state, so being gone lasts until the device is opened again.
#[derive(Debug)]
pub(crate) struct PresentBar<B> {
    bar: B,
    is_gone: bool,
    accesses: Accesses,
}

impl<B> PresentBar<B> {
    /// BAR0 of a device that is taken to be there.
    pub(crate) fn new(bar: B) -> Self {
        Self {
            bar,
            is_gone: false,
            accesses: Accesses::default(),
        }
    }

    /// Accesses so far.
    pub(crate) fn accesses(&self) -> Accesses {
        self.accesses
    }

    /// The BAR itself.
    pub(crate) fn into_inner(self) -> B {
        self.bar
    }

    /// The double behind it.
    #[cfg(test)]
    pub(crate) fn double(&mut self) -> &mut B {
        &mut self.bar
    }

    /// Fails once the device is known to be gone: before any error by which a caller would look
    /// for the reason in its own arguments.
    pub(crate) fn check(&self) -> Result<(), DriverError> {
        match self.is_gone {
            true => Err(DriverError::Gone),
            false => Ok(()),
        }
    }
}

impl<B: Bar> Registers for PresentBar<B> {
    fn read(&mut self, offset: u32) -> Result<u32, DriverError> {
        self.check()?;
        self.accesses.reads += 1;
        let value = self.bar.read32(offset);
        if value == ALL_ONES {
            self.is_gone = self.bar.read32(IDENTITY) == ALL_ONES;
            self.check()?;
        }
        Ok(value)
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), DriverError> {
        self.check()?;
        self.accesses.writes += 1;
        self.accesses.table_operations += u64::from(offset == TABLE_COMMAND);
        self.bar.write32(offset, value);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Tables;
    use rnic_abi::registers::{COUNTERS, MAX_PAYLOAD};

    #[test]
    fn a_register_may_hold_all_ones() {
        let mut tables = Tables::default();
        tables.counters.insert(3, ALL_ONES);
        let mut bar = PresentBar::new(tables);
        assert_eq!(bar.read(COUNTERS + 4 * 3), Ok(ALL_ONES));
        assert_eq!(bar.write(MAX_PAYLOAD, 1), Ok(()));
        assert_eq!(bar.double().registers[&MAX_PAYLOAD], 1);
        let accesses = Accesses {
            reads: 1,
            writes: 1,
            table_operations: 0,
        };
        assert_eq!(bar.accesses(), accesses);
    }

    #[test]
    fn a_device_that_is_gone_is_not_accessed_any_more() {
        let mut bar = PresentBar::new(Tables::default());
        assert_eq!(bar.read(COUNTERS), Ok(0));
        bar.double().gone_after = Some(0);
        assert_eq!(bar.read(COUNTERS), Err(DriverError::Gone));
        // It is back, but nothing of it is as it was.
        bar.double().gone_after = None;
        let accesses = bar.double().accesses;
        assert_eq!(bar.read(COUNTERS), Err(DriverError::Gone));
        assert_eq!(bar.write(MAX_PAYLOAD, 1), Err(DriverError::Gone));
        assert_eq!(bar.double().accesses, accesses);
    }

    /// The device goes between the two reads: whatever the first one returned, it is gone.
    #[test]
    fn a_device_that_goes_between_two_reads_is_gone() {
        let mut tables = Tables::default();
        tables.counters.insert(3, ALL_ONES);
        tables.gone_after = Some(1);
        let mut bar = PresentBar::new(tables);
        assert_eq!(bar.read(COUNTERS + 4 * 3), Err(DriverError::Gone));
    }
}
