//! Random frames through the transmit rings of the whole device; what `rnic fuzz --transmit` does.
//!
//! ```text
//!  (seed, run) -> Drawn frames -> driver -> rings in host memory -> device -> wire
//!                     |               |                                         |
//!                     +-- expected ---+-- results of each frame ----------------+-> compared
//! ```
//!
//! Each run also puts every limit of a head on a ring of its own (`limits`).
//!
//! Compared are the octets of every frame that leaves, the order of each ring, the result of each
//! frame, the device's counters, and that an interrupt follows the reports. Not compared is the
//! order of frames of different rings, which depends on the cycle.

pub mod frame;
mod conversation;
mod interrupts;
mod limits;
mod run;
mod totals;

pub use totals::{Case, Done, Totals};

use rnic_sim::SimError;

/// Do a run: random frames through the driver, and the limits of heads without it.
///
/// # Errors
/// The core cannot be built.
pub fn run(case: Case) -> Result<Done, SimError> {
    let mut done = run::run(case)?;
    let limits = limits::run(case)?;
    done.totals.add(&limits.totals);
    done.differences.extend(limits.differences);
    Ok(done)
}
