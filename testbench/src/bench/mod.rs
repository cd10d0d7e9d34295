//! Measurements of the verilated core: cycles a frame, latency, simulation speed.
//!
//! Everything about the hardware is counted in cycles; wall time is only looked at for the speed of
//! the simulation itself.
//!
//! - [`rig`]: an open device with connections and a region, and what is needed to drive it.
//! - [`load`]: frames of one size and pattern.
//! - [`rate`]: cycles a frame against the wire.
//! - [`disorder`]: the same where frames are lost and come again, or come late.
//! - [`latency`]: cycles from a segment's last octet to its last memory write, and to its event.
//! - [`speed`]: simulated cycles a second, and where the time goes.
//! - [`training`]: a short run that guides the compiler of the model.

pub mod rig;
pub mod load;
pub mod rate;
pub mod disorder;
pub mod latency;
pub mod speed;
pub mod training;

pub use disorder::DisorderRow;
pub use latency::{EventLatency, Latency};
pub use rate::RateRow;
pub use speed::Speed;
