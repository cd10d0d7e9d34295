//! Frames that are not an offloaded connection's.

use crate::bar::Bar;
use crate::completion::ring::fresh;
use crate::device::Device;
use crate::dma::Dma;
use rnic_abi::host_ring::{PHASE, SLOT_HEADER_OCTETS};
use rnic_abi::registers;

/// Offset of the word with the phase, the last one of a slot's header.
const LAST_WORD_OFFSET: u64 = SLOT_HEADER_OCTETS as u64 - 4;

impl<B: Bar, D: Dma> Device<B, D> {
    /// The next whole frame for the host's own stack, if there is one, without the FCS.
    pub fn poll_host_frame(&mut self) -> Option<Vec<u8>> {
        let slots = 1u32 << self.config.host_slots_log2;
        let slot = self.host_consumer & (slots - 1);
        let address =
            self.host_ring.address + (u64::from(slot) << self.config.host_slot_octets_log2);
        // The phase first, and alone: until it is this pass's the slot may hold anything.
        let last_word = self.dma.read_u32_acquire(address + LAST_WORD_OFFSET);
        if !fresh(
            last_word & PHASE != 0,
            self.host_consumer,
            self.config.host_slots_log2,
        ) {
            return None;
        }
        let mut octets = [0; 4];
        self.dma.read(address, &mut octets);
        let octets = u32::from_le_bytes(octets) as usize;
        // A length beyond the slot cannot come from a sound device; never read past the slot.
        let room = (1usize << self.config.host_slot_octets_log2) - SLOT_HEADER_OCTETS;
        let mut frame = vec![0; octets.min(room)];
        self.dma
            .read(address + SLOT_HEADER_OCTETS as u64, &mut frame);
        self.host_consumer = self.host_consumer.wrapping_add(1);
        self.bar
            .write32(registers::HOST_RING_CONSUMER, self.host_consumer);
        Some(frame)
    }
}
