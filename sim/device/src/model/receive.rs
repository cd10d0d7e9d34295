//! A frame: through the model, then into memory, queues and rings.
//!
//! ```text
//!  frame --> enabled? --> Model --> placements --> completion entries --> slot --> events
//! ```
//!
//! What an entry announces is in memory before the entry.

use super::DeviceModel;
use rnic_abi::counters::Counter;
use rnic_abi::cqe::{CQE_OCTETS, KIND_ERROR, KIND_RECEIVE};
use rnic_abi::host_ring::SLOT_HEADER_OCTETS;
use rnic_abi::interrupts::ROUTE_HOST;
use rnic_model::placement::Placement;
use rnic_model::Entry;

/// Octets of a page of memory: a write does not cross its end, so what is not mapped is found page
/// by page.
const PAGE_OCTETS: u64 = 4096;
const OPCODE_SEND_INVALIDATE: u32 = 4;
const OPCODE_SEND_SE_INVALIDATE: u32 = 6;

impl DeviceModel {
    /// A frame of the wire; while frames are looped back it is dropped before all else.
    pub(super) fn receive_from_wire(&mut self, frame: &[u8], error: bool) {
        match self.registers.loopback {
            true => self.model.count_outside(Counter::DropLoopback),
            false => self.receive(frame, error),
        }
    }

    /// A frame of the wire, or one that is looped back.
    pub(super) fn receive(&mut self, frame: &[u8], error: bool) {
        self.now += frame.len().div_ceil(self.width / 8) as u64;
        if !self.registers.enabled {
            self.model.count_outside(Counter::Frames);
            return self.model.count_outside(Counter::DropDisabled);
        }
        self.state_room();
        self.model.receive(frame, error);
        // Verdicts are for those who compare a device with the model.
        self.model.segments.clear();
        self.model.fpdus.clear();
        self.place();
        self.complete();
        self.fill_slots();
        if let Some(connection) = self.model.take_touched() {
            self.note_event(connection);
        }
        self.write_events();
        self.send_interrupts();
    }

    /// Tell the model how much the rings take.
    fn state_room(&mut self) {
        let rooms = self.model.completion_room.iter_mut();
        for (room, ring) in rooms.zip(&self.rings.completions) {
            *room = ring.room() as usize;
        }
        let ring_room = self.rings.host.room() as usize;
        self.model.host_ring_room = ring_room;
        self.model.empty_host_ring();
        // A ring that is off counts as full, whatever its slots.
        self.model.host_frame_octets_max = match self.rings.host.is_on() {
            false => usize::MAX,
            true => (1usize << self.rings.slot_octets_log2).saturating_sub(SLOT_HEADER_OCTETS),
        };
    }

    fn place(&mut self) {
        let placements = self.model.memory.handed_on.as_mut();
        let placements = std::mem::take(placements.expect("memory is the client's"));
        for Placement { address, data } in placements {
            let (mut address, mut data) = (address, &data[..]);
            while !data.is_empty() {
                let to_page_end = (PAGE_OCTETS - address % PAGE_OCTETS) as usize;
                let (part, rest) = data.split_at(to_page_end.min(data.len()));
                self.write_memory(address, part);
                address = address.wrapping_add(part.len() as u64);
                data = rest;
            }
        }
    }

    fn complete(&mut self) {
        for entry in std::mem::take(&mut self.model.completions) {
            self.release_buffer(&entry);
            let queue = usize::from(entry.queue.0);
            let (address, number) = self.rings.completions[queue].take(CQE_OCTETS.ilog2());
            let words = entry.words.into_iter().chain([number]);
            let octets: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
            self.write_memory(address, &octets);
            self.interrupts.raise_queue(queue);
        }
        self.rings.overflowed |= std::mem::take(&mut self.model.lost_completions);
    }

    /// The pool's entry is the driver's again; an STag that the message invalidated is no more.
    fn release_buffer(&mut self, entry: &Entry) {
        let (kind, opcode) = (entry.words[0] & 0xf, entry.words[0] >> 4 & 0xf);
        if kind != KIND_ERROR {
            self.tables.queues.release(entry.words[5] as usize);
        }
        let invalidates = [OPCODE_SEND_INVALIDATE, OPCODE_SEND_SE_INVALIDATE].contains(&opcode);
        if kind == KIND_RECEIVE && invalidates {
            self.note_invalidated(entry.words[3]);
        }
    }

    fn fill_slots(&mut self) {
        for slot in std::mem::take(&mut self.model.host_slots) {
            let (address, number) = self.rings.host.take(self.rings.slot_octets_log2);
            let (header, frame) = slot.split_at(SLOT_HEADER_OCTETS - 4);
            self.write_memory(address.wrapping_add(SLOT_HEADER_OCTETS as u64), frame);
            // After the frame, in one piece.
            self.write_memory(address, &[header, &number.to_le_bytes()].concat());
            self.interrupts.raise_ring(ROUTE_HOST);
        }
    }
}
