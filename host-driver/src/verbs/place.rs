//! Where memory is for the device, and which accesses are inside of it.

use crate::bus::Access;
use crate::device::error::DriverError;

/// Where memory is, and what the device may do to it.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Place {
    /// Bus address.
    pub(crate) address: u64,
    /// Octets that were asked for.
    pub(crate) octets: usize,
    pub(crate) access: Access,
}

impl Place {
    /// The bus address of `octets` octets at `offset`, all of which are in it.
    pub(crate) fn part(&self, offset: usize, octets: usize) -> Result<u64, DriverError> {
        let end = offset.checked_add(octets);
        match end.is_some_and(|end| end <= self.octets) {
            true => Ok(self.address + offset as u64),
            false => Err(DriverError::Configuration {
                what: "the end of an access to memory",
                value: end.map_or(u64::MAX, |end| end as u64),
                allowed: "inside of the memory",
            }),
        }
    }

    /// As [`Place::part`], to write.
    pub(crate) fn writable_part(&self, offset: usize, octets: usize) -> Result<u64, DriverError> {
        match self.access {
            Access::ReadWrite => self.part(offset, octets),
            Access::Read => Err(DriverError::ReadOnly {
                what: "memory that the driver writes; write your own map of the memfd instead",
            }),
        }
    }
}
