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
//! | tcp | `tcp.rs`, `reorder.rs` | checksum, acceptance, order |
//! | mpa | `mpa.rs` | FPDU boundaries, markers, CRC32C |
//! | ddp | `segment.rs`, `ddp.rs` | DDP and RDMAP headers and checks, untagged queues |
//! | stag | `stag.rs` | regions |
//! | placement | `placement.rs` | memory |
//! | completion | `completion.rs` | completion entries |
//!
//! `contexts.rs` sets a connection up table by table, as a driver does. `events.rs` keeps what
//! events must have said. `out_of_order.rs` lists what FPDUs beyond a gap may have left in memory;
//! `starts.rs` handles one error that the hardware may report sooner.
#![deny(missing_docs)]

pub mod ethernet;
pub mod ip;
pub mod tcp;
pub mod reorder;
pub mod mpa;
pub mod segment;
pub mod ddp;
pub mod stag;
pub mod placement;
pub mod completion;
mod contexts;
mod events;
mod out_of_order;
mod stream;
mod starts;

pub use contexts::{MpaContext, TcpContext};
pub use stream::{Room, Taken, DISTANT_OCTETS};

use crate::ddp::{DdpReceiver, Outcome};
use crate::ip::IpVerdict;
use crate::mpa::{Fpdu, MpaReceiver};
use crate::placement::{Memory, Placement};
use crate::reorder::OutOfOrderPool;
use crate::stag::Regions;
use crate::stream::Stream;
use crate::tcp::{Acceptance, TcpReceiver, TcpSegment};
use rnic_abi::counters::{Counter, ALL, COUNT, FIRST_REFUSAL};
use rnic_abi::events::{FpduTrace, SegmentTrace, SegmentVerdict};
use rnic_abi::limits::{frame_pages, COMPLETION_QUEUES, MAX_FRAME_OCTETS, MIN_FRAME_OCTETS};
use rnic_driver::{ConnectionConfig, ConnectionId, ConnectionKey, QueueId, Reason, RegionConfig};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Octets of a longer message are announced from its end.
pub const ANNOUNCED_OCTETS_MAX: usize = 1 << 20;

/// A completion entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The completion queue of its connection.
    pub queue: QueueId,
    /// Words 0 to 6.
    pub words: [u32; 7],
    /// The octets that it announces, as they are in memory when it is written: the message, or the
    /// last octets of a Read Response; at most [`ANNOUNCED_OCTETS_MAX`]. `None` if it announces
    /// none.
    pub announced: Option<Vec<u8>>,
}

/// The software receiver.
#[derive(Debug)]
pub struct Model {
    /// Host memory.
    pub memory: Memory,
    /// Registered regions.
    pub regions: Regions,
    /// Completion entries in order.
    pub completions: Vec<Entry>,
    /// Entries that each completion queue has room for; unlimited by default.
    pub completion_room: [usize; COMPLETION_QUEUES],
    /// Queues that have lost an entry, one bit each.
    pub lost_completions: u32,
    /// Slots of the host receive ring in order: words 0 to 2 of the header, and the frame.
    pub host_slots: Vec<Vec<u8>>,
    /// Verdicts on segments with payload, in order.
    pub segments: Vec<SegmentTrace>,
    /// Verdicts on FPDUs, in order of each connection.
    pub fpdus: Vec<FpduTrace>,
    /// What segments beyond a gap may take of packet memory.
    pub ooo_pool: OutOfOrderPool,
    /// What was refused of the last frame for lack of room; its sender must retransmit it.
    pub refused: Room,
    streams: BTreeMap<u16, Stream>,
    /// Whether it is noted what FPDUs beyond a gap may have left in memory. Who compares with the
    /// hardware needs that; a device that runs for long must not.
    notes_out_of_order: bool,
    /// The connection of the last segment, until somebody has asked for it.
    touched: Option<u16>,
    /// The regions when the receivers were last idle, with those registered since.
    regions_when_idle: Regions,
    /// Payload that FPDUs beyond a gap of closed connections may have left in memory.
    left_out_of_order: Vec<Placement>,
    lookup: HashMap<ConnectionKey, u16>,
    counters: [u32; COUNT],
    /// Longest frame that fits a slot of the host ring.
    pub host_frame_octets_max: usize,
    /// Slots of the host ring that are filled before the host empties it; unlimited by default.
    pub host_ring_room: usize,
    host_slots_taken: usize,
}

impl Model {
    /// A model whose host ring takes frames of up to `host_frame_octets_max` octets.
    pub fn new(host_frame_octets_max: usize) -> Self {
        Self {
            memory: Memory::default(),
            regions: Regions::default(),
            completions: Vec::new(),
            completion_room: [usize::MAX; COMPLETION_QUEUES],
            lost_completions: 0,
            host_slots: Vec::new(),
            segments: Vec::new(),
            fpdus: Vec::new(),
            ooo_pool: OutOfOrderPool::default(),
            refused: Room::Enough,
            streams: BTreeMap::new(),
            notes_out_of_order: true,
            touched: None,
            regions_when_idle: Regions::default(),
            left_out_of_order: Vec::new(),
            lookup: HashMap::new(),
            counters: [0; COUNT],
            host_frame_octets_max,
            host_ring_room: usize::MAX,
            host_slots_taken: 0,
        }
    }

    /// Offload a connection under the id the driver gave it.
    pub fn open_connection(&mut self, connection: ConnectionId, config: &ConnectionConfig) {
        let ddp = DdpReceiver::new(config.protection_domain, config.version);
        let tcp = TcpReceiver {
            seg_ack: config.seg_ack,
            seg_wnd: config.seg_wnd,
            ..TcpReceiver::new(config.sequence_start, config.window)
        };
        let stream = Stream {
            key: config.key,
            completion_queue: config.completion_queue,
            tcp,
            mpa: MpaReceiver::new(config.sequence_start, config.markers, config.crc),
            ddp_when_idle: ddp.clone(),
            ddp,
            contradicted: None,
            delivered: None,
            out_of_order: BTreeMap::new(),
        };
        self.lookup.insert(config.key, connection.0);
        self.streams.insert(connection.0, stream);
    }

    /// End an offload; what was bound to the connection goes with it.
    pub fn close_connection(&mut self, connection: ConnectionId) {
        self.regions.deregister_bound(connection);
        self.regions_when_idle.deregister_bound(connection);
        if let Some(mut stream) = self.streams.remove(&connection.0) {
            stream.tcp.out_of_order.clear(&mut self.ooo_pool);
            self.left_out_of_order
                .extend(stream.out_of_order.into_values());
            self.lookup.remove(&stream.key);
        }
    }

    /// Open an untagged queue; its MSNs start at 1.
    pub fn open_queue(&mut self, connection: ConnectionId, qn: u32) {
        self.open_queue_at(connection, qn, 1);
    }

    /// Open an untagged queue whose next message is `first_msn`.
    pub fn open_queue_at(&mut self, connection: ConnectionId, qn: u32, first_msn: u32) {
        let stream = self.stream(connection);
        stream.ddp.open_queue_at(qn, first_msn);
        stream.ddp_when_idle.open_queue_at(qn, first_msn);
    }

    /// TCP state of a connection.
    pub fn tcp(&self, connection: ConnectionId) -> Option<&TcpReceiver> {
        let stream = self.streams.get(&connection.0);
        stream.map(|stream| &stream.tcp)
    }

    /// The owner changes a connection's window.
    pub fn set_window(&mut self, connection: ConnectionId, window: u32) {
        self.stream(connection).tcp.window = window;
    }

    /// The device has sent a frame.
    pub fn note_sent(&mut self) {
        self.count(Counter::TxFrames);
    }

    /// The host has taken what is in its ring.
    pub fn empty_host_ring(&mut self) {
        self.host_slots_taken = 0;
    }

    /// Post a receive buffer; `pool_entry` is where the driver put it in the shared pool.
    pub fn post_receive(&mut self, connection: ConnectionId, qn: u32, buffer: ddp::Buffer) {
        let stream = self.stream(connection);
        stream.ddp.post(qn, buffer);
        stream.ddp_when_idle.post(qn, buffer);
        self.read_out_of_order(connection.0);
    }

    /// A read is outstanding from now on.
    pub fn post_read(&mut self, connection: ConnectionId, read: ddp::Read) {
        let stream = self.stream(connection);
        stream.ddp.post_read(read);
        stream.ddp_when_idle.post_read(read);
    }

    /// Register a region, or make it valid again.
    pub fn register(&mut self, config: &RegionConfig) {
        self.regions.register(config);
        self.regions_when_idle.register(config);
        self.read_all_out_of_order();
    }

    /// Take a region away: from now on nothing is placed under its STag.
    pub fn deregister(&mut self, stag: u32) {
        self.regions.deregister(stag);
        self.regions_when_idle.deregister(stag);
    }

    /// Every counter with its value, in the order of the BAR.
    pub fn counters(&self) -> Vec<(Counter, u32)> {
        ALL.iter()
            .map(|&counter| (counter, self.counters[counter.index()]))
            .collect()
    }

    /// Octets of FPDUs begun but not whole and octets beyond a gap, over all connections.
    pub fn held_octets(&self) -> usize {
        self.streams
            .values()
            .map(|stream| stream.mpa.held_octets() + stream.tcp.out_of_order.octets())
            .sum()
    }

    /// Were octets of the connection accepted beyond a gap that is still there?
    pub fn waits_beyond_gap(&self, connection: ConnectionId) -> bool {
        let stream = self.streams.get(&connection.0);
        stream.is_some_and(|stream| stream.tcp.out_of_order.octets() > 0)
    }

    /// Sequence numbers of the FPDU that the connection's stream has begun, as far as its length
    /// field says; nothing once an error has ended the stream.
    pub fn fpdu_begun(&self, connection: ConnectionId) -> Option<Range<u32>> {
        let stream = self.streams.get(&connection.0)?;
        let missing = stream.mpa.missing_octets()?;
        let rcv_nxt = stream.tcp.rcv_nxt;
        let first = rcv_nxt.wrapping_sub(stream.mpa.held_octets() as u32);
        (!stream.ddp.stopped()).then(|| first..rcv_nxt.wrapping_add(missing))
    }

    /// Receive one frame, without FCS; `error` as the MAC says.
    pub fn receive(&mut self, frame: &[u8], error: bool) {
        self.receive_with(frame, error, Room::Enough);
    }

    /// As [`receive`](Self::receive), of a frame for which the device has said that it had no
    /// room.
    pub fn receive_with(&mut self, frame: &[u8], error: bool, room: Room) {
        self.count(Counter::Frames);
        self.refused = Room::Enough;
        if room == Room::NoPage {
            self.refused = room;
            return self.count(Counter::DropNoPage);
        }
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
                Some(segment) => self.receive_segment(frame, &segment, room),
            },
        }
    }

    fn receive_segment(&mut self, frame: &[u8], segment: &TcpSegment, room: Room) {
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
        self.touched = Some(connection);
        if segment.payload.is_empty() {
            stream.tcp.receive_empty(segment);
            self.count(Counter::TcpPureAck);
            // A sender in software reads SACK blocks (RFC 2018) there.
            if segment.has_more_options {
                self.pass_to_host(frame);
            }
            return;
        }
        let pages = frame_pages(frame.len());
        let (acceptance, refused) = stream.accept(segment, pages, room, &mut self.ooo_pool);
        self.refused = refused;
        self.trace_segment(connection, segment, &acceptance);
        self.read_out_of_order(connection);
        if let Acceptance::InOrder { octets, .. } = acceptance {
            let stream = self.streams.get_mut(&connection).expect("still open");
            for fpdu in stream.mpa.push(&octets) {
                self.receive_fpdu(connection, &fpdu);
            }
        }
    }

    fn trace_segment(&mut self, connection: u16, segment: &TcpSegment, acceptance: &Acceptance) {
        let verdict = acceptance.verdict();
        self.count(match verdict {
            SegmentVerdict::InOrder | SegmentVerdict::Trimmed => Counter::TcpInOrder,
            SegmentVerdict::OutOfOrder => Counter::TcpOutOfOrder,
            SegmentVerdict::Duplicate => Counter::DropTcpDuplicate,
            SegmentVerdict::OutsideWindow => Counter::DropTcpOutsideWindow,
            SegmentVerdict::NoRoom => Counter::DropTcpNoRoom,
            SegmentVerdict::NoRange => Counter::DropTcpNoRange,
        });
        if let Acceptance::InOrder { trimmed: true, .. }
        | Acceptance::OutOfOrder { trimmed: true } = acceptance
        {
            self.count(Counter::TcpTrimmed);
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
        let is_first = !stream.ddp.has_begun();
        let has_room = self.completion_room[usize::from(stream.completion_queue.0)] > 0;
        let outcome = match has_room || !stream.ddp.completes(connection, fpdu, &self.regions) {
            true => stream.ddp.receive(connection, fpdu, &mut self.regions),
            false => stream.ddp.overflow(),
        };
        if outcome.error.is_none() {
            // START-014: from now on a responder may send.
            let validated = is_first.then_some(Reason::FirstFpdu);
            stream.tcp.reasons.extend(validated);
            // From here on memory holds what it places.
            stream.delivered = Some(fpdu.sequence);
            stream.out_of_order.remove(&fpdu.sequence);
        }
        if !fpdu.marker_good || fpdu.is_entered {
            stream.contradicted = Some(fpdu.sequence);
        }
        if fpdu.crc_good && fpdu.marker_good {
            self.count(Counter::Fpdus);
        }
        self.fpdus.push(FpduTrace {
            connection,
            sequence: fpdu.sequence,
            ulpdu_length: fpdu.ulpdu.len() as u16,
            error: outcome.error.map_or(0, |error| error as u8),
            opcode: segment::counted_opcode(fpdu),
            placed_octets: outcome
                .placement
                .as_ref()
                .map_or(0, |(_, data)| data.len() as u16),
            // It places what is in order.
            placed_out_of_order: false,
        });
        self.apply(connection, fpdu, outcome);
    }

    fn apply(&mut self, connection: u16, fpdu: &Fpdu, outcome: Outcome) {
        if let Some(error) = outcome.error {
            self.count(ALL[FIRST_REFUSAL + error as usize - 1]);
            self.complete(connection, completion::error(connection, fpdu, error), None);
        }
        if let Some((address, data)) = &outcome.placement {
            self.memory.write(*address, data);
        }
        if let Some(words) = outcome.completion {
            self.complete(connection, words, outcome.announced);
        }
    }

    /// Completion entry `words` goes to the queue of its connection, after the octets at
    /// `announced`.
    fn complete(&mut self, connection: u16, words: [u32; 7], announced: Option<(u64, usize)>) {
        let queue = self.stream(ConnectionId(connection)).completion_queue;
        let room = &mut self.completion_room[usize::from(queue.0)];
        if *room == 0 {
            self.lost_completions |= 1 << queue.0;
            return;
        }
        *room -= 1;
        let announced = announced.and_then(|(address, octets)| {
            let left_out = octets.saturating_sub(ANNOUNCED_OCTETS_MAX);
            let tail = address + left_out as u64;
            self.memory.read(tail, octets - left_out)
        });
        self.completions.push(Entry {
            queue,
            words,
            announced,
        });
        self.count(Counter::Completions);
    }

    fn pass_to_host(&mut self, frame: &[u8]) {
        if frame.len() > self.host_frame_octets_max {
            return self.count(Counter::DropHostFrameTooLong);
        }
        if self.host_slots_taken == self.host_ring_room {
            return self.count(Counter::DropHostRingFull);
        }
        self.host_slots_taken += 1;
        self.count(Counter::HostFrames);
        self.host_slots.push(completion::host_slot(frame));
    }

    fn count(&mut self, counter: Counter) {
        let value = &mut self.counters[counter.index()];
        *value = value.wrapping_add(1);
    }

    fn stream(&mut self, connection: ConnectionId) -> &mut Stream {
        let stream = self.streams.get_mut(&connection.0);
        stream.unwrap_or_else(|| panic!("connection {} is not open", connection.0))
    }
}
