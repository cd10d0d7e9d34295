//! A Ferrowarp RNIC as a function on a PCI bus, real or served, behind [`Bar`](crate::Bar) and
//! [`Dma`](crate::Dma).
//!
//! ```text
//!  open("vfio:0000:01:00.0")  -> Vfio -----+                 +-> FunctionBar ----+
//!                                          +-> PciFunction --+                   +-> Device
//!  open("vfio-user:/run/x")   -> VfioUser -+                 +-> FunctionMemory -+
//!  open("sim:model,none")     -> VfioUser, of a server in this process
//! ```
//!
//! - `vfio:` is a function that is bound to Linux' `vfio-pci`: registers are mapped, an IOMMU
//!   restricts the device to the memory it was given. `make vm-test` runs it in a Linux guest with
//!   an emulated IOMMU and a simulated device. **It has not run on hardware yet.**
//! - `vfio-user:` is a function that another process serves over a socket, such as a simulated one.
//! - `sim:KIND,LINK` is one that this process serves itself, if it has said how
//!   ([`provide_simulator`]; the crate `rnic-device` does).
//!
//! Memory for the device is allocated here, always in memfds: nothing that the process has on its
//! heap or stack is ever visible to the device. When the process ends, however it ends, the device
//! loses its memory before anybody else gets it: Linux takes it from the IOMMU, and a server has
//! maps of its own.
//!
//! Nothing here changes which driver a function is bound to, or any other state of the machine: an
//! [`OpenError`] says what to do.
//!
//! Not supported: iommufd, VFIO without IOMMU, and big-endian or weakly ordered hosts whose devices
//! need more than `std::sync::atomic::fence` between memory and registers. A mapped register of a
//! function that Linux takes away while it is in use raises SIGBUS.

mod address;
mod error;
mod iova;
mod function;
mod raw;
mod memfd;
mod configuration;
mod interrupts;
mod pci_function;
mod registers;
mod memory;
mod iommu_info;
mod sysfs;
mod functions;
mod vfio;
mod vfio_user;
mod simulator;
mod open;
mod device;

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
pub(crate) use open::take;

pub(crate) use interrupts::eventfds;
#[cfg(test)]
pub(crate) use interrupts::take as take_signals;

pub use error::OpenError;
pub use functions::{functions, FoundFunction};
pub use iova::Access;
pub use memory::FunctionMemory;
pub use open::{connect, open, AnyDevice};
pub use pci_function::PciFunction;
pub use registers::FunctionBar;
pub use simulator::{provide_simulator, Simulator};
