//! Completion queues without room. The model tests every output; here is what the rules are.
use super::*;
use crate::receive::ddp::tests::model::{Outcome, Report};
use rnic_abi::errors::StreamError::{self, *};
use rnic_abi::tables::*;

/// The queue of `STREAM` in these tests; its siblings use queue 0.
const QUEUE_9: u64 = 9;

/// A world in which `STREAM` uses a completion queue of two entries.
fn small() -> Bench {
    let mut bench = Bench::world();
    bench.set_completion_queue(QUEUE_9, 1);
    bench.write(DDP, STREAM, &[PD | 1 << 16 | (QUEUE_9 as u32) << 17]);
    bench.drain();
    bench
}

/// The outcome of `record` without room: nothing is placed, no entry, the stream stopped.
fn lost(bench: &mut Bench, record: &Record, error: StreamError) {
    let outcome = bench.send(record);
    let dropped = Command {
        beats: record.beats,
        ..Command::default()
    };
    assert_eq!(outcome.error, error as u64);
    assert_eq!(outcome.command, Some(dropped));
    assert_eq!(outcome.stopped, Some(record.connection));
    assert_eq!(outcome.report, Some(Report::Lost(QUEUE_9)));
    let next = bench.send(&sink_write());
    assert!(next.event.is_none() && next.report.is_none(), "silence");
}

/// The words 7 of two Sends that fill the queue.
fn fill(bench: &mut Bench) -> [u32; 2] {
    [1, 2].map(|msn| {
        let command = accepted_in(bench, &send_at(msn, 0, 5));
        assert_eq!((command.complete, command.queue), (true, QUEUE_9));
        command.cqe[7]
    })
}

#[test]
fn a_message_without_room_is_refused_and_a_write_is_not() {
    let mut bench = small();
    assert_eq!(fill(&mut bench), [cqe::PHASE, cqe::PHASE | 1]);
    // A segment that completes nothing needs no room.
    accepted_in(&mut bench, &sink_write());
    let part = untagged(3, false, 0, [0, 3, 0], 5);
    assert!(!accepted_in(&mut bench, &part).complete);
    lost(&mut bench, &send_at(3, 5, 5), CqOverflow);
}

#[test]
fn room_comes_back_with_the_driver() {
    let mut bench = small();
    fill(&mut bench);
    bench.consume(QUEUE_9, 1);
    assert_eq!(accepted_in(&mut bench, &send_at(3, 0, 5)).cqe[7], 2);
    lost(&mut bench, &send_at(4, 0, 5), CqOverflow);
    // It is set up anew, and the stream with it.
    bench.set_completion_queue(QUEUE_9, 1);
    bench.write(DDP, STREAM, &[PD | 1 << 16 | (QUEUE_9 as u32) << 17]);
    let command = accepted_in(&mut bench, &send_at(4, 0, 5));
    assert_eq!(command.cqe[7], cqe::PHASE);
}

#[test]
fn other_queues_do_not_notice() {
    let mut bench = small();
    bench.open(SIBLING, 0, 256, 1, 1, 2);
    bench.buffer(257, 0x100, 64);
    fill(&mut bench);
    lost(&mut bench, &send_at(3, 0, 5), CqOverflow);
    let send = Record {
        connection: SIBLING,
        ..send_at(1, 0, 5)
    };
    let command = accepted_in(&mut bench, &send);
    assert_eq!((command.queue, command.cqe[7]), (0, cqe::PHASE));
}

/// Any other error is reported first, as what it is; without room in no entry.
#[test]
fn another_error_without_room_stops_its_stream() {
    let bad_crc = Record {
        crc_good: false,
        ..send_at(3, 0, 5)
    };
    let beyond = write_at(SINK.base + SINK.octets, 1);
    for (record, error) in [
        (bad_crc, MpaCrc),
        (beyond, DdpBounds),
        (send_at(2, 0, 5), DdpMsn),
        (send_at(3, 0, 257), DdpTooLong),
        (tagged(2, true, SINK.stag, SINK.base, 8), RdmapReadResponse),
    ] {
        let mut bench = small();
        fill(&mut bench);
        lost(&mut bench, &record, error);
    }
}

/// The last segment of a Read Response needs room, the others do not.
#[test]
fn a_read_without_room_does_not_complete() {
    let mut bench = small();
    bench.post(&[(&SINK, SINK.base, 16)]);
    fill(&mut bench);
    accepted_in(&mut bench, &tagged(2, false, SINK.stag, SINK.base, 8));
    lost(
        &mut bench,
        &tagged(2, true, SINK.stag, SINK.base + 8, 8),
        CqOverflow,
    );
}

/// The first pass over a long FPDU calls for no entry, unless it fails.
#[test]
fn a_check_needs_no_room() {
    let mut bench = small();
    fill(&mut bench);
    let check = Record {
        kind: crate::messages::FpduKind::Check,
        beats: 0,
        ..send_at(3, 0, 5)
    };
    assert_eq!(bench.send(&check), Outcome::default());
    let bad = Record {
        crc_good: false,
        ..check
    };
    let outcome = bench.send(&bad);
    assert_eq!((outcome.error, outcome.command), (MpaCrc as u64, None));
    assert_eq!(outcome.report, Some(Report::Lost(QUEUE_9)));
}

/// A queue that was never set up has no room.
#[test]
fn a_queue_that_is_off_is_full() {
    let mut bench = small();
    bench.set_completion_queue(QUEUE_9, 0);
    lost(&mut bench, &send_at(1, 0, 5), CqOverflow);
}
