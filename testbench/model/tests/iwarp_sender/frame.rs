//! Ethernet frames with IPv4 and TCP around octets of a stream.

use std::net::{Ipv4Addr, SocketAddr};

/// Octets before TCP's payload: Ethernet, IPv4 and TCP without options.
const HEADERS_OCTETS: usize = 14 + 20 + 20;

/// One's complement sum (RFC 1071) of octets, on top of `start`.
fn checksum(octets: &[u8], start: u32) -> u16 {
    let mut sum = start;
    for pair in octets.chunks(2) {
        sum += u32::from(pair[0]) << 8 | pair.get(1).map_or(0, |&low| u32::from(low));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn address(end: SocketAddr) -> Ipv4Addr {
    match end {
        SocketAddr::V4(end) => *end.ip(),
        SocketAddr::V6(end) => panic!("{end} is not of IPv4"),
    }
}

/// A segment from `source` to `destination`.
pub fn frame(source: SocketAddr, destination: SocketAddr, sequence: u32, octets: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; HEADERS_OCTETS];
    frame[12..14].copy_from_slice(&0x0800u16.to_be_bytes());
    let total = (HEADERS_OCTETS - 14 + octets.len()) as u16;
    let (from, to) = (address(source).octets(), address(destination).octets());
    let ip = &mut frame[14..34];
    (ip[0], ip[8], ip[9]) = (0x45, 64, 6);
    ip[2..4].copy_from_slice(&total.to_be_bytes());
    ip[12..16].copy_from_slice(&from);
    ip[16..20].copy_from_slice(&to);
    let sum = checksum(ip, 0);
    ip[10..12].copy_from_slice(&sum.to_be_bytes());
    let tcp = &mut frame[34..54];
    tcp[0..2].copy_from_slice(&source.port().to_be_bytes());
    tcp[2..4].copy_from_slice(&destination.port().to_be_bytes());
    tcp[4..8].copy_from_slice(&sequence.to_be_bytes());
    tcp[8..12].copy_from_slice(&1u32.to_be_bytes());
    // Five words, ACK, a window.
    (tcp[12], tcp[13], tcp[14]) = (0x50, 0x10, 0xff);
    frame.extend_from_slice(octets);
    let pseudo = [from, to].concat();
    let pseudo = u32::from(!checksum(&pseudo, 0)) + 6 + (20 + octets.len()) as u32;
    let sum = checksum(&frame[34..], pseudo);
    frame[50..52].copy_from_slice(&sum.to_be_bytes());
    frame
}
