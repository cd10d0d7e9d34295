//! The TCP checksum against RFC 1071 in plain Rust.
use super::super::*;
use crate::receive::front_end::testing::{checksum, is_good, link, stored};
use rnic_hdl_tools::testkit::{simulate, Random};

/// The TCP checksum that makes the sum over `addresses`, pseudo header and `segment` right.
fn mend(addresses: &[u8], segment: &mut [u8]) {
    segment[16..18].fill(0);
    let length = (segment.len() as u32).to_be_bytes();
    let octets = [addresses, &length, &[0, 0, 0, 6], segment].concat();
    segment[16..18].copy_from_slice(&checksum(&octets));
}

/// Segments of every length from 20 to 60, followed by padding, correct and with one wrong bit.
macro_rules! judges {
    ($width:literal, $block:ty) => {{
        let mut random = Random::from_environment();
        let mut uut = simulate!(<$block>::default());
        for case in 0..160u64 {
            let (size, wrong, ipv6) = (20 + case as usize / 4, case % 2 == 1, case & 2 == 2);
            let (tags, words) = (random.below(3), 5 + random.below(11) as usize);
            let at = 14 + 4 * tags as usize;
            let start = at + if ipv6 { 40 } else { 4 * words };
            let padded = start + size + random.below(9) as usize;
            let mut frame: Vec<u8> = (0..padded).map(|_| random.bits() as u8).collect();
            let (header, rest) = frame.split_at_mut(start);
            let addresses = if ipv6 {
                at + 8..at + 40
            } else {
                at + 12..at + 20
            };
            mend(&header[addresses], &mut rest[..size]);
            rest[random.below(size as u64) as usize] ^= u8::from(wrong) << random.below(8);
            uut.link.next = link(tags, ipv6);
            uut.payload_start.next = ((2 + start) as u64 / 4).into();
            uut.ip_end.next = ((2 + start + size) as u64).into();
            uut.segment_octets.next = (size as u64).into();
            let good = is_good!(uut, $width, &frame, &mut random);
            assert_eq!(good, !wrong, "case {case}, {size} octets");
        }
    }};
}

#[test]
fn finds_a_wrong_bit_in_segments_of_every_length() {
    judges!(64, TcpChecksum<64, 2, 8, 1, 64, 8, 64, 8>);
    judges!(128, TcpChecksum<128, 4, 16, 1, 128, 16, 64, 8>);
    judges!(512, TcpChecksum<512, 16, 64, 4, 128, 16, 160, 20>);
}
