//! The host receive ring: frames that belong to no offloaded connection.
//!
//! Input: slots of a header and a frame (`rnic_abi::host_ring`). Output: the frames, in order;
//! reading one frees its slot (`HOST_RING_CONSUMER`).

use super::ring::{Ring, Shape};
use crate::device::access::{Dma, DmaBuffer, Registers};
use crate::device::error::DriverError;
use rnic_abi::host_ring::SLOT_HEADER_OCTETS;
use rnic_abi::registers;

/// The ring in memory.
#[derive(Debug)]
pub(crate) struct HostRing {
    ring: Ring,
}

impl HostRing {
    /// An empty ring of `1 << slots_log2` slots.
    pub(crate) fn allocate(
        dma: &mut impl Dma,
        slots_log2: u32,
        slot_octets_log2: u32,
    ) -> Result<Self, DriverError> {
        let shape = Shape {
            slots_log2,
            slot_octets_log2,
            header_octets: SLOT_HEADER_OCTETS,
        };
        let ring = Ring::allocate(dma, "host receive ring", shape)?;
        Ok(Self { ring })
    }

    /// Set the device's registers to the ring.
    pub(crate) fn program(&self, bar: &mut impl Registers) -> Result<(), DriverError> {
        let ([low, high], shape) = (self.ring.base(), self.ring.shape());
        bar.write(registers::HOST_RING_BASE_LOW, low)?;
        bar.write(registers::HOST_RING_BASE_HIGH, high)?;
        bar.write(registers::HOST_RING_CONSUMER, 0)?;
        bar.write(
            registers::HOST_RING_SLOT_OCTETS_LOG2,
            shape.slot_octets_log2,
        )?;
        bar.write(registers::HOST_RING_SLOTS_LOG2, shape.slots_log2)
    }

    /// The ring's memory.
    pub(crate) fn buffer(&self) -> DmaBuffer {
        self.ring.buffer()
    }

    /// The next frame, if there is one, without the FCS. It is in memory whether or not the device
    /// is still there.
    pub(crate) fn next(&mut self, bar: &mut impl Registers, dma: &impl Dma) -> Option<Vec<u8>> {
        let slot = self.ring.oldest(dma)?;
        let mut octets = [0; 4];
        dma.read(slot.address, &mut octets);
        let octets = u32::from_le_bytes(octets) as usize;
        // A working device writes no length beyond the slot; a broken one must not make the driver
        // read past it.
        let room = (1usize << self.ring.shape().slot_octets_log2) - SLOT_HEADER_OCTETS;
        let mut frame = vec![0; octets.min(room)];
        dma.read(slot.address + SLOT_HEADER_OCTETS as u64, &mut frame);
        // The write comes after the reads of the slot (`Bar`). A device that is gone needs none.
        let _ = bar.write(registers::HOST_RING_CONSUMER, self.ring.consume());
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::memory::{Access, Memory};
    use crate::testing::Tables;
    use rnic_abi::host_ring::PHASE;

    /// A ring of two slots of 128 octets.
    fn ring() -> (HostRing, Tables, Memory) {
        let mut memory = Memory::new(1);
        let ring = HostRing::allocate(&mut memory, 1, 7).expect("one allocation");
        (ring, Tables::default(), memory)
    }

    /// The words of a slot become visible one by one while the driver polls: the frame, then its
    /// header, whose last word has the phase.
    #[test]
    fn a_host_frame_is_read_only_after_its_phase() {
        let (mut ring, mut bar, memory) = ring();
        let slot = ring.buffer().address;
        let frame = [(slot + 16, 0x0403_0201), (slot + 20, 0x0807_0605)];
        let header = [8, 0, 0, PHASE].into_iter().zip(0..);
        let header = header.map(|(word, i)| (slot + 4 * i, word));
        memory
            .pending
            .replace(frame.into_iter().chain(header).collect());
        let mut found: Vec<_> = (0..6).map(|_| ring.next(&mut bar, &memory)).collect();
        assert_eq!(found.pop(), Some(Some(vec![1, 2, 3, 4, 5, 6, 7, 8])));
        assert_eq!(found, vec![None; 5]);
        let accesses = memory.accesses.borrow();
        let phases = accesses
            .iter()
            .take_while(|&&access| access == Access::Acquire(slot + 12));
        assert_eq!(phases.count(), 6);
        assert_eq!(
            accesses[6..],
            [Access::Read(slot, 4), Access::Read(slot + 16, 8)]
        );
    }

    #[test]
    fn a_length_beyond_the_slot_is_cut_to_it() {
        let (mut ring, mut bar, mut memory) = ring();
        let slot = ring.buffer().address;
        memory.write(slot, &4096u32.to_le_bytes());
        memory.write(slot + 12, &PHASE.to_le_bytes());
        let frame = ring.next(&mut bar, &memory).expect("the phase is set");
        assert_eq!(frame.len(), 128 - SLOT_HEADER_OCTETS);
    }
}
