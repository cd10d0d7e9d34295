//! A connection of the model, and its words in the tables.

use crate::receive::tcp::context::QueuedFrame;

/// An out-of-order range, and its charge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub left: i64,
    pub right: i64,
    pub number: u64,
    pub pages: u64,
}

/// A connection as the tables show it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stream {
    pub connection: u64,
    /// Position of the next octet in order.
    pub next: i64,
    pub window: u32,
    pub ack: u32,
    pub wnd: u16,
    /// Sequence number of the first FIN with payload.
    pub fin: Option<u32>,
    /// Sorted; no two overlap or touch.
    pub ranges: Vec<Range>,
    pub last_range: u64,
    pub answers: u8,
    pub repeats: u8,
}

impl Stream {
    /// Keeps what the segment says of the other direction.
    pub fn acknowledge(&mut self, frame: &QueuedFrame) {
        self.ack = frame.segment.seg_ack.index() as u32;
        self.wnd = frame.segment.seg_wnd.index() as u16;
    }

    /// As a write to table `TCP` starts it.
    pub fn new(connection: u64, rcv_nxt: u32, window: u32) -> Self {
        Self {
            connection,
            next: i64::from(rcv_nxt) + (1 << 40),
            window,
            ..Self::default()
        }
    }

    pub(super) fn first_range(&self) -> Option<u64> {
        self.ranges.first().map(|range| range.number)
    }

    pub(super) fn pages(&self) -> u64 {
        self.ranges.iter().map(|range| range.pages).sum()
    }

    /// The words of table `TCP`, and a mask of the defined bits.
    pub fn tcp_words(&self) -> (u128, u128) {
        let words = u128::from(self.next as u32)
            | (u128::from(self.window) << 32)
            | (u128::from(self.ack) << 64)
            | (u128::from(self.wnd) << 96)
            | (u128::from(self.fin.is_some()) << 112)
            | ((self.ranges.len() as u128) << 113)
            | (u128::from(self.first_range().unwrap_or_default()) << 118);
        (words, self.but_for_numbers(0xff << 118))
    }

    /// The words of table `OUT_OF_ORDER`, and a mask of the defined bits.
    pub fn ooo_words(&self) -> (u128, u128) {
        let words = u128::from(self.first_range().unwrap_or_default())
            | ((self.ranges.len() as u128) << 8)
            | (u128::from(self.last_range) << 16)
            | (u128::from(self.pages()) << 32)
            | (u128::from(self.answers) << 64);
        (words, self.but_for_numbers(0xff_00ff))
    }

    /// Without ranges their numbers are undefined.
    fn but_for_numbers(&self, numbers: u128) -> u128 {
        if self.ranges.is_empty() {
            !numbers
        } else {
            !0
        }
    }

    /// The words of table `RANGE` for the range at `place`, and a mask of the defined bits.
    pub fn range_words(&self, place: usize) -> (u128, u128) {
        let range = self.ranges[place];
        let next = self.ranges.get(place + 1);
        let words = u128::from(range.left as u32)
            | (u128::from(range.right as u32) << 32)
            | (u128::from(next.map_or(0, |next| next.number)) << 64)
            | (u128::from(next.is_some()) << 72)
            | (u128::from(range.pages) << 96);
        let unknown = if next.is_some() { 0 } else { 0xff << 64 };
        (words, !unknown)
    }

    pub(super) fn has(&self, position: i64) -> bool {
        let mut ranges = self.ranges.iter();
        ranges.any(|range| (range.left..range.right).contains(&position))
    }

    /// Runs of octets in `[left, right)` that are not in any range.
    pub(super) fn new_runs(&self, left: i64, right: i64) -> Vec<(i64, i64)> {
        let mut runs: Vec<(i64, i64)> = Vec::new();
        for position in (left..right).filter(|position| !self.has(*position)) {
            match runs.last_mut() {
                Some(run) if run.1 == position => run.1 += 1,
                _ => runs.push((position, position + 1)),
            }
        }
        runs
    }

    pub(super) fn ending_at(&self, position: i64) -> Option<u64> {
        let mut ranges = self.ranges.iter();
        ranges
            .find(|range| range.right == position)
            .map(|range| range.number)
    }

    pub(super) fn beginning_at(&self, position: i64) -> Option<u64> {
        let mut ranges = self.ranges.iter();
        ranges
            .find(|range| range.left == position)
            .map(|range| range.number)
    }
}
