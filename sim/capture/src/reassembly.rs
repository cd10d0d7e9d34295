//! Octets of one TCP direction in order, however they arrived.
//!
//! This is all that a receiver without limits would see. It is used to learn from a capture how to
//! configure a device, and what a device should have placed.

use std::collections::BTreeMap;
use std::ops::Range;

/// Octets in order, with the frame that brought each run.
#[derive(Clone, Debug)]
pub struct Reassembly {
    /// Sequence number of `octets[0]`, once known.
    start: Option<u32>,
    octets: Vec<u8>,
    /// Run borders: from this offset on, octets became contiguous with this frame.
    arrivals: Vec<(usize, usize)>,
    /// Octets ahead of a gap, by offset from `start`.
    ahead: BTreeMap<usize, Vec<u8>>,
    /// Octets that are kept, from the first one on.
    octets_max: usize,
}

/// Where a stream stops, although later octets of it are there.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// Sequence number of the first octet that is missing.
    pub sequence: u32,
    /// Octets that are missing.
    pub missing: usize,
    /// Octets that wait after it, further gaps not counted.
    pub waiting: usize,
}

impl Default for Reassembly {
    fn default() -> Self {
        Self::limited(usize::MAX)
    }
}

impl Reassembly {
    /// One that keeps the first `octets_max` octets of its stream alone.
    pub(crate) fn limited(octets_max: usize) -> Self {
        Self {
            start: None,
            octets: Vec::new(),
            arrivals: Vec::new(),
            ahead: BTreeMap::new(),
            octets_max,
        }
    }

    /// Keep no more than `octets_max` octets from now on.
    pub(crate) fn limit(&mut self, octets_max: usize) {
        if octets_max >= self.octets_max {
            return;
        }
        self.octets_max = octets_max;
        self.octets.truncate(octets_max);
        self.octets.shrink_to_fit();
        self.arrivals.retain(|&(offset, _)| offset < octets_max);
        self.arrivals.shrink_to_fit();
        self.ahead.retain(|&offset, _| offset < octets_max);
    }

    /// As it was before anything came.
    pub(crate) fn emptied(&self) -> Self {
        Self::limited(self.octets_max)
    }

    /// Whether the sequence number of its first octet is known.
    pub(crate) fn has_begun(&self) -> bool {
        self.start.is_some()
    }

    /// Where it stops, if octets wait after a gap.
    pub fn gap(&self) -> Option<Gap> {
        let (&next, _) = self.ahead.first_key_value()?;
        Some(Gap {
            sequence: self.sequence(self.octets.len()),
            missing: next - self.octets.len(),
            waiting: self.ahead.values().map(Vec::len).sum(),
        })
    }

    /// Set the sequence number of the first octet, if it is not known yet.
    pub fn begin(&mut self, sequence: u32) {
        self.start.get_or_insert(sequence);
    }

    /// Add the payload of a segment that came in frame `frame`.
    pub fn push(&mut self, sequence: u32, payload: &[u8], frame: usize) {
        let Some(start) = self.start else { return };
        if payload.is_empty() {
            return;
        }
        // Distance from the next octet expected; sequence space is a circle.
        let next = start.wrapping_add(self.octets.len() as u32);
        let distance = i64::from(sequence.wrapping_sub(next) as i32);
        let offset = self.octets.len() as i64 + distance;
        if offset + payload.len() as i64 <= self.octets.len() as i64 {
            return;
        }
        let end = (offset + payload.len() as i64) as usize;
        let kept = offset.max(0) as usize..end.min(self.octets_max);
        if kept.end <= self.octets.len().max(kept.start) {
            return;
        }
        if self.ahead.is_empty() && kept.start <= self.octets.len() {
            // In order, as nearly all are: no node of the map is made for it.
            let own = (self.octets.len() as i64 - offset) as usize;
            self.arrivals.push((self.octets.len(), frame));
            let end = (kept.end as i64 - offset) as usize;
            self.octets.extend_from_slice(&payload[own..end]);
            return;
        }
        let new = self.new_octets(kept);
        for octets in new {
            let own = (octets.start as i64 - offset) as usize;
            let octets_new = payload[own..own + octets.len()].to_vec();
            self.ahead.insert(octets.start, octets_new);
        }
        self.close_gaps(frame);
    }

    /// The parts of `octets` that are not there yet: of what arrives twice the first copy counts.
    fn new_octets(&self, octets: Range<usize>) -> Vec<Range<usize>> {
        let mut new = Vec::new();
        let mut at = octets.start.max(self.octets.len());
        for (&start, known) in self.ahead.range(..octets.end) {
            if at < start {
                new.push(at..start);
            }
            at = at.max(start + known.len());
        }
        if at < octets.end {
            new.push(at..octets.end);
        }
        new
    }

    fn close_gaps(&mut self, frame: usize) {
        while let Some(entry) = self.ahead.first_entry() {
            let offset = *entry.key();
            if offset > self.octets.len() {
                return;
            }
            let run = entry.remove();
            let known = self.octets.len() - offset;
            if known < run.len() {
                self.arrivals.push((self.octets.len(), frame));
                self.octets.extend_from_slice(&run[known..]);
            }
        }
    }

    /// Octets so far.
    pub fn octets(&self) -> &[u8] {
        &self.octets
    }

    /// Sequence number of the octet at `offset`.
    pub fn sequence(&self, offset: usize) -> u32 {
        self.start.unwrap_or(0).wrapping_add(offset as u32)
    }

    /// Offset of `sequence`, if it is among the octets received or just after them.
    pub fn offset(&self, sequence: u32) -> Option<usize> {
        let offset = sequence.wrapping_sub(self.start?) as usize;
        (offset <= self.octets.len()).then_some(offset)
    }

    /// The frame with which all octets before `end` were there.
    pub fn arrival(&self, end: usize) -> usize {
        let run = self.arrivals.partition_point(|&(offset, _)| offset < end);
        run.checked_sub(1).map_or(0, |run| self.arrivals[run].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_overlaps_and_wrap_give_the_stream_once() {
        let stream: Vec<u8> = (0..200).collect();
        let start = u32::MAX - 50;
        let piece = |from: usize, to: usize| (start.wrapping_add(from as u32), &stream[from..to]);
        let mut reassembly = Reassembly::default();
        reassembly.begin(start);
        for (frame, (from, to)) in [(0, 10), (60, 90), (5, 40), (80, 200), (35, 70), (0, 200)]
            .into_iter()
            .enumerate()
        {
            let (sequence, payload) = piece(from, to);
            reassembly.push(sequence, payload, frame);
        }
        assert_eq!(reassembly.octets(), stream);
        assert_eq!(reassembly.arrival(10), 0);
        assert_eq!(reassembly.arrival(40), 2);
        assert_eq!(reassembly.arrival(200), 4);
        assert_eq!(reassembly.offset(0), Some(51));
    }

    /// RFC 9293 section 3.10.7.4: what was accepted stays, and a longer copy brings what is new.
    #[test]
    fn of_octets_that_arrive_twice_the_first_copy_counts() {
        let mut reassembly = Reassembly::default();
        reassembly.begin(0);
        let pieces = [
            (0, 40, 1),
            (60, 70, 2),
            (60, 90, 3),
            (50, 65, 4),
            (40, 100, 5),
        ];
        for (frame, (start, end, value)) in pieces.into_iter().enumerate() {
            reassembly.push(start, &vec![value; (end - start) as usize], frame);
        }
        let expected = [(40, 1), (10, 5), (10, 4), (10, 2), (20, 3), (10, 5)];
        let expected = expected.map(|(octets, value)| vec![value; octets]);
        assert_eq!(reassembly.octets(), expected.concat());
        assert_eq!(reassembly.arrival(100), 4);
    }
}
