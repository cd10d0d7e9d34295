//! Octets in every order through the stream manager, against a naive receiver.
//!
//! A stream's octets are known by their position. The page memory of the test holds a position for
//! each stored octet, so that a job shows what it would read: it must be the positions that follow
//! what was consumed, in order, each from the accepted copy. A released page must hold no octet
//! that is still to be read.
//!
//! Half of the streams have markers: their octets beyond a gap are read at once, and the stub
//! splitter places a part of them. These must not be read again; their records are delivered when
//! the stream reaches them, or discarded.
use super::tests::{PageLinks, Reader};
use super::*;
use crate::messages::{JobKind, ReplayKind};
use rnic_abi::limits::{PAGES, PAGE_OCTETS};
use rnic_abi::tables;
use rnic_hdl_tools::testkit::{Pace, Random, StreamDriver, StreamMonitor};
use std::collections::BTreeMap;
use std::collections::VecDeque;

type Uut = StreamManager;

/// An out-of-order range as the naive receiver knows it: positions, and the number TCP gave it.
#[derive(Clone, Copy, Debug)]
struct ReceivedRange {
    left: u64,
    right: u64,
    number: u64,
}

#[derive(Debug, Default)]
struct Stream {
    number: u64,
    running: bool,
    stopped: bool,
    /// Position of the first octet not received in order.
    next: u64,
    /// Position of the first octet not consumed.
    consumed: u64,
    ranges: Vec<ReceivedRange>,
    job: Option<u64>,
    need: u64,
    markers: bool,
    /// Replays of it that have not ended.
    replays: usize,
    /// DDP received a fault: FPDU starts disagree.
    faulty: bool,
}

/// A span: octets from `start` on; those before `placed` were placed.
#[derive(Clone, Copy, Debug)]
struct Span {
    stream: usize,
    start: u64,
    placed: u64,
    job: Option<u64>,
    need: u64,
    refused: bool,
}

/// A frame in packet memory: its pages, and what is accepted of it, by position.
#[derive(Clone, Debug)]
struct Frame {
    stream: usize,
    pages: Vec<u64>,
    kept: Vec<(u64, u64)>,
}

#[derive(Default)]
struct Bench {
    streams: Vec<Stream>,
    free_pages: VecDeque<u64>,
    free_ranges: Vec<u64>,
    links: PageLinks,
    /// Position of each octet of packet memory.
    memory: Vec<u64>,
    frames: Vec<Frame>,
    messages: StreamDriver<Accepted>,
    request: Option<(usize, TableRequest)>,
    /// The request is on the bus.
    requested: bool,
    /// Spans of which a job was seen, by number.
    spans: BTreeMap<usize, Span>,
    span_credits: i64,
    /// What ended: jobs and replays, and numbers of spans whose records are gone.
    done: StreamDriver<(Option<usize>, JobDone)>,
    replayed: VecDeque<(usize, JobDone)>,
    spans_back: StreamDriver<Bits<9>>,
    stop: StreamDriver<usize>,
    job: StreamMonitor<ReadJob>,
    page_release: StreamMonitor<PageChain>,
    reader: Reader,
    credits: i64,
    seen: [usize; 15],
}

impl Bench {
    fn new() -> Self {
        let stream = |index: u64| Stream {
            number: index * 331 % 1024,
            markers: index % 2 == 0,
            ..Stream::default()
        };
        Self {
            streams: (0..6).map(stream).collect(),
            free_pages: (0..PAGES as u64).collect(),
            free_ranges: (0..256).collect(),
            memory: vec![u64::MAX; PAGES * PAGE_OCTETS],
            spans_back: StreamDriver::new(Pace::Chance(1, 4)),
            job: StreamMonitor::new(Pace::of_8(7)),
            page_release: StreamMonitor::new(Pace::of_8(7)),
            credits: 64,
            span_credits: 512,
            ..Self::default()
        }
    }

    /// The positions of a job, walked as the reader walks them; gives the one after the last.
    fn walk_job(&self, job: &ReadJob, first: u64) -> u64 {
        let (mut page, mut slot) = (job.head_page.to_u64(), job.slot.index());
        let (mut offset, mut run) = (job.offset.to_u64(), job.run_octets.to_u64());
        let mut position = first;
        let end = position + job.octets.to_u64();
        loop {
            for _ in 0..offset / PAGE_OCTETS as u64 {
                page = self.links.after(page);
            }
            offset %= PAGE_OCTETS as u64;
            for _ in 0..run {
                if offset == PAGE_OCTETS as u64 {
                    (page, offset) = (self.links.after(page), 0);
                }
                let at = page * PAGE_OCTETS as u64 + offset;
                assert_eq!(self.memory[at as usize], position, "{job:?}");
                (position, offset) = (position + 1, offset + 1);
            }
            if position >= end {
                break;
            }
            let entry;
            (slot, entry) = self.reader.after(slot);
            page = entry.head_page.to_u64();
            (offset, run) = (entry.offset.to_u64(), entry.octets.to_u64());
        }
        assert_eq!(position, end, "a job ends at the end of a run");
        end
    }

    fn check_job(&mut self, job: &ReadJob) {
        let number = job.connection.to_u64();
        let found = self.streams.iter().position(|s| s.number == number);
        let index = found.expect("a stream of this test");
        assert_eq!(job.kind, JobKind::Stream);
        assert!(self.streams[index].running);
        if job.ooo {
            return self.check_ooo_job(index, job);
        }
        let stream = &self.streams[index];
        let octets = job.octets.to_u64();
        assert!(stream.job.is_none() && stream.replays == 0);
        assert_eq!(job.sequence, stream.consumed & 0xffff_ffff);
        assert!(octets >= stream.need, "{octets} of {}", stream.need);
        let end = self.walk_job(job, stream.consumed);
        assert!(end <= stream.next, "octets not received");
        self.streams[index].job = Some(octets);
    }

    /// A job beyond a gap: of a new span it begins where the span does, at a whole word.
    fn check_ooo_job(&mut self, index: usize, job: &ReadJob) {
        let sequence = job.sequence.to_u64();
        assert!(self.streams[index].markers);
        let new = Span {
            stream: index,
            start: sequence,
            placed: sequence,
            job: None,
            need: 8,
            refused: false,
        };
        let span = *self.spans.entry(job.span.index()).or_insert(new);
        assert_eq!(span.stream, index);
        assert!(span.job.is_none() && !span.refused, "{span:?}");
        assert_eq!(job.proven, span.placed > span.start, "{span:?}");
        assert_eq!(sequence, span.placed);
        assert_eq!(job.phase, sequence / 4 % 128);
        assert_eq!(sequence % 4, 0);
        let octets = job.octets.to_u64();
        assert!(octets >= span.need, "{octets} of {}", span.need);
        self.walk_job(job, sequence);
        self.spans.get_mut(&job.span.index()).expect("there").job = Some(octets);
        self.seen[10] += 1;
    }

    /// The stub splitter ends a job: it consumes a part of the octets and needs more.
    fn finish_job(&mut self, random: &mut Random) {
        let streams = (0..self.streams.len()).filter(|&at| self.streams[at].job.is_some());
        let spans = self.spans.iter().filter(|(_, span)| span.job.is_some());
        let open: Vec<(Option<usize>, usize)> = streams
            .map(|at| (Some(at), 0))
            .chain(spans.map(|(number, _)| (None, *number)))
            .collect();
        if open.is_empty() || !self.done.is_empty() {
            return;
        }
        let (of_stream, number) = open[random.below(open.len() as u64) as usize];
        let index = of_stream.unwrap_or_else(|| self.spans[&number].stream);
        let octets = match of_stream {
            Some(index) => self.streams[index].job.expect("filtered"),
            None => self.spans[&number].job.expect("filtered"),
        };
        let mut consumed = [octets, random.below(octets + 1)][random.below(2) as usize] & !3;
        // FPDUs end where those placed begin; now and then they do not.
        let stream = &self.streams[index];
        let next_placed = self.spans.values().any(|span| {
            let follows = span.stream == index && span.placed > span.start;
            follows && of_stream.is_some() && span.start == stream.consumed + octets
        });
        if next_placed && random.chance(15, 16) {
            consumed = octets;
        }
        let need = 1 + octets - consumed + random.below(900);
        let done = JobDone {
            connection: stream.number.into(),
            consumed: consumed.into(),
            need: need.into(),
            ooo: of_stream.is_none(),
            span: (number as u64).into(),
            refused: of_stream.is_none() && random.chance(1, 8),
            ..JobDone::default()
        };
        self.done.push((of_stream, done));
    }

    /// The manager has taken the end of a job or a replay.
    fn job_is_done(&mut self, of_stream: Option<usize>, done: &JobDone) {
        let consumed = done.consumed.to_u64();
        if done.ooo {
            let span = self.spans.get_mut(&done.span.index()).expect("a span");
            span.job = None;
            span.placed += consumed;
            span.need = done.need.to_u64();
            span.refused |= done.refused;
            self.seen[11] += usize::from(consumed > 0);
            return;
        }
        let stream = &mut self.streams[of_stream.expect("of a stream")];
        stream.job = None;
        stream.consumed += consumed;
        stream.need = done.need.to_u64();
    }

    /// The manager sends an order for a span's records.
    fn take_order(&mut self, order: &Replay) {
        let number = order.span.index();
        let connection = order.connection.to_u64();
        let index = self
            .streams
            .iter()
            .position(|stream| stream.number == connection)
            .expect("a stream of this test");
        let kind = order.kind;
        self.seen[12 + kind as usize] += 1;
        if kind == ReplayKind::Forget {
            let span = self.spans.remove(&number).expect("a span");
            assert!(span.job.is_none() && span.placed > span.start, "{span:?}");
            return self.spans_back.push((number as u64).into());
        }
        let stream = &mut self.streams[index];
        assert!(stream.running && !stream.faulty && stream.job.is_none());
        stream.replays += 1;
        if kind == ReplayKind::Deliver {
            let span = self.spans.remove(&number).expect("a span");
            assert!(span.job.is_none() && span.placed > span.start, "{span:?}");
            assert_eq!(span.start, stream.consumed, "delivered in order");
            stream.consumed = span.placed;
            self.spans_back.push((number as u64).into());
        } else {
            assert_eq!(order.sequence, stream.consumed & 0xffff_ffff);
            stream.faulty = true;
        }
        let done = JobDone {
            connection: connection.into(),
            need: 8u64.into(),
            ..JobDone::default()
        };
        self.replayed.push_back((index, done));
    }

    /// A span that has placed nothing is taken over without an order.
    fn forget_unplaced(&mut self) {
        let streams = &self.streams;
        self.spans.retain(|_, span| {
            let stream = &streams[span.stream];
            span.placed > span.start || span.job.is_some() || span.start > stream.consumed
        });
    }

    fn check_release(&mut self, chain: &PageChain) {
        let tail = chain.tail_page.to_u64();
        let mut page = chain.head_page.to_u64();
        loop {
            let owner = self
                .frames
                .iter()
                .position(|frame| frame.pages.contains(&page));
            let owner = owner.unwrap_or_else(|| panic!("page {page} is free already"));
            let frame = &mut self.frames[owner];
            let stream = &self.streams[frame.stream];
            let first = page * PAGE_OCTETS as u64;
            let held = &self.memory[first as usize..first as usize + PAGE_OCTETS];
            let is_kept = |position: &u64| {
                frame
                    .kept
                    .iter()
                    .any(|(from, to)| (from..to).contains(&position))
            };
            let spans = &self.spans;
            let is_placed = |position: u64| {
                spans.values().any(|span| {
                    span.stream == frame.stream && (span.start..span.placed).contains(&position)
                })
            };
            let waits = |position: &&u64| {
                is_kept(position) && **position >= stream.consumed && !is_placed(**position)
            };
            // A fault stops the stream at once; DDP reports the stop later.
            let live = stream.running && !stream.stopped && !stream.faulty;
            assert!(
                !live || held.iter().find(waits).is_none(),
                "page {page} released with octets to read"
            );
            frame.pages.retain(|kept| *kept != page);
            self.memory[first as usize..first as usize + PAGE_OCTETS].fill(u64::MAX);
            if frame.pages.is_empty() {
                self.frames.swap_remove(owner);
            }
            self.free_pages.push_back(page);
            if page == tail {
                break;
            }
            page = self.links.after(page);
        }
    }

    /// The driver: starts a stream, or ends one as TCP and MPA do it, out-of-order ranges first.
    fn next_request(&mut self, random: &mut Random) {
        let index = random.below(self.streams.len() as u64) as usize;
        let has_frames = self.frames.iter().any(|frame| frame.stream == index);
        let stream = &mut self.streams[index];
        // A stream that was stopped shows little more.
        let turns = if stream.stopped { 6 } else { 60 };
        let operation = match stream.running {
            false if !has_frames => tables::WRITE,
            true if random.chance(1, turns) && !self.stop.waiting().contains(&index) => {
                for range in stream.ranges.drain(..) {
                    self.seen[8] += 1;
                    self.free_ranges.push(range.number);
                    self.messages.push(Accepted {
                        connection: stream.number.into(),
                        has_right: true,
                        right: range.number.into(),
                        purges: true,
                        ..Accepted::default()
                    });
                }
                // From here on the manager may drop what it holds.
                stream.stopped = true;
                tables::RELEASE
            }
            _ => return,
        };
        let request = TableRequest {
            operation: u64::from(operation).into(),
            table: u64::from(tables::MPA).into(),
            index: stream.number.into(),
            data: Bits::default().replace_bit(32, stream.markers),
        };
        self.request = Some((index, request));
    }

    /// After the fence of a release nothing more of the connection is handed on.
    fn check_fence(&self) {
        let (index, _) = self.request.as_ref().expect("a fence without a request");
        let stream = &self.streams[*index];
        let spans = self.spans.values().filter(|span| span.stream == *index);
        let jobs = spans.filter(|span| span.job.is_some()).count();
        let quiet = stream.job.is_none() && stream.replays == 0 && jobs == 0;
        assert!(quiet, "a fence before a job");
    }

    fn table_is_done(&mut self) {
        let (index, request) = self.request.take().expect("done without a request");
        self.requested = false;
        let stream = &mut self.streams[index];
        if request.operation == u64::from(tables::RELEASE) {
            let quiet = stream.job.is_none() && stream.replays == 0;
            assert!(quiet, "released while a job is out");
            let left = self.spans.values().filter(|span| span.stream == index);
            let placed = left.filter(|span| span.placed > span.start || span.job.is_some());
            assert_eq!(placed.count(), 0, "released with spans");
            self.spans.retain(|_, span| span.stream != index);
            stream.running = false;
        } else {
            (stream.running, stream.stopped) = (true, false);
            (stream.next, stream.consumed, stream.faulty) = (0, 0, false);
            stream.need = if stream.markers { 8 } else { 4 };
        }
    }
}

mod traffic;
mod walk;
