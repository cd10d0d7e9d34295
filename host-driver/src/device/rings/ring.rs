//! A ring in memory that the device fills and the driver empties: completions, host frames.
//!
//! The last doubleword of a slot's header holds the phase bit. It is 1 on the first pass over the
//! ring and inverts at each wrap. The device writes it after everything else of the slot, so the
//! driver reads it first, with Acquire ordering. It gives the slot back through the consumer
//! register, whose write has Release ordering: after its reads of the slot.

use crate::device::access::{Dma, DmaBuffer};
use crate::device::error::DriverError;
use rnic_abi::{cqe, host_ring};

/// Phase bit of a slot's last header word.
const PHASE: u32 = cqe::PHASE;
const _: () = assert!(PHASE == host_ring::PHASE);

/// Size of a ring and of its slots.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Shape {
    pub(crate) slots_log2: u32,
    pub(crate) slot_octets_log2: u32,
    /// Octets of a slot's header, which ends in the word with the phase.
    pub(crate) header_octets: usize,
}

/// A ring, and how far the driver has read it.
#[derive(Debug)]
pub(crate) struct Ring {
    buffer: DmaBuffer,
    shape: Shape,
    consumer: u32,
}

/// A slot that the device has written.
pub(crate) struct Slot {
    /// Bus address.
    pub(crate) address: u64,
    /// The word with the phase.
    pub(crate) last_word: u32,
}

impl Ring {
    /// An empty ring in memory of its own.
    pub(crate) fn allocate(
        dma: &mut impl Dma,
        name: &str,
        shape: Shape,
    ) -> Result<Self, DriverError> {
        let octets = 1 << (shape.slots_log2 + shape.slot_octets_log2);
        Ok(Self {
            buffer: dma.allocate(name, octets, 4096)?,
            shape,
            consumer: 0,
        })
    }

    /// The ring's memory.
    pub(crate) fn buffer(&self) -> DmaBuffer {
        self.buffer
    }

    /// Size of the ring.
    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Bus address of the ring as two register values, low half first.
    pub(crate) fn base(&self) -> [u32; 2] {
        [
            self.buffer.address as u32,
            (self.buffer.address >> 32) as u32,
        ]
    }

    /// The oldest slot that the device has written and the driver has not consumed, if any.
    pub(crate) fn oldest(&self, dma: &impl Dma) -> Option<Slot> {
        let (shape, number) = (self.shape, self.consumer);
        let index = number & ((1 << shape.slots_log2) - 1);
        let address = self.buffer.address + (u64::from(index) << shape.slot_octets_log2);
        let last_word = dma.read_u32_acquire(address + shape.header_octets as u64 - 4);
        let expected = number >> shape.slots_log2 & 1 == 0;
        let is_written = (last_word & PHASE != 0) == expected;
        is_written.then_some(Slot { address, last_word })
    }

    /// Slots consumed so far, modulo 2^32.
    pub(crate) fn consumer(&self) -> u32 {
        self.consumer
    }

    /// As if `consumer` slots had been consumed.
    #[cfg(test)]
    pub(crate) fn skip_to(&mut self, consumer: u32) {
        self.consumer = consumer;
    }

    /// Consume the oldest slot; returns the new value of the consumer register.
    pub(crate) fn consume(&mut self) -> u32 {
        self.consumer = self.consumer.wrapping_add(1);
        self.consumer
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::memory::Memory;

    const SHAPE: Shape = Shape {
        slots_log2: 1,
        slot_octets_log2: 5,
        header_octets: 16,
    };

    #[test]
    fn the_phase_inverts_at_each_wrap() {
        let mut memory = Memory::new(1);
        let mut ring = Ring::allocate(&mut memory, "ring", SHAPE).expect("one allocation");
        for number in 0..9u32 {
            assert!(ring.oldest(&memory).is_none(), "slot {number}");
            let phase = if number & 2 == 0 { PHASE } else { 0 };
            let address = ring.buffer().address + u64::from(number & 1) * 32;
            memory.write(address + 12, &(phase | number).to_le_bytes());
            let slot = ring.oldest(&memory).expect("it is written");
            assert_eq!((slot.address, slot.last_word), (address, phase | number));
            assert_eq!(ring.consume(), number + 1);
        }
    }
}
