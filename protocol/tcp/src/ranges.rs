//! Ranges of octets beyond a gap, the latest first: the order of SACK blocks (RFC 2018 section 4).
use crate::options::SackBlocks;
use crate::seq::SeqNumber;

/// Ranges that are kept, at most. A segment that would begin another one is not kept.
pub const RANGES_MAX: usize = 32;

/// Up to [`RANGES_MAX`] ranges that do not touch.
#[derive(Clone, Debug, Default, Hash)]
pub struct Ranges {
    /// Numbers of the first octet and of the one after the last; the latest range first.
    ranges: [(SeqNumber, SeqNumber); RANGES_MAX],
    count: usize,
}

impl Ranges {
    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The ranges, the latest first.
    pub fn as_slice(&self) -> &[(SeqNumber, SeqNumber)] {
        &self.ranges[..self.count]
    }

    /// Whether [`Self::insert`] has room for this range.
    pub fn has_room(&self, left: SeqNumber, right: SeqNumber) -> bool {
        self.count < RANGES_MAX
            || self
                .as_slice()
                .iter()
                .any(|range| touch(*range, (left, right)))
    }

    /// Insert a range in front, joined with those that it touches. The oldest leaves if there is no
    /// room.
    pub fn insert(&mut self, left: SeqNumber, right: SeqNumber) {
        let mut joined = (left, right);
        self.retain(|range| {
            let apart = !touch(range, (left, right));
            if !apart {
                joined = (joined.0.earlier(range.0), joined.1.later(range.1));
            }
            apart.then_some(range)
        });
        self.count = (self.count + 1).min(RANGES_MAX);
        self.ranges[..self.count].rotate_right(1);
        self.ranges[0] = joined;
    }

    fn retain(
        &mut self,
        mut keep: impl FnMut((SeqNumber, SeqNumber)) -> Option<(SeqNumber, SeqNumber)>,
    ) {
        let mut count = 0;
        for index in 0..self.count {
            if let Some(range) = keep(self.ranges[index]) {
                self.ranges[count] = range;
                count += 1;
            }
        }
        self.count = count;
    }

    /// Octets up to `next` have arrived in order: ranges that this reaches are removed, and the
    /// number after all that is now in order is returned.
    pub fn advance(&mut self, next: SeqNumber) -> SeqNumber {
        let mut next = next;
        // A range can reach another one only in order, so a pass for each suffices.
        for _ in 0..self.count {
            let before = next;
            self.retain(|range| {
                if range.0.is_after(before) {
                    return Some(range);
                }
                next = next.later(range.1);
                None
            });
        }
        next
    }

    /// Give up everything from `end` on.
    pub fn clip(&mut self, end: SeqNumber) {
        self.retain(|range| {
            range
                .0
                .is_before(end)
                .then_some((range.0, range.1.earlier(end)))
        });
    }

    /// As SACK blocks. Of several ACKs that leave together each names first what another segment
    /// has brought: the range that was the latest `newer` ranges ago, or the oldest.
    pub fn blocks(&self, newer: usize) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        let ranges = self.as_slice();
        let (latest, before) = ranges.split_at(newer.min(ranges.len().saturating_sub(1)));
        for &(left, right) in before.iter().chain(latest) {
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
        let mut ranges = Ranges::default();
        for &(left, right) in edges {
            ranges.insert(SeqNumber(left), SeqNumber(right));
        }
        ranges
    }

    fn edges(ranges: &Ranges) -> Vec<(u32, u32)> {
        ranges
            .as_slice()
            .iter()
            .map(|range| (range.0 .0, range.1 .0))
            .collect()
    }

    /// TCP-035: RFC 2018 section 4: the block of the latest segment first, those before it behind.
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
        assert_eq!(edges(&found).len(), RANGES_MAX);
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
        assert!(Ranges::default().blocks(3).is_empty());
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
