//! The stream manager against a model in plain integers, with stub packet reader and splitter.
//!
//! The model keeps every stream as a list of frames and a list of FPDU sizes. Each job is checked
//! octet for octet (its frames are walked through copies of the reader's tables), and each frame's
//! pages must be released exactly once: each as soon as all octets up to its last are consumed,
//! or when the stream is stopped, and never while a job may read it.
use super::arbiter::JOBS_OUT_MAX;
use super::*;
use crate::messages::JobKind;
use rnic_abi::limits::{FRAME_PAD_OCTETS, PAGES, PAGE_OCTETS, SINGLE_PASS_ULPDU_OCTETS};
use rnic_abi::tables;
use rnic_hdl_tools::testkit::{Pace, Random, StreamDriver, StreamMonitor};
use std::collections::VecDeque;

mod cycles;
mod random;

type Uut = StreamManager;
type Pages = Vec<u64>;

/// A frame, or what the manager still holds of it.
#[derive(Clone, Debug, PartialEq)]
struct Frame {
    pages: Pages,
    /// From the start of the first page left.
    offset: u64,
    octets: u64,
}

/// What the driver does with a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Phase {
    /// No stream; frames are sent all the same.
    #[default]
    Idle,
    /// A START request is pending.
    Starting,
    Running,
    /// DDP stopped it; frames are sent all the same.
    Stopped,
    /// A RELEASE request is pending; no frames are sent.
    Releasing,
}

/// One connection: its frames not yet given back, and its FPDUs not yet consumed.
#[derive(Default)]
struct Stream {
    number: u64,
    driver: Phase,
    markers: bool,
    crc: bool,
    sequence: u32,
    words_since_marker: u64,
    /// Frames sent, oldest first, and the octets of the first one that are consumed.
    frames: VecDeque<Frame>,
    head_consumed: u64,
    need: u64,
    place_next: bool,
    /// Sizes on the wire of the FPDUs to come, from `sequence` on.
    fpdus: VecDeque<u64>,
    job_out: bool,
    /// Frames released in part.
    parts: usize,
    /// Chains of pages that hold none of the octets to come.
    due: VecDeque<Pages>,
}

impl Stream {
    fn queued(&self) -> u64 {
        self.frames.iter().map(|frame| frame.octets).sum::<u64>() - self.head_consumed
    }

    fn more_fpdus(&mut self, random: &mut Random) {
        while self.fpdus.iter().sum::<u64>() < 40_000 {
            let words = match random.below(24) {
                0 => 2 + random.below(2300),
                1 => 2400 + random.below(2000),
                2..=8 => 2 + random.below(400),
                _ => 2 + random.below(40),
            };
            self.fpdus.push_back(4 * words);
        }
    }

    /// Octets that show the length of the FPDU that begins after `consumed` octets.
    fn header(&self, consumed: u64) -> u64 {
        let at_marker = self.markers && (self.words_since_marker + consumed / 4) % 128 == 0;
        if at_marker {
            8
        } else {
            4
        }
    }

    /// What the splitter finds in the first `octets` octets: consumed, need, place_next.
    fn split(&mut self, octets: u64, place: bool) -> (u64, u64, bool) {
        let single_pass = SINGLE_PASS_ULPDU_OCTETS as u64;
        let mut consumed = 0;
        loop {
            let (size, there, header) = (self.fpdus[0], octets - consumed, self.header(consumed));
            let first = consumed == 0;
            if there < header {
                return (consumed, header, false);
            } else if there < size || (size > single_pass && !first) {
                return (consumed, size.max(header), false);
            } else if size > single_pass && !place {
                return (0, size, true);
            }
            consumed += size;
            self.fpdus.pop_front();
        }
    }

    /// Consumes queued octets; the pages of wholly consumed frames are due.
    fn consume(&mut self, octets: u64) {
        self.sequence = self.sequence.wrapping_add(octets as u32);
        self.words_since_marker = (self.words_since_marker + octets / 4) % 128;
        self.head_consumed += octets;
        while self
            .frames
            .front()
            .is_some_and(|frame| self.head_consumed >= frame.octets)
        {
            let frame = self.frames.pop_front().expect("it is not empty, see above");
            self.head_consumed -= frame.octets;
            self.due.push_back(frame.pages);
        }
        if let Some(frame) = self.frames.front_mut() {
            let cursor = frame.offset + self.head_consumed;
            let gone = cursor / PAGE_OCTETS as u64;
            if gone > 0 {
                let left = frame.pages.split_off(gone as usize);
                self.due
                    .push_back(std::mem::replace(&mut frame.pages, left));
                frame.octets -= self.head_consumed;
                frame.offset = cursor % PAGE_OCTETS as u64;
                self.head_consumed = 0;
                self.parts += 1;
            }
        }
    }

    /// Without a running stream any page may be released: removes these, if held.
    fn drop_pages(&mut self, pages: &Pages) -> bool {
        let frames = self.frames.iter_mut().map(|frame| &mut frame.pages);
        let mut held: Vec<&mut Pages> = frames.chain(self.due.iter_mut()).collect();
        let is_held = |page: &u64| held.iter().any(|chain| chain.contains(page));
        if !pages.iter().all(is_held) {
            return false;
        }
        for chain in &mut held {
            chain.retain(|page| !pages.contains(page));
        }
        self.frames.retain(|frame| !frame.pages.is_empty());
        self.due.retain(|chain| !chain.is_empty());
        true
    }
}

/// A job in the hands of the stub splitter.
struct OpenJob {
    stream: usize,
    octets: u64,
    place: bool,
    pages: Pages,
}

/// The reader's tables, as the manager has written them.
pub(super) struct Reader {
    table: Vec<FrameEntry>,
    links: Vec<usize>,
}

impl Default for Reader {
    fn default() -> Self {
        Self {
            table: vec![FrameEntry::default(); 1024],
            links: vec![0; 1024],
        }
    }
}

impl Reader {
    /// What the manager writes in this cycle.
    pub(super) fn note(&mut self, uut: &Uut) {
        if uut.frame_table_write.val() {
            self.table[uut.frame_table_index.val().index()] = uut.frame_table_data.val();
        }
        if uut.frame_link_write.val() {
            self.links[uut.frame_link_index.val().index()] = uut.frame_link_next.val().index();
        }
    }

    /// The slot linked after `slot`, and its frame.
    pub(super) fn after(&self, slot: usize) -> (usize, FrameEntry) {
        (self.links[slot], self.table[self.links[slot]])
    }
}

/// The packet store's links between the pages of a frame.
pub(super) struct PageLinks {
    next: Vec<u64>,
    /// Still to be written: page, next page, page eight before that.
    new: VecDeque<(u64, u64, Option<u64>)>,
}

impl Default for PageLinks {
    fn default() -> Self {
        Self {
            next: vec![0; PAGES],
            new: VecDeque::new(),
        }
    }
}

impl PageLinks {
    /// A frame was stored in these pages.
    pub(super) fn add(&mut self, pages: &[u64]) {
        for at in 1..pages.len() {
            let eight_before = at.checked_sub(8).map(|before| pages[before]);
            self.next[pages[at - 1] as usize] = pages[at];
            self.new.push_back((pages[at - 1], pages[at], eight_before));
        }
    }

    pub(super) fn after(&self, page: u64) -> u64 {
        self.next[page as usize]
    }

    /// Writes the next link; false if there is none: a frame has them all before it is accepted.
    pub(super) fn drive(&mut self, uut: &mut Uut) -> bool {
        let link = self.new.pop_front();
        uut.link_write.next = link.is_some();
        uut.jump_write.next = false;
        if let Some((page, next, eight_before)) = link {
            uut.link_page.next = page.into();
            uut.link_next.next = next.into();
            uut.jump_write.next = eight_before.is_some();
            uut.jump_page.next = eight_before.unwrap_or(0).into();
        }
        link.is_some()
    }
}

#[derive(Default)]
struct Model {
    streams: Vec<Stream>,
    free_pages: VecDeque<u64>,
    hosts: VecDeque<HostFrame>,
    accepted: StreamDriver<(usize, Accepted, Pages)>,
    host: StreamDriver<HostFrame>,
    done: StreamDriver<JobDone>,
    stop: StreamDriver<usize>,
    job: StreamMonitor<ReadJob>,
    page_release: StreamMonitor<PageChain>,
    request: Option<(usize, TableRequest)>,
    /// DDP has answered the record fence of the request.
    fenced: bool,
    jobs: Vec<OpenJob>,
    reader: Reader,
    links: PageLinks,
    done_jobs: usize,
    long_fpdus: usize,
    multi_frame_jobs: usize,
    stops: usize,
    released_streams: usize,
    host_jobs: usize,
}

impl Model {
    fn new(count: usize) -> Self {
        let stream = |index: usize| Stream {
            number: index as u64 * 331 % 1024,
            ..Stream::default()
        };
        Self {
            streams: (0..count).map(stream).collect(),
            free_pages: (0..PAGES as u64).collect(),
            ..Self::default()
        }
    }

    fn stream_of(&self, connection: Bits<10>) -> usize {
        let number = connection.index() as u64;
        let found = self
            .streams
            .iter()
            .position(|stream| stream.number == number);
        found.expect("a connection of this test")
    }

    fn check_host_job(&mut self, job: &ReadJob) {
        let host = self.hosts.pop_front().expect("a host frame was sent");
        let octets = host.frame_octets.index() as u64;
        assert_eq!(job.head_page, host.head_page);
        assert_eq!(job.tail_page, host.tail_page);
        assert_eq!(job.offset, FRAME_PAD_OCTETS as u64);
        assert_eq!(job.run_octets, octets);
        assert_eq!(job.octets, octets);
        self.free_pages.push_back(host.head_page.index() as u64);
        self.host_jobs += 1;
    }

    fn check_job(&mut self, job: &ReadJob) {
        let kind = job.kind;
        if kind == JobKind::Host {
            return self.check_host_job(job);
        }
        let index = self.stream_of(job.connection);
        let stream = &mut self.streams[index];
        assert!(!stream.job_out, "two jobs of one connection");
        assert_eq!(kind == JobKind::Place, stream.place_next);
        assert_eq!(job.sequence, u64::from(stream.sequence));
        assert_eq!(job.phase, stream.words_since_marker);
        assert_eq!((job.markers, job.crc), (stream.markers, stream.crc));
        let octets = job.octets.index() as u64;
        assert!(
            octets >= stream.need,
            "{octets} octets, {} needed",
            stream.need
        );
        // The frames of the job, walked as the reader walks them.
        let (mut page, mut slot) = (job.head_page.index(), job.slot.index());
        let (mut offset, mut run) = (job.offset.index() as u64, job.run_octets.index() as u64);
        let (mut walked, mut skipped) = (0, stream.head_consumed);
        let (mut pages, mut frames) = (Vec::new(), 0);
        for frame in &stream.frames {
            let ends = (frame.pages[0], frame.pages[frame.pages.len() - 1]);
            assert_eq!((page as u64, slot as u64), ends, "{frame:?}");
            assert_eq!(offset, frame.offset + skipped, "{frame:?}");
            assert_eq!(run, frame.octets - skipped, "{frame:?}");
            pages.extend(&frame.pages);
            frames += 1;
            (walked, skipped) = (walked + run, 0);
            if walked >= octets {
                break;
            }
            let entry;
            (slot, entry) = self.reader.after(slot);
            page = entry.head_page.index();
            (offset, run) = (entry.offset.to_u64(), entry.octets.to_u64());
        }
        assert_eq!(walked, octets, "a job ends where a frame does");
        self.multi_frame_jobs += usize::from(frames > 1);
        stream.job_out = true;
        let place = kind == JobKind::Place;
        self.jobs.push(OpenJob {
            stream: index,
            octets,
            place,
            pages,
        });
    }

    fn check_release(&mut self, chain: &PageChain) {
        let tail = chain.tail_page.index() as u64;
        let mut pages = vec![chain.head_page.index() as u64];
        while pages[pages.len() - 1] != tail {
            pages.push(self.links.after(pages[pages.len() - 1]));
            assert!(pages.len() <= PAGES, "{chain:?} has no end");
        }
        let is_read = |page: &u64| self.jobs.iter().any(|job| job.pages.contains(page));
        let read = pages.iter().any(is_read);
        assert!(!read, "pages {pages:?} released while a job reads them");
        let found = self.streams.iter_mut().any(|stream| {
            let due = stream.due.iter().position(|due| *due == pages);
            match due {
                Some(place) => stream.due.remove(place).is_some(),
                None => stream.driver != Phase::Running && stream.drop_pages(&pages),
            }
        });
        assert!(found, "pages {pages:?} are not due");
        self.free_pages.extend(pages);
    }

    /// The stub splitter ends one of its jobs.
    fn finish_job(&mut self, random: &mut Random) -> JobDone {
        let open = self
            .jobs
            .swap_remove(random.below(self.jobs.len() as u64) as usize);
        let stream = &mut self.streams[open.stream];
        let (consumed, need, place_next) = stream.split(open.octets, open.place);
        stream.more_fpdus(random);
        self.done_jobs += 1;
        self.long_fpdus += usize::from(place_next);
        JobDone {
            connection: stream.number.into(),
            consumed: consumed.into(),
            need: need.into(),
            place_next,
            ..JobDone::default()
        }
    }

    fn job_is_done(&mut self, done: &JobDone) {
        let index = self.stream_of(done.connection);
        let stream = &mut self.streams[index];
        stream.job_out = false;
        stream.consume(done.consumed.index() as u64);
        stream.need = done.need.index() as u64;
        stream.place_next = done.place_next;
    }

    fn table_is_done(&mut self, random: &mut Random) {
        let (index, request) = self.request.take().expect("done without a request");
        let stream = &mut self.streams[index];
        let releases = request.operation == u64::from(tables::RELEASE);
        let fenced = std::mem::take(&mut self.fenced);
        assert_eq!(fenced, releases, "a release ends after the fence");
        if releases {
            assert!(!stream.job_out, "released while a job is out");
            stream.driver = Phase::Idle;
            self.released_streams += 1;
            return;
        }
        let word = |word: usize| {
            (0..32).fold(0, |sum, bit| {
                sum | (u32::from(request.data.get_bit(32 * word + bit)) << bit)
            })
        };
        stream.driver = Phase::Running;
        (stream.sequence, stream.words_since_marker) = (word(0), 0);
        (stream.markers, stream.crc) = (word(1) & 1 == 1, word(1) & 2 == 2);
        (stream.head_consumed, stream.place_next) = (0, false);
        stream.need = stream.header(0);
        stream.fpdus.clear();
        stream.more_fpdus(random);
    }

    /// The driver's next table operation, if one is due.
    fn next_request(&mut self, random: &mut Random) {
        let index = random.below(self.streams.len() as u64) as usize;
        let stream = &mut self.streams[index];
        let mut offered = self.accepted.waiting().iter();
        let offered = offered.any(|sent| sent.0 == index);
        let quiet = stream.frames.is_empty() && stream.due.is_empty() && !offered;
        let mut data = Bits::<320>::default();
        let operation = match stream.driver {
            Phase::Idle if quiet => {
                // Half of the streams pass the wrap of sequence numbers at once.
                let low = random.below(1 << 12);
                let sequence = if random.chance(1, 2) {
                    low
                } else {
                    0xffff_f000 + low
                };
                let flags = random.below(4);
                for bit in 0..34 {
                    let set = ((flags << 32 | sequence) >> bit) & 1 == 1;
                    data = data.replace_bit(bit, set);
                }
                stream.driver = Phase::Starting;
                tables::WRITE
            }
            Phase::Running | Phase::Stopped if random.chance(1, 40) && !offered => {
                stream.driver = Phase::Releasing;
                tables::RELEASE
            }
            _ => return,
        };
        let request = TableRequest {
            operation: u64::from(operation).into(),
            table: u64::from(tables::MPA).into(),
            index: stream.number.into(),
            data,
        };
        self.request = Some((index, request));
    }

    fn next_accepted(&mut self, random: &mut Random) {
        let index = random.below(self.streams.len() as u64) as usize;
        let stream = &self.streams[index];
        let may = match stream.driver {
            Phase::Running => stream.queued() < stream.need.max(6_000),
            Phase::Idle | Phase::Stopped => random.chance(1, 8),
            Phase::Starting | Phase::Releasing => false,
        };
        if !may {
            return;
        }
        let octets = match random.below(6) {
            0 => 1 + random.below(7),
            1 => 4 * (1 + random.below(20)),
            2 => 1 + random.below(9000),
            // Up to the end of the next FPDU, as a sender that aligns them does.
            3 | 4 => stream.fpdus.front().map_or(100, |fpdu| (*fpdu).min(9000)),
            _ => 1 + random.below(1460),
        };
        let connection = stream.number.into();
        let offset = 56 + random.below(80);
        // Stored octets may follow the accepted ones.
        let count = (offset + octets).div_ceil(PAGE_OCTETS as u64) + random.below(2);
        if self.free_pages.len() < 8 + count as usize {
            return;
        }
        let pages: Pages = self.free_pages.drain(..count as usize).collect();
        self.links.add(&pages);
        let message = Accepted {
            connection,
            head_page: pages[0].into(),
            tail_page: pages[pages.len() - 1].into(),
            offset: offset.into(),
            octets: octets.into(),
            first: true,
            last: true,
            ..Accepted::default()
        };
        self.accepted.push((index, message, pages));
    }
}
