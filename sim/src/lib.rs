//! Co-simulation: the verilated core, host memory, PCI Express and the Ethernet side in one
//! process, with one clock and one seed for all random choices.
//!
//! ```text
//!   Frame queue --beats--> Core (Verilator) --TLPs--> RootComplex (pcie-sim) -- memory
//!                             ^                          |
//!                             +------- BAR requests -----+<-- SimBar, SimDma <-- rnic-driver
//! ```
//!
//! [`Simulation`] owns all of it; [`SimBar`] and [`SimDma`] implement the driver's two traits over
//! it. Time is the cycle count of the core's clock.
#![deny(missing_docs)]

pub mod verilator;
pub mod ports;
pub mod form;
pub mod netlist;
pub mod board;
pub mod core;
pub mod library;
pub mod mutant;
pub mod ethernet;
pub mod downstream;
mod assembly;
pub mod record;
pub mod transcript;
pub mod config;
pub mod simulation;
pub mod host_addresses;
pub mod host;
pub mod served;
pub mod error;

pub use crate::core::Core;
pub use board::BoardSim;
pub use config::{ReadPath, SimulationConfig};
pub use downstream::DownstreamBeat;
pub use error::SimError;
pub use ethernet::SentFrame;
pub use form::Form;
pub use host::{attach, attach_at, SimBar, SimDma};
pub use host_addresses::HostAddresses;
pub use pcie_sim::CompletionSplit;
pub use ports::inner_width;
pub use record::{Event, Record, TlpKind};
pub use served::{DeviceCore, ServedDevice};
pub use simulation::{Simulation, WriteObserver, BAR0_ADDRESS};
pub use transcript::Transcript;
