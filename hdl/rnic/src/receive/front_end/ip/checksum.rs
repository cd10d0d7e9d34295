//! IPv4 header checksum.
//!
//! ```text
//! beat --> [ which words are header ] --> [ StreamSum ] --> good
//! ```
//!
//! | latency    | 3 cycles, beat to `good`                                                    |
//! | throughput | one beat per cycle                                                          |
//! | ensures    | three cycles after the frame's last beat `good` is that frame's, if the     |
//! |            | frame has an IPv4 header that is not malformed                              |
//! | source     | RFC 791, 3.1; RFC 1071, 1: the sum, checksum included, is all ones          |
//!
//! `payload_start` must be right from the beat with word `payload_floor` on; up to there all words
//! from the start of the network layer are header in any case.
use super::stream_sum::StreamSum;
use crate::receive::front_end::ethernet::beat::{FrameControl, LinkInfo};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Header checksum for beats of `W` bits, `L` words; the others: see [`StreamSum`].
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        W == 32 * L && K == 4 * L && L.is_power_of_two(),
        "HeaderChecksum: W = {W}, K = {K} must be 32 L, 4 L of L = {L}, a power of two"
    );
)]
pub struct HeaderChecksum<
    const W: usize,
    const L: usize,
    const K: usize,
    const G: usize,
    const NW: usize,
    const KN: usize,
    const AW: usize,
    const AK: usize,
> {
    pub clock: Signal<In, Clock>,
    pub control: Signal<In, FrameControl>,
    pub link: Signal<In, LinkInfo>,
    /// First word behind the header.
    pub payload_start: Signal<In, Bits<5>>,
    /// The beat of one cycle ago.
    pub data_later: Signal<In, Bits<W>>,
    /// The sum until the beat of three cycles ago is right.
    pub good: Signal<Out, Bit>,
    stream_sum: StreamSum<W, K, G, NW, KN, AW, AK>,
    in_header: [DFF<Bit>; L],
    first: DFF<Bit>,
    row_words: Signal<Local, Bits<8>>,
    position: [Signal<Local, Bits<8>>; L],
    keep: Signal<Local, Bits<K>>,
    total: Signal<Local, Bits<32>>,
    sum: Signal<Local, Bits<16>>,
    carry: Signal<Local, Bits<16>>,
    differ: Signal<Local, Bits<16>>,
    #[constants(|lane| lane as LiteralType)]
    lane_number: [Constant<Bits<8>>; L],
    #[constants(|lane| 4 * lane as LiteralType)]
    octet_place: [Constant<Bits<8>>; L],
    #[constant(LiteralType::from(L.trailing_zeros()))]
    row_shift: Constant<Bits<3>>,
    #[constant(15)]
    whole_word: Constant<Bits<K>>,
}

impl<
        const W: usize,
        const L: usize,
        const K: usize,
        const G: usize,
        const NW: usize,
        const KN: usize,
        const AW: usize,
        const AK: usize,
    > Logic for HeaderChecksum<W, L, K, G, NW, KN, AW, AK>
{
    #[kernel]
    fn update(&mut self) {
        registers!(clock; first);
        wire!(self => self.stream_sum; clock, data_later as data);
        self.first.d.next = self.control.val().valid & self.control.val().first;
        self.stream_sum.first.next = self.first.q.val();
        self.row_words.next = bit_cast::<8, 4>(self.control.val().row) << self.row_shift.val();
        self.keep.next = 0.into();
        for i in 0..L {
            self.in_header[i].clock.next = self.clock.val();
            self.position[i].next = self.row_words.val() | self.lane_number[i].val();
            self.in_header[i].d.next = self.control.val().valid
                & (self.position[i].val() >= bit_cast::<8, 3>(self.link.val().start))
                & ((self.position[i].val() < bit_cast::<8, 5>(self.link.val().payload_floor))
                    | (self.position[i].val() < bit_cast::<8, 5>(self.payload_start.val())));
            if self.in_header[i].q.val() {
                self.keep.next =
                    self.keep.val() | (self.whole_word.val() << self.octet_place[i].val());
            }
        }
        self.stream_sum.keep.next = self.keep.val();

        self.total.next = self.stream_sum.total.val();
        self.sum.next = self.total.val().get_bits::<16>(0);
        self.carry.next = self.total.val().get_bits::<16>(16);
        self.differ.next = self.sum.val() ^ self.carry.val();
        self.good.next = self.differ.val().all() | (self.sum.val().all() & self.carry.val().all());
    }
}

#[cfg(test)]
mod tests;
