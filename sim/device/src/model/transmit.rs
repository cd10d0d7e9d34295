//! Transmit rings: heads in their order, statuses, reports.
//!
//! ```text
//!  tail --> head's unit --> elements' units --> octets --> sent, or looped back
//!               |                 |                |
//!               +-- stops the ring +    refused, or failed: status --> head passes --> report
//! ```

use super::gather::Head;
use super::transmit_ring::TransmitRing;
use super::DeviceModel;
use rnic_abi::counters::Counter;
use rnic_abi::interrupts::ROUTE_TRANSMIT;
use rnic_abi::transmit_ring::{
    STATUS_READ_FAILED, STATUS_REFUSED, STATUS_WORD, STOPPED, UNIT_OCTETS,
};
use rnic_sim::SentFrame;

impl DeviceModel {
    /// Whether a ring has frames.
    pub(super) fn may_send(&self) -> bool {
        self.transmit.iter().any(TransmitRing::has_work)
    }

    /// Send up to `most` frames, those of the first ring first.
    pub(super) fn send_frames(&mut self, most: usize) {
        for _ in 0..most {
            let Some(ring) = self.transmit.iter().position(TransmitRing::has_work) else {
                return;
            };
            self.send_frame(ring);
        }
    }

    /// Work at the head of a ring that has work.
    fn send_frame(&mut self, ring: usize) {
        let first = self.transmit[ring].head;
        let Some(unit) = self.read_memory(self.transmit[ring].unit(first), UNIT_OCTETS) else {
            return self.stop(ring);
        };
        let head = Head::parse(&unit);
        let state = &mut self.transmit[ring];
        if state.tail.wrapping_sub(first) < head.units() {
            state.waits_for_tail = true;
            return;
        }
        let mut rest = Vec::new();
        for index in 1..head.units() {
            let unit = self.transmit[ring].unit(first.wrapping_add(index));
            let Some(octets) = self.read_memory(unit, UNIT_OCTETS) else {
                return self.stop(ring);
            };
            rest.extend(octets);
        }
        match head.elements(&rest) {
            None => self.give_up(ring, STATUS_REFUSED, Counter::TxRefused),
            Some(elements) => match self.gather(&elements) {
                None => self.give_up(ring, STATUS_READ_FAILED, Counter::TxFailed),
                Some(mut frame) => {
                    head.insert(&mut frame);
                    self.emit(frame);
                }
            },
        }
        let state = &mut self.transmit[ring];
        state.head = first.wrapping_add(head.units());
        self.write_report(ring);
    }

    fn gather(&mut self, elements: &[(u64, usize)]) -> Option<Vec<u8>> {
        let mut frame = Vec::new();
        for &(address, octets) in elements {
            let Some(octets) = self.read_memory(address, octets) else {
                self.model.count_outside(Counter::ReadUnsupported);
                return None;
            };
            frame.extend(octets);
        }
        Some(frame)
    }

    fn emit(&mut self, octets: Vec<u8>) {
        self.model.count_outside(Counter::TxFrames);
        if self.registers.loopback {
            return self.receive(&octets, false);
        }
        self.now += octets.len().div_ceil(self.width / 8) as u64;
        self.sent.push_back(SentFrame {
            cycle: self.now,
            octets,
            error: false,
        });
    }

    /// The frame at the head is not sent: its status says why.
    fn give_up(&mut self, ring: usize, status: u32, counter: Counter) {
        let state = &mut self.transmit[ring];
        state.given_up = state.given_up.wrapping_add(1);
        let place = state.unit(state.head).wrapping_add(4 * STATUS_WORD as u64);
        self.model.count_outside(counter);
        self.write_memory(place, &status.to_le_bytes());
        self.interrupts.raise_ring(ROUTE_TRANSMIT);
    }

    /// A read of units failed.
    fn stop(&mut self, ring: usize) {
        self.transmit[ring].has_stopped = true;
        self.model.count_outside(Counter::ReadUnsupported);
        self.model.count_outside(Counter::TxRingStopped);
        self.write_report(ring);
    }

    fn write_report(&mut self, ring: usize) {
        let state = &self.transmit[ring];
        let stopped = if state.has_stopped { STOPPED } else { 0 };
        let words = [state.head, state.given_up, stopped, 0].map(u32::to_le_bytes);
        let report = state.report;
        self.write_memory(report, &words.concat());
        self.interrupts.raise_ring(ROUTE_TRANSMIT);
    }
}
