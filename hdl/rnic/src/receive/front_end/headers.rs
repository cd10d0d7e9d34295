//! Headers: finds the IP header after the VLAN tags and decodes it.
//!
//! ```text
//! stored frame --> EthernetParser --+--> control, data, link
//!                                   \--> IpParser --> fields
//! ```
//!
//! | latency    | 4 cycles, beat to `fields`: 2 Ethernet, 2 IP                              |
//! | throughput | one beat per cycle                                                        |
//! | units      | words of four octets from the start of the stored frame; octets           |
//!
//! To the host go frames that are neither IPv4 nor IPv6, IPv4 fragments, and packets that do not
//! carry TCP directly after the fixed header: IPv6 extension headers are not walked.
use crate::receive::front_end::delay::Delay;
use crate::receive::front_end::intake::FrameControl;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// TPID or type as it appears in the upper half of a word, octet 2 in bits 7:0.
const TPID_CUSTOMER: u64 = 0x0081;
const TPID_SERVICE: u64 = 0xa888;
const TYPE_IPV4: u64 = 0x0008;
const TYPE_IPV6: u64 = 0xdd86;

/// Protocol number of TCP (RFC 9293, 3.1).
const PROTOCOL_TCP: u64 = 6;

/// The Ethernet header, decoded; valid from the beat on in which the IP header begins.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct LinkInfo {
    /// Exactly one VLAN tag.
    pub vlan_one: Bit,
    /// Two VLAN tags.
    pub vlan_two: Bit,
    /// The type after the tags is IPv4.
    pub ipv4: Bit,
    /// The type after the tags is IPv6.
    pub ipv6: Bit,
    /// Word of the stored frame at which the IP header begins: 4, 5 or 6.
    pub start: Bits<3>,
    /// Word at which the IP addresses begin.
    pub address_start: Bits<4>,
    /// First word that may be IP payload: the one after the addresses.
    pub payload_floor: Bits<5>,
    /// Octets that a frame needs to have a whole type field.
    pub type_octets: Bits<5>,
    /// Octets that a frame needs to have a whole fixed IP header.
    pub header_octets: Bits<6>,
}

/// The IP header, decoded. `ip_end` is still to be compared with `stored_octets`.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct IpFields {
    /// The type field is complete and names IPv4 or IPv6.
    pub is_ip: Bit,
    /// The type field names IPv6.
    pub ipv6: Bit,
    /// The frame ends inside the fixed header, the version is not the type's, IHL is below 5, or
    /// the IPv4 header is longer than its total length.
    pub header_bad: Bit,
    /// First octet after the IP packet, counted from the start of the stored frame.
    pub ip_end: Bits<17>,
    /// Octets of the stored frame.
    pub stored_octets: Bits<15>,
    /// IPv4 fragment, or another protocol than TCP.
    pub not_for_tcp: Bit,
    /// Word of the stored frame at which the IP payload begins.
    pub payload_start: Bits<5>,
    /// Octets of IP payload.
    pub segment_octets: Bits<16>,
    /// Source address, an octet string; IPv4 in bits 127:96.
    pub remote_address: Bits<128>,
    /// Destination address.
    pub local_address: Bits<128>,
}

/// Four words as one octet string.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct AddressWords {
    /// Octets 0 to 3.
    pub word0: Bits<32>,
    /// Octets 4 to 7.
    pub word1: Bits<32>,
    /// Octets 8 to 11.
    pub word2: Bits<32>,
    /// Octets 12 to 15.
    pub word3: Bits<32>,
}

/// Two octets of the wire, swapped into a number.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OctetPair {
    /// The second octet on the wire, the less significant one.
    pub low: Bits<8>,
    /// The first octet on the wire.
    pub high: Bits<8>,
}

/// VLAN tags and type for beats of `W` bits, `L` words.
///
/// ```text
/// word of the stored frame     3            4            5
/// octets 2 and 3 of it         type/TPID    type/TPID    type     (after 0, 1, 2 tags)
/// control_in, data_in --> [ types found ] --> [ link ] --> control, data, link
/// ```
///
/// | latency | 2 cycles, of which `control` and `data` are delayed copies                   |
/// | ensures | `link` is right with every beat from the IP header's first word on           |
/// | source  | IEEE 802.1Q clause 9.6 (TPID 0x8100, 0x88a8); RFC 894, RFC 2464 (types)      |
///
/// A third tag is an unknown type: such a frame goes to the host. Words beyond the end of a short
/// frame may be taken for tags; `type_octets` then exceeds the frame.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        W == 32 * L,
        "EthernetParser: W = {W} must be 32 L = {}",
        32 * L
    );
)]
pub struct EthernetParser<const W: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub control_in: Signal<In, FrameControl>,
    pub data_in: Signal<In, Bits<W>>,
    pub control: Signal<Out, FrameControl>,
    pub data: Signal<Out, Bits<W>>,
    pub link: Signal<Out, LinkInfo>,
    control_delay: Delay<FrameControl, 2>,
    data_delay: Delay<Bits<W>, 2>,
    // Whether words 3, 4 and 5 are a tag, IPv4, IPv6.
    tag: [DFF<Bit>; 3],
    is_ipv4: [DFF<Bit>; 3],
    is_ipv6: [DFF<Bit>; 3],
    placed: DFF<LinkInfo>,
    lane: [Signal<Local, Bits<32>>; L],
    half: [Signal<Local, Bits<16>>; 3],
    here: [Signal<Local, Bit>; 3],
    starts: Signal<Local, Bit>,
    found: Signal<Local, LinkInfo>,
    #[init(std::array::from_fn(|word| {
        Constant::new((((word + 3) / L) as LiteralType).into())
    }))]
    row_of: [Constant<Bits<4>>; 3],
    #[constant(TPID_CUSTOMER)]
    tpid_customer: Constant<Bits<16>>,
    #[constant(TPID_SERVICE)]
    tpid_service: Constant<Bits<16>>,
    #[constant(TYPE_IPV4)]
    type_ipv4: Constant<Bits<16>>,
    #[constant(TYPE_IPV6)]
    type_ipv6: Constant<Bits<16>>,
}

impl<const W: usize, const L: usize> Logic for EthernetParser<W, L> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; placed);
        wire!(self => self.control_delay; clock, control_in as data_in);
        self.control.next = self.control_delay.data_out.val();
        wire!(self => self.data_delay; clock, data_in);
        self.data.next = self.data_delay.data_out.val();
        self.link.next = self.placed.q.val();

        // First cycle: decode those of the three words that are in this beat.
        for i in 0..L {
            self.lane[i].next = self.data_in.val().get_bits::<32>(i * 32);
        }
        self.starts.next = self.control_in.val().valid & self.control_in.val().first;
        for lanes in L..(L + 1) {
            for k in 0..3 {
                self.tag[k].clock.next = self.clock.val();
                self.is_ipv4[k].clock.next = self.clock.val();
                self.is_ipv6[k].clock.next = self.clock.val();
                self.half[k].next = self.lane[(k + 3) % lanes].val().get_bits::<16>(16);
                self.here[k].next = self.control_in.val().valid
                    & (self.control_in.val().row == self.row_of[k].val());
                self.tag[k].d.next = self.tag[k].q.val() & !self.starts.val();
                self.is_ipv4[k].d.next = self.is_ipv4[k].q.val() & !self.starts.val();
                self.is_ipv6[k].d.next = self.is_ipv6[k].q.val() & !self.starts.val();
                if self.here[k].val() {
                    self.tag[k].d.next = (self.half[k].val() == self.tpid_customer.val())
                        | (self.half[k].val() == self.tpid_service.val());
                    self.is_ipv4[k].d.next = self.half[k].val() == self.type_ipv4.val();
                    self.is_ipv6[k].d.next = self.half[k].val() == self.type_ipv6.val();
                }
            }
        }

        // Second cycle: the type is the first word that is no tag.
        self.found.next.vlan_one = self.tag[0].q.val() & !self.tag[1].q.val();
        self.found.next.vlan_two = self.tag[0].q.val() & self.tag[1].q.val();
        self.found.next.ipv4 = self.is_ipv4[0].q.val();
        self.found.next.ipv6 = self.is_ipv6[0].q.val();
        self.found.next.start = 4.into();
        self.found.next.type_octets = 14.into();
        if self.tag[0].q.val() {
            self.found.next.ipv4 = self.is_ipv4[1].q.val();
            self.found.next.ipv6 = self.is_ipv6[1].q.val();
            self.found.next.start = 5.into();
            self.found.next.type_octets = 18.into();
            if self.tag[1].q.val() {
                self.found.next.ipv4 = self.is_ipv4[2].q.val();
                self.found.next.ipv6 = self.is_ipv6[2].q.val();
                self.found.next.start = 6.into();
                self.found.next.type_octets = 22.into();
            }
        }
        // IPv4 addresses are words 3 and 4 of its header of at least 5 (RFC 791, 3.1), IPv6
        // addresses words 2 to 9 of 10 (RFC 8200, 3).
        self.found.next.address_start = 7.into();
        self.found.next.payload_floor = 9.into();
        self.found.next.header_octets = 34.into();
        if self.found.val().ipv6 {
            self.found.next.address_start = 6.into();
            self.found.next.payload_floor = 14.into();
            self.found.next.header_octets = 54.into();
            if self.found.val().vlan_one {
                self.found.next.address_start = 7.into();
                self.found.next.payload_floor = 15.into();
                self.found.next.header_octets = 58.into();
            }
            if self.found.val().vlan_two {
                self.found.next.address_start = 8.into();
                self.found.next.payload_floor = 16.into();
                self.found.next.header_octets = 62.into();
            }
        } else {
            if self.found.val().vlan_one {
                self.found.next.address_start = 8.into();
                self.found.next.payload_floor = 10.into();
                self.found.next.header_octets = 38.into();
            }
            if self.found.val().vlan_two {
                self.found.next.address_start = 9.into();
                self.found.next.payload_floor = 11.into();
                self.found.next.header_octets = 42.into();
            }
        }
        self.placed.d.next = self.found.val();
    }
}

/// IPv4 and IPv6 header for beats of `W` bits, `L` words.
///
/// ```text
/// control, data, link --> [ words 0 to 9 of the header ] --> [ fields ]
/// ```
///
/// | latency | 2 cycles: words 1, fields 1                                                  |
/// | ensures | two cycles after a frame's `end`, `fields` is that frame's; `payload_start`  |
/// |         | and `ip_end` are final two cycles after the header's first (IPv4) or second  |
/// |         | (IPv6) word                                                                  |
/// | source  | RFC 791, 3.1; RFC 8200, 3                                                    |
///
/// Word j of the header is in lane (start + j) % L of beat (start + j) / L. `start` has three
/// values, so each word comes from one of at most three lanes.
#[derive(LogicBlock, Init)]
#[init(
    assert!(W == 32 * L, "IpParser: W = {W} must be 32 L = {}", 32 * L);
)]
pub struct IpParser<const W: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub control: Signal<In, FrameControl>,
    pub data: Signal<In, Bits<W>>,
    pub link: Signal<In, LinkInfo>,
    pub fields: Signal<Out, IpFields>,
    // Whole beats, hence 16 words; those from the 11th on are not read.
    word: [DFF<Bits<32>>; 16],
    word_control: DFF<FrameControl>,
    word_link: DFF<LinkInfo>,
    read: DFF<IpFields>,
    lane: [Signal<Local, Bits<32>>; L],
    turned: [Signal<Local, Bits<32>>; L],
    row: [Signal<Local, Bits<4>>; L],
    // Beat of the header's word i after 0, 1 or 2 tags: entry 3 i + tags.
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

impl<const W: usize, const L: usize> Logic for IpParser<W, L> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; word_control, word_link, read);
        self.fields.next = self.read.q.val();
        self.word_control.d.next = self.control.val();
        self.word_link.d.next = self.link.val();

        // First cycle: rotate the lanes so that word 0 of the header is in lane 0; capture words.
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

        // Second cycle: decode them.
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
