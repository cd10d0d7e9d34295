//! Random traffic at each width; no free page; `stored` full; cancelled jobs; lockstep.
use super::bench::{Bench, Habits};
use crate::receive::packet::{Packet, Packet128, Packet512, Packet64};
use rnic_hdl_tools::testkit::{lockstep, settle, tick, Random};
use rust_hdl::prelude::*;

const CALM: Habits = Habits {
    beat: 90,
    frame: 60,
    longest: 2000,
    take_stored: 90,
    drop: 10,
    job: 80,
    joined: 90,
    started: 90,
    kill: 0,
    release: 60,
    hoard: 12,
};

/// Runs `cycles` cycles of traffic, then releases everything.
fn traffic<
    const W: usize,
    const D: usize,
    const A: usize,
    const B: usize,
    const O: usize,
    const H: usize,
>(
    habits: Habits,
    cycles: u64,
) -> Bench {
    let mut random = Random::from_environment();
    let mut uut = Packet::<W, D, A, B, O, H>::default();
    uut.connect_all();
    settle(&mut uut);
    let mut bench = Bench::new(habits);
    while bench.cycle < cycles {
        bench.step(&mut uut, &mut random);
        tick(&mut uut, |uut| &mut uut.clock);
    }
    bench.draining = true;
    bench.habits.release = 100;
    bench.habits.joined = 100;
    bench.habits.started = 100;
    while !(bench.idle() && uut.free_pages.val() == 512u64) {
        bench.step(&mut uut, &mut random);
        tick(&mut uut, |uut| &mut uut.clock);
        assert!(
            bench.cycle < cycles + 20_000,
            "{} pages free at the end, {random}",
            uut.free_pages.val().to_u64()
        );
    }
    bench
}

#[test]
fn reads_what_was_stored_64() {
    let bench = traffic::<64, 128, 13, 4, 4, 2>(CALM, 6000);
    assert!(bench.frames_stored > 20 && bench.jobs_ended() > 100);
    let parts = bench.parts_released;
    assert!(parts > 5, "{parts} frames gave back a part of their pages");
}

#[test]
fn reads_what_was_stored_128() {
    traffic::<128, 128, 13, 4, 4, 2>(CALM, 6000);
}

#[test]
fn reads_what_was_stored_512() {
    traffic::<512, 512, 11, 2, 6, 3>(CALM, 3000);
}

#[test]
fn drops_whole_frames_when_pages_run_out() {
    let habits = Habits {
        hoard: 500,
        release: 3,
        take_stored: 50,
        beat: 100,
        frame: 100,
        ..CALM
    };
    let bench = traffic::<128, 128, 13, 4, 4, 2>(habits, 9000);
    assert!(bench.frames_dropped > 10, "{}", bench.frames_dropped);
}

#[test]
fn drops_whole_frames_when_stored_is_full() {
    let habits = Habits {
        take_stored: 1,
        longest: 300,
        drop: 40,
        beat: 100,
        frame: 100,
        ..CALM
    };
    let bench = traffic::<128, 128, 13, 4, 4, 2>(habits, 5000);
    assert!(bench.frames_dropped > 10, "{}", bench.frames_dropped);
}

#[test]
fn cancels_only_the_named_jobs() {
    let habits = Habits {
        kill: 60,
        joined: 40,
        started: 30,
        longest: 1500,
        ..CALM
    };
    let bench = traffic::<64, 128, 13, 4, 4, 2>(habits.clone(), 8000);
    assert!(bench.jobs_cut > 5, "{} jobs cut", bench.jobs_cut);
    traffic::<512, 512, 11, 2, 6, 3>(habits, 2500);
}

#[test]
fn lockstep_64() {
    let mut bench = Bench::new(Habits { kill: 10, ..CALM });
    lockstep(
        "packet_64",
        Packet64::default(),
        2500,
        |uut| &mut uut.clock,
        |uut, random| bench.step(uut, random),
    );
}

#[test]
fn lockstep_128() {
    let mut bench = Bench::new(Habits { kill: 10, ..CALM });
    lockstep(
        "packet_128",
        Packet128::default(),
        2500,
        |uut| &mut uut.clock,
        |uut, random| bench.step(uut, random),
    );
}

#[test]
fn lockstep_512() {
    let mut bench = Bench::new(Habits { kill: 10, ..CALM });
    lockstep(
        "packet_512",
        Packet512::default(),
        1500,
        |uut| &mut uut.clock,
        |uut, random| bench.step(uut, random),
    );
}
