//! Test bench of the packet room: sends random frames, reads the stored ones with random jobs,
//! releases them, and compares all with plain octet strings.
//!
//! `step` looks at the outputs of a cycle and sets its inputs; all of the room's handshakes come
//! from registers, so that one call per cycle is enough, in Rust and in lockstep.
use crate::messages::*;
use crate::receive::packet::reader::FrameEntry;
use crate::receive::packet::Packet;
use rnic_hdl_tools::testkit::{bits_of, octets_of, Pace, Random, StreamDriver, StreamMonitor};
use rust_hdl::prelude::*;
use std::collections::{HashMap, VecDeque};

mod jobs;

/// A frame in packet memory, as the owner of its pages sees it.
#[derive(Clone, Debug)]
pub struct Held {
    pub head: u64,
    pub tail: u64,
    /// Octets stored in these pages, pad included.
    pub octets: Vec<u8>,
    /// Jobs that read it.
    pub readers: usize,
}

impl Held {
    pub fn pages(&self) -> u64 {
        self.octets.len().div_ceil(256) as u64
    }
}

/// The traffic of a bench; plain numbers are odds of 100 per frame or cycle.
#[derive(Clone, Debug)]
pub struct Traffic {
    pub beat: Pace,
    pub frame: u64,
    pub longest: u64,
    pub take_stored: Pace,
    pub drop: u64,
    pub job: u64,
    pub joined: Pace,
    pub started: Pace,
    /// Odds of 1000.
    pub cancel: u64,
    pub release: u64,
    /// Frames held before the bench releases some.
    pub hoard: usize,
}

struct Job {
    job: ReadJob,
    expected: Vec<u8>,
    received: Vec<u8>,
    frames: Vec<u64>,
    opened: bool,
    started: bool,
    may_be_cut: bool,
}

/// A beat of a job: data, octets, first, last.
type Beat<const D: usize> = (Bits<D>, u64, bool, bool);

/// The bench's view of the room.
pub struct Bench<
    const W: usize,
    const D: usize,
    const A: usize,
    const B: usize,
    const O: usize,
    const H: usize,
> {
    pub traffic: Traffic,
    /// No new frames; everything held is given back.
    pub draining: bool,
    frame: Option<(Vec<u8>, usize)>,
    // The ended frame without FrameInfo, and the cycles until it follows.
    info_due: Option<(Vec<u8>, u64)>,
    // The frame whose FrameInfo went in with the last cycle.
    judged: Option<(FrameInfo, Vec<u8>)>,
    to_store: VecDeque<(FrameInfo, Vec<u8>)>,
    stored: StreamMonitor<StoredFrame>,
    pub held: Vec<Held>,
    tables: VecDeque<(u64, FrameEntry, u64)>,
    planned: Option<Job>,
    offered: StreamDriver<Job>,
    started: StreamMonitor<(ReadJob, u64)>,
    joined: StreamMonitor<Beat<D>>,
    jobs: VecDeque<Job>,
    jobs_started: u64,
    jobs_ended: u64,
    releases: [StreamDriver<PageChain>; 4],
    // The page after each page of a frame.
    next: HashMap<u64, u64>,
    pub parts_released: u64,
    pub frames_stored: u64,
    pub frames_dropped: u64,
    pub jobs_cut: u64,
}

impl<
        const W: usize,
        const D: usize,
        const A: usize,
        const B: usize,
        const O: usize,
        const H: usize,
    > Bench<W, D, A, B, O, H>
{
    pub fn new(traffic: Traffic) -> Self {
        Self {
            draining: false,
            frame: None,
            info_due: None,
            judged: None,
            to_store: VecDeque::new(),
            stored: StreamMonitor::new(traffic.take_stored),
            held: Vec::new(),
            tables: VecDeque::new(),
            planned: None,
            offered: StreamDriver::new(Pace::Chance(80, 100)),
            started: StreamMonitor::new(traffic.started),
            joined: StreamMonitor::new(traffic.joined),
            jobs: VecDeque::new(),
            jobs_started: 0,
            jobs_ended: 0,
            releases: std::array::from_fn(|_| StreamDriver::new(Pace::Always)),
            next: HashMap::new(),
            parts_released: 0,
            frames_stored: 0,
            frames_dropped: 0,
            jobs_cut: 0,
            traffic,
        }
    }

    /// No new frames; everything held goes back, as fast as it may.
    pub fn drain(&mut self) {
        self.draining = true;
        self.traffic.release = 100;
        self.stored.pace = Pace::Always;
        (self.traffic.started, self.traffic.joined) = (Pace::Always, Pace::Always);
    }

    /// Nothing is under way and everything has been given back.
    pub fn idle(&self) -> bool {
        self.frame.is_none()
            && self.info_due.is_none()
            && self.judged.is_none()
            && self.to_store.is_empty()
            && self.held.is_empty()
            && self.jobs.is_empty()
            && self.planned.is_none()
            && self.offered.is_empty()
            && self.releases.iter().all(StreamDriver::is_empty)
    }

    /// Jobs that have ended.
    pub fn jobs_ended(&self) -> u64 {
        self.jobs_ended
    }

    pub fn step(&mut self, uut: &mut Packet<W, D, A, B, O, H>, random: &mut Random) {
        if uut.link_write.val() {
            let (page, next) = (uut.link_page.val().to_u64(), uut.link_next.val().to_u64());
            self.next.insert(page, next);
        }
        self.store(uut, random);
        self.take_stored(uut, random);
        self.take_joined(uut, random);
        self.jobs(uut, random);
        self.give_back(uut, random);
        let owned: u64 = self.held.iter().map(Held::pages).sum();
        let free = uut.free_pages.val().to_u64();
        assert!(free + owned <= 512, "{free} pages free, {owned} owned");
    }

    fn store(&mut self, uut: &mut Packet<W, D, A, B, O, H>, random: &mut Random) {
        // The room says in the next cycle whether it lost the frame.
        let lost = uut.count_no_page.val();
        match self.judged.take() {
            Some((info, octets)) if info.segment.verdict != FrameVerdict::Drop => {
                if lost {
                    self.frames_dropped += 1;
                } else {
                    self.to_store.push_back((info, octets));
                }
            }
            _ => assert!(!lost, "lost no frame"),
        }

        if self.frame.is_none() && !self.draining && random.chance(self.traffic.frame, 100) {
            let longest = match random.below(4) {
                0 => 300,
                1 => 60,
                _ => self.traffic.longest,
            };
            let length = 1 + random.below(longest.min(self.traffic.longest)) as usize;
            let octets = (0..length).map(|_| random.bits() as u8).collect();
            self.frame = Some((octets, 0));
        }
        uut.store_valid.next = false;
        uut.store_last.next = random.chance(1, 2);
        let mut ended = None;
        if let Some((octets, position)) = &mut self.frame {
            let end = (*position + W / 8).min(octets.len());
            let last = end == octets.len();
            // A frame may end no sooner than the one before has its FrameInfo.
            if self.traffic.beat.goes(0, random) && !(last && self.info_due.is_some()) {
                uut.store_valid.next = true;
                uut.store_last.next = last;
                uut.store_data.next = bits_of(&octets[*position..end]);
                *position = end;
                if last {
                    ended = self.frame.take();
                }
            }
        }
        uut.frame_info_valid.next = false;
        if let Some((octets, delay)) = self.info_due.take() {
            if delay > 0 {
                self.info_due = Some((octets, delay - 1));
            } else {
                let info = random_info(self.traffic.drop, octets.len(), random);
                uut.frame_info.next = info;
                uut.frame_info_valid.next = true;
                self.judged = Some((info, octets));
            }
        }
        if let Some((octets, _)) = ended {
            self.info_due = Some((octets, random.below(6)));
        }
    }

    fn take_stored(&mut self, uut: &mut Packet<W, D, A, B, O, H>, random: &mut Random) {
        let (data, valid) = (&uut.stored, &uut.stored_valid);
        let ready = &mut uut.stored_ready;
        let Some(stored) = self.stored.watch(data, valid, ready, random) else {
            return;
        };
        let (info, octets) = self.to_store.pop_front().expect("a frame that was sent");
        let key: Bits<KEY_BITS> = info.key.into();
        let hash = u64::from(crc32c::crc32c(&octets_of(key)[..KEY_OCTETS]));
        let hash = hash & ((1 << KEY_HASH_BITS) - 1);
        let expected = StoredFrame {
            info,
            key_hash: hash.into(),
            pages: stored.pages,
        };
        assert_eq!(stored, expected);
        let held = Held {
            head: stored.pages.head_page.to_u64(),
            tail: stored.pages.tail_page.to_u64(),
            octets,
            readers: 0,
        };
        assert_eq!(held.head == held.tail, held.pages() == 1, "{held:?}");
        self.frames_stored += 1;
        self.held.push(held);
    }

    fn take_joined(&mut self, uut: &mut Packet<W, D, A, B, O, H>, random: &mut Random) {
        let started = (uut.started.val(), uut.started_tag.val().to_u64());
        let started = uut.started_valid.val().then_some(started);
        if let Some((job, tag)) = self
            .started
            .observe(started, &mut uut.started_ready, random)
        {
            let at = (self.jobs_started - self.jobs_ended) as usize;
            let expected = self.jobs.get_mut(at).expect("a job that was given");
            assert_eq!(job, expected.job);
            assert_eq!(tag, self.jobs_started % 8);
            expected.started = true;
            self.jobs_started += 1;
        }
        // As the splitter does, the bench takes a job's octets only once it knows the job.
        let known = self.jobs.front().is_some_and(|job| job.started);
        self.joined.pace = if known {
            self.traffic.joined
        } else {
            Pace::Never
        };
        let beat = || {
            let octets = uut.joined_octets.val().to_u64();
            (
                uut.joined_data.val(),
                octets,
                uut.joined_first.val(),
                uut.joined_last.val(),
            )
        };
        let beat = uut.joined_valid.val().then(beat);
        let taken = self.joined.observe(beat, &mut uut.joined_ready, random);
        let Some((data, octets, first, last)) = taken else {
            return;
        };
        let octets = octets as usize;
        let job = self.jobs.front_mut().expect("a job is known");
        assert_eq!(first, !job.opened, "first");
        job.opened = true;
        assert!(octets == D / 8 || last && octets < D / 8, "{octets} octets");
        let may_be_empty = last && (job.expected.is_empty() || job.may_be_cut);
        assert!(octets > 0 || may_be_empty, "a beat of nothing");
        job.received.extend(&octets_of(data)[..octets]);
        assert!(
            job.expected.starts_with(&job.received),
            "{:?}: {:02x?} is no start of {:02x?}",
            job.job,
            job.received,
            job.expected
        );
        if last {
            let cut = job.received.len() < job.expected.len();
            assert!(!cut || job.may_be_cut, "the job ends early");
            self.jobs_cut += u64::from(cut);
            let job = self.jobs.pop_front().expect("a job is known");
            for held in &mut self.held {
                if job.frames.contains(&held.head) {
                    held.readers -= 1;
                }
            }
            self.jobs_ended += 1;
        }
    }
}

fn random_info(drop: u64, stored: usize, random: &mut Random) -> FrameInfo {
    let segment = SegmentInfo {
        verdict: if random.chance(drop, 100) {
            FrameVerdict::Drop
        } else {
            [FrameVerdict::Host, FrameVerdict::Tcp][random.below(2) as usize]
        },
        frame_octets: (stored as u64).into(),
        flags: random.wide(),
        checksum_good: random.chance(1, 2),
        more_options: random.chance(1, 2),
        seg_seq: random.wide(),
        seg_ack: random.wide(),
        seg_wnd: random.wide(),
        payload_offset: random.wide(),
        payload_octets: random.wide(),
    };
    let key = ConnectionKey {
        remote_address: random.wide(),
        local_address: random.wide(),
        ports: random.wide(),
    };
    FrameInfo {
        ipv6: random.chance(1, 2),
        key,
        segment,
    }
}
