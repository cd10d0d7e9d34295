//! Fuzzing: random workloads and faults through hardware and model; what `rnic fuzz` does.
//!
//! ```text
//!  (seed, run) -> Case -> workload::generate -> capture -> play: RTL and model -> Totals
//!              draw                                          |
//!                                                 they differ | smallest failing prefix
//!                                                             v
//!                                     fuzz-SEED-RUN.pcap, and the command that replays it
//! ```
//!
//! What enters are a seed and the numbers of runs; what leaves are [`Totals`] and a [`Failure`] for
//! each run that failed. A run depends on the seed and its own number alone: any of them is played
//! again alone and gives the same. A run fails if hardware and model differ in anything that
//! playback compares, if the driver refuses, or if anything panics, as the simulation does when the
//! core never goes idle or makes no room.
//!
//! - [`draw`]: what a run plays; `odd` draws oddities, and conditions on the receiving side.
//! - [`campaign`]: one run, and what is done with one that fails.
//! - `parallel`: runs on several cores, reported in order.
//! - [`totals`]: what was played, as a table and as JSON.

pub mod draw;
mod odd;
pub mod campaign;
mod parallel;
pub mod totals;

pub use campaign::{Campaign, Failure, Settings};
pub use draw::Case;
pub use totals::Totals;
