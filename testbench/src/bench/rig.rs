//! An open device with connections and a region, for measurements.

use crate::play::rtl::BringUpError;
use crate::traffic::frame::{Endpoint, FrameBuilder};
use crate::traffic::sender::{Sender, StreamConfig};
use rnic_abi::counters::Counter;
use rnic_abi::limits::MAX_RECEIVE_WINDOW;
use rnic_driver::{Config, Connection, Device, Dma, DmaBuffer, DriverError, RegionConfig};
use rnic_sim::{attach, SimBar, SimDma, Simulation, SimulationConfig};
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
const BUFFER_OCTETS: usize = 64;
const PROTECTION_DOMAIN: u16 = 1;

/// One connection and where its stream stands.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Id.
    pub connection: Connection,
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
    buffers: DmaBuffer,
}

impl Rig {
    /// Bring a device of `width` up with all its streams.
    pub fn new(width: usize) -> Result<Self, BringUpError> {
        let config = SimulationConfig {
            width,
            ..SimulationConfig::default()
        };
        let simulation = Rc::new(RefCell::new(Simulation::new(&config)?));
        let (bar, dma) = attach(&simulation);
        let config = Config {
            completion_entries_log2: 12,
            // Every segment raises an event, and none waits for the driver.
            event_entries_log2: 16,
            event_delay_log2: 0,
            // Nothing here retransmits what the device refuses.
            in_order_reserve: 0,
            ..Config::default()
        };
        let mut device = Device::open(bar, dma, config)?;
        let region = device.dma().allocate("bench region", REGION_OCTETS, 4096)?;
        let buffers = device
            .dma()
            .allocate("bench receive buffers", BUFFER_OCTETS, 64)?;
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
            buffers,
        };
        for number in 0..2 * CONNECTIONS {
            let stream = rig.open(number)?;
            rig.streams.push(stream);
        }
        Ok(rig)
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
