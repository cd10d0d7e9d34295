//! What a sender in software relies on: acknowledgements in events, whatever shares an event and
//! whatever came before.

use crate::host::{config, Stream};
use crate::server::{with_each, Peer, Server};
use rnic_abi::counters::Counter;
use rnic_driver::bus::{self, AnyDevice};
use rnic_driver::{Config, Event};
use rnic_testbench::traffic::frame::{FrameBuilder, FLAG_ACK};
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
