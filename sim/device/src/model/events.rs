//! Events: their entries of the ring.

use super::DeviceModel;
use rnic_abi::event_ring::{EVENT_OCTETS, FIN_SEEN, HAS_RANGE, RANGES_SHIFT};
use rnic_abi::interrupts::ROUTE_EVENTS;
use rnic_driver::Event;

impl DeviceModel {
    /// A segment of `connection` was judged.
    pub(super) fn note_event(&mut self, connection: u16) {
        let reasons = self.model.reasons(connection);
        if reasons.iter().next().is_some() {
            let delay_log2 = self.registers.event_delay_log2;
            self.events.note(connection, reasons, self.now, delay_log2);
        }
    }

    /// Write the events that are due, as far as the ring has room.
    pub(super) fn write_events(&mut self) {
        self.events.expire(self.now);
        while self.rings.events.room() > 0 {
            let Some(connection) = self.events.pending.pop_front() else {
                return;
            };
            self.events.unreported.remove(&connection);
            let Some(event) = self.model.take_event(connection) else {
                continue;
            };
            let (address, number) = self.rings.events.take(EVENT_OCTETS.ilog2());
            let entry = encode(&event, number).map(u32::to_le_bytes);
            self.write_memory(address, &entry.concat());
            self.interrupts.raise_ring(ROUTE_EVENTS);
        }
    }
}

/// An entry of the ring; `number` with its phase.
fn encode(event: &Event, number: u32) -> [u32; EVENT_OCTETS / 4] {
    let reasons = event
        .reasons
        .iter()
        .fold(0, |bits, reason| bits | reason as u32);
    let flags = [
        (event.fin.is_some(), FIN_SEEN),
        (event.changed.is_some(), HAS_RANGE),
    ];
    let flags = flags.into_iter().filter(|(is_set, _)| *is_set);
    let head = flags.fold(reasons, |bits, (_, flag)| bits | flag)
        | u32::from(event.ranges) << RANGES_SHIFT
        | u32::from(event.connection.0) << 16;
    let counts = u32::from(event.seg_wnd)
        | u32::from(event.duplicate_acks_due) << 16
        | u32::from(event.duplicate_acks_seen) << 24;
    let (left, right) = event
        .changed
        .map_or((0, 0), |range| (range.left, range.right));
    [
        head,
        event.rcv_nxt,
        event.seg_ack,
        counts,
        left,
        right,
        event.fin.unwrap_or(0),
        number,
    ]
}
