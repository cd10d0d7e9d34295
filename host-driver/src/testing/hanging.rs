//! A device on which one table operation hangs: either without effect, or with its effect while the
//! device stays busy. It is none of the short ones, for which the device keeps accesses waiting.
use super::{registers_of, Tables};
use crate::device::access::Bar;
use rnic_abi::registers::{TABLE_BUSY, TABLE_COMMAND};
use rnic_abi::tables::is_short;

/// BAR0 of such a device; later operations work again.
#[derive(Debug, Default)]
pub(crate) struct Hanging {
    /// What the device holds.
    pub(crate) tables: Tables,
    /// Operations, but for short ones, that end before the one that hangs; `None`: none hangs.
    pub(crate) hangs_after: Option<usize>,
    /// The hanging operation has its effect.
    pub(crate) takes_effect: bool,
    pub(crate) is_busy: bool,
}

registers_of!(Hanging);

impl Bar for Hanging {
    fn read32(&mut self, offset: u32) -> u32 {
        match offset {
            TABLE_COMMAND if self.is_busy => TABLE_BUSY,
            _ => self.tables.read32(offset),
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        if offset == TABLE_COMMAND && !is_short(value) {
            self.is_busy = self.hangs_after == Some(0);
            self.hangs_after = self.hangs_after.and_then(|left| left.checked_sub(1));
            if self.is_busy && !self.takes_effect {
                return;
            }
        }
        self.tables.write32(offset, value);
        if self.is_busy {
            // Whoever has seen it hang goes on all the same.
            self.tables.is_unread = false;
        }
    }
}
