//! Ranges of octets beyond a gap, in the order in which they changed: SACK blocks name the latest
//! first (RFC 2018 section 4).
use crate::options::SackBlocks;
use crate::seq::SeqNumber;

/// Ranges that are kept at least; more where the buffer is large ([`ranges_max`]).
pub const RANGES_MIN: usize = 32;
/// Octets of buffer for each range beyond these, so that ranges take little beside it.
const BUFFER_OCTETS: usize = 2_048;

/// Ranges that are kept beside a buffer of `octets`, at most. A segment that would begin another
/// one is not kept.
pub const fn ranges_max(octets: u32) -> usize {
    let ranges = octets as usize / BUFFER_OCTETS;
    if ranges < RANGES_MIN {
        RANGES_MIN
    } else {
        ranges
    }
}

/// Ranges that do not touch.
#[derive(Clone, Debug, Hash)]
pub struct Ranges {
    /// Numbers of the first octet and of the one after the last; the latest range last.
    ranges: Vec<(SeqNumber, SeqNumber)>,
    most: usize,
}

impl Ranges {
    /// Up to `most` ranges.
    pub const fn new(most: usize) -> Self {
        Self {
            ranges: Vec::new(),
            most,
        }
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The ranges, the latest last.
    pub fn as_slice(&self) -> &[(SeqNumber, SeqNumber)] {
        &self.ranges
    }

    /// Whether [`Self::insert`] has room for this range.
    pub fn has_room(&self, left: SeqNumber, right: SeqNumber) -> bool {
        let touches = |range: &(SeqNumber, SeqNumber)| touch(*range, (left, right));
        self.ranges.len() < self.most || self.ranges.iter().any(touches)
    }

    /// Insert a range as the latest, joined with those that it touches. The oldest leaves if there
    /// is no room.
    pub fn insert(&mut self, left: SeqNumber, right: SeqNumber) {
        let mut joined = (left, right);
        self.ranges.retain(|&range| {
            let apart = !touch(range, (left, right));
            if !apart {
                joined = (joined.0.earlier(range.0), joined.1.later(range.1));
            }
            apart
        });
        if self.ranges.len() >= self.most {
            self.ranges.remove(0);
        }
        self.ranges.push(joined);
    }

    /// Octets up to `next` have arrived in order: ranges that this reaches are removed, and the
    /// number after all that is now in order is returned.
    pub fn advance(&mut self, next: SeqNumber) -> SeqNumber {
        let mut next = next;
        loop {
            let before = next;
            self.ranges.retain(|range| {
                let beyond = range.0.is_after(before);
                if !beyond {
                    next = next.later(range.1);
                }
                beyond
            });
            // Another range may begin where this one ends.
            if next == before {
                return next;
            }
        }
    }

    /// Give up everything from `end` on.
    pub fn clip(&mut self, end: SeqNumber) {
        self.ranges.retain(|range| range.0.is_before(end));
        for range in &mut self.ranges {
            range.1 = range.1.earlier(end);
        }
    }

    /// As SACK blocks. Of several ACKs that leave together each names first what another segment
    /// has brought: the range that was the latest `newer` ranges ago, or the oldest.
    pub fn blocks(&self, newer: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let newer = newer.min(self.ranges.len().saturating_sub(1));
        let (before, latest) = self.ranges.split_at(self.ranges.len() - newer);
        for &(left, right) in before.iter().rev().chain(latest.iter().rev()) {
            blocks.push(left, right);
        }
        blocks
    }
}

/// Ranges that overlap, or of which one begins where the other ends.
fn touch(a: (SeqNumber, SeqNumber), b: (SeqNumber, SeqNumber)) -> bool {
    !a.0.is_after(b.1) && !b.0.is_after(a.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(edges: &[(u32, u32)]) -> Ranges {
        let mut ranges = Ranges::new(RANGES_MIN);
        for &(left, right) in edges {
            ranges.insert(SeqNumber(left), SeqNumber(right));
        }
        ranges
    }

    fn edges(ranges: &Ranges) -> Vec<(u32, u32)> {
        ranges
            .as_slice()
            .iter()
            .rev()
            .map(|range| (range.0 .0, range.1 .0))
            .collect()
    }

    /// TCP-035: RFC 2018 section 4: the block of the latest segment first, earlier ones after it.
    #[test]
    fn the_latest_range_comes_first_and_joins_what_it_touches() {
        let mut found = ranges(&[(10, 20), (30, 40), (50, 60)]);
        assert_eq!(edges(&found), [(50, 60), (30, 40), (10, 20)]);
        found.insert(SeqNumber(20), SeqNumber(30));
        assert_eq!(edges(&found), [(10, 40), (50, 60)]);
        found.insert(SeqNumber(12), SeqNumber(13));
        assert_eq!(edges(&found), [(10, 40), (50, 60)]);
        found.insert(SeqNumber(41), SeqNumber(49));
        assert_eq!(
            edges(&found),
            [(41, 49), (10, 40), (50, 60)],
            "one octet apart"
        );
    }

    #[test]
    fn without_room_the_oldest_leaves_unless_a_range_is_touched() {
        let list: Vec<_> = (0..32).map(|index| (10 * index, 10 * index + 5)).collect();
        let mut found = ranges(&list);
        assert!(!found.has_room(SeqNumber(400), SeqNumber(401)));
        assert!(found.has_room(SeqNumber(75), SeqNumber(76)));
        found.insert(SeqNumber(400), SeqNumber(401));
        assert_eq!(edges(&found)[0], (400, 401));
        assert_eq!(edges(&found).len(), RANGES_MIN);
        assert!(!edges(&found).contains(&(0, 5)));
    }

    #[test]
    fn what_comes_in_order_takes_the_ranges_that_it_reaches() {
        let mut found = ranges(&[(30, 40), (20, 30), (50, 60)]);
        assert_eq!(found.advance(SeqNumber(10)), SeqNumber(10));
        assert_eq!(found.advance(SeqNumber(20)), SeqNumber(40));
        assert_eq!(edges(&found), [(50, 60)]);
        assert_eq!(found.advance(SeqNumber(55)), SeqNumber(60));
        assert!(found.is_empty());
    }

    /// TCP-035: RFC 2018 section 4: each of several ACKs begins with the block of its own segment.
    #[test]
    fn several_acks_name_all_ranges() {
        let list: Vec<_> = (0..7).map(|index| (10 * index, 10 * index + 5)).collect();
        let found = ranges(&list);
        let firsts = |newer| {
            let blocks = found.blocks(newer);
            let lefts: Vec<_> = blocks.as_slice().iter().map(|block| block.0 .0).collect();
            lefts
        };
        assert_eq!(firsts(0), [60, 50, 40, 30]);
        assert_eq!(firsts(2), [40, 30, 20, 10]);
        assert_eq!(firsts(6), [0, 60, 50, 40]);
        assert_eq!(firsts(100), [0, 60, 50, 40]);
        assert!(Ranges::new(RANGES_MIN).blocks(3).is_empty());
    }

    #[test]
    fn what_lies_beyond_an_end_is_given_up() {
        let mut found = ranges(&[(10, 20), (30, 40), (50, 60)]);
        found.clip(SeqNumber(35));
        assert_eq!(edges(&found), [(30, 35), (10, 20)]);
        found.clip(SeqNumber(30));
        assert_eq!(edges(&found), [(10, 20)]);
    }
}
