//! Requests as the application posts them, and as they complete.

use super::error::EndpointError;
use super::live::{Completed, Held};
use super::wire::Wire;
use crate::bus::{FunctionBar, FunctionMemory};
use crate::device::access::{Bar, Dma};
use crate::device::error::DriverError;
use crate::verbs::frames::Part;
use crate::verbs::ledger::{Core, Object};
use crate::verbs::memory::Memory;
use crate::verbs::region::MemoryRegion;
use rnic_iwarp::framer::{Piece, Pieces, PIECES_MAX};
use rnic_iwarp::queue_pair::{Kind, Operation, Status, WorkRequest};
use rnic_wire::ddp::rdmap::Opcode;
use std::net::SocketAddr;
use std::sync::Arc;

/// An operation of the peer's memory or into its receives.
#[derive(Debug)]
pub enum SendOperation<'a, B: Bar = FunctionBar, D: Dma = FunctionMemory> {
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
        sink: &'a MemoryRegion<B, D>,
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

// Whatever `B` and `D` are: they are named behind a reference.
impl<B: Bar, D: Dma> Clone for SendOperation<'_, B, D> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: Bar, D: Dma> Copy for SendOperation<'_, B, D> {}

impl<'a, B: Bar, D: Dma> SendOperation<'a, B, D> {
    /// A Send that raises no event and invalidates nothing.
    pub fn send(payload: &'a [Part<'a>]) -> Self {
        Self::Send {
            payload,
            solicited: false,
            invalidate_stag: None,
        }
    }
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
pub struct WorkCompletion<B: Bar = FunctionBar, D: Dma = FunctionMemory> {
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
    /// What was posted for a message that was received, unless it is a part of a region. Memory of
    /// a receive that was flushed is freed when the device has given it back.
    pub memory: Option<Memory<B, D>>,
}

impl<B: Bar, D: Dma> WorkCompletion<B, D> {
    /// A completion of the machine's as the application sees it; the memory is its own again.
    pub(super) fn of(core: &Arc<Core<B, D>>, (completion, memory): Completed) -> Self {
        let memory = memory.map(|id| {
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
        Self {
            id: completion.id,
            kind,
            status: completion.status,
            octets: message.map_or(0, |message| message.octets as usize),
            invalidated_stag: message.and_then(|message| message.invalidated_stag),
            solicited: message.is_some_and(|message| solicited.contains(&message.opcode)),
            memory,
        }
    }

    /// The octets of a message that was received, copied; none of one in a region.
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

/// An operation for the machine, and what it needs until it completes.
pub(super) fn work<B: Bar, D: Dma>(
    id: u64,
    operation: &SendOperation<'_, B, D>,
    core: &Arc<Core<B, D>>,
    peer: SocketAddr,
    wire: &Wire<'_, B, D>,
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
            if !Arc::ptr_eq(sink.core(), core) {
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
    let mut pieces = [Piece::default(); PIECES_MAX];
    if payload.len() > PIECES_MAX {
        let state = "takes payload of at most four parts";
        return Err(EndpointError::State { peer, state });
    }
    for (piece, part) in pieces.iter_mut().zip(payload) {
        let place = part.of(core);
        let (memory, buffer) = place.ok_or(DriverError::OtherContext { what: "memory" })?;
        held.memory.add(memory);
        *piece = Piece {
            region: memory as u32,
            offset: buffer.address,
            octets: buffer.octets as u32,
        };
    }
    // Pieces without octets are left out, and the others fit.
    let payload = Pieces::new(&pieces).unwrap_or(Pieces::NONE);
    let work = WorkRequest {
        id,
        operation,
        payload,
    };
    Ok((work, held))
}
