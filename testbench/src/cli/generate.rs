//! `rnic gen`: a capture from a described workload.

use crate::cli::json::JsonSink;
use crate::cli::lines::Lines;
use crate::cli::outcome::{Failure, Outcome};
use clap::ValueEnum;
use rnic_output::{shown, Claims, Output, OutputError};
use rnic_testbench::traffic::Cutter;
use rnic_testbench::workload::{
    generate, Faults, Field, Interleave, IpFamily, Markers, Mix, Oddity, Resend, Summary, Workload,
};
use rnic_wire::ddp::rdmap::Opcode;
use serde::Serialize;
use std::ops::RangeInclusive;
use std::path::PathBuf;

const EXAMPLE: &str = "\
Example:
  rnic gen --out markers.pcap --connections 8 --markers --cut chopped --seed 7
  rnic gen --out lossy.pcap --loss 0.02 --reorder 0.1 --error tcp=0.01 --resend all
  rnic gen --out - --messages 1 | tcpdump -r -
  rnic play markers.pcap lossy.pcap";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE, allow_negative_numbers = true)]
pub(crate) struct Arguments {
    /// The capture to write, as pcap; `-` for stdout.
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Replace a capture that is there; without it an existing capture is kept.
    #[arg(long)]
    overwrite: bool,
    /// Seed of every random choice: the same options give the same octets.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write a summary of the capture as JSON into this file; `-` for stdout.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    traffic: Traffic,
    #[command(flatten)]
    injected: InjectedFaults,
}

/// What is sent.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Workload")]
struct Traffic {
    /// TCP connections, 1 to 64.
    #[arg(long, value_name = "N", default_value_t = 1)]
    connections: usize,
    /// When to switch to another connection: after any segment, or at the end of an FPDU.
    #[arg(long, value_enum, default_value_t = Interleave::Segment)]
    interleave: Interleave,
    /// Messages in each direction of each connection.
    #[arg(long, value_name = "N", default_value_t = 20)]
    messages: usize,
    /// Octets of a message, uniformly from A to B.
    #[arg(long, value_name = "A..B", default_value = "0..4096", value_parser = sizes)]
    sizes: RangeInclusive<usize>,
    /// Kinds of messages and their relative weights: rdma_write, read_request, read_response, send,
    /// send_invalidate, send_se, send_se_invalidate. [default: rdma_write=4,read_response=2,send=2
    /// and 1 of each other]
    #[arg(long, value_name = "KIND=WEIGHT,...", value_parser = mix)]
    mix: Option<Mix>,
    /// Longest ULPDU, 128 to 64768 octets. [default: what fits a segment]
    #[arg(long, value_name = "OCTETS")]
    mulpdu: Option<usize>,
    /// How FPDUs are packed into segments: one per segment, as many as fit, full segments
    /// regardless of FPDUs, segments of any length.
    #[arg(long, value_enum, default_value_t = Cutter::Aligned)]
    cut: Cutter,
    /// Which receivers ask for markers.
    #[arg(long, value_enum, num_args = 0..=1, require_equals = true,
          default_value_t = Markers::Off, default_missing_value = "both")]
    markers: Markers,
    /// CRC32C is not in use: its field is zero.
    #[arg(long)]
    no_crc: bool,
    /// MPA revision: 0, 1 or 2.
    #[arg(long, value_name = "N", default_value_t = 1)]
    revision: u8,
    /// IP version.
    #[arg(long, value_enum, default_value_t = IpFamily::V4)]
    ip: IpFamily,
    /// VLAN tags, outermost first, at most two.
    #[arg(long, value_name = "ID,...", value_delimiter = ',')]
    vlan: Vec<u16>,
    /// Every segment has the TCP timestamps option.
    #[arg(long)]
    timestamps: bool,
    /// Largest IP datagram in octets.
    #[arg(long, value_name = "OCTETS", default_value_t = 1500)]
    mtu: usize,
    /// Sequence number of the first octet of full operation in each direction, decimal or 0x...
    /// [default: random]
    #[arg(long, value_name = "SEQ", value_parser = sequence)]
    sequence_start: Option<u32>,
    /// Tagged Offset of the first octet of each region, decimal or 0x...
    #[arg(long, value_name = "TO", value_parser = tagged_offset, default_value = "0xffff8003")]
    to_start: u64,
    /// MSN of the first message on each queue, decimal or 0x...; its receiver must know it.
    #[arg(long, value_name = "MSN", value_parser = sequence, default_value = "1")]
    msn_start: u32,
    /// Keys that collide in the device's hash tables: connections, and the STags of each direction,
    /// differ in one 16-bit piece and share a slot.
    #[arg(long)]
    neighbours: bool,
    /// Both hosts of a connection use the same STag indices.
    #[arg(long)]
    same_stags: bool,
    /// All connections are between the same two hosts.
    #[arg(long)]
    one_pair: bool,
}

/// What goes wrong.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Faults, each with a rate from 0 to 1")]
struct InjectedFaults {
    /// A segment is split at a random octet.
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    resegment: f64,
    /// A segment that overlaps an earlier border is sent before that border.
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    overlap: f64,
    /// A segment does not arrive.
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    loss: f64,
    /// What is retransmitted after a loss: the lost segment, everything from the gap on (which also
    /// serves receivers that accept octets only in order), nothing.
    #[arg(long, value_enum, default_value_t = Resend::Lost)]
    resend: Resend,
    /// Segments until the retransmission.
    #[arg(long, value_name = "N", default_value_t = 8)]
    resend_after: usize,
    /// A segment arrives twice.
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    duplicate: f64,
    /// A segment arrives late.
    #[arg(long, value_name = "P", default_value_t = 0.0)]
    reorder: f64,
    /// Segments that may overtake it.
    #[arg(long, value_name = "N", default_value_t = 4)]
    reorder_window: usize,
    /// One bit error, in a frame (ip, tcp, payload: a checksum detects it, a good frame follows)
    /// or, with a correct TCP checksum, in an FPDU (length, header, data, crc, marker). May be
    /// repeated.
    #[arg(long, value_name = "FIELD=P", value_parser = error)]
    error: Vec<(Field, f64)>,
    /// Occasional oddities, by kind: ip_options, fragments, too_long, longest, runt, stranger,
    /// window, differ, fin, terminate, reuse, sack. May be repeated.
    #[arg(long, value_name = "KIND=P", value_parser = odd)]
    odd: Vec<(Oddity, f64)>,
}

/// The summary as JSON.
#[derive(Debug, Serialize)]
struct GenerateReport<'a> {
    capture: String,
    #[serde(flatten)]
    summary: &'a Summary,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let mut claims = Claims::new();
    let mut out = capture(&mut claims, arguments)?;
    let mut json = JsonSink::open(&mut claims, arguments.json.as_deref())?;
    let generation = generate(&workload(arguments))?;
    let lines = match json.is_stdout() {
        true => Lines::Nowhere,
        false => Lines::unless(out.is_stdout()),
    };
    out.write(&generation.file)?;
    out.finish()?;
    let summary = &generation.summary;
    let report = GenerateReport {
        capture: arguments.out.display().to_string(),
        summary,
    };
    json.write(&report)?;
    json.finish()?;
    let text = summary.text();
    lines.say(format!("{}: {}", shown(&arguments.out), text.trim_end()))?;
    Ok(Outcome::Good)
}

/// The capture's file; a capture that is there is replaced only if that is asked for.
fn capture(claims: &mut Claims, arguments: &Arguments) -> Result<Output, Failure> {
    if arguments.overwrite {
        return Ok(claims.output_over_capture("--out", &arguments.out)?);
    }
    let opened = claims.output("--out", &arguments.out);
    opened.map_err(|error| match error {
        OutputError::IsCapture { .. } => format!("{error}, or give --overwrite").into(),
        error => error.into(),
    })
}

fn workload(arguments: &Arguments) -> Workload {
    let (traffic, injected) = (&arguments.traffic, &arguments.injected);
    Workload {
        seed: arguments.seed,
        connections: traffic.connections,
        interleave: traffic.interleave,
        messages: traffic.messages,
        sizes: traffic.sizes.clone(),
        mix: traffic.mix.clone().unwrap_or_default(),
        mulpdu: traffic.mulpdu,
        cutter: traffic.cut,
        markers: traffic.markers,
        crc: !traffic.no_crc,
        revision: traffic.revision,
        ip: traffic.ip,
        vlan: traffic.vlan.clone(),
        timestamps: traffic.timestamps,
        mtu: traffic.mtu,
        sequence_start: traffic.sequence_start,
        to_start: traffic.to_start,
        msn_start: traffic.msn_start,
        neighbours: traffic.neighbours,
        same_stags: traffic.same_stags,
        one_pair: traffic.one_pair,
        faults: Faults {
            resegment: injected.resegment,
            overlap: injected.overlap,
            loss: injected.loss,
            resend: injected.resend,
            resend_after: injected.resend_after,
            duplicate: injected.duplicate,
            reorder: injected.reorder,
            reorder_window: injected.reorder_window,
            errors: injected.error.iter().copied().collect(),
            oddities: injected.odd.iter().copied().collect(),
        },
    }
}

fn sizes(text: &str) -> Result<RangeInclusive<usize>, String> {
    let parse = |(least, most): (&str, &str)| Some(least.parse().ok()?..=most.parse().ok()?);
    let known = text.split_once("..").and_then(parse);
    known.ok_or_else(|| "use A..B, both numbers of octets".into())
}

fn mix(text: &str) -> Result<Mix, String> {
    let mut weights = Mix(Default::default());
    for part in text.split(',') {
        let (kind, weight) = part
            .split_once('=')
            .ok_or_else(|| format!("{part} is not KIND=WEIGHT"))?;
        let known = Mix::KINDS.into_iter().find(|known| known.name() == kind);
        let names = Mix::KINDS.map(Opcode::name).join(", ");
        let known = known.ok_or_else(|| format!("{kind} is none of {names}"))?;
        let weight = weight
            .parse()
            .map_err(|_| format!("{weight} is no weight: use a number from 0"))?;
        weights.0.insert(known, weight);
    }
    Ok(weights)
}

fn sequence(text: &str) -> Result<u32, String> {
    let known = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    known.map_err(|_| "use a number from 0 to 4294967295, or 0x0 to 0xffffffff".into())
}

fn tagged_offset(text: &str) -> Result<u64, String> {
    let known = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => text.parse(),
    };
    known.map_err(|_| "use a number from 0 to 2^64 - 1, or 0x0 to 0xffffffffffffffff".into())
}

fn odd(text: &str) -> Result<(Oddity, f64), String> {
    let (kind, rate) = text
        .split_once('=')
        .ok_or_else(|| format!("{text} is not KIND=P"))?;
    let known = Oddity::ALL.into_iter().find(|known| known.name() == kind);
    let names = Oddity::ALL.map(Oddity::name).join(", ");
    let known = known.ok_or_else(|| format!("{kind} is none of {names}"))?;
    let rate = rate
        .parse()
        .map_err(|_| format!("{rate} is no rate: use a number from 0 to 1"))?;
    Ok((known, rate))
}

fn error(text: &str) -> Result<(Field, f64), String> {
    let (field, rate) = text
        .split_once('=')
        .ok_or_else(|| format!("{text} is not FIELD=P"))?;
    let names = Field::value_variants().iter().map(|field| field.name());
    let names: Vec<&str> = names.collect();
    let field = Field::from_str(field, false)
        .map_err(|_| format!("{field} is none of {}", names.join(", ")))?;
    let rate = rate
        .parse()
        .map_err(|_| format!("{rate} is no rate: use a number from 0 to 1"))?;
    Ok((field, rate))
}
