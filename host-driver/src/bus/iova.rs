//! Maps of memory for a function: what it may do to it, and the allocation of address ranges, of
//! bus addresses for maps and of pieces in an arena.
//!
//! First fit: the lowest free range that is large enough. The free ranges are few, since what is
//! freed joins its neighbours.

use std::collections::BTreeMap;
use std::ops::Range;

/// What a device may do to memory that it is given.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// Read it: memory that is only sent. The driver does not write it either.
    Read,
    /// Read and write it.
    ReadWrite,
}

/// Bus addresses that a function may be given, and the unit of its maps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IovaSpace {
    /// Allowed ranges, in order, none next to another.
    pub(crate) ranges: Vec<Range<u64>>,
    /// Octets of the smallest page, a power of two.
    pub(crate) page_octets: u64,
}

/// Free ranges of addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct FirstFit {
    /// End of each free range by its start; no two ranges touch.
    free: BTreeMap<u64, u64>,
}

impl FirstFit {
    /// All of `ranges` is free.
    pub(crate) fn new(ranges: impl IntoIterator<Item = Range<u64>>) -> Self {
        let mut new = Self::default();
        let ranges = ranges.into_iter().filter(|range| !range.is_empty());
        ranges.for_each(|range| new.free(range));
        new
    }

    /// The lowest free range of `octets` whose start is a multiple of `align`, a power of two.
    pub(crate) fn allocate(&mut self, octets: u64, align: u64) -> Option<Range<u64>> {
        assert!(octets > 0 && align.is_power_of_two(), "{octets}, {align}");
        let fit = |(&start, &end): (&u64, &u64)| {
            let first = start.checked_next_multiple_of(align)?;
            let taken = first..first.checked_add(octets)?;
            (taken.end <= end).then_some((start..end, taken))
        };
        let (range, taken) = self.free.iter().find_map(fit)?;
        self.free.remove(&range.start);
        for left in [range.start..taken.start, taken.end..range.end] {
            if !left.is_empty() {
                self.free.insert(left.start, left.end);
            }
        }
        Some(taken)
    }

    /// `range` is free again.
    ///
    /// # Panics
    /// If some of it is free already.
    pub(crate) fn free(&mut self, range: Range<u64>) {
        assert!(!range.is_empty(), "a range has octets");
        let Range { mut start, mut end } = range;
        let below = self.free.range(..=start).next_back();
        let above = self.free.range(start..).next();
        let below = below.map(|(&start, &end)| start..end);
        let above = above.map(|(&start, &end)| start..end);
        if let Some(below) = below {
            assert!(below.end <= start, "{start:#x} is free already");
            if below.end == start {
                start = below.start;
            }
        }
        if let Some(above) = above {
            assert!(end <= above.start, "{:#x} is free already", above.start);
            if end == above.start {
                end = above.end;
                self.free.remove(&above.start);
            }
        }
        self.free.insert(start, end);
    }

    /// Whether `range` is free, all of it.
    #[cfg(test)]
    pub(crate) fn is_free(&self, range: &Range<u64>) -> bool {
        let below = self.free.range(..=range.start).next_back();
        below.is_some_and(|(_, &end)| range.end <= end)
    }
}

#[cfg(test)]
mod tests;
