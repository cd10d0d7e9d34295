//! Captures the first four words of the TCP header, wherever they stand.
//!
//! ```text
//! beat, payload_start --> [ lanes turned, is it this beat? ] --> [ kept words ] --> words
//! ```
//!
//! | latency    | 2 cycles                                                               |
//! | throughput | one beat per cycle                                                     |
//! | units      | words as octet strings, octet 0 in bits 7:0                            |
//! | ensures    | two cycles after a frame's last beat the words are that frame's        |
//! | source     | RFC 9293, 3.1                                                          |
//!
//! ```text
//! word 0  source port, destination port        word 2  acknowledgment number
//! word 1  sequence number                      word 3  data offset, flags, window
//! ```
use crate::receive::front_end::ethernet::beat::FrameControl;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// TCP header words out of beats of `W` bits, `L` words.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        W == 32 * L && L.is_power_of_two(),
        "TcpHead: W = {W} must be 32 L of L = {L}, a power of two"
    );
)]
pub struct TcpHead<const W: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub control: Signal<In, FrameControl>,
    /// Its octets.
    pub data: Signal<In, Bits<W>>,
    /// Word of the stored frame at which the TCP header begins.
    pub payload_start: Signal<In, Bits<5>>,
    /// Ports.
    pub word0: Signal<Out, Bits<32>>,
    /// Sequence number.
    pub word1: Signal<Out, Bits<32>>,
    /// Acknowledgment number.
    pub word2: Signal<Out, Bits<32>>,
    /// Data offset, flags, window.
    pub word3: Signal<Out, Bits<32>>,
    // First cycle: what word j would be, and whether it is.
    candidate: [DFF<Bits<32>>; 4],
    is_here: [DFF<Bit>; 4],
    // Second cycle: the words.
    kept: [DFF<Bits<32>>; 4],
    position: [Signal<Local, Bits<8>>; 4],
    row: [Signal<Local, Bits<8>>; 4],
    bit_offset: [Signal<Local, Bits<9>>; 4],
    lane: Signal<Local, Bits<8>>,
    #[constants(|word| word as LiteralType)]
    word_number: [Constant<Bits<8>>; 4],
    #[constant(LiteralType::from(L.trailing_zeros()))]
    row_shift: Constant<Bits<3>>,
    #[constant(L as LiteralType - 1)]
    lane_mask: Constant<Bits<8>>,
}

impl<const W: usize, const L: usize> Logic for TcpHead<W, L> {
    #[kernel]
    fn update(&mut self) {
        for j in 0..4 {
            self.candidate[j].clock.next = self.clock.val();
            self.is_here[j].clock.next = self.clock.val();
            self.kept[j].clock.next = self.clock.val();
            self.position[j].next =
                bit_cast::<8, 5>(self.payload_start.val()) + self.word_number[j].val();
            self.row[j].next = self.position[j].val() >> self.row_shift.val();
            self.lane.next = self.position[j].val() & self.lane_mask.val();
            self.bit_offset[j].next = bit_cast::<9, 8>(self.lane.val()) << 5;
            self.candidate[j].d.next = self
                .data
                .val()
                .get_bits::<32>(self.bit_offset[j].val().index());
            self.is_here[j].d.next = self.control.val().valid
                & (bit_cast::<8, 4>(self.control.val().row) == self.row[j].val());
            self.kept[j].d.next = self.kept[j].q.val();
            if self.is_here[j].q.val() {
                self.kept[j].d.next = self.candidate[j].q.val();
            }
        }
        self.word0.next = self.kept[0].q.val();
        self.word1.next = self.kept[1].q.val();
        self.word2.next = self.kept[2].q.val();
        self.word3.next = self.kept[3].q.val();
    }
}

#[cfg(test)]
mod tests;
