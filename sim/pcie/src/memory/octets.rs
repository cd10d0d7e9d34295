//! The octets of a region: zero until they are written.
//!
//! A small region is a vector. A large one is a private mapping that reserves no swap: the
//! operating system gives it a page when that is first written, and counts none before, so a region
//! may be larger than the machine's memory.

use memmap2::{MmapMut, MmapOptions};
use std::fmt;

/// A region of more octets is a mapping.
const VECTOR_OCTETS_MAX: usize = 1 << 20;
/// Octets that are compared with zero at a time, when a mapping is cloned.
const PAGE_OCTETS: usize = 4096;

/// The octets of a region.
pub(super) enum Octets {
    Vector(Vec<u8>),
    Mapping(MmapMut),
}

impl Octets {
    /// `octets` zeroed octets; `None` if the operating system has no addresses for them.
    pub(super) fn zeroed(octets: usize) -> Option<Self> {
        if octets <= VECTOR_OCTETS_MAX {
            return Some(Self::Vector(vec![0; octets]));
        }
        let mapping = MmapOptions::new().len(octets).no_reserve_swap().map_anon();
        mapping.ok().map(Self::Mapping)
    }

    pub(super) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Vector(octets) => octets,
            Self::Mapping(octets) => octets,
        }
    }

    pub(super) fn as_mut_slice(&mut self) -> &mut [u8] {
        match self {
            Self::Vector(octets) => octets,
            Self::Mapping(octets) => octets,
        }
    }
}

impl Clone for Octets {
    /// # Panics
    /// If the operating system has no addresses for a large region once more.
    fn clone(&self) -> Self {
        let octets = self.as_slice();
        let mut copy = Self::zeroed(octets.len()).expect("addresses for a copy of a region");
        let pages = octets.chunks(PAGE_OCTETS);
        for (page, own) in pages.zip(copy.as_mut_slice().chunks_mut(PAGE_OCTETS)) {
            // A page that is not written takes no memory.
            if page.iter().any(|&octet| octet != 0) {
                own.copy_from_slice(page);
            }
        }
        copy
    }
}

impl fmt::Debug for Octets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} octets", self.as_slice().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A region of 2^44 octets, its clone, and a size that no machine has.
    #[test]
    fn a_large_region_takes_addresses_alone() {
        let octets = 1_usize << 44;
        let mut region = Octets::zeroed(octets).expect("addresses");
        assert_eq!(region.as_slice()[octets - 1], 0);
        region.as_mut_slice()[octets / 2] = 7;
        assert_eq!(region.as_slice()[octets / 2], 7);
        assert!(Octets::zeroed(usize::MAX >> 2).is_none());
        for octets in [1, VECTOR_OCTETS_MAX, VECTOR_OCTETS_MAX + 1] {
            let mut region = Octets::zeroed(octets).expect("addresses");
            region.as_mut_slice()[octets - 1] = 9;
            assert_eq!(region.clone().as_slice(), region.as_slice());
        }
    }
}
