//! A completion queue in memory.
//!
//! Input: entries of 8 words (`rnic_abi::cqe`). Output: the same, in the device's order. Slots are
//! given back (`CQ_CONSUMER`) when a quarter of the queue was read, or as soon as the device could
//! need them: a register write for each entry would hold up other accesses.

use super::ring::{Ring, Shape};
use crate::device::access::{Dma, DmaBuffer, Registers};
use crate::device::error::DriverError;
use crate::device::ids::QueueId;
use rnic_abi::cqe::CQE_OCTETS;
use rnic_abi::registers;

/// Offset of the word with the phase, the last one of an entry.
const LAST_WORD_OFFSET: usize = CQE_OCTETS - 4;

/// Words of an entry.
pub(crate) type Entry = [u32; CQE_OCTETS / 4];

/// The queue, and how far the driver has read it.
#[derive(Debug)]
pub(crate) struct CompletionRing {
    queue: QueueId,
    ring: Ring,
    /// Entries polled whose slots were not given back yet.
    unreported: u32,
}

impl CompletionRing {
    /// An empty queue of `1 << entries_log2` entries.
    pub(crate) fn allocate(
        dma: &mut impl Dma,
        queue: QueueId,
        entries_log2: u32,
    ) -> Result<Self, DriverError> {
        let shape = Shape {
            slots_log2: entries_log2,
            slot_octets_log2: CQE_OCTETS.ilog2(),
            header_octets: CQE_OCTETS,
        };
        let ring = Ring::allocate(dma, &queue.memory_name(), shape)?;
        Ok(Self {
            queue,
            ring,
            unreported: 0,
        })
    }

    /// Set the device's registers to the queue: its size last, which switches it on.
    pub(crate) fn program(&self, bar: &mut impl Registers) -> Result<(), DriverError> {
        let [low, high] = self.ring.base();
        let entries_log2 = self.ring.shape().slots_log2;
        bar.write(self.register(registers::CQ_BASE_LOW), low)?;
        bar.write(self.register(registers::CQ_BASE_HIGH), high)?;
        bar.write(self.register(registers::CQ_CONSUMER), 0)?;
        bar.write(self.register(registers::CQ_ENTRIES_LOG2), entries_log2)
    }

    /// The queue's memory.
    pub(crate) fn buffer(&self) -> DmaBuffer {
        self.ring.buffer()
    }

    /// Its entries.
    pub(crate) fn entries(&self) -> u32 {
        1 << self.ring.shape().slots_log2
    }

    /// Entries polled so far, modulo 2^32.
    pub(crate) fn consumer(&self) -> u32 {
        self.ring.consumer()
    }

    /// Entries that the device has numbered and the driver has not polled, written or not.
    pub(crate) fn unpolled(&self, bar: &mut impl Registers) -> Result<u32, DriverError> {
        let producer = bar.read(self.register(registers::CQ_PRODUCER))?;
        Ok(producer.wrapping_sub(self.consumer()) & (u32::MAX >> 1))
    }

    /// Whether there is an entry.
    #[cfg(target_os = "linux")]
    pub(crate) fn has_next(&self, dma: &impl Dma) -> bool {
        self.ring.oldest(dma).is_some()
    }

    /// The next entry, if there is one; `spare` slots that were read need not be given back yet. It
    /// is in memory whether or not the device is still there.
    pub(crate) fn next(
        &mut self,
        bar: &mut impl Registers,
        dma: &impl Dma,
        spare: u32,
    ) -> Option<Entry> {
        let slot = self.ring.oldest(dma)?;
        let mut octets = [0; LAST_WORD_OFFSET];
        dma.read(slot.address, &mut octets);
        let mut words = [slot.last_word; CQE_OCTETS / 4];
        for (word, octets) in words.iter_mut().zip(octets.chunks_exact(4)) {
            *word = u32::from_le_bytes(octets.try_into().expect("four octets"));
        }
        self.ring.consume();
        self.unreported += 1;
        self.give_back(bar, spare.min(self.entries() / 4));
        Some(words)
    }

    /// Tell the device which slots are free, unless it knows of all but `spare` of them.
    pub(crate) fn give_back(&mut self, bar: &mut impl Registers, spare: u32) {
        if self.unreported <= spare {
            return;
        }
        self.unreported = 0;
        // The write comes after the reads of the slots (`Bar`). A device that is gone needs none.
        let consumer = self.register(registers::CQ_CONSUMER);
        let _ = bar.write(consumer, self.consumer());
    }

    /// As if `consumer` entries had been polled.
    #[cfg(test)]
    pub(crate) fn skip_to(&mut self, consumer: u32) {
        self.ring.skip_to(consumer);
    }

    /// The offset of one of the queue's registers.
    fn register(&self, register: u32) -> u32 {
        registers::cq_register(u32::from(self.queue.0), register)
    }
}

#[cfg(test)]
mod tests;
