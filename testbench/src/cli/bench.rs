//! `rnic bench`: what the core takes, in cycles.

use crate::cli::json::JsonSink;
use crate::cli::outcome::{Failure, Outcome};
use indicatif::{ProgressBar, ProgressStyle};
use rnic_sim::verilator::Compiler;
use rnic_testbench::bench::rig::Rig;
use rnic_testbench::bench::{disorder, latency, rate, speed, training};
use rnic_testbench::bench::{DisorderRow, EventLatency, Latency, RateRow, Speed};
use serde::Serialize;
use std::path::PathBuf;

const EXAMPLE: &str = "Example:\n  rnic bench --width 64 --json bench.json";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// Frame path in bits: 64, 128 or 512.
    #[arg(long, default_value_t = 64, value_parser = super::play::width)]
    width: usize,
    /// Write the figures as JSON; `-` for stdout.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// All figures.
#[derive(Debug, Serialize)]
struct Figures {
    tool: &'static str,
    version: &'static str,
    width: usize,
    rate: Vec<RateRow>,
    disorder: Vec<DisorderRow>,
    disorder_goal_ratio: f64,
    latency: Vec<Latency>,
    latency_goal_cycles: u64,
    event_latency: Vec<EventLatency>,
    event_latency_goal_cycles: u64,
    speed: Speed,
    compiler: String,
    profile_guided: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let width = arguments.width;
    let mut json = JsonSink::open(arguments.json.as_deref())?;
    let quiet = json.is_stdout();
    let say = |line: String| {
        if !quiet {
            println!("{line}");
        }
    };
    let profile_guided = training::guide(width)?;
    let progress = ProgressBar::new(rate::row_count() as u64);
    progress.set_style(ProgressStyle::with_template(
        "rate {bar:40} {pos}/{len} rows",
    )?);
    say(format!(
        "width {width}: cycles a frame, sustained; frame sizes count the FCS"
    ));
    say("pattern    frame  connections   goal   taken  ratio  lost".into());
    let rate = rate::measure(width, |row| {
        progress.suspend(|| say(rate_line(row)));
        progress.inc(1);
    })?;
    progress.finish_and_clear();
    say(format!(
        "out of order: frames of 1518 octets with markers on one connection (goal: {:.2} times the \
         cycles in order)",
        disorder::GOAL_RATIO
    ));
    say("disorder                taken  ratio  early segments  peak pages  no room  lost".into());
    let disorder = disorder::measure(width)?;
    disorder.iter().for_each(|row| say(disorder_line(row)));
    let mut rig = Rig::new(width)?;
    let latency = latency::measure(&mut rig, width);
    say(format!(
        "latency: cycles from a segment's last octet to its last memory write, beyond one read \
         of it (goal at W=64: {})",
        latency::GOAL_CYCLES
    ));
    latency.iter().for_each(|row| say(latency_line(row)));
    let events = latency::measure_events(&mut rig);
    say(format!(
        "events: cycles from a segment's last octet to its event (goal at W=64: {})",
        latency::EVENT_GOAL_CYCLES
    ));
    events.iter().for_each(|row| say(event_line(row)));
    let speed = speed::measure(&mut rig);
    let compiler = Compiler::find()?.version;
    say(speed_lines(&speed));
    let guide = match profile_guided {
        true => "guided by a profile",
        false => "without a profile, which takes clang with llvm-profdata of its version",
    };
    say(format!("model compiled by {compiler}, {guide}"));
    let worst = rate.iter().map(|row| row.ratio).fold(0.0, f64::max);
    let slow = rate.iter().filter(|row| !row.good()).count();
    say(format!(
        "worst ratio {worst:.3}; {slow} of {} rows miss their goal",
        rate.len()
    ));
    let late = width == 64
        && !(latency.iter().all(Latency::good) && events.iter().all(EventLatency::good));
    let figures = Figures {
        tool: "rnic",
        version: env!("CARGO_PKG_VERSION"),
        width,
        rate,
        disorder,
        disorder_goal_ratio: disorder::GOAL_RATIO,
        latency,
        latency_goal_cycles: latency::GOAL_CYCLES,
        event_latency: events,
        event_latency_goal_cycles: latency::EVENT_GOAL_CYCLES,
        speed,
        compiler,
        profile_guided,
    };
    json.write(&figures)?;
    let disturbed = !figures.disorder.iter().all(DisorderRow::good);
    Ok(if slow > 0 || late || disturbed {
        Outcome::Bad
    } else {
        Outcome::Good
    })
}

fn rate_line(row: &RateRow) -> String {
    format!(
        "{:<10} {:>5} {:>12} {:>6.1} {:>7.2} {:>6.3} {:>5}{}",
        row.pattern.name(),
        row.frame_octets,
        row.connections,
        row.goal_cycles,
        row.cycles,
        row.ratio,
        row.lost,
        if row.good() { "" } else { "  misses its goal" }
    )
}

fn disorder_line(row: &DisorderRow) -> String {
    format!(
        "{:<22} {:>6.2} {:>6.3} {:>15} {:>11} {:>8} {:>5}{}",
        row.disorder,
        row.cycles,
        row.ratio,
        row.ooo_segments,
        row.peak_pages,
        row.no_room,
        row.lost,
        if row.good() { "" } else { "  misses its goal" }
    )
}

fn latency_line(row: &Latency) -> String {
    format!(
        "frame {:>5}: {} beats a read, then {} min, {} median, {} max cycles",
        row.frame_octets, row.read_beats, row.min_cycles, row.median_cycles, row.max_cycles
    )
}

fn event_line(row: &EventLatency) -> String {
    format!(
        "frame {:>5}: {} min, {} median, {} max cycles",
        row.frame_octets, row.min_cycles, row.median_cycles, row.max_cycles
    )
}

fn speed_lines(speed: &Speed) -> String {
    format!(
        "simulation: {:.0} cycles/s, bare evaluation {:.0} cycles/s, overhead {:.1} % (goals: \
         1000000 cycles/s at W=64, 10 %)\n\
         where its time goes: evaluation {:.1} %, port exchange {:.1} %, wire, PCIe and \
         events {:.1} %",
        speed.cycles_per_second,
        speed.bare_cycles_per_second,
        speed.overhead_percent,
        speed.evaluation_percent,
        speed.exchange_percent,
        speed.bench_percent
    )
}
