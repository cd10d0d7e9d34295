//! One test for each row of the table of tests in ARCHITECTURE.md, with neighbours that must pass.
//! Every send also compares all outputs of the room with the model.
mod completion;
mod envelope;
mod reads;
mod tagged;
mod untagged;

use super::bench::Bench;
use super::model::{Command, Record};
use super::world::*;
use crate::messages::PlaceKind;
use rnic_abi::cqe;
use rnic_abi::errors::StreamError;
use std::cell::RefCell;

thread_local! {
    /// One room for all cases of a test: sweeping a new one takes longer than a case.
    static ROOM: RefCell<Option<Bench>> = const { RefCell::new(None) };
}

/// What `case` finds in a world where everything is as at the beginning.
fn anew<T>(case: impl FnOnce(&mut Bench) -> T) -> T {
    ROOM.with_borrow_mut(|room| {
        let bench = room.get_or_insert_with(Bench::new);
        bench.furnish();
        case(bench)
    })
}

/// The same where `STREAM` has posted a read into the first octets of the sink.
fn anew_reading<T>(octets: u32, case: impl FnOnce(&mut Bench) -> T) -> T {
    anew(|bench| {
        bench.post(&[(&SINK, SINK.base, octets)]);
        case(bench)
    })
}

/// `record` is refused with `error` in a fresh world: one Error entry, nothing placed, the
/// connection stopped (DDP-045), and the next FPDU of the stream is dropped silently.
pub fn refused(record: &Record, error: StreamError) {
    anew(|bench| refused_in(bench, record, error));
}

pub fn refused_in(bench: &mut Bench, record: &Record, error: StreamError) {
    let outcome = bench.send(record);
    assert_eq!(outcome.error, error as u64, "{record:?}");
    assert_eq!(outcome.stopped, Some(record.connection));
    let command = outcome.command.expect("an Error entry is due");
    assert_eq!(command.kind, PlaceKind::Discard);
    assert!(command.complete);
    let (layer, error_type, code) = error.terminate();
    assert_eq!(command.cqe[0] & 0xf, cqe::KIND_ERROR);
    assert_eq!(command.cqe[0] >> 16, record.connection as u32);
    assert_eq!(command.cqe[1] & 0xffff, layer | error_type << 4 | code << 8);
    assert_eq!(command.cqe[1] >> 16, record.ulpdu_length as u32);
    assert_eq!(command.cqe[2], record.sequence);
    let mut next = sink_write();
    next.connection = record.connection;
    let silence = bench.send(&next);
    let dropped = Command {
        beats: next.beats,
        ..Command::default()
    };
    assert_eq!(silence.command, Some(dropped));
    assert!(silence.event.is_none() && silence.stopped.is_none() && !silence.counted);
}

/// `record` is accepted in a fresh world; returns its command.
pub fn accepted(record: &Record) -> Command {
    anew(|bench| accepted_in(bench, record))
}

pub fn accepted_in(bench: &mut Bench, record: &Record) -> Command {
    let outcome = bench.send(record);
    assert_eq!(outcome.error, 0, "{record:?}");
    assert!(outcome.counted && outcome.stopped.is_none());
    outcome.command.expect("beats to take out")
}

pub fn write_at(to: u64, payload: u64) -> Record {
    tagged(0, true, SINK.stag, to, payload)
}

pub fn send_at(msn: u32, mo: u32, payload: u64) -> Record {
    untagged(3, true, 0, [0, msn, mo], payload)
}
