//! Drives a room and a model side by side.
mod records;
mod check;

use super::super::DdpRoom;
use super::fence::FenceWatch;
use super::model::{Command, CompletionQueue, Event, Model, OutOfOrder, Outcome, Record, Report};
use crate::messages::*;
use rnic_abi::tables;
use rnic_hdl_tools::testkit::{
    bits_of, bits_of_words, simulate, Pace, Random, Simulation, StreamDriver, StreamMonitor,
};
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
    FpduRecord {
        kind: record.kind,
        connection: record.connection.into(),
        span: record.span.into(),
        unproven: record.unproven,
        sequence: u64::from(record.sequence).into(),
        sequence_end: u64::from(record.sequence_end).into(),
        ulpdu_length: record.ulpdu_length.into(),
        header: bits_of(&record.header),
        beats: record.beats.into(),
        head_page: record.head_page.into(),
        tail_page: record.tail_page.into(),
    }
}

/// The verdict on `record`, if it has one.
pub fn verdict(record: &Record) -> Option<FpduVerdict> {
    [FpduKind::Normal, FpduKind::Check, FpduKind::OutOfOrder]
        .contains(&record.kind)
        .then_some(FpduVerdict {
            crc_good: record.crc_good,
            marker_good: record.marker_good,
            marker_seen: record.marker_seen,
        })
}

/// The request of `operation`.
pub fn request(operation: &Operation) -> TableRequest {
    TableRequest {
        operation: u64::from(operation.operation).into(),
        table: u64::from(operation.table).into(),
        index: operation.index.into(),
        data: bits_of_words(&operation.words),
    }
}

/// A room, its model, and what is still to go in and to come out.
pub struct Bench {
    pub uut: Simulation<DdpRoom>,
    pub model: Model,
    pub random: Random,
    /// When an offered output is taken.
    pub take: Pace,
    /// When a waiting record, replay or table operation is offered.
    pub offer: Pace,
    /// When a verdict comes, once its record has come.
    pub judge: Pace,
    /// Records not yet taken by the room.
    pub records: StreamDriver<Record>,
    /// Table operations not yet done; the first one may be on the bus.
    pub operations: StreamDriver<Operation>,
    /// Replays not yet taken by the room; of a span only when its out-of-order records are judged.
    pub replays: StreamDriver<Replay>,
    /// Replays that the room has answered.
    pub answered: usize,
    /// The outcome of each record, in order.
    pub outcomes: Vec<Outcome>,
    pub fence: FenceWatch,
    inside: VecDeque<Record>,
    /// Records of the replays taken that have not entered.
    delivered: VecDeque<Record>,
    /// Replays taken and not done, with the number of their records that have not entered.
    replaying: VecDeque<(Replay, usize)>,
    results: VecDeque<OutOfOrder>,
    verdicts: VecDeque<FpduVerdict>,
    commands: VecDeque<Command>,
    stops: VecDeque<u64>,
    trace: VecDeque<(Option<Event>, bool, u64)>,
    reports: VecDeque<Report>,
    /// Connections whose first FPDU passed all tests.
    firsts: VecDeque<u64>,
    commands_seen: StreamMonitor<Command>,
    stops_seen: StreamMonitor<u64>,
    replays_seen: StreamMonitor<Replayed>,
    read: Option<[u32; 4]>,
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
            take: Pace::Always,
            offer: Pace::Always,
            judge: Pace::Always,
            records: StreamDriver::new(Pace::Always),
            operations: StreamDriver::new(Pace::Always),
            replays: StreamDriver::new(Pace::Always),
            answered: 0,
            outcomes: Vec::new(),
            fence: FenceWatch::default(),
            inside: VecDeque::new(),
            delivered: VecDeque::new(),
            replaying: VecDeque::new(),
            results: VecDeque::new(),
            verdicts: VecDeque::new(),
            commands: VecDeque::new(),
            stops: VecDeque::new(),
            trace: VecDeque::new(),
            reports: VecDeque::new(),
            firsts: VecDeque::new(),
            commands_seen: StreamMonitor::new(Pace::Always),
            stops_seen: StreamMonitor::new(Pace::Always),
            replays_seen: StreamMonitor::new(Pace::Always),
            read: None,
            beyond_room: 0,
        }
    }

    /// Queues a table write; it is done before the next [`Bench::send`].
    pub fn write(&mut self, table: u32, index: u64, words: &[u32]) {
        let mut all = [0; 10];
        all[..words.len()].copy_from_slice(words);
        self.operations.push(Operation {
            operation: tables::WRITE,
            table,
            index,
            words: all,
        });
    }

    /// Sends `record` alone and returns its outcome.
    pub fn send(&mut self, record: &Record) -> Outcome {
        if !self.operations.is_empty() {
            self.drain();
        }
        self.records.push(record.clone());
        self.drain();
        self.outcomes
            .last()
            .expect("one outcome per record")
            .clone()
    }

    /// Waits for the sweep after power-up: before that no record is stored.
    pub fn sweep(&mut self) {
        self.steps(512);
    }

    /// Asks for a replay of `span`.
    pub fn request_replay(&mut self, kind: ReplayKind, connection: u64, span: u64) {
        self.replays.push(Replay {
            kind,
            connection: connection.into(),
            span: span.into(),
            sequence: 0u64.into(),
        });
    }

    /// Replays `span` and waits until nothing is left of it.
    pub fn replay(&mut self, kind: ReplayKind, connection: u64, span: u64) {
        self.request_replay(kind, connection, span);
        self.drain();
    }

    /// FPDU starts of `connection` disagree at `sequence`.
    pub fn fault(&mut self, connection: u64, sequence: u32) {
        self.replays.push(Replay {
            kind: ReplayKind::Fault,
            connection: connection.into(),
            span: 0u64.into(),
            sequence: u64::from(sequence).into(),
        });
        self.drain();
    }

    /// Steps until nothing is left to go in or to come out.
    pub fn drain(&mut self) {
        let work = self.records.waiting().len() + self.operations.waiting().len();
        let limit = self.cycle() + 40_000 + 400 * work as u64;
        while self.is_busy() {
            self.step();
            assert!(self.cycle() < limit, "the room stands still");
        }
        // Anything said too much shows within these cycles.
        self.steps(8);
    }

    fn is_busy(&self) -> bool {
        !(self.records.is_empty()
            && self.operations.is_empty()
            && self.inside.is_empty()
            && self.replays.is_empty()
            && self.delivered.is_empty()
            && self.replaying.is_empty()
            && self.results.is_empty()
            && self.firsts.is_empty()
            && self.commands.is_empty()
            && self.stops.is_empty()
            && self.trace.is_empty()
            && self.reports.is_empty()
            && !self.fence.asked
            && self.fence.since.is_none())
    }

    /// Cycles so far.
    pub fn cycle(&self) -> u64 {
        self.uut.cycle()
    }

    pub fn steps(&mut self, cycles: usize) {
        (0..cycles).for_each(|_| self.step());
    }

    /// One cycle: offers, checks of the outputs, and the model's steps in the order of the room's.
    pub fn step(&mut self) {
        let comes = self.offer_record();
        let (cycle, waiting) = (self.cycle(), self.records.waiting().len());
        self.uut.begun.next = self.fence.begin(cycle, waiting, comes);
        self.uut.record_fence.next = self.fence.drive(cycle, comes);
        let judges = !self.verdicts.is_empty() && self.judge.goes(self.cycle(), &mut self.random);
        self.uut.fpdu_verdict_valid.next = judges;
        if judges {
            self.uut.fpdu_verdict.next = self.verdicts.pop_front().expect("a verdict");
        }
        self.operations.pace = self.offer;
        let requested = self.operations.offer(&mut self.random).map(request);
        self.uut.table_valid.next = requested.is_some();
        if let Some(request) = requested {
            self.uut.table_request.next = request;
        }
        let replay = self.offer_replay();
        self.check_streams();
        self.uut.settle();
        self.check_pulses();
        self.advance_model();
        if self.uut.record_fence_done.val() {
            let all_taken = self.commands.is_empty() && self.stops.is_empty();
            self.fence.answered(all_taken);
        }
        self.check_table();
        self.advance_replay(replay);
        if let Some(record) = self.records.advance(comes) {
            self.verdicts.extend(verdict(&record));
            self.inside.push_back(record);
            self.fence.comes();
        }
        self.uut.tick();
    }

    /// Reads from the room in which cycle it commits a record and executes a table operation.
    fn advance_model(&mut self) {
        if self.uut.sequencer.commit.val() {
            let record = self.inside.pop_front().expect("a record to commit");
            self.fence.commits();
            let outcome = self.model.judge(&record);
            self.commands.extend(outcome.command.clone());
            self.stops.extend(outcome.stopped);
            self.results.extend(outcome.ooo);
            self.reports.extend(outcome.report);
            self.firsts.extend(outcome.first);
            if outcome.event.is_some() || outcome.counted {
                let event = outcome.event.clone();
                self.trace
                    .push_back((event, outcome.counted, outcome.error));
            }
            self.outcomes.push(outcome);
        }
        if self.uut.checks.restart.val() {
            let operation = self.operations.waiting().front();
            let operation = operation.expect("an operation to execute");
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

    /// Sets completion queue `queue` up with `1 << entries_log2` entries, in an idle room.
    pub fn set_completion_queue(&mut self, queue: u64, entries_log2: u32) {
        self.model.completion_queues[queue as usize] = CompletionQueue {
            entries_log2,
            ..CompletionQueue::default()
        };
        self.reports.push_back(Report::Numbered(queue, 0));
        self.write_completion_queue(queue, 0, |write| &mut write.consumer);
        self.write_completion_queue(queue, entries_log2, |write| &mut write.entries_log2);
    }

    /// The driver consumes `entries` entries of completion queue `queue`, while the room is idle.
    pub fn consume(&mut self, queue: u64, entries: u32) {
        let completions = &mut self.model.completion_queues[queue as usize];
        completions.consumed += entries;
        let consumed = completions.consumed;
        self.write_completion_queue(queue, consumed, |write| &mut write.consumer);
    }

    fn write_completion_queue(
        &mut self,
        queue: u64,
        value: u32,
        strobe: impl Fn(&mut CqWrite) -> &mut bool,
    ) {
        let mut write = CqWrite {
            queue: queue.into(),
            value: u64::from(value).into(),
            ..CqWrite::default()
        };
        *strobe(&mut write) = true;
        self.uut.cq_write.next = write;
        self.step();
        self.uut.cq_write.next = CqWrite::default();
        self.steps(3);
    }
}
