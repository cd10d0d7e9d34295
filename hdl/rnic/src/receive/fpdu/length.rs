//! Length of an FPDU on the wire, from ULPDU_Length and its position between markers.
//!
//! ```text
//! ulpdu_length --> [sum] N, x --> [divide] x / 127 --> [decide] words, beats, whole
//! ```
//!
//! Without markers an FPDU has N = ceil((ULPDU_Length + 2) / 4) + 1 words (MPA-001 to MPA-003). A
//! marker stands before every 127 further words; with p words since the last marker position (128
//! in place of 0) the FPDU meets floor((N + p - 2) / 127) markers (MPA-013). The division is by
//! x = 128 q0 + r0: x / 127 = q0 + (q0 + r0 >= 127) + (q0 + r0 >= 254).
//!
//! | latency    | 3 cycles: one each with `sum`, `divide` and `decide` high, in this order |
//! | throughput | one FPDU in 3 cycles; inputs hold still from `sum` to `decide`           |
//! | units      | words of 4 octets; `ulpdu_length` in octets; beats of 2^LG words         |
//! | results    | stay until the next `decide` (`too_long` until the next `sum`)           |
use rnic_abi::limits::SINGLE_PASS_ULPDU_OCTETS;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Length on the wire of an FPDU, or of a frame for the host; beats of `2^LG` words.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        (1..=4).contains(&LG),
        "FpduLength: LG = {LG}; a beat of 2^LG words must have 2 to 16 of them"
    );
    let lanes: LiteralType = 1 << LG;
)]
pub struct FpduLength<const LG: usize> {
    pub clock: Signal<In, Clock>,
    /// ULPDU_Length; with `host` the octets of the frame.
    pub ulpdu_length: Signal<In, Bits<16>>,
    /// A host frame of `ulpdu_length` octets, not an FPDU.
    pub host: Signal<In, Bit>,
    /// Words since the last marker position at the FPDU's first word; 0: it opens with a marker.
    pub phase: Signal<In, Bits<7>>,
    /// The stream has markers.
    pub markers: Signal<In, Bit>,
    /// Whole words of the job from the FPDU's first on; at least 1 unless `host`.
    pub words_left: Signal<In, Bits<16>>,
    /// First step.
    pub sum: Signal<In, Bit>,
    /// Second step.
    pub divide: Signal<In, Bit>,
    /// Third step.
    pub decide: Signal<In, Bit>,
    /// Words on the wire, markers included.
    pub words: Signal<Out, Bits<15>>,
    /// Beats these fill when the first one is in lane 0.
    pub beats: Signal<Out, Bits<15>>,
    /// `beats` is 1.
    pub single: Signal<Out, Bit>,
    /// The job holds the whole FPDU.
    pub whole: Signal<Out, Bit>,
    /// ULPDU_Length is over `SINGLE_PASS_ULPDU_OCTETS`.
    pub too_long: Signal<Out, Bit>,

    // Step 1: N and x = N + p - 2.
    addend: Signal<Local, Bits<17>>,
    rounded: Signal<Local, Bits<17>>,
    spread: Signal<Local, Bits<17>>,
    plain_words: DFF<Bits<15>>,
    position: DFF<Bits<15>>,
    long: DFF<Bit>,
    words_left_but_one: DFF<Bits<16>>,
    // Step 2: the quotient's parts.
    quotient: Signal<Local, Bits<8>>,
    rest: Signal<Local, Bits<7>>,
    fold: Signal<Local, Bits<9>>,
    reaches_127: DFF<Bit>,
    reaches_254: DFF<Bit>,
    marked_words: DFF<Bits<15>>,
    below_a_beat: DFF<Bit>,
    just_a_beat: DFF<Bit>,
    // Step 3.
    extra: Signal<Local, Bits<15>>,
    extra_round: Signal<Local, Bits<20>>,
    round_words: Signal<Local, Bits<20>>,
    wire_words: DFF<Bits<15>>,
    wire_beats: DFF<Bits<15>>,
    one_beat: DFF<Bit>,
    fits: DFF<Bit>,
    wide_marked: Signal<Local, Bits<16>>,

    #[constant(SINGLE_PASS_ULPDU_OCTETS as LiteralType)]
    single_pass: Constant<Bits<16>>,
    #[constant(1)]
    one: Constant<Bits<16>>,
    /// ceil(octets / 4).
    #[constant(3)]
    host_round: Constant<Bits<17>>,
    /// ceil((octets + 2) / 4) + 1 = floor((octets + 9) / 4).
    #[constant(9)]
    fpdu_round: Constant<Bits<17>>,
    /// x = floor((octets + 9) / 4) + p - 2 = floor((octets + 4 p + 1) / 4).
    #[constant(1)]
    round_up: Constant<Bits<17>>,
    #[constant(4 * 128 + 1)]
    lead_phase: Constant<Bits<17>>,
    #[constant(127)]
    group: Constant<Bits<9>>,
    #[constant(254)]
    two_groups: Constant<Bits<9>>,
    #[constant(lanes)]
    lanes: Constant<Bits<15>>,
    #[constant(lanes - 1)]
    round_0: Constant<Bits<20>>,
    #[constant(lanes)]
    round_1: Constant<Bits<20>>,
    #[constant(lanes + 1)]
    round_2: Constant<Bits<20>>,
}

impl<const LG: usize> Logic for FpduLength<LG> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; plain_words, position, long, words_left_but_one);
        registers!(clock; reaches_127, reaches_254, marked_words, below_a_beat, just_a_beat);
        registers!(clock; wire_words, wire_beats, one_beat, fits);

        // Step 1. Two sums of the length: the words without markers, and their position.
        self.rounded.next = bit_cast::<17, 16>(self.ulpdu_length.val()) + self.fpdu_round.val();
        self.addend.next = (bit_cast::<17, 7>(self.phase.val()) << 2) | self.round_up.val();
        if !self.phase.val().any() {
            self.addend.next = self.lead_phase.val();
        }
        if self.host.val() {
            self.rounded.next = bit_cast::<17, 16>(self.ulpdu_length.val()) + self.host_round.val();
        }
        self.spread.next = bit_cast::<17, 16>(self.ulpdu_length.val()) + self.addend.val();
        if self.sum.val() {
            self.plain_words.d.next = self.rounded.val().get_bits::<15>(2);
            self.position.d.next = 0.into();
            if self.markers.val() & !self.host.val() {
                self.position.d.next = self.spread.val().get_bits::<15>(2);
            }
            self.long.d.next = self.ulpdu_length.val() > self.single_pass.val();
            self.words_left_but_one.d.next = self.words_left.val() - self.one.val();
        }

        // Step 2. x / 127, up to the two corrections.
        self.quotient.next = self.position.q.val().get_bits::<8>(7);
        self.rest.next = self.position.q.val().get_bits::<7>(0);
        self.fold.next = bit_cast::<9, 8>(self.quotient.val()) + bit_cast::<9, 7>(self.rest.val());
        if self.divide.val() {
            self.reaches_127.d.next = self.fold.val() >= self.group.val();
            self.reaches_254.d.next = self.fold.val() >= self.two_groups.val();
            self.marked_words.d.next =
                self.plain_words.q.val() + bit_cast::<15, 8>(self.quotient.val());
            self.below_a_beat.d.next = self.plain_words.q.val() < self.lanes.val();
            self.just_a_beat.d.next =
                (self.plain_words.q.val() == self.lanes.val()) & !self.quotient.val().any();
        }

        // Step 3. The corrections, and three compares of which they choose one.
        self.extra.next = 0.into();
        self.extra_round.next = self.round_0.val();
        self.wide_marked.next = bit_cast::<16, 15>(self.marked_words.q.val());
        self.fits.d.next = self.fits.q.val();
        if self.decide.val() {
            self.fits.d.next = self.words_left.val() >= self.wide_marked.val();
        }
        if self.reaches_254.q.val() {
            self.extra.next = 2.into();
            self.extra_round.next = self.round_2.val();
            if self.decide.val() {
                self.fits.d.next = self.words_left_but_one.q.val() > self.wide_marked.val();
            }
        } else if self.reaches_127.q.val() {
            self.extra.next = 1.into();
            self.extra_round.next = self.round_1.val();
            if self.decide.val() {
                self.fits.d.next = self.words_left.val() > self.wide_marked.val();
            }
        }
        self.round_words.next =
            bit_cast::<20, 15>(self.marked_words.q.val()) + self.extra_round.val();
        if self.decide.val() {
            self.wire_words.d.next = self.marked_words.q.val() + self.extra.val();
            for lg in LG..(LG + 1) {
                self.wire_beats.d.next = self.round_words.val().get_bits::<15>(lg);
            }
            // So few words meet one marker at most.
            self.one_beat.d.next =
                self.below_a_beat.q.val() | (self.just_a_beat.q.val() & !self.reaches_127.q.val());
        }

        self.words.next = self.wire_words.q.val();
        self.beats.next = self.wire_beats.q.val();
        self.single.next = self.one_beat.q.val();
        self.whole.next = self.fits.q.val();
        self.too_long.next = self.long.q.val();
    }
}

/// Selects ULPDU_Length: from the window, at its next position, or from the arriving beat.
///
/// | latency    | none: combinational                                                        |
/// | units      | `ulpdu_length` in octets                                                   |
///
/// ULPDU_Length is octets 0 and 1 of an FPDU's first word, or of its second one after a leading
/// marker, most significant first (MPA-001, MPA-010).
#[derive(LogicBlock, Default)]
pub struct HeadWord {
    /// The FPDU opens with a marker.
    pub lead: Signal<In, Bit>,
    /// Word 0 of the FPDU, in the window.
    pub word_0: Signal<In, Bits<32>>,
    /// Word 1 of the FPDU, in the window.
    pub word_1: Signal<In, Bits<32>>,
    /// Word 0 is in the window.
    pub low_valid: Signal<In, Bit>,
    /// Word 1 is in the window too, if the job has it.
    pub usable: Signal<In, Bit>,
    /// The FPDU begins in lane 0.
    pub aligned: Signal<In, Bit>,
    /// A beat arrives at the window.
    pub arrives: Signal<In, Bit>,
    /// Word 0 of the arriving beat.
    pub arriving_0: Signal<In, Bits<32>>,
    /// Word 1 of the arriving beat.
    pub arriving_1: Signal<In, Bits<32>>,
    /// Looks ahead instead: the FPDU before is still in the window.
    pub ahead: Signal<In, Bit>,
    /// Word 0 of the next FPDU.
    pub peeked: Signal<In, Bits<32>>,
    pub peek_valid: Signal<In, Bit>,
    /// ULPDU_Length.
    pub ulpdu_length: Signal<Out, Bits<16>>,
    /// `ulpdu_length` is valid.
    pub valid: Signal<Out, Bit>,
    word: Signal<Local, Bits<32>>,
    high_octet: Signal<Local, Bits<8>>,
    low_octet: Signal<Local, Bits<8>>,
}

impl Logic for HeadWord {
    #[kernel]
    fn update(&mut self) {
        self.word.next = self.word_0.val();
        self.valid.next = self.low_valid.val();
        if self.lead.val() {
            self.word.next = self.word_1.val();
            self.valid.next = self.usable.val();
        }
        if !self.low_valid.val() & self.aligned.val() {
            self.valid.next = self.arrives.val();
            self.word.next = self.arriving_0.val();
            if self.lead.val() {
                self.word.next = self.arriving_1.val();
            }
        }
        if self.ahead.val() {
            self.word.next = self.peeked.val();
            self.valid.next = self.peek_valid.val();
        }
        self.high_octet.next = self.word.val().get_bits::<8>(0);
        self.low_octet.next = self.word.val().get_bits::<8>(8);
        self.ulpdu_length.next = (bit_cast::<16, 8>(self.high_octet.val()) << 8)
            | bit_cast::<16, 8>(self.low_octet.val());
    }
}

/// Words of the window that an FPDU takes, beat by beat, and the start of the next one; `2^LG`
/// words a beat.
///
/// | latency    | none to `wraps`; 1 cycle to every other output                             |
/// | throughput | one beat per cycle                                                         |
/// | units      | words of 4 octets, 2^LG a beat; beats                                      |
#[derive(LogicBlock, Init)]
pub struct FpduExtent<const LG: usize> {
    pub clock: Signal<In, Clock>,
    /// A job begins, in lane 0.
    pub clear: Signal<In, Bit>,
    /// A beat is handed on.
    pub send: Signal<In, Bit>,
    /// It is the first one of its FPDU.
    pub opens: Signal<In, Bit>,
    /// It is the last one of its FPDU.
    pub ends: Signal<In, Bit>,
    /// Words of the FPDU; hold from its first beat to its last.
    pub words: Signal<In, Bits<15>>,
    /// Beats of the FPDU, likewise.
    pub beats: Signal<In, Bits<15>>,
    /// Word of the window at which the FPDU's beats begin.
    pub offset: Signal<Out, Bits<LG>>,
    /// `offset` is 0.
    pub aligned: Signal<Out, Bit>,
    /// After the FPDU's last beat the low beat of the window is used up.
    pub wraps: Signal<Out, Bit>,
    /// Word at which the next FPDU begins; from the second beat of this one on.
    pub next_offset: Signal<Out, Bits<LG>>,
    /// It begins in the high beat of the window, likewise.
    pub next_wraps: Signal<Out, Bit>,
    /// The next beat is the FPDU's last; from its second beat on.
    pub final_next: Signal<Out, Bit>,
    start: DFF<Bits<LG>>,
    next_start: DFF<Bits<LG>>,
    wraps_late: DFF<Bit>,
    beats_left: DFF<Bits<15>>,
    is_final: DFF<Bit>,
    start_sum: Signal<Local, Bits<LG>>,
    wraps_now: Signal<Local, Bit>,
    #[constant(1)]
    one: Constant<Bits<15>>,
    #[constant(2)]
    two: Constant<Bits<15>>,
}

impl<const LG: usize> Logic for FpduExtent<LG> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; start, next_start, wraps_late, beats_left, is_final);
        // A last beat holds 1 to 2^LG words: the sum leaves the low beat behind unless it grew.
        self.start_sum.next = self.start.q.val() + self.words.val().get_bits::<LG>(0);
        self.wraps_now.next = self.start_sum.val() <= self.start.q.val();
        self.next_start.d.next = self.start_sum.val();
        self.wraps_late.d.next = self.wraps_now.val();
        if self.send.val() {
            self.beats_left.d.next = self.beats_left.q.val() - self.one.val();
            self.is_final.d.next = self.beats_left.q.val() == self.two.val();
            if self.opens.val() {
                self.beats_left.d.next = self.beats.val() - self.one.val();
                self.is_final.d.next = self.beats.val() == self.two.val();
            }
            if self.ends.val() {
                self.start.d.next = self.start_sum.val();
            }
        }
        if self.clear.val() {
            self.start.d.next = 0.into();
        }
        self.offset.next = self.start.q.val();
        self.aligned.next = !self.start.q.val().any();
        self.wraps.next = self.wraps_now.val();
        self.next_offset.next = self.next_start.q.val();
        self.next_wraps.next = self.wraps_late.q.val();
        self.final_next.next = self.is_final.q.val();
    }
}

#[cfg(test)]
mod tests;
