//! `rnic fuzz --transmit`: random frames through the transmit rings of the whole device.

use crate::cli::json::{unusable, JsonSink};
use crate::cli::outcome::{Failure, Outcome};
use indicatif::{ProgressBar, ProgressStyle};
use rnic_capture::pcap::capture_file;
use rnic_testbench::transmit::{run, Case, Totals};
use serde::Serialize;
use std::fs;
use std::ops::Range;
use std::path::Path;

/// A run that failed.
#[derive(Debug, Serialize)]
struct FailedRun {
    run: u64,
    again: String,
    differences: Vec<String>,
}

/// The report, as JSON.
#[derive(Debug, Serialize)]
struct TransmitReport<'a> {
    tool: &'static str,
    version: &'static str,
    seed: u64,
    width: usize,
    #[serde(flatten)]
    totals: &'a Totals,
    failures: &'a [FailedRun],
}

/// What a campaign depends on.
#[derive(Debug)]
pub(super) struct TransmitCampaign<'a> {
    pub seed: u64,
    pub width: usize,
    pub silicon: bool,
    pub keep_going: bool,
    pub runs: Range<u64>,
    pub json: Option<&'a Path>,
    /// Folder for what each run sends.
    pub sent: Option<&'a Path>,
}

impl TransmitCampaign<'_> {
    pub(super) fn run(&self) -> Result<Outcome, Failure> {
        let (seed, width) = (self.seed, self.width);
        let mut json = JsonSink::open(self.json)?;
        if let Some(folder) = self.sent {
            fs::create_dir_all(folder).map_err(|error| unusable(folder, &error))?;
        }
        let to_stdout = json.is_stdout();
        if !to_stdout {
            println!("seed {seed}, width {width}, transmit");
        }
        let progress = ProgressBar::new(self.runs.end - self.runs.start);
        let template = "{bar:40} {pos}/{len} runs, {msg} frames, {eta} left";
        progress.set_style(ProgressStyle::with_template(template)?);
        let (mut totals, mut failures) = (Totals::default(), Vec::new());
        for number in self.runs.clone() {
            let done = run(Case {
                seed,
                run: number,
                width,
                silicon: self.silicon,
            })?;
            if let Some(folder) = self.sent {
                let path = folder.join(format!("run-{number}.pcap"));
                let written = fs::write(&path, capture_file(&done.sent));
                written.map_err(|error| unusable(&path, &error))?;
            }
            let differences = done.differences;
            totals.add(&done.totals);
            progress.inc(1);
            progress.set_message(totals.frames.to_string());
            if differences.is_empty() {
                continue;
            }
            let again = self.again(number);
            let mut text = format!("run {number} of seed {seed} fails: {again}\n");
            for difference in &differences {
                text.push_str(&format!("  difference: {difference}\n"));
            }
            progress.suspend(|| match to_stdout {
                true => eprint!("{text}"),
                false => print!("{text}"),
            });
            failures.push(FailedRun {
                run: number,
                again,
                differences,
            });
            if !self.keep_going {
                break;
            }
        }
        progress.finish_and_clear();
        if !to_stdout {
            print!("{}", totals.text());
        }
        json.write(&TransmitReport {
            tool: "rnic",
            version: env!("CARGO_PKG_VERSION"),
            seed,
            width,
            totals: &totals,
            failures: &failures,
        })?;
        Ok(match failures.is_empty() {
            true => Outcome::Good,
            false => Outcome::Bad,
        })
    }

    fn again(&self, run: u64) -> String {
        let silicon = if self.silicon { " --silicon" } else { "" };
        let (seed, width) = (self.seed, self.width);
        format!("rnic fuzz --transmit --width {width} --seed {seed} --only {run}{silicon}")
    }
}
