//! The table of regions, and that of the STags that lead to them.

use super::entries::{Words, HASH_SLOTS};
use rnic_abi::limits::{HASH_SLOTS_LOG2, HASH_WAYS};
use rnic_abi::tables::{hash_slot, RIGHT_STREAM_BOUND};
use rnic_driver::{stag_hash, ConnectionId, RegionConfig};

pub(super) const VALID: u32 = 1 << 31;
pub(super) const STAG_INDEX_MASK: u32 = 0xff_ffff;
pub(super) const REGION_MASK: u32 = 0x3ff;
/// Bits of each word of a region that there are.
pub(super) const REGION_BITS: [u32; 8] = [
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
pub(super) struct Entry {
    pub(super) stag_index: u32,
    pub(super) region: usize,
}

/// Both tables.
#[derive(Debug)]
pub(super) struct RegionTables {
    pub(super) stags: Vec<Option<Entry>>,
    pub(super) regions: Vec<Words>,
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
    pub(super) fn find(&self, stag_index: u32) -> Option<usize> {
        let hash = stag_hash(stag_index);
        (0..HASH_WAYS).find_map(|way| {
            let entry = self.stags[way << HASH_SLOTS_LOG2 | hash_slot(hash, way)]?;
            (entry.stag_index == stag_index).then_some(entry.region)
        })
    }

    /// What lies after a region's entry under `stag_index`, and whether it is valid.
    pub(super) fn region(&self, region: usize, stag_index: u32) -> (RegionConfig, bool) {
        let words = &self.regions[region];
        let wide = |at: usize| u64::from(words[at + 1]) << 32 | u64::from(words[at]);
        let is_bound = words[0] & RIGHT_STREAM_BOUND != 0;
        let tagged_offset = wide(2);
        let config = RegionConfig {
            stag: stag_index << 8 | words[0] >> 8 & 0xff,
            rights: words[0] & 0x1f,
            protection_domain: words[1] as u16,
            connection: is_bound.then_some(ConnectionId((words[1] >> 16) as u16)),
            tagged_offset,
            octets: wide(4),
            address: wide(6).wrapping_add(tagged_offset),
        };
        (config, words[0] & VALID != 0)
    }

    pub(super) fn stags_of(&self, region: usize) -> Vec<u32> {
        let entries = self.stags.iter().flatten();
        let own = entries.filter(|entry| entry.region == region);
        own.map(|entry| entry.stag_index).collect()
    }
}
