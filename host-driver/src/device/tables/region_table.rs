//! The device's memory regions and windows, and the hash table that finds them by STag.
//!
//! ```text
//!  RegionConfig --> register --> REGION --> STAG       a peer can use the STag from here on
//!  STag --> deregister --> REGION invalid, fenced --> STAG
//!  a peer's Send with Invalidate --> noted --> renew: REGION, once
//!                                          `-> deregister: STAG, once
//! ```

use super::hash_table::{HashTable, SlotWrite};
use super::region::{stag_hash, RegionConfig};
use super::window::{WindowConfig, Windows};
use crate::device::access::table;
use crate::device::access::Registers;
use crate::device::error::DriverError;
use crate::device::ids::ConnectionId;
use rnic_abi::limits::{READ_SINK_OCTETS_LOG2, REGIONS};
use rnic_abi::tables;
use std::collections::HashMap;

/// An STag entry of the device's table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct StagEntry {
    stag_index: u32,
    region: u16,
}

/// What is known of the valid bit of a region's entry, which a peer may clear.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Validity {
    Valid,
    /// A completion has said so.
    Invalidated,
    /// The region was renewed with the STag that it had: a completion may be of the time before.
    Unknown,
}

/// The registered regions, and a mirror of the device's STag table.
#[derive(Debug)]
pub(crate) struct RegionTable {
    stags: HashTable<StagEntry>,
    /// As last given to the device.
    regions: Vec<Option<RegionConfig>>,
    validity: Vec<Validity>,
    /// Which region has a stag_index.
    places: HashMap<u32, usize>,
    windows: Windows,
}

impl Default for RegionTable {
    /// Of the largest build.
    fn default() -> Self {
        Self::of_regions(REGIONS)
    }
}

impl RegionTable {
    /// The table of a device with so many regions.
    pub(crate) fn of_regions(regions: usize) -> Self {
        Self {
            stags: HashTable::default(),
            regions: vec![None; regions],
            validity: vec![Validity::Valid; regions],
            places: HashMap::new(),
            windows: Windows::default(),
        }
    }

    /// Whether none is registered.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_empty(&self) -> bool {
        self.regions.iter().all(Option::is_none)
    }

    /// Write the region's entry, then the STag's; both are recorded only after the device has both.
    pub(crate) fn register(
        &mut self,
        bar: &mut impl Registers,
        config: &RegionConfig,
    ) -> Result<(), DriverError> {
        config.check()?;
        let stag_index = config.stag >> 8;
        if self.has_index(stag_index) {
            return Err(DriverError::Duplicate {
                what: "the stag_index",
            });
        }
        let free = self.regions.iter().position(Option::is_none);
        let region = free.ok_or(DriverError::Exhausted {
            what: "memory region",
            limit: self.regions.len(),
        })?;
        let entry = StagEntry {
            stag_index,
            region: region as u16,
        };
        let full = DriverError::HashFull { what: "STag" };
        let written = write_region(bar, region, config, true).and_then(|()| {
            let hash = stag_hash(stag_index);
            self.stags
                .insert(hash, entry, full, |slot| write_stag(bar, slot))
        });
        if let Err(error) = written {
            // The device holds the entry as valid; no STag leads to it.
            let _ = write_region(bar, region, config, false);
            return Err(error);
        }
        self.regions[region] = Some(*config);
        self.validity[region] = Validity::Valid;
        self.places.insert(stag_index, region);
        Ok(())
    }

    /// Revoke a region's entry, then write it again from `config`. The entry of a region that a
    /// peer has invalidated is written once: what was checked before that was placed before the
    /// completion that said so.
    pub(crate) fn renew(
        &mut self,
        bar: &mut impl Registers,
        config: &RegionConfig,
    ) -> Result<(), DriverError> {
        config.check()?;
        self.windows.check_plain(config.stag)?;
        let region = self.position(config.stag)?;
        if self.validity[region] != Validity::Invalidated {
            self.revoke(bar, region)?;
        }
        if let Err(error) = write_region(bar, region, config, true) {
            // Restore the entry as it was before this call, except for the valid bit.
            let _ = self.revoke(bar, region);
            return Err(error);
        }
        self.validity[region] = match self.registered(region).stag == config.stag {
            true => Validity::Unknown,
            false => Validity::Valid,
        };
        self.regions[region] = Some(*config);
        Ok(())
    }

    /// Remove a region that is no window and has none.
    pub(crate) fn deregister(
        &mut self,
        bar: &mut impl Registers,
        stag: u32,
    ) -> Result<(), DriverError> {
        self.windows.check_plain(stag)?;
        self.remove(bar, stag)
    }

    /// Open a part of a region to a connection of `protection_domain`.
    pub(crate) fn bind(
        &mut self,
        bar: &mut impl Registers,
        config: &WindowConfig,
        protection_domain: u16,
    ) -> Result<(), DriverError> {
        let region = self.get(config.region)?;
        let window = self.windows.as_region(config, region, protection_domain)?;
        self.register(bar, &window)?;
        self.windows.insert(config);
        Ok(())
    }

    /// Close a window.
    pub(crate) fn unbind(
        &mut self,
        bar: &mut impl Registers,
        stag: u32,
    ) -> Result<(), DriverError> {
        if !self.windows.contains(stag) {
            return Err(DriverError::Unknown {
                what: "window with STag",
                id: u64::from(stag),
            });
        }
        self.remove(bar, stag)?;
        self.windows.remove(stag);
        Ok(())
    }

    /// Remove everything that is bound to a connection: windows, then regions.
    pub(crate) fn remove_bound(
        &mut self,
        bar: &mut impl Registers,
        connection: ConnectionId,
    ) -> Result<(), DriverError> {
        let regions = self.regions.iter().flatten();
        let bound = regions.filter(|region| region.connection == Some(connection));
        let (windows, regions): (Vec<u32>, Vec<u32>) = bound
            .map(|region| region.stag)
            .partition(|&stag| self.windows.contains(stag));
        for stag in windows {
            self.unbind(bar, stag)?;
        }
        for stag in regions {
            self.deregister(bar, stag)?;
        }
        Ok(())
    }

    /// Whether the device holds the region as valid: a peer may have invalidated it.
    pub(crate) fn is_valid(
        &self,
        bar: &mut impl Registers,
        stag: u32,
    ) -> Result<bool, DriverError> {
        let region = self.position(stag)?;
        let words = table::read(bar, tables::REGION, region as u32)?;
        Ok(words[0] >> 31 == 1)
    }

    /// A completion has said that a peer has invalidated `stag`.
    pub(crate) fn note_invalidated(&mut self, stag: u32) {
        let Ok(region) = self.position(stag) else {
            return;
        };
        let is_known = self.validity[region] != Validity::Unknown;
        if is_known && self.registered(region).stag == stag {
            self.validity[region] = Validity::Invalidated;
        }
    }

    /// The region or window that `stag` leads to, if it is valid: for what the device does not
    /// check, the source of a peer's Read. It reads the device only if the driver cannot know.
    pub(crate) fn find_valid(
        &self,
        bar: &mut impl Registers,
        stag: u32,
    ) -> Result<Option<&RegionConfig>, DriverError> {
        let Ok(region) = self.position(stag) else {
            return Ok(None);
        };
        let config = self.registered(region);
        let is_valid = match self.validity[region] {
            Validity::Valid => true,
            Validity::Invalidated => false,
            Validity::Unknown => self.is_valid(bar, stag)?,
        };
        Ok((is_valid && config.stag == stag).then_some(config))
    }

    /// The registered regions and bound windows, as last given to the device, in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &RegionConfig> {
        self.regions.iter().flatten()
    }

    /// Whether a region has this stag_index.
    pub(crate) fn has_index(&self, stag_index: u32) -> bool {
        self.find(stag_index).is_some()
    }

    /// The region with the STag's index, as last given to the device.
    pub(crate) fn get(&self, stag: u32) -> Result<&RegionConfig, DriverError> {
        let region = self.position(stag)?;
        Ok(self.registered(region))
    }

    /// A region that can be the sink of a read; it may also be registered later.
    pub(crate) fn check_sink(&self, stag: u32) -> Result<(), DriverError> {
        let Ok(region) = self.get(stag) else {
            return Ok(());
        };
        if region.octets >> READ_SINK_OCTETS_LOG2 != 0 {
            return Err(DriverError::Configuration {
                what: "the length of a read's sink",
                value: region.octets,
                allowed: "0..2^35; bind a window to a part of the region",
            });
        }
        Ok(())
    }

    /// What a peer has invalidated is not revoked once more, as in [`RegionTable::renew`].
    fn remove(&mut self, bar: &mut impl Registers, stag: u32) -> Result<(), DriverError> {
        let region = self.position(stag)?;
        if self.validity[region] != Validity::Invalidated {
            self.revoke(bar, region)?;
        }
        let stag_index = stag >> 8;
        let entry = StagEntry {
            stag_index,
            region: region as u16,
        };
        let hash = stag_hash(stag_index);
        self.stags
            .remove(hash, &entry, |slot| write_stag(bar, slot))?;
        self.regions[region] = None;
        self.places.remove(&stag_index);
        Ok(())
    }

    /// Wait until what was checked before is in memory. Every entry is of a region: then the first
    /// access that waits for one has to do.
    pub(crate) fn fence(&self, bar: &mut impl Registers) -> Result<(), DriverError> {
        match self.regions.iter().position(Option::is_none) {
            Some(free) => table::revoke(bar, tables::REGION, free as u32, &[0]),
            None => table::read(bar, tables::REGION, 0).map(|_| ()),
        }
    }

    /// Make the entry of a registered region invalid, and wait for writes in flight to it.
    fn revoke(&self, bar: &mut impl Registers, region: usize) -> Result<(), DriverError> {
        let words = self.registered(region).words(false);
        table::revoke(bar, tables::REGION, region as u32, &words)
    }

    fn registered(&self, region: usize) -> &RegionConfig {
        let config = self.regions[region].as_ref();
        config.expect("`position` finds registered regions only")
    }

    fn find(&self, stag_index: u32) -> Option<usize> {
        self.places.get(&stag_index).copied()
    }

    fn position(&self, stag: u32) -> Result<usize, DriverError> {
        self.find(stag >> 8).ok_or(DriverError::Unknown {
            what: "region with STag",
            id: u64::from(stag),
        })
    }
}

fn write_region(
    bar: &mut impl Registers,
    region: usize,
    config: &RegionConfig,
    valid: bool,
) -> Result<(), DriverError> {
    table::write(bar, tables::REGION, region as u32, &config.words(valid))
}

fn write_stag(bar: &mut impl Registers, slot: SlotWrite<StagEntry>) -> Result<(), DriverError> {
    let words = slot
        .value
        .map(|entry| [1 << 31 | u32::from(entry.region), entry.stag_index]);
    let words = words.as_ref().map_or(&[0][..], |words| words);
    table::write(bar, tables::STAG, slot.index, words)
}

#[cfg(test)]
mod tests;
