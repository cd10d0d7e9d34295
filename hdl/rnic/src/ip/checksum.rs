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
use crate::ethernet::beat::{FrameControl, LinkInfo};
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
        dff_setup!(self, clock, first);
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
mod tests {
    use super::*;
    use crate::ethernet::testing::{link, stored};
    use rnic_hdl_tools::testkit::{settle, tick, Random};

    /// Headers of every length behind 0 to 2 tags, right and with one bit wrong.
    macro_rules! judges {
        ($width:literal, $block:ty) => {{
            let mut random = Random::from_environment();
            let mut uut = <$block>::default();
            uut.connect_all();
            settle(&mut uut);
            for (tags, words) in (0..3).flat_map(|tags| (5..16).map(move |words| (tags, words))) {
                for wrong in [false, true] {
                    let at = 14 + 4 * tags as usize;
                    let mut frame: Vec<u8> = (0..100).map(|_| random.bits() as u8).collect();
                    let header = &mut frame[at..at + 4 * words];
                    header[10..12].fill(0);
                    let sum = header
                        .chunks(2)
                        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
                        .sum::<u32>();
                    let folded = (sum & 0xffff) + (sum >> 16);
                    let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
                    header[10..12].copy_from_slice(&checksum.to_be_bytes());
                    header[random.below(4 * words as u64) as usize] ^= u8::from(wrong);
                    uut.link.next = link(tags, false);
                    uut.payload_start.next = ((2 + at) as u64 / 4 + words as u64).into();
                    let mut later = Default::default();
                    for (control, data) in stored::<$width>(&frame, &mut random) {
                        uut.control.next = control;
                        uut.data_later.next = later;
                        later = data;
                        tick(&mut uut, |uut| &mut uut.clock);
                    }
                    uut.control.next.valid = false;
                    uut.data_later.next = later;
                    tick(&mut uut, |uut| &mut uut.clock);
                    tick(&mut uut, |uut| &mut uut.clock);
                    assert_eq!(
                        uut.good.val(),
                        !wrong,
                        "{tags} tags, {words} words, {random}"
                    );
                }
            }
        }};
    }

    #[test]
    fn right_headers_of_every_length_are_good_and_a_wrong_bit_is_found() {
        judges!(64, HeaderChecksum<64, 2, 8, 1, 64, 8, 64, 8>);
        judges!(128, HeaderChecksum<128, 4, 16, 1, 128, 16, 64, 8>);
        judges!(512, HeaderChecksum<512, 16, 64, 4, 128, 16, 160, 20>);
    }
}
