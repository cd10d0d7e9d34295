//! Finisher: the CRC32C and the checksum of a frame whose octets are all in the store.
//!
//! ```text
//! start --> Wait --> Octets --> Words --> Turn --> Add --> Join --> Fold --> Push --> patch
//!            |          |         |        |                  |       +-- checksum
//!     sum, crc_state    +-- take off zeros |                  +-- sum and CRC octets
//!                                          +-- CRC octets in their lanes
//! ```
//!
//! | latency    | 10 cycles from `start` to `patch_valid`; with a CRC up to 1 + 3 + K/4 more   |
//! | throughput | one frame in that time                                                       |
//! | units      | octets                                                                       |
//! | source     | RFC 1071; RFC 5044 section 4.4                                               |
//!
//! `crc_state` has gone over the CRC's place, four octets, and over the rest of that beat, all
//! taken as zeros. A step over a zero octet is a linear map with an inverse, so these are taken off
//! again, octets first, then words.
//!
//! Sums do not depend on the order of octets in a word (RFC 1071, section 2 B): octets at even
//! places are low halves here, those at odd places high halves, wherever the sum begins. The
//! checksum and the CRC's octets are put into those lanes, too.
use super::types::*;
use crate::common::crc32c::network::StateBack;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// What is done with the frame at hand.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum FinishState {
    Idle,
    Wait,
    Octets,
    Words,
    Turn,
    Add,
    Join,
    Fold,
    Push,
}

/// Cycles of `Wait` in which `sum` and `crc_state` are those of the whole frame: 3 and 5 cycles
/// from `start`.
const SUM_CYCLE: LiteralType = 1;
const CRC_CYCLE: LiteralType = 3;

/// Finisher for beats of `2^O` octets; `P = O - 2`.
#[derive(LogicBlock, Init)]
#[init(
    assert!(P + 2 == O, "Finisher: P = {P} must be O - 2, O = {O}");
)]
pub struct Finisher<const O: usize, const P: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Only while `ready`.
    pub start: Signal<In, Bit>,
    /// The frame's, in the cycle after `start`.
    pub job: Signal<In, FrameJob>,
    pub ready: Signal<Out, Bit>,
    /// From intake: total is 15:0 plus 31:16.
    pub sum: Signal<In, Bits<32>>,
    /// From intake: not complemented.
    pub crc_state: Signal<In, Bits<32>>,
    pub patch: Signal<Out, FramePatch>,
    pub patch_valid: Signal<Out, Bit>,
    pub patch_ready: Signal<In, Bit>,
    one_octet_back: StateBack<1>,
    one_word_back: StateBack<4>,
    // `start`, from far away.
    starts: DFF<Bit>,
    state: DFF<FinishState>,
    cycle: DFF<Bits<3>>,
    current: DFF<FrameJob>,
    total: DFF<Bits<32>>,
    crc: DFF<Bits<32>>,
    // Octets and words to take off.
    octets: DFF<Bits<2>>,
    words: DFF<Bits<O>>,
    // The CRC's octets that the sum counts, none of them if it begins after them.
    sum_behind: DFF<Bit>,
    sum_far: DFF<Bit>,
    skipped: DFF<Bits<14>>,
    turned: DFF<Bits<32>>,
    counted: DFF<Bits<32>>,
    sum_1: DFF<Bits<17>>,
    sum_2: DFF<Bits<17>>,
    sum_all: DFF<Bits<18>>,
    folded: DFF<Bits<17>>,
    place: Signal<Local, Bits<14>>,
    place_low: Signal<Local, Bits<O>>,
    over: Signal<Local, Bits<O>>,
    over_words: Signal<Local, Bits<P>>,
    skipped_now: Signal<Local, Bits<14>>,
    skipped_octets: Signal<Local, Bits<5>>,
    two_bits: Signal<Local, Bits<2>>,
    value: Signal<Local, Bits<32>>,
    value_counted: Signal<Local, Bits<32>>,
    low_half: Signal<Local, Bits<16>>,
    carry_half: Signal<Local, Bits<16>>,
    low_crc: Signal<Local, Bits<16>>,
    high_crc: Signal<Local, Bits<16>>,
    all_low: Signal<Local, Bits<16>>,
    all_high: Signal<Local, Bits<2>>,
    folded_low: Signal<Local, Bits<16>>,
    folded_carry: Signal<Local, Bits<16>>,
    checksum: Signal<Local, Bits<16>>,
    #[constant(1)]
    one_cycle: Constant<Bits<3>>,
    #[constant(SUM_CYCLE)]
    sum_cycle: Constant<Bits<3>>,
    #[constant(CRC_CYCLE)]
    crc_cycle: Constant<Bits<3>>,
    #[constant(1)]
    one_octet: Constant<Bits<2>>,
    #[constant(1)]
    one_word: Constant<Bits<O>>,
    // Modulo the octets of a beat.
    #[constant((1 << O) - 4 as LiteralType)]
    minus_four: Constant<Bits<O>>,
    #[constant(u32::MAX as LiteralType)]
    ones: Constant<Bits<32>>,
}

impl<const O: usize, const P: usize> Logic for Finisher<O, P> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; starts, state, cycle, current, total, crc, octets, words, sum_behind);
        registers!(clock; sum_far, skipped, turned, counted, sum_1, sum_2, sum_all, folded);
        self.starts.d.next = self.start.val();
        self.ready.next = (self.state.q.val() == FinishState::Idle) & !self.starts.q.val();
        self.one_octet_back.state.next = self.crc.q.val();
        self.one_word_back.state.next = self.crc.q.val();

        // Octets from the end of the CRC's place to the end of its beat.
        self.place.next = self.current.q.val().crc_place;
        self.place_low.next = self.place.val().get_bits::<O>(0);
        self.over.next = self.minus_four.val() - self.place_low.val();
        self.over_words.next = self.over.val().get_bits::<P>(2);
        self.skipped_now.next = self.current.q.val().sum_start - self.place.val();
        self.skipped.d.next = self.skipped_now.val();
        self.sum_behind.d.next = self.current.q.val().sum_start > self.place.val();
        self.sum_far.d.next = self.skipped_now.val() > 3;

        // The CRC as it is sent, and that part of it which the sum counts, each in its lanes.
        self.two_bits.next = self.skipped.q.val().get_bits::<2>(0);
        self.skipped_octets.next = bit_cast::<5, 2>(self.two_bits.val()) << 3;
        self.value.next = !self.crc.q.val();
        if !self.current.q.val().has_crc {
            self.value.next = 0.into();
        }
        self.value_counted.next = self.value.val();
        if self.sum_behind.q.val() {
            self.value_counted.next =
                self.value.val() & (self.ones.val() << self.skipped_octets.val());
            if self.sum_far.q.val() {
                self.value_counted.next = 0.into();
            }
        }
        if self.place.val().get_bit(0) {
            self.value.next = (self.value.val() << 8) | (self.value.val() >> 24);
            self.value_counted.next =
                (self.value_counted.val() << 8) | (self.value_counted.val() >> 24);
        }
        if self.place.val().get_bit(1) {
            self.value.next = (self.value.val() << 16) | (self.value.val() >> 16);
            self.value_counted.next =
                (self.value_counted.val() << 16) | (self.value_counted.val() >> 16);
        }
        self.turned.d.next = self.value.val();
        self.counted.d.next = self.value_counted.val();

        // The ones' complement sum. It is zero only if every octet is.
        self.low_half.next = self.total.q.val().get_bits::<16>(0);
        self.carry_half.next = self.total.q.val().get_bits::<16>(16);
        self.low_crc.next = self.counted.q.val().get_bits::<16>(0);
        self.high_crc.next = self.counted.q.val().get_bits::<16>(16);
        self.sum_1.d.next =
            bit_cast::<17, 16>(self.low_half.val()) + bit_cast::<17, 16>(self.carry_half.val());
        self.sum_2.d.next =
            bit_cast::<17, 16>(self.low_crc.val()) + bit_cast::<17, 16>(self.high_crc.val());
        self.sum_all.d.next =
            bit_cast::<18, 17>(self.sum_1.q.val()) + bit_cast::<18, 17>(self.sum_2.q.val());
        self.all_low.next = self.sum_all.q.val().get_bits::<16>(0);
        self.all_high.next = self.sum_all.q.val().get_bits::<2>(16);
        self.folded.d.next =
            bit_cast::<17, 16>(self.all_low.val()) + bit_cast::<17, 2>(self.all_high.val());
        self.folded_low.next = self.folded.q.val().get_bits::<16>(0);
        self.folded_carry.next = 0.into();
        if self.folded.q.val().get_bit(16) {
            self.folded_carry.next = 1.into();
        }
        self.checksum.next = self.folded_low.val() + self.folded_carry.val();

        match self.state.q.val() {
            FinishState::Idle => {
                self.current.d.next = self.job.val();
                self.cycle.d.next = 0.into();
                if self.starts.q.val() {
                    self.state.d.next = FinishState::Wait;
                }
            }
            FinishState::Wait => {
                self.cycle.d.next = self.cycle.q.val() + self.one_cycle.val();
                self.octets.d.next = self.over.val().get_bits::<2>(0);
                self.words.d.next = bit_cast::<O, P>(self.over_words.val()) + self.one_word.val();
                if self.cycle.q.val() == self.sum_cycle.val() {
                    self.total.d.next = self.sum.val();
                }
                if self.cycle.q.val() == self.crc_cycle.val() {
                    self.crc.d.next = self.crc_state.val();
                    self.state.d.next = FinishState::Turn;
                    if self.current.q.val().has_crc {
                        self.state.d.next = FinishState::Octets;
                    }
                }
            }
            FinishState::Octets => {
                if self.octets.q.val().any() {
                    self.octets.d.next = self.octets.q.val() - self.one_octet.val();
                    self.crc.d.next = self.one_octet_back.earlier.val();
                } else {
                    self.state.d.next = FinishState::Words;
                }
            }
            // There is at least one: the place itself.
            FinishState::Words => {
                self.words.d.next = self.words.q.val() - self.one_word.val();
                self.crc.d.next = self.one_word_back.earlier.val();
                if self.words.q.val() == self.one_word.val() {
                    self.state.d.next = FinishState::Turn;
                }
            }
            FinishState::Turn => self.state.d.next = FinishState::Add,
            FinishState::Add => self.state.d.next = FinishState::Join,
            FinishState::Join => self.state.d.next = FinishState::Fold,
            FinishState::Fold => self.state.d.next = FinishState::Push,
            FinishState::Push => {
                if self.patch_ready.val() {
                    self.state.d.next = FinishState::Idle;
                }
            }
            _ => {}
        }
        self.patch.next.octets = self.current.q.val().octets;
        self.patch.next.has_checksum = self.current.q.val().has_checksum;
        self.patch.next.checksum_place = self.current.q.val().checksum_place;
        self.patch.next.checksum = !self.checksum.val();
        self.patch.next.has_crc = self.current.q.val().has_crc;
        self.patch.next.crc_place = self.place.val();
        self.patch.next.crc = self.turned.q.val();
        self.patch_valid.next = self.state.q.val() == FinishState::Push;
        if self.reset.val() {
            self.starts.d.next = false;
            self.state.d.next = FinishState::Idle;
        }
    }
}

#[cfg(test)]
mod tests;
