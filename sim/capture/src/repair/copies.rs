//! Which octets of a long frame are also in segments whose checksums are right: of two copies the
//! good one counts, and nothing says that the long frame's octets are what was on the wire.
//!
//! In: the segments of a file, in order. Out: for each long frame, the ranges of its payload that
//! good segments nearby hold too.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

/// Frames within which a copy of a long frame's octets counts.
const NEARBY_FRAMES: usize = 512;

/// Payload of one direction of a connection, in sequence numbers.
#[derive(Copy, Clone, Debug)]
pub(super) struct Stretch {
    /// Its frame, as the file numbers it.
    pub(super) number: usize,
    /// Hash of the direction's ends.
    pub(super) ends: u64,
    pub(super) sequence: u32,
    pub(super) octets: u32,
}

impl Stretch {
    /// The octets of this stretch that are in `other` too, by their offsets in this one.
    fn shared(&self, other: &Self) -> Option<Range<u32>> {
        let distance = other.sequence.wrapping_sub(self.sequence) as i32;
        let first = i64::from(distance).max(0);
        let end = (i64::from(distance) + i64::from(other.octets)).min(i64::from(self.octets));
        let is_one = self.ends == other.ends && first < end;
        is_one.then_some(first as u32..end as u32)
    }
}

/// Long frames, and what good segments have of them.
#[derive(Debug, Default)]
pub(super) struct Copies {
    good: VecDeque<Stretch>,
    long: VecDeque<Stretch>,
    /// By the number of the long frame.
    shared: BTreeMap<usize, Vec<Range<u32>>>,
}

impl Copies {
    /// A segment whose checksums are right.
    pub(super) fn note_good(&mut self, good: Stretch) {
        if good.octets == 0 {
            return;
        }
        forget(&mut self.long, good.number);
        forget(&mut self.good, good.number);
        for long in &self.long {
            if let Some(shared) = long.shared(&good) {
                self.shared.entry(long.number).or_default().push(shared);
            }
        }
        self.good.push_back(good);
    }

    /// A frame that is longer than the device takes.
    pub(super) fn note_long(&mut self, long: Stretch) {
        forget(&mut self.long, long.number);
        forget(&mut self.good, long.number);
        for shared in self.good.iter().filter_map(|good| long.shared(good)) {
            self.shared.entry(long.number).or_default().push(shared);
        }
        self.long.push_back(long);
    }

    /// Whether good segments have all octets of `piece` of the payload of frame `number`.
    pub(super) fn have(&self, number: usize, piece: &Range<usize>) -> bool {
        let Some(shared) = self.shared.get(&number) else {
            return false;
        };
        let mut next = piece.start;
        while next < piece.end {
            let holds = |range: &&Range<u32>| range.contains(&(next as u32));
            match shared.iter().filter(holds).map(|range| range.end).max() {
                Some(end) => next = end as usize,
                None => return false,
            }
        }
        true
    }
}

fn forget(stretches: &mut VecDeque<Stretch>, number: usize) {
    while stretches
        .front()
        .is_some_and(|oldest| number - oldest.number > NEARBY_FRAMES)
    {
        stretches.pop_front();
    }
}
