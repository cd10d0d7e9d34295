//! The front end: what is dropped, and what is the host's.

use crate::rig::{Rig, HOST_FRAME_OCTETS_MAX};
use rnic_abi::counters::Counter;
use rnic_testbench::traffic::frame::{FLAG_ACK, FLAG_PSH};
use rnic_testbench::traffic::StreamConfig;

/// Where the IP header of an untagged frame starts.
const IP: usize = 14;

fn rig() -> Rig {
    Rig::new(StreamConfig::default())
}

/// A good segment of another connection, with 40 octets of payload: the host's, unless damaged.
fn frame(rig: &Rig) -> Vec<u8> {
    let mut builder = rig.builder.clone();
    builder.source.address.set_port(9);
    builder.segment(1, 1, FLAG_ACK | FLAG_PSH, &[7; 40])
}

fn frame_v6(rig: &Rig) -> Vec<u8> {
    let mut builder = rig.builder.clone();
    builder.source.address = "[fd00::1]:9".parse().expect("an address");
    builder.destination.address = "[fd00::2]:10".parse().expect("an address");
    builder.segment(1, 1, FLAG_ACK | FLAG_PSH, &[7; 40])
}

/// Set the IPv4 header checksum right.
fn reseal(frame: &mut [u8]) {
    let header = IP + usize::from(frame[IP] & 15) * 4;
    frame[IP + 10..IP + 12].fill(0);
    let halves = frame[IP..header].chunks(2);
    let sum: u32 = halves
        .map(|half| u32::from(half[0]) << 8 | u32::from(half[1]))
        .sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    frame[IP + 10..IP + 12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}

fn counted(frame: &[u8]) -> Vec<(Counter, u32)> {
    let mut rig = rig();
    rig.model.receive(frame, false);
    assert_eq!(rig.counter(Counter::Frames), 1);
    let passed = rig.counter(Counter::HostFrames) as usize;
    assert_eq!(
        rig.host_frames(),
        vec![frame.to_vec(); passed],
        "frames pass unchanged"
    );
    rig.counted()
}

fn host() -> Vec<(Counter, u32)> {
    vec![(Counter::HostFrames, 1)]
}

#[test]
fn a_frame_the_mac_marks_bad_is_dropped_whatever_it_holds() {
    for octets in [0, 13, 64, 10_000] {
        let mut rig = rig();
        rig.model.receive(&vec![0; octets], true);
        assert_eq!(rig.counted(), [(Counter::DropMacError, 1)]);
    }
}

#[test]
fn a_frame_without_a_whole_ethernet_header_is_dropped() {
    for octets in 0..14 {
        assert_eq!(counted(&vec![0; octets]), [(Counter::DropRunt, 1)]);
    }
    assert_eq!(counted(&[0; 14]), host());
}

#[test]
fn a_frame_of_more_than_9216_octets_is_dropped() {
    assert_eq!(counted(&vec![0; 9217]), [(Counter::DropFrameTooLong, 1)]);
    assert_eq!(
        counted(&vec![0; 9216]),
        [(Counter::DropHostFrameTooLong, 1)]
    );
}

#[test]
fn a_host_frame_that_fits_no_slot_is_dropped() {
    assert_eq!(counted(&vec![0; HOST_FRAME_OCTETS_MAX]), host());
    let longer = vec![0; HOST_FRAME_OCTETS_MAX + 1];
    assert_eq!(counted(&longer), [(Counter::DropHostFrameTooLong, 1)]);
}

/// MPA-027: what is not IP passes; two tags are skipped, a third is not.
#[test]
fn a_type_other_than_ip_after_up_to_two_tags_is_for_the_host() {
    for vlan in [vec![], vec![1], vec![1, 2]] {
        let mut rig = rig();
        rig.builder.vlan = vlan.clone();
        rig.sender.send(&[1]);
        rig.deliver();
        assert_eq!(rig.counter(Counter::TcpInOrder), 1, "{vlan:?}");
        let mut frame = rig.builder.segment(1, 1, FLAG_ACK, &[]);
        let kind = 12 + 4 * vlan.len();
        frame[kind..kind + 2].copy_from_slice(&[0x08, 0x06]);
        assert_eq!(counted(&frame), host());
    }
    let mut rig = rig();
    rig.builder.vlan = vec![1, 2, 3];
    let frame = rig.builder.segment(1, 1, FLAG_ACK, &[0; 40]);
    assert_eq!(counted(&frame), host(), "a third tag");
}

#[test]
fn a_tag_without_a_whole_type_after_it_is_for_the_host() {
    let mut rig = rig();
    rig.builder.vlan = vec![1, 2];
    let frame = rig.builder.segment(1, 1, FLAG_ACK, &[]);
    for octets in [14, 15, 16, 17, 18, 19, 20, 21] {
        assert_eq!(counted(&frame[..octets]), host(), "{octets}");
    }
    assert_eq!(counted(&frame[..22]), [(Counter::DropIpMalformed, 1)]);
}

#[test]
fn an_impossible_ipv4_header_is_dropped() {
    let good = frame(&rig());
    assert_eq!(counted(&good), host());
    assert_eq!(
        counted(&good[..IP + 19]),
        [(Counter::DropIpMalformed, 1)],
        "under 20 octets"
    );
    assert_eq!(
        counted(&good[..good.len() - 1]),
        [(Counter::DropIpMalformed, 1)],
        "cut"
    );
    for (at, value, why) in [
        (IP, 0x55, "version 5"),
        (IP, 0x65, "version 6"),
        (IP, 0x44, "IHL 4"),
        (IP + 3, 19, "total length below the header"),
        (IP + 2, 0x7f, "total length beyond the frame"),
    ] {
        let mut bad = good.clone();
        bad[at] = value;
        reseal(&mut bad);
        assert_eq!(counted(&bad), [(Counter::DropIpMalformed, 1)], "{why}");
    }
}

/// MPA-037: lower-layer checks come first.
#[test]
fn a_wrong_ipv4_checksum_is_dropped_fragments_too() {
    for bit in 0..16 {
        let mut bad = frame(&rig());
        bad[IP + 10 + bit / 8] ^= 1 << (bit % 8);
        assert_eq!(counted(&bad), [(Counter::DropIpChecksum, 1)]);
        bad[IP + 6] = 0x20;
        assert_eq!(counted(&bad), [(Counter::DropIpChecksum, 1)]);
    }
}

/// MPA-064: fragments are for the host.
#[test]
fn ipv4_fragments_and_other_protocols_are_for_the_host() {
    for (at, value) in [(IP + 6, 0x20), (IP + 6, 0x1f), (IP + 7, 1), (IP + 9, 17)] {
        let mut other = frame(&rig());
        other[at] = value;
        // Not even a whole TCP header is asked for.
        other[IP + 2..IP + 4].copy_from_slice(&[0, 21]);
        reseal(&mut other);
        assert_eq!(counted(&other), host(), "octet {at} is {value:#x}");
    }
}

#[test]
fn an_impossible_ipv6_header_is_dropped() {
    let good = frame_v6(&rig());
    assert_eq!(counted(&good), host());
    assert_eq!(
        counted(&good[..IP + 39]),
        [(Counter::DropIpMalformed, 1)],
        "under 40 octets"
    );
    assert_eq!(
        counted(&good[..good.len() - 1]),
        [(Counter::DropIpMalformed, 1)],
        "cut"
    );
    let mut bad = good;
    bad[IP] = 0x40;
    assert_eq!(counted(&bad), [(Counter::DropIpMalformed, 1)], "version 4");
}

#[test]
fn ipv6_with_another_next_header_is_for_the_host() {
    for next in [0, 17, 44, 58, 59] {
        let mut other = frame_v6(&rig());
        other[IP + 6] = next;
        assert_eq!(counted(&other), host(), "next header {next}");
    }
}

#[test]
fn an_impossible_tcp_header_is_dropped() {
    let good = frame(&rig());
    let tcp = IP + 20;
    for (offset, expected) in [(4, false), (5, true), (15, true)] {
        let mut frame = good.clone();
        frame[tcp + 12] = offset << 4;
        let expected = match expected {
            true => host(),
            false => vec![(Counter::DropTcpMalformed, 1)],
        };
        assert_eq!(counted(&frame), expected, "data offset {offset}");
    }
    for (total, expected) in [(39, false), (40, true)] {
        let mut short = good.clone();
        short[IP + 3] = total;
        reseal(&mut short);
        let expected = match expected {
            true => host(),
            false => vec![(Counter::DropTcpMalformed, 1)],
        };
        assert_eq!(counted(&short), expected, "total length {total}");
        short[tcp + 12] = 6 << 4;
        assert_eq!(
            counted(&short),
            [(Counter::DropTcpMalformed, 1)],
            "offset beyond the end"
        );
    }
}

/// RFC 791 options and Ethernet padding change nothing.
#[test]
fn ipv4_options_and_padding_are_skipped() {
    let mut rig = rig();
    rig.sender.send(&[]);
    let stream = rig.sender.stream().to_vec();
    let mut frame = rig
        .builder
        .segment(rig.sender.sequence(0), 1, FLAG_ACK, &stream);
    frame.splice(IP + 20..IP + 20, [1, 1, 1, 0]);
    frame[IP] = 0x46;
    frame[IP + 3] += 4;
    reseal(&mut frame);
    frame.extend([0xee; 9]);
    rig.model.receive(&frame, false);
    assert_eq!(rig.counter(Counter::Fpdus), 1);
}
