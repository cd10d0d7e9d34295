//! Packet memory and pools that run out: full of what lies beyond a connection's own gaps, or while
//! nothing moves; and what the driver can read of them.

use crate::bare::{simulation, Bare, REGION_TO, STAG};
use crate::scene::pattern;
use rnic_abi::counters::Counter::*;
use rnic_abi::limits::{PAGES, RANGES_PER_CONNECTION};
use rnic_abi::tables::RIGHT_REMOTE_WRITE;
use rnic_driver::{Config, ConnectionId, Dma, InUse, RegionConfig};
use rnic_testbench::traffic::frame::FLAG_ACK;
use rnic_testbench::traffic::{Endpoint, FrameBuilder, Sender, StreamConfig};
use std::ops::Range;

const FIRST: u64 = 0x1_0000_0000;
/// More octets than packet memory holds.
const WIDE_WINDOW: u32 = 1 << 18;
/// Octets of a segment, whose frame takes six pages.
const MSS: usize = 1448;
/// Octets of a Write that takes 45 segments, and the region for it.
const LONG_OCTETS: usize = 63_980;
const LONG_STAG: u32 = 0x0012_3401;
/// Such Writes: more segments than memory holds.
const WRITES: usize = 3;
/// A Write in one long frame; so many fit the region, and so many are sent.
const JUMBO_OCTETS: usize = 7_000;
const WRITTEN: usize = LONG_OCTETS / JUMBO_OCTETS;
const FRAMES: usize = 24;
/// More Sends than fit between the stream manager and a host that takes nothing.
const SENDS_MAX: usize = 40;
/// Cycles after which nothing moves any more.
const STALLED_CYCLES: usize = 2_000;
/// An STag that is not registered.
const UNKNOWN_STAG: u32 = 0x0077_7701;

fn open(markers: bool) -> Bare {
    let mut bare = Bare::open(simulation(256), Config::default(), FIRST, 2);
    prepare(&mut bare, markers);
    bare
}

/// A new connection with a wide window and long FPDUs, and a region for them; its address.
fn prepare(bare: &mut Bare, markers: bool) -> u64 {
    let stream = StreamConfig {
        markers,
        mulpdu: LONG_OCTETS + 14,
        ..StreamConfig::default()
    };
    bare.open_again_with(stream, WIDE_WINDOW);
    let region = bare.device.dma().allocate("long", LONG_OCTETS, 1);
    let address = region.expect("memory is there").address;
    let config = RegionConfig {
        stag: LONG_STAG,
        rights: RIGHT_REMOTE_WRITE,
        protection_domain: 3,
        connection: None,
        tagged_offset: 0,
        octets: LONG_OCTETS as u64,
        address,
    };
    bare.device.register_region(&config).expect("a region");
    address
}

/// Segments of the stream from `start` on.
fn segments(bare: &Bare, start: usize) -> Vec<Range<usize>> {
    let end = bare.sender.stream().len();
    let starts = (start..end).step_by(MSS);
    starts.map(|at| at..(at + MSS).min(end)).collect()
}

/// Fewer pages are free than the reserve and a frame.
fn assert_short(bare: &mut Bare) {
    bare.run_until_idle();
    let free = bare.device.free_pages().expect("the device answers");
    let reserve = Config::default().in_order_reserve;
    assert!(free < reserve + 6, "{free} of {PAGES} pages are free");
}

/// MPA-042, MPA-052: an FPDU of 45 segments, of which four are lost, with a window after it that
/// takes more than packet memory. What the device holds after it is in the way of what it misses,
/// and is given up; everything gets through.
#[test]
fn a_long_fpdu_gets_through_memory_full_of_what_follows_it() {
    let mut bare = open(false);
    for _ in 0..WRITES {
        bare.sender.rdma_write(LONG_STAG, 0, &pattern(LONG_OCTETS));
    }
    let segments = segments(&bare, 0);
    let lost = [1, 3, 5, 7];
    for (number, segment) in segments.iter().enumerate() {
        if !lost.contains(&number) {
            bare.send(segment.clone());
        }
    }
    assert_short(&mut bare);
    let end = bare.sender.stream().len();
    for _ in 0..2 * segments.len() {
        let accepted = bare.accepted();
        if accepted == end {
            break;
        }
        bare.send(accepted..(accepted + MSS).min(end));
        bare.run_until_idle();
    }
    assert_eq!(bare.accepted(), end);
    assert!(bare.counter(DropTcpNoRoom) > 0);
    assert_eq!(bare.counter(Fpdus), WRITES as u32);
    bare.assert_clean();
}

/// MPA-052: a stream that an error has stopped while spans followed it. Its segments in order find
/// room however full memory is, as nothing of them is kept.
#[test]
fn a_stopped_stream_goes_on_accepting_when_memory_is_short() {
    let mut bare = open(true);
    bare.sender.rdma_write(UNKNOWN_STAG, 0, &pattern(600));
    for _ in 0..4 {
        bare.sender.rdma_write(STAG, REGION_TO, &pattern(600));
    }
    let small = bare.sender.stream().len();
    for _ in 0..WRITES {
        bare.sender.rdma_write(LONG_STAG, 0, &pattern(LONG_OCTETS));
    }
    let fpdus: Vec<_> = bare.sender.fpdus()[..5].to_vec();
    // Spans that follow the stream as soon as the FPDU before them is there, which is bad.
    [4, 2, 3, 1, 0]
        .into_iter()
        .for_each(|number: usize| bare.send(fpdus[number].octets.clone()));
    bare.run_until_idle();
    assert_eq!(bare.accepted(), small);
    assert_eq!(bare.counter(RefuseDdpStag), 1);
    let segments = segments(&bare, small);
    segments[6..]
        .iter()
        .for_each(|segment| bare.send(segment.clone()));
    assert_short(&mut bare);
    for segment in &segments[..3] {
        bare.send(segment.clone());
        bare.run_until_idle();
    }
    assert_eq!(bare.accepted(), segments[2].end);
}

/// MPA-052: what connections hold of the pools that they share: three ranges, each with a span and
/// the record of the FPDU that was placed out of order, and a frame in two pieces.
#[test]
fn what_connections_hold_can_be_read() {
    let mut bare = open(true);
    (0..8).for_each(|_| bare.sender.rdma_write(STAG, REGION_TO, &pattern(600)));
    let fpdus: Vec<_> = bare.sender.fpdus().to_vec();
    for number in [1, 3, 5] {
        bare.send(fpdus[number].octets.clone());
    }
    bare.run_until_idle();
    let held = |bare: &mut Bare| bare.device.in_use().expect("the device answers");
    let three = InUse {
        ranges: 3,
        fragments: 0,
        spans: 3,
        records: 3,
    };
    assert_eq!(held(&mut bare), three);
    // Covers the second range and both adjacent gaps, except for their ends.
    let (start, end) = (fpdus[2].octets.start, fpdus[4].octets.end - 1);
    bare.send(start + 8..end);
    bare.run_until_idle();
    let joined = held(&mut bare);
    assert_eq!((joined.ranges, joined.fragments), (3, 1));
    bare.send(0..fpdus[0].octets.end);
    bare.send(start..start + 8);
    bare.send(end..fpdus[5].octets.start);
    bare.run_until_idle();
    assert_eq!(bare.accepted(), fpdus[5].octets.end);
    bare.assert_clean();
}

/// MPA-042: long frames while nothing moves, as the host takes nothing, without a reserve: one
/// finds only some of its pages. It is not kept, no page of it is lost, and it comes again.
#[test]
fn a_frame_that_finds_only_some_of_its_pages_is_dropped() {
    let config = Config {
        in_order_reserve: 0,
        long_reserve: 0,
        ..Config::default()
    };
    let mut bare = Bare::open(simulation(256), config, FIRST, 0);
    let region = prepare(&mut bare, false);
    bare.open_queue(6);
    for _ in 0..SENDS_MAX {
        bare.sender.send(&[7; 20]);
    }
    let sends = bare.sender.stream().len();
    // 28 pages each; 512 are no multiple.
    let octets = pattern(LONG_OCTETS);
    for (number, octets) in octets
        .chunks_exact(JUMBO_OCTETS)
        .cycle()
        .take(FRAMES)
        .enumerate()
    {
        let at = number * JUMBO_OCTETS % (WRITTEN * JUMBO_OCTETS);
        bare.sender.rdma_write(LONG_STAG, at as u64, octets);
    }
    let fpdus: Vec<_> = bare.sender.fpdus().to_vec();
    let end = bare.sender.stream().len();
    bare.simulation.borrow_mut().set_stall(1.0);
    for fpdu in &fpdus {
        bare.send(fpdu.octets.clone());
    }
    bare.simulation.borrow_mut().set_stall(0.0);
    bare.run_until_idle();
    assert!(bare.counter(DropNoPage) > 0, "everything found room");
    assert!(bare.accepted() > sends);
    let mut received = Vec::new();
    while received.len() < SENDS_MAX {
        let some = bare.received();
        assert!(!some.is_empty(), "{} Sends came", received.len());
        received.extend(some);
        bare.run_until_idle();
    }
    while bare.accepted() < end {
        let accepted = bare.accepted();
        let next = fpdus.iter().find(|fpdu| fpdu.octets.end > accepted);
        let next = next.expect("the end is not reached").octets.clone();
        bare.send(next);
        bare.run_until_idle();
        assert!(bare.accepted() > accepted, "octet {accepted} finds no room");
    }
    assert_eq!(bare.counter(Fpdus), fpdus.len() as u32);
    let mut found = vec![0; LONG_OCTETS];
    bare.device.dma().read(region, &mut found);
    let written = WRITTEN * JUMBO_OCTETS;
    assert_eq!(found[..written], octets[..written]);
    bare.assert_clean();
}

/// Another connection, with markers and `writes` Writes of its own in its stream.
fn another_connection(
    bare: &mut Bare,
    port: u16,
    writes: usize,
) -> (ConnectionId, FrameBuilder, Sender) {
    let builder = FrameBuilder::new(Endpoint::host(9, port), Endpoint::host(8, 4_420));
    let stream = StreamConfig {
        markers: true,
        ..StreamConfig::default()
    };
    let config = builder.connection(&stream, WIDE_WINDOW, 3);
    let connection = bare.device.open_connection(&config).expect("a connection");
    let mut sender = Sender::new(stream);
    (0..writes).for_each(|_| sender.rdma_write(STAG, REGION_TO, &pattern(600)));
    (connection, builder, sender)
}

/// MPA-052: an FPDU placed out of order waits behind messages that the host does not take, however
/// many these are; after it more spans are read than jobs may be out. None is lost.
#[test]
fn more_spans_than_jobs_wait_for_the_first_one() {
    for sends in rnic_effort::some_of("numbers of messages", 1..SENDS_MAX, 3) {
        let mut bare = Bare::open(simulation(256), Config::default(), FIRST, 6);
        let others: Vec<_> = (0..4)
            .map(|number| another_connection(&mut bare, 50_000 + number, 2 * RANGES_PER_CONNECTION))
            .collect();
        for _ in 0..sends {
            bare.sender.send(&[7; 20]);
        }
        let fpdus: Vec<_> = bare.sender.fpdus().to_vec();
        bare.simulation.borrow_mut().set_stall(1.0);
        fpdus.into_iter().for_each(|fpdu| bare.send(fpdu.octets));
        bare.simulation.borrow_mut().run(STALLED_CYCLES);
        for (number, (_, builder, sender)) in others.iter().enumerate() {
            for fpdu in sender.fpdus().iter().skip(1).step_by(2) {
                // The first one whole, of the others what shows their length.
                let mut octets = fpdu.octets.clone();
                if number > 0 {
                    octets.end = octets.start + 16;
                }
                let sequence = sender.sequence(octets.start);
                let frame = builder.segment(sequence, 1, FLAG_ACK, &sender.stream()[octets]);
                bare.push(&frame, false);
                if number == 0 {
                    break;
                }
            }
        }
        let mut simulation = bare.simulation.borrow_mut();
        simulation.run(STALLED_CYCLES);
        simulation.set_stall(0.0);
        drop(simulation);
        bare.run_until_idle();
        let mut received = 0;
        while received < sends {
            let some = bare.received().len();
            assert!(some > 0, "{received} of {sends} Sends came");
            received += some;
            bare.run_until_idle();
        }
        for (connection, ..) in others {
            let closed = bare.device.close_connection(connection);
            closed.unwrap_or_else(|error| panic!("{error}, after {sends} Sends"));
        }
        bare.assert_clean();
    }
}
