//! The contract between the device and its driver: BAR map, table, completion and ring layouts,
//! counters, error codes and limits of the Ferrowarp RNIC.
//!
//! Each number is written here once. The RTL's decoders, the driver's constants, the model's
//! reports and `docs/registers.md` are made from it. This crate depends on nothing.
#![no_std]
#![deny(missing_docs)]

pub mod limits;
pub mod registers;
pub mod tables;
pub mod cqe;
pub mod host_ring;
pub mod counters;
pub mod errors;
pub mod events;
