//! RPC over RDMA, version 1 (RFC 5666), without I/O and without a clock.
#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod place;
pub mod wire;
pub mod private_data;
pub mod verbs;
pub mod fabric;
mod credits;

pub use credits::{Credits, Grants};
pub mod stream;
pub mod binding;
