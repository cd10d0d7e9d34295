//! An open device with connections and a region, for measurements.

use crate::bench::sending::{self, BESIDE_OCTETS, READ_LATENCY_CYCLES};
use crate::play::rtl::{BringUpError, WIRE_512};
use crate::traffic::frame::{Endpoint, FrameBuilder};
use crate::traffic::sender::{Sender, StreamConfig};
use rnic_abi::counters::Counter;
use rnic_abi::limits::MAX_RECEIVE_WINDOW;
use rnic_driver::{
    Config, ConnectionId, Device, Dma, DmaBuffer, DriverError, RegionConfig, TransmitRing,
};
use rnic_sim::{attach, ReadPath, SimBar, SimDma, Simulation, SimulationConfig};
use rnic_wire::mpa::fpdu::ULPDU_OCTETS_MAX;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Connections of each kind (without and with markers).
pub const CONNECTIONS: usize = 64;
/// STag of the region that everything is written to.
pub const STAG: u32 = 0x00f0_0d42;
/// Octets of that region.
pub const REGION_OCTETS: usize = 1 << 20;
/// Receive buffers of the first connection; Sends are measured on it alone or on all.
pub const FIRST_QUEUE_LOG2: u32 = 9;
/// Receive buffers of each other connection.
pub const OTHER_QUEUE_LOG2: u32 = 3;
/// A frame takes two units: 512 frames.
const RING_UNITS_LOG2: u32 = 10;
const BUFFER_OCTETS: usize = 64;
const PROTECTION_DOMAIN: u16 = 1;

/// One connection and where its stream stands.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Id.
    pub connection: ConnectionId,
    /// Builds its frames.
    pub builder: FrameBuilder,
    /// Everything sent so far.
    pub sender: Sender,
}

/// The device and its streams.
#[derive(Debug)]
pub struct Rig {
    /// The simulation.
    pub simulation: Rc<RefCell<Simulation>>,
    /// Its driver.
    pub device: Device<SimBar, SimDma>,
    /// Streams without markers, then as many with.
    pub streams: Vec<Stream>,
    /// What frames to send are gathered from.
    frame_memory: DmaBuffer,
    buffers: DmaBuffer,
    /// Full frames are sent all the time.
    is_sending: bool,
}

impl Rig {
    /// Bring a device of `width` up with all its streams.
    pub fn new(width: usize) -> Result<Self, BringUpError> {
        let reads = ReadPath {
            latency_cycles: READ_LATENCY_CYCLES,
            ..ReadPath::default()
        };
        let config = SimulationConfig {
            width,
            reads,
            ..SimulationConfig::default()
        };
        let mut simulation = Simulation::new(&config)?;
        if width == 512 {
            let (cycles, octets) = WIRE_512;
            simulation.sink_mut().set_rate(cycles, octets);
        }
        let simulation = Rc::new(RefCell::new(simulation));
        let (bar, dma) = attach(&simulation);
        let config = Config {
            completion_entries_log2: 12,
            // Every segment raises an event, and none waits for the driver.
            event_entries_log2: 16,
            event_delay_log2: 0,
            // Nothing here retransmits what the device refuses.
            in_order_reserve: 0,
            control_units_log2: RING_UNITS_LOG2,
            bulk_units_log2: RING_UNITS_LOG2,
            ..Config::default()
        };
        let mut device = Device::open(bar, dma, config)?;
        let region = device.dma().allocate("bench region", REGION_OCTETS, 4096)?;
        let buffers = device
            .dma()
            .allocate("bench receive buffers", BUFFER_OCTETS, 64)?;
        let frame_memory = device
            .dma()
            .allocate("bench frames", sending::MEMORY_OCTETS, 4096)?;
        device.register_region(&RegionConfig {
            stag: STAG,
            rights: rnic_abi::tables::RIGHT_REMOTE_WRITE,
            protection_domain: PROTECTION_DOMAIN,
            connection: None,
            tagged_offset: 0,
            octets: REGION_OCTETS as u64,
            address: region.address,
        })?;
        let mut rig = Self {
            simulation,
            device,
            streams: Vec::new(),
            frame_memory,
            buffers,
            is_sending: false,
        };
        for number in 0..2 * CONNECTIONS {
            let stream = rig.open(number)?;
            rig.streams.push(stream);
        }
        Ok(rig)
    }

    /// As [`new`](Self::new); the device sends full frames all the time, if
    /// [`keep_sending`](Self::keep_sending) is called before each run.
    pub fn sending(width: usize) -> Result<Self, BringUpError> {
        let mut rig = Self::new(width)?;
        rig.is_sending = true;
        Ok(rig)
    }

    /// Fill the ring for some ten thousand cycles, if this device sends.
    ///
    /// # Errors
    /// A refusal of the driver.
    pub fn keep_sending(&mut self) -> Result<(), DriverError> {
        if self.is_sending {
            while self.simulation.borrow_mut().next_sent().is_some() {}
            self.fill(TransmitRing::Bulk, BESIDE_OCTETS)?;
        }
        Ok(())
    }

    /// Does the device send all the time?
    pub fn is_sending(&self) -> bool {
        self.is_sending
    }

    /// Hand frames of `octets` octets, FCS counted, to a ring until it is full.
    ///
    /// # Errors
    /// A refusal of the driver.
    pub fn fill(&mut self, ring: TransmitRing, octets: usize) -> Result<(), DriverError> {
        loop {
            match self.push(ring, octets) {
                Ok(()) => {}
                Err(DriverError::TransmitFull { .. }) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Hand a frame of `octets` octets, FCS counted, to a ring.
    ///
    /// # Errors
    /// A refusal of the driver.
    pub fn push(&mut self, ring: TransmitRing, octets: usize) -> Result<(), DriverError> {
        while self.device.poll_transmitted()?.is_some() {}
        sending::push(&mut self.device, self.frame_memory, ring, octets)
    }

    fn open(&mut self, number: usize) -> Result<Stream, DriverError> {
        let markers = number >= CONNECTIONS;
        let remote = Endpoint::host(1, 40_000 + number as u16);
        let builder = FrameBuilder::new(remote, Endpoint::host(2, 4_420));
        let stream = StreamConfig {
            markers,
            // Streams begin close to the end of sequence space: each run passes it.
            sequence_start: 0xffff_0000_u32.wrapping_add(number as u32),
            mulpdu: ULPDU_OCTETS_MAX,
            ..StreamConfig::default()
        };
        let config = builder.connection(&stream, MAX_RECEIVE_WINDOW, PROTECTION_DOMAIN);
        let connection = self.device.open_connection(&config)?;
        if !markers {
            let log2 = if number == 0 {
                FIRST_QUEUE_LOG2
            } else {
                OTHER_QUEUE_LOG2
            };
            self.device.open_queue(connection, 0, log2)?;
        }
        Ok(Stream {
            connection,
            builder,
            sender: Sender::new(stream),
        })
    }

    /// Post `count` receive buffers on a stream. All are the same few octets of memory: nothing of
    /// what is measured reads them.
    pub fn post(&mut self, stream: usize, count: usize) -> Result<(), DriverError> {
        let connection = self.streams[stream].connection;
        for _ in 0..count {
            self.device.post_receive(connection, 0, self.buffers)?;
        }
        Ok(())
    }

    /// Take all completions and events, so that queues, buffers and the event ring are free again.
    pub fn drain_completions(&mut self) -> usize {
        while self.device.poll_event().is_some() {}
        std::iter::from_fn(|| self.device.poll_completion()).count()
    }

    /// Every counter by name.
    pub fn counters(&mut self) -> BTreeMap<Counter, u32> {
        let counters = self.device.counters();
        let counters = counters.expect("the simulated device is not removed");
        counters.into_iter().collect()
    }
}

/// Frames and FPDUs lost or refused between two readings of the counters.
pub fn losses(before: &BTreeMap<Counter, u32>, after: &BTreeMap<Counter, u32>) -> u64 {
    let lost = |counter: &&Counter| {
        counter.name().starts_with("drop_") || counter.name().starts_with("refuse_")
    };
    let delta = |counter: &Counter| u64::from(after[counter].wrapping_sub(before[counter]));
    after.keys().filter(lost).map(delta).sum()
}
