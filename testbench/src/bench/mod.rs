//! Measurements of the verilated core: cycles a frame, latency, simulation speed.
//!
//! Everything about the hardware is counted in cycles; wall time is used only for the speed of
//! the simulation itself.
//!
//! - [`rig`]: an open device with connections and a region, and what is needed to drive it.
//! - [`load`]: frames of one size and pattern.
//! - [`sending`]: frames to send.
//! - [`rate`]: cycles a frame against the wire.
//! - [`disorder`]: the same where frames are lost and come again, or come late.
//! - [`latency`]: cycles from a segment's last octet to its last memory write, and to its event.
//! - [`transmit`]: cycles a sent frame, from a doorbell on, beside reception, short of credits.
//! - [`speed`]: simulated cycles a second, and where the time goes.
//! - [`training`]: a short run that guides the compiler of the model.

pub mod sending;
pub mod rig;
pub mod load;
pub mod rate;
pub mod disorder;
pub mod latency;
pub mod transmit;
pub mod speed;
pub mod training;

pub use disorder::DisorderRow;
pub use latency::{EventLatency, Latency};
pub use rate::RateRow;
pub use speed::Speed;
pub use transmit::{BesideRow, DoorbellLatency, SendRow, StallRow};
