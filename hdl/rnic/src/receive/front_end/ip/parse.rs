//! Captures the IP header's words and reads them.
//!
//! ```text
//! beat, link --> [ word 0 .. 9 of the header ] --> [ fields ]
//! ```
//!
//! | latency    | 2 cycles: words 1, fields 1                                              |
//! | throughput | one beat per cycle                                                       |
//! | units      | see `IpFields`                                                           |
//! | ensures    | two cycles after the `end` of a frame entered, `fields` is that frame's; |
//! |            | `payload_start` and `ip_end` are final two cycles after the header's     |
//! |            | first (IPv4) or second (IPv6) word entered                               |
//! | source     | RFC 791, 3.1; RFC 8200, 3                                                |
//!
//! Word j of the header stands in lane (start + j) % L of beat (start + j) / L; `start` has three
//! values, so each word has a choice of at most three lanes.
use super::fields::{AddressWords, IpFields, OctetPair};
use crate::receive::front_end::ethernet::beat::{FrameControl, LinkInfo};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Protocol number of TCP (RFC 9293, 3.1).
const PROTOCOL_TCP: u64 = 6;

/// IP header reader for beats of `W` bits, `L` words.
#[derive(LogicBlock, Init)]
#[init(
    assert!(W == 32 * L, "IpParse: W = {W} must be 32 L = {}", 32 * L);
)]
pub struct IpParse<const W: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub control: Signal<In, FrameControl>,
    /// Its octets.
    pub data: Signal<In, Bits<W>>,
    pub link: Signal<In, LinkInfo>,
    /// What the IP header says.
    pub fields: Signal<Out, IpFields>,
    // Whole rows of 16 words; those from the 11th on are not read.
    word: [DFF<Bits<32>>; 16],
    word_control: DFF<FrameControl>,
    word_link: DFF<LinkInfo>,
    read: DFF<IpFields>,
    lane: [Signal<Local, Bits<32>>; L],
    turned: [Signal<Local, Bits<32>>; L],
    row: [Signal<Local, Bits<4>>; L],
    // Row of the first word in lane i, behind 0, 1 or 2 tags: place 3 i + tags.
    #[constants(|place| ((4 + place % 3 + place / 3) / L) as LiteralType)]
    first_row: [Constant<Bits<4>>; 48],
    #[constants(|row| row as LiteralType)]
    row_number: [Constant<Bits<4>>; 8],
    found: Signal<Local, IpFields>,
    first_word: Signal<Local, Bits<32>>,
    second_word: Signal<Local, Bits<32>>,
    third_word: Signal<Local, Bits<32>>,
    version: Signal<Local, Bits<4>>,
    header_words: Signal<Local, Bits<4>>,
    ipv4_octets: Signal<Local, OctetPair>,
    ipv6_octets: Signal<Local, OctetPair>,
    length: Signal<Local, Bits<16>>,
    header_octets: Signal<Local, Bits<16>>,
    packet_start: Signal<Local, Bits<17>>,
    fragment: Signal<Local, Bits<16>>,
    more_or_offset: Signal<Local, Bits<16>>,
    protocol: Signal<Local, Bits<8>>,
    source: Signal<Local, AddressWords>,
    destination: Signal<Local, AddressWords>,
    wrong_version: Signal<Local, Bit>,
    header_cut: Signal<Local, Bit>,
    no_type: Signal<Local, Bit>,
    #[constant(4)]
    four: Constant<Bits<4>>,
    #[constant(5)]
    five: Constant<Bits<4>>,
    #[constant(6)]
    six: Constant<Bits<4>>,
    #[constant(PROTOCOL_TCP)]
    tcp: Constant<Bits<8>>,
    /// MF and offset, octets 6 and 7 with octet 6 in bits 7:0 (RFC 791, 3.1).
    #[constant(0xff3f)]
    fragment_mask: Constant<Bits<16>>,
    #[constant(rnic_abi::limits::FRAME_PAD_OCTETS as LiteralType)]
    pad_octets: Constant<Bits<15>>,
    #[constant(40)]
    ipv6_header_octets: Constant<Bits<17>>,
}

impl<const W: usize, const L: usize> Logic for IpParse<W, L> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; word_control, word_link, read);
        self.fields.next = self.read.q.val();
        self.word_control.d.next = self.control.val();
        self.word_link.d.next = self.link.val();

        // First cycle: turn the lanes so that word 0 of the header is in lane 0, and keep words.
        for i in 0..L {
            self.lane[i].next = self.data.val().get_bits::<32>(i * 32);
        }
        for lanes in L..(L + 1) {
            for i in 0..L {
                self.turned[i].next = self.lane[(i + 4) % lanes].val();
                self.row[i].next = self.control.val().row - self.first_row[i * 3].val();
                if self.link.val().vlan_one {
                    self.turned[i].next = self.lane[(i + 5) % lanes].val();
                    self.row[i].next = self.control.val().row - self.first_row[i * 3 + 1].val();
                }
                if self.link.val().vlan_two {
                    self.turned[i].next = self.lane[(i + 6) % lanes].val();
                    self.row[i].next = self.control.val().row - self.first_row[i * 3 + 2].val();
                }
                for m in 0..(16 / L) {
                    self.word[m * lanes + i].clock.next = self.clock.val();
                    self.word[m * lanes + i].d.next = self.word[m * lanes + i].q.val();
                    if self.control.val().valid & (self.row[i].val() == self.row_number[m].val()) {
                        self.word[m * lanes + i].d.next = self.turned[i].val();
                    }
                }
            }
        }

        // Second cycle: read them.
        self.first_word.next = self.word[0].q.val();
        self.second_word.next = self.word[1].q.val();
        self.third_word.next = self.word[2].q.val();
        self.version.next = self.first_word.val().get_bits::<4>(4);
        self.header_words.next = self.first_word.val().get_bits::<4>(0);
        self.ipv4_octets.next.high = self.first_word.val().get_bits::<8>(16);
        self.ipv4_octets.next.low = self.first_word.val().get_bits::<8>(24);
        self.ipv6_octets.next.high = self.second_word.val().get_bits::<8>(0);
        self.ipv6_octets.next.low = self.second_word.val().get_bits::<8>(8);
        self.fragment.next = self.second_word.val().get_bits::<16>(16);
        self.more_or_offset.next = self.fragment.val() & self.fragment_mask.val();
        self.no_type.next = self.word_control.q.val().frame_octets
            < bit_cast::<14, 5>(self.word_link.q.val().type_octets);
        self.header_cut.next = self.word_control.q.val().frame_octets
            < bit_cast::<14, 6>(self.word_link.q.val().header_octets);

        self.found.next.is_ip =
            (self.word_link.q.val().ipv4 | self.word_link.q.val().ipv6) & !self.no_type.val();
        self.found.next.ipv6 = self.word_link.q.val().ipv6;
        self.found.next.stored_octets =
            bit_cast::<15, 14>(self.word_control.q.val().frame_octets) + self.pad_octets.val();
        // The network layer begins `start` words into the stored frame.
        self.packet_start.next = bit_cast::<17, 3>(self.word_link.q.val().start) << 2;
        if self.word_link.q.val().ipv6 {
            self.protocol.next = self.second_word.val().get_bits::<8>(16);
            self.length.next = self.ipv6_octets.val().into();
            self.header_octets.next = 0.into();
            self.packet_start.next = self.packet_start.val() + self.ipv6_header_octets.val();
            self.found.next.payload_start = self.word_link.q.val().payload_floor;
            self.wrong_version.next = self.version.val() != self.six.val();
            self.found.next.not_for_tcp = self.protocol.val() != self.tcp.val();
            self.found.next.header_bad = self.wrong_version.val() | self.header_cut.val();
            self.source.next.word0 = self.word[2].q.val();
            self.source.next.word1 = self.word[3].q.val();
            self.source.next.word2 = self.word[4].q.val();
            self.source.next.word3 = self.word[5].q.val();
            self.destination.next.word0 = self.word[6].q.val();
            self.destination.next.word1 = self.word[7].q.val();
            self.destination.next.word2 = self.word[8].q.val();
            self.destination.next.word3 = self.word[9].q.val();
        } else {
            self.protocol.next = self.third_word.val().get_bits::<8>(8);
            self.length.next = self.ipv4_octets.val().into();
            self.header_octets.next = bit_cast::<16, 4>(self.header_words.val()) << 2;
            self.found.next.payload_start = bit_cast::<5, 3>(self.word_link.q.val().start)
                + bit_cast::<5, 4>(self.header_words.val());
            self.wrong_version.next = self.version.val() != self.four.val();
            self.found.next.not_for_tcp =
                self.more_or_offset.val().any() | (self.protocol.val() != self.tcp.val());
            self.found.next.header_bad = self.wrong_version.val()
                | self.header_cut.val()
                | (self.header_words.val() < self.five.val())
                | (self.header_octets.val() > self.length.val());
            self.source.next.word0 = 0.into();
            self.source.next.word1 = 0.into();
            self.source.next.word2 = 0.into();
            self.source.next.word3 = self.word[3].q.val();
            self.destination.next.word0 = 0.into();
            self.destination.next.word1 = 0.into();
            self.destination.next.word2 = 0.into();
            self.destination.next.word3 = self.word[4].q.val();
        }
        self.found.next.ip_end = self.packet_start.val() + bit_cast::<17, 16>(self.length.val());
        self.found.next.segment_octets = self.length.val() - self.header_octets.val();
        self.found.next.remote_address = self.source.val().into();
        self.found.next.local_address = self.destination.val().into();
        self.read.d.next = self.found.val();
    }
}

#[cfg(test)]
mod tests;
