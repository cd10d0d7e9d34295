//! The verilated core behind its driver.

use crate::play::dut::{Buffer, Dut, Observation};
use crate::play::used::use_and_reset;
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

/// Free pages below which the wire pauses: room for the longest frame.
const PAUSE_FREE_PAGES: u32 = 40;
/// Cycles from one frame's start to the next, at least: the core's own rate for small frames, which
/// at W=512 is below what 64 octets a cycle would bring.
const fn frame_cycles_min(width: usize) -> u64 {
    match width {
        512 => 16,
        _ => 8,
    }
}

/// Stored frames above which the wire pauses: the queue holds 16, and those that end while one is
/// seen must find room.
const PAUSE_STORED_FRAMES: u32 = 8;
/// Cycles after which a pause ends in any case: the core then has to drop. Pages that wait for
/// octets to come are not freed by waiting, so that an idle core ends it too.
const PAUSE_CYCLES_MAX: u64 = 200_000;
/// Such pauses in a playback. In one of them the slowest host takes more than packet memory holds,
/// so that a core that goes on needing them does not go on itself.
const LONG_PAUSES_MAX: u32 = 8;

/// The hardware under test.
#[derive(Debug)]
pub struct Rtl {
    simulation: Rc<RefCell<Simulation>>,
    device: Device<SimBar, SimDma>,
    frame_cycles_min: u64,
    pauses: Option<Pauses>,
    /// Taken from the completion queue, and not yet observed.
    completions: Vec<Completion>,
}

/// Pauses of the wire: a core that stalls must end a playback, not make it endless.
#[derive(Debug, Default)]
struct Pauses {
    long: u32,
}

impl Pauses {
    /// A capture does not tell when its sender would have been slowed down; the wire pauses, so
    /// that what is played does not depend on how fast the host side is.
    fn wait(&mut self, simulation: &mut Simulation) {
        let start = simulation.now();
        while simulation.now() - start < PAUSE_CYCLES_MAX {
            let has_pages = simulation.free_pages() >= PAUSE_FREE_PAGES || simulation.is_idle();
            if has_pages && simulation.stored_frames() <= PAUSE_STORED_FRAMES {
                break;
            }
            simulation.step();
        }
        let now = simulation.now();
        self.ended(now - start, now);
    }

    /// A pause of so many cycles has ended.
    ///
    /// # Panics
    /// If too many have come to their limit.
    fn ended(&mut self, cycles: u64, now: u64) {
        self.long += u32::from(cycles >= PAUSE_CYCLES_MAX);
        assert!(
            self.long <= LONG_PAUSES_MAX,
            "the core stalls: by cycle {now} the wire has paused {} times for {PAUSE_CYCLES_MAX} \
             cycles, and packet memory has not made room",
            self.long
        );
    }
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
    /// Simulate what is synthesised ([`SimulationConfig::silicon`]).
    pub silicon: bool,
    /// The device was used before, and reset in mid-traffic ([`crate::play::used`]).
    pub used: bool,
    /// How the driver sets the device up.
    pub config: Config,
    /// The wire pauses while packet memory is nearly full, as the sender of a capture would have
    /// been slowed down; if not, frames come as a wire brings them, whatever becomes of them.
    pub pauses: bool,
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
            silicon: options.silicon,
            ..SimulationConfig::default()
        })?;
        let simulation = Rc::new(RefCell::new(simulation));
        let (bar, dma) = match options.used {
            true => use_and_reset(&simulation, options.seed)?,
            false => attach(&simulation),
        };
        let config = Config {
            fresh: !options.used,
            ..options.config
        };
        let device = Device::open(bar, dma, config)?;
        Ok(Self {
            simulation,
            device,
            frame_cycles_min: frame_cycles_min(options.width),
            pauses: options.pauses.then(Pauses::default),
            completions: Vec::new(),
        })
    }

    /// Put a frame on the wire behind those that wait there, and wait for none of them.
    pub fn queue(&mut self, frame: &[u8]) {
        self.simulation
            .borrow_mut()
            .push_frame(frame.to_vec(), false);
    }

    /// Cycle in which the last memory write was taken.
    pub fn last_write(&self) -> u64 {
        self.simulation.borrow().last_write()
    }

    /// Make room in the completion queue: a full one holds the core up.
    fn take_completions(&mut self) -> bool {
        let before = self.completions.len();
        let polled = std::iter::from_fn(|| self.device.poll_completion());
        self.completions.extend(polled);
        self.completions.len() > before
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
        while simulation.frames_waiting() > 0 || simulation.now() - start < self.frame_cycles_min {
            simulation.step();
        }
        if let Some(pauses) = &mut self.pauses {
            pauses.wait(&mut simulation);
        }
        drop(simulation);
        self.take_completions();
    }

    fn settle(&mut self) {
        loop {
            self.simulation.borrow_mut().run_until_idle();
            if !self.take_completions() {
                return;
            }
        }
    }

    fn observe(&mut self) -> Observation {
        self.take_completions();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_host_makes_no_stall() {
        let mut pauses = Pauses::default();
        for _ in 0..10_000 {
            pauses.ended(PAUSE_CYCLES_MAX - 1, 7);
        }
        for _ in 0..LONG_PAUSES_MAX {
            pauses.ended(PAUSE_CYCLES_MAX, 7);
        }
    }

    #[test]
    #[should_panic(expected = "the core stalls: by cycle 7 the wire has paused 9 times")]
    fn a_core_that_never_makes_room_ends_the_playback() {
        let mut pauses = Pauses::default();
        for _ in 0..=LONG_PAUSES_MAX {
            pauses.ended(PAUSE_CYCLES_MAX, 7);
        }
    }
}
