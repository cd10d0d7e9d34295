//! The verilated core behind its driver.
//!
//! Enters: frames, one after another, each on the wire for as many cycles as its width takes; what
//! a driver does between them. Leaves: what the device showed on the bus and in its counters.
//! `watch` sees what becomes of a frame for which there may be no room; `pauses` slows the wire
//! down as receivers slow their peers down.

use crate::play::bus::{BusWatch, Rings};
use crate::play::conditions::Surroundings;
use crate::play::dut::{self, Buffer, Dut, Observation, ReadSink, StreamState};
use crate::play::pauses::{Patience, Pauses};
use crate::play::posts::PostPaths;
use crate::play::used::use_and_reset;
use rnic_abi::counters::Counter;
use rnic_abi::events::SegmentTrace;
use rnic_abi::limits::PAGES;
use rnic_driver::{
    Completion, ConnectionConfig, ConnectionId, Device, DmaBuffer, DriverError, Event, InUse,
    Posted, QueueId, RegionConfig, WindowConfig,
};
use rnic_model::Room;
use rnic_sim::{attach_at, Record, SimBar, SimDma, SimError, Simulation, SimulationConfig};
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use loop_memory::LoopMemory;

pub use loop_memory::is_looped;
pub use options::RtlOptions;

mod loop_memory;
mod looped;
mod options;
mod watch;

/// What 100GbE brings at the clock of W=512: so many cycles for so many octets. 64 octets a cycle
/// are more than the core takes for long (`ethernet`, spacing).
pub(crate) const WIRE_512: (u32, u32) = (322, 12_500);

/// Cycles from one frame's start to the next, at least: the core's own rate for small frames.
const fn frame_cycles_min(width: usize) -> u64 {
    match width {
        512 => 16,
        _ => 8,
    }
}

/// Cycles in which a device that has room in the event ring again writes another event.
const EVENT_CYCLES: usize = 200;

/// The hardware under test.
#[derive(Debug)]
pub struct Rtl {
    simulation: Rc<RefCell<Simulation>>,
    /// Cycle of the simulation in which the device was open: the timeline begins there.
    opened: u64,
    device: Device<PostPaths<SimBar>, SimDma>,
    rings: Rc<RefCell<Rings>>,
    frame_cycles_min: u64,
    pauses: Option<Pauses>,
    /// Free pages below which the device may refuse a segment for lack of room.
    short_pages: u32,
    /// Every frame is watched.
    watches_all: bool,
    /// Frames dropped for lack of pages that were reported to a caller.
    no_page_reported: u32,
    /// There may be stored frames whose verdicts have not been awaited.
    has_unwatched: bool,
    /// Free pages of an idle device.
    free_pages_when_idle: u32,
    /// Completions are taken after this many frames.
    late_frames: usize,
    patience: Patience,
    frames: usize,
    /// The completion queues that exist.
    queues: Vec<QueueId>,
    /// Taken from the completion queues, not yet observed.
    completions: Vec<Completion>,
    /// Taken from the event ring, not yet observed.
    events: Vec<Event>,
    /// Cycles within which every event that is not pending yet will be.
    event_delay_cycles: usize,
    /// Verdicts taken from the simulation, and not yet observed.
    segments: Vec<SegmentTrace>,
    /// Memory of the frame that is looped back, if frames are.
    looped: Option<LoopMemory>,
}

/// Why the device could not be brought up.
#[derive(Debug, thiserror::Error)]
pub enum BringUpError {
    /// The core cannot be simulated.
    #[error(transparent)]
    Simulation(#[from] SimError),
    /// The driver refused it.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

impl Rtl {
    /// Build, load, reset and open the device.
    pub fn new(options: &RtlOptions) -> Result<Self, BringUpError> {
        Self::within(options, &Surroundings::default())
    }

    /// As [`Rtl::new`], with the given rings and driver.
    pub fn within(options: &RtlOptions, surroundings: &Surroundings) -> Result<Self, BringUpError> {
        let max_payload_octets = options.config.max_payload_octets;
        let SimulationConfig { width, seed, .. } = options.simulation;
        let mut simulation = Simulation::new(&SimulationConfig {
            max_payload_octets: max_payload_octets as usize,
            ..options.simulation.clone()
        })?;
        if width == 512 {
            let (cycles, octets) = WIRE_512;
            simulation.frames_mut().set_rate(cycles, octets);
            simulation.sink_mut().set_rate(cycles, octets);
        }
        let simulation = Rc::new(RefCell::new(simulation));
        if options.used {
            use_and_reset(&simulation, seed, max_payload_octets)?;
        }
        let (bar, dma) = attach_at(&simulation, surroundings.rings_address);
        let config = match options.loopback {
            true => loop_memory::config(&options.config),
            false => options.config,
        };
        let mut device = Device::open(PostPaths::new(bar, seed), dma, config)?;
        let looped = options.loopback.then(|| LoopMemory::begin(&mut device));
        let looped = looped.transpose()?;
        let rings = Rings::new(simulation.borrow().complex().memory(), &options.config);
        let rings = Rc::new(RefCell::new(rings));
        let watch = BusWatch(Rc::clone(&rings));
        simulation.borrow_mut().observe_writes(Box::new(watch));
        let free_pages_when_idle = simulation.borrow().free_pages();
        let opened = simulation.borrow().now();
        Ok(Self {
            simulation,
            opened,
            device,
            rings,
            frame_cycles_min: frame_cycles_min(width).max(surroundings.frame_cycles_min),
            pauses: options.pauses.then(Pauses::default),
            short_pages: options.short_pages,
            watches_all: options.watches_all,
            no_page_reported: 0,
            has_unwatched: false,
            free_pages_when_idle,
            late_frames: surroundings.late_frames,
            patience: Patience::new(surroundings.patience_cycles),
            frames: 0,
            queues: vec![QueueId::default()],
            completions: Vec::new(),
            events: Vec::new(),
            event_delay_cycles: match options.config.event_delay_log2 {
                0 => 0,
                log2 => (1 << log2) + EVENT_CYCLES,
            },
            segments: Vec::new(),
            looped,
        })
    }

    /// Put a frame on the wire and wait until it is in, and for what slows a sender down.
    fn send(&mut self, frame: &[u8]) {
        let mut start = self.simulation.borrow().now();
        if !self.send_looped(frame) {
            let mut simulation = self.simulation.borrow_mut();
            simulation.push_frame(frame.to_vec(), false);
            // What was written before has taken effect first.
            start = simulation.now();
        }
        let mut simulation = self.simulation.borrow_mut();
        while simulation.frames_waiting() > 0 || simulation.now() - start < self.frame_cycles_min {
            simulation.step();
        }
        drop(simulation);
        self.has_unwatched = true;
        self.pause();
        self.frames += 1;
        if self.frames % self.late_frames == 0 {
            self.take_completions();
        }
    }

    /// Put a frame on the wire after those that wait there, and wait for none of them.
    pub fn queue(&mut self, frame: &[u8]) {
        self.simulation
            .borrow_mut()
            .push_frame(frame.to_vec(), false);
    }

    /// Cycle in which the last memory write was taken, counted as [`Dut::cycles`].
    pub fn last_write(&self) -> u64 {
        self.simulation
            .borrow()
            .last_write()
            .saturating_sub(self.opened)
    }

    /// The wire pauses while packet memory is nearly full.
    fn pause(&mut self) {
        if let Some(pauses) = &mut self.pauses {
            pauses.wait(&mut self.simulation.borrow_mut());
        }
    }

    /// Poll every completion queue until it is empty.
    fn take_completions(&mut self) {
        for &queue in &self.queues {
            let device = &mut self.device;
            let poll = || {
                let polled = device.poll_completion_queue(queue);
                polled.expect("it was created")
            };
            self.completions.extend(std::iter::from_fn(poll));
        }
    }

    /// Take all events, and those that wait for room in a ring that is full.
    fn take_events(&mut self) {
        loop {
            let before = self.events.len();
            let polled = std::iter::from_fn(|| self.device.poll_event());
            self.events.extend(polled);
            if self.events.len() == before {
                return;
            }
            self.simulation.borrow_mut().run(EVENT_CYCLES);
        }
    }
}

impl Dut for Rtl {
    fn map(&mut self, name: &str, address: u64, octets: usize) -> bool {
        let mut simulation = self.simulation.borrow_mut();
        simulation.map(name, address, octets.max(1))
    }

    fn create_completion_queue(
        &mut self,
        queue: QueueId,
        entries_log2: u32,
    ) -> Result<(), DriverError> {
        self.device.create_completion_queue(queue, entries_log2)?;
        self.queues.push(queue);
        let simulation = self.simulation.borrow();
        let memory = simulation.complex().memory();
        let mut rings = self.rings.borrow_mut();
        rings.add_queue(memory, queue, entries_log2);
        Ok(())
    }

    fn open(&mut self, config: &ConnectionConfig) -> Result<ConnectionId, DriverError> {
        self.device.open_connection(config)
    }

    fn close(&mut self, connection: ConnectionId) -> Result<(), DriverError> {
        self.device.close_connection(connection)
    }

    fn set_window(&mut self, connection: ConnectionId, window: u32) -> Result<(), DriverError> {
        self.device.set_window(connection, window)
    }

    fn open_queue(
        &mut self,
        connection: ConnectionId,
        qn: u32,
        log2: u32,
        first_msn: u32,
    ) -> Result<(), DriverError> {
        self.device.open_queue_at(connection, qn, log2, first_msn)
    }

    fn post(
        &mut self,
        connection: ConnectionId,
        qn: u32,
        buffer: Buffer,
        _posted: Option<Posted>,
    ) -> Result<Posted, DriverError> {
        let dma = DmaBuffer {
            address: buffer.address,
            octets: buffer.octets as usize,
        };
        let posted = self.device.post_receive(connection, qn, dma)?;
        self.rings.borrow_mut().posted(posted.pool_entry, buffer);
        Ok(posted)
    }

    fn post_read(
        &mut self,
        connection: ConnectionId,
        read: ReadSink,
        _posted: Option<Posted>,
    ) -> Result<Posted, DriverError> {
        let ReadSink {
            stag,
            offset,
            octets,
        } = read;
        self.device.post_read(connection, stag, offset, octets)
    }

    fn register(&mut self, config: &RegionConfig) -> Result<(), DriverError> {
        self.rings.borrow_mut().registered(config);
        self.device.register_region(config)
    }

    fn renew(&mut self, config: &RegionConfig) -> Result<(), DriverError> {
        self.rings.borrow_mut().registered(config);
        self.device.renew_region(config)
    }

    fn deregister(&mut self, stag: u32) -> Result<(), DriverError> {
        self.device.deregister_region(stag)
    }

    fn bind(&mut self, window: &WindowConfig, config: &RegionConfig) -> Result<(), DriverError> {
        self.rings.borrow_mut().registered(config);
        self.device.bind_window(window)
    }

    fn unbind(&mut self, stag: u32) -> Result<(), DriverError> {
        self.device.unbind_window(stag)
    }

    fn state(&mut self, connection: ConnectionId) -> Option<StreamState> {
        let tcp = self.device.tcp_state(connection).ok()?;
        let out_of_order = self.device.out_of_order_state(connection).ok()?;
        let mut ranges = self.device.out_of_order_ranges(connection).ok()?;
        ranges.sort_by_key(|range| range.left.wrapping_sub(tcp.rcv_nxt));
        Some(StreamState {
            rcv_nxt: tcp.rcv_nxt,
            seg_ack: tcp.seg_ack,
            seg_wnd: tcp.seg_wnd,
            fin_seen: tcp.fin_seen,
            ranges,
            pages: u32::from(out_of_order.pages),
            duplicate_acks: out_of_order.duplicate_acks,
        })
    }

    fn finish_events(&mut self) -> Vec<Event> {
        self.simulation.borrow_mut().run(self.event_delay_cycles);
        self.take_events();
        std::mem::take(&mut self.events)
    }

    fn push(&mut self, frame: &[u8], _room: Room) -> Room {
        let is_short = self.is_short_after_waiting(frame);
        match self.watches_all || is_short {
            true => self.send_watched(frame, is_short),
            false => {
                self.send(frame);
                Room::Enough
            }
        }
    }

    fn wait(&mut self, cycles: usize) {
        self.simulation.borrow_mut().run(cycles);
    }

    fn settle(&mut self) {
        self.simulation.borrow_mut().run_until_idle();
        self.take_completions();
    }

    fn observe(&mut self) -> Observation {
        self.take_completions();
        let mut seen = Observation {
            completions: std::mem::take(&mut self.completions),
            ..Observation::default()
        };
        self.take_events();
        seen.events = std::mem::take(&mut self.events);
        // The driver takes its frames; what it was shown is compared as it came over the bus.
        while self.device.poll_host_frame().is_some() {}
        let mut rings = self.rings.borrow_mut();
        seen.entries = std::mem::take(&mut rings.entries);
        seen.host_slots = std::mem::take(&mut rings.slots);
        drop(rings);
        let mut simulation = self.simulation.borrow_mut();
        seen.segments = std::mem::take(&mut self.segments);
        seen.segments
            .extend(std::iter::from_fn(|| simulation.next_segment()));
        seen.fpdus
            .extend(std::iter::from_fn(|| simulation.next_fpdu()));
        seen
    }

    fn read(&self, address: u64, octets: usize) -> Vec<u8> {
        let simulation = self.simulation.borrow();
        let octets = simulation.complex().memory().read(address, octets);
        octets.expect("the player reads only what it mapped")
    }

    fn written(&self, address: u64, octets: u64) -> Vec<Range<u64>> {
        let simulation = self.simulation.borrow();
        let region = simulation.complex().memory().region_at(address);
        region.map_or_else(Vec::new, |region| region.written_within(address, octets))
    }

    fn leaks(&mut self) -> Vec<String> {
        let all = self.free_pages_when_idle;
        let free = match self.device.free_pages() {
            Ok(free) => free,
            Err(error) => return vec![error.to_string()],
        };
        let leaked = format!("free_pages: {free} of {all} with no connection open");
        let mut leaks: Vec<String> = (free != all).then_some(leaked).into_iter().collect();
        let held = match self.device.in_use() {
            Ok(held) if held == InUse::default() => return leaks,
            Ok(held) => format!("{held:?} with no connection open"),
            Err(error) => error.to_string(),
        };
        leaks.push(held);
        leaks
    }

    fn counters(&mut self) -> Vec<(Counter, u32)> {
        let counters = self.device.counters();
        counters.expect("the simulated device is not removed")
    }

    fn violations(&self) -> Vec<String> {
        let simulation = self.simulation.borrow();
        let records = simulation.complex().monitor().records();
        let records = records
            .iter()
            .map(|record| format!("cycle {}: {}", record.now, record.violation));
        let faults = self.rings.borrow().faults.clone();
        records.chain(faults).collect()
    }

    fn cycles(&self) -> u64 {
        self.simulation.borrow().now() - self.opened
    }

    fn pages(&self) -> u32 {
        PAGES as u32 - self.simulation.borrow().free_pages()
    }

    fn start_record(&mut self) {
        self.simulation.borrow_mut().start_record();
    }

    fn take_record(&mut self) -> Option<(Record, dut::RingAddresses)> {
        let mut record = self.simulation.borrow_mut().take_record();
        for (cycle, _) in &mut record.events {
            *cycle -= self.opened;
        }
        Some((record, self.rings.borrow().addresses()))
    }

    fn set_traced(&mut self, traced: bool) {
        self.simulation.borrow_mut().set_traced(traced);
    }
}
