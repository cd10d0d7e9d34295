//! Untagged queues, and the queue of outstanding reads: each owns a window of the device's pool of
//! posted receive buffers and reads.
//!
//! ```text
//!  open --> QUEUE: window of the pool, first MSN
//!  post --> POST_0 to POST_2: buffer --> POST: the device writes pool entry and tail
//!  a Receive completion --> consume: its entry may be posted again
//!  post_read --> the same, of a sink; a ReadResponse completion --> consume_read
//! ```
//!
//! A post is four writes at most and no read: the port keeps its words, and one that is the same as
//! of the post before is not written again. Buffers of one piece of memory, as long as one another,
//! are two writes each. The device refuses none of them: a queue that the driver takes for open,
//! and not for full, is so in the device.

use crate::device::access::table;
use crate::device::access::{DmaBuffer, Registers};
use crate::device::error::DriverError;
use crate::device::ids::ConnectionId;
use rnic_abi::limits::{QUEUES, QUEUE_SLOTS, READ_QUEUE, RECEIVE_POOL, RECEIVE_POOL_LOG2};
use rnic_abi::{registers, tables};
use std::collections::BTreeMap;
use std::ops::Range;

/// A posted receive buffer or read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// MSN of the message the buffer will hold. Reads are numbered likewise, in posting order.
    pub msn: u32,
    /// Entry of the shared pool.
    pub pool_entry: u32,
}

/// An open queue.
#[derive(Clone, Debug)]
struct Queue {
    /// First entry of its window of the pool.
    first: usize,
    entries_log2: u32,
    /// MSN of the next posted buffer.
    next_msn: u32,
    /// MSN of the oldest buffer not yet consumed.
    oldest_msn: u32,
}

impl Queue {
    fn entries(&self) -> u32 {
        1 << self.entries_log2
    }

    /// Its entries of the pool.
    fn window(&self) -> Range<usize> {
        self.first..self.first + self.entries() as usize
    }
}

/// The open queues of all connections, and with them the use of the pool.
#[derive(Debug)]
pub(crate) struct ReceivePool {
    /// By connection and queue number.
    queues: BTreeMap<(ConnectionId, u32), Queue>,
    /// Entries that are in a window.
    taken: Vec<bool>,
    /// What the words of the posting port hold, as far as they were written.
    port: [Option<u32>; 3],
}

impl Default for ReceivePool {
    fn default() -> Self {
        Self {
            queues: BTreeMap::new(),
            taken: vec![false; RECEIVE_POOL],
            port: [None; 3],
        }
    }
}

impl ReceivePool {
    /// Open queue `qn` of a connection with `1 << entries_log2` buffers; its next message has
    /// `first_msn`.
    pub(crate) fn open(
        &mut self,
        bar: &mut impl Registers,
        connection: ConnectionId,
        qn: u32,
        entries_log2: u32,
        first_msn: u32,
    ) -> Result<(), DriverError> {
        if qn >= QUEUE_SLOTS as u32 {
            return Err(DriverError::Unknown {
                what: "queue",
                id: u64::from(qn),
            });
        }
        if entries_log2 > RECEIVE_POOL_LOG2 as u32 {
            let value = u64::from(entries_log2);
            return Err(DriverError::Configuration {
                what: "log2 of the queue's entries",
                value,
                allowed: "0..=11",
            });
        }
        if self.queues.contains_key(&(connection, qn)) {
            return Err(DriverError::Duplicate { what: "the queue" });
        }
        let first = self.gap(1 << entries_log2)?;
        let word = 1 << 31 | entries_log2 << 16 | first as u32;
        let index = queue_index(connection, qn);
        table::write(bar, tables::QUEUE, index, &[word, first_msn])?;
        let queue = Queue {
            first,
            entries_log2,
            next_msn: first_msn,
            oldest_msn: first_msn,
        };
        self.taken[queue.window()].fill(true);
        self.queues.insert((connection, qn), queue);
        Ok(())
    }

    /// Post a receive buffer to an open queue.
    pub(crate) fn post(
        &mut self,
        bar: &mut impl Registers,
        connection: ConnectionId,
        qn: u32,
        buffer: DmaBuffer,
    ) -> Result<Posted, DriverError> {
        if qn >= QUEUES as u32 {
            return Err(DriverError::Unknown {
                what: "untagged queue",
                id: u64::from(qn),
            });
        }
        let words = [
            buffer.address as u32,
            (buffer.address >> 32) as u32,
            buffer.octets as u32,
        ];
        self.post_entry(bar, connection, qn, words, 0)
    }

    /// Make a read of `octets` octets outstanding, into `stag` from `tagged_offset` on.
    pub(crate) fn post_read(
        &mut self,
        bar: &mut impl Registers,
        connection: ConnectionId,
        stag: u32,
        tagged_offset: u64,
        octets: u32,
    ) -> Result<Posted, DriverError> {
        let high = (tagged_offset >> 32) as u32 & 7;
        let words = [tagged_offset as u32, stag, octets];
        self.post_entry(bar, connection, READ_QUEUE as u32, words, high)
    }

    /// Post to an open queue; the device chooses the same entry as is counted here.
    fn post_entry(
        &mut self,
        bar: &mut impl Registers,
        connection: ConnectionId,
        qn: u32,
        words: [u32; 3],
        offset_high: u32,
    ) -> Result<Posted, DriverError> {
        let unknown = DriverError::Unknown {
            what: "open queue",
            id: u64::from(qn),
        };
        let queue = self.queues.get_mut(&(connection, qn)).ok_or(unknown)?;
        let entries = queue.entries();
        if queue.next_msn.wrapping_sub(queue.oldest_msn) >= entries {
            return Err(DriverError::QueueFull {
                connection: connection.0,
                qn,
                entries,
            });
        }
        let msn = queue.next_msn;
        let pool_entry = queue.first as u32 + (msn & (entries - 1));
        for ((offset, word), held) in (registers::POST_0..)
            .step_by(4)
            .zip(words)
            .zip(&mut self.port)
        {
            if *held != Some(word) {
                bar.write(offset, word)?;
                *held = Some(word);
            }
        }
        let doorbell = registers::post(queue_index(connection, qn), offset_high);
        bar.write(registers::POST, doorbell)?;
        queue.next_msn = msn.wrapping_add(1);
        Ok(Posted { msn, pool_entry })
    }

    /// A message has been delivered into the buffer of `msn`, which frees its entry.
    pub(crate) fn consume(&mut self, connection: ConnectionId, qn: u32, msn: u32) {
        if let Some(queue) = self.queues.get_mut(&(connection, qn)) {
            queue.oldest_msn = msn.wrapping_add(1);
        }
    }

    /// The read in `pool_entry` is complete and frees the entry. Reads complete in posting order.
    pub(crate) fn consume_read(&mut self, connection: ConnectionId, pool_entry: u32) {
        if let Some(queue) = self.queues.get_mut(&(connection, READ_QUEUE as u32)) {
            let oldest = queue.first as u32 + (queue.oldest_msn & (queue.entries() - 1));
            if queue.oldest_msn != queue.next_msn && pool_entry == oldest {
                queue.oldest_msn = queue.oldest_msn.wrapping_add(1);
            }
        }
    }

    /// Close the queues of a connection. After this the device writes to none of their buffers, and
    /// to no read's sink.
    ///
    /// Queue 0 is written also if it is not open, and last, with fences that are for all: they end
    /// a connection without queues, too. What the device gave for it before is in memory then,
    /// completions included.
    pub(crate) fn close_all(
        &mut self,
        bar: &mut impl Registers,
        connection: ConnectionId,
    ) -> Result<(), DriverError> {
        for qn in 1..QUEUE_SLOTS as u32 {
            if self.queues.contains_key(&(connection, qn)) {
                table::write(bar, tables::QUEUE, queue_index(connection, qn), &[0])?;
            }
        }
        table::revoke(bar, tables::QUEUE, queue_index(connection, 0), &[0])?;
        for qn in 0..QUEUE_SLOTS as u32 {
            if let Some(queue) = self.queues.remove(&(connection, qn)) {
                self.taken[queue.window()].fill(false);
            }
        }
        Ok(())
    }

    /// First of `entries` free entries of the pool, aligned to their number.
    fn gap(&self, entries: usize) -> Result<usize, DriverError> {
        let is_free = |&first: &usize| !self.taken[first..first + entries].contains(&true);
        let exhausted = DriverError::Exhausted {
            what: "receive pool window",
            limit: RECEIVE_POOL,
        };
        (0..RECEIVE_POOL)
            .step_by(entries)
            .find(is_free)
            .ok_or(exhausted)
    }
}

fn queue_index(connection: ConnectionId, qn: u32) -> u32 {
    u32::from(connection.0) << 2 | qn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::hanging::Hanging;
    use crate::testing::Tables;

    const CONNECTION: ConnectionId = ConnectionId(5);
    const BUFFER: DmaBuffer = DmaBuffer {
        address: 0x12_3456_7000,
        octets: 64,
    };

    #[test]
    fn a_buffer_is_posted_by_four_writes_and_no_read() {
        let (mut pool, mut bar) = (ReceivePool::default(), Tables::default());
        pool.open(&mut bar, CONNECTION, 1, 2, 7).expect("it fits");
        bar.operations.clear();
        bar.accesses = 0;
        let posted = pool.post(&mut bar, CONNECTION, 1, BUFFER);
        let expected = Posted {
            msn: 7,
            pool_entry: 3,
        };
        assert_eq!(posted, Ok(expected));
        assert_eq!((bar.accesses, bar.reads), (4, 0));
        assert_eq!(bar.operations, []);
        assert_eq!(bar.posts, [(5 << 2 | 1, [0x3456_7000, 0x12, 64])]);
    }

    /// The port keeps its words. Where a read was posted between two buffers all are others.
    #[test]
    fn words_that_the_port_has_are_not_written_again() {
        let (mut pool, mut bar) = (ReceivePool::default(), Tables::default());
        pool.open(&mut bar, CONNECTION, 0, 3, 0).expect("it fits");
        pool.open(&mut bar, CONNECTION, 3, 1, 0).expect("it fits");
        let high = BUFFER.address + (1 << 32);
        let buffer = |address, octets| DmaBuffer { address, octets };
        for (buffer, accesses) in [
            (BUFFER, 4),
            (BUFFER, 1),
            (buffer(BUFFER.address + 64, 64), 2),
            (buffer(high, 64), 3),
            (buffer(high, 65), 2),
        ] {
            bar.accesses = 0;
            let posted = pool.post(&mut bar, CONNECTION, 0, buffer);
            posted.expect("it is open");
            assert_eq!(bar.accesses, accesses, "{buffer:?}");
            let address = buffer.address;
            let words = [address as u32, (address >> 32) as u32, buffer.octets as u32];
            assert_eq!(bar.posts.pop(), Some((5 << 2, words)));
        }
        let read = pool.post_read(&mut bar, CONNECTION, 0xabcd_ef01, 0, 65);
        read.expect("it is open");
        let posted = pool.post(&mut bar, CONNECTION, 0, buffer(high, 65));
        posted.expect("it is open");
        let words = [high as u32, (high >> 32) as u32, 65];
        assert_eq!(bar.posts.pop(), Some((5 << 2, words)));
    }

    #[test]
    fn a_full_queue_takes_a_buffer_once_one_is_consumed() {
        let (mut pool, mut bar) = (ReceivePool::default(), Tables::default());
        let first = u32::MAX;
        pool.open(&mut bar, CONNECTION, 0, 1, first).expect("fits");
        for msn in [first, 0] {
            let posted = pool.post(&mut bar, CONNECTION, 0, BUFFER);
            assert_eq!(posted.map(|posted| posted.msn), Ok(msn));
        }
        let full = pool.post(&mut bar, CONNECTION, 0, BUFFER);
        assert!(matches!(
            full,
            Err(DriverError::QueueFull { entries: 2, .. })
        ));
        pool.consume(CONNECTION, 0, first);
        let posted = pool.post(&mut bar, CONNECTION, 0, BUFFER);
        assert_eq!(posted.map(|posted| posted.msn), Ok(1));
    }

    /// RDMAP-011: the device knows of the read before its request can be answered.
    #[test]
    fn a_read_is_posted_with_all_of_its_offset() {
        let (mut pool, mut bar) = (ReceivePool::default(), Tables::default());
        pool.open(&mut bar, CONNECTION, 3, 1, u32::MAX)
            .expect("it fits");
        bar.operations.clear();
        let posted = pool.post_read(&mut bar, CONNECTION, 0xabcd_ef01, 0xf7_1234_5678, 99);
        let expected = Posted {
            msn: u32::MAX,
            pool_entry: 1,
        };
        assert_eq!(posted, Ok(expected));
        assert_eq!(bar.operations, []);
        let words = [0x1234_5678, 0xabcd_ef01, 99];
        assert_eq!(bar.posts, [(7 << 16 | 5 << 2 | 3, words)]);
    }

    #[test]
    fn reads_are_limited_by_their_queue_and_freed_in_order() {
        let (mut pool, mut bar) = (ReceivePool::default(), Tables::default());
        let mut post = |pool: &mut ReceivePool| {
            let posted = pool.post_read(&mut bar, CONNECTION, 0x100, 0, 8);
            posted.map(|posted| posted.pool_entry)
        };
        let closed = post(&mut pool);
        assert!(matches!(closed, Err(DriverError::Unknown { id: 3, .. })));
        let opened = pool.open(&mut Tables::default(), CONNECTION, 3, 1, 1);
        opened.expect("it fits");
        assert_eq!([post(&mut pool), post(&mut pool)], [Ok(1), Ok(0)]);
        let full = |result| {
            matches!(
                result,
                Err(DriverError::QueueFull {
                    qn: 3,
                    entries: 2,
                    ..
                })
            )
        };
        assert!(full(post(&mut pool)));
        // The other entry is not the oldest one.
        pool.consume_read(CONNECTION, 0);
        assert!(full(post(&mut pool)));
        pool.consume_read(CONNECTION, 1);
        assert_eq!(post(&mut pool), Ok(1));
        // What an earlier connection has left in the completion queue frees nothing.
        pool.consume_read(ConnectionId(6), 0);
        for entry in [0, 1, 0, 1] {
            pool.consume_read(CONNECTION, entry);
        }
        assert_eq!([post(&mut pool), post(&mut pool)], [Ok(0), Ok(1)]);
        assert!(full(post(&mut pool)));
    }

    #[test]
    fn a_buffer_is_not_posted_to_the_queue_of_reads() {
        let (mut pool, mut bar) = (ReceivePool::default(), Tables::default());
        pool.open(&mut bar, CONNECTION, 3, 1, 1).expect("it fits");
        bar.operations.clear();
        let posted = pool.post(&mut bar, CONNECTION, 3, BUFFER);
        assert!(matches!(posted, Err(DriverError::Unknown { id: 3, .. })));
        let opened = pool.open(&mut bar, CONNECTION, 4, 1, 1);
        assert!(matches!(opened, Err(DriverError::Unknown { id: 4, .. })));
        assert_eq!(bar.operations, []);
    }

    #[test]
    fn windows_of_the_pool_are_aligned_and_disjoint() {
        let (mut pool, mut bar) = (ReceivePool::default(), Tables::default());
        let sizes = [3u32, 0, 4, 1, 10, 0];
        for (number, entries_log2) in (0u16..).zip(sizes) {
            let (connection, qn) = (ConnectionId(number / 3), u32::from(number % 3));
            let opened = pool.open(&mut bar, connection, qn, entries_log2, 1);
            opened.expect("the pool has 2,048 entries");
        }
        let mut taken = [false; RECEIVE_POOL];
        for queue in pool.queues.values() {
            let entries = queue.entries() as usize;
            assert_eq!(queue.first % entries, 0);
            for entry in &mut taken[queue.first..][..entries] {
                assert!(!*entry);
                *entry = true;
            }
        }
        let opened = pool.open(&mut bar, ConnectionId(2), 0, 11, 1);
        assert!(matches!(opened, Err(DriverError::Exhausted { .. })));
    }

    /// The fences of a close that hangs: the queues are still the connection's, and their windows
    /// nobody else's, until a close ends.
    #[test]
    fn queues_whose_closing_hangs_keep_their_windows() {
        let (mut pool, mut bar) = (ReceivePool::default(), Hanging::default());
        let whole_pool = RECEIVE_POOL_LOG2 as u32;
        let opened = pool.open(&mut bar, CONNECTION, 2, whole_pool, 1);
        opened.expect("the pool is free");
        bar.hangs_after = Some(1);
        let closed = pool.close_all(&mut bar, CONNECTION);
        assert!(matches!(closed, Err(DriverError::TableTimeout { .. })));
        let opened = pool.open(&mut bar, ConnectionId(6), 0, 0, 1);
        assert!(matches!(opened, Err(DriverError::Exhausted { .. })));
        (bar.hangs_after, bar.is_busy) = (None, false);
        pool.close_all(&mut bar, CONNECTION).expect("it closes");
        assert_eq!(pool.open(&mut bar, ConnectionId(6), 0, 0, 1), Ok(()));
    }

    #[test]
    fn closed_queues_are_revoked_and_free_their_window() {
        let (mut pool, mut bar) = (ReceivePool::default(), Tables::default());
        let whole_pool = RECEIVE_POOL_LOG2 as u32;
        for _ in 0..2 {
            let opened = pool.open(&mut bar, CONNECTION, 2, whole_pool, 1);
            opened.expect("the pool is free");
            bar.operations.clear();
            pool.close_all(&mut bar, CONNECTION).expect("it closes");
            // Queue 0 for its fences, twice as `table::revoke` explains.
            assert_eq!(bar.operations, [(tables::WRITE, tables::QUEUE); 3]);
            assert_eq!(bar.fences, [tables::QUEUE; 2]);
            bar.fences.clear();
            for qn in [0, 2] {
                assert_eq!(bar.written[&(tables::QUEUE, 5 << 2 | qn)], [0; 10]);
            }
        }
    }

    #[test]
    fn closing_a_connection_without_queues_ends_after_a_fence() {
        let (mut pool, mut bar) = (ReceivePool::default(), Tables::default());
        pool.close_all(&mut bar, CONNECTION).expect("it closes");
        assert_eq!(bar.operations, [(tables::WRITE, tables::QUEUE); 2]);
        assert_eq!(bar.fences, [tables::QUEUE; 2]);
    }
}
