//! The whole engine in front of a host that answers in any legal way, and in every wrong one.

mod bench;
pub mod completer;

use super::types::cause;
use super::{ReadEngine128, ReadEngine512};
use bench::{Bench, Settings, TICK_CYCLES};
use completer::{Fault, Manner};
use pcie_sim::{CompletionSplit, Limits, ReadCompletionBoundary, TransferSize};
use rnic_hdl_tools::testkit::{lockstep, simulate, Pace, Random, Simulation};

const TIMEOUT_TICKS: u64 = 100;
/// Cycles after which a time-out has surely been noticed, if nothing else waits.
const TIMEOUT_CYCLES: u64 = (TIMEOUT_TICKS + 2) * TICK_CYCLES;

/// A host in a hurry that does nothing wrong.
const BRISK: Manner = Manner {
    limits: Limits {
        max_payload: TransferSize::Octets256,
        max_read_request: TransferSize::Octets512,
        read_completion_boundary: ReadCompletionBoundary::Octets64,
        tag_count: 256,
        zero_length_writes: false,
    },
    split: CompletionSplit::Largest,
    latency: 4,
    spread: 0,
    reorders: false,
    begins_of_8: 8,
    goes_on_of_8: 8,
    other_of_64: 0,
    late: 2 * TIMEOUT_CYCLES,
};

const PLAIN: Settings = Settings {
    manner: BRISK,
    max_read_request: 2,
    extended_tags: true,
    timeout_ticks: TIMEOUT_TICKS,
    command: Pace::Always,
    request: Pace::Always,
    output: Pace::Always,
    faults_of_1000: 0,
    kinds: &Fault::ALL,
};

/// Every stream stalls, answers come in any pieces and order, other packets in between.
const MIXED: Settings = Settings {
    manner: Manner {
        split: CompletionSplit::Chosen,
        latency: 1,
        spread: 120,
        reorders: true,
        begins_of_8: 5,
        goes_on_of_8: 7,
        other_of_64: 4,
        ..BRISK
    },
    command: Pace::of_8(5),
    request: Pace::of_8(4),
    output: Pace::of_8(6),
    ..PLAIN
};

macro_rules! runs {
    ($run:ident, $engine:ty) => {
        /// Runs until every read of `bench` is answered and the host is idle.
        fn $run(uut: &mut Simulation<$engine>, bench: &mut Bench) -> u64 {
            let limit = 20_000 + 3 * TIMEOUT_CYCLES * bench.reads_left() as u64;
            let cycles = uut.run_until(limit, |uut, random| {
                bench.drive(uut, random);
                let left = bench.reads_left();
                (left > 0 || !bench.host.is_idle()).then_some(left)
            });
            // What the last step did takes place with this edge.
            uut.tick();
            cycles
        }
    };
}

runs!(run_128, ReadEngine128);
runs!(run_512, ReadEngine512);

/// So many cycles, whatever comes.
fn cycles_128(uut: &mut Simulation<ReadEngine128>, bench: &mut Bench, cycles: u64) {
    for _ in 0..cycles {
        let mut random = uut.random.clone();
        bench.drive(uut, &mut random);
        uut.random = random;
        uut.tick();
    }
}

fn engine_128() -> Simulation<ReadEngine128> {
    let mut uut = simulate!(ReadEngine128::default());
    uut.settle();
    uut.pulse(|uut| &mut uut.link_reset);
    uut
}

fn engine_512() -> Simulation<ReadEngine512> {
    let mut uut = simulate!(ReadEngine512::default());
    uut.settle();
    uut.pulse(|uut| &mut uut.link_reset);
    uut
}

/// A bench in which the host keeps to `max_read_request` and `boundary`.
fn bench_of(settings: Settings, max_read_request: u64, boundary: ReadCompletionBoundary) -> Bench {
    let encoding = max_read_request as u32;
    let mut settings = Settings {
        max_read_request,
        ..settings
    };
    // 6 and 7 are reserved.
    settings.manner.limits.max_read_request =
        TransferSize::from_encoding(encoding).unwrap_or(TransferSize::Octets128);
    settings.manner.limits.read_completion_boundary = boundary;
    Bench::new(settings)
}

#[test]
fn a_read_of_100_octets_comes_back_in_60_cycles() {
    let mut uut = engine_128();
    let mut bench = Bench::new(PLAIN);
    bench.add(&[(0x1234_5678, 100)]);
    let cycles = run_128(&mut uut, &mut bench);
    assert_eq!((bench.reads_good, bench.reads_failed), (1, 0));
    assert!(cycles < 60, "{cycles} cycles");
}

#[test]
fn reads_of_any_range_come_back_in_order_128() {
    let mut random = Random::from_environment();
    for max_read_request in 0..8 {
        let boundary = match max_read_request % 2 {
            0 => ReadCompletionBoundary::Octets64,
            _ => ReadCompletionBoundary::Octets128,
        };
        let mut uut = engine_128();
        let mut bench = bench_of(MIXED, max_read_request, boundary);
        (0..20).for_each(|_| bench.add_random(&mut random));
        run_128(&mut uut, &mut bench);
        assert_eq!((bench.reads_good, bench.counts), (20, [0; cause::COUNT]));
    }
}

#[test]
fn reads_of_any_range_come_back_in_order_512() {
    let mut random = Random::from_environment();
    for (max_read_request, extended_tags) in [(0, true), (1, false), (5, true)] {
        let mut uut = engine_512();
        let mut bench = bench_of(MIXED, max_read_request, ReadCompletionBoundary::Octets64);
        bench.settings.extended_tags = extended_tags;
        (0..20).for_each(|_| bench.add_random(&mut random));
        run_512(&mut uut, &mut bench);
        assert_eq!((bench.reads_good, bench.counts), (20, [0; cause::COUNT]));
        let most = if extended_tags { 64 } else { 32 };
        assert!(bench.tags.iter().all(|tag| *tag < most));
    }
}

/// Each alignment of address and length, one doubleword included.
#[test]
fn short_reads_of_every_alignment_come_back() {
    let mut uut = engine_128();
    let mut bench = Bench::new(Settings {
        manner: Manner {
            split: CompletionSplit::AtEveryBoundary,
            ..BRISK
        },
        ..PLAIN
    });
    for address in 0..16 {
        for octets in 1..=18 {
            bench.add(&[(0x10_01f4 + address, octets)]);
        }
    }
    run_128(&mut uut, &mut bench);
    assert_eq!((bench.reads_good, bench.reads_failed), (16 * 18, 0));
}

/// What each fault does to the read it hits, and to nothing else.
fn hit_by(fault: Fault, seed: u64) {
    let mut random = Random::new(seed);
    let mut uut = engine_128();
    let mut bench = Bench::new(MIXED);
    let lines = 1 + random.below(4) as usize;
    // The second read meets the fault in one of its requests.
    bench.add(&[(0x7_0123, 300)]);
    bench.add(&[(0x9_0200 - random.below(60), 512 * lines)]);
    bench.add(&[(0x8_1234, 700)]);
    bench.settings.kinds = match Fault::ALL.iter().position(|other| *other == fault) {
        Some(place) => &Fault::ALL[place..=place],
        None => &[],
    };
    uut.run_until(20_000, |uut, random| {
        let (requests, hits) = (bench.host.requests, bench.met.len());
        bench.settings.faults_of_1000 = if requests == 1 && hits == 0 { 1000 } else { 0 };
        bench.drive(uut, random);
        let left = bench.reads_left();
        (left > 0 || !bench.host.is_idle()).then_some(left)
    });
    uut.tick();
    assert_eq!(bench.met, [fault]);
    cycles_128(&mut uut, &mut bench, 40);
    assert_eq!(bench.reads_failed, u64::from(fault.fails()), "{fault:?}");
    let expected = match fault {
        Fault::Poisoned => cause::POISONED,
        Fault::Status(pcie_sim::tlp::CompletionStatus::CompleterAbort) => cause::ABORTED,
        Fault::Status(_) => cause::UNSUPPORTED,
        Fault::Silent | Fault::Late => cause::TIMED_OUT,
        Fault::Twice | Fault::Stray => cause::UNEXPECTED,
        _ => cause::MALFORMED,
    };
    let silent = bench.counts[cause::TIMED_OUT] == 1 && fault == Fault::Cut;
    assert!(
        bench.counts[expected] > 0 || silent,
        "{fault:?}: {:?}",
        bench.counts
    );
    let only = [expected, cause::LATE, cause::MALFORMED, cause::TIMED_OUT];
    for (cause, count) in bench.counts.iter().enumerate() {
        assert!(
            *count == 0 || only.contains(&cause),
            "{fault:?}: {:?}",
            bench.counts
        );
    }

    // Every tag that came back is used again; one that did not is not.
    let before = bench.tags.len();
    bench.settings.faults_of_1000 = 0;
    bench.add(&[(0x20_0000, 512 * 16), (0x30_0000, 512 * 16)]);
    bench.add(&[(0x40_0000, 512 * 16)]);
    run_128(&mut uut, &mut bench);
    let used: std::collections::BTreeSet<u8> = bench.tags[before..].iter().copied().collect();
    let usable = (0..16).filter(|tag| !bench.host.lost.contains(tag));
    assert!(used.into_iter().eq(usable), "{fault:?}");
    assert_eq!(
        bench.host.lost.len(),
        usize::from(fault.loses_tag()),
        "{fault:?}"
    );
}

#[test]
fn each_fault_ends_its_read_and_nothing_else() {
    for fault in Fault::ALL {
        for seed in 0..3 {
            hit_by(fault, seed);
        }
    }
}

/// Faults that leave no tag behind.
const PASSING: [Fault; 10] = [
    Fault::Poisoned,
    Fault::Status(pcie_sim::tlp::CompletionStatus::UnsupportedRequest),
    Fault::Status(pcie_sim::tlp::CompletionStatus::CompleterAbort),
    Fault::Status(pcie_sim::tlp::CompletionStatus::ConfigurationRetry),
    Fault::NoData,
    Fault::ShortBeats,
    Fault::LongBeats,
    Fault::Late,
    Fault::Twice,
    Fault::Stray,
];

#[test]
fn among_many_faults_every_read_is_answered_once() {
    let mut random = Random::from_environment();
    let mut uut = engine_128();
    let mut bench = Bench::new(Settings {
        faults_of_1000: 120,
        kinds: &PASSING,
        ..MIXED
    });
    (0..120).for_each(|_| bench.add_random(&mut random));
    run_128(&mut uut, &mut bench);
    let (good, failed) = (bench.reads_good, bench.reads_failed);
    assert!(good > 20 && failed > 20, "{good} good, {failed} failed");
    for cause in 0..cause::REFUSED {
        assert!(bench.counts[cause] > 0, "{:?}", bench.counts);
    }
}

#[test]
fn among_many_faults_every_read_is_answered_once_512() {
    let mut random = Random::from_environment();
    let mut uut = engine_512();
    let mut bench = Bench::new(Settings {
        faults_of_1000: 120,
        kinds: &PASSING,
        ..MIXED
    });
    (0..40).for_each(|_| bench.add_random(&mut random));
    run_512(&mut uut, &mut bench);
    let (good, failed) = (bench.reads_good, bench.reads_failed);
    assert!(good > 5 && failed > 5, "{good} good, {failed} failed");
}

/// No octets, and ranges past the end of the address space, alone and in a run.
#[test]
fn what_cannot_be_read_is_refused() {
    let mut uut = engine_128();
    let mut bench = Bench::new(MIXED);
    bench.add(&[(0x1000, 0)]);
    bench.add(&[(0x1000, 20)]);
    bench.add(&[(u64::MAX - 699, 700)]);
    bench.add(&[(u64::MAX - 699, 701)]);
    bench.add(&[(0x1000, 40), (0x2000, 0), (0x3000, 900)]);
    bench.add(&[(0x1000, 1000), (u64::MAX - 600, 1200)]);
    bench.add(&[(0x5000, 600)]);
    run_128(&mut uut, &mut bench);
    assert_eq!((bench.reads_good, bench.reads_failed), (3, 4));
    assert_eq!(bench.counts[cause::REFUSED], 4);
}

/// `D / 8` octets in each cycle, whatever the latency up to `latency` cycles.
#[test]
fn a_latency_of_400_cycles_costs_no_beat_128() {
    let mut uut = engine_128();
    let mut bench = Bench::new(Settings {
        manner: Manner {
            latency: 400,
            ..BRISK
        },
        ..PLAIN
    });
    (0..8).for_each(|index| bench.add(&[(0x10_0000 + 0x3000 * index, 8192)]));
    run_128(&mut uut, &mut bench);
    // The first beats come while the pipe fills.
    let beats = &bench.beats;
    let cycles = beats[beats.len() - 1] - beats[511];
    let sent = (beats.len() - 512) as u64;
    assert_eq!(beats.len(), 8 * 512);
    // One idle cycle after each read.
    assert!(cycles <= sent + 8, "{cycles} cycles for {sent} beats");
}

#[test]
fn a_latency_of_400_cycles_costs_no_beat_512() {
    let mut uut = engine_512();
    let mut bench = Bench::new(Settings {
        manner: Manner {
            latency: 400,
            ..BRISK
        },
        ..PLAIN
    });
    (0..12).for_each(|index| bench.add(&[(0x10_0000 + 0x3000 * index, 8192)]));
    run_512(&mut uut, &mut bench);
    let beats = &bench.beats;
    let cycles = beats[beats.len() - 1] - beats[511];
    let sent = (beats.len() - 512) as u64;
    assert_eq!(beats.len(), 12 * 128);
    assert!(cycles <= sent + 12, "{cycles} cycles for {sent} beats");
}

/// A reset in the middle of everything: no read of before is answered, every read after it is, with
/// its own octets, while completions of before still come.
#[test]
fn no_completion_of_before_a_reset_is_taken_for_one_after_it() {
    let mut random = Random::from_environment();
    let mut uut = engine_128();
    let mut bench = Bench::new(Settings {
        kinds: &[Fault::Late],
        faults_of_1000: 50,
        ..MIXED
    });
    let mut late = 0;
    for _ in 0..25 {
        (0..12).for_each(|_| bench.add_random(&mut random));
        let cycles = 50 + random.below(900);
        cycles_128(&mut uut, &mut bench, cycles);
        uut.reset.next = true;
        let cycles = 1 + random.below(4);
        for _ in 0..cycles {
            cycles_128(&mut uut, &mut bench, 1);
            bench.reset();
        }
        uut.reset.next = false;
        late = bench.counts[cause::LATE];
    }
    assert!(late > 50, "{late} completions came for reads of before");
    assert_eq!(
        bench.counts[cause::UNEXPECTED] + bench.counts[cause::MALFORMED],
        0
    );
    bench.settings.faults_of_1000 = 0;
    let good = bench.reads_good;
    (0..30).for_each(|_| bench.add_random(&mut random));
    run_128(&mut uut, &mut bench);
    assert_eq!(bench.reads_good, good + 30);
    assert!(uut.idle.val());
}

/// Without an answer the tags run out, and reads are refused; a link that comes up again has them
/// all. Completions of before are then unexpected, and have no effect.
#[test]
fn a_host_that_never_answers_costs_every_tag_until_the_link_is_reset() {
    let mut uut = engine_128();
    let mut bench = Bench::new(Settings {
        kinds: &[Fault::Silent],
        faults_of_1000: 1000,
        manner: BRISK,
        ..PLAIN
    });
    for index in 0..10u64 {
        bench.add(&[(0x1000 * index, 2048)]);
    }
    // Four reads of four requests each; the fifth and those behind it find no tag.
    for _ in 0..16 * TIMEOUT_CYCLES {
        if bench.reads_left() == 6 {
            break;
        }
        cycles_128(&mut uut, &mut bench, 1);
    }
    assert_eq!((bench.reads_failed, bench.tags.len()), (4, 16));
    bench.refuse_rest();
    run_128(&mut uut, &mut bench);
    assert_eq!((bench.reads_failed, bench.tags.len()), (10, 16));
    assert_eq!(bench.counts[cause::REFUSED], 6);
    assert!(!uut.idle.val());

    // A reset changes nothing, as the completions may still come.
    uut.pulse(|uut| &mut uut.reset);
    bench.add(&[(0x1000, 64)]);
    bench.refuse_rest();
    run_128(&mut uut, &mut bench);
    assert_eq!(bench.tags.len(), 16);

    uut.pulse(|uut| &mut uut.link_reset);
    bench.host.reset_link();
    bench.settings.faults_of_1000 = 0;
    (0..4).for_each(|index| bench.add(&[(0x1000 * index, 5000)]));
    run_128(&mut uut, &mut bench);
    assert_eq!(bench.reads_good, 4);
    assert!(uut.idle.val());
}

/// While `hold`, no request begins and one on offer stays; completions come in.
#[test]
fn hold_begins_no_request() {
    let mut uut = engine_128();
    let mut bench = Bench::new(Settings {
        request: Pace::Never,
        ..PLAIN
    });
    (0..3).for_each(|index| bench.add(&[(0x1000 * index, 5000)]));
    cycles_128(&mut uut, &mut bench, 20);
    assert!(uut.request_valid.val() && !uut.idle.val());
    uut.hold.next = true;
    cycles_128(&mut uut, &mut bench, 20);
    assert!(uut.request_valid.val());
    bench.settings.request = Pace::Always;
    cycles_128(&mut uut, &mut bench, 100);
    assert_eq!(bench.tags.len(), 1);
    assert!(!uut.request_valid.val() && uut.idle.val());
    uut.hold.next = false;
    run_128(&mut uut, &mut bench);
    assert_eq!(bench.reads_good, 3);
}

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
            // What happened in this cycle is still of before.
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
