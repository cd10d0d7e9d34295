//! Reference reader of frames, octet by octet from the standards: the oracle of the front end's
//! tests, without words, lanes or cycles.
use super::super::verdict::*;
use crate::messages::FrameVerdict;

/// What was read of a TCP frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segment {
    pub ipv6: bool,
    pub remote_address: [u8; 16],
    pub local_address: [u8; 16],
    pub ports: [u8; 4],
    pub flags: u8,
    pub checksum_good: bool,
    pub more_options: bool,
    pub seg_seq: u32,
    pub seg_ack: u32,
    pub seg_wnd: u16,
    pub payload_offset: usize,
    pub payload_octets: usize,
}

/// Result for a frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    pub verdict: FrameVerdict,
    /// Bit of `counts` in addition to `COUNT_FRAMES`.
    pub reason: Option<usize>,
    pub frame_octets: usize,
    /// Of frames for TCP only.
    pub segment: Option<Segment>,
}

fn number(octets: &[u8]) -> usize {
    octets
        .iter()
        .fold(0, |value, &octet| value << 8 | usize::from(octet))
}

/// RFC 1071: the one's complement sum of the octets in pairs.
fn ones_sum(parts: &[&[u8]]) -> u16 {
    let octets = parts.concat();
    let mut sum: u32 = octets
        .chunks(2)
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0)))
        .sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// Reads `frame` (without FCS), which the MAC marks bad if `mac_error`, as an enabled device would
/// if `enabled`.
pub fn read(frame: &[u8], enabled: bool, mac_error: bool) -> Reading {
    let made = |verdict, reason| Reading {
        verdict,
        reason,
        frame_octets: frame.len(),
        segment: None,
    };
    let drop = |reason| made(FrameVerdict::Drop, Some(reason));
    let host = || made(FrameVerdict::Host, None);
    if !enabled {
        return drop(COUNT_DISABLED);
    }
    if mac_error {
        return drop(COUNT_MAC_ERROR);
    }
    if frame.len() < 14 {
        return drop(COUNT_RUNT);
    }
    if frame.len() > 9216 {
        return drop(COUNT_TOO_LONG);
    }
    let mut at = 12;
    for _ in 0..2 {
        if frame.len() < at + 2 {
            return host();
        }
        if !matches!(number(&frame[at..at + 2]), 0x8100 | 0x88a8) {
            break;
        }
        at += 4;
    }
    if frame.len() < at + 2 {
        return host();
    }
    let ether_type = number(&frame[at..at + 2]);
    let (start, left) = (at + 2, &frame[at + 2..]);
    let (ipv6, header, end) = match ether_type {
        0x0800 => {
            if left.len() < 20 || left[0] >> 4 != 4 {
                return drop(COUNT_IP_MALFORMED);
            }
            let (header, total) = (usize::from(left[0] & 15) * 4, number(&left[2..4]));
            if header < 20 || header > total || total > left.len() {
                return drop(COUNT_IP_MALFORMED);
            }
            if ones_sum(&[&left[..header]]) != 0xffff {
                return drop(COUNT_IP_CHECKSUM);
            }
            if number(&left[6..8]) & 0x3fff != 0 || left[9] != 6 {
                return host();
            }
            (false, header, total)
        }
        0x86dd => {
            if left.len() < 40 || left[0] >> 4 != 6 || 40 + number(&left[4..6]) > left.len() {
                return drop(COUNT_IP_MALFORMED);
            }
            if left[6] != 6 {
                return host();
            }
            (true, 40, 40 + number(&left[4..6]))
        }
        _ => return host(),
    };
    let tcp = &left[header..end];
    if tcp.len() < 20 || tcp[12] >> 4 < 5 || usize::from(tcp[12] >> 4) * 4 > tcp.len() {
        return drop(COUNT_TCP_MALFORMED);
    }
    let addresses = if ipv6 { &left[8..40] } else { &left[12..20] };
    let (remote, local) = addresses.split_at(addresses.len() / 2);
    let widened = |address: &[u8]| {
        let mut octets = [0; 16];
        octets[16 - address.len()..].copy_from_slice(address);
        octets
    };
    let length = (tcp.len() as u32).to_be_bytes();
    let data = usize::from(tcp[12] >> 4) * 4;
    Reading {
        segment: Some(Segment {
            ipv6,
            remote_address: widened(remote),
            local_address: widened(local),
            ports: [tcp[0], tcp[1], tcp[2], tcp[3]],
            flags: tcp[13] & 0x3f,
            checksum_good: ones_sum(&[addresses, &length, &[0, 0, 0, 6], tcp]) == 0xffff,
            more_options: data > 20 && !(data == 32 && tcp[20..24] == [1, 1, 8, 10]),
            seg_seq: number(&tcp[4..8]) as u32,
            seg_ack: number(&tcp[8..12]) as u32,
            seg_wnd: number(&tcp[14..16]) as u16,
            payload_offset: 2 + start + header + data,
            payload_octets: tcp.len() - data,
        }),
        ..made(FrameVerdict::Tcp, None)
    }
}
