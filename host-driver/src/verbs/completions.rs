//! Completions, and what each of them ends.
//!
//! ```text
//!  the device's queue --+------------------------> poll
//!                       +-- drain --> backlog --^    before the number of a connection is free
//! ```

use super::ledger::{Entry, Ledger};
use crate::device::access::{Bar, Dma};
use crate::device::ids::QueueId;
use crate::device::rings::Completion;

impl<B: Bar, D: Dma> Ledger<B, D> {
    /// Whether a completion can be polled.
    pub(crate) fn has_entry(&self, number: QueueId) -> bool {
        let record = self.queues.get(&number);
        record.is_some_and(|record| !record.backlog.is_empty())
            || self.view().has_completion(number)
    }

    /// The next completion: of those that were drained, then of the device.
    pub(crate) fn next_entry(&mut self, number: QueueId) -> Option<Entry> {
        let record = self.queues.get_mut(&number)?;
        match record.backlog.pop_front() {
            Some(entry) => Some(entry),
            None => self.poll_device(number),
        }
    }

    /// Take every completion from the device, before the id of a connection is used again.
    pub(crate) fn drain_queue(&mut self, number: QueueId) {
        while let Some(entry) = self.poll_device(number) {
            let record = self.queues.get_mut(&number);
            let record = record.expect("it was just polled");
            record.backlog.push_back(entry);
        }
    }

    /// The device's next completion, with what it ends.
    fn poll_device(&mut self, number: QueueId) -> Option<Entry> {
        let completion = self.device().poll_completion_queue(number).ok()??;
        Some(self.resolve(completion))
    }

    fn resolve(&mut self, completion: Completion) -> Entry {
        match completion {
            Completion::Receive {
                connection,
                qn,
                msn,
                ..
            } => {
                let open = self.connections.get_mut(&connection);
                let memory = open.and_then(|open| open.posted.remove(&(qn, msn)));
                match memory {
                    Some(memory) => Entry::Received(completion, memory),
                    None => Entry::Other(completion),
                }
            }
            Completion::ReadResponse {
                connection,
                pool_entry,
                ..
            } => {
                let open = self.connections.get_mut(&connection);
                let read = open.and_then(|open| {
                    let (posted, _) = open.reads.front()?;
                    let is_oldest = posted.pool_entry == pool_entry;
                    is_oldest.then(|| open.reads.pop_front()).flatten()
                });
                let Some((posted, region)) = read else {
                    return Entry::Other(completion);
                };
                if let Some(region) = region {
                    // A region that was dropped meanwhile ends here; if it cannot, it stays.
                    let _ = self.release_region(region);
                }
                Entry::Read(completion, posted)
            }
            Completion::Error { .. } | Completion::Unknown(_) => Entry::Other(completion),
        }
    }
}
