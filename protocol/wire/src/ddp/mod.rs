//! DDP segments and the RDMAP messages in them (RFC 5041, RFC 5040).
//!
//! - [`control`]: the two octets every segment opens with: DDP's and RDMAP's control octets.
//! - [`tagged`], [`untagged`]: the headers of the two buffer models.
//! - [`rdmap`]: opcodes and the queues they belong to.
//! - [`read_request`], [`terminate`]: payloads that RDMAP itself reads.
//! - [`errors`]: the errors a Terminate can name, by layer.

pub mod control;
pub mod tagged;
pub mod untagged;
pub mod rdmap;
pub mod read_request;
pub mod terminate;
pub mod errors;
