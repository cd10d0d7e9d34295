//! The driver program: opens everything, lets the traffic pass, and looks at what there is.

use crate::machine::Machine;
use crate::traffic::{
    invalidatable, others, sink, writable, Peer, BUFFERS, BUFFER_OCTETS, PEERS, READ_OCTETS,
    REGION_OCTETS, SINK_BASE,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::counters::Counter;
use rnic_abi::tables::{RIGHT_READ_SINK, RIGHT_REMOTE_INVALIDATE, RIGHT_REMOTE_WRITE};
use rnic_driver::{
    Completion, Config, ConnectionConfig, ConnectionId, Device, Dma, DmaBuffer, Event,
    OutOfOrderRange, OutOfOrderState, Piece, QueueId, Reasons, RegionConfig, TcpState,
    TransmitFrame, TransmitRing, Transmitted,
};
use rnic_testbench::transmit::frame::Drawn;
use std::collections::BTreeMap;
use std::fmt::Debug;

const PROTECTION_DOMAIN: u16 = 7;
const WINDOW: u32 = 1 << 20;
/// Completion queues, which connections use in turn.
const QUEUES: [QueueId; 2] = [QueueId(0), QueueId(11)];
/// Frames between two looks at the rings.
const BATCH: usize = 8;
/// Frames that are sent.
const SENT: usize = 16;
/// Nothing is mapped there.
const NOWHERE: u64 = 0x10_0000_0000;

/// What the program has found.
#[derive(Debug, Default)]
pub struct Found {
    memory: Vec<Vec<u8>>,
    /// Of each connection in order.
    completions: BTreeMap<u16, Vec<Completion>>,
    host_frames: Vec<Vec<u8>>,
    /// Of each connection, all reasons and the last event.
    events: BTreeMap<u16, (Reasons, Event)>,
    states: Vec<(TcpState, OutOfOrderState, Vec<OutOfOrderRange>)>,
    valid: Vec<bool>,
    ranges_in_use: (u16, u16),
    sent: Vec<Vec<u8>>,
    transmitted: Vec<Transmitted>,
    pub counters: Vec<(Counter, u32)>,
}

impl Found {
    /// What differs, a line each.
    pub fn differences(&self, other: &Self) -> Vec<String> {
        let mut lines = Vec::new();
        for (place, (ours, theirs)) in self.memory.iter().zip(&other.memory).enumerate() {
            if let Some(at) = (0..ours.len()).find(|&at| ours[at] != theirs[at]) {
                lines.push(format!("memory {place} at {at}"));
            }
        }
        differ(
            &mut lines,
            "completions",
            &self.completions,
            &other.completions,
        );
        differ(
            &mut lines,
            "host frames",
            &self.host_frames,
            &other.host_frames,
        );
        let stripped = |found: &Self| -> Vec<(Reasons, Event)> {
            let reasons = Reasons::default();
            let last = |&(all, event): &(Reasons, Event)| (all, Event { reasons, ..event });
            found.events.values().map(last).collect()
        };
        differ(&mut lines, "events", &stripped(self), &stripped(other));
        differ(&mut lines, "states", &self.states, &other.states);
        differ(&mut lines, "valid regions", &self.valid, &other.valid);
        differ(
            &mut lines,
            "ranges",
            &self.ranges_in_use,
            &other.ranges_in_use,
        );
        differ(&mut lines, "frames sent", &self.sent, &other.sent);
        differ(&mut lines, "results", &self.transmitted, &other.transmitted);
        for (ours, theirs) in self.counters.iter().zip(&other.counters) {
            differ(&mut lines, ours.0.name(), &ours.1, &theirs.1);
        }
        lines
    }
}

fn differ<T: PartialEq + Debug>(lines: &mut Vec<String>, what: &str, ours: &T, theirs: &T) {
    if ours != theirs {
        let text = format!("{what}: {ours:?}, {theirs:?}");
        lines.push(text.chars().take(2_000).collect());
    }
}

struct Program<'a, M: Machine> {
    device: Device<M::Bar, M::Dma>,
    machine: &'a M,
    random: ChaCha8Rng,
    /// Memory that is compared.
    memory: Vec<DmaBuffer>,
    connections: Vec<ConnectionId>,
    found: Found,
}

/// Run the program of `seed`.
pub fn run<M: Machine>(bar: M::Bar, dma: M::Dma, machine: &M, seed: u64) -> Found {
    let config = Config {
        event_delay_log2: 0,
        host_slots_log2: 7,
        control_units_log2: 8,
        bulk_units_log2: 8,
        ..Config::default()
    };
    let mut program = Program {
        device: Device::open(bar, dma, config).expect("the device opens"),
        machine,
        random: ChaCha8Rng::seed_from_u64(seed),
        memory: Vec::new(),
        connections: Vec::new(),
        found: Found::default(),
    };
    let created = program.device.create_completion_queue(QUEUES[1], 7);
    created.expect("it is not there yet");
    let peers: Vec<Peer> = (0..PEERS).map(Peer::new).collect();
    for (number, peer) in peers.iter().enumerate() {
        program.open(number, peer);
    }
    program.receive(&peers);
    program.transmit();
    program.loop_back();
    program.look();
    program.found
}

impl<M: Machine> Program<'_, M> {
    fn allocate(&mut self, octets: usize) -> DmaBuffer {
        let buffer = self.device.dma().allocate("program", octets, 64);
        let buffer = buffer.expect("memory");
        self.memory.push(buffer);
        buffer
    }

    /// A connection with its regions, buffers and reads.
    fn open(&mut self, number: usize, peer: &Peer) {
        let config = ConnectionConfig {
            completion_queue: QUEUES[number % QUEUES.len()],
            ..peer
                .builder
                .connection(&peer.stream, WINDOW, PROTECTION_DOMAIN)
        };
        let connection = self.device.open_connection(&config).expect("it has room");
        self.connections.push(connection);
        for (stag, rights, bound) in [
            (writable(number), RIGHT_REMOTE_WRITE, None),
            (sink(number), RIGHT_READ_SINK, Some(connection)),
            (invalidatable(number), RIGHT_REMOTE_INVALIDATE, None),
        ] {
            let buffer = self.allocate(REGION_OCTETS);
            let registered = self.device.register_region(&RegionConfig {
                stag,
                rights,
                protection_domain: PROTECTION_DOMAIN,
                connection: bound,
                tagged_offset: if stag == sink(number) { SINK_BASE } else { 0 },
                octets: REGION_OCTETS as u64,
                address: buffer.address,
            });
            registered.expect("it has room");
        }
        let entries_log2 = BUFFERS.ilog2();
        let opened = self.device.open_queue(connection, 0, entries_log2);
        opened.expect("it has room");
        for _ in 0..BUFFERS {
            let buffer = self.allocate(BUFFER_OCTETS);
            let posted = self.device.post_receive(connection, 0, buffer);
            posted.expect("it has room");
        }
        self.device
            .open_queue(connection, 3, 1)
            .expect("it has room");
        for offset in [SINK_BASE, SINK_BASE + READ_OCTETS as u64] {
            let posted =
                self.device
                    .post_read(connection, sink(number), offset, READ_OCTETS as u32);
            posted.expect("it has room");
        }
    }

    /// All frames of the peers and some others, each peer's in its order.
    fn receive(&mut self, peers: &[Peer]) {
        let frames = peers.iter().map(|peer| {
            let frames = peer.frames(&mut self.random).into_iter();
            frames.map(|frame| (frame, false)).collect::<Vec<_>>()
        });
        let mut flows: Vec<_> = frames.collect();
        flows.push(others(peers, &mut self.random));
        let mut flows: Vec<_> = flows.into_iter().map(Vec::into_iter).collect();
        let mut count = 0;
        while !flows.is_empty() {
            let flow = self.random.random_range(0..flows.len());
            match flows[flow].next() {
                None => drop(flows.swap_remove(flow)),
                Some((frame, error)) => {
                    self.machine.push(frame, error);
                    count += 1;
                    if count % BATCH == 0 {
                        self.machine.advance();
                        self.poll();
                    }
                }
            }
        }
        self.machine.settle();
        self.poll();
    }

    /// Take what is in the rings.
    fn poll(&mut self) {
        let mut queues = QUEUES.into_iter().peekable();
        while let Some(&queue) = queues.peek() {
            let polled = self.device.poll_completion_queue(queue);
            let Some(completion) = polled.expect("it is created") else {
                queues.next();
                continue;
            };
            let connection = match completion {
                Completion::Receive { connection, .. }
                | Completion::ReadResponse { connection, .. }
                | Completion::Error { connection, .. } => connection,
                _ => panic!("{completion:?}"),
            };
            let list = self.found.completions.entry(connection.0).or_default();
            list.push(completion);
        }
        while let Some(frame) = self.device.poll_host_frame() {
            self.found.host_frames.push(frame);
        }
        while let Some(event) = self.device.poll_event() {
            let place = self.found.events.entry(event.connection.0);
            let known = place.or_insert((Reasons::default(), event));
            known.0.extend(event.reasons.iter());
            known.1 = event;
        }
        let mut next = || self.device.poll_transmitted().expect("its rings work");
        self.found.transmitted.extend(std::iter::from_fn(&mut next));
    }

    /// Frames of both rings with checksums and CRCs, one of which is not in memory.
    fn transmit(&mut self) {
        for ring in [TransmitRing::Bulk, TransmitRing::Control] {
            for cookie in 0..SENT as u64 {
                let drawn = Drawn::any(&mut self.random);
                let buffer = self.device.dma().allocate("frame", drawn.given.len(), 1);
                let buffer = buffer.expect("memory");
                self.device.dma().write(buffer.address, &drawn.given);
                let mut start = 0;
                let pieces: Vec<Piece> = drawn
                    .cuts
                    .iter()
                    .map(|&end| {
                        let octets = end - std::mem::replace(&mut start, end);
                        let address = buffer.address + (end - octets) as u64;
                        Piece::Memory(DmaBuffer { address, octets })
                    })
                    .collect();
                self.send(ring, cookie, &pieces, &drawn);
            }
            let address = NOWHERE;
            let lost = [Piece::Memory(DmaBuffer {
                address,
                octets: 60,
            })];
            let plain = Drawn {
                checksum: None,
                crc: None,
                ..Drawn::any(&mut self.random)
            };
            self.send(ring, 99, &lost, &plain);
            self.machine.settle();
            self.poll();
            self.found.sent.extend(self.machine.take_sent());
        }
    }

    fn send(&mut self, ring: TransmitRing, cookie: u64, pieces: &[Piece], drawn: &Drawn) {
        let frame = TransmitFrame {
            pieces,
            checksum: drawn.checksum,
            crc: drawn.crc,
            cookie,
        };
        let sent = self.device.transmit(ring, &frame);
        sent.expect("the ring has room");
    }

    /// A frame that is sent arrives; one of the wire does not.
    fn loop_back(&mut self) {
        self.device.set_loopback(true).expect("it answers");
        let frame: Vec<u8> = (0..200).map(|at| at as u8).collect();
        let plain = Drawn {
            checksum: None,
            crc: None,
            ..Drawn::any(&mut self.random)
        };
        self.send(TransmitRing::Bulk, 1, &[Piece::Octets(&frame)], &plain);
        self.machine.settle();
        self.machine.push(vec![0x55; 100], false);
        self.machine.settle();
        self.poll();
        self.device.set_loopback(false).expect("it answers");
    }

    /// Read everything.
    fn look(&mut self) {
        for number in 0..PEERS {
            for stag in [writable(number), sink(number), invalidatable(number)] {
                let valid = self.device.region_valid(stag);
                self.found.valid.push(valid.expect("it is registered"));
            }
            let connection = self.connections[number];
            let state = self.device.tcp_state(connection).expect("it is open");
            let out_of_order = self
                .device
                .out_of_order_state(connection)
                .expect("it is open");
            let ranges = self
                .device
                .out_of_order_ranges(connection)
                .expect("it is open");
            self.found.states.push((state, out_of_order, ranges));
        }
        let in_use = self.device.in_use().expect("it answers");
        self.found.ranges_in_use = (in_use.ranges, in_use.spans);
        self.found.counters = self.device.counters().expect("it answers");
        for buffer in std::mem::take(&mut self.memory) {
            let mut octets = vec![0; buffer.octets];
            self.device.dma().read(buffer.address, &mut octets);
            self.found.memory.push(octets);
        }
    }
}
