//! A device of which one table operation does not end, in the first of two ways: it never begins,
//! or it has its effect and the device stays busy all the same.
use super::{NoMemory, Tables};
use crate::bar::Bar;
use crate::device::{Config, Device};
use rnic_abi::registers::{TABLE_BUSY, TABLE_COMMAND};

/// BAR0 of such a device; the operation after it is taken as if nothing had been.
#[derive(Debug, Default)]
pub(crate) struct Hanging {
    /// What the device holds.
    pub(crate) tables: Tables,
    /// Operations that end before the one that does not; none: all end.
    pub(crate) hangs_after: Option<usize>,
    /// The one that does not end has its effect.
    pub(crate) takes_effect: bool,
    is_busy: bool,
}

impl Bar for Hanging {
    fn read32(&mut self, offset: u32) -> u32 {
        match offset {
            TABLE_COMMAND if self.is_busy => TABLE_BUSY,
            _ => self.tables.read32(offset),
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        if offset == TABLE_COMMAND {
            self.is_busy = self.hangs_after == Some(0);
            self.hangs_after = self.hangs_after.and_then(|left| left.checked_sub(1));
            if self.is_busy && !self.takes_effect {
                return;
            }
        }
        self.tables.write32(offset, value);
    }
}

/// An open device; its operations end until `hangs_after` is set.
pub(crate) fn hanging_device() -> Device<Hanging, NoMemory> {
    Device::open(Hanging::default(), NoMemory, Config::default()).expect("opens")
}
