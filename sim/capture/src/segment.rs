//! TCP segments of frames, read by `etherparse`: what picks flows and forgeries must not be the
//! parser of the model, which judges the run.
//!
//! The receiver's limits are applied here once more: at most two VLAN tags, no IPv6 extension
//! headers, no fragments, an IPv4 header checksum that is right. A test compares every frame with
//! the model's view of it (`testbench/tests/parsers.rs`).

use etherparse::checksum::Sum16BitWords;
use etherparse::{ether_type, EtherType, IpNumber};
use etherparse::{
    Ethernet2HeaderSlice, Ipv4HeaderSlice, Ipv6HeaderSlice, SingleVlanHeaderSlice, TcpSlice,
};
use std::net::{IpAddr, SocketAddr};

const TAGS_MAX: usize = 2;
pub(crate) const FLAG_FIN: u8 = 0x01;
pub(crate) const FLAG_SYN: u8 = 0x02;
pub(crate) const FLAG_RST: u8 = 0x04;
pub(crate) const FLAG_ACK: u8 = 0x10;
const FLAG_URG: u8 = 0x20;
/// Offset of the control bits in a TCP header.
pub(crate) const FLAGS_AT: usize = 13;

/// A TCP segment, and the addresses of its datagram.
#[derive(Clone, Debug)]
pub struct Segment<'a> {
    /// Source address and port.
    pub source: SocketAddr,
    /// Destination address and port.
    pub destination: SocketAddr,
    /// SEG.SEQ.
    pub sequence: u32,
    /// SEG.ACK; it means something if `flags` has ACK.
    pub acknowledgment: u32,
    /// Control bits.
    pub flags: u8,
    /// Whether the checksum is right.
    pub checksum_good: bool,
    /// Payload, a part of the frame.
    pub payload: &'a [u8],
}

impl<'a> Segment<'a> {
    /// The segment in a frame; `None` if a receiver of TCP would not look at one.
    pub fn of_frame(frame: &'a [u8]) -> Option<Self> {
        let (kind, datagram) = datagram(frame)?;
        match kind {
            ether_type::IPV4 => Self::of_ipv4(datagram),
            _ => Self::of_ipv6(datagram),
        }
    }

    /// Source and destination.
    pub fn ends(&self) -> (SocketAddr, SocketAddr) {
        (self.source, self.destination)
    }

    /// Whether the device leaves it to the host's stack: SYN, RST, URG, or a FIN without payload.
    pub fn is_control(&self) -> bool {
        let fin_alone = self.flags & FLAG_FIN != 0 && self.payload.is_empty();
        self.flags & (FLAG_SYN | FLAG_RST | FLAG_URG) != 0 || fin_alone
    }

    fn of_ipv4(datagram: &'a [u8]) -> Option<Self> {
        let header = Ipv4HeaderSlice::from_slice(datagram).ok()?;
        let sum = Sum16BitWords::new().add_slice(header.slice());
        if sum.ones_complement() != 0
            || header.is_fragmenting_payload()
            || header.protocol() != IpNumber::TCP
        {
            return None;
        }
        let segment = datagram.get(header.slice().len()..usize::from(header.total_len()))?;
        let mut pseudo = Sum16BitWords::new();
        pseudo = pseudo.add_4bytes(header.source());
        pseudo = pseudo.add_4bytes(header.destination());
        let addresses = [header.source_addr(), header.destination_addr()];
        Self::of_tcp(addresses.map(IpAddr::from), segment, pseudo)
    }

    fn of_ipv6(datagram: &'a [u8]) -> Option<Self> {
        let header = Ipv6HeaderSlice::from_slice(datagram).ok()?;
        if header.next_header() != IpNumber::TCP {
            return None;
        }
        let first = header.slice().len();
        let segment = datagram.get(first..first + usize::from(header.payload_length()))?;
        let mut pseudo = Sum16BitWords::new();
        pseudo = pseudo.add_16bytes(header.source());
        pseudo = pseudo.add_16bytes(header.destination());
        let addresses = [header.source_addr(), header.destination_addr()];
        Self::of_tcp(addresses.map(IpAddr::from), segment, pseudo)
    }

    /// `pseudo` is the sum of the addresses.
    fn of_tcp(
        [source, destination]: [IpAddr; 2],
        segment: &'a [u8],
        pseudo: Sum16BitWords,
    ) -> Option<Self> {
        let tcp = TcpSlice::from_slice(segment).ok()?;
        let sum = pseudo
            .add_2bytes([0, IpNumber::TCP.0])
            .add_2bytes((segment.len() as u16).to_be_bytes())
            .add_slice(segment);
        Some(Self {
            source: SocketAddr::new(source, tcp.source_port()),
            destination: SocketAddr::new(destination, tcp.destination_port()),
            sequence: tcp.sequence_number(),
            acknowledgment: tcp.acknowledgment_number(),
            flags: tcp.header_slice()[FLAGS_AT],
            checksum_good: sum.ones_complement() == 0,
            payload: tcp.payload(),
        })
    }
}

/// The datagram of a frame with what follows it, after at most two VLAN tags; its type is IPv4 or
/// IPv6. Its own header is ignored.
pub fn datagram(frame: &[u8]) -> Option<(EtherType, &[u8])> {
    payload(frame).filter(|(kind, _)| [ether_type::IPV4, ether_type::IPV6].contains(kind))
}

/// What follows at most two VLAN tags, and its type.
pub(crate) fn payload(frame: &[u8]) -> Option<(EtherType, &[u8])> {
    let link = Ethernet2HeaderSlice::from_slice(frame).ok()?;
    let (mut kind, mut rest) = (link.ether_type(), &frame[link.slice().len()..]);
    for _ in 0..TAGS_MAX {
        if ![ether_type::VLAN_TAGGED_FRAME, ether_type::PROVIDER_BRIDGING].contains(&kind) {
            break;
        }
        let tag = SingleVlanHeaderSlice::from_slice(rest).ok()?;
        kind = tag.ether_type();
        rest = &rest[tag.slice().len()..];
    }
    Some((kind, rest))
}

/// Whether the datagram in `frame` is there to its end, as its header says; what is not IP is not.
pub(crate) fn is_whole(frame: &[u8]) -> bool {
    match datagram(frame) {
        Some((ether_type::IPV4, octets)) => {
            let header = Ipv4HeaderSlice::from_slice(octets);
            header.is_ok_and(|header| {
                let octets_in_all = usize::from(header.total_len());
                octets_in_all > 0 && octets_in_all <= octets.len()
            })
        }
        Some((_, octets)) => {
            let header = Ipv6HeaderSlice::from_slice(octets);
            header.is_ok_and(|header| {
                let payload = usize::from(header.payload_length());
                payload > 0 && header.slice().len() + payload <= octets.len()
            })
        }
        None => false,
    }
}

/// The ends of the TCP connection that a frame is of, whose end may be missing.
pub(crate) fn ends_of_head(frame: &[u8]) -> Option<(SocketAddr, SocketAddr)> {
    let (kind, octets) = datagram(frame)?;
    let (addresses, protocol, header) = match kind {
        ether_type::IPV4 => {
            let header = Ipv4HeaderSlice::from_slice(octets).ok()?;
            let addresses = [header.source_addr(), header.destination_addr()];
            (
                addresses.map(IpAddr::from),
                header.protocol(),
                header.slice().len(),
            )
        }
        _ => {
            let header = Ipv6HeaderSlice::from_slice(octets).ok()?;
            let addresses = [header.source_addr(), header.destination_addr()];
            (
                addresses.map(IpAddr::from),
                header.next_header(),
                header.slice().len(),
            )
        }
    };
    let ports = octets
        .get(header..header + 4)
        .filter(|_| protocol == IpNumber::TCP)?;
    let port = |at: usize| u16::from_be_bytes([ports[at], ports[at + 1]]);
    let [source, destination] = addresses;
    Some((
        SocketAddr::new(source, port(0)),
        SocketAddr::new(destination, port(2)),
    ))
}
