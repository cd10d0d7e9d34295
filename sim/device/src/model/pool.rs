//! Open queues, and the pool of buffers and reads.

use rnic_abi::limits::RECEIVE_POOL;
use std::ops::Range;

/// An open queue's window of the pool.
#[derive(Clone, Debug)]
pub(super) struct Window {
    pub(super) first: usize,
    pub(super) entries_log2: u32,
    /// MSN after the last posted one.
    pub(super) tail: u32,
}

impl Window {
    pub(super) fn pool_entries(&self) -> Range<usize> {
        self.first..self.first + (1 << self.entries_log2)
    }

    pub(super) fn entry(&self, msn: u32) -> usize {
        self.first + (msn & ((1 << self.entries_log2) - 1)) as usize
    }
}

/// An entry of the pool.
#[derive(Copy, Clone, Debug, Default)]
pub(super) struct PoolEntry {
    pub(super) words: [u32; 4],
    /// It is posted: the model has it.
    pub(super) is_posted: bool,
}

/// The queues by `connection << 2 | queue`, and the pool.
#[derive(Debug)]
pub(super) struct Queues {
    pub(super) open: Vec<Option<Window>>,
    pub(super) pool: Vec<PoolEntry>,
}

impl Queues {
    /// So many queues, all closed.
    pub(super) fn new(queues: usize) -> Self {
        Self {
            open: vec![None; queues],
            pool: vec![PoolEntry::default(); RECEIVE_POOL],
        }
    }

    /// A message has been delivered, or a read is complete: the entry may be written again.
    pub(super) fn release(&mut self, pool_entry: usize) {
        if let Some(entry) = self.pool.get_mut(pool_entry) {
            entry.is_posted = false;
        }
    }
}
