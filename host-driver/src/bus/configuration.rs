//! Configuration space of a function: what it is, its Command register, and how large its packets
//! may be.

use super::error::OpenError;
use super::function::{Function, Region};
use crate::device::config::Config;
use rnic_abi::pci::{DEVICE_ID, VENDOR_ID};
use std::io;

/// Vendor ID; Device ID follows it (PCI Express Base Specification 5.0, section 7.5.1.1).
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

/// Status (section 7.5.1.1.4).
const STATUS_OFFSET: u64 = 0x06;
/// Status: the function has a list of capabilities.
const CAPABILITIES_LIST: u16 = 1 << 4;
/// Capabilities Pointer (section 7.5.1.1.11).
const CAPABILITIES_POINTER_OFFSET: u64 = 0x34;
/// Capabilities are at multiples of four of the 256 octets, after the header.
const CAPABILITIES_MAX: usize = 48;
/// Capability ID of PCI Express (section 7.5.3).
const PCI_EXPRESS_ID: u8 = 0x10;
/// Device Control in that capability (section 7.5.3.4).
const DEVICE_CONTROL_OFFSET: u64 = 8;
/// Device Control: Max_Payload_Size, log2 of its octets less 7.
const MAX_PAYLOAD_SHIFT: u16 = 5;
/// Device Control: Max_Read_Request_Size, log2 of its octets less 7.
const MAX_READ_REQUEST_SHIFT: u16 = 12;
/// Largest value of both.
const SIZE_CODE_MAX: u16 = 5;

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

/// `config`, with packets no larger than Device Control allows: a port takes a larger one for
/// malformed. It is as it was if the function does not say.
///
/// # Errors
/// [`OpenError::Access`].
pub(crate) fn fit(function: &mut dyn Function, config: Config) -> Result<Config, OpenError> {
    let control = device_control(function).map_err(|source| OpenError::Access {
        action: "read the PCI Express capability of the function",
        source,
    })?;
    let Some(control) = control else {
        return Ok(config);
    };
    let octets = |shift: u16| 128 << (control >> shift & 7).min(SIZE_CODE_MAX);
    Ok(Config {
        max_payload_octets: config.max_payload_octets.min(octets(MAX_PAYLOAD_SHIFT)),
        max_read_request_octets: config
            .max_read_request_octets
            .min(octets(MAX_READ_REQUEST_SHIFT)),
        ..config
    })
}

/// Device Control, if the function has the capability of PCI Express.
fn device_control(function: &mut dyn Function) -> io::Result<Option<u16>> {
    if read16(function, STATUS_OFFSET)? & CAPABILITIES_LIST == 0 {
        return Ok(None);
    }
    let [mut at, _] = read16(function, CAPABILITIES_POINTER_OFFSET)?.to_le_bytes();
    for _ in 0..CAPABILITIES_MAX {
        // The two low bits are reserved, and 0 ends the list.
        at &= !3;
        if at == 0 {
            break;
        }
        let [id, next] = read16(function, at.into())?.to_le_bytes();
        if id == PCI_EXPRESS_ID {
            let offset = u64::from(at) + DEVICE_CONTROL_OFFSET;
            return read16(function, offset).map(Some);
        }
        at = next;
    }
    Ok(None)
}

fn read16(function: &mut dyn Function, offset: u64) -> io::Result<u16> {
    let mut octets = [0; 2];
    function.read(Region::Configuration, offset, &mut octets)?;
    Ok(u16::from_le_bytes(octets))
}

#[cfg(test)]
mod tests;
