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
//!
//! The rooms, each of which imports those below it:
//!
//! | room | what |
//! |---|---|
//! | [`verbs`] | objects of an application, and who holds whom |
//! | [`stack`] | addresses, neighbours and TCP segments of an interface; no I/O |
//! | [`monitor`] | what an administrator may ask of an owner |
//! | [`bus`] | a PCI function under Linux: addresses, memory, interrupts |
//! | `device` | the device itself, over any [`Bar`] and [`Dma`] |
#![deny(missing_docs)]

mod device;
#[cfg(target_os = "linux")]
pub mod bus;
#[cfg(target_os = "linux")]
pub mod verbs;
pub mod stack;
#[cfg(target_os = "linux")]
pub mod monitor;

#[cfg(test)]
mod testing;

/// The code of the driver's guides, which has to compile.
#[cfg(all(doctest, target_os = "linux"))]
#[doc = include_str!("../../docs/driver.md")]
#[doc = include_str!("../../docs/connections.md")]
struct Guide;

pub use device::access::{Accesses, Bar, Dma, DmaBuffer};
pub use device::config::Config;
pub use device::counters::InUse;
pub use device::error::{DriverError, FrameError};
pub use device::ids::{ConnectionId, QueueId, TransmitRing};
pub use device::interrupts::InterruptSource;
pub use device::rings::{
    Completion, Event, InsertChecksum, InsertCrc, Piece, Reason, Reasons, RefusedHeader,
    TransmitFrame, TransmitResult, Transmitted,
};
pub use device::tables::{
    stag_hash, ConnectionConfig, ConnectionKey, OutOfOrderRange, OutOfOrderState, Posted,
    RegionConfig, Reservation, TcpState, WindowConfig,
};
pub use device::Device;
