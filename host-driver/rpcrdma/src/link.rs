//! One connection of the driver as the provider of an [`rpcrdma::Endpoint`].

use crate::memories::{region_of, Memories};
use crate::request::{Kind, Request, PIECES_MAX};
use rnic_driver::verbs::endpoint::{
    EndpointError, PairEvent, PairOptions, QueuePair, SendOperation, Status as WorkStatus,
    Unposted, WorkCompletion, WorkKind,
};
use rnic_driver::verbs::{MemoryRegion, MemoryWindow, Part, Rights as DeviceRights, WindowOptions};
use rnic_driver::DriverError;
use rpcrdma::place::Place;
use rpcrdma::verbs::{Completion, Limits, Memory, Rights, Status, Verbs, VerbsError, Work};
use rpcrdma::wire::Segment;
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// A connection. Requests are kept until [`Link::flush`], or until completions are polled, so that
/// a call's chunks and its Send reach the device together.
///
/// Receives that end with the connection complete when the device has lost it: nothing of it
/// reaches their memory any more.
#[derive(Debug)]
pub struct Link {
    pair: QueuePair,
    memories: Arc<Memories>,
    limits: Limits,
    /// Windows by handle.
    windows: BTreeMap<u32, MemoryWindow>,
    posted: Vec<Request>,
    outstanding: u32,
    receives: u32,
    /// Tags of receives that wait for the end of the connection.
    flushed: VecDeque<Completion>,
    /// Why nothing more is posted, if that is this end's doing.
    failure: Option<EndpointError>,
    /// Nothing more is posted.
    is_over: bool,
    /// The device has lost the connection.
    has_ended: bool,
}

impl Link {
    /// A queue pair that was made with these options, and has or will have agreed on so many
    /// Reads.
    #[must_use]
    pub fn new(
        pair: QueuePair,
        memories: &Arc<Memories>,
        options: &PairOptions,
        reads: u16,
    ) -> Self {
        Self {
            pair,
            memories: Arc::clone(memories),
            limits: Limits {
                reads: reads.into(),
                sends: options.sends as u32,
                receives: options.receives,
                pieces: PIECES_MAX,
            },
            windows: BTreeMap::new(),
            posted: Vec::new(),
            outstanding: 0,
            receives: 0,
            flushed: VecDeque::new(),
            failure: None,
            is_over: false,
            has_ended: false,
        }
    }

    /// The queue pair.
    #[must_use]
    pub fn pair(&self) -> &QueuePair {
        &self.pair
    }

    /// The peer's address.
    #[must_use]
    pub fn peer_addr(&self) -> SocketAddr {
        self.pair.peer_addr()
    }

    /// Whether the device has lost the connection: its end is no news.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Windows by which the peer may reach memory.
    #[must_use]
    pub fn exposed(&self) -> usize {
        self.windows.len()
    }

    /// Why something that the machine asked for could not be posted; the connection ends then.
    #[must_use]
    pub fn failure(&self) -> Option<&EndpointError> {
        self.failure.as_ref()
    }

    /// End the connection when everything that was posted is acknowledged.
    pub fn disconnect(&mut self) {
        self.flush();
        self.is_over = true;
        self.has_ended |= self.pair.disconnect().is_err();
    }

    /// Hand over what was posted: the device is told of it once.
    pub fn flush(&mut self) {
        if self.posted.is_empty() {
            return;
        }
        let posted = {
            let regions = self.memories.regions();
            // Places were checked when they were posted, and memory stays.
            let parts: Vec<Vec<Part<'_>>> = self
                .posted
                .iter()
                .map(|request| {
                    let parts = request.places().filter_map(|place| {
                        let region = region_of(&regions, place).ok()?;
                        region
                            .part(place.offset as usize..place.end() as usize)
                            .ok()
                    });
                    parts.collect()
                })
                .collect();
            let operations = self.posted.iter().zip(&parts);
            let operations: Vec<_> = operations
                .map(|(request, parts)| (request.tag, operation(request, parts, &regions)))
                .collect();
            self.pair.post_sends(&operations)
        };
        let taken = match posted {
            Ok(()) => self.posted.len(),
            Err(Unposted { posted, error }) => {
                self.on_failure(error);
                posted
            }
        };
        // What the queue pair does not take ends as what it has taken will.
        for request in self.posted.drain(taken..) {
            self.flushed.push_back(Completion {
                tag: request.tag,
                work: work_of(request.kind),
                status: Status::Flushed,
                octets: 0,
                invalidated: None,
            });
        }
        self.posted.clear();
    }

    /// The connection can do no more: it ends, if it has not ended.
    fn on_failure(&mut self, error: EndpointError) {
        self.failure.get_or_insert(error);
        self.is_over = true;
        self.has_ended |= self.pair.abort().is_err();
    }

    fn post(&mut self, request: Request) -> Result<(), VerbsError> {
        if self.is_over {
            return Err(VerbsError::Closed);
        }
        if self.outstanding >= self.limits.sends {
            return Err(VerbsError::QueueFull);
        }
        {
            let regions = self.memories.regions();
            for place in request.places() {
                region_of(&regions, place)?;
            }
        }
        self.outstanding += 1;
        self.posted.push(request);
        Ok(())
    }

    /// What the connection says of itself.
    fn take_events(&mut self) {
        loop {
            match self.pair.poll_event() {
                Ok(None) => return,
                Ok(Some(PairEvent::Established)) => {}
                // A peer that has closed asks for nothing more, and what it has asked for is sent.
                Ok(Some(PairEvent::HalfClosed | PairEvent::Failed(_))) => {
                    self.is_over = true;
                    self.has_ended |= self.pair.disconnect().is_err();
                }
                Ok(Some(PairEvent::Closed)) | Err(_) => {
                    (self.is_over, self.has_ended) = (true, true);
                    return;
                }
            }
        }
    }

    /// A completion of the queue pair; `None` if it waits for the end.
    fn complete(&mut self, done: &WorkCompletion) -> Option<Completion> {
        if let Some(stag) = done.invalidated_stag {
            // The peer has taken its right back. The entry of the table is free again.
            self.windows.remove(&stag);
        }
        let is_receive = done.kind == WorkKind::Receive;
        let count = match is_receive {
            true => &mut self.receives,
            false => &mut self.outstanding,
        };
        *count = count.saturating_sub(1);
        let completion = Completion {
            tag: done.id,
            work: match done.kind {
                WorkKind::Send => Work::Send,
                WorkKind::Write => Work::Write,
                WorkKind::Read => Work::Read,
                WorkKind::Receive => Work::Receive,
            },
            status: match done.status {
                WorkStatus::Success => Status::Success,
                _ => Status::Flushed,
            },
            octets: done.octets as u32,
            invalidated: done.invalidated_stag,
        };
        let waits = is_receive && completion.status == Status::Flushed && !self.has_ended;
        if waits {
            self.flushed.push_back(completion);
            return None;
        }
        Some(completion)
    }
}

/// A request as the queue pair takes it.
fn operation<'a>(
    request: &Request,
    parts: &'a [Part<'a>],
    regions: &'a [MemoryRegion],
) -> SendOperation<'a> {
    match request.kind {
        Kind::Send { invalidate } => SendOperation::Send {
            payload: parts,
            solicited: false,
            invalidate_stag: invalidate,
        },
        Kind::Write { sink } => SendOperation::Write {
            payload: parts,
            stag: sink.handle,
            to: sink.offset,
        },
        Kind::Read { source, sink } => {
            let region = &regions[sink.memory.0 as usize];
            SendOperation::Read {
                sink: region,
                sink_to: region.tagged_offset() + sink.offset,
                source_stag: source.handle,
                source_to: source.offset,
                octets: source.length,
            }
        }
    }
}

fn work_of(kind: Kind) -> Work {
    match kind {
        Kind::Send { .. } => Work::Send,
        Kind::Write { .. } => Work::Write,
        Kind::Read { .. } => Work::Read,
    }
}

impl Memory for Link {
    fn store(&mut self, at: Place, octets: &[u8]) -> Result<(), VerbsError> {
        self.memories.store(at, octets)
    }

    fn load(&self, at: Place, into: &mut [u8]) -> Result<(), VerbsError> {
        self.memories.load(at, into)
    }
}

impl Verbs for Link {
    fn limits(&self) -> Limits {
        self.limits
    }

    fn post_receives(&mut self, batch: &[(u64, Place)]) -> Result<(), VerbsError> {
        if self.is_over {
            return Err(VerbsError::Closed);
        }
        if self.receives as usize + batch.len() > self.limits.receives as usize {
            return Err(VerbsError::QueueFull);
        }
        let posted = {
            let regions = self.memories.regions();
            for (_, place) in batch {
                region_of(&regions, *place)?;
            }
            let parts = batch.iter().filter_map(|&(tag, place)| {
                let region = region_of(&regions, place).ok()?;
                let part = region.part(place.offset as usize..place.end() as usize);
                Some((tag, part.ok()?))
            });
            let parts: Vec<_> = parts.collect();
            self.pair.post_receives(&parts)
        };
        match posted {
            Ok(()) => self.receives += batch.len() as u32,
            Err(Unposted { posted, error }) => {
                self.receives += posted as u32;
                self.on_failure(error);
                let left = batch.iter().skip(posted);
                self.flushed.extend(left.map(|&(tag, _)| Completion {
                    tag,
                    work: Work::Receive,
                    status: Status::Flushed,
                    octets: 0,
                    invalidated: None,
                }));
            }
        }
        Ok(())
    }

    fn send(
        &mut self,
        tag: u64,
        pieces: &[Place],
        invalidate: Option<u32>,
    ) -> Result<(), VerbsError> {
        self.post(Request::new(tag, Kind::Send { invalidate }, pieces)?)
    }

    fn write(&mut self, tag: u64, source: Place, sink: Segment) -> Result<(), VerbsError> {
        self.post(Request::new(tag, Kind::Write { sink }, &[source])?)
    }

    fn read(&mut self, tag: u64, source: Segment, sink: Place) -> Result<(), VerbsError> {
        if source.length > sink.length {
            return Err(VerbsError::Place);
        }
        self.post(Request::new(tag, Kind::Read { source, sink }, &[sink])?)
    }

    fn expose(&mut self, place: Place, rights: Rights) -> Result<Segment, VerbsError> {
        if self.is_over {
            return Err(VerbsError::Closed);
        }
        let regions = self.memories.regions();
        let region = region_of(&regions, place)?;
        let right = match rights {
            Rights::Read => DeviceRights::REMOTE_READ,
            Rights::Write => DeviceRights::REMOTE_WRITE,
        };
        let options = WindowOptions {
            rights: right | DeviceRights::REMOTE_INVALIDATE,
            range: place.offset..place.end(),
            tagged_offset: place.offset,
            stag: None,
        };
        let window = self
            .pair
            .bind(region, &options)
            .map_err(|error| match error {
                EndpointError::Device(
                    DriverError::HashFull { .. } | DriverError::Duplicate { .. },
                ) => VerbsError::Collision,
                EndpointError::Device(DriverError::Exhausted { .. }) => VerbsError::NoEntry,
                _ => VerbsError::Closed,
            })?;
        drop(regions);
        let handle = window.stag();
        self.windows.insert(handle, window);
        Ok(Segment {
            handle,
            length: place.length,
            offset: place.offset,
        })
    }

    fn revoke(&mut self, handle: u32) -> Result<(), VerbsError> {
        let window = self.windows.remove(&handle).ok_or(VerbsError::Handle)?;
        // A window that cannot be closed is of a device that is gone, which writes nothing.
        let _ = window.close();
        Ok(())
    }

    fn poll(&mut self) -> Option<Completion> {
        self.flush();
        loop {
            match self.pair.poll_completion() {
                Ok(Some(done)) => {
                    if let Some(completion) = self.complete(&done) {
                        return Some(completion);
                    }
                }
                Ok(None) => break,
                Err(_) => {
                    (self.is_over, self.has_ended) = (true, true);
                    break;
                }
            }
        }
        self.take_events();
        match self.has_ended {
            true => self.flushed.pop_front(),
            false => None,
        }
    }

    fn close(&mut self) {
        self.flush();
        self.is_over = true;
        self.has_ended |= self.pair.abort().is_err();
    }
}

impl AsFd for Link {
    /// Readable when [`Verbs::poll`] may have a completion.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.pair.as_fd()
    }
}
