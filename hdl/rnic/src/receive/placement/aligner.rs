//! Makes a beat of a TLP from two neighbouring beats of the placement buffer.
//!
//! ```text
//!      older           newer
//!  |....|####|####|####|##..|....|      window: begins rotation + 1 octets into the older beat
//!        \________________/
//!          words, then octets          two stages
//! ```
//!
//! | latency    | 2 cycles, `emit` to `valid`              |
//! | throughput | one beat per cycle; no backpressure      |
//! | units      | `rotation` in octets, less one           |
use super::plan::BeatSide;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Window over two beats of `D` bits; `E = D + 32` and `P = 2 D`.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        (D == 128 || D == 512) && E == D + 32 && P == 2 * D,
        "Aligner: D = {D} must be 128 or 512, E = {E} must be D + 32, P = {P} must be 2 D"
    );
)]
pub struct Aligner<const D: usize, const E: usize, const P: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The beat that waits in the placement buffer: the newer one.
    pub newer: Signal<In, Bits<D>>,
    /// It is taken and becomes the older one.
    pub take: Signal<In, Bit>,
    /// Makes a beat.
    pub emit: Signal<In, Bit>,
    /// Octets of the older beat in front of the window, less one.
    pub rotation: Signal<In, Bits<6>>,
    /// Marks that go with the beat.
    pub side: Signal<In, BeatSide>,
    /// The beat.
    pub data: Signal<Out, Bits<D>>,
    /// Its marks.
    pub data_side: Signal<Out, BeatSide>,
    /// For one cycle: `data` and `data_side` count.
    pub valid: Signal<Out, Bit>,
    older: DFF<Bits<D>>,
    words: DFF<Bits<E>>,
    octets: DFF<Bits<D>>,
    word_side: DFF<BeatSide>,
    octet_side: DFF<BeatSide>,
    word_valid: DFF<Bit>,
    octet_valid: DFF<Bit>,
    within_word: DFF<Bits<2>>,
    pair: Signal<Local, Bits<P>>,
    shifted: Signal<Local, Bits<P>>,
    word_shift: Signal<Local, Bits<9>>,
    octet_shift: Signal<Local, Bits<6>>,
    windowed: Signal<Local, Bits<E>>,
    #[constant(D as LiteralType)]
    beat_bits: Constant<Bits<10>>,
}

impl<const D: usize, const E: usize, const P: usize> Logic for Aligner<D, E, P> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; older, words, octets, word_side, octet_side);
        registers!(clock; word_valid, octet_valid, within_word);
        if self.take.val() {
            self.older.d.next = self.newer.val();
        }
        // Words: the window's word and the L that follow it.
        self.pair.next = bit_cast::<P, D>(self.older.q.val())
            | (bit_cast::<P, D>(self.newer.val()) << self.beat_bits.val());
        self.word_shift.next = bit_cast::<9, 6>(self.rotation.val() >> 2) << 5;
        self.shifted.next = self.pair.val() >> self.word_shift.val();
        self.words.d.next = self.shifted.val().get_bits::<E>(0);
        self.within_word.d.next = self.rotation.val().get_bits::<2>(0);
        self.word_side.d.next = self.side.val();
        self.word_valid.d.next = self.emit.val();
        // Octets: 1 to 4 more.
        self.octet_shift.next = (bit_cast::<6, 2>(self.within_word.q.val()) << 3) + 8;
        self.windowed.next = self.words.q.val() >> self.octet_shift.val();
        self.octets.d.next = self.windowed.val().get_bits::<D>(0);
        self.octet_side.d.next = self.word_side.q.val();
        self.octet_valid.d.next = self.word_valid.q.val();

        self.data.next = self.octets.q.val();
        self.data_side.next = self.octet_side.q.val();
        self.valid.next = self.octet_valid.q.val();
        if self.reset.val() {
            self.word_valid.d.next = false;
            self.octet_valid.d.next = false;
        }
    }
}
