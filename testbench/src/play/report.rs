//! The report: stable JSON, and the numbers the summary prints.

use crate::play::compare::Comparison;
use crate::play::conditions::Met;
use crate::play::difference::Difference;
use crate::play::digest::Written;
use crate::play::dut::DutKind;
use crate::play::hostile::{self, HostileAction};
use crate::play::options::Options;
use crate::play::tally::{FlowTally, Tally};
use crate::play::terminate;
use crate::play::timeline::Timeline;
use rnic_abi::errors::{LAYER_DDP, LAYER_MPA};
use rnic_abi::events::SegmentVerdict;
use rnic_capture::{Capture, Finding, Flow};
use serde::Serialize;
use std::collections::BTreeMap;
use std::time::Duration;

/// Names of the RDMAP opcodes 0 to 7 in reports.
pub const OPCODE_NAMES: [&str; 8] = [
    "rdma_write",
    "read_request",
    "read_response",
    "send",
    "send_invalidate",
    "send_se",
    "send_se_invalidate",
    "terminate",
];

/// A whole playback.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Always `rnic`.
    pub tool: &'static str,
    /// Of this program.
    pub version: &'static str,
    /// File name of the capture.
    pub capture: String,
    /// Frame path of the RTL in bits.
    pub width: usize,
    /// Which receiver.
    pub dut: &'static str,
    /// Seed.
    pub seed: u64,
    /// Frames played.
    pub frames: usize,
    /// Frames given to the host's own stack.
    pub host_path_frames: u64,
    /// Cycles of the RTL.
    pub cycles: u64,
    /// Seconds the playback took, from devices that are ready.
    pub wall_s: f64,
    /// Differences between RTL and model, and faults observed outside of them.
    pub mismatches: u64,
    /// Every counter.
    pub counters: BTreeMap<&'static str, u32>,
    /// Every flow.
    pub flows: Vec<FlowReport>,
    /// Hostile actions, by kind.
    #[serde(flatten, serialize_with = "hostile::actions")]
    pub actions: BTreeMap<HostileAction, u64>,
    /// Conditions that were met.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub conditions: Met,
    /// The first differences.
    pub differences: Vec<Difference>,
    /// What was repaired, left out or lost of the capture.
    pub notes: Vec<Finding>,
    /// Why connections and frames of the capture have no flow.
    pub causes: Vec<Finding>,
    /// What each device did when, if it was asked for and hardware played; only the page shows it.
    #[serde(skip)]
    pub timelines: Vec<Timeline>,
}

/// One flow.
#[derive(Clone, Debug, Serialize)]
pub struct FlowReport {
    /// Number, in the order of start.
    pub id: usize,
    /// Sender.
    pub src: String,
    /// Receiver.
    pub dst: String,
    /// Start-up.
    pub mpa: MpaReport,
    /// Segments with octets of full operation.
    pub segments: u64,
    /// Of these, accepted in order.
    pub in_order: u64,
    /// Of these, beyond a gap.
    pub out_of_order: u64,
    /// Of these, with nothing new.
    pub duplicate: u64,
    /// Of those in order, with octets cut off that were known.
    pub retransmit_trimmed: u64,
    /// FPDUs.
    pub fpdus: u64,
    /// FPDUs with wrong CRC.
    pub crc_errors: u64,
    /// FPDUs by opcode.
    pub opcodes: Opcodes,
    /// Reads of the receiver that are answered.
    pub reads: usize,
    /// Of these, without a Read Request in the capture: posted as their responses are.
    pub reads_without_request: usize,
    /// Octets placed.
    pub placed_octets: u64,
    /// Of these, before their turn.
    pub placed_out_of_order_octets: u64,
    /// Most pages of packet memory in use while the flow was played.
    pub peak_pages: u32,
    /// Segments that the device had no room for at first, sent again until it had; they are counted
    /// here only.
    pub resent: u64,
    /// The driver closed the connection so that others could go on: its FPDU, in small segments,
    /// took more pages than the device's reserve is made for (ADR 13).
    pub closed_for_room: bool,
    /// Regions.
    pub regions: Vec<RegionReport>,
    /// Messages in delivery order.
    pub receives: Vec<ReceiveReport>,
    /// A received Terminate.
    pub terminate: Option<TerminateReport>,
    /// Why the flow was stopped.
    pub error: Option<ErrorReport>,
}

/// Start-up of a flow.
#[derive(Copy, Clone, Debug, Serialize)]
pub struct MpaReport {
    /// Revision.
    pub revision: u8,
    /// Markers are expected.
    pub markers: bool,
    /// CRC32C is in use.
    pub crc: bool,
    /// The Reply rejected; such connections have no flows, so it is always false.
    pub rejected: bool,
}

/// FPDUs by opcode.
#[derive(Copy, Clone, Debug, Default, Serialize, PartialEq, Eq)]
#[allow(missing_docs)] // each is a count of FPDUs of the opcode it is named after
pub struct Opcodes {
    pub rdma_write: u64,
    pub read_request: u64,
    pub read_response: u64,
    pub send: u64,
    pub send_invalidate: u64,
    pub send_se: u64,
    pub send_se_invalidate: u64,
    pub terminate: u64,
}

/// One region.
#[derive(Clone, Debug, Serialize)]
pub struct RegionReport {
    /// STag in hexadecimal.
    pub stag: String,
    /// Lowest Tagged Offset in hexadecimal.
    pub base: String,
    /// Octets.
    pub length: u64,
    /// SHA-256 of its octets at the end; null above 1 GiB, and where the regions of its flow have
    /// more than 2 GiB together that were never written.
    pub sha256: Option<String>,
    /// What was written of it, in order.
    pub written: Vec<Written>,
}

/// One message.
#[derive(Clone, Debug, Serialize)]
pub struct ReceiveReport {
    /// Queue.
    pub qn: u32,
    /// MSN.
    pub msn: u32,
    /// Opcode by name.
    pub opcode: String,
    /// Octets.
    pub length: u32,
    /// SHA-256; null above 1 GiB.
    pub sha256: Option<String>,
}

/// A received Terminate.
#[derive(Clone, Debug, Serialize)]
pub struct TerminateReport {
    /// Layer.
    pub layer: u8,
    /// Error type.
    pub etype: u8,
    /// Error code.
    pub code: u8,
    /// The three in words.
    pub name: String,
}

/// Why a flow was stopped.
#[derive(Clone, Debug, Serialize)]
pub struct ErrorReport {
    /// `mpa`, `ddp` or `rdmap`.
    pub layer: &'static str,
    /// Error type of a Terminate.
    pub etype: u32,
    /// Error code of a Terminate.
    pub code: u32,
    /// Sequence number of the FPDU's first octet.
    pub seq: u32,
    /// Name.
    pub name: &'static str,
}

impl Report {
    /// What `tally` shows of a run; its hostile actions are the player's to add.
    pub fn new(
        capture: &Capture,
        options: &Options,
        tally: &Tally,
        flows: &[Flow],
        comparison: &Comparison,
        elapsed: Duration,
    ) -> Self {
        let file = capture.path.file_name().unwrap_or(capture.path.as_os_str());
        let pairs = flows.iter().zip(&tally.flows);
        Self {
            tool: "rnic",
            version: env!("CARGO_PKG_VERSION"),
            capture: file.to_string_lossy().into_owned(),
            width: options.width,
            dut: options.dut.name(),
            seed: options.seed,
            frames: capture.file_frames(),
            host_path_frames: tally.host_frame_count,
            cycles: tally.cycles,
            wall_s: elapsed.as_secs_f64(),
            mismatches: comparison.mismatches,
            counters: tally
                .counters
                .iter()
                .map(|(c, value)| (c.name(), *value))
                .collect(),
            flows: pairs
                .map(|(flow, tally)| flow_report(flow, tally))
                .collect(),
            actions: BTreeMap::new(),
            conditions: Met::new(),
            differences: comparison.differences.clone(),
            notes: Vec::new(),
            causes: Vec::new(),
            timelines: Vec::new(),
        }
    }

    /// Was the RTL part of the run?
    pub fn has_rtl(&self) -> bool {
        self.dut != DutKind::Model.name()
    }
}

fn flow_report(flow: &Flow, tally: &FlowTally) -> FlowReport {
    let trimmed = tally.verdict(SegmentVerdict::Trimmed);
    let ahead = [
        SegmentVerdict::OutOfOrder,
        SegmentVerdict::OutsideWindow,
        SegmentVerdict::NoRoom,
        SegmentVerdict::NoRange,
    ];
    FlowReport {
        id: flow.number,
        src: flow.source.to_string(),
        dst: flow.destination.to_string(),
        mpa: MpaReport {
            revision: flow.revision,
            markers: flow.markers,
            crc: flow.crc,
            rejected: false,
        },
        segments: tally.verdicts.iter().sum(),
        in_order: tally.verdict(SegmentVerdict::InOrder) + trimmed,
        out_of_order: ahead.iter().map(|&verdict| tally.verdict(verdict)).sum(),
        duplicate: tally.verdict(SegmentVerdict::Duplicate),
        retransmit_trimmed: trimmed,
        fpdus: tally.fpdus,
        crc_errors: tally.crc_errors,
        opcodes: opcodes(&tally.opcodes),
        reads: flow.reads.len(),
        reads_without_request: flow.reads.iter().filter(|read| !read.requested).count(),
        placed_octets: tally.placed_octets,
        placed_out_of_order_octets: tally.placed_out_of_order_octets,
        peak_pages: tally.peak_pages,
        resent: tally.resent,
        closed_for_room: tally.closed_for_room,
        regions: regions(tally),
        receives: receives(tally),
        terminate: tally.terminate().map(|message| {
            let (layer, etype) = (message.head[0] >> 4, message.head[0] & 0xf);
            let code = message.head[1];
            TerminateReport {
                layer,
                etype,
                code,
                name: match message.length {
                    octets @ 0..=3 => terminate::too_short(octets),
                    _ => terminate::words(layer, etype, code),
                },
            }
        }),
        error: tally.stop.map(|stop| {
            let (layer, etype, code) = stop.error.terminate();
            let layer = match layer {
                LAYER_MPA => "mpa",
                LAYER_DDP => "ddp",
                _ => "rdmap",
            };
            ErrorReport {
                layer,
                etype,
                code,
                seq: stop.sequence,
                name: stop.error.name(),
            }
        }),
    }
}

fn opcodes(counts: &[u64; 16]) -> Opcodes {
    Opcodes {
        rdma_write: counts[0],
        read_request: counts[1],
        read_response: counts[2],
        send: counts[3],
        send_invalidate: counts[4],
        send_se: counts[5],
        send_se_invalidate: counts[6],
        terminate: counts[7],
    }
}

/// Regions with octets; one that is only invalidated names no memory.
fn regions(tally: &FlowTally) -> Vec<RegionReport> {
    let used = tally
        .regions
        .iter()
        .filter(|region| region.place.octets > 0);
    let report = used.map(|region| RegionReport {
        stag: format!("{:#010x}", region.stag),
        base: format!("{:#x}", region.place.base),
        length: region.place.octets,
        sha256: region.sha256.clone(),
        written: region.written.clone(),
    });
    report.collect()
}

fn receives(tally: &FlowTally) -> Vec<ReceiveReport> {
    let report = tally.receives.iter().map(|message| ReceiveReport {
        qn: message.qn,
        msn: message.msn,
        opcode: OPCODE_NAMES
            .get(message.opcode as usize)
            .map_or_else(|| format!("opcode_{}", message.opcode), ToString::to_string),
        length: message.length,
        sha256: message.sha256.clone(),
    });
    report.collect()
}
