//! The simulated device as a PCI function that a client drives over vfio-user.
//!
//! ```text
//!   client --messages--> Session --> ServedDevice -- configuration space, MSI-X table: pcie-sim
//!     |                                   |
//!     |                                   +-- BAR0 requests --> DeviceCore -- TLPs --+
//!     +-- memory  <-- DmaMap  <-- ClientMemory <------------------------------------+
//!     +-- eventfd <-- Irqs    <-- interrupts <--------------------------------------+
//! ```
//!
//! What a host's bridge and a hard block of PCI Express do is done here: BARs are decoded only with
//! Memory Space Enable, memory is reached only with Bus Master Enable, a function-level reset is
//! the device's reset pin. A vector with an eventfd is unmasked in the device, where its message
//! names it; the MSI-X table that the client reads and writes has no effect, as behind a kernel.
//!
//! Each client begins with a device after power-up. When it leaves, or is killed, the device is
//! reset, and its memory is out of reach before that.

mod device_core;
mod memory;

pub use device_core::DeviceCore;

use crate::simulation::Simulation;
use memory::ClientMemory;
use pcie_sim::configuration::{
    register, Bar, ConfigurationSpace, Identity, Msix, COMMAND_MEMORY, CONFIGURATION_OCTETS,
    DEVICE_CONTROL_RESET,
};
use pcie_sim::msix::MsixTable;
use pcie_sim::{ByteEnables, Reset};
use rnic_abi::interrupts::{CONTROL_MASKED, ENTRY_OCTETS, HOLD_OFF, HOLD_OFF_MAX, TABLE, VECTORS};
use rnic_abi::{pci, registers};
use rnic_vfio_user::protocol::{IRQ_COUNT, IRQ_MSIX, REGION_CONFIGURATION};
use rnic_vfio_user::{Errno, Function, Irqs, RegionDescription, Session};
use std::cell::RefCell;
use std::ops::RangeInclusive;
use std::rc::Rc;

/// Bus addresses of interrupt messages: vector `v` writes `v` to the entry of its number.
const MESSAGES: u64 = 0xfee0_0000;
/// Octets between two of them.
const MESSAGE_STRIDE: u64 = 16;
/// Cycles without activity after which nothing is on its way inside of the device, timers apart.
const LINGER_CYCLES: u64 = 20_000;
const MSIX: Msix = Msix {
    vector_count: pci::MSIX_VECTORS,
    table_bar: pci::MSIX_BAR,
    table_offset: pci::MSIX_TABLE_OFFSET,
    pending_bar: pci::MSIX_BAR,
    pending_offset: pci::MSIX_PENDING_OFFSET,
};
const BAR0: Bar = Bar {
    index: 0,
    octets: pci::BAR0_OCTETS,
    wide: true,
    prefetchable: false,
};
const IDENTITY: Identity = Identity {
    vendor_id: pci::VENDOR_ID,
    device_id: pci::DEVICE_ID,
    revision_id: pci::REVISION_ID,
    class_code: pci::CLASS_CODE,
    subsystem_vendor_id: pci::VENDOR_ID,
    subsystem_id: pci::DEVICE_ID,
};

/// The function. Time passes in [`ServedDevice::run`], and a little with each access of BAR0.
#[derive(Debug)]
pub struct ServedDevice<C: DeviceCore = Simulation> {
    core: Rc<RefCell<C>>,
    space: ConfigurationSpace,
    /// As the client reads and writes it.
    table: MsixTable,
    irqs: Irqs,
    memory: Option<Rc<ClientMemory>>,
    regions: [RegionDescription; REGION_CONFIGURATION as usize + 1],
    /// What was written to the registers of timers that raise interrupts or events, in cycles.
    timers: [u64; VECTORS + 1],
}

impl<C: DeviceCore> ServedDevice<C> {
    /// A function of the device `core`, which nobody drives.
    pub fn new(core: &Rc<RefCell<C>>) -> Self {
        let mut space = ConfigurationSpace::new(IDENTITY, &[BAR0], Some(MSIX))
            .expect("BAR and MSI-X are those of the register map, which is checked when compiled");
        space.advertise_function_level_reset();
        let messages = MESSAGES..MESSAGES + MESSAGE_STRIDE * VECTORS as u64;
        let mut regions = [RegionDescription::ABSENT; REGION_CONFIGURATION as usize + 1];
        regions[0] = RegionDescription::new(pci::BAR0_OCTETS);
        regions[REGION_CONFIGURATION as usize] =
            RegionDescription::new(CONFIGURATION_OCTETS as u64);
        core.borrow_mut().add_interrupt_window(messages);
        Self {
            core: Rc::clone(core),
            space,
            table: MsixTable::new(&MSIX),
            irqs: Irqs::default(),
            memory: None,
            regions,
            timers: [0; VECTORS + 1],
        }
    }

    /// A client begins: the device is as after power-up, its memory is that of `session`.
    pub fn begin(&mut self, session: &Session) {
        self.space.reset(Reset::Link);
        self.irqs = session.irqs();
        let memory = Rc::new(ClientMemory::new(session.dma()));
        self.memory = Some(Rc::clone(&memory));
        self.core.borrow_mut().set_memory(Some(memory));
        self.reset_device();
    }

    /// The client is gone.
    pub fn end(&mut self) {
        self.irqs = Irqs::default();
        self.memory = None;
        self.core.borrow_mut().set_memory(None);
        self.reset_device();
    }

    /// Simulate `cycles` cycles, and signal the interrupts that were sent.
    pub fn run(&mut self, cycles: usize) {
        let mut core = self.core.borrow_mut();
        core.run(cycles);
        while let Some(address) = core.next_interrupt() {
            // A message is a write: only a bus master sends it.
            if self.space.bus_master_enabled() {
                let vector = (address - MESSAGES) / MESSAGE_STRIDE;
                self.irqs.trigger(IRQ_MSIX, vector as u32);
            }
        }
    }

    /// Whether nothing will happen until a frame or a message comes: nothing is on its way, and no
    /// timer runs. Such a device needs no cycles.
    pub fn is_quiet(&self) -> bool {
        let timers = self.timers.iter().max().copied().unwrap_or_default();
        self.core.borrow().inactive_cycles() > LINGER_CYCLES + timers
    }

    /// What went wrong since the last call, a line each: accesses of memory that the client has not
    /// mapped, rules of PCI Express that were broken, what the device does not do.
    pub fn take_faults(&mut self) -> Vec<String> {
        self.core.borrow_mut().take_faults()
    }

    fn reset_device(&mut self) {
        self.core.borrow_mut().reset();
        self.table = MsixTable::new(&MSIX);
        self.timers = [0; VECTORS + 1];
        self.set_up_vectors();
        self.follow_command();
    }

    /// A vector has a message and no mask if it has an eventfd.
    fn set_up_vectors(&mut self) {
        for vector in 0..VECTORS as u32 {
            let address = MESSAGES + MESSAGE_STRIDE * u64::from(vector);
            let control = match self.irqs.is_assigned(IRQ_MSIX, vector) {
                true => 0,
                false => CONTROL_MASKED,
            };
            let entry = [address as u32, (address >> 32) as u32, vector, control];
            let octets: Vec<u8> = entry.into_iter().flat_map(u32::to_le_bytes).collect();
            let place = TABLE + vector * ENTRY_OCTETS;
            self.core.borrow_mut().write_bar(place, &octets);
        }
        let enable = self.irqs.assigned_count(IRQ_MSIX) > 0;
        self.core.borrow_mut().set_msix(enable, false);
    }

    /// Command may have changed.
    fn follow_command(&self) {
        if let Some(memory) = &self.memory {
            memory.set_enabled(self.space.bus_master_enabled());
        }
    }

    fn memory_space_enabled(&self) -> bool {
        self.space.read(register::COMMAND) as u16 & COMMAND_MEMORY != 0
    }

    fn read_bar(&mut self, offset: u64, out: &mut [u8]) {
        if !self.memory_space_enabled() {
            // Nothing claims the request.
            return out.fill(0xff);
        }
        self.core.borrow_mut().read_bar(offset as u32, out);
        // The table in the device is the host's.
        let table = u64::from(TABLE)..u64::from(TABLE) + MSIX.table_octets() as u64;
        for (place, octet) in (offset..).zip(out) {
            if table.contains(&place) {
                let within = (place - table.start) as usize;
                self.table.read_table(within, std::slice::from_mut(octet));
            }
        }
    }

    fn write_bar(&mut self, offset: u64, data: &[u8]) {
        if !self.memory_space_enabled() {
            return;
        }
        let table = u64::from(TABLE)..u64::from(TABLE) + MSIX.table_octets() as u64;
        let mut place = offset;
        // What is below the table, in it, and after it; the table ends at a doubleword.
        for end in [table.start, table.end, pci::BAR0_OCTETS] {
            let end = end.clamp(place, offset + data.len() as u64);
            let part = &data[(place - offset) as usize..(end - offset) as usize];
            if !part.is_empty() {
                match table.contains(&place) {
                    true => self.table.write_table((place - table.start) as usize, part),
                    false => {
                        self.core.borrow_mut().write_bar(place as u32, part);
                        self.note_timers(place, part);
                    }
                }
            }
            place = end;
        }
    }

    /// How long the device may wait before it acts by itself. It ignores what there is not, and so
    /// does this: a client cannot have a device run for ever that does nothing.
    fn note_timers(&mut self, offset: u64, data: &[u8]) {
        let written = |register: u32| {
            let at = u64::from(register).checked_sub(offset)? as usize;
            let value = data.get(at..at + 4)?;
            Some(u32::from_le_bytes(value.try_into().expect("four octets")))
        };
        let tick_cycles = self.core.borrow().tick_cycles();
        for (vector, cycles) in self.timers[..VECTORS].iter_mut().enumerate() {
            let ticks = written(HOLD_OFF + 4 * vector as u32);
            if let Some(ticks) = ticks.filter(|&ticks| ticks <= HOLD_OFF_MAX) {
                *cycles = u64::from(ticks) * tick_cycles;
            }
        }
        let delays = registers::EVENT_DELAY_LOG2_MIN..=registers::EVENT_DELAY_LOG2_MAX;
        let log2 = written(registers::EVENT_DELAY_LOG2);
        if let Some(log2) = log2.filter(|log2| *log2 == 0 || delays.contains(log2)) {
            self.timers[VECTORS] = 1 << log2;
        }
    }

    fn write_configuration(&mut self, offset: u64, data: &[u8]) {
        let mut resets = false;
        for (place, &octet) in (offset as u16..).zip(data) {
            let lane = place % 4;
            let enables = ByteEnables::new(1 << lane, 0);
            self.space
                .write(place, enables, u32::from(octet) << (8 * lane));
            let asks = (DEVICE_CONTROL_RESET >> 8) as u8;
            resets |= place == register::DEVICE_CONTROL + 1 && octet & asks != 0;
        }
        if resets {
            self.space.reset(Reset::Function);
            self.reset_device();
        }
        self.follow_command();
    }
}

impl<C: DeviceCore> Function for ServedDevice<C> {
    fn regions(&self) -> &[RegionDescription] {
        &self.regions
    }

    fn irq_counts(&self) -> [u32; IRQ_COUNT as usize] {
        let mut counts = [0; IRQ_COUNT as usize];
        counts[IRQ_MSIX as usize] = VECTORS as u32;
        counts
    }

    fn read(&mut self, region: u32, offset: u64, out: &mut [u8]) -> Result<(), Errno> {
        match region {
            0 => self.read_bar(offset, out),
            _ => {
                for (place, octet) in (offset as u16..).zip(out) {
                    *octet = (self.space.read(place) >> (8 * (place % 4))) as u8;
                }
            }
        }
        Ok(())
    }

    fn write(&mut self, region: u32, offset: u64, data: &[u8]) -> Result<(), Errno> {
        match region {
            0 => self.write_bar(offset, data),
            _ => self.write_configuration(offset, data),
        }
        Ok(())
    }

    fn reset(&mut self) -> Result<(), Errno> {
        self.space.reset(Reset::Function);
        self.reset_device();
        Ok(())
    }

    fn irqs_changed(&mut self, irqs: &Irqs) {
        self.irqs = irqs.clone();
        self.set_up_vectors();
    }

    /// The device's writes are carried out while it is simulated, which is not during a message:
    /// none is under way, and the next one finds the map gone.
    fn quiesce(&mut self, _range: RangeInclusive<u64>) {}
}

#[cfg(test)]
mod tests;
