//! Queues that are full: each kind, what was sent beyond, and what goes on.

use crate::host::{allocate, config, converse, next_completion, open, read, BusDevice, Stream};
use crate::server::{with_each, Server};
use rnic_abi::counters::Counter;
use rnic_abi::registers::CQ_CONSUMER;
use rnic_driver::bus::{self, FunctionBar};
use rnic_driver::{Bar, Completion, Config, Device, DriverError, QueueId};
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

const PORT: u16 = 3_000;
/// What takes longer has not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// DDP-037, DDP-038, DDP-058: a message without a buffer stops its stream; those before it are in
/// theirs.
#[test]
fn a_send_beyond_the_posted_buffers_stops_its_connection() {
    const BUFFERS: usize = 4;
    with_each(|dut| {
        let server = Server::start(dut);
        let mut peer = server.peer();
        let mut device = open(&server);
        let mut stream = Stream::open(&mut device, PORT, BUFFERS);
        // The device does not take a fifth buffer before one is consumed.
        let further = allocate(&mut device, 64);
        let full = device.post_receive(stream.connection, 0, further);
        assert!(
            matches!(full, Err(DriverError::QueueFull { .. })),
            "{full:?}"
        );
        for number in 0..=BUFFERS as u8 {
            stream.sender.send(&[number; 64]);
        }
        peer.send(stream.frames());
        for _ in 0..BUFFERS {
            let received = next_completion(&mut device);
            assert!(
                matches!(received, Completion::Receive { length: 64, .. }),
                "{received:?}"
            );
        }
        let refused = next_completion(&mut device);
        assert!(matches!(refused, Completion::Error { .. }), "{refused:?}");
        assert_eq!(device.counter(Counter::RefuseDdpNoBuffer), Ok(1));
        assert!(read(&mut device, further) == [0; 64]);
        let closed = device.close_connection(stream.connection);
        closed.expect("it is open");
        converse(&mut device, &mut peer, PORT + 1);
        device.close().expect("it answers");
    });
}

/// The host receive ring: frames beyond it are dropped and counted, in order up to there.
#[test]
fn frames_beyond_the_host_ring_are_dropped_and_counted() {
    const FRAMES: u32 = 40;
    with_each(|dut| {
        let server = Server::start(dut);
        let mut peer = server.peer();
        let mut device = open(&server);
        let slots = 1 << config().host_slots_log2;
        // The EtherType that IEEE 802 leaves for experiments; each frame has its number.
        let frame = |number: u32| {
            let mut frame = vec![0xff; 12];
            frame.extend([0x88, 0xb5, number as u8]);
            frame.resize(60, 0x11);
            frame
        };
        peer.send((0..FRAMES).map(frame));
        let end = Instant::now() + PATIENCE;
        while device.counter(Counter::Frames) != Ok(FRAMES) {
            assert!(
                Instant::now() < end,
                "{:?}",
                device.counter(Counter::Frames)
            );
        }
        let dropped = Ok(FRAMES - slots);
        while device.counter(Counter::DropHostRingFull) != dropped {
            assert!(Instant::now() < end, "too few are dropped");
        }
        for number in 0..slots {
            assert_eq!(device.poll_host_frame(), Some(frame(number)));
        }
        assert_eq!(device.poll_host_frame(), None);
        assert_eq!(device.counter(Counter::DropHostRingFull), dropped);
        // There is room again.
        peer.send([frame(FRAMES)]);
        let received = loop {
            if let Some(received) = device.poll_host_frame() {
                break received;
            }
            assert!(Instant::now() < end, "no frame comes");
            device.check_present().expect("it answers");
        };
        assert_eq!(received, frame(FRAMES));
        device.close().expect("it answers");
    });
}

/// A BAR that keeps to itself what was consumed of completion queue 0.
struct LateBar {
    bar: FunctionBar,
    is_late: Rc<Cell<bool>>,
}

impl Bar for LateBar {
    fn read32(&mut self, offset: u32) -> u32 {
        self.bar.read32(offset)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        if offset != CQ_CONSUMER || !self.is_late.get() {
            self.bar.write32(offset, value);
        }
    }
}

fn next_of(device: &mut BusDevice<LateBar>, queue: QueueId) -> Completion {
    let end = Instant::now() + PATIENCE;
    loop {
        let polled = device.poll_completion_queue(queue).expect("it exists");
        if let Some(completion) = polled {
            return completion;
        }
        assert!(Instant::now() < end, "no completion comes");
        device.check_present().expect("it answers");
    }
}

/// The driver promises room for each entry, so only a faulty driver makes a queue overflow: the
/// connection that meets it stops, and is reported; those of another queue go on.
#[test]
fn a_completion_queue_that_overflows_stops_its_own_connections_only() {
    const ENTRIES_LOG2: u32 = 4;
    const SENDS: usize = 8;
    let other = QueueId(1);
    with_each(move |dut| {
        let server = Server::start(dut);
        let mut peer = server.peer();
        let (bar, memory) = bus::connect(&server.address()).expect("it answers");
        let is_late = Rc::new(Cell::new(false));
        let fitted = memory.function().fit(Config {
            completion_entries_log2: ENTRIES_LOG2,
            ..config()
        });
        let bar = LateBar {
            bar,
            is_late: is_late.clone(),
        };
        let device = Device::open(bar, memory, fitted.expect("it answers"));
        let mut device = device.expect("it answers");
        let created = device.create_completion_queue(other, ENTRIES_LOG2);
        created.expect("there is such a queue");
        let mut late = Stream::open_on(&mut device, PORT, SENDS, QueueId::default());
        let mut well = Stream::open_on(&mut device, PORT + 1, SENDS, other);
        is_late.set(true);
        // 16 entries: two rounds fill the queue, the third has no room.
        for round in 0..2 {
            for _ in 0..SENDS {
                late.sender.send(&[1; 64]);
            }
            peer.send(late.frames());
            for _ in 0..SENDS {
                let received = next_of(&mut device, QueueId::default());
                let is_whole = matches!(received, Completion::Receive { length: 64, .. });
                assert!(is_whole, "round {round}: {received:?}");
            }
            late.post(&mut device, SENDS);
        }
        assert_eq!(device.overflowed_queues(), Ok(vec![]));
        late.sender.send(&[1; 64]);
        peer.send(late.frames());
        let end = Instant::now() + PATIENCE;
        while device.overflowed_queues() != Ok(vec![QueueId::default()]) {
            assert!(Instant::now() < end, "it does not overflow");
        }
        assert_eq!(device.counter(Counter::RefuseCqOverflow), Ok(1));
        for _ in 0..SENDS {
            well.sender.send(&[2; 64]);
        }
        peer.send(well.frames());
        for _ in 0..SENDS {
            let received = next_of(&mut device, other);
            assert!(
                matches!(received, Completion::Receive { length: 64, .. }),
                "{received:?}"
            );
        }
        device.close().expect("it answers");
    });
}
