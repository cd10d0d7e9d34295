//! What a wrong answer costs: its own read and, if it must, its tag.
use super::bench::{Bench, Settings};
use super::completer::Fault;
use super::rig::{cycles_128, engine_128, engine_512, run_128, run_512, MIXED, PASSING};
use crate::bus::reads::types::cause;
use rnic_hdl_tools::testkit::Random;

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
    let seeds = rnic_effort::count("seeds", 1, 3);
    for fault in Fault::ALL {
        for seed in 0..seeds {
            hit_by(fault, seed);
        }
    }
}

/// `reads` reads, and faults among them.
fn faulty_bench(reads: u64) -> Bench {
    let mut random = Random::from_environment();
    let mut bench = Bench::new(Settings {
        faults_of_1000: 120,
        kinds: &PASSING,
        ..MIXED
    });
    (0..reads).for_each(|_| bench.add_random(&mut random));
    bench
}

#[test]
fn among_many_faults_every_read_is_answered_once() {
    let mut bench = faulty_bench(120);
    run_128(&mut engine_128(), &mut bench);
    let (good, failed) = (bench.reads_good, bench.reads_failed);
    assert!(good > 20 && failed > 20, "{good} good, {failed} failed");
    for cause in 0..cause::REFUSED {
        assert!(bench.counts[cause] > 0, "{:?}", bench.counts);
    }
}

#[test]
fn among_many_faults_every_read_is_answered_once_512() {
    let mut bench = faulty_bench(40);
    run_512(&mut engine_512(), &mut bench);
    let (good, failed) = (bench.reads_good, bench.reads_failed);
    assert!(good > 5 && failed > 5, "{good} good, {failed} failed");
}
