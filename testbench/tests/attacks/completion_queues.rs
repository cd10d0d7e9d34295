//! Completion queues: entries of many connections, each in its own; and queues without room, which
//! a correct driver never meets. Here one moves connections to queues that have promised them none.
//! The model's queues have no end, so that what is expected is said here.

use crate::bare::{simulation, Bare, REGION_TO, STAG};
use crate::scene::pattern;
use rnic_abi::counters::Counter::*;
use rnic_abi::limits::{COMPLETION_QUEUES, READ_QUEUE};
use rnic_abi::{registers, tables};
use rnic_driver::{Bar, Completion, Config, ConnectionId, Dma, DmaBuffer, DriverError, QueueId};
use rnic_testbench::traffic::frame::FLAG_ACK;
use rnic_testbench::traffic::{Endpoint, FrameBuilder, Sender, StreamConfig};
use rnic_wire::ddp::read_request::ReadRequestRepr;

const FIRST: u64 = 0x1_0000_0000;
/// A queue of two entries.
const SMALL: QueueId = QueueId(5);
/// log2 of the entries of a peer's receive queue, and octets of a buffer.
const BUFFERS_LOG2: u32 = 3;
const BUFFER_OCTETS: usize = 64;
/// Protection Domain of the region.
const DOMAIN: u16 = 3;
/// Full frames, without a pause.
const FRAMES: usize = 44;
/// Cycles in which a region is taken away while the host takes what it is given.
const REVOCATION_CYCLES: u64 = 3_000;

/// A connection with posted buffers, and its peer.
struct Peer {
    connection: ConnectionId,
    builder: FrameBuilder,
    sender: Sender,
    sent: usize,
    buffers: Vec<DmaBuffer>,
}

impl Peer {
    fn open(bare: &mut Bare, port: u16, queue: QueueId) -> Self {
        let builder = FrameBuilder::new(Endpoint::host(9, port), Endpoint::host(8, 4_420));
        let stream = StreamConfig::default();
        let mut config = builder.connection(&stream, 1 << 18, DOMAIN);
        config.completion_queue = queue;
        let connection = bare.device.open_connection(&config).expect("a connection");
        let mut peer = Self {
            connection,
            builder,
            sender: Sender::new(stream),
            sent: 0,
            buffers: Vec::new(),
        };
        let opened = bare.device.open_queue(connection, 0, BUFFERS_LOG2);
        opened.expect("a receive queue");
        for _ in 0..1 << BUFFERS_LOG2 {
            peer.post(bare, 0);
        }
        peer
    }

    fn post(&mut self, bare: &mut Bare, qn: u32) {
        let buffer = bare.device.dma().allocate("buffer", BUFFER_OCTETS, 1);
        let buffer = buffer.expect("memory is there");
        let posted = bare.device.post_receive(self.connection, qn, buffer);
        posted.expect("there is room");
        self.buffers.push(buffer);
    }

    /// What is new of the stream, one segment for each FPDU, on the wire back to back.
    fn queue(&mut self, bare: &Bare) {
        let fpdus = &self.sender.fpdus()[self.sent..];
        for octets in fpdus.iter().map(|fpdu| fpdu.octets.clone()) {
            let sequence = self.sender.sequence(octets.start);
            let octets = &self.sender.stream()[octets];
            let frame = self.builder.segment(sequence, 1, FLAG_ACK, octets);
            bare.simulation.borrow_mut().push_frame(frame, false);
        }
        self.sent += fpdus.len();
    }

    /// The same, until the core is idle.
    fn deliver(&mut self, bare: &mut Bare) {
        self.queue(bare);
        bare.run_until_idle();
    }

    fn buffer(&self, bare: &mut Bare, number: usize) -> Vec<u8> {
        let mut octets = vec![0; BUFFER_OCTETS];
        let address = self.buffers[number].address;
        bare.device.dma().read(address, &mut octets);
        octets
    }

    /// The driver makes a mistake: the connection's entries go to a queue that does not expect
    /// them.
    fn misplace(&self, bare: &mut Bare, queue: QueueId) {
        let context = u32::from(DOMAIN) | 1 << 16 | u32::from(queue.0) << 17;
        bare.bar.write32(registers::TABLE_DATA, context);
        let index = u32::from(self.connection.0);
        let command = registers::table_command(tables::WRITE, tables::DDP, index);
        bare.bar.write32(registers::TABLE_COMMAND, command);
        while bare.bar.read32(registers::TABLE_COMMAND) & registers::TABLE_BUSY != 0 {}
    }
}

/// A device with a queue of two entries that no connection uses.
fn open() -> Bare {
    let mut bare = Bare::open(simulation(256), Config::default(), FIRST, 0);
    let created = bare.device.create_completion_queue(SMALL, 1);
    created.expect("its number is free");
    bare
}

/// A device with a connection whose two messages fill the queue, unpolled.
fn full() -> (Bare, Peer) {
    let mut bare = open();
    let mut peer = Peer::open(&mut bare, 50_000, QueueId(0));
    peer.misplace(&mut bare, SMALL);
    for number in 0..2 {
        peer.sender.send(&pattern(20 + number));
    }
    peer.deliver(&mut bare);
    assert_eq!(bare.bar.read32(producer(SMALL)), 2);
    assert_eq!(bare.bar.read32(registers::CQ_OVERFLOW), 0);
    (bare, peer)
}

fn producer(queue: QueueId) -> u32 {
    registers::cq_register(u32::from(queue.0), registers::CQ_PRODUCER)
}

/// The messages that a queue reports: connection and length.
fn polled(bare: &mut Bare, queue: QueueId) -> Vec<(ConnectionId, u32)> {
    let device = &mut bare.device;
    let poll = || device.poll_completion_queue(queue).expect("it exists");
    let completions = std::iter::from_fn(poll);
    let message = |completion| match completion {
        Completion::Receive {
            connection, length, ..
        } => (connection, length),
        other => panic!("{other:?} is no message"),
    };
    completions.map(message).collect()
}

/// Cycles from the first of 44 full frames of another connection to the last write, all of which
/// must be placed.
fn rate(bare: &mut Bare) -> u64 {
    let mut other = Peer::open(bare, 60_000, QueueId(0));
    let counted = bare.counter(Fpdus);
    for _ in 0..FRAMES {
        other.sender.rdma_write(STAG, REGION_TO, &pattern(1400));
    }
    let begun = bare.simulation.borrow().now();
    other.deliver(bare);
    let ended = bare.simulation.borrow().last_write();
    assert_eq!(bare.counter(Fpdus) - counted, FRAMES as u32);
    other.sender.send(&pattern(7));
    other.deliver(bare);
    assert_eq!(
        polled(bare, QueueId(0)),
        [(other.connection, 7)],
        "its own queue has room"
    );
    ended - begun
}

/// Each of 16 connections finds its entries, and no others, in its own queue.
#[test]
fn entries_go_to_the_queue_of_their_connection() {
    let mut bare = Bare::open(simulation(256), Config::default(), FIRST, 0);
    let mut peers = Vec::new();
    for number in (0..COMPLETION_QUEUES as u8).rev() {
        let queue = QueueId(number);
        if number > 0 {
            let created = bare.device.create_completion_queue(queue, 4);
            created.expect("its number is free");
        }
        let peer = Peer::open(&mut bare, 50_000 + u16::from(number), queue);
        peers.push((queue, peer));
    }
    for round in 0..3 {
        for (queue, peer) in &mut peers {
            for message in 0..1 + round {
                let octets = 1 + 3 * usize::from(queue.0) + message;
                peer.sender.send(&pattern(octets));
            }
            peer.queue(&bare);
        }
        bare.run_until_idle();
        for (queue, peer) in &peers {
            let length = |message| 1 + 3 * u32::from(queue.0) + message;
            let expected: Vec<_> = (0..=round as u32)
                .map(|message| (peer.connection, length(message)))
                .collect();
            assert_eq!(polled(&mut bare, *queue), expected, "{queue:?}");
        }
    }
    assert_eq!(bare.device.overflowed_queues(), Ok(vec![]));
    bare.assert_clean();
}

/// The third message finds no room: it is not placed, nothing after it is, and the entries in
/// memory stay as they are. Everybody else goes on at the usual rate.
#[test]
fn a_full_completion_queue_stops_only_its_own_connections() {
    let usual = rate(&mut open());
    let (mut bare, mut peer) = full();
    peer.sender.rdma_write(STAG, REGION_TO, &pattern(50));
    peer.sender.send(&pattern(33));
    peer.sender.rdma_write(STAG, REGION_TO + 1000, &pattern(50));
    peer.sender.send(&pattern(34));
    peer.deliver(&mut bare);
    assert_eq!(bare.counter(RefuseCqOverflow), 1);
    assert_eq!(bare.counter(Completions), 2);
    assert_eq!(bare.bar.read32(producer(SMALL)), 2);
    assert_eq!(bare.device.overflowed_queues(), Ok(vec![SMALL]));
    let region = bare.region();
    assert_eq!(region[..50], pattern(50), "a Write needs no entry");
    assert!(region[50..].iter().all(|&octet| octet == 0));
    for number in [2, 3] {
        let buffer = peer.buffer(&mut bare, number);
        assert!(buffer.iter().all(|&octet| octet == 0), "buffer {number}");
    }
    let beside = rate(&mut bare);
    println!("{beside} cycles beside a full queue, {usual} without");
    assert!(beside as f64 <= 1.01 * usual as f64);
    let expected = [(peer.connection, 20), (peer.connection, 21)];
    assert_eq!(polled(&mut bare, SMALL), expected);
    // Room that comes later does not make the stream go on.
    peer.sender.send(&pattern(35));
    peer.deliver(&mut bare);
    assert_eq!(polled(&mut bare, SMALL), []);
    bare.assert_clean();
}

/// Connections that share a full queue: one that needs no entry goes on until its owner polls; the
/// others stop, each with its own error, and its id is fit for the next one.
#[test]
fn connections_of_a_full_queue_stop_when_they_need_an_entry() {
    let (mut bare, first) = full();
    let mut peers: Vec<Peer> = (1..4)
        .map(|number| {
            let peer = Peer::open(&mut bare, 50_000 + number, QueueId(0));
            peer.misplace(&mut bare, SMALL);
            peer
        })
        .collect();
    // Refused for what it is, though nothing can say so.
    peers[0].sender.rdma_write(STAG ^ 0xff, 0, &pattern(9));
    peers[1].sender.send(&pattern(9));
    peers[2]
        .sender
        .rdma_write(STAG, REGION_TO + 2000, &pattern(60));
    for peer in &mut peers {
        peer.deliver(&mut bare);
    }
    assert_eq!(bare.counter(RefuseDdpStag), 1);
    assert_eq!(bare.counter(RefuseCqOverflow), 1);
    assert_eq!(bare.counter(Completions), 2);
    assert_eq!(bare.device.overflowed_queues(), Ok(vec![SMALL]));
    let expected = [(first.connection, 20), (first.connection, 21)];
    assert_eq!(polled(&mut bare, SMALL), expected);
    peers[2].sender.send(&pattern(11));
    peers[2].deliver(&mut bare);
    assert_eq!(bare.region()[2000..2060], pattern(60));
    assert_eq!(polled(&mut bare, SMALL), [(peers[2].connection, 11)]);
    let refused = peers[1].connection;
    bare.device.close_connection(refused).expect("it is open");
    let mut next = Peer::open(&mut bare, 50_009, QueueId(0));
    assert_eq!(next.connection, refused);
    next.sender.send(&pattern(12));
    next.deliver(&mut bare);
    assert_eq!(polled(&mut bare, QueueId(0)), [(refused, 12)]);
    bare.assert_clean();
}

/// A region is taken away while a queue is full and nobody polls: it does not wait for that.
#[test]
fn a_revocation_does_not_wait_for_a_full_completion_queue() {
    let (mut bare, mut peer) = full();
    peer.sender.send(&pattern(33));
    peer.deliver(&mut bare);
    let begun = bare.simulation.borrow().now();
    bare.device.deregister_region(STAG).expect("it is there");
    let cycles = bare.simulation.borrow().now() - begun;
    assert!(cycles < REVOCATION_CYCLES, "{cycles} cycles");
    assert_eq!(polled(&mut bare, SMALL).len(), 2);
    bare.assert_clean();
}

/// A queue that has exactly the entries that the driver asks for holds all that can come, though
/// nobody polls: messages on two queues, a read, and the error of their connection.
#[test]
fn every_entry_that_was_promised_has_room() {
    const QUEUE: QueueId = QueueId(9);
    let mut bare = Bare::open(simulation(256), Config::default(), FIRST, 0);
    let created = bare.device.create_completion_queue(QUEUE, 4);
    created.expect("its number is free");
    let mut peer = Peer::open(&mut bare, 50_000, QUEUE);
    let connection = peer.connection;
    let more = bare.device.open_queue(connection, 1, 3);
    let refused = DriverError::CompletionQueueSize {
        queue: 9,
        entries: 16,
        needed: 17,
    };
    assert_eq!(more, Err(refused));
    let reads = READ_QUEUE as u32;
    for (qn, log2) in [(1, 2), (2, 0), (reads, 1)] {
        let opened = bare.device.open_queue(connection, qn, log2);
        opened.expect("8 + 4 + 1 + 2 and an error are 16");
    }
    (0..4).for_each(|_| peer.post(&mut bare, 1));
    for _ in 0..2 {
        let posted = bare.device.post_read(connection, 0, 0, 0);
        posted.expect("there is room");
    }
    for number in 0..8 {
        peer.sender.send(&pattern(number));
    }
    let request = ReadRequestRepr {
        sink_stag: STAG,
        sink_to: 0,
        size: 1,
        source_stag: STAG,
        source_to: 0,
    };
    for _ in 0..4 {
        peer.sender.read_request(&request);
    }
    (0..2).for_each(|_| peer.sender.read_response(0, 0, &[]));
    peer.sender.send(&pattern(1));
    peer.deliver(&mut bare);
    assert_eq!(bare.counter(RefuseDdpNoBuffer), 1);
    assert_eq!(bare.counter(Completions), 15);
    assert_eq!(bare.device.overflowed_queues(), Ok(vec![]));
    let device = &mut bare.device;
    let poll = || device.poll_completion_queue(QUEUE).expect("it exists");
    let completions: Vec<Completion> = std::iter::from_fn(poll).collect();
    assert_eq!(completions.len(), 15);
    assert!(matches!(completions[14], Completion::Error { .. }));
    bare.assert_clean();
}
