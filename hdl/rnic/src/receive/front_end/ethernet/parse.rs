//! Reads VLAN tags and type: where does the network layer begin, and what is it?
//!
//! ```text
//! word of the stored frame   3            4              5
//! octets 2 and 3 of it       type/TPID    type/TPID      type      (behind 0, 1, 2 tags)
//! control, data --> [ types found ] --> [ link placed ] --> control, data, link
//! ```
//!
//! | latency    | 2 cycles                                                                |
//! | throughput | one beat per cycle                                                      |
//! | ensures    | `link` is right beside every beat from the network layer's first word on |
//! | source     | IEEE 802.1Q clause 9.6 (TPID 0x8100, 0x88a8); RFC 894, RFC 2464 (types)  |
//!
//! A third tag is no type we know: such a frame goes to the host. Words that the frame does not
//! have may be read as tags; `type_octets` then is more than the frame has.
use super::beat::{FrameControl, LinkInfo};
use super::delay::Delay;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Type or TPID values as they stand in the upper half of a word, octet 2 in bits 7:0.
const TPID_CUSTOMER: u64 = 0x0081;
const TPID_SERVICE: u64 = 0xa888;
const TYPE_IPV4: u64 = 0x0008;
const TYPE_IPV6: u64 = 0xdd86;

/// Tag and type decoder for beats of `W` bits, `L` words.
#[derive(LogicBlock, Init)]
#[init(
    assert!(
        W == 32 * L,
        "EthernetParse: W = {W} must be 32 L = {}",
        32 * L
    );
)]
pub struct EthernetParse<const W: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    /// What is known of the beat of the stored frame.
    pub control_in: Signal<In, FrameControl>,
    /// Its octets.
    pub data_in: Signal<In, Bits<W>>,
    /// The same, two cycles later.
    pub control: Signal<Out, FrameControl>,
    /// The same, two cycles later.
    pub data: Signal<Out, Bits<W>>,
    /// What the Ethernet header says, beside them.
    pub link: Signal<Out, LinkInfo>,
    control_delay: Delay<FrameControl, 2>,
    data_delay: Delay<Bits<W>, 2>,
    // Of words 3, 4 and 5: a tag, IPv4, IPv6.
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

impl<const W: usize, const L: usize> Logic for EthernetParse<W, L> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; placed);
        wire!(self => self.control_delay; clock, control_in as data_in);
        self.control.next = self.control_delay.data_out.val();
        wire!(self => self.data_delay; clock, data_in);
        self.data.next = self.data_delay.data_out.val();
        self.link.next = self.placed.q.val();

        // First cycle: what do the three words say, if they are in this beat?
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

        // Second cycle: behind 0, 1 or 2 tags.
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

#[cfg(test)]
mod tests;
