//! Octets in every order through the stream manager, against a naive receiver.
//!
//! A stream's octets are known by their position. The page memory of the test holds a position for
//! each stored octet, so that a job shows what it would read: it must be the positions that follow
//! what was consumed, in order, each from the copy that was accepted. A page that goes back must
//! hold no octet that is still to be read.
use super::*;
use crate::messages::JOB_STREAM;
use crate::testkit::{lockstep, Random};
use rnic_abi::limits::{PAGES, PAGE_OCTETS};
use rnic_abi::tables;
use std::collections::VecDeque;

type Uut = StreamManager;

/// An early run as the naive receiver knows it: positions, and the number TCP gave it.
#[derive(Clone, Copy, Debug)]
struct Run {
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
    runs: Vec<Run>,
    job: Option<u64>,
    need: u64,
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
    free_runs: Vec<u64>,
    page_links: Vec<u64>,
    /// Position of each octet of packet memory.
    memory: Vec<u64>,
    frames: Vec<Frame>,
    new_links: VecDeque<(u64, u64, Option<u64>)>,
    messages: VecDeque<Accepted>,
    request: Option<(usize, TableRequest)>,
    done: Option<(usize, JobDone)>,
    stop: Option<usize>,
    table: Vec<FrameEntry>,
    links: Vec<usize>,
    credits: i64,
    seen: [usize; 10],
}

impl Bench {
    fn new() -> Self {
        let stream = |index: u64| Stream {
            number: index * 331 % 1024,
            ..Stream::default()
        };
        Self {
            streams: (0..6).map(stream).collect(),
            free_pages: (0..PAGES as u64).collect(),
            free_runs: (0..256).collect(),
            page_links: vec![0; PAGES],
            memory: vec![u64::MAX; PAGES * PAGE_OCTETS],
            table: vec![FrameEntry::default(); 1024],
            links: vec![0; 1024],
            credits: 64,
            ..Self::default()
        }
    }

    /// Pages for a frame, with positions from `left` on behind `offset` octets of headers.
    fn store(&mut self, left: u64, right: u64, offset: u64) -> Vec<u64> {
        let count = (offset + right - left).div_ceil(PAGE_OCTETS as u64);
        let pages: Vec<u64> = self.free_pages.drain(..count as usize).collect();
        for at in 1..pages.len() {
            let eight_before = at.checked_sub(8).map(|before| pages[before]);
            self.page_links[pages[at - 1] as usize] = pages[at];
            self.new_links
                .push_back((pages[at - 1], pages[at], eight_before));
        }
        for position in left..right {
            let at = offset + position - left;
            let page = pages[(at / PAGE_OCTETS as u64) as usize];
            let octet = page * PAGE_OCTETS as u64 + at % PAGE_OCTETS as u64;
            self.memory[octet as usize] = position;
        }
        pages
    }

    /// A segment with positions `left..right` arrives; what is new of it becomes messages.
    fn arrive(&mut self, index: usize, left: u64, right: u64, random: &mut Random) {
        let stream = &mut self.streams[index];
        // What is new, piece by piece: between the runs, and not before `next`.
        let mut pieces = Vec::new();
        let mut cursor = left.max(stream.next);
        for run in &stream.runs {
            if run.right >= cursor && run.left < right {
                if run.left > cursor {
                    pieces.push((cursor, run.left));
                }
                cursor = cursor.max(run.right);
            }
        }
        if cursor < right {
            pieces.push((cursor, right));
        }
        let (Some(&(first, _)), number) = (pieces.first(), stream.number) else {
            return;
        };
        if self.credits < pieces.len() as i64 {
            return;
        }
        let early = first > stream.next;
        let offset = 56 + random.below(80);
        let pages = self.store(left, right, offset);
        let count = pieces.len();
        for (at, &(from, to)) in pieces.iter().enumerate() {
            let stream = &mut self.streams[index];
            let left_run = stream.runs.iter().position(|run| run.right == from);
            let right_run = stream.runs.iter().position(|run| run.left == to);
            let run_number = |at: Option<usize>| at.map_or(0, |at| stream.runs[at].number);
            let mut message = Accepted {
                connection: number.into(),
                head_page: pages[0].into(),
                tail_page: pages[pages.len() - 1].into(),
                offset: (offset + from - left).into(),
                octets: (to - from).into(),
                early,
                has_left: early && left_run.is_some(),
                left: run_number(left_run).into(),
                has_right: right_run.is_some(),
                right: run_number(right_run).into(),
                shared: count > 1,
                first: at == 0,
                last: at == count - 1,
                purges: false,
                asks: false,
            };
            let end = right_run.map_or(to, |at| stream.runs[at].right);
            match (early, left_run, right_run) {
                (false, _, Some(right)) => self.free_runs.push(stream.runs.remove(right).number),
                (false, _, None) => {}
                (true, Some(left), Some(right)) => {
                    stream.runs[left].right = end;
                    self.free_runs.push(stream.runs.remove(right).number);
                }
                (true, Some(left), None) => stream.runs[left].right = end,
                (true, None, Some(right)) => stream.runs[right].left = from,
                (true, None, None) => {
                    let number = self.free_runs.remove(0);
                    message.left = number.into();
                    let place = stream.runs.partition_point(|run| run.left < from);
                    let (left, right) = (from, to);
                    stream.runs.insert(
                        place,
                        Run {
                            left,
                            right,
                            number,
                        },
                    );
                }
            }
            if !early {
                stream.next = end;
            }
            let kind = 4 * usize::from(early) + 2 * usize::from(message.has_left);
            self.seen[kind + usize::from(message.has_right)] += 1;
            self.seen[2] += usize::from(count > 1 && at == 0);
            self.seen[3] += usize::from(at < count - 1);
            self.credits -= i64::from(count > 1 && at < count - 1);
            self.messages.push_back(message);
        }
        self.frames.push(Frame {
            stream: index,
            pages,
            kept: pieces,
        });
    }

    /// A segment of a random stream: next in order, beyond a gap, or over what was received.
    fn next_segment(&mut self, random: &mut Random) {
        let index = random.below(self.streams.len() as u64) as usize;
        let stream = &self.streams[index];
        let stopping = self.stop == Some(index);
        let offered = self.request.as_ref().is_some_and(|sent| sent.0 == index);
        if !stream.running || offered || stopping || self.free_pages.len() < 120 {
            return;
        }
        let octets = match random.below(4) {
            0 => 1 + random.below(40),
            1 => 1 + random.below(3000),
            _ => 1 + random.below(700),
        };
        let room = stream.runs.len() < 16;
        let left = match random.below(4) {
            0 | 1 if room => stream.next + 1 + random.below(2500),
            2 => (stream.next + random.below(1500)).saturating_sub(700),
            _ => stream.next,
        };
        let touches = |run: &Run| run.right >= left && run.left <= left + octets;
        if left > stream.next && !room && !stream.runs.iter().any(touches) {
            return;
        }
        self.arrive(index, left, left + octets, random);
    }

    fn check_job(&mut self, job: &ReadJob, random: &Random) {
        let number = job.connection.to_u64();
        let found = self.streams.iter().position(|s| s.number == number);
        let stream = &mut self.streams[found.expect("a stream of this test")];
        assert_eq!(job.kind, JOB_STREAM, "{random}");
        assert!(stream.job.is_none() && stream.running, "{random}");
        assert_eq!(
            job.sequence.to_u64(),
            stream.consumed & 0xffff_ffff,
            "{random}"
        );
        let octets = job.octets.to_u64();
        assert!(
            octets >= stream.need,
            "{octets} of {}, {random}",
            stream.need
        );
        let (mut page, mut slot) = (job.head_page.to_u64(), job.slot.index());
        let (mut offset, mut run) = (job.offset.to_u64(), job.run_octets.to_u64());
        let mut position = stream.consumed;
        let end = position + octets;
        assert!(end <= stream.next, "octets not received, {random}");
        loop {
            for _ in 0..offset / PAGE_OCTETS as u64 {
                page = self.page_links[page as usize];
            }
            offset %= PAGE_OCTETS as u64;
            for _ in 0..run {
                if offset == PAGE_OCTETS as u64 {
                    (page, offset) = (self.page_links[page as usize], 0);
                }
                let at = page * PAGE_OCTETS as u64 + offset;
                assert_eq!(self.memory[at as usize], position, "{job:?}, {random}");
                (position, offset) = (position + 1, offset + 1);
            }
            if position >= end {
                break;
            }
            slot = self.links[slot];
            page = self.table[slot].head_page.to_u64();
            offset = self.table[slot].offset.to_u64();
            run = self.table[slot].octets.to_u64();
        }
        assert_eq!(position, end, "a job ends where a run does, {random}");
        stream.job = Some(octets);
    }

    /// The stub splitter ends a job: it takes a part of the octets, and asks for more.
    fn finish_job(&mut self, random: &mut Random) {
        let open: Vec<usize> = (0..self.streams.len())
            .filter(|&at| self.streams[at].job.is_some())
            .collect();
        if open.is_empty() || self.done.is_some() {
            return;
        }
        let index = open[random.below(open.len() as u64) as usize];
        let stream = &self.streams[index];
        let octets = stream.job.expect("filtered");
        let consumed = [octets, random.below(octets + 1)][random.below(2) as usize] & !3;
        let need = 1 + octets - consumed + random.below(900);
        let done = JobDone {
            connection: stream.number.into(),
            consumed: consumed.into(),
            need: need.into(),
            place_next: false,
        };
        self.done = Some((index, done));
    }

    fn check_release(&mut self, chain: &PageChain, random: &Random) {
        let tail = chain.tail_page.to_u64();
        let mut page = chain.head_page.to_u64();
        loop {
            let owner = self
                .frames
                .iter()
                .position(|frame| frame.pages.contains(&page));
            let owner = owner.unwrap_or_else(|| panic!("page {page} is free already, {random}"));
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
            let waits = |position: &&u64| is_kept(position) && **position >= stream.consumed;
            let live = stream.running && !stream.stopped;
            assert!(
                !live || held.iter().find(waits).is_none(),
                "page {page} goes with octets to come, {random}"
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
            page = self.page_links[page as usize];
        }
    }

    /// The driver: starts a stream, or ends one as TCP and MPA do it, early runs first.
    fn next_request(&mut self, random: &mut Random) {
        let index = random.below(self.streams.len() as u64) as usize;
        let has_frames = self.frames.iter().any(|frame| frame.stream == index);
        let stream = &mut self.streams[index];
        let operation = match stream.running {
            false if !has_frames => tables::WRITE,
            true if random.chance(1, 60) && self.stop != Some(index) => {
                for run in stream.runs.drain(..) {
                    self.seen[8] += 1;
                    self.free_runs.push(run.number);
                    self.messages.push_back(Accepted {
                        connection: stream.number.into(),
                        has_right: true,
                        right: run.number.into(),
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
            data: Bits::default(),
        };
        self.request = Some((index, request));
    }

    fn table_is_done(&mut self) {
        let (index, request) = self.request.take().expect("done without a request");
        let stream = &mut self.streams[index];
        if request.operation == u64::from(tables::RELEASE) {
            assert!(stream.job.is_none(), "released while a job is out");
            stream.running = false;
        } else {
            (stream.running, stream.stopped) = (true, false);
            (stream.next, stream.consumed, stream.need) = (0, 0, 4);
        }
    }
}

fn drive(uut: &mut Uut, bench: &mut Bench, traffic: bool, random: &mut Random) {
    // What leaves.
    if uut.frame_table_write.val() {
        bench.table[uut.frame_table_index.val().index()] = uut.frame_table_data.val();
    }
    if uut.frame_link_write.val() {
        bench.links[uut.frame_link_index.val().index()] = uut.frame_link_next.val().index();
    }
    bench.credits += i64::from(uut.slot_free.val());
    uut.job_ready.next = random.chance(7, 8);
    uut.page_release_ready.next = random.chance(7, 8);
    if uut.page_release_valid.val() && uut.page_release_ready.next {
        bench.check_release(&uut.page_release.val(), random);
    }
    if uut.job_valid.val() && uut.job_ready.next {
        bench.check_job(&uut.job.val(), random);
    }
    if uut.table_done.val() {
        bench.table_is_done();
    }
    // What enters.
    if traffic && bench.messages.is_empty() && random.chance(1, 4) {
        bench.next_segment(random);
    }
    let link = bench.new_links.pop_front();
    uut.link_write.next = link.is_some();
    uut.jump_write.next = false;
    if let Some((page, next, eight_before)) = link {
        uut.link_page.next = page.into();
        uut.link_next.next = next.into();
        uut.jump_write.next = eight_before.is_some();
        uut.jump_page.next = eight_before.unwrap_or(0).into();
    }
    uut.accepted_valid.next = !bench.messages.is_empty() && link.is_none();
    if let Some(message) = bench.messages.front().copied().filter(|_| link.is_none()) {
        uut.accepted.next = message;
        if uut.accepted_ready.val() {
            bench.messages.pop_front();
        }
    }
    if random.chance(1, 8) {
        bench.finish_job(random);
    }
    uut.job_done_valid.next = bench.done.is_some();
    if let Some((index, message)) = bench.done {
        uut.job_done.next = message;
        if uut.job_done_ready.val() {
            let stream = &mut bench.streams[index];
            stream.job = None;
            stream.consumed += message.consumed.to_u64();
            stream.need = message.need.to_u64();
            bench.done = None;
        }
    }
    if traffic && bench.stop.is_none() && bench.request.is_none() && random.chance(1, 400) {
        let index = random.below(bench.streams.len() as u64) as usize;
        let stream = &mut bench.streams[index];
        if stream.running && !stream.stopped {
            stream.stopped = true;
            bench.seen[9] += 1;
            bench.stop = Some(index);
        }
    }
    uut.stopped_valid.next = bench.stop.is_some();
    if let Some(index) = bench.stop {
        uut.stopped.next = bench.streams[index].number.into();
        if uut.stopped_ready.val() {
            bench.stop = None;
        }
    }
    let clear = bench.messages.is_empty() && bench.request.is_none();
    if traffic && clear && random.chance(1, 8) {
        bench.next_request(random);
    }
    uut.table_valid.next = bench.request.is_some() && bench.messages.is_empty();
    if let Some((_, request)) = &bench.request {
        uut.table_request.next = *request;
    }
}

/// Lockstep with the emitted Verilog, and with the naive receiver (MPA-046): whatever the order of
/// arrival, a stream is read in order, each octet from the copy that was accepted.
#[test]
fn octets_in_any_order_are_read_in_order_and_their_pages_go_back_once() {
    const CYCLES: usize = 40_000;
    let mut bench = Bench::new();
    let mut cycle = 0;
    lockstep(
        "stream_manager_early",
        Uut::default(),
        CYCLES,
        |uut| &mut uut.clock,
        |uut, random| {
            drive(uut, &mut bench, cycle < CYCLES - 4_000, random);
            cycle += 1;
        },
    );
    let held: usize = bench.frames.iter().map(|frame| frame.pages.len()).sum();
    assert_eq!(held + bench.free_pages.len(), PAGES, "pages");
    for frame in &bench.frames {
        let stream = &bench.streams[frame.stream];
        let waits = frame.kept.iter().any(|(_, to)| *to > stream.consumed);
        assert!(stream.running && waits, "kept for nothing: {frame:?}");
    }
    let runs_left = bench.frames.iter().map(|frame| frame.kept.len() - 1);
    let keys_out = 64 - bench.credits;
    assert!(
        keys_out <= runs_left.sum::<usize>() as i64,
        "{keys_out} keys are out for {:?}; {:?}",
        bench.frames,
        bench.streams
    );
    assert!(
        bench.seen.iter().all(|count| *count >= 10),
        "too little was seen: {:?}",
        bench.seen
    );
}
