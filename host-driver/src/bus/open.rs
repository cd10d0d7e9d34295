//! Opens a device by its address.
//!
//! ```text
//!  address -> function -> ids checked -> reset -> memory space, bus mastering on
//!          -> BAR0, memory -> Device::open -> MSI-X on
//! ```
//!
//! MSI-X comes last: the reset in [`Device::open`] masks all vectors in the device's table, and
//! Linux writes it when the vectors are enabled.

use super::address::Address;
use super::configuration;
use super::error::OpenError;
use super::function::Function;
use super::memory::FunctionMemory;
use super::pci_function::PciFunction;
use super::registers::FunctionBar;
use super::simulator;
use super::sysfs::Places;
use super::vfio::Vfio;
use super::vfio_user::VfioUser;
use crate::device::config::Config;
use crate::device::Device;

/// A device on a bus, whichever it is.
pub type AnyDevice = Device<FunctionBar, FunctionMemory>;

/// Open the device at `address`: `vfio:0000:01:00.0`, a PCI function that is bound to `vfio-pci`,
/// `vfio-user:PATH`, the socket of a server, or `sim:KIND,LINK`, a simulated device of this
/// process, if it has one ([`provide_simulator`](super::provide_simulator)). Packet sizes in
/// `config` are lowered to what the bus allows.
///
/// # Errors
/// An [`OpenError`], whose message says what to do.
pub fn open(address: &str, config: Config) -> Result<AnyDevice, OpenError> {
    start(connect(address)?, config)
}

fn start(
    (bar, memory): (FunctionBar, FunctionMemory),
    config: Config,
) -> Result<AnyDevice, OpenError> {
    let function = memory.function().clone();
    let device = Device::open(bar, memory, function.fit(config)?)?;
    if let Err(error) = function.enable_interrupts() {
        // The error is about the interrupts; if the device hangs too, its memory is kept.
        let _ = device.close();
        return Err(error);
    }
    Ok(device)
}

/// BAR0 and memory of the device at `address`, for a [`Device::open`] of one's own:
/// [`PciFunction::fit`] makes the configuration right for the bus, and after it
/// [`PciFunction::enable_interrupts`] enables the interrupts.
///
/// # Errors
/// As [`open`].
pub fn connect(address: &str) -> Result<(FunctionBar, FunctionMemory), OpenError> {
    let function: Box<dyn Function> = match Address::parse(address)? {
        Address::Vfio(function) => Box::new(Vfio::open(&Places::default(), &function)?),
        Address::VfioUser(path) => Box::new(VfioUser::connect(&path)?),
        Address::Simulated(link) => {
            let served = VfioUser::over(simulator::start(&link)?);
            let served = served.map_err(|error| OpenError::Simulator {
                reason: error.to_string(),
            });
            Box::new(served?)
        }
    };
    take(function)
}

/// BAR0 and memory of a function that was just opened.
pub(crate) fn take(
    mut function: Box<dyn Function>,
) -> Result<(FunctionBar, FunctionMemory), OpenError> {
    let access = |action| move |source| OpenError::Access { action, source };
    configuration::check_identity(function.as_mut())?;
    function.reset().map_err(access("reset the function"))?;
    configuration::enable(function.as_mut())?;
    let function = PciFunction::new(function)?;
    let bar = FunctionBar::new(function.clone())?;
    let memory = FunctionMemory::new(function);
    let memory = memory.map_err(access("read which bus addresses can be mapped"))?;
    Ok((bar, memory))
}

#[cfg(test)]
mod tests;
