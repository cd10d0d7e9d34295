//! Untagged queues: windows in the shared pool of posted receive buffers.

use crate::bar::Bar;
use crate::connection::Connection;
use crate::device::Device;
use crate::dma::{Dma, DmaBuffer};
use crate::error::DriverError;
use crate::table;
use rnic_abi::limits::{QUEUES, RECEIVE_POOL, RECEIVE_POOL_LOG2};
use rnic_abi::tables;

/// A posted receive buffer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Posted {
    /// MSN of the message it will hold.
    pub msn: u32,
    /// Entry of the shared pool.
    pub pool_entry: u32,
}

/// An open queue as the driver keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    first: usize,
    entries_log2: u32,
    /// MSN the next posted buffer will serve.
    next_msn: u32,
    /// MSN of the oldest buffer not yet consumed.
    oldest_msn: u32,
}

impl Queue {
    fn entries(&self) -> u32 {
        1 << self.entries_log2
    }
}

impl<B: Bar, D: Dma> Device<B, D> {
    /// Open queue `qn` of a connection with `1 << entries_log2` buffers; MSNs start at 1 (RFC 5041
    /// section 4.3).
    pub fn open_queue(
        &mut self,
        connection: Connection,
        qn: u32,
        entries_log2: u32,
    ) -> Result<(), DriverError> {
        self.open_queue_at(connection, qn, entries_log2, 1)
    }

    /// As [`Device::open_queue`], of a stream that others have received so far: its next message on
    /// the queue has `first_msn`.
    pub fn open_queue_at(
        &mut self,
        connection: Connection,
        qn: u32,
        entries_log2: u32,
        first_msn: u32,
    ) -> Result<(), DriverError> {
        self.connection_config(connection)?;
        if qn >= QUEUES as u32 {
            return Err(DriverError::Unknown {
                what: "untagged queue",
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
        let key = (connection.0, qn);
        if self.queues.contains_key(&key) {
            return Err(DriverError::Duplicate { what: "the queue" });
        }
        let first = self.pool_gap(1 << entries_log2)?;
        let word = 1 << 31 | entries_log2 << 16 | first as u32;
        table::write(
            &mut self.tables(),
            tables::QUEUE,
            queue_index(connection, qn),
            &[word, first_msn],
        )?;
        self.queues.insert(
            key,
            Queue {
                first,
                entries_log2,
                next_msn: first_msn,
                oldest_msn: first_msn,
            },
        );
        Ok(())
    }

    /// Post a receive buffer; gives the MSN it will serve and its place in the device's pool.
    ///
    /// Queue 1 takes RDMA Read Requests, each of a buffer of 28 octets. As many as are posted there
    /// may be outstanding (IRD): the device refuses one more and stops the stream (RFC 5040 section
    /// 6.7). So post as many as was agreed on, and another one only when a request is answered.
    pub fn post_receive(
        &mut self,
        connection: Connection,
        qn: u32,
        buffer: DmaBuffer,
    ) -> Result<Posted, DriverError> {
        let unknown = DriverError::Unknown {
            what: "open queue",
            id: u64::from(qn),
        };
        let queue = self.queues.get_mut(&(connection.0, qn)).ok_or(unknown)?;
        let entries = queue.entries();
        if queue.next_msn.wrapping_sub(queue.oldest_msn) >= entries {
            return Err(DriverError::QueueFull {
                connection: connection.0,
                qn,
                entries,
            });
        }
        let msn = queue.next_msn;
        let entry = queue.first as u32 + (msn & (entries - 1));
        let words = [
            buffer.address as u32,
            (buffer.address >> 32) as u32,
            buffer.octets as u32,
        ];
        let mut bar = self.completions.beside(&mut self.bar, &self.dma);
        table::write(&mut bar, tables::RECEIVE_POOL, entry, &words)?;
        let tail = msn.wrapping_add(1);
        table::write(
            &mut bar,
            tables::QUEUE_TAIL,
            queue_index(connection, qn),
            &[tail & 0xffff],
        )?;
        queue.next_msn = tail;
        Ok(Posted {
            msn,
            pool_entry: entry,
        })
    }

    /// A message was delivered into the buffer of `msn`: its place may be posted again.
    pub(crate) fn consume_receive(&mut self, connection: u16, qn: u32, msn: u32) {
        if let Some(queue) = self.queues.get_mut(&(connection, qn)) {
            queue.oldest_msn = msn.wrapping_add(1);
        }
    }

    pub(crate) fn close_queues(&mut self, connection: Connection) -> Result<(), DriverError> {
        for qn in 0..QUEUES as u32 {
            if self.queues.contains_key(&(connection.0, qn)) {
                let index = queue_index(connection, qn);
                table::revoke(&mut self.tables(), tables::QUEUE, index, &[0, 0])?;
                self.queues.remove(&(connection.0, qn));
            }
        }
        Ok(())
    }

    /// First of `entries` free entries of the pool, aligned to their number.
    fn pool_gap(&self, entries: usize) -> Result<usize, DriverError> {
        let taken = |first: usize| {
            self.queues.values().any(|queue| {
                let end = queue.first + queue.entries() as usize;
                first < end && queue.first < first + entries
            })
        };
        let exhausted = DriverError::Exhausted {
            what: "receive pool window",
            limit: RECEIVE_POOL,
        };
        (0..RECEIVE_POOL)
            .step_by(entries)
            .find(|&first| !taken(first))
            .ok_or(exhausted)
    }
}

fn queue_index(connection: Connection, qn: u32) -> u32 {
    u32::from(connection.0) << 2 | qn
}
