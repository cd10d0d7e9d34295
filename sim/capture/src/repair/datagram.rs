//! Where the headers of an IP datagram are in a frame, and whether its checksums are filled in.
//!
//! A card that computes checksums gets frames whose TCP and UDP checksum fields hold the sum of the
//! pseudo-header alone, not inverted (Linux, BSD), or nothing (Windows). A card that segments gets
//! lengths for more than a frame can have: 0 in the IP header.

use crate::segment::datagram;
use etherparse::checksum::Sum16BitWords;
use etherparse::{ether_type, IpNumber};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::ops::Range;

const HOP_BY_HOP: u8 = 0;
const IPV4_HEADER_OCTETS_MIN: usize = 20;
const IPV6_HEADER_OCTETS: usize = 40;
/// A jumbo payload option alone: next header, length, option, its length, and four octets.
const JUMBO_HEADER_OCTETS: usize = 8;
const JUMBO_OPTION: [u8; 2] = [0xc2, 4];
const TCP_HEADER_OCTETS_MIN: usize = 20;
const TCP_CHECKSUM_AT: usize = 16;
const UDP_HEADER_OCTETS: usize = 8;
const UDP_CHECKSUM_AT: usize = 6;

/// A checksum field.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Sum {
    /// It is right, or there is none.
    Good,
    /// It is the sum of the pseudo-header, with or without the length: a card fills it in.
    PseudoHeader,
    /// It is 0, which is wrong.
    Zero,
    /// It is wrong otherwise.
    Bad,
}

/// An unfragmented datagram with TCP or UDP in a frame.
#[derive(Clone, Debug)]
pub(super) struct Datagram {
    pub(super) source: IpAddr,
    pub(super) destination: IpAddr,
    /// Its octets in the frame; without padding.
    pub(super) octets: Range<usize>,
    /// Where TCP or UDP begins in the frame.
    pub(super) transport: usize,
    pub(super) protocol: IpNumber,
    /// The IP header does not say how long it is.
    pub(super) lacks_length: bool,
}

impl Datagram {
    /// The datagram in `frame`.
    pub(super) fn locate(frame: &[u8]) -> Option<Self> {
        let (kind, octets) = datagram(frame)?;
        let start = frame.len() - octets.len();
        let found = match kind {
            ether_type::IPV4 => Self::ipv4(start, octets)?,
            _ => Self::ipv6(start, octets)?,
        };
        let header = match found.protocol {
            IpNumber::TCP => TCP_HEADER_OCTETS_MIN,
            _ => UDP_HEADER_OCTETS,
        };
        (found.transport + header <= found.octets.end).then_some(found)
    }

    fn ipv4(start: usize, octets: &[u8]) -> Option<Self> {
        let first = *octets.first().filter(|&first| first >> 4 == 4)?;
        let header = 4 * usize::from(first & 0xf);
        if header < IPV4_HEADER_OCTETS_MIN || octets.len() < header {
            return None;
        }
        let total = usize::from(u16::from_be_bytes([octets[2], octets[3]]));
        let fragment = u16::from_be_bytes([octets[6], octets[7]]) & 0x3fff;
        let end = if total == 0 { octets.len() } else { total };
        let protocol = IpNumber(octets[9]);
        let is_known = [IpNumber::TCP, IpNumber::UDP].contains(&protocol);
        if fragment != 0 || end > octets.len() || end < header || !is_known {
            return None;
        }
        let address = |at: usize| Ipv4Addr::from([0, 1, 2, 3].map(|octet| octets[at + octet]));
        Some(Self {
            source: address(12).into(),
            destination: address(16).into(),
            octets: start..start + end,
            transport: start + header,
            protocol,
            lacks_length: total == 0,
        })
    }

    fn ipv6(start: usize, octets: &[u8]) -> Option<Self> {
        let header: &[u8; IPV6_HEADER_OCTETS] = octets.first_chunk()?;
        let payload = usize::from(u16::from_be_bytes([header[4], header[5]]));
        let (mut protocol, mut transport) = (header[6], IPV6_HEADER_OCTETS);
        let mut end = match payload {
            0 => octets.len(),
            payload => IPV6_HEADER_OCTETS + payload,
        };
        let jumbo = octets.get(transport..transport + JUMBO_HEADER_OCTETS);
        if let (HOP_BY_HOP, 0, Some([next, 0, option, length, size @ ..])) =
            (protocol, payload, jumbo)
        {
            if [*option, *length] != JUMBO_OPTION {
                return None;
            }
            let size = u32::from_be_bytes([size[0], size[1], size[2], size[3]]);
            end = IPV6_HEADER_OCTETS + size as usize;
            protocol = *next;
            transport += JUMBO_HEADER_OCTETS;
        }
        let protocol = IpNumber(protocol);
        let is_known = [IpNumber::TCP, IpNumber::UDP].contains(&protocol);
        if end > octets.len() || !is_known {
            return None;
        }
        let address = |at: usize| -> Option<IpAddr> {
            let octets: [u8; 16] = octets.get(at..at + 16)?.try_into().ok()?;
            Some(Ipv6Addr::from(octets).into())
        };
        Some(Self {
            source: address(8)?,
            destination: address(24)?,
            octets: start..start + end,
            transport: start + transport,
            protocol,
            lacks_length: payload == 0,
        })
    }

    /// Source and destination port.
    pub(super) fn ports(&self, frame: &[u8]) -> [u16; 2] {
        [0, 2].map(|at| {
            let at = self.transport + at;
            u16::from_be_bytes([frame[at], frame[at + 1]])
        })
    }

    /// Whether anything follows the header of TCP or UDP.
    pub(super) fn has_payload(&self, frame: &[u8]) -> bool {
        let header = match self.protocol {
            IpNumber::TCP => 4 * usize::from(frame[self.transport + 12] >> 4),
            _ => UDP_HEADER_OCTETS,
        };
        self.transport + header < self.octets.end
    }

    /// Where the checksum of TCP or UDP is in the frame.
    fn checksum_at(&self) -> usize {
        self.transport
            + match self.protocol {
                IpNumber::TCP => TCP_CHECKSUM_AT,
                _ => UDP_CHECKSUM_AT,
            }
    }

    fn pseudo_header(&self, octets: usize) -> Sum16BitWords {
        let addresses = match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => Sum16BitWords::new()
                .add_4bytes(source.octets())
                .add_4bytes(destination.octets()),
            (source, destination) => {
                let octets = |address| match address {
                    IpAddr::V6(address) => address.octets(),
                    IpAddr::V4(address) => address.to_ipv6_mapped().octets(),
                };
                Sum16BitWords::new()
                    .add_16bytes(octets(source))
                    .add_16bytes(octets(destination))
            }
        };
        addresses
            .add_2bytes([0, self.protocol.0])
            .add_4bytes((octets as u32).to_be_bytes())
    }

    /// The state of the TCP or UDP checksum.
    pub(super) fn transport_sum(&self, frame: &[u8]) -> Sum {
        let segment = &frame[self.transport..self.octets.end];
        let at = self.checksum_at();
        let field = [frame[at], frame[at + 1]];
        let is_udp = self.protocol == IpNumber::UDP;
        if is_udp && field == [0; 2] && matches!(self.source, IpAddr::V4(_)) {
            return Sum::Good;
        }
        let whole = self.pseudo_header(segment.len()).add_slice(segment);
        if whole.ones_complement() == 0 {
            return Sum::Good;
        }
        let is_pseudo = [segment.len(), 0].into_iter().any(|octets| {
            let sum = !self.pseudo_header(octets).ones_complement();
            sum.to_ne_bytes() == field
        });
        match field {
            _ if is_pseudo => Sum::PseudoHeader,
            [0, 0] => Sum::Zero,
            _ => Sum::Bad,
        }
    }

    /// The state of the IPv4 header checksum.
    pub(super) fn header_sum(&self, frame: &[u8]) -> Sum {
        let header = &frame[self.octets.start..self.transport];
        if matches!(self.source, IpAddr::V6(_)) {
            return Sum::Good;
        }
        match Sum16BitWords::new().add_slice(header).ones_complement() {
            0 => Sum::Good,
            _ if header[10..12] == [0; 2] => Sum::Zero,
            _ => Sum::Bad,
        }
    }

    /// Fill in the length, of a datagram that is short enough to have one.
    pub(super) fn fill_length(&self, frame: &mut [u8]) {
        let (start, octets) = (self.octets.start, self.octets.len());
        let (at, length) = match self.source {
            IpAddr::V4(_) => (start + 2, octets),
            IpAddr::V6(_) => (start + 4, octets - IPV6_HEADER_OCTETS),
        };
        let length = u16::try_from(length).unwrap_or(0);
        frame[at..at + 2].copy_from_slice(&length.to_be_bytes());
    }

    /// Fill in the checksum of TCP or UDP.
    pub(super) fn fill_transport(&self, frame: &mut [u8]) {
        let at = self.checksum_at();
        frame[at..at + 2].fill(0);
        let segment = &frame[self.transport..self.octets.end];
        let sum = self.pseudo_header(segment.len()).add_slice(segment);
        let sum = match sum.ones_complement() {
            // RFC 768: a sum of 0 is sent as all ones.
            0 if self.protocol == IpNumber::UDP => 0xffff,
            sum => sum,
        };
        frame[at..at + 2].copy_from_slice(&sum.to_ne_bytes());
    }

    /// Fill in the checksum of the IPv4 header.
    pub(super) fn fill_header(&self, frame: &mut [u8]) {
        if matches!(self.source, IpAddr::V6(_)) {
            return;
        }
        let at = self.octets.start + 10;
        frame[at..at + 2].fill(0);
        let header = &frame[self.octets.start..self.transport];
        let sum = Sum16BitWords::new().add_slice(header).ones_complement();
        frame[at..at + 2].copy_from_slice(&sum.to_ne_bytes());
    }
}
