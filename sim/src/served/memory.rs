//! Memory of a vfio-user client as the root complex reaches it.

use pcie_sim::memory::{DeviceMemory, MemoryError};
use rnic_vfio_user::{DmaFault, DmaMap};
use std::cell::Cell;

/// The maps of a session. A function that is no bus master reaches none of them.
#[derive(Debug)]
pub(super) struct ClientMemory {
    maps: DmaMap,
    enabled: Cell<bool>,
}

impl ClientMemory {
    /// Memory of `maps`, out of reach.
    pub(super) fn new(maps: DmaMap) -> Self {
        Self {
            maps,
            enabled: Cell::new(false),
        }
    }

    /// Bus Master Enable.
    pub(super) fn set_enabled(&self, enabled: bool) {
        self.enabled.set(enabled);
    }

    fn allowed(
        &self,
        address: u64,
        octets: usize,
        access: impl FnOnce() -> Result<(), DmaFault>,
    ) -> Result<(), MemoryError> {
        if !self.enabled.get() {
            let region = "no bus master".to_owned();
            return Err(MemoryError::Forbidden {
                address,
                octets,
                region,
            });
        }
        access().map_err(|fault| match fault {
            DmaFault::Forbidden { .. } => MemoryError::Forbidden {
                address,
                octets,
                region: fault.to_string(),
            },
            _ => MemoryError::Unmapped { address, octets },
        })
    }
}

impl DeviceMemory for ClientMemory {
    fn may_write(&self, address: u64, octets: usize) -> Result<(), MemoryError> {
        self.allowed(address, octets, || {
            self.maps.may_write(address, octets as u64)
        })
    }

    fn write(&self, address: u64, data: &[u8]) -> Result<(), MemoryError> {
        self.allowed(address, data.len(), || self.maps.write(address, data))
    }

    fn read(&self, address: u64, data: &mut [u8]) -> Result<(), MemoryError> {
        self.allowed(address, data.len(), || self.maps.read(address, data))
    }
}
