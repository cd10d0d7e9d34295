//! TCP segments between the octets of a frame and what `rnic-tcp` takes and gives.
//!
//! ```text
//!  Arrived::Tcp --> read --> Ends, Segment          RFC 9293 section 3.1
//!  Ends, Head, octets of payload --> SegmentHeader: Ethernet, IP and TCP headers, whose checksum
//!                                    the device completes
//! ```
//!
//! No octet of payload is touched: the caller hands header and payload to the device as pieces of
//! one frame. IPv4 packets have DF set and identification 0 (RFC 6864 section 4.1): they are never
//! fragmented.

use super::answers::HOPS;
use super::link::{LinkHeader, LINK_OCTETS_MAX};
use crate::InsertChecksum;
use rnic_tcp::options::OPTION_OCTETS_MAX;
use rnic_tcp::{Flags, Head, OptionError, Options, Segment, SeqNumber};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    IpProtocol, Ipv4Packet, Ipv4Repr, Ipv6Packet, Ipv6Repr, TcpPacket, TcpSeqNumber,
    IPV6_HEADER_LEN,
};
use std::net::{IpAddr, SocketAddr};
use thiserror::Error;

/// A TCP header without options.
const TCP_OCTETS: usize = 20;
/// Where a TCP header has its checksum.
const CHECKSUM_AT: usize = 16;
/// Ethernet with a tag, IPv6, TCP, options.
const HEADER_OCTETS_MAX: usize = LINK_OCTETS_MAX + IPV6_HEADER_LEN + TCP_OCTETS + OPTION_OCTETS_MAX;

/// Both ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ends {
    /// This host's.
    pub own: SocketAddr,
    /// The other host's.
    pub peer: SocketAddr,
}

/// Why a segment is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum SegmentError {
    /// Its header is longer than it, or shorter than a header.
    #[error("the header says that it has {header_octets} octets, of {octets}")]
    Length {
        /// What it says.
        header_octets: usize,
        /// Octets that are there.
        octets: usize,
    },
    /// Its options are malformed.
    #[error(transparent)]
    Options(#[from] OptionError),
    /// No port of a connection is 0 (RFC 6335 section 6).
    #[error("port 0 belongs to no connection")]
    Port,
}

/// The segment that has arrived from `from` at `to`: whose checksum is right.
///
/// # Errors
/// It is to be dropped.
pub fn read(from: IpAddr, to: IpAddr, octets: &[u8]) -> Result<(Ends, Segment<'_>), SegmentError> {
    let packet = TcpPacket::new_checked(octets).map_err(|_| SegmentError::Length {
        header_octets: octets
            .get(12)
            .map_or(0, |length| usize::from(length >> 4) * 4),
        octets: octets.len(),
    })?;
    let (own, peer) = (packet.dst_port(), packet.src_port());
    if own == 0 || peer == 0 {
        return Err(SegmentError::Port);
    }
    let ends = Ends {
        own: (to, own).into(),
        peer: (from, peer).into(),
    };
    let head = Head {
        seq: SeqNumber(packet.seq_number().0 as u32),
        ack: SeqNumber(if packet.ack() {
            packet.ack_number().0 as u32
        } else {
            0
        }),
        flags: Flags {
            syn: packet.syn(),
            ack: packet.ack(),
            fin: packet.fin(),
            rst: packet.rst(),
            psh: packet.psh(),
        },
        window: packet.window_len(),
        options: Options::parse(packet.options())?,
    };
    let payload = packet.payload();
    Ok((ends, Segment { head, payload }))
}

/// The headers of a frame with a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentHeader {
    octets: [u8; HEADER_OCTETS_MAX],
    length: usize,
    tcp_at: usize,
}

impl SegmentHeader {
    /// Those of a segment with `head` and `payload_octets` octets of payload, for a next hop with
    /// the Ethernet header `link`. None if ends are of two families, or the packet would be longer
    /// than an IP packet can be.
    pub fn new(link: &LinkHeader, ends: &Ends, head: &Head, payload_octets: usize) -> Option<Self> {
        let mut octets = [0; HEADER_OCTETS_MAX];
        let link = link.octets();
        octets[..link.len()].copy_from_slice(link);
        let mut options = [0; OPTION_OCTETS_MAX];
        let option_octets = head.options.emit(&mut options);
        let header_octets = TCP_OCTETS + option_octets;
        let tcp_octets = header_octets + payload_octets;
        let ip_octets = write_ip(&mut octets[link.len()..], ends, tcp_octets)?;
        let tcp_at = link.len() + ip_octets;
        let length = tcp_at + header_octets;
        let mut packet = TcpPacket::new_unchecked(&mut octets[tcp_at..length]);
        packet.set_src_port(ends.own.port());
        packet.set_dst_port(ends.peer.port());
        packet.set_seq_number(TcpSeqNumber(head.seq.0 as i32));
        packet.set_ack_number(TcpSeqNumber(head.ack.0 as i32));
        packet.clear_flags();
        packet.set_header_len(header_octets as u8);
        packet.set_syn(head.flags.syn);
        packet.set_ack(head.flags.ack);
        packet.set_fin(head.flags.fin);
        packet.set_rst(head.flags.rst);
        packet.set_psh(head.flags.psh);
        packet.set_window_len(head.window);
        packet.set_checksum(pseudo_sum(ends, tcp_octets));
        packet
            .options_mut()
            .copy_from_slice(&options[..option_octets]);
        Some(Self {
            octets,
            length,
            tcp_at,
        })
    }

    /// A whole packet with a segment without payload, its checksum included, for an interface that
    /// has to ask for its next hop first.
    pub fn packet(ends: &Ends, head: &Head) -> Option<Vec<u8>> {
        let header = Self::new(&LinkHeader::none(), ends, head, 0)?;
        let mut octets = header.octets().to_vec();
        let tcp = &mut octets[header.tcp_at..];
        let checksum = !folded(halves(tcp));
        tcp[CHECKSUM_AT..CHECKSUM_AT + 2].copy_from_slice(&checksum.to_be_bytes());
        Some(octets)
    }

    /// The octets before the payload.
    pub fn octets(&self) -> &[u8] {
        &self.octets[..self.length]
    }

    /// The checksum that the device inserts.
    pub fn checksum(&self) -> InsertChecksum {
        InsertChecksum {
            start: self.tcp_at,
            place: self.tcp_at + CHECKSUM_AT,
        }
    }
}

/// Write an IP header before `tcp_octets` octets; its own.
fn write_ip(octets: &mut [u8], ends: &Ends, tcp_octets: usize) -> Option<usize> {
    match (ends.own.ip(), ends.peer.ip()) {
        (IpAddr::V4(src_addr), IpAddr::V4(dst_addr)) => {
            let header = Ipv4Repr {
                src_addr,
                dst_addr,
                next_header: IpProtocol::Tcp,
                payload_len: tcp_octets,
                hop_limit: HOPS,
            };
            u16::try_from(header.buffer_len() + tcp_octets).ok()?;
            let mut packet = Ipv4Packet::new_unchecked(octets);
            header.emit(&mut packet, &ChecksumCapabilities::default());
            Some(header.buffer_len())
        }
        (IpAddr::V6(src_addr), IpAddr::V6(dst_addr)) => {
            u16::try_from(tcp_octets).ok()?;
            let header = Ipv6Repr {
                src_addr,
                dst_addr,
                next_header: IpProtocol::Tcp,
                payload_len: tcp_octets,
                hop_limit: HOPS,
            };
            header.emit(&mut Ipv6Packet::new_unchecked(octets));
            Some(header.buffer_len())
        }
        _ => None,
    }
}

/// The sum of the pseudo-header, not inverted (RFC 9293 section 3.1, RFC 8200 section 8.1).
fn pseudo_sum(ends: &Ends, tcp_octets: usize) -> u16 {
    let mut sum = u64::from(u8::from(IpProtocol::Tcp)) + tcp_octets as u64;
    for address in [ends.own.ip(), ends.peer.ip()] {
        match address {
            IpAddr::V4(address) => sum += halves(&address.octets()),
            IpAddr::V6(address) => sum += halves(&address.octets()),
        }
    }
    folded(sum)
}

/// A sum of 16-bit words, with its carries added (RFC 1071).
fn folded(mut sum: u64) -> u16 {
    while sum > u64::from(u16::MAX) {
        sum = (sum >> 16) + (sum & u64::from(u16::MAX));
    }
    sum as u16
}

fn halves(octets: &[u8]) -> u64 {
    let pairs = octets.chunks_exact(2);
    pairs
        .map(|pair| u64::from(u16::from_be_bytes([pair[0], pair[1]])))
        .sum()
}

#[cfg(test)]
mod tests;
