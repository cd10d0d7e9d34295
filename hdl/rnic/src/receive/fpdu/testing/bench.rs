//! A bench around [`MpaRoom`]: plays reader, joiner, stream manager, DDP and placement.
use super::expect::{expect, Ended, Job, Passed};
use crate::messages::*;
use crate::receive::fpdu::MpaRoom;
use rnic_hdl_tools::testkit::{settle, tick, Random};
use rust_hdl::prelude::*;

/// How often each side is willing, in eighths.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    pub joined: u64,
    pub started: u64,
    pub job_done: u64,
    pub record: u64,
    pub placement: u64,
}

impl Pace {
    /// Nobody waits.
    pub const FULL: Self = Self {
        joined: 8,
        started: 8,
        job_done: 8,
        record: 8,
        placement: 8,
    };

    /// Each side waits as it likes.
    pub fn random(random: &mut Random) -> Self {
        Self {
            joined: random.below(8) + 1,
            started: random.below(8) + 1,
            job_done: random.below(8) + 1,
            record: random.below(8) + 1,
            placement: random.below(8) + 1,
        }
    }
}

/// The octets of a job on their way to the room, in beats.
struct Delivery {
    beats: Vec<Vec<u8>>,
    next: usize,
    tag: u64,
    killed: bool,
}

/// What came out of the room.
#[derive(Default)]
pub struct Outcome {
    pub passed: Vec<Passed>,
    pub ended: Vec<Ended>,
    pub kills: usize,
    pub cycles: usize,
    /// Cycle of each record.
    pub record_cycles: Vec<usize>,
}

/// Octet 0 in bits 7:0; for more than 32 bits.
pub fn bits_of<const D: usize>(octets: &[u8]) -> Bits<D> {
    let mut bits = [false; D];
    for (at, octet) in octets.iter().enumerate() {
        for bit in 0..8 {
            bits[8 * at + bit] = octet >> bit & 1 == 1;
        }
    }
    Bits::Long(bits.into())
}

/// Octet 0 from bits 7:0.
pub fn octets_of<const D: usize>(value: Bits<D>) -> Vec<u8> {
    (0..D / 8)
        .map(|at| {
            (0..8).fold(0, |octet, bit| {
                octet | u8::from(value.get_bit(8 * at + bit)) << bit
            })
        })
        .collect()
}

fn message(job: &Job) -> ReadJob {
    ReadJob {
        kind: job.kind.into(),
        connection: job.connection.into(),
        head_page: job.head_page.into(),
        offset: 0u64.into(),
        run_octets: 0u64.into(),
        octets: (job.octets.len() as u64).into(),
        sequence: u64::from(job.sequence).into(),
        phase: (job.position / 4 % 128).into(),
        markers: job.markers,
        crc: job.crc,
        slot: Default::default(),
        tail_page: job.tail_page.into(),
        ..ReadJob::default()
    }
}

/// The room under test, and what goes in and has come out.
pub struct Bench<const D: usize, const P: usize, const LG: usize, const A: usize, const F: usize> {
    uut: MpaRoom<D, P, LG, A, F>,
    random: Random,
    pace: Pace,
    placed: Vec<Vec<u8>>,
    records: Vec<FpduRecord>,
    verdicts: Vec<FpduVerdict>,
    /// Records that came since DDP last had room for two.
    beyond_room: usize,
    outcome: Outcome,
}

impl<const D: usize, const P: usize, const LG: usize, const A: usize, const F: usize>
    Bench<D, P, LG, A, F>
{
    pub fn new(random: Random, pace: Pace) -> Self {
        let mut uut = MpaRoom::default();
        uut.connect_all();
        uut.reset.next = true;
        tick(&mut uut, |uut| &mut uut.clock);
        uut.reset.next = false;
        settle(&mut uut);
        Self {
            uut,
            random,
            pace,
            placed: vec![],
            records: vec![],
            verdicts: vec![],
            beyond_room: 0,
            outcome: Outcome::default(),
        }
    }

    /// Runs `jobs` and compares everything that leaves the room with what must.
    pub fn check(mut self, jobs: &[Job]) -> Outcome {
        let (mut passed, mut ended) = (vec![], vec![]);
        for job in jobs {
            let (of_job, end) = expect(job, D / 8);
            passed.extend(of_job);
            ended.extend(end);
        }
        self.run(jobs, passed.len(), ended.len());
        let mut outcome = self.collect();
        let context = format!("{}, {:?}", self.random, self.pace);
        for (index, (is, must)) in outcome.passed.iter_mut().zip(&passed).enumerate() {
            if must.header.is_empty() {
                // A host frame: neither its first words nor what follows its octets count.
                is.header.clear();
                is.placed.truncate(must.placed.len());
            }
            assert!(
                is == must,
                "record {index} of {}: is {is:?}, must be {must:?}; {context}",
                passed.len()
            );
        }
        assert_eq!(outcome.passed.len(), passed.len(), "{context}");
        assert_eq!(outcome.ended, ended, "{context}");
        outcome
    }

    fn run(&mut self, jobs: &[Job], records: usize, ends: usize) {
        let mut deliveries: Vec<Delivery> = jobs
            .iter()
            .enumerate()
            .map(|(index, job)| Delivery {
                beats: job.octets.chunks(D / 8).map(<[u8]>::to_vec).collect(),
                next: 0,
                tag: index as u64 % 8,
                killed: false,
            })
            .collect();
        let octets: usize = jobs.iter().map(|job| job.octets.len()).sum();
        let limit = 4000 + 200 * jobs.len() + 400 * octets / (D / 8);
        let (mut started, mut current) = (0, 0);
        let (mut offers_start, mut offers_beat) = (false, false);
        let mut idle = 0;
        while idle < 60 {
            let ordered: u64 = self.records.iter().map(|record| number(record.beats)).sum();
            let judged = self.records.iter().filter(|record| is_judged(record));
            let done = self.records.len() >= records
                && self.verdicts.len() >= judged.count()
                && self.placed.len() as u64 == ordered
                && self.outcome.ended.len() >= ends
                && current == jobs.len();
            idle = if done { idle + 1 } else { 0 };
            offers_start =
                offers_start || (started < jobs.len() && self.random.chance(self.pace.started, 8));
            // The reader has 8 numbers, and starts a job before it sends its octets.
            offers_start &= started < jobs.len() && started < current + 6;
            offers_beat =
                offers_beat || (current < started && self.random.chance(self.pace.joined, 8));
            self.offer(
                jobs,
                &deliveries,
                started,
                current,
                offers_start,
                offers_beat,
            );
            // DDP orders a record's beats only once it has the record.
            self.uut.placement_ready.next =
                (self.placed.len() as u64) < ordered && self.random.chance(self.pace.placement, 8);
            settle(&mut self.uut);
            self.sample(&mut deliveries, current, started);
            if offers_start && self.uut.started_ready.val() {
                started += 1;
                offers_start = false;
            }
            if offers_beat && self.uut.joined_ready.val() {
                offers_beat = false;
                let delivery = &mut deliveries[current];
                delivery.next += 1;
                if delivery.next >= delivery.beats.len() {
                    current += 1;
                }
            }
            tick(&mut self.uut, |uut| &mut uut.clock);
            self.outcome.cycles += 1;
            assert!(
                self.outcome.cycles < limit,
                "no progress: {} of {records} records, {} of {ends} ends, {current} jobs; {}, {:?}",
                self.records.len(),
                self.outcome.ended.len(),
                self.random,
                self.pace
            );
        }
    }

    fn offer(
        &mut self,
        jobs: &[Job],
        deliveries: &[Delivery],
        started: usize,
        current: usize,
        offers_start: bool,
        offers_beat: bool,
    ) {
        let uut = &mut self.uut;
        uut.started_valid.next = offers_start;
        if offers_start {
            uut.started.next = message(&jobs[started]);
            uut.started_tag.next = deliveries[started].tag.into();
        }
        uut.joined_valid.next = offers_beat;
        if offers_beat {
            let delivery = &deliveries[current];
            let beat = &delivery.beats[delivery.next];
            // What lies beyond the job's octets is noise.
            let mut padded = beat.clone();
            padded.resize(D / 8, 0xa5);
            uut.joined_data.next = bits_of(&padded);
            uut.joined_octets.next = (beat.len() as u64).into();
            uut.joined_first.next = delivery.next == 0;
            uut.joined_last.next = delivery.next + 1 == delivery.beats.len();
        }
        uut.job_done_ready.next = self.random.chance(self.pace.job_done, 8);
        uut.record_room.next = self.random.chance(self.pace.record, 8);
    }

    fn sample(&mut self, deliveries: &mut [Delivery], current: usize, started: usize) {
        let uut = &self.uut;
        if uut.record_room.val() {
            self.beyond_room = 0;
        }
        if uut.record_valid.val() {
            self.records.push(uut.record.val());
            self.outcome.record_cycles.push(self.outcome.cycles);
            self.beyond_room += 1;
            assert!(self.beyond_room <= 2, "a record too many, {}", self.random);
        }
        if uut.verdict_valid.val() {
            self.verdicts.push(uut.verdict.val());
            let judged = self.records.iter().filter(|record| is_judged(record));
            assert!(
                self.verdicts.len() <= judged.count(),
                "a verdict before its record, {}",
                self.random
            );
        }
        if uut.placement_valid.val() && uut.placement_ready.val() {
            self.placed.push(octets_of(uut.placement_data.val()));
        }
        if uut.job_done_valid.val() && uut.job_done_ready.val() {
            let done = uut.job_done.val();
            self.outcome.ended.push(Ended {
                connection: number(done.connection),
                consumed: number(done.consumed),
                need: number(done.need),
                place_next: done.place_next,
            });
        }
        if uut.kill.val() {
            self.outcome.kills += 1;
            let tag = number(uut.kill_tag.val());
            // Only the job that is being read can be cut short; some beats are on their way.
            if current < started && deliveries[current].tag == tag {
                let delivery = &mut deliveries[current];
                assert!(
                    !delivery.killed,
                    "job {current} was killed twice, {}",
                    self.random
                );
                delivery.killed = true;
                // The beat on offer stays as it is; the last one, maybe empty, comes after it.
                let keep = delivery.next + 2 + self.random.below(3) as usize;
                if keep < delivery.beats.len() {
                    delivery.beats.truncate(keep);
                    if self.random.chance(1, 2) {
                        delivery.beats[keep - 1].clear();
                    }
                }
            }
        }
    }

    /// Puts each record and its beats of the placement buffer together.
    fn collect(&mut self) -> Outcome {
        let mut placed = self.placed.iter();
        let mut verdicts = self.verdicts.iter();
        let unjudged = FpduVerdict {
            crc_good: true,
            marker_good: true,
            marker_seen: false,
        };
        for record in &self.records {
            let verdict = match is_judged(record) {
                true => verdicts
                    .next()
                    .expect("a verdict for each record that is judged"),
                false => &unjudged,
            };
            let beats = number(record.beats);
            self.outcome.passed.push(Passed {
                kind: number(record.kind),
                connection: number(record.connection),
                sequence: number(record.sequence) as u32,
                sequence_end: number(record.sequence_end) as u32,
                ulpdu_length: number(record.ulpdu_length),
                crc_good: verdict.crc_good,
                marker_good: verdict.marker_good,
                header: octets_of(record.header),
                beats,
                placed: placed
                    .by_ref()
                    .take(beats as usize)
                    .flatten()
                    .copied()
                    .collect(),
                head_page: number(record.head_page),
                tail_page: number(record.tail_page),
            });
        }
        assert!(
            verdicts.next().is_none(),
            "a verdict too many, {}",
            self.random
        );
        assert!(
            placed.next().is_none() && !self.uut.placement_valid.val(),
            "beats are left in the placement buffer, {}",
            self.random
        );
        std::mem::take(&mut self.outcome)
    }
}

fn is_judged(record: &FpduRecord) -> bool {
    [FPDU_NORMAL, FPDU_CHECK].contains(&number(record.kind))
}

fn number<const N: usize>(value: Bits<N>) -> u64 {
    value.to_u64()
}
