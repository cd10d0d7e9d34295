//! What one receiver has shown, by flow.

use crate::play::digest::{self, Written};
use crate::play::dut::{Dut, Entry, Observation};
use crate::play::events::EventTally;
use rnic_abi::counters::Counter;
use rnic_abi::errors::StreamError;
use rnic_abi::events::{FpduTrace, SegmentTrace, SegmentVerdict};
use rnic_capture::Flow;
use rnic_driver::{Completion, ConnectionId, Event};
use rnic_wire::ddp::rdmap::QN_TERMINATE;
use std::collections::BTreeMap;

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
    /// SHA-256 of its octets at the end of the flow, if they are not too many.
    pub sha256: Option<String>,
    /// What was written of it.
    pub written: Vec<Written>,
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
    /// SHA-256 of the message, if it is not too long.
    pub sha256: Option<String>,
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
    pub placed_out_of_order_octets: u64,
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
    /// The same as raw entries.
    pub entries: Vec<Entry>,
    /// What the event ring said of its connection.
    pub events: EventTally,
    /// Segments that the device had no room for at first, and that were sent again.
    pub resent: u64,
    /// The driver closed its connection, which took more of memory than the device promises room
    /// for, so that others could go on.
    pub closed_for_room: bool,
    /// An error or a Terminate has ended the stream of its connection.
    over: bool,
    places: Vec<(u32, Place)>,
    /// Verdicts that are not counted: those on further copies of a segment that was taken in part.
    uncounted: Vec<(u32, u16)>,
    /// Completions and messages of connections that are closed.
    closed: (usize, usize),
    buffers: BTreeMap<(u32, u32), u64>,
}

/// All that one receiver has shown.
#[derive(Clone, Debug)]
pub struct Tally {
    /// By flow.
    pub flows: Vec<FlowTally>,
    /// Verdicts on segments in order of arrival, with the flow.
    pub segments: Vec<(usize, SegmentTrace)>,
    /// Slots of the host ring: words 0 to 2 of the header, and the frame.
    pub host_slots: Vec<Vec<u8>>,
    /// Number of frames given to the host.
    pub host_frame_count: u64,
    /// Every counter at the end.
    pub counters: Vec<(Counter, u32)>,
    /// Faults observed outside of the receiver.
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
            host_slots: Vec::new(),
            host_frame_count: 0,
            counters: Vec::new(),
            violations: Vec::new(),
            cycles: 0,
            by_connection: BTreeMap::new(),
            strays: Vec::new(),
        }
    }

    /// `flow` is now `connection`.
    pub fn open(&mut self, flow: usize, connection: ConnectionId) {
        self.by_connection.insert(connection.0, flow);
        self.flows[flow].over = false;
        self.flows[flow].events = EventTally::default();
    }

    /// `connection` has a flow that was not known; its stream begins at `sequence_start`.
    pub fn open_unknown(&mut self, sequence_start: u32, connection: ConnectionId) {
        self.flows.push(FlowTally {
            sequence_start,
            ..FlowTally::default()
        });
        self.open(self.flows.len() - 1, connection);
    }

    /// `connection` is closed.
    pub fn close(&mut self, connection: ConnectionId) {
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
    pub fn buffer(&mut self, flow: usize, qn: u32, msn: u32, address: u64) {
        self.flows[flow].buffers.insert((qn, msn), address);
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
        if seen.entries.len() != seen.completions.len() {
            self.strays.push(format!(
                "the driver decoded {} completions of {} entries",
                seen.completions.len(),
                seen.entries.len()
            ));
        }
        for entry in seen.entries {
            if let Some(flow) = self.flow_of(entry.connection(), "completion entry") {
                self.flows[flow].entries.push(entry);
            }
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
        self.host_frame_count += seen.host_slots.len() as u64;
        self.host_slots.extend(seen.host_slots);
        self.take_events(&seen.events);
    }

    /// Take what the event ring has shown.
    pub fn take_events(&mut self, events: &[Event]) {
        for event in events {
            let Some(flow) = self.flow_of(event.connection.0, "event") else {
                continue;
            };
            let fault = self.flows[flow].events.take(event);
            self.strays.extend(fault);
        }
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

    /// Read a flow's memory: its regions and the messages delivered into its buffers.
    pub fn collect(&mut self, flow: usize, dut: &dyn Dut) {
        let tally = &mut self.flows[flow];
        let mut zeros_left = digest::ZEROS_MAX;
        let result = |&(stag, place): &(u32, Place)| RegionResult {
            stag,
            place,
            sha256: digest::sha256(dut, place.address, place.octets, &mut zeros_left),
            written: digest::written(dut, place.address, place.octets),
        };
        tally.regions = tally.places.iter().map(result).collect();
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
            let Some(&address) = tally.buffers.get(&(qn, msn)) else {
                continue;
            };
            let mut head = [0; 4];
            let known = (length as usize).min(head.len());
            head[..known].copy_from_slice(&dut.read(address, known));
            let sha256 = digest::sha256(dut, address, u64::from(length), &mut zeros_left);
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

    /// Add what another device has shown of `flows`.
    pub fn add(&mut self, mut other: Self, flows: &[usize]) {
        for &flow in flows {
            self.flows[flow] = std::mem::take(&mut other.flows[flow]);
        }
        self.host_frame_count += other.host_frame_count;
        self.cycles += other.cycles;
        self.violations.append(&mut other.violations);
        if self.counters.is_empty() {
            self.counters = other.counters;
            return;
        }
        for ((_, sum), (_, count)) in self.counters.iter_mut().zip(other.counters) {
            *sum = sum.wrapping_add(count);
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

impl FlowTally {
    fn take_segment(&mut self, segment: &SegmentTrace) {
        // Retransmitted start-up octets are none of full operation's.
        let end = segment.seg_seq.wrapping_add(u32::from(segment.seg_len));
        if (end.wrapping_sub(self.sequence_start) as i32) <= 0 || lacks_room(segment.verdict) {
            return;
        }
        let copy = (segment.seg_seq, segment.seg_len);
        if let Some(known) = self.uncounted.iter().position(|&known| known == copy) {
            self.uncounted.swap_remove(known);
            return;
        }
        self.verdicts[usize::from(segment.verdict).min(6)] += 1;
    }

    /// A segment was taken in part for lack of room, and will be sent again: one of its verdicts
    /// does not count.
    pub fn leave_out_one(&mut self, seg_seq: u32, seg_len: u16) {
        self.uncounted.push((seg_seq, seg_len));
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
        if fpdu.placed_out_of_order {
            self.placed_out_of_order_octets += u64::from(fpdu.placed_octets);
        }
        self.over |= error.is_some();
        if let Some(&error) = error {
            self.stop.get_or_insert(Stop {
                error,
                sequence: fpdu.sequence,
            });
        }
        // When an FPDU is placed is up to the receiver; only its trace is compared.
        self.fpdu_traces.push(FpduTrace {
            placed_out_of_order: false,
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

/// Was a segment refused for lack of room, so that it is sent again?
fn lacks_room(verdict: u8) -> bool {
    verdict == SegmentVerdict::NoRoom as u8 || verdict == SegmentVerdict::NoRange as u8
}
