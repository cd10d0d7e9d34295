//! Configuration space of a function: what it is, and its Command register.

use super::error::OpenError;
use super::function::{Function, Region};
use rnic_abi::pci::{DEVICE_ID, VENDOR_ID};
use std::io;

/// Vendor ID; Device ID is behind it (PCI Express Base Specification 5.0, section 7.5.1.1).
const VENDOR_ID_OFFSET: u64 = 0x00;
/// Device ID.
const DEVICE_ID_OFFSET: u64 = 0x02;
/// Command (section 7.5.1.1.3).
const COMMAND_OFFSET: u64 = 0x04;
/// Command: BAR0 answers.
const MEMORY_SPACE_ENABLE: u16 = 1 << 1;
/// Command: the function may access memory and send interrupts.
const BUS_MASTER_ENABLE: u16 = 1 << 2;
/// Command: it raises no INTx.
const INTERRUPT_DISABLE: u16 = 1 << 10;

/// Whether the function is a Ferrowarp RNIC, as far as its ids say.
///
/// # Errors
/// [`OpenError::OtherDevice`], [`OpenError::Access`].
pub(crate) fn check_identity(function: &mut dyn Function) -> Result<(), OpenError> {
    let mut read = |offset| {
        read16(function, offset).map_err(|source| OpenError::Access {
            action: "read the vendor and device id of the function",
            source,
        })
    };
    let (vendor, device) = (read(VENDOR_ID_OFFSET)?, read(DEVICE_ID_OFFSET)?);
    match (vendor, device) {
        (VENDOR_ID, DEVICE_ID) => Ok(()),
        _ => Err(OpenError::OtherDevice { vendor, device }),
    }
}

/// Let the function answer at BAR0, access memory and send messages.
///
/// # Errors
/// [`OpenError::Access`].
pub(crate) fn enable(function: &mut dyn Function) -> Result<(), OpenError> {
    let mut enable = || {
        let command = read16(function, COMMAND_OFFSET)?;
        let command = command | MEMORY_SPACE_ENABLE | BUS_MASTER_ENABLE | INTERRUPT_DISABLE;
        let command = command.to_le_bytes();
        function.write(Region::Configuration, COMMAND_OFFSET, &command)
    };
    enable().map_err(|source| OpenError::Access {
        action: "enable memory space and bus mastering of the function",
        source,
    })
}

fn read16(function: &mut dyn Function, offset: u64) -> io::Result<u16> {
    let mut octets = [0; 2];
    function.read(Region::Configuration, offset, &mut octets)?;
    Ok(u16::from_le_bytes(octets))
}
