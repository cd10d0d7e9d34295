//! `rnic play`: captures through the device.

use crate::cli::interrupt::{self, Polling};
use crate::cli::outcome::{Failure, Outcome};
use crate::cli::play_outputs::{Files, Outputs};
use indicatif::{ProgressBar, ProgressStyle};
use rnic_abi::sizes::Sizes;
use rnic_capture::{Opened, ReadOptions, StartupOverride};
use rnic_output::names::one_line;
use rnic_output::{shown, stdout};
use rnic_testbench::play::{
    self, regions, summary, Conditions, DutKind, Options, PlayError, Report,
};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

const EXAMPLE: &str = "\
Examples:
  rnic play --dut both --width 64 --json - testbench/captures/rping-v4-crc.pcap
  rnic play --dut netlist testbench/captures/rping-v4-crc.pcap";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// pcap or pcapng files, plain or packed with gzip, zstd or xz; `-` is stdin. Ethernet, Linux
    /// cooked, raw IP and BSD loopback.
    #[arg(required = true, value_name = "CAPTURE")]
    captures: Vec<PathBuf>,
    /// Which receiver plays the capture; `both` compares the two, `netlist` compares what yosys
    /// makes of the RTL with the model. The first netlist takes some minutes, and it runs slowly.
    #[arg(long, value_enum, default_value_t = DutKind::Both)]
    dut: DutKind,
    /// Frame path of the RTL in bits: 64, 128 or 512.
    #[arg(long, default_value_t = 64, value_parser = width)]
    width: usize,
    /// Connections of the RTL's build: 256, 512 or 1024. [default: 1024; of a netlist 256, and
    /// 256 memory regions in place of 1,024]
    #[arg(long, value_name = "N")]
    connections: Option<usize>,
    /// Write the report as JSON into this file; `-` for stdout. Several captures give one report a
    /// line.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the report as one self-contained page; `-` for stdout.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write a waveform of the RTL run (FST); one capture only.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Frames, counted from 1, that the waveform shows.
    #[arg(long, value_name = "A..B", value_parser = frame_range, requires = "trace")]
    trace_frames: Option<Range<usize>>,
    /// Only this flow is received by the device; others go to the host path.
    #[arg(long, value_name = "N")]
    flow: Option<usize>,
    /// Random back-pressure on the PCI Express side, as a probability for each cycle.
    #[arg(long, value_name = "P", default_value_t = 0.0, value_parser = probability)]
    stall: f64,
    /// Seed of every random choice.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// For a flow whose start-up frames are not in the capture: m=0|1,c=0|1,start=SEQ, the sequence
    /// number in decimal or hexadecimal (0x). May be given for each direction.
    #[arg(long, value_name = "SPEC", value_parser = startup)]
    mpa: Vec<StartupOverride>,
    /// Frames as they are in the file: no checksum is filled in that was left to the sender's card,
    /// and no frame is cut that is longer than the device takes.
    #[arg(long)]
    as_captured: bool,
    /// As --flow, and frames of other connections do not reach the device: for large captures.
    #[arg(long, value_name = "N", conflicts_with = "flow")]
    only_flow: Option<usize>,
    /// Regions (TOML) that replace the learned ones, to try refusals.
    #[arg(long, value_name = "FILE")]
    regions: Option<PathBuf>,
    /// One device receives for all hosts of the capture; their STags must differ.
    #[arg(long)]
    one_device: bool,
    /// Hostile actions per frame, as by `rnic fuzz --hostile`: forged frames, regions deregistered,
    /// connections closed and reopened, buffers withheld.
    #[arg(long, value_name = "P", default_value_t = 0.0, value_parser = probability)]
    hostile: f64,
    /// Seed of the conditions on the receiving side, as drawn by `rnic fuzz`: windows, bound and
    /// foreign regions, sizes of regions, buffers, queues and rings, addresses, first MSNs.
    /// [default: what the capture needs]
    #[arg(long, value_name = "SEED")]
    conditions: Option<u64>,
    /// Play the synthesised text, with random values wherever hardware leaves them undefined:
    /// registers without reset, block RAM words read while they are written.
    #[arg(long)]
    silicon: bool,
    /// Use the device beforehand and reset it in mid-traffic; the result must be the same.
    #[arg(long)]
    used: bool,
    /// Put each frame on a transmit ring of the device, which sends it to itself, instead of on the
    /// wire; the result must be the same.
    #[arg(long)]
    loopback: bool,
}

/// How to play; combinations that make no sense are refused.
fn options(arguments: &Arguments) -> Result<Options, Failure> {
    if arguments.trace.is_some() && arguments.captures.len() > 1 {
        let what = "--trace takes one capture; give one CAPTURE only".into();
        return Err(PlayError::Option(what).into());
    }
    if arguments.trace.is_some() && arguments.dut == DutKind::Model {
        let what = "--trace shows hardware, and --dut model is software; use --dut rtl or both";
        return Err(PlayError::Option(what.into()).into());
    }
    let netlist = arguments.dut == DutKind::Netlist;
    if netlist && (arguments.trace.is_some() || arguments.silicon) {
        let what = "--dut netlist is what is synthesised already, and writes no waveform; leave \
                    --silicon and --trace out, or use --dut both";
        return Err(PlayError::Option(what.into()).into());
    }
    let usual = match netlist {
        true => Sizes::SMALLEST,
        false => Sizes::LARGEST,
    };
    let regions = arguments
        .regions
        .as_deref()
        .map(regions::read)
        .transpose()?;
    Ok(Options {
        dut: arguments.dut,
        width: arguments.width,
        sizes: sizes(
            arguments.connections.unwrap_or(usual.connections()),
            usual.regions(),
        )?,
        seed: arguments.seed,
        stall: arguments.stall,
        flow: arguments.flow,
        trace: None,
        trace_frames: arguments.trace_frames.clone(),
        regions,
        hostile: arguments.hostile,
        one_device: arguments.one_device,
        conditions: arguments
            .conditions
            .map_or_else(Conditions::default, Conditions::draw),
        silicon: arguments.silicon,
        used: arguments.used,
        loopback: arguments.loopback,
        timeline: arguments.html.is_some(),
        transcript: None,
        stop: None,
    })
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let mut options = options(arguments)?;
    let mut outputs = Outputs::open(
        arguments.captures.iter().chain(&arguments.regions),
        &Files {
            json: arguments.json.as_deref(),
            html: arguments.html.as_deref(),
            trace: arguments.trace.as_deref(),
        },
        arguments.captures.len(),
    )?;
    options.trace = outputs.trace_path();
    options.stop = Some(interrupt::raised());
    let (mut outcome, mut keeping) = (Outcome::Good, None);
    for (count, path) in arguments.captures.iter().enumerate() {
        if interrupt::is_raised() {
            outputs.end_early(&format!("interrupted before {}", shown(path)), count)?;
            return Ok(Outcome::Interrupted);
        }
        // With reports to keep, a signal does not end the process while a file is read, either; a
        // pipe may have no end.
        keeping = match outputs.has_reports() && path.is_file() {
            true => Some(keeping.unwrap_or_else(Polling::begin)),
            false => None,
        };
        let played = play_one(path, arguments, &options);
        outputs.close_waveforms()?;
        match played {
            Ok(report) if interrupt::is_raised() => {
                outputs.show(&report)?;
                let frames = report.frames;
                let how = format!("interrupted after {frames} frames of {}", shown(path));
                outputs.end_early(&how, count)?;
                return Ok(Outcome::Interrupted);
            }
            Ok(report) => {
                if report.mismatches > 0 && outcome == Outcome::Good {
                    outcome = Outcome::Bad;
                }
                if report.flows.is_empty() {
                    stdout::complain(&summary::nothing_played(&report));
                    outcome = Outcome::Unusable;
                }
                outputs.take(report)?;
            }
            Err(failure) if concerns_all(&failure) => {
                if outputs.has_reports() {
                    outputs.end_early(&format!("ended at {}", shown(path)), count)?;
                }
                return Err(failure);
            }
            Err(failure) => {
                let text = format!("rnic: {}", named(path, &failure));
                stdout::complain(&one_line(&text));
                outcome = Outcome::Unusable;
            }
        }
    }
    outputs.finish()?;
    Ok(outcome)
}

/// No other capture would do better: the core cannot be simulated.
fn concerns_all(failure: &Failure) -> bool {
    matches!(failure.downcast_ref(), Some(PlayError::Simulation(_)))
}

/// A failure that names its capture.
fn named(path: &Path, failure: &Failure) -> String {
    let failure = failure.to_string();
    match failure.contains(&*path.to_string_lossy()) {
        true => failure,
        false => format!("{}: {failure}", path.display()),
    }
}

/// Builds the core that a run needs unless it is there, with a sign of life on a terminal. That of
/// a waveform is built where it is loaded, but for its netlist.
fn build_core(options: &Options) -> Result<(), Failure> {
    let message = match options.dut {
        DutKind::Model => return Ok(()),
        DutKind::Netlist => "synthesises and verilates the netlist; minutes, once",
        _ if options.trace.is_some() => return Ok(()),
        _ => "verilates the core; a minute, once",
    };
    let progress = ProgressBar::new_spinner();
    progress.set_message(message);
    progress.enable_steady_tick(Duration::from_millis(250));
    let built = rnic_sim::library::prepare(options.width, options.sizes, options.form());
    progress.finish_and_clear();
    built.map_err(|error| PlayError::Simulation(error).into())
}

fn play_one(path: &Path, arguments: &Arguments, options: &Options) -> Result<Report, Failure> {
    let read = ReadOptions {
        as_captured: arguments.as_captured,
        only_flow: arguments.only_flow,
        flow: options.flow,
        startups: arguments.mpa.clone(),
    };
    let Opened {
        capture,
        flows,
        notes,
        causes,
    } = rnic_capture::open(path, &read)?;
    if !flows.is_empty() {
        build_core(options)?;
    }
    let progress = ProgressBar::new(capture.frames.len() as u64);
    let style = ProgressStyle::with_template("{msg} {bar:40} {pos}/{len} frames, {eta} left")?;
    progress.set_style(style);
    progress.set_message(shown(path));
    let _polling = Polling::begin();
    let report = play::play(&capture, &flows, options, &progress);
    progress.finish_and_clear();
    Ok(Report {
        notes,
        causes,
        ..report?
    })
}

/// A width the core is built for.
pub(crate) fn width(text: &str) -> Result<usize, String> {
    let known = text
        .parse()
        .ok()
        .filter(|width| [64, 128, 512].contains(width));
    known.ok_or_else(|| "use 64, 128 or 512".into())
}

/// Sizes the core is built for.
pub(crate) fn sizes(connections: usize, regions: usize) -> Result<Sizes, PlayError> {
    let what = format!("{connections} connections, {regions} regions: use 256, 512 or 1024 each");
    Sizes::new(connections, regions).ok_or(PlayError::Option(what))
}

fn probability(text: &str) -> Result<f64, String> {
    let known = text.parse().ok().filter(|p| (0.0..=0.95).contains(p));
    known.ok_or_else(|| "use a number from 0 to 0.95; at 1 nothing would ever move".into())
}

fn frame_range(text: &str) -> Result<Range<usize>, String> {
    let parse = |(first, last): (&str, &str)| {
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        (first >= 1 && last >= first).then_some(first..last + 1)
    };
    text.split_once("..")
        .and_then(parse)
        .ok_or_else(|| "use A..B with 1 <= A <= B".into())
}

fn startup(text: &str) -> Result<StartupOverride, String> {
    let mut given = StartupOverride {
        markers: false,
        crc: true,
        start: 0,
    };
    let mut start_given = false;
    for part in text.split(',') {
        match part.split_once('=') {
            Some(("m", "0")) => given.markers = false,
            Some(("m", "1")) => given.markers = true,
            Some(("c", "0")) => given.crc = false,
            Some(("c", "1")) => given.crc = true,
            Some(("start", number)) => {
                let hexadecimal = number.strip_prefix("0x").or(number.strip_prefix("0X"));
                let (digits, radix) = match hexadecimal {
                    Some(digits) => (digits, 16),
                    None => (number, 10),
                };
                given.start = u32::from_str_radix(digits, radix)
                    .map_err(|_| format!("{number} is no sequence number"))?;
                start_given = true;
            }
            _ => return Err(format!("{part} is not one of m=0|1, c=0|1, start=SEQ")),
        }
    }
    if !start_given {
        return Err("start=SEQ is missing: the first sequence number of full operation".into());
    }
    Ok(given)
}
