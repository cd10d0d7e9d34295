//! Marker removal: beats of an FPDU in, full beats of its words without markers out.
//!
//! ```text
//! beat --> [ find the marker and its lane ] -----> [ words above it move down ] --> closed beat
//!                                                                       \-----------> marker
//! ```
//!
//! A marker opens each group of 128 words of the stream (MPA-013), so a beat of at most 16 words
//! has at most one. A closed beat may thus be one word short; [`WordPacker`] fills it.
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
        "MarkerRemover: D = {D} must be 32 * 2^LG with LG = {LG} in 2..=4"
    );
)]
pub struct MarkerRemover<const D: usize, const LG: usize> {
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
    /// The FPDU's words are not placed; holds for the whole FPDU.
    pub check: Signal<In, Bit>,
    /// A beat without its marker, 2 cycles after it entered.
    pub closed_valid: Signal<Out, Bit>,
    /// Its words, from lane 0 on.
    pub closed_data: Signal<Out, Bits<D>>,
    /// Number of its words.
    pub closed_words: Signal<Out, Bits<6>>,
    /// First beat of the FPDU.
    pub closed_first: Signal<Out, Bit>,
    /// Last beat of the FPDU.
    pub closed_last: Signal<Out, Bit>,
    /// The FPDU's words are not placed.
    pub closed_check: Signal<Out, Bit>,
    /// With `closed_first`: words of the FPDU before its first marker, modulo 128.
    pub marker_distance: Signal<Out, Bits<7>>,
    /// The beat contained a marker.
    pub marker_valid: Signal<Out, Bit>,
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

impl<const D: usize, const LG: usize> Logic for MarkerRemover<D, LG> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; to_marker, data_1, valid_1, first_1, last_1, check_1, hit_1, lane_1);
        registers!(clock; distance_1, count_1, data_2, valid_2, first_2, last_2, check_2);
        registers!(clock; hit_2, distance_2, count_2, marker_2);

        // Step 1: find the marker and its lane. One beyond the end belongs to the next FPDU.
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

/// Packs the words of an FPDU into full beats of `D` bits; `P = 2 D`, `D = 32 * 2^LG`.
///
/// ```text
/// closed beat --> [ held words ++ new words ] --> placed beats, first five words
///                      ^---- excess words ------/
/// ```
///
/// Held words fill the gaps of removed markers; after the last beat they may need one more beat.
/// Every beat but an FPDU's last is full. An FPDU marked `check` gives no placed beats.
///
/// | latency    | 1 cycle; one more for the beat that flushes                                |
/// | throughput | one beat per cycle; at least 1 cycle without a beat after each last one    |
/// | units      | a beat is D bits, L = 2^LG words of 4 octets                               |
/// | in         | L or L - 1 words, in the last beat 1 to L; the lanes above them are zero   |
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        P == 2 * D && D == 32 << LG && (2..=4).contains(&LG),
        "WordPacker: D = {D} must be 32 * 2^LG with LG = {LG} in 2..=4, P = {P} twice that"
    );
)]
pub struct WordPacker<const D: usize, const P: usize, const LG: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A beat, possibly one word short; no backpressure.
    pub closed_valid: Signal<In, Bit>,
    /// Its words.
    pub closed_data: Signal<In, Bits<D>>,
    /// Number of its words.
    pub closed_words: Signal<In, Bits<6>>,
    /// A removed marker left it one word short.
    pub short: Signal<In, Bit>,
    /// First beat of the FPDU.
    pub closed_first: Signal<In, Bit>,
    /// Last beat of the FPDU.
    pub closed_last: Signal<In, Bit>,
    /// The FPDU's words are not placed.
    pub closed_check: Signal<In, Bit>,
    /// A beat for the placement buffer.
    pub placed_valid: Signal<Out, Bit>,
    /// Its octets.
    pub placed_data: Signal<Out, Bits<D>>,
    /// First five words of the FPDU; zero where it has none.
    pub header: Signal<Out, Bits<160>>,
    /// One cycle for each FPDU, `check` or not: `header` is valid from now on.
    pub header_valid: Signal<Out, Bit>,
    // Words that wait for a full beat; zero above them.
    held: DFF<Bits<D>>,
    fill: DFF<Bits<LG>>,
    // `held` is sent alone.
    flush: DFF<Bit>,
    // Beats of this FPDU sent: 0, 1 or more.
    sent_one: DFF<Bit>,
    sent_more: DFF<Bit>,
    out_data: DFF<Bits<D>>,
    out_valid: DFF<Bit>,
    out_check: DFF<Bit>,
    head: DFF<Bits<160>>,
    head_valid: DFF<Bit>,
    amount: Signal<Local, Bits<9>>,
    appended: Signal<Local, Bits<P>>,
    joined: Signal<Local, Bits<D>>,
    left_over: Signal<Local, Bits<D>>,
    total: Signal<Local, Bits<6>>,
    goes: Signal<Local, Bit>,
    first_now: Signal<Local, Bit>,
    second_now: Signal<Local, Bit>,
    fifth: Signal<Local, Bits<32>>,
    out_now: Signal<Local, Bits<D>>,
    // The FPDU's last words are sent.
    ends: Signal<Local, Bit>,
    #[init(Constant::new(D < 160))]
    narrow: Constant<Bit>,
    #[constant(1u64 << LG)]
    lanes: Constant<Bits<6>>,
    #[constant(1)]
    one_lane: Constant<Bits<LG>>,
}

impl<const D: usize, const P: usize, const LG: usize> Logic for WordPacker<D, P, LG> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held, fill, flush, sent_one, sent_more, out_data, out_valid);
        registers!(clock; out_check, head, head_valid);
        self.amount.next = bit_cast::<9, LG>(self.fill.q.val()) << 5;
        self.appended.next = bit_cast::<P, D>(self.closed_data.val()) << self.amount.val();
        self.joined.next = self.held.q.val() | self.appended.val().get_bits::<D>(0);
        for width in D..(D + 1) {
            self.left_over.next = self.appended.val().get_bits::<D>(width);
        }
        self.total.next = bit_cast::<6, LG>(self.fill.q.val()) + self.closed_words.val();

        self.goes.next = self.flush.q.val();
        self.flush.d.next = false;
        self.ends.next = self.flush.q.val();
        self.out_now.next = self.joined.val();
        if self.flush.q.val() {
            self.out_now.next = self.held.q.val();
            self.held.d.next = 0.into();
        } else if self.closed_valid.val() {
            self.goes.next = true;
            self.out_check.d.next = self.closed_check.val();
            self.held.d.next = self.left_over.val();
            if self.short.val() {
                self.fill.d.next = self.fill.q.val() - self.one_lane.val();
                if !self.fill.q.val().any() & !self.closed_last.val() {
                    // Nothing was held: one word too few for a beat.
                    self.goes.next = false;
                    self.held.d.next = self.joined.val();
                }
            }
            if self.closed_last.val() {
                self.fill.d.next = 0.into();
                self.flush.d.next = self.total.val() > self.lanes.val();
                self.ends.next = self.total.val() <= self.lanes.val();
            }
        }
        self.out_data.d.next = self.out_now.val();

        // Position in the FPDU of the beat sent.
        self.first_now.next = !self.sent_one.q.val() & !self.sent_more.q.val();
        self.second_now.next = self.sent_one.q.val();
        if self.closed_valid.val() & self.closed_first.val() {
            self.first_now.next = true;
            self.second_now.next = false;
        }
        self.sent_one.d.next = self.second_now.val();
        self.sent_more.d.next = !self.first_now.val() & !self.second_now.val();
        if self.goes.val() {
            self.sent_one.d.next = self.first_now.val();
            self.sent_more.d.next = !self.first_now.val();
        }
        self.out_valid.d.next = self.goes.val();

        // The header is in the first placed beat, its fifth word possibly in the second.
        self.fifth.next = self.out_now.val().get_bits::<32>(0);
        self.head_valid.d.next = false;
        if self.goes.val() & self.first_now.val() {
            self.head.d.next = bit_cast::<160, D>(self.out_now.val());
            self.head_valid.d.next = !self.narrow.val() | self.ends.val();
        } else if self.goes.val() & self.second_now.val() & self.narrow.val() {
            self.head.d.next = self.head.q.val() | (bit_cast::<160, 32>(self.fifth.val()) << 128);
            self.head_valid.d.next = true;
        }
        if self.reset.val() {
            self.held.d.next = 0.into();
            self.fill.d.next = 0.into();
            self.flush.d.next = false;
            self.out_valid.d.next = false;
            self.head_valid.d.next = false;
            self.sent_one.d.next = false;
            self.sent_more.d.next = false;
        }

        self.placed_valid.next = self.out_valid.q.val() & !self.out_check.q.val();
        self.placed_data.next = self.out_data.q.val();
        self.header.next = self.head.q.val();
        self.header_valid.next = self.head_valid.q.val();
    }
}

#[cfg(test)]
mod tests;
