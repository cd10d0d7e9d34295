//! TCP: octets received beyond a gap (RFC 9293 section 3.10.7.4).
//!
//! Positions count octets from RCV.NXT. Accepted octets do not change: of a later copy of the
//! same octets, whatever it holds, only the new ones count.

use rnic_abi::limits::{IN_ORDER_PAGES, PAGES, RANGES, RANGES_PER_CONNECTION};
use std::ops::Range;

/// Contiguous octets beyond a gap.
#[derive(Clone, Debug, PartialEq, Eq)]
struct OutOfOrderRange {
    /// Position of the first octet.
    left: u64,
    octets: Vec<u8>,
    /// Pages of packet memory that its segments were charged.
    pages: u32,
    /// Its spans in order; the first one begins with the range.
    spans: Vec<Span>,
}

/// Where a segment followed no octet received before, so that an FPDU may begin there (MPA-044).
#[derive(Clone, Debug, PartialEq, Eq)]
struct Span {
    /// Position of its first octet.
    start: u64,
    /// Position up to which its FPDUs were found good, one after the other.
    read_to: u64,
}

impl OutOfOrderRange {
    fn right(&self) -> u64 {
        self.left + self.octets.len() as u64
    }

    fn touches(&self, range: &Range<u64>) -> bool {
        self.right() >= range.start && self.left <= range.end
    }

    /// As [`OutOfOrderRanges::read_spans`].
    fn read_spans(&mut self, read: &mut impl FnMut(u64, &[u8], bool) -> usize) {
        let ends = self.spans.iter().skip(1).map(|span| span.start);
        let ends: Vec<u64> = ends.chain([self.right()]).collect();
        for (span, end) in self.spans.iter_mut().zip(ends) {
            let inside = (span.read_to - self.left) as usize..(end - self.left) as usize;
            let octets = &self.octets[inside];
            span.read_to += read(span.read_to, octets, span.read_to == span.start) as u64;
        }
    }
}

/// A range that is in order by now, with what has followed it: a receiver that is not yet done with
/// its spans may still look for FPDUs there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClosedRange {
    /// Positions in it count from `sequence`.
    range: Option<OutOfOrderRange>,
    sequence: u32,
}

impl ClosedRange {
    /// Sequence number from which its positions count.
    pub fn sequence(&self) -> u32 {
        self.sequence
    }

    /// As [`OutOfOrderRanges::read_spans`].
    pub fn read_spans(&mut self, mut read: impl FnMut(u64, &[u8], bool) -> usize) {
        if let Some(range) = &mut self.range {
            range.read_spans(&mut read);
        }
    }

    /// `next`, whose positions count from `sequence`, is in order.
    fn extend(&mut self, sequence: u32, next: &OutOfOrderRange) {
        // What begins in order followed something.
        let spans = next.spans.iter().filter(|span| span.start > 0);
        if let Some(range) = &mut self.range {
            let before = range.octets.len() as u64;
            range.octets.extend(&next.octets);
            range.spans.extend(spans.map(|span| Span {
                start: before + span.start,
                read_to: before + span.read_to,
            }));
        } else if spans.clone().next().is_some() {
            self.sequence = sequence;
            self.range = Some(OutOfOrderRange {
                spans: spans.cloned().collect(),
                ..next.clone()
            });
        }
    }
}

/// Why a segment beyond a gap is dropped.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Its pages exceed a limit.
    NoRoom,
    /// It would open one range too many.
    NoRange,
}

/// What the out-of-order ranges of all connections share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutOfOrderPool {
    /// Pages that may be charged in all.
    pub pages_max: u32,
    /// Pages that may be charged to one connection.
    pub share: u32,
    pages: u32,
    ranges: usize,
}

impl OutOfOrderPool {
    /// Pages that are charged.
    pub fn pages(&self) -> u32 {
        self.pages
    }
}

impl Default for OutOfOrderPool {
    fn default() -> Self {
        let pages_max = (PAGES - IN_ORDER_PAGES) as u32;
        Self {
            pages_max,
            share: pages_max,
            pages: 0,
            ranges: 0,
        }
    }
}

/// The out-of-order ranges of one connection, in sequence order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutOfOrderRanges {
    ranges: Vec<OutOfOrderRange>,
}

impl OutOfOrderRanges {
    /// Octets held.
    pub fn octets(&self) -> usize {
        self.ranges.iter().map(|held| held.octets.len()).sum()
    }

    /// Pages of packet memory charged.
    pub fn pages(&self) -> u32 {
        self.ranges.iter().map(|held| held.pages).sum()
    }

    /// Positions from RCV.NXT of each range: its first octet, and the one after its last.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.ranges.iter().map(|held| held.left..held.right())
    }

    /// Pages charged for each range, and its spans, in the order of [`ranges`](Self::ranges).
    pub fn charged(&self) -> impl Iterator<Item = (u32, usize)> + '_ {
        let held = self.ranges.iter();
        held.map(|held| (held.pages, held.spans.len()))
    }

    /// Octets of `range` that are not held.
    pub fn new_octets(&self, range: &Range<u64>) -> u64 {
        let held = self.ranges.iter().map(|held| {
            let (start, end) = (held.left.max(range.start), held.right().min(range.end));
            end.saturating_sub(start)
        });
        (range.end - range.start) - held.sum::<u64>()
    }

    /// May a segment with these octets be accepted?
    pub fn admit(
        &self,
        range: &Range<u64>,
        pages: u32,
        pool: &OutOfOrderPool,
    ) -> Result<(), Refusal> {
        if self.pages() + pages > pool.share || pool.pages + pages > pool.pages_max {
            return Err(Refusal::NoRoom);
        }
        let is_new = !self.ranges.iter().any(|held| held.touches(range));
        if is_new && (self.ranges.len() == RANGES_PER_CONNECTION || pool.ranges == RANGES) {
            return Err(Refusal::NoRange);
        }
        Ok(())
    }

    /// Store `octets` from position `left` on, as far as they are new.
    pub fn insert(&mut self, left: u64, octets: &[u8], pages: u32, pool: &mut OutOfOrderPool) {
        let range = left..left + octets.len() as u64;
        let (touched, others) = self.ranges.drain(..).partition(|held| held.touches(&range));
        self.ranges = others;
        pool.pages += pages;
        pool.ranges -= touched.len();
        pool.ranges += 1;
        let mut merged = merge(left, octets, touched);
        merged.pages += pages;
        self.ranges.push(merged);
        self.ranges.sort_by_key(|held| held.left);
    }

    /// `octets` continue the stream at `sequence`: returns all octets that are now in order.
    /// Positions count from their end afterwards. What was beyond the gap goes on in `closed`.
    pub fn close_gap(
        &mut self,
        sequence: u32,
        octets: &[u8],
        pool: &mut OutOfOrderPool,
        closed: &mut ClosedRange,
    ) -> Vec<u8> {
        let range = 0..octets.len() as u64;
        let (touched, others) = self.ranges.drain(..).partition(|held| held.touches(&range));
        self.ranges = others;
        pool.ranges -= touched.len();
        let merged = merge(0, octets, touched);
        pool.pages -= merged.pages;
        let advance = merged.octets.len() as u64;
        for held in &mut self.ranges {
            held.left -= advance;
            for span in &mut held.spans {
                span.start -= advance;
                span.read_to -= advance;
            }
        }
        closed.extend(sequence, &merged);
        merged.octets
    }

    /// Call `read` for each span with the position of its first unread octet, the octets from there
    /// on, and whether the span begins there. `read` returns how many of them it has read; they are
    /// not passed again.
    pub fn read_spans(&mut self, mut read: impl FnMut(u64, &[u8], bool) -> usize) {
        for held in &mut self.ranges {
            held.read_spans(&mut read);
        }
    }

    /// Discard all octets.
    pub fn clear(&mut self, pool: &mut OutOfOrderPool) {
        pool.pages -= self.pages();
        pool.ranges -= self.ranges.len();
        self.ranges.clear();
    }
}

/// One range of `octets` and the ranges they touch; octets received first win.
fn merge(left: u64, octets: &[u8], touched: Vec<OutOfOrderRange>) -> OutOfOrderRange {
    let start = touched.iter().map(|held| held.left).fold(left, u64::min);
    let own_end = left + octets.len() as u64;
    let end = touched
        .iter()
        .map(OutOfOrderRange::right)
        .fold(own_end, u64::max);
    let mut merged = vec![0; (end - start) as usize];
    merged[(left - start) as usize..][..octets.len()].copy_from_slice(octets);
    for held in &touched {
        merged[(held.left - start) as usize..][..held.octets.len()].copy_from_slice(&held.octets);
    }
    // New octets after a range belong to its last span; those that follow none open a span.
    let opens = touched.iter().all(|held| held.left > left);
    let opened = opens.then_some(Span {
        start: left,
        read_to: left,
    });
    let known = touched.iter().flat_map(|held| held.spans.iter().cloned());
    let mut spans: Vec<Span> = known.chain(opened).collect();
    spans.sort_by_key(|span| span.start);
    OutOfOrderRange {
        left: start,
        octets: merged,
        pages: touched.iter().map(|held| held.pages).sum(),
        spans,
    }
}
