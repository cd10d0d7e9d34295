//! Peers that send again what the device drops whole: 1,024 connections at once, each with an FPDU
//! open at the end of every segment but its last, in 512 pages of packet memory.
//!
//! Each peer knows of the device what the driver would acknowledge, rcv_nxt and the ranges received
//! beyond it, and sends what is not there: what was accepted is never sent again. All take turns at
//! random.

use rand::seq::SliceRandom;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::counters::Counter;
use rnic_abi::limits::{CONNECTIONS, PAGES};
use rnic_abi::tables::RIGHT_REMOTE_WRITE;
use rnic_driver::{
    Completion, Config, Connection, Device, Dma, DmaBuffer, EarlyRange, RegionConfig,
};
use rnic_sim::{attach, SimBar, SimDma, Simulation, SimulationConfig};
use rnic_testbench::traffic::frame::{Endpoint, FrameBuilder, FLAG_ACK, FLAG_PSH};
use rnic_testbench::traffic::sender::{Sender, StreamConfig};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ops::Range;
use std::rc::Rc;

const SEED: u64 = 0x0015_f8c1;
const STAG: u32 = 0x0071_c300;
const PROTECTION_DOMAIN: u16 = 7;
/// Octets of the region and of the receive buffers that belong to one connection.
const SLICE_OCTETS: usize = 8192;
const BUFFER_OCTETS: usize = 128;
/// RDMA Writes of a stream; a Send follows them.
const WRITES: usize = 4;
/// Frames between two of one connection: by then the earlier one is decided on.
const FRAMES_APART: usize = 5;
const CYCLES_APART: usize = 1_000;
/// Rounds, one turn of each peer that has something left, in which one of a thousand may find no
/// room; 21 were measured.
const ROUNDS_OF_A_THOUSAND_MAX: u32 = 64;
/// The same where silent peers hold the memory and the others go on one at a time; 116 measured.
const ROUNDS_BESIDE_SILENT_MAX: u32 = 350;
/// Pages of the longest frame sent here.
const FRAME_PAGES: u32 = 5;
/// Peers that begin an FPDU and fall silent, more than there is memory for, and others beside them.
const SILENT: usize = 320;
const OTHERS: usize = 48;
/// Rounds in which nobody gets anything through after which nobody ever will.
const ROUNDS_STUCK: u32 = 8;
/// log2 of the cycles that a silent turn lasts where peers fall silent: less than these rounds.
const SHORT_HOLD_LOG2: u32 = 13;

/// A sender with a window of two segments.
struct Peer {
    connection: Connection,
    builder: FrameBuilder,
    sender: Sender,
    /// Octets of the stream that are acknowledged.
    acknowledged: usize,
    /// Rounds since that has grown.
    waits: u32,
}

impl Peer {
    fn is_done(&self) -> bool {
        self.acknowledged == self.sender.stream().len()
    }

    /// A segment from `start` on. It ends inside of an FPDU, or with the stream, or where octets
    /// follow that are `there`.
    fn segment(&self, start: usize, there: usize, random: &mut ChaCha8Rng) -> Range<usize> {
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
struct Loop {
    simulation: Rc<RefCell<Simulation>>,
    device: Device<SimBar, SimDma>,
    peers: Vec<Peer>,
    region: DmaBuffer,
    buffers: DmaBuffer,
    expected: Vec<u8>,
    messages: Vec<Vec<u8>>,
    completions: Vec<Completion>,
    random: ChaCha8Rng,
    /// Connections whose frames may not be decided on yet.
    under_way: VecDeque<Connection>,
    most_waits: u32,
    frames: u64,
}

/// How a run ends.
#[derive(Debug, PartialEq)]
enum End {
    /// Every peer was told that everything has arrived.
    Done,
    /// For several rounds nothing of anybody was accepted.
    Stuck,
}

impl Loop {
    fn new(config: Config, seed: u64) -> Self {
        let simulation = Simulation::new(&SimulationConfig {
            seed,
            ..SimulationConfig::default()
        });
        let simulation = Rc::new(RefCell::new(simulation.expect("the core is there")));
        let (bar, dma) = attach(&simulation);
        let config = Config {
            completion_entries_log2: 11,
            ..config
        };
        let mut device = Device::open(bar, dma, config).expect("the device opens");
        let octets = CONNECTIONS * SLICE_OCTETS;
        let region = device.dma().allocate("region", octets, 4096);
        let region = region.expect("memory is there");
        let buffers = device
            .dma()
            .allocate("buffers", CONNECTIONS * BUFFER_OCTETS, 64);
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
            buffers: buffers.expect("memory is there"),
            expected: vec![0; octets],
            messages: Vec::new(),
            completions: Vec::new(),
            random: ChaCha8Rng::seed_from_u64(seed),
            under_way: VecDeque::new(),
            most_waits: 0,
            frames: 0,
        }
    }

    /// Open connection `number` and make its whole stream.
    fn open(&mut self, number: usize) {
        let end = |host: u8, port: u16| Endpoint {
            mac: [2, 0, 0, 0, 0, host],
            address: ([10, 1, 0, host], port).into(),
        };
        let builder = FrameBuilder::new(end(1, 20_000 + number as u16), end(2, 4_420));
        let stream = StreamConfig {
            markers: number % 4 == 3,
            // Near the end of sequence space: some streams pass it.
            sequence_start: 0_u32.wrapping_sub(number as u32 * 8),
            ..StreamConfig::default()
        };
        let config = builder.connection(&stream, 1 << 16, PROTECTION_DOMAIN);
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
        self.fill(&mut sender, number);
        self.peers.push(Peer {
            connection,
            builder,
            sender,
            acknowledged: 0,
            waits: 0,
        });
    }

    /// Writes that do not overlap, into the connection's slice, then a Send.
    fn fill(&mut self, sender: &mut Sender, number: usize) {
        let mut at = number * SLICE_OCTETS;
        for _ in 0..WRITES {
            let mut data = vec![0; self.random.random_range(150..1100)];
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
    fn turn(&mut self, number: usize) -> bool {
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
        self.most_waits = self.most_waits.max(peer.waits);
        if peer.is_done() {
            return progress;
        }
        let mut there = end;
        if state.ranges > 0 {
            let ranges = self.device.early_ranges(connection).expect("it is open");
            let left = |range: &EarlyRange| range.left.wrapping_sub(state.rcv_nxt) as usize;
            there = offset + ranges.iter().map(left).min().expect("it has ranges");
        }
        let peer = &self.peers[number];
        let first = peer.segment(offset, there, &mut self.random);
        let second = peer.segment(first.end, there, &mut self.random);
        let mut segments = vec![first];
        // The rest of its window: beyond a gap, if the first one is not accepted.
        if !second.is_empty() && self.random.random_ratio(1, 8) {
            segments.push(second);
        }
        let mut simulation = self.simulation.borrow_mut();
        for segment in &segments {
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
    fn run(&mut self, numbers: Range<usize>) -> End {
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
            let mut progress = false;
            for number in order {
                progress |= self.turn(number);
            }
            self.take_completions();
            quiet = if progress { 0 } else { quiet + 1 };
            if quiet == ROUNDS_STUCK {
                return End::Stuck;
            }
        }
    }

    fn take_completions(&mut self) {
        let polled = std::iter::from_fn(|| self.device.poll_completion());
        self.completions.extend(polled);
    }

    fn counters(&mut self) -> BTreeMap<Counter, u32> {
        self.device.counters().into_iter().collect()
    }

    /// Every octet is where it belongs, every Send was reported once, every page is free.
    fn check(&mut self, seed: u64) {
        let mut placed = vec![0; self.expected.len()];
        self.device.dma().read(self.region.address, &mut placed);
        let differs = placed.iter().zip(&self.expected).position(|(a, b)| a != b);
        assert_eq!(differs, None, "octet of the region, seed {seed}");
        let mut told = HashSet::new();
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
            assert!(told.insert(number), "connection {number} told twice");
        }
        assert_eq!(told.len(), self.peers.len(), "seed {seed}");
        let simulation = self.simulation.borrow();
        assert_eq!(simulation.free_pages(), PAGES as u32, "seed {seed}");
        let violations = simulation.complex().monitor().records();
        assert!(violations.is_empty(), "{violations:?}, seed {seed}");
    }
}

fn seed() -> u64 {
    let given = std::env::var("RNIC_SEED").ok();
    given.map_or(SEED, |seed| seed.parse().expect("RNIC_SEED is a number"))
}

/// The counters after a run that came to its end: the reserve was needed, nothing that was accepted
/// was sent again, and each FPDU was placed once.
fn check_counters(world: &mut Loop, rounds_max: u32, seed: u64) {
    let counters = world.counters();
    let fpdus: usize = world
        .peers
        .iter()
        .map(|peer| peer.sender.fpdus().len())
        .sum();
    println!(
        "seed {seed}: {} frames in {} cycles, {} rounds without progress at most, {:?}",
        world.frames,
        world.simulation.borrow().now(),
        world.most_waits,
        counters
            .iter()
            .filter(|(_, count)| **count > 0)
            .map(|(counter, count)| (counter.name(), *count))
            .collect::<Vec<_>>()
    );
    assert_eq!(counters[&Counter::Fpdus] as usize, fpdus, "seed {seed}");
    for again in [Counter::DropTcpDuplicate, Counter::TcpTrimmed] {
        assert_eq!(counters[&again], 0, "{}, seed {seed}", again.name());
    }
    assert!(counters[&Counter::DropTcpNoRoom] > 0, "seed {seed}");
    assert!(
        world.most_waits <= rounds_max,
        "{} rounds, seed {seed}",
        world.most_waits
    );
}

/// In-order traffic never starves: all connections go on, whoever else has an FPDU open.
#[test]
fn a_thousand_connections_with_open_fpdus_all_come_to_their_ends() {
    let seed = seed();
    let mut world = Loop::new(Config::default(), seed);
    (0..CONNECTIONS).for_each(|number| world.open(number));
    assert_eq!(world.run(0..CONNECTIONS), End::Done, "seed {seed}");
    world.check(seed);
    check_counters(&mut world, ROUNDS_OF_A_THOUSAND_MAX, seed);
}

/// Peers that fall silent in the middle of FPDUs, one of them in its turn, and hold all memory but
/// the reserve, keep nobody from going on, and go on themselves when they come back.
#[test]
fn silent_peers_with_open_fpdus_leave_the_others_going_on() {
    let seed = seed();
    let config = Config {
        reserve_hold_log2: SHORT_HOLD_LOG2,
        ..Config::default()
    };
    let mut world = Loop::new(config, seed);
    (0..SILENT + OTHERS).for_each(|number| world.open(number));
    for number in 0..SILENT {
        world.turn(number);
    }
    world.simulation.borrow_mut().run_until_idle();
    let free = world.simulation.borrow().free_pages();
    let few = config.in_order_reserve + FRAME_PAGES;
    assert!(free < few, "{free} pages are free, seed {seed}");
    let others = world.run(SILENT..SILENT + OTHERS);
    assert_eq!(others, End::Done, "seed {seed}");
    let free = world.simulation.borrow().free_pages();
    assert!(free < few, "{free} pages are free, seed {seed}");
    assert_eq!(world.run(0..SILENT), End::Done, "seed {seed}");
    world.check(seed);
    check_counters(&mut world, ROUNDS_BESIDE_SILENT_MAX, seed);
}

/// The thousand without a reserve: packet memory fills up with FPDUs of which no other can come to
/// its end. What the first test shows is thus the reserve's doing.
#[test]
fn without_the_reserve_the_same_connections_stop_each_other() {
    let seed = seed();
    let config = Config {
        in_order_reserve: 0,
        ..Config::default()
    };
    let mut world = Loop::new(config, seed);
    (0..CONNECTIONS).for_each(|number| world.open(number));
    assert_eq!(world.run(0..CONNECTIONS), End::Stuck, "seed {seed}");
    let done = world.peers.iter().filter(|peer| peer.is_done()).count();
    println!("seed {seed}: {done} connections had come to their ends");
    assert!(world.counters()[&Counter::DropNoPage] > 0, "seed {seed}");
}
