//! The completion queue in memory, and what was taken from it to let a table operation end.
//!
//! ```text
//!  device -> [ queue in memory ] ------ next ----------------> a poll
//!                    |                                           ^
//!                    +-- full, and a table operation busy --> [ aside ]
//! ```
//!
//! Enters: entries of 8 words (`rnic_abi::cqe`), each with the phase of its pass. Leaves: the same,
//! in the device's order; the place of each is given back (`CQ_CONSUMER`) when it is taken.

use crate::bar::Bar;
use crate::dma::{Dma, DmaBuffer};
use rnic_abi::cqe::{CQE_OCTETS, PHASE};
use rnic_abi::registers;
use std::collections::VecDeque;

/// Offset of the word with the phase, the last one of an entry.
pub(super) const LAST_WORD_OFFSET: usize = CQE_OCTETS - 4;

/// Words of an entry.
pub(super) type Entry = [u32; CQE_OCTETS / 4];

/// The queue and how far the driver has read it.
#[derive(Debug)]
pub(crate) struct CompletionRing {
    pub(crate) buffer: DmaBuffer,
    entries_log2: u32,
    consumer: u32,
    /// Taken from the queue and not yet polled, oldest first.
    aside: VecDeque<Entry>,
}

impl CompletionRing {
    /// An empty queue of `1 << entries_log2` entries in `buffer`.
    pub(crate) fn new(buffer: DmaBuffer, entries_log2: u32) -> Self {
        Self {
            buffer,
            entries_log2,
            consumer: 0,
            aside: VecDeque::new(),
        }
    }

    /// The next entry, if there is one; its place in the queue is given back at once.
    pub(super) fn next(&mut self, bar: &mut impl Bar, dma: &impl Dma) -> Option<Entry> {
        let first = self.aside.pop_front();
        first.or_else(|| self.take(bar, dma))
    }

    /// `bar` for a table operation. Some operations end only when what the device has under way is
    /// written, completions too, and these wait while their queue is full: if the device is busy
    /// behind a full queue, its entries are set aside for later polls. They are at most those that
    /// were under way when the operation began.
    pub(crate) fn beside<'a, B: Bar, D: Dma>(
        &'a mut self,
        bar: &'a mut B,
        dma: &'a D,
    ) -> Beside<'a, B, D> {
        Beside {
            ring: self,
            bar,
            dma,
        }
    }

    fn take(&mut self, bar: &mut impl Bar, dma: &impl Dma) -> Option<Entry> {
        let place = self.place(self.consumer);
        // The phase first, and alone: until it is this pass's the other words may be old.
        let last_word = dma.read_u32_acquire(place + LAST_WORD_OFFSET as u64);
        if !fresh(last_word & PHASE != 0, self.consumer, self.entries_log2) {
            return None;
        }
        let mut octets = [0; LAST_WORD_OFFSET];
        dma.read(place, &mut octets);
        let mut words = [last_word; CQE_OCTETS / 4];
        for (word, octets) in words.iter_mut().zip(octets.chunks_exact(4)) {
            *word = u32::from_le_bytes(octets.try_into().expect("four octets"));
        }
        self.consumer = self.consumer.wrapping_add(1);
        bar.write32(registers::CQ_CONSUMER, self.consumer);
        Some(words)
    }

    fn is_full(&self, dma: &impl Dma) -> bool {
        let last = self.consumer.wrapping_add((1 << self.entries_log2) - 1);
        let last_word = dma.read_u32_acquire(self.place(last) + LAST_WORD_OFFSET as u64);
        fresh(last_word & PHASE != 0, last, self.entries_log2)
    }

    /// Bus address of entry number `number`.
    fn place(&self, number: u32) -> u64 {
        let slot = number & ((1 << self.entries_log2) - 1);
        self.buffer.address + u64::from(slot) * CQE_OCTETS as u64
    }
}

/// BAR0, and the queue that is watched while a table operation is busy.
pub(crate) struct Beside<'a, B, D> {
    ring: &'a mut CompletionRing,
    bar: &'a mut B,
    dma: &'a D,
}

impl<B: Bar, D: Dma> Bar for Beside<'_, B, D> {
    fn read32(&mut self, offset: u32) -> u32 {
        let word = self.bar.read32(offset);
        let is_busy = offset == registers::TABLE_COMMAND && word & registers::TABLE_BUSY != 0;
        if is_busy && self.ring.is_full(self.dma) {
            while let Some(entry) = self.ring.take(self.bar, self.dma) {
                self.ring.aside.push_back(entry);
            }
        }
        word
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.bar.write32(offset, value);
    }
}

/// Has the device written entry number `consumer` of a ring? Its phase is 1 on the first pass and
/// turns at each wrap.
pub(crate) fn fresh(phase: bool, consumer: u32, entries_log2: u32) -> bool {
    let pass = consumer >> entries_log2;
    phase == (pass & 1 == 0)
}
