//! The driver's two traits over a simulation: register accesses become TLPs and take cycles.

use crate::host_addresses::HostAddresses;
use crate::simulation::{Simulation, BAR0_ADDRESS, REQUEST_CYCLES_MAX};
use rnic_abi::registers::{TABLE_COMMAND, TABLE_DATA};
use rnic_driver::{Bar, Dma, DmaBuffer, DriverError};
use std::cell::RefCell;
use std::rc::Rc;

/// BAR0 of the simulated device.
#[derive(Clone, Debug)]
pub struct SimBar(Rc<RefCell<Simulation>>);

/// Memory of the simulated host.
#[derive(Debug)]
pub struct SimDma {
    simulation: Rc<RefCell<Simulation>>,
    addresses: HostAddresses,
}

/// The BAR and the memory of `simulation`, as a driver accesses them.
pub fn attach(simulation: &Rc<RefCell<Simulation>>) -> (SimBar, SimDma) {
    attach_with(simulation, HostAddresses::default())
}

/// As [`attach`], with allocations from the bus address `next` on.
pub fn attach_at(simulation: &Rc<RefCell<Simulation>>, next: u64) -> (SimBar, SimDma) {
    attach_with(simulation, HostAddresses::starting_at(next))
}

fn attach_with(simulation: &Rc<RefCell<Simulation>>, addresses: HostAddresses) -> (SimBar, SimDma) {
    let dma = SimDma {
        simulation: Rc::clone(simulation),
        addresses,
    };
    (SimBar(Rc::clone(simulation)), dma)
}

impl SimBar {
    /// Read `octets` octets from `offset` on in one request, which must not cross 4 KiB.
    ///
    /// # Panics
    /// If the device does not answer, or answers with an error: the simulation cannot continue.
    pub fn read(&mut self, offset: u32, octets: usize) -> Vec<u8> {
        self.0.borrow_mut().read_bar0(offset, octets)
    }

    /// Write `data` from `offset` on in one request, which must not cross 4 KiB.
    pub fn write(&mut self, offset: u32, data: &[u8]) {
        self.0.borrow_mut().write_bar0(offset, data);
    }
}

impl Simulation {
    /// As [`SimBar::read`].
    pub(crate) fn read_bar0(&mut self, offset: u32, octets: usize) -> Vec<u8> {
        let now = self.now();
        let address = BAR0_ADDRESS + u64::from(offset);
        let token = self.complex_mut().read_bar(now, address, octets);
        self.note_posted(false);
        for _ in 0..REQUEST_CYCLES_MAX {
            self.step();
            let now = self.now();
            match self.complex_mut().poll(now, token) {
                Ok(None) => {}
                Ok(Some(octets)) => return octets,
                Err(error) => panic!("register {offset:#x}: {error}"),
            }
        }
        panic!("register {offset:#x} is not answered within {REQUEST_CYCLES_MAX} cycles");
    }

    /// As [`SimBar::write`].
    pub(crate) fn write_bar0(&mut self, offset: u32, data: &[u8]) {
        let now = self.now();
        let address = BAR0_ADDRESS + u64::from(offset);
        self.complex_mut().write_bar(now, address, data);
        if (TABLE_COMMAND..TABLE_DATA).contains(&offset) {
            self.note_posted(true);
        }
        self.step();
    }
}

impl Bar for SimBar {
    /// # Panics
    /// As [`SimBar::read`].
    fn read32(&mut self, offset: u32) -> u32 {
        let octets = self.read(offset, 4);
        u32::from_le_bytes(octets.try_into().expect("four octets were asked for"))
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.write(offset, &value.to_le_bytes());
    }
}

impl Dma for SimDma {
    fn allocate(
        &mut self,
        name: &str,
        octets: usize,
        align: u64,
    ) -> Result<DmaBuffer, DriverError> {
        let octets_mapped = octets.max(1);
        let address = self.addresses.take(octets_mapped, align);
        let out_of_memory = DriverError::OutOfMemory {
            name: name.to_owned(),
            octets,
        };
        let mapped = self
            .simulation
            .borrow_mut()
            .map(name, address, octets_mapped);
        mapped
            .then_some(DmaBuffer { address, octets })
            .ok_or(out_of_memory)
    }

    fn free(&mut self, buffer: DmaBuffer) {
        let mut simulation = self.simulation.borrow_mut();
        let unmapped = simulation.complex_mut().memory_mut().unmap(buffer.address);
        debug_assert!(unmapped.is_ok(), "only what was allocated is freed");
    }

    /// # Panics
    /// If the range was not allocated.
    fn read_u32_acquire(&self, address: u64) -> u32 {
        // One thread simulates device and host, so earlier writes are visible.
        let mut octets = [0; 4];
        self.read(address, &mut octets);
        u32::from_le_bytes(octets)
    }

    /// # Panics
    /// If the range was not allocated.
    fn read(&self, address: u64, out: &mut [u8]) {
        let simulation = self.simulation.borrow();
        let octets = simulation.complex().memory().slice(address, out.len());
        out.copy_from_slice(octets.expect("the driver reads only what it allocated"));
    }

    /// # Panics
    /// If the range was not allocated.
    fn write(&mut self, address: u64, data: &[u8]) {
        let mut simulation = self.simulation.borrow_mut();
        let written = simulation.complex_mut().memory_mut().write(address, data);
        written.expect("the driver writes only what it allocated");
    }
}
