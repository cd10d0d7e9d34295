//! Frames for every row of the front end's table in ARCHITECTURE.md.
use super::packets::{mend_ipv4_checksum, network_offset, octets, shape, tcp_frame, Shape};
use super::rig::Stimulus;
use rnic_hdl_tools::testkit::Random;

/// A TCP frame with 8 octets of IPv4 options, or none and IPv6, and 40 octets of payload.
fn plain(random: &mut Random, ipv4: bool) -> Vec<u8> {
    let shape = Shape {
        ipv4_options: ipv4.then_some(8),
        payload: 40,
        ..shape(random)
    };
    tcp_frame(random, shape)
}

/// Offset of the TCP header in a frame of `plain`.
fn segment_offset(frame: &[u8], ipv4: bool) -> usize {
    network_offset(frame) + if ipv4 { 28 } else { 40 }
}

/// Truncated at every octet, disabled, bad, and of types for the host.
pub fn ethernet_rows(random: &mut Random, ipv4: bool) -> Vec<Stimulus> {
    let mut frames = Vec::new();
    for size in 1..80 {
        frames.push(Stimulus::new(plain(random, ipv4)[..size].to_vec()));
    }
    for (octet, value) in [(12, 0x06), (13, 0x06), (12, 0x81)] {
        let mut frame = plain(random, ipv4);
        frame[octet] = value;
        frames.push(Stimulus::new(frame));
    }
    // Three tags: the third is an unknown type.
    let mut tags = plain(random, ipv4)[..12].to_vec();
    tags.extend([0x88, 0xa8, 0, 1, 0x81, 0, 0, 2, 0x81, 0, 0, 3, 8, 0]);
    tags.extend(octets(random, 60));
    frames.push(Stimulus::new(tags));
    for (enabled, mac_error, size) in [
        (false, false, 60),
        (false, true, 60),
        (true, true, 60),
        (true, true, 9),
        (false, false, 9),
    ] {
        frames.push(Stimulus {
            enabled,
            mac_error,
            ..Stimulus::new(plain(random, ipv4)[..size].to_vec())
        });
    }
    frames
}

/// One edit of the IP header each; IPv4 with the checksum corrected and not.
pub fn ip_rows(random: &mut Random) -> Vec<Stimulus> {
    // (offset in the header, value): version, IHL, total length, fragment, protocol.
    let ipv4_edits: [&[(usize, u8)]; 12] = [
        &[(0, 0x57)],
        &[(0, 0x44)],
        &[(0, 0x40)],
        &[(2, 0xff)],
        &[(2, 0), (3, 27)],
        &[(2, 0), (3, 28)],
        &[(2, 0), (3, 47)],
        &[(6, 0x20)],
        &[(6, 0x01)],
        &[(7, 0x80)],
        &[(6, 0xc0)],
        &[(9, 17)],
    ];
    // Version, payload length, next header.
    let ipv6_edits: [&[(usize, u8)]; 7] = [
        &[(0, 0x40)],
        &[(4, 1)],
        &[(5, 0)],
        &[(5, 19)],
        &[(5, 20)],
        &[(6, 44)],
        &[(6, 0)],
    ];
    let mut frames = Vec::new();
    let mut edited = |ipv4: bool, edits: &[(usize, u8)], mended: bool| {
        let mut frame = plain(random, ipv4);
        let at = network_offset(&frame);
        for &(offset, value) in edits {
            frame[at + offset] = value;
        }
        if mended && frame[at] & 15 > 2 {
            mend_ipv4_checksum(&mut frame);
        }
        frames.push(Stimulus::new(frame));
    };
    for edits in ipv4_edits {
        edited(true, edits, true);
        edited(true, edits, false);
    }
    for edits in ipv6_edits {
        edited(false, edits, false);
    }
    frames
}

/// Every data offset, and a segment with one wrong bit.
pub fn tcp_rows(random: &mut Random, ipv4: bool) -> Vec<Stimulus> {
    let mut frames = Vec::new();
    for data_offset in 0..16 {
        let mut frame = plain(random, ipv4);
        let at = segment_offset(&frame, ipv4);
        frame[at + 12] = data_offset << 4;
        frames.push(Stimulus::new(frame));
    }
    let mut wrong = plain(random, ipv4);
    let at = segment_offset(&wrong, ipv4);
    wrong[at + 20] ^= 1;
    frames.push(Stimulus::new(wrong));
    frames
}
