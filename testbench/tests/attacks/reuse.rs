//! Connections closed while their FPDUs wait before the checks, as host memory is slow, and
//! the next connection with the same id: the FPDUs are the old one's.
//!
//! ```text
//!  a neighbour's Sends fill placement -> FPDUs of the connection wait
//!      -> it is closed -> its id is opened for another peer, of another domain
//! ```

use crate::bare::{simulation, Bare, REGION_OCTETS, REGION_TO, STAG, WINDOW};
use crate::scene::pattern;
use rnic_abi::counters::Counter::{self, *};
use rnic_abi::limits::PAGES;
use rnic_abi::registers;
use rnic_abi::tables::{self, RIGHT_REMOTE_WRITE};
use rnic_driver::{Bar, Completion, Config, ConnectionId, Dma, DmaBuffer, RegionConfig};
use rnic_testbench::traffic::frame::FLAG_ACK;
use rnic_testbench::traffic::{Endpoint, FrameBuilder, Sender, StreamConfig};

const FIRST: u64 = 0x1_0000_0000;
/// Share of cycles in which the host takes nothing.
const STALL: f64 = 0.99;
/// Cycles until all frames are received, and their octets read.
const ARRIVAL_CYCLES: usize = 2000;
/// Sends of the neighbour, and log2 of their buffers: the last ones wait before the checks.
const SENDS: usize = 38;
const QUEUE_LOG2: u32 = 6;
/// Writes of the connection after them.
const WRITES: usize = 4;
const WRITE_OCTETS: usize = 100;
/// Id of the connection: the neighbour has the first one.
const CLOSED: ConnectionId = ConnectionId(1);
/// Domain of the first owner, who has [`STAG`], and of the second one with his region.
const DOMAIN: u16 = 3;
const NEXT_DOMAIN: u16 = 4;
const NEXT_STAG: u32 = 0x00c0_ffee;
/// Where the new peer writes.
const NEXT_OFFSET: usize = 2000;
/// Cycles in which a release without anything to wait for is surely over.
const RELEASE_CYCLES: usize = 500;

/// The connection that is closed, or the next one of its id.
struct Peer {
    builder: FrameBuilder,
    sender: Sender,
    connection: ConnectionId,
}

impl Peer {
    fn open(bare: &mut Bare, port: u16, domain: u16) -> Self {
        let builder = FrameBuilder::new(Endpoint::host(9, port), Endpoint::host(8, 4_420));
        let config = builder.connection(&StreamConfig::default(), WINDOW, domain);
        let connection = bare.device.open_connection(&config).expect("there is room");
        Self {
            builder,
            sender: Sender::new(StreamConfig::default()),
            connection,
        }
    }

    /// Write octets at `offset` of the region `stag`.
    fn write(&mut self, bare: &mut Bare, stag: u32, offset: usize, octets: &[u8]) {
        let start = self.sender.stream().len();
        let to = REGION_TO + offset as u64;
        self.sender.rdma_write(stag, to, octets);
        let fpdu = &self.sender.stream()[start..];
        let sequence = self.sender.sequence(start);
        let frame = self.builder.segment(sequence, 1, FLAG_ACK, fpdu);
        bare.push(&frame, false);
    }
}

/// A device whose host is slow, and Writes to `stag` of a connection that is open; the
/// region of the second owner.
fn with_writes_that_wait(stag: u32) -> (Bare, Peer, DmaBuffer) {
    let mut bare = Bare::open(simulation(256), Config::default(), FIRST, QUEUE_LOG2);
    let theirs = bare.device.dma().allocate("next region", REGION_OCTETS, 1);
    let theirs = theirs.expect("memory is there");
    let region = RegionConfig {
        stag: NEXT_STAG,
        rights: RIGHT_REMOTE_WRITE,
        protection_domain: NEXT_DOMAIN,
        connection: None,
        tagged_offset: REGION_TO,
        octets: REGION_OCTETS as u64,
        address: theirs.address,
    };
    bare.device.register_region(&region).expect("a region");
    let mut peer = Peer::open(&mut bare, 50_000, DOMAIN);
    for n in 0..SENDS {
        bare.sender.send(&pattern(1 + n));
    }
    bare.simulation.borrow_mut().set_stall(STALL);
    bare.send_all();
    for write in 0..WRITES {
        let octets = [0xe0 + write as u8; WRITE_OCTETS];
        peer.write(&mut bare, stag, write * WRITE_OCTETS, &octets);
    }
    bare.simulation.borrow_mut().run(ARRIVAL_CYCLES);
    let free = bare.simulation.borrow().free_pages();
    assert_eq!(free, PAGES as u32, "all octets have been read");
    let judged = bare.counter(Fpdus) as usize;

    assert!(judged < SENDS, "no Write is through the checks");
    (bare, peer, theirs)
}

fn octets_of(bare: &mut Bare, piece: DmaBuffer) -> Vec<u8> {
    let mut octets = vec![0; piece.octets];
    bare.device.dma().read(piece.address, &mut octets);
    octets
}

/// What the completion queue reported.
#[derive(Debug, Default, PartialEq)]
struct Completed {
    sends: usize,
    /// Connections with an error record.
    errors: Vec<ConnectionId>,
}

impl Completed {
    /// Take what is in the queue.
    fn poll(&mut self, bare: &mut Bare) {
        while let Some(completion) = bare.device.poll_completion() {
            match completion {
                Completion::Receive { .. } => self.sends += 1,
                Completion::Error { connection, .. } => self.errors.push(connection),
                other => panic!("{other:?} was not asked for"),
            }
        }
    }

    /// Take all that comes until the core is idle.
    fn drain(&mut self, bare: &mut Bare) {
        let mut before = usize::MAX;
        while before != self.sends + self.errors.len() {
            before = self.sends + self.errors.len();
            bare.run_until_idle();
            self.poll(bare);
        }
    }
}

/// Give the id of `peer` to a peer of the other domain, as the driver does.
fn by_the_driver(bare: &mut Bare, peer: Peer, _: &mut Completed) -> Peer {
    let closed = peer.connection;
    bare.device.close_connection(closed).expect("it is open");
    let next = Peer::open(bare, 60_000, NEXT_DOMAIN);
    assert_eq!(next.connection, closed, "the id is used again");
    next
}

/// A table operation that is over when this returns; completions are polled meanwhile.
fn operate(bare: &mut Bare, operation: [u32; 2], words: &[u32], completed: &mut Completed) {
    let [operation, table] = operation;
    for word in 0..registers::TABLE_DATA_WORDS {
        let value = words.get(word).copied().unwrap_or(0);
        let offset = registers::TABLE_DATA + 4 * word as u32;
        bare.bar.write32(offset, value);
    }
    let command = registers::table_command(operation, table, u32::from(CLOSED.0));
    bare.bar.write32(registers::TABLE_COMMAND, command);
    while bare.bar.read32(registers::TABLE_COMMAND) & registers::TABLE_BUSY != 0 {
        completed.poll(bare);
    }
}

/// The same by a driver that writes the next domain right after the release, with no fence between
/// them; the next peer has the key of the one before.
fn by_hand(bare: &mut Bare, peer: Peer, completed: &mut Completed) -> Peer {
    let sender = Sender::new(StreamConfig::default());
    let start = sender.sequence(0);
    let domain = u32::from(NEXT_DOMAIN) | 1 << 16;
    let crc = 1 << 1;
    for (operation, words) in [
        ([tables::RELEASE, tables::TCP], [0, 0]),
        ([tables::RELEASE, tables::MPA], [0, 0]),
        ([tables::WRITE, tables::DDP], [domain, 0]),
        ([tables::WRITE, tables::TCP], [start, WINDOW]),
        ([tables::WRITE, tables::MPA], [start, crc]),
    ] {
        operate(bare, operation, &words, completed);
    }
    Peer { sender, ..peer }
}

/// Writes to `stag` wait, and the id of their connection is given to a peer of the other domain,
/// which writes to its own region. One of the old FPDUs is `refused`, and no other effect shows.
fn id_is_given(stag: u32, refused: Counter, give: fn(&mut Bare, Peer, &mut Completed) -> Peer) {
    let (mut bare, peer, theirs) = with_writes_that_wait(stag);
    assert_eq!(peer.connection, CLOSED);
    let mut completed = Completed::default();
    let mut next = give(&mut bare, peer, &mut completed);
    let octets = pattern(WRITE_OCTETS);
    next.write(&mut bare, NEXT_STAG, NEXT_OFFSET, &octets);
    completed.drain(&mut bare);
    // One record, of the previous connection.
    let expected = Completed {
        sends: SENDS,
        errors: vec![CLOSED],
    };
    assert_eq!(completed, expected);
    let mut expected = vec![0; REGION_OCTETS];
    expected[NEXT_OFFSET..NEXT_OFFSET + WRITE_OCTETS].copy_from_slice(&octets);
    assert!(
        octets_of(&mut bare, theirs) == expected,
        "region of NEXT_STAG"
    );
    assert!(bare.region().iter().all(|&octet| octet == 0));
    assert_eq!(bare.counter(refused), 1);
    assert_eq!(bare.counter(Fpdus) as usize, SENDS + 1 + 1);
    let close = bare.device.close_connection(next.connection);
    close.expect("it is open");
    bare.assert_clean();
}

/// DDP-047: Writes to a region of another domain wait; their connection is closed, and its id is
/// opened for that domain. They are refused as they would have been before.
#[test]
fn an_id_opened_for_another_domain_lets_no_old_write_in() {
    id_is_given(NEXT_STAG, RefuseDdpAssociation, by_the_driver);
}

/// DDP-046: an FPDU that stops its stream waits; the id's next stream is not the one that it stops.
#[test]
fn an_id_opened_again_does_not_get_the_old_error() {
    id_is_given(NEXT_STAG ^ 1, RefuseDdpStag, by_the_driver);
}

/// DDP-047, DDP-046: the same without the driver's fence after the release: it is the device that
/// answers a release after the checks.
#[test]
fn a_release_ends_after_the_checks_whatever_follows_it() {
    id_is_given(NEXT_STAG, RefuseDdpAssociation, by_hand);
    id_is_given(NEXT_STAG ^ 1, RefuseDdpStag, by_hand);
}

/// What TCP has accepted before a close, and is whole, is in memory when the driver's call returns,
/// with nothing polled and no cycle more.
#[test]
fn writes_that_wait_are_placed_when_the_close_returns() {
    let (mut bare, peer, theirs) = with_writes_that_wait(STAG);
    assert!(bare.region().iter().all(|&octet| octet == 0), "they wait");
    let close = bare.device.close_connection(peer.connection);
    close.expect("it is open");
    let region = bare.region();
    for write in 0..WRITES {
        let octets = &region[write * WRITE_OCTETS..][..WRITE_OCTETS];
        assert_eq!(octets, [0xe0 + write as u8; WRITE_OCTETS]);
    }
    let next = Peer::open(&mut bare, 60_000, NEXT_DOMAIN);
    let mut completed = Completed::default();
    completed.drain(&mut bare);
    assert_eq!((completed.sends, completed.errors), (SENDS, vec![]));
    assert_eq!(bare.region(), region);
    assert!(octets_of(&mut bare, theirs).iter().all(|&octet| octet == 0));
    bare.device
        .close_connection(next.connection)
        .expect("it is open");
    bare.assert_clean();
}

/// A driver is killed while a release waits for a slow host: the next one's reset
/// ends it, and its own table operations are answered.
#[test]
fn a_reset_ends_a_release_that_waits() {
    let (mut bare, peer, _) = with_writes_that_wait(STAG);
    let index = u32::from(peer.connection.0);
    let release = registers::table_command(tables::RELEASE, tables::MPA, index);
    bare.bar.write32(registers::TABLE_COMMAND, release);
    bare.simulation.borrow_mut().run(RELEASE_CYCLES);
    let command = bare.bar.read32(registers::TABLE_COMMAND);
    assert_ne!(command & registers::TABLE_BUSY, 0, "it waits");
    let host = bare.simulation.clone();
    host.borrow_mut().set_stall(0.0);
    let mut next = Bare::open(host, Config::default(), FIRST + (1 << 40), 1);
    next.sender
        .rdma_write(STAG, REGION_TO, &pattern(WRITE_OCTETS));
    next.deliver();
    assert_eq!(&next.region()[..WRITE_OCTETS], pattern(WRITE_OCTETS));
    next.close();
    next.assert_clean();
}
