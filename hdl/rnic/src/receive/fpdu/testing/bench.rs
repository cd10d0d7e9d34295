//! A bench around [`FpduRoom`]: plays reader, joiner, stream manager, DDP and placement.
use super::expect::{expect, Ended, Job, Passed};
use crate::messages::*;
use crate::receive::fpdu::FpduRoom;
use rnic_hdl_tools::testkit::{
    bits_of, octets_of, settle, simulate, Pace, Random, StreamDriver, StreamMonitor,
};
use rust_hdl::prelude::*;

/// How often each side is willing: joined octets, starts, ends of jobs, records, placement.
pub type Paces = [Pace; 5];

/// No side waits.
pub const FULL: Paces = [Pace::Always; 5];

/// Each side waits at a rate of its own.
pub fn random_paces(random: &mut Random) -> Paces {
    std::array::from_fn(|_| Pace::of_8(random.below(8) + 1))
}

/// A beat of the job of this index on its way to the room.
#[derive(Clone)]
struct Beat {
    job: usize,
    octets: Vec<u8>,
    last: bool,
}

fn beats_of(job: usize, octets: &[u8], beat_octets: usize) -> impl Iterator<Item = Beat> + '_ {
    let count = octets.len().div_ceil(beat_octets);
    let beats = octets.chunks(beat_octets).enumerate();
    beats.map(move |(at, octets)| Beat {
        job,
        octets: octets.to_vec(),
        last: at + 1 == count,
    })
}

/// The reader has 8 numbers for its jobs.
fn tag_of(job: usize) -> u64 {
    job as u64 % 8
}

/// What came out of the room.
#[derive(Default)]
pub struct Outcome {
    pub passed: Vec<Passed>,
    pub cancels: usize,
    /// Cycle of each record.
    pub record_cycles: Vec<u64>,
}

fn message(job: &Job) -> ReadJob {
    ReadJob {
        kind: job.kind,
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

/// Input and output of the room, in beats of `D` bits.
struct Bench<'a, const D: usize> {
    jobs: &'a [Job],
    /// Jobs offered, and jobs whose octets were all taken.
    offered: usize,
    current: usize,
    started: StreamDriver<usize>,
    joined: StreamDriver<Beat>,
    record_room: Pace,
    placement_pace: Pace,
    placement: StreamMonitor<Bits<D>>,
    job_done: StreamMonitor<JobDone>,
    records: Vec<FpduRecord>,
    verdicts: Vec<FpduVerdict>,
    /// Beats that the records announce, and records that a verdict follows.
    ordered: u64,
    judged: usize,
    /// Records that came since DDP last had room for two.
    beyond_room: usize,
    cancelled: Option<usize>,
    cycle: u64,
    outcome: Outcome,
}

/// Runs `jobs` and compares everything that leaves the room with what must.
pub fn check<const D: usize, const P: usize, const LG: usize, const A: usize, const F: usize>(
    random: &Random,
    paces: Paces,
    jobs: &[Job],
) -> Outcome {
    let (mut passed, mut ended) = (vec![], vec![]);
    for job in jobs {
        let (of_job, end) = expect(job, D / 8);
        passed.extend(of_job);
        ended.extend(end);
    }
    let mut uut = simulate!(FpduRoom::<D, P, LG, A, F>::default());
    uut.random = random.clone();
    uut.pulse(|uut| &mut uut.reset);
    let mut bench = Bench::new(jobs, paces);
    let octets: usize = jobs.iter().map(|job| job.octets.len()).sum();
    let limit = 4000 + 200 * jobs.len() + 400 * octets / (D / 8);
    let mut idle = 0;
    uut.run_until(limit as u64, |uut, random| {
        bench.step(uut, random);
        let left = bench.left(passed.len(), ended.len());
        idle = if left == [0; 5] { idle + 1 } else { 0 };
        (idle < 60).then(|| format!("jobs, records, verdicts, beats, ends {left:?}; {paces:?}"))
    });
    assert!(
        !uut.placement_valid.val(),
        "a beat is left in the placement buffer"
    );
    bench.compare(&passed, &ended)
}

impl<'a, const D: usize> Bench<'a, D> {
    fn new(jobs: &'a [Job], paces: Paces) -> Self {
        let [joined, started, job_done, record_room, placement_pace] = paces;
        Self {
            jobs,
            offered: 0,
            current: 0,
            started: StreamDriver::new(started),
            joined: StreamDriver::new(joined),
            record_room,
            placement_pace,
            placement: StreamMonitor::new(Pace::Never),
            job_done: StreamMonitor::new(job_done),
            records: vec![],
            verdicts: vec![],
            ordered: 0,
            judged: 0,
            beyond_room: 0,
            cancelled: None,
            cycle: 0,
            outcome: Outcome::default(),
        }
    }

    /// Jobs to send, records, verdicts, beats and ends of jobs to come.
    fn left(&self, records: usize, ends: usize) -> [usize; 5] {
        [
            self.jobs.len() - self.current,
            records.saturating_sub(self.records.len()),
            self.judged - self.verdicts.len(),
            self.ordered as usize - self.placement.taken().len(),
            ends.saturating_sub(self.job_done.taken().len()),
        ]
    }

    fn step<const P: usize, const LG: usize, const A: usize, const F: usize>(
        &mut self,
        uut: &mut FpduRoom<D, P, LG, A, F>,
        random: &mut Random,
    ) {
        // The reader starts a job before it sends its octets, and few jobs ahead.
        if self.started.is_empty() && self.offered < self.jobs.len().min(self.current + 6) {
            self.started.push(self.offered);
            self.offered += 1;
        }
        let start = self.started.offer(random).copied();
        uut.started_valid.next = start.is_some();
        if let Some(job) = start {
            uut.started.next = message(&self.jobs[job]);
            uut.started_tag.next = tag_of(job).into();
        }
        let beat = self.joined.offer(random);
        uut.joined_valid.next = beat.is_some();
        if let Some(beat) = beat {
            // Noise beyond the job's octets.
            let mut padded = beat.octets.clone();
            padded.resize(D / 8, 0xa5);
            uut.joined_data.next = bits_of(&padded);
            uut.joined_last.next = beat.last;
        }
        uut.record_room.next = self.record_room.goes(self.cycle, random);
        // DDP orders a record's beats only once it has the record.
        let is_due = (self.placement.taken().len() as u64) < self.ordered;
        self.placement.pace = if is_due {
            self.placement_pace
        } else {
            Pace::Never
        };
        let (data, valid) = (&uut.placement_data, &uut.placement_valid);
        self.placement
            .watch(data, valid, &mut uut.placement_ready, random);
        let (data, valid) = (&uut.job_done, &uut.job_done_valid);
        self.job_done
            .watch(data, valid, &mut uut.job_done_ready, random);
        settle(uut);
        self.sample(uut, random);
        if let Some(job) = self.started.advance(uut.started_ready.val()) {
            self.joined
                .extend(beats_of(job, &self.jobs[job].octets, D / 8));
        }
        let taken = self.joined.advance(uut.joined_ready.val());
        self.current += usize::from(taken.is_some_and(|beat| beat.last));
        self.cycle += 1;
    }

    fn sample<const P: usize, const LG: usize, const A: usize, const F: usize>(
        &mut self,
        uut: &FpduRoom<D, P, LG, A, F>,
        random: &mut Random,
    ) {
        if uut.record_room.val() {
            self.beyond_room = 0;
        }
        if uut.record_valid.val() {
            let record = uut.record.val();
            self.ordered += number(record.beats);
            self.judged += usize::from(is_judged(&record));
            self.records.push(record);
            self.outcome.record_cycles.push(self.cycle);
            self.beyond_room += 1;
            assert!(self.beyond_room <= 2, "a record too many");
        }
        if uut.verdict_valid.val() {
            self.verdicts.push(uut.verdict.val());
            assert!(
                self.verdicts.len() <= self.judged,
                "a verdict before its record"
            );
        }
        if uut.cancel.val() {
            self.outcome.cancels += 1;
            self.cut_short(number(uut.cancel_tag.val()), random);
        }
    }

    /// The job of this number is read no further; some of its beats are on their way.
    fn cut_short(&mut self, tag: u64, random: &mut Random) {
        let beats = self.joined.waiting_mut();
        // Only the job that is being read can be cut short.
        let Some(job) = beats.front().map(|beat| beat.job) else {
            return;
        };
        if tag_of(job) != tag {
            return;
        }
        assert_ne!(
            self.cancelled.replace(job),
            Some(job),
            "the job was cancelled twice"
        );
        // The beat on offer stays as it is; the last one, maybe empty, comes after it.
        let keep = 2 + random.below(3) as usize;
        let count = beats.iter().take_while(|beat| beat.job == job).count();
        if keep < count {
            beats.drain(keep..count);
            beats[keep - 1].last = true;
            if random.chance(1, 2) {
                beats[keep - 1].octets.clear();
            }
        }
    }

    fn compare(mut self, passed: &[Passed], ended: &[Ended]) -> Outcome {
        self.collect();
        for (index, (is, must)) in self.outcome.passed.iter_mut().zip(passed).enumerate() {
            if must.header.is_empty() {
                // A host frame: neither its first words nor what follows its octets count.
                is.header.clear();
                is.placed.truncate(must.placed.len());
            }
            assert!(is == must, "record {index}: is {is:?}, must be {must:?}");
        }
        assert_eq!(self.outcome.passed.len(), passed.len());
        let ends = self.job_done.taken().iter().map(|(_, done)| Ended {
            connection: number(done.connection),
            consumed: number(done.consumed),
            need: number(done.need),
            place_next: done.place_next,
        });
        assert_eq!(ends.collect::<Vec<_>>(), ended);
        self.outcome
    }

    /// Puts each record, its verdict and its beats of the placement buffer together.
    fn collect(&mut self) {
        let mut placed = self
            .placement
            .taken()
            .iter()
            .map(|(_, beat)| octets_of(*beat));
        let mut verdicts = self.verdicts.iter();
        let unjudged = FpduVerdict {
            crc_good: true,
            marker_good: true,
            marker_seen: false,
        };
        for record in &self.records {
            let verdict = match is_judged(record) {
                true => verdicts.next().expect("as many verdicts as are due"),
                false => &unjudged,
            };
            let beats = number(record.beats);
            self.outcome.passed.push(Passed {
                kind: record.kind,
                connection: number(record.connection),
                sequence: number(record.sequence) as u32,
                sequence_end: number(record.sequence_end) as u32,
                ulpdu_length: number(record.ulpdu_length),
                crc_good: verdict.crc_good,
                marker_good: verdict.marker_good,
                header: octets_of(record.header),
                beats,
                placed: placed.by_ref().take(beats as usize).flatten().collect(),
                head_page: number(record.head_page),
                tail_page: number(record.tail_page),
            });
        }
    }
}

fn is_judged(record: &FpduRecord) -> bool {
    [FpduKind::Normal, FpduKind::Check].contains(&record.kind)
}

fn number<const N: usize>(value: Bits<N>) -> u64 {
    value.to_u64()
}
