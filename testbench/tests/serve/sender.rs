//! What a sender in software relies on: acknowledgements in events, whatever shares an event and
//! whatever came before.

use crate::host::{config, next_completion, route, Stream};
use crate::server::{with_each, Peer, Server};
use rnic_abi::counters::Counter;
use rnic_driver::bus::{self, AnyDevice};
use rnic_driver::{Completion, Config, ConnectionConfig, Event, Reason};
use rnic_testbench::traffic::frame::{FrameBuilder, FLAG_ACK, FLAG_FIN};
use std::time::{Duration, Instant};

const PORT: u16 = 5_000;
/// What takes longer has not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A device whose event ring has two entries.
fn open(server: &Server) -> AnyDevice {
    let config = Config {
        event_entries_log2: 1,
        ..config()
    };
    let opened = bus::open(&server.address(), config);
    opened.unwrap_or_else(|error| panic!("{error}; {}", server.errors()))
}

/// The next event.
fn next_event(device: &mut AnyDevice) -> Event {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(event) = device.poll_event() {
            return event;
        }
        assert!(Instant::now() < end, "no event comes");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Waits until `counter` has `value`.
fn await_count(device: &mut AnyDevice, counter: Counter, value: u32) {
    let end = Instant::now() + PATIENCE;
    while device.counter(counter) != Ok(value) {
        assert!(Instant::now() < end, "{:?}", device.counter(counter));
    }
}

/// The peer acknowledges, without payload; returns when the device has judged that.
fn acknowledge(
    device: &mut AnyDevice,
    peer: &mut Peer,
    stream: &Stream,
    (acknowledgement, window): (u32, u16),
) {
    let counted = device.counter(Counter::TcpPureAck).expect("it answers");
    let builder = FrameBuilder {
        window,
        ..stream.builder.clone()
    };
    let sequence = stream.sender.sequence(0);
    peer.send([builder.segment(sequence, acknowledgement, FLAG_ACK, &[])]);
    await_count(device, Counter::TcpPureAck, counted + 1);
}

/// RFC 5961 section 5: an acceptable segment that acknowledges what was never sent is in the event
/// that it raises; those after it report what the peer acknowledges next.
#[test]
fn an_acknowledgement_far_ahead_hides_no_later_one() {
    with_each(|dut| {
        let server = Server::start(dut);
        let mut peer = server.peer();
        let mut device = open(&server);
        let stream = Stream::open(&mut device, PORT, 0);
        for acknowledged in [(1000, 7), (1000 + (1 << 30), 8), (1100, 9), (1200, 10)] {
            acknowledge(&mut device, &mut peer, &stream, acknowledged);
            let event = next_event(&mut device);
            assert_eq!((event.seg_ack, event.seg_wnd), acknowledged);
        }
        device.close().expect("it answers");
    });
}

/// Of acknowledgements that share an event the highest is reported with its window, of equal ones
/// the last window; the next event does not know of them.
#[test]
fn an_event_reports_the_highest_acknowledgement_that_joined() {
    // More than the ring has entries, so that the last of them wait.
    const BEFORE: u32 = 8;
    with_each(|dut| {
        let server = Server::start(dut);
        let mut peer = server.peer();
        let mut device = open(&server);
        let stream = Stream::open(&mut device, PORT, 0);
        for (joined, expected) in [
            ([(0x3000, 3), (0x2000, 2)], (0x3000, 3)),
            ([(0x2000, 2), (0x3000, 3)], (0x3000, 3)),
            ([(0x3000, 3), (0x3000, 4)], (0x3000, 4)),
            ([(u32::MAX, 5), (2, 6)], (2, 6)),
        ] {
            let first: u32 = joined[0].0;
            for before in 0..BEFORE {
                let acknowledgement = first.wrapping_sub(0x1000 + BEFORE - before);
                acknowledge(&mut device, &mut peer, &stream, (acknowledgement, 1));
            }
            for acknowledged in joined {
                acknowledge(&mut device, &mut peer, &stream, acknowledged);
            }
            let events = [(); 3].map(|()| next_event(&mut device));
            let reported = events.map(|event| (event.seg_ack, event.seg_wnd));
            assert_eq!(reported[2], expected, "{reported:x?}");
            assert_eq!(device.poll_event(), None);
            let later = (first.wrapping_sub(0x1000), 12);
            acknowledge(&mut device, &mut peer, &stream, later);
            let event = next_event(&mut device);
            assert_eq!((event.seg_ack, event.seg_wnd), later);
        }
        device.close().expect("it answers");
    });
}

/// START-042: an initiator that has not seen the Reply repeats its Request. The device takes
/// nothing of it; the event calls for an ACK, and reports what software had received before the
/// switch.
#[test]
fn the_event_of_a_repeated_request_reports_what_software_has_received() {
    const BEFORE: (u32, u16) = (0x8000_0001, 0x7fff);
    const REQUEST: [u8; 20] = *b"MPA ID Req Frame\x40\x01\0\0";
    with_each(|dut| {
        let server = Server::start(dut);
        let mut peer = server.peer();
        let mut device = open(&server);
        let (stream, config) = Stream::reserve(&mut device, PORT, 0);
        let config = ConnectionConfig {
            seg_ack: BEFORE.0,
            seg_wnd: BEFORE.1,
            ..config
        };
        let activated = device.activate_connection(stream.connection, &config);
        activated.expect("it is reserved");
        let state = device.tcp_state(stream.connection).expect("it answers");
        assert_eq!((state.seg_ack, state.seg_wnd), BEFORE);
        let sequence = stream.sender.sequence(0).wrapping_sub(REQUEST.len() as u32);
        let request = stream.builder.segment(sequence, 77, FLAG_ACK, &REQUEST);
        peer.send([request]);
        let event = next_event(&mut device);
        assert!(event.reasons.iter().eq([Reason::NotAccepted]), "{event:?}");
        assert_eq!((event.seg_ack, event.seg_wnd), BEFORE);
        assert_eq!(event.rcv_nxt, config.sequence_start);
        let after = (BEFORE.0 + 9, 3);
        acknowledge(&mut device, &mut peer, &stream, after);
        let event = next_event(&mut device);
        assert_eq!((event.seg_ack, event.seg_wnd), after);
        device.close().expect("it answers");
    });
}

/// START-042: a frame before the switch is the host's, as of a connection that the device does not
/// know; the first FPDU after it finds the buffer that was posted before.
#[test]
fn a_reserved_connection_meets_an_early_fpdu_with_its_buffers() {
    with_each(|dut| {
        let server = Server::start(dut);
        let mut peer = server.peer();
        let mut device = open(&server);
        route(&mut device);
        let (mut stream, config) = Stream::reserve(&mut device, PORT, 1);
        stream.sender.send(b"early");
        let frames = stream.frames();
        peer.send(frames.clone());
        let end = Instant::now() + PATIENCE;
        let host = loop {
            if let Some(frame) = device.poll_host_frame() {
                break frame;
            }
            assert!(Instant::now() < end, "the host gets no frame");
        };
        assert!(host.starts_with(&frames[0]), "{host:x?}");
        assert_eq!(device.poll_completion(), None);
        assert_eq!(device.poll_event(), None);
        let activated = device.activate_connection(stream.connection, &config);
        activated.expect("it is reserved");
        peer.send(frames);
        let completion = next_completion(&mut device);
        assert!(
            matches!(
                completion,
                Completion::Receive {
                    msn: 1,
                    length: 5,
                    ..
                }
            ),
            "{completion:?}"
        );
        device.close().expect("it answers");
    });
}

/// DDP-029: a FIN beyond a gap has its place in the event; it takes effect when RCV.NXT is there.
/// What comes after it is taken as other octets are, seen in the event, and moves no FIN.
#[test]
fn the_place_of_a_fin_is_reported_and_octets_after_it_are_seen() {
    with_each(|dut| {
        let server = Server::start(dut);
        let mut peer = server.peer();
        let mut device = open(&server);
        let mut stream = Stream::open(&mut device, PORT, 2);
        stream.sender.send(b"the last message");
        let end = stream.sender.stream().len();
        stream.sender.send(b"after it");
        let octets = stream.sender.stream().to_vec();
        let segment = |range: std::ops::Range<usize>, flags: u8| {
            let sequence = stream.sender.sequence(range.start);
            let flags = FLAG_ACK | flags;
            stream.builder.segment(sequence, 1, flags, &octets[range])
        };
        let fin = stream.sender.sequence(end);
        for (frame, rcv_nxt, is_beyond) in [
            (segment(8..end, FLAG_FIN), 0, false),
            (segment(0..8, 0), end, false),
            (segment(end + 4..octets.len(), FLAG_FIN), end, true),
            (segment(end..end + 4, 0), octets.len(), true),
        ] {
            peer.send([frame]);
            let rcv_nxt = stream.sender.sequence(rcv_nxt);
            // That of the first FPDU may have an event of its own.
            let event = loop {
                let event = next_event(&mut device);
                if event
                    .reasons
                    .iter()
                    .any(|reason| reason != Reason::FirstFpdu)
                {
                    break event;
                }
            };
            assert_eq!(
                (event.fin, event.rcv_nxt),
                (Some(fin), rcv_nxt),
                "{event:?}"
            );
            assert_eq!(event.reaches_beyond(fin), is_beyond, "{event:?}");
        }
        device.close().expect("it answers");
    });
}
