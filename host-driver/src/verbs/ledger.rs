//! What a device has of each object, and who holds it.
//!
//! ```text
//!  handle, window, posting, read, frame --> +1 holder of what it needs
//!  its end --> -1; at 0: fence, then free
//!                     |
//!                     +-- fails: the record stays, and with it whatever it holds
//! ```
//!
//! Records name each other by number, not by pointer, so that there are no circles: the ledger goes
//! with the last handle. What its holders do to a record is in `holds`.

use super::frame_memory::FrameMemory;
use super::refused::Refused;
use crate::bus::Access;
use crate::device::access::{Bar, Dma, DmaBuffer};
use crate::device::error::DriverError;
use crate::device::ids::{ConnectionId, QueueId};
use crate::device::rings::Completion;
use crate::device::tables::{Posted, RegionConfig, Reservation};
use crate::device::Device;
use rnic_abi::transmit_ring::RINGS;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Objects that a message names before it only counts the rest.
const NAMED_MAX: usize = 4;

/// A handle that a user has, as messages name it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Object {
    Memory(usize),
    ProtectionDomain(u16),
    Region(u32),
    Window(u32),
    Connection(u16),
    CompletionQueue(u8),
    CompletionEvents(u8),
    Endpoint,
}

impl fmt::Display for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Memory(octets) => write!(formatter, "memory of {octets} octets"),
            Self::ProtectionDomain(number) => write!(formatter, "Protection Domain {number}"),
            Self::Region(stag) => write!(formatter, "the region {stag:#010x}"),
            Self::Window(stag) => write!(formatter, "the window {stag:#010x}"),
            Self::Connection(number) => write!(formatter, "connection {number}"),
            Self::CompletionQueue(number) => write!(formatter, "completion queue {number}"),
            Self::CompletionEvents(vector) => write!(formatter, "completion events {vector}"),
            Self::Endpoint => formatter.write_str("an endpoint"),
        }
    }
}

/// Memory that the device may access.
#[derive(Copy, Clone, Debug)]
pub(crate) struct MemoryRecord {
    /// As it was allocated.
    pub(crate) buffer: DmaBuffer,
    /// Octets that were asked for.
    pub(crate) octets: usize,
    pub(crate) access: Access,
    /// Its handle or region, postings, frames.
    pub(crate) holders: usize,
}

/// A region of the device.
#[derive(Copy, Clone, Debug)]
pub(crate) struct RegionRecord {
    /// As last given to the device.
    pub(crate) config: RegionConfig,
    pub(crate) memory: u64,
    /// Its handle, windows, reads.
    pub(crate) holders: usize,
    /// Closing its connection ends this.
    pub(crate) is_registered: bool,
}

/// A window of the device.
#[derive(Copy, Clone, Debug)]
pub(crate) struct WindowRecord {
    pub(crate) stag: u32,
    pub(crate) region: u64,
    pub(crate) connection: ConnectionId,
    /// Closing its connection ends this.
    pub(crate) is_bound: bool,
}

/// A connection of the device.
#[derive(Debug)]
pub(crate) struct ConnectionRecord {
    pub(crate) protection_domain: u16,
    pub(crate) queue: QueueId,
    /// Memory, by queue number and MSN.
    pub(crate) posted: BTreeMap<(u32, u32), u64>,
    /// Outstanding reads in posting order, and their regions.
    pub(crate) reads: VecDeque<(Posted, Option<u64>)>,
    /// Regions of reads whose posting did not end, which the device may have.
    pub(crate) unsure_reads: Vec<u64>,
    /// Memory whose posting did not end, which the device may have.
    pub(crate) stray: Vec<u64>,
}

impl ConnectionRecord {
    /// Of a connection that has nothing posted.
    fn new(reservation: &Reservation) -> Self {
        Self {
            protection_domain: reservation.protection_domain,
            queue: reservation.completion_queue,
            posted: BTreeMap::new(),
            reads: VecDeque::new(),
            unsure_reads: Vec::new(),
            stray: Vec::new(),
        }
    }
}

/// A completion queue of the device, which has it until it is closed.
#[derive(Debug, Default)]
pub(crate) struct QueueRecord {
    /// Its handle, connections, events. 0: it waits for its next use.
    pub(crate) holders: usize,
    /// Completions that came before a connection was closed.
    pub(crate) backlog: VecDeque<Entry>,
    /// It raises this vector.
    pub(crate) vector: Option<u8>,
}

/// A completion, with what it ends.
#[derive(Debug)]
pub(crate) enum Entry {
    /// A message in this memory.
    Received(Completion, u64),
    /// A read.
    Read(Completion, Posted),
    /// Anything else.
    Other(Completion),
}

/// The device, and a record of everything it was given.
#[derive(Debug)]
pub(crate) struct Ledger<B: Bar, D: Dma> {
    device: Option<Device<B, D>>,
    last_id: u64,
    /// By id.
    pub(crate) handles: BTreeMap<u64, Object>,
    pub(crate) memory: BTreeMap<u64, MemoryRecord>,
    /// Holders, by number.
    pub(crate) protection_domains: BTreeMap<u16, usize>,
    pub(crate) regions: BTreeMap<u64, RegionRecord>,
    pub(crate) windows: BTreeMap<u64, WindowRecord>,
    pub(crate) connections: BTreeMap<ConnectionId, ConnectionRecord>,
    pub(crate) queues: BTreeMap<QueueId, QueueRecord>,
    pub(crate) vectors: BTreeSet<u8>,
    /// An endpoint has the host path, the events and both transmit rings.
    pub(crate) has_endpoint: bool,
    /// Memory of each frame whose result was not polled, by ring, in order.
    pub(crate) frames: [VecDeque<FrameMemory>; RINGS],
}

impl<B: Bar, D: Dma> Ledger<B, D> {
    /// The ledger of a device that was just opened.
    pub(crate) fn new(device: Device<B, D>) -> Self {
        Self {
            device: Some(device),
            last_id: 0,
            handles: BTreeMap::new(),
            memory: BTreeMap::new(),
            protection_domains: BTreeMap::new(),
            regions: BTreeMap::new(),
            windows: BTreeMap::new(),
            connections: BTreeMap::new(),
            queues: BTreeMap::from([(QueueId::default(), QueueRecord::default())]),
            vectors: BTreeSet::new(),
            has_endpoint: false,
            frames: Default::default(),
        }
    }

    /// The device. It is there as long as there is a handle.
    pub(crate) fn device(&mut self) -> &mut Device<B, D> {
        let device = self.device.as_mut();
        device.expect("only the last handle closes the device")
    }

    /// The device, to look at it.
    pub(crate) fn view(&self) -> &Device<B, D> {
        let device = self.device.as_ref();
        device.expect("only the last handle closes the device")
    }

    /// An id that was never used.
    pub(crate) fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// A handle to `object` is given to the user.
    pub(crate) fn add_handle(&mut self, object: Object) -> u64 {
        let id = self.next_id();
        self.handles.insert(id, object);
        id
    }

    /// A connection of the device is in use.
    pub(crate) fn record_connection(&mut self, number: ConnectionId, reservation: &Reservation) {
        self.hold_protection_domain(reservation.protection_domain);
        self.hold_queue(reservation.completion_queue);
        let record = ConnectionRecord::new(reservation);
        self.connections.insert(number, record);
    }

    /// Memory is posted to a queue of a connection, at this queue number and MSN.
    pub(crate) fn note_posted(&mut self, number: ConnectionId, at: (u32, u32), memory: u64) {
        if let Some(record) = self.connections.get_mut(&number) {
            record.posted.insert(at, memory);
        }
    }

    /// A read without a region to be held is outstanding.
    pub(crate) fn note_read(&mut self, number: ConnectionId, posted: Posted) {
        if let Some(record) = self.connections.get_mut(&number) {
            record.reads.push_back((posted, None));
        }
    }

    /// Memory without a handle; its first hold is the caller's.
    pub(crate) fn keep_memory(&mut self, record: MemoryRecord) -> u64 {
        let id = self.next_id();
        self.memory.insert(id, record);
        id
    }

    /// Refuses what an endpoint has for itself.
    pub(crate) fn expect_no_endpoint(&self) -> Result<(), DriverError> {
        match self.has_endpoint {
            false => Ok(()),
            true => Err(DriverError::InUse {
                what: "the device's host path".to_owned(),
                by: Object::Endpoint.to_string(),
            }),
        }
    }

    /// Which handles there are, for a message; `None`: none.
    fn names(&self) -> Option<String> {
        let objects = self.handles.values().map(Object::to_string);
        (!self.handles.is_empty()).then(|| list(objects.collect()))
    }

    /// Close the device; after its reset all memory is free.
    pub(crate) fn shut(&mut self) -> Result<Option<(B, D)>, DriverError> {
        let Some(device) = self.device.take() else {
            return Ok(None);
        };
        let (bar, mut dma) = device.close()?;
        for record in std::mem::take(&mut self.memory).into_values() {
            dma.free(record.buffer);
        }
        Ok(Some((bar, dma)))
    }
}

/// Names in a message. Without a name it is what had no handle before it could be fenced.
pub(crate) fn list(mut names: Vec<String>) -> String {
    if names.is_empty() {
        return "what the device has not given back".to_owned();
    }
    if names.len() > NAMED_MAX {
        let others = names.len() - NAMED_MAX;
        names.truncate(NAMED_MAX);
        names.push(format!("{others} others"));
    }
    names.join(", ")
}

/// The ledger, shared by all handles. The last one closes the device.
#[derive(Debug)]
pub(crate) struct Core<B: Bar, D: Dma>(Mutex<Ledger<B, D>>);

impl<B: Bar, D: Dma> Core<B, D> {
    pub(crate) fn new(device: Device<B, D>) -> Arc<Self> {
        Arc::new(Self(Mutex::new(Ledger::new(device))))
    }

    /// The ledger. A thread that panicked has left it as the device is: a record is changed only
    /// after what it is about.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Ledger<B, D>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Close the device, if this is the last handle.
    pub(crate) fn close(self: Arc<Self>) -> Result<(B, D), Refused<Option<Arc<Self>>>> {
        let core = match Arc::try_unwrap(self) {
            Ok(core) => core,
            Err(core) => {
                let by = core.lock().names();
                let by = by.unwrap_or_else(|| "another clone of its context".to_owned());
                let what = "the device".to_owned();
                return Err(Refused::new(Some(core), DriverError::InUse { what, by }));
            }
        };
        let shut = core.lock().shut();
        match shut {
            Ok(parts) => Ok(parts.expect("it was open")),
            Err(error) => Err(Refused::new(None, error)),
        }
    }
}

impl<B: Bar, D: Dma> Drop for Core<B, D> {
    fn drop(&mut self) {
        // There is no caller to report to; memory that the device may still write is kept.
        let _ = self.lock().shut();
    }
}

/// Whether two handles are of one context.
pub(crate) fn expect_same<B: Bar, D: Dma>(
    one: &Arc<Core<B, D>>,
    other: &Arc<Core<B, D>>,
    what: &'static str,
) -> Result<(), DriverError> {
    match Arc::ptr_eq(one, other) {
        true => Ok(()),
        false => Err(DriverError::OtherContext { what }),
    }
}
