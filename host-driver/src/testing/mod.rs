//! Doubles for the driver's tests: a device that consists of its tables, and memory.
pub(crate) mod hanging;
pub(crate) mod memory;
pub(crate) mod transmit;

use crate::device::access::{Bar, Dma, DmaBuffer};
use crate::device::error::DriverError;
use crate::device::ids::QueueId;
use crate::device::tables::{ConnectionConfig, ConnectionKey};
use rnic_abi::sizes::Sizes;
use rnic_abi::{registers, tables};
use std::collections::HashMap;
use transmit::TransmitEngine;

/// BAR0 of a device that only stores table entries and records operations.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) data: [u32; registers::TABLE_DATA_WORDS],
    /// What a read of a table's entry returns.
    pub(crate) entries: HashMap<(u32, u32), [u32; 4]>,
    /// What the driver wrote last, by table and index.
    pub(crate) written: HashMap<(u32, u32), [u32; registers::TABLE_DATA_WORDS]>,
    /// Operation and table of each command.
    pub(crate) operations: Vec<(u32, u32)>,
    /// Tables of the writes that fenced.
    pub(crate) fences: Vec<u32>,
    /// An operation that is not short was not read as done: no other may be begun.
    pub(crate) is_unread: bool,
    /// Doorbells of the posting port, and its words.
    pub(crate) posts: Vec<(u32, [u32; 3])>,
    /// Counters, by index.
    pub(crate) counters: HashMap<usize, u32>,
    /// All other registers that were written, by offset.
    pub(crate) registers: HashMap<u32, u32>,
    /// Reads of CONTROL that show each reset as under way.
    pub(crate) reset_reads: u32,
    /// Resets so far.
    pub(crate) resets: usize,
    /// Register accesses so far.
    pub(crate) accesses: usize,
    /// The reads among them.
    pub(crate) reads: usize,
    /// Accesses until the device is gone; `None`: it stays.
    pub(crate) gone_after: Option<usize>,
    /// Reads of CONTROL until the reset under way ends.
    pub(crate) resetting: u32,
    /// Transmit rings.
    pub(crate) transmit: TransmitEngine,
}

impl Tables {
    /// One access more. Is the device there?
    fn is_there(&mut self) -> bool {
        self.accesses += 1;
        let is_there = self.gone_after != Some(0);
        self.gone_after = self.gone_after.map(|left| left.saturating_sub(1));
        is_there
    }

    /// A table operation.
    fn operate(&mut self, command: u32) {
        assert!(!self.is_unread, "an operation before the last one is done");
        self.is_unread = !tables::is_short(command);
        let (operation, table, index) = (command >> 24 & 3, command >> 16 & 0xf, command & 0xffff);
        self.operations.push((operation, table));
        if operation == tables::READ {
            let entry = self.entries.get(&(table, index)).copied().unwrap_or([0; 4]);
            self.data[..4].copy_from_slice(&entry);
        }
        if operation == tables::WRITE {
            // What an entry has not, and all but word 0 of one that is not valid, means nothing.
            let mut words = self.data;
            let has_valid = matches!(table, tables::LOOKUP | tables::QUEUE | tables::STAG);
            let is_void = has_valid && words[0] >> 31 == 0;
            words[if is_void { 1 } else { tables::words(table) }..].fill(0);
            self.written.insert((table, index), words);
            let may_fence = matches!(table, tables::QUEUE | tables::STAG | tables::REGION);
            if may_fence && command & registers::TABLE_UNFENCED == 0 {
                self.fences.push(table);
            }
        }
    }

    /// What a reset clears: everything but counters.
    fn reset(&mut self) {
        self.resets += 1;
        self.resetting = self.reset_reads;
        self.data = Default::default();
        self.entries.clear();
        self.written.clear();
        self.posts.clear();
        self.is_unread = false;
        self.registers.clear();
        self.transmit = TransmitEngine::default();
    }
}

/// `offset` as an index of doublewords from `first` on.
fn word_of(offset: u32, first: u32) -> Option<usize> {
    let octets = offset.checked_sub(first);
    octets.map(|octets| octets as usize / 4)
}

impl Bar for Tables {
    fn read32(&mut self, offset: u32) -> u32 {
        self.reads += 1;
        if !self.is_there() {
            return u32::MAX;
        }
        if offset == registers::TABLE_COMMAND {
            self.is_unread = false;
        }
        if offset == registers::CONTROL && self.resetting > 0 {
            self.resetting -= 1;
            return registers::CONTROL_RESET;
        }
        let data = word_of(offset, registers::TABLE_DATA);
        if let Some(&word) = data.and_then(|index| self.data.get(index)) {
            return word;
        }
        if let Some(&value) = self.registers.get(&offset) {
            return value;
        }
        let counter = word_of(offset, registers::COUNTERS);
        match offset {
            registers::IDENTITY => registers::IDENTITY_VALUE,
            registers::REVISION => registers::REVISION_VALUE,
            registers::CAPABILITIES => Sizes::LARGEST.encode(),
            _ => counter.map_or(0, |index| self.counters.get(&index).copied().unwrap_or(0)),
        }
    }

    fn write32(&mut self, offset: u32, value: u32) {
        if !self.is_there() || self.resetting > 0 {
            return;
        }
        if offset == registers::CONTROL && value & registers::CONTROL_RESET != 0 {
            return self.reset();
        }
        if offset == registers::TABLE_COMMAND {
            return self.operate(value);
        }
        if offset == registers::POST {
            let words = [registers::POST_0, registers::POST_1, registers::POST_2];
            let words = words.map(|offset| self.registers.get(&offset).copied().unwrap_or(0));
            return self.posts.push((value, words));
        }
        let data = word_of(offset, registers::TABLE_DATA);
        match data.and_then(|index| self.data.get_mut(index)) {
            Some(word) => {
                assert!(
                    !self.is_unread,
                    "data for an operation before the last one is done"
                );
                *word = value;
            }
            None => {
                self.transmit.write(offset, value);
                self.registers.insert(offset, value);
            }
        }
    }
}

/// The parts of the driver are tested over a device that does not go.
macro_rules! registers_of {
    ($double:ty) => {
        impl crate::device::access::Registers for $double {
            fn read(&mut self, offset: u32) -> Result<u32, crate::device::error::DriverError> {
                Ok(crate::device::access::Bar::read32(self, offset))
            }

            fn write(
                &mut self,
                offset: u32,
                value: u32,
            ) -> Result<(), crate::device::error::DriverError> {
                crate::device::access::Bar::write32(self, offset, value);
                Ok(())
            }
        }
    };
}
pub(crate) use registers_of;

registers_of!(Tables);

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

/// A connection of Protection Domain 3.
pub(crate) fn connection_config() -> ConnectionConfig {
    ConnectionConfig {
        key: ConnectionKey {
            remote: "192.0.2.1:1000".parse().expect("an address"),
            local: "192.0.2.2:2000".parse().expect("an address"),
        },
        sequence_start: 1,
        window: 1 << 16,
        seg_ack: 0x0a0b_0c0d,
        seg_wnd: 0xfedc,
        markers: true,
        crc: true,
        version: 1,
        protection_domain: 3,
        completion_queue: QueueId(0),
    }
}
