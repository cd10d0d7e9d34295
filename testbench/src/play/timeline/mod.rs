//! A run as a timeline: which segment arrived in which cycle, what became of it, what waited, what
//! was written when. The pictures of the page are drawn from it.
//!
//! ```text
//!  player -> Log: frames offered, connections opened, regions, buffers --+
//!                                                                        +--> build --> Timeline
//!  simulation -> Record: frame ends, verdicts, TLPs, free pages ---------+
//! ```
//!
//! Enters: [`Log`] and the simulation's [`Record`](rnic_sim::Record) of one device. Leaves: a
//! [`Timeline`]; all times are cycles of that device's clock, all positions octets from the first
//! octet of full operation.
//! Kept only if [`Options::timeline`](crate::play::Options) asks for it: it takes the memory of the
//! capture once more.

mod build;
mod building;
mod coverage;
mod log;
mod placements;
mod run;

pub use build::build;
pub use coverage::Gap;
pub use log::Log;
pub use run::{Placement, Segment, SegmentKind, Stream, Timeline, TlpCount, TlpUse};
