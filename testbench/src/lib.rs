//! Capture playback, campaigns, generated documents and the rnic command.
//!
//! The receiver that the hardware is compared with is `rnic_model`; captures are read by
//! `rnic_capture`; `rnic serve` is `rnic_device`'s.
#![deny(missing_docs)]

pub mod play;
pub mod traffic;
pub mod transmit;
pub mod workload;
pub mod fuzz;
pub mod bench;
pub mod mutants;
pub mod selftest;
pub mod docs;
pub mod processor;
mod former_keys;
