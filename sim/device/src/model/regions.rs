//! Regions and the STags that lead to them.
//!
//! ```text
//!  stag_index --> STAG, its slot in one of the ways --> REGION --> the model's region of that STag
//! ```

use super::entries::Words;
use super::stags::{Entry, REGION_BITS, REGION_MASK, STAG_INDEX_MASK, VALID};
use super::DeviceModel;
use rnic_abi::tables::STAG;

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
