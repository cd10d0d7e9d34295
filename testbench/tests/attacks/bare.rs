//! A device with its driver and nothing else, for what no peer's frame shows: a wire with bad
//! frames and without gaps, rings that fill and that lie across 4 GiB, a reset.
//!
//! ```text
//!  frames, each with its FCS right or wrong -> wire -> core -> memory at addresses of the test's
//!                                     Device over SimBar -^
//! ```

use crate::scene::pattern;
use rnic_abi::counters::Counter;
use rnic_abi::limits::{PAGES, RESET_CYCLES};
use rnic_abi::tables::RIGHT_REMOTE_WRITE;
use rnic_driver::{
    Completion, Config, ConnectionId, Device, Dma, DmaBuffer, DriverError, InUse, RegionConfig,
};
use rnic_sim::{attach, SimBar, Simulation, SimulationConfig};
use rnic_testbench::traffic::frame::FLAG_ACK;
use rnic_testbench::traffic::{Endpoint, FrameBuilder, Sender, StreamConfig};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

/// The region: its STag, the Tagged Offset of its first octet, and its octets.
pub const STAG: u32 = 0x00de_c0a1;
pub const REGION_TO: u64 = 0x55;
pub const REGION_OCTETS: usize = 4000;
/// Octets of a receive buffer.
pub const BUFFER_OCTETS: usize = 64;
/// Receive window of the connection in octets: less than a frame may hold.
pub const WINDOW: u32 = 4096;
/// Cycles for which the reset pin is held.
const RESET_PIN_CYCLES: usize = 16;
/// Cycles in which a device that comes out of reset is surely ready.
const READY_CYCLES: usize = RESET_CYCLES as usize + 10;

/// Host memory whose pieces lie where the test wants them.
#[derive(Clone, Debug)]
pub struct Memory {
    simulation: Rc<RefCell<Simulation>>,
    /// Address of the next piece, and how far it is to the one after it.
    next: u64,
    distance: u64,
}

impl Dma for Memory {
    fn allocate(
        &mut self,
        name: &str,
        octets: usize,
        _align: u64,
    ) -> Result<DmaBuffer, DriverError> {
        let address = self.next;
        self.next += self.distance;
        let mapped = self.simulation.borrow_mut().map(name, address, octets);
        assert!(mapped, "{name}: {address:#x} is taken");
        Ok(DmaBuffer { address, octets })
    }

    fn free(&mut self, _buffer: DmaBuffer) {}

    fn read(&self, address: u64, out: &mut [u8]) {
        let simulation = self.simulation.borrow();
        let octets = simulation.complex().memory().slice(address, out.len());
        out.copy_from_slice(octets.expect("only what was mapped is read"));
    }

    fn read_u32_acquire(&self, address: u64) -> u32 {
        let mut octets = [0; 4];
        // The simulated device writes only while the simulation steps.
        self.read(address, &mut octets);
        u32::from_le_bytes(octets)
    }

    fn write(&mut self, address: u64, data: &[u8]) {
        let mut simulation = self.simulation.borrow_mut();
        let written = simulation.complex_mut().memory_mut().write(address, data);
        written.expect("only what was mapped is written");
    }
}

/// The device, one connection, one region, and receive buffers on queue 0.
pub struct Bare {
    pub simulation: Rc<RefCell<Simulation>>,
    pub bar: SimBar,
    pub device: Device<SimBar, Memory>,
    pub sender: Sender,
    pub connection: ConnectionId,
    pub builder: FrameBuilder,
    region: DmaBuffer,
    buffers: Vec<DmaBuffer>,
    sent: usize,
}

/// A simulation whose host takes payloads of `max_payload_octets`.
pub fn simulation(max_payload_octets: usize) -> Rc<RefCell<Simulation>> {
    let simulation = Simulation::new(&SimulationConfig {
        max_payload_octets,
        ..SimulationConfig::default()
    });
    Rc::new(RefCell::new(simulation.expect("the core is there")))
}

impl Bare {
    /// A device as `config` has it; its rings, region and buffers begin at `first` and multiples of
    /// 16 MiB after it. `queue_log2`: log2 of the entries of queue 0, all of them posted.
    pub fn open(
        simulation: Rc<RefCell<Simulation>>,
        config: Config,
        first: u64,
        queue_log2: u32,
    ) -> Self {
        let mut bare = Self::without_connection(simulation, config, first);
        bare.open_next(StreamConfig::default(), WINDOW);
        bare.register();
        bare.open_queue(queue_log2);
        bare
    }

    /// The same with no connection, no queue, and nothing of the region but its memory.
    pub fn without_connection(
        simulation: Rc<RefCell<Simulation>>,
        config: Config,
        first: u64,
    ) -> Self {
        let (bar, _) = attach(&simulation);
        let memory = Memory {
            simulation: simulation.clone(),
            next: first,
            distance: 1 << 32,
        };
        let device = Device::open(bar.clone(), memory, config);
        let mut device = device.expect("the device opens");
        let region = device.dma().allocate("region", REGION_OCTETS, 1);
        let region = region.expect("memory is there");
        Self {
            simulation,
            bar,
            device,
            sender: Sender::new(StreamConfig::default()),
            connection: ConnectionId(0),
            builder: FrameBuilder::new(Endpoint::host(7, 47_000), Endpoint::host(8, 4_420)),
            region,
            buffers: Vec::new(),
            sent: 0,
        }
    }

    /// The memory of the region and of the buffers.
    pub fn pieces(&self) -> Vec<DmaBuffer> {
        let region = std::iter::once(self.region);
        region.chain(self.buffers.iter().copied()).collect()
    }

    /// Queue 0 of the connection, and a buffer for each of its entries.
    pub fn open_queue(&mut self, log2: u32) {
        let opened = self.device.open_queue(self.connection, 0, log2);
        opened.expect("a queue");
        self.buffers.clear();
        (0..1 << log2).for_each(|_| self.post());
    }

    fn register(&mut self) {
        let config = RegionConfig {
            stag: STAG,
            rights: RIGHT_REMOTE_WRITE,
            protection_domain: 3,
            connection: None,
            tagged_offset: REGION_TO,
            octets: REGION_OCTETS as u64,
            address: self.region.address,
        };
        self.device.register_region(&config).expect("one region");
    }

    fn post(&mut self) {
        let buffer = self.device.dma().allocate("buffer", BUFFER_OCTETS, 1);
        let buffer = buffer.expect("memory is there");
        let posted = self.device.post_receive(self.connection, 0, buffer);
        posted.expect("the queue has room");
        self.buffers.push(buffer);
    }

    /// A frame with these octets of the stream.
    pub fn segment(&self, octets: Range<usize>) -> Vec<u8> {
        self.frame(octets.start, 1, FLAG_ACK, &self.sender.stream()[octets])
    }

    /// A frame with octets of the caller's, for the stream from octet `start` on.
    pub fn frame(&self, start: usize, acknowledgement: u32, flags: u8, octets: &[u8]) -> Vec<u8> {
        let sequence = self.sender.sequence(start);
        self.builder
            .segment(sequence, acknowledgement, flags, octets)
    }

    /// Those octets of the stream, on the wire.
    pub fn send(&mut self, octets: Range<usize>) {
        let frame = self.segment(octets);
        self.push(&frame, false);
    }

    /// End the connection and offload it again; its stream begins anew, with markers or without.
    pub fn open_again(&mut self, markers: bool) {
        let stream = StreamConfig {
            markers,
            ..StreamConfig::default()
        };
        self.open_again_with(stream, WINDOW);
    }

    /// The same with this stream, and a receive window of `window` octets.
    pub fn open_again_with(&mut self, stream: StreamConfig, window: u32) {
        self.close();
        self.open_next(stream, window);
    }

    /// End the connection.
    pub fn close(&mut self) {
        let closed = self.device.close_connection(self.connection);
        closed.expect("it is open");
    }

    /// Offload the connection again after a `close`, with this stream and window.
    pub fn open_next(&mut self, stream: StreamConfig, window: u32) {
        let config = self.builder.connection(&stream, window, 3);
        self.connection = self.device.open_connection(&config).expect("a connection");
        self.sender = Sender::new(stream);
        self.sent = 0;
    }

    /// How far the stream has been accepted, in octets.
    pub fn accepted(&mut self) -> usize {
        let state = self.device.tcp_state(self.connection).expect("it is open");
        state.rcv_nxt.wrapping_sub(self.sender.sequence(0)) as usize
    }

    /// A frame for the host of `octets` octets, identified by `mark`.
    pub fn host_frame(&self, octets: usize, mark: u8) -> Vec<u8> {
        let mut frame = pattern(octets);
        // Of a type that is not IP.
        frame[12..15].copy_from_slice(&[0x88, 0xcc, mark]);
        frame
    }

    /// A frame, at the wire's rate; `error`: its FCS is wrong.
    pub fn push(&mut self, frame: &[u8], error: bool) {
        let mut simulation = self.simulation.borrow_mut();
        simulation.push_frame(frame.to_vec(), error);
        while simulation.frames_waiting() > 0 {
            simulation.step();
        }
    }

    /// Send what was put on the stream since the last call, one segment per FPDU.
    pub fn send_all(&mut self) {
        let fpdus = self.sender.fpdus()[self.sent..].to_vec();
        for fpdu in fpdus {
            let frame = self.segment(fpdu.octets);
            self.push(&frame, false);
            self.sent += 1;
        }
    }

    /// The same, and wait until the core is idle.
    pub fn deliver(&mut self) {
        self.send_all();
        self.run_until_idle();
    }

    /// Run until the core is idle.
    pub fn run_until_idle(&mut self) {
        self.simulation.borrow_mut().run_until_idle();
    }

    /// Reset the device through its pin, and wait until it is ready.
    pub fn reset(&mut self) {
        let mut simulation = self.simulation.borrow_mut();
        simulation.core_mut().set_reset(true);
        simulation.run(RESET_PIN_CYCLES);
        simulation.core_mut().set_reset(false);
        simulation.run(READY_CYCLES);
    }

    /// A counter now.
    pub fn counter(&mut self, counter: Counter) -> u32 {
        self.device.counter(counter).expect("the device answers")
    }

    /// The octets of the region.
    pub fn region(&mut self) -> Vec<u8> {
        let mut octets = vec![0; REGION_OCTETS];
        self.device.dma().read(self.region.address, &mut octets);
        octets
    }

    /// Every Send that the completion queue reports: MSN and octets.
    pub fn received(&mut self) -> Vec<(u32, Vec<u8>)> {
        let mut all = Vec::new();
        while let Some(completion) = self.device.poll_completion() {
            let Completion::Receive { msn, length, .. } = completion else {
                panic!("{completion:?} is no Send");
            };
            let buffer = self.buffers[msn as usize - 1];
            let mut octets = vec![0; BUFFER_OCTETS];
            self.device.dma().read(buffer.address, &mut octets);
            octets.truncate(length as usize);
            all.push((msn, octets));
        }
        all
    }

    /// Every frame in the host ring.
    pub fn host_frames(&mut self) -> Vec<Vec<u8>> {
        std::iter::from_fn(|| self.device.poll_host_frame()).collect()
    }

    /// Nothing is held, and the host saw nothing wrong.
    pub fn assert_clean(&mut self) {
        self.run_until_idle();
        let simulation = self.simulation.borrow();
        assert_eq!(simulation.free_pages(), PAGES as u32, "pages are lost");
        drop(simulation);
        let held = self.device.in_use().expect("the device answers");
        assert_eq!(held, InUse::default(), "nothing is on its way");
        let simulation = self.simulation.borrow();
        let records = simulation.complex().monitor().records();
        assert!(records.is_empty(), "{records:?}");
    }
}
