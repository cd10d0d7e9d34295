//! `rnic bench`: what the core takes, in cycles.

use crate::cli::json::JsonSink;
use crate::cli::lines::{FirstError, Lines};
use crate::cli::outcome::{Failure, Outcome};
use indicatif::{ProgressBar, ProgressStyle};
use rnic_output::Claims;
use rnic_sim::verilator::Compiler;
use rnic_testbench::bench::rate::{self, Load};
use rnic_testbench::bench::rig::Rig;
use rnic_testbench::bench::{disorder, latency, sending, speed, training, transmit};
use rnic_testbench::bench::{
    BesideRow, DisorderRow, DoorbellLatency, EventLatency, Latency, RateRow, SendRow, Speed,
    StallRow,
};
use serde::Serialize;
use std::path::PathBuf;

const EXAMPLE: &str = "Example:\n  rnic bench --width 64 --json bench.json";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// Frame path in bits: 64, 128 or 512.
    #[arg(long, default_value_t = 64, value_parser = super::play::width)]
    width: usize,
    /// Write the figures as JSON into this file; `-` for stdout.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// All figures.
#[derive(Debug, Serialize)]
struct Figures {
    tool: &'static str,
    version: &'static str,
    width: usize,
    #[serde(flatten)]
    receive: Receive,
    #[serde(flatten)]
    delay: Delay,
    #[serde(flatten)]
    transmit: Transmit,
    speed: Speed,
    compiler: String,
    profile_guided: bool,
}

/// Cycles of received frames.
#[derive(Debug, Serialize)]
struct Receive {
    rate: Vec<RateRow>,
    beside: Vec<BesideRow>,
    beside_goal_ratio: f64,
    disorder: Vec<DisorderRow>,
    disorder_goal_ratio: f64,
}

/// Cycles until something is seen.
#[derive(Debug, Serialize)]
struct Delay {
    latency: Vec<Latency>,
    latency_goal_cycles: u64,
    event_latency: Vec<EventLatency>,
    event_latency_goal_cycles: u64,
    doorbell_latency: Vec<DoorbellLatency>,
    doorbell_latency_goal_cycles: u64,
}

/// Cycles of sent frames.
#[derive(Debug, Serialize)]
struct Transmit {
    send: Vec<SendRow>,
    stalls: Vec<StallRow>,
}

impl Figures {
    /// Does every row meet its goal? Those of delays are for W = 64.
    fn good(&self) -> bool {
        let delay = &self.delay;
        self.receive.rate.iter().all(RateRow::good)
            && self.receive.beside.iter().all(BesideRow::good)
            && self.receive.disorder.iter().all(DisorderRow::good)
            && self.transmit.send.iter().all(SendRow::good)
            && (self.width != 64
                || delay.latency.iter().all(Latency::good)
                    && delay.event_latency.iter().all(EventLatency::good)
                    && delay.doorbell_latency.iter().all(DoorbellLatency::good))
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let width = arguments.width;
    let mut json = JsonSink::open(&mut Claims::new(), arguments.json.as_deref())?;
    let lines = match json.is_stdout() {
        true => Lines::Nowhere,
        false => Lines::Stdout,
    };
    let profile_guided = training::guide(width)?;
    let receive = receive(width, lines)?;
    let mut rig = Rig::new(width)?;
    let delay = delay(&mut rig, width, lines)?;
    let transmit = transmit(&mut rig, width, lines)?;
    let speed = speed::measure(&mut rig);
    let compiler = Compiler::find()?.version;
    lines.say(speed_lines(&speed))?;
    let guide = match profile_guided {
        true => "guided by a profile",
        false => "without a profile, which takes clang with llvm-profdata of its version",
    };
    lines.say(format!("model compiled by {compiler}, {guide}"))?;
    let rate = &receive.rate;
    let worst = rate.iter().map(|row| row.ratio).fold(0.0, f64::max);
    let slow = rate.iter().filter(|row| !row.good()).count();
    lines.say(format!(
        "worst ratio {worst:.3}; {slow} of {} rows miss their goal",
        rate.len()
    ))?;
    let figures = Figures {
        tool: "rnic",
        version: env!("CARGO_PKG_VERSION"),
        width,
        receive,
        delay,
        transmit,
        speed,
        compiler,
        profile_guided,
    };
    json.write(&figures)?;
    let is_good = figures.good();
    json.finish()?;
    Ok(match is_good {
        true => Outcome::Good,
        false => Outcome::Bad,
    })
}

fn receive(width: usize, lines: Lines) -> Result<Receive, Failure> {
    let progress = ProgressBar::new(2 * rate::row_count() as u64);
    progress.set_style(ProgressStyle::with_template(
        "rate {bar:40} {pos}/{len} rows",
    )?);
    lines.say(format!(
        "width {width}: cycles a frame, sustained; frame sizes count the FCS"
    ))?;
    lines.say("pattern    frame  connections   goal   taken  ratio  lost")?;
    let mut error = FirstError::default();
    let rate = rate::measure(width, Load::Alone, |row| {
        progress.suspend(|| error.note(lines.say(rate_line(row))));
        progress.inc(1);
    })?;
    error.check()?;
    lines.say(format!(
        "the same while frames of {} octets are sent all the time (goal: {} times the cycles \
         alone)",
        sending::BESIDE_OCTETS,
        transmit::BESIDE_GOAL_RATIO
    ))?;
    lines.say("pattern    frame  connections  alone   taken  ratio  lost")?;
    let mut alone = rate.iter();
    let (mut beside, mut error) = (Vec::new(), FirstError::default());
    rate::measure(width, Load::Sending, |row| {
        let alone = alone.next().expect("both have the same rows");
        let row = BesideRow::new(alone, row);
        progress.suspend(|| error.note(lines.say(beside_line(&row))));
        progress.inc(1);
        beside.push(row);
    })?;
    error.check()?;
    progress.finish_and_clear();
    lines.say(format!(
        "out of order: frames of 1518 octets with markers on one connection (goal: {:.2} times the \
         cycles in order)",
        disorder::GOAL_RATIO
    ))?;
    lines.say("disorder                taken  ratio  out of order    peak pages  no room  lost")?;
    let disorder = disorder::measure(width)?;
    disorder
        .iter()
        .try_for_each(|row| lines.say(disorder_line(row)))?;
    Ok(Receive {
        rate,
        beside,
        beside_goal_ratio: transmit::BESIDE_GOAL_RATIO,
        disorder,
        disorder_goal_ratio: disorder::GOAL_RATIO,
    })
}

fn delay(rig: &mut Rig, width: usize, lines: Lines) -> Result<Delay, Failure> {
    let latency = latency::measure(rig, width);
    lines.say(format!(
        "latency: cycles from a segment's last octet to its last memory write, beyond one read \
         of it (goal at W=64: {})",
        latency::GOAL_CYCLES
    ))?;
    latency
        .iter()
        .try_for_each(|row| lines.say(latency_line(row)))?;
    let event_latency = latency::measure_events(rig);
    lines.say(format!(
        "events: cycles from a segment's last octet to its event (goal at W=64: {})",
        latency::EVENT_GOAL_CYCLES
    ))?;
    event_latency
        .iter()
        .try_for_each(|row| lines.say(event_line(row)))?;
    let doorbell_latency = transmit::measure_doorbell(rig, width)?;
    lines.say(format!(
        "doorbell: cycles to the first beat, beyond two reads of {} cycles each and the beats of \
         the frame into the store (goal at W=64: {})",
        sending::READ_LATENCY_CYCLES,
        transmit::DOORBELL_GOAL_CYCLES
    ))?;
    doorbell_latency
        .iter()
        .try_for_each(|row| lines.say(doorbell_line(row)))?;
    Ok(Delay {
        latency,
        latency_goal_cycles: latency::GOAL_CYCLES,
        event_latency,
        event_latency_goal_cycles: latency::EVENT_GOAL_CYCLES,
        doorbell_latency,
        doorbell_latency_goal_cycles: transmit::DOORBELL_GOAL_CYCLES,
    })
}

fn transmit(rig: &mut Rig, width: usize, lines: Lines) -> Result<Transmit, Failure> {
    lines.say("sent: cycles a frame, gathered and summed")?;
    lines.say("pattern  frame   goal   taken  ratio")?;
    let send = transmit::measure(rig, width)?;
    send.iter().try_for_each(|row| lines.say(send_line(row)))?;
    lines.say(format!(
        "host short of credits, {} octets both ways: cycles a frame",
        sending::BESIDE_OCTETS
    ))?;
    let stalls = transmit::measure_stalls(width)?;
    stalls
        .iter()
        .try_for_each(|row| lines.say(stall_line(row)))?;
    Ok(Transmit { send, stalls })
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
        missing(row.good())
    )
}

fn missing(is_good: bool) -> &'static str {
    match is_good {
        true => "",
        false => "  misses its goal",
    }
}

fn beside_line(row: &BesideRow) -> String {
    format!(
        "{:<10} {:>5} {:>12} {:>6.2} {:>7.2} {:>6.3} {:>5}{}",
        row.pattern.name(),
        row.frame_octets,
        row.connections,
        row.alone_cycles,
        row.cycles,
        row.ratio,
        row.lost,
        missing(row.good())
    )
}

fn send_line(row: &SendRow) -> String {
    format!(
        "{:<8} {:>5} {:>6.1} {:>7.2} {:>6.3}{}",
        row.pattern,
        row.frame_octets,
        row.goal_cycles,
        row.cycles,
        row.ratio,
        missing(row.good())
    )
}

fn doorbell_line(row: &DoorbellLatency) -> String {
    format!(
        "frame {:>5}: {} cycles, {} beyond two reads and {} beats{}",
        row.frame_octets,
        row.max_cycles,
        row.beyond_cycles,
        row.store_beats,
        missing(row.good())
    )
}

fn stall_line(row: &StallRow) -> String {
    format!(
        "{:<29} {:>2} %: received {:>6.1}, sent {:>6.1}",
        row.blocked, row.percent, row.receive_cycles, row.transmit_cycles
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
        missing(row.good())
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
