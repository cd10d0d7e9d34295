//! Marker removal: a beat of an FPDU in, its words without the marker out.
//!
//! ```text
//! beat --> [ is there a marker, in which lane? ] --> [ words above it move down ] --> closed beat
//!                                                                       \-----------> marker
//! ```
//!
//! A marker opens each group of 128 words of the stream (MPA-013), so a beat of at most 16 words
//! has one at most; a closed beat is then one word short, which [`super::compact`] makes good.
//!
//! | latency    | 2 cycles                                                                     |
//! | throughput | one beat per cycle; no backpressure                                          |
//! | units      | a beat is D bits, L = 2^LG words of 4 octets                                 |
//! | in         | words beyond the FPDU's end are zero, and stay so                            |
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Marker removal for beats of `D` bits, `D = 32 * 2^LG`.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        D == 32 << LG && (2..=4).contains(&LG),
        "MarkerStrip: D = {D} must be 32 * 2^LG with LG = {LG} in 2..=4"
    );
)]
pub struct MarkerStrip<const D: usize, const LG: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A beat of an FPDU; no backpressure.
    pub beat_valid: Signal<In, Bit>,
    /// Its octets.
    pub beat_data: Signal<In, Bits<D>>,
    /// First beat of the FPDU.
    pub beat_first: Signal<In, Bit>,
    /// Last beat of the FPDU.
    pub beat_last: Signal<In, Bit>,
    /// With `beat_last`: words beyond the FPDU.
    pub beat_tail_words: Signal<In, Bits<LG>>,
    /// With `beat_first`: words since the last marker position.
    pub phase: Signal<In, Bits<7>>,
    /// The stream has markers; holds for the whole FPDU.
    pub markers: Signal<In, Bit>,
    /// The FPDU's words are not to be placed; holds for the whole FPDU.
    pub check: Signal<In, Bit>,
    /// A beat without its marker, 2 cycles after it entered.
    pub closed_valid: Signal<Out, Bit>,
    /// Its words, from lane 0 on.
    pub closed_data: Signal<Out, Bits<D>>,
    /// How many they are.
    pub closed_words: Signal<Out, Bits<6>>,
    /// First beat of the FPDU.
    pub closed_first: Signal<Out, Bit>,
    /// Last beat of the FPDU.
    pub closed_last: Signal<Out, Bit>,
    /// The FPDU's words are not to be placed.
    pub closed_check: Signal<Out, Bit>,
    /// With `closed_first`: words of the FPDU before its first marker, modulo 128.
    pub marker_distance: Signal<Out, Bits<7>>,
    /// The beat held a marker ...
    pub marker_valid: Signal<Out, Bit>,
    /// ... namely this one.
    pub marker: Signal<Out, Bits<32>>,

    // Words up to the next marker, at the first word of the beat that enters next.
    to_marker: DFF<Bits<7>>,
    until_now: Signal<Local, Bits<7>>,
    beats_until: Signal<Local, Bits<7>>,
    lane_now: Signal<Local, Bits<LG>>,
    lane_end: Signal<Local, Bits<6>>,
    hit_now: Signal<Local, Bit>,
    // Step 1.
    data_1: DFF<Bits<D>>,
    valid_1: DFF<Bit>,
    first_1: DFF<Bit>,
    last_1: DFF<Bit>,
    check_1: DFF<Bit>,
    hit_1: DFF<Bit>,
    lane_1: DFF<Bits<LG>>,
    distance_1: DFF<Bits<7>>,
    count_1: DFF<Bits<6>>,
    amount: Signal<Local, Bits<9>>,
    above: Signal<Local, Bits<D>>,
    closed_up: Signal<Local, Bits<D>>,
    at_lane: Signal<Local, Bits<D>>,
    // Step 2.
    data_2: DFF<Bits<D>>,
    valid_2: DFF<Bit>,
    first_2: DFF<Bit>,
    last_2: DFF<Bit>,
    check_2: DFF<Bit>,
    hit_2: DFF<Bit>,
    distance_2: DFF<Bits<7>>,
    count_2: DFF<Bits<6>>,
    marker_2: DFF<Bits<32>>,
    until_wide: Signal<Local, Bits<12>>,
    #[constant(Bits::<D>::mask())]
    ones: Constant<Bits<D>>,
    #[constant(1u64 << LG)]
    beat_words: Constant<Bits<7>>,
    #[constant(0)]
    zero: Constant<Bits<7>>,
    #[constant(1u64 << LG)]
    lanes: Constant<Bits<6>>,
    #[constant(1)]
    one: Constant<Bits<6>>,
}

impl<const D: usize, const LG: usize> Logic for MarkerStrip<D, LG> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; to_marker, data_1, valid_1, first_1, last_1, check_1, hit_1, lane_1);
        registers!(clock; distance_1, count_1, data_2, valid_2, first_2, last_2, check_2);
        registers!(clock; hit_2, distance_2, count_2, marker_2);

        // Step 1: is there a marker, and in which lane? One beyond the end is the next FPDU's.
        self.until_now.next = self.to_marker.q.val();
        if self.beat_first.val() {
            self.until_now.next = self.zero.val() - self.phase.val();
        }
        self.until_wide.next = bit_cast::<12, 7>(self.until_now.val());
        for lg in LG..(LG + 1) {
            self.beats_until.next = self.until_wide.val().get_bits::<7>(lg);
        }
        self.lane_now.next = self.until_now.val().get_bits::<LG>(0);
        self.lane_end.next =
            bit_cast::<6, LG>(self.lane_now.val()) + bit_cast::<6, LG>(self.beat_tail_words.val());
        self.hit_now.next = self.markers.val()
            & !self.beats_until.val().any()
            & !(self.beat_last.val() & (self.lane_end.val() >= self.lanes.val()));
        if self.beat_valid.val() {
            self.to_marker.d.next = self.until_now.val() - self.beat_words.val();
        }
        self.valid_1.d.next = self.beat_valid.val();
        self.data_1.d.next = self.beat_data.val();
        self.first_1.d.next = self.beat_first.val();
        self.last_1.d.next = self.beat_last.val();
        self.check_1.d.next = self.check.val();
        self.hit_1.d.next = self.hit_now.val();
        self.lane_1.d.next = self.lane_now.val();
        self.distance_1.d.next = self.until_now.val();
        self.count_1.d.next = self.lanes.val();
        if self.beat_last.val() {
            self.count_1.d.next = self.lanes.val() - bit_cast::<6, LG>(self.beat_tail_words.val());
        }

        // Step 2: the words above the marker move down by one.
        self.amount.next = bit_cast::<9, LG>(self.lane_1.q.val()) << 5;
        self.above.next = 0.into();
        self.count_2.d.next = self.count_1.q.val();
        if self.hit_1.q.val() {
            self.above.next = self.ones.val() << self.amount.val();
            self.count_2.d.next = self.count_1.q.val() - self.one.val();
        }
        self.closed_up.next = self.data_1.q.val() >> 32;
        self.at_lane.next = self.data_1.q.val() >> self.amount.val();
        self.data_2.d.next =
            (self.data_1.q.val() & !self.above.val()) | (self.closed_up.val() & self.above.val());
        self.marker_2.d.next = self.at_lane.val().get_bits::<32>(0);
        self.valid_2.d.next = self.valid_1.q.val();
        self.first_2.d.next = self.first_1.q.val();
        self.last_2.d.next = self.last_1.q.val();
        self.check_2.d.next = self.check_1.q.val();
        self.hit_2.d.next = self.hit_1.q.val();
        self.distance_2.d.next = self.distance_1.q.val();
        if self.reset.val() {
            self.valid_1.d.next = false;
            self.valid_2.d.next = false;
        }

        self.closed_valid.next = self.valid_2.q.val();
        self.closed_data.next = self.data_2.q.val();
        self.closed_words.next = self.count_2.q.val();
        self.closed_first.next = self.first_2.q.val();
        self.closed_last.next = self.last_2.q.val();
        self.closed_check.next = self.check_2.q.val();
        self.marker_distance.next = self.distance_2.q.val();
        self.marker_valid.next = self.valid_2.q.val() & self.hit_2.q.val();
        self.marker.next = self.marker_2.q.val();
    }
}
