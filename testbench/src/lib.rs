//! The software model of the receiver, capture playback and the rnic command.
#![deny(missing_docs)]

pub mod model;
pub mod capture;
pub mod play;
pub mod traffic;
pub mod transmit;
pub mod workload;
pub mod fuzz;
pub mod bench;
pub mod device_model;
pub mod serve;
pub mod mutants;
pub mod selftest;
pub mod docs;
pub mod skip;
mod former_keys;
