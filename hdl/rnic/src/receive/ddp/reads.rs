//! Outstanding reads: does a segment of a Read Response continue the oldest one?
//!
//! ```text
//!                  cycle 1              cycle 2
//! head ----> STag, TO, payload each --> all together --> differs
//! segment    octets less payload  -------------------> moved_head
//! ```
//!
//! | latency    | 2 cycles, from cycle 1 to `differs` in cycle 3                               |
//! | throughput | one segment per 2 cycles                                                     |
//! | units      | octets; an outstanding read is laid out as in `rnic_abi::tables`             |
//! | source     | RFC 5040 sections 5.2.1 and 5.4; RFC 5041 section 5.2; `docs/adr/0018`       |
//!
//! The head is what is left of the oldest read: where the next segment begins, and how many octets
//! are missing. A segment continues it if it begins there, under its STag, is not longer than what
//! is missing, and is the last one (L) exactly if nothing is missing after it. STag and TO of a
//! segment without payload mean nothing (RFC 5041 section 5.2).
//!
//! Of TO 35 bits are compared. As the octets also lie inside of a region of fewer than 2^35 octets,
//! that is exact; a longer region is no sink.
use super::types::{Buffer, DdpSegment};
use rnic_abi::limits::READ_SINK_OCTETS_LOG2;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

// The slices below: bits 31:0, and 34:32.
const _: () = assert!(READ_SINK_OCTETS_LOG2 == 35);

/// Compares a segment of a Read Response with the oldest outstanding read.
///
/// `segment` and `is_open` stand from cycle 1 on, `head` from cycle 1 to the cycle in which the
/// segment is decided.
#[derive(LogicBlock, Default)]
pub struct ReadCheck {
    pub clock: Signal<In, Clock>,
    pub segment: Signal<In, DdpSegment>,
    /// The oldest outstanding read, if there is one.
    pub head: Signal<In, Buffer>,
    /// The connection's queue of reads is open.
    pub is_open: Signal<In, Bit>,
    /// Cycle 3: the segment does not continue it.
    pub differs: Signal<Out, Bit>,
    /// Cycle 3, if not `differs`: what is left of the read after the segment.
    pub moved_head: Signal<Out, Buffer>,
    is_closed: DFF<Bit>,
    stag_differs: DFF<Bit>,
    to_differs: DFF<Bit>,
    is_beyond: DFF<Bit>,
    is_end: DFF<Bit>,
    left_octets: DFF<Bits<32>>,
    is_different: DFF<Bit>,
    place: Signal<Local, Bits<64>>,
    to: Signal<Local, Bits<64>>,
    to_end: Signal<Local, Bits<64>>,
    payload: Signal<Local, Bits<32>>,
}

impl Logic for ReadCheck {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; is_closed, stag_differs, to_differs, is_beyond, is_end, left_octets);
        registers!(clock; is_different);
        self.place.next = self.head.val().address;
        self.to.next = self.segment.val().to;
        self.to_end.next = self.segment.val().to_end;
        self.payload.next = bit_cast::<32, 16>(self.segment.val().payload);

        // Cycle 1.
        self.is_closed.d.next = !self.is_open.val();
        self.to_differs.d.next = (self.to.val().get_bits::<32>(0)
            != self.place.val().get_bits::<32>(0))
            | (self.to.val().get_bits::<3>(32) != self.head.val().to_high);
        self.stag_differs.d.next = self.segment.val().stag != self.place.val().get_bits::<32>(32);
        self.is_beyond.d.next = self.payload.val() > self.head.val().octets;
        self.is_end.d.next = self.payload.val() == self.head.val().octets;
        self.left_octets.d.next = self.head.val().octets - self.payload.val();

        // Cycle 2.
        self.is_different.d.next = self.is_closed.q.val()
            | self.is_beyond.q.val()
            | (self.segment.val().last ^ self.is_end.q.val())
            | (self.segment.val().has_payload
                & (self.to_differs.q.val() | self.stag_differs.q.val()));
        self.differs.next = self.is_different.q.val();

        // The STag is that of the head, or the segment differs.
        self.moved_head.next.address = bit_cast::<64, 32>(self.to_end.val().get_bits::<32>(0))
            | (bit_cast::<64, 32>(self.segment.val().stag) << 32);
        self.moved_head.next.to_high = self.to_end.val().get_bits::<3>(32);
        self.moved_head.next.octets = self.left_octets.q.val();
    }
}

#[cfg(test)]
mod tests;
