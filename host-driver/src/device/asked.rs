//! What `verbs` asks of a device besides what anybody may.

use super::Device;
use crate::device::access::{table, Bar, Dma};
use crate::device::error::DriverError;
use crate::device::ids::{ConnectionId, QueueId};
use crate::device::tables::RegionConfig;

impl<B: Bar, D: Dma> Device<B, D> {
    /// Whether nothing was opened, registered or created since the device was opened.
    pub(crate) fn is_unused(&self) -> bool {
        self.connections.is_empty() && self.regions.is_empty() && self.completions.count() == 1
    }

    /// Whether a region or a window has the stag_index of `stag`.
    pub(crate) fn has_stag(&self, stag: u32) -> bool {
        self.regions.has_index(stag >> 8)
    }

    /// Entries of a completion queue; `None`: it does not exist.
    pub(crate) fn completion_entries(&self, queue: QueueId) -> Option<u32> {
        self.completions.entries(queue)
    }

    /// The region or window that `stag` leads to, if it is valid.
    pub(crate) fn valid_region(&mut self, stag: u32) -> Result<Option<RegionConfig>, DriverError> {
        let found = self.regions.find_valid(&mut self.bar, stag)?;
        Ok(found.copied())
    }

    /// Wait until what a connection has accepted so far is in memory, completions included. It
    /// reads the connection's entry of table `MPA`, which waits for segments before it, and fences
    /// with an entry of no region.
    pub(crate) fn settle(&mut self, connection: ConnectionId) -> Result<(), DriverError> {
        self.bar.check()?;
        table::read(&mut self.bar, rnic_abi::tables::MPA, connection.0.into())?;
        self.regions.fence(&mut self.bar)
    }

    /// Whether [`Device::poll_completion_queue`] would return a completion now.
    pub(crate) fn has_completion(&self, queue: QueueId) -> bool {
        self.completions.has_next(&self.dma, queue)
    }

    /// Have a connection, whose stream has failed by what the driver found, place nothing in
    /// regions any more. It stays open: TCP goes on to acknowledge.
    pub(crate) fn take_regions(&mut self, connection: ConnectionId) -> Result<(), DriverError> {
        self.bar.check()?;
        self.connections.take_regions(&mut self.bar, connection)
    }
}
