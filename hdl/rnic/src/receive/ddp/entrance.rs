//! Entrance: the FIFO of records, of MPA and of replays, with the hash of each one's STag.
//!
//! ```text
//!  record (goes first) --+--> [ hash ] --> [ FIFO, 16 ] --> head, head_hash
//!  offered --------------+
//! ```
//!
//! | latency    | 1 cycle, `record_valid` into an empty FIFO to `head_valid` |
//! | throughput | one record per cycle                                       |
//! | units      | see [`crate::messages::FpduRecord`]                        |
//!
//! MPA's records cannot wait. Up to two come after `record_room` was high last, so it is high only
//! while 12 places at most are taken. A replayed record enters in a cycle without one of MPA, and
//! only if it leaves two places: while 13 at most are taken.
//!
//! A replay gets its turn however busy MPA is. While the FIFO holds less than 13 records, a cycle
//! without a record of MPA is all that it needs; and if there is none, the FIFO fills to 13. There
//! `record_room` goes low, so that MPA brings two more at most. To be high again the FIFO must come
//! down to 12, by way of 13: MPA brings nothing in the last cycle of 13, and in that the replayed
//! record enters. Nor does a replay stop MPA for long: it has at most 511 records.
use super::octet_order::OctetOrder;
use super::segment::Arrival;
use crate::common::fifo::Fifo;
use crate::messages::{FpduRecord, FPDU_CHECK, FPDU_EARLY, FPDU_NORMAL};
use crate::receive::stag::hash::StagHash;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// The queue in front of the checks.
#[derive(LogicBlock, Init)]
pub struct Entrance {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A record of MPA.
    pub record: Signal<In, FpduRecord>,
    pub record_valid: Signal<In, Bit>,
    /// Two records more of MPA can be taken.
    pub record_room: Signal<Out, Bit>,
    /// A replayed record.
    pub offered: Signal<In, FpduRecord>,
    pub offered_valid: Signal<In, Bit>,
    /// `offered` is taken.
    pub offered_taken: Signal<Out, Bit>,
    /// The record in front.
    pub head: Signal<Out, FpduRecord>,
    /// Hash of its STag.
    pub head_hash: Signal<Out, Bits<32>>,
    pub head_valid: Signal<Out, Bit>,
    /// A verdict of MPA belongs to it.
    pub head_judged: Signal<Out, Bit>,
    /// It leaves the FIFO.
    pub leave: Signal<In, Bit>,
    order: OctetOrder<32>,
    hash: StagHash,
    /// Not almost full: four places are free.
    #[init(Fifo::new(3))]
    queue: Fifo<Arrival, 4, 5>,
    entering: Signal<Local, FpduRecord>,
    header: Signal<Local, Bits<160>>,
    stag: Signal<Local, Bits<32>>,
    arrival: Signal<Local, Arrival>,
    enters: Signal<Local, Bit>,
    head_now: Signal<Local, FpduRecord>,
    // Fill from which on no replayed record enters.
    #[constant(14)]
    crowded: Constant<Bits<5>>,
    #[constant(FPDU_NORMAL)]
    fpdu_normal: Constant<Bits<3>>,
    #[constant(FPDU_CHECK)]
    fpdu_check: Constant<Bits<3>>,
    #[constant(FPDU_EARLY)]
    fpdu_early: Constant<Bits<3>>,
}

impl Logic for Entrance {
    #[kernel]
    fn update(&mut self) {
        self.queue.clock.next = self.clock.val();
        self.enters.next = self.offered_valid.val()
            & !self.record_valid.val()
            & (self.queue.fill.val() < self.crowded.val());
        self.offered_taken.next = self.enters.val();
        self.entering.next = self.offered.val();
        if self.record_valid.val() {
            self.entering.next = self.record.val();
        }

        // The STag is hashed on its way into the FIFO.
        self.header.next = self.entering.val().header;
        self.order.octets.next = self.header.val().get_bits::<32>(32);
        self.stag.next = self.order.number.val();
        self.hash.stag_index.next = self.stag.val().get_bits::<24>(8);
        self.arrival.next.record = self.entering.val();
        self.arrival.next.hash = self.hash.hash.val();
        wire!(self => self.queue; reset, arrival as data_in);
        self.queue.write.next = self.record_valid.val() | self.enters.val();
        self.queue.read.next = self.leave.val();
        self.record_room.next = !self.queue.almost_full.val();

        self.head_now.next = self.queue.data_out.val().record;
        self.head.next = self.head_now.val();
        self.head_hash.next = self.queue.data_out.val().hash;
        self.head_valid.next = !self.queue.empty.val();
        self.head_judged.next = (self.head_now.val().kind == self.fpdu_normal.val())
            | (self.head_now.val().kind == self.fpdu_check.val())
            | (self.head_now.val().kind == self.fpdu_early.val());
    }
}

#[cfg(test)]
mod tests;
