//! Playback: a capture's frames through the RTL, the model, or both, with every difference found.
//!
//! - [`dut`]: what can receive frames: [`rtl`] (driver over the co-simulation) and [`software`]
//!   (the model); [`used`]: a device that was reset in mid-traffic.
//! - [`player`]: frames in capture order, connections, regions and buffers set up in time.
//! - [`compare`]: RTL against model.
//! - [`report`]: what a user is told.
//! - [`regions`]: `--regions` files.
//! - [`hostile`]: forged frames, and what owner and host may do to a connection.

pub mod dut;
pub mod rtl;
pub mod used;
pub mod software;
pub mod player;
pub mod compare;
pub mod tally;
pub mod report;
pub mod page;
pub mod summary;
pub mod regions;
pub mod hostile;

pub use dut::{DutKind, PlayError};
pub use player::{play, Options};
pub use report::{FlowReport, Report};
