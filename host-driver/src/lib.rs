//! Userspace driver of the Ferrowarp RNIC.
//!
//! The driver programs the device through two traits and does not know what is behind them: real
//! hardware or a simulation.
//!
//! - [`Bar`]: 32-bit registers of BAR0 (`rnic_abi::registers`).
//! - [`Dma`]: memory that the device can reach at a bus address. The driver copies in and out of it
//!   and never holds a reference to it, because the device may write it at any time.
//!
//! [`Device::open`] checks the identity and sets the rings up; then connections, regions and
//! receive buffers are given to the device, and completions and host frames are polled.
#![deny(missing_docs)]

pub mod bar;
pub mod dma;
pub mod hash_table;
pub mod table;
pub mod device;
pub mod connection;
pub mod region;
pub mod stag;
pub mod window;
pub mod queue;
pub mod completion;
pub mod terminate;
pub mod host_ring;
pub mod error;

#[cfg(test)]
mod testing;

pub use bar::Bar;
pub use completion::Completion;
pub use connection::{
    Connection, ConnectionConfig, ConnectionKey, EarlyRange, EarlyState, TcpState,
};
pub use device::{Config, Device, InUse};
pub use dma::{Dma, DmaBuffer};
pub use error::DriverError;
pub use queue::Posted;
pub use region::{stag_hash, RegionConfig};
pub use terminate::RefusedHeader;
pub use window::WindowConfig;
