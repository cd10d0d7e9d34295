//! Random records and table operations under stalls; lockstep with the Verilog.
use super::bench::{message, request, verdict, Bench, Operation};
use super::draw::*;
use super::model::{Read, Record, TO_BITS};
use super::world::*;
use crate::messages::*;
use crate::receive::ddp::DdpRoom;
use rnic_abi::cqe::KIND_READ_RESPONSE;
use rnic_abi::errors::StreamError::CqOverflow;
use rnic_abi::limits::HASH_WAYS;
use rnic_abi::tables::*;
use rnic_hdl_tools::testkit::{lockstep, Pace, StreamDriver};
use std::collections::VecDeque;

/// What the peers know of the oldest reads.
fn heads(bench: &Bench) -> Heads {
    let oldest = |n| bench.model.oldest_read(n as u64);
    std::array::from_fn(|n| oldest(n).map(|(_, read)| read))
}

/// A read into the first octets of `region`.
fn first_read(region: &Region) -> Read {
    Read {
        stag: region.stag,
        to: region.base & TO_BITS,
        octets: 16,
    }
}

/// Runs `rounds` rounds of a few records and some table operations; returns how many messages a
/// replayed record completed.
fn walk(rounds: usize, take_of_8: u64, offer_of_8: u64, judge_of_8: u64) -> usize {
    let (mut bench, mut regions, mut msns) = random_world();
    bench.take = Pace::of_8(take_of_8);
    bench.offer = Pace::of_8(offer_of_8);
    bench.judge = Pace::of_8(judge_of_8);
    bench.sweep();
    let mut known = 0;
    let mut ends = [0; 8];
    for round in 0..rounds {
        if round % 48 == 47 {
            bench.drain();
            consume_some(&mut bench);
        }
        for _ in 0..bench.random.below(4) {
            let heads = heads(&bench);
            let mut record = random_record(&mut bench.random, &regions, &msns, &heads);
            perhaps_ooo(&mut bench.random, &mut record, &mut ends);
            bench.records.push(record);
        }
        if bench.random.chance(2, 3) && bench.replays.waiting().len() < 2 {
            let kept = bench.model.kept_spans();
            let replay = random_replay(&mut bench.random, &kept);
            bench.replays.push(replay);
        }
        bench.fence.asked |= bench.random.chance(1, 3);
        if bench.random.chance(3, 4) {
            random_operation(&mut bench, &mut regions, &mut msns);
        }
        let cycles = bench.random.below(24) as usize;
        bench.steps(cycles);
        while bench.records.waiting().len() > 2 || bench.operations.waiting().len() > 2 {
            bench.step();
        }
        // The peers follow what they learn: the MSN after each completed message.
        for outcome in &bench.outcomes[known..] {
            if let Some(command) = outcome.command.as_ref().filter(|c| c.cqe[0] & 15 == 1) {
                let queue = command.cqe[0] >> 16 << 2 | command.cqe[0] >> 8 & 3;
                msns[queue as usize] = command.cqe[1].wrapping_add(1);
            }
        }
        known = bench.outcomes.len();
    }
    bench.drain();
    let fences = bench.fence.done;
    assert!(fences > rounds / 20, "{fences} fences");
    let errors: std::collections::BTreeSet<u64> =
        bench.outcomes.iter().map(|outcome| outcome.error).collect();
    let is_full = errors.contains(&(CqOverflow as u64));
    assert!(is_full || rounds < 600, "no queue was full");
    assert!(errors.len() > 8, "the walk met only the errors {errors:?}");
    let placed = bench.outcomes.iter().filter(|o| {
        o.command
            .as_ref()
            .is_some_and(|command| command.kind == PlaceKind::Write)
    });
    assert!(placed.count() > rounds / 30);
    let responses = bench.outcomes.iter().filter(|outcome| {
        let command = outcome.command.as_ref();
        command.is_some_and(|command| command.cqe[0] & 15 == KIND_READ_RESPONSE)
    });
    let responses = responses.count();
    assert!(responses > rounds / 300, "{responses} reads completed");
    let ooo = bench.outcomes.iter().filter_map(|outcome| outcome.ooo);
    let good = ooo.filter(|ooo| ooo.good).count();
    assert!(good > rounds / 30, "{good} placed ooo");
    // Of a replayed record there is a command only with an entry.
    let delivered = bench.outcomes.iter().filter(|outcome| {
        let command = outcome.command.as_ref();
        outcome.error == 0 && command.is_some_and(|command| command.complete && command.beats == 0)
    });
    assert!(bench.answered > rounds / 10, "{} replays", bench.answered);
    delivered.count()
}

#[test]
fn random_records_agree_with_the_model() {
    let completed = walk(rnic_effort::count("rounds", 300, 600), 8, 8, 8);
    assert!(completed > 1, "replays completed {completed} messages");
}

#[test]
fn random_records_agree_with_stalls() {
    walk(200, 1, 4, 4);
    walk(400, 4, 6, 2);
}

#[test]
fn random_records_agree_with_late_verdicts() {
    let rounds = rnic_effort::count("rounds", 200, 400);
    let completed = walk(rounds, 8, 8, 1);
    assert!(completed > 0, "replays completed {completed} messages");
}

#[test]
fn room_agrees_with_its_verilog() {
    let (mut bench, mut regions, mut msns) = random_world();
    let mut setup: Vec<Operation> = vec![];
    for _ in 0..40 {
        random_operation(&mut bench, &mut regions, &mut msns);
    }
    setup.extend(bench.operations.waiting_mut().drain(..));
    for number in 0..8 {
        bench.write(
            REGION,
            number,
            &region_words(&regions[number as usize], true),
        );
        let stag = regions[number as usize].stag;
        let slot = stag_slot(stag, number as usize % HASH_WAYS);
        bench.write(STAG, slot, &[1 << 31 | number as u32, stag >> 8]);
    }
    for queue in 0..16 {
        bench.write(QUEUE, queue, &[1 << 31 | 2 << 16 | (queue as u32) << 2, 1]);
        bench.write(QUEUE_TAIL, queue, &[5]);
        bench.write(DDP, queue >> 2, &[context_word(queue >> 2)]);
    }
    for connection in 0..4 {
        let words = first_read(&regions[connection as usize]).words();
        // Number 1, as the queues begin with.
        bench.write(RECEIVE_POOL, connection << 4 | 3 << 2 | 1, &words);
    }
    setup.extend(bench.operations.waiting_mut().drain(..));
    let reads = std::array::from_fn(|n| Some(first_read(&regions[n])));
    let mut setup = setup.into_iter().cycle();
    let (mut record, mut cycle) = (Record::default(), 0);
    let mut operations = StreamDriver::new(Pace::Always);
    let mut replays = StreamDriver::new(Pace::Chance(1, 60));
    let mut verdicts = VecDeque::new();
    let (mut begun, mut fenced) = (false, 0);
    let mut ends = [0; 8];
    lockstep!("ddp_room", DdpRoom::default(), 6000, |uut, random| {
        cycle += 1;
        uut.reset.next = cycle == 1 || random.chance(1, 2000);
        let begins = uut.record_room.val() && !uut.reset.next && random.chance(1, 6);
        let comes = std::mem::replace(&mut begun, begins) && !uut.reset.next;
        uut.fpdu_verdict_valid.next = !verdicts.is_empty() && random.chance(1, 5);
        if uut.fpdu_verdict_valid.next {
            uut.fpdu_verdict.next = verdicts.pop_front().expect("a verdict");
        }
        if comes {
            record = random_record(random, &regions, &msns, &reads);
            perhaps_ooo(random, &mut record, &mut ends);
            verdicts.extend(verdict(&record));
        }
        if uut.reset.next {
            verdicts.clear();
        }
        if operations.is_empty() {
            operations.push(request(&setup.next().expect("an endless list")));
        }
        operations.pace = if cycle < 1000 {
            Pace::Always
        } else {
            Pace::Chance(1, 12)
        };
        let (data, valid) = (&mut uut.table_request, &mut uut.table_valid);
        operations.drive(data, valid, &uut.table_done, random);
        if replays.is_empty() {
            replays.push(random_replay(random, &[]));
        }
        let (data, valid) = (&mut uut.replay, &mut uut.replay_valid);
        replays.drive(data, valid, &uut.replay_ready, random);
        uut.replayed_ready.next = random.chance(1, 2);
        let queue = completion_queue(random.below(4));
        uut.cq_write.next = CqWrite {
            queue: queue.into(),
            value: random.below(17).into(),
            entries_log2: cycle % 8 == 0 && random.chance(1, 40),
            consumer: cycle % 8 == 4 && random.chance(1, 4),
            ..CqWrite::default()
        };
        uut.begun.next = begins;
        let fences = uut.record_fence.next && !uut.record_fence_done.val();
        fenced += usize::from(uut.record_fence_done.val());
        uut.record_fence.next = fences || random.chance(1, 50);
        uut.record_valid.next = comes;
        uut.record.next = message(&record);
        uut.command_ready.next = random.chance(3, 4);
        uut.stream_error_ready.next = random.chance(3, 4);
    });
    assert!(fenced > 30, "{fenced} fences");
}
