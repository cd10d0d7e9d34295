//! The host side: PCI Express, and the registers that the driver sees through it.
pub mod events;
pub mod interrupts;
pub mod pcie;
pub mod amd;
pub mod reads;
pub mod csr;
pub mod reset;
