//! The stream manager against a model in plain integers, with stub packet reader and splitter.
//!
//! The model keeps every stream as a list of frames and a list of FPDU sizes. Each job is checked
//! octet for octet (its frames are walked through copies of the reader's tables), and each frame's
//! pages must come back exactly once: not before their octets are consumed or the stream is
//! stopped, and never while a job may read them.
use super::*;
use crate::testkit::{lockstep, settle, tick, Random};
use rnic_abi::limits::{PAGES, SINGLE_PASS_ULPDU_OCTETS};
use rnic_abi::tables;
use std::collections::VecDeque;

type Uut = StreamManager;
type Pages = (u64, u64);

/// A frame whose pages the manager holds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Frame {
    pages: Pages,
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
    /// Pages of frames whose octets are consumed.
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
    }
}

/// A job in the hands of the stub splitter.
struct OpenJob {
    stream: usize,
    octets: u64,
    place: bool,
    frames: Vec<Pages>,
}

#[derive(Default)]
struct Model {
    streams: Vec<Stream>,
    free_pages: VecDeque<u64>,
    hosts: VecDeque<HostFrame>,
    accepted: Option<(usize, Accepted)>,
    host: Option<HostFrame>,
    done: Option<JobDone>,
    stop: Option<usize>,
    request: Option<(usize, TableRequest)>,
    jobs: Vec<OpenJob>,
    table: Vec<FrameEntry>,
    links: Vec<u64>,
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
        let mut page = job.head_page.index();
        let (mut offset, mut run) = (job.offset.index() as u64, job.run_octets.index() as u64);
        let (mut walked, mut skipped) = (0, stream.head_consumed);
        let mut frames = Vec::new();
        for frame in &stream.frames {
            assert_eq!(page as u64, frame.pages.0, "{frame:?}, {random}");
            assert_eq!(offset, frame.offset + skipped, "{frame:?}, {random}");
            assert_eq!(run, frame.octets - skipped, "{frame:?}, {random}");
            frames.push(frame.pages);
            (walked, skipped) = (walked + run, 0);
            if walked >= octets {
                break;
            }
            page = self.links[page] as usize;
            offset = self.table[page].offset.index() as u64;
            run = self.table[page].octets.index() as u64;
        }
        assert_eq!(walked, octets, "a job ends where a frame does, {random}");
        self.multi_frame_jobs += usize::from(frames.len() > 1);
        stream.job_out = true;
        let place = kind == JOB_PLACE;
        self.jobs.push(OpenJob {
            stream: index,
            octets,
            place,
            frames,
        });
    }

    fn check_release(&mut self, chain: &PageChain, random: &Random) {
        let pages = (
            chain.head_page.index() as u64,
            chain.tail_page.index() as u64,
        );
        let read = self.jobs.iter().any(|job| job.frames.contains(&pages));
        assert!(!read, "pages {pages:?} go while a job reads them, {random}");
        let found = self.streams.iter_mut().any(|stream| {
            if let Some(place) = stream.due.iter().position(|due| *due == pages) {
                stream.due.remove(place);
                return true;
            }
            // Without a running stream every frame may go.
            let place = stream.frames.iter().position(|frame| frame.pages == pages);
            let dropped = place.filter(|_| stream.driver != Phase::Running);
            dropped
                .and_then(|place| stream.frames.remove(place))
                .is_some()
        });
        assert!(found, "pages {pages:?} are not due, {random}");
        self.free_pages.push_back(pages.0);
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
        let offered = self.accepted.is_some_and(|(offered, _)| offered == index);
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
            Phase::Running => stream.queued() < 30_000,
            Phase::Idle | Phase::Stopped => random.chance(1, 8),
            Phase::Starting | Phase::Releasing => false,
        };
        if !may || self.free_pages.len() < 8 {
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
        let message = Accepted {
            connection: stream.number.into(),
            head_page: self.free_pages.pop_front().expect("counted above").into(),
            tail_page: random.below(PAGES as u64).into(),
            offset: (56 + random.below(80)).into(),
            octets: octets.into(),
        };
        self.accepted = Some((index, message));
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

/// The four sources, each with its message until it is taken.
fn drive_sources(uut: &mut Uut, model: &mut Model, traffic: bool, random: &mut Random) {
    if model.accepted.is_none() && traffic && random.chance(1, 4) {
        model.next_accepted(random);
    }
    uut.accepted_valid.next = model.accepted.is_some();
    if let Some((index, message)) = model.accepted {
        uut.accepted.next = message;
        if uut.accepted_ready.val() {
            model.streams[index].frames.push_back(Frame {
                pages: (
                    message.head_page.index() as u64,
                    message.tail_page.index() as u64,
                ),
                offset: message.offset.index() as u64,
                octets: message.octets.index() as u64,
            });
            model.accepted = None;
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
    let mut model = Model::new(12);
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
    let held: usize = model.streams.iter().map(|stream| stream.frames.len()).sum();
    let waiting = usize::from(model.accepted.is_some()) + usize::from(model.host.is_some());
    assert_eq!(held + waiting + model.free_pages.len(), PAGES, "pages");
    assert!(model.hosts.is_empty(), "host frames are kept");
    let seen = [
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
    }
}

#[test]
fn a_job_is_there_five_cycles_after_its_octets_are_taken() {
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
    assert_eq!(cycles, 5);
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
                place_next: false,
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
