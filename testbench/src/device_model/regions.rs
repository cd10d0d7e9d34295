//! Regions and the STags that lead to them.
//!
//! ```text
//!  stag_index --> STAG, its slot in one of the ways --> REGION --> the model's region of that STag
//! ```

use super::tables::{Words, HASH_SLOTS};
use super::DeviceModel;
use rnic_abi::limits::{HASH_SLOTS_LOG2, HASH_WAYS};
use rnic_abi::tables::{hash_slot, RIGHT_STREAM_BOUND, STAG};
use rnic_driver::{stag_hash, Connection, RegionConfig};

const VALID: u32 = 1 << 31;
const STAG_INDEX_MASK: u32 = 0xff_ffff;
const REGION_MASK: u32 = 0x3ff;
/// Bits of each word of a region that there are.
const REGION_BITS: [u32; 8] = [
    VALID | 0xff1f,
    0x3ff_ffff,
    u32::MAX,
    u32::MAX,
    u32::MAX,
    0xffff,
    u32::MAX,
    u32::MAX,
];

/// A valid entry of the STag table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Entry {
    stag_index: u32,
    region: usize,
}

/// Both tables.
#[derive(Debug)]
pub(super) struct RegionTables {
    stags: Vec<Option<Entry>>,
    regions: Vec<Words>,
}

impl RegionTables {
    /// Of so many regions, none of them valid.
    pub(super) fn new(regions: usize) -> Self {
        Self {
            stags: vec![None; HASH_SLOTS],
            regions: vec![Words::default(); regions],
        }
    }

    /// An entry of the table of regions.
    pub(super) fn read(&self, region: usize) -> Words {
        self.regions[region]
    }

    /// The region of `stag_index`: that of its slot in one of the ways.
    fn find(&self, stag_index: u32) -> Option<usize> {
        let hash = stag_hash(stag_index);
        (0..HASH_WAYS).find_map(|way| {
            let entry = self.stags[way << HASH_SLOTS_LOG2 | hash_slot(hash, way)]?;
            (entry.stag_index == stag_index).then_some(entry.region)
        })
    }

    /// What lies behind a region's entry under `stag_index`, and whether it is valid.
    fn region(&self, region: usize, stag_index: u32) -> (RegionConfig, bool) {
        let words = &self.regions[region];
        let wide = |at: usize| u64::from(words[at + 1]) << 32 | u64::from(words[at]);
        let is_bound = words[0] & RIGHT_STREAM_BOUND != 0;
        let tagged_offset = wide(2);
        let config = RegionConfig {
            stag: stag_index << 8 | words[0] >> 8 & 0xff,
            rights: words[0] & 0x1f,
            protection_domain: words[1] as u16,
            connection: is_bound.then_some(Connection((words[1] >> 16) as u16)),
            tagged_offset,
            octets: wide(4),
            address: wide(6).wrapping_add(tagged_offset),
        };
        (config, words[0] & VALID != 0)
    }

    fn stags_of(&self, region: usize) -> Vec<u32> {
        let entries = self.stags.iter().flatten();
        let own = entries.filter(|entry| entry.region == region);
        own.map(|entry| entry.stag_index).collect()
    }
}

impl DeviceModel {
    pub(super) fn write_stag(&mut self, index: usize, words: &Words) {
        let entry = (words[0] & VALID != 0).then(|| Entry {
            stag_index: words[1] & STAG_INDEX_MASK,
            region: (words[0] & REGION_MASK) as usize & (self.sizes.regions() - 1),
        });
        let Some(place) = self.tables.regions.stags.get_mut(index) else {
            return self.refuse(STAG, index, "there is no such way");
        };
        let before = std::mem::replace(place, entry);
        for changed in [before, entry].into_iter().flatten() {
            self.follow_stag(changed.stag_index);
        }
    }

    pub(super) fn write_region(&mut self, region: usize, words: &Words) {
        let entry = &mut self.tables.regions.regions[region];
        for ((place, word), bits) in entry.iter_mut().zip(words).zip(REGION_BITS) {
            *place = word & bits;
        }
        self.follow_region(region);
    }

    /// A peer has invalidated `stag`.
    pub(super) fn note_invalidated(&mut self, stag: u32) {
        if let Some(region) = self.tables.regions.find(stag >> 8) {
            self.tables.regions.regions[region][0] &= !VALID;
            self.follow_region(region);
        }
    }

    fn follow_region(&mut self, region: usize) {
        for stag_index in self.tables.regions.stags_of(region) {
            self.follow_stag(stag_index);
        }
    }

    /// Have the model hold what the tables say of `stag_index`.
    fn follow_stag(&mut self, stag_index: u32) {
        match self.tables.regions.find(stag_index) {
            None => self.model.regions.deregister(stag_index << 8),
            Some(region) => {
                let (config, valid) = self.tables.regions.region(region, stag_index);
                self.model.regions.write(&config, valid);
            }
        }
    }
}
