//! A completion queue, whose completions give posted memory back.

use super::ledger::{list, Core, Entry, Ledger, Object};
use super::memory::Memory;
use super::refused::Refused;
use crate::bus::{FunctionBar, FunctionMemory};
use crate::device::access::{Bar, Dma};
use crate::device::error::DriverError;
use crate::device::ids::{ConnectionId, QueueId};
use crate::device::rings::{check_size, Completion};
use crate::device::tables::Posted;
use rnic_abi::limits::COMPLETION_QUEUES;
use std::fmt;
use std::sync::Arc;

/// A message, and the memory that it is in.
#[derive(Debug)]
pub struct Received<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    /// Number of the connection ([`Connection::number`](super::Connection::number)).
    pub connection: ConnectionId,
    /// Queue number; 2: a Terminate, which ends the stream.
    pub qn: u32,
    /// RDMAP opcode.
    pub opcode: u32,
    /// Message Sequence Number.
    pub msn: u32,
    /// Octets of the message, from the beginning of the memory on.
    pub octets: usize,
    /// STag that the message has invalidated: the region or window of that STag is not valid any
    /// more, and can be renewed or closed.
    pub invalidated_stag: Option<u32>,
    /// Sequence number after the message.
    pub sequence_end: u32,
    /// What was posted.
    pub memory: Memory<B, D>,
}

impl<B: Bar, D: Dma> Received<B, D> {
    /// The octets of the message, copied.
    pub fn message(&self) -> Vec<u8> {
        let mut octets = vec![0; self.octets.min(self.memory.octets())];
        let read = self.memory.read(0, &mut octets);
        read.expect("these octets are in the memory");
        octets
    }
}

/// What is complete.
#[derive(Debug)]
pub enum Completed<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    /// A message.
    Received(Received<B, D>),
    /// A read: all of it is in its region.
    Read {
        /// Number of the connection.
        connection: ConnectionId,
        /// As it was posted.
        posted: Posted,
        /// Sequence number after its last segment.
        sequence_end: u32,
    },
    /// A connection has stopped: [`Completion::Error`] says why. It still has to be closed.
    Stopped(Completion),
    /// What this driver does not know, or was never posted.
    Unknown(Completion),
}

/// A completion queue of the device. Its connections hold it.
///
/// ```no_run
/// use rnic_driver::verbs::{Completed, Context};
/// use rnic_driver::Config;
///
/// let context = Context::open("vfio-user:/run/rnic.sock", Config::default())?;
/// let queue = context.completion_queue(8)?;
/// // ... connections are opened with it ...
/// while let Some(completed) = queue.poll() {
///     if let Completed::Received(received) = completed {
///         println!("message {}: {:?}", received.msn, received.message());
///     }
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct CompletionQueue<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
    core: Arc<Core<B, D>>,
    id: u64,
    number: QueueId,
}

impl<B: Bar, D: Dma> CompletionQueue<B, D> {
    /// A queue of at least `1 << entries_log2` entries.
    pub(crate) fn create(core: &Arc<Core<B, D>>, entries_log2: u32) -> Result<Self, DriverError> {
        let mut ledger = core.lock();
        let number = ledger.take_queue(entries_log2)?;
        let id = ledger.add_handle(Object::CompletionQueue(number.0));
        drop(ledger);
        Ok(Self {
            core: Arc::clone(core),
            id,
            number,
        })
    }

    /// Its number.
    pub fn number(&self) -> QueueId {
        self.number
    }

    /// Its entries.
    pub fn entries(&self) -> u32 {
        let entries = self.core.lock().view().completion_entries(self.number);
        entries.expect("a queue stays until the device is closed")
    }

    /// The next completion, if there is one. Those of a connection come in the order of its stream,
    /// also after its end: closing it loses none.
    pub fn poll(&self) -> Option<Completed<B, D>> {
        let mut ledger = self.core.lock();
        let entry = ledger.next_entry(self.number)?;
        let (completion, id) = match entry {
            Entry::Received(completion, id) => (completion, id),
            Entry::Read(completion, posted) => return Some(read(completion, posted)),
            Entry::Other(completion @ Completion::Error { .. }) => {
                return Some(Completed::Stopped(completion))
            }
            Entry::Other(completion) => return Some(Completed::Unknown(completion)),
        };
        let place = ledger.place(id);
        ledger.handles.insert(id, Object::Memory(place.octets));
        drop(ledger);
        Some(received(completion, Memory::of(&self.core, id, place)))
    }

    /// Give it back. The device keeps it, for the next queue of its size.
    ///
    /// # Errors
    /// The queue, and [`DriverError::InUse`]: there are connections or events that use it.
    pub fn close(self) -> Result<(), Refused<Self>> {
        let core = Arc::clone(&self.core);
        let mut ledger = core.lock();
        let record = &ledger.queues[&self.number];
        let events = record.vector.map(Object::CompletionEvents);
        let using = ledger.connections.iter();
        let using = using.filter(|(_, open)| open.queue == self.number);
        let using = using.map(|(connection, _)| Object::Connection(connection.0));
        let names = events.into_iter().chain(using);
        let names: Vec<String> = names.map(|object| object.to_string()).collect();
        if record.holders > 1 {
            let what = Object::CompletionQueue(self.number.0).to_string();
            let by = list(names);
            drop(ledger);
            return Err(Refused::new(self, DriverError::InUse { what, by }));
        }
        ledger.handles.remove(&self.id);
        ledger.release_queue(self.number);
        Ok(())
    }

    pub(crate) fn core(&self) -> &Arc<Core<B, D>> {
        &self.core
    }
}

fn read<B: Bar, D: Dma>(completion: Completion, posted: Posted) -> Completed<B, D> {
    match completion {
        Completion::ReadResponse {
            connection,
            sequence_end,
            ..
        } => Completed::Read {
            connection,
            posted,
            sequence_end,
        },
        other => Completed::Unknown(other),
    }
}

fn received<B: Bar, D: Dma>(completion: Completion, memory: Memory<B, D>) -> Completed<B, D> {
    match completion {
        Completion::Receive {
            connection,
            qn,
            opcode,
            msn,
            length,
            invalidated_stag,
            sequence_end,
        } => Completed::Received(Received {
            connection,
            qn,
            opcode,
            msn,
            octets: length as usize,
            invalidated_stag: (invalidated_stag != 0).then_some(invalidated_stag),
            sequence_end,
            memory,
        }),
        other => Completed::Unknown(other),
    }
}

impl<B: Bar, D: Dma> Drop for CompletionQueue<B, D> {
    fn drop(&mut self) {
        let mut ledger = self.core.lock();
        // Whoever closed it has taken its handle.
        if ledger.handles.remove(&self.id).is_some() {
            ledger.release_queue(self.number);
        }
    }
}

impl<B: Bar, D: Dma> fmt::Debug for CompletionQueue<B, D> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "CompletionQueue({})", self.number.0)
    }
}

impl<B: Bar, D: Dma> Ledger<B, D> {
    /// A queue for a new use: the smallest idle one that is large enough, or a new one.
    fn take_queue(&mut self, entries_log2: u32) -> Result<QueueId, DriverError> {
        check_size(entries_log2)?;
        let device = self.view();
        let entries = |number| device.completion_entries(number).unwrap_or(0);
        let idle = self.queues.iter().filter(|(_, record)| record.holders == 0);
        let large = idle
            .map(|(&number, _)| (entries(number), number))
            .filter(|(entries, _)| *entries >= 1 << entries_log2);
        let number = match large.min() {
            Some((_, number)) => number,
            None => {
                let mut all = (0..COMPLETION_QUEUES as u8).map(QueueId);
                let free = all.find(|number| !self.queues.contains_key(number));
                let number = free.ok_or(DriverError::Exhausted {
                    what: "completion queue of this size",
                    limit: COMPLETION_QUEUES,
                })?;
                self.device()
                    .create_completion_queue(number, entries_log2)?;
                number
            }
        };
        self.queues.entry(number).or_default().holders = 1;
        Ok(number)
    }
}
