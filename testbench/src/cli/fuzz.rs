//! `rnic fuzz`: random workloads and faults, hardware against model.

use crate::cli::campaign::{finish, lines};
use crate::cli::fuzz_transmit::TransmitCampaign;
use crate::cli::interrupt::{self, Polling};
use crate::cli::json::{unusable, JsonSink};
use crate::cli::lines::FirstError;
use crate::cli::outcome::{Failure, Outcome};
use indicatif::{ProgressBar, ProgressStyle};
use rnic_output::{stdout, Claims};
use rnic_testbench::bench::training;
use rnic_testbench::fuzz::{self, Campaign, Settings, Totals};
use serde::Serialize;
use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::num::NonZeroUsize;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;

const EXAMPLE: &str = "\
Example:
  rnic fuzz --runs 200 --seed 1
  rnic fuzz --hostile --runs 200 --seed 1
  rnic fuzz --transmit --runs 200 --seed 1
  rnic fuzz --seed 1 --only 17 --width 128";

/// From this many runs on the model is compiled with a profile. The second compilation takes a
/// minute or two; the exact break-even has not been measured.
const GUIDED_RUNS: u64 = 100;

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// Runs, numbered from 0; each depends on the seed and its number alone.
    #[arg(long, value_name = "N", default_value_t = 100)]
    runs: u64,
    /// Seed of every random choice. [default: a fresh one, which is printed]
    #[arg(long)]
    seed: Option<u64>,
    /// Do only this run of the seed.
    #[arg(long, value_name = "RUN", requires = "seed", conflicts_with = "runs")]
    only: Option<u64>,
    /// Frame path of the RTL in bits: 64, 128 or 512.
    #[arg(long, default_value_t = 64, value_parser = super::play::width)]
    width: usize,
    /// In addition to network faults: forged frames, regions deregistered in mid-stream,
    /// connections closed and reopened on the same addresses and ports, buffers withheld.
    #[arg(long)]
    hostile: bool,
    /// Frames that the device sends instead: random gather lists, alignments and insertions, a host
    /// that splits, reorders and delays, memory that cannot be read.
    #[arg(long, conflicts_with_all = ["hostile", "jobs", "out"])]
    transmit: bool,
    /// With --transmit: folder for what each run sends, as captures.
    #[arg(long, value_name = "DIR", requires = "transmit")]
    sent: Option<PathBuf>,
    /// Play the synthesised text, with random values wherever hardware leaves them undefined.
    #[arg(long)]
    silicon: bool,
    /// Concurrent runs. [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
    /// Continue after a failing run; otherwise the first one ends the campaign.
    #[arg(long)]
    keep_going: bool,
    /// Folder for the captures of failing runs.
    #[arg(long, value_name = "DIR", default_value = "build/fuzz")]
    out: PathBuf,
    /// Write totals and failures as JSON into this file; `-` for stdout.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Arguments {
    fn transmit_campaign(&self, seed: u64) -> TransmitCampaign<'_> {
        TransmitCampaign {
            seed,
            width: self.width,
            silicon: self.silicon,
            keep_going: self.keep_going,
            runs: self.range(),
            json: self.json.as_deref(),
            sent: self.sent.as_deref(),
        }
    }

    fn settings(&self, seed: u64) -> Settings {
        Settings {
            seed,
            width: self.width,
            folder: self.out.clone(),
            hostile: self.hostile,
            silicon: self.silicon,
        }
    }

    /// Numbers of the runs.
    fn range(&self) -> Range<u64> {
        match self.only {
            Some(run) => run..run.saturating_add(1),
            None => 0..self.runs,
        }
    }
}

/// The report, as JSON.
#[derive(Debug, Serialize)]
struct FuzzReport<'a> {
    tool: &'static str,
    version: &'static str,
    seed: u64,
    width: usize,
    #[serde(flatten)]
    totals: &'a Totals,
    failures: &'a [fuzz::Failure],
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let seed = arguments.seed.unwrap_or_else(fresh_seed);
    let width = arguments.width;
    if arguments.transmit {
        return arguments.transmit_campaign(seed).run();
    }
    let json = JsonSink::open(&mut Claims::new(), arguments.json.as_deref())?;
    fs::create_dir_all(&arguments.out).map_err(|error| unusable(&arguments.out, &error))?;
    // Standard error has no need of the seed and the totals: the report has them.
    let (lines, head) = lines(&json);
    head.say(format!("seed {seed}, width {width}"))?;
    let count = arguments.only.map_or(arguments.runs, |_| 1);
    if count >= GUIDED_RUNS && !arguments.silicon {
        training::guide(width)?;
    }
    let mut campaign = Campaign::new(arguments.settings(seed));
    let runs = arguments.range();
    let progress = ProgressBar::new(runs.end - runs.start);
    let template = "{bar:40} {pos}/{len} runs, {msg} segments, {eta} left";
    progress.set_style(ProgressStyle::with_template(template)?);
    let bar = progress.clone();
    campaign.listen(move |run, differences| {
        let first = differences.first().map_or("", String::as_str);
        let text = format!("run {run} of seed {seed} fails and is cut down: {first}");
        bar.suspend(|| stdout::complain(&text));
    });
    let mut failures = Vec::new();
    let cores = || std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let jobs = arguments.jobs.map_or_else(cores, NonZeroUsize::get);
    let (polling, mut error) = (Polling::begin(), FirstError::default());
    let done = campaign.runs(runs, jobs, |totals, failure| {
        progress.inc(1);
        progress.set_message(totals.segments.to_string());
        let fails = failure.is_some();
        if let Some(failure) = failure {
            let text = failure.text();
            progress.suspend(|| error.note(lines.say(text.trim_end())));
            failures.push(failure);
        }
        let ends = fails && !arguments.keep_going || error.is_there() || interrupt::is_raised();
        match ends {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    });
    drop(polling);
    progress.finish_and_clear();
    error.check()?;
    let report = FuzzReport {
        tool: "rnic",
        version: env!("CARGO_PKG_VERSION"),
        seed,
        width,
        totals: &campaign.totals,
        failures: &failures,
    };
    head.say(report.totals.text().trim_end())?;
    // Totals so far, and then why there are no more.
    let early = done.is_err() || interrupt::is_raised();
    finish(json, &report, early)?;
    done?;
    Ok(match failures.is_empty() {
        _ if early => Outcome::Interrupted,
        true => Outcome::Good,
        false => Outcome::Bad,
    })
}

/// A seed of at most nine digits from the operating system's random source.
fn fresh_seed() -> u64 {
    RandomState::new().build_hasher().finish() % 1_000_000_000
}
