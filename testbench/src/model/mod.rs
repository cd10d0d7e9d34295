//! The model: a software receiver of the device's contract, written from the specifications in
//! plain integers and octet slices. It shares no code with the hardware.
//!
//! The rooms bear the hardware's names. A frame goes through them in order; what the device would
//! put into host memory, into its rings, into counters and trace is found in the model's public
//! parts.
//!
//! | room | file | decides |
//! |---|---|---|
//! | ethernet | `ethernet.rs` | VLAN tags, type |
//! | ip | `ip.rs` | header checks, what is for the host |
//! | tcp | `tcp.rs` | checksum, acceptance, order |
//! | mpa | `mpa.rs` | FPDU boundaries, markers, CRC32C |
//! | ddp | `ddp.rs` | DDP and RDMAP checks, untagged queues |
//! | stag | `stag.rs` | regions |
//! | placement | `placement.rs` | memory |
//! | completion | `completion.rs` | completion entries |

pub mod ethernet;
pub mod ip;
pub mod tcp;
pub mod mpa;
pub mod ddp;
pub mod stag;
pub mod placement;
pub mod completion;

use crate::model::ddp::{DdpReceiver, Outcome};
use crate::model::ip::IpVerdict;
use crate::model::mpa::{Fpdu, MpaReceiver};
use crate::model::placement::Memory;
use crate::model::stag::Regions;
use crate::model::tcp::{Acceptance, TcpReceiver, TcpSegment};
use rnic_abi::counters::{Counter, ALL, COUNT, FIRST_REFUSAL};
use rnic_abi::events::{FpduTrace, SegmentTrace, SegmentVerdict};
use rnic_abi::limits::{MAX_FRAME_OCTETS, MIN_FRAME_OCTETS};
use rnic_driver::{Connection, ConnectionConfig, ConnectionKey};
use std::collections::{BTreeMap, HashMap};

/// One offloaded connection.
#[derive(Debug)]
struct Stream {
    key: ConnectionKey,
    tcp: TcpReceiver,
    mpa: MpaReceiver,
    ddp: DdpReceiver,
}

/// The software receiver.
#[derive(Debug)]
pub struct Model {
    /// Host memory.
    pub memory: Memory,
    /// Registered regions.
    pub regions: Regions,
    /// Completion entries in order, words 0 to 5.
    pub completions: Vec<[u32; 6]>,
    /// Frames for the host's own stack, in order.
    pub host_frames: Vec<Vec<u8>>,
    /// Verdicts on segments with payload, in order.
    pub segments: Vec<SegmentTrace>,
    /// Verdicts on FPDUs, in order of each connection.
    pub fpdus: Vec<FpduTrace>,
    streams: BTreeMap<u16, Stream>,
    lookup: HashMap<ConnectionKey, u16>,
    counters: [u32; COUNT],
    host_frame_octets_max: usize,
}

impl Model {
    /// A model whose host ring takes frames of up to `host_frame_octets_max` octets.
    pub fn new(host_frame_octets_max: usize) -> Self {
        Self {
            memory: Memory::default(),
            regions: Regions::default(),
            completions: Vec::new(),
            host_frames: Vec::new(),
            segments: Vec::new(),
            fpdus: Vec::new(),
            streams: BTreeMap::new(),
            lookup: HashMap::new(),
            counters: [0; COUNT],
            host_frame_octets_max,
        }
    }

    /// Offload a connection under the id the driver gave it.
    pub fn open_connection(&mut self, connection: Connection, config: &ConnectionConfig) {
        let stream = Stream {
            key: config.key,
            tcp: TcpReceiver::new(config.sequence_start, config.window),
            mpa: MpaReceiver::new(config.sequence_start, config.markers, config.crc),
            ddp: DdpReceiver::new(config.protection_domain, config.version),
        };
        self.lookup.insert(config.key, connection.0);
        self.streams.insert(connection.0, stream);
    }

    /// End an offload.
    pub fn close_connection(&mut self, connection: Connection) {
        if let Some(stream) = self.streams.remove(&connection.0) {
            self.lookup.remove(&stream.key);
        }
    }

    /// Open an untagged queue; its MSNs start at 1.
    pub fn open_queue(&mut self, connection: Connection, qn: u32) {
        self.stream(connection).ddp.open_queue(qn);
    }

    /// Post a receive buffer; `pool_entry` is where the driver put it in the shared pool.
    pub fn post_receive(&mut self, connection: Connection, qn: u32, buffer: ddp::Buffer) {
        self.stream(connection).ddp.post(qn, buffer);
    }

    /// Every counter with its value, in the order of the BAR.
    pub fn counters(&self) -> Vec<(Counter, u32)> {
        ALL.iter()
            .map(|&counter| (counter, self.counters[counter.index()]))
            .collect()
    }

    /// Octets of FPDUs begun but not whole, over all connections.
    pub fn held_octets(&self) -> usize {
        self.streams
            .values()
            .map(|stream| stream.mpa.held_octets())
            .sum()
    }

    /// Receive one frame, without FCS; `error` as the MAC says.
    pub fn receive(&mut self, frame: &[u8], error: bool) {
        self.count(Counter::Frames);
        if error {
            return self.count(Counter::DropMacError);
        }
        if frame.len() < MIN_FRAME_OCTETS {
            return self.count(Counter::DropRunt);
        }
        if frame.len() > MAX_FRAME_OCTETS {
            return self.count(Counter::DropFrameTooLong);
        }
        let Some(datagram) = ethernet::payload(frame) else {
            return self.pass_to_host(frame);
        };
        match ip::classify(&datagram) {
            IpVerdict::Drop(counter) => self.count(counter),
            IpVerdict::Host => self.pass_to_host(frame),
            IpVerdict::Tcp(datagram) => match TcpSegment::parse(&datagram) {
                None => self.count(Counter::DropTcpMalformed),
                Some(segment) => self.receive_segment(frame, &segment),
            },
        }
    }

    fn receive_segment(&mut self, frame: &[u8], segment: &TcpSegment) {
        let key = ConnectionKey {
            remote: segment.source,
            local: segment.destination,
        };
        let Some(&connection) = self.lookup.get(&key) else {
            return self.pass_to_host(frame);
        };
        if !segment.checksum_good {
            return self.count(Counter::DropTcpChecksum);
        }
        if segment.is_control() {
            self.count(Counter::TcpControl);
            return self.pass_to_host(frame);
        }
        let stream = self
            .streams
            .get_mut(&connection)
            .expect("looked-up connections are open");
        if segment.payload.is_empty() {
            stream.tcp.acknowledge(segment);
            return self.count(Counter::TcpPureAck);
        }
        let acceptance = stream.tcp.accept(segment);
        self.trace_segment(connection, segment, &acceptance);
        if let Acceptance::Accepted { skip, octets } = acceptance {
            let stream = self.streams.get_mut(&connection).expect("still open");
            let fpdus = stream.mpa.push(&segment.payload[skip..skip + octets]);
            for fpdu in fpdus {
                self.receive_fpdu(connection, &fpdu);
            }
        }
    }

    fn trace_segment(&mut self, connection: u16, segment: &TcpSegment, acceptance: &Acceptance) {
        let verdict = match acceptance {
            Acceptance::Accepted { skip: 0, .. } => SegmentVerdict::InOrder,
            Acceptance::Accepted { .. } => SegmentVerdict::Trimmed,
            Acceptance::Duplicate => SegmentVerdict::Duplicate,
            Acceptance::OutOfOrder => SegmentVerdict::OutOfOrder,
            Acceptance::OutsideWindow => SegmentVerdict::OutsideWindow,
        };
        match verdict {
            SegmentVerdict::InOrder => self.count(Counter::TcpInOrder),
            SegmentVerdict::Trimmed => {
                self.count(Counter::TcpInOrder);
                self.count(Counter::TcpTrimmed);
            }
            SegmentVerdict::Duplicate => self.count(Counter::DropTcpDuplicate),
            SegmentVerdict::OutOfOrder => self.count(Counter::TcpOutOfOrder),
            SegmentVerdict::OutsideWindow => self.count(Counter::DropTcpOutsideWindow),
            SegmentVerdict::NoRoom => self.count(Counter::DropTcpNoRoom),
            SegmentVerdict::NoRange => self.count(Counter::DropTcpNoRange),
        }
        self.segments.push(SegmentTrace {
            connection,
            verdict: verdict as u8,
            seg_seq: segment.sequence,
            seg_len: segment.payload.len() as u16,
        });
    }

    fn receive_fpdu(&mut self, connection: u16, fpdu: &Fpdu) {
        let stream = self
            .streams
            .get_mut(&connection)
            .expect("an FPDU has an open connection");
        if stream.ddp.stopped() {
            return;
        }
        let outcome = stream.ddp.receive(connection, fpdu, &mut self.regions);
        if fpdu.crc_good && fpdu.marker_good {
            self.count(Counter::Fpdus);
        }
        self.fpdus.push(FpduTrace {
            connection,
            sequence: fpdu.sequence,
            ulpdu_length: fpdu.ulpdu.len() as u16,
            error: outcome.error.map_or(0, |error| error as u8),
            opcode: ddp::counted_opcode(fpdu),
            placed_octets: outcome
                .placement
                .as_ref()
                .map_or(0, |(_, data)| data.len() as u16),
        });
        self.apply(connection, fpdu, outcome);
    }

    fn apply(&mut self, connection: u16, fpdu: &Fpdu, outcome: Outcome) {
        if let Some(error) = outcome.error {
            self.counters[FIRST_REFUSAL + error as usize - 1] += 1;
            self.complete(completion::error(connection, fpdu, error));
        }
        if let Some((address, data)) = outcome.placement {
            self.memory.write(address, &data);
        }
        if let Some(entry) = outcome.completion {
            self.complete(entry);
        }
    }

    fn complete(&mut self, entry: [u32; 6]) {
        self.completions.push(entry);
        self.count(Counter::Completions);
    }

    fn pass_to_host(&mut self, frame: &[u8]) {
        if frame.len() > self.host_frame_octets_max {
            return self.count(Counter::DropHostFrameTooLong);
        }
        self.count(Counter::HostFrames);
        self.host_frames.push(frame.to_vec());
    }

    fn count(&mut self, counter: Counter) {
        self.counters[counter.index()] += 1;
    }

    fn stream(&mut self, connection: Connection) -> &mut Stream {
        let stream = self.streams.get_mut(&connection.0);
        stream.unwrap_or_else(|| panic!("connection {} is not open", connection.0))
    }
}
