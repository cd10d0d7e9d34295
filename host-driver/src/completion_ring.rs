//! The completion queue in memory, and the entries moved aside so that a table operation can end.
//!
//! ```text
//!  device -> [ queue in memory ] ------ next ----------------> a poll
//!                    |                                           ^
//!                    +-- full, and a table operation busy --> [ aside ]
//! ```
//!
//! Input: entries of 8 words (`rnic_abi::cqe`). Output: the same, in the device's order; reading an
//! entry frees its slot (`CQ_CONSUMER`).

use crate::bar::Registers;
use crate::dma::{Dma, DmaBuffer};
use crate::error::DriverError;
use crate::ring::{Ring, Shape};
use rnic_abi::cqe::CQE_OCTETS;
use rnic_abi::registers;
use std::collections::VecDeque;

/// Offset of the word with the phase, the last one of an entry.
const LAST_WORD_OFFSET: usize = CQE_OCTETS - 4;

/// Words of an entry.
pub(crate) type Entry = [u32; CQE_OCTETS / 4];

/// The queue, and the entries read ahead of their polls.
#[derive(Debug)]
pub(crate) struct CompletionRing {
    ring: Ring,
    /// Read from the queue and not polled yet, oldest first.
    aside: VecDeque<Entry>,
}

impl CompletionRing {
    /// An empty queue of `1 << entries_log2` entries.
    pub(crate) fn allocate(dma: &mut impl Dma, entries_log2: u32) -> Result<Self, DriverError> {
        let shape = Shape {
            slots_log2: entries_log2,
            slot_octets_log2: CQE_OCTETS.ilog2(),
            header_octets: CQE_OCTETS,
        };
        Ok(Self {
            ring: Ring::allocate(dma, "completion queue", shape)?,
            aside: VecDeque::new(),
        })
    }

    /// Set the device's registers to the queue.
    pub(crate) fn program(&self, bar: &mut impl Registers) -> Result<(), DriverError> {
        let [low, high] = self.ring.base();
        bar.write(registers::CQ_BASE_LOW, low)?;
        bar.write(registers::CQ_BASE_HIGH, high)?;
        bar.write(registers::CQ_CONSUMER, 0)?;
        bar.write(registers::CQ_ENTRIES_LOG2, self.ring.shape().slots_log2)
    }

    /// The queue's memory.
    pub(crate) fn buffer(&self) -> DmaBuffer {
        self.ring.buffer()
    }

    /// The next entry, if there is one; its slot is free from then on. It is in memory whether or
    /// not the device is still there.
    pub(crate) fn next(&mut self, bar: &mut impl Registers, dma: &impl Dma) -> Option<Entry> {
        let first = self.aside.pop_front();
        first.or_else(|| self.take(bar, dma))
    }

    /// `bar` for table operations. Some operations end only after the device has written everything
    /// in flight, completions included, and a full queue stops these. So while the device is busy
    /// and the queue full, its entries are moved aside for later polls. There are at most as many
    /// as were in flight when the operation began.
    pub(crate) fn draining<'a, B: Registers, D: Dma>(
        &'a mut self,
        bar: &'a mut B,
        dma: &'a D,
    ) -> DrainingBar<'a, B, D> {
        DrainingBar {
            completions: self,
            bar,
            dma,
        }
    }

    fn take(&mut self, bar: &mut impl Registers, dma: &impl Dma) -> Option<Entry> {
        let slot = self.ring.oldest(dma)?;
        let mut octets = [0; LAST_WORD_OFFSET];
        dma.read(slot.address, &mut octets);
        let mut words = [slot.last_word; CQE_OCTETS / 4];
        for (word, octets) in words.iter_mut().zip(octets.chunks_exact(4)) {
            *word = u32::from_le_bytes(octets.try_into().expect("four octets"));
        }
        // The write comes after the reads of the slot (`Bar`). A device that is gone needs none.
        let _ = bar.write(registers::CQ_CONSUMER, self.ring.consume());
        Some(words)
    }
}

/// BAR0 that drains the completion queue while a table operation is busy.
pub(crate) struct DrainingBar<'a, B, D> {
    completions: &'a mut CompletionRing,
    bar: &'a mut B,
    dma: &'a D,
}

impl<B: Registers, D: Dma> Registers for DrainingBar<'_, B, D> {
    fn read(&mut self, offset: u32) -> Result<u32, DriverError> {
        let word = self.bar.read(offset)?;
        let is_busy = offset == registers::TABLE_COMMAND && word & registers::TABLE_BUSY != 0;
        if is_busy && self.completions.ring.is_full(self.dma) {
            while let Some(entry) = self.completions.take(self.bar, self.dma) {
                self.completions.aside.push_back(entry);
            }
        }
        Ok(word)
    }

    fn write(&mut self, offset: u32, value: u32) -> Result<(), DriverError> {
        self.bar.write(offset, value)
    }
}

#[cfg(test)]
mod tests;
