//! Playback: a capture's frames through the RTL, the model, or both, with every difference found.
//!
//! - [`dut`]: what can receive frames: [`rtl`] (driver over the co-simulation, its rings seen by
//!   [`bus`]) and [`software`] (the model);
//!   `posts`: buffers posted by the port and by the tables; [`used`]: a device that was reset in
//!   mid-traffic; `pauses`: how the wire waits for room.
//! - [`player`]: frames in capture order, connections, regions and buffers set up in time.
//! - [`compare`]: RTL against model; [`difference`]: what a person is shown of one;
//!   [`cut_off`]: connections closed in mid-traffic.
//! - [`timeline`]: what the hardware did when, for the pictures of [`page`].
//! - [`report`]: what a user sees.
//! - [`regions`]: `--regions` files.
//! - [`conditions`]: how the receiving side is set up.
//! - [`hostile`]: forged frames, and what owner and host may do to a connection.

pub mod dut;
pub mod bus;
pub mod rtl;
mod pauses;
mod posts;
pub mod used;
pub mod used_frames;
pub mod software;
pub mod options;
pub mod player;
pub mod difference;
pub mod digest;
pub mod events;
pub mod compare;
pub mod cut_off;
pub mod tally;
pub mod timeline;
pub mod report;
pub mod page;
pub mod summary;
mod terminate;
pub mod regions;
pub mod conditions;
pub mod hostile;

pub use conditions::{Condition, Conditions};
pub use dut::{DutKind, PlayError};
pub use options::Options;
pub use player::play;
pub use report::{FlowReport, Report};
