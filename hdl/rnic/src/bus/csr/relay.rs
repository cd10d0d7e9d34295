//! Table relay: a station of the table bus at the entrance of a room.
//!
//! ```text
//! csr: request, valid --> [ registers ] --> room_request, room_valid
//! csr: done, data     <-- [ registers ] <-- room_done, room_data
//! ```
//!
//! | latency    | 1 cycle each way                                      |
//! | throughput | one operation at a time, as the table bus has it      |
//! | units      | see [`crate::messages::TableRequest`]                 |
//!
//! The rooms lie far from the register file and from each other; a relay keeps the way between them
//! out of every room's own paths. A room sees each operation once: after its answer the relay keeps
//! `room_valid` low until the register file has taken the request back. It does so for a cycle at
//! least between two operations.
use crate::messages::TableRequest;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Register slice for a request that holds until it is answered.
#[derive(LogicBlock, Default)]
pub struct TableRelay {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The operation; holds while `valid`.
    pub request: Signal<In, TableRequest>,
    /// `request` counts, until `done` of some room.
    pub valid: Signal<In, Bit>,
    /// One cycle: the room has done it.
    pub done: Signal<Out, Bit>,
    /// With `done` what was read; zero at all other times.
    pub data: Signal<Out, Bits<128>>,
    /// The operation for the room.
    pub room_request: Signal<Out, TableRequest>,
    pub room_valid: Signal<Out, Bit>,
    /// One cycle: the room has done it.
    pub room_done: Signal<In, Bit>,
    /// With `room_done` what was read; zero at all other times.
    pub room_data: Signal<In, Bits<128>>,
    held: DFF<TableRequest>,
    stands: DFF<Bit>,
    answered: DFF<Bit>,
    told: DFF<Bit>,
    answer: DFF<Bits<128>>,
}

impl Logic for TableRelay {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held, stands, answered, told, answer);
        // Each relay loads its own registers: if they just followed, synthesis would join those of
        // all relays in one place.
        if !self.stands.q.val() & !self.answered.q.val() {
            self.held.d.next = self.request.val();
        }
        self.stands.d.next = self.valid.val() & !self.answered.q.val();
        self.told.d.next = self.room_done.val();
        self.answer.d.next = self.room_data.val();
        if self.room_done.val() {
            self.stands.d.next = false;
            self.answered.d.next = true;
        }
        if !self.valid.val() {
            self.answered.d.next = false;
        }
        self.room_request.next = self.held.q.val();
        self.room_valid.next = self.stands.q.val();
        self.done.next = self.told.q.val();
        self.data.next = self.answer.q.val();
        if self.reset.val() {
            self.stands.d.next = false;
            self.answered.d.next = false;
            self.told.d.next = false;
            self.answer.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
