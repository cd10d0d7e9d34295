//! The completion queues of a device, and what may still arrive in each.
//!
//! ```text
//!  open a connection --> 1 entry, for its error ------+
//!  open a queue of it --> an entry for each buffer ---+--> at most as many as the queue has
//!  close it --> those that are not polled yet --------+
//! ```
//!
//! The device refuses an FPDU whose entry has no room and stops its connection (`rnic_abi::cqe`).
//! So that this never happens, a queue promises room for every entry that may arrive before it is
//! polled: one for each buffer and outstanding read that a connection may have posted, one for the
//! error that stops it, and those that closed connections have left. What would need more is
//! refused when it is opened. Slots beyond what is promised are those that need not be given back
//! to the device at once.

use super::completion_ring::{CompletionRing, Entry};
use crate::device::access::{Dma, DmaBuffer, Registers};
use crate::device::error::DriverError;
use crate::device::ids::{ConnectionId, QueueId};
use rnic_abi::limits::COMPLETION_QUEUES;
use rnic_abi::registers;
use std::collections::BTreeMap;

/// log2 of the entries of a completion queue, as an error names it.
pub(crate) const ENTRIES_LOG2: &str = "log2 of the completion queue's entries";

/// Refuses a size that the device does not support.
pub(crate) fn check_size(entries_log2: u32) -> Result<(), DriverError> {
    match (1..=16).contains(&entries_log2) {
        true => Ok(()),
        false => Err(DriverError::Configuration {
            what: ENTRIES_LOG2,
            value: u64::from(entries_log2),
            allowed: "1..=16",
        }),
    }
}

/// An entry that was polled.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Polled {
    pub(crate) words: Entry,
    /// A connection that is closed has left it: what it names may be another one's by now.
    pub(crate) is_left: bool,
}

/// Entries that a closed connection has left.
#[derive(Copy, Clone, Debug)]
struct Left {
    connection: ConnectionId,
    /// Number of the entry after the last one it can have caused, modulo 2^32.
    end: u32,
    entries: u32,
}

/// A queue, and what it has promised.
#[derive(Debug)]
struct Queue {
    ring: CompletionRing,
    /// Entries that each open connection may cause before they are polled.
    promised: BTreeMap<ConnectionId, u32>,
    /// All of these.
    promised_sum: u32,
    left: Vec<Left>,
}

impl Queue {
    fn new(ring: CompletionRing) -> Self {
        Self {
            ring,
            promised: BTreeMap::new(),
            promised_sum: 0,
            left: Vec::new(),
        }
    }

    /// Entries that may arrive or have arrived and are not polled.
    fn due(&self) -> u32 {
        let left: u32 = self.left.iter().map(|left| left.entries).sum();
        self.promised_sum + left
    }

    /// Slots that neither hold an entry nor will, whatever arrives.
    fn spare(&self) -> u32 {
        self.ring.entries().saturating_sub(self.due())
    }
}

/// The queues that exist.
#[derive(Debug)]
pub(crate) struct CompletionQueues {
    queues: BTreeMap<QueueId, Queue>,
}

impl CompletionQueues {
    /// Queue 0, not programmed yet.
    pub(crate) fn allocate(dma: &mut impl Dma, entries_log2: u32) -> Result<Self, DriverError> {
        let first = QueueId::default();
        let ring = CompletionRing::allocate(dma, first, entries_log2)?;
        Ok(Self {
            queues: BTreeMap::from([(first, Queue::new(ring))]),
        })
    }

    /// Set the device's registers to the queues.
    pub(crate) fn program(&self, bar: &mut impl Registers) -> Result<(), DriverError> {
        let mut queues = self.queues.values();
        queues.try_for_each(|queue| queue.ring.program(bar))
    }

    /// Add `queue`, with `1 << entries_log2` entries.
    pub(crate) fn create(
        &mut self,
        bar: &mut impl Registers,
        dma: &mut impl Dma,
        queue: QueueId,
        entries_log2: u32,
    ) -> Result<(), DriverError> {
        check_size(entries_log2)?;
        if usize::from(queue.0) >= COMPLETION_QUEUES {
            return Err(DriverError::unknown_queue(queue));
        }
        if self.queues.contains_key(&queue) {
            return Err(DriverError::Duplicate {
                what: "the completion queue",
            });
        }
        let ring = CompletionRing::allocate(dma, queue, entries_log2)?;
        // Only a device that is gone does not take it; then no memory is freed.
        ring.program(bar)?;
        self.queues.insert(queue, Queue::new(ring));
        Ok(())
    }

    /// Queues that exist.
    #[cfg(target_os = "linux")]
    pub(crate) fn count(&self) -> usize {
        self.queues.len()
    }

    /// Entries of a queue; `None`: it does not exist.
    #[cfg(target_os = "linux")]
    pub(crate) fn entries(&self, queue: QueueId) -> Option<u32> {
        self.queues.get(&queue).map(|known| known.ring.entries())
    }

    /// Whether [`CompletionQueues::next`] would return an entry now.
    #[cfg(target_os = "linux")]
    pub(crate) fn has_next(&self, dma: &impl Dma, queue: QueueId) -> bool {
        let known = self.queues.get(&queue);
        known.is_some_and(|known| known.ring.has_next(dma))
    }

    /// The memory of every queue.
    pub(crate) fn buffers(&self) -> impl Iterator<Item = DmaBuffer> + '_ {
        self.queues.values().map(|queue| queue.ring.buffer())
    }

    /// Is there room in `queue` for so many entries more? Then the device knows of it.
    pub(crate) fn expect_room(
        &mut self,
        bar: &mut impl Registers,
        queue: QueueId,
        entries: u32,
    ) -> Result<(), DriverError> {
        let known = self
            .queues
            .get_mut(&queue)
            .ok_or_else(|| DriverError::unknown_queue(queue))?;
        let (needed, has) = (known.due() + entries, known.ring.entries());
        if needed > has {
            return Err(DriverError::CompletionQueueSize {
                queue: queue.0,
                entries: has,
                needed,
            });
        }
        known.ring.give_back(bar, has - needed);
        Ok(())
    }

    /// An open connection may cause so many entries more.
    pub(crate) fn promise(&mut self, queue: QueueId, connection: ConnectionId, entries: u32) {
        if let Some(queue) = self.queues.get_mut(&queue) {
            *queue.promised.entry(connection).or_default() += entries;
            queue.promised_sum += entries;
        }
    }

    /// Entries of `queue` that the device has numbered and the driver has not polled.
    pub(crate) fn unpolled(
        &self,
        bar: &mut impl Registers,
        queue: QueueId,
    ) -> Result<u32, DriverError> {
        let known = self
            .queues
            .get(&queue)
            .ok_or_else(|| DriverError::unknown_queue(queue))?;
        known.ring.unpolled(bar)
    }

    /// A connection is closed. Entries of it are among those that were `unpolled` when the device
    /// had ended its stream; these count until they are polled.
    pub(crate) fn close(&mut self, queue: QueueId, connection: ConnectionId, unpolled: u32) {
        let Some(queue) = self.queues.get_mut(&queue) else {
            return;
        };
        let promised = queue.promised.remove(&connection).unwrap_or(0);
        queue.promised_sum -= promised;
        if unpolled > 0 {
            queue.left.push(Left {
                connection,
                end: queue.ring.consumer().wrapping_add(unpolled),
                entries: promised.min(unpolled),
            });
        }
    }

    /// The next entry of `queue`, if there is one.
    pub(crate) fn next(
        &mut self,
        bar: &mut impl Registers,
        dma: &impl Dma,
        queue: QueueId,
    ) -> Result<Option<Polled>, DriverError> {
        let known = self.queues.get_mut(&queue);
        let known = known.ok_or_else(|| DriverError::unknown_queue(queue))?;
        let spare = known.spare();
        let Some(words) = known.ring.next(bar, dma, spare) else {
            return Ok(None);
        };
        let connection = ConnectionId((words[0] >> 16) as u16);
        // The entry's own number is below each `end` that is left.
        let is_left = known.left.iter().any(|left| left.connection == connection);
        let consumer = known.ring.consumer();
        let is_due = |left: &Left| left.end.wrapping_sub(consumer) as i32 > 0;
        known.left.retain(is_due);
        Ok(Some(Polled { words, is_left }))
    }

    /// The queues that had no room for an entry.
    pub(crate) fn overflowed(&self, bar: &mut impl Registers) -> Result<Vec<QueueId>, DriverError> {
        let bits = bar.read(registers::CQ_OVERFLOW)?;
        let all = (0..COMPLETION_QUEUES as u8).map(QueueId);
        Ok(all.filter(|queue| bits >> queue.0 & 1 == 1).collect())
    }
}

#[cfg(test)]
mod tests;
