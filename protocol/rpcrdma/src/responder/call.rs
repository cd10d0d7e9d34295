//! One call at a responder, from its receipt to the end of its reply.
use crate::place::Place;
use crate::registration::Exposures;
use crate::stream::{Item, Message, Reader};
use crate::wire::{Caps, Header};
use std::fmt;
use std::hash::{Hash, Hasher};

/// A call at a responder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId {
    pub(super) slot: u32,
    pub(super) generation: u32,
}

/// The call is not one that awaits a reply: it was replied to, or refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NotOpen;

impl fmt::Display for NotOpen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the call does not await a reply")
    }
}

impl std::error::Error for NotOpen {}

/// A call that awaits its reply.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    pub(super) header: Header<'a>,
    pub(super) body: Option<&'a [u8]>,
    pub(super) chunks: &'a [Item],
}

impl<'a> Request<'a> {
    /// The header of the message.
    #[must_use]
    pub fn header(&self) -> &Header<'a> {
        &self.header
    }

    /// The RPC message without the items that are chunks.
    #[must_use]
    pub fn octets(&self) -> &'a [u8] {
        self.body.unwrap_or(self.header.body())
    }

    /// A reader of the message, from its XID on; the items that were chunks are in memory.
    #[must_use]
    pub fn reader(&self) -> Reader<'a> {
        let reader = match self.body {
            Some(body) => Reader::new(body),
            None => Reader::of_send(&self.header, None),
        };
        reader.with_chunks(self.chunks)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    Free,
    /// Its Reads wait for memory of the pool.
    Waiting,
    /// Read chunks are on their way.
    Reading,
    /// The program has it.
    Open,
    /// The program has it, and the connection is gone.
    Orphan,
    /// The reply waits for buffers, entries, memory, or a DONE.
    Replying,
    /// The reply is on its way.
    Sending,
    /// The reply's chunks are the peer's until it says DONE.
    AwaitingDone,
}

/// A call in its place, whose buffers are used again.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) generation: u32,
    pub(super) state: State,
    pub(super) xid: u32,
    /// The message as it was received, what it asked for, and where its body begins.
    pub(super) received: Vec<u8>,
    pub(super) asked: u32,
    /// It is the first call of a connection that can be configured.
    pub(super) may_configure: bool,
    pub(super) body_at: usize,
    /// The stream of a long call, which was in the chunk of position 0.
    pub(super) body: Vec<u8>,
    pub(super) body_place: Option<Place>,
    pub(super) has_body: bool,
    pub(super) chunks: Vec<Item>,
    /// Memory of the pool: what was read, what a long reply is written from.
    pub(super) sink: Option<Place>,
    pub(super) long: Option<Place>,
    /// Octets of the sink that Reads fill or have filled.
    pub(super) sink_octets: u32,
    pub(super) reads_left: u32,
    pub(super) deadline: u64,
    pub(super) reply: Message,
    pub(super) exposures: Exposures,
    /// Writes and the Send that have not completed.
    pub(super) outstanding: u32,
    /// The reply has read chunks; the DONE may overtake the completion of its Send.
    pub(super) awaits_done: bool,
    /// The reply was held back, and counted so.
    pub(super) is_held: bool,
}

impl Slot {
    pub(super) fn new() -> Self {
        Self {
            generation: 0,
            state: State::Free,
            xid: 0,
            received: Vec::new(),
            asked: 0,
            may_configure: false,
            body_at: 0,
            body: Vec::new(),
            body_place: None,
            has_body: false,
            chunks: Vec::new(),
            sink: None,
            long: None,
            sink_octets: 0,
            reads_left: 0,
            deadline: 0,
            reply: Message::new(),
            exposures: Exposures::default(),
            outstanding: 0,
            awaits_done: false,
            is_held: false,
        }
    }

    /// The header, which was accepted as it was received.
    pub(super) fn header(&self, caps: &Caps) -> Header<'_> {
        Header::parse(&self.received, caps).expect("it was accepted as it was received")
    }

    /// The reduced stream of the call.
    pub(super) fn stream(&self) -> &[u8] {
        match self.has_body {
            true => &self.body,
            false => &self.received[self.body_at..],
        }
    }
}

/// What another step depends on: nothing of a free slot.
impl Hash for Slot {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.state.hash(state);
        if self.state == State::Free {
            return;
        }
        (
            self.xid,
            &self.received,
            self.has_body,
            &self.body,
            self.body_place,
        )
            .hash(state);
        (
            &self.chunks,
            self.sink,
            self.long,
            self.sink_octets,
            self.reads_left,
        )
            .hash(state);
        (
            self.deadline,
            &self.reply,
            &self.exposures,
            self.outstanding,
        )
            .hash(state);
        (self.awaits_done, self.is_held, self.may_configure).hash(state);
    }
}
