//! IP: header checks of RFC 791 and RFC 8200, and which datagrams are the host's.

use crate::ethernet::Datagram;
use rnic_abi::counters::Counter;
use std::net::IpAddr;

const PROTOCOL_TCP: u8 = 6;

/// A TCP segment with the addresses it came under.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TcpDatagram<'a> {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// The segment; Ethernet padding is cut off.
    pub segment: &'a [u8],
}

/// What becomes of a datagram.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum IpVerdict<'a> {
    /// Dropped under this counter.
    Drop(Counter),
    /// The host's own stack takes it.
    Host,
    /// A whole TCP segment.
    Tcp(TcpDatagram<'a>),
}

/// Decide about a datagram.
pub fn classify<'a>(datagram: &Datagram<'a>) -> IpVerdict<'a> {
    match datagram {
        Datagram::V4(octets) => classify_v4(octets),
        Datagram::V6(octets) => classify_v6(octets),
    }
}

fn classify_v4(octets: &[u8]) -> IpVerdict<'_> {
    let malformed = IpVerdict::Drop(Counter::DropIpMalformed);
    if octets.len() < 20 || octets[0] >> 4 != 4 {
        return malformed;
    }
    let header = usize::from(octets[0] & 0xf) * 4;
    let total = usize::from(u16::from_be_bytes([octets[2], octets[3]]));
    if header < 20 || header > total || total > octets.len() {
        return malformed;
    }
    if ones_complement_sum(&octets[..header], 0) != 0xffff {
        return IpVerdict::Drop(Counter::DropIpChecksum);
    }
    // More Fragments, or a fragment offset: reassembly is the host's.
    let fragment = u16::from_be_bytes([octets[6], octets[7]]) & 0x3fff != 0;
    if fragment || octets[9] != PROTOCOL_TCP {
        return IpVerdict::Host;
    }
    let address = |at: usize| IpAddr::from(<[u8; 4]>::try_from(&octets[at..at + 4]).expect("four"));
    IpVerdict::Tcp(TcpDatagram {
        source: address(12),
        destination: address(16),
        segment: &octets[header..total],
    })
}

fn classify_v6(octets: &[u8]) -> IpVerdict<'_> {
    let malformed = IpVerdict::Drop(Counter::DropIpMalformed);
    if octets.len() < 40 || octets[0] >> 4 != 6 {
        return malformed;
    }
    let total = 40 + usize::from(u16::from_be_bytes([octets[4], octets[5]]));
    if total > octets.len() {
        return malformed;
    }
    if octets[6] != PROTOCOL_TCP {
        return IpVerdict::Host;
    }
    let address = |at: usize| IpAddr::from(<[u8; 16]>::try_from(&octets[at..at + 16]).expect("16"));
    IpVerdict::Tcp(TcpDatagram {
        source: address(8),
        destination: address(24),
        segment: &octets[40..total],
    })
}

/// The 16-bit one's complement sum of RFC 1071, an odd last octet padded with zero.
pub fn ones_complement_sum(octets: &[u8], start: u32) -> u16 {
    let pairs = octets.chunks_exact(2);
    // An odd octet is the high one of its pair.
    let odd = pairs
        .remainder()
        .first()
        .map_or(0, |&high| u64::from(high) << 8);
    let word = |pair: &[u8]| u64::from(u16::from_be_bytes([pair[0], pair[1]]));
    let mut sum = u64::from(start) + odd + pairs.map(word).sum::<u64>();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}
