//! Views and representations of the headers that iWARP adds to a TCP stream.
//!
//! ```text
//!  | length | DDP header | RDMAP payload ...... | PAD | CRC32C |   an FPDU
//!  `--mpa---'---ddp------'---ddp::{read_request,terminate}--'--mpa--'
//! ```
//!
//! - [`mpa`]: start-up frames, FPDUs, markers, CRC32C (RFC 5044, its draft of revision 0,
//!   RFC 6581).
//! - [`ddp`]: tagged and untagged headers (RFC 5041) with the RDMAP control octet, opcodes, Read
//!   Request and Terminate payloads and error tables of RFC 5040, which share those headers.
//!
//! Each header has two layers. A *view* (`TaggedHeader<T>`) reads and writes fields in place; after
//! `new_checked` or `check_len` has returned `Ok`, no getter or setter of it can panic. A *repr*
//! (`TaggedRepr`) is the meaning of the header: `parse` makes it from a view, `emit` writes every
//! octet of the header, so that none of an older buffer is left.
//!
//! The crate reads every value and leaves it to a receiver to accept it. It does not cover
//! Ethernet, IP and TCP. It needs an allocator only to append FPDUs to streams.
#![no_std]
#![deny(missing_docs)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod error;
mod octets;
pub mod mpa;
pub mod ddp;

pub use error::{Error, Result};
