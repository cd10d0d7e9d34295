//! Userspace driver of the Ferrowarp RNIC.
//!
//! The driver programs the device through two traits, which real hardware and a simulation
//! implement alike.
//!
//! - [`Bar`]: 32-bit registers of BAR0 (`rnic_abi::registers`).
//! - [`Dma`]: memory that the device can access at a bus address. The driver copies in and out, and
//!   never holds a reference to it, because the device may write it at any time.
//!
//! [`bus`] implements both for a PCI function under Linux, real or served by another process, and
//! [`bus::open`] opens it by its address.
//!
//! [`Device::open`] checks the identity, resets the device and sets up the rings; then the user
//! opens connections, registers regions, posts receive buffers, and polls completions and host
//! frames. It sends frames of its own with [`Device::transmit`], and polls what became of them.
//! What is polled can raise an interrupt ([`Device::route_interrupt`]). [`Device::close`] resets
//! the device before it frees the rings, so that nothing is written to memory that was given back.
//! If the reset fails, no memory is freed.
//!
//! [`verbs`] is the layer for applications: objects that own what the device writes, each freed
//! only when it does so no more.
//!
//! A device has one owner. An owner that serves a [`monitor`] lets an administrator look at the
//! device while it is in use.
//!
//! A device may be removed at any time. Its registers then read as ones, which the driver notices
//! at the next register access: from then on it makes none, and everything but polls of what is
//! already in memory returns [`DriverError::Gone`].
#![deny(missing_docs)]

pub mod bar;
pub mod dma;
mod dma_buffer;
pub mod transmit_frame;
pub mod error;
mod present_bar;
mod reset;
mod table;
pub mod hash_table;
mod ring;
mod config;
mod counters;
pub mod connection;
mod connection_table;
pub mod region;
mod window;
mod region_table;
mod stag;
mod receive_pool;
mod refused_header;
pub mod completion;
mod completion_ring;
mod completion_queue;
mod completion_queues;
mod terminate;
pub mod event;
pub mod interrupt;
mod event_ring;
mod host_ring;
mod copy_area;
mod transmit_ring;
pub mod device;
#[cfg(target_os = "linux")]
pub mod bus;
#[cfg(target_os = "linux")]
pub mod verbs;
#[cfg(target_os = "linux")]
pub mod monitor;

#[cfg(test)]
mod testing;

/// The code of the driver's guide, which has to compile.
#[cfg(all(doctest, target_os = "linux"))]
#[doc = include_str!("../../docs/driver.md")]
struct Guide;

pub use bar::Bar;
pub use completion::Completion;
pub use completion_queue::CompletionQueue;
pub use config::Config;
pub use connection::{
    Connection, ConnectionConfig, ConnectionKey, EarlyRange, EarlyState, TcpState,
};
pub use counters::InUse;
pub use device::Device;
pub use dma::{Dma, DmaBuffer};
pub use error::DriverError;
pub use event::{Event, Reason, Reasons};
pub use interrupt::InterruptSource;
pub use receive_pool::Posted;
pub use refused_header::RefusedHeader;
pub use region::{stag_hash, RegionConfig};
pub use transmit_frame::{
    FrameError, InsertChecksum, InsertCrc, Piece, TransmitFrame, TransmitRing,
};
pub use transmit_ring::{TransmitResult, Transmitted};
pub use window::WindowConfig;
