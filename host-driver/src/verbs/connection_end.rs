//! The end of a connection, and of what goes with it.

use super::ledger::Ledger;
use crate::device::access::{Bar, Dma};
use crate::device::error::DriverError;
use crate::device::ids::ConnectionId;

impl<B: Bar, D: Dma> Ledger<B, D> {
    /// End a connection, and what is bound to it.
    pub(crate) fn close_connection(&mut self, number: ConnectionId) -> Result<(), DriverError> {
        let closed = self.device().close_connection(number);
        self.note_bound(number);
        closed?;
        let record = self.connections.get(&number);
        let queue = record.expect("it was open").queue;
        // Its completions are all there: the next connection of this number must not find them.
        self.drain_queue(queue);
        let record = self.connections.remove(&number);
        let record = record.expect("it was open");
        for memory in record.posted.into_values().chain(record.stray) {
            self.release_memory(memory);
        }
        let reads = record.reads.into_iter().filter_map(|(_, region)| region);
        for region in reads.chain(record.unsure_reads) {
            // A region that was dropped before and cannot be fenced stays in the ledger.
            let _ = self.release_region(region);
        }
        self.release_queue(queue);
        self.release_protection_domain(record.protection_domain);
        Ok(())
    }

    /// The device has closed regions and windows with a connection, or some of them.
    fn note_bound(&mut self, number: ConnectionId) {
        let windows = self.windows.iter();
        let windows: Vec<u64> = windows
            .filter(|(_, window)| window.connection == number && window.is_bound)
            .filter(|(_, window)| !self.view().has_stag(window.stag))
            .map(|(&id, _)| id)
            .collect();
        let regions = self.regions.iter();
        let regions: Vec<u64> = regions
            .filter(|(_, region)| region.config.connection == Some(number) && region.is_registered)
            .filter(|(_, region)| !self.view().has_stag(region.config.stag))
            .map(|(&id, _)| id)
            .collect();
        for &id in &regions {
            let record = self.regions.get_mut(&id);
            record.expect("it was just found").is_registered = false;
        }
        for id in windows {
            let record = self.windows.get_mut(&id);
            record.expect("it was just found").is_bound = false;
            // Its object has gone, and could not unbind it then.
            if !self.handles.contains_key(&id) {
                let _ = self.forget_window(id);
            }
        }
        for id in regions {
            let is_left = self.regions.get(&id).is_some_and(|left| left.holders == 0);
            if is_left {
                self.forget_region(id);
            }
        }
    }
}
