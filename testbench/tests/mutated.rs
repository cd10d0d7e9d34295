//! Damaged captures of every format: each is played or refused, without a panic, a hang, or more
//! memory than a gibibyte.
//!
//! The captures of `cases` are changed at random: octets, runs of octets, lengths, order, ends;
//! what is packed also before it is packed. What can be read is played by the model. A failure
//! prints its seed and its number; both are all that it takes to see it again.
use flate2::{write::GzEncoder, Compression};
use indicatif::ProgressBar;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_capture::{open_octets, ReadOptions, StartupOverride};
use rnic_effort::count;
use rnic_testbench::play::{play, DutKind, Options};
use std::io::Write;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const SEED: u64 = 46;
/// A capture of some kilobytes that takes so long hangs.
const HANG: Duration = Duration::from_secs(20);
const MEMORY_KIB_MAX: u64 = 1 << 20;

fn captures() -> Vec<(PathBuf, Vec<u8>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let files = std::fs::read_dir(folder).expect("it is committed");
    let mut found: Vec<(PathBuf, Vec<u8>)> = files
        .map(|file| file.expect("readable").path())
        .filter(|path| path.to_string_lossy().contains(".pcap"))
        .map(|path| {
            let octets = std::fs::read(&path).expect("readable");
            (path, octets)
        })
        .collect();
    found.sort();
    found
}

/// Change `octets` in one to four places.
fn mutate(random: &mut ChaCha8Rng, octets: &mut Vec<u8>) {
    for _ in 0..random.random_range(1..=4) {
        if octets.is_empty() {
            return;
        }
        let at = random.random_range(0..octets.len());
        let run = random.random_range(1..=64).min(octets.len() - at);
        match random.random_range(0..9) {
            0 => octets[at] ^= 1 << random.random_range(0..8),
            1 => octets[at] = random.random(),
            2 => octets.truncate(at),
            3 => drop(octets.drain(at..at + run)),
            4 => octets[at..at + run].fill(0),
            5 => octets.extend(vec![0; random.random_range(1..5000)]),
            6 => {
                let copy = octets[at..at + run].to_vec();
                let to = random.random_range(0..=octets.len());
                octets.splice(to..to, copy);
            }
            7 => {
                // A field of four octets at a limit.
                let limit = [0, 1, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff_u32];
                let value = limit[random.random_range(0..limit.len())].to_le_bytes();
                let end = (at + 4).min(octets.len());
                octets[at..end].copy_from_slice(&value[..end - at]);
            }
            _ => {
                let copy = octets.clone();
                octets.extend(copy);
            }
        }
    }
}

fn packed(octets: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(octets).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

fn unpacked(octets: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut decoder = flate2::read::MultiGzDecoder::new(octets);
    std::io::copy(&mut decoder, &mut plain).expect("the committed ones are whole");
    plain
}

/// Mutated capture `number`, and how to read it.
fn mutated(seeds: &[(PathBuf, Vec<u8>)], number: u64) -> (PathBuf, Vec<u8>, ReadOptions) {
    let mut random = ChaCha8Rng::seed_from_u64(SEED);
    random.set_stream(number);
    let (path, octets) = &seeds[random.random_range(0..seeds.len())];
    let is_gzip = octets.starts_with(&[0x1f, 0x8b]);
    let mut octets = octets.clone();
    if is_gzip && random.random() {
        octets = unpacked(&octets);
        mutate(&mut random, &mut octets);
        octets = packed(&octets);
    } else {
        mutate(&mut random, &mut octets);
    }
    let startup = |start| StartupOverride {
        markers: start % 2 == 0,
        crc: start % 3 == 0,
        start,
    };
    let options = ReadOptions {
        as_captured: random.random_bool(0.2),
        only_flow: random.random_bool(0.2).then_some(0),
        flow: None,
        startups: random
            .random_bool(0.1)
            .then_some(startup(1181))
            .into_iter()
            .collect(),
    };
    (path.clone(), octets, options)
}

/// Whether it was played; refused otherwise.
fn is_played(path: &Path, octets: Vec<u8>, read: &ReadOptions) -> bool {
    let Ok(opened) = open_octets(path, octets, read) else {
        return false;
    };
    let options = Options {
        dut: DutKind::Model,
        ..Options::default()
    };
    let progress = ProgressBar::hidden();
    let report = play(&opened.capture, &opened.flows, &options, &progress);
    report.is_ok_and(|report| !report.flows.is_empty())
}

#[test]
fn damaged_captures_are_played_or_refused() {
    let seeds = captures();
    let (mut played, mut slowest) = (0, Duration::ZERO);
    let runs = count("mutated captures", 10_000, 100_000) as u64;
    for number in 0..runs {
        let (path, octets, options) = mutated(&seeds, number);
        let started = Instant::now();
        let done = catch_unwind(AssertUnwindSafe(|| is_played(&path, octets, &options)));
        let name = path.file_name().expect("a file").to_string_lossy();
        let done = done.unwrap_or_else(|_| panic!("seed {SEED}, capture {number}, of {name}"));
        played += u64::from(done);
        slowest = slowest.max(started.elapsed());
        assert!(
            slowest < HANG,
            "seed {SEED}, capture {number}, of {name}: {slowest:?}"
        );
    }
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak = peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    let peak = peak.expect("Linux counts it");
    println!("{played} of {runs} played, slowest {slowest:?}, at most {peak} KiB");
    assert!(peak < MEMORY_KIB_MAX, "{peak} KiB");
    // Neither all nor none: the changes are neither too small nor too large.
    assert!(
        played > runs / 5 && played < runs * 19 / 20,
        "{played} of {runs}"
    );
}
