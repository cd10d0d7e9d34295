//! Record store against plain lists: order, latency, reset, lockstep with the Verilog.
use super::super::*;
use crate::messages::{FpduKind, ReplayKind};
use rnic_hdl_tools::testkit::{lockstep, settle, simulate, Pace, Random, Simulation, StreamDriver};
use std::collections::VecDeque;

/// A record of an FPDU out of order of `span` with 0 to 65,535 octets of ULPDU.
fn record(random: &mut Random, span: u64) -> FpduRecord {
    let ulpdu_length = random.below(1 << 16);
    let sequence = random.below(1 << 32);
    let wire_octets = ulpdu_length + 6 + random.below(530);
    let mut header = random.wide::<160>();
    header.set_bits::<8>(0, (ulpdu_length >> 8).into());
    header.set_bits::<8>(8, (ulpdu_length & 0xff).into());
    FpduRecord {
        kind: FpduKind::OutOfOrder,
        connection: random.wide(),
        span: span.into(),
        unproven: random.chance(1, 2),
        sequence: sequence.into(),
        sequence_end: ((sequence + wire_octets) & 0xffff_ffff).into(),
        ulpdu_length: ulpdu_length.into(),
        header,
        beats: random.wide(),
        head_page: random.wide(),
        tail_page: random.wide(),
    }
}

/// The record that is offered when `replay` delivers `record`.
fn delivered(record: &FpduRecord, replay: &Replay) -> FpduRecord {
    FpduRecord {
        kind: FpduKind::Deliver,
        connection: replay.connection,
        sequence: record.sequence,
        sequence_end: record.sequence_end,
        ulpdu_length: record.ulpdu_length,
        header: record.header,
        ..FpduRecord::default()
    }
}

/// Random pushes and replays, compared with plain lists of records.
struct Walker {
    spans: Vec<Vec<FpduRecord>>,
    replays: StreamDriver<Replay>,
    /// Records to be offered and answers to be given, of the replays taken.
    offers: VecDeque<FpduRecord>,
    answers: VecDeque<Replayed>,
    taken: VecDeque<Replay>,
    since_push: u64,
    delivered: u64,
    answered: u64,
}

impl Walker {
    fn new() -> Self {
        Self {
            spans: vec![vec![]; 512],
            replays: StreamDriver::new(Pace::Chance(1, 2)),
            offers: VecDeque::new(),
            answers: VecDeque::new(),
            taken: VecDeque::new(),
            since_push: 6,
            delivered: 0,
            answered: 0,
        }
    }

    fn any_replay(random: &mut Random) -> Replay {
        let kind = match random.below(4) {
            0 => ReplayKind::Forget,
            1 => ReplayKind::Fault,
            _ => ReplayKind::Deliver,
        };
        Replay {
            kind,
            connection: random.wide(),
            span: (random.below(7) * 85).into(),
            sequence: random.wide(),
        }
    }

    /// A replay of that span has not been answered.
    fn is_replayed(&self, span: u64) -> bool {
        let mut all = self.replays.waiting().iter().chain(&self.taken);
        all.any(|replay| replay.kind != ReplayKind::Fault && replay.span == span)
    }

    fn drive(&mut self, uut: &mut RecordStore, random: &mut Random, reset: bool) {
        let span = random.below(7) * 85;
        let may_push = uut.has_room.val() && self.since_push >= 6 && !self.is_replayed(span);
        uut.push.next = may_push && random.chance(1, 2);
        if uut.push.next {
            uut.record.next = record(random, span);
        }
        if self.replays.is_empty() && random.chance(1, 60) {
            self.replays.push(Self::any_replay(random));
        }
        let replay = self.replays.offer(random).copied();
        uut.replay_valid.next = replay.is_some();
        if let Some(replay) = replay {
            uut.replay.next = replay;
        }
        uut.replayed_ready.next = random.chance(1, 2);
        uut.offered_taken.next = false;
        uut.reset.next = reset;
        settle(uut);
        uut.offered_taken.next = uut.offered_valid.val() && random.chance(2, 3);
        settle(uut);
        self.outputs(uut);
        self.since_push += 1;
        if uut.push.val() {
            self.spans[span as usize].push(uut.record.val());
            self.since_push = 1;
        }
        if let Some(replay) = self.replays.advance(uut.replay_ready.val()) {
            self.take(replay);
        }
        if reset {
            let (delivered, answered) = (self.delivered, self.answered);
            *self = Self {
                delivered,
                answered,
                ..Self::new()
            };
        }
    }

    fn take(&mut self, replay: Replay) {
        if replay.kind == ReplayKind::Fault {
            self.offers.push_back(FpduRecord {
                kind: FpduKind::Fault,
                connection: replay.connection,
                sequence: replay.sequence,
                sequence_end: replay.sequence,
                ..FpduRecord::default()
            });
        } else {
            let records = std::mem::take(&mut self.spans[replay.span.index()]);
            if replay.kind == ReplayKind::Deliver {
                let records = records.iter().map(|record| delivered(record, &replay));
                self.offers.extend(records);
            }
        }
        self.taken.push_back(replay);
        self.answers.push_back(Replayed {
            kind: replay.kind,
            connection: replay.connection,
            span: replay.span,
        });
    }

    fn outputs(&mut self, uut: &RecordStore) {
        if uut.offered_valid.val() {
            let mut seen = uut.offered.val();
            if seen.kind == FpduKind::Fault {
                // A fault has no octets; the checks do not read them.
                seen.header = Bits::default();
            }
            assert_eq!(Some(&seen), self.offers.front());
            if uut.offered_taken.val() {
                self.offers.pop_front();
                self.delivered += 1;
            }
        }
        if uut.replayed_valid.val() {
            let seen = uut.replayed.val();
            assert_eq!(Some(&seen), self.answers.front());
            let after = self.offers.front().map(|record| record.kind);
            assert!(
                after.is_none() || self.answers.len() > 1,
                "answered before the last record is taken"
            );
            if uut.replayed_ready.val() {
                self.answers.pop_front();
                self.taken.pop_front();
                self.answered += 1;
            }
        }
    }
}

fn connected() -> Simulation<RecordStore> {
    let mut uut = simulate!(RecordStore::default());
    uut.settle();
    uut.ticks(512);
    assert!(uut.has_room.val());
    uut
}

fn push(uut: &mut Simulation<RecordStore>, record: FpduRecord) {
    uut.push.next = true;
    uut.record.next = record;
    uut.ticks(1);
    uut.push.next = false;
}

/// Offers a replay for one cycle, and returns the cycles from it to `is_there`.
fn cycles_to(
    uut: &mut Simulation<RecordStore>,
    replay: Replay,
    is_there: fn(&RecordStore) -> bool,
) -> usize {
    uut.replay.next = replay;
    uut.replay_valid.next = true;
    for cycle in 1..40 {
        uut.ticks(1);
        uut.replay_valid.next = false;
        uut.settle();
        if is_there(uut) {
            return cycle;
        }
    }
    panic!("nothing comes of {replay:?}");
}

fn replay(kind: ReplayKind, span: u64) -> Replay {
    Replay {
        kind,
        span: span.into(),
        connection: 3u64.into(),
        sequence: 77u64.into(),
    }
}

/// MPA-041: records are replayed by span and in order, or discarded.
#[test]
fn records_are_replayed_by_span_or_discarded() {
    let mut random = Random::from_environment();
    let mut uut = connected();
    let mut walker = Walker::new();
    for _ in 0..30_000 {
        let reset = random.chance(1, 10_000);
        walker.drive(&mut uut, &mut random, reset);
        uut.tick();
    }
    assert!(walker.delivered > 800, "only {} records", walker.delivered);
    assert!(walker.answered > 200, "only {} replays", walker.answered);
}

#[test]
fn latencies_are_those_of_the_table() {
    let mut random = Random::from_environment();
    let mut uut = connected();
    let offered = |uut: &RecordStore| uut.offered_valid.val();
    let answered = |uut: &RecordStore| uut.replayed_valid.val();
    assert_eq!(
        cycles_to(&mut uut, replay(ReplayKind::Deliver, 9), answered),
        5
    );
    uut.replayed_ready.next = true;
    uut.ticks(2);
    for span in [9, 9, 9, 10] {
        let record = record(&mut random, span);
        push(&mut uut, record);
        uut.ticks(5);
    }
    assert_eq!(
        cycles_to(&mut uut, replay(ReplayKind::Forget, 10), answered),
        6
    );
    uut.ticks(2);
    assert_eq!(
        cycles_to(&mut uut, replay(ReplayKind::Fault, 0), offered),
        2
    );
    uut.offered_taken.next = true;
    uut.ticks(1);
    uut.offered_taken.next = false;
    uut.settle();
    assert!(!offered(&uut) && answered(&uut), "a fault has an answer");
    uut.ticks(1);
    assert_eq!(
        cycles_to(&mut uut, replay(ReplayKind::Deliver, 9), offered),
        8
    );
    for is_last in [false, false, true] {
        uut.offered_taken.next = true;
        uut.ticks(1);
        uut.offered_taken.next = false;
        uut.settle();
        let mut cycles = 1;
        while !offered(&uut) && !answered(&uut) {
            uut.ticks(1);
            cycles += 1;
        }
        assert_eq!(
            (cycles, answered(&uut)),
            if is_last { (2, true) } else { (4, false) }
        );
    }
}

#[test]
fn push_after_open_begins_a_new_list() {
    let mut random = Random::from_environment();
    let mut uut = connected();
    let records: Vec<FpduRecord> = (0..2).map(|_| record(&mut random, 40)).collect();
    let deliver = replay(ReplayKind::Deliver, 40);
    push(&mut uut, records[0]);
    uut.ticks(6);
    cycles_to(&mut uut, deliver, |uut| uut.offered_valid.val());
    push(&mut uut, records[1]);
    for record in &records {
        assert_eq!(uut.offered.val(), delivered(record, &deliver));
        uut.offered_taken.next = true;
        uut.ticks(1);
        uut.offered_taken.next = false;
        uut.ticks(8);
        assert!(uut.replayed_valid.val(), "one record in each list");
        uut.replayed_ready.next = true;
        uut.ticks(1);
        uut.replayed_ready.next = false;
        if record == &records[0] {
            cycles_to(&mut uut, deliver, |uut| uut.offered_valid.val());
        }
    }
}

#[test]
fn reset_discards_records_and_replay() {
    let mut random = Random::from_environment();
    let mut uut = connected();
    let record = record(&mut random, 511);
    push(&mut uut, record);
    uut.ticks(6);
    cycles_to(&mut uut, replay(ReplayKind::Deliver, 511), |uut| {
        uut.offered_valid.val()
    });
    push(&mut uut, record);
    uut.reset.next = true;
    uut.ticks(1);
    uut.reset.next = false;
    uut.settle();
    assert!(!uut.offered_valid.val() && !uut.has_room.val());
    uut.ticks(512);
    assert!(uut.has_room.val());
    let answered = |uut: &RecordStore| uut.replayed_valid.val();
    assert_eq!(
        cycles_to(&mut uut, replay(ReplayKind::Deliver, 511), answered),
        5
    );
}

#[test]
fn deferred_records_agree_with_their_verilog() {
    let mut walker = Walker::new();
    let uut = RecordStore::default();
    lockstep!("ddp_deferred", uut, 8000, |uut, random| {
        let reset = random.chance(1, 4000);
        walker.drive(uut, random, reset);
    });
    assert!(walker.delivered > 100);
}
