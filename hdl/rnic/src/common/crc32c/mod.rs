//! Checks the CRC32C of streamed FPDUs, one beat of `D` bits per cycle.
//!
//! ```text
//!          stage 1               stage 2              stage 3                 stage 4
//! data --> 32-bit XOR per word -> XOR of the words --> state = state*x^D + .. --> state == R_k?
//! ```
//!
//! | latency    | 4 cycles, the beat with `last` to `verdict_valid`                        |
//! | throughput | one beat per cycle; an FPDU may follow another back to back              |
//! | units      | a word is 32 bits; lane 0 is `data[31:0]`; octet 0 is bits 7:0           |
//! | source     | MPA-020 (reflected CRC32C, all-ones start, complemented), RFC 3720 12.1  |
//!
//! ECP5-5G -8, out of context: 128 bits 294 MHz (884 LUT4, 241 registers), 512 bits 280 MHz (2633
//! LUT4, 625 registers).
//!
//! An FPDU enters with its own CRC field at the end. Processing a message and its CRC leaves one
//! constant, whatever the message, and `k` zero words after it leave another, `R_k`; so the
//! verdict is a compare, and a last beat of any number of words costs no second network. The
//! all-ones start is the start from zero with the first word complemented.
pub mod matrix;
pub mod network;

use network::{Reduce, Residue, StateStep};
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Running CRC32C over beats of `D` bits; `D` is a multiple of 32, at most 512.
#[derive(LogicBlock, Default)]
pub struct Crc32cStream<const D: usize> {
    pub clock: Signal<In, Clock>,
    /// Synchronous; discards beats in flight, so they give no verdict.
    pub reset: Signal<In, Bit>,
    /// This cycle carries a beat; gaps between beats are allowed anywhere.
    pub valid: Signal<In, Bit>,
    /// The beat. In the last one every word beyond the FPDU is zero.
    pub data: Signal<In, Bits<D>>,
    /// The beat starts an FPDU, in lane 0.
    pub first: Signal<In, Bit>,
    /// The beat holds the FPDU's CRC field.
    pub last: Signal<In, Bit>,
    /// With `last`: words of this beat beyond the FPDU, `0..D/32`.
    pub tail_zero_words: Signal<In, Bits<4>>,
    /// One cycle per FPDU, in order.
    pub verdict_valid: Signal<Out, Bit>,
    /// With `verdict_valid`: the CRC field agrees with the octets before it.
    pub verdict_good: Signal<Out, Bit>,
    reduce: Reduce<D>,
    state_step: StateStep<D>,
    residue: Residue,
    valid_q1: DFF<Bit>,
    valid_q2: DFF<Bit>,
    first_q1: DFF<Bit>,
    first_q2: DFF<Bit>,
    last_q1: DFF<Bit>,
    last_q2: DFF<Bit>,
    tail_q1: DFF<Bits<4>>,
    tail_q2: DFF<Bits<4>>,
    state: DFF<Bits<32>>,
    // What the state must be, and whether it is the final state of an FPDU.
    expected: DFF<Bits<32>>,
    is_final: DFF<Bit>,
    good: DFF<Bit>,
    good_valid: DFF<Bit>,
}

impl<const D: usize> Logic for Crc32cStream<D> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; valid_q1, valid_q2, first_q1, first_q2, last_q1, last_q2);
        registers!(clock; tail_q1, tail_q2, state, expected, is_final, good, good_valid);
        wire!(self => self.reduce; clock, data, first);
        // Stages 1 and 2: the flags walk beside the data.
        self.valid_q1.d.next = self.valid.val();
        self.valid_q2.d.next = self.valid_q1.q.val();
        self.first_q1.d.next = self.first.val();
        self.first_q2.d.next = self.first_q1.q.val();
        self.last_q1.d.next = self.last.val();
        self.last_q2.d.next = self.last_q1.q.val();
        self.tail_q1.d.next = self.tail_zero_words.val();
        self.tail_q2.d.next = self.tail_q1.q.val();
        // Stage 3: the only loop, 32 bits.
        self.state_step.state.next = self.state.q.val();
        self.residue.words.next = self.tail_q2.q.val();
        if self.valid_q2.q.val() {
            self.state.d.next = self.state_step.stepped.val() ^ self.reduce.reduced.val();
            if self.first_q2.q.val() {
                self.state.d.next = self.reduce.reduced.val();
            }
        }
        self.expected.d.next = self.residue.residue.val();
        self.is_final.d.next = self.valid_q2.q.val() & self.last_q2.q.val();
        // Stage 4.
        self.good.d.next = self.state.q.val() == self.expected.q.val();
        self.good_valid.d.next = self.is_final.q.val();
        self.verdict_good.next = self.good.q.val();
        self.verdict_valid.next = self.good_valid.q.val();
        if self.reset.val() {
            self.valid_q1.d.next = false;
            self.valid_q2.d.next = false;
            self.is_final.d.next = false;
            self.good_valid.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
