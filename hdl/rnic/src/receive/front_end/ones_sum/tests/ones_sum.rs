//! The one's complement sum of one beat, modulo 65535.
use super::super::*;
use rnic_hdl_tools::testkit::{connected, lockstep_combinational, settle, Random};

fn is_the_sum_of_the_kept_octets<const NW: usize, const KN: usize>() {
    let mut random = Random::from_environment();
    let mut uut = connected(OnesSum::<NW, KN>::default());
    for _ in 0..500 {
        let (data, keep) = (random.wide::<NW>(), random.wide::<KN>());
        uut.data.next = data;
        uut.keep.next = keep;
        settle(&mut uut);
        let mut expected = 0u64;
        for octet in (0..KN).filter(|&octet| keep.get_bit(octet)) {
            expected += u64::from(data.get_bits::<8>(octet * 8).to_u8()) << (octet % 2 * 8);
        }
        let total = uut.total.val().to_u32();
        let actual = u64::from(total >> 16) + u64::from(total & 0xffff);
        assert_eq!(actual % 65535, expected % 65535);
    }
}

#[test]
fn total_is_the_sum_of_the_kept_octets_modulo_65535() {
    is_the_sum_of_the_kept_octets::<48, 6>();
    is_the_sum_of_the_kept_octets::<64, 8>();
    is_the_sum_of_the_kept_octets::<128, 16>();
    is_the_sum_of_the_kept_octets::<160, 20>();
}

#[test]
fn rust_and_verilog_agree() {
    lockstep_combinational(
        "ones_sum",
        OnesSum::<160, 20>::default(),
        2000,
        |uut, random| {
            uut.data.next = random.wide();
            uut.keep.next = random.wide();
        },
    );
}

#[test]
#[should_panic(expected = "KN = 7 must be NW / 8")]
fn refuses_a_mask_that_does_not_fit() {
    let _ = OnesSum::<64, 7>::default();
}
