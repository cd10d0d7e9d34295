//! Reads of any address and length come back; what cannot be read is refused.
use super::bench::{Bench, Settings};
use super::completer::Manner;
use super::rig::{bench_of, engine_128, engine_512, run_128, run_512, BRISK, MIXED, PLAIN};
use crate::bus::reads::types::cause;
use pcie_sim::{CompletionSplit, ReadCompletionBoundary};
use rnic_hdl_tools::testkit::Random;

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
    let reads = rnic_effort::count("reads", 10, 20);
    for max_read_request in 0..8 {
        let boundary = match max_read_request % 2 {
            0 => ReadCompletionBoundary::Octets64,
            _ => ReadCompletionBoundary::Octets128,
        };
        let mut uut = engine_128();
        let mut bench = bench_of(MIXED, max_read_request, boundary);
        (0..reads).for_each(|_| bench.add_random(&mut random));
        run_128(&mut uut, &mut bench);
        assert_eq!((bench.reads_good, bench.counts), (reads, [0; cause::COUNT]));
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
