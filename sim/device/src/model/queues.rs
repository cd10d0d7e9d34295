//! Queues of connections and the pool of buffers and outstanding reads.

use super::entries::Words;
use super::pool::Window;
use super::DeviceModel;
use rnic_abi::counters::Counter;
use rnic_abi::limits::{QUEUE_SLOTS, READ_QUEUE, RECEIVE_POOL, RECEIVE_POOL_LOG2};
use rnic_abi::registers::POST_OFFSET_SHIFT;
use rnic_abi::tables::{QUEUE, QUEUE_TAIL, RECEIVE_POOL as POOL_TABLE};
use rnic_model::ddp::{Buffer, Read};

const OPEN: u32 = 1 << 31;

impl DeviceModel {
    pub(super) fn write_queue(&mut self, index: usize, words: &Words) {
        let (connection, qn) = split(index);
        let queues = &mut self.tables.queues;
        if let Some(window) = queues.open[index].take() {
            for entry in window.pool_entries() {
                queues.pool[entry].is_posted = false;
            }
        }
        self.model.write_queue(connection, qn, None);
        if words[0] & OPEN == 0 {
            return;
        }
        let window = Window {
            first: (words[0] & (RECEIVE_POOL as u32 - 1)) as usize,
            entries_log2: words[0] >> 16 & 0xf,
            tail: words[1],
        };
        let fits = window.entries_log2 <= RECEIVE_POOL_LOG2 as u32
            && window.pool_entries().end <= RECEIVE_POOL;
        if !fits {
            let reason = "it passes the end of the pool, and stays closed";
            return self.refuse(QUEUE, index, reason);
        }
        self.tables.queues.open[index] = Some(window);
        self.model.write_queue(connection, qn, Some(words[1]));
    }

    /// Post what lies between the old tail and the new one.
    pub(super) fn write_queue_tail(&mut self, index: usize, tail: u32) {
        let (connection, qn) = split(index);
        let posted = self.model.posted(connection, qn);
        let Some(window) = &self.tables.queues.open[index] else {
            return self.refuse(QUEUE_TAIL, index, "its queue is not open");
        };
        let count = (tail as u16).wrapping_sub(window.tail as u16);
        if usize::from(count) + posted > window.pool_entries().len() {
            let reason = "more is posted than the queue has entries; the tail is not taken";
            return self.refuse(QUEUE_TAIL, index, reason);
        }
        for _ in 0..count {
            self.post(index, connection, qn);
        }
    }

    /// Post what the posting port holds to the queue that `doorbell` names.
    pub(super) fn ring(&mut self, doorbell: u32) {
        let index = doorbell as usize & 0xfff & (self.sizes.queues() - 1);
        let (connection, qn) = split(index);
        let posted = self.model.posted(connection, qn);
        let Some(window) = &self.tables.queues.open[index] else {
            return self.model.count_outside(Counter::RefusePostClosed);
        };
        if posted >= window.pool_entries().len() {
            return self.model.count_outside(Counter::RefusePostFull);
        }
        let place = window.entry(window.tail);
        let [low, high, octets] = self.registers.post;
        let offset_high = doorbell >> POST_OFFSET_SHIFT & 7;
        self.tables.queues.pool[place].words = [low, high, octets, offset_high];
        self.post(index, connection, qn);
    }

    /// Give the model the next entry of a queue, which is open.
    fn post(&mut self, index: usize, connection: u16, qn: u32) {
        let queues = &mut self.tables.queues;
        let window = queues.open[index].as_mut().expect("its queue is open");
        let place = window.entry(window.tail);
        window.tail = window.tail.wrapping_add(1);
        let entry = &mut queues.pool[place];
        entry.is_posted = true;
        let [low, high, octets, offset_high] = entry.words;
        let pool_entry = place as u32;
        if qn as usize == READ_QUEUE {
            let read = Read {
                stag: high,
                offset: u64::from(offset_high & 7) << 32 | u64::from(low),
                octets,
                pool_entry,
            };
            return self.model.write_read(connection, read);
        }
        let buffer = Buffer {
            address: u64::from(high) << 32 | u64::from(low),
            octets,
            pool_entry,
        };
        self.model.write_buffer(connection, qn, buffer);
    }

    pub(super) fn write_pool(&mut self, index: usize, words: &Words) {
        let entry = &mut self.tables.queues.pool[index];
        entry.words.copy_from_slice(&words[..4]);
        if entry.is_posted {
            let reason = "it is posted: what was posted stays as it was";
            self.refuse(POOL_TABLE, index, reason);
        }
    }
}

/// Connection and queue number of an index.
fn split(index: usize) -> (u16, u32) {
    ((index / QUEUE_SLOTS) as u16, (index % QUEUE_SLOTS) as u32)
}
