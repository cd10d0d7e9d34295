//! What the driver's tests stand on: a device that is only its tables.
use crate::bar::Bar;
use crate::dma::{Dma, DmaBuffer};
use crate::error::DriverError;
use rnic_abi::{registers, tables};
use std::collections::HashMap;

/// BAR0 of a device that does nothing but keep table entries and remember operations.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    data: [u32; registers::TABLE_DATA_WORDS],
    pub(crate) entries: HashMap<(u32, u32), [u32; 4]>,
    pub(crate) operations: Vec<(u32, u32)>,
}

impl Bar for Tables {
    fn read32(&mut self, offset: u32) -> u32 {
        match offset {
            registers::IDENTITY => registers::IDENTITY_VALUE,
            registers::REVISION => registers::REVISION_VALUE,
            _ => {
                let word = offset.checked_sub(registers::TABLE_DATA);
                let word = word.and_then(|octets| self.data.get(octets as usize / 4));
                word.copied().unwrap_or(0)
            }
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        if offset == registers::TABLE_COMMAND {
            let (operation, table, index) = (value >> 24, value >> 16 & 0xf, value & 0xffff);
            self.operations.push((operation, table));
            if operation == tables::READ {
                let entry = self.entries.get(&(table, index)).copied().unwrap_or([0; 4]);
                self.data[..4].copy_from_slice(&entry);
            }
        }
    }
}

/// Memory for a device that writes none.
#[derive(Debug)]
pub(crate) struct NoMemory;

impl Dma for NoMemory {
    fn allocate(&mut self, _: &str, octets: usize, align: u64) -> Result<DmaBuffer, DriverError> {
        Ok(DmaBuffer {
            address: align,
            octets,
        })
    }

    fn free(&mut self, _: DmaBuffer) {}

    fn read(&self, _: u64, out: &mut [u8]) {
        out.fill(0);
    }

    fn write(&mut self, _: u64, _: &[u8]) {}
}
