//! Which octets of a stream the device has, when each was first accepted, and what is missing.
//!
//! ```text
//!  position 0        prefix_end                       highest
//!  |===== in order =====|....gap....|== out of order ==|
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

/// Octets that were missing while later ones were there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Positions.
    pub positions: Range<i64>,
    /// Cycle in which an octet beyond it was accepted.
    pub opened: u64,
    /// Cycle in which one of its octets was accepted, which closes it or leaves smaller gaps;
    /// `None` if that never happened.
    pub closed: Option<u64>,
}

/// Octets accepted by one segment that no earlier one had brought.
#[derive(Copy, Clone, Debug)]
struct Piece {
    end: i64,
    cycle: u64,
    /// The offer that brought it.
    offer: usize,
}

/// The octets of one stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Coverage {
    pieces: BTreeMap<i64, Piece>,
    prefix_end: i64,
    highest: i64,
    /// Where `prefix_end` moved to, and when.
    advances: Vec<(i64, u64)>,
    gaps: Vec<Gap>,
}

impl Coverage {
    /// Position of the first octet that is missing.
    pub(super) fn prefix_end(&self) -> i64 {
        self.prefix_end
    }

    /// Position after the last octet that is there.
    pub(super) fn highest(&self) -> i64 {
        self.highest
    }

    /// Accept what is new of `positions` from `offer`.
    pub(super) fn accept(&mut self, positions: Range<i64>, cycle: u64, offer: usize) {
        let new = self.missing(positions.start.max(0)..positions.end);
        for range in &new {
            let end = range.end;
            self.pieces.insert(range.start, Piece { end, cycle, offer });
            self.close_gaps(range, cycle);
        }
        if positions.start > self.highest {
            self.gaps.push(Gap {
                positions: self.highest..positions.start,
                opened: cycle,
                closed: None,
            });
        }
        self.highest = self.highest.max(positions.end);
        self.advance(cycle);
    }

    /// Is none of `positions` here yet?
    pub(super) fn is_new(&self, positions: Range<i64>) -> bool {
        self.overlapping(&positions).next().is_none()
    }

    /// Parts of `positions` that are missing.
    fn missing(&self, positions: Range<i64>) -> Vec<Range<i64>> {
        let mut missing = Vec::new();
        let mut at = positions.start;
        for (start, end) in self
            .overlapping(&positions)
            .map(|(start, p)| (start, p.end))
        {
            if start > at {
                missing.push(at..start);
            }
            at = at.max(end);
        }
        if at < positions.end {
            missing.push(at..positions.end);
        }
        missing
    }

    fn overlapping(&self, positions: &Range<i64>) -> impl Iterator<Item = (i64, Piece)> + '_ {
        let before = self.pieces.range(..=positions.start).next_back();
        let from = before.map_or(positions.start, |(&start, _)| start);
        let (first, end) = (positions.start, positions.end);
        // A range that ends before it starts is a caller's empty one.
        self.pieces
            .range(from..end.max(from))
            .map(|(&start, &piece)| (start, piece))
            .filter(move |(_, piece)| piece.end > first)
    }

    /// `filled` arrived: gaps that it touches close, and what it leaves of them opens anew.
    fn close_gaps(&mut self, filled: &Range<i64>, cycle: u64) {
        let mut left = Vec::new();
        let open = self.gaps.iter_mut().filter(|gap| gap.closed.is_none());
        for gap in open {
            let whole = gap.positions.clone();
            if whole.end <= filled.start || filled.end <= whole.start {
                continue;
            }
            gap.closed = Some(cycle);
            left.push(whole.start..filled.start);
            left.push(filled.end..whole.end);
        }
        let left = left.into_iter().filter(|positions| !positions.is_empty());
        self.gaps.extend(left.map(|positions| Gap {
            positions,
            opened: cycle,
            closed: None,
        }));
    }

    fn advance(&mut self, cycle: u64) {
        let before = self.prefix_end;
        while let Some(piece) = self.pieces.get(&self.prefix_end) {
            self.prefix_end = piece.end;
        }
        if self.prefix_end > before {
            self.advances.push((self.prefix_end, cycle));
        }
    }

    /// The device gave up everything beyond the first gap.
    pub(super) fn give_up(&mut self, cycle: u64) {
        self.pieces.split_off(&self.prefix_end);
        self.highest = self.prefix_end;
        let open = self.gaps.iter_mut().filter(|gap| gap.closed.is_none());
        open.for_each(|gap| gap.closed = Some(cycle));
    }

    /// Of `offer`, nothing from `position` on was taken after all.
    pub(super) fn withdraw(&mut self, offer: usize, position: i64) {
        let taken_back = self.pieces.split_off(&position);
        let others = taken_back.into_iter().filter(|(_, p)| p.offer != offer);
        self.pieces.extend(others);
        let last = self.pieces.range_mut(..position).next_back();
        if let Some((_, piece)) = last.filter(|(_, p)| p.offer == offer) {
            piece.end = piece.end.min(position);
        }
        self.prefix_end = self.prefix_end.min(position);
        self.advances.retain(|&(end, _)| end <= position);
        let last = self.pieces.values().map(|piece| piece.end).max();
        self.highest = last.unwrap_or(0).max(self.prefix_end);
    }

    /// Cycle in which the last octet of `positions` was accepted; `None` if one is missing.
    pub(super) fn whole_at(&self, positions: &Range<i64>) -> Option<u64> {
        if !self.missing(positions.clone()).is_empty() {
            return None;
        }
        self.overlapping(positions).map(|(_, p)| p.cycle).max()
    }

    /// Cycle in which all octets before `position` were accepted.
    pub(super) fn in_order_at(&self, position: i64) -> Option<u64> {
        let index = self.advances.partition_point(|&(end, _)| end < position);
        self.advances.get(index).map(|&(_, cycle)| cycle)
    }

    /// The offer that brought the octet at `position`.
    pub(super) fn offer_at(&self, position: i64) -> Option<usize> {
        let (_, piece) = self.pieces.range(..=position).next_back()?;
        (position < piece.end).then_some(piece.offer)
    }

    /// Every gap there was.
    pub(super) fn into_gaps(self) -> Vec<Gap> {
        self.gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(positions: Range<i64>, opened: u64, closed: Option<u64>) -> Gap {
        Gap {
            positions,
            opened,
            closed,
        }
    }

    #[test]
    fn a_gap_opens_shrinks_and_closes() {
        let mut stream = Coverage::default();
        stream.accept(0..10, 1, 0);
        stream.accept(30..40, 2, 1);
        stream.accept(15..20, 3, 2);
        assert!(stream.is_new(20..30) && !stream.is_new(20..31) && !stream.is_new(9..15));
        stream.accept(32..38, 4, 3);
        assert_eq!(stream.prefix_end(), 10);
        stream.accept(5..15, 5, 4);
        assert_eq!(stream.prefix_end(), 20);
        stream.accept(20..30, 6, 5);
        assert_eq!(stream.prefix_end(), 40);
        let gaps = [
            gap(10..30, 2, Some(3)),
            gap(10..15, 3, Some(5)),
            gap(20..30, 3, Some(6)),
        ];
        assert_eq!(stream.clone().into_gaps(), gaps);
        assert_eq!(stream.in_order_at(10), Some(1));
        assert_eq!(stream.in_order_at(11), Some(5));
        assert_eq!(stream.in_order_at(40), Some(6));
        assert_eq!(stream.in_order_at(41), None);
        assert_eq!(stream.whole_at(&(30..40)), Some(2));
        assert_eq!(stream.whole_at(&(12..32)), Some(6));
        assert_eq!(stream.whole_at(&(35..41)), None);
        assert_eq!(
            (stream.offer_at(16), stream.offer_at(5)),
            (Some(2), Some(0))
        );
    }

    #[test]
    fn what_the_device_gives_up_is_missing_again() {
        let mut stream = Coverage::default();
        stream.accept(0..10, 1, 0);
        stream.accept(20..30, 2, 1);
        stream.give_up(5);
        assert_eq!(stream.whole_at(&(20..30)), None);
        stream.accept(10..20, 6, 2);
        stream.accept(20..30, 7, 3);
        assert_eq!(stream.in_order_at(30), Some(7));
        assert_eq!(stream.into_gaps(), [gap(10..20, 2, Some(5))]);
    }

    #[test]
    fn a_segment_taken_in_part_brings_the_rest_later() {
        let mut stream = Coverage::default();
        stream.accept(0..30, 1, 0);
        stream.withdraw(0, 12);
        assert_eq!(stream.prefix_end(), 12);
        assert_eq!(stream.whole_at(&(12..30)), None);
        stream.accept(0..30, 9, 1);
        assert_eq!(stream.whole_at(&(0..12)), Some(1));
        assert_eq!(stream.in_order_at(30), Some(9));
    }
}
