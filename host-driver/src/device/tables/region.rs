//! A memory region: its STag, its extent and its rights.

use crate::device::error::DriverError;
use crate::device::ids::ConnectionId;
use rnic_abi::tables;

/// A region that peers address by its STag.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RegionConfig {
    /// STag: stag_index in bits 31:8, stag_key in bits 7:0.
    pub stag: u32,
    /// Rights, `rnic_abi::tables::RIGHT_*`.
    pub rights: u32,
    /// Protection Domain: only its connections may use the STag.
    pub protection_domain: u16,
    /// The only connection of that domain that may use the STag; any of them if absent.
    pub connection: Option<ConnectionId>,
    /// Tagged Offset of the first octet.
    pub tagged_offset: u64,
    /// Octets, below 2^48.
    pub octets: u64,
    /// Bus address of the first octet.
    pub address: u64,
}

impl RegionConfig {
    /// Refuses what the device does not support.
    pub(crate) fn check(&self) -> Result<(), DriverError> {
        if self.octets >= 1 << 48 {
            let value = self.octets;
            return Err(DriverError::Configuration {
                what: "the region's length",
                value,
                allowed: "0..2^48",
            });
        }
        Ok(())
    }

    /// The entry of the device's table (`rnic_abi::tables::REGION`).
    pub(crate) fn words(&self, valid: bool) -> [u32; 8] {
        let bound = self.connection.map_or(0, |_| tables::RIGHT_STREAM_BOUND);
        let connection = self
            .connection
            .map_or(0, |connection| u32::from(connection.0));
        let delta = self.address.wrapping_sub(self.tagged_offset);
        [
            u32::from(valid) << 31 | (self.stag & 0xff) << 8 | self.rights | bound,
            u32::from(self.protection_domain) | connection << 16,
            self.tagged_offset as u32,
            (self.tagged_offset >> 32) as u32,
            self.octets as u32,
            (self.octets >> 32) as u32,
            delta as u32,
            (delta >> 32) as u32,
        ]
    }
}

/// The hash of a stag_index: CRC32C of its three octets, most significant first.
pub fn stag_hash(stag_index: u32) -> u32 {
    crc32c::crc32c(&stag_index.to_be_bytes()[1..])
}
