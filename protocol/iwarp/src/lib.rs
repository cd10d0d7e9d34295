//! iWARP of one connection, without I/O, clock or device: MPA start-up and framing.
#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod startup;
pub mod framer;
