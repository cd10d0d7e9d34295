//! BAR0 of a function: mapped if it can be, else an access to its region for each register.

use super::error::OpenError;
use super::function::Region;
use super::pci_function::PciFunction;
use super::raw::MappedRegisters;
use crate::device::access::Bar;
use rnic_abi::pci::BAR0_OCTETS;
use std::sync::atomic::{fence, Ordering};

/// What a register reads as without a device.
const ALL_ONES: u32 = u32::MAX;

/// BAR0 of a function.
#[derive(Debug)]
pub struct FunctionBar {
    /// `None`: each access is one of the region. It goes before the function does: Linux has the
    /// function in use as long as a map of it exists.
    mapped: Option<MappedRegisters>,
    function: PciFunction,
    /// An access of the region has failed. The device counts as removed from then on: a register
    /// that was not read has no value, and one that was not written is not what the driver takes it
    /// for.
    has_failed: bool,
}

impl FunctionBar {
    /// # Errors
    /// [`OpenError::Bar`], [`OpenError::Access`].
    pub(crate) fn new(function: PciFunction) -> Result<Self, OpenError> {
        let access = |source| OpenError::Access {
            action: "map BAR0 of the function",
            source,
        };
        let mut locked = function.lock();
        let octets = locked.region_octets(Region::Bar0).map_err(access)?;
        if octets < BAR0_OCTETS {
            return Err(OpenError::Bar { octets });
        }
        let mapped = locked.map_bar0(BAR0_OCTETS as usize).map_err(access)?;
        drop(locked);
        Ok(Self {
            mapped,
            function,
            has_failed: false,
        })
    }

    /// Whether registers are mapped. If not, an access is a call of Linux, or a message to the
    /// server.
    pub fn is_mapped(&self) -> bool {
        self.mapped.is_some()
    }
}

impl Bar for FunctionBar {
    fn read32(&mut self, offset: u32) -> u32 {
        if let Some(mapped) = &self.mapped {
            return mapped.read32(offset);
        }
        let mut octets = [0xff; 4];
        if !self.has_failed {
            let mut function = self.function.lock();
            let read = function.read(Region::Bar0, offset.into(), &mut octets);
            self.has_failed = read.is_err();
        }
        fence(Ordering::Acquire);
        match self.has_failed {
            true => ALL_ONES,
            false => u32::from_le_bytes(octets),
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        if let Some(mapped) = &self.mapped {
            return mapped.write32(offset, value);
        }
        fence(Ordering::Release);
        if !self.has_failed {
            let octets = value.to_le_bytes();
            let mut function = self.function.lock();
            let written = function.write(Region::Bar0, offset.into(), &octets);
            self.has_failed = written.is_err();
        }
    }
}
