//! Turns each segment into a TLP's header and the plan of its beats.
//!
//! ```text
//! Segment -> span, byte enables -> beats, lanes, header -> TlpPlan, header
//! ```
//!
//! | latency    | 3 cycles, `segment_valid` to `plan_valid`                    |
//! | throughput | one segment per cycle; no backpressure                       |
//! | units      | octets, doublewords                                          |
//! | source     | PCI Express Base Specification, section 2.2.5 (byte enables) |
use super::plan::{Segment, TlpPlan};
use crate::bus::pcie::WriteHeader;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Segment shaper; `D` is the width of a beat, `D/8` octets.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        D == 128 || D == 512,
        "Shaper: D = {D} bits; a beat has 128 or 512"
    );
    let octets = D as LiteralType / 8;
)]
pub struct Shaper<const D: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Requester id.
    pub device_id: Signal<In, Bits<16>>,
    /// The segment.
    pub segment: Signal<In, Segment>,
    pub segment_valid: Signal<In, Bit>,
    /// The plan.
    pub plan: Signal<Out, TlpPlan>,
    pub plan_valid: Signal<Out, Bit>,
    /// The TLP's header.
    pub header: Signal<Out, Bits<128>>,
    /// With `plan_valid`: there is a TLP, and `header` counts.
    pub header_valid: Signal<Out, Bit>,
    write_header: WriteHeader,
    taken: DFF<Segment>,
    taken_valid: DFF<Bit>,
    span: DFF<Bits<9>>,
    first_mask: DFF<Bits<4>>,
    last_mask: DFF<Bits<4>>,
    shaped: DFF<TlpPlan>,
    shaped_valid: DFF<Bit>,
    shaped_header: DFF<Bits<128>>,
    planned: DFF<TlpPlan>,
    planned_valid: DFF<Bit>,
    planned_header: DFF<Bits<128>>,
    needs_emit: Signal<Local, Bit>,
    ends_emit: Signal<Local, Bit>,
    start: Signal<Local, Bits<9>>,
    start_dword: Signal<Local, Bits<9>>,
    ends: Signal<Local, Bits<9>>,
    within_first: Signal<Local, Bits<2>>,
    within_last: Signal<Local, Bits<2>>,
    tail: Signal<Local, Bits<9>>,
    needed: Signal<Local, Bits<9>>,
    more_dwords: Signal<Local, Bits<10>>,
    lane: Signal<Local, Bits<9>>,
    more_beats: Signal<Local, Bits<9>>,
    place: Signal<Local, Bits<64>>,
    #[constant(octets - 1)]
    beat_mask: Constant<Bits<9>>,
    #[constant(LiteralType::from(octets.ilog2()))]
    beat_log2: Constant<Bits<3>>,
    #[constant(1)]
    one_beat: Constant<Bits<13>>,
}

impl<const D: usize> Logic for Shaper<D> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; taken, taken_valid, span, first_mask, last_mask);
        registers!(clock; shaped, shaped_valid, shaped_header);
        registers!(clock; planned, planned_valid, planned_header);
        // First stage: octets from the first doubleword's start to the last octet, and the masks of
        // the two outer doublewords.
        self.taken.d.next = self.segment.val();
        self.taken_valid.d.next = self.segment_valid.val();
        self.start.next = self.segment.val().start_octet;
        self.ends.next = self.segment.val().end_octet;
        self.start_dword.next = self.start.val().replace_bit(0, false).replace_bit(1, false);
        self.span.d.next = self.ends.val() - self.start_dword.val();
        self.within_first.next = self.start.val().get_bits::<2>(0);
        self.within_last.next = self.ends.val().get_bits::<2>(0);
        match self.within_first.val().index() {
            0 => self.first_mask.d.next = 15.into(),
            1 => self.first_mask.d.next = 14.into(),
            2 => self.first_mask.d.next = 12.into(),
            _ => self.first_mask.d.next = 8.into(),
        }
        match self.within_last.val().index() {
            0 => self.last_mask.d.next = 1.into(),
            1 => self.last_mask.d.next = 3.into(),
            2 => self.last_mask.d.next = 7.into(),
            _ => self.last_mask.d.next = 15.into(),
        }

        // Second stage: how the span lies in beats.
        self.tail.next = self.span.q.val() & self.beat_mask.val();
        self.lane.next = self.tail.val() >> 2;
        self.more_beats.next = self.span.q.val() >> self.beat_log2.val();
        self.more_dwords.next = bit_cast::<10, 9>(self.span.q.val()) >> 2;
        // The window of the last beat begins at octet rotation + 1 of the older beat, so its octet
        // `tail` lies in the newer one if rotation + tail + 1 reaches the beat's size.
        self.needed.next = bit_cast::<9, 6>(self.taken.q.val().rotation) ^ self.beat_mask.val();
        self.needed.next = self.needed.val() & self.beat_mask.val();
        self.shaped.d.next.closes = self.taken.q.val().closes;
        self.shaped.d.next.writes = self.taken.q.val().writes;
        self.shaped.d.next.complete = self.taken.q.val().complete;
        self.shaped.d.next.release_pages = self.taken.q.val().release_pages;
        self.shaped.d.next.head_page = self.taken.q.val().head_page;
        self.shaped.d.next.tail_page = self.taken.q.val().tail_page;
        self.shaped.d.next.drain = self.taken.q.val().drain;
        self.shaped.d.next.drain_one = self.taken.q.val().drain == self.one_beat.val();
        self.shaped.d.next.primes = self.taken.q.val().primes;
        self.shaped.d.next.rotation = self.taken.q.val().rotation;
        self.shaped.d.next.more_beats = self.more_beats.val().get_bits::<5>(0);
        self.shaped.d.next.last_lane = self.lane.val().get_bits::<4>(0);
        self.shaped.d.next.last_needs_next = self.tail.val() >= self.needed.val();
        self.shaped.d.next.single = !self.more_beats.val().any();
        self.shaped.d.next.ends_at_last =
            !self.taken.q.val().closes | (self.taken.q.val().drain == 0);
        // The rest waits for the third stage.
        self.shaped.d.next.needs_first = false;
        self.shaped.d.next.ends_first = false;
        self.shaped.d.next.needs_emit = false;
        self.shaped.d.next.ends_emit = false;
        self.shaped_valid.d.next = self.taken_valid.q.val();

        // The header. Lane 0 is the doubleword of the first octet.
        self.place.next = (bit_cast::<64, 57>(self.taken.q.val().line) << 7)
            | bit_cast::<64, 9>(self.taken.q.val().start_octet);
        self.write_header.address.next = self.place.val();
        self.write_header.length.next = self.more_dwords.val() + 1;
        self.write_header.device_id.next = self.device_id.val();
        self.write_header.first_be.next = self.first_mask.q.val();
        self.write_header.last_be.next = self.last_mask.q.val();
        if !self.more_dwords.val().any() {
            // Section 2.2.5: one doubleword has its enables in the first field, the last is 0.
            self.write_header.first_be.next = self.first_mask.q.val() & self.last_mask.q.val();
            self.write_header.last_be.next = 0.into();
        }
        self.shaped_header.d.next = self.write_header.header.val();

        // Third stage: the mover's first steps.
        self.needs_emit.next = !self.shaped.q.val().single | self.shaped.q.val().last_needs_next;
        self.ends_emit.next = self.shaped.q.val().single & self.shaped.q.val().ends_at_last;
        self.planned.d.next = self.shaped.q.val();
        self.planned.d.next.needs_emit = self.needs_emit.val();
        self.planned.d.next.ends_emit = self.ends_emit.val();
        self.planned.d.next.needs_first = self.needs_emit.val();
        self.planned.d.next.ends_first = self.ends_emit.val();
        if self.shaped.q.val().primes != 0 {
            self.planned.d.next.needs_first = true;
            self.planned.d.next.ends_first = false;
        }
        if !self.shaped.q.val().writes {
            // Nothing but beats to throw away, if there are any.
            self.planned.d.next.needs_first = !self.shaped.q.val().ends_at_last;
            self.planned.d.next.ends_first =
                self.shaped.q.val().ends_at_last | self.shaped.q.val().drain_one;
        }
        self.planned_header.d.next = self.shaped_header.q.val();
        self.planned_valid.d.next = self.shaped_valid.q.val();

        self.plan.next = self.planned.q.val();
        self.plan_valid.next = self.planned_valid.q.val();
        self.header.next = self.planned_header.q.val();
        self.header_valid.next = self.planned_valid.q.val() & self.planned.q.val().writes;
        if self.reset.val() {
            self.taken_valid.d.next = false;
            self.shaped_valid.d.next = false;
            self.planned_valid.d.next = false;
        }
    }
}
