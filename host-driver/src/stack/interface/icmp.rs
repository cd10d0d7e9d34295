//! ICMP and ICMPv6: echo, neighbour discovery, and packets that were too big elsewhere.

use super::super::answers::{self, HOPS_OF_LINK};
use super::super::link::{group_mac, solicited_node, Mac};
use super::super::settings::{is_host, MTU_OCTETS_MIN, MTU_OCTETS_MIN_V6};
use super::{Arrived, Interface};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    EthernetAddress, EthernetProtocol, Icmpv4Message, Icmpv4Packet, Icmpv4Repr, Icmpv6Packet,
    Icmpv6Repr, IpProtocol, Ipv4Packet, Ipv6Packet, NdiscRepr, RawHardwareAddress,
};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// ICMP type 3: the packet had to be fragmented and must not be (RFC 792, RFC 1191 section 4).
const CODE_TOO_BIG: u8 = 4;
/// Where RFC 1191 has the MTU of the next hop in an ICMP message.
const MTU_AT: usize = 6;
/// Headers before the octets of TCP that a report repeats.
const HEADER_V4_OCTETS: usize = 20;
const HEADER_V6_OCTETS: usize = 40;
/// What a report repeats at least of what it is about.
const REPEATED_OCTETS: usize = 8;

/// A packet of TCP of which a report repeats the beginning.
#[derive(Clone, Copy, Debug)]
struct Repeated {
    from: IpAddr,
    to: IpAddr,
    header: [u8; REPEATED_OCTETS],
}

impl Repeated {
    fn new(from: IpAddr, to: IpAddr, octets: &[u8], at: usize) -> Option<Self> {
        let header = octets.get(at..at + REPEATED_OCTETS)?;
        Some(Self {
            from,
            to,
            header: header.try_into().ok()?,
        })
    }

    fn of_v4(octets: &[u8]) -> Option<Self> {
        let packet = Ipv4Packet::new_unchecked(octets.get(..HEADER_V4_OCTETS)?);
        let at = usize::from(packet.header_len());
        let is_tcp = packet.version() == 4 && packet.next_header() == IpProtocol::Tcp;
        let is_first = at >= HEADER_V4_OCTETS && packet.frag_offset() == 0;
        let (from, to) = (packet.src_addr().into(), packet.dst_addr().into());
        (is_tcp && is_first)
            .then(|| Self::new(from, to, octets, at))
            .flatten()
    }

    fn of_v6(octets: &[u8]) -> Option<Self> {
        let packet = Ipv6Packet::new_unchecked(octets.get(..HEADER_V6_OCTETS)?);
        let is_tcp = packet.version() == 6 && packet.next_header() == IpProtocol::Tcp;
        let (from, to) = (packet.src_addr().into(), packet.dst_addr().into());
        is_tcp
            .then(|| Self::new(from, to, octets, HEADER_V6_OCTETS))
            .flatten()
    }
}

impl Interface {
    pub(super) fn receive_icmp_v4<'a>(
        &mut self,
        from: Ipv4Addr,
        to: Ipv4Addr,
        octets: &[u8],
        now: u64,
    ) -> Option<Arrived<'a>> {
        let Ok(packet) = Icmpv4Packet::new_checked(octets) else {
            self.counts.short += 1;
            return None;
        };
        if !packet.verify_checksum() {
            self.counts.bad_checksum += 1;
            return None;
        }
        if packet.msg_type() == Icmpv4Message::DstUnreachable && packet.msg_code() == CODE_TOO_BIG {
            let mtu = u16::from_be_bytes([octets[MTU_AT], octets[MTU_AT + 1]]);
            return self.too_big(Repeated::of_v4(packet.data()), mtu.into(), MTU_OCTETS_MIN);
        }
        match Icmpv4Repr::parse(&packet, &ChecksumCapabilities::ignored()) {
            Ok(Icmpv4Repr::EchoRequest {
                ident,
                seq_no,
                data,
            }) => {
                let reply = Icmpv4Repr::EchoReply {
                    ident,
                    seq_no,
                    data,
                };
                self.echo(answers::icmp_v4(to, from, &reply), from.into(), now);
            }
            _ => self.counts.other_protocol += 1,
        }
        None
    }

    pub(super) fn receive_icmp_v6<'a>(
        &mut self,
        from: Ipv6Addr,
        to: Ipv6Addr,
        hop_limit: u8,
        octets: &[u8],
        now: u64,
    ) -> Option<Arrived<'a>> {
        let Ok(packet) = Icmpv6Packet::new_checked(octets) else {
            self.counts.short += 1;
            return None;
        };
        if !packet.verify_checksum(&from, &to) {
            self.counts.bad_checksum += 1;
            return None;
        }
        match Icmpv6Repr::parse(&from, &to, &packet, &ChecksumCapabilities::ignored()) {
            Ok(Icmpv6Repr::PktTooBig { mtu, .. }) => {
                self.are_hosts(from.into(), to.into())?;
                return self.too_big(Repeated::of_v6(packet.payload()), mtu, MTU_OCTETS_MIN_V6);
            }
            Ok(Icmpv6Repr::EchoRequest {
                ident,
                seq_no,
                data,
            }) => {
                self.are_hosts(from.into(), to.into())?;
                let reply = Icmpv6Repr::EchoReply {
                    ident,
                    seq_no,
                    data,
                };
                let reply = answers::icmp_v6(to, from, answers::HOPS, &reply);
                self.echo(reply, from.into(), now);
            }
            // No router may have passed it on (RFC 4861 section 7.1).
            Ok(Icmpv6Repr::Ndisc(_)) if hop_limit != HOPS_OF_LINK => self.counts.bad_reports += 1,
            Ok(Icmpv6Repr::Ndisc(message)) => self.receive_ndp(from, to, message, now),
            _ => self.counts.other_protocol += 1,
        }
        None
    }

    /// A report that a packet was too big.
    fn too_big<'a>(
        &mut self,
        repeated: Option<Repeated>,
        mtu: u32,
        least: u16,
    ) -> Option<Arrived<'a>> {
        let settings = &self.settings;
        let sent = repeated.filter(|sent| settings.is_own(sent.from) && is_host(sent.to));
        let is_smaller = |mtu: &u16| (least..settings.mtu_octets).contains(mtu);
        let mtu = u16::try_from(mtu).ok().filter(is_smaller);
        let (Some(Repeated { from, to, header }), Some(mtu_octets)) = (sent, mtu) else {
            self.counts.bad_reports += 1;
            return None;
        };
        self.counts.too_big += 1;
        Some(Arrived::TooBig {
            from,
            to,
            mtu_octets,
            header,
        })
    }

    /// An echo reply, to where any packet to `to` goes; one that can go nowhere is not sent.
    fn echo(&mut self, reply: Vec<u8>, to: IpAddr, now: u64) {
        let fits = reply.len() <= usize::from(self.settings.mtu_octets);
        let is_sent = fits && self.send(reply, to, now).is_ok();
        self.counts.echoes += u64::from(is_sent);
    }

    fn receive_ndp(&mut self, from: Ipv6Addr, to: Ipv6Addr, message: NdiscRepr<'_>, now: u64) {
        match message {
            NdiscRepr::NeighborSolicit {
                target_addr,
                lladdr,
            } if self.settings.is_own(target_addr.into()) => {
                let is_to_us = to == target_addr || to == solicited_node(target_addr);
                if !is_to_us || self.settings.is_own(from.into()) {
                    self.counts.other_address += 1;
                    return;
                }
                self.counts.resolution += 1;
                self.answer(from, target_addr, lladdr.and_then(mac_of), now);
            }
            NdiscRepr::NeighborAdvert {
                target_addr,
                lladdr,
                ..
            } => {
                self.counts.resolution += 1;
                let mac = lladdr.and_then(mac_of);
                if self.settings.is_own(target_addr.into()) {
                    self.counts.conflicts += 1;
                } else if let Some(mac) = mac {
                    self.learn(target_addr.into(), mac, now, false);
                }
            }
            _ => self.counts.other_protocol += 1,
        }
    }

    /// Answer who asks for our `target`. Who asks from no address looks whether it is free, and all
    /// are told (RFC 4861 section 7.2.4).
    fn answer(&mut self, from: Ipv6Addr, target: Ipv6Addr, mac: Option<Mac>, now: u64) {
        let own = (self.settings.mac, target);
        if from.is_unspecified() {
            let (to, packet) = answers::advertise(own, None);
            self.push(group_mac(to), EthernetProtocol::Ipv6, &packet);
            return;
        }
        let is_neighbour = is_host(from.into()) && self.settings.is_on_link(from.into());
        let Some(mac) = mac.filter(|_| is_neighbour) else {
            return;
        };
        self.learn(from.into(), mac, now, true);
        let (_, packet) = answers::advertise(own, Some(from));
        self.push(mac, EthernetProtocol::Ipv6, &packet);
    }
}

/// The MAC address of a single station in an option of NDP.
fn mac_of(address: RawHardwareAddress) -> Option<Mac> {
    let mac: Mac = address.as_bytes().try_into().ok()?;
    EthernetAddress(mac).is_unicast().then_some(mac)
}
