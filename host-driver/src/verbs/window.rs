//! A window: a part of a region that is open to one connection, under an STag of its own.

use super::ledger::{expect_same, Core, Object, WindowRecord};
use super::refused::Refused;
use super::region::{check_rights, may_have_taken_effect, MemoryRegion};
use super::rights::Rights;
use crate::bus::{FunctionBar, FunctionMemory};
use crate::device::access::{Bar, Dma};
use crate::device::error::DriverError;
use crate::device::ids::ConnectionId;
use crate::device::tables::WindowConfig;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// How a window is bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowOptions {
    /// What the peer may do with it; the region itself may have no rights.
    pub rights: Rights,
    /// Its octets, as offsets in the region.
    pub range: Range<u64>,
    /// Tagged Offset of its first octet.
    pub tagged_offset: u64,
    /// Its STag; `None`: one that no peer can guess.
    pub stag: Option<u32>,
}

/// A part of a region that is open to one connection. It ends when it is closed or dropped, or with
/// its connection; its region lives as long as it does.
///
/// ```no_run
/// use rnic_driver::verbs::{Connection, MemoryRegion, Rights, WindowOptions};
/// use rnic_driver::DriverError;
///
/// /// The peer may write the first page once the window is bound, until it is invalidated.
/// fn lend(connection: &Connection, region: &MemoryRegion) -> Result<(), DriverError> {
///     let window = connection.bind(
///         region,
///         &WindowOptions {
///             rights: Rights::REMOTE_WRITE | Rights::REMOTE_INVALIDATE,
///             range: 0..4096,
///             tagged_offset: 0,
///             stag: None,
///         },
///     )?;
///     println!("write to {:#010x}", window.stag());
///     // ... a Send with Invalidate arrives: window.is_valid()? is false ...
///     window.close()?;
///     Ok(())
/// }
/// ```
pub struct MemoryWindow<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    core: Arc<Core<B, D>>,
    id: u64,
    stag: u32,
}

impl<B: Bar, D: Dma> MemoryWindow<B, D> {
    /// Bind a part of `region` to a connection.
    pub(crate) fn bind(
        core: &Arc<Core<B, D>>,
        connection: ConnectionId,
        region: &MemoryRegion<B, D>,
        options: &WindowOptions,
    ) -> Result<Self, DriverError> {
        expect_same(core, region.core(), "region")?;
        let WindowOptions { rights, range, .. } = options;
        let mut ledger = core.lock();
        let record = ledger.regions[&region.id()];
        check_rights(ledger.place(record.memory).access, *rights)?;
        if !record.is_registered {
            return Err(DriverError::Unknown {
                what: "region with STag",
                id: record.config.stag.into(),
            });
        }
        let octets = range.end.checked_sub(range.start);
        let octets = octets.ok_or(DriverError::Configuration {
            what: "the end of the window's range",
            value: range.end,
            allowed: "not below its start",
        })?;
        let stag = options.stag.map_or_else(|| ledger.view().draw_stag(), Ok)?;
        let bound = ledger.device().bind_window(&WindowConfig {
            stag,
            region: record.config.stag,
            connection,
            rights: rights.bits(),
            tagged_offset: options.tagged_offset,
            offset: range.start,
            octets,
        });
        if let Err(error) = bound {
            if may_have_taken_effect(&error) {
                // The device may have the window: the region is never taken for fenced.
                ledger.hold_region(region.id());
            }
            return Err(error);
        }
        ledger.hold_region(region.id());
        let id = ledger.add_handle(Object::Window(stag));
        let record = WindowRecord {
            stag,
            region: region.id(),
            connection,
            is_bound: true,
        };
        ledger.windows.insert(id, record);
        drop(ledger);
        Ok(Self {
            core: Arc::clone(core),
            id,
            stag,
        })
    }

    /// Its STag.
    pub fn stag(&self) -> u32 {
        self.stag
    }

    /// Whether the peer can use its STag: it may have invalidated it, or the connection was closed.
    /// Such a window is of no use any more; close it.
    ///
    /// # Errors
    /// [`DriverError::TableTimeout`], [`DriverError::Gone`].
    pub fn is_valid(&self) -> Result<bool, DriverError> {
        let mut ledger = self.core.lock();
        match ledger.windows[&self.id].is_bound {
            true => ledger.device().region_valid(self.stag),
            false => Ok(false),
        }
    }

    /// Unbind it. When this returns, the device writes nothing more under its STag.
    ///
    /// # Errors
    /// The window, as it was, and [`DriverError::TableTimeout`] or [`DriverError::Gone`].
    pub fn close(self) -> Result<(), Refused<Self>> {
        let core = Arc::clone(&self.core);
        let mut ledger = core.lock();
        if let Err(error) = ledger.unbind(self.id) {
            drop(ledger);
            return Err(Refused::new(self, error));
        }
        ledger.handles.remove(&self.id);
        // The region itself was dropped before, if this ends it. If that fails, it stays.
        let _ = ledger.forget_window(self.id);
        Ok(())
    }
}

impl<B: Bar, D: Dma> Drop for MemoryWindow<B, D> {
    fn drop(&mut self) {
        let mut ledger = self.core.lock();
        // Whoever closed it has taken its handle.
        if ledger.handles.remove(&self.id).is_some() {
            // A window that could not be unbound stays in the ledger, and holds its region.
            if ledger.unbind(self.id).is_ok() {
                let _ = ledger.forget_window(self.id);
            }
        }
    }
}

impl<B: Bar, D: Dma> fmt::Debug for MemoryWindow<B, D> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "MemoryWindow({:#010x})", self.stag)
    }
}
