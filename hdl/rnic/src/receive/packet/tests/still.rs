//! One frame at a time: borders, cycles from a job to its beats, cancels, what is left of a frame.
use crate::messages::*;
use crate::receive::packet::reader::FrameEntry;
use crate::receive::packet::{Packet, Packet512};
use rnic_hdl_tools::testkit::{bits_of, octets_of, simulate, Random, Simulation};
use std::collections::HashMap;

/// A room with one frame stored, for tests that count cycles.
struct Still<
    const W: usize,
    const D: usize,
    const A: usize,
    const B: usize,
    const O: usize,
    const H: usize,
> {
    uut: Simulation<Packet<W, D, A, B, O, H>>,
    octets: Vec<u8>,
    head: u64,
    tail: u64,
    /// The page after each page of a frame.
    next: HashMap<u64, u64>,
}

/// Result of a job: its octets, and the cycles in which it was taken, and in which its first and
/// last beats left.
#[derive(Debug, Default)]
struct Answer {
    octets: Vec<u8>,
    taken: u64,
    first: u64,
    last: u64,
}

impl<
        const W: usize,
        const D: usize,
        const A: usize,
        const B: usize,
        const O: usize,
        const H: usize,
    > Still<W, D, A, B, O, H>
{
    /// Waits for the pool, then stores one frame of `length` random octets.
    fn new(length: usize, random: &mut Random) -> Self {
        let uut = simulate!(Packet::<W, D, A, B, O, H>::default());
        let mut still = Self {
            uut,
            octets: Vec::new(),
            head: 0,
            tail: 0,
            next: HashMap::new(),
        };
        still.wait_for(|uut| uut.free_pages.val() == 512u64);
        still.uut.joined_ready.next = true;
        still.uut.started_ready.next = true;
        still.store(length, random);
        still
    }

    fn tick(&mut self) {
        self.uut.tick();
        if self.uut.link_write.val() {
            let page = self.uut.link_page.val().to_u64();
            self.next.insert(page, self.uut.link_next.val().to_u64());
        }
    }

    fn wait_for(&mut self, condition: impl Fn(&Packet<W, D, A, B, O, H>) -> bool) {
        let start = self.uut.cycle();
        while !condition(&self.uut) {
            self.tick();
            assert!(self.uut.cycle() - start < 4000, "waits too long");
        }
    }

    /// Stores a frame, which becomes the current one.
    fn store(&mut self, length: usize, random: &mut Random) {
        self.octets = (0..length).map(|_| random.bits() as u8).collect();
        for (i, beat) in self.octets.clone().chunks(W / 8).enumerate() {
            self.uut.store_valid.next = true;
            self.uut.store_data.next = bits_of(beat);
            self.uut.store_last.next = (i + 1) * (W / 8) >= length;
            self.tick();
        }
        self.uut.store_valid.next = false;
        self.uut.frame_info.next.segment.verdict = FrameVerdict::Tcp;
        self.uut.frame_info_valid.next = true;
        let sent = self.uut.cycle();
        self.tick();
        self.uut.frame_info_valid.next = false;
        self.wait_for(|uut| uut.stored_valid.val());
        assert_eq!(self.uut.cycle(), sent + 2, "frame_info to stored_valid");
        self.head = self.uut.stored.val().pages.head_page.to_u64();
        self.tail = self.uut.stored.val().pages.tail_page.to_u64();
        self.uut.stored_ready.next = true;
        self.tick();
        self.uut.stored_ready.next = false;
    }

    /// A job over octets of the current frame.
    fn job(&self, offset: usize, octets: usize) -> ReadJob {
        ReadJob {
            head_page: self.head.into(),
            tail_page: self.tail.into(),
            offset: (offset as u64).into(),
            run_octets: (octets as u64).into(),
            octets: (octets as u64).into(),
            ..Default::default()
        }
    }

    /// Offers the jobs without pause, takes every beat, and returns the answers.
    fn run(&mut self, jobs: &[ReadJob]) -> Vec<Answer> {
        let mut answers: Vec<Answer> = jobs.iter().map(|_| Answer::default()).collect();
        let (mut given, mut ended) = (0, 0);
        while ended < jobs.len() {
            self.uut.job_valid.next = given < jobs.len();
            if given < jobs.len() {
                self.uut.job.next = jobs[given];
                if self.uut.job_ready.val() {
                    answers[given].taken = self.uut.cycle();
                    given += 1;
                }
            }
            if self.uut.joined_valid.val() {
                let answer = &mut answers[ended];
                if self.uut.joined_first.val() {
                    answer.first = self.uut.cycle();
                }
                answer.last = self.uut.cycle();
                let octets = self.uut.joined_octets.val().to_u64() as usize;
                answer
                    .octets
                    .extend(&octets_of(self.uut.joined_data.val())[..octets]);
                ended += usize::from(self.uut.joined_last.val());
            }
            self.tick();
        }
        self.uut.job_valid.next = false;
        answers
    }

    /// Releases a chain, and waits until `free` pages are free.
    fn give_back(&mut self, head: u64, tail: u64, free: u64) {
        self.uut.release1.next = PageChain {
            head_page: head.into(),
            tail_page: tail.into(),
        };
        self.uut.release1_valid.next = true;
        self.tick();
        self.uut.release1_valid.next = false;
        self.wait_for(|uut| uut.free_pages.val() == free);
    }

    /// Queues these octets of the current frame after the frame in slot `before`; its own slot is
    /// its last page.
    fn follow(&mut self, before: u64, offset: usize, octets: usize) {
        self.uut.frame_table_write.next = true;
        self.uut.frame_table_index.next = self.tail.into();
        self.uut.frame_table_data.next = FrameEntry {
            head_page: self.head.into(),
            offset: (offset as u64).into(),
            octets: (octets as u64).into(),
        };
        self.uut.frame_link_write.next = true;
        self.uut.frame_link_index.next = before.into();
        self.uut.frame_link_next.next = self.tail.into();
        self.tick();
        self.uut.frame_table_write.next = false;
        self.uut.frame_link_write.next = false;
    }
}

type Still64 = Still<64, 128, 13, 4, 4, 2>;
type Still512 = Still<512, 512, 11, 2, 6, 3>;

/// The remaining pages of a frame are read, and the next frame, after the released pages were
/// rewritten.
#[test]
fn reads_a_frame_from_its_first_remaining_page() {
    let mut random = Random::from_environment();
    let mut still = Still512::new(9218, &mut random);
    let (long, tail) = (still.octets.clone(), still.tail);
    let (mut head, mut given) = (still.head, 0);
    for pages in [1u64, 8, 26] {
        let mut last = head;
        for _ in 1..pages {
            last = still.next[&last];
        }
        let after = still.next[&last];
        given += pages;
        let free = 512 - 37 + given;
        still.give_back(head, last, free);
        head = after;
        // Another frame in every free page, the last of them next in the stream.
        let mut others = Vec::new();
        while still.uut.free_pages.val() != 0u64 {
            let room = still.uut.free_pages.val().to_u64().min(36);
            still.store(256 * room as usize, &mut random);
            others.push((still.head, still.tail, room));
        }
        still.follow(tail, 3, 200);
        let mut expected = long[256 * given as usize + 7..].to_vec();
        let run_octets = expected.len() as u64;
        expected.extend(&still.octets[3..203]);
        let job = ReadJob {
            head_page: head.into(),
            slot: tail.into(),
            offset: 7u64.into(),
            run_octets: run_octets.into(),
            octets: (expected.len() as u64).into(),
            ..Default::default()
        };
        let answer = &still.run(&[job])[0];
        assert!(answer.octets == expected, "{given} pages");
        let mut free_now = 0;
        for (head, tail, room) in others {
            free_now += room;
            still.give_back(head, tail, free_now);
        }
        assert_eq!(free_now, free);
    }
}

/// Every start around the page borders with every length around the beat and page sizes.
fn borders<
    const W: usize,
    const D: usize,
    const A: usize,
    const B: usize,
    const O: usize,
    const H: usize,
>(
    starts: &[usize],
    lengths: &[usize],
) {
    let mut random = Random::from_environment();
    let mut still = Still::<W, D, A, B, O, H>::new(1100, &mut random);
    for start in starts {
        let jobs: Vec<ReadJob> = lengths.iter().map(|n| still.job(*start, *n)).collect();
        for (answer, length) in still.run(&jobs).iter().zip(lengths) {
            assert!(
                answer.octets == still.octets[*start..start + length],
                "{length} octets from {start}: {:02x?}",
                answer.octets
            );
        }
    }
}

#[test]
fn every_alignment_near_page_borders_128() {
    let starts: Vec<usize> = (0..18).chain(238..276).chain(510..514).collect();
    let lengths: Vec<usize> = (1..36)
        .chain(239..242)
        .chain(255..258)
        .chain([513])
        .collect();
    borders::<128, 128, 13, 4, 4, 2>(&starts, &lengths);
}

#[test]
fn every_alignment_near_page_borders_512() {
    let starts: Vec<usize> = (0..66).step_by(3).chain(190..194).chain(254..259).collect();
    let lengths: Vec<usize> = (1..130)
        .step_by(9)
        .chain(63..66)
        .chain([257, 513])
        .collect();
    borders::<512, 512, 11, 2, 6, 3>(&starts, &lengths);
}

#[test]
fn first_beat_leaves_after_nine_cycles() {
    let mut random = Random::from_environment();
    let mut still = Still64::new(1500, &mut random);
    let answers = still.run(&[still.job(64, 200)]);
    assert_eq!(answers[0].first, answers[0].taken + 9);
    // A full beat takes two words if the job begins inside a word.
    let answers = still.run(&[still.job(56, 200)]);
    assert_eq!(answers[0].first, answers[0].taken + 10);
    // Two pages are skipped.
    let answers = still.run(&[still.job(512, 100)]);
    assert_eq!(answers[0].first, answers[0].taken + 9 + 2 * 3);
}

#[test]
fn a_job_begins_in_any_page() {
    let mut random = Random::from_environment();
    let mut still = Still512::new(9218, &mut random);
    for page in 0..36 {
        let start = page * 256 + random.below(256) as usize;
        let answer = &still.run(&[still.job(start, 9218 - start)])[0];
        assert!(answer.octets == still.octets[start..], "{start}");
        let links = (page / 8 + page % 8) as u64;
        assert!(
            answer.first - answer.taken <= 13 + 3 * links,
            "page {page}: {} cycles",
            answer.first - answer.taken
        );
    }
}

#[test]
fn a_run_streams_one_beat_per_cycle_across_pages() {
    let mut random = Random::from_environment();
    let mut still = Still64::new(4003, &mut random);
    let answer = &still.run(&[still.job(3, 4000)])[0];
    assert_eq!(answer.last - answer.first + 1, 250);
    let mut still = Still512::new(9003, &mut random);
    let answer = &still.run(&[still.job(3, 8960)])[0];
    assert_eq!(answer.last - answer.first + 1, 140);
    // From a page's last word on: the next link takes two cycles more than that word.
    let answer = &still.run(&[still.job(192, 6464)])[0];
    assert_eq!(answer.last - answer.first + 1, 101 + 2);
}

#[test]
fn small_jobs_take_their_beats_and_one_cycle() {
    let mut random = Random::from_environment();
    let mut still = Still64::new(84, &mut random);
    let jobs: Vec<ReadJob> = (0..40).map(|_| still.job(56, 28)).collect();
    let answers = still.run(&jobs);
    let cycles = answers[39].last - answers[0].last;
    // Octets 56 to 83 lie in three words.
    assert!(cycles <= 39 * 4, "{cycles} cycles for 39 jobs");
}

#[test]
fn runs_of_one_page_take_six_cycles() {
    let mut random = Random::from_environment();
    let mut still = Still64::new(84, &mut random);
    let (first, first_tail) = (still.head, still.tail);
    let mut expected = still.octets[56..84].to_vec();
    for _ in 0..19 {
        let before = still.tail;
        still.store(84, &mut random);
        still.follow(before, 56, 28);
        expected.extend(&still.octets[56..84]);
    }
    let job = ReadJob {
        head_page: first.into(),
        slot: first_tail.into(),
        octets: (20u64 * 28).into(),
        ..still.job(56, 28)
    };
    let answer = &still.run(&[job])[0];
    assert!(answer.octets == expected);
    let cycles = answer.last - answer.taken;
    assert!(cycles <= 10 + 3 + 19 * 6, "{cycles} cycles for 20 runs");
}

#[test]
fn a_cancelled_job_stops_after_the_beats_in_flight() {
    let mut random = Random::from_environment();
    let mut still = Still64::new(9000, &mut random);
    let job = still.job(0, 9000);
    still.uut.job.next = job;
    still.uut.job_valid.next = true;
    still.tick();
    still.uut.job_valid.next = false;
    still.wait_for(|uut| uut.joined_valid.val());
    still.uut.cancel.next = true;
    still.tick();
    still.uut.cancel.next = false;
    let cancelled = still.uut.cycle();
    still.wait_for(|uut| uut.joined_valid.val() && uut.joined_last.val());
    let cycles = still.uut.cycle() - cancelled;
    assert!(
        cycles <= 14,
        "the job ends {cycles} cycles after the cancel"
    );
    // The reader goes on with the next job.
    still.tick();
    let answer = &still.run(&[still.job(100, 300)])[0];
    assert!(answer.octets == still.octets[100..400]);
}

#[test]
fn a_job_of_no_octets_gives_one_empty_beat() {
    let mut random = Random::from_environment();
    let mut still = Still64::new(84, &mut random);
    let jobs = [still.job(10, 0), still.job(10, 5)];
    let answers = still.run(&jobs);
    assert!(answers[0].octets.is_empty());
    assert_eq!(answers[1].octets, still.octets[10..15]);
}

#[test]
fn back_to_back_frames_are_stored_while_pages_last() {
    let mut random = Random::from_environment();
    let mut uut = simulate!(Packet512::default());
    uut.wait_for(4000, |uut| uut.free_pages.val() == 512u64);
    // One-beat frames in every second cycle, each with its FrameInfo one cycle later.
    uut.stored_ready.next = true;
    uut.frame_info.next.segment.verdict = FrameVerdict::Tcp;
    let mut heads = Vec::new();
    for cycle in 0..1030 {
        uut.store_valid.next = cycle % 2 == 0 && cycle < 1024;
        uut.store_last.next = true;
        uut.store_data.next = random.wide();
        uut.frame_info_valid.next = cycle % 2 == 1 && cycle < 1024;
        uut.tick();
        assert!(!uut.count_no_page.val(), "cycle {cycle}");
        if uut.stored_valid.val() {
            heads.push(uut.stored.val().pages.head_page.to_u64());
        }
    }
    heads.sort_unstable();
    assert_eq!(heads, (0..512).collect::<Vec<u64>>());
}
