//! Test bench of the packet room: sends random frames, reads the stored ones with random jobs,
//! releases them, and compares all with plain octet strings.
//!
//! `step` looks at the outputs of a cycle and sets its inputs; all of the room's handshakes come
//! from registers, so that one call per cycle is enough, in Rust and in lockstep.
use crate::messages::*;
use crate::receive::packet::reader::FrameEntry;
use crate::receive::packet::Packet;
use rnic_hdl_tools::testkit::Random;
use rust_hdl::prelude::*;
use std::collections::{HashMap, VecDeque};

mod jobs;

/// Octets as a word, the first in bits 7:0.
pub fn to_bits<const N: usize>(octets: &[u8]) -> Bits<N> {
    let mut word = Bits::<N>::default();
    for (i, octet) in octets.iter().enumerate() {
        for bit in 0..8 {
            if (octet >> bit) & 1 == 1 {
                word = word.replace_bit(8 * i + bit, true);
            }
        }
    }
    word
}

/// The first `count` octets of a word.
pub fn to_octets<const N: usize>(word: Bits<N>, count: usize) -> Vec<u8> {
    (0..count)
        .map(|i| word.get_bits::<8>(8 * i).to_u8())
        .collect()
}

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

/// How the bench behaves; odds are out of 100 per cycle or frame.
#[derive(Clone, Debug)]
pub struct Habits {
    pub beat: u64,
    pub frame: u64,
    pub longest: u64,
    pub take_stored: u64,
    pub drop: u64,
    pub job: u64,
    pub joined: u64,
    pub started: u64,
    pub kill: u64,
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

/// The bench's view of the room.
pub struct Bench {
    pub habits: Habits,
    /// No new frames; all held ones are released.
    pub draining: bool,
    pub cycle: u64,
    frame: Option<(Vec<u8>, usize)>,
    // The ended frame without FrameInfo, and the cycles until it follows.
    info_due: Option<(Vec<u8>, u64)>,
    // The frame whose FrameInfo went in with the last cycle.
    told: Option<(FrameInfo, Vec<u8>)>,
    to_store: VecDeque<(FrameInfo, Vec<u8>)>,
    pub held: Vec<Held>,
    tables: VecDeque<(u64, FrameEntry, u64)>,
    planned: Option<Job>,
    offered: bool,
    jobs: VecDeque<Job>,
    jobs_accepted: u64,
    jobs_started: u64,
    jobs_ended: u64,
    releases: [VecDeque<PageChain>; 4],
    // The page after each page of a frame.
    next: HashMap<u64, u64>,
    pub parts_released: u64,
    pub frames_stored: u64,
    pub frames_dropped: u64,
    pub jobs_cut: u64,
}

impl Bench {
    pub fn new(habits: Habits) -> Self {
        Self {
            habits,
            draining: false,
            cycle: 0,
            frame: None,
            info_due: None,
            told: None,
            to_store: VecDeque::new(),
            held: Vec::new(),
            tables: VecDeque::new(),
            planned: None,
            offered: false,
            jobs: VecDeque::new(),
            jobs_accepted: 0,
            jobs_started: 0,
            jobs_ended: 0,
            releases: Default::default(),
            next: HashMap::new(),
            parts_released: 0,
            frames_stored: 0,
            frames_dropped: 0,
            jobs_cut: 0,
        }
    }

    /// Nothing is in flight and everything is released.
    pub fn idle(&self) -> bool {
        self.frame.is_none()
            && self.info_due.is_none()
            && self.told.is_none()
            && self.to_store.is_empty()
            && self.held.is_empty()
            && self.jobs.is_empty()
            && self.planned.is_none()
            && self.releases.iter().all(VecDeque::is_empty)
    }

    /// Jobs that have ended.
    pub fn jobs_ended(&self) -> u64 {
        self.jobs_ended
    }

    pub fn step<
        const W: usize,
        const D: usize,
        const A: usize,
        const B: usize,
        const O: usize,
        const H: usize,
    >(
        &mut self,
        uut: &mut Packet<W, D, A, B, O, H>,
        random: &mut Random,
    ) {
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
        assert!(
            free + owned <= 512,
            "cycle {}: {free} pages free, {owned} owned, {random}",
            self.cycle
        );
        self.cycle += 1;
    }

    fn store<
        const W: usize,
        const D: usize,
        const A: usize,
        const B: usize,
        const O: usize,
        const H: usize,
    >(
        &mut self,
        uut: &mut Packet<W, D, A, B, O, H>,
        random: &mut Random,
    ) {
        // The room reports in the next cycle whether it dropped the frame.
        let lost = uut.count_no_page.val();
        match self.told.take() {
            Some((info, octets)) if info.verdict != VERDICT_DROP => {
                if lost {
                    self.frames_dropped += 1;
                } else {
                    self.to_store.push_back((info, octets));
                }
            }
            _ => assert!(!lost, "cycle {}: lost no frame, {random}", self.cycle),
        }

        if self.frame.is_none() && !self.draining && random.chance(self.habits.frame, 100) {
            let longest = match random.below(4) {
                0 => 300,
                1 => 60,
                _ => self.habits.longest,
            };
            let length = 1 + random.below(longest.min(self.habits.longest)) as usize;
            let octets = (0..length).map(|_| random.bits() as u8).collect();
            self.frame = Some((octets, 0));
        }
        uut.store_valid.next = false;
        uut.store_last.next = random.chance(1, 2);
        let mut ended = None;
        if let Some((octets, position)) = &mut self.frame {
            let end = (*position + W / 8).min(octets.len());
            let last = end == octets.len();
            // A frame ends only after the previous one has its FrameInfo.
            if random.chance(self.habits.beat, 100) && !(last && self.info_due.is_some()) {
                uut.store_valid.next = true;
                uut.store_last.next = last;
                uut.store_data.next = to_bits(&octets[*position..end]);
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
                let info = random_info(self.habits.drop, octets.len(), random);
                uut.frame_info.next = info;
                uut.frame_info_valid.next = true;
                self.told = Some((info, octets));
            }
        }
        if let Some((octets, _)) = ended {
            self.info_due = Some((octets, random.below(6)));
        }
    }

    fn take_stored<
        const W: usize,
        const D: usize,
        const A: usize,
        const B: usize,
        const O: usize,
        const H: usize,
    >(
        &mut self,
        uut: &mut Packet<W, D, A, B, O, H>,
        random: &mut Random,
    ) {
        uut.stored_ready.next = self.draining || random.chance(self.habits.take_stored, 100);
        if !(uut.stored_valid.val() && uut.stored_ready.next) {
            return;
        }
        let stored = uut.stored.val();
        let (info, octets) = self
            .to_store
            .pop_front()
            .unwrap_or_else(|| panic!("cycle {}: frame from nowhere, {random}", self.cycle));
        let expected = StoredFrame {
            verdict: info.verdict,
            frame_octets: info.frame_octets,
            ipv6: info.ipv6,
            remote_address: info.remote_address,
            local_address: info.local_address,
            ports: info.ports,
            flags: info.flags,
            checksum_good: info.checksum_good,
            seg_seq: info.seg_seq,
            seg_ack: info.seg_ack,
            seg_wnd: info.seg_wnd,
            payload_offset: info.payload_offset,
            payload_octets: info.payload_octets,
            head_page: stored.head_page,
            tail_page: stored.tail_page,
        };
        assert_eq!(stored, expected, "cycle {}, {random}", self.cycle);
        let held = Held {
            head: stored.head_page.to_u64(),
            tail: stored.tail_page.to_u64(),
            octets,
            readers: 0,
        };
        assert_eq!(
            held.head == held.tail,
            held.pages() == 1,
            "cycle {}: {held:?}, {random}",
            self.cycle
        );
        self.frames_stored += 1;
        self.held.push(held);
    }

    fn take_joined<
        const W: usize,
        const D: usize,
        const A: usize,
        const B: usize,
        const O: usize,
        const H: usize,
    >(
        &mut self,
        uut: &mut Packet<W, D, A, B, O, H>,
        random: &mut Random,
    ) {
        uut.started_ready.next = random.chance(self.habits.started, 100);
        if uut.started_valid.val() && uut.started_ready.next {
            let at = (self.jobs_started - self.jobs_ended) as usize;
            let job = self.jobs.get_mut(at).expect("a job that was given");
            assert_eq!(uut.started.val(), job.job, "cycle {}, {random}", self.cycle);
            assert_eq!(uut.started_tag.val(), self.jobs_started % 8, "{random}");
            job.started = true;
            self.jobs_started += 1;
        }
        // Like the splitter, the bench takes a job's octets after `started`.
        let known = self.jobs.front().is_some_and(|job| job.started);
        uut.joined_ready.next = known && random.chance(self.habits.joined, 100);
        if !(uut.joined_valid.val() && uut.joined_ready.next) {
            return;
        }
        let (octets, last) = (
            uut.joined_octets.val().to_u64() as usize,
            uut.joined_last.val(),
        );
        let context = format!("cycle {}, job {}, {random}", self.cycle, self.jobs_ended);
        let job = self.jobs.front_mut().expect("a job is known");
        assert_eq!(uut.joined_first.val(), !job.opened, "first, {context}");
        job.opened = true;
        assert!(last || octets == D / 8, "{octets} octets, {context}");
        assert!(octets <= D / 8, "{octets} octets, {context}");
        assert!(
            octets > 0 || (last && (job.expected.is_empty() || job.may_be_cut)),
            "a beat of nothing, {context}"
        );
        job.received
            .extend(to_octets(uut.joined_data.val(), octets));
        assert!(
            job.expected.starts_with(&job.received),
            "{:?}: {:02x?} is no start of {:02x?}, {context}",
            job.job,
            job.received,
            job.expected
        );
        if last {
            let cut = job.received.len() < job.expected.len();
            assert!(!cut || job.may_be_cut, "job ends early, {context}");
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
    FrameInfo {
        verdict: if random.chance(drop, 100) {
            VERDICT_DROP.into()
        } else {
            (1 + random.below(2)).into()
        },
        frame_octets: (stored as u64).into(),
        ipv6: random.chance(1, 2),
        remote_address: random.wide(),
        local_address: random.wide(),
        ports: random.wide(),
        flags: random.wide(),
        checksum_good: random.chance(1, 2),
        seg_seq: random.wide(),
        seg_ack: random.wide(),
        seg_wnd: random.wide(),
        payload_offset: random.wide(),
        payload_octets: random.wide(),
    }
}
