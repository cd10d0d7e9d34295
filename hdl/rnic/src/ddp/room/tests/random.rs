//! Random records and table operations under stalls; rate and latency; lockstep with the Verilog.
use super::bench::{message, request, verdict, Bench, Operation};
use super::model::Record;
use super::world::*;
use crate::ddp::room::DdpRoom;
use crate::messages::*;
use crate::testkit::{lockstep, Random};
use rnic_abi::limits::HASH_WAYS;
use rnic_abi::tables::*;
use std::collections::VecDeque;

/// Regions of the random world, as the driver last wrote them.
fn random_region(random: &mut Random, number: u32) -> Region {
    let near_top = random.chance(1, 8);
    Region {
        number,
        stag: (0x10_0000 + number) << 8 | random.below(2) as u32,
        rights: if random.chance(3, 4) {
            0xf
        } else {
            random.below(32) as u32
        },
        pd: PD + u32::from(random.chance(1, 8)),
        connection: random.below(4),
        base: if near_top {
            u64::MAX - random.below(300)
        } else {
            0xffff_ff00 + random.below(512)
        },
        octets: random.below(300),
        bus_offset: random.bits(),
    }
}

/// A version-1 FPDU of one of four connections, mostly good, wrong in one way otherwise.
fn random_record(random: &mut Random, regions: &[Region], msns: &[u32]) -> Record {
    let connection = random.below(4);
    let region = regions[random.below(regions.len() as u64) as usize];
    let payload = if random.chance(1, 8) {
        0
    } else {
        random.below(40)
    };
    let last = random.chance(1, 2);
    let mut record = if random.chance(1, 2) {
        let room = region.octets.saturating_sub(payload) + u64::from(random.chance(1, 6));
        let to = region.base.wrapping_add(random.below(room + 1));
        let to = to.wrapping_sub(u64::from(random.chance(1, 12)));
        let opcode = if random.chance(1, 2) { 0 } else { 2 };
        tagged(
            opcode,
            last,
            region.stag ^ u32::from(random.chance(1, 12)),
            to,
            payload,
        )
    } else {
        let qn = random.below(3) as u32;
        let opcode = match qn {
            0 => 3 + random.below(4) as u8,
            1 => 1,
            _ => 7,
        };
        let msn = msns[(connection * 4 + u64::from(qn)) as usize];
        let msn = if random.chance(1, 10) {
            msn.wrapping_add(random.below(7) as u32).wrapping_sub(3)
        } else {
            msn
        };
        untagged(
            opcode,
            last,
            region.stag,
            [qn, msn, random.below(42) as u32],
            payload,
        )
    };
    record.connection = connection;
    record.sequence = random.bits() as u32;
    record.sequence_end = random.bits() as u32;
    record.crc_good = !random.chance(1, 40);
    record.marker_good = !random.chance(1, 40);
    match random.below(30) {
        0 => record.kind = FPDU_HOST,
        1 => {
            // It has passed already, and well.
            record.kind = FPDU_PLACE;
            (record.crc_good, record.marker_good) = (true, true);
        }
        2 => record.kind = FPDU_CHECK,
        3 => record.ulpdu_length = random.below(20),
        4 => record.header[2] ^= 1 << random.below(8),
        5 => record.header[3] ^= 1 << random.below(8),
        6 => record.header[8 + random.below(4) as usize] ^= 1 << random.below(8),
        _ => {}
    }
    record
}

/// Now and then makes an early FPDU of `record`, of one of eight spans, two of each connection.
/// `ends` are the ends of the last ones of each span.
fn perhaps_early(random: &mut Random, record: &mut Record, ends: &mut [u32; 8]) {
    if record.kind != FPDU_NORMAL || random.chance(1, 2) {
        return;
    }
    let span = record.connection + 4 * random.below(2);
    record.kind = FPDU_EARLY;
    record.span = span * 73;
    record.unproven = random.chance(1, 8);
    record.marker_seen = random.chance(1, 2);
    if random.chance(3, 4) {
        record.sequence = ends[span as usize];
    }
    record.sequence_end = record.sequence.wrapping_add(random.below(67_000) as u32);
    ends[span as usize] = record.sequence_end;
    if record.header[2] & 0x80 == 0 && random.chance(1, 5) {
        record.header[15] = record.header[15].wrapping_add(random.below(3) as u8);
    }
    record.header[0..2].copy_from_slice(&(record.ulpdu_length as u16).to_be_bytes());
}

/// A replay of one of the spans, most often of one of `kept`, if there are any.
fn random_replay(random: &mut Random, kept: &[u64]) -> Replay {
    let mut span = random.below(8);
    if !kept.is_empty() && random.chance(7, 8) {
        span = kept[random.below(kept.len() as u64) as usize] / 73;
    }
    let kind = match random.below(16) {
        0 => REPLAY_FAULT,
        1 | 2 => REPLAY_FORGET,
        _ => REPLAY_DELIVER,
    };
    Replay {
        kind: kind.into(),
        connection: (span % 4).into(),
        span: (span * 73).into(),
        sequence: random.wide(),
    }
}

/// A random table operation of the driver; `regions` follows what it writes.
fn random_operation(bench: &mut Bench, regions: &mut [Region], msns: &mut [u32]) {
    let connection = bench.random.below(4);
    let queue = bench.random.below(16);
    let chosen = bench.random.below(regions.len() as u64) as usize;
    match bench.random.below(12) {
        0..=5 => bench.write(DDP, connection, &[PD | 1 << 16]),
        6 => {
            let msn = bench.random.below(9) as u32;
            msns[queue as usize] = msn.wrapping_sub(4);
            let shape = 1 << 31 | 2 << 16 | (queue as u32) << 2;
            bench.write(QUEUE, queue, &[shape, msns[queue as usize]]);
            bench.write(QUEUE_TAIL, queue, &[msns[queue as usize].wrapping_add(4)]);
        }
        7 => bench.write(QUEUE_TAIL, queue, &[msns[queue as usize].wrapping_add(4)]),
        8 => {
            let address = [bench.random.bits() as u32, bench.random.bits() as u32];
            let entry = bench.random.below(64);
            let octets = 30 + bench.random.below(40) as u32;
            bench.write(RECEIVE_POOL, entry, &[address[0], address[1], octets]);
        }
        9 => {
            let region = random_region(&mut bench.random, chosen as u32);
            regions[chosen] = region;
            let valid = !bench.random.chance(1, 8);
            bench.write(REGION, chosen as u64, &region_words(&region, valid));
        }
        10 => {
            let stag = regions[chosen].stag;
            let valid = u32::from(!bench.random.chance(1, 4)) << 31;
            let slot = stag_slot(stag, chosen % 4);
            bench.write(STAG, slot, &[valid | chosen as u32, stag >> 8]);
        }
        _ => {
            let table = 4 + bench.random.below(6) as u32;
            bench.operations.push_back(Operation {
                operation: READ + bench.random.below(2) as u32,
                table,
                index: chosen as u64,
                words: [!0; 10],
            });
        }
    }
}

fn random_world() -> (Bench, Vec<Region>, Vec<u32>) {
    let mut bench = Bench::new();
    let mut regions = vec![];
    for number in 0..8 {
        let region = random_region(&mut bench.random, number);
        bench.register(&region, number as usize % HASH_WAYS);
        regions.push(region);
    }
    for connection in 0..4 {
        bench.write(DDP, connection, &[PD | 1 << 16]);
        for qn in 0..3 {
            bench.open(connection, qn, (connection << 4 | qn << 2) as u32, 2, 1, 4);
        }
    }
    for entry in 0..64 {
        bench.buffer(entry, entry << 32, 50);
    }
    bench.drain();
    (bench, regions, vec![1; 16])
}

/// Runs `rounds` rounds of a few records and now and then a table operation; how many messages were
/// complete with a replayed record.
fn walk(rounds: usize, take_of_8: u64, offer_of_8: u64, judge_of_8: u64) -> usize {
    let (mut bench, mut regions, mut msns) = random_world();
    bench.take_of_8 = take_of_8;
    bench.offer_of_8 = offer_of_8;
    bench.judge_of_8 = judge_of_8;
    bench.sweep();
    let mut told = 0;
    let mut ends = [0; 8];
    for _ in 0..rounds {
        for _ in 0..bench.random.below(4) {
            let mut record = random_record(&mut bench.random, &regions, &msns);
            perhaps_early(&mut bench.random, &mut record, &mut ends);
            bench.records.push_back(record);
        }
        if bench.random.chance(2, 3) && bench.replays.len() < 2 {
            let kept = bench.model.kept_spans();
            let replay = random_replay(&mut bench.random, &kept);
            bench.replays.push_back(replay);
        }
        if bench.random.chance(3, 4) {
            random_operation(&mut bench, &mut regions, &mut msns);
        }
        for _ in 0..bench.random.below(24) {
            bench.step();
        }
        while bench.records.len() > 2 || bench.operations.len() > 2 {
            bench.step();
        }
        // The peers follow what they learn: the MSN after each completed message.
        for outcome in &bench.outcomes[told..] {
            if let Some(command) = outcome.command.as_ref().filter(|c| c.cqe[0] & 15 == 1) {
                let queue = command.cqe[0] >> 16 << 2 | command.cqe[0] >> 8 & 3;
                msns[queue as usize] = command.cqe[1].wrapping_add(1);
            }
        }
        told = bench.outcomes.len();
    }
    bench.drain();
    let errors: std::collections::BTreeSet<u64> =
        bench.outcomes.iter().map(|outcome| outcome.error).collect();
    assert!(
        errors.len() > 8,
        "the walk met only the errors {errors:?}, {}",
        bench.random
    );
    let placed = bench.outcomes.iter().filter(|o| {
        o.command
            .as_ref()
            .is_some_and(|command| command.kind == PLACE_WRITE)
    });
    assert!(placed.count() > rounds / 30, "{}", bench.random);
    let early = bench.outcomes.iter().filter_map(|outcome| outcome.early);
    let good = early.filter(|early| early.good).count();
    assert!(good > rounds / 30, "{good} placed early, {}", bench.random);
    // Of a replayed record there is a command only with an entry.
    let delivered = bench.outcomes.iter().filter(|outcome| {
        let command = outcome.command.as_ref();
        outcome.error == 0 && command.is_some_and(|command| command.complete && command.beats == 0)
    });
    assert!(
        bench.answered > rounds / 10,
        "{} replays, {}",
        bench.answered,
        bench.random
    );
    delivered.count()
}

#[test]
fn random_records_and_table_operations_agree_with_the_model_without_stalls() {
    let completed = walk(600, 8, 8, 8);
    assert!(completed > 1, "replays completed {completed} messages");
}

#[test]
fn random_records_and_table_operations_agree_with_the_model_with_stalls() {
    walk(200, 1, 4, 4);
    walk(250, 4, 6, 2);
}

#[test]
fn random_records_and_table_operations_agree_with_the_model_where_verdicts_come_late() {
    let completed = walk(400, 8, 8, 1);
    assert!(completed > 0, "replays completed {completed} messages");
}

#[test]
fn a_command_follows_a_late_verdict_by_three_cycles() {
    let mut bench = Bench::world();
    bench.judge_of_8 = 0;
    for wait in [12, 13, 40] {
        bench
            .records
            .push_back(tagged(0, true, SINK.stag, SINK.base, 8));
        for _ in 0..wait {
            bench.step();
        }
        assert!(!bench.uut.command_valid.val());
        bench.judge_of_8 = 8;
        bench.step();
        let judged = bench.cycle - 1;
        while !bench.uut.command_valid.val() {
            bench.step();
        }
        assert_eq!(bench.cycle - judged, 3, "after {wait} cycles");
        bench.drain();
        bench.judge_of_8 = 0;
    }
}

#[test]
fn table_operations_go_on_while_a_record_waits_for_its_verdict_and_it_sees_them() {
    for wait in 0..24 {
        let mut bench = Bench::world();
        bench.judge_of_8 = 0;
        for _ in 0..3 {
            bench
                .records
                .push_back(tagged(0, true, SINK.stag, SINK.base, 8));
        }
        for _ in 0..wait {
            bench.step();
        }
        bench.write(REGION, u64::from(SINK.number), &region_words(&SINK, false));
        for _ in 0..16 {
            bench.step();
        }
        assert!(bench.operations.is_empty(), "the write waits, {wait}");
        assert!(bench.outcomes.is_empty());
        bench.judge_of_8 = 8;
        bench.drain();
        let unknown = rnic_abi::errors::StreamError::DdpStag as u64;
        let errors: Vec<u64> = bench.outcomes.iter().map(|outcome| outcome.error).collect();
        assert_eq!(errors, [unknown, 0, 0], "one error, then silence");
    }
}

#[test]
fn a_full_fifo_of_records_has_its_verdicts_beside_it_and_none_is_lost() {
    for bad in [0, 1, 2, 17, 18, 29] {
        let mut bench = Bench::world();
        bench.take_of_8 = 0;
        for index in 0..30 {
            let mut record = tagged(0, true, SINK.stag, SINK.base, 8);
            record.crc_good = index != bad;
            if index % 7 == 6 {
                record.kind = FPDU_HOST;
            }
            bench.records.push_back(record);
        }
        for _ in 0..200 {
            bench.step();
        }
        assert_eq!(
            bench.outcomes.len(),
            2,
            "one command waits, one record behind it"
        );
        // Of 16 places two are for what a replay may bring.
        assert_eq!(bench.records.len(), 30 - 2 - 14);
        bench.take_of_8 = 8;
        bench.drain();
        for (index, outcome) in bench.outcomes.iter().enumerate() {
            let refused = outcome.error == rnic_abi::errors::StreamError::MpaCrc as u64;
            assert_eq!(refused, index == bad, "record {index}");
        }
    }
}

#[test]
fn one_record_takes_six_cycles_and_eleven_to_its_command() {
    let mut bench = Bench::world();
    bench
        .records
        .push_back(tagged(0, true, SINK.stag, SINK.base, 8));
    bench.step();
    let taken = bench.cycle;
    while !bench.uut.command_valid.val() {
        bench.step();
    }
    assert_eq!(
        bench.cycle - taken,
        10,
        "taken at the edge before, valid in the eleventh cycle"
    );
    bench.drain();
    let start = bench.cycle;
    for _ in 0..100 {
        bench
            .records
            .push_back(tagged(0, true, SINK.stag, SINK.base, 8));
    }
    while bench.outcomes.len() < 101 {
        bench.step();
    }
    let cycles = bench.cycle - start;
    assert!(cycles <= 6 * 100 + 12, "100 records took {cycles} cycles");
}

#[test]
fn table_operations_go_on_while_no_command_is_taken() {
    let mut bench = Bench::world();
    bench.take_of_8 = 0;
    for _ in 0..12 {
        bench
            .records
            .push_back(tagged(0, true, SINK.stag, SINK.base, 8));
    }
    for _ in 0..100 {
        bench.step();
    }
    assert_eq!(
        bench.outcomes.len(),
        2,
        "one command waits, one record waits behind it"
    );
    bench.write(REGION, u64::from(SINK.number), &region_words(&SINK, false));
    for _ in 0..16 {
        bench.step();
    }
    assert!(bench.operations.is_empty(), "the write is not done");
    bench.take_of_8 = 8;
    bench.drain();
    assert_eq!(
        bench.outcomes[2].error,
        rnic_abi::errors::StreamError::DdpStag as u64
    );
}

#[test]
fn records_go_on_under_a_storm_of_table_operations() {
    let mut bench = Bench::world();
    for _ in 0..50 {
        bench
            .records
            .push_back(tagged(0, true, SINK.stag, SINK.base, 8));
    }
    for _ in 0..1000 {
        bench.write(QUEUE_TAIL, 0, &[0]);
    }
    for _ in 0..50 * 20 {
        bench.step();
    }
    assert_eq!(bench.outcomes.len(), 50);
    assert!(
        bench.operations.len() < 960,
        "{} left of 1000",
        bench.operations.len()
    );
    bench.operations.truncate(1);
    bench.drain();
}

#[test]
fn room_agrees_with_its_verilog() {
    let (mut bench, mut regions, mut msns) = random_world();
    let mut setup: Vec<Operation> = vec![];
    for _ in 0..40 {
        random_operation(&mut bench, &mut regions, &mut msns);
    }
    setup.extend(bench.operations.drain(..));
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
        bench.write(DDP, queue >> 2, &[PD | 1 << 16]);
    }
    setup.extend(bench.operations.drain(..));
    let mut operations = setup.into_iter().cycle();
    let mut operation = operations.next().expect("a set-up");
    let mut record = Record::default();
    let (mut requests, mut cycle) = (false, 0);
    let mut verdicts = VecDeque::new();
    let mut ends = [0; 8];
    let mut replays = false;
    lockstep(
        "ddp_room",
        DdpRoom::default(),
        6000,
        |uut| &mut uut.clock,
        |uut, random| {
            cycle += 1;
            uut.reset.next = cycle == 1 || random.chance(1, 2000);
            let comes = uut.record_room.val() && random.chance(1, 6);
            uut.fpdu_verdict_valid.next = !verdicts.is_empty() && random.chance(1, 5);
            if uut.fpdu_verdict_valid.next {
                uut.fpdu_verdict.next = verdicts.pop_front().expect("a verdict");
            }
            if comes {
                record = random_record(random, &regions, &msns);
                perhaps_early(random, &mut record, &mut ends);
                verdicts.extend(verdict(&record));
            }
            if uut.reset.next {
                verdicts.clear();
            }
            if !requests || uut.table_done.val() {
                requests = random.chance(1, 12) || cycle < 1000;
                operation = operations.next().expect("an endless list");
            }
            if !replays || uut.replay_ready.val() {
                replays = random.chance(1, 60);
                uut.replay.next = random_replay(random, &[]);
            }
            uut.replay_valid.next = replays;
            uut.replayed_ready.next = random.chance(1, 2);
            uut.record_valid.next = comes;
            uut.record.next = message(&record);
            uut.table_valid.next = requests;
            uut.table_request.next = request(&operation);
            uut.command_ready.next = random.chance(3, 4);
            uut.stopped_ready.next = random.chance(3, 4);
        },
    );
}
