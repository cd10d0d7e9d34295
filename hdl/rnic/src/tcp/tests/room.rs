//! The whole room against a model in plain integers: every row of the acceptance table, stalls on
//! every side, table operations between the segments.
use super::keys::Key;
use crate::messages::{StoredFrame, TableRequest, VERDICT_HOST, VERDICT_TCP};
use crate::tcp::accept::*;
use crate::tcp::room::TcpRoom;
use crate::testkit::{lockstep, settle, tick, Random};
use rnic_abi::events::SegmentVerdict;
use rnic_abi::tables;
use rust_hdl::prelude::*;
use std::collections::VecDeque;

const FIN: u64 = 1 << 0;
const ACK: u64 = 1 << 4;

/// Table `TCP`, as the driver sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Context {
    rcv_nxt: u32,
    window: u32,
    ack: u32,
    wnd: u16,
    fin: bool,
}

impl Context {
    fn words(&self) -> u128 {
        u128::from(self.rcv_nxt)
            | (u128::from(self.window) << 32)
            | (u128::from(self.ack) << 64)
            | (u128::from(self.wnd) << 96)
            | (u128::from(self.fin) << 112)
    }
}

/// Where a frame must come out, with the fields of its message.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Leaves {
    Accepted {
        connection: u64,
        pages: (u64, u64),
        offset: u64,
        octets: u64,
    },
    Host {
        pages: (u64, u64),
        octets: u64,
    },
    Released {
        pages: (u64, u64),
    },
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Event {
    connection: u64,
    verdict: u64,
    seg_seq: u64,
    seg_len: u64,
}

struct Connection {
    key: Key,
    number: u64,
    known: bool,
    context: Context,
}

/// What the room should do, and the frames inside it.
#[derive(Default)]
struct Model {
    connections: Vec<Connection>,
    accepted: VecDeque<Leaves>,
    host: VecDeque<Leaves>,
    released: VecDeque<Leaves>,
    events: VecDeque<Event>,
    counts: [u64; COUNTS],
    counted: [u64; COUNTS],
    /// The frame at the port, and the connection it belongs to.
    offered: Option<(StoredFrame, Option<usize>)>,
    request: Option<Request>,
    operations: VecDeque<Request>,
    serial: u64,
}

/// A table operation and what it reads.
#[derive(Clone, Debug)]
struct Request {
    request: TableRequest,
    reads: u128,
}

fn number(value: Bits<128>) -> u128 {
    (0..128).fold(0, |sum, bit| sum | (u128::from(value.get_bit(bit)) << bit))
}

fn data<const N: usize>(value: u128) -> Bits<N> {
    (0..128).fold(Bits::default(), |bits: Bits<N>, bit| {
        bits.replace_bit(bit, (value >> bit) & 1 == 1)
    })
}

impl Model {
    fn with_connections(count: u64, random: &mut Random) -> Self {
        let mut model = Self::default();
        for index in 0..count {
            model.connections.push(Connection {
                key: Key::random(random),
                number: (index * 37) % 1024,
                known: false,
                context: Context::default(),
            });
            model.queue_lookup(index as usize, (index % 4) as usize, true);
        }
        model
    }

    /// A LOOKUP write; the key's slots are free (collisions of so few keys would fail the test).
    fn queue_lookup(&mut self, index: usize, way: usize, insert: bool) {
        let connection = &self.connections[index];
        let mut bits: Bits<320> = data(u128::from(connection.number));
        bits = bits
            .replace_bit(31, insert)
            .replace_bit(30, connection.key.ipv6);
        let key: Bits<288> = connection.key.bits(0);
        for bit in 0..288 {
            bits = bits.replace_bit(32 + bit, key.get_bit(bit));
        }
        let slot = connection.key.indices()[way] as u64;
        self.queue(tables::WRITE, tables::LOOKUP, slot, bits, 0);
        self.connections[index].known = insert;
    }

    fn queue_context(&mut self, index: usize, context: Context) {
        self.connections[index].context = context;
        let connection = self.connections[index].number;
        self.queue(
            tables::WRITE,
            tables::TCP,
            connection,
            data(context.words()),
            0,
        );
    }

    fn queue_read(&mut self, index: usize) {
        let connection = &self.connections[index];
        let (number, reads) = (connection.number, connection.context.words());
        self.queue(tables::READ, tables::TCP, number, Bits::default(), reads);
    }

    fn queue(&mut self, operation: u32, table: u32, index: u64, data: Bits<320>, reads: u128) {
        let request = TableRequest {
            operation: u64::from(operation).into(),
            table: u64::from(table).into(),
            index: index.into(),
            data,
        };
        self.operations.push_back(Request { request, reads });
    }

    fn random_frame(&mut self, random: &mut Random) -> (StoredFrame, Option<usize>) {
        let index = random.below(self.connections.len() as u64) as usize;
        let connection = &self.connections[index];
        let stranger = random.chance(1, 12);
        let key = if stranger {
            connection.key.changed(random)
        } else {
            connection.key
        };
        let context = connection.context;
        let length = match random.below(8) {
            0 => 0,
            1 => 1,
            2 => random.below(9000),
            _ => random.below(1500),
        };
        let distance: i64 = match random.below(10) {
            0 => -(random.below(2000) as i64),
            1 => i64::from(context.window) - 2 + random.below(4) as i64,
            2 => 1 + random.below(1 << 16) as i64,
            3 => -(length as i64) + random.below(3) as i64 - 1,
            _ => 0,
        };
        let flags = match random.below(16) {
            0 => random.below(64),
            1 | 2 => ACK | FIN,
            _ => ACK | (random.below(2) << 3),
        };
        self.serial += 1;
        let frame = StoredFrame {
            verdict: if random.chance(1, 20) {
                VERDICT_HOST
            } else {
                VERDICT_TCP
            }
            .into(),
            frame_octets: (60 + random.below(9000)).into(),
            ipv6: key.ipv6,
            remote_address: key.bits(0),
            local_address: key.bits(16),
            ports: key.bits(32),
            flags: flags.into(),
            checksum_good: !random.chance(1, 16),
            seg_seq: u64::from(context.rcv_nxt.wrapping_add(distance as u32)).into(),
            seg_ack: random.below(1 << 32).into(),
            seg_wnd: random.below(1 << 16).into(),
            payload_offset: (56 + random.below(100)).into(),
            payload_octets: length.into(),
            head_page: (self.serial % 512).into(),
            tail_page: random.below(512).into(),
        };
        (frame, (!stranger && connection.known).then_some(index))
    }

    /// The acceptance table, row by row.
    fn take(&mut self, frame: &StoredFrame, connection: Option<usize>) {
        let pages = (
            frame.head_page.index() as u64,
            frame.tail_page.index() as u64,
        );
        let octets = frame.frame_octets.index() as u64;
        let flags = frame.flags.index() as u64;
        let length = frame.payload_octets.index() as i64;
        let released = Leaves::Released { pages };
        let Some(index) = connection.filter(|_| frame.verdict.index() as u64 == VERDICT_TCP) else {
            self.host.push_back(Leaves::Host { pages, octets });
            return;
        };
        if !frame.checksum_good {
            self.counts[COUNT_CHECKSUM] += 1;
            self.released.push_back(released);
            return;
        }
        if flags & 0b100110 != 0 || (flags & FIN != 0 && length == 0) {
            self.counts[COUNT_CONTROL] += 1;
            self.host.push_back(Leaves::Host { pages, octets });
            return;
        }
        let number = self.connections[index].number;
        let context = &mut self.connections[index].context;
        context.ack = frame.seg_ack.index() as u32;
        context.wnd = frame.seg_wnd.index() as u16;
        if length == 0 {
            self.counts[COUNT_PURE_ACK] += 1;
            self.released.push_back(released);
            return;
        }
        let sequence = frame.seg_seq.index() as u32;
        let distance = i64::from(sequence.wrapping_sub(context.rcv_nxt) as i32);
        let window = i64::from(context.window);
        let end = (distance + length).min(window);
        let verdict = if distance >= window {
            SegmentVerdict::OutsideWindow
        } else if distance > 0 {
            SegmentVerdict::OutOfOrder
        } else if distance + length <= 0 {
            SegmentVerdict::Duplicate
        } else if end <= 0 {
            SegmentVerdict::OutsideWindow
        } else if distance < 0 {
            SegmentVerdict::Trimmed
        } else {
            SegmentVerdict::InOrder
        };
        self.events.push_back(Event {
            connection: number,
            verdict: verdict as u64,
            seg_seq: u64::from(sequence),
            seg_len: length as u64,
        });
        match verdict {
            SegmentVerdict::InOrder | SegmentVerdict::Trimmed => {
                self.counts[COUNT_IN_ORDER] += 1;
                self.counts[COUNT_TRIMMED] += u64::from(distance < 0);
                context.rcv_nxt = context.rcv_nxt.wrapping_add(end as u32);
                context.fin |= flags & FIN != 0 && end == distance + length;
                self.accepted.push_back(Leaves::Accepted {
                    connection: number,
                    pages,
                    offset: (frame.payload_offset.index() as i64 - distance) as u64,
                    octets: end as u64,
                });
                return;
            }
            SegmentVerdict::Duplicate => self.counts[COUNT_DUPLICATE] += 1,
            SegmentVerdict::OutOfOrder => self.counts[COUNT_OUT_OF_ORDER] += 1,
            SegmentVerdict::OutsideWindow => self.counts[COUNT_OUTSIDE_WINDOW] += 1,
            SegmentVerdict::NoRoom | SegmentVerdict::NoRange => unreachable!("not yet"),
        }
        self.released.push_back(released);
    }

    fn inside(&self) -> usize {
        self.accepted.len() + self.host.len() + self.released.len() + self.events.len()
    }
}

/// Compares what leaves in this cycle and sets the sinks' readiness.
fn check_outputs(uut: &mut TcpRoom, model: &mut Model, ready_of_8: u64, random: &mut Random) {
    uut.accepted_ready.next = random.chance(ready_of_8, 8);
    uut.host_frame_ready.next = random.chance(ready_of_8, 8);
    uut.page_release_ready.next = random.chance(ready_of_8, 8);
    if uut.accepted_valid.val() && uut.accepted_ready.next {
        let message = uut.accepted.val();
        let leaves = Leaves::Accepted {
            connection: message.connection.index() as u64,
            pages: (
                message.head_page.index() as u64,
                message.tail_page.index() as u64,
            ),
            offset: message.offset.index() as u64,
            octets: message.octets.index() as u64,
        };
        assert_eq!(Some(leaves), model.accepted.pop_front(), "{random}");
    }
    if uut.host_frame_valid.val() && uut.host_frame_ready.next {
        let message = uut.host_frame.val();
        let leaves = Leaves::Host {
            pages: (
                message.head_page.index() as u64,
                message.tail_page.index() as u64,
            ),
            octets: message.frame_octets.index() as u64,
        };
        assert_eq!(Some(leaves), model.host.pop_front(), "{random}");
    }
    if uut.page_release_valid.val() && uut.page_release_ready.next {
        let message = uut.page_release.val();
        let leaves = Leaves::Released {
            pages: (
                message.head_page.index() as u64,
                message.tail_page.index() as u64,
            ),
        };
        assert_eq!(Some(leaves), model.released.pop_front(), "{random}");
    }
    if uut.segment_event_valid.val() {
        let event = uut.segment_event.val();
        let event = Event {
            connection: event.connection.index() as u64,
            verdict: event.verdict.index() as u64,
            seg_seq: event.seg_seq.index() as u64,
            seg_len: event.seg_len.index() as u64,
        };
        assert_eq!(Some(event), model.events.pop_front(), "{random}");
    }
    for (bit, counted) in model.counted.iter_mut().enumerate() {
        *counted += u64::from(uut.counts.val().get_bit(bit));
    }
}

/// Holds the oldest table operation at the bus until it is done.
fn drive_table(uut: &mut TcpRoom, model: &mut Model, random: &Random) {
    let read = number(uut.table_data.val());
    if uut.table_done.val() {
        let request = model.request.take().expect("done without a request");
        assert_eq!(read, request.reads, "{:?}, {random}", request.request);
    } else {
        assert_eq!(
            read, 0,
            "table_data must be zero without table_done, {random}"
        );
    }
    if model.request.is_none() {
        model.request = model.operations.pop_front();
    }
    uut.table_valid.next = model.request.is_some();
    if let Some(request) = &model.request {
        uut.table_request.next = request.request;
    }
}

/// Offers a frame when `offer` says so, and holds it until it is taken.
fn drive_frame(uut: &mut TcpRoom, model: &mut Model, offer: bool, random: &mut Random) {
    if model.offered.is_none() && offer {
        model.offered = Some(model.random_frame(random));
    }
    uut.stored_valid.next = model.offered.is_some();
    if let Some((frame, connection)) = model.offered {
        uut.stored.next = frame;
        if uut.stored_ready.val() {
            model.take(&frame, connection);
            model.offered = None;
        }
    }
}

/// One round after the other: contexts and keys are written, segments pass, contexts are read back.
fn plan(model: &mut Model, cycle: usize, random: &mut Random) -> bool {
    const ROUND: usize = 1500;
    const TRAFFIC_END: usize = 1100;
    match cycle % ROUND {
        0 => {
            for index in 0..model.connections.len() {
                let windows = [0, 5, 3000, 1 << 16, 1 << 30];
                let context = Context {
                    // Close below the wrap, so that most rounds pass it.
                    rcv_nxt: random.below(1 << 14) as u32 ^ 0xffff_e000,
                    window: windows[random.below(5) as usize],
                    ..Context::default()
                };
                model.queue_context(index, context);
            }
        }
        TRAFFIC_END => assert!(model.operations.is_empty(), "tables are slow, {random}"),
        1300 => {
            assert_eq!(model.inside(), 0, "frames stay in the room, {random}");
            (0..model.connections.len()).for_each(|index| model.queue_read(index));
            model.queue(tables::READ, tables::LOOKUP, 0, Bits::default(), 0);
            // A key goes, or comes back.
            let index = random.below(model.connections.len() as u64) as usize;
            let insert = !model.connections[index].known;
            model.queue_lookup(index, index % 4, insert);
        }
        _ => {}
    }
    (200..TRAFFIC_END).contains(&(cycle % ROUND))
}

/// Lockstep with the emitted Verilog, and with the model. Only segments that TCP commits to reach
/// MPA (MPA-037), each octet once (MPA-038), and foreign traffic reaches the host in order
/// (MPA-027).
#[test]
fn every_frame_leaves_once_as_the_acceptance_table_says() {
    let mut model = Model::with_connections(6, &mut Random::from_environment());
    let mut cycle = 0;
    lockstep(
        "tcp_room",
        TcpRoom::default(),
        9_000,
        |uut| &mut uut.clock,
        |uut, random| {
            let stalls = [8, 8, 4, 1][(cycle / 1500) % 4];
            check_outputs(uut, &mut model, stalls, random);
            let traffic = plan(&mut model, cycle, random);
            drive_table(uut, &mut model, random);
            let offer = traffic && random.chance([8, 1][(cycle / 300) % 2], 8);
            drive_frame(uut, &mut model, offer, random);
            cycle += 1;
        },
    );
    assert_eq!(model.inside(), 0, "frames stay in the room");
    assert_eq!(model.counted, model.counts, "counters");
    assert!(
        model.counts.iter().all(|count| *count > 0),
        "{:?}",
        model.counts
    );
}

fn clock(uut: &mut TcpRoom) -> &mut Signal<In, Clock> {
    &mut uut.clock
}

/// A connected room with one connection in its tables, window wide open.
fn open_room(random: &mut Random) -> (TcpRoom, Model) {
    let mut uut = TcpRoom::default();
    uut.connect_all();
    settle(&mut uut);
    let mut model = Model::with_connections(1, random);
    model.queue_context(
        0,
        Context {
            window: 1 << 20,
            ..Context::default()
        },
    );
    while model.request.is_some() || !model.operations.is_empty() {
        drive_table(&mut uut, &mut model, random);
        tick(&mut uut, clock);
    }
    uut.accepted_ready.next = true;
    uut.host_frame_ready.next = true;
    uut.page_release_ready.next = true;
    (uut, model)
}

fn segment(model: &Model, sequence: u64, octets: u64) -> StoredFrame {
    let key = &model.connections[0].key;
    StoredFrame {
        verdict: VERDICT_TCP.into(),
        ipv6: key.ipv6,
        remote_address: key.bits(0),
        local_address: key.bits(16),
        ports: key.bits(32),
        flags: ACK.into(),
        checksum_good: true,
        seg_seq: sequence.into(),
        payload_offset: 56u64.into(),
        payload_octets: octets.into(),
        ..StoredFrame::default()
    }
}

#[test]
fn a_segment_is_accepted_twelve_cycles_after_it_is_taken() {
    let mut random = Random::from_environment();
    let (mut uut, model) = open_room(&mut random);
    uut.stored.next = segment(&model, 0, 100);
    uut.stored_valid.next = true;
    tick(&mut uut, clock);
    uut.stored_valid.next = false;
    let mut cycles = 1;
    while !uut.accepted_valid.val() {
        tick(&mut uut, clock);
        cycles += 1;
        assert!(cycles < 100, "never accepted");
    }
    assert_eq!(cycles, 12);
}

#[test]
fn segments_of_one_connection_pass_at_one_per_five_cycles() {
    let mut random = Random::from_environment();
    let (mut uut, model) = open_room(&mut random);
    let (mut sent, mut accepted, mut cycles) = (0u64, 0u64, 0u64);
    while accepted < 200 {
        uut.stored.next = segment(&model, 10 * sent, 10);
        uut.stored_valid.next = true;
        settle(&mut uut);
        sent += u64::from(uut.stored_ready.val());
        tick(&mut uut, clock);
        cycles += 1;
        accepted += u64::from(uut.accepted_valid.val());
        assert!(cycles < 2000, "{accepted} accepted");
    }
    assert!(cycles <= 5 * 200 + 12, "{cycles} cycles for 200 segments");
}

/// Once the driver is told that a key is gone, no octet of that connection follows.
#[test]
fn lookup_write_is_done_only_after_frames_found_before_it_have_left() {
    let mut random = Random::from_environment();
    let (mut uut, mut model) = open_room(&mut random);
    uut.accepted_ready.next = false;
    let mut sent = 0;
    for _ in 0..60 {
        uut.stored.next = segment(&model, 10 * sent, 10);
        uut.stored_valid.next = sent < 12;
        settle(&mut uut);
        sent += u64::from(uut.stored_ready.val() && uut.stored_valid.val());
        tick(&mut uut, clock);
    }
    model.queue_lookup(0, 0, false);
    let mut accepted = 0;
    for cycle in 0..400 {
        drive_table(&mut uut, &mut model, &random);
        uut.accepted_ready.next = cycle > 100 && random.chance(1, 4);
        settle(&mut uut);
        accepted += u64::from(uut.accepted_valid.val() && uut.accepted_ready.val());
        if uut.table_done.val() {
            break;
        }
        assert!(cycle < 399, "the write is never done, {random}");
        tick(&mut uut, clock);
    }
    assert_eq!(
        accepted, sent,
        "octets came after the key was gone, {random}"
    );
}
