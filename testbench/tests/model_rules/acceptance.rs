//! Segments of an offloaded connection (RFC 9293 section 3.10.7.4).

use crate::rig::{pattern, Rig, CONNECTION, REGION_TO, STAG, WINDOW};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::counters::Counter;
use rnic_abi::events::{SegmentTrace, SegmentVerdict};
use rnic_abi::limits::RANGES_PER_CONNECTION;
use rnic_model::ethernet;
use rnic_model::ip::{self, IpVerdict};
use rnic_model::reorder::OutOfOrderPool;
use rnic_model::tcp::{Acceptance, TcpReceiver, TcpSegment};
use rnic_model::{Room, Taken};
use rnic_testbench::traffic::frame::{
    TcpOptions, FLAG_ACK, FLAG_FIN, FLAG_RST, FLAG_SYN, FLAG_URG,
};
use rnic_testbench::traffic::{FrameBuilder, StreamConfig};

/// A stream that starts at `sequence_start` with one write of 400 octets.
fn rig(sequence_start: u32) -> Rig {
    let mut rig = Rig::new(StreamConfig {
        sequence_start,
        ..StreamConfig::default()
    });
    rig.sender.rdma_write(STAG, REGION_TO, &pattern(400));
    rig
}

/// What the model makes of `octets` octets that start `distance` from RCV.NXT.
fn judged(start: u32, window: u32, distance: i64, octets: usize) -> (Acceptance, TcpReceiver) {
    let builder = Rig::new(StreamConfig::default()).builder;
    let sequence = start.wrapping_add(distance as u32);
    let frame = builder.segment(sequence, 99, FLAG_ACK | FLAG_FIN, &vec![0; octets]);
    let datagram = ethernet::payload(&frame).expect("IP");
    let IpVerdict::Tcp(datagram) = ip::classify(&datagram) else {
        panic!("no TCP")
    };
    let segment = TcpSegment::parse(&datagram).expect("sane");
    let mut receiver = TcpReceiver::new(start, window);
    let acceptance = receiver.accept(&segment, 1, &mut OutOfOrderPool::default());
    (acceptance, receiver)
}

/// `octets` zeros in order, of a segment that brought others too or did not.
fn in_order(octets: usize, trimmed: bool) -> Acceptance {
    let octets = vec![0; octets];
    Acceptance::InOrder { octets, trimmed }
}

const STARTS: [u32; 4] = [0, 1000, u32::MAX - 3, 0x7fff_fffe];

/// MPA-027: before its checksum is tested.
#[test]
fn a_segment_of_no_connection_is_for_the_host() {
    let mut rig = rig(1);
    rig.builder.source.address.set_port(41_000);
    let mut frame = rig.builder.segment(1, 1, FLAG_ACK, &[1; 10]);
    frame[40] ^= 1;
    rig.model.receive(&frame, false);
    assert_eq!(rig.counted(), [(Counter::HostFrames, 1)]);
}

/// MPA-037: every bit of a segment is under its checksum, and so are its addresses' ports.
#[test]
fn a_wrong_tcp_checksum_is_dropped() {
    for (at, bit) in (38..94).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut rig = rig(1);
        let mut frame = rig.builder.segment(1, 1, FLAG_ACK, &[1; 40]);
        frame[at] ^= 1 << bit;
        rig.model.receive(&frame, false);
        // Header shape is the front end's to judge, before the connection is known.
        let malformed = at == 46 && frame[46] >> 4 < 5;
        let expected = if malformed {
            Counter::DropTcpMalformed
        } else {
            Counter::DropTcpChecksum
        };
        assert_eq!(rig.counted(), [(expected, 1)], "octet {at}, bit {bit}");
    }
}

/// MPA-053, MPA-060: what ends or resets a connection is for the host's stack.
#[test]
fn control_segments_are_for_the_host() {
    for (flags, payload) in [
        (FLAG_SYN, 0),
        (FLAG_SYN | FLAG_ACK, 10),
        (FLAG_RST, 0),
        (FLAG_RST | FLAG_ACK, 10),
        (FLAG_URG | FLAG_ACK, 10),
        (FLAG_FIN | FLAG_ACK, 0),
    ] {
        let mut rig = rig(1);
        let frame = rig.builder.segment(1, 1, flags, &vec![0; payload]);
        rig.model.receive(&frame, false);
        assert_eq!(
            rig.counted(),
            [(Counter::HostFrames, 1), (Counter::TcpControl, 1)]
        );
        assert_eq!(rig.host_frames(), [frame]);
    }
}

#[test]
fn an_acknowledgement_alone_is_counted() {
    let mut rig = rig(1);
    let frame = rig.builder.segment(77, 1, FLAG_ACK, &[]);
    rig.model.receive(&frame, false);
    assert_eq!(rig.counted(), [(Counter::TcpPureAck, 1)]);
}

/// RFC 2018: what a sender must know of SACK blocks is in the frame; timestamps alone are not worth
/// one.
#[test]
fn an_acknowledgement_with_sack_blocks_goes_to_the_host_too() {
    for (options, is_shown) in [
        (TcpOptions::Timestamps(1, 2), false),
        (TcpOptions::Sack(500, 900), true),
    ] {
        let mut rig = rig(1);
        let builder = FrameBuilder {
            options,
            ..rig.builder.clone()
        };
        let frame = builder.segment(77, 1, FLAG_ACK, &[]);
        rig.model.receive(&frame, false);
        let expected = if is_shown { vec![frame] } else { vec![] };
        assert_eq!(rig.host_frames(), expected, "{options:?}");
        let counted = rig.counted();
        assert!(counted.contains(&(Counter::TcpPureAck, 1)), "{counted:?}");
    }
}

/// MPA-037: at the window's right edge and beyond, across the wrap of sequence numbers.
#[test]
fn a_segment_that_starts_outside_the_window_is_dropped() {
    for start in STARTS {
        for window in [1, 1000, 1 << 30] {
            for distance in [i64::from(window), i64::from(window) + 1, (1 << 31) - 1] {
                let (acceptance, receiver) = judged(start, window, distance, 10);
                assert_eq!(acceptance, Acceptance::OutsideWindow, "{distance}");
                assert_eq!(receiver.rcv_nxt, start);
            }
            if window > 1 {
                let (acceptance, _) = judged(start, window, i64::from(window) - 1, 10);
                assert_eq!(acceptance, Acceptance::OutOfOrder { trimmed: false });
            }
        }
    }
}

/// MPA-052: a segment ahead of a gap waits, and the octets that were missing bring it in order.
#[test]
fn a_segment_ahead_of_a_gap_is_kept_until_the_gap_closes() {
    for start in STARTS {
        let mut rig = rig(start);
        let end = rig.sender.stream().len();
        rig.segment(1, end);
        assert_eq!(rig.counted(), [(Counter::TcpOutOfOrder, 1)]);
        assert_eq!(rig.counter(Counter::Fpdus), 0);
        rig.segment(0, 1);
        assert_eq!(rig.counter(Counter::Fpdus), 1);
        assert_eq!(rig.region()[..400], pattern(400));
    }
}

/// A receiver of `window` octets, and segments of `stream` for it by their place.
struct Reorder {
    receiver: TcpReceiver,
    pool: OutOfOrderPool,
    builder: FrameBuilder,
    start: u32,
}

impl Reorder {
    fn new(start: u32) -> Self {
        Self {
            receiver: TcpReceiver::new(start, WINDOW),
            pool: OutOfOrderPool::default(),
            builder: Rig::new(StreamConfig::default()).builder,
            start,
        }
    }

    fn receive(&mut self, at: usize, octets: &[u8]) -> Acceptance {
        let sequence = self.start.wrapping_add(at as u32);
        let frame = self.builder.segment(sequence, 1, FLAG_ACK, octets);
        let datagram = ethernet::payload(&frame).expect("IP");
        let IpVerdict::Tcp(datagram) = ip::classify(&datagram) else {
            panic!("no TCP")
        };
        let segment = TcpSegment::parse(&datagram).expect("sane");
        self.receiver.accept(&segment, 6, &mut self.pool)
    }
}

/// MPA-038, MPA-040, DDP-023: in whatever order and overlap octets come, each is passed up once, in
/// order, from the copy that came first.
#[test]
fn any_order_of_arrival_gives_the_stream_from_first_copies() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for round in 0..300u32 {
        let mut reorder = Reorder::new(STARTS[round as usize % 4]);
        let length = random.random_range(1..400usize);
        let (mut first, mut passed) = (vec![None; length], Vec::new());
        while passed.len() < length {
            let at = random.random_range(0..length);
            let octets = random.random_range(1..=(length - at).min(90));
            // Each copy holds octets of its own.
            let copy: Vec<u8> = (0..octets).map(|_| random.random()).collect();
            let acceptance = reorder.receive(at, &copy);
            let kept = !matches!(acceptance, Acceptance::NoRange | Acceptance::NoRoom);
            for (slot, octet) in first[at..].iter_mut().zip(&copy).filter(|_| kept) {
                slot.get_or_insert(*octet);
            }
            if let Acceptance::InOrder { octets, .. } = acceptance {
                passed.extend(octets);
            }
        }
        let first: Vec<u8> = first.into_iter().flatten().collect();
        assert!(passed == first, "round {round}");
        assert_eq!(reorder.receiver.out_of_order.octets(), 0);
        assert_eq!(
            reorder.pool,
            OutOfOrderPool::default(),
            "charges are undone"
        );
    }
}

/// MPA-052: sixteen ranges, then one that touches none is dropped; one that touches any is kept.
#[test]
fn a_range_too_many_is_dropped_whole() {
    let mut reorder = Reorder::new(STARTS[3]);
    for range in 0..RANGES_PER_CONNECTION {
        let acceptance = reorder.receive(10 + 20 * range, &[1; 10]);
        assert_eq!(acceptance, Acceptance::OutOfOrder { trimmed: false });
    }
    assert_eq!(reorder.receive(9999, &[1; 10]), Acceptance::NoRange);
    let bridge = reorder.receive(15, &[2; 40]);
    assert_eq!(bridge, Acceptance::OutOfOrder { trimmed: true });
    let next = reorder.receive(9999, &[1; 10]);
    assert_eq!(next, Acceptance::OutOfOrder { trimmed: false });
    assert_eq!(reorder.receive(15, &[3; 40]), Acceptance::Duplicate);
}

/// MPA-052: the share of a connection, and the pages of all.
#[test]
fn segments_beyond_a_gap_have_no_more_pages_than_their_share() {
    let mut reorder = Reorder::new(STARTS[0]);
    reorder.pool.share = 17;
    let out_of_order = Acceptance::OutOfOrder { trimmed: false };
    assert_eq!(reorder.receive(10, &[1; 10]), out_of_order);
    assert_eq!(reorder.receive(20, &[1; 10]), out_of_order);
    assert_eq!(reorder.receive(30, &[1; 10]), Acceptance::NoRoom);
    reorder.pool.share = 18;
    assert_eq!(reorder.receive(30, &[1; 10]), out_of_order);
    let all = reorder.receive(0, &[1; 10]);
    assert!(matches!(all, Acceptance::InOrder { octets, .. } if octets.len() == 40));
    reorder.pool.pages_max = 5;
    assert_eq!(reorder.receive(50, &[1; 10]), Acceptance::NoRoom);
}

/// MPA-038, MPA-039: what was passed up once is not passed up again, whatever it holds now.
#[test]
fn a_segment_with_nothing_new_is_dropped() {
    for start in STARTS {
        let mut rig = rig(start);
        rig.deliver();
        let before = rig.region().to_vec();
        let octets = rig.sender.stream().len();
        rig.sender.stream_mut().fill(0xff);
        for (from, to) in [(0, octets), (0, 1), (octets - 1, octets)] {
            rig.segment(from, to);
        }
        assert_eq!(rig.counter(Counter::DropTcpDuplicate), 3);
        assert_eq!(rig.counter(Counter::Fpdus), 1);
        assert_eq!(rig.region(), before);
        let farthest = i64::from(i32::MIN);
        assert_eq!(judged(start, 1000, farthest, 10).0, Acceptance::Duplicate);
    }
}

/// MPA-038: octets received before are trimmed from its start.
#[test]
fn an_overlap_is_trimmed() {
    for start in STARTS {
        let mut rig = rig(start);
        let octets = rig.sender.stream().len();
        rig.segment(0, 100);
        rig.sender.stream_mut()[..100].fill(0xff);
        rig.segment(99, octets);
        assert_eq!(rig.counter(Counter::TcpTrimmed), 1);
        assert_eq!(rig.counter(Counter::TcpInOrder), 2);
        assert_eq!(rig.region()[..400], pattern(400));
        let trace = SegmentTrace {
            connection: CONNECTION.0,
            verdict: SegmentVerdict::Trimmed as u8,
            seg_seq: rig.sender.sequence(99),
            seg_len: (octets - 99) as u16,
        };
        assert_eq!(rig.model.segments[1], trace);
    }
}

/// MPA-014, MPA-043: in order, also where sequence numbers wrap.
#[test]
fn a_segment_in_order_is_accepted_whole() {
    for start in STARTS {
        let (acceptance, receiver) = judged(start, WINDOW, 0, 1000);
        assert_eq!(acceptance, in_order(1000, false));
        assert_eq!(receiver.rcv_nxt, start.wrapping_add(1000));
    }
}

#[test]
fn accepted_octets_end_at_the_windows_right_edge() {
    for start in STARTS {
        for (window, distance, octets) in [(10, 0, 10), (10, -5, 10), (1, -99, 1)] {
            let (acceptance, receiver) = judged(start, window, distance, 100);
            assert_eq!(acceptance, in_order(octets, distance < 0));
            assert_eq!(receiver.rcv_nxt, start.wrapping_add(octets as u32));
            let cut = (distance + 100) as usize > octets;
            assert_eq!(
                receiver.fin.is_some(),
                !cut,
                "FIN counts with its last octet only"
            );
        }
    }
}

/// Accepted up to the end of an FPDU, with the octets beyond it there already: RCV.NXT is the same
/// as for the whole segment, but its FIN lies after the cut (ADR 13).
#[test]
fn a_fin_after_a_cut_is_not_seen() {
    for fin_seen in [false, true] {
        let mut rig = rig(1);
        let fpdu_end = rig.sender.stream().len();
        rig.sender.rdma_write(STAG, REGION_TO, &pattern(400));
        let end = rig.sender.stream().len();
        rig.segment(0, 10);
        rig.segment(fpdu_end - 4, end);
        let octets = &rig.sender.stream()[10..end];
        let sequence = rig.sender.sequence(10);
        let flags = FLAG_ACK | FLAG_FIN;
        let frame = rig.builder.segment(sequence, 1, flags, octets);
        let taken = Taken {
            rcv_nxt: rig.sender.sequence(end),
            verdict: SegmentVerdict::Trimmed as u8,
            ooo_octets: 0,
            fin_seen,
        };
        rig.model.receive_with(&frame, false, Room::UpTo(taken));
        let tcp = rig.model.tcp(CONNECTION).expect("open");
        assert_eq!((tcp.rcv_nxt, tcp.fin.is_some()), (taken.rcv_nxt, fin_seen));
    }
}

/// RFC 9293 section 3.10.7.4: of a segment that is not acceptable nothing counts; with a window of
/// zero only what begins at RCV.NXT does.
#[test]
fn acknowledgement_and_window_of_acceptable_segments_are_kept() {
    let cases = [
        (1000, 0, true, true),
        (1000, -9, true, true),
        (1000, -10, false, false),
        (1000, 5, true, true),
        (1000, 999, true, false),
        (1000, 1000, false, false),
        (0, 0, true, false),
        (0, -9, false, false),
        (0, 1, false, false),
    ];
    for (window, distance, acceptable, fin) in cases {
        let (_, receiver) = judged(1000, window, distance, 10);
        let kept = match acceptable {
            true => (99, u16::MAX),
            false => (0, 0),
        };
        assert_eq!(
            (receiver.seg_ack, receiver.seg_wnd),
            kept,
            "{distance} in {window}"
        );
        assert_eq!(receiver.fin.is_some(), fin, "only of accepted segments");
    }
}
