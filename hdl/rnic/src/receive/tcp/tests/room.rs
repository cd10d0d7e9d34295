//! The whole room against the model: every row of the acceptance table, stalls on every side, table
//! operations between the segments.
use super::keys::Key;
use super::model::{Model, Stream, ACK};
use super::ports::{check_outputs, Ports};
use super::traffic::{random_frame, Mood};
use crate::messages::{
    ConnectionKey, FrameInfo, FrameVerdict, PageChain, SegmentInfo, StoredFrame,
};
use crate::receive::tcp::context::QueuedFrame;
use crate::receive::tcp::decision::*;
use crate::receive::tcp::TcpRoom;
use rnic_abi::limits::HASH_WAYS;
use rnic_abi::registers::OUT_OF_ORDER_PAGES_MAX;
use rnic_abi::tables;
use rnic_hdl_tools::testkit::{
    bits_of, lockstep, simulate, Pace, Random, Simulation, StreamDriver,
};
use rust_hdl::prelude::*;

/// A key, and whether it is in the table.
pub(super) struct Connection {
    pub(super) key: Key,
    known: bool,
}

/// The model, the keys of its streams, and the state of the ports.
#[derive(Default)]
pub(super) struct Bench {
    pub(super) model: Model,
    pub(super) connections: Vec<Connection>,
    mood: usize,
    /// Frames with the streams they belong to.
    stored: StreamDriver<(StoredFrame, QueuedFrame, Option<usize>)>,
    pub(super) ports: Ports,
    serial: u64,
}

fn data<const N: usize>(value: u128) -> Bits<N> {
    bits_of(&value.to_le_bytes())
}

/// The frame as packet memory hands it on.
pub(super) fn stored(frame: &QueuedFrame, key: &Key) -> StoredFrame {
    let info = FrameInfo {
        ipv6: key.ipv6,
        key: ConnectionKey {
            remote_address: key.bits(0),
            local_address: key.bits(16),
            ports: key.bits(32),
        },
        segment: frame.segment,
    };
    StoredFrame {
        info,
        key_hash: key.hash(),
        pages: frame.pages,
    }
}

impl Bench {
    pub(super) fn with_connections(count: usize, random: &mut Random) -> Self {
        let mut bench = Self::default();
        for index in 0..count {
            let key = Key::random(random);
            bench.connections.push(Connection { key, known: false });
            let stream = Stream::new((index as u64 * 37) % 1024, 0, 0);
            bench.model.streams.push(stream);
            bench.queue_lookup(index, index % HASH_WAYS, true);
        }
        bench
    }

    /// A LOOKUP write; the key's slots are free (collisions of so few keys would fail the test).
    pub(super) fn queue_lookup(&mut self, index: usize, way: usize, insert: bool) {
        let connection = &mut self.connections[index];
        connection.known = insert;
        let mut bits: Bits<320> = data(u128::from(self.model.streams[index].connection));
        bits = bits
            .replace_bit(31, insert)
            .replace_bit(30, connection.key.ipv6);
        let key: Bits<288> = connection.key.bits(0);
        for bit in 0..288 {
            bits = bits.replace_bit(32 + bit, key.get_bit(bit));
        }
        let slot = connection.key.indices()[way] as u64;
        self.ports
            .queue(tables::WRITE, tables::LOOKUP, slot, bits, (0, !0));
    }

    /// The ranges of the connection released, then its context written.
    pub(super) fn queue_context(&mut self, index: usize, rcv_nxt: u32, window: u32) {
        let connection = self.model.streams[index].connection;
        self.model.release(index);
        let nothing = Bits::default();
        self.ports
            .queue(tables::RELEASE, tables::TCP, connection, nothing, (0, !0));
        let stream = Stream::new(connection, rcv_nxt, window);
        let (words, _) = stream.tcp_words();
        self.ports
            .queue(tables::WRITE, tables::TCP, connection, data(words), (0, !0));
        self.model.streams[index] = stream;
        self.model.begin(index);
    }

    /// Reads all tables of a connection.
    pub(super) fn queue_reads(&mut self, index: usize) {
        let stream = self.model.streams[index].clone();
        let nothing = Bits::default();
        let connection = stream.connection;
        self.ports.queue(
            tables::READ,
            tables::TCP,
            connection,
            nothing,
            stream.tcp_words(),
        );
        self.ports.queue(
            tables::READ,
            tables::OUT_OF_ORDER,
            connection,
            nothing,
            stream.ooo_words(),
        );
        for (place, range) in stream.ranges.iter().enumerate() {
            let words = stream.range_words(place);
            self.ports
                .queue(tables::READ, tables::RANGE, range.number, nothing, words);
        }
    }

    fn random_frame(&mut self, random: &mut Random) -> (StoredFrame, QueuedFrame, Option<usize>) {
        let index = random.below(self.connections.len() as u64) as usize;
        let mood = [Mood::Ordered, Mood::Mixed, Mood::Ordered, Mood::Bridging][self.mood];
        self.serial += 1;
        let stream = &self.model.streams[index];
        let (frame, is_ours) = random_frame(stream, mood, self.serial, random);
        let connection = &self.connections[index];
        let key = if is_ours {
            connection.key
        } else {
            connection.key.changed(random)
        };
        let found = (is_ours && connection.known).then_some(index);
        (stored(&frame, &key), frame, found)
    }
}

/// Holds the oldest table operation at the bus until it is done.
pub(super) fn drive_table(uut: &mut TcpRoom, bench: &mut Bench, random: &mut Random) {
    let ports = &mut bench.ports;
    ports.check_table(uut.table_done.val(), uut.table_data.val());
    let operation = ports.operations.offer(random);
    uut.table_valid.next = operation.is_some();
    if let Some(operation) = operation {
        uut.table_request.next = operation.request;
    }
}

/// Draws a frame when `offer` says so, and holds it until it is taken.
fn drive_frame(uut: &mut TcpRoom, bench: &mut Bench, offer: bool, random: &mut Random) {
    if bench.stored.is_empty() && offer {
        let frame = bench.random_frame(random);
        bench.stored.push(frame);
    }
    let (data, valid, ready) = (&mut uut.stored, &mut uut.stored_valid, &uut.stored_ready);
    let message = |sent: &(StoredFrame, _, _)| sent.0;
    let taken = bench.stored.drive_as(message, data, valid, ready, random);
    if let Some((_, frame, stream)) = taken {
        bench.model.take(&frame, stream);
    }
}

/// Cycles of a round, and of those in which frames come.
const ROUND: usize = 1800;
const TRAFFIC_END: usize = 1150;

/// One round after the other: contexts and keys are written, segments pass, contexts are read back.
fn plan(uut: &mut TcpRoom, bench: &mut Bench, cycle: usize, random: &mut Random) -> bool {
    uut.fragment_free.next = false;
    // Spans are released at once; a credit that was not taken is ignored.
    uut.span_free.next = true;
    bench.mood = (cycle / ROUND) % 4;
    match cycle % ROUND {
        0 => {
            let limits = [448, 60, 40, 448];
            uut.ooo_pages.next = limits[bench.mood].into();
            uut.ooo_share.next = (limits[bench.mood] / 2).into();
            bench.model.ooo_pages = limits[bench.mood];
            bench.model.ooo_share = limits[bench.mood] / 2;
            for index in 0..bench.connections.len() {
                let windows = [0, 5, 3000, 1 << 16, 1 << 30];
                // Just below the wrap, so that most rounds pass it.
                let rcv_nxt = random.below(1 << 14) as u32 ^ 0xffff_e000;
                bench.queue_context(index, rcv_nxt, windows[random.below(5) as usize]);
            }
        }
        1..=64 if bench.model.fragments_out > 0 => {
            bench.model.fragments_out -= 1;
            uut.fragment_free.next = true;
        }
        TRAFFIC_END => assert!(bench.ports.operations.is_empty(), "tables are slow"),
        1500 => {
            assert!(bench.model.is_done(), "frames stay in the room");
            (0..bench.connections.len()).for_each(|index| bench.queue_reads(index));
            let nothing = Bits::default();
            bench
                .ports
                .queue(tables::READ, tables::LOOKUP, 0, nothing, (0, !0));
            // A key goes, or comes back.
            let index = random.below(bench.connections.len() as u64) as usize;
            let insert = !bench.connections[index].known;
            bench.queue_lookup(index, index % HASH_WAYS, insert);
        }
        _ => {}
    }
    (400..TRAFFIC_END).contains(&(cycle % ROUND))
}

/// Lockstep with the emitted Verilog, and with the model. Only segments that TCP commits to reach
/// MPA (MPA-037), each octet once (MPA-038), and foreign traffic reaches the host in order
/// (MPA-027).
#[test]
fn each_frame_leaves_once_as_the_table_says() {
    let mut bench = Bench::with_connections(6, &mut Random::from_environment());
    let mut cycle = 0;
    lockstep!("tcp_room", TcpRoom::default(), 25_200, |uut, random| {
        uut.reset.next = cycle == 0;
        let busy = !bench.ports.operations.is_empty();
        let stalls = if busy || cycle % ROUND > TRAFFIC_END {
            8
        } else {
            [8, 8, 4, 1][(cycle / ROUND) % 5 % 4]
        };
        let pace = Pace::of_8(stalls);
        check_outputs!(uut, bench.ports, bench.model, pace, random);
        let traffic = plan(uut, &mut bench, cycle, random);
        // After a reset the relay shows zero data for a cycle.
        if cycle > 1 {
            drive_table(uut, &mut bench, random);
        }
        let offer = traffic && !busy && random.chance([8, 1][(cycle / 300) % 2], 8);
        drive_frame(uut, &mut bench, offer, random);
        cycle += 1;
    });
    assert!(bench.model.is_done(), "frames stay in the room");
    assert_eq!(bench.ports.counted, bench.model.counts, "counters");
    assert!(bench.ports.reports.reads > 500);
    let seen = &bench.model.seen;
    assert!(seen.reasons.iter().all(|count| *count > 10), "{seen:?}");
    let counts = bench.model.counts;
    let frequent = |bit: usize| !matches!(bit, COUNT_NO_RANGE);
    let mut rows = counts.iter().enumerate();
    assert!(
        rows.all(|(bit, count)| !frequent(bit) || *count > 0),
        "{counts:?}"
    );
}

/// A connected room with one connection in its tables, window wide open.
fn open_room(random: &mut Random) -> (Simulation<TcpRoom>, Bench) {
    let mut uut = simulate!(TcpRoom::default());
    uut.ooo_pages.next = u64::from(OUT_OF_ORDER_PAGES_MAX).into();
    uut.ooo_share.next = u64::from(OUT_OF_ORDER_PAGES_MAX).into();
    uut.settle();
    let mut bench = Bench::with_connections(1, random);
    bench.queue_context(0, 0, 1 << 20);
    while !bench.ports.operations.is_empty() {
        drive_table(&mut uut, &mut bench, random);
        uut.tick();
    }
    uut.accepted_ready.next = true;
    uut.host_frame_ready.next = true;
    uut.page_release_ready.next = true;
    (uut, bench)
}

fn segment(bench: &Bench, sequence: u64, octets: u64) -> StoredFrame {
    let segment = SegmentInfo {
        verdict: FrameVerdict::Tcp,
        flags: ACK.into(),
        checksum_good: true,
        seg_seq: sequence.into(),
        payload_offset: 56u64.into(),
        payload_octets: octets.into(),
        ..SegmentInfo::default()
    };
    let frame = QueuedFrame {
        segment,
        pages: PageChain::default(),
    };
    stored(&frame, &bench.connections[0].key)
}

#[test]
fn accepts_after_twelve_cycles() {
    let mut random = Random::from_environment();
    let (mut uut, bench) = open_room(&mut random);
    uut.stored.next = segment(&bench, 0, 100);
    uut.stored_valid.next = true;
    let cycles = uut.wait_for(100, |uut| uut.accepted_valid.val());
    assert_eq!(cycles, 12);
}

#[test]
fn accepts_one_segment_per_five_cycles() {
    let mut random = Random::from_environment();
    let (mut uut, bench) = open_room(&mut random);
    let (mut sent, mut accepted, mut cycles) = (0u64, 0u64, 0u64);
    while accepted < 200 {
        uut.stored.next = segment(&bench, 10 * sent, 10);
        uut.stored_valid.next = true;
        uut.settle();
        sent += u64::from(uut.stored_ready.val());
        uut.tick();
        cycles += 1;
        accepted += u64::from(uut.accepted_valid.val());
        assert!(cycles < 2000, "{accepted} accepted");
    }
    assert!(cycles <= 5 * 200 + 12, "{cycles} cycles for 200 segments");
}

/// Once the removal of a key is done, no octet of that connection follows.
#[test]
fn a_lookup_write_waits_for_earlier_frames() {
    let mut random = Random::from_environment();
    let (mut uut, mut bench) = open_room(&mut random);
    uut.accepted_ready.next = false;
    let mut sent = 0;
    for _ in 0..60 {
        uut.stored.next = segment(&bench, 10 * sent, 10);
        uut.stored_valid.next = sent < 12;
        uut.settle();
        sent += u64::from(uut.stored_ready.val() && uut.stored_valid.val());
        uut.tick();
    }
    bench.queue_lookup(0, 0, false);
    let mut accepted = 0;
    for cycle in 0..400 {
        drive_table(&mut uut, &mut bench, &mut random);
        uut.accepted_ready.next = cycle > 100 && random.chance(1, 4);
        uut.settle();
        accepted += u64::from(uut.accepted_valid.val() && uut.accepted_ready.val());
        if uut.table_done.val() {
            break;
        }
        assert!(cycle < 399, "the write is never done");
        uut.tick();
    }
    assert_eq!(accepted, sent, "octets came after the key was gone");
}
