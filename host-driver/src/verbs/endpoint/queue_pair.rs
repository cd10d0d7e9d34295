//! A queue pair: requests posted, each of which completes once.

use super::error::EndpointError;
use super::handle::{error_of, DeviceWire, Handle};
use super::live::{Held, Outcome, PairEvent, Startup};
use super::pair::{Depths, Resources};
use super::stream::Stream;
use crate::device::access::DmaBuffer;
use crate::device::error::DriverError;
use crate::verbs::frames::Part;
use crate::verbs::ledger::Object;
use crate::verbs::memory::Memory;
use crate::verbs::region::MemoryRegion;
use crate::verbs::ProtectionDomain;
use rnic_iwarp::framer::{Piece, Pieces};
use rnic_iwarp::queue_pair::{Kind, Limits, Operation, PostError, Status, WorkRequest};
use rnic_iwarp::startup::{self, Initiator};
use rnic_tcp::{State, Statistics};
use rnic_wire::ddp::rdmap::{Opcode, QN_SEND};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How much a queue pair takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairOptions {
    /// Sends, Writes and Reads that are posted and have not completed, at most.
    pub sends: usize,
    /// Receives that are posted and have not completed, at most. All connections of a device share
    /// 2,048 receives, Read Requests and Reads; each queue takes a power of two of them.
    pub receives: u32,
    /// Octets of Read Responses that are copied and not acknowledged.
    pub snapshot_octets: u64,
}

impl Default for PairOptions {
    fn default() -> Self {
        Self {
            sends: 64,
            receives: 16,
            snapshot_octets: 256 * 1024,
        }
    }
}

/// An operation of the peer's memory or into its receives.
#[derive(Clone, Copy, Debug)]
pub enum SendOperation<'a> {
    /// A message for the peer's next receive.
    Send {
        /// Its octets, of at most four parts.
        payload: &'a [Part<'a>],
        /// It raises an event at the peer.
        solicited: bool,
        /// An STag of the peer's that it invalidates.
        invalidate_stag: Option<u32>,
    },
    /// Octets into the peer's region.
    Write {
        /// Its octets, of at most four parts.
        payload: &'a [Part<'a>],
        /// The peer's STag.
        stag: u32,
        /// Tagged Offset of the first octet.
        to: u64,
    },
    /// Octets of the peer's region into one of this end.
    Read {
        /// Where they go: a region with [`Rights::READ_SINK`](super::super::Rights::READ_SINK).
        sink: &'a MemoryRegion,
        /// Tagged Offset of the first octet there.
        sink_to: u64,
        /// The peer's STag.
        source_stag: u32,
        /// Tagged Offset of the first octet.
        source_to: u64,
        /// How many.
        octets: u32,
    },
}

/// What a request was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorkKind {
    /// A Send.
    Send,
    /// An RDMA Write.
    Write,
    /// An RDMA Read.
    Read,
    /// A receive.
    Receive,
}

/// The end of a request.
#[derive(Debug)]
pub struct WorkCompletion {
    /// As posted.
    pub id: u64,
    /// What it was.
    pub kind: WorkKind,
    /// How it ended.
    pub status: Status,
    /// Octets of a message that was received.
    pub octets: usize,
    /// STag of this end that the message has invalidated.
    pub invalidated_stag: Option<u32>,
    /// The message was sent with a solicited event.
    pub solicited: bool,
    /// What was posted for a message that was received. Memory of a receive that was flushed is
    /// freed when the device has given it back.
    pub memory: Option<Memory>,
}

impl WorkCompletion {
    /// The octets of a message that was received, copied.
    pub fn message(&self) -> Vec<u8> {
        let memory = self.memory.as_ref();
        memory.map_or(Vec::new(), |memory| {
            let mut octets = vec![0; self.octets.min(memory.octets())];
            let read = memory.read(0, &mut octets);
            read.expect("these octets are in the memory");
            octets
        })
    }
}

/// A queue pair of a connection. Until it is started it takes receives alone. Dropped, the
/// connection is reset; what was posted is given back when the device has no access any more.
///
/// Octets of Sends and Writes are to be left as they are until they complete, which is when the peer
/// has acknowledged them: they may be sent again.
#[derive(Debug)]
pub struct QueuePair {
    handle: Handle,
    startup: startup::Settings,
}

impl QueuePair {
    pub(super) fn reserve(
        handle: Handle,
        domain: &ProtectionDomain,
        startup: &startup::Settings,
        options: &PairOptions,
    ) -> Result<Self, EndpointError> {
        domain.expect_of(&handle.shared.core)?;
        let depths = Depths {
            receives: options.receives,
            ird: startup.ird,
            ord: startup.ord,
        };
        let limits = Limits {
            sends: options.sends,
            receives: options.receives as usize,
            snapshot_octets: options.snapshot_octets,
            copy_responses: true,
        };
        let domain = domain.number();
        handle.shared.change(|engine, _| {
            let core = Arc::clone(&engine.core);
            let mut ledger = core.lock();
            let queue = engine.queue;
            let live = engine.lives.get_mut(&handle.key);
            let live = live.ok_or(EndpointError::Ended)?;
            let ends = live.ends;
            let resources = Resources::reserve(&mut ledger, &ends, domain, queue, &depths)?;
            let number = resources.number;
            (live.resources, live.limits) = (Some(resources), limits);
            engine.by_number.insert(number, handle.key);
            Ok(())
        })?;
        Ok(Self {
            handle,
            startup: *startup,
        })
    }

    /// This end's address.
    pub fn local_addr(&self) -> SocketAddr {
        self.handle.own
    }

    /// The peer's address.
    pub fn peer_addr(&self) -> SocketAddr {
        self.handle.peer
    }

    /// Send the Request, with this Private Data, and wait for the Reply. Returns the peer's Private
    /// Data.
    ///
    /// # Errors
    /// [`EndpointError::Rejected`], after which it can be a stream again; otherwise the connection
    /// ends: [`EndpointError::StartupFailed`], [`EndpointError::Lost`], [`EndpointError::Switch`],
    /// [`EndpointError::Startup`], [`EndpointError::Device`], [`EndpointError::Ended`].
    pub fn start(&self, private_data: &[u8]) -> Result<Vec<u8>, EndpointError> {
        let peer = self.handle.peer;
        self.handle.change(|live, wire| {
            if live.startup.is_some() || live.pair.is_some() {
                let state = "has begun MPA already";
                return Err(EndpointError::State { peer, state });
            }
            let machine = Initiator::new(self.startup, private_data, wire.now)?;
            live.startup = Some(Startup::Initiator(machine));
            live.tcp.begin_startup(wire.now);
            Ok(())
        })?;
        match self.handle.wait_for_outcome()? {
            Outcome::Agreed(private_data) => Ok(private_data),
            other => {
                let lost = self.handle.view(|live| live.lost)?;
                Err(error_of(peer, other, lost))
            }
        }
    }

    /// Accept the peer's Request, with this Private Data. This end may send when the peer's first
    /// FPDU has come: [`PairEvent::Established`].
    ///
    /// # Errors
    /// [`EndpointError::State`] without a Request, [`EndpointError::Answer`],
    /// [`EndpointError::Switch`], [`EndpointError::Device`], [`EndpointError::Ended`].
    pub fn accept(&self, private_data: &[u8]) -> Result<(), EndpointError> {
        self.handle
            .change(|live, wire| live.accept(private_data, wire))
    }

    /// The stream that is left after a rejection (START-011), or before MPA has begun.
    ///
    /// # Errors
    /// [`EndpointError::State`]: MPA has begun. [`EndpointError::Ended`].
    pub fn into_stream(self) -> Result<Stream, EndpointError> {
        let handle = self.handle;
        handle.shared.change(|engine, now| {
            let peer = handle.peer;
            let live = engine.lives.get_mut(&handle.key);
            let live = live.ok_or(EndpointError::Ended)?;
            if live.startup.is_some() || live.pair.is_some() {
                let state = "has begun MPA";
                return Err(EndpointError::State { peer, state });
            }
            live.early_receives.clear();
            let core = Arc::clone(&engine.core);
            engine.release(handle.key, &mut core.lock(), now);
            Ok(())
        })?;
        Ok(Stream { handle })
    }

    /// Post memory for the peer's next Send.
    ///
    /// # Errors
    /// [`EndpointError::Post`], [`EndpointError::Device`], [`EndpointError::Ended`]. The memory is
    /// freed.
    pub fn post_receive(&self, id: u64, memory: Memory) -> Result<(), EndpointError> {
        memory.expect_receivable(&self.handle.shared.core)?;
        let peer = self.handle.peer;
        let mut memory = Some(memory);
        let posted = self.handle.change(|live, wire| {
            let post = |error| EndpointError::Post { peer, error };
            let Some(resources) = &live.resources else {
                return Err(post(PostError::Closed));
            };
            let place = memory.as_ref().map(Memory::place);
            let place = place.ok_or(post(PostError::Closed))?;
            match &mut live.pair {
                Some(pair) => pair.machine.post_receive(id).map_err(post)?,
                None if live.early_receives.len() >= live.limits.receives => {
                    return Err(post(PostError::Full(live.limits.receives)));
                }
                None => live.early_receives.push(id),
            }
            let buffer = DmaBuffer {
                address: place.address,
                octets: place.octets,
            };
            let number = resources.number;
            let posted = wire.ledger.device().post_receive(number, QN_SEND, buffer)?;
            if let Some(memory) = memory.take() {
                let held = memory.id();
                memory.hand_over(wire.ledger);
                wire.ledger.note_posted(number, (QN_SEND, posted.msn), held);
            }
            Ok(())
        });
        // What is not posted is freed here, when nobody has the ledger.
        drop(memory);
        posted
    }

    /// Post an operation; it leaves after those posted before it.
    ///
    /// # Errors
    /// [`EndpointError::Post`], [`EndpointError::State`] before it is started,
    /// [`EndpointError::Device`], [`EndpointError::Ended`].
    pub fn post_send(&self, id: u64, operation: &SendOperation<'_>) -> Result<(), EndpointError> {
        let peer = self.handle.peer;
        self.handle.change(|live, wire| {
            let Some(pair) = &mut live.pair else {
                let state = "has not been started";
                return Err(EndpointError::State { peer, state });
            };
            let (work, held) = work(id, operation, &self.handle, wire)?;
            let posted = pair.machine.post_send(work);
            posted.map_err(|error| EndpointError::Post { peer, error })?;
            for &memory in &held.memory {
                wire.ledger.hold_memory(memory);
            }
            if let Some(region) = held.region {
                wire.ledger.hold_region(region);
            }
            live.sends.push_back(held);
            Ok(())
        })
    }

    /// The next completion, if there is one.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub fn poll_completion(&self) -> Result<Option<WorkCompletion>, EndpointError> {
        let polled = self.handle.view(|live| {
            let polled = live.inbox.completions.pop_front();
            if polled.is_none() && live.inbox.events.is_empty() {
                // Under the lock under which it is raised.
                self.handle.notice.take();
            }
            polled
        })?;
        let Some((completion, memory)) = polled else {
            return Ok(None);
        };
        let memory = memory.map(|id| {
            let core = &self.handle.shared.core;
            let mut ledger = core.lock();
            let place = ledger.place(id);
            ledger.handles.insert(id, Object::Memory(place.octets));
            drop(ledger);
            Memory::of(core, id, place)
        });
        let (kind, message) = match completion.kind {
            Kind::Send => (WorkKind::Send, None),
            Kind::Write => (WorkKind::Write, None),
            Kind::Read => (WorkKind::Read, None),
            Kind::Receive(message) => (WorkKind::Receive, message),
        };
        let solicited = [Opcode::SendSolicited, Opcode::SendSolicitedInvalidate];
        Ok(Some(WorkCompletion {
            id: completion.id,
            kind,
            status: completion.status,
            octets: message.map_or(0, |message| message.octets as usize),
            invalidated_stag: message.and_then(|message| message.invalidated_stag),
            solicited: message.is_some_and(|message| solicited.contains(&message.opcode)),
            memory,
        }))
    }

    /// The next completion, as soon as there is one.
    ///
    /// # Errors
    /// [`EndpointError::TimedOut`], [`EndpointError::Ended`].
    pub fn wait_completion(
        &self,
        timeout: Option<Duration>,
    ) -> Result<WorkCompletion, EndpointError> {
        self.wait(timeout, Self::poll_completion)
    }

    /// The next event, if there is one.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub fn poll_event(&self) -> Result<Option<PairEvent>, EndpointError> {
        self.handle.view(|live| {
            let polled = live.inbox.events.pop_front();
            if polled.is_none() && live.inbox.completions.is_empty() {
                self.handle.notice.take();
            }
            polled
        })
    }

    /// The next event, as soon as there is one.
    ///
    /// # Errors
    /// [`EndpointError::TimedOut`], [`EndpointError::Ended`].
    pub fn wait_event(&self, timeout: Option<Duration>) -> Result<PairEvent, EndpointError> {
        self.wait(timeout, Self::poll_event)
    }

    fn wait<T>(
        &self,
        timeout: Option<Duration>,
        poll: impl Fn(&Self) -> Result<Option<T>, EndpointError>,
    ) -> Result<T, EndpointError> {
        let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        loop {
            let seen = self.handle.notice.count();
            if let Some(polled) = poll(self)? {
                return Ok(polled);
            }
            if !self.handle.notice.wait(seen, end) {
                return Err(EndpointError::TimedOut);
            }
        }
    }

    /// End gracefully: what is posted is sent, then this half closes. [`PairEvent::Closed`] follows
    /// when the peer has closed, too, and everything is acknowledged.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub fn disconnect(&self) -> Result<(), EndpointError> {
        self.handle.change(|live, _| {
            match &mut live.pair {
                Some(pair) => pair.machine.close(),
                None => live.tcp.abort(),
            }
            Ok(())
        })
    }

    /// End at once: the peer gets an RST, and everything posted is flushed.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub fn abort(&self) -> Result<(), EndpointError> {
        self.handle.change(|live, _| {
            match &mut live.pair {
                Some(pair) => pair.machine.abort(),
                None => live.tcp.abort(),
            }
            Ok(())
        })
    }

    /// Why the connection has ended, if it has: TCP's reason, or that the peer has closed.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub fn end_reason(&self) -> Result<Option<EndpointError>, EndpointError> {
        self.handle.view(|live| {
            let has_ended = live.tcp.state() == State::Closed;
            has_ended.then(|| live.why_ended())
        })
    }

    /// TCP at this moment.
    ///
    /// # Errors
    /// [`EndpointError::Ended`].
    pub fn statistics(&self) -> Result<Statistics, EndpointError> {
        self.handle.statistics()
    }
}

/// An operation for the machine, and what it needs until it completes.
fn work(
    id: u64,
    operation: &SendOperation<'_>,
    handle: &Handle,
    wire: &DeviceWire<'_>,
) -> Result<(WorkRequest, Held), EndpointError> {
    let mut held = Held::default();
    let (operation, payload) = match *operation {
        SendOperation::Send {
            payload,
            solicited,
            invalidate_stag,
        } => (
            Operation::Send {
                solicited,
                invalidate_stag,
            },
            payload,
        ),
        SendOperation::Write { payload, stag, to } => (Operation::Write { stag, to }, payload),
        SendOperation::Read {
            sink,
            sink_to,
            source_stag,
            source_to,
            octets,
        } => {
            if !Arc::ptr_eq(sink.core(), &handle.shared.core) {
                return Err(DriverError::OtherContext { what: "region" }.into());
            }
            held.region = Some(sink.id());
            let sink_stag = match octets {
                0 => 0,
                _ => wire.ledger.regions[&sink.id()].config.stag,
            };
            let read = Operation::Read {
                sink_stag,
                sink_to,
                source_stag,
                source_to,
                octets,
            };
            (read, &[][..])
        }
    };
    let mut pieces = Vec::new();
    for part in payload {
        let place = part.of(&handle.shared.core);
        let (memory, buffer) = place.ok_or(DriverError::OtherContext { what: "memory" })?;
        held.memory.push(memory);
        pieces.push(Piece {
            region: memory as u32,
            offset: buffer.address,
            octets: buffer.octets as u32,
        });
    }
    let peer = handle.peer;
    let payload = Pieces::new(&pieces).map_err(|_| EndpointError::State {
        peer,
        state: "takes payload of at most four parts",
    })?;
    let work = WorkRequest {
        id,
        operation,
        payload,
    };
    Ok((work, held))
}

impl AsFd for QueuePair {
    /// Readable from a completion or an event on until both were polled to the end.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.notice.as_fd()
    }
}
