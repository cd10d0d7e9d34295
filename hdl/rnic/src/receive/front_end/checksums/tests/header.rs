//! IPv4 headers of every length, correct and with one wrong bit.
use super::super::*;
use crate::receive::front_end::testing::{checksum, is_good, link, stored};
use rnic_hdl_tools::testkit::{simulate, Random};

/// Headers of every length after 0 to 2 tags, right and with one wrong bit.
macro_rules! judges {
    ($width:literal, $block:ty) => {{
        let mut random = Random::from_environment();
        let mut uut = simulate!(<$block>::default());
        for (tags, words) in (0..3).flat_map(|tags| (5..16).map(move |words| (tags, words))) {
            for wrong in [false, true] {
                let at = 14 + 4 * tags as usize;
                let mut frame: Vec<u8> = (0..100).map(|_| random.bits() as u8).collect();
                let header = &mut frame[at..at + 4 * words];
                header[10..12].fill(0);
                let sum = checksum(header);
                header[10..12].copy_from_slice(&sum);
                header[random.below(4 * words as u64) as usize] ^= u8::from(wrong);
                uut.link.next = link(tags, false);
                uut.payload_start.next = ((2 + at) as u64 / 4 + words as u64).into();
                let good = is_good!(uut, $width, &frame, &mut random);
                assert_eq!(good, !wrong, "{tags} tags, {words} words");
            }
        }
    }};
}

#[test]
fn finds_a_wrong_bit_in_headers_of_every_length() {
    judges!(64, HeaderChecksum<64, 2, 8, 1, 64, 8, 64, 8>);
    judges!(128, HeaderChecksum<128, 4, 16, 1, 128, 16, 64, 8>);
    judges!(512, HeaderChecksum<512, 16, 64, 4, 128, 16, 160, 20>);
}
