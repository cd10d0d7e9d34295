//! `sim:`: a simulated device in this process, for programs that bring one.
//!
//! The driver knows no simulation. A program that has one says so once; each `sim:` address then
//! begins a device of its own, served over a socket without a name as any other.

use super::error::OpenError;
use std::os::fd::OwnedFd;
use std::sync::OnceLock;

/// Begins to serve a device over vfio-user, to one client: its end of the socket, or why not. It is
/// called with what follows `sim:`: the kind of device, and what is at the other end of its wire.
pub type Simulator = fn(&str) -> Result<OwnedFd, String>;

static SIMULATOR: OnceLock<Simulator> = OnceLock::new();

/// Have [`open`](super::open()) serve addresses that begin with `sim:` from `simulator`. The first
/// call of a process counts.
pub fn provide_simulator(simulator: Simulator) {
    SIMULATOR.get_or_init(|| simulator);
}

/// The socket of a new device.
///
/// # Errors
/// [`OpenError::NoSimulator`], [`OpenError::Simulator`].
pub(crate) fn start(link: &str) -> Result<OwnedFd, OpenError> {
    start_with(SIMULATOR.get().copied(), link)
}

fn start_with(simulator: Option<Simulator>, link: &str) -> Result<OwnedFd, OpenError> {
    let simulator = simulator.ok_or(OpenError::NoSimulator)?;
    simulator(link).map_err(|reason| OpenError::Simulator { reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_without_a_simulator_learns_where_there_is_one() {
        let refused = start_with(None, "").expect_err("there is none").to_string();
        assert_eq!(
            refused,
            "this program brings no simulated device; start `rnic serve` and open vfio-user:PATH, \
             or, in a program of your own, call rnic_device::provide_simulator() first"
        );
    }

    #[test]
    fn the_reason_of_the_simulator_is_reported() {
        let refusing: Simulator = |link| Err(format!("no link `{link}`"));
        let refused = start_with(Some(refusing), "x").expect_err("it refuses");
        let text = refused.to_string();
        assert_eq!(text, "failed to start the simulated device: no link `x`");
    }
}
