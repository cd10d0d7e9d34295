//! Octet 0 first, in Rust and in Verilog.
use super::*;
use rnic_hdl_tools::testkit::{connected, lockstep_combinational, settle};

#[test]
fn octet_zero_becomes_the_most_significant() {
    let mut uut = connected(OctetOrder::<32>::default());
    uut.octets.next = u64::from(u32::from_le_bytes([0x12, 0x34, 0x56, 0x78])).into();
    settle(&mut uut);
    assert_eq!(uut.number.val(), 0x1234_5678u64);
}

#[test]
#[should_panic(expected = "N = 12 is not a positive multiple of 8")]
fn refuses_a_width_that_is_not_whole_octets() {
    let _ = OctetOrder::<12>::default();
}

#[test]
fn octet_order_agrees_with_its_verilog() {
    let uut = OctetOrder::<160>::default();
    lockstep_combinational("octet_order", uut, 200, |uut, random| {
        uut.octets.next = random.wide();
    });
}
