//! The driver over a served device, and streams that a peer sends it.

use crate::server::{Peer, Server};
use rnic_abi::limits::PAGES;
use rnic_abi::tables::{REGION, RIGHT_REMOTE_WRITE, TCP};
use rnic_driver::bus::{self, AnyDevice, FunctionMemory, OpenError};
use rnic_driver::{
    Bar, Completion, Config, ConnectionConfig, ConnectionId, Device, Dma, DmaBuffer, InUse,
    InterruptSource, QueueId, RegionConfig,
};
use rnic_testbench::traffic::frame::{Endpoint, FrameBuilder, FLAG_ACK};
use rnic_testbench::traffic::{Sender, StreamConfig};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use std::time::{Duration, Instant};

/// The vector of completions.
pub const VECTOR: u8 = 1;
const PROTECTION_DOMAIN: u16 = 7;
const WINDOW: u32 = 1 << 20;
/// What takes longer has not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A device on a bus, behind whatever BAR0.
pub type BusDevice<B> = Device<B, FunctionMemory>;

/// Choices that need little memory, so that opening is quick.
pub fn config() -> Config {
    Config {
        completion_entries_log2: 11,
        host_slots_log2: 4,
        event_delay_log2: 0,
        ..Config::default()
    }
}

/// The device of `server`; completions of queue 0 raise [`VECTOR`].
pub fn open(server: &Server) -> AnyDevice {
    let opened = open_at(&server.address());
    opened.unwrap_or_else(|error| panic!("{error}; {}", server.errors()))
}

/// As [`open`], of the device at `address`.
pub fn open_at(address: &str) -> Result<AnyDevice, OpenError> {
    let mut device = bus::open(address, config())?;
    route(&mut device);
    Ok(device)
}

/// Completions of queue 0 raise [`VECTOR`].
pub fn route(device: &mut AnyDevice) {
    let source = InterruptSource::Completion(QueueId::default());
    let routed = device.route_interrupt(source, Some(VECTOR));
    routed.expect("there are such a queue and such a vector");
}

/// Octets that differ by `number` and place.
pub fn pattern(number: usize, octets: usize) -> Vec<u8> {
    (0..octets)
        .map(|at| (at * 7 + number * 31 + 1) as u8)
        .collect()
}

/// Memory of the device.
pub fn read(device: &mut AnyDevice, buffer: DmaBuffer) -> Vec<u8> {
    let mut octets = vec![0; buffer.octets];
    device.dma().read(buffer.address, &mut octets);
    octets
}

pub fn allocate<B: Bar>(device: &mut BusDevice<B>, octets: usize) -> DmaBuffer {
    let buffer = device.dma().allocate("test", octets, 64);
    buffer.unwrap_or_else(|error| panic!("{octets} octets: {error}"))
}

/// A region that peers may write, of the memory `buffer`.
pub fn register(device: &mut AnyDevice, stag: u32, buffer: DmaBuffer) {
    let registered = device.register_region(&RegionConfig {
        stag,
        rights: RIGHT_REMOTE_WRITE,
        protection_domain: PROTECTION_DOMAIN,
        connection: None,
        tagged_offset: 0,
        octets: buffer.octets as u64,
        address: buffer.address,
    });
    registered.unwrap_or_else(|error| panic!("{stag:#x}: {error}"));
}

/// The next completion; waits for its interrupt.
pub fn next_completion(device: &mut AnyDevice) -> Completion {
    let end = Instant::now() + PATIENCE;
    loop {
        if let Some(completion) = device.poll_completion() {
            return completion;
        }
        assert!(Instant::now() < end, "no completion comes");
        let waited = device.wait(VECTOR, Some(PATIENCE));
        assert!(waited.expect("it can be waited for"), "no interrupt comes");
    }
}

/// Waits for interrupts of [`VECTOR`]; how many have come since the last call, all of which
/// `Device::wait` counts as one.
pub fn await_interrupts(device: &AnyDevice) -> u64 {
    let event = device.interrupt_fd(VECTOR).expect("there is such a vector");
    let timeout = Timespec {
        tv_sec: PATIENCE.as_secs() as i64,
        tv_nsec: 0,
    };
    let polled = poll(
        &mut [PollFd::from_borrowed_fd(event, PollFlags::IN)],
        Some(&timeout),
    );
    assert_eq!(polled, Ok(1), "no interrupt comes");
    take_interrupts(device)
}

/// How many interrupts of [`VECTOR`] have come since they were last counted; does not wait.
pub fn take_interrupts(device: &AnyDevice) -> u64 {
    let event = device.interrupt_fd(VECTOR).expect("there is such a vector");
    let mut count = [0; 8];
    match rustix::io::read(event, &mut count) {
        Ok(octets) => assert_eq!(octets, count.len()),
        Err(error) => assert_eq!(error, Errno::AGAIN),
    }
    u64::from_ne_bytes(count)
}

/// Waits until `buffer` is not `before` any more.
pub fn await_change(device: &mut AnyDevice, buffer: DmaBuffer, before: &[u8]) {
    let end = Instant::now() + PATIENCE;
    while read(device, buffer) == before {
        assert!(Instant::now() < end, "nothing is written");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A stream from a peer, and the connection that receives it.
pub struct Stream {
    pub connection: ConnectionId,
    pub sender: Sender,
    pub builder: FrameBuilder,
    /// FPDUs that were taken as frames.
    taken: usize,
}

impl Stream {
    /// Opens the connection to the peer at `port`, and `receives` buffers for its Sends.
    pub fn open(device: &mut AnyDevice, port: u16, receives: usize) -> Self {
        Self::open_on(device, port, receives, QueueId::default())
    }

    /// As [`Stream::open`], with completions in `queue`.
    pub fn open_on<B: Bar>(
        device: &mut BusDevice<B>,
        port: u16,
        receives: usize,
        queue: QueueId,
    ) -> Self {
        let (builder, stream) = (builder(port), StreamConfig::default());
        let config = builder.connection(&stream, WINDOW, PROTECTION_DOMAIN);
        let connection = device.open_connection(&ConnectionConfig {
            completion_queue: queue,
            ..config
        });
        let stream = Self {
            connection: connection.expect("it has room"),
            sender: Sender::new(stream),
            builder,
            taken: 0,
        };
        stream.open_receives(device, receives);
        stream
    }

    /// Reserves the connection to the peer at `port`, with `receives` buffers for its Sends.
    /// Returns the configuration to activate it with, too.
    pub fn reserve(device: &mut AnyDevice, port: u16, receives: usize) -> (Self, ConnectionConfig) {
        let (builder, stream) = (builder(port), StreamConfig::default());
        let config = builder.connection(&stream, WINDOW, PROTECTION_DOMAIN);
        let reserved = device.reserve_connection(&config.reservation());
        let stream = Self {
            connection: reserved.expect("it has room"),
            sender: Sender::new(stream),
            builder,
            taken: 0,
        };
        stream.open_receives(device, receives);
        (stream, config)
    }

    fn open_receives<B: Bar>(&self, device: &mut BusDevice<B>, receives: usize) {
        if receives > 0 {
            let entries_log2 = receives.next_power_of_two().ilog2();
            let opened = device.open_queue(self.connection, 0, entries_log2);
            opened.expect("it has room");
            self.post(device, receives);
        }
    }

    /// Posts `receives` further buffers of 64 octets.
    pub fn post<B: Bar>(&self, device: &mut BusDevice<B>, receives: usize) {
        let memory = allocate(device, receives * 64);
        for number in 0..receives as u64 {
            let address = memory.address + 64 * number;
            let buffer = DmaBuffer {
                address,
                octets: 64,
            };
            let posted = device.post_receive(self.connection, 0, buffer);
            posted.expect("it has room");
        }
    }

    /// Frames of what was given to the sender since the last call, an FPDU each.
    pub fn frames(&mut self) -> Vec<Vec<u8>> {
        let fpdus = self.sender.fpdus()[self.taken..].iter();
        let frames = fpdus.map(|fpdu| {
            let octets = &self.sender.stream()[fpdu.octets.clone()];
            let sequence = self.sender.sequence(fpdu.octets.start);
            self.builder.segment(sequence, 1, FLAG_ACK, octets)
        });
        let frames = frames.collect();
        self.taken = self.sender.fpdus().len();
        frames
    }

    /// Has `peer` send what there is and one Send after it; waits for its completion, so that all
    /// of it is in memory. A buffer must be posted.
    pub fn settle(&mut self, device: &mut AnyDevice, peer: &mut Peer) {
        self.sender.send(b"done");
        peer.send(self.frames());
        let completion = next_completion(device);
        let is_own = matches!(completion, Completion::Receive { connection, length: 4, .. }
            if connection == self.connection);
        assert!(is_own, "{completion:?}");
    }
}

fn builder(port: u16) -> FrameBuilder {
    FrameBuilder::new(Endpoint::host(1, port), Endpoint::host(2, 4_420))
}

/// Frames of a peer at `port` that writes to the region `stag` of `octets` octets from its
/// beginning on, again and again: `count` Writes, each with octets of its own.
pub fn writes(stag: u32, octets: usize, port: u16, count: usize) -> Vec<Vec<u8>> {
    let mut sender = Sender::new(StreamConfig::default());
    for number in 0..count {
        sender.rdma_write(stag, 0, &pattern(number, octets));
    }
    let builder = builder(port);
    let frames = sender.fpdus().iter().map(|fpdu| {
        let octets = &sender.stream()[fpdu.octets.clone()];
        builder.segment(sender.sequence(fpdu.octets.start), 1, FLAG_ACK, octets)
    });
    frames.collect()
}

/// The device holds nothing of anybody, once the frames that are on their way have gone.
pub fn assert_clean(device: &mut AnyDevice) {
    for table in [TCP, REGION] {
        for index in 0..4 {
            let entry = device.table_entry(table, index);
            assert_eq!(entry, Ok([0; 4]), "table {table}, entry {index}");
        }
    }
    assert_eq!(device.in_use(), Ok(InUse::default()));
    let end = Instant::now() + PATIENCE;
    while device.free_pages() != Ok(PAGES as u32) {
        assert!(Instant::now() < end, "{:?}", device.free_pages());
        while device.poll_host_frame().is_some() {}
    }
}

/// A whole conversation with a peer at `port`: Writes and a Send arrive.
pub fn converse(device: &mut AnyDevice, peer: &mut Peer, port: u16) {
    let stag = 0x0300_0000 | u32::from(port) << 8;
    let memory = allocate(device, 3_000);
    register(device, stag, memory);
    let mut stream = Stream::open(device, port, 1);
    let octets = pattern(port.into(), memory.octets);
    stream.sender.rdma_write(stag, 0, &octets);
    stream.settle(device, peer);
    assert!(read(device, memory) == octets);
    let closed = device.close_connection(stream.connection);
    closed.expect("it is open");
    device.deregister_region(stag).expect("it is registered");
}
