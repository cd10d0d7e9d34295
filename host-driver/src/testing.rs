//! What the driver's tests stand on: a device that is only its tables.
pub(crate) mod hanging;
pub(crate) mod memory;

use crate::bar::Bar;
use crate::connection::{Connection, ConnectionConfig, ConnectionKey};
use crate::device::{Config, Device};
use crate::dma::{Dma, DmaBuffer};
use crate::error::DriverError;
use rnic_abi::{registers, tables};
use std::collections::HashMap;

/// BAR0 of a device that does nothing but keep table entries and remember operations.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    data: [u32; registers::TABLE_DATA_WORDS],
    /// What a read of a table's entry gives.
    pub(crate) entries: HashMap<(u32, u32), [u32; 4]>,
    /// What the driver wrote last, by table and index.
    pub(crate) written: HashMap<(u32, u32), [u32; registers::TABLE_DATA_WORDS]>,
    /// Operation and table of each command.
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
            if operation == tables::WRITE {
                self.written.insert((table, index), self.data);
            }
        } else if let Some(octets) = offset.checked_sub(registers::TABLE_DATA) {
            if let Some(word) = self.data.get_mut(octets as usize / 4) {
                *word = value;
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

    fn read_u32_acquire(&self, _: u64) -> u32 {
        0
    }

    fn read(&self, _: u64, out: &mut [u8]) {
        out.fill(0);
    }

    fn write(&mut self, _: u64, _: &[u8]) {}
}

pub(crate) fn device() -> Device<Tables, NoMemory> {
    let config = Config {
        fresh: true,
        ..Config::default()
    };
    Device::open(Tables::default(), NoMemory, config).expect("opens")
}

/// A device with one connection, of Protection Domain 3.
pub(crate) fn connected() -> (Device<Tables, NoMemory>, Connection) {
    let mut device = device();
    let config = ConnectionConfig {
        key: ConnectionKey {
            remote: "192.0.2.1:1000".parse().expect("an address"),
            local: "192.0.2.2:2000".parse().expect("an address"),
        },
        sequence_start: 1,
        window: 1 << 16,
        markers: true,
        crc: true,
        version: 1,
        protection_domain: 3,
    };
    let connection = device.open_connection(&config).expect("opens");
    (device, connection)
}
