//! Events: what is reported to a sender in software, and what happens if it does not listen.

use crate::bare::{simulation, Bare, REGION_TO, STAG, WINDOW};
use crate::scene::pattern;
use rnic_abi::counters::Counter::{self, DropTcpDuplicate, Fpdus, TcpInOrder};
use rnic_abi::event_ring::EVENT_OCTETS;
use rnic_abi::registers;
use rnic_driver::{Bar, Config, Event, Reason, Reasons};
use rnic_testbench::traffic::frame::FLAG_ACK;
use rnic_testbench::traffic::StreamConfig;

const FLAG_FIN: u8 = 0x01;
const FIRST: u64 = 0x1_0000_0000;
const SECOND: u64 = 0x100_0000_0000;
/// Octets of a Write of the peer.
const WRITE_OCTETS: usize = 100;
/// Writes that a ring of two entries has no room for.
const WRITES: usize = 30;
/// Cycles in which pending events are written to a ring with room.
const EVENT_CYCLES: usize = 300;

/// A device with an event ring of two entries, and events at once.
fn open() -> Bare {
    let config = Config {
        event_entries_log2: 1,
        event_delay_log2: 0,
        ..Config::default()
    };
    Bare::open(simulation(256), config, FIRST, 1)
}

fn write(bare: &mut Bare) {
    bare.sender
        .rdma_write(STAG, REGION_TO, &pattern(WRITE_OCTETS));
    bare.deliver();
}

/// All events, also those that wait for room in the ring.
fn events(bare: &mut Bare) -> Vec<Event> {
    let mut all = Vec::new();
    loop {
        bare.simulation.borrow_mut().run(EVENT_CYCLES);
        let polled: Vec<Event> = std::iter::from_fn(|| bare.device.poll_event()).collect();
        if polled.is_empty() {
            return all;
        }
        all.extend(polled);
    }
}

fn reasons(events: &[Event]) -> Reasons {
    events
        .iter()
        .flat_map(|event| event.reasons.iter())
        .collect()
}

fn counted(bare: &mut Bare, counter: Counter) -> u32 {
    bare.counter(counter)
}

/// A ring across 4 GiB is written on both sides: each Write has its event.
#[test]
fn an_event_ring_may_cross_4_gib() {
    const BELOW: u64 = (1 << 32) - 4096;
    const ENTRIES_BELOW: usize = 4096 / EVENT_OCTETS;
    let config = Config {
        event_entries_log2: 8,
        event_delay_log2: 0,
        ..Config::default()
    };
    let mut bare = Bare::open(simulation(256), config, BELOW, 1);
    let mut seen = 0;
    while seen <= ENTRIES_BELOW + 2 {
        write(&mut bare);
        let events = events(&mut bare);
        let end = bare.sender.sequence(bare.sender.stream().len());
        let last = events.last().expect("each Write has an event");
        assert_eq!(last.rcv_nxt, end, "event {seen}");
        seen += events.len();
    }
    bare.close();
    bare.assert_clean();
}

/// A driver that never polls events receives all the same; when it polls, it learns everything.
#[test]
fn a_full_event_ring_does_not_stall_reception() {
    let mut bare = open();
    (0..WRITES).for_each(|_| write(&mut bare));
    assert_eq!(counted(&mut bare, Fpdus), WRITES as u32);
    assert_eq!(counted(&mut bare, TcpInOrder), WRITES as u32);
    assert_eq!(&bare.region()[..WRITE_OCTETS], pattern(WRITE_OCTETS));
    let written = bare.bar.clone().read32(registers::EVENT_PRODUCER);
    assert_eq!(written, 2, "the ring is full");
    let events = events(&mut bare);
    assert!((3..WRITES).contains(&events.len()), "{}", events.len());
    let last = events.last().expect("there are some");
    let end = bare.sender.sequence(bare.sender.stream().len());
    assert_eq!((last.rcv_nxt, last.connection), (end, bare.connection));
    assert!(reasons(&events).contains(Reason::FirstFpdu));
    bare.close();
    bare.assert_clean();
}

/// START-014: the first FPDU that passes all checks is reported, whatever it is, and no other; one
/// with a wrong CRC is not.
#[test]
fn start_014_the_first_valid_fpdu_is_reported() {
    let mut bare = open();
    bare.sender.rdma_write(STAG, REGION_TO, &[]);
    bare.deliver();
    let first = events(&mut bare);
    assert!(reasons(&first).contains(Reason::FirstFpdu), "{first:?}");
    write(&mut bare);
    let second = events(&mut bare);
    assert!(reasons(&second).contains(Reason::InOrder));
    assert!(!reasons(&second).contains(Reason::FirstFpdu));
    bare.open_again(false);
    bare.sender.rdma_write(STAG, REGION_TO, &[7; 40]);
    let mut octets = bare.sender.stream().to_vec();
    octets[30] ^= 1;
    let frame = bare.frame(0, 1, FLAG_ACK, &octets);
    bare.push(&frame, false);
    bare.run_until_idle();
    let refused = events(&mut bare);
    assert!(reasons(&refused).contains(Reason::InOrder), "{refused:?}");
    assert!(!reasons(&refused).contains(Reason::FirstFpdu));
}

/// What a sender needs for RFC 5681 and RFC 2018: duplicate ACKs of the peer, and those it must
/// send.
#[test]
fn duplicate_acks_and_ranges_are_reported() {
    let mut bare = open();
    write(&mut bare);
    let start = bare.sender.stream().len();
    let ack = |bare: &mut Bare, acknowledgement| {
        let frame = bare.frame(start, acknowledgement, FLAG_ACK, &[]);
        bare.push(&frame, false);
    };
    (0..4).for_each(|_| ack(&mut bare, 77));
    bare.run_until_idle();
    let all = events(&mut bare);
    let last = all.last().expect("there are some");
    assert_eq!((last.seg_ack, last.duplicate_acks_seen), (77, 3));
    assert!(reasons(&all).contains(Reason::Ack) && reasons(&all).contains(Reason::AckRepeated));
    // Beyond a gap, and again; then a segment that was there before.
    let (left, right) = (start + 200, start + 300);
    for _ in 0..2 {
        let frame = bare.frame(left, 77, FLAG_ACK, &[1; 100]);
        bare.push(&frame, false);
    }
    bare.send(0..start);
    bare.run_until_idle();
    assert_eq!(counted(&mut bare, DropTcpDuplicate), 2);
    let all = events(&mut bare);
    let last = all.last().expect("there are some");
    assert_eq!((last.ranges, last.duplicate_acks_due), (1, 3));
    let changed = last.changed.expect("the range is beyond rcv_nxt");
    let range = (bare.sender.sequence(left), bare.sender.sequence(right));
    assert_eq!((changed.left, changed.right), range);
    let reported = reasons(&all);
    assert!(reported.contains(Reason::OutOfOrder) && reported.contains(Reason::NotAccepted));
    // The gap closes, with a FIN at its end: what lies beyond it was there before.
    let frame = bare.frame(start, 77, FLAG_ACK | FLAG_FIN, &[1; 200]);
    bare.push(&frame, false);
    bare.run_until_idle();
    let all = events(&mut bare);
    let last = all.last().expect("there are some");
    assert_eq!((last.ranges, last.changed), (0, None));
    let fin = bare.sender.sequence(left);
    assert_eq!(last.fin, Some(fin));
    assert!(last.reaches_beyond(fin));
    assert_eq!(last.rcv_nxt, bare.sender.sequence(right));
    let reported = reasons(&all);
    assert!(reported.contains(Reason::GapFilled) && reported.contains(Reason::Fin));
}

/// Segments that share an event: SEG.WND is that of the segment whose SEG.ACK it reports, the
/// highest one, and not of the last.
#[test]
fn an_event_has_the_window_of_its_highest_acknowledgement() {
    const HIGHEST: (u32, u16) = (900, 77);
    let mut bare = open();
    // They fill the ring, so that what follows waits for one event.
    (0..WRITES).for_each(|_| write(&mut bare));
    let start = bare.sender.stream().len();
    for (acknowledgement, window) in [(500, 11), HIGHEST, (700, 33)] {
        bare.builder.window = window;
        let frame = bare.frame(start, acknowledgement, FLAG_ACK, &[]);
        bare.push(&frame, false);
    }
    bare.run_until_idle();
    let events = events(&mut bare);
    let last = events.last().expect("it waited for room");
    assert_eq!((last.seg_ack, last.seg_wnd), HIGHEST, "{last:x?}");
    assert!(reasons(&events).contains(Reason::Ack));
}

/// With a delay, every second segment raises an event, and one that stays alone does in time.
#[test]
fn a_segment_that_stays_alone_is_reported_in_time() {
    const DELAY_LOG2: u32 = 13;
    let config = Config {
        event_delay_log2: DELAY_LOG2,
        ..Config::default()
    };
    let mut bare = Bare::open(simulation(256), config, FIRST, 1);
    write(&mut bare);
    assert!(
        !events(&mut bare).is_empty(),
        "the first FPDU is reported at once"
    );
    let send = |bare: &mut Bare| {
        let start = bare.sender.stream().len();
        bare.sender
            .rdma_write(STAG, REGION_TO, &pattern(WRITE_OCTETS));
        let end = bare.sender.stream().len();
        // The acknowledgement of the segment before: only the octets are new.
        let frame = bare.frame(start, 1, FLAG_ACK, &bare.sender.stream()[start..end]);
        bare.push(&frame, false);
        bare.sender.sequence(end)
    };
    send(&mut bare);
    let end = send(&mut bare);
    let both = events(&mut bare);
    assert_eq!(both.last().map(|event| event.rcv_nxt), Some(end));
    let end = send(&mut bare);
    bare.simulation
        .borrow_mut()
        .run((1 << DELAY_LOG2) + EVENT_CYCLES);
    let alone = events(&mut bare);
    assert_eq!(alone.last().map(|event| event.rcv_nxt), Some(end));
}

/// Events that were pending when a driver was killed are no events of the next one.
#[test]
fn a_reset_leaves_no_event() {
    let host = simulation(256);
    let config = Config {
        event_entries_log2: 1,
        event_delay_log2: 0,
        ..Config::default()
    };
    let mut killed = Bare::open(host.clone(), config, FIRST, 1);
    (0..5).for_each(|_| write(&mut killed));
    let mut next = Bare::without_connection(host, config, SECOND);
    assert_eq!(next.bar.clone().read32(registers::EVENT_PRODUCER), 0);
    next.simulation.borrow_mut().run(EVENT_CYCLES);
    assert_eq!(next.bar.clone().read32(registers::EVENT_PRODUCER), 0);
    next.open_next(StreamConfig::default(), WINDOW);
    assert_eq!(events(&mut next), []);
    let frame = next.frame(0, 9, FLAG_ACK, &[]);
    next.push(&frame, false);
    let reported = events(&mut next);
    assert!(reasons(&reported).iter().eq([Reason::Ack]), "{reported:?}");
}
