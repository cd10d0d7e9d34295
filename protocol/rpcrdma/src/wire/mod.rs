//! The header of RPC over RDMA, version 1 (RFC 5666, 4.3): a view of received octets, and a writer
//! of exact ones.
//!
//! ```text
//!  | xid | vers | credit | type | (align thresh) | reads | writes | reply | RPC message
//!  `--------- 16 octets --------'`-- MSGP only --'`-- a zero word each ---'
//!
//!  reads    1 position handle length offset(2)   for each segment, then 0
//!  writes   1 count (handle length offset(2))*   for each chunk, then 0
//!  reply    1 count (handle length offset(2))*   or 0
//! ```
//!
//! | type       | lists | RPC message                                     | ids              |
//! |------------|-------|-------------------------------------------------|------------------|
//! | `Msg` 0    | yes   | follows, without the items that are chunks      | RPC-003, RPC-027 |
//! | `Nomsg` 1  | yes   | in the chunk of position 0, or the reply chunk  | RPC-032, RPC-033 |
//! | `Msgp` 2   | yes   | follows, long items aligned by pad              | RPC-023          |
//! | `Done` 3   | none  | none: reads of a reply's chunks are over        | RPC-015          |
//! | `Error` 4  | none  | none: versions, a chunk error, or eight words   | RPC-029, RPC-031 |
//!
//! After [`Header::parse`] has returned `Ok`, no getter and no iterator of it can panic, none
//! allocates, and everything that [`Refused`] names is known not to be there.
//!
//! What a header cannot tell is left to others: whether a position is that of an item which the
//! program lets be a chunk (`binding`), and whether the count in the stream is the chunk's length
//! (`stream`).

mod error;
mod segment;
mod lists;
mod cursor;
mod header;
mod line;
mod checks;
mod parse;
mod writer;

pub use error::{Answer, Caps, Refused};
pub use header::{xid, ErrorBody, Header, Kind, Padding};
pub use lists::{Reads, Segments, WriteChunk, WriteChunks};
pub use segment::{shortened, ReadSegment, Segment, Shortened};
pub use writer::{header_octets, write_done, write_error, Form, HeaderWriter, WritesWriter};

/// The only version of the protocol (RPC-026).
pub const VERSION: u32 = 1;
/// Octets of the four words that every header begins with, in every version (RPC-024).
pub const PREFIX_OCTETS: usize = 16;
/// Octets of a header without chunks (RPC-027).
pub const HEADER_OCTETS_MIN: usize = PREFIX_OCTETS + 3 * WORD_OCTETS;
/// Octets of an XDR word.
pub(crate) const WORD_OCTETS: usize = 4;
/// Words after an error code that is neither of the two (RPC-031).
pub const EXTRA_WORDS: usize = 8;

/// Values of the type word (RPC-026).
mod code {
    pub const MSG: u32 = 0;
    pub const NOMSG: u32 = 1;
    pub const MSGP: u32 = 2;
    pub const DONE: u32 = 3;
    pub const ERROR: u32 = 4;
    /// Codes of an error.
    pub const ERR_VERS: u32 = 1;
    pub const ERR_CHUNK: u32 = 2;
}

#[cfg(test)]
pub(crate) mod tests;
