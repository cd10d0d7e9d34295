//! Delay lines of several lengths, in Rust and in Verilog.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, settle, tick};

fn words_come_after<const N: usize>() {
    let mut uut = Delay::<Bits<8>, N>::default();
    uut.connect_all();
    for cycle in 1..20u64 {
        uut.data_in.next = cycle.into();
        settle(&mut uut);
        assert_eq!(uut.data_out.val(), cycle.saturating_sub(N as u64));
        tick(&mut uut, |uut| &mut uut.clock);
    }
}

#[test]
fn delays_by_n_cycles() {
    words_come_after::<0>();
    words_come_after::<1>();
    words_come_after::<3>();
}

#[test]
fn rust_and_verilog_agree() {
    lockstep(
        "delay",
        Delay::<Bits<8>, 3>::default(),
        200,
        |uut| &mut uut.clock,
        |uut, random| uut.data_in.next = random.wide(),
    );
}
