//! A beat a cycle, however late the answers come.
use super::bench::{Bench, Settings};
use super::completer::Manner;
use super::rig::{engine_128, engine_512, run_128, run_512, BRISK, PLAIN};

/// Octets of each read.
const OCTETS: usize = 8192;

/// `reads` reads are asked for, and each completion comes after 400 cycles.
fn late_bench(reads: u64) -> Bench {
    let mut bench = Bench::new(Settings {
        manner: Manner {
            latency: 400,
            ..BRISK
        },
        ..PLAIN
    });
    (0..reads).for_each(|index| bench.add(&[(0x10_0000 + 0x3000 * index, OCTETS)]));
    bench
}

/// Once the pipe is filled, which takes less than 512 beats, one comes in each cycle, but for one
/// cycle after each of `reads`.
fn no_beat_is_missing(bench: &Bench, reads: u64, beat_octets: usize) {
    let beats = &bench.beats;
    assert_eq!(beats.len(), reads as usize * OCTETS / beat_octets);
    let cycles = beats[beats.len() - 1] - beats[511];
    let sent = (beats.len() - 512) as u64;
    assert!(cycles <= sent + reads, "{cycles} cycles for {sent} beats");
}

#[test]
fn a_latency_of_400_cycles_costs_no_beat_128() {
    let mut bench = late_bench(8);
    run_128(&mut engine_128(), &mut bench);
    no_beat_is_missing(&bench, 8, 16);
}

#[test]
fn a_latency_of_400_cycles_costs_no_beat_512() {
    let mut bench = late_bench(12);
    run_512(&mut engine_512(), &mut bench);
    no_beat_is_missing(&bench, 12, 64);
}
