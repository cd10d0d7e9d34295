//! One call of a requester, from the queue to its end.
use crate::place::Place;
use crate::registration::Exposures;
use crate::stream::{Item, Message, Reader};
use crate::wire::{Refused, Segment};
use std::fmt;
use std::hash::{Hash, Hasher};

/// A call of a requester.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId {
    pub(super) slot: u32,
    pub(super) generation: u32,
}

/// Why a call was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SubmitError {
    /// As many calls are queued as can be.
    Full,
    /// The message does not begin with an XID that is later than every earlier one
    /// (`Endpoint::next_xid`).
    Xid,
    /// A result without octets, or more results than a header may have.
    Results,
    /// This end makes no calls.
    Role,
}

impl fmt::Display for SubmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "too many calls are queued",
            Self::Xid => "the message does not begin with a new XID",
            Self::Results => "a result without octets, or too many results",
            Self::Role => "this end makes no calls",
        })
    }
}

impl std::error::Error for SubmitError {}

/// Why a call has no reply, for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// The peer could not read the header or the chunks: ERR_CHUNK.
    Chunk,
    /// The peer does not know the version: ERR_VERS. Every call fails.
    Version,
    /// The peer sent an error that has no name, of this code.
    Error(u32),
    /// The reply is not one (RPC-028).
    Reply(Refused),
    /// The reply's segments are not those that were offered.
    Segments,
    /// The reply has a read list, which this end did not allow.
    ReadList,
    /// The call fits into nothing that the peer takes.
    TooLong,
    /// A place of the call's is not within its memory.
    Place,
    /// Every connection that the call was sent on has ended without a reply.
    Attempts,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Chunk => f.write_str("the peer answered ERR_CHUNK"),
            Self::Version => f.write_str("the peer answered ERR_VERS"),
            Self::Error(code) => write!(f, "the peer answered with error {code}"),
            Self::Reply(refused) => write!(f, "the reply is wrong: {refused}"),
            Self::Segments => f.write_str("the reply has other segments than were offered"),
            Self::ReadList => f.write_str("the reply has a read list"),
            Self::TooLong => f.write_str("the call is longer than what the peer takes"),
            Self::Place => f.write_str("a place of the call is not within its memory"),
            Self::Attempts => f.write_str("no connection has brought a reply"),
        }
    }
}

impl std::error::Error for Failure {}

/// A reply, until its call is released.
#[derive(Clone, Debug)]
pub struct Reply<'a> {
    pub(super) reader: Reader<'a>,
    pub(super) octets: &'a [u8],
    pub(super) results: &'a [Place],
}

impl<'a> Reply<'a> {
    /// The RPC message without the items that are chunks.
    #[must_use]
    pub fn octets(&self) -> &'a [u8] {
        self.octets
    }

    /// What was written into each result that the call offered: its first octets, perhaps none.
    #[must_use]
    pub fn results(&self) -> &'a [Place] {
        self.results
    }

    /// A reader of the message, from its XID on.
    #[must_use]
    pub fn reader(&self) -> Reader<'a> {
        self.reader.clone()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum State {
    Free,
    /// In the queue, nothing of it exposed.
    Queued,
    /// On the wire.
    Sent,
    /// Replied to; the reply's read list is being read.
    Reading,
    /// It has an outcome; handles or its Send may be outstanding.
    Ended,
    /// The outcome was reported.
    Reported,
}

/// A call in its place, whose buffers are used again.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) generation: u32,
    pub(super) state: State,
    /// The call is the endpoint's own: CONF_RDMA.
    pub(super) is_configuration: bool,
    pub(super) xid: u32,
    /// Position among all calls: the order in which they go again.
    pub(super) order: u64,
    pub(super) attempts: u32,
    pub(super) deadline: u64,
    pub(super) message: Message,
    pub(super) results: Vec<Place>,
    pub(super) reply_octets_max: u32,
    /// Memory of the pool: for position 0, for the reply chunk, for a reply's read list.
    pub(super) long: Option<Place>,
    pub(super) reply_place: Option<Place>,
    pub(super) sink: Option<Place>,
    pub(super) exposures: Exposures,
    /// What was offered.
    pub(super) writes: Vec<Segment>,
    pub(super) reply_segment: Option<Segment>,
    /// Its Send has not completed.
    pub(super) is_sending: bool,
    pub(super) reads_left: u32,
    pub(super) outcome: Option<Result<(), Failure>>,
    /// The reply as it was received, and its stream if that was in a chunk.
    pub(super) received: Vec<u8>,
    pub(super) body_at: usize,
    pub(super) is_padded: bool,
    pub(super) octets: Vec<u8>,
    pub(super) is_long_reply: bool,
    pub(super) chunks: Vec<Item>,
    pub(super) returned: Vec<Place>,
    /// Octets of the reply that are in the reply chunk or in position 0 of the read list.
    pub(super) body_place: Option<Place>,
}

impl Slot {
    pub(super) fn new() -> Self {
        Self {
            generation: 0,
            state: State::Free,
            is_configuration: false,
            xid: 0,
            order: 0,
            attempts: 0,
            deadline: 0,
            message: Message::new(),
            results: Vec::new(),
            reply_octets_max: 0,
            long: None,
            reply_place: None,
            sink: None,
            exposures: Exposures::default(),
            writes: Vec::new(),
            reply_segment: None,
            is_sending: false,
            reads_left: 0,
            outcome: None,
            received: Vec::new(),
            body_at: 0,
            is_padded: false,
            octets: Vec::new(),
            is_long_reply: false,
            chunks: Vec::new(),
            returned: Vec::new(),
            body_place: None,
        }
    }

    /// Forget the reply, for another attempt or another call.
    pub(super) fn clear_reply(&mut self) {
        self.received.clear();
        self.octets.clear();
        self.is_long_reply = false;
        self.chunks.clear();
        self.returned.clear();
        self.body_place = None;
        self.outcome = None;
    }
}

/// What another step depends on: nothing of a free slot.
impl Hash for Slot {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.state.hash(state);
        if self.state == State::Free {
            return;
        }
        let own = (
            self.xid,
            self.attempts,
            self.deadline,
            self.reply_octets_max,
        );
        (own, &self.message, &self.results, self.is_configuration).hash(state);
        (self.long, self.reply_place, self.sink, &self.exposures).hash(state);
        (
            &self.writes,
            self.reply_segment,
            self.is_sending,
            self.reads_left,
        )
            .hash(state);
        (
            self.outcome,
            &self.received,
            &self.octets,
            self.is_long_reply,
        )
            .hash(state);
        (&self.chunks, &self.returned, self.body_place).hash(state);
    }
}
