//! Settled jobs against a plain list of jobs and results, in lockstep with the Verilog.
use super::*;
use crate::messages::ReplayKind;
use rnic_hdl_tools::testkit::{lockstep, Random};
use std::collections::VecDeque;

/// A job under way: what its end says, and the results of its FPDUs still to come.
struct Job {
    end: JobDone,
    results: VecDeque<OutOfOrderResult>,
    expected: JobDone,
}

/// A job from `sequence` on; every FPDU of it is good up to the first that is not.
fn random_job(random: &mut Random) -> Job {
    let ooo = random.chance(2, 3);
    let count = [0, random.below(6)][random.below(2) as usize];
    let mut sequence = random.below(1 << 32) as u32;
    let (mut consumed, mut placed, mut failed) = (0, 0, false);
    let mut results = VecDeque::new();
    for _ in 0..count {
        let octets = 4 * (2 + random.below(2000));
        sequence = sequence.wrapping_add(octets as u32);
        consumed += octets;
        let good = !failed && random.chance(7, 8);
        failed |= !good;
        placed += octets * u64::from(good);
        results.push_back(OutOfOrderResult {
            good,
            sequence_end: u64::from(sequence).into(),
        });
    }
    let end = JobDone {
        connection: random.wide(),
        consumed: consumed.into(),
        need: random.wide(),
        place_next: !ooo && random.chance(1, 4),
        ooo,
        span: random.wide(),
        fpdus: (count).into(),
        sequence_end: u64::from(sequence).into(),
        refused: ooo && random.chance(1, 8),
    };
    let expected = JobDone {
        consumed: placed.into(),
        refused: end.refused || failed,
        ..end
    };
    Job {
        end,
        results: if ooo { results } else { VecDeque::new() },
        expected: if ooo { expected } else { end },
    }
}

#[derive(Default)]
struct Bench {
    offered: Option<Job>,
    /// Results that may come: of jobs whose end was taken, and of the one that is offered.
    results: VecDeque<OutOfOrderResult>,
    waiting: VecDeque<JobDone>,
    passing: VecDeque<JobDone>,
    replays: VecDeque<Replayed>,
    spans: VecDeque<Bits<9>>,
    since_result: usize,
    done: [usize; 4],
}

impl Bench {
    fn take_done(&mut self, done: &JobDone) {
        if done.ooo {
            let expected = self.waiting.pop_front().expect("an ooo job waits");
            assert_eq!(*done, expected);
            self.done[usize::from(done.refused)] += 1;
            return;
        }
        let is_replay = |replayed: &Replayed| {
            replayed.connection == done.connection && done.consumed == 0u64 && done.need == NEED_ANY
        };
        if self.replays.front().is_some_and(is_replay) {
            self.replays.pop_front();
            self.done[2] += 1;
        } else {
            assert_eq!(Some(*done), self.passing.pop_front());
            self.done[3] += 1;
        }
    }
}

/// Each job is reported once, an out-of-order one with its placed octets; each replay frees its
/// span and, if it delivered, its stream continues.
#[test]
fn lockstep_with_verilog_and_placed_octets() {
    let mut bench = Bench::default();
    let mut cycle = 0;
    let uut = OutOfOrderCompletion::default();
    lockstep!("ooo_settle", uut, 12_000, |uut, random| {
        uut.reset.next = cycle == 0;
        cycle += 1;
        if cycle < 3 {
            return;
        }
        let under_way = bench.waiting.len() + bench.passing.len() + bench.replays.len();
        uut.done_ready.next = true;
        if bench.offered.is_none() && under_way < 24 && random.chance(1, 6) {
            let job = random_job(random);
            bench.results.extend(&job.results);
            bench.offered = Some(job);
        }
        uut.span_back_ready.next = random.chance(1, 2);
        uut.job_done_valid.next = bench.offered.is_some();
        if let Some(job) = &bench.offered {
            uut.job_done.next = job.end;
        }
        uut.replayed_valid.next = under_way < 24 && random.chance(1, 12);
        uut.replayed.next = Replayed {
            kind: [ReplayKind::Deliver, ReplayKind::Forget, ReplayKind::Fault]
                [random.below(3) as usize],
            connection: random.wide(),
            span: random.wide(),
        };
        // Results are apart by six cycles, and as far from the end of the job before.
        bench.since_result += 1;
        uut.result_valid.next = false;
        let own = bench.offered.as_ref().map_or(0, |job| job.results.len());
        let taken_ones = bench.results.len() > own;
        if bench.since_result >= 6 && taken_ones && random.chance(1, 3) {
            uut.result_valid.next = true;
            uut.result.next = bench
                .results
                .pop_front()
                .expect("it is not empty, see above");
            bench.since_result = 0;
        }
        rnic_hdl_tools::testkit::settle(uut);
        if uut.done_valid.val() && uut.done_ready.next {
            if uut.job_done_valid.next && uut.job_done_ready.val() {
                let job = bench.offered.as_ref().expect("offered");
                if !job.end.ooo {
                    bench.passing.push_back(job.expected);
                }
            }
            bench.take_done(&uut.done.val());
        }
        if uut.job_done_valid.next && uut.job_done_ready.val() {
            let job = bench.offered.take().expect("offered");
            if job.end.ooo {
                bench.since_result = 0;
                bench.waiting.push_back(job.expected);
            }
        }
        if uut.span_back_valid.val() && uut.span_back_ready.next {
            assert_eq!(Some(uut.span_back.val()), bench.spans.pop_front());
        }
        if uut.replayed_valid.next && uut.replayed_ready.val() {
            let replayed = uut.replayed.next;
            if replayed.kind != ReplayKind::Forget {
                bench.replays.push_back(replayed);
            }
            if replayed.kind != ReplayKind::Fault {
                bench.spans.push_back(replayed.span);
            }
        }
    });
    assert!(
        bench.done.iter().all(|count| *count > 50),
        "{:?}",
        bench.done
    );
}
