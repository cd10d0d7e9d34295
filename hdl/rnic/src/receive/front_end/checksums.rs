//! Checksums: are the IPv4 header checksum and the TCP checksum right?
//!
//! | throughput | one beat per cycle                                                          |
//! | ensures    | three cycles after the frame's last beat each `good` is that frame's, if    |
//! |            | its IP header is not malformed                                              |
//! | units      | words of four octets from the start of the stored frame                     |
//!
//! `payload_start` and `ip_end` must be right from the beat with word `payload_floor` on: the words
//! before it are header in any case.
use crate::receive::front_end::headers::{LinkInfo, OctetPair};
use crate::receive::front_end::intake::FrameControl;
use crate::receive::front_end::ones_sum::StreamSum;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// IPv4 header checksum for beats of `W` bits, `L` words; the others: see [`StreamSum`].
///
/// ```text
/// beat --> [ which words are header ] --> [ StreamSum ] --> good
/// ```
///
/// | latency | 3 cycles, beat to `good`                                                  |
/// | source  | RFC 791, 3.1; RFC 1071, 1: the sum, checksum included, is all ones        |
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
    /// First word after the header.
    pub payload_start: Signal<In, Bits<5>>,
    /// The octets of the previous cycle's beat.
    pub data_later: Signal<In, Bits<W>>,
    /// The sum up to the beat of three cycles ago is right.
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

/// TCP checksum for beats of `W` bits, `L` words; the others: see [`StreamSum`].
///
/// ```text
/// beat --> [ which octets count ] --> [ StreamSum ] --+--> good
/// segment_octets --> [ + 6, octets swapped ] ---------/
/// ```
///
/// | latency | 3 cycles, beat to `good`; 1 cycle, `segment_octets` to `good`             |
/// | source  | RFC 9293, 3.1 (checksum); RFC 8200, 8.1 (IPv6 pseudo header)              |
///
/// The addresses of the pseudo header are summed where they are in the IP header. Ethernet padding,
/// from `ip_end` on, is not summed.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        W == 32 * L && K == 4 * L && L.is_power_of_two(),
        "TcpChecksum: W = {W}, K = {K} must be 32 L, 4 L of L = {L}, a power of two"
    );
)]
pub struct TcpChecksum<
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
    /// First word of the segment.
    pub payload_start: Signal<In, Bits<5>>,
    /// First octet after the segment, from the start of the stored frame.
    pub ip_end: Signal<In, Bits<17>>,
    /// The octets of the previous cycle's beat.
    pub data_later: Signal<In, Bits<W>>,
    /// Octets of the segment, one cycle before `good` is sampled.
    pub segment_octets: Signal<In, Bits<16>>,
    /// The sum up to the beat of three cycles ago is right.
    pub good: Signal<Out, Bit>,
    stream_sum: StreamSum<W, K, G, NW, KN, AW, AK>,
    lane_keep: [DFF<Bits<4>>; L],
    first: DFF<Bit>,
    length_term: DFF<Bits<16>>,
    row_words: Signal<Local, Bits<8>>,
    position: [Signal<Local, Bits<8>>; L],
    is_address: [Signal<Local, Bit>; L],
    is_payload: [Signal<Local, Bit>; L],
    is_whole: [Signal<Local, Bit>; L],
    is_end: [Signal<Local, Bit>; L],
    end_word: Signal<Local, Bits<17>>,
    end_beat: Signal<Local, Bits<17>>,
    end_lane: Signal<Local, Bits<17>>,
    end_octets: Signal<Local, Bits<17>>,
    end_keep: Signal<Local, Bits<4>>,
    earlier: Signal<Local, Bit>,
    ends_here: Signal<Local, Bit>,
    one_keep: Signal<Local, Bits<4>>,
    keep: Signal<Local, Bits<K>>,
    length: Signal<Local, Bits<16>>,
    swapped: Signal<Local, OctetPair>,
    total: Signal<Local, Bits<32>>,
    sum: Signal<Local, Bits<16>>,
    carry: Signal<Local, Bits<16>>,
    majority: Signal<Local, Bits<16>>,
    last_sum: Signal<Local, Bits<16>>,
    last_carry: Signal<Local, Bits<16>>,
    differ: Signal<Local, Bits<16>>,
    #[constants(|lane| lane as LiteralType)]
    lane_number: [Constant<Bits<8>>; L],
    #[constants(|lane| lane as LiteralType)]
    lane_index: [Constant<Bits<17>>; L],
    #[constants(|lane| 4 * lane as LiteralType)]
    octet_place: [Constant<Bits<8>>; L],
    #[constant(LiteralType::from(L.trailing_zeros()))]
    row_shift: Constant<Bits<3>>,
    #[constant((L - 1) as LiteralType)]
    lane_mask: Constant<Bits<17>>,
    #[constant(3)]
    octet_mask: Constant<Bits<17>>,
    #[constants(|octet| octet as LiteralType)]
    octet_number: [Constant<Bits<17>>; 4],
    /// Protocol 6 of the pseudo header.
    #[constant(6)]
    protocol_tcp: Constant<Bits<16>>,
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
    > Logic for TcpChecksum<W, L, K, G, NW, KN, AW, AK>
{
    #[kernel]
    fn update(&mut self) {
        registers!(clock; first, length_term);
        wire!(self => self.stream_sum; clock, data_later as data);
        self.first.d.next = self.control.val().valid & self.control.val().first;
        self.stream_sum.first.next = self.first.q.val();

        // The end of the segment: beat, lane, octets in that lane.
        self.end_word.next = self.ip_end.val() >> 2;
        self.end_beat.next = self.end_word.val() >> self.row_shift.val();
        self.end_lane.next = self.end_word.val() & self.lane_mask.val();
        self.end_octets.next = self.ip_end.val() & self.octet_mask.val();
        self.end_keep.next = 0.into();
        if self.end_octets.val() == self.octet_number[1].val() {
            self.end_keep.next = 1.into();
        }
        if self.end_octets.val() == self.octet_number[2].val() {
            self.end_keep.next = 3.into();
        }
        if self.end_octets.val() == self.octet_number[3].val() {
            self.end_keep.next = 7.into();
        }
        self.earlier.next = bit_cast::<17, 11>(self.control.val().beat) < self.end_beat.val();
        self.ends_here.next = bit_cast::<17, 11>(self.control.val().beat) == self.end_beat.val();

        self.row_words.next = bit_cast::<8, 4>(self.control.val().row) << self.row_shift.val();
        self.keep.next = 0.into();
        for i in 0..L {
            self.lane_keep[i].clock.next = self.clock.val();
            self.position[i].next = self.row_words.val() | self.lane_number[i].val();
            self.is_address[i].next = (self.position[i].val()
                >= bit_cast::<8, 4>(self.link.val().address_start))
                & (self.position[i].val() < bit_cast::<8, 5>(self.link.val().payload_floor));
            self.is_payload[i].next = (self.position[i].val()
                >= bit_cast::<8, 5>(self.link.val().payload_floor))
                & (self.position[i].val() >= bit_cast::<8, 5>(self.payload_start.val()));
            self.is_whole[i].next = self.earlier.val()
                | (self.ends_here.val() & (self.lane_index[i].val() < self.end_lane.val()));
            self.is_end[i].next =
                self.ends_here.val() & (self.lane_index[i].val() == self.end_lane.val());
            self.lane_keep[i].d.next = 0.into();
            if self.control.val().valid {
                if self.is_address[i].val() | (self.is_payload[i].val() & self.is_whole[i].val()) {
                    self.lane_keep[i].d.next = 15.into();
                } else if self.is_payload[i].val() & self.is_end[i].val() {
                    self.lane_keep[i].d.next = self.end_keep.val();
                }
            }
            self.one_keep.next = self.lane_keep[i].q.val();
            self.keep.next = self.keep.val()
                | (bit_cast::<K, 4>(self.one_keep.val()) << self.octet_place[i].val());
        }
        self.stream_sum.keep.next = self.keep.val();

        // Length and protocol of the pseudo header, in the lanes' byte order.
        self.length.next = self.segment_octets.val() + self.protocol_tcp.val();
        self.swapped.next.low = self.length.val().get_bits::<8>(8);
        self.swapped.next.high = self.length.val().get_bits::<8>(0);
        self.length_term.d.next = self.swapped.val().into();

        // Is sum + carry + length a multiple of 65535? One full adder, then as for the IP header.
        self.total.next = self.stream_sum.total.val();
        self.sum.next = self.total.val().get_bits::<16>(0);
        self.carry.next = self.total.val().get_bits::<16>(16);
        self.last_sum.next = self.sum.val() ^ self.carry.val() ^ self.length_term.q.val();
        self.majority.next = (self.sum.val() & self.carry.val())
            | (self.sum.val() & self.length_term.q.val())
            | (self.carry.val() & self.length_term.q.val());
        self.last_carry.next = (self.majority.val() << 1) | (self.majority.val() >> 15);
        self.differ.next = self.last_sum.val() ^ self.last_carry.val();
        self.good.next =
            self.differ.val().all() | (self.last_sum.val().all() & self.last_carry.val().all());
    }
}

#[cfg(test)]
mod tests;
