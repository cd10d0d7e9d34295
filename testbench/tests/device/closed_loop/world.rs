//! A device and peers that send again what it drops whole.

use rand::seq::SliceRandom;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::counters::Counter;
use rnic_abi::limits::{CONNECTIONS, PAGES};
use rnic_abi::tables::RIGHT_REMOTE_WRITE;
use rnic_driver::{
    Completion, Config, ConnectionId, Device, Dma, DmaBuffer, OutOfOrderRange, RegionConfig,
};
use rnic_sim::{attach, SimBar, SimDma, Simulation, SimulationConfig};
use rnic_testbench::traffic::frame::{Endpoint, FrameBuilder, FLAG_ACK, FLAG_PSH};
use rnic_testbench::traffic::sender::{Sender, StreamConfig};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ops::Range;
use std::rc::Rc;

const STAG: u32 = 0x0071_c300;
const PROTECTION_DOMAIN: u16 = 7;
/// Octets; more than packet memory holds.
const RECEIVE_WINDOW: u32 = 1 << 18;
/// Octets of the receive buffer that belongs to one connection.
const BUFFER_OCTETS: usize = 128;
/// Connections there are buffers for.
const PEERS_MAX: usize = CONNECTIONS;
/// Frames between two of one connection: by then the earlier one is decided on.
const FRAMES_APART: usize = 5;
const CYCLES_APART: usize = 1_000;
/// Rounds without any progress after which the run counts as stuck.
const ROUNDS_STUCK: u32 = 8;

/// What a peer sends, and how.
#[derive(Clone, Debug)]
pub struct Shape {
    /// RDMA Writes of a stream; a Send follows them.
    pub writes: usize,
    /// Octets of a Write.
    pub write_octets: Range<usize>,
    /// Longest ULPDU.
    pub mulpdu: usize,
    /// Octets of a segment; `None`: some hundred, so that it ends inside of an FPDU.
    pub segment_octets: Option<usize>,
    /// Most segments of a window. It begins with one, doubles with each progress, and is one again
    /// after a turn without (RFC 5681).
    pub window_max: usize,
    /// Segments that the network loses, of 16.
    pub lost_of_16: u32,
}

impl Shape {
    /// FPDUs that are not longer than a segment of 1,448 octets.
    pub fn short() -> Self {
        Self {
            writes: 4,
            write_octets: 150..1100,
            mulpdu: StreamConfig::default().mulpdu,
            segment_octets: None,
            window_max: 1,
            lost_of_16: 0,
        }
    }

    /// FPDUs of 64,000 octets, markers not counted, in segments of 1,448.
    pub fn long(writes: usize) -> Self {
        Self {
            writes,
            write_octets: 63_980..63_981,
            mulpdu: 63_994,
            segment_octets: Some(1448),
            window_max: 45,
            lost_of_16: 0,
        }
    }

    /// Octets of memory that a peer needs.
    fn slice_octets(&self) -> usize {
        self.writes * (self.write_octets.end + 8)
    }
}

/// A sender.
pub struct Peer {
    connection: ConnectionId,
    builder: FrameBuilder,
    pub sender: Sender,
    shape: Shape,
    /// Segments of its window.
    pub window: usize,
    /// Octets of the stream that are acknowledged.
    pub acknowledged: usize,
    /// Rounds since that has grown.
    waits: u32,
}

impl Peer {
    pub fn is_done(&self) -> bool {
        self.acknowledged == self.sender.stream().len()
    }

    /// A segment from `start` on. It ends inside of an FPDU if it can choose, or with the stream,
    /// or where octets follow that are `there`.
    fn segment(&self, start: usize, there: usize, random: &mut ChaCha8Rng) -> Range<usize> {
        if let Some(octets) = self.shape.segment_octets {
            return start..(start + octets).min(there);
        }
        let mut end = start + random.random_range(200..1000);
        if self
            .sender
            .fpdus()
            .iter()
            .any(|fpdu| fpdu.octets.end == end)
        {
            end -= random.random_range(1..100);
        }
        start..end.min(there)
    }

    fn frame(&self, segment: &Range<usize>) -> Vec<u8> {
        let octets = &self.sender.stream()[segment.clone()];
        let sequence = self.sender.sequence(segment.start);
        self.builder
            .segment(sequence, 1, FLAG_ACK | FLAG_PSH, octets)
    }
}

/// The device, its peers, and what memory must hold in the end.
pub struct Loop {
    pub simulation: Rc<RefCell<Simulation>>,
    device: Device<SimBar, SimDma>,
    pub peers: Vec<Peer>,
    region: DmaBuffer,
    /// Octets of the region that belong to peers.
    used: usize,
    buffers: DmaBuffer,
    expected: Vec<u8>,
    messages: Vec<Vec<u8>>,
    completions: Vec<Completion>,
    random: ChaCha8Rng,
    /// Connections whose frames may not be decided on yet.
    under_way: VecDeque<ConnectionId>,
    pub most_waits: u32,
    pub frames: u64,
    pub rounds: u32,
    /// In this round the network let a segment through that continues its stream.
    continues: bool,
}

/// How a run ends.
#[derive(Debug, PartialEq)]
pub enum End {
    /// Every peer's octets are acknowledged.
    Done,
    /// No octet of any peer was accepted for several rounds, in each of which one could have been:
    /// rounds whose segments the network lost say nothing of the device.
    Stuck,
}

impl Loop {
    /// A device for peers that need `octets` of memory.
    fn new(config: Config, seed: u64, octets: usize) -> Self {
        let simulation = Simulation::new(&SimulationConfig {
            seed,
            ..SimulationConfig::default()
        });
        let simulation = Rc::new(RefCell::new(simulation.expect("the core is there")));
        let (bar, dma) = attach(&simulation);
        let mut device = Device::open(bar, dma, config).expect("the device opens");
        let region = device.dma().allocate("region", octets, 4096);
        let region = region.expect("memory is there");
        let buffers = device
            .dma()
            .allocate("buffers", PEERS_MAX * BUFFER_OCTETS, 64);
        let region_config = RegionConfig {
            stag: STAG,
            rights: RIGHT_REMOTE_WRITE,
            protection_domain: PROTECTION_DOMAIN,
            connection: None,
            tagged_offset: 0,
            octets: octets as u64,
            address: region.address,
        };
        device.register_region(&region_config).expect("one region");
        Self {
            simulation,
            device,
            peers: Vec::new(),
            region,
            used: 0,
            buffers: buffers.expect("memory is there"),
            expected: vec![0; octets],
            messages: Vec::new(),
            completions: Vec::new(),
            random: ChaCha8Rng::seed_from_u64(seed),
            under_way: VecDeque::new(),
            most_waits: 0,
            frames: 0,
            rounds: 0,
            continues: false,
        }
    }

    /// A device with a peer of each of `shapes`.
    pub fn with_peers(config: Config, seed: u64, shapes: &[Shape]) -> Self {
        let octets = shapes.iter().map(Shape::slice_octets).sum();
        let mut world = Self::new(config, seed, octets);
        for shape in shapes {
            world.open(shape);
        }
        world
    }

    /// Open the next connection and make its whole stream.
    fn open(&mut self, shape: &Shape) {
        let number = self.peers.len();
        let end = |host: u8, port: u16| Endpoint {
            mac: [2, 0, 0, 0, 0, host],
            address: ([10, 1, 0, host], port).into(),
        };
        let builder = FrameBuilder::new(end(1, 20_000 + number as u16), end(2, 4_420));
        let stream = StreamConfig {
            markers: number % 4 == 3,
            // Near the end of sequence space: some streams pass it.
            sequence_start: 0_u32.wrapping_sub(number as u32 * 8),
            mulpdu: shape.mulpdu,
            ..StreamConfig::default()
        };
        let config = builder.connection(&stream, RECEIVE_WINDOW, PROTECTION_DOMAIN);
        let connection = self.device.open_connection(&config);
        let connection = connection.expect("1,024 keys fit");
        let queue = self.device.open_queue(connection, 0, 0);
        queue.expect("the pool has two entries a connection");
        let buffer = DmaBuffer {
            address: self.buffers.address + (number * BUFFER_OCTETS) as u64,
            octets: BUFFER_OCTETS,
        };
        let posted = self.device.post_receive(connection, 0, buffer);
        posted.expect("the queue has room for one");
        let mut sender = Sender::new(stream);
        self.fill(&mut sender, shape);
        self.peers.push(Peer {
            connection,
            builder,
            sender,
            shape: shape.clone(),
            window: 1,
            acknowledged: 0,
            waits: 0,
        });
    }

    /// Writes that do not overlap, into the connection's slice, then a Send.
    fn fill(&mut self, sender: &mut Sender, shape: &Shape) {
        let mut at = self.used;
        self.used += shape.slice_octets();
        for _ in 0..shape.writes {
            let mut data = vec![0; self.random.random_range(shape.write_octets.clone())];
            self.random.fill_bytes(&mut data);
            sender.rdma_write(STAG, at as u64, &data);
            self.expected[at..at + data.len()].copy_from_slice(&data);
            at += data.len() + self.random.random_range(0..8);
        }
        let mut message = vec![0; self.random.random_range(0..=BUFFER_OCTETS)];
        self.random.fill_bytes(&mut message);
        sender.send(&message);
        self.messages.push(message);
    }

    /// One turn of a peer: it looks at what is acknowledged and sends from there on. True if that
    /// was more than before.
    pub fn turn(&mut self, number: usize) -> bool {
        let connection = self.peers[number].connection;
        if self.under_way.contains(&connection) {
            self.simulation.borrow_mut().run(CYCLES_APART);
        }
        let state = self.device.tcp_state(connection).expect("it is open");
        let peer = &mut self.peers[number];
        let offset = state.rcv_nxt.wrapping_sub(peer.sender.sequence(0)) as usize;
        assert!(
            (peer.acknowledged..=peer.sender.stream().len()).contains(&offset),
            "connection {number} is at {offset} after {}",
            peer.acknowledged
        );
        let end = peer.sender.stream().len();
        let progress = offset > peer.acknowledged;
        peer.acknowledged = offset;
        peer.waits = if progress { 0 } else { peer.waits + 1 };
        peer.window = match progress {
            true => (2 * peer.window).min(peer.shape.window_max),
            false => 1,
        };
        self.most_waits = self.most_waits.max(peer.waits);
        if peer.is_done() {
            return progress;
        }
        let mut there = end;
        if state.ranges > 0 {
            let ranges = self
                .device
                .out_of_order_ranges(connection)
                .expect("it is open");
            let left = |range: &OutOfOrderRange| range.left.wrapping_sub(state.rcv_nxt) as usize;
            there = offset + ranges.iter().map(left).min().expect("it has ranges");
        }
        let peer = &self.peers[number];
        let mut segments = vec![peer.segment(offset, there, &mut self.random)];
        // The rest of its window: beyond a gap, if the first one is not accepted. A window of one
        // segment is one of two now and then.
        let one_more = peer.shape.window_max == 1 && self.random.random_ratio(1, 8);
        for _ in 1..peer.window + usize::from(one_more) {
            let start = segments.last().expect("one at least").end;
            let next = peer.segment(start, there, &mut self.random);
            if next.is_empty() {
                break;
            }
            segments.push(next);
        }
        let mut simulation = self.simulation.borrow_mut();
        for (number, segment) in segments.iter().enumerate() {
            if self.random.random_ratio(peer.shape.lost_of_16, 16) {
                continue;
            }
            self.continues |= number == 0;
            simulation.push_frame(peer.frame(segment), false);
            self.frames += 1;
        }
        while simulation.frames_waiting() > 1 {
            simulation.step();
        }
        self.under_way.push_back(connection);
        if self.under_way.len() > FRAMES_APART {
            self.under_way.pop_front();
        }
        progress
    }

    /// Rounds over the peers of `numbers` until all are done, or nothing goes on.
    pub fn run(&mut self, numbers: Range<usize>) -> End {
        let mut quiet = 0;
        loop {
            let unfinished = |number: &usize| !self.peers[*number].is_done();
            let mut order: Vec<usize> = numbers.clone().filter(unfinished).collect();
            if order.is_empty() {
                self.simulation.borrow_mut().run_until_idle();
                self.take_completions();
                return End::Done;
            }
            order.shuffle(&mut self.random);
            self.rounds += 1;
            let mut progress = false;
            self.continues = false;
            for number in order {
                progress |= self.turn(number);
            }
            self.take_completions();
            quiet = match progress {
                true => 0,
                false => quiet + u32::from(self.continues),
            };
            if quiet == ROUNDS_STUCK {
                return End::Stuck;
            }
        }
    }

    fn take_completions(&mut self) {
        let polled = std::iter::from_fn(|| self.device.poll_completion());
        self.completions.extend(polled);
    }

    pub fn counters(&mut self) -> BTreeMap<Counter, u32> {
        let counters = self.device.counters().expect("the device answers");
        counters.into_iter().collect()
    }

    /// Every octet is where it belongs, every Send was reported once, every page is free.
    pub fn check(&mut self, seed: u64) {
        let mut placed = vec![0; self.expected.len()];
        self.device.dma().read(self.region.address, &mut placed);
        let differs = placed.iter().zip(&self.expected).position(|(a, b)| a != b);
        assert_eq!(differs, None, "octet of the region, seed {seed}");
        let mut completed = HashSet::new();
        for completion in &self.completions {
            let Completion::Receive {
                connection, length, ..
            } = completion
            else {
                panic!("{completion:?}, seed {seed}");
            };
            let number = self.peers.iter().position(|p| p.connection == *connection);
            let number = number.expect("the connection of a peer");
            let message = &self.messages[number];
            assert_eq!(*length as usize, message.len(), "seed {seed}");
            let mut octets = vec![0; message.len()];
            let address = self.buffers.address + (number * BUFFER_OCTETS) as u64;
            self.device.dma().read(address, &mut octets);
            assert_eq!(&octets, message, "connection {number}, seed {seed}");
            assert!(
                completed.insert(number),
                "connection {number} completed twice"
            );
        }
        assert_eq!(completed.len(), self.peers.len(), "seed {seed}");
        let simulation = self.simulation.borrow();
        assert_eq!(simulation.free_pages(), PAGES as u32, "seed {seed}");
        let violations = simulation.complex().monitor().records();
        assert!(violations.is_empty(), "{violations:?}, seed {seed}");
    }
}
