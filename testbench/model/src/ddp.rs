//! DDP and RDMAP: checks in order, untagged queues, outstanding reads (RFC 5041 sections 4 to 7,
//! RFC 5040 sections 4 and 5).

use crate::completion;
use crate::mpa::Fpdu;
use crate::segment::{Head, Segment, Tagged, Untagged};
use crate::stag::{Regions, User};
use rnic_abi::errors::StreamError;
use rnic_abi::limits::{QUEUES, READ_QUEUE};
use rnic_abi::tables::{RIGHT_READ_SINK, RIGHT_REMOTE_WRITE};
use std::collections::VecDeque;

/// Octets before the end of a Read Response that are compared when its entry is written: the entry
/// names its end alone.
pub const TAIL_OCTETS: usize = 64;

/// A region of so many octets is no sink of a read (`rnic_abi::tables::RECEIVE_POOL`).
const SINK_OCTETS_MAX: u64 = 1 << 35;

const OPCODE_RDMA_WRITE: u8 = 0;
const OPCODE_READ_REQUEST: u8 = 1;
const OPCODE_READ_RESPONSE: u8 = 2;
const OPCODE_SEND: u8 = 3;
const OPCODE_SEND_INVALIDATE: u8 = 4;
const OPCODE_SEND_SE_INVALIDATE: u8 = 6;
const OPCODE_TERMINATE: u8 = 7;

/// A posted receive buffer.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Bus address.
    pub address: u64,
    /// Octets.
    pub octets: u32,
    /// Entry of the shared pool that holds it.
    pub pool_entry: u32,
}

/// An outstanding RDMA Read, or what is left of it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// STag of the sink.
    pub stag: u32,
    /// Where the next octet goes.
    pub offset: u64,
    /// Octets that are missing.
    pub octets: u32,
    /// Entry of the shared pool that holds it.
    pub pool_entry: u32,
}

#[derive(Clone, Debug)]
pub(super) struct Queue {
    /// MSN that the first buffer serves.
    next_msn: u32,
    pub(super) buffers: VecDeque<Buffer>,
}

/// What an FPDU does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The connection stops.
    pub error: Option<StreamError>,
    /// Octets to place, with their bus address.
    pub placement: Option<(u64, Vec<u8>)>,
    /// Completion entry that follows them.
    pub completion: Option<[u32; 7]>,
    /// Bus address and number of the octets that the entry announces.
    pub announced: Option<(u64, usize)>,
}

/// DDP state of one connection.
#[derive(Clone, Debug)]
pub struct DdpReceiver {
    pub(super) protection_domain: u16,
    pub(super) version: u8,
    pub(super) stopped: bool,
    pub(super) first_seen: bool,
    /// FPDUs are examined whose predecessors are missing.
    beyond_gap: bool,
    pub(super) queues: [Option<Queue>; QUEUES],
    /// In the order of their requests; without a queue there is none.
    pub(super) reads: VecDeque<Read>,
}

impl DdpReceiver {
    /// State on entry to full operation.
    pub fn new(protection_domain: u16, version: u8) -> Self {
        Self {
            protection_domain,
            version,
            stopped: false,
            first_seen: false,
            beyond_gap: false,
            queues: [const { None }; QUEUES],
            reads: VecDeque::new(),
        }
    }

    /// Has an error, or the peer's Terminate, stopped the connection?
    pub fn stopped(&self) -> bool {
        self.stopped
    }

    /// Has it received an FPDU?
    pub fn has_begun(&self) -> bool {
        self.first_seen
    }

    /// Open a queue whose next message is `next_msn`: 1 at the start of a stream (DDP-014). That of
    /// reads begins empty; no response carries their numbers.
    pub fn open_queue_at(&mut self, qn: u32, next_msn: u32) {
        if qn as usize == READ_QUEUE {
            return self.reads.clear();
        }
        self.queues[qn as usize] = Some(Queue {
            next_msn,
            buffers: VecDeque::new(),
        });
    }

    /// Post a buffer.
    ///
    /// # Panics
    /// If the queue is not open.
    pub fn post(&mut self, qn: u32, buffer: Buffer) {
        let queue = self.queues[qn as usize].as_mut();
        queue
            .expect("buffers are posted to open queues")
            .buffers
            .push_back(buffer);
    }

    /// A read is asked for.
    pub fn post_read(&mut self, read: Read) {
        self.reads.push_back(read);
    }

    /// Take an FPDU of a connection that is not stopped.
    pub fn receive(&mut self, connection: u16, fpdu: &Fpdu, regions: &mut Regions) -> Outcome {
        let first = !std::mem::replace(&mut self.first_seen, true);
        let user = User {
            connection,
            protection_domain: self.protection_domain,
        };
        self.judge(user, fpdu, first, regions)
            .unwrap_or_else(|error| {
                self.stopped = true;
                Outcome {
                    error: Some(error),
                    ..Outcome::default()
                }
            })
    }

    /// What an FPDU beyond a gap would place now: it goes through every check, but a gap before its
    /// MSN is no error of it; nothing is changed.
    pub fn would_place(
        &self,
        connection: u16,
        fpdu: &Fpdu,
        regions: &Regions,
    ) -> Result<Option<(u64, Vec<u8>)>, StreamError> {
        let mut trial = Self {
            beyond_gap: true,
            ..self.clone()
        };
        let outcome = trial.receive(connection, fpdu, &mut regions.clone());
        outcome.error.map_or(Ok(outcome.placement), Err)
    }

    fn judge(
        &mut self,
        user: User,
        fpdu: &Fpdu,
        first: bool,
        regions: &mut Regions,
    ) -> Result<Outcome, StreamError> {
        if !fpdu.crc_good {
            return Err(StreamError::MpaCrc);
        }
        if !fpdu.marker_good {
            return Err(StreamError::MpaMarker);
        }
        if fpdu.ulpdu.is_empty() {
            // Only as the ready-to-receive message that may open a stream (MPA2-006).
            return if first {
                Ok(Outcome::default())
            } else {
                Err(StreamError::MpaLocalCatastrophic)
            };
        }
        let head = Head::parse(&fpdu.ulpdu).ok_or(StreamError::DdpShortHeader)?;
        if head.ddp_version != self.version {
            return Err(match head.tagged {
                true => StreamError::DdpTaggedVersion,
                false => StreamError::DdpUntaggedVersion,
            });
        }
        if head.rdmap_version != self.version {
            return Err(StreamError::RdmapVersion);
        }
        match Segment::parse(head, &fpdu.ulpdu) {
            Segment::Tagged(segment) => self.tagged(user, fpdu, &segment, regions),
            Segment::Untagged(segment) => self.untagged(user, fpdu, &segment, regions),
        }
    }

    fn tagged(
        &mut self,
        user: User,
        fpdu: &Fpdu,
        segment: &Tagged,
        regions: &Regions,
    ) -> Result<Outcome, StreamError> {
        let right = match segment.head.opcode {
            OPCODE_RDMA_WRITE => RIGHT_REMOTE_WRITE,
            OPCODE_READ_RESPONSE => RIGHT_READ_SINK,
            _ => return Err(StreamError::RdmapOpcode),
        };
        let mut outcome = Outcome::default();
        // A segment without payload names no memory; its STag and TO mean nothing (DDP-019).
        if !segment.payload.is_empty() {
            let length = segment.payload.len() as u64;
            let address = regions.resolve(user, segment.stag, segment.offset, length, right)?;
            outcome.placement = Some((address, segment.payload.to_vec()));
        }
        if segment.head.opcode == OPCODE_READ_RESPONSE {
            let done = self.respond(segment, regions)?;
            outcome.completion = done.map(|read| {
                completion::read_response(user.connection, fpdu, segment, read.pool_entry)
            });
        }
        if outcome.completion.is_some() {
            outcome.announced = outcome.placement.as_ref().map(|(address, data)| {
                let tail = data.len().min(TAIL_OCTETS);
                (address.wrapping_add((data.len() - tail) as u64), tail)
            });
        }
        Ok(outcome)
    }

    /// A segment of a Read Response goes on where the oldest read is, and ends it with L and with
    /// its last octet (RDMAP-008, RDMAP-011); returns a read that is done. Beyond a gap it is not
    /// known which read that will be.
    fn respond(
        &mut self,
        segment: &Tagged,
        regions: &Regions,
    ) -> Result<Option<Read>, StreamError> {
        let refused = Err(StreamError::RdmapReadResponse);
        let payload = segment.payload.len() as u32;
        let Some(read) = self.reads.front_mut().filter(|_| !self.beyond_gap) else {
            return refused;
        };
        if payload > 0 {
            let is_sink = regions.octets(segment.stag) < SINK_OCTETS_MAX;
            // Of an outstanding read as many bits are known as name one octet of a sink.
            let distance = (segment.offset ^ read.offset) & (SINK_OCTETS_MAX - 1);
            if !is_sink || segment.stag != read.stag || distance != 0 {
                return refused;
            }
        }
        if payload > read.octets || segment.head.last != (payload == read.octets) {
            return refused;
        }
        if segment.head.last {
            return Ok(self.reads.pop_front());
        }
        read.octets -= payload;
        read.offset = read.offset.wrapping_add(payload.into());
        Ok(None)
    }

    fn untagged(
        &mut self,
        user: User,
        fpdu: &Fpdu,
        segment: &Untagged,
        regions: &mut Regions,
    ) -> Result<Outcome, StreamError> {
        let queue = self
            .queues
            .get_mut(segment.qn as usize)
            .and_then(Option::as_mut);
        let queue = queue.ok_or(StreamError::DdpQn)?;
        check_untagged_opcode(segment)?;
        let buffer = buffer_for(queue, segment, self.beyond_gap)?;
        let end = place_within(&buffer, segment)?;
        let placement = (!segment.payload.is_empty()).then(|| {
            (
                buffer.address.wrapping_add(segment.mo.into()),
                segment.payload.to_vec(),
            )
        });
        if !segment.head.last {
            return Ok(Outcome {
                placement,
                ..Outcome::default()
            });
        }
        let invalidates =
            [OPCODE_SEND_INVALIDATE, OPCODE_SEND_SE_INVALIDATE].contains(&segment.head.opcode);
        let invalidated_stag = if invalidates {
            segment.invalidate_stag
        } else {
            0
        };
        if invalidates {
            regions.invalidate(user, invalidated_stag)?;
        }
        queue.buffers.pop_front();
        queue.next_msn = queue.next_msn.wrapping_add(1);
        // Its message is the last one that is taken of the stream (RDMAP-020).
        self.stopped = segment.head.opcode == OPCODE_TERMINATE;
        let entry = completion::receive(
            user.connection,
            fpdu,
            segment,
            end,
            invalidated_stag,
            buffer.pool_entry,
        );
        Ok(Outcome {
            error: None,
            placement,
            completion: Some(entry),
            announced: Some((buffer.address, end as usize)),
        })
    }
}

fn check_untagged_opcode(segment: &Untagged) -> Result<(), StreamError> {
    // RDMAP-003: Send types on QN 0, Read Request on QN 1, Terminate on QN 2.
    let fits = match segment.qn {
        0 => (OPCODE_SEND..=OPCODE_SEND_SE_INVALIDATE).contains(&segment.head.opcode),
        1 => segment.head.opcode == OPCODE_READ_REQUEST,
        _ => segment.head.opcode == OPCODE_TERMINATE,
    };
    fits.then_some(()).ok_or(StreamError::RdmapOpcode)
}

/// The buffer of a segment's message; in an ordered stream that is the oldest one (DDP-037,
/// DDP-041), beyond a gap it may be any that is posted.
fn buffer_for(queue: &Queue, segment: &Untagged, beyond_gap: bool) -> Result<Buffer, StreamError> {
    let ahead = segment.msn.wrapping_sub(queue.next_msn) as i32;
    if ahead < 0 {
        return Err(StreamError::DdpMsn);
    }
    if ahead as usize >= queue.buffers.len() {
        return Err(StreamError::DdpNoBuffer);
    }
    if ahead > 0 && !beyond_gap {
        return Err(StreamError::DdpMsn);
    }
    Ok(queue.buffers[ahead as usize])
}

/// Message octets up to the end of the segment, if they fit the buffer (DDP-039, DDP-040).
fn place_within(buffer: &Buffer, segment: &Untagged) -> Result<u32, StreamError> {
    let length = segment.payload.len() as u64;
    let beyond = match length {
        0 => segment.mo > buffer.octets,
        _ => segment.mo >= buffer.octets,
    };
    if beyond {
        return Err(StreamError::DdpMo);
    }
    let end = u64::from(segment.mo) + length;
    if end > u64::from(buffer.octets) {
        return Err(StreamError::DdpTooLong);
    }
    Ok(end as u32)
}
