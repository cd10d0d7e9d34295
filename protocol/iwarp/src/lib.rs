//! iWARP of one connection, without I/O, clock or device: MPA start-up, framing, Terminate.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod startup;
pub mod framer;
pub mod terminate;
pub mod queue_pair;
