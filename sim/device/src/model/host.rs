//! The driver's two traits over a device model in the same process, and memory for it.

use super::DeviceModel;
use pcie_sim::memory::{Access, DeviceMemory, Memory, MemoryError};
use rnic_driver::{Bar, Dma, DmaBuffer, DriverError};
use rnic_sim::{DeviceCore, HostAddresses};
use std::cell::RefCell;
use std::rc::Rc;

/// Cycles that an access of BAR0 takes.
const ACCESS_CYCLES: usize = 16;

/// Memory of the process, as the device reaches it.
#[derive(Debug, Default)]
pub struct HostMemory(RefCell<Memory>);

impl DeviceMemory for HostMemory {
    fn may_write(&self, address: u64, octets: usize) -> Result<(), MemoryError> {
        self.0.borrow().device_may_write(address, octets)
    }

    fn write(&self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        self.0.borrow_mut().device_write(0, address, data)
    }

    fn read(&self, address: u64, data: &mut [u8]) -> Result<(), MemoryError> {
        self.0.borrow().device_read(address, data)
    }
}

/// BAR0 of a device model. Time passes in each access.
#[derive(Clone, Debug)]
pub struct ModelBar(Rc<RefCell<DeviceModel>>);

/// Memory for a device model.
#[derive(Debug)]
pub struct ModelDma {
    memory: Rc<HostMemory>,
    addresses: HostAddresses,
}

/// The BAR and the memory of `device`, as a driver accesses them.
pub fn attach(device: &Rc<RefCell<DeviceModel>>) -> (ModelBar, ModelDma) {
    let memory = Rc::new(HostMemory::default());
    device.borrow_mut().set_memory(Some(memory.clone()));
    let dma = ModelDma {
        memory,
        addresses: HostAddresses::default(),
    };
    (ModelBar(Rc::clone(device)), dma)
}

impl ModelDma {
    /// The memory itself, to put something between it and the device.
    pub fn memory(&self) -> Rc<HostMemory> {
        Rc::clone(&self.memory)
    }
}

impl Bar for ModelBar {
    fn read32(&mut self, offset: u32) -> u32 {
        let mut device = self.0.borrow_mut();
        device.run(ACCESS_CYCLES);
        let mut octets = [0; 4];
        device.read_bar(offset, &mut octets);
        u32::from_le_bytes(octets)
    }

    fn write32(&mut self, offset: u32, value: u32) {
        let mut device = self.0.borrow_mut();
        device.write_bar(offset, &value.to_le_bytes());
        device.run(ACCESS_CYCLES);
    }
}

impl Dma for ModelDma {
    fn allocate(
        &mut self,
        name: &str,
        octets: usize,
        align: u64,
    ) -> Result<DmaBuffer, DriverError> {
        let mapped = octets.max(1);
        let address = self.addresses.take(mapped, align);
        let mut memory = self.memory.0.borrow_mut();
        let result = memory.map(name, address, mapped, Access::READ_WRITE);
        match result {
            Ok(()) => Ok(DmaBuffer { address, octets }),
            Err(_) => Err(DriverError::OutOfMemory {
                name: name.to_owned(),
                octets,
            }),
        }
    }

    fn free(&mut self, buffer: DmaBuffer) {
        let unmapped = self.memory.0.borrow_mut().unmap(buffer.address);
        debug_assert!(unmapped.is_ok(), "only what was allocated is freed");
    }

    /// # Panics
    /// If the range was not allocated.
    fn read_u32_acquire(&self, address: u64) -> u32 {
        // One thread has device and host, so earlier writes are visible.
        let mut octets = [0; 4];
        self.read(address, &mut octets);
        u32::from_le_bytes(octets)
    }

    /// # Panics
    /// If the range was not allocated.
    fn read(&self, address: u64, out: &mut [u8]) {
        let memory = self.memory.0.borrow();
        let octets = memory.slice(address, out.len());
        out.copy_from_slice(octets.expect("the driver reads only what it allocated"));
    }

    /// # Panics
    /// If the range was not allocated.
    fn write(&mut self, address: u64, data: &[u8]) {
        let written = self.memory.0.borrow_mut().write(address, data);
        written.expect("the driver writes only what it allocated");
    }
}
