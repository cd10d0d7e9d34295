//! What a device on a bus has besides: its interrupts as files.

use super::memory::FunctionMemory;
use super::pci_function::PciFunction;
use super::registers::FunctionBar;
use crate::device::error::DriverError;
use crate::device::Device;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

impl Device<FunctionBar, FunctionMemory> {
    /// The PCI function. A clone can wait for interrupts in another thread.
    pub fn function(&self) -> &PciFunction {
        self.memory().function()
    }

    /// As [`PciFunction::interrupt_fd`].
    ///
    /// # Errors
    /// [`DriverError::Configuration`]: there is no such vector.
    pub fn interrupt_fd(&self, vector: u8) -> Result<BorrowedFd<'_>, DriverError> {
        self.function().interrupt_fd(vector)
    }

    /// As [`PciFunction::wait`].
    ///
    /// # Errors
    /// As there.
    pub fn wait(&self, vector: u8, timeout: Option<Duration>) -> io::Result<bool> {
        self.function().wait(vector, timeout)
    }
}
