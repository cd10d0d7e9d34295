//! `rnicctl`: what an administrator asks of a Ferrowarp device, and does to it.
//!
//! ```text
//!  list                                     sysfs, /dev/vfio, sockets of monitors
//!  info, counters, regions, connections --> Source -+- vfio:, vfio-user: -> opens the device
//!                                                   `- monitor:          -> asks its owner
//!  self-test, reset                     --> vfio:, vfio-user:
//! ```
#![deny(missing_docs)]

mod outcome;
mod address;
mod text_table;
mod source;
mod list;
mod info;
mod open_metrics;
mod rates;
mod counters;
mod tables;
mod frames;
mod self_test;
mod reset;
mod cli;
#[cfg(test)]
mod documents;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
