//! Draws regions, records, replays and table operations of the random world: four connections with
//! three queues each, eight regions, eight spans.
use super::bench::{Bench, Operation};
use super::model::{Read, Record, TO_BITS};
use super::world::*;
use crate::messages::*;
use rnic_abi::limits::HASH_WAYS;
use rnic_abi::tables::*;
use rnic_hdl_tools::testkit::Random;

/// Step between span numbers in use, so that all bits of a number occur.
const SPAN_STEP: u64 = 73;

/// A region of the random world; it may end at the top of all offsets.
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

/// What is left of the oldest read of each connection.
pub type Heads = [Option<Read>; 4];

/// A segment of the Read Response that `head` waits for, seldom with one octet too many or too few.
fn random_response(random: &mut Random, head: &Read, regions: &[Region]) -> Record {
    let region = regions.iter().find(|region| region.stag == head.stag);
    let base = region.unwrap_or(&regions[0]).base;
    let left = u64::from(head.octets);
    let payload = match random.below(4) {
        0 => left,
        1 => left.saturating_sub(1),
        2 => random.below(left.min(40) + 1),
        _ => left.min(9),
    };
    let last = (payload == left) ^ random.chance(1, 30);
    let payload = payload + u64::from(random.chance(1, 30));
    let to = base & !TO_BITS | head.to;
    let to = to.wrapping_add(u64::from(random.chance(1, 30)));
    let stag = head.stag ^ u32::from(random.chance(1, 60));
    tagged(2, last, stag, to, payload)
}

/// A version-1 FPDU of one of four connections, mostly good, wrong in one way otherwise.
pub fn random_record(
    random: &mut Random,
    regions: &[Region],
    msns: &[u32],
    heads: &Heads,
) -> Record {
    let connection = random.below(4);
    let region = regions[random.below(regions.len() as u64) as usize];
    let head = heads[connection as usize].filter(|_| random.chance(1, 2));
    let payload = if random.chance(1, 8) {
        0
    } else {
        random.below(40)
    };
    let last = random.chance(1, 2);
    let mut record = if let Some(head) = head {
        random_response(random, &head, regions)
    } else if random.chance(1, 2) {
        let room = region.octets.saturating_sub(payload) + u64::from(random.chance(1, 6));
        let to = region.base.wrapping_add(random.below(room + 1));
        let to = to.wrapping_sub(u64::from(random.chance(1, 12)));
        let opcode = if random.chance(7, 8) { 0 } else { 2 };
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
        0 => record.kind = FpduKind::Host,
        1 => {
            // It has been checked already and is good.
            record.kind = FpduKind::Place;
            (record.crc_good, record.marker_good) = (true, true);
        }
        2 => record.kind = FpduKind::Check,
        3 => record.ulpdu_length = random.below(20),
        4 => record.header[2] ^= 1 << random.below(8),
        5 => record.header[3] ^= 1 << random.below(8),
        6 => record.header[8 + random.below(4) as usize] ^= 1 << random.below(8),
        _ => {}
    }
    record
}

/// Sometimes turns `record` into an FPDU out of order, of one of eight spans, two per connection.
/// `ends` holds the end of the last one of each span.
pub fn perhaps_ooo(random: &mut Random, record: &mut Record, ends: &mut [u32; 8]) {
    if record.kind != FpduKind::Normal || random.chance(1, 2) {
        return;
    }
    let span = record.connection + 4 * random.below(2);
    record.kind = FpduKind::OutOfOrder;
    record.span = span * SPAN_STEP;
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

/// A replay of one of the spans, mostly of one of `kept`, if there are any.
pub fn random_replay(random: &mut Random, kept: &[u64]) -> Replay {
    let mut span = random.below(8);
    if !kept.is_empty() && random.chance(7, 8) {
        span = kept[random.below(kept.len() as u64) as usize] / SPAN_STEP;
    }
    let kind = match random.below(16) {
        0 => ReplayKind::Fault,
        1 | 2 => ReplayKind::Forget,
        _ => ReplayKind::Deliver,
    };
    Replay {
        kind,
        connection: (span % 4).into(),
        span: (span * SPAN_STEP).into(),
        sequence: random.wide(),
    }
}

/// log2 of the entries of each connection's completion queue.
const COMPLETION_ENTRIES_LOG2: [u32; 4] = [16, 16, 1, 2];

/// The completion queue of `connection`.
pub fn completion_queue(connection: u64) -> u64 {
    15 - 4 * connection
}

/// Word 0 of the DDP context of `connection`.
pub fn context_word(connection: u64) -> u32 {
    PD | 1 << 16 | (completion_queue(connection) as u32) << 17
}

/// The driver consumes some of what is in the completion queues.
pub fn consume_some(bench: &mut Bench) {
    for connection in 0..4 {
        let queue = completion_queue(connection);
        let completions = bench.model.completion_queues[queue as usize];
        let waiting = u64::from(completions.numbered - completions.consumed);
        let some = waiting - bench.random.below(waiting / 2 + 1);
        bench.consume(queue, some as u32);
    }
}

/// Writes four reads into regions to pool entries of `connection`, and makes them outstanding.
fn post_random_reads(bench: &mut Bench, connection: u64, regions: &[Region]) {
    let first = (connection << 4 | 3 << 2) as u32;
    let number = bench.random.bits() as u32;
    bench.open(connection, 3, first, 2, number, 0);
    for entry in first..first + 4 {
        let region = regions[bench.random.below(regions.len() as u64) as usize];
        let octets = bench.random.below(region.octets.min(30) + 2);
        let spare = region.octets.saturating_sub(octets);
        let read = Read {
            to: region.base.wrapping_add(bench.random.below(spare + 1)),
            stag: region.stag,
            octets: octets as u32,
        };
        bench.write(RECEIVE_POOL, u64::from(entry), &read.words());
    }
    let posted = 1 + bench.random.below(4) as u32;
    let tail = number.wrapping_add(posted);
    bench.write(QUEUE_TAIL, connection << 2 | 3, &[tail & 0xffff]);
    bench.write(DDP, connection, &[context_word(connection)]);
}

/// A random table operation of the driver; `regions` follows what it writes.
pub fn random_operation(bench: &mut Bench, regions: &mut [Region], msns: &mut [u32]) {
    let connection = bench.random.below(4);
    let queue = bench.random.below(16);
    let chosen = bench.random.below(regions.len() as u64) as usize;
    match bench.random.below(16) {
        0..=5 => bench.write(DDP, connection, &[context_word(connection)]),
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
        11..=14 => post_random_reads(bench, connection, regions),
        _ => {
            let table = 4 + bench.random.below(6) as u32;
            bench.operations.push(Operation {
                operation: READ + bench.random.below(2) as u32,
                table,
                index: chosen as u64,
                words: [!0; 10],
            });
        }
    }
}

/// A bench with all of it set up; the regions, and the MSN expected of each queue.
pub fn random_world() -> (Bench, Vec<Region>, Vec<u32>) {
    let mut bench = Bench::new();
    let mut regions = vec![];
    for number in 0..8 {
        let region = random_region(&mut bench.random, number);
        bench.register(&region, number as usize % HASH_WAYS);
        regions.push(region);
    }
    for connection in 0..4 {
        let entries_log2 = COMPLETION_ENTRIES_LOG2[connection as usize];
        bench.set_completion_queue(completion_queue(connection), entries_log2);
        bench.write(DDP, connection, &[context_word(connection)]);
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
