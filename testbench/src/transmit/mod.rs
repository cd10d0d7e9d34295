//! Random frames through the transmit rings of the whole device; what `rnic fuzz --transmit` does.
//!
//! ```text
//!  (seed, run) -> Drawn frames -> driver -> rings in host memory -> device -> wire
//!                     |               |                                         |
//!                     +-- expected ---+-- results of each frame ----------------+-> compared
//! ```
//!
//! Each run also puts every limit of a head on a ring of its own (`heads`, `limits`), and meets a
//! host that answers reads wrongly (`spoiled`).
//!
//! Compared are the octets of every frame that leaves, the order of each ring, the result of each
//! frame, the device's counters, and that an interrupt follows the reports. Not compared is the
//! order of frames of different rings, which depends on the cycle.

pub mod frame;
mod conversation;
mod heads;
mod interrupts;
mod limits;
mod run;
mod spoiled;
mod totals;

pub use spoiled::counter_of;
pub use totals::{Case, Done, Totals};

use rnic_sim::SimError;

/// Do a run: random frames through the driver, the limits of heads without it, and reads that fail.
///
/// # Errors
/// The core cannot be built.
pub fn run(case: Case) -> Result<Done, SimError> {
    let mut done = run::run(case)?;
    for more in [limits::run(case)?, spoiled::run(case)?] {
        done.totals.add(&more.totals);
        done.differences.extend(more.differences);
    }
    Ok(done)
}
