//! `rnicctl reset`: an unused device, as after power-up.

use crate::address::Address;
use crate::outcome::{Failure, Outcome};
use crate::source::SMALL;
use rnic_driver::bus;
use rnic_output::stdout;

const EXAMPLE: &str = "\
Example:
  rnicctl reset vfio:0000:01:00.0

Resets the function through the bus, if it has such a reset, and the device through its registers.
A device that a process has open is not touched.";

#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLE)]
pub(crate) struct Arguments {
    /// vfio:0000:01:00.0 or vfio-user:PATH.
    address: Address,
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let address = arguments.address.device("reset")?;
    let device = bus::open(address, SMALL())?;
    let (_, memory) = device.close()?;
    stdout::print("device: reset through its registers, its tables are empty\n")?;
    match memory.function().reset() {
        Ok(true) => stdout::print("function: reset through the bus\n")?,
        Ok(false) => stdout::print("function: the bus has no reset for it\n")?,
        Err(error) => {
            return Err(format!(
                "failed to reset the function through the bus: {error}; `dmesg` may say why, and \
                 a power cycle resets it"
            )
            .into())
        }
    }
    Ok(Outcome::Good)
}
