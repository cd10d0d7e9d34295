//! The verilated core behind its driver.

use crate::play::dut::{Buffer, Dut, Observation};
use rnic_abi::counters::Counter;
use rnic_abi::limits::PAGES;
use rnic_driver::{
    Completion, Config, Connection, ConnectionConfig, Device, DmaBuffer, DriverError, Posted,
    RegionConfig,
};
use rnic_sim::{attach, SimBar, SimDma, SimError, Simulation, SimulationConfig};
use std::cell::RefCell;
use std::path::PathBuf;
use std::rc::Rc;

/// Free pages below which the wire pauses: room for two of the longest frames.
const PAUSE_FREE_PAGES: u32 = 80;
/// Cycles from one frame's start to the next, at least: the core's own rate for small frames.
const FRAME_CYCLES_MIN: u64 = 8;
/// The same at W=512, where the wire could bring them faster than the core takes them.
const FRAME_CYCLES_MIN_512: u64 = 16;
/// Cycles after which a pause ends in any case: the core then has to drop.
const PAUSE_CYCLES_MAX: usize = 200_000;

/// The hardware under test.
#[derive(Debug)]
pub struct Rtl {
    simulation: Rc<RefCell<Simulation>>,
    device: Device<SimBar, SimDma>,
    /// Cycles from one frame's start to the next, at least.
    frame_cycles: u64,
    /// Completions taken from the queue and not yet observed.
    completions: Vec<Completion>,
}

/// How to run it.
#[derive(Clone, Debug)]
pub struct RtlOptions {
    /// Frame path in bits.
    pub width: usize,
    /// Seed.
    pub seed: u64,
    /// Probability of back-pressure on the PCI Express side in a cycle.
    pub stall: f64,
    /// Waveform.
    pub trace: Option<PathBuf>,
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
        let simulation = Simulation::new(&SimulationConfig {
            width: options.width,
            seed: options.seed,
            stall: options.stall,
            trace: options.trace.clone(),
            ..SimulationConfig::default()
        })?;
        let simulation = Rc::new(RefCell::new(simulation));
        let (bar, dma) = attach(&simulation);
        let device = Device::open(bar, dma, Config::default())?;
        Ok(Self {
            simulation,
            device,
            frame_cycles: match options.width {
                512 => FRAME_CYCLES_MIN_512,
                _ => FRAME_CYCLES_MIN,
            },
            completions: Vec::new(),
        })
    }
}

impl Dut for Rtl {
    fn map(&mut self, name: &str, address: u64, octets: usize) {
        let mapped = self
            .simulation
            .borrow_mut()
            .map(name, address, octets.max(1));
        assert!(mapped, "the player never maps {address:#x} twice");
    }

    fn open(&mut self, config: &ConnectionConfig) -> Result<Connection, DriverError> {
        self.device.open_connection(config)
    }

    fn close(&mut self, connection: Connection) -> Result<(), DriverError> {
        self.device.close_connection(connection)
    }

    fn open_queue(
        &mut self,
        connection: Connection,
        qn: u32,
        log2: u32,
    ) -> Result<(), DriverError> {
        self.device.open_queue(connection, qn, log2)
    }

    fn post(
        &mut self,
        connection: Connection,
        qn: u32,
        buffer: Buffer,
        _posted: Option<Posted>,
    ) -> Result<Posted, DriverError> {
        let buffer = DmaBuffer {
            address: buffer.address,
            octets: buffer.octets as usize,
        };
        self.device.post_receive(connection, qn, buffer)
    }

    fn register(&mut self, config: &RegionConfig) -> Result<(), DriverError> {
        self.device.register_region(config)
    }

    fn renew(&mut self, config: &RegionConfig) -> Result<(), DriverError> {
        self.device.renew_region(config)
    }

    fn deregister(&mut self, stag: u32) -> Result<(), DriverError> {
        self.device.deregister_region(stag)
    }

    fn push(&mut self, frame: &[u8]) {
        let mut simulation = self.simulation.borrow_mut();
        simulation.push_frame(frame.to_vec(), false);
        let start = simulation.now();
        while simulation.frames_waiting() > 0 || simulation.now() - start < self.frame_cycles {
            simulation.step();
        }
        // A capture does not tell when its sender would have been slowed down; the wire pauses, so
        // that what is played does not depend on how fast the host side is.
        for _ in 0..PAUSE_CYCLES_MAX {
            if simulation.free_pages() >= PAUSE_FREE_PAGES {
                break;
            }
            simulation.step();
        }
    }

    fn settle(&mut self) {
        // A full completion queue holds the core up, and it goes on when there is room. If less
        // than half of the queue was there to take, the core did not wait for it.
        let full = 1 << Config::default().completion_entries_log2;
        loop {
            self.simulation.borrow_mut().run_until_idle();
            let before = self.completions.len();
            let polled = std::iter::from_fn(|| self.device.poll_completion());
            self.completions.extend(polled);
            if self.completions.len() - before < full / 2 {
                return;
            }
        }
    }

    fn observe(&mut self) -> Observation {
        let mut seen = Observation {
            completions: std::mem::take(&mut self.completions),
            ..Observation::default()
        };
        while let Some(frame) = self.device.poll_host_frame() {
            seen.host_frames.push(frame);
        }
        let mut simulation = self.simulation.borrow_mut();
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

    fn counters(&mut self) -> Vec<(Counter, u32)> {
        self.device.counters()
    }

    fn violations(&self) -> Vec<String> {
        let simulation = self.simulation.borrow();
        let records = simulation.complex().monitor().records();
        records
            .iter()
            .map(|record| format!("cycle {}: {}", record.now, record.violation))
            .collect()
    }

    fn cycles(&self) -> u64 {
        self.simulation.borrow().now()
    }

    fn pages(&self) -> u32 {
        PAGES as u32 - self.simulation.borrow().free_pages()
    }

    fn set_traced(&mut self, traced: bool) {
        self.simulation.borrow_mut().set_traced(traced);
    }
}
