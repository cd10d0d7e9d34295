//! FPDUs out of order: placed at once, reported when their records are replayed in order.
//!
//! Every step also compares all outputs of the room with the model; these tests check the model.
use super::bench::Bench;
use super::model::{Command, Event, OutOfOrder, Outcome, Record};
use super::refusals::{accepted_in, refused_in, send_at, write_at};
use super::world::*;
use crate::messages::*;
use crate::receive::ddp::spans::SLOTS;
use rnic_abi::cqe;
use rnic_abi::errors::StreamError::{self, *};
use rnic_abi::tables::*;

/// Span of the FPDUs out of order, unless a test needs several.
const SPAN: u64 = 300;

fn ooo(record: &Record) -> Record {
    Record {
        kind: FpduKind::OutOfOrder,
        span: SPAN,
        ..record.clone()
    }
}

fn world() -> Bench {
    let mut bench = Bench::world();
    bench.sweep();
    bench
}

/// `record` arrives out of order and is placed as it would be in order, without other effects.
fn placed_ooo(bench: &mut Bench, record: &Record) -> Command {
    let outcome = bench.send(&ooo(record));
    let command = outcome.command.clone().expect("beats to take out");
    assert_eq!(
        outcome,
        Outcome {
            command: Some(command.clone()),
            ooo: Some(OutOfOrder {
                good: true,
                sequence_end: record.sequence_end,
            }),
            ..Outcome::default()
        }
    );
    assert_eq!((command.complete, command.cqe), (false, [0; 8]));
    command
}

/// `record` arrives out of order, and its beats are discarded without other effects.
fn ignored_ooo(bench: &mut Bench, record: &Record) {
    let outcome = bench.send(&ooo(record));
    let expected = Outcome {
        command: Some(Command {
            beats: record.beats,
            ..Command::default()
        }),
        ooo: Some(OutOfOrder {
            good: false,
            sequence_end: record.sequence_end,
        }),
        ..Outcome::default()
    };
    assert_eq!(outcome, expected, "{record:?}");
}

/// Replays `SPAN` and returns the outcomes of its records.
fn delivered(bench: &mut Bench) -> Vec<Outcome> {
    let before = bench.outcomes.len();
    bench.replay(ReplayKind::Deliver, STREAM, SPAN);
    bench.outcomes[before..].to_vec()
}

/// MPA-041, MPA-047, DDP-024: a Send placed out of order completes only when it is replayed.
#[test]
fn send_completes_when_replayed_as_in_order() {
    let send = send_at(1, 0, 100);
    let in_order = Bench::world().send(&send);
    let expected = in_order.command.expect("a Receive entry");
    assert_eq!(expected.cqe[0] & 0xf, cqe::KIND_RECEIVE);
    let mut bench = world();
    let placed = placed_ooo(&mut bench, &send);
    let payload = Command {
        complete: true,
        queue: expected.queue,
        cqe: expected.cqe,
        ..placed
    };
    assert_eq!(
        payload, expected,
        "the payload goes where it would in order"
    );
    let outcomes = delivered(&mut bench);
    assert_eq!(outcomes.len(), 1);
    let entry = Command {
        complete: true,
        queue: expected.queue,
        cqe: expected.cqe,
        ..Command::default()
    };
    assert_eq!(
        outcomes[0].command,
        Some(entry),
        "no octets are left to move"
    );
    let event = Event {
        placed_ooo: true,
        ..in_order.event.expect("an event")
    };
    assert_eq!(outcomes[0].event, Some(event), "but for the time");
    assert!(outcomes[0].counted);
    accepted_in(&mut bench, &send_at(2, 0, 8));
}

/// RDMAP-011, DDP-024: a Read Response waits until it is in order, whatever is outstanding.
#[test]
fn read_response_is_not_placed_out_of_order() {
    let response = tagged(2, true, SINK.stag, SINK.base, 64);
    let mut bench = Bench::reading(&[(&SINK, SINK.base, 64), (&SINK, SINK.base, 0)]);
    bench.sweep();
    ignored_ooo(&mut bench, &response);
    assert!(delivered(&mut bench).is_empty());
    assert!(accepted_in(&mut bench, &response).complete);
    let empty = tagged(2, true, 0, 0, 0);
    ignored_ooo(&mut bench, &empty);
    assert!(accepted_in(&mut bench, &empty).complete);
}

/// MPA-041: a write placed out of order gives an event and no command when it is replayed.
#[test]
fn write_gives_only_an_event_when_replayed() {
    let mut bench = world();
    for index in 0..3 {
        placed_ooo(&mut bench, &write_at(SINK.base + 16 * index, 16));
    }
    let outcomes = delivered(&mut bench);
    assert_eq!(outcomes.len(), 3);
    for outcome in outcomes {
        assert_eq!(outcome.command, None);
        let event = outcome.event.expect("an event");
        assert_eq!((event.placed_octets, event.placed_ooo), (16, true));
        assert!(outcome.counted);
    }
    assert!(delivered(&mut bench).is_empty(), "once");
}

/// DDP-022: segments may be placed out of order.
#[test]
fn send_of_a_later_msn_uses_its_own_buffer() {
    let mut bench = world();
    let command = placed_ooo(&mut bench, &send_at(3, 40, 8));
    assert_eq!(command.address, 0x8_0000_0000 + 3 * 0x1000 + 40);
    accepted_in(&mut bench, &send_at(1, 0, 8));
    accepted_in(&mut bench, &send_at(2, 0, 8));
    let outcomes = delivered(&mut bench);
    let entry = outcomes[0].command.as_ref().expect("a Receive entry");
    assert_eq!((entry.cqe[1], entry.cqe[2], entry.cqe[5]), (3, 48, 3));
    // Order of messages matters only for delivery.
    let mut bench = world();
    placed_ooo(&mut bench, &send_at(2, 0, 8));
    let error = delivered(&mut bench)[0].error;
    assert_eq!(error, DdpMsn as u64, "message 1 is missing in the stream");
}

/// FPDUs that fail, with their errors in order.
fn failing() -> Vec<(Record, StreamError)> {
    let bad_crc = Record {
        crc_good: false,
        ..send_at(1, 0, 8)
    };
    let bad_marker = Record {
        marker_good: false,
        ..send_at(1, 0, 8)
    };
    let mut short = send_at(1, 0, 0);
    short.ulpdu_length = 17;
    let mut version = send_at(1, 0, 8);
    version.header[3] ^= 0x80;
    vec![
        (bad_crc, MpaCrc),
        (bad_marker, MpaMarker),
        (short, DdpShortHeader),
        (version, RdmapVersion),
        (untagged(3, true, 0, [3, 1, 0], 8), DdpQn),
        (untagged(7, true, 0, [0, 1, 0], 8), RdmapOpcode),
        (write_at(SINK.base - 1, 8), DdpBounds),
        (tagged(0, true, SINK.stag ^ 1, SINK.base, 8), DdpStag),
        (send_at(0, 0, 8), DdpMsn),
        (send_at(5, 0, 8), DdpNoBuffer),
        (send_at(1, 256, 8), DdpMo),
        (send_at(1, 250, 8), DdpTooLong),
        (untagged(4, true, 0, [0, 1, 0], 8), RdmapInvalidate),
    ]
}

/// MPA-044: an FPDU that fails out of order has no effect; in order it fails or succeeds.
#[test]
fn bad_fpdu_is_not_reported_before_it_is_in_order() {
    for (record, error) in failing() {
        let mut bench = world();
        ignored_ooo(&mut bench, &record);
        assert!(delivered(&mut bench).is_empty(), "nothing is kept of it");
        refused_in(&mut bench, &record, error);
    }
    let mut bench = world();
    let damaged = Record {
        crc_good: false,
        ..send_at(1, 0, 8)
    };
    ignored_ooo(&mut bench, &damaged);
    accepted_in(&mut bench, &send_at(1, 0, 8));
}

/// MPA2-006: a zero-length FPDU has no effect out of order, and is valid as the first in order.
#[test]
fn zero_length_fpdu_is_not_placed_out_of_order() {
    let mut zero = send_at(1, 0, 0);
    zero.ulpdu_length = 0;
    let mut bench = world();
    ignored_ooo(&mut bench, &zero);
    placed_ooo(&mut bench, &send_at(1, 0, 8));
    let first = bench.send(&zero);
    assert_eq!((first.error, first.counted), (0, true));
    assert_eq!(delivered(&mut bench)[0].error, 0);
    refused_in(&mut bench, &zero, MpaLocalCatastrophic);
}

#[test]
fn mpa_044_an_unproven_start_needs_a_marker() {
    let mut bench = world();
    let mut record = send_at(1, 0, 8);
    record.unproven = true;
    ignored_ooo(&mut bench, &record);
    record.marker_seen = true;
    placed_ooo(&mut bench, &record);
}

/// MPA-045: FPDUs are chained by the lengths of good ones.
#[test]
fn no_fpdu_is_placed_after_a_bad_one_of_its_job() {
    let mut bench = world();
    let part = |index: u32| Record {
        sequence: 0xffff_ffe0_u32.wrapping_add(32 * index),
        sequence_end: 0xffff_ffe0_u32.wrapping_add(32 * (index + 1)),
        ..write_at(SINK.base, 8)
    };
    placed_ooo(&mut bench, &part(0));
    let bad = Record {
        crc_good: false,
        ..part(1)
    };
    ignored_ooo(&mut bench, &bad);
    ignored_ooo(&mut bench, &part(2));
    ignored_ooo(&mut bench, &part(3));
    // Not contiguous: of another job.
    placed_ooo(&mut bench, &part(5));
    placed_ooo(&mut bench, &part(6));
    // The bad one again, now good.
    placed_ooo(&mut bench, &part(1));
    placed_ooo(&mut bench, &part(2));
    let sequences = delivered(&mut bench)
        .into_iter()
        .map(|outcome| outcome.event.expect("an event").sequence);
    let expected = [0, 5, 6, 1, 2].map(|index| part(index).sequence);
    assert!(sequences.eq(expected), "in the order of their coming");
}

/// RDMAP-014: an invalidation waits until the Send is in order.
#[test]
fn send_with_invalidate_invalidates_when_replayed() {
    let mut bench = world();
    let send = untagged(4, true, SINK.stag, [0, 1, 0], 8);
    placed_ooo(&mut bench, &send);
    accepted_in(&mut bench, &write_at(SINK.base, 8));
    let outcomes = delivered(&mut bench);
    let entry = outcomes[0].command.as_ref().expect("a Receive entry");
    assert_eq!(entry.cqe[3], SINK.stag);
    refused_in(&mut bench, &write_at(SINK.base, 8), DdpStag);
}

/// DDP-045: a record that fails when it is replayed is an error of the stream, once.
#[test]
fn failing_replay_stops_the_connection_once() {
    let mut bench = world();
    let write = write_at(SINK.base, 8);
    placed_ooo(&mut bench, &write);
    placed_ooo(&mut bench, &write);
    bench.write(REGION, u64::from(SINK.number), &region_words(&SINK, false));
    bench.drain();
    let outcomes = delivered(&mut bench);
    assert_eq!(outcomes[0].error, DdpStag as u64);
    assert_eq!(outcomes[0].stopped, Some(STREAM));
    let command = outcomes[0].command.as_ref().expect("an Error entry");
    assert_eq!((command.kind, command.beats), (PlaceKind::Discard, 0));
    assert_eq!(command.cqe[0] & 0xf, cqe::KIND_ERROR);
    assert_eq!(outcomes[1], Outcome::default(), "silence");
    // In error nothing is placed out of order either.
    ignored_ooo(&mut bench, &write);
}

/// MPA-055: FPDU starts that disagree are a marker error; silent after another error.
#[test]
fn disagreement_of_starts_is_a_marker_error() {
    let mut bench = world();
    bench.fault(STREAM, 0x1234_5678);
    let outcome = bench.outcomes.last().expect("an outcome").clone();
    assert_eq!(outcome.error, MpaMarker as u64);
    assert_eq!(outcome.stopped, Some(STREAM));
    assert!(!outcome.counted);
    let event = outcome.event.expect("an event");
    assert_eq!((event.opcode, event.opcode_valid), (0, false));
    let command = outcome.command.expect("an Error entry");
    let (layer, error_type, code) = MpaMarker.terminate();
    let word_0 = cqe::KIND_ERROR | (STREAM as u32) << 16;
    let word_1 = layer | error_type << 4 | code << 8;
    let sequence = 0x1234_5678;
    assert_eq!(
        command.cqe,
        [word_0, word_1, sequence, 0, 0, 0, 0, cqe::PHASE]
    );
    bench.fault(STREAM, 7);
    assert_eq!(bench.outcomes.last(), Some(&Outcome::default()));
}

/// MPA-041: an FPDU out of order needs a slot for its record.
#[test]
fn nothing_is_placed_without_a_free_slot() {
    let mut bench = world();
    for index in 0..=SLOTS {
        let mut record = ooo(&write_at(SINK.base, 8));
        record.span = index % 3;
        record.sequence = index as u32;
        bench.records.push(record);
    }
    bench.drain();
    let good = |outcome: &Outcome| outcome.ooo.is_some_and(|ooo| ooo.good);
    let placed = bench.outcomes.iter().filter(|outcome| good(outcome));
    assert_eq!(placed.count() as u64, SLOTS);
    bench.replay(ReplayKind::Forget, STREAM, 1);
    placed_ooo(&mut bench, &write_at(SINK.base, 8));
    let before = bench.outcomes.len();
    bench.replay(ReplayKind::Deliver, STREAM, 0);
    assert_eq!(bench.outcomes.len() - before, 171);
    bench.replay(ReplayKind::Forget, STREAM, 2);
    assert_eq!((bench.model.kept(), bench.answered), (1, 3));
}

/// A replay costs MPA no more cycles than its records.
#[test]
fn replay_progresses_while_mpa_is_busy() {
    let mut bench = world();
    for _ in 0..30 {
        bench.records.push(ooo(&write_at(SINK.base, 8)));
    }
    bench.drain();
    for _ in 0..100 {
        bench.records.push(write_at(SINK.base, 8));
    }
    let start = (bench.cycle(), bench.outcomes.len());
    bench.request_replay(ReplayKind::Deliver, STREAM, SPAN);
    while bench.answered == 0 {
        bench.step();
    }
    assert!(
        bench.records.waiting().len() > 30,
        "MPA's records do not go first"
    );
    while bench.outcomes.len() < start.1 + 130 {
        bench.step();
    }
    let cycles = bench.cycle() - start.0;
    assert!(cycles <= 6 * 130 + 12, "130 records took {cycles} cycles");
    bench.drain();
}
