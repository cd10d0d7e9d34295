//! Buffer of units: what the rings have read of their heads and elements.
//!
//! ```text
//! unit_* --> [ a beat ] --> pieces of 16 octets --> [ SdpRam: ring, unit, half ] --> piece
//! ```
//!
//! | latency    | 1 cycle from a beat to its first piece; 2 from `read_address` to `piece`     |
//! | throughput | a piece a cycle: a beat of 128 bits each cycle, one of 512 bits in 4         |
//! | units      | pieces of 16 octets, of which the first 12 are kept                          |
//! | memory     | 3 block RAMs (ECP5)                                                          |
//!
//! A piece is half a unit: the first half of a head, its second half (software's), or an element.
//! Of none of them the last doubleword matters.
use super::types::BUFFER_UNITS_LOG2;
use crate::common::ram::SdpRam;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = assert!(BUFFER_UNITS_LOG2 == 7);

/// Unit buffer, for answers in beats of `D` bits.
#[derive(LogicBlock, Init)]
#[init(
    assert!(D == 128 || D == 512, "UnitBuffer: D = {D} must be 128 or 512");
)]
pub struct UnitBuffer<const D: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Answers of reads of units, whole units in each beat but a failed one.
    pub unit_data: Signal<In, Bits<D>>,
    pub unit_octets: Signal<In, Bits<7>>,
    pub unit_last: Signal<In, Bit>,
    /// With `unit_last`.
    pub unit_error: Signal<In, Bit>,
    /// Of the bulk ring.
    pub unit_ring: Signal<In, Bit>,
    pub unit_valid: Signal<In, Bit>,
    pub unit_ready: Signal<Out, Bit>,
    /// Place of the next unit of each ring, and whether it is kept.
    pub control_slot: Signal<In, Bits<7>>,
    pub control_drop: Signal<In, Bit>,
    pub bulk_slot: Signal<In, Bits<7>>,
    pub bulk_drop: Signal<In, Bit>,
    /// One cycle: a unit is in its place.
    pub control_filled: Signal<Out, Bit>,
    pub bulk_filled: Signal<Out, Bit>,
    /// One cycle: a read has been answered, ...
    pub control_ends: Signal<Out, Bit>,
    pub bulk_ends: Signal<Out, Bit>,
    /// ... not whole.
    pub failed: Signal<Out, Bit>,
    /// Half of a unit: ring in bit 8, place in 7:1, second half in 0.
    pub read_address: Signal<In, Bits<9>>,
    pub piece: Signal<Out, Bits<96>>,
    memory: SdpRam<Bits<96>, 9>,
    beat: DFF<Bits<D>>,
    // A beat is here; it has so many pieces yet.
    active: DFF<Bit>,
    pieces: DFF<Bits<3>>,
    last: DFF<Bit>,
    error: DFF<Bit>,
    ring: DFF<Bit>,
    half: DFF<Bit>,
    wide: Signal<Local, Bits<640>>,
    finishes: Signal<Local, Bit>,
    slot: Signal<Local, Bits<7>>,
    keeps: Signal<Local, Bit>,
    writes: Signal<Local, Bit>,
    fills: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    address: Signal<Local, Bits<9>>,
    #[constant(1)]
    one: Constant<Bits<3>>,
}

impl<const D: usize> Logic for UnitBuffer<D> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; beat, active, pieces, last, error, ring, half);
        wire!(self => self.memory; clock, read_address);
        self.piece.next = self.memory.read_data.val();

        self.slot.next = self.control_slot.val();
        self.keeps.next = !self.control_drop.val();
        if self.ring.q.val() {
            self.slot.next = self.bulk_slot.val();
            self.keeps.next = !self.bulk_drop.val();
        }
        self.finishes.next = self.active.q.val() & (self.pieces.q.val() <= 1);
        self.writes.next = self.active.q.val() & (self.pieces.q.val().any() & self.keeps.val());
        self.fills.next = self.writes.val() & self.half.q.val();
        self.ends.next = self.finishes.val() & self.last.q.val();
        self.address.next = bit_cast::<9, 7>(self.slot.val()) << 1;
        self.memory.write_address.next = self
            .address
            .val()
            .replace_bit(0, self.half.q.val())
            .replace_bit(8, self.ring.q.val());
        self.memory.write_enable.next = self.writes.val();
        self.memory.write_data.next = self.beat.q.val().get_bits::<96>(0);
        self.control_filled.next = self.fills.val() & !self.ring.q.val();
        self.bulk_filled.next = self.fills.val() & self.ring.q.val();
        self.control_ends.next = self.ends.val() & !self.ring.q.val();
        self.bulk_ends.next = self.ends.val() & self.ring.q.val();
        self.failed.next = self.error.q.val();
        self.unit_ready.next = !self.active.q.val() | self.finishes.val();

        self.wide.next = bit_cast::<640, D>(self.beat.q.val());
        if self.active.q.val() {
            self.half.d.next = !self.half.q.val();
            self.pieces.d.next = self.pieces.q.val() - self.one.val();
            self.beat.d.next = self.wide.val().get_bits::<D>(128);
        }
        if self.ends.val() {
            self.half.d.next = false;
        }
        if !self.active.q.val() | self.finishes.val() {
            self.active.d.next = self.unit_valid.val();
            self.beat.d.next = self.unit_data.val();
            self.last.d.next = self.unit_last.val();
            self.error.d.next = self.unit_last.val() & self.unit_error.val();
            self.ring.d.next = self.unit_ring.val();
            self.pieces.d.next = self.unit_octets.val().get_bits::<3>(4);
            // The octets of the beat that ends a failed read are not all there.
            if self.unit_last.val() & self.unit_error.val() {
                self.pieces.d.next = 0.into();
            }
        }
        if self.reset.val() {
            self.active.d.next = false;
            self.half.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
