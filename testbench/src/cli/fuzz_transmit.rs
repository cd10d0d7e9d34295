//! `rnic fuzz --transmit`: random frames through the transmit rings of the whole device.

use crate::cli::campaign;
use crate::cli::interrupt::{self, Polling};
use crate::cli::json::{unusable, JsonSink};
use crate::cli::outcome::{Failure, Outcome};
use indicatif::{ProgressBar, ProgressStyle};
use rnic_capture::pcap::capture_file;
use rnic_output::Claims;
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
        let json = JsonSink::open(&mut Claims::new(), self.json)?;
        if let Some(folder) = self.sent {
            fs::create_dir_all(folder).map_err(|error| unusable(folder, &error))?;
        }
        let (lines, head) = campaign::lines(&json);
        head.say(format!("seed {seed}, width {width}, transmit"))?;
        let progress = ProgressBar::new(self.runs.end - self.runs.start);
        let template = "{bar:40} {pos}/{len} runs, {msg} frames, {eta} left";
        progress.set_style(ProgressStyle::with_template(template)?);
        let (mut totals, mut failures) = (Totals::default(), Vec::new());
        let polling = Polling::begin();
        for number in self.runs.clone() {
            if interrupt::is_raised() {
                break;
            }
            let done = run(Case {
                seed,
                run: number,
                width,
                silicon: self.silicon,
            })?;
            if let Some(folder) = self.sent {
                let path = folder.join(format!("run-{number}.pcap"));
                let mut file = Claims::new().output("--sent", &path)?;
                file.write(&capture_file(&done.sent))?;
                file.finish()?;
            }
            let differences = done.differences;
            totals.add(&done.totals);
            progress.inc(1);
            progress.set_message(totals.frames.to_string());
            if differences.is_empty() {
                continue;
            }
            let again = self.again(number);
            let mut text = format!("run {number} of seed {seed} fails: {again}");
            for difference in &differences {
                text.push_str(&format!("\n  difference: {difference}"));
            }
            progress.suspend(|| lines.say(text))?;
            failures.push(FailedRun {
                run: number,
                again,
                differences,
            });
            if !self.keep_going {
                break;
            }
        }
        drop(polling);
        progress.finish_and_clear();
        head.say(totals.text().trim_end())?;
        let report = TransmitReport {
            tool: "rnic",
            version: env!("CARGO_PKG_VERSION"),
            seed,
            width,
            totals: &totals,
            failures: &failures,
        };
        let early = interrupt::is_raised();
        campaign::finish(json, &report, early)?;
        Ok(match failures.is_empty() {
            _ if early => Outcome::Interrupted,
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
