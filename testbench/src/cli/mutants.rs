//! `rnic mutants`: single changes of the core that the checks must notice.

use crate::cli::campaign;
use crate::cli::interrupt::{self, Polling};
use crate::cli::json::{unusable, JsonSink};
use crate::cli::lines::{FirstError, Lines};
use crate::cli::outcome::{Failure, Outcome};
use indicatif::{ProgressBar, ProgressStyle};
use rnic_output::Claims;
use rnic_testbench::docs::workspace_root;
use rnic_testbench::mutants::campaign::{Campaign, Settings};
use rnic_testbench::mutants::checks::Programs;
use rnic_testbench::mutants::report::{row, Report};
use rnic_testbench::mutants::{table, MutantError};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const EXAMPLE: &str = "\
Example:
  rnic mutants --json mutants.json
  rnic mutants --only 17
  rnic mutants --only 120..140
  rnic mutants --only 'checksum'

Of testbench/mutants.toml; each goes through playback, a driver's program, three kinds of fuzz,
attacks and the proofs of its block until one fails. The core with all of them is built once. For
one mutant by hand, give any command RNIC_MUTANT=N and RNIC_MUTANT_LIBRARY=FILE; the file is named
in the first lines.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// Only the mutant of this number, those from one number to another, or those whose names
    /// contain this.
    #[arg(long, value_name = "N|A..B|NAME")]
    only: Option<String>,
    /// Seed of every random choice.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Concurrent mutants. [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Skip the proofs: mutants that no check of the whole device catches count as survivors.
    #[arg(long)]
    system_only: bool,
    /// Folder for the checks' output.
    #[arg(long, value_name = "DIR", default_value = "build/mutants")]
    out: PathBuf,
    /// Write every mutant and the check that caught it as JSON into this file; `-` for stdout.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let begun = Instant::now();
    let table = table::read()?;
    let picked = table::pick(table.clone(), arguments.only.as_deref())?;
    let json = JsonSink::open(&mut Claims::new(), arguments.json.as_deref())?;
    fs::create_dir_all(&arguments.out).map_err(|error| unusable(&arguments.out, &error))?;
    let out = fs::canonicalize(&arguments.out);
    let [attacks, device_model, device] = test_programs(["attacks", "device_model", "device"])?;
    let settings = Settings {
        programs: Programs {
            // Also after this file has been built anew.
            rnic: format!("/proc/{}/exe", std::process::id()).into(),
            attacks,
            device_model,
            device,
            root: workspace_root(),
            out: out.map_err(|error| unusable(&arguments.out, &error))?,
        },
        seed: arguments.seed,
        jobs: arguments.jobs.map_or_else(processors, usize::from),
        proofs: !arguments.system_only,
    };
    let progress = ProgressBar::new(picked.len() as u64);
    let template = "{bar:40} {pos}/{len} mutants, {msg}, {eta} left";
    progress.set_style(ProgressStyle::with_template(template)?);
    let lines = Lines::unless(json.is_stdout());
    let say = |line: &str| progress.suspend(|| lines.say(line));
    let campaign = Campaign::new(settings, &table)?;
    say(&campaign.first_lines())?;
    let (polling, mut survived, mut error) = (Polling::begin(), 0, FirstError::default());
    let outcomes = campaign.run(&picked, |outcome| {
        // Ctrl-C ends the checks as well: what they found then is nothing.
        if interrupt::is_raised() || error.is_there() {
            return ControlFlow::Break(());
        }
        survived += usize::from(!outcome.is_as_it_should_be());
        progress.inc(1);
        progress.set_message(format!("{survived} not as they should be"));
        error.note(say(&row(outcome)));
        ControlFlow::Continue(())
    })?;
    drop(polling);
    progress.finish_and_clear();
    error.check()?;
    let report = Report::new(&outcomes, arguments.seed, begun.elapsed().as_secs_f64());
    say(report.text().trim_end())?;
    let early = interrupt::is_raised();
    campaign::finish(json, &report, early)?;
    if early {
        return Ok(Outcome::Interrupted);
    }
    let all_well = outcomes.iter().all(|outcome| outcome.is_as_it_should_be());
    Ok(match all_well {
        true => Outcome::Good,
        false => Outcome::Bad,
    })
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Builds the test programs that are checks; returns their paths, as `names` has them.
fn test_programs<const N: usize>(names: [&str; N]) -> Result<[PathBuf; N], MutantError> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(workspace_root()).args([
        "test",
        "--quiet",
        "--package=rnic-testbench",
        "--no-run",
        "--message-format=json",
    ]);
    command.args(names.map(|name| format!("--test={name}")));
    // With the settings that this command was built with, so that nothing is built twice.
    if !cfg!(debug_assertions) {
        command.arg("--release");
    }
    let tool = format!("{command:?}");
    let failed = |reason: String| MutantError::Tool {
        tool: tool.clone(),
        reason,
    };
    let output = command.output();
    let output = output.map_err(|error| failed(error.to_string()))?;
    if !output.status.success() {
        return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
    }
    let messages = String::from_utf8_lossy(&output.stdout);
    let executable = |line: &str, name: &str| {
        let message: serde_json::Value = serde_json::from_str(line).ok()?;
        let is_wanted = message["target"]["name"] == name;
        let path = message["executable"].as_str()?;
        is_wanted.then(|| Path::new(path).to_path_buf())
    };
    let mut paths = std::array::from_fn(|_| PathBuf::new());
    for (path, name) in paths.iter_mut().zip(names) {
        let found = messages.lines().find_map(|line| executable(line, name));
        *path = found.ok_or_else(|| failed(format!("it names no executable of {name}")))?;
    }
    Ok(paths)
}
