//! What `verbs` asks of the device's parts besides.

use super::Device;
use crate::bar::Bar;
use crate::completion_queue::CompletionQueue;
use crate::dma::Dma;

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
    pub(crate) fn completion_entries(&self, queue: CompletionQueue) -> Option<u32> {
        self.completions.entries(queue)
    }

    /// Whether [`Device::poll_completion_queue`] would return a completion now.
    pub(crate) fn has_completion(&self, queue: CompletionQueue) -> bool {
        self.completions.has_next(&self.dma, queue)
    }
}
