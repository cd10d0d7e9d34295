//! What TCP does with a segment, in plain integers: octets are looked at one by one, and received
//! ranges are a sorted list that is made anew.
//!
//! Positions are sequence numbers without wrap: a connection begins somewhere and counts on.
use crate::messages::{Accepted, HostFrame, SegmentEvent, VERDICT_TCP};
use crate::tcp::accept::*;
use crate::tcp::records::WaitingFrame;
use rnic_abi::events::SegmentVerdict;
use rnic_abi::limits::{PAGES, RANGES, RANGES_PER_CONNECTION, SHARED_RUNS};
use rnic_abi::registers::EARLY_PAGES_MAX;
use std::collections::VecDeque;

pub const FIN: u64 = 1 << 0;
pub const ACK: u64 = 1 << 4;

/// A received range, and what it is charged for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub left: i64,
    pub right: i64,
    pub number: u64,
    pub pages: u64,
}

/// A message of acceptance; what does not count in it is `None`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    pub connection: u64,
    pub pages: Option<(u64, u64)>,
    pub place: Option<(u64, u64)>,
    pub sequence: Option<u32>,
    pub early: bool,
    pub left: Option<u64>,
    pub follows_left: bool,
    pub right: Option<u64>,
    pub shared: bool,
    pub first: bool,
    pub last: bool,
    pub purges: bool,
}

impl From<Accepted> for Told {
    fn from(message: Accepted) -> Self {
        let number = |bits: rust_hdl::prelude::Bits<8>| bits.index() as u64;
        let counts = !message.purges;
        let opens = message.early && !message.has_right;
        let pages = (
            message.head_page.index() as u64,
            message.tail_page.index() as u64,
        );
        let place = (message.offset.index() as u64, message.octets.index() as u64);
        Self {
            connection: message.connection.index() as u64,
            pages: counts.then_some(pages),
            place: counts.then_some(place),
            sequence: (counts && message.early).then(|| message.sequence.to_u64() as u32),
            early: counts && message.early,
            left: (counts && (message.has_left || opens)).then(|| number(message.left)),
            follows_left: counts && message.has_left,
            right: (message.purges || message.has_right).then(|| number(message.right)),
            shared: counts && message.shared,
            first: counts && message.first,
            last: counts && message.last,
            purges: message.purges,
        }
    }
}

/// A frame for the host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Host {
    pub pages: (u64, u64),
    pub octets: u64,
}

impl From<HostFrame> for Host {
    fn from(message: HostFrame) -> Self {
        Self {
            pages: (
                message.head_page.index() as u64,
                message.tail_page.index() as u64,
            ),
            octets: message.frame_octets.index() as u64,
        }
    }
}

/// Trace of a segment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    pub connection: u64,
    pub verdict: u64,
    pub seg_seq: u64,
    pub seg_len: u64,
}

impl From<SegmentEvent> for Event {
    fn from(event: SegmentEvent) -> Self {
        Self {
            connection: event.connection.index() as u64,
            verdict: event.verdict.index() as u64,
            seg_seq: event.seg_seq.index() as u64,
            seg_len: event.seg_len.index() as u64,
        }
    }
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
    pub fin: bool,
    /// Sorted; no two overlap or touch.
    pub ranges: Vec<Range>,
    pub last_range: u64,
    pub answers: u8,
}

impl Stream {
    /// As a write to table `TCP` starts it.
    pub fn new(connection: u64, rcv_nxt: u32, window: u32) -> Self {
        Self {
            connection,
            next: i64::from(rcv_nxt) + (1 << 40),
            window,
            ..Self::default()
        }
    }

    fn first_range(&self) -> Option<u64> {
        self.ranges.first().map(|range| range.number)
    }

    fn pages(&self) -> u64 {
        self.ranges.iter().map(|range| range.pages).sum()
    }

    /// The words of table `TCP`, and a mask of the bits that count.
    pub fn tcp_words(&self) -> (u128, u128) {
        let words = u128::from(self.next as u32)
            | (u128::from(self.window) << 32)
            | (u128::from(self.ack) << 64)
            | (u128::from(self.wnd) << 96)
            | (u128::from(self.fin) << 112)
            | ((self.ranges.len() as u128) << 113)
            | (u128::from(self.first_range().unwrap_or_default()) << 118);
        (words, self.but_for_numbers(0xff << 118))
    }

    /// The words of table `EARLY`, and a mask of the bits that count.
    pub fn early_words(&self) -> (u128, u128) {
        let words = u128::from(self.first_range().unwrap_or_default())
            | ((self.ranges.len() as u128) << 8)
            | (u128::from(self.last_range) << 16)
            | (u128::from(self.pages()) << 32)
            | (u128::from(self.answers) << 64);
        (words, self.but_for_numbers(0xff_00ff))
    }

    /// Without ranges their numbers mean nothing.
    fn but_for_numbers(&self, numbers: u128) -> u128 {
        if self.ranges.is_empty() {
            !numbers
        } else {
            !0
        }
    }

    /// The words of table `RANGE` for the range at `place`, and a mask of the bits that count.
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

    fn has(&self, position: i64) -> bool {
        let mut ranges = self.ranges.iter();
        ranges.any(|range| (range.left..range.right).contains(&position))
    }

    /// Runs of octets in `[left, right)` that are not in any range.
    fn new_runs(&self, left: i64, right: i64) -> Vec<(i64, i64)> {
        let mut runs: Vec<(i64, i64)> = Vec::new();
        for position in (left..right).filter(|position| !self.has(*position)) {
            match runs.last_mut() {
                Some(run) if run.1 == position => run.1 += 1,
                _ => runs.push((position, position + 1)),
            }
        }
        runs
    }

    fn ending_at(&self, position: i64) -> Option<u64> {
        let mut ranges = self.ranges.iter();
        ranges
            .find(|range| range.right == position)
            .map(|range| range.number)
    }

    fn beginning_at(&self, position: i64) -> Option<u64> {
        let mut ranges = self.ranges.iter();
        ranges
            .find(|range| range.left == position)
            .map(|range| range.number)
    }
}

/// What was seen, for the tests to ask that enough of it was.
#[derive(Debug, Default)]
pub struct Seen {
    pub verdicts: [usize; 7],
    /// By early, follows a range, is followed by one.
    pub messages: [usize; 8],
    pub most_runs: usize,
    pub shared_frames: usize,
    pub without_key: usize,
    pub no_number: usize,
    pub sixteen_ranges: usize,
    pub over_share: usize,
    pub over_pages: usize,
    pub across_wrap: usize,
    pub purges: usize,
    pub early_fins: usize,
}

/// What acceptance should do, and what it has still to show.
#[derive(Debug)]
pub struct Model {
    pub streams: Vec<Stream>,
    pub told: VecDeque<Told>,
    pub host: VecDeque<Host>,
    pub released: VecDeque<(u64, u64)>,
    pub events: VecDeque<Event>,
    pub counts: [u64; COUNTS],
    pub early_pages: u64,
    pub early_share: u64,
    /// What the reserve says while few pages are left: octets from rcv_nxt on that the next segment
    /// may bring. Nothing beyond a gap is taken then.
    pub limit: Option<u32>,
    /// That is not the connection's window.
    pub limited: bool,
    pub keys_out: usize,
    pub free_numbers: VecDeque<u64>,
    pub seen: Seen,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            streams: Vec::new(),
            told: VecDeque::new(),
            host: VecDeque::new(),
            released: VecDeque::new(),
            events: VecDeque::new(),
            counts: [0; COUNTS],
            early_pages: u64::from(EARLY_PAGES_MAX),
            early_share: u64::from(EARLY_PAGES_MAX),
            limit: None,
            limited: false,
            keys_out: 0,
            free_numbers: (0..RANGES as u64).collect(),
            seen: Seen::default(),
        }
    }
}

impl Model {
    /// The acceptance table, row by row; `stream` is the connection found, if any.
    pub fn take(&mut self, frame: &WaitingFrame, stream: Option<usize>) {
        let pages = (
            frame.head_page.index() as u64,
            frame.tail_page.index() as u64,
        );
        let octets = frame.frame_octets.index() as u64;
        let flags = frame.flags.index() as u64;
        let length = frame.payload_octets.index() as u64;
        let Some(index) = stream.filter(|_| frame.verdict.index() as u64 == VERDICT_TCP) else {
            self.host.push_back(Host { pages, octets });
            return;
        };
        if !frame.checksum_good {
            self.counts[COUNT_CHECKSUM] += 1;
            self.released.push_back(pages);
            return;
        }
        if flags & 0b100110 != 0 || (flags & FIN != 0 && length == 0) {
            self.counts[COUNT_CONTROL] += 1;
            self.host.push_back(Host { pages, octets });
            return;
        }
        self.streams[index].ack = frame.seg_ack.index() as u32;
        self.streams[index].wnd = frame.seg_wnd.index() as u16;
        if length == 0 {
            self.counts[COUNT_PURE_ACK] += 1;
            self.released.push_back(pages);
            return;
        }
        let (verdict, trimmed) = self.accept(index, frame);
        self.events.push_back(Event {
            connection: self.streams[index].connection,
            verdict: verdict as u64,
            seg_seq: frame.seg_seq.index() as u64,
            seg_len: length,
        });
        self.seen.verdicts[verdict as usize] += 1;
        self.counts[COUNT_TRIMMED] += u64::from(trimmed);
        let (count, asks) = match verdict {
            SegmentVerdict::InOrder | SegmentVerdict::Trimmed => (COUNT_IN_ORDER, false),
            SegmentVerdict::Duplicate => (COUNT_DUPLICATE, true),
            SegmentVerdict::OutOfOrder => (COUNT_OUT_OF_ORDER, true),
            SegmentVerdict::OutsideWindow => (COUNT_OUTSIDE_WINDOW, false),
            SegmentVerdict::NoRoom => (COUNT_NO_ROOM, true),
            SegmentVerdict::NoRange => (COUNT_NO_RANGE, true),
        };
        self.counts[count] += 1;
        let answers = &mut self.streams[index].answers;
        *answers = answers.wrapping_add(u8::from(asks));
        if !matches!(count, COUNT_IN_ORDER | COUNT_OUT_OF_ORDER) {
            self.released.push_back(pages);
        }
    }

    /// Verdict on a segment with payload, and whether it counts as trimmed; its messages are told.
    fn accept(&mut self, index: usize, frame: &WaitingFrame) -> (SegmentVerdict, bool) {
        let stream = &self.streams[index];
        let sequence = frame.seg_seq.index() as u32;
        let length = frame.payload_octets.index() as i64;
        let window = i64::from(self.limit.unwrap_or(stream.window));
        let outside = match self.limited {
            true => SegmentVerdict::NoRoom,
            false => SegmentVerdict::OutsideWindow,
        };
        let distance = i64::from(sequence.wrapping_sub(stream.next as u32) as i32);
        if distance >= window {
            return (outside, false);
        }
        if distance + length <= 0 {
            return (SegmentVerdict::Duplicate, false);
        }
        if window == 0 {
            return (outside, false);
        }
        let early = distance > 0;
        let left = stream.next + distance.max(0);
        let right = stream.next + (distance + length).min(window);
        let runs = stream.new_runs(left, right);
        let pages = (frame.frame_octets.index() as u64 + 2).div_ceil(256);
        if runs.is_empty() {
            return (SegmentVerdict::Duplicate, false);
        }
        if early {
            if let Some(refusal) = self.refuses(index, left, right, pages) {
                return (refusal, false);
            }
        }
        // Every run but the last one takes a key; without one a run is the last.
        let keys = SHARED_RUNS - self.keys_out;
        let sent = runs.len().min(keys + 1);
        self.keys_out += sent - 1;
        let first_octet = frame.payload_offset.index() as i64 - distance - self.streams[index].next;
        for (place, run) in runs[..sent].iter().enumerate() {
            let told = Told {
                connection: self.streams[index].connection,
                pages: Some((
                    frame.head_page.index() as u64,
                    frame.tail_page.index() as u64,
                )),
                place: Some(((first_octet + run.0) as u64, (run.1 - run.0) as u64)),
                sequence: early.then_some(run.0 as u32),
                early,
                left: None,
                follows_left: false,
                right: None,
                shared: sent > 1,
                first: place == 0,
                last: place + 1 == sent,
                purges: false,
            };
            let charge = if place == 0 { pages } else { 0 };
            self.add_run(index, *run, charge, told);
        }
        let accepted: i64 = runs[..sent].iter().map(|run| run.1 - run.0).sum();
        let trimmed = distance < 0 || accepted < right - left;
        let whole = sent == runs.len() && distance + length <= window;
        let fin = frame.flags.index() as u64 & FIN != 0 && whole;
        self.streams[index].fin |= fin;
        self.seen.early_fins += usize::from(fin && early);
        self.seen.most_runs = self.seen.most_runs.max(sent);
        self.seen.shared_frames += usize::from(sent > 1);
        self.seen.without_key += usize::from(sent < runs.len());
        self.seen.across_wrap += usize::from((left >> 32) != (right >> 32));
        let verdict = match (early, trimmed) {
            (true, _) => SegmentVerdict::OutOfOrder,
            (false, true) => SegmentVerdict::Trimmed,
            (false, false) => SegmentVerdict::InOrder,
        };
        (verdict, trimmed)
    }

    fn refuses(
        &mut self,
        index: usize,
        left: i64,
        right: i64,
        pages: u64,
    ) -> Option<SegmentVerdict> {
        let stream = &self.streams[index];
        let all: u64 = self.streams.iter().map(Stream::pages).sum();
        assert!(all <= PAGES as u64);
        let (share, limit) = (stream.pages() + pages, all + pages);
        if share > self.early_share || limit > self.early_pages || self.limit.is_some() {
            self.seen.over_share += usize::from(limit <= self.early_pages);
            self.seen.over_pages += usize::from(share <= self.early_share);
            return Some(SegmentVerdict::NoRoom);
        }
        let mut ranges = stream.ranges.iter();
        let touches = ranges.any(|range| range.left <= right && range.right >= left);
        let full = stream.ranges.len() == RANGES_PER_CONNECTION;
        if !touches && (full || self.free_numbers.is_empty()) {
            self.seen.sixteen_ranges += usize::from(full);
            self.seen.no_number += usize::from(!full);
            return Some(SegmentVerdict::NoRange);
        }
        None
    }

    /// Adds one run of new octets to the stream and tells it.
    fn add_run(&mut self, index: usize, run: (i64, i64), pages: u64, mut told: Told) {
        let stream = &mut self.streams[index];
        let (before, after) = (stream.ending_at(run.0), stream.beginning_at(run.1));
        told.right = after;
        if told.early {
            told.follows_left = before.is_some();
            let opens = before.is_none() && after.is_none();
            let new = opens.then(|| self.free_numbers.pop_front().expect("asked before"));
            told.left = before.or(new);
            let number = before.or(after).or(new).expect("one of the three");
            let (touched, mut kept): (Vec<Range>, Vec<Range>) = (stream.ranges.iter())
                .partition(|range| Some(range.number) == before || Some(range.number) == after);
            kept.push(Range {
                left: touched.iter().map(|range| range.left).fold(run.0, i64::min),
                right: touched
                    .iter()
                    .map(|range| range.right)
                    .fold(run.1, i64::max),
                number,
                pages: pages + touched.iter().map(|range| range.pages).sum::<u64>(),
            });
            kept.sort_by_key(|range| range.left);
            stream.ranges = kept;
            stream.last_range = number;
            if before.is_some() {
                self.free_numbers.extend(after);
            }
        } else {
            stream.next = run.1;
            if after.is_some() {
                stream.next = stream.ranges.remove(0).right;
                self.free_numbers.extend(after);
            }
        }
        let kind = usize::from(told.early)
            | usize::from(told.follows_left) << 1
            | usize::from(told.right.is_some()) << 2;
        self.seen.messages[kind] += 1;
        self.told.push_back(told);
    }

    /// Release of a connection in table `TCP`.
    pub fn release(&mut self, index: usize) {
        let stream = &mut self.streams[index];
        for range in std::mem::take(&mut stream.ranges) {
            self.seen.purges += 1;
            self.free_numbers.push_back(range.number);
            self.told.push_back(Told {
                connection: stream.connection,
                pages: None,
                place: None,
                sequence: None,
                early: false,
                left: None,
                follows_left: false,
                right: Some(range.number),
                shared: false,
                first: false,
                last: false,
                purges: true,
            });
        }
    }

    /// A reset of the hardware: ranges, charges and keys are free, and so must the tables be
    /// written anew.
    pub fn reset(&mut self) {
        self.streams.clear();
        self.keys_out = 0;
        self.free_numbers = (0..RANGES as u64).collect();
    }

    /// Nothing is left to be shown.
    pub fn is_done(&self) -> bool {
        self.told.is_empty()
            && self.host.is_empty()
            && self.released.is_empty()
            && self.events.is_empty()
    }
}
