//! How the driver reaches the device: its registers, its memory, the entries of its tables.
//!
//! ```text
//!  Device, its tables and rings --> Registers: PresentBar --> Bar: BAR0
//!                               --> Dma: memory that the device can access
//! ```
//!
//! [`Bar`] and [`Dma`] are what a platform implements; [`crate::bus`] does it for Linux.

mod bar;
mod dma;
pub(crate) mod table;

pub use bar::{Accesses, Bar};
pub(crate) use bar::{PresentBar, Registers};
pub use dma::{Dma, DmaBuffer};
