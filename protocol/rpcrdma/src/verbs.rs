//! The seam between the two ends and an RDMA provider: what one connection can do.
//!
//! ```text
//!   Requester | Responder          one state machine a connection, no I/O
//!          |  ^
//!  post    |  | poll               work requests down, completions up
//!          v  |
//!   Verbs: fabric | a provider     owns memory, STags and the connection
//! ```
//!
//! Memory belongs to the provider and is named by a [`Place`]; octets are copied in and out by
//! [`Memory`], and no reference to registered memory exists. Every request carries a tag of the
//! caller's, which comes back in its [`Completion`].
//!
//! | here                     | libibverbs                                               |
//! |--------------------------|----------------------------------------------------------|
//! | [`Verbs::post_receives`] | `ibv_post_recv` with a chain of requests                 |
//! | [`Verbs::send`]          | `ibv_post_send`, `IBV_WR_SEND` or `IBV_WR_SEND_WITH_INV` |
//! | [`Verbs::write`]         | `ibv_post_send`, `IBV_WR_RDMA_WRITE`                     |
//! | [`Verbs::read`]          | `ibv_post_send`, `IBV_WR_RDMA_READ`                      |
//! | [`Verbs::expose`]        | `ibv_bind_mw` of a type 2 window, or a fast registration |
//! | [`Verbs::revoke`]        | `ibv_post_send`, `IBV_WR_LOCAL_INV`, and its completion  |
//! | [`Verbs::poll`]          | `ibv_poll_cq`                                            |
//! | [`Verbs::limits`]        | `ibv_query_device`, `ibv_query_qp`                       |
//! | [`Verbs::close`]         | `rdma_disconnect`                                        |
//! | [`Memory::store`]        | a copy into memory of `ibv_reg_mr`                       |
//! | [`Memory::load`]         | a copy out of it                                         |
use crate::place::Place;
use crate::wire::Segment;
use std::fmt;

/// What the peer may do with memory that is exposed to it. Either comes with REMOTE_INVALIDATE:
/// the peer may take the right back by a Send with Invalidate.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rights {
    /// REMOTE_READ only.
    Read,
    /// REMOTE_WRITE only.
    Write,
}

/// Why a request was not accepted. It then has no completion.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum VerbsError {
    /// The connection has ended.
    Closed,
    /// As many requests are outstanding as can be; a completion makes room.
    QueueFull,
    /// No entry for another STag is free; a revocation makes room.
    NoEntry,
    /// The STag that was drawn collides in the table; another draw may succeed.
    Collision,
    /// The place is not within its memory.
    Place,
    /// The handle is not valid.
    Handle,
    /// More pieces than [`Limits::pieces`].
    Pieces,
}

impl fmt::Display for VerbsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => "the connection has ended",
            Self::QueueFull => "the send queue or receive queue is full",
            Self::NoEntry => "no entry for an STag is free",
            Self::Collision => "the STag collides with another",
            Self::Place => "the place is not within its memory",
            Self::Handle => "the handle is not valid",
            Self::Pieces => "too many pieces",
        })
    }
}

impl std::error::Error for VerbsError {}

/// What a completion is of.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// [`Verbs::send`].
    Send,
    /// [`Verbs::write`].
    Write,
    /// [`Verbs::read`].
    Read,
    /// A receive of [`Verbs::post_receives`].
    Receive,
}

/// How a request ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// As it should.
    Success,
    /// The connection ended first. Every request that is outstanding then completes so.
    Flushed,
}

/// The end of a request. Its memory is the caller's again.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Completion {
    /// As posted.
    pub tag: u64,
    /// What it was.
    pub work: Work,
    /// How it ended.
    pub status: Status,
    /// Octets of the message that was received; 0 but for a receive.
    pub octets: u32,
    /// A handle of this end that the message has invalidated.
    pub invalidated: Option<u32>,
}

/// What the connection can hold.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Limits {
    /// Reads that may be outstanding from here (ORD), as agreed with the peer.
    pub reads: u32,
    /// Sends, Writes and Reads that may be outstanding together.
    pub sends: u32,
    /// Receives that may be posted.
    pub receives: u32,
    /// Places that one Send gathers.
    pub pieces: usize,
}

/// Octets into and out of registered memory.
pub trait Memory {
    /// Copy `octets` to the beginning of `at`.
    ///
    /// # Errors
    /// [`VerbsError::Place`], with nothing copied, if `at` is shorter or not within its memory.
    fn store(&mut self, at: Place, octets: &[u8]) -> Result<(), VerbsError>;

    /// Fill `into` from the beginning of `at`.
    ///
    /// # Errors
    /// As [`Memory::store`].
    fn load(&self, at: Place, into: &mut [u8]) -> Result<(), VerbsError>;
}

/// One connection of a provider.
///
/// Sends and Writes leave in the order in which they were posted; a Send is received after all
/// Writes before it are in memory (RFC 5666 section 2). The peer's Sends complete receives in
/// order. Whatever violates the rights of a handle ends the connection.
pub trait Verbs: Memory {
    /// What the connection can hold; it does not change.
    fn limits(&self) -> Limits;

    /// Post a receive for each tag and place, in this order. They are the provider's until they
    /// complete.
    ///
    /// # Errors
    /// [`VerbsError::Closed`], [`VerbsError::QueueFull`] or [`VerbsError::Place`], with none
    /// posted.
    fn post_receives(&mut self, batch: &[(u64, Place)]) -> Result<(), VerbsError>;

    /// Send the octets of `pieces` as one message, which invalidates the peer's handle
    /// `invalidate` as it is received.
    ///
    /// # Errors
    /// [`VerbsError::Closed`], [`VerbsError::QueueFull`], [`VerbsError::Place`] or
    /// [`VerbsError::Pieces`].
    fn send(
        &mut self,
        tag: u64,
        pieces: &[Place],
        invalidate: Option<u32>,
    ) -> Result<(), VerbsError>;

    /// Write `source` to the beginning of the peer's `sink`, whose length is not checked. The
    /// source must not change before the completion: it may be sent again until then.
    ///
    /// # Errors
    /// [`VerbsError::Closed`], [`VerbsError::QueueFull`] or [`VerbsError::Place`].
    fn write(&mut self, tag: u64, source: Place, sink: Segment) -> Result<(), VerbsError>;

    /// Read the peer's `source` to the beginning of `sink`, into which nothing but the responses
    /// may be placed from outside. `source.length` octets are read. The ends of this crate read
    /// into places of the [`Pool`](crate::Pool) only, so that a provider on iWARP, where the peer
    /// gets an STag of the sink, needs one for all of it.
    ///
    /// # Errors
    /// [`VerbsError::Closed`], [`VerbsError::QueueFull`] (also at [`Limits::reads`]) or
    /// [`VerbsError::Place`].
    fn read(&mut self, tag: u64, source: Segment, sink: Place) -> Result<(), VerbsError>;

    /// Let the peer of this connection, and nobody else, reach exactly `place`.
    ///
    /// # Errors
    /// [`VerbsError::Closed`], [`VerbsError::Place`], [`VerbsError::NoEntry`] or
    /// [`VerbsError::Collision`].
    fn expose(&mut self, place: Place, rights: Rights) -> Result<Segment, VerbsError>;

    /// Make a handle invalid; it is so on return, and nothing of the peer's reaches the memory
    /// any more. Also after the end of the connection.
    ///
    /// # Errors
    /// [`VerbsError::Handle`] if it is not valid: revoked before, or invalidated by the peer.
    fn revoke(&mut self, handle: u32) -> Result<(), VerbsError>;

    /// The next completion, if there is one.
    fn poll(&mut self) -> Option<Completion>;

    /// End the connection. What is outstanding completes as flushed.
    fn close(&mut self);
}
