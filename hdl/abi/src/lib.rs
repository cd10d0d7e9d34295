//! The contract between the device and its driver: BAR map, table, completion and ring layouts,
//! counters, error codes and limits of the Ferrowarp RNIC.
//!
//! Each number is defined here once. The RTL's decoders, the driver's constants, the model's
//! reports and `docs/registers.md` use it. This crate has no dependencies.
#![no_std]
#![deny(missing_docs)]

pub mod limits;
pub mod sizes;
pub mod registers;
pub mod tables;
pub mod cqe;
pub mod host_ring;
pub mod event_ring;
pub mod transmit_ring;
pub mod interrupts;
pub mod pci;
pub mod counters;
pub mod errors;
pub mod events;
pub mod resets;
