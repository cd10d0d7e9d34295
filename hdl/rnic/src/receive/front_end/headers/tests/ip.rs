//! The IP header reader against the octets of the header.
use super::super::*;
use crate::receive::front_end::testing::{link, stored};
use rnic_hdl_tools::testkit::{simulate, Random};

/// A frame of random octets whose IP header is nearly correct.
fn frame(random: &mut Random, at: usize, ipv6: bool) -> Vec<u8> {
    let size = if random.chance(1, 4) {
        random.below(50)
    } else {
        40 + random.below(80)
    };
    let mut frame: Vec<u8> = (0..at + size as usize)
        .map(|_| random.bits() as u8)
        .collect();
    frame.resize(frame.len().max(at), 0);
    let length = (size + random.below(3)).saturating_sub(1 + if ipv6 { 40 } else { 0 });
    let version = if random.chance(1, 8) {
        5
    } else {
        4 + 2 * u8::from(ipv6)
    };
    let words = if random.chance(1, 8) {
        random.below(16)
    } else {
        5 + random.below(6)
    };
    let protocol = if random.chance(1, 4) { 17 } else { 6 };
    let edits: &[(usize, u8)] = match ipv6 {
        false => &[
            (0, version << 4 | words as u8),
            (2, 0),
            (3, length as u8),
            (
                6,
                if random.chance(1, 4) {
                    1 << random.below(8)
                } else {
                    0x40
                },
            ),
            (7, u8::from(random.chance(1, 8))),
            (9, protocol),
        ],
        true => &[(0, version << 4), (4, 0), (5, length as u8), (6, protocol)],
    };
    for &(place, value) in edits {
        if let Some(octet) = frame.get_mut(at + place) {
            *octet = value;
        }
    }
    frame
}

/// `fields` two cycles after the frame, against the octets.
fn compare(fields: &IpFields, frame: &[u8], at: usize, ipv6: bool) {
    let (header, left) = (if ipv6 { 40 } else { 20 }, frame.len() - at);
    assert!(fields.is_ip && fields.ipv6 == ipv6);
    assert_eq!(fields.stored_octets, frame.len() as u64 + 2);
    if left < header {
        return assert!(fields.header_bad, "the header is cut");
    }
    let ip = &frame[at..];
    let length = usize::from(ip[if ipv6 { 5 } else { 3 }]);
    let octets = usize::from(ip[0] & 15) * 4;
    let bad = match ipv6 {
        true => ip[0] >> 4 != 6,
        false => ip[0] >> 4 != 4 || octets < 20 || octets > length,
    };
    assert_eq!(fields.header_bad, bad);
    if bad {
        return;
    }
    let fragment = !ipv6 && (ip[6] & 0x3f != 0 || ip[7] != 0);
    assert_eq!(
        fields.not_for_tcp,
        fragment || ip[if ipv6 { 6 } else { 9 }] != 6
    );
    let (start, end) = if ipv6 {
        (40, 40 + length)
    } else {
        (octets, length)
    };
    assert_eq!(fields.payload_start, ((2 + at + start) / 4) as u64);
    assert_eq!(fields.ip_end, (2 + at + end) as u64);
    assert_eq!(fields.segment_octets, (end - start) as u64);
    let (from, size): (usize, usize) = if ipv6 { (8, 16) } else { (12, 4) };
    for octet in 0..16 {
        let expected = |at: usize| match (octet + size).checked_sub(16) {
            Some(place) => u64::from(ip[at + place]),
            None => 0,
        };
        let place = 8 * octet;
        assert_eq!(fields.remote_address.get_bits::<8>(place), expected(from));
        assert_eq!(
            fields.local_address.get_bits::<8>(place),
            expected(from + size)
        );
    }
}

fn reads_headers<const W: usize, const L: usize>() {
    let mut random = Random::from_environment();
    let mut uut = simulate!(IpParser::<W, L>::default());
    for _ in 0..150 {
        let (tags, ipv6) = (random.below(3), random.chance(1, 2));
        let at = 14 + 4 * tags as usize;
        let frame = frame(&mut random, at, ipv6);
        uut.link.next = link(tags, ipv6);
        for (control, data) in stored::<W>(&frame, &mut random) {
            uut.control.next = control;
            uut.data.next = data;
            uut.tick();
        }
        uut.control.next.valid = false;
        uut.tick();
        compare(&uut.fields.val(), &frame, at, ipv6);
    }
}

#[test]
fn fields_match_the_octets() {
    reads_headers::<64, 2>();
    reads_headers::<128, 4>();
    reads_headers::<512, 16>();
}
