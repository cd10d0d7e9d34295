//! The whole device with a self-test around it, for a board without Ethernet, PCI Express or DRAM.
//!
//! ```text
//!  script (block RAM) --> player --> BAR requests, frames --> device --> TLPs --> signature
//!                           |                                   ^ |
//!                           +--> host memory --- completions ---+ +-- read requests
//! ```
//!
//! | enters | a [`script`] made from captures                          |
//! | leaves | one Verilog file whose top module is the board's         |
#![deny(missing_docs)]

pub mod script;
