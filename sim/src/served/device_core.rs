//! What a served function needs of the device behind it.
//!
//! The verilated core is one ([`Simulation`]); a model of the device in software may be another.
//! Configuration space, the client's MSI-X table and its memory are the function's, so no device
//! has them twice.

use crate::ethernet::SentFrame;
use crate::simulation::Simulation;
use pcie_sim::memory::DeviceMemory;
use std::fmt::Debug;
use std::ops::Range;
use std::rc::Rc;

/// A device without its configuration space: BAR0, memory that it reaches, interrupts, the wire.
/// Time passes in [`DeviceCore::run`], and may pass in accesses of BAR0.
pub trait DeviceCore: Debug {
    /// Read octets of BAR0 from `offset` on; they are inside of it.
    fn read_bar(&mut self, offset: u32, out: &mut [u8]);

    /// Write octets of BAR0 from `offset` on; they are inside of it.
    fn write_bar(&mut self, offset: u32, data: &[u8]);

    /// Reset the device through its pin, and wait until it is ready.
    fn reset(&mut self);

    /// MSI-X Enable and Function Mask, which configuration space holds.
    fn set_msix(&mut self, enable: bool, mask: bool);

    /// The memory that it reaches from now on; without any, none is mapped.
    fn set_memory(&mut self, memory: Option<Rc<dyn DeviceMemory>>);

    /// Writes to these bus addresses are interrupts.
    fn add_interrupt_window(&mut self, addresses: Range<u64>);

    /// Let `cycles` clock cycles pass.
    fn run(&mut self, cycles: usize);

    /// Bus address of the next interrupt message that was not taken yet.
    fn next_interrupt(&mut self) -> Option<u64>;

    /// Cycles since the device did something; `u64::MAX` if it is known that it will do nothing
    /// until it is asked to.
    fn inactive_cycles(&self) -> u64;

    /// Cycles of a tick, which is a microsecond.
    fn tick_cycles(&self) -> u64;

    /// What went wrong since the last call: accesses of memory that is not mapped, broken rules,
    /// what this device does not do. One line each.
    fn take_faults(&mut self) -> Vec<String>;

    /// Append a frame without FCS to the wire; with `error` the MAC has found it bad.
    fn push_frame(&mut self, octets: Vec<u8>, error: bool);

    /// Frames of the wire that the device has not yet received completely.
    fn frames_waiting(&self) -> usize;

    /// The next frame that the device has sent and that was not taken yet.
    fn next_sent(&mut self) -> Option<SentFrame>;
}

impl DeviceCore for Simulation {
    fn read_bar(&mut self, offset: u32, out: &mut [u8]) {
        out.copy_from_slice(&self.read_bar0(offset, out.len()));
    }

    fn write_bar(&mut self, offset: u32, data: &[u8]) {
        self.write_bar0(offset, data);
    }

    fn reset(&mut self) {
        Simulation::reset(self);
    }

    fn set_msix(&mut self, enable: bool, mask: bool) {
        Simulation::set_msix(self, enable, mask);
    }

    fn set_memory(&mut self, memory: Option<Rc<dyn DeviceMemory>>) {
        self.complex_mut().set_device_memory(memory);
    }

    fn add_interrupt_window(&mut self, addresses: Range<u64>) {
        self.complex_mut().add_interrupt_window(addresses);
    }

    fn run(&mut self, cycles: usize) {
        Simulation::run(self, cycles);
        // Verdicts are for those who compare a device with a model.
        self.clear_verdicts();
    }

    fn next_interrupt(&mut self) -> Option<u64> {
        let interrupt = self.complex_mut().next_interrupt()?;
        Some(interrupt.address)
    }

    fn inactive_cycles(&self) -> u64 {
        Simulation::inactive_cycles(self)
    }

    fn tick_cycles(&self) -> u64 {
        Simulation::tick_cycles(self)
    }

    fn take_faults(&mut self) -> Vec<String> {
        let records = self.complex_mut().monitor_mut().take_records();
        records.iter().map(ToString::to_string).collect()
    }

    fn push_frame(&mut self, octets: Vec<u8>, error: bool) {
        Simulation::push_frame(self, octets, error);
    }

    fn frames_waiting(&self) -> usize {
        Simulation::frames_waiting(self)
    }

    fn next_sent(&mut self) -> Option<SentFrame> {
        Simulation::next_sent(self)
    }
}
