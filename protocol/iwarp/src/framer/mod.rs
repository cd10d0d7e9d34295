//! Framing: messages to ULPDUs, ULPDUs to FPDUs, FPDUs to records of TCP (RFC 5044 sections 4 and
//! 5, RFC 5041 section 5).
//!
//! ```text
//!  Message --next--> Ulpdu --Framer--> Record::Scatter { head, payload in place, trailer }
//!                                  \-> Record::Copied: one run of octets in the caller's buffer
//! ```
//!
//! The framer decides once a record. An FPDU that fits a segment alone leaves by reference: its
//! headers are copied, its payload is not, and the device computes the CRC. FPDUs that are packed,
//! cut over segments, have markers, or whose source may change before the peer acknowledges it are
//! copied in one pass, and their CRC is computed here. Either way the same octets leave.
//!
//! - FPDUs of at most [`PACKED_OCTETS_MAX`] octets share a segment if they wait for it together;
//!   nothing waits for others.
//! - An EMSS that shrinks shortens the ULPDUs cut from then on. One below 136 octets, or 140
//!   with markers, has no room for a MULPDU of 128 and cuts FPDUs over segments (MPA-030, MPA-036).

mod pieces;
mod message;
mod fpdu;
mod records;

pub(crate) use message::first_octets;

pub use fpdu::{Crc, Fpdu, Unreadable};
pub use message::{Message, Ulpdu, TERMINATE_OCTETS_MAX};
pub use pieces::{
    Octets, Piece, Pieces, TooManyPieces, HEAD_OCTETS_MAX, PIECES_MAX, TRAILER_OCTETS_MAX,
};
pub use records::{Framer, Record, Source, EMSS_SMALL, EMSS_UNKNOWN, PACKED_OCTETS_MAX};

#[cfg(test)]
mod tests;
