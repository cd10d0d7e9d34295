//! Objects that own what the device writes, under traffic (`rnic_driver::verbs`).

use crate::client::{self, Client};
use crate::host::{self, config, pattern, writes};
use crate::server::{in_time, with_each, Dut, Peer, Server};
use rnic_driver::bus::Access;
use rnic_driver::verbs::{
    Completed, CompletionEvents, CompletionQueue, Connection, Context, Frame, MemoryRegion, Piece,
    ProtectionDomain, RegionOptions, Rights, WindowOptions,
};
use rnic_driver::{Completion, TransmitResult, TransmitRing};
use rnic_testbench::traffic::frame::{Endpoint, FrameBuilder, FLAG_ACK};
use rnic_testbench::traffic::{Sender, StreamConfig};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::fs::{fcntl_add_seals, ftruncate, memfd_create, MemfdFlags, SealFlags};
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

const STAG: u32 = 0x0001_0042;
const PORT: u16 = 5_000;
const OCTETS: usize = 1_000;
/// Writes of a flood: more than the device takes while anything here happens.
const WRITES: usize = 20_000;
const WINDOW: u32 = 1 << 20;
/// What takes longer has not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A device, and what every test needs of it.
struct Host {
    context: Context,
    domain: ProtectionDomain,
    queue: CompletionQueue,
    events: CompletionEvents,
}

impl Host {
    fn open(address: &str) -> Self {
        let config = rnic_driver::Config {
            control_units_log2: 4,
            ..config()
        };
        let context = Context::open(address, config);
        let context = context.unwrap_or_else(|error| panic!("{error}"));
        let domain = context.protection_domain().expect("the first");
        let queue = context.completion_queue(8).expect("queue 0");
        let events = context.completion_events(&[&queue]).expect("vectors");
        Self {
            context,
            domain,
            queue,
            events,
        }
    }

    /// A region that peers may write.
    fn region(&self, stag: u32) -> MemoryRegion {
        let memory = self.context.allocate(OCTETS).expect("memory");
        let registered = self.domain.register(memory, &options(stag));
        registered.expect("it is new")
    }

    /// The connection to the peer at `port`, with memory for `receives` messages.
    fn connection(&self, port: u16, receives: usize) -> Connection {
        let config = builder(port).connection(&StreamConfig::default(), WINDOW, 0);
        let connection = self.domain.open_connection(&self.queue, &config);
        let connection = connection.expect("it has room");
        if receives > 0 {
            let entries_log2 = receives.next_power_of_two().ilog2();
            connection.open_queue(0, entries_log2).expect("it has room");
        }
        for _ in 0..receives {
            let memory = self.context.allocate(64).expect("memory");
            connection.post_receive(0, memory).expect("it has room");
        }
        connection
    }

    /// The next completion; waits for the file.
    fn next(&self) -> Completed {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(completed) = self.queue.poll() {
                return completed;
            }
            assert!(Instant::now() < end, "no completion comes");
            self.events
                .wait(Some(PATIENCE))
                .expect("it can be waited for");
        }
    }

    /// Drops everything but the context, and closes that.
    fn close(self) {
        drop((self.domain, self.events, self.queue));
        self.context
            .close()
            .expect("nothing is left, and it answers");
    }
}

fn options(stag: u32) -> RegionOptions {
    RegionOptions {
        rights: Rights::REMOTE_WRITE,
        tagged_offset: 0,
        stag: Some(stag),
    }
}

fn builder(port: u16) -> FrameBuilder {
    FrameBuilder::new(Endpoint::host(1, port), Endpoint::host(2, 4_420))
}

/// The frames of what `fill` has a peer at `port` send, an FPDU each.
fn frames(port: u16, fill: impl FnOnce(&mut Sender)) -> Vec<Vec<u8>> {
    let mut sender = Sender::new(StreamConfig::default());
    fill(&mut sender);
    let builder = builder(port);
    let frames = sender.fpdus().iter().map(|fpdu| {
        let octets = &sender.stream()[fpdu.octets.clone()];
        builder.segment(sender.sequence(fpdu.octets.start), 1, FLAG_ACK, octets)
    });
    frames.collect()
}

fn read(region: &MemoryRegion) -> Vec<u8> {
    let mut octets = vec![0; OCTETS];
    region.read(0, &mut octets).expect("inside");
    octets
}

/// Waits until the peer has written the region.
fn await_write(region: &MemoryRegion) {
    let end = Instant::now() + PATIENCE;
    while read(region) == [0; OCTETS] {
        assert!(Instant::now() < end, "nothing is written");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A memfd of the test's own, which it sees also when it has no map of it.
fn sealed(octets: u64) -> OwnedFd {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    let file = memfd_create("test", flags).expect("a memfd");
    ftruncate(&file, octets).expect("room");
    fcntl_add_seals(&file, SealFlags::SHRINK).expect("it can be sealed");
    file
}

fn content(file: &OwnedFd) -> Vec<u8> {
    let mut octets = vec![0; OCTETS];
    let read = rustix::io::pread(file, &mut octets[..], 0);
    assert_eq!(read, Ok(OCTETS));
    octets
}

/// A whole conversation with a peer at `port`: a Write and a Send arrive.
fn converse(host: &Host, peer: &mut Peer, port: u16) {
    let region = host.region(u32::from(port) << 8);
    let connection = host.connection(port, 1);
    peer.send(frames(port, |sender| {
        sender.rdma_write(region.stag(), 0, &pattern(1, OCTETS));
        sender.send(b"done");
    }));
    match host.next() {
        Completed::Received(received) => assert_eq!(received.message(), b"done"),
        other => panic!("{other:?}"),
    }
    assert!(read(&region) == pattern(1, OCTETS));
    connection.close().expect("it answers");
}

#[test]
fn a_region_that_is_dropped_under_traffic_is_not_written_afterwards() {
    with_each(|dut| {
        let server = Server::start(dut);
        let host = Host::open(&server.address());
        let file = sealed(4096);
        let memory = host
            .context
            .map_memfd(file.as_fd(), 0, 4096, Access::ReadWrite);
        let memory = memory.expect("it is sealed");
        let region = host.domain.register(memory, &options(STAG));
        let region = region.expect("it is new");
        let connection = host.connection(PORT, 0);
        let traffic = server.peer().flood(writes(STAG, OCTETS, PORT, WRITES));
        await_write(&region);
        drop(region);
        let dropped = content(&file);
        // A later Write meets the STag that has gone, so there was traffic all the time.
        let refused = host.next();
        let is_error = matches!(refused, Completed::Stopped(Completion::Error { .. }));
        assert!(is_error, "{refused:?}");
        let (mut peer, left) = traffic.stop();
        assert!(left > 0, "the traffic was over");
        assert!(content(&file) == dropped);
        drop(connection);
        converse(&host, &mut peer, PORT + 1);
        assert!(content(&file) == dropped);
        host.close();
    });
}

/// The wait of an event loop: armed, then `poll(2)` on the file.
#[test]
fn arming_and_polling_loses_no_completion_of_a_storm() {
    const SENDS: usize = 128;
    with_each(|dut| {
        let server = Server::start(dut);
        let mut peer = server.peer();
        let host = Host::open(&server.address());
        let connection = host.connection(PORT, SENDS);
        peer.send(frames(PORT, |sender| {
            for number in 0..SENDS {
                sender.send(&pattern(number, 64));
            }
        }));
        let patience = Timespec {
            tv_sec: PATIENCE.as_secs() as i64,
            tv_nsec: 0,
        };
        let (mut received, mut waits) = (0, 0);
        while received < SENDS {
            while let Some(completed) = host.queue.poll() {
                let Completed::Received(message) = completed else {
                    panic!("{completed:?}");
                };
                assert_eq!(message.msn as usize, received + 1);
                assert!(message.message() == pattern(received, 64));
                received += 1;
            }
            if received < SENDS && !host.events.arm().expect("an eventfd") {
                let mut files = [PollFd::new(&host.events, PollFlags::IN)];
                let polled = poll(&mut files, Some(&patience));
                assert_eq!(polled, Ok(1), "lost after {received}");
                waits += 1;
            }
        }
        println!("{waits} waits for {SENDS} completions");
        assert!(host.queue.poll().is_none());
        drop(connection);
        host.close();
    });
}

/// Not a test by itself: the client of the test below, in a process of its own.
#[test]
fn a_client_that_leaks() {
    let Some(address) = client::address() else {
        return;
    };
    in_time(move || {
        let host = Host::open(&address);
        let region = host.region(STAG);
        let connection = host.connection(PORT, 1);
        println!("\nready");
        await_write(&region);
        std::mem::forget((region, connection, host));
    });
}

#[test]
fn a_device_whose_context_was_leaked_under_traffic_is_opened_again() {
    with_each(|dut| {
        let server = Server::start(dut);
        let client = Client::start("verbs::a_client_that_leaks", &server);
        let traffic = server.peer().flood(writes(STAG, OCTETS, PORT, WRITES));
        client.await_end();
        let host = Host::open(&server.address());
        let (mut peer, left) = traffic.stop();
        assert!(left > 0, "the traffic was over");
        converse(&host, &mut peer, PORT + 1);
        host.close();
    });
}

#[test]
fn an_invalidated_window_and_region_are_closed_and_renewed() {
    with_each(|dut| {
        let server = Server::start(dut);
        let mut peer = server.peer();
        let host = Host::open(&server.address());
        let region = host.region(STAG);
        let connection = host.connection(PORT, 2);
        let window = WindowOptions {
            rights: Rights::REMOTE_WRITE | Rights::REMOTE_INVALIDATE,
            range: 100..200,
            tagged_offset: 0,
            stag: None,
        };
        let window = connection.bind(&region, &window).expect("it is inside");
        assert_eq!(window.is_valid(), Ok(true));
        peer.send(frames(PORT, |sender| {
            sender.rdma_write(window.stag(), 0, &pattern(3, 100));
            sender.send_invalidate(window.stag(), b"done");
        }));
        let Completed::Received(received) = host.next() else {
            panic!("a message was sent");
        };
        assert_eq!(received.invalidated_stag, Some(window.stag()));
        assert_eq!(
            (window.is_valid(), region.is_valid()),
            (Ok(false), Ok(true))
        );
        let refused = region.close().expect_err("the window is still bound");
        window.close().expect("it answers");
        let mut region = refused.object;
        assert!(read(&region)[100..200] == pattern(3, 100));
        let stag = region.renew().expect("nothing holds it");
        assert!(stag != STAG && region.is_valid() == Ok(true));
        connection.close().expect("it answers");
        let memory = region.close().expect("it answers");
        drop((memory, received));
        host.close();
    });
}

#[test]
fn memory_that_the_device_only_reads_is_sent() {
    with_each(|dut| {
        let server = Server::start(dut);
        let mut peer = server.peer();
        let host = Host::open(&server.address());
        let file = sealed(4096);
        let payload = pattern(5, OCTETS);
        assert_eq!(rustix::io::pwrite(&file, &payload, 0), Ok(OCTETS));
        let context = &host.context;
        let memory = context.map_memfd(file.as_fd(), 0, 4096, Access::Read);
        let memory = memory.expect("it is sealed");
        let part = memory.part(0..OCTETS).expect("inside");
        let frame = Frame {
            pieces: &[Piece::Octets(&[0x02; 14]), Piece::Memory(part)],
            checksum: None,
            crc: None,
            cookie: 9,
        };
        let transmitted = context.transmit(TransmitRing::Control, &frame);
        transmitted.expect("there is room");
        // The frame keeps it.
        drop(memory);
        assert!(peer.receive()[14..] == payload);
        let end = Instant::now() + PATIENCE;
        let transmitted = loop {
            if let Some(transmitted) = context.poll_transmitted().expect("it answers") {
                break transmitted;
            }
            assert!(Instant::now() < end, "it has no result");
            context.check_present().expect("it answers");
        };
        let (cookie, result) = (transmitted.cookie, transmitted.result);
        assert_eq!((cookie, result), (9, TransmitResult::Sent));
        host.close();
    });
}

/// What the layer refuses to ask for, below it: a region that peers may write, of such memory.
#[test]
fn a_write_of_the_device_to_memory_that_it_only_reads_is_refused_and_reported() {
    with_each(|dut| {
        let server = Server::start(dut);
        let mut peer = server.peer();
        let mut device = host::open(&server);
        let file = sealed(4096);
        let mapped = device.dma().map_memfd(file.as_fd(), 0, 4096, Access::Read);
        host::register(&mut device, STAG, mapped.expect("it is sealed"));
        let mut stream = host::Stream::open(&mut device, PORT, 1);
        stream.sender.rdma_write(STAG, 0, &pattern(1, OCTETS));
        stream.settle(&mut device, &mut peer);
        assert!(content(&file) == [0; OCTETS]);
        // What is reported of a frame is reported before a later message is answered.
        device.close().expect("it answers");
        let errors = server.errors();
        let expected = match dut {
            Dut::Rtl => ["write of 128 octets to", "not writable by the device"],
            Dut::Model => [
                "a write to memory was refused",
                "does not allow this access",
            ],
        };
        assert!(
            expected.iter().all(|part| errors.contains(part)),
            "{errors}"
        );
    });
}
