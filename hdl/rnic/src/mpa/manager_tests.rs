//! The stream manager against a model in plain integers, with stub packet reader and splitter.
//!
//! The model keeps every stream as a list of frames and a list of FPDU sizes. Each job is checked
//! octet for octet (its frames are walked through copies of the reader's tables), and each frame's
//! pages must come back exactly once: each as soon as all octets up to its last one are consumed,
//! or when the stream is stopped, and never while a job may read it.
use super::super::inbox::JOBS_OUT_MAX;
use super::*;
use crate::messages::{JOB_HOST, JOB_PLACE};
use crate::testkit::{lockstep, settle, tick, Random};
use rnic_abi::limits::{FRAME_PAD_OCTETS, PAGES, PAGE_OCTETS, SINGLE_PASS_ULPDU_OCTETS};
use rnic_abi::tables;
use std::collections::VecDeque;

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
    /// START stands.
    Starting,
    Running,
    /// DDP stopped it; frames are sent all the same.
    Stopped,
    /// RELEASE stands; no frames are sent.
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
    /// Frames that a part of their pages became due of.
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

    /// Takes octets out of the queue; the pages of frames whose octets are all gone are due.
    fn consume(&mut self, octets: u64) {
        self.sequence = self.sequence.wrapping_add(octets as u32);
        self.words_since_marker = (self.words_since_marker + octets / 4) % 128;
        self.head_consumed += octets;
        while self
            .frames
            .front()
            .is_some_and(|frame| self.head_consumed >= frame.octets)
        {
            let frame = self.frames.pop_front().expect("looked at above");
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

    /// Without a running stream every page may go: takes these out of what is held, if it has them.
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

#[derive(Default)]
struct Model {
    streams: Vec<Stream>,
    free_pages: VecDeque<u64>,
    hosts: VecDeque<HostFrame>,
    // Links that the store has still to write: page, next page, page eight before that.
    new_links: VecDeque<(u64, u64, Option<u64>)>,
    accepted: Option<(usize, Accepted, Pages)>,
    host: Option<HostFrame>,
    done: Option<JobDone>,
    stop: Option<usize>,
    request: Option<(usize, TableRequest)>,
    jobs: Vec<OpenJob>,
    table: Vec<FrameEntry>,
    links: Vec<u64>,
    page_links: Vec<u64>,
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
            table: vec![FrameEntry::default(); PAGES],
            links: vec![0; PAGES],
            page_links: vec![0; PAGES],
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

    fn check_host_job(&mut self, job: &ReadJob, random: &Random) {
        let host = self.hosts.pop_front().expect("a host frame was sent");
        let octets = host.frame_octets.index() as u64;
        assert_eq!(job.head_page, host.head_page, "{random}");
        assert_eq!(job.tail_page, host.tail_page, "{random}");
        assert_eq!(job.offset, FRAME_PAD_OCTETS as u64, "{random}");
        assert_eq!(job.run_octets, octets, "{random}");
        assert_eq!(job.octets, octets, "{random}");
        self.free_pages.push_back(host.head_page.index() as u64);
        self.host_jobs += 1;
    }

    fn check_job(&mut self, job: &ReadJob, random: &Random) {
        let kind = job.kind.index() as u64;
        if kind == JOB_HOST {
            return self.check_host_job(job, random);
        }
        let index = self.stream_of(job.connection);
        let stream = &mut self.streams[index];
        assert!(!stream.job_out, "two jobs of one connection, {random}");
        assert_eq!(kind == JOB_PLACE, stream.place_next, "{random}");
        assert_eq!(job.sequence, u64::from(stream.sequence), "{random}");
        assert_eq!(job.phase, stream.words_since_marker, "{random}");
        assert_eq!(
            (job.markers, job.crc),
            (stream.markers, stream.crc),
            "{random}"
        );
        let octets = job.octets.index() as u64;
        assert!(
            octets >= stream.need,
            "{octets} octets, {} needed, {random}",
            stream.need
        );
        // The frames of the job, walked as the reader walks them.
        let (mut page, mut slot) = (job.head_page.index(), job.slot.index());
        let (mut offset, mut run) = (job.offset.index() as u64, job.run_octets.index() as u64);
        let (mut walked, mut skipped) = (0, stream.head_consumed);
        let (mut pages, mut frames) = (Vec::new(), 0);
        for frame in &stream.frames {
            let ends = (frame.pages[0], frame.pages[frame.pages.len() - 1]);
            assert_eq!((page as u64, slot as u64), ends, "{frame:?}, {random}");
            assert_eq!(offset, frame.offset + skipped, "{frame:?}, {random}");
            assert_eq!(run, frame.octets - skipped, "{frame:?}, {random}");
            pages.extend(&frame.pages);
            frames += 1;
            (walked, skipped) = (walked + run, 0);
            if walked >= octets {
                break;
            }
            slot = self.links[slot] as usize;
            page = self.table[slot].head_page.index();
            offset = self.table[slot].offset.index() as u64;
            run = self.table[slot].octets.index() as u64;
        }
        assert_eq!(walked, octets, "a job ends where a frame does, {random}");
        self.multi_frame_jobs += usize::from(frames > 1);
        stream.job_out = true;
        let place = kind == JOB_PLACE;
        self.jobs.push(OpenJob {
            stream: index,
            octets,
            place,
            pages,
        });
    }

    fn check_release(&mut self, chain: &PageChain, random: &Random) {
        let tail = chain.tail_page.index() as u64;
        let mut pages = vec![chain.head_page.index() as u64];
        while pages[pages.len() - 1] != tail {
            pages.push(self.page_links[pages[pages.len() - 1] as usize]);
            assert!(pages.len() <= PAGES, "{chain:?} has no end, {random}");
        }
        let is_read = |page: &u64| self.jobs.iter().any(|job| job.pages.contains(page));
        let read = pages.iter().any(is_read);
        assert!(!read, "pages {pages:?} go while a job reads them, {random}");
        let found = self.streams.iter_mut().any(|stream| {
            let due = stream.due.iter().position(|due| *due == pages);
            match due {
                Some(place) => stream.due.remove(place).is_some(),
                None => stream.driver != Phase::Running && stream.drop_pages(&pages),
            }
        });
        assert!(found, "pages {pages:?} are not due, {random}");
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
        if request.operation == u64::from(tables::RELEASE) {
            assert!(!stream.job_out, "released while a job is out, {random}");
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
        let offered = self.accepted.as_ref().is_some_and(|sent| sent.0 == index);
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
        for at in 1..pages.len() {
            let eight_before = at.checked_sub(8).map(|before| pages[before]);
            self.page_links[pages[at - 1] as usize] = pages[at];
            self.new_links
                .push_back((pages[at - 1], pages[at], eight_before));
        }
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
        self.accepted = Some((index, message, pages));
    }
}

/// What leaves in this cycle, and the sinks' readiness.
fn check_outputs(uut: &mut Uut, model: &mut Model, ready_of_8: u64, random: &mut Random) {
    if uut.frame_table_write.val() {
        model.table[uut.frame_table_index.val().index()] = uut.frame_table_data.val();
    }
    if uut.frame_link_write.val() {
        let next = uut.frame_link_next.val().index() as u64;
        model.links[uut.frame_link_index.val().index()] = next;
    }
    uut.job_ready.next = random.chance(ready_of_8, 8);
    uut.page_release_ready.next = random.chance(ready_of_8, 8);
    if uut.job_valid.val() && uut.job_ready.next {
        model.check_job(&uut.job.val(), random);
    }
    if uut.page_release_valid.val() && uut.page_release_ready.next {
        model.check_release(&uut.page_release.val(), random);
    }
    if uut.table_done.val() {
        model.table_is_done(random);
    }
    assert!(!uut.table_data.val().any(), "table MPA reads as zero");
}

/// The store's links: a frame has them all before it is accepted.
fn drive_links(uut: &mut Uut, model: &mut Model) {
    let link = model.new_links.pop_front();
    uut.link_write.next = link.is_some();
    uut.jump_write.next = false;
    if let Some((page, next, eight_before)) = link {
        uut.link_page.next = page.into();
        uut.link_next.next = next.into();
        uut.jump_write.next = eight_before.is_some();
        uut.jump_page.next = eight_before.unwrap_or(0).into();
    }
}

/// The four sources, each with its message until it is taken.
fn drive_sources(uut: &mut Uut, model: &mut Model, traffic: bool, random: &mut Random) {
    if model.accepted.is_none() && traffic && random.chance(1, 4) {
        model.next_accepted(random);
    }
    drive_links(uut, model);
    let linked = !uut.link_write.next;
    uut.accepted_valid.next = model.accepted.is_some() && linked;
    if let Some((index, message, pages)) = model.accepted.take_if(|_| linked) {
        uut.accepted.next = message;
        if uut.accepted_ready.val() {
            model.streams[index].frames.push_back(Frame {
                pages,
                offset: message.offset.index() as u64,
                octets: message.octets.index() as u64,
            });
        } else {
            model.accepted = Some((index, message, pages));
        }
    }
    if model.host.is_none() && traffic && random.chance(1, 16) && model.free_pages.len() > 8 {
        model.host = Some(HostFrame {
            head_page: model.free_pages.pop_front().expect("counted above").into(),
            tail_page: random.below(PAGES as u64).into(),
            frame_octets: (60 + random.below(9000)).into(),
        });
    }
    uut.host_frame_valid.next = model.host.is_some();
    if let Some(message) = model.host {
        uut.host_frame.next = message;
        if uut.host_frame_ready.val() {
            model.hosts.push_back(message);
            model.host = None;
        }
    }
    if model.done.is_none() && !model.jobs.is_empty() && random.chance(1, 8) {
        model.done = Some(model.finish_job(random));
    }
    uut.job_done_valid.next = model.done.is_some();
    if let Some(message) = model.done {
        uut.job_done.next = message;
        if uut.job_done_ready.val() {
            model.job_is_done(&message);
            model.done = None;
        }
    }
}

fn drive_control(uut: &mut Uut, model: &mut Model, traffic: bool, random: &mut Random) {
    if model.stop.is_none() && traffic && random.chance(1, 200) {
        let index = random.below(model.streams.len() as u64) as usize;
        let running = model.streams[index].driver == Phase::Running;
        model.stop = running.then_some(index);
    }
    uut.stopped_valid.next = model.stop.is_some();
    if let Some(index) = model.stop {
        let stream = &mut model.streams[index];
        uut.stopped.next = stream.number.into();
        if stream.driver == Phase::Running {
            // From here on the manager may drop what it holds.
            stream.driver = Phase::Stopped;
        }
        if uut.stopped_ready.val() {
            model.stops += 1;
            model.stop = None;
        }
    }
    if model.request.is_none() && traffic && random.chance(1, 8) {
        model.next_request(random);
    }
    uut.table_valid.next = model.request.is_some();
    if let Some((_, request)) = &model.request {
        uut.table_request.next = *request;
    }
}

fn clock(uut: &mut Uut) -> &mut Signal<In, Clock> {
    &mut uut.clock
}

/// Lockstep with the emitted Verilog, and with the model. Segments end anywhere in an FPDU
/// (MPA-046, MPA-049 to MPA-051): what is not whole waits for the octets that follow.
#[test]
fn every_stream_is_read_in_order_and_every_frame_is_given_back_once() {
    const CYCLES: usize = 24_000;
    const DRAIN: usize = 3_000;
    let mut model = Model::new(8);
    let mut cycle = 0;
    lockstep(
        "stream_manager",
        Uut::default(),
        CYCLES,
        clock,
        |uut, random| {
            let traffic = cycle < CYCLES - DRAIN;
            let ready_of_8 = if traffic {
                [8, 4, 1][(cycle / 3_000) % 3]
            } else {
                8
            };
            check_outputs(uut, &mut model, ready_of_8, random);
            drive_sources(uut, &mut model, traffic, random);
            drive_control(uut, &mut model, traffic, random);
            cycle += 1;
        },
    );
    for stream in &model.streams {
        let name = format!("connection {}, {:?}", stream.number, stream.driver);
        assert!(!stream.job_out && stream.due.is_empty(), "{name}");
        match stream.driver {
            Phase::Running => assert!(stream.queued() < stream.need, "{name}: octets lie idle"),
            _ => assert!(stream.frames.is_empty(), "{name}: frames are kept"),
        }
    }
    let frames = model.streams.iter().flat_map(|stream| &stream.frames);
    let held: usize = frames.map(|frame| frame.pages.len()).sum();
    let offered = model.accepted.as_ref();
    let waiting = offered.map_or(0, |sent| sent.2.len()) + usize::from(model.host.is_some());
    assert_eq!(held + waiting + model.free_pages.len(), PAGES, "pages");
    assert!(model.hosts.is_empty(), "host frames are kept");
    let parts = model.streams.iter().map(|stream| stream.parts).sum();
    let seen = [
        parts,
        model.done_jobs,
        model.long_fpdus,
        model.multi_frame_jobs,
        model.stops,
        model.released_streams,
        model.host_jobs,
    ];
    assert!(
        seen.iter().all(|count| *count >= 5),
        "too little was seen: {seen:?}"
    );
}

/// A manager with `count` running streams, connections 0 to `count - 1`.
fn started(count: u64) -> Uut {
    let mut uut = Uut::default();
    uut.connect_all();
    settle(&mut uut);
    uut.job_ready.next = true;
    uut.page_release_ready.next = true;
    for connection in 0..count {
        uut.table_request.next = TableRequest {
            operation: u64::from(tables::WRITE).into(),
            table: u64::from(tables::MPA).into(),
            index: connection.into(),
            data: Bits::default(),
        };
        uut.table_valid.next = true;
        while !uut.table_done.val() {
            tick(&mut uut, clock);
        }
        uut.table_valid.next = false;
        tick(&mut uut, clock);
    }
    uut
}

fn segment(connection: u64, page: u64, octets: u64) -> Accepted {
    Accepted {
        connection: connection.into(),
        head_page: page.into(),
        tail_page: page.into(),
        offset: 56u64.into(),
        octets: octets.into(),
        first: true,
        last: true,
        ..Accepted::default()
    }
}

#[test]
fn a_job_is_there_six_cycles_after_its_octets_are_taken() {
    let mut uut = started(1);
    uut.accepted.next = segment(0, 7, 24);
    uut.accepted_valid.next = true;
    tick(&mut uut, clock);
    uut.accepted_valid.next = false;
    let mut cycles = 1;
    while !uut.job_valid.val() {
        tick(&mut uut, clock);
        cycles += 1;
        assert!(cycles < 100, "no job");
    }
    assert_eq!(cycles, 6);
}

/// Sends messages one after the other, the last one a question; its answer.
fn ask(uut: &mut Uut, messages: &[Accepted]) -> Unfinished {
    for message in messages {
        uut.accepted.next = *message;
        uut.accepted_valid.next = true;
        tick(uut, clock);
    }
    uut.accepted_valid.next = false;
    for _ in 0..30 {
        if uut.unfinished_valid.val() {
            return uut.unfinished.val();
        }
        tick(uut, clock);
    }
    panic!("no answer");
}

/// What TCP asks counts everything that it has told before.
#[test]
fn a_question_is_answered_with_what_the_fpdu_still_needs() {
    let mut uut = started(3);
    // Of a question only the connection counts.
    let question = Accepted {
        connection: 1u64.into(),
        early: true,
        has_right: true,
        purges: true,
        asks: true,
        ..Accepted::default()
    };
    let nothing = ask(&mut uut, &[segment(0, 6, 24), question]);
    assert!(nothing.empty && !nothing.busy && !nothing.known);
    // Three octets do not show the length, and make no job.
    let answer = ask(&mut uut, &[segment(1, 7, 3), question]);
    assert!(!answer.empty && !answer.busy && !answer.known);
    assert_eq!(answer.missing, 1u64);
    let answer = ask(&mut uut, &[segment(1, 8, 21), question]);
    assert!(answer.busy && !answer.empty);
    uut.job_done.next = JobDone {
        connection: 1u64.into(),
        consumed: 8u64.into(),
        need: 100u64.into(),
        ..JobDone::default()
    };
    uut.job_done_valid.next = true;
    tick(&mut uut, clock);
    uut.job_done_valid.next = false;
    let answer = ask(&mut uut, &[question]);
    assert!(answer.known && !answer.busy && !answer.empty);
    assert_eq!(answer.missing, 100u64 - 16);
    let answer = ask(&mut uut, &[segment(1, 9, 40), question]);
    assert_eq!(answer.missing, 100u64 - 56);
}

/// Segments of one FPDU each on 64 connections in turn: accepted, read, done, given back.
#[test]
fn a_segment_with_one_fpdu_costs_at_most_eleven_cycles() {
    const SEGMENTS: u64 = 300;
    let mut uut = started(64);
    let (mut sent, mut released, mut cycles) = (0u64, 0u64, 0u64);
    let mut jobs: VecDeque<JobDone> = VecDeque::new();
    while released < SEGMENTS {
        uut.accepted.next = segment(sent % 64, sent % 512, 24);
        uut.accepted_valid.next = sent < SEGMENTS;
        uut.job_done_valid.next = !jobs.is_empty();
        if let Some(done) = jobs.front() {
            uut.job_done.next = *done;
        }
        settle(&mut uut);
        sent += u64::from(uut.accepted_ready.val() && uut.accepted_valid.val());
        if uut.job_done_ready.val() && uut.job_done_valid.val() {
            jobs.pop_front();
        }
        if uut.job_valid.val() {
            let job = uut.job.val();
            jobs.push_back(JobDone {
                connection: job.connection,
                consumed: job.octets,
                need: 4u64.into(),
                ..JobDone::default()
            });
        }
        released += u64::from(uut.page_release_valid.val());
        tick(&mut uut, clock);
        cycles += 1;
        assert!(cycles < 100 * SEGMENTS, "{released} of {SEGMENTS} are done");
    }
    assert!(
        cycles <= 11 * SEGMENTS + 30,
        "{cycles} cycles for {SEGMENTS} segments"
    );
}

/// A frame of the longest size, cut by its FPDUs at every page: pages 100 to 135, then it ends.
#[test]
fn a_frame_gives_back_its_pages_as_its_octets_are_consumed() {
    const PAGE: u64 = PAGE_OCTETS as u64;
    for (first_offset, cursors) in [
        (
            56u64,
            vec![255u64, 256, 511, 512, 512 + 9 * PAGE, 35 * PAGE],
        ),
        (
            56,
            vec![8 * PAGE - 1, 16 * PAGE, 33 * PAGE + 5, 36 * PAGE - 1],
        ),
        // The first octets were cut off by TCP: no octet of two pages was accepted.
        (600, vec![600, 32 * PAGE + 600]),
        (56, vec![32 * PAGE]),
    ] {
        let mut uut = started(1);
        for page in 101..136u64 {
            uut.link_write.next = true;
            uut.link_page.next = (page - 1).into();
            uut.link_next.next = page.into();
            uut.jump_write.next = page >= 108;
            uut.jump_page.next = (page - 8).into();
            tick(&mut uut, clock);
        }
        (uut.link_write.next, uut.jump_write.next) = (false, false);
        uut.accepted.next = Accepted {
            tail_page: 135u64.into(),
            offset: first_offset.into(),
            ..segment(0, 100, 36 * PAGE - first_offset)
        };
        uut.accepted_valid.next = true;
        tick(&mut uut, clock);
        uut.accepted_valid.next = false;
        let (mut position, mut first_page) = (first_offset, 100);
        for cursor in cursors.into_iter().chain([36 * PAGE]) {
            let mut expected = None;
            if cursor / PAGE + 100 > first_page {
                expected = Some((first_page, cursor / PAGE + 99));
            }
            let mut cycles = 0;
            while !uut.job_valid.val() {
                tick(&mut uut, clock);
                cycles += 1;
                assert!(cycles < 100, "no job from octet {position} on");
            }
            let job = uut.job.val();
            let job = (job.head_page.index() as u64, job.offset.index() as u64);
            assert_eq!(job.0 - 100, (position - job.1) / PAGE, "octet {position}");
            assert_eq!(job.0, first_page, "octet {position}");
            uut.job_done.next = JobDone {
                connection: 0u64.into(),
                consumed: (cursor - position).into(),
                need: 1u64.into(),
                ..JobDone::default()
            };
            uut.job_done_valid.next = true;
            tick(&mut uut, clock);
            uut.job_done_valid.next = false;
            let mut released = None;
            for _ in 0..16 + 2 * 11 {
                if uut.page_release_valid.val() {
                    assert!(released.is_none(), "two chains at octet {cursor}");
                    let chain = uut.page_release.val();
                    released = Some((
                        chain.head_page.index() as u64,
                        chain.tail_page.index() as u64,
                    ));
                }
                if uut.job_valid.val() {
                    break;
                }
                tick(&mut uut, clock);
            }
            assert_eq!(released, expected, "octets to {cursor} are consumed");
            position = cursor;
            first_page = 100 + cursor / PAGE;
        }
        for _ in 0..20 {
            assert!(!uut.job_valid.val() && !uut.page_release_valid.val());
            tick(&mut uut, clock);
        }
    }
}

/// What keeps the pipeline behind the manager from waiting for the manager in a circle.
#[test]
fn stops_are_taken_and_host_frames_sent_while_no_stream_job_ends() {
    let mut uut = started(64);
    let (mut sent, mut stream_jobs, mut host_jobs) = (0u64, 0usize, 0usize);
    for _ in 0..1_000 {
        uut.accepted.next = segment(sent % 64, sent % 512, 24);
        uut.accepted_valid.next = sent < 64;
        settle(&mut uut);
        sent += u64::from(uut.accepted_ready.val() && uut.accepted_valid.val());
        stream_jobs += usize::from(uut.job_valid.val());
        tick(&mut uut, clock);
    }
    assert_eq!(
        stream_jobs, JOBS_OUT_MAX,
        "as many jobs as the queue of job_done can hold"
    );

    uut.accepted_valid.next = false;
    uut.host_frame_valid.next = true;
    tick(&mut uut, clock);
    uut.host_frame_valid.next = false;
    for _ in 0..20 {
        host_jobs += usize::from(uut.job_valid.val());
        tick(&mut uut, clock);
    }
    assert_eq!(host_jobs, 1, "a host frame waits for nothing");

    // The reader takes nothing any more: its output register fills, stops are taken all the same.
    uut.job_ready.next = false;
    uut.host_frame_valid.next = true;
    let mut stops = 0;
    for _ in 0..400 {
        uut.stopped.next = (stops % 64u64).into();
        uut.stopped_valid.next = stops < 30;
        settle(&mut uut);
        stops += u64::from(uut.stopped_ready.val() && uut.stopped_valid.val());
        tick(&mut uut, clock);
    }
    assert_eq!(stops, 30);
    assert!(
        uut.job_valid.val() && !uut.host_frame_ready.val(),
        "the outputs were blocked"
    );
}

/// A frame for a stream that nobody started goes back at once (MPA-027: it is not MPA's).
#[test]
fn octets_of_a_stream_never_started_are_released() {
    let mut uut = started(1);
    uut.accepted.next = segment(5, 77, 24);
    uut.accepted_valid.next = true;
    tick(&mut uut, clock);
    uut.accepted_valid.next = false;
    for _ in 0..12 {
        assert!(!uut.job_valid.val(), "no job without a stream");
        if uut.page_release_valid.val() {
            assert_eq!(uut.page_release.val().head_page, 77u64);
            return;
        }
        tick(&mut uut, clock);
    }
    panic!("the frame is kept");
}

/// Octets accepted before the driver asked for a release are given back before it is told "done".
#[test]
fn a_release_covers_the_octets_that_stand_before_it() {
    let mut uut = started(16);
    // One octet shows no FPDU's length, so no job goes out; connection 0 comes last.
    let (mut sent, mut released) = (0u64, 0usize);
    while sent < 15 {
        uut.accepted.next = segment(if sent < 12 { 1 + sent } else { 0 }, 100 + sent, 1);
        uut.accepted_valid.next = true;
        settle(&mut uut);
        sent += u64::from(uut.accepted_ready.val());
        tick(&mut uut, clock);
    }
    uut.accepted_valid.next = false;
    uut.table_request.next = TableRequest {
        operation: u64::from(tables::RELEASE).into(),
        table: u64::from(tables::MPA).into(),
        ..TableRequest::default()
    };
    uut.table_valid.next = true;
    let mut cycles_after_done = 0;
    for _ in 0..400 {
        released += usize::from(uut.page_release_valid.val());
        if uut.table_done.val() {
            uut.table_valid.next = false;
        }
        cycles_after_done += u32::from(!uut.table_valid.next);
        if cycles_after_done == 3 {
            break;
        }
        tick(&mut uut, clock);
    }
    assert_eq!(
        released, 3,
        "frames of connection 0 given back when the release is done"
    );
}
