//! `rnic fuzz`: random workloads through hardware and model agree, the draws cover every fault and
//! condition, and a mismatch is found, cut down and can be replayed.
//!
//! - [`agreement`]: ordinary traffic at every width, and on what is synthesised.
//! - [`hostile`]: malicious peers and a misbehaving host.
//! - [`coverage`]: every fault, choice and condition is drawn.
//! - [`failures`]: canaries. Each replaces the comparison by one that must find something, so a
//!   blind fuzzer fails here.
//! - [`command`]: totals, jobs and the JSON of `rnic fuzz`.

mod agreement;
mod hostile;
mod coverage;
mod failures;
mod command;

use indicatif::ProgressBar;
use rnic_capture::Capture;
use rnic_testbench::fuzz::Settings;
use rnic_testbench::play::{play, DutKind, Options, PlayError, Report};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs of a test at W = 64, in a short run and in a long one.
const RUNS: [u64; 2] = [5, 20];
/// The same of a fresh seed, which differs in each run of the tests.
const RUNS_FRESH: [u64; 2] = [2, 20];
/// Ordinary runs of a test at W = 512, and hostile ones at W = 128 and 512.
const RUNS_WIDE: [u64; 2] = [1, 3];
/// Hostile runs of a test, in a short run and in a long one.
const RUNS_HOSTILE: [u64; 2] = [3, 12];

/// As many runs as the effort allows.
#[track_caller]
fn runs([short, long]: [u64; 2]) -> u64 {
    rnic_effort::count("runs", short, long)
}

fn settings(name: &str, seed: u64, width: usize) -> Settings {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    // Files of an earlier test run say nothing about this one.
    let _ = std::fs::remove_dir_all(&folder);
    Settings {
        seed,
        width,
        folder,
        hostile: false,
        silicon: false,
    }
}

/// W = 512: as it is emitted, and as it is synthesised. A short run has the first one only, which
/// tests of the device share; W = 64 is attacked as it is synthesised, too.
fn settings_512(name: &str, seed: u64) -> Vec<Settings> {
    let emitted = settings(name, seed, 512);
    if rnic_effort::is_left_out("W = 512 as it is synthesised") {
        return vec![emitted];
    }
    let synthesised = Settings {
        silicon: true,
        ..settings(&format!("{name}-silicon"), seed, 512)
    };
    vec![emitted, synthesised]
}

/// Play it on the model alone.
fn on_the_model(capture: &Capture, options: &Options) -> Result<Report, PlayError> {
    let options = Options {
        dut: DutKind::Model,
        ..options.clone()
    };
    let flows = rnic_capture::flows(capture, None);
    play(capture, &flows, &options, &ProgressBar::hidden())
}

/// Runs a printed command as a user's shell would.
fn shell(command: &str) -> Output {
    let folder = Path::new(env!("CARGO_BIN_EXE_rnic")).parent();
    let folder = folder.expect("a program lies in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    Command::new("sh")
        .args(["-c", command])
        .env("PATH", format!("{}:{path}", folder.display()))
        .output()
        .expect("there is a shell")
}
