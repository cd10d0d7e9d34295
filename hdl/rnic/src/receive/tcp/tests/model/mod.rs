//! Model of acceptance in plain integers: octets are taken one by one, and ranges are a sorted list
//! that is rebuilt for each segment.
//!
//! Positions are sequence numbers without wrap.
mod stream;
mod reported;
mod reports;

pub use reported::{Event, Host, Reported};
pub use reports::{Context, Report};
pub use stream::{Range, Stream};

use crate::messages::FrameVerdict;
use crate::receive::tcp::context::QueuedFrame;
use crate::receive::tcp::decision::*;
use rnic_abi::events::SegmentVerdict;
use rnic_abi::limits::{FRAGMENTS, PAGES, RANGES, RANGES_PER_CONNECTION};
use rnic_abi::registers::OUT_OF_ORDER_PAGES_MAX;
use std::collections::VecDeque;

pub const FIN: u64 = 1 << 0;
pub const ACK: u64 = 1 << 4;

/// Coverage: how often each case occurred.
#[derive(Debug, Default)]
pub struct Seen {
    pub verdicts: [usize; 7],
    /// By: out of order, follows a range, is followed by one.
    pub messages: [usize; 8],
    pub most_runs: usize,
    pub shared_frames: usize,
    pub without_fragment: usize,
    pub no_number: usize,
    pub sixteen_ranges: usize,
    pub over_share: usize,
    pub over_pages: usize,
    pub across_wrap: usize,
    pub purges: usize,
    pub ooo_fins: usize,
    /// By bit of `rnic_abi::event_ring`.
    pub reasons: [usize; 8],
}

/// The model, and its results not yet compared.
#[derive(Debug)]
pub struct Model {
    pub streams: Vec<Stream>,
    pub reported: VecDeque<Reported>,
    pub host: VecDeque<Host>,
    pub released: VecDeque<(u64, u64)>,
    pub events: VecDeque<Event>,
    /// Reports to events, each with the context after it.
    pub reports: VecDeque<(Report, Context)>,
    pub counts: [u64; COUNTS],
    pub ooo_pages: u64,
    pub ooo_share: u64,
    /// Window that the reserve gives the next segment while memory is short; out-of-order segments
    /// are then refused.
    pub limit: Option<u32>,
    /// `limit` is not the connection's window.
    pub limited: bool,
    pub fragments_out: usize,
    pub free_numbers: VecDeque<u64>,
    pub seen: Seen,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            streams: Vec::new(),
            reported: VecDeque::new(),
            host: VecDeque::new(),
            released: VecDeque::new(),
            reports: VecDeque::new(),
            events: VecDeque::new(),
            counts: [0; COUNTS],
            ooo_pages: u64::from(OUT_OF_ORDER_PAGES_MAX),
            ooo_share: u64::from(OUT_OF_ORDER_PAGES_MAX),
            limit: None,
            limited: false,
            fragments_out: 0,
            free_numbers: (0..RANGES as u64).collect(),
            seen: Seen::default(),
        }
    }
}

impl Model {
    /// The acceptance table, row by row; `stream` is the connection found, if any.
    pub fn take(&mut self, frame: &QueuedFrame, stream: Option<usize>) {
        let pages = (
            frame.pages.head_page.index() as u64,
            frame.pages.tail_page.index() as u64,
        );
        let octets = frame.segment.frame_octets.index() as u64;
        let flags = frame.segment.flags.index() as u64;
        let length = frame.segment.payload_octets.index() as u64;
        let Some(index) = stream.filter(|_| frame.segment.verdict == FrameVerdict::Tcp) else {
            self.host.push_back(Host { pages, octets });
            return;
        };
        if !frame.segment.checksum_good {
            self.counts[COUNT_CHECKSUM] += 1;
            self.released.push_back(pages);
            return;
        }
        if flags & 0b100110 != 0 || (flags & FIN != 0 && length == 0) {
            self.counts[COUNT_CONTROL] += 1;
            self.host.push_back(Host { pages, octets });
            return;
        }
        let acceptable = self.is_acceptable(index, frame);
        let before = self.streams[index].clone();
        if length == 0 {
            if acceptable {
                self.streams[index].acknowledge(frame);
                let stream = &mut self.streams[index];
                let same = (before.ack, before.wnd) == (stream.ack, stream.wnd);
                stream.repeats = stream.repeats.wrapping_add(u8::from(same));
            }
            self.report(index, &before, frame, None, acceptable);
            self.counts[COUNT_PURE_ACK] += 1;
            match frame.segment.more_options {
                true => self.host.push_back(Host { pages, octets }),
                false => self.released.push_back(pages),
            }
            return;
        }
        let (verdict, trimmed) = self.accept(index, frame);
        let kept = acceptable && verdict != SegmentVerdict::NoRoom;
        if kept {
            self.streams[index].acknowledge(frame);
        }
        self.events.push_back(Event {
            connection: self.streams[index].connection,
            verdict: verdict as u64,
            seg_seq: frame.segment.seg_seq.index() as u64,
            seg_len: length,
        });
        self.seen.verdicts[verdict as usize] += 1;
        self.counts[COUNT_TRIMMED] += u64::from(trimmed);
        let (count, queries) = match verdict {
            SegmentVerdict::InOrder | SegmentVerdict::Trimmed => (COUNT_IN_ORDER, false),
            SegmentVerdict::Duplicate => (COUNT_DUPLICATE, true),
            SegmentVerdict::OutOfOrder => (COUNT_OUT_OF_ORDER, true),
            SegmentVerdict::OutsideWindow => (COUNT_OUTSIDE_WINDOW, true),
            SegmentVerdict::NoRoom => (COUNT_NO_ROOM, true),
            SegmentVerdict::NoRange => (COUNT_NO_RANGE, true),
        };
        self.counts[count] += 1;
        let answers = &mut self.streams[index].answers;
        *answers = answers.wrapping_add(u8::from(queries));
        self.report(index, &before, frame, Some(verdict), kept);
        if !matches!(count, COUNT_IN_ORDER | COUNT_OUT_OF_ORDER) {
            self.released.push_back(pages);
        }
    }

    /// It begins at RCV.NXT, or some of it is in the window (RFC 9293 section 3.10.7.4).
    fn is_acceptable(&self, index: usize, frame: &QueuedFrame) -> bool {
        let stream = &self.streams[index];
        let sequence = frame.segment.seg_seq.index() as u32;
        let first = i64::from(sequence.wrapping_sub(stream.next as u32) as i32);
        let end = first + frame.segment.payload_octets.index() as i64;
        let window = match end > first {
            true => i64::from(self.limit.unwrap_or(stream.window)),
            false => i64::from(stream.window),
        };
        first == 0 || (0..window).contains(&first) || (first < 0 && end > 0 && window > 0)
    }

    /// Verdict on a segment with payload, and whether it is trimmed; adds its messages.
    fn accept(&mut self, index: usize, frame: &QueuedFrame) -> (SegmentVerdict, bool) {
        let stream = &self.streams[index];
        let sequence = frame.segment.seg_seq.index() as u32;
        let length = frame.segment.payload_octets.index() as i64;
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
        let ooo = distance > 0;
        let left = stream.next + distance.max(0);
        let right = stream.next + (distance + length).min(window);
        let runs = stream.new_runs(left, right);
        let pages = (frame.segment.frame_octets.index() as u64 + 2).div_ceil(256);
        if runs.is_empty() {
            return (SegmentVerdict::Duplicate, false);
        }
        if ooo {
            if let Some(refusal) = self.refuses(index, left, right, pages) {
                return (refusal, false);
            }
        }
        // Every run but the last one takes a fragment; without one a run is the last.
        let fragments = FRAGMENTS - self.fragments_out;
        let sent = runs.len().min(fragments + 1);
        self.fragments_out += sent - 1;
        let first_octet =
            frame.segment.payload_offset.index() as i64 - distance - self.streams[index].next;
        for (place, run) in runs[..sent].iter().enumerate() {
            let reported = Reported {
                connection: self.streams[index].connection,
                pages: Some((
                    frame.pages.head_page.index() as u64,
                    frame.pages.tail_page.index() as u64,
                )),
                place: Some(((first_octet + run.0) as u64, (run.1 - run.0) as u64)),
                sequence: ooo.then_some(run.0 as u32),
                ooo,
                left: None,
                follows_left: false,
                right: None,
                shared: sent > 1,
                first: place == 0,
                last: place + 1 == sent,
                purges: false,
            };
            let charge = if place == 0 { pages } else { 0 };
            self.add_run(index, *run, charge, reported);
        }
        let accepted: i64 = runs[..sent].iter().map(|run| run.1 - run.0).sum();
        let trimmed = distance < 0 || accepted < right - left;
        let whole = sent == runs.len() && distance + length <= window;
        let fin = frame.segment.flags.index() as u64 & FIN != 0 && whole;
        if fin {
            let end = sequence.wrapping_add(length as u32);
            self.streams[index].fin.get_or_insert(end);
        }
        self.seen.ooo_fins += usize::from(fin && ooo);
        self.seen.most_runs = self.seen.most_runs.max(sent);
        self.seen.shared_frames += usize::from(sent > 1);
        self.seen.without_fragment += usize::from(sent < runs.len());
        self.seen.across_wrap += usize::from((left >> 32) != (right >> 32));
        let verdict = match (ooo, trimmed) {
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
        if share > self.ooo_share || limit > self.ooo_pages || self.limit.is_some() {
            self.seen.over_share += usize::from(limit <= self.ooo_pages);
            self.seen.over_pages += usize::from(share <= self.ooo_share);
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

    /// Adds one run of new octets to the stream, and its message.
    fn add_run(&mut self, index: usize, run: (i64, i64), pages: u64, mut reported: Reported) {
        let stream = &mut self.streams[index];
        let (before, after) = (stream.ending_at(run.0), stream.beginning_at(run.1));
        reported.right = after;
        if reported.ooo {
            reported.follows_left = before.is_some();
            let opens = before.is_none() && after.is_none();
            let new = opens.then(|| self.free_numbers.pop_front().expect("asked before"));
            reported.left = before.or(new);
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
        let kind = usize::from(reported.ooo)
            | usize::from(reported.follows_left) << 1
            | usize::from(reported.right.is_some()) << 2;
        self.seen.messages[kind] += 1;
        self.reported.push_back(reported);
    }

    /// Release of a connection in table `TCP`.
    pub fn release(&mut self, index: usize) {
        let stream = &mut self.streams[index];
        for range in std::mem::take(&mut stream.ranges) {
            self.seen.purges += 1;
            self.free_numbers.push_back(range.number);
            self.reported.push_back(Reported {
                connection: stream.connection,
                pages: None,
                place: None,
                sequence: None,
                ooo: false,
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

    /// A reset of the hardware frees ranges, charges and fragments; the tables must be rewritten.
    pub fn reset(&mut self) {
        self.streams.clear();
        self.fragments_out = 0;
        self.free_numbers = (0..RANGES as u64).collect();
    }

    /// Everything has been compared.
    pub fn is_done(&self) -> bool {
        self.reported.is_empty()
            && self.host.is_empty()
            && self.released.is_empty()
            && self.events.is_empty()
            && self.reports.is_empty()
    }
}
