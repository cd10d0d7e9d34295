//! What a frame is that has no TCP segment a receiver would look at: a tunnel, a fragment, a tag
//! that is not known, another protocol.
//!
//! In: a frame. Out: its kind, for the lines that say why nothing was played.

use crate::segment::payload;
use etherparse::{ether_type, EtherType, Ipv4HeaderSlice, Ipv6HeaderSlice, UdpHeaderSlice};

/// The kind of a frame without a segment.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    /// In a tunnel, by its name.
    Tunnelled(&'static str),
    /// After another header than a tunnel's, by its name.
    OtherHeader(&'static str),
    /// More than two VLAN tags, or one of another type, by its EtherType.
    Tagged(u16),
    /// IPv6 with an extension header, by its name.
    Extension(&'static str),
    /// A fragment of a datagram.
    Fragment,
    /// An IPv4 header whose checksum is wrong.
    BadHeaderSum,
    /// RDMA over another transport.
    Roce(&'static str),
    /// IP with another protocol, or not IP at all.
    Other,
}

const ERSPAN: [u16; 2] = [0x88be, 0x22eb];
const TRANSPARENT_BRIDGING: u16 = 0x6558;

impl Shape {
    /// Of a frame that has no segment.
    pub(crate) fn of(frame: &[u8]) -> Self {
        match payload(frame) {
            Some((ether_type::IPV4, octets)) => ipv4(octets),
            Some((ether_type::IPV6, octets)) => ipv6(octets),
            Some((kind, octets)) => link(kind, octets),
            None => Self::Other,
        }
    }

    /// Its name in a report.
    pub(crate) const fn kind(self) -> &'static str {
        match self {
            Self::Tunnelled(_) => "tunnelled",
            Self::OtherHeader(_) => "another_header",
            Self::Tagged(_) => "tagged",
            Self::Extension(_) => "ipv6_extension",
            Self::Fragment => "fragment",
            Self::BadHeaderSum => "bad_ip_checksum",
            Self::Roce(_) => "roce",
            Self::Other => "no_tcp",
        }
    }

    /// What it is, and what to do about it.
    pub(crate) fn text(self) -> String {
        match self {
            Self::Tunnelled(name) => format!(
                "tunnelled ({name}): what is inside is not played; capture at the end of the \
                 tunnel, on the interface that carries the connection"
            ),
            Self::OtherHeader(name) => format!("{name}: the device leaves such frames to the host"),
            Self::Tagged(0x8100 | 0x88a8) => {
                "more than two VLAN tags: the device takes frames with two at most".into()
            }
            Self::Tagged(kind) => format!(
                "VLAN tag of type {kind:#06x}: the device knows tags of types 0x8100 and 0x88a8"
            ),
            Self::Extension(name) => format!(
                "IPv6 extension header ({name}): the device leaves such datagrams to the host"
            ),
            Self::Fragment => "IP fragments: the device leaves them to the host; lower the MTU of \
                               the sender, or capture where they are whole"
                .into(),
            Self::BadHeaderSum => {
                "bad checksums of IPv4 headers: the device drops such frames".into()
            }
            Self::Roce(name) => format!("{name}, which is RDMA, but not iWARP"),
            Self::Other => "without TCP".into(),
        }
    }
}

fn link(kind: EtherType, octets: &[u8]) -> Shape {
    match kind.0 {
        0x8100 | 0x88a8 | 0x9100 | 0x9200 | 0x9300 => Shape::Tagged(kind.0),
        0x8847 | 0x8848 => Shape::Tunnelled("MPLS"),
        0x8863 | 0x8864 => Shape::Tunnelled("PPPoE"),
        0x88e7 => Shape::Tunnelled("provider backbone bridging"),
        0x88e5 => Shape::Tunnelled("MACsec"),
        0x8903 => Shape::Tunnelled("FabricPath"),
        0x894f => Shape::Tunnelled("NSH"),
        0x8915 => Shape::Roce("RoCE version 1"),
        // IEEE 802.3 lengths: LLC, with SNAP or without.
        length if length < 0x600 && octets.starts_with(&[0xaa, 0xaa, 3]) => {
            Shape::OtherHeader("IEEE 802.3 with LLC and SNAP")
        }
        _ => Shape::Other,
    }
}

fn ipv4(octets: &[u8]) -> Shape {
    let Ok(header) = Ipv4HeaderSlice::from_slice(octets) else {
        return Shape::Other;
    };
    if header.header_checksum() != header.to_header().calc_header_checksum() {
        return Shape::BadHeaderSum;
    }
    if header.is_fragmenting_payload() {
        return Shape::Fragment;
    }
    protocol(header.protocol().0, &octets[header.slice().len()..])
}

fn ipv6(octets: &[u8]) -> Shape {
    let Ok(header) = Ipv6HeaderSlice::from_slice(octets) else {
        return Shape::Other;
    };
    let extension = match header.next_header().0 {
        0 => "hop-by-hop options",
        43 => "routing",
        44 => return Shape::Fragment,
        51 => "authentication",
        60 => "destination options",
        135 => "mobility",
        139 => "host identity",
        140 => "shim6",
        next => return protocol(next, &octets[header.slice().len()..]),
    };
    Shape::Extension(extension)
}

/// An IP protocol that is not TCP.
fn protocol(number: u8, octets: &[u8]) -> Shape {
    match number {
        4 => Shape::Tunnelled("IPv4 in IP"),
        41 => Shape::Tunnelled("IPv6 in IP"),
        47 => gre(octets),
        50 => Shape::Tunnelled("IPsec ESP"),
        51 => Shape::OtherHeader("IPsec AH"),
        17 => udp(octets),
        97 => Shape::Tunnelled("EtherIP"),
        115 => Shape::Tunnelled("L2TP"),
        137 => Shape::Tunnelled("MPLS in IP"),
        _ => Shape::Other,
    }
}

fn gre(octets: &[u8]) -> Shape {
    let inner = octets
        .get(2..4)
        .map(|inner| u16::from_be_bytes([inner[0], inner[1]]));
    Shape::Tunnelled(match inner {
        Some(inner) if ERSPAN.contains(&inner) => "ERSPAN",
        Some(TRANSPARENT_BRIDGING) => "GRE with Ethernet",
        _ => "GRE",
    })
}

/// Tunnels are known by their destination port.
fn udp(octets: &[u8]) -> Shape {
    let Ok(header) = UdpHeaderSlice::from_slice(octets) else {
        return Shape::Other;
    };
    match header.destination_port() {
        4789 | 8472 => Shape::Tunnelled("VXLAN"),
        4790 => Shape::Tunnelled("VXLAN-GPE"),
        6081 => Shape::Tunnelled("Geneve"),
        2152 => Shape::Tunnelled("GTP"),
        1701 => Shape::Tunnelled("L2TP"),
        4500 => Shape::Tunnelled("IPsec ESP in UDP"),
        6635 => Shape::Tunnelled("MPLS in UDP"),
        4754 => Shape::Tunnelled("GRE in UDP"),
        51820 => Shape::Tunnelled("WireGuard"),
        4791 => Shape::Roce("RoCE version 2"),
        _ => Shape::Other,
    }
}
