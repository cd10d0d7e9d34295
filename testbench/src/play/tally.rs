//! What one receiver has shown, by flow.

use crate::capture::Flow;
use crate::play::dut::{Dut, Observation};
use rnic_abi::counters::Counter;
use rnic_abi::errors::StreamError;
use rnic_abi::events::{FpduTrace, SegmentTrace, SegmentVerdict};
use rnic_driver::{Completion, Connection};
use rnic_wire::ddp::rdmap::QN_TERMINATE;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// Kinds of refusals.
pub const REFUSALS: usize = rnic_abi::errors::ALL.len();

/// Where a region lies.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Bus address.
    pub address: u64,
    /// Tagged Offset of the first octet.
    pub base: u64,
    /// Octets.
    pub octets: u64,
}

/// A region's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionResult {
    /// STag.
    pub stag: u32,
    /// Where.
    pub place: Place,
    /// SHA-256 of its octets at the end of the flow.
    pub sha256: String,
}

/// A delivered message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receive {
    /// Queue.
    pub qn: u32,
    /// MSN.
    pub msn: u32,
    /// RDMAP opcode.
    pub opcode: u32,
    /// Octets.
    pub length: u32,
    /// The message's first four octets, for Terminates.
    pub head: [u8; 4],
    /// SHA-256 of the message.
    pub sha256: String,
}

/// Why a flow was stopped.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The device's error.
    pub error: StreamError,
    /// Sequence number of the FPDU's first octet.
    pub sequence: u32,
}

/// One flow's counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowTally {
    sequence_start: u32,
    /// Segments with octets of full operation, by [`SegmentVerdict`].
    pub verdicts: [u64; 7],
    /// FPDUs with right CRC and markers.
    pub fpdus: u64,
    /// FPDUs with wrong CRC.
    pub crc_errors: u64,
    /// FPDUs by RDMAP opcode.
    pub opcodes: [u64; 16],
    /// Octets placed.
    pub placed_octets: u64,
    /// Those of them that were placed while octets before their FPDU were still missing.
    pub placed_early_octets: u64,
    /// Most pages of packet memory in use while the flow was played.
    pub peak_pages: u32,
    /// Why it stopped.
    pub stop: Option<Stop>,
    /// Region results.
    pub regions: Vec<RegionResult>,
    /// Messages in delivery order.
    pub receives: Vec<Receive>,
    /// Everything decided of FPDUs, in order.
    pub fpdu_traces: Vec<FpduTrace>,
    /// Completions in order, the connection's number included.
    pub completions: Vec<Completion>,
    /// The octets of each region.
    pub memory: Vec<Vec<u8>>,
    /// It ended in error, with a Terminate or before a gap closed: what hardware placed beyond is
    /// no difference.
    pub unfinished: bool,
    /// An error or a Terminate has ended the stream of its connection.
    over: bool,
    places: Vec<(u32, Place)>,
    /// Completions and messages of connections that are closed.
    closed: (usize, usize),
    buffers: BTreeMap<(u32, u32), (u64, u32)>,
    /// Its connection was closed at once: the model may have placed more.
    pub hasty: bool,
}

/// What the model did for connections that were closed at once, and the device did not.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// FPDUs that counted.
    pub fpdus: u32,
    /// FPDUs that were refused, by error.
    pub refusals: [u32; REFUSALS],
    /// Completions.
    pub completions: u32,
    /// Connections closed so.
    pub connections: u32,
}

/// All that one receiver has shown.
#[derive(Clone, Debug)]
pub struct Tally {
    /// By flow.
    pub flows: Vec<FlowTally>,
    /// Verdicts on segments in order of arrival, with the flow.
    pub segments: Vec<(usize, SegmentTrace)>,
    /// Frames given to the host.
    pub host_frames: Vec<Vec<u8>>,
    /// Number of frames given to the host.
    pub host_frame_count: u64,
    /// Every counter at the end.
    pub counters: Vec<(Counter, u32)>,
    /// Faults beside the receiver.
    pub violations: Vec<String>,
    /// Cycles.
    pub cycles: u64,
    by_connection: BTreeMap<u16, usize>,
    strays: Vec<String>,
}

impl Tally {
    /// Nothing seen yet.
    pub fn new(flows: &[Flow]) -> Self {
        let start = |flow: &Flow| FlowTally {
            sequence_start: flow.sequence_start,
            ..FlowTally::default()
        };
        Self {
            flows: flows.iter().map(start).collect(),
            segments: Vec::new(),
            host_frames: Vec::new(),
            host_frame_count: 0,
            counters: Vec::new(),
            violations: Vec::new(),
            cycles: 0,
            by_connection: BTreeMap::new(),
            strays: Vec::new(),
        }
    }

    /// `flow` is now `connection`.
    pub fn open(&mut self, flow: usize, connection: Connection) {
        self.by_connection.insert(connection.0, flow);
        self.flows[flow].over = false;
    }

    /// `connection` is closed.
    pub fn close(&mut self, connection: Connection) {
        if let Some(flow) = self.by_connection.remove(&connection.0) {
            let tally = &mut self.flows[flow];
            tally.closed = (tally.completions.len(), tally.receives.len());
        }
    }

    /// `flow` has a region.
    pub fn region(&mut self, flow: usize, stag: u32, place: Place) {
        self.flows[flow].places.push((stag, place));
    }

    /// `flow` has a buffer for a message.
    pub fn buffer(&mut self, flow: usize, qn: u32, msn: u32, address: u64, octets: u32) {
        self.flows[flow]
            .buffers
            .insert((qn, msn), (address, octets));
    }

    /// `pages` pages of packet memory are in use.
    pub fn pages(&mut self, flow: usize, pages: u32) {
        let peak = &mut self.flows[flow].peak_pages;
        *peak = pages.max(*peak);
    }

    /// Take what was seen.
    pub fn take(&mut self, seen: Observation) {
        for segment in seen.segments {
            let Some(flow) = self.flow_of(segment.connection, "segment") else {
                continue;
            };
            self.segments.push((flow, segment));
            self.flows[flow].take_segment(&segment);
        }
        for fpdu in seen.fpdus {
            let Some(flow) = self.flow_of(fpdu.connection, "FPDU") else {
                continue;
            };
            self.flows[flow].take_fpdu(&fpdu);
        }
        for completion in seen.completions {
            let connection = match completion {
                Completion::Receive { connection, .. }
                | Completion::ReadResponse { connection, .. }
                | Completion::Error { connection, .. } => connection,
                Completion::Unknown(words) => {
                    self.strays
                        .push(format!("completion of unknown kind: {words:08x?}"));
                    continue;
                }
            };
            let Some(flow) = self.flow_of(connection.0, "completion") else {
                continue;
            };
            let is_terminate = matches!(
                completion,
                Completion::Receive {
                    qn: QN_TERMINATE,
                    ..
                }
            );
            self.flows[flow].over |= is_terminate;
            self.flows[flow].completions.push(completion);
        }
        self.host_frame_count += seen.host_frames.len() as u64;
        self.host_frames.extend(seen.host_frames);
    }

    fn flow_of(&mut self, connection: u16, what: &str) -> Option<usize> {
        let flow = self.by_connection.get(&connection).copied();
        if flow.is_none() {
            self.strays.push(format!(
                "{what} of connection {connection}, which is not open"
            ));
        }
        flow
    }

    /// The connection of `flow` was closed at once: take from `model` what the hardware did not do,
    /// and from the hardware's host frames the segments that it did not take. What is left must be
    /// the same. A segment is the flow's by `is_of_flow`.
    pub fn tell_how_far(
        rtl: &mut Self,
        model: &mut Self,
        flow: usize,
        is_of_flow: impl Fn(&[u8]) -> bool,
    ) -> Removed {
        let mut removed = Removed {
            connections: 1,
            ..Removed::default()
        };
        let done = &rtl.flows[flow];
        let other = &mut model.flows[flow];
        other.hasty = true;
        let from = done.fpdu_traces.len().min(other.fpdu_traces.len());
        for trace in other.fpdu_traces.drain(from..) {
            let bad = [StreamError::MpaCrc as u8, StreamError::MpaMarker as u8];
            removed.fpdus += u32::from(!bad.contains(&trace.error));
            if let Some(refusal) = usize::from(trace.error).checked_sub(1) {
                removed.refusals[refusal] += 1;
            }
        }
        let from = done.completions.len().min(other.completions.len());
        removed.completions += other.completions.drain(from..).count() as u32;
        let count = |tally: &Self| tally.segments.iter().filter(|(of, _)| *of == flow).count();
        let surplus = count(model).saturating_sub(count(rtl));
        remove_last(&mut model.segments, surplus, |(of, _)| *of == flow);
        let count = |frames: &[Vec<u8>]| frames.iter().filter(|frame| is_of_flow(frame)).count();
        let surplus = count(&rtl.host_frames).saturating_sub(count(&model.host_frames));
        remove_last(&mut rtl.host_frames, surplus, |frame| is_of_flow(frame));
        removed
    }

    /// Read a flow's memory: its regions and the messages delivered into its buffers.
    pub fn collect(&mut self, flow: usize, dut: &dyn Dut) {
        let tally = &mut self.flows[flow];
        let read = |&(_, place): &(u32, Place)| dut.read(place.address, place.octets as usize);
        tally.memory = tally.places.iter().map(read).collect();
        let result = |(&(stag, place), octets): (&(u32, Place), &Vec<u8>)| RegionResult {
            stag,
            place,
            sha256: sha256(octets),
        };
        tally.regions = tally.places.iter().zip(&tally.memory).map(result).collect();
        let (completions, receives) = tally.closed;
        tally.receives.truncate(receives);
        for completion in &tally.completions[completions..] {
            let Completion::Receive {
                qn,
                msn,
                opcode,
                length,
                ..
            } = *completion
            else {
                continue;
            };
            let Some(&(address, _)) = tally.buffers.get(&(qn, msn)) else {
                continue;
            };
            let octets = dut.read(address, length as usize);
            let mut head = [0; 4];
            let known = octets.len().min(4);
            head[..known].copy_from_slice(&octets[..known]);
            let sha256 = sha256(&octets);
            tally.receives.push(Receive {
                qn,
                msn,
                opcode,
                length,
                head,
                sha256,
            });
        }
    }

    /// The run is over.
    pub fn finish(&mut self, counters: Vec<(Counter, u32)>, mut faults: Vec<String>, cycles: u64) {
        self.counters = counters;
        faults.append(&mut self.strays);
        self.violations = faults;
        self.cycles = cycles;
    }
}

/// Remove the last `count` that are chosen.
fn remove_last<T>(all: &mut Vec<T>, count: usize, chosen: impl Fn(&T) -> bool) {
    for _ in 0..count {
        if let Some(place) = all.iter().rposition(&chosen) {
            all.remove(place);
        }
    }
}

impl FlowTally {
    /// Every piece of memory that was given to the flow.
    pub fn pieces(&self, dut: &dyn Dut) -> Vec<Vec<u8>> {
        let regions = self
            .places
            .iter()
            .map(|(_, place)| (place.address, place.octets as usize));
        let buffers = self
            .buffers
            .values()
            .map(|&(address, octets)| (address, octets as usize));
        let pieces = regions.chain(buffers);
        pieces
            .map(|(address, octets)| dut.read(address, octets))
            .collect()
    }

    fn take_segment(&mut self, segment: &SegmentTrace) {
        // Retransmitted start-up octets are none of full operation's.
        let end = segment.seg_seq.wrapping_add(u32::from(segment.seg_len));
        if (end.wrapping_sub(self.sequence_start) as i32) > 0 {
            self.verdicts[usize::from(segment.verdict).min(6)] += 1;
        }
    }

    fn take_fpdu(&mut self, fpdu: &FpduTrace) {
        let error = rnic_abi::errors::ALL
            .iter()
            .find(|&&error| error as u8 == fpdu.error);
        match error {
            Some(StreamError::MpaCrc) => self.crc_errors += 1,
            Some(StreamError::MpaMarker) => {}
            _ => self.fpdus += 1,
        }
        if let Some(opcode) = fpdu.opcode {
            self.opcodes[usize::from(opcode & 0xf)] += 1;
        }
        self.placed_octets += u64::from(fpdu.placed_octets);
        if fpdu.placed_early {
            self.placed_early_octets += u64::from(fpdu.placed_octets);
        }
        self.over |= error.is_some();
        if let Some(&error) = error {
            self.stop.get_or_insert(Stop {
                error,
                sequence: fpdu.sequence,
            });
        }
        // When an FPDU is placed is the receiver's business: what is told of it is compared.
        self.fpdu_traces.push(FpduTrace {
            placed_early: false,
            ..*fpdu
        });
    }

    /// The peer's Terminate.
    pub fn terminate(&self) -> Option<&Receive> {
        self.receives
            .iter()
            .find(|message| message.qn == QN_TERMINATE)
    }

    /// Nothing of its stream is taken any more.
    pub fn is_over(&self) -> bool {
        self.over
    }

    /// Segments with one verdict.
    pub fn verdict(&self, verdict: SegmentVerdict) -> u64 {
        self.verdicts[verdict as usize]
    }
}

/// SHA-256 in hexadecimal.
pub fn sha256(octets: &[u8]) -> String {
    Sha256::digest(octets)
        .iter()
        .map(|octet| format!("{octet:02x}"))
        .collect()
}
