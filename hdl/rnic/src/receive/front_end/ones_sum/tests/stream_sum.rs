//! The one's complement sum of whole frames, modulo 65535.
use super::super::*;
use rnic_hdl_tools::testkit::{simulate, Random};

/// Random frames back to back; the total of each is read two cycles after its last beat.
macro_rules! sums {
    ($block:ty, $octets:literal) => {{
        let mut random = Random::from_environment();
        let mut uut = simulate!(<$block>::default());
        let mut totals = [None; 3];
        let mut sum = 0u64;
        let mut left = 0;
        for _ in 0..600 {
            uut.first.next = left == 0;
            if left == 0 {
                left = 1 + random.below(6);
                sum = 0;
            }
            left -= 1;
            uut.data.next = random.wide();
            uut.keep.next = random.wide();
            for octet in (0..$octets).filter(|&octet| uut.keep.next.get_bit(octet)) {
                let value = uut.data.next.get_bits::<8>(8 * octet).to_u8();
                sum += u64::from(value) << (octet % 2 * 8);
            }
            uut.tick();
            totals = [(left == 0).then_some(sum), totals[0], totals[1]];
            if let Some(expected) = totals[1] {
                let total = u64::from(uut.total.val().to_u32());
                let actual = (total >> 16) + (total & 0xffff);
                assert_eq!(actual % 65535, expected % 65535);
            }
        }
    }};
}

#[test]
fn total_is_the_sum_of_the_frame_modulo_65535() {
    sums!(StreamSum<64, 8, 1, 64, 8, 64, 8>, 8);
    sums!(StreamSum<128, 16, 1, 128, 16, 64, 8>, 16);
    sums!(StreamSum<512, 64, 4, 128, 16, 160, 20>, 64);
}

#[test]
#[should_panic(expected = "do not fit G = 2 groups of 64 bits")]
fn refuses_groups_that_do_not_fill_the_beat() {
    let _ = StreamSum::<64, 8, 2, 64, 8, 96, 12>::default();
}
