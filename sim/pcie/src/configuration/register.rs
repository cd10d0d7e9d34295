//! Octet offsets of the registers that a host needs by name.

/// Vendor ID and, above it, Device ID.
pub const VENDOR_ID: u16 = 0x00;
/// Command.
pub const COMMAND: u16 = 0x04;
/// Status.
pub const STATUS: u16 = 0x06;
/// Revision ID and, above it, the 24 bits of Class Code.
pub const REVISION_ID: u16 = 0x08;
/// BAR 0; the others follow.
pub const BAR0: u16 = 0x10;
/// Subsystem Vendor ID and, above it, Subsystem ID.
pub const SUBSYSTEM: u16 = 0x2c;
/// Capabilities Pointer.
pub const CAPABILITIES: u16 = 0x34;
/// Interrupt Line.
pub const INTERRUPT_LINE: u16 = 0x3c;
/// The PCI Express capability, as this model places it.
pub const PCI_EXPRESS: u16 = 0x40;
/// Device Capabilities.
pub const DEVICE_CAPABILITIES: u16 = PCI_EXPRESS + 4;
/// Device Control.
pub const DEVICE_CONTROL: u16 = PCI_EXPRESS + 8;
/// The MSI-X capability, as this model places it.
pub const MSIX: u16 = 0x80;
/// MSI-X Message Control.
pub const MSIX_CONTROL: u16 = MSIX + 2;
