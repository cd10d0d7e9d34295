//! XDR streams of RPC messages, with items that stay out of them.
//!
//! ```text
//!  unreduced   | ...fields... | count | data of an item | roundup | ...fields... |
//!              0                      `- position
//!  reduced     | ...fields... | count |                 |         | ...fields... |
//!  padded      | ...fields... | count | pad | data      | roundup | ...fields... |
//! ```
//!
//! An outgoing [`Message`] is made of inline octets and of items, which are ranges of registered
//! memory. A [`Plan`] decides, for each item and for the whole, how it leaves:
//!
//! | what           | call                         | reply                                        |
//! |----------------|------------------------------|----------------------------------------------|
//! | an item        | in the Send, aligned or not; | in the write chunk of its turn, if it fits;  |
//! |                | or as a read chunk           | in the Send; or as a read chunk, if allowed  |
//! | all that stays | in the Send;                 | in the Send; in the reply chunk;             |
//! |                | as read chunk of position 0  | as read chunk of position 0, if allowed      |
//!
//! A [`Reader`] takes a received message apart without a copy: an item is either inline octets or a
//! range of memory. [`Reassembly`] makes one stream of everything instead, by a copy; it serves
//! codecs that know nothing of chunks, and tests hold the reader against it.
//!
//! Positions count the unreduced stream, roundup of earlier items included (RPC-008). Roundup never
//! is in a chunk that this crate sends, and no octet after an item is exposed for it (RPC-019);
//! a chunk that includes it is accepted (RPC-020).

mod message;
mod plan;
mod pieces;
mod ways;
mod reader;
mod reassembly;

pub use message::{Item, Message, TooMuch, ITEMS_MAX};
pub use pieces::{Piece, Pieces};
pub use plan::{Body, Carriage, Plan};
pub use reader::{DecodeError, Opaque, Reader};
pub use reassembly::{Reassembly, Splice};
pub use ways::{CallLimits, NoWay, ReplyLimits};

use crate::wire::WORD_OCTETS;

/// Octets of an item with its roundup (RFC 4506, 4.10).
#[must_use]
pub fn rounded(octets: u32) -> u64 {
    u64::from(octets).next_multiple_of(WORD_OCTETS as u64)
}

#[cfg(test)]
mod tests;
