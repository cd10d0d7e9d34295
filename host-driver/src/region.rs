//! Memory regions and their STags.

use crate::bar::Bar;
use crate::connection::Connection;
use crate::device::Device;
use crate::dma::Dma;
use crate::error::DriverError;
use crate::hash_table::SlotWrite;
use crate::table;
use rnic_abi::limits::REGIONS;
use rnic_abi::tables;

/// A region as a peer may name it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RegionConfig {
    /// STag: stag_index in bits 31:8, stag_key in bits 7:0.
    pub stag: u32,
    /// Rights, `rnic_abi::tables::RIGHT_*`.
    pub rights: u32,
    /// Protection Domain: only its connections may use the STag.
    pub protection_domain: u16,
    /// The only connection of that domain that may use the STag; any of them if absent.
    pub connection: Option<Connection>,
    /// Tagged Offset of the first octet.
    pub tagged_offset: u64,
    /// Octets, below 2^48.
    pub octets: u64,
    /// Bus address of the first octet.
    pub address: u64,
}

impl RegionConfig {
    fn words(&self, valid: bool) -> [u32; 8] {
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

/// An STag entry as it stands in the device's table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct StagEntry {
    stag_index: u32,
    region: u16,
}

/// The hash of a stag_index: CRC32C of its three octets, most significant first.
pub fn stag_hash(stag_index: u32) -> u32 {
    crc32c::crc32c(&stag_index.to_be_bytes()[1..])
}

impl<B: Bar, D: Dma> Device<B, D> {
    /// Make a region known. The region's entry is written before the STag leads to it, and the
    /// driver lists neither before the device has both.
    ///
    /// # Errors
    /// [`DriverError::Duplicate`], [`DriverError::Exhausted`], [`DriverError::HashFull`],
    /// [`DriverError::Configuration`]; [`DriverError::TableTimeout`], after which no STag leads to
    /// the region, unless the device takes no operation at all.
    pub fn register_region(&mut self, config: &RegionConfig) -> Result<(), DriverError> {
        if config.octets >= 1 << 48 {
            let value = config.octets;
            return Err(DriverError::Configuration {
                what: "the region's length",
                value,
                allowed: "0..2^48",
            });
        }
        let stag_index = config.stag >> 8;
        if self.has_region(stag_index) {
            return Err(DriverError::Duplicate {
                what: "the stag_index",
            });
        }
        let free = self.regions.iter().position(Option::is_none);
        let region = free.ok_or(DriverError::Exhausted {
            what: "memory region",
            limit: REGIONS,
        })?;
        let entry = StagEntry {
            stag_index,
            region: region as u16,
        };
        let full = DriverError::HashFull { what: "STag" };
        let written = self.write_region(region, config, true).and_then(|()| {
            let mut bar = self.completions.beside(&mut self.bar, &self.dma);
            let hash = stag_hash(stag_index);
            self.stags
                .insert(hash, entry, full, |slot| write_stag(&mut bar, slot))
        });
        if let Err(error) = written {
            // A device that did not finish may have taken the entry; no STag leads to it.
            let _ = self.write_region(region, config, false);
            return Err(error);
        }
        self.regions[region] = Some(*config);
        Ok(())
    }

    /// Make a registered region valid again as `config` says, with a new key or extent if wanted:
    /// what an application does after its peer has invalidated the STag. No octet is written by the
    /// STag of before when this returns; meanwhile the STag is invalid.
    ///
    /// # Errors
    /// [`DriverError::Unknown`] without a region of that index; [`DriverError::Window`] if it is a
    /// window or has some.
    pub fn renew_region(&mut self, config: &RegionConfig) -> Result<(), DriverError> {
        self.check_no_window(config.stag)?;
        let region = self.known_region(config.stag)?;
        self.revoke_region(region)?;
        if let Err(error) = self.write_region(region, config, true) {
            // As before this call, but for the valid bit.
            let _ = self.revoke_region(region);
            return Err(error);
        }
        self.regions[region] = Some(*config);
        Ok(())
    }

    /// Take a region away from the device. When this returns, nothing is written under its STag any
    /// more.
    ///
    /// # Errors
    /// [`DriverError::Unknown`] without a region of that index; [`DriverError::Window`] if it is a
    /// window or has some.
    pub fn deregister_region(&mut self, stag: u32) -> Result<(), DriverError> {
        self.check_no_window(stag)?;
        self.take_region(stag)
    }

    pub(crate) fn take_region(&mut self, stag: u32) -> Result<(), DriverError> {
        let region = self.known_region(stag)?;
        self.revoke_region(region)?;
        let stag_index = stag >> 8;
        let entry = StagEntry {
            stag_index,
            region: region as u16,
        };
        let mut bar = self.completions.beside(&mut self.bar, &self.dma);
        self.stags.remove(stag_hash(stag_index), &entry, |slot| {
            write_stag(&mut bar, slot)
        })?;
        self.regions[region] = None;
        Ok(())
    }

    fn write_region(
        &mut self,
        region: usize,
        config: &RegionConfig,
        valid: bool,
    ) -> Result<(), DriverError> {
        let words = config.words(valid);
        table::write(&mut self.tables(), tables::REGION, region as u32, &words)
    }

    /// Make the entry of a registered region invalid.
    fn revoke_region(&mut self, region: usize) -> Result<(), DriverError> {
        let config = self.regions[region].expect("known regions are registered");
        let words = config.words(false);
        table::revoke(&mut self.tables(), tables::REGION, region as u32, &words)
    }

    /// Does the device still hold the region as valid? (A peer may have invalidated it.)
    pub fn region_valid(&mut self, stag: u32) -> Result<bool, DriverError> {
        let region = self.known_region(stag)?;
        let words = table::read(&mut self.tables(), tables::REGION, region as u32)?;
        Ok(words[0] >> 31 == 1)
    }

    /// Has a region this index?
    pub(crate) fn has_region(&self, stag_index: u32) -> bool {
        self.region_of(stag_index).is_some()
    }

    /// The region of the STag's index, as it was given to the device last.
    pub(crate) fn region(&self, stag: u32) -> Result<&RegionConfig, DriverError> {
        let region = self.known_region(stag)?;
        Ok(self.regions[region]
            .as_ref()
            .expect("known regions are registered"))
    }

    fn region_of(&self, stag_index: u32) -> Option<usize> {
        let same = |config: &RegionConfig| config.stag >> 8 == stag_index;
        self.regions
            .iter()
            .position(|region| region.as_ref().is_some_and(same))
    }

    fn known_region(&self, stag: u32) -> Result<usize, DriverError> {
        let region = self.region_of(stag >> 8);
        region.ok_or(DriverError::Unknown {
            what: "region with STag",
            id: u64::from(stag),
        })
    }
}

fn write_stag(bar: &mut impl Bar, slot: SlotWrite<StagEntry>) -> Result<(), DriverError> {
    let words = slot.value.map_or([0, 0], |entry| {
        [1 << 31 | u32::from(entry.region), entry.stag_index]
    });
    table::write(bar, tables::STAG, slot.index, &words)
}

#[cfg(test)]
mod tests;
