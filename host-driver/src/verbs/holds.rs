//! Who holds what, and what ends with its last holder.

use super::ledger::{list, Entry, Ledger, Object, RegionRecord, WindowRecord};
use crate::device::access::{Bar, Dma};
use crate::device::error::DriverError;
use crate::device::ids::QueueId;

impl<B: Bar, D: Dma> Ledger<B, D> {
    /// One more needs it.
    pub(crate) fn hold_memory(&mut self, id: u64) {
        let record = self.memory.get_mut(&id);
        record.expect("its holder has said so").holders += 1;
    }

    /// One less needs it; the last one frees it.
    pub(crate) fn release_memory(&mut self, id: u64) {
        let Some(record) = self.memory.get_mut(&id) else {
            return;
        };
        record.holders -= 1;
        if record.holders == 0 {
            let buffer = record.buffer;
            self.memory.remove(&id);
            self.device().dma().free(buffer);
        }
    }

    /// One more is in the domain.
    pub(crate) fn hold_protection_domain(&mut self, number: u16) {
        *self.protection_domains.entry(number).or_default() += 1;
    }

    /// One less is in the domain; the last one gives its number back.
    pub(crate) fn release_protection_domain(&mut self, number: u16) {
        if let Some(holders) = self.protection_domains.get_mut(&number) {
            *holders -= 1;
            if *holders == 0 {
                self.protection_domains.remove(&number);
            }
        }
    }

    /// One more needs the region.
    pub(crate) fn hold_region(&mut self, id: u64) {
        let record = self.regions.get_mut(&id);
        record.expect("its holder has said so").holders += 1;
    }

    /// One less needs the region; the last one ends it.
    pub(crate) fn release_region(&mut self, id: u64) -> Result<(), DriverError> {
        let Some(record) = self.regions.get_mut(&id) else {
            return Ok(());
        };
        record.holders -= 1;
        if record.holders > 0 {
            return Ok(());
        }
        self.fence_region(id)?;
        self.forget_region(id);
        Ok(())
    }

    /// Take the region from the device.
    pub(super) fn fence_region(&mut self, id: u64) -> Result<(), DriverError> {
        let RegionRecord {
            config,
            is_registered,
            ..
        } = self.regions[&id];
        if is_registered {
            self.device().deregister_region(config.stag)?;
        }
        Ok(())
    }

    /// The device does not have the region any more.
    pub(crate) fn forget_region(&mut self, id: u64) {
        if let Some(record) = self.regions.remove(&id) {
            self.release_memory(record.memory);
            self.release_protection_domain(record.config.protection_domain);
        }
    }

    /// Refuses a region that others hold, and names them.
    pub(super) fn expect_unshared(&self, id: u64) -> Result<(), DriverError> {
        let record = self.regions[&id];
        if record.holders == 1 {
            return Ok(());
        }
        let windows = self.windows.values().filter(|window| window.region == id);
        let mut names: Vec<String> = windows
            .map(|window| Object::Window(window.stag).to_string())
            .collect();
        for (connection, open) in &self.connections {
            let reads = open.reads.iter().filter(|(_, region)| *region == Some(id));
            match reads.count() {
                0 => {}
                1 => names.push(format!("a read of connection {}", connection.0)),
                count => names.push(format!("{count} reads of connection {}", connection.0)),
            }
        }
        Err(DriverError::InUse {
            what: Object::Region(record.config.stag).to_string(),
            by: list(names),
        })
    }

    /// Take the window from the device.
    pub(super) fn unbind(&mut self, id: u64) -> Result<(), DriverError> {
        let WindowRecord { stag, is_bound, .. } = self.windows[&id];
        if is_bound {
            self.device().unbind_window(stag)?;
        }
        Ok(())
    }

    /// The device does not have the window any more.
    pub(crate) fn forget_window(&mut self, id: u64) -> Result<(), DriverError> {
        match self.windows.remove(&id) {
            Some(record) => self.release_region(record.region),
            None => Ok(()),
        }
    }

    /// One more uses the queue.
    pub(crate) fn hold_queue(&mut self, number: QueueId) {
        let record = self.queues.get_mut(&number);
        record.expect("its holder has said so").holders += 1;
    }

    /// One less uses the queue. What was not polled is dropped after the last one.
    pub(crate) fn release_queue(&mut self, number: QueueId) {
        let Some(record) = self.queues.get_mut(&number) else {
            return;
        };
        record.holders -= 1;
        if record.holders > 0 {
            return;
        }
        for entry in std::mem::take(&mut record.backlog) {
            if let Entry::Received(_, memory) = entry {
                self.release_memory(memory);
            }
        }
    }
}
