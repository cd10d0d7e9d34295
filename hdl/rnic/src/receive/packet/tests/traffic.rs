//! Random traffic at each width, with pages running out, with frames not taken; cancels; lockstep.
use super::bench::{Bench, Traffic};
use crate::receive::packet::Packet;
use rnic_hdl_tools::testkit::{lockstep, simulate, Pace};

const CALM: Traffic = Traffic {
    beat: Pace::Chance(90, 100),
    frame: 60,
    longest: 2000,
    take_stored: Pace::Chance(90, 100),
    drop: 10,
    job: 80,
    joined: Pace::Chance(90, 100),
    started: Pace::Chance(90, 100),
    cancel: 0,
    release: 60,
    hoard: 12,
};

/// Runs `cycles` cycles of traffic, then gives everything back.
fn run<
    const W: usize,
    const D: usize,
    const A: usize,
    const B: usize,
    const O: usize,
    const H: usize,
>(
    traffic: Traffic,
    cycles: u64,
) -> Bench<W, D, A, B, O, H> {
    let mut uut = simulate!(Packet::<W, D, A, B, O, H>::default());
    let mut bench = Bench::new(traffic);
    let mut left = cycles;
    uut.run_until(cycles + 20_000, |uut, random| {
        if left == 0 && !bench.draining {
            bench.drain();
        }
        left = left.saturating_sub(1);
        bench.step(uut, random);
        let free = uut.free_pages.val().to_u64();
        (!(bench.draining && bench.idle() && free == 512)).then(|| format!("{free} pages free"))
    });
    bench
}

#[test]
fn frames_come_back_as_they_were_stored_64() {
    let bench = run::<64, 128, 13, 4, 4, 2>(CALM, 6000);
    assert!(bench.frames_stored > 20 && bench.jobs_ended() > 100);
    let parts = bench.parts_released;
    assert!(parts > 5, "{parts} frames gave back a part of their pages");
}

#[test]
fn frames_come_back_as_they_were_stored_128() {
    run::<128, 128, 13, 4, 4, 2>(CALM, 6000);
}

#[test]
fn frames_come_back_as_they_were_stored_512() {
    run::<512, 512, 11, 2, 6, 3>(CALM, 3000);
}

#[test]
fn frames_are_dropped_whole_when_pages_run_out_and_no_page_is_lost() {
    let traffic = Traffic {
        hoard: 500,
        release: 3,
        take_stored: Pace::Chance(50, 100),
        beat: Pace::Always,
        frame: 100,
        ..CALM
    };
    let bench = run::<128, 128, 13, 4, 4, 2>(traffic, 9000);
    assert!(bench.frames_dropped > 10, "{}", bench.frames_dropped);
}

#[test]
fn frames_are_dropped_whole_when_nobody_takes_them_and_no_page_is_lost() {
    let traffic = Traffic {
        take_stored: Pace::Chance(1, 100),
        longest: 300,
        drop: 40,
        beat: Pace::Always,
        frame: 100,
        ..CALM
    };
    let bench = run::<128, 128, 13, 4, 4, 2>(traffic, 5000);
    assert!(bench.frames_dropped > 10, "{}", bench.frames_dropped);
}

#[test]
fn killed_jobs_end_ooo_and_others_do_not() {
    let traffic = Traffic {
        cancel: 60,
        joined: Pace::Chance(40, 100),
        started: Pace::Chance(30, 100),
        longest: 1500,
        ..CALM
    };
    let bench = run::<64, 128, 13, 4, 4, 2>(traffic.clone(), 8000);
    assert!(bench.jobs_cut > 5, "{} jobs cut", bench.jobs_cut);
    run::<512, 512, 11, 2, 6, 3>(traffic, 2500);
}

fn lockstep_with_cancels<
    const W: usize,
    const D: usize,
    const A: usize,
    const B: usize,
    const O: usize,
    const H: usize,
>(
    cycles: usize,
) {
    let mut bench = Bench::new(Traffic { cancel: 10, ..CALM });
    let uut = Packet::<W, D, A, B, O, H>::default();
    let name = format!("packet_{W}");
    lockstep!(&name, uut, cycles, |uut, random| bench.step(uut, random));
}

#[test]
fn lockstep_64() {
    lockstep_with_cancels::<64, 128, 13, 4, 4, 2>(2500);
}

#[test]
fn lockstep_128() {
    lockstep_with_cancels::<128, 128, 13, 4, 4, 2>(rnic_effort::count("cycles", 1000, 2500));
}

#[test]
fn lockstep_512() {
    lockstep_with_cancels::<512, 512, 11, 2, 6, 3>(1500);
}
