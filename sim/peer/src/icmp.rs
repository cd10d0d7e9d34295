//! Reports of packets that are too big for a link on their way, octet by octet (RFC 792, RFC 1191).

use crate::frame::{ETHERNET_OCTETS, IPV4_OCTETS};

/// What a report repeats: the IPv4 header and the 8 octets after it.
const REPEATED_OCTETS: usize = IPV4_OCTETS + 8;

/// The Internet checksum (RFC 1071).
fn checksum(octets: &[u8]) -> [u8; 2] {
    let words = octets.chunks(2).map(|pair| {
        let low = pair.get(1).copied().unwrap_or(0);
        u32::from(pair[0]) << 8 | u32::from(low)
    });
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = (sum & 0xffff) + (sum >> 16);
    (!sum as u16).to_be_bytes()
}

/// The report of `frame`: the next hop takes packets of `mtu_octets` octets.
pub fn too_big(frame: &[u8], mtu_octets: u16) -> Vec<u8> {
    let packet = &frame[ETHERNET_OCTETS..];
    about(frame, &packet[..REPEATED_OCTETS], mtu_octets)
}

/// A report to whoever sent `frame`, that repeats these octets as its packet's.
pub fn about(frame: &[u8], repeated: &[u8], mtu_octets: u16) -> Vec<u8> {
    let packet = &frame[ETHERNET_OCTETS..];
    // Destination unreachable, fragmentation needed; two octets unused, then the MTU.
    let mut report = vec![3, 4, 0, 0, 0, 0];
    report.extend_from_slice(&mtu_octets.to_be_bytes());
    report.extend_from_slice(repeated);
    let sum = checksum(&report);
    report[2..4].copy_from_slice(&sum);
    let octets = (IPV4_OCTETS + report.len()) as u16;
    let mut header = vec![0x45, 0];
    header.extend_from_slice(&octets.to_be_bytes());
    header.extend_from_slice(&[0, 0, 0, 0, 64, 1, 0, 0]);
    header.extend_from_slice(&packet[16..20]);
    header.extend_from_slice(&packet[12..16]);
    let sum = checksum(&header);
    header[10..12].copy_from_slice(&sum);
    let mut back = frame[6..12].to_vec();
    back.extend_from_slice(&frame[..6]);
    back.extend_from_slice(&[0x08, 0x00]);
    back.extend_from_slice(&header);
    back.extend_from_slice(&report);
    back
}
