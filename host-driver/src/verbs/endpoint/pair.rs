//! What a queue pair has of the device, and what its protocol machine asks of it.
//!
//! ```text
//!  reserve --> Resources: a connection of the device, its queues, buffers of queues 1 and 2
//!                 |
//!                 +-- activate, Reply or Request agreed --> rnic_iwarp::QueuePair over PairHost
//! ```

use crate::device::access::{Bar, Dma, DmaBuffer};
use crate::device::error::DriverError;
use crate::device::ids::{ConnectionId, QueueId};
use crate::device::tables::{ConnectionKey, Reservation};
use crate::stack::Ends;
use crate::verbs::ledger::{Ledger, MemoryRecord};
use rnic_abi::limits::READ_QUEUE;
use rnic_abi::tables::RIGHT_REMOTE_READ;
use rnic_iwarp::framer::{Piece, Pieces, Unreadable, TERMINATE_OCTETS_MAX};
use rnic_iwarp::queue_pair::{Host, QueuePair, ReadRefusal};
use rnic_wire::ddp::rdmap::{QN_READ_REQUEST, QN_SEND, QN_TERMINATE};
use rnic_wire::ddp::read_request::READ_REQUEST_OCTETS;
use std::collections::VecDeque;

/// Octets from one buffer of a Read Request to the next.
const SLOT_OCTETS: usize = 64;
const _: () = assert!(READ_REQUEST_OCTETS <= SLOT_OCTETS);
/// Octets of the buffer of a Terminate.
const TERMINATE_ROOM: usize = 128;
const _: () = assert!(TERMINATE_OCTETS_MAX <= TERMINATE_ROOM);
/// A piece of a payload that is the source of a peer's Read, and not memory of this end's request.
const OF_SOURCE: u32 = 1 << 31;

/// How many of what a queue pair has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Depths {
    /// Receives posted at a time.
    pub(super) receives: u32,
    pub(super) ird: u16,
    pub(super) ord: u16,
}

/// A part of memory that is the source of a Read, as it was when the Request arrived.
#[derive(Clone, Copy, Debug)]
struct Source {
    stag: u32,
    address: u64,
    octets: u32,
}

/// A connection of the device, and what is posted for its protocol machine.
#[derive(Debug)]
pub(super) struct Resources {
    pub(super) number: ConnectionId,
    pub(super) reservation: Reservation,
    /// Buffers of Read Requests, then that of a Terminate.
    memory: u64,
    buffers: DmaBuffer,
    /// Buffers of Read Requests that are posted, oldest first, and those that are not.
    posted: VecDeque<u64>,
    free: Vec<u64>,
    sources: VecDeque<Source>,
    /// Number of the first of `sources`.
    first_source: u32,
    ird: usize,
    /// What the device refused in a call that cannot say so.
    pub(super) failure: Option<DriverError>,
}

/// Entries of a queue, in log2.
fn entries_log2(count: u32) -> u32 {
    count.max(1).next_power_of_two().ilog2()
}

impl Resources {
    /// Take a connection between `ends` of the device, with its queues, and post the buffers of
    /// queues 1 and 2. If that fails, nothing is taken.
    pub(super) fn reserve<B: Bar, D: Dma>(
        ledger: &mut Ledger<B, D>,
        ends: &Ends,
        protection_domain: u16,
        completion_queue: QueueId,
        depths: &Depths,
    ) -> Result<Self, DriverError> {
        let octets = usize::from(depths.ird) * SLOT_OCTETS + TERMINATE_ROOM;
        let reservation = Reservation {
            key: ConnectionKey {
                remote: ends.peer,
                local: ends.own,
            },
            protection_domain,
            completion_queue,
        };
        let number = ledger.device().reserve_connection(&reservation)?;
        ledger.record_connection(number, &reservation);
        let buffers = match ledger.device().dma().allocate("receive", octets, 64) {
            Ok(buffers) => buffers,
            Err(error) => {
                let _ = ledger.close_connection(number);
                return Err(error);
            }
        };
        let memory = ledger.keep_memory(MemoryRecord::of(buffers));
        let mut resources = Self {
            number,
            reservation,
            memory,
            buffers,
            posted: VecDeque::new(),
            free: Vec::new(),
            sources: VecDeque::new(),
            first_source: 0,
            ird: depths.ird.into(),
            failure: None,
        };
        let opened = resources.open(ledger, depths);
        if let Err(error) = opened {
            let _ = resources.release(ledger);
            return Err(error);
        }
        Ok(resources)
    }

    fn open<B: Bar, D: Dma>(
        &mut self,
        ledger: &mut Ledger<B, D>,
        depths: &Depths,
    ) -> Result<(), DriverError> {
        let queues = [
            (QN_SEND, depths.receives),
            (QN_READ_REQUEST, depths.ird.into()),
            (QN_TERMINATE, 1),
            (READ_QUEUE as u32, depths.ord.into()),
        ];
        for (qn, entries) in queues.into_iter().filter(|(_, entries)| *entries > 0) {
            let device = ledger.device();
            device.open_queue(self.number, qn, entries_log2(entries))?;
        }
        for slot in 0..self.ird {
            let address = self.buffers.address + (slot * SLOT_OCTETS) as u64;
            self.free.push(address);
            self.post_read_buffer(ledger)?;
        }
        let address = self.buffers.address + (self.ird * SLOT_OCTETS) as u64;
        self.post(ledger, QN_TERMINATE, address, TERMINATE_ROOM)
    }

    fn post<B: Bar, D: Dma>(
        &self,
        ledger: &mut Ledger<B, D>,
        qn: u32,
        address: u64,
        octets: usize,
    ) -> Result<(), DriverError> {
        let buffer = DmaBuffer { address, octets };
        let posted = ledger.device().post_receive(self.number, qn, buffer)?;
        ledger.hold_memory(self.memory);
        ledger.note_posted(self.number, (qn, posted.msn), self.memory);
        Ok(())
    }

    fn post_read_buffer<B: Bar, D: Dma>(
        &mut self,
        ledger: &mut Ledger<B, D>,
    ) -> Result<(), DriverError> {
        let Some(address) = self.free.pop() else {
            return Ok(());
        };
        self.post(ledger, QN_READ_REQUEST, address, READ_REQUEST_OCTETS)?;
        self.posted.push_back(address);
        Ok(())
    }

    /// The octets of a Read Request that has arrived.
    pub(super) fn take_read_request<B: Bar, D: Dma>(
        &mut self,
        ledger: &Ledger<B, D>,
        octets: usize,
    ) -> Vec<u8> {
        let mut request = vec![0; octets.min(READ_REQUEST_OCTETS)];
        if let Some(address) = self.posted.pop_front() {
            ledger.view().memory().read(address, &mut request);
            self.free.push(address);
        }
        request
    }

    /// The octets of a Terminate that has arrived.
    pub(super) fn take_terminate<B: Bar, D: Dma>(
        &self,
        ledger: &Ledger<B, D>,
        octets: usize,
    ) -> Vec<u8> {
        let mut terminate = vec![0; octets.min(TERMINATE_ROOM)];
        let address = self.buffers.address + (self.ird * SLOT_OCTETS) as u64;
        ledger.view().memory().read(address, &mut terminate);
        terminate
    }

    /// Give everything back; if that fails, the device may have it and it is kept.
    pub(super) fn release<B: Bar, D: Dma>(
        &self,
        ledger: &mut Ledger<B, D>,
    ) -> Result<(), DriverError> {
        ledger.close_connection(self.number)?;
        ledger.release_memory(self.memory);
        Ok(())
    }

    fn source(&self, region: u32) -> Option<Source> {
        let index = (region & !OF_SOURCE).wrapping_sub(self.first_source);
        self.sources.get(index as usize).copied()
    }

    /// Keep a source; there are no more than IRD of them in use.
    fn keep_source(&mut self, source: Source) -> u32 {
        if self.sources.len() > self.ird {
            self.sources.pop_front();
            self.first_source = self.first_source.wrapping_add(1) & !OF_SOURCE;
        }
        self.sources.push_back(source);
        let number = self.first_source + self.sources.len() as u32 - 1;
        OF_SOURCE | number & !OF_SOURCE
    }
}

/// A queue pair in full operation, and its resources.
#[derive(Debug)]
pub(super) struct Pair {
    pub(super) machine: QueuePair,
    /// Number of the peer's first octet of full operation.
    pub(super) sequence_start: u32,
    /// Octets of the peer's stream that completions have named, as far as they have.
    pub(super) named_octets: u64,
}

/// The device and memory for a queue pair's protocol machine.
pub(super) struct PairHost<'a, B: Bar, D: Dma> {
    pub(super) ledger: &'a mut Ledger<B, D>,
    pub(super) resources: &'a mut Resources,
}

impl<B: Bar, D: Dma> PairHost<'_, B, D> {
    /// The region that a peer's Read may read, or why it may not. The order of the checks is that
    /// of the device for Writes: STag, association, right, extent.
    fn readable(&mut self, stag: u32, to: u64, octets: u32) -> Result<u64, ReadRefusal> {
        let found = self.ledger.device().valid_region(stag);
        let region = found.ok().flatten().ok_or(ReadRefusal::Stag)?;
        let is_bound_elsewhere = region
            .connection
            .is_some_and(|connection| connection != self.resources.number);
        if region.protection_domain != self.resources.reservation.protection_domain
            || is_bound_elsewhere
        {
            return Err(ReadRefusal::Association);
        }
        if region.rights & RIGHT_REMOTE_READ == 0 {
            return Err(ReadRefusal::Access);
        }
        let end = to.checked_add(octets.into()).ok_or(ReadRefusal::Wrap)?;
        let offset = to.checked_sub(region.tagged_offset);
        let offset = offset.ok_or(ReadRefusal::Bounds)?;
        if end - region.tagged_offset > region.octets {
            return Err(ReadRefusal::Bounds);
        }
        Ok(region.address + offset)
    }

    fn note<T>(&mut self, result: Result<T, DriverError>) -> Option<T> {
        result
            .map_err(|error| self.resources.failure.get_or_insert(error))
            .ok()
    }
}

impl<B: Bar, D: Dma> Host for PairHost<'_, B, D> {
    fn read(&mut self, piece: &Piece, into: &mut [u8]) -> Result<(), Unreadable> {
        if piece.region & OF_SOURCE != 0 {
            // The region may have gone since the Request came.
            let source = self.resources.source(piece.region).ok_or(Unreadable)?;
            let valid = self.ledger.device().valid_region(source.stag);
            let region = valid.ok().flatten().ok_or(Unreadable)?;
            let first = region.address..=region.address + region.octets;
            let last = source.address + u64::from(source.octets);
            if !first.contains(&source.address) || !first.contains(&last) {
                return Err(Unreadable);
            }
        }
        self.ledger.view().memory().read(piece.offset, into);
        Ok(())
    }

    fn read_source(&mut self, stag: u32, to: u64, octets: u32) -> Result<Pieces, ReadRefusal> {
        let address = self.readable(stag, to, octets)?;
        let region = self.resources.keep_source(Source {
            stag,
            address,
            octets,
        });
        let piece = Piece {
            region,
            offset: address,
            octets,
        };
        Pieces::new(&[piece]).map_err(|_| ReadRefusal::Bounds)
    }

    /// The driver's table follows the completion that says so.
    fn invalidated(&mut self, _stag: u32) {}

    fn expect_read(&mut self, sink_stag: u32, sink_to: u64, octets: u32) {
        let number = self.resources.number;
        let device = self.ledger.device();
        let posted = device.post_read(number, sink_stag, sink_to, octets);
        if let Some(posted) = self.note(posted) {
            self.ledger.note_read(number, posted);
        }
    }

    fn repost_read_buffer(&mut self) {
        let posted = self.resources.post_read_buffer(self.ledger);
        self.note(posted);
    }
}

impl MemoryRecord {
    /// Memory of the endpoint's own.
    fn of(buffer: DmaBuffer) -> Self {
        Self {
            buffer,
            octets: buffer.octets,
            access: crate::bus::Access::ReadWrite,
            holders: 1,
        }
    }
}
