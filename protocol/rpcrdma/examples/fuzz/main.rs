//! Headers mutated from the figures of the RFC and from a capture, read by the crate and by a slow
//! parser that shares no code with it: `cargo run --release -p rpcrdma --example fuzz -- --runs
//! 10000000 --seed 1`.
//!
//! Of every header both must say the same: the reason to refuse it, or all of its fields. What is
//! accepted is written again to the same octets, and its body is read as a call. The crate must
//! neither panic nor allocate. A run depends on the seed and its own number alone; what is found is
//! printed with the command that replays it. `--break NAME` takes a rule from the slow parser, and
//! then differences have to be found.
#[path = "../../tests/captures/nfs.rs"]
mod nfs;
#[path = "../../../iwarp/tests/captures/streams.rs"]
mod streams;
#[path = "../../src/wire/tests/vectors.rs"]
mod vectors;
mod fast;
mod mutate;
mod slow;

use allocation_counter::measure;
use rand_chacha::rand_core::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rpcrdma::wire::{Caps, Refused};
use std::collections::BTreeMap;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::ExitCode;
use std::time::Instant;

/// Reasons that only the layers above a header know.
const ABOVE: [Refused; 3] = [
    Refused::NotEligible,
    Refused::ItemLength,
    Refused::Protected,
];
/// Findings that are printed.
const PRINTED_MAX: u64 = 10;
/// Runs after which every reason must have been met.
const RUNS_FOR_ALL: u64 = 1_000_000;

struct Options {
    runs: u64,
    seed: u64,
    only: Option<u64>,
    broken: Option<Refused>,
}

fn options() -> Result<Options, String> {
    let mut options = Options {
        runs: 1_000_000,
        seed: 1,
        only: None,
        broken: None,
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word}: no value"))?;
        let number = || {
            value
                .parse::<u64>()
                .map_err(|error| format!("{word} {value}: {error}"))
        };
        match word.as_str() {
            "--runs" => options.runs = number()?,
            "--seed" => options.seed = number()?,
            "--only" => options.only = Some(number()?),
            "--break" => {
                let named = |refused: &&Refused| format!("{refused:?}") == value;
                let known: Vec<_> = Refused::ALL.iter().filter(|r| !ABOVE.contains(r)).collect();
                let refused = known.iter().copied().find(named);
                let refused = refused.ok_or_else(|| format!("--break: one of {known:?}"))?;
                options.broken = Some(*refused);
            }
            _ => {
                return Err(format!(
                    "{word}: --runs N, --seed S, --only RUN, --break NAME"
                ))
            }
        }
    }
    Ok(options)
}

/// What the runs have shown.
#[derive(Default)]
struct Findings {
    verdicts: BTreeMap<Option<Refused>, u64>,
    differences: u64,
    panics: u64,
    allocations: u64,
}

impl Findings {
    fn print(&self, options: &Options, run: u64, what: &str, octets: &[u8]) {
        if self.differences + self.panics > PRINTED_MAX {
            return;
        }
        let words: Vec<String> = octets
            .chunks(4)
            .map(|word| format!("{word:02x?}"))
            .collect();
        let broken = options
            .broken
            .map_or(String::new(), |name| format!(" --break {name:?}"));
        println!("run {run}: {what}\n  {}", words.join(" "));
        let seed = options.seed;
        let command = "cargo run --release -p rpcrdma --example fuzz";
        println!("  replay: {command} -- --seed {seed} --only {run}{broken}");
    }
}

/// One header, and the caps that it is read with.
fn header_of(vectors: &mutate::Vectors, seed: u64, run: u64, octets: &mut Vec<u8>) -> Caps {
    // Runs of one seed are apart from each other, and from those of the next seed.
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(run);
    mutate::header(vectors, &mut random, octets)
}

fn run(options: &Options, vectors: &mutate::Vectors) -> Findings {
    let (mut findings, mut octets) = (Findings::default(), Vec::new());
    let mut buffer = Vec::with_capacity(1 << 16);
    let runs = options.only.map_or(0..options.runs, |run| run..run + 1);
    for run in runs {
        let caps = header_of(vectors, options.seed, run, &mut octets);
        let mut expected = slow::parse(&octets, &caps);
        expected.forget(options.broken);
        let mut checked = None;
        let counted = measure(|| {
            let compared = || fast::compare(&octets, &caps, &expected, &mut buffer);
            checked = Some(catch_unwind(AssertUnwindSafe(compared)));
        });
        *findings.verdicts.entry(expected.refused()).or_insert(0) += 1;
        match checked.expect("it was called") {
            Ok(Ok(())) => {
                let more = counted.count_total;
                findings.allocations += more;
                if more > 0 {
                    findings.print(options, run, &format!("{more} allocations"), &octets);
                }
            }
            Ok(Err(difference)) => {
                findings.differences += 1;
                findings.print(options, run, &difference, &octets);
            }
            Err(_) => {
                findings.panics += 1;
                findings.print(options, run, "a panic", &octets);
            }
        }
    }
    findings
}

fn main() -> ExitCode {
    let options = match options() {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}");
            return ExitCode::FAILURE;
        }
    };
    let mut vectors = None;
    let counted = measure(|| vectors = Some(mutate::Vectors::load()));
    assert_ne!(counted.count_total, 0, "allocations are counted");
    let vectors = vectors.expect("they were loaded");
    println!(
        "seed {}: {} runs of {} figures and {} captured Sends; any run N again: --seed {} --only N",
        options.seed,
        options.runs,
        vectors.figures(),
        vectors.captured(),
        options.seed
    );
    let begin = Instant::now();
    let findings = run(&options, &vectors);
    for (verdict, count) in &findings.verdicts {
        let name = verdict.map_or("accepted".to_owned(), |refused| refused.to_string());
        println!("{count:>12}  {name}");
    }
    let missing: Vec<_> = Refused::ALL
        .iter()
        .filter(|reason| !ABOVE.contains(reason) && Some(**reason) != options.broken)
        .filter(|reason| !findings.verdicts.contains_key(&Some(**reason)))
        .collect();
    let Findings {
        differences,
        panics,
        allocations,
        ..
    } = findings;
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{differences} differences, {panics} panics, {allocations} allocations by the crate; \
         {seconds:.0} s"
    );
    let all = options.only.is_some() || options.runs < RUNS_FOR_ALL || missing.is_empty();
    if !all {
        println!("never met: {missing:?}");
    }
    match differences + panics + allocations {
        0 if all => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
