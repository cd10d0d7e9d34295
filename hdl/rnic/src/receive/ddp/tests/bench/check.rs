//! What comes out of the room, held against the model.
use super::super::model::{Command, Event, OutOfOrder, Report};
use super::Bench;
use crate::messages::{PlaceCommand, Replayed};
use rnic_hdl_tools::testkit::words_of;

impl Bench {
    pub(super) fn check_table(&mut self) {
        let words = words_of(self.uut.table_data.val());
        let done = self.uut.table_done.val();
        if done {
            let expected = self.read.take().expect("an operation was executed");
            assert_eq!(words, expected, "table_data");
        } else {
            assert_eq!(words, [0; 4], "data on the bus without done");
        }
        self.operations.advance(done);
    }

    pub(super) fn check_streams(&mut self) {
        let (uut, random) = (&mut *self.uut, &mut self.random);
        self.commands_seen.pace = self.take;
        let command = uut
            .command_valid
            .val()
            .then(|| seen_command(&uut.command.val()));
        let ready = &mut uut.command_ready;
        self.commands_seen
            .check(command, &mut self.commands, ready, random);

        self.stops_seen.pace = self.take;
        let stopped = uut
            .stream_error_valid
            .val()
            .then(|| uut.stream_error.val().to_u64());
        let ready = &mut uut.stream_error_ready;
        self.stops_seen
            .check(stopped, &mut self.stops, ready, random);

        self.replays_seen.pace = self.take;
        let replayed = uut.replayed_valid.val().then(|| uut.replayed.val());
        let ready = &mut uut.replayed_ready;
        let taken = self.replays_seen.observe(replayed, ready, random);
        if let Some(seen) = replayed {
            let (replay, left) = self.replaying.front().expect("a replay to answer");
            let expected = Replayed {
                kind: replay.kind,
                connection: replay.connection,
                span: replay.span,
            };
            assert_eq!(seen, expected, "replayed");
            assert_eq!(*left, 0, "records are left");
        }
        if taken.is_some() {
            self.replaying.pop_front();
            self.answered += 1;
        }
    }

    pub(super) fn check_pulses(&mut self) {
        self.check_ooo();
        self.check_report();
        if self.uut.first_fpdu_valid.val() {
            let connection = self.uut.first_fpdu.val().to_u64();
            assert_eq!(Some(connection), self.firsts.pop_front(), "first FPDU");
        }
        let event = self.uut.fpdu_event_valid.val();
        let (counted, refused) = (self.uut.count_fpdu.val(), self.uut.error_valid.val());
        if event || counted || refused {
            let trace = self.trace.pop_front().expect("an event is due");
            let (expected, expected_count, error) = trace;
            assert_eq!(event.then(|| self.seen_event()), expected, "event");
            assert_eq!(counted, expected_count, "count_fpdu");
            assert_eq!(refused, error != 0, "error_valid");
            if refused {
                assert_eq!(self.uut.error_number.val().to_u64(), error, "error");
            }
        }
    }

    fn check_report(&mut self) {
        let seen = self.uut.cq_report.val();
        let queue = seen.queue.to_u64();
        assert!(!(seen.numbered && seen.lost));
        if seen.numbered {
            let report = Report::Numbered(queue, seen.entries.to_u64());
            assert_eq!(Some(report), self.reports.pop_front());
        }
        if seen.lost {
            assert_eq!(Some(Report::Lost(queue)), self.reports.pop_front());
        }
    }

    fn check_ooo(&mut self) {
        if self.uut.ooo_result_valid.val() {
            let result = self.uut.ooo_result.val();
            let seen = OutOfOrder {
                good: result.good,
                sequence_end: result.sequence_end.to_u32(),
            };
            assert_eq!(Some(seen), self.results.pop_front());
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
            placed_ooo: event.placed_ooo,
        }
    }
}

fn seen_command(command: &PlaceCommand) -> Command {
    Command {
        kind: command.kind,
        beats: command.beats.to_u64(),
        skip_words: command.skip_words.to_u64(),
        address: command.address.to_u64(),
        octets: command.octets.to_u64(),
        complete: command.complete,
        queue: if command.complete {
            command.queue.to_u64()
        } else {
            0
        },
        cqe: words_of(command.cqe),
    }
}
