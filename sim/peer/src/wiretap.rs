//! Segments of the peer's record, and segments that no TCP has made.

use crate::frame::{ETHERNET_OCTETS, IPV4_OCTETS, IPV6_OCTETS};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    EthernetFrame, EthernetProtocol, IpAddress, IpProtocol, Ipv4Packet, Ipv6Packet, TcpPacket,
    TcpRepr,
};
use std::net::{IpAddr, SocketAddr};

/// What is of interest in a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Who has sent it.
    pub from: SocketAddr,
    /// Whom it is for.
    pub to: SocketAddr,
    /// SEG.SEQ.
    pub seq: u32,
    /// SEG.ACK.
    pub ack: Option<u32>,
    /// SYN.
    pub is_syn: bool,
    /// FIN.
    pub is_fin: bool,
    /// RST.
    pub is_rst: bool,
    /// Its octets.
    pub payload: Vec<u8>,
}

/// The TCP part of a frame, and its ends.
fn tcp_of(frame: &[u8]) -> Option<(IpAddress, IpAddress, &[u8])> {
    let frame = EthernetFrame::new_checked(frame).ok()?;
    match frame.ethertype() {
        EthernetProtocol::Ipv4 => {
            let packet = Ipv4Packet::new_checked(frame.payload()).ok()?;
            let ends = (packet.src_addr().into(), packet.dst_addr().into());
            let is_tcp = packet.next_header() == IpProtocol::Tcp;
            is_tcp.then_some((ends.0, ends.1, packet.payload()))
        }
        EthernetProtocol::Ipv6 => {
            let packet = Ipv6Packet::new_checked(frame.payload()).ok()?;
            let ends = (packet.src_addr().into(), packet.dst_addr().into());
            let is_tcp = packet.next_header() == IpProtocol::Tcp;
            is_tcp.then_some((ends.0, ends.1, packet.payload()))
        }
        _ => None,
    }
}

/// Octets of the IP header before a segment that [`tcp_of`] finds.
fn ip_octets(frame: &[u8]) -> usize {
    match frame[ETHERNET_OCTETS] >> 4 {
        6 => IPV6_OCTETS,
        _ => IPV4_OCTETS,
    }
}

impl Segment {
    /// The segment of a frame, if it has one.
    ///
    /// # Panics
    /// A checksum is wrong.
    pub fn read(frame: &[u8]) -> Option<Self> {
        let segment = Self::read_unsummed(frame)?;
        let ip = &frame[ETHERNET_OCTETS..];
        if frame[ETHERNET_OCTETS] >> 4 == 4 {
            assert!(Ipv4Packet::new_unchecked(ip).verify_checksum());
        }
        let (from, to, octets) = tcp_of(frame)?;
        let is_right = TcpPacket::new_unchecked(octets).verify_checksum(&from, &to);
        assert!(is_right, "the checksum of {segment:?}");
        Some(segment)
    }

    /// The segment of a frame, whatever its checksums are.
    pub fn read_unsummed(frame: &[u8]) -> Option<Self> {
        let (from, to, octets) = tcp_of(frame)?;
        let segment = TcpPacket::new_checked(octets).ok()?;
        let checksums = ChecksumCapabilities::ignored();
        let repr = TcpRepr::parse(&segment, &from, &to, &checksums).ok()?;
        let [from, to] = [from, to].map(IpAddr::from);
        Some(Self {
            from: (from, repr.src_port).into(),
            to: (to, repr.dst_port).into(),
            seq: segment.seq_number().0 as u32,
            ack: segment.ack().then(|| segment.ack_number().0 as u32),
            is_syn: segment.syn(),
            is_fin: segment.fin(),
            is_rst: segment.rst(),
            payload: repr.payload.to_vec(),
        })
    }

    /// Sequence numbers that it takes.
    pub fn octets(&self) -> u32 {
        self.payload.len() as u32 + u32::from(self.is_syn) + u32::from(self.is_fin)
    }

    /// A frame that is as `frame`, which has no IP options, but for this change of its segment.
    ///
    /// # Panics
    /// It has no segment.
    pub fn forge(
        frame: &[u8],
        payload: &[u8],
        change: impl FnOnce(&mut TcpPacket<&mut [u8]>),
    ) -> Vec<u8> {
        let at = ETHERNET_OCTETS + ip_octets(frame);
        let mut forged = frame[..at].to_vec();
        let old = TcpPacket::new_checked(&frame[at..]).expect("a segment");
        let header = usize::from(old.header_len());
        forged.extend_from_slice(&frame[at..at + header]);
        forged.extend_from_slice(payload);
        let octets = (forged.len() - ETHERNET_OCTETS) as u16;
        let ip = &mut forged[ETHERNET_OCTETS..];
        let ends: [IpAddress; 2] = if at == ETHERNET_OCTETS + IPV6_OCTETS {
            let mut packet = Ipv6Packet::new_unchecked(ip);
            packet.set_payload_len(octets - IPV6_OCTETS as u16);
            [packet.src_addr().into(), packet.dst_addr().into()]
        } else {
            let mut packet = Ipv4Packet::new_unchecked(ip);
            packet.set_total_len(octets);
            packet.fill_checksum();
            [packet.src_addr().into(), packet.dst_addr().into()]
        };
        let mut segment = TcpPacket::new_unchecked(&mut forged[at..]);
        change(&mut segment);
        segment.fill_checksum(&ends[0], &ends[1]);
        forged
    }
}
