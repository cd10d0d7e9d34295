//! Delay lines of several lengths, in Rust and in Verilog.
use super::*;
use rnic_hdl_tools::testkit::{lockstep, simulate};

fn words_come_after<const N: usize>() {
    let mut uut = simulate!(Delay::<Bits<8>, N>::default());
    for cycle in 1..20u64 {
        uut.data_in.next = cycle.into();
        uut.settle();
        assert_eq!(uut.data_out.val(), cycle.saturating_sub(N as u64));
        uut.tick();
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
    lockstep!(
        "delay",
        Delay::<Bits<8>, 3>::default(),
        200,
        |uut, random| uut.data_in.next = random.wide()
    );
}
