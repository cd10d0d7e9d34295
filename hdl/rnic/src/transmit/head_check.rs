//! Is a head to be refused? And how many units and words of the store does its frame take?
//!
//! ```text
//! head --> [ sums and bounds ] --> [ compares ] --> refused, is_short
//! total, is_empty, seen ------------^
//! ```
//!
//! | latency    | 1 cycle from `head` to `units`, `need` and `crc_place`; 2 to `refused`, 1    |
//! |            | from `total`                                                                 |
//! | units      | octets; units; words of `2^O` octets of the store                            |
//! | source     | `rnic_abi::transmit_ring`: which heads are refused                           |
use rnic_abi::limits::MAX_FRAME_OCTETS;
use rnic_abi::transmit_ring as abi;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Checks of a head.
#[derive(LogicBlock, Init)]
pub struct HeadCheck<const O: usize> {
    pub clock: Signal<In, Clock>,
    /// Words 0 to 2 of the head.
    pub head: Signal<In, Bits<96>>,
    /// Octets of the elements together, modulo 2^19: enough for as many as are allowed.
    pub total: Signal<In, Bits<19>>,
    /// An element has no octets.
    pub is_empty: Signal<In, Bit>,
    /// Units whose elements were checked.
    pub seen: Signal<In, Bits<8>>,
    /// Units of the frame.
    pub units: Signal<Out, Bits<4>>,
    /// Words of the store that it takes.
    pub need: Signal<Out, Bits<12>>,
    /// Octet of the frame where the CRC stands.
    pub crc_place: Signal<Out, Bits<14>>,
    pub refused: Signal<Out, Bit>,
    /// The frame has more units than were seen: the rest means nothing.
    pub is_short: Signal<Out, Bit>,
    // Stage 1.
    unit_count: DFF<Bits<4>>,
    bad_size: DFF<Bit>,
    bad_count: DFF<Bit>,
    bad_order: DFF<Bit>,
    bad_range: DFF<Bit>,
    place_end: DFF<Bits<17>>,
    crc_end: DFF<Bits<17>>,
    crc_limit: DFF<Bits<17>>,
    words: DFF<Bits<12>>,
    // Stage 2.
    short: DFF<Bit>,
    bad: DFF<Bit>,
    octets: Signal<Local, Bits<16>>,
    count: Signal<Local, Bits<4>>,
    has_checksum: Signal<Local, Bit>,
    has_crc: Signal<Local, Bit>,
    start: Signal<Local, Bits<16>>,
    place: Signal<Local, Bits<16>>,
    first: Signal<Local, Bits<16>>,
    covered: Signal<Local, Bits<16>>,
    pairs: Signal<Local, Bits<5>>,
    half_count: Signal<Local, Bits<4>>,
    distance: Signal<Local, Bits<16>>,
    rounded: Signal<Local, Bits<17>>,
    #[constant(1)]
    one: Constant<Bits<4>>,
    #[constant(1)]
    one_pair: Constant<Bits<5>>,
    #[constant(2)]
    checksum_octets: Constant<Bits<17>>,
    #[constant(4)]
    crc_octets: Constant<Bits<17>>,
    #[constant(abi::FRAME_OCTETS_MIN as LiteralType)]
    octets_min: Constant<Bits<16>>,
    #[constant(MAX_FRAME_OCTETS as LiteralType)]
    octets_max: Constant<Bits<16>>,
    #[constant(abi::ELEMENTS_MAX as LiteralType)]
    elements_max: Constant<Bits<4>>,
    #[constant((1 << O) - 1 as LiteralType)]
    round_up: Constant<Bits<17>>,
    #[constant(O as LiteralType)]
    word_log2: Constant<Bits<4>>,
}

impl<const O: usize> Logic for HeadCheck<O> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; unit_count, bad_size, bad_count, bad_order, bad_range, place_end);
        registers!(clock; crc_end, crc_limit, words, short, bad);
        self.octets.next = self.head.val().get_bits::<16>(0);
        self.count.next = self.head.val().get_bits::<4>(16);
        self.has_checksum.next = self.head.val().get_bit(20);
        self.has_crc.next = self.head.val().get_bit(21);
        self.start.next = self.head.val().get_bits::<16>(32);
        self.place.next = self.head.val().get_bits::<16>(48);
        self.first.next = self.head.val().get_bits::<16>(64);
        self.covered.next = self.head.val().get_bits::<16>(80);

        // Stage 1.
        self.pairs.next = bit_cast::<5, 4>(self.count.val()) + self.one_pair.val();
        self.half_count.next = self.pairs.val().get_bits::<4>(1);
        self.unit_count.d.next = self.half_count.val() + self.one.val();
        self.bad_size.d.next = (self.octets.val() < self.octets_min.val())
            | (self.octets.val() > self.octets_max.val());
        self.bad_count.d.next =
            !self.count.val().any() | (self.count.val() > self.elements_max.val());
        self.distance.next = self.place.val() - self.start.val();
        self.bad_order.d.next = self.has_checksum.val()
            & ((self.place.val() < self.start.val()) | self.distance.val().get_bit(0));
        self.bad_range.d.next = self.has_crc.val() & !self.covered.val().any();
        self.place_end.d.next = bit_cast::<17, 16>(self.place.val()) + self.checksum_octets.val();
        self.crc_end.d.next =
            bit_cast::<17, 16>(self.first.val()) + bit_cast::<17, 16>(self.covered.val());
        // Below 4 octets this wraps, but then the size is refused.
        self.crc_limit.d.next = bit_cast::<17, 16>(self.octets.val()) - self.crc_octets.val();
        self.rounded.next =
            (bit_cast::<17, 16>(self.octets.val()) + self.round_up.val()) >> self.word_log2.val();
        self.words.d.next = self.rounded.val().get_bits::<12>(0);
        self.units.next = self.unit_count.q.val();
        self.need.next = self.words.q.val();
        self.crc_place.next = self.crc_end.q.val().get_bits::<14>(0);

        // Stage 2.
        self.short.d.next = bit_cast::<8, 4>(self.unit_count.q.val()) > self.seen.val();
        self.bad.d.next = (self.bad_size.q.val() | self.bad_count.q.val())
            | (self.bad_order.q.val() | self.bad_range.q.val())
            | (self.is_empty.val() | (self.total.val() != bit_cast::<19, 16>(self.octets.val())))
            | ((self.has_checksum.val()
                & (self.place_end.q.val() > bit_cast::<17, 16>(self.octets.val())))
                | (self.has_crc.val() & (self.crc_end.q.val() > self.crc_limit.q.val())));
        self.refused.next = self.bad.q.val();
        self.is_short.next = self.short.q.val();
    }
}
