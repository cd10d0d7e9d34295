//! Table operations: a command, the data, and which file knows the table.

use super::entries::{padded, Words};
use super::DeviceModel;
use rnic_abi::limits::OUT_OF_ORDER_RECORDS;
use rnic_abi::limits::RECEIVE_POOL as POOL_ENTRIES;
use rnic_abi::registers::TABLE_DATA_WORDS;
use rnic_abi::tables::*;

impl DeviceModel {
    /// Carry out what was written to `TABLE_COMMAND`; it is done at once, as nothing is on its way
    /// to memory between two turns.
    pub(super) fn table_operation(&mut self, command: u32) {
        let (table, index) = (command >> 16 & 0xf, command & 0xffff);
        let index = index as usize;
        match command >> 24 & 3 {
            WRITE => self.write_entry(table, index),
            READ => self.registers.table_data = self.read_entry(table, index),
            RELEASE => self.release_entry(table, index),
            _ => self.refuse(table, index, "there is no such operation"),
        }
    }

    fn write_entry(&mut self, table: u32, index: usize) {
        let words = self.registers.table_data;
        // An index beyond a smaller table names the entry of its low bits.
        let connection = self.connection_of(index);
        let queue = index & (self.sizes.queues() - 1);
        match table {
            LOOKUP => self.write_lookup(index, &words),
            TCP => self.write_tcp(connection, &words),
            MPA => self.write_mpa(connection, &words),
            DDP => self.write_ddp(connection, &words),
            QUEUE => self.write_queue(queue, &words),
            QUEUE_TAIL => self.write_queue_tail(queue, words[0]),
            RECEIVE_POOL => self.write_pool(index & (POOL_ENTRIES - 1), &words),
            STAG => self.write_stag(index, &words),
            REGION => self.write_region(index & (self.sizes.regions() - 1), &words),
            TCP_WINDOW => self.model.write_window(connection, words[0]),
            // Read only: the hardware ignores it too.
            OUT_OF_ORDER | RANGE | IN_USE | RECORDS => {}
            _ => self.refuse(table, index, "there is no such table"),
        }
    }

    fn read_entry(&mut self, table: u32, index: usize) -> Words {
        let connection = self.connection_of(index);
        match table {
            TCP => self.read_tcp(connection),
            OUT_OF_ORDER => self.read_out_of_order(connection),
            RANGE => self.tables.ranges.read(index),
            IN_USE => self.read_in_use(),
            RECORDS => padded(&[OUT_OF_ORDER_RECORDS as u32]),
            REGION => padded(&self.tables.regions.read(index & (self.sizes.regions() - 1))),
            _ => [0; TABLE_DATA_WORDS],
        }
    }

    fn release_entry(&mut self, table: u32, index: usize) {
        let connection = self.connection_of(index);
        match table {
            TCP => {
                self.model.release_ranges(connection);
            }
            MPA => self.model.release_stream(connection),
            _ => self.refuse(table, index, "this table has no RELEASE"),
        }
    }

    fn connection_of(&self, index: usize) -> u16 {
        (index & (self.sizes.connections() - 1)) as u16
    }

    /// Report an operation that does nothing.
    pub(super) fn refuse(&mut self, table: u32, index: usize, reason: &str) {
        let table = match name(table) {
            Some(name) => format!("table {name} ({table})"),
            None => format!("table {table}"),
        };
        self.fault(format!("{table}, entry {index}: {reason}"));
    }
}
