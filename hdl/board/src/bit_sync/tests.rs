//! A synchroniser: two registers as synthesised; in simulation a change may show a cycle late.
use super::*;
use rnic_hdl_tools::testkit::{lockstep_as_synthesised, simulate};

#[test]
fn a_bit_shows_two_cycles_later() {
    let mut uut = simulate!(BitSync::default());
    for bit in [true, false, false, true, true] {
        uut.data.next = bit;
        uut.ticks(2);
        assert_eq!(uut.synced.val(), bit);
    }
}

#[test]
fn lockstep_with_verilog_as_synthesised() {
    lockstep_as_synthesised(
        "bit_sync",
        BitSync::default(),
        4000,
        |uut| &mut uut.clock,
        |uut, random| uut.data.next = random.chance(1, 3),
    );
}
