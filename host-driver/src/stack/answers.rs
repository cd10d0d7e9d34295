//! Packets that an interface sends of itself: ARP, neighbour discovery and echo replies.

use super::link::{solicited_node, Mac};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, Icmpv4Packet, Icmpv4Repr, Icmpv6Packet,
    Icmpv6Repr, IpProtocol, Ipv4Packet, Ipv4Repr, Ipv6Packet, Ipv6Repr, NdiscNeighborFlags,
    NdiscRepr,
};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Hop limit of a packet that no router may have passed on (RFC 4861 section 7.1.1).
pub(super) const HOPS_OF_LINK: u8 = 255;
/// Hop limit of all others (RFC 1700).
pub(super) const HOPS: u8 = 64;

/// An ARP packet (RFC 826) to `to`, whose MAC address is `mac` if that is known.
pub(super) fn arp(
    operation: ArpOperation,
    from: (Mac, Ipv4Addr),
    mac: Option<Mac>,
    to: Ipv4Addr,
) -> Vec<u8> {
    let arp = ArpRepr::EthernetIpv4 {
        operation,
        source_hardware_addr: EthernetAddress(from.0),
        source_protocol_addr: from.1,
        target_hardware_addr: EthernetAddress(mac.unwrap_or_default()),
        target_protocol_addr: to,
    };
    let mut packet = vec![0; arp.buffer_len()];
    arp.emit(&mut ArpPacket::new_unchecked(&mut packet));
    packet
}

/// An IPv4 packet with an ICMP message.
pub(super) fn icmp_v4(from: Ipv4Addr, to: Ipv4Addr, message: &Icmpv4Repr<'_>) -> Vec<u8> {
    let sums = ChecksumCapabilities::default();
    let header = Ipv4Repr {
        src_addr: from,
        dst_addr: to,
        next_header: IpProtocol::Icmp,
        payload_len: message.buffer_len(),
        hop_limit: HOPS,
    };
    let mut octets = vec![0; header.buffer_len() + header.payload_len];
    let mut packet = Ipv4Packet::new_unchecked(&mut octets);
    header.emit(&mut packet, &sums);
    message.emit(
        &mut Icmpv4Packet::new_unchecked(packet.payload_mut()),
        &sums,
    );
    octets
}

/// An IPv6 packet with an ICMPv6 message.
pub(super) fn icmp_v6(
    from: Ipv6Addr,
    to: Ipv6Addr,
    hop_limit: u8,
    message: &Icmpv6Repr<'_>,
) -> Vec<u8> {
    let sums = ChecksumCapabilities::default();
    let header = Ipv6Repr {
        src_addr: from,
        dst_addr: to,
        next_header: IpProtocol::Icmpv6,
        payload_len: message.buffer_len(),
        hop_limit,
    };
    let mut octets = vec![0; header.buffer_len() + header.payload_len];
    let mut packet = Ipv6Packet::new_unchecked(&mut octets);
    header.emit(&mut packet);
    let mut icmp = Icmpv6Packet::new_unchecked(packet.payload_mut());
    message.emit(&from, &to, &mut icmp, &sums);
    octets
}

/// A question for the MAC address of `target`: to its group, or to whoever had it last; and where
/// that is.
pub(super) fn solicit(
    from: (Mac, Ipv6Addr),
    target: Ipv6Addr,
    is_known: bool,
) -> (Ipv6Addr, Vec<u8>) {
    let to = if is_known {
        target
    } else {
        solicited_node(target)
    };
    let question = Icmpv6Repr::Ndisc(NdiscRepr::NeighborSolicit {
        target_addr: target,
        lladdr: Some(EthernetAddress(from.0).into()),
    });
    (to, icmp_v6(from.1, to, HOPS_OF_LINK, &question))
}

/// The answer for the interface's own `target`, to who asked, or to all nodes if nobody may be
/// named (RFC 4861 section 7.2.4).
pub(super) fn advertise(from: (Mac, Ipv6Addr), to: Option<Ipv6Addr>) -> (Ipv6Addr, Vec<u8>) {
    let flags = match to {
        Some(_) => NdiscNeighborFlags::SOLICITED | NdiscNeighborFlags::OVERRIDE,
        None => NdiscNeighborFlags::OVERRIDE,
    };
    let to = to.unwrap_or(Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1));
    let answer = Icmpv6Repr::Ndisc(NdiscRepr::NeighborAdvert {
        flags,
        target_addr: from.1,
        lladdr: Some(EthernetAddress(from.0).into()),
    });
    (to, icmp_v6(from.1, to, HOPS_OF_LINK, &answer))
}
