//! What the driver reads of a connection, and what must be free again when gaps have closed.

use crate::bare::{simulation, Bare, REGION_OCTETS, REGION_TO, STAG, WINDOW};
use crate::scene::pattern;
use rnic_abi::counters::Counter::{self, *};
use rnic_abi::limits::{PAGES, RANGES_PER_CONNECTION};
use rnic_abi::tables;
use rnic_driver::{Config, OutOfOrderRange};
use rnic_testbench::traffic::frame::{FLAG_ACK, FLAG_FIN};
use rnic_testbench::traffic::StreamConfig;

const FIRST: u64 = 0x1_0000_0000;
/// Octets of payload whose frame takes six pages of packet memory.
const SIX_PAGES: usize = 1448;
/// More gaps than there are numbers of ranges and spans, frames in pieces, or records of FPDUs.
const GAPS: usize = 600;
/// Rounds with frames in pieces, three pieces each: more than there are places for such.
const PIECED_ROUNDS: usize = 40;
/// Closes in the middle of traffic.
const CLOSES: usize = 24;

fn open(config: Config) -> Bare {
    Bare::open(simulation(256), config, FIRST, 2)
}

/// Octets of a Write whose FPDU is `octets` long.
fn write(bare: &mut Bare, octets: usize) {
    bare.sender.rdma_write(STAG, REGION_TO, &pattern(octets));
}

fn counts(bare: &mut Bare, counters: &[Counter]) -> Vec<u32> {
    counters
        .iter()
        .map(|&counter| bare.counter(counter))
        .collect()
}

/// Segments that asked for a duplicate acknowledgement.
fn duplicate_acks(bare: &mut Bare) -> u32 {
    let index = u32::from(bare.connection.0);
    let words = bare.device.table_entry(tables::OUT_OF_ORDER, index);
    words.expect("the table answers")[2]
}

/// RFC 9293 section 3.10.7.4: SEG.ACK and SEG.WND of each acceptable segment, with data or without;
/// FIN when all of its segment is there; how many segments ask for a duplicate acknowledgement.
#[test]
fn the_driver_reads_what_the_peer_has_sent() {
    let mut bare = open(Config::default());
    write(&mut bare, 200);
    let state = |bare: &mut Bare| bare.device.tcp_state(bare.connection).expect("open");
    let end = bare.sender.stream().len();
    let data = bare.sender.stream()[..end].to_vec();
    let acknowledgement = bare.frame(0, 0x1234_5678, FLAG_ACK, &[]);
    bare.push(&acknowledgement, false);
    bare.run_until_idle();
    assert_eq!(state(&mut bare).seg_ack, 0x1234_5678);
    assert_eq!(state(&mut bare).seg_wnd, u16::MAX);
    // Beyond a gap: accepted, and it asks; then again, which is a duplicate.
    for _ in 0..2 {
        let beyond_gap = bare.frame(50, 0x1234_5679, FLAG_ACK, &data[50..100]);
        bare.push(&beyond_gap, false);
    }
    bare.run_until_idle();
    assert_eq!(state(&mut bare).seg_ack, 0x1234_5679);
    assert_eq!(duplicate_acks(&mut bare), 2);
    let all = bare.frame(0, 2, FLAG_ACK, &data[..150]);
    bare.push(&all, false);
    // Old octets ask too; what they acknowledge may be anybody's word (RFC 5961 section 5).
    let old = bare.frame(0, 0x6666, FLAG_ACK, &data[..150]);
    bare.push(&old, false);
    bare.run_until_idle();
    assert_eq!((state(&mut bare).seg_ack, bare.accepted()), (2, 150));
    assert_eq!(duplicate_acks(&mut bare), 3);
    // And what lies beyond the window, with payload or without, and before it.
    let beyond = bare.frame(150 + WINDOW as usize, 0x7777, FLAG_ACK, &[1]);
    let empty = bare.frame(150 + WINDOW as usize, 0x8888, FLAG_ACK, &[]);
    let keep_alive = bare.frame(149, 0x9999, FLAG_ACK, &[]);
    for outside in [beyond, empty, keep_alive] {
        bare.push(&outside, false);
    }
    bare.run_until_idle();
    assert_eq!(state(&mut bare).seg_ack, 2, "not acceptable");
    assert_eq!(bare.counter(DropTcpOutsideWindow), 1);
    assert_eq!(duplicate_acks(&mut bare), 4);
    assert!(!state(&mut bare).fin_seen);
    let last = bare.frame(150, 3, FLAG_ACK | FLAG_FIN, &data[150..]);
    bare.push(&last, false);
    bare.run_until_idle();
    assert!(state(&mut bare).fin_seen);
    assert_eq!(&bare.region()[..200], pattern(200));
    bare.assert_clean();
}

/// RFC 9293 section 3.10.7.4: octets beyond the window's right edge are not kept, in order and
/// beyond a gap; a FIN after them has not come.
#[test]
fn octets_beyond_the_window_are_not_kept() {
    let window = WINDOW as usize;
    let mut bare = open(Config::default());
    write(&mut bare, 3000);
    write(&mut bare, 2000);
    let stream = bare.sender.stream().to_vec();
    let edge = bare.sender.sequence(window);
    let mut octets = stream.clone();
    // What lies beyond is not the peer's.
    octets[window..].fill(0xee);
    let beyond_gap = bare.frame(100, 1, FLAG_ACK | FLAG_FIN, &octets[100..]);
    bare.push(&beyond_gap, false);
    bare.run_until_idle();
    let ranges = bare
        .device
        .out_of_order_ranges(bare.connection)
        .expect("it is open");
    let left = bare.sender.sequence(100);
    assert_eq!(ranges, [OutOfOrderRange { left, right: edge }]);
    let all = bare.frame(0, 1, FLAG_ACK | FLAG_FIN, &octets);
    bare.push(&all, false);
    bare.run_until_idle();
    assert_eq!(bare.accepted(), window);
    let state = bare.device.tcp_state(bare.connection).expect("it is open");
    assert!(!state.fin_seen, "the FIN lay beyond the window");
    bare.open_again(false);
    write(&mut bare, 3000);
    write(&mut bare, 2000);
    let all = bare.frame(0, 1, FLAG_ACK | FLAG_FIN, &octets);
    bare.push(&all, false);
    bare.run_until_idle();
    assert_eq!(bare.accepted(), window);
    let state = bare.device.tcp_state(bare.connection).expect("it is open");
    assert!(!state.fin_seen, "the FIN lay beyond the window");
    bare.send(window..stream.len());
    bare.run_until_idle();
    assert_eq!(&bare.region()[..2000], pattern(2000));
    assert_eq!(&bare.region()[2000..3000], &pattern(3000)[2000..]);
    assert_eq!(
        bare.counter(RefuseMpaCrc),
        0,
        "an octet beyond the window was kept"
    );
    bare.assert_clean();
}

/// Segments right at the edges of the window and of what was accepted.
#[test]
fn segments_at_the_edges_of_the_window() {
    let window = WINDOW as usize;
    let mut bare = open(Config::default());
    write(&mut bare, 2000);
    write(&mut bare, 2100);
    for start in [window, window + 1, window - 1] {
        let frame = bare.frame(start, 1, FLAG_ACK, &[1]);
        bare.push(&frame, false);
    }
    bare.run_until_idle();
    let counted = [DropTcpOutsideWindow, TcpOutOfOrder, DropTcpDuplicate];
    assert_eq!(counts(&mut bare, &counted), [2, 1, 0]);
    bare.send(0..1000);
    // All old, and the last octet of the old.
    bare.send(0..1000);
    bare.send(999..1000);
    // Touches what was accepted, and what is in the range.
    bare.send(1000..window - 1);
    bare.run_until_idle();
    assert_eq!(counts(&mut bare, &counted), [2, 1, 2]);
    assert_eq!(bare.accepted(), window);
}

/// MPA-052: segments that touch a range on either side join it.
#[test]
fn segments_that_touch_a_range_join_it() {
    let mut bare = open(Config::default());
    write(&mut bare, 2000);
    for octets in [500..600, 600..700, 400..500, 900..1000, 700..900, 300..1100] {
        bare.send(octets);
        bare.run_until_idle();
    }
    let ranges = bare
        .device
        .out_of_order_ranges(bare.connection)
        .expect("it is open");
    let (left, right) = (bare.sender.sequence(300), bare.sender.sequence(1100));
    assert_eq!(ranges, [OutOfOrderRange { left, right }]);
    let end = bare.sender.stream().len();
    bare.send(0..300);
    bare.send(1100..end);
    bare.run_until_idle();
    assert_eq!(&bare.region()[..2000], pattern(2000));
    bare.assert_clean();
}

/// MPA-052: a share of twelve pages holds two frames of six, and not three.
#[test]
fn a_share_holds_what_it_is_set_to() {
    let mut bare = open(Config {
        out_of_order_share: 12,
        ..Config::default()
    });
    write(&mut bare, 3 * SIX_PAGES);
    let frame = |n: usize| 10 + (n * SIX_PAGES)..10 + ((n + 1) * SIX_PAGES).min(WINDOW as usize);
    bare.send(frame(0));
    bare.send(frame(1));
    let octets = frame(2);
    // The third frame is as long, though its last octets lie beyond the window.
    let third = bare.frame(octets.start, 1, FLAG_ACK, &pattern(SIX_PAGES));
    bare.push(&third, false);
    bare.run_until_idle();
    assert_eq!(counts(&mut bare, &[TcpOutOfOrder, DropTcpNoRoom]), [2, 1]);
}

/// MPA-052, MPA-062: pages, numbers of ranges and spans, pieces of frames and records of FPDUs are
/// free again when gaps close, however often: segments swapped, in ranges that join, and cut in
/// pieces by what was there.
#[test]
fn gaps_without_end_leave_nothing_held() {
    for markers in [false, true] {
        // No more pages than one gap takes.
        let mut bare = open(Config {
            out_of_order_pages: 24,
            out_of_order_share: 24,
            ..Config::default()
        });
        bare.open_again(markers);
        for gap in 0..GAPS {
            let start = bare.sender.stream().len();
            // With markers each FPDU has one, so that it is placed out of order.
            let octets = if markers { 600 } else { 60 };
            (0..4).for_each(|_| write(&mut bare, octets));
            let fpdus = bare.sender.fpdus();
            let ends: Vec<usize> = fpdus[4 * gap..]
                .iter()
                .map(|fpdu| fpdu.octets.end)
                .collect();
            let (a, b, c, d) = (ends[0], ends[1], ends[2], ends[3]);
            match gap % 3 {
                0 => [a..d, start..a]
                    .into_iter()
                    .for_each(|octets| bare.send(octets)),
                1 => [c..d, a..b, b..c, start..a]
                    .into_iter()
                    .for_each(|octets| bare.send(octets)),
                _ => [a + 9..b, c..d - 9, a..d, start..d]
                    .into_iter()
                    .for_each(|octets| bare.send(octets)),
            }
            if gap % 8 == 0 {
                bare.run_until_idle();
            }
        }
        bare.run_until_idle();
        assert_eq!(
            bare.accepted(),
            bare.sender.stream().len(),
            "markers: {markers}"
        );
        let losses = [
            DropTcpNoRoom,
            DropTcpNoRange,
            DropNoPage,
            DropTcpOutsideWindow,
        ];
        assert_eq!(counts(&mut bare, &losses), [0; 4], "markers: {markers}");
        assert_eq!(bare.counter(Fpdus), 4 * GAPS as u32);
        bare.assert_clean();
    }
}

/// MPA-052: what lies beyond gaps of connections that end is free again.
#[test]
fn connections_that_end_with_a_gap_leave_nothing_held() {
    for markers in [false, true] {
        let mut bare = open(Config {
            out_of_order_pages: 12,
            out_of_order_share: 12,
            ..Config::default()
        });
        for _ in 0..GAPS / 2 {
            bare.open_again(markers);
            (0..3).for_each(|_| write(&mut bare, 700));
            let octets = bare.sender.fpdus()[1].octets.clone();
            bare.send(octets);
        }
        bare.open_again(markers);
        bare.run_until_idle();
        let counted = [TcpOutOfOrder, DropTcpNoRoom, DropTcpNoRange];
        assert_eq!(
            counts(&mut bare, &counted),
            [GAPS as u32 / 2, 0, 0],
            "markers: {markers}"
        );
        bare.assert_clean();
    }
}

/// DDP-036: a Send for a queue that its owner has not opened.
#[test]
fn a_queue_that_was_not_opened_takes_no_message() {
    let mut bare = open(Config::default());
    bare.open_again(false);
    bare.sender.send(&pattern(20));
    bare.deliver();
    assert_eq!(bare.counter(RefuseDdpQn), 1);
    bare.assert_clean();
}

/// No segment of a connection is examined any more once it is closed, however many of them stand
/// before the lookup at that time: each has to go along 16 ranges.
#[test]
fn nothing_is_accepted_after_a_close() {
    let mut bare = open(Config::default());
    bare.close();
    for close in 0..CLOSES {
        bare.open_next(StreamConfig::default(), WINDOW);
        let ranges = RANGES_PER_CONNECTION;
        for range in 0..ranges {
            let beyond_gap = bare.frame(10 + 2 * range, 1, FLAG_ACK, &[1]);
            bare.push(&beyond_gap, false);
        }
        bare.run_until_idle();
        let last = bare.frame(8 + 2 * ranges, 1, FLAG_ACK, &[1]);
        for _ in 0..16 {
            let mut simulation = bare.simulation.borrow_mut();
            simulation.push_frame(last.clone(), false);
        }
        bare.simulation.borrow_mut().run(60 + 13 * close);
        bare.close();
        let mut simulation = bare.simulation.borrow_mut();
        while simulation.next_segment().is_some() {}
        simulation.run_until_idle();
        assert_eq!(simulation.next_segment(), None, "close {close}");
    }
    bare.assert_clean();
}

/// Octets of a Write, no two of them alike.
fn numbered(number: usize, octets: usize) -> Vec<u8> {
    let octet = |at: usize| (at * 7 + number * 31 + at / 251) as u8;
    (0..octets).map(octet).collect()
}

/// MPA-043: an FPDU in many segments, two of which bring several pieces between ranges received
/// before, and wait for its end; more often than there are places for pieces.
#[test]
fn frames_in_pieces_keep_their_octets() {
    const PARTS: usize = 14;
    let mut bare = open(Config::default());
    bare.open_again_with(
        StreamConfig {
            mulpdu: REGION_OCTETS,
            ..StreamConfig::default()
        },
        WINDOW,
    );
    for round in 0..PIECED_ROUNDS {
        let octets = numbered(round, REGION_OCTETS - 100);
        bare.sender.rdma_write(STAG, REGION_TO, &octets);
        let fpdu = bare.sender.fpdus()[round].octets.clone();
        let start = |part: usize| fpdu.start + part * fpdu.len() / PARTS;
        for part in [1, 3, 5, 8, 10, 12] {
            bare.send(start(part)..start(part + 1));
        }
        // Over three ranges each: the octets between them are pieces of one frame.
        for [from, to] in [[1, 5], [8, 12]] {
            bare.send(start(from) + 5..start(to) + 5);
        }
        bare.send(start(0)..start(1));
        bare.send(start(6)..start(8));
        bare.run_until_idle();
        bare.send(start(13)..start(14));
        bare.run_until_idle();
        assert_eq!(bare.accepted(), bare.sender.stream().len(), "round {round}");
        assert_eq!(bare.region()[..octets.len()], octets, "round {round}");
    }
    assert_eq!(bare.counter(Fpdus), PIECED_ROUNDS as u32);
    bare.assert_clean();
}

/// MPA-043, MPA-062: the pages of a segment in several pieces that comes to a stopped stream come
/// back once.
#[test]
fn a_frame_in_pieces_for_a_stopped_stream_is_given_back_once() {
    let mut bare = open(Config::default());
    for round in 0..PIECED_ROUNDS {
        bare.open_again(false);
        bare.sender.rdma_write(!STAG, 0, &pattern(100));
        (0..6).for_each(|_| write(&mut bare, 100));
        let fpdus: Vec<_> = bare.sender.fpdus().to_vec();
        bare.send(fpdus[0].octets.clone());
        bare.run_until_idle();
        assert_eq!(bare.counter(RefuseDdpStag), round as u32 + 1);
        for number in [2, 4] {
            bare.send(fpdus[number].octets.clone());
        }
        bare.send(fpdus[1].octets.start..fpdus[6].octets.end);
        bare.run_until_idle();
        assert_eq!(bare.accepted(), bare.sender.stream().len());
        assert_eq!(bare.device.free_pages(), Ok(PAGES as u32), "round {round}");
    }
    bare.assert_clean();
}
