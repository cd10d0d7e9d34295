//! Segments of the stranger's record, and segments that no TCP has made.

use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    EthernetFrame, EthernetProtocol, IpAddress, IpProtocol, Ipv4Packet, TcpPacket, TcpRepr,
};
use std::net::SocketAddr;

/// What is of interest in a segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    pub from: SocketAddr,
    pub to: SocketAddr,
    pub seq: u32,
    pub ack: Option<u32>,
    pub is_syn: bool,
    pub is_fin: bool,
    pub is_rst: bool,
    pub payload: Vec<u8>,
}

impl Segment {
    /// The segment of a frame, if it has one.
    ///
    /// # Panics
    /// A checksum is wrong.
    pub fn read(frame: &[u8]) -> Option<Self> {
        let frame = EthernetFrame::new_checked(frame).ok()?;
        if frame.ethertype() != EthernetProtocol::Ipv4 {
            return None;
        }
        let packet = Ipv4Packet::new_checked(frame.payload()).ok()?;
        assert!(packet.verify_checksum());
        if packet.next_header() != IpProtocol::Tcp {
            return None;
        }
        let (from, to) = (packet.src_addr(), packet.dst_addr());
        let segment = TcpPacket::new_checked(packet.payload()).ok()?;
        let (source, sink) = (IpAddress::Ipv4(from), IpAddress::Ipv4(to));
        let checksums = ChecksumCapabilities::default();
        let repr = TcpRepr::parse(&segment, &source, &sink, &checksums).expect("a right checksum");
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

    /// A frame that is as `frame` but for this change of its segment.
    pub fn forge(
        frame: &[u8],
        payload: &[u8],
        change: impl FnOnce(&mut TcpPacket<&mut [u8]>),
    ) -> Vec<u8> {
        let mut forged = frame[..14 + 20].to_vec();
        let old = TcpPacket::new_checked(&frame[14 + 20..]).expect("a segment");
        let header = usize::from(old.header_len());
        forged.extend_from_slice(&frame[14 + 20..14 + 20 + header]);
        forged.extend_from_slice(payload);
        let octets = (forged.len() - 14) as u16;
        let mut packet = Ipv4Packet::new_unchecked(&mut forged[14..]);
        packet.set_total_len(octets);
        packet.fill_checksum();
        let ends = [packet.src_addr(), packet.dst_addr()].map(IpAddress::Ipv4);
        let mut segment = TcpPacket::new_unchecked(&mut forged[14 + 20..]);
        change(&mut segment);
        segment.fill_checksum(&ends[0], &ends[1]);
        forged
    }
}
