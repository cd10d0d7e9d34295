//! The engine's Verilog beside its kernels, among faults and resets.
use super::bench::{Bench, Settings};
use super::rig::{MIXED, PASSING};
use crate::bus::reads::{ReadEngine128, ReadEngine512};
use rnic_hdl_tools::testkit::lockstep;

#[test]
fn rust_and_verilog_agree_128() {
    let mut bench = Bench::new(Settings {
        faults_of_1000: 60,
        kinds: &PASSING,
        timeout_ticks: 60,
        ..MIXED
    });
    bench.host.manner.late = 1500;
    lockstep!(
        "reads_128",
        ReadEngine128::default(),
        8000,
        |uut, random| {
            uut.link_reset.next = bench.now % 2000 == 0;
            uut.reset.next = random.chance(1, 700);
            if bench.reads_left() < 4 {
                bench.add_random(random);
            }
            bench.drive(uut, random);
            // What happened in this cycle still belongs to the time before.
            if uut.link_reset.next {
                bench.host.reset_link();
            }
            if uut.reset.next | uut.link_reset.next {
                bench.reset();
            }
        }
    );
    let (good, failed) = (bench.reads_good, bench.reads_failed);
    assert!(good > 10 && failed > 3, "{good} good, {failed} failed");
}

#[test]
fn rust_and_verilog_agree_512() {
    let mut bench = Bench::new(Settings {
        faults_of_1000: 60,
        timeout_ticks: 60,
        ..MIXED
    });
    bench.host.manner.late = 1500;
    lockstep!(
        "reads_512",
        ReadEngine512::default(),
        2500,
        |uut, random| {
            uut.link_reset.next = bench.now == 0;
            if bench.reads_left() < 4 {
                bench.add_random(random);
            }
            bench.drive(uut, random);
            if uut.link_reset.next {
                bench.host.reset_link();
                bench.reset();
            }
        }
    );
    let (good, failed) = (bench.reads_good, bench.reads_failed);
    assert!(good > 10 && failed > 5, "{good} good, {failed} failed");
}
