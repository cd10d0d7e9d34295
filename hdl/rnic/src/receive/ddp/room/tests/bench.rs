//! Drives a room and a model side by side.
use super::super::DdpRoom;
use super::model::{Command, Early, Event, Model, Outcome, Record};
use crate::messages::*;
use rnic_abi::tables;
use rnic_hdl_tools::testkit::{simulate, Random, Simulation};
use rust_hdl::prelude::*;
use std::collections::VecDeque;

/// One table operation.
#[derive(Clone, Debug)]
pub struct Operation {
    pub operation: u32,
    pub table: u32,
    pub index: u64,
    pub words: [u32; 10],
}

/// The message of `record`.
pub fn message(record: &Record) -> FpduRecord {
    let mut header = Bits::<160>::default();
    for (i, &octet) in record.header.iter().enumerate() {
        header.set_bits::<8>(8 * i, u64::from(octet).into());
    }
    FpduRecord {
        kind: record.kind.into(),
        connection: record.connection.into(),
        span: record.span.into(),
        unproven: record.unproven,
        sequence: u64::from(record.sequence).into(),
        sequence_end: u64::from(record.sequence_end).into(),
        ulpdu_length: record.ulpdu_length.into(),
        header,
        beats: record.beats.into(),
        head_page: record.head_page.into(),
        tail_page: record.tail_page.into(),
    }
}

/// The verdict on `record`, if it has one.
pub fn verdict(record: &Record) -> Option<FpduVerdict> {
    [FPDU_NORMAL, FPDU_CHECK, FPDU_EARLY]
        .contains(&record.kind)
        .then_some(FpduVerdict {
            crc_good: record.crc_good,
            marker_good: record.marker_good,
            marker_seen: record.marker_seen,
        })
}

/// The request of `operation`.
pub fn request(operation: &Operation) -> TableRequest {
    let mut data = Bits::<320>::default();
    for (i, &word) in operation.words.iter().enumerate() {
        data.set_bits::<32>(32 * i, u64::from(word).into());
    }
    TableRequest {
        operation: u64::from(operation.operation).into(),
        table: u64::from(operation.table).into(),
        index: operation.index.into(),
        data,
    }
}

/// `replay` is about the records of `span`.
fn names(replay: &Replay, span: u64) -> bool {
    replay.kind != REPLAY_FAULT && replay.span == span
}

/// A room, its model, and what is still to go in and to come out.
pub struct Bench {
    pub uut: Simulation<DdpRoom>,
    pub model: Model,
    pub random: Random,
    pub cycle: u64,
    /// Chance of eight that an offered output is taken in a cycle.
    pub take_of_8: u64,
    /// Chance of eight that a waiting record or table operation is offered in a cycle.
    pub offer_of_8: u64,
    /// Chance of eight that a verdict comes in a cycle, once its record has come.
    pub judge_of_8: u64,
    /// Records not yet taken by the room.
    pub records: VecDeque<Record>,
    /// Table operations not yet done; the first one may be on the bus.
    pub operations: VecDeque<Operation>,
    /// Replays not yet taken by the room; of a span only when its early records are judged.
    pub replays: VecDeque<Replay>,
    /// Replays that the room has answered.
    pub answered: usize,
    /// What was said of each record, in order.
    pub outcomes: Vec<Outcome>,
    inside: VecDeque<Record>,
    /// Records of the replays taken that have not entered.
    delivered: VecDeque<Record>,
    /// Replays taken and not done, with the number of their records that have not entered.
    replaying: VecDeque<(Replay, usize)>,
    results: VecDeque<Early>,
    offers_replay: bool,
    verdicts: VecDeque<FpduVerdict>,
    commands: VecDeque<Command>,
    stops: VecDeque<u64>,
    trace: VecDeque<(Option<Event>, bool, u64)>,
    read: Option<[u32; 4]>,
    offers: bool,
    requests: bool,
    beyond_room: u64,
}

impl Bench {
    /// An empty room without stalls.
    pub fn new() -> Self {
        let uut = simulate!(DdpRoom::default());
        Self {
            uut,
            model: Model::default(),
            random: Random::from_environment(),
            cycle: 0,
            take_of_8: 8,
            offer_of_8: 8,
            judge_of_8: 8,
            records: VecDeque::new(),
            operations: VecDeque::new(),
            replays: VecDeque::new(),
            answered: 0,
            outcomes: Vec::new(),
            inside: VecDeque::new(),
            delivered: VecDeque::new(),
            replaying: VecDeque::new(),
            results: VecDeque::new(),
            offers_replay: false,
            verdicts: VecDeque::new(),
            commands: VecDeque::new(),
            stops: VecDeque::new(),
            trace: VecDeque::new(),
            read: None,
            offers: false,
            requests: false,
            beyond_room: 0,
        }
    }

    /// Queues a table write; it is done before the next [`Bench::send`].
    pub fn write(&mut self, table: u32, index: u64, words: &[u32]) {
        let mut all = [0; 10];
        all[..words.len()].copy_from_slice(words);
        self.operations.push_back(Operation {
            operation: tables::WRITE,
            table,
            index,
            words: all,
        });
    }

    /// Sends `record` alone and returns what the room said of it.
    pub fn send(&mut self, record: &Record) -> Outcome {
        if !self.operations.is_empty() {
            self.drain();
        }
        self.records.push_back(record.clone());
        self.drain();
        self.outcomes
            .last()
            .expect("one outcome per record")
            .clone()
    }

    /// Lets the sweep after power-up end: before that no record is kept.
    pub fn sweep(&mut self) {
        for _ in 0..512 {
            self.step();
        }
    }

    /// Asks for a replay of `span`.
    pub fn request_replay(&mut self, kind: u64, connection: u64, span: u64) {
        self.replays.push_back(Replay {
            kind: kind.into(),
            connection: connection.into(),
            span: span.into(),
            sequence: 0u64.into(),
        });
    }

    /// Replays `span` and waits until nothing is left of it.
    pub fn replay(&mut self, kind: u64, connection: u64, span: u64) {
        self.request_replay(kind, connection, span);
        self.drain();
    }

    /// FPDU starts of `connection` disagree at `sequence`.
    pub fn fault(&mut self, connection: u64, sequence: u32) {
        self.replays.push_back(Replay {
            kind: REPLAY_FAULT.into(),
            connection: connection.into(),
            span: 0u64.into(),
            sequence: u64::from(sequence).into(),
        });
        self.drain();
    }

    /// Steps until nothing is left to go in or to come out.
    pub fn drain(&mut self) {
        let start = self.cycle;
        while self.is_busy() {
            self.step();
            let work = 400 * (self.records.len() + self.operations.len()) as u64;
            assert!(
                self.cycle - start < 40_000 + work,
                "the room stands still, cycle {}, {}",
                self.cycle,
                self.random
            );
        }
        // Anything said too much shows within these cycles.
        for _ in 0..8 {
            self.step();
        }
    }

    fn is_busy(&self) -> bool {
        !(self.records.is_empty()
            && self.operations.is_empty()
            && self.inside.is_empty()
            && self.replays.is_empty()
            && self.delivered.is_empty()
            && self.replaying.is_empty()
            && self.results.is_empty()
            && self.commands.is_empty()
            && self.stops.is_empty()
            && self.trace.is_empty())
    }

    /// One cycle: offers, checks of the outputs, and the model's steps in the order of the room's.
    pub fn step(&mut self) {
        self.offers =
            !self.records.is_empty() && (self.offers || self.random.chance(self.offer_of_8, 8));
        self.requests = !self.operations.is_empty()
            && (self.requests || self.random.chance(self.offer_of_8, 8));
        // Up to two records come once the room for two is gone.
        if self.uut.record_room.val() {
            self.beyond_room = 0;
        }
        let comes = self.offers && self.beyond_room < 2 && !self.is_held_back();
        self.beyond_room += u64::from(comes);
        self.uut.record_valid.next = comes;
        if let (true, Some(record)) = (self.offers, self.records.front()) {
            self.uut.record.next = message(record);
        }
        let judges = !self.verdicts.is_empty() && self.random.chance(self.judge_of_8, 8);
        self.uut.fpdu_verdict_valid.next = judges;
        if judges {
            self.uut.fpdu_verdict.next = self.verdicts.pop_front().expect("a verdict");
        }
        self.offer_replay();
        self.uut.table_valid.next = self.requests;
        if let (true, Some(operation)) = (self.requests, self.operations.front()) {
            self.uut.table_request.next = request(operation);
        }
        self.uut.command_ready.next = self.random.chance(self.take_of_8, 8);
        self.uut.stopped_ready.next = self.random.chance(self.take_of_8, 8);
        self.uut.settle();
        self.check_outputs();
        self.advance_model();
        self.check_table();
        self.advance_replay();
        if comes {
            let record = self.records.pop_front().expect("offered");
            self.verdicts.extend(verdict(&record));
            self.inside.push_back(record);
            self.offers = false;
        }
        self.uut.tick();
        self.cycle += 1;
    }

    /// MPA brings no early FPDU of a span while the span is replayed.
    fn is_held_back(&self) -> bool {
        let replaying = self.replaying.iter().map(|(replay, _)| replay);
        let mut replays = self.replays.iter().take(1).chain(replaying);
        let record = self.records.front();
        record.is_some_and(|record| {
            record.kind == FPDU_EARLY && replays.any(|replay| names(replay, record.span))
        })
    }

    fn offer_replay(&mut self) {
        let of_8 = self.offer_of_8;
        self.offers_replay = self.replays.front().is_some_and(|replay| {
            let mut inside = self.inside.iter();
            let is_early = |record: &Record| record.kind == FPDU_EARLY;
            let waits = inside.any(|record| is_early(record) && names(replay, record.span));
            self.offers_replay || !waits && self.random.chance(of_8, 8)
        });
        self.uut.replay_valid.next = self.offers_replay;
        if let Some(replay) = self.replays.front() {
            self.uut.replay.next = *replay;
        }
        self.uut.replayed_ready.next = self.random.chance(self.take_of_8, 8);
    }

    /// The room says itself in which cycle a replayed record goes in between those of MPA.
    fn advance_replay(&mut self) {
        if self.uut.entrance.offered_taken.val() {
            let record = self.delivered.pop_front().expect("a record to deliver");
            self.inside.push_back(record);
            let (_, left) = self.replaying.front_mut().expect("a replay at hand");
            *left -= 1;
        }
        if !(self.uut.replay_valid.val() && self.uut.replay_ready.val()) {
            return;
        }
        let replay = self.replays.pop_front().expect("offered");
        self.offers_replay = false;
        let mut records = self.released(&replay);
        if replay.kind == REPLAY_FORGET {
            records.clear();
        }
        self.replaying.push_back((replay, records.len()));
        self.delivered.extend(records);
    }

    /// What the room keeps of the span of `replay` or, of a fault, the record that says so.
    fn released(&mut self, replay: &Replay) -> Vec<Record> {
        if replay.kind != REPLAY_FAULT {
            return self.model.release(replay.span.to_u64());
        }
        vec![Record {
            kind: FPDU_FAULT,
            connection: replay.connection.to_u64(),
            sequence: replay.sequence.to_u32(),
            sequence_end: replay.sequence.to_u32(),
            crc_good: true,
            ..Record::default()
        }]
    }

    /// The room says itself in which cycle it commits a record and executes a table operation.
    fn advance_model(&mut self) {
        if self.uut.sequencer.commit.val() {
            let record = self.inside.pop_front().expect("a record to commit");
            let outcome = self.model.judge(&record);
            self.commands.extend(outcome.command.clone());
            self.stops.extend(outcome.stopped);
            self.results.extend(outcome.early);
            if outcome.event.is_some() || outcome.counted {
                let event = outcome.event.clone();
                self.trace
                    .push_back((event, outcome.counted, outcome.error));
            }
            self.outcomes.push(outcome);
        }
        if self.uut.checks.restart.val() {
            let operation = self.operations.front().expect("an operation to execute");
            self.read = Some([0; 4]);
            match operation.operation {
                tables::WRITE => {
                    self.model
                        .write(operation.table, operation.index, &operation.words);
                }
                tables::READ => {
                    self.read = Some(self.model.read(operation.table, operation.index));
                }
                _ => {}
            }
        }
    }

    fn check_table(&mut self) {
        let data = self.uut.table_data.val();
        let words: [u64; 4] = std::array::from_fn(|i| data.get_bits::<32>(32 * i).to_u64());
        if !self.uut.table_done.val() {
            assert_eq!(
                words, [0; 4],
                "data on the bus without done, {}",
                self.random
            );
            return;
        }
        let expected = self.read.take().expect("an operation was executed");
        assert_eq!(
            words,
            expected.map(u64::from),
            "cycle {}, {}",
            self.cycle,
            self.random
        );
        self.operations.pop_front();
        self.requests = false;
    }

    fn check_outputs(&mut self) {
        let context = format!("cycle {}, {}", self.cycle, self.random);
        if self.uut.command_valid.val() {
            let seen = self.seen_command();
            let expected = self.commands.front().cloned();
            assert_eq!(Some(seen), expected, "command, {context}");
            if self.uut.command_ready.val() {
                self.commands.pop_front();
            }
        }
        if self.uut.stopped_valid.val() {
            let seen = self.uut.stopped.val().to_u64();
            assert_eq!(Some(&seen), self.stops.front(), "stopped, {context}");
            if self.uut.stopped_ready.val() {
                self.stops.pop_front();
            }
        }
        self.check_early();
        let event = self.uut.fpdu_event_valid.val();
        let (counted, refused) = (self.uut.count_fpdu.val(), self.uut.error_valid.val());
        if event || counted || refused {
            let (expected, expected_count, error) = self
                .trace
                .pop_front()
                .unwrap_or_else(|| panic!("nothing is due, {context}"));
            assert_eq!(
                event.then(|| self.seen_event()),
                expected,
                "event, {context}"
            );
            assert_eq!(counted, expected_count, "count_fpdu, {context}");
            assert_eq!(refused, error != 0, "error_valid, {context}");
            if refused {
                assert_eq!(
                    self.uut.error_number.val().to_u64(),
                    error,
                    "error, {context}"
                );
            }
        }
    }

    fn check_early(&mut self) {
        let context = format!("cycle {}, {}", self.cycle, self.random);
        let octets = self.uut.early_octets_valid.val();
        let octets = octets.then(|| self.uut.early_octets.val().to_u64());
        if self.uut.early_result_valid.val() {
            let result = self.uut.early_result.val();
            let seen = Early {
                good: result.good,
                sequence_end: result.sequence_end.to_u32(),
                octets,
            };
            assert_eq!(Some(seen), self.results.pop_front(), "{context}");
        } else {
            assert_eq!(octets, None, "octets of no FPDU, {context}");
        }
        if self.uut.replayed_valid.val() {
            let seen = self.uut.replayed.val();
            let (replay, left) = self.replaying.front().expect("a replay to answer");
            let expected = Replayed {
                kind: replay.kind,
                connection: replay.connection,
                span: replay.span,
            };
            assert_eq!(seen, expected, "replayed, {context}");
            assert_eq!(*left, 0, "records are left, {context}");
            if self.uut.replayed_ready.val() {
                self.replaying.pop_front();
                self.answered += 1;
            }
        }
    }

    fn seen_command(&self) -> Command {
        let command = self.uut.command.val();
        Command {
            kind: command.kind.to_u64(),
            beats: command.beats.to_u64(),
            skip_words: command.skip_words.to_u64(),
            address: command.address.to_u64(),
            octets: command.octets.to_u64(),
            complete: command.complete,
            cqe: std::array::from_fn(|i| command.cqe.get_bits::<32>(32 * i).to_u32()),
        }
    }

    fn seen_event(&self) -> Event {
        let event = self.uut.fpdu_event.val();
        Event {
            connection: event.connection.to_u64(),
            sequence: event.sequence.to_u32(),
            ulpdu_length: event.ulpdu_length.to_u64(),
            error: event.error.to_u64(),
            opcode: event.opcode.to_u64(),
            opcode_valid: event.opcode_valid,
            placed_octets: event.placed_octets.to_u64(),
            placed_early: event.placed_early,
        }
    }
}
