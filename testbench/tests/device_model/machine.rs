//! The two devices as a program uses them: frames in, frames out, time.

use pcie_sim::memory::{DeviceMemory, MemoryError};
use rnic_abi::sizes::Sizes;
use rnic_device::model::{DeviceModel, HostMemory, ModelBar, ModelDma};
use rnic_driver::{Bar, Dma};
use rnic_sim::{DeviceCore, SimBar, SimDma, Simulation, SimulationConfig};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Cycles in which frames that were pushed are over, but for those that wait for others.
const BATCH_CYCLES: usize = 4_000;

/// A device without its driver.
pub trait Machine {
    type Bar: Bar;
    type Dma: Dma;

    /// BAR and memory; the memory of one such pair alone is used.
    fn attach(&self) -> (Self::Bar, Self::Dma);
    /// A frame of the wire; with `error` the MAC has found it bad.
    fn push(&self, frame: Vec<u8>, error: bool);
    /// Let pass what was pushed.
    fn advance(&self);
    /// Wait until nothing happens any more.
    fn settle(&self);
    /// Octets of the frames sent since the last call.
    fn take_sent(&self) -> Vec<Vec<u8>>;
}

/// The verilated device at W = 64.
pub struct Rtl(Rc<RefCell<Simulation>>);

impl Rtl {
    pub fn new() -> Self {
        let simulation = Simulation::new(&SimulationConfig::default());
        Self(Rc::new(RefCell::new(
            simulation.expect("the core is built"),
        )))
    }
}

impl Machine for Rtl {
    type Bar = SimBar;
    type Dma = SimDma;

    fn attach(&self) -> (SimBar, SimDma) {
        rnic_sim::attach(&self.0)
    }

    fn push(&self, frame: Vec<u8>, error: bool) {
        self.0.borrow_mut().push_frame(frame, error);
    }

    fn advance(&self) {
        self.0.borrow_mut().run(BATCH_CYCLES);
    }

    fn settle(&self) {
        self.0.borrow_mut().run_until_idle();
    }

    fn take_sent(&self) -> Vec<Vec<u8>> {
        let mut simulation = self.0.borrow_mut();
        std::iter::from_fn(|| simulation.next_sent())
            .map(|sent| sent.octets)
            .collect()
    }
}

/// The device in software.
pub struct Model(Rc<RefCell<DeviceModel>>);

impl Model {
    pub fn new() -> Self {
        let device = DeviceModel::new(64, Sizes::LARGEST);
        Self(Rc::new(RefCell::new(device)))
    }

    /// Put `memory` in the place of the device's.
    pub fn spoil(&self, memory: Spoiled) {
        self.0.borrow_mut().set_memory(Some(Rc::new(memory)));
    }
}

impl Machine for Model {
    type Bar = ModelBar;
    type Dma = ModelDma;

    fn attach(&self) -> (ModelBar, ModelDma) {
        rnic_device::model::attach(&self.0)
    }

    fn push(&self, frame: Vec<u8>, error: bool) {
        self.0.borrow_mut().push_frame(frame, error);
    }

    fn advance(&self) {
        self.0.borrow_mut().run(BATCH_CYCLES);
    }

    fn settle(&self) {
        let mut device = self.0.borrow_mut();
        while device.inactive_cycles() != u64::MAX {
            device.run(BATCH_CYCLES);
        }
        // Memory that is not mapped is read on purpose, and registers are written during a reset;
        // nothing else may go wrong.
        let faults = device.take_faults();
        let on_purpose = ["read of memory", "see that the reset is over"];
        let unexpected = faults
            .iter()
            .find(|fault| !on_purpose.iter().any(|words| fault.contains(words)));
        assert_eq!(unexpected, None);
    }

    fn take_sent(&self) -> Vec<Vec<u8>> {
        let mut device = self.0.borrow_mut();
        std::iter::from_fn(|| device.next_sent())
            .map(|sent| sent.octets)
            .collect()
    }
}

/// Octets of completion entries and of events; of two events the later one hides the other.
const ENTRY_OCTETS: usize = 32;

/// Memory in which one write of the device, entries apart, goes wrong by one bit.
#[derive(Debug)]
pub struct Spoiled {
    memory: Rc<HostMemory>,
    /// Writes until then.
    left: Cell<usize>,
}

impl Spoiled {
    /// The `wrong`th write is wrong, 1 being the first.
    pub fn new(memory: Rc<HostMemory>, wrong: usize) -> Self {
        let left = Cell::new(wrong);
        Self { memory, left }
    }
}

impl DeviceMemory for Spoiled {
    fn may_write(&self, address: u64, octets: usize) -> Result<(), MemoryError> {
        self.memory.may_write(address, octets)
    }

    fn write(&self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        let mut data = data.to_vec();
        if data.len() != ENTRY_OCTETS {
            self.left.set(self.left.get().wrapping_sub(1));
            data[0] ^= if self.left.get() == 0 { 0x10 } else { 0 };
        }
        self.memory.write(address, &data)
    }

    fn read(&self, address: u64, data: &mut [u8]) -> Result<(), MemoryError> {
        self.memory.read(address, data)
    }
}
