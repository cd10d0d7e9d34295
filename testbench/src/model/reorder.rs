//! TCP: octets received beyond a gap (RFC 9293 section 3.10.7.4).
//!
//! Positions count octets from RCV.NXT. What was accepted stays as it is: a later copy of the same
//! octets, whatever it holds, only brings those that are new.

use rnic_abi::limits::{IN_ORDER_PAGES, PAGES, RANGES, RANGES_PER_CONNECTION};
use std::ops::Range;

/// Octets without a gap, received before something that precedes them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    /// Position of the first octet.
    left: u64,
    octets: Vec<u8>,
    /// Pages of packet memory that its segments were charged.
    pages: u32,
    /// Its spans in order; the first one begins with the run.
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

impl Run {
    fn right(&self) -> u64 {
        self.left + self.octets.len() as u64
    }

    fn touches(&self, range: &Range<u64>) -> bool {
        self.right() >= range.start && self.left <= range.end
    }

    /// As [`EarlyRuns::read_spans`].
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

/// A run that is in order by now, and what has followed it: a receiver that is not yet done with
/// its spans may go on to look for FPDUs there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClosedRun {
    /// Positions in it count from `sequence`.
    run: Option<Run>,
    sequence: u32,
}

impl ClosedRun {
    /// Sequence number from which its positions count.
    pub fn sequence(&self) -> u32 {
        self.sequence
    }

    /// As [`EarlyRuns::read_spans`].
    pub fn read_spans(&mut self, mut read: impl FnMut(u64, &[u8], bool) -> usize) {
        self.run
            .iter_mut()
            .for_each(|run| run.read_spans(&mut read));
    }

    /// `next`, whose positions count from `sequence`, is in order.
    fn extend(&mut self, sequence: u32, next: &Run) {
        // What begins in order followed something.
        let spans = next.spans.iter().filter(|span| span.start > 0);
        if let Some(run) = &mut self.run {
            let before = run.octets.len() as u64;
            run.octets.extend(&next.octets);
            run.spans.extend(spans.map(|span| Span {
                start: before + span.start,
                read_to: before + span.read_to,
            }));
        } else if spans.clone().next().is_some() {
            self.sequence = sequence;
            self.run = Some(Run {
                spans: spans.cloned().collect(),
                ..next.clone()
            });
        }
    }
}

/// Why octets beyond a gap are not kept.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Their pages are more than may be held.
    NoRoom,
    /// They would open one range too many.
    NoRange,
}

/// What the early runs of all connections share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlyPool {
    /// Pages that may be charged in all.
    pub pages_max: u32,
    /// Pages that may be charged to one connection.
    pub share: u32,
    pages: u32,
    runs: usize,
}

impl Default for EarlyPool {
    fn default() -> Self {
        let pages_max = (PAGES - IN_ORDER_PAGES) as u32;
        Self {
            pages_max,
            share: pages_max,
            pages: 0,
            runs: 0,
        }
    }
}

/// The early runs of one connection, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EarlyRuns {
    runs: Vec<Run>,
}

impl EarlyRuns {
    /// Octets kept.
    pub fn octets(&self) -> usize {
        self.runs.iter().map(|run| run.octets.len()).sum()
    }

    /// Pages of packet memory charged.
    pub fn pages(&self) -> u32 {
        self.runs.iter().map(|run| run.pages).sum()
    }

    /// Positions from RCV.NXT of each run: its first octet, and the one after its last.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.runs.iter().map(|run| run.left..run.right())
    }

    /// Octets of `range` that no run holds.
    pub fn new_octets(&self, range: &Range<u64>) -> u64 {
        let held = self.runs.iter().map(|run| {
            let (start, end) = (run.left.max(range.start), run.right().min(range.end));
            end.saturating_sub(start)
        });
        (range.end - range.start) - held.sum::<u64>()
    }

    /// May a segment with these octets be kept?
    pub fn admit(&self, range: &Range<u64>, pages: u32, pool: &EarlyPool) -> Result<(), Refusal> {
        if self.pages() + pages > pool.share || pool.pages + pages > pool.pages_max {
            return Err(Refusal::NoRoom);
        }
        let is_new = !self.runs.iter().any(|run| run.touches(range));
        if is_new && (self.runs.len() == RANGES_PER_CONNECTION || pool.runs == RANGES) {
            return Err(Refusal::NoRange);
        }
        Ok(())
    }

    /// Keep `octets` from position `left` on, as far as they are new.
    pub fn insert(&mut self, left: u64, octets: &[u8], pages: u32, pool: &mut EarlyPool) {
        let range = left..left + octets.len() as u64;
        let (touched, others) = self.runs.drain(..).partition(|run| run.touches(&range));
        self.runs = others;
        pool.pages += pages;
        pool.runs -= touched.len();
        pool.runs += 1;
        let mut merged = merge(left, octets, touched);
        merged.pages += pages;
        self.runs.push(merged);
        self.runs.sort_by_key(|run| run.left);
    }

    /// `octets` continue the stream, at `sequence`: all that is in order with them. Positions count
    /// from there afterwards. What was beyond a gap goes on in `closed`.
    pub fn close_gap(
        &mut self,
        sequence: u32,
        octets: &[u8],
        pool: &mut EarlyPool,
        closed: &mut ClosedRun,
    ) -> Vec<u8> {
        let range = 0..octets.len() as u64;
        let (touched, others) = self.runs.drain(..).partition(|run| run.touches(&range));
        self.runs = others;
        pool.runs -= touched.len();
        let merged = merge(0, octets, touched);
        pool.pages -= merged.pages;
        let advance = merged.octets.len() as u64;
        for run in &mut self.runs {
            run.left -= advance;
            for span in &mut run.spans {
                span.start -= advance;
                span.read_to -= advance;
            }
        }
        closed.extend(sequence, &merged);
        merged.octets
    }

    /// Show `read` each span: the position from which it was not read yet, its octets from there on
    /// and whether that is where the span begins. `read` answers how many octets of them it has
    /// read; they are not shown again.
    pub fn read_spans(&mut self, mut read: impl FnMut(u64, &[u8], bool) -> usize) {
        for run in &mut self.runs {
            run.read_spans(&mut read);
        }
    }

    /// Nothing is kept any more.
    pub fn clear(&mut self, pool: &mut EarlyPool) {
        pool.pages -= self.pages();
        pool.runs -= self.runs.len();
        self.runs.clear();
    }
}

/// One run of `octets` and of the runs they touch; what was there before wins.
fn merge(left: u64, octets: &[u8], touched: Vec<Run>) -> Run {
    let start = touched.iter().map(|run| run.left).fold(left, u64::min);
    let own_end = left + octets.len() as u64;
    let end = touched.iter().map(Run::right).fold(own_end, u64::max);
    let mut merged = vec![0; (end - start) as usize];
    merged[(left - start) as usize..][..octets.len()].copy_from_slice(octets);
    for run in &touched {
        merged[(run.left - start) as usize..][..run.octets.len()].copy_from_slice(&run.octets);
    }
    // New octets behind a run belong to its last span; those that follow none open one.
    let opens = touched.iter().all(|run| run.left > left);
    let opened = opens.then_some(Span {
        start: left,
        read_to: left,
    });
    let known = touched.iter().flat_map(|run| run.spans.iter().cloned());
    let mut spans: Vec<Span> = known.chain(opened).collect();
    spans.sort_by_key(|span| span.start);
    Run {
        left: start,
        octets: merged,
        pages: touched.iter().map(|run| run.pages).sum(),
        spans,
    }
}
