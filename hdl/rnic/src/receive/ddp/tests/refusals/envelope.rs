//! Rows from CRC to opcode, and what holds for every FPDU.
use super::super::bench::Bench;
use super::super::model::{Command, Outcome, Record};
use super::super::world::*;
use super::*;
use crate::messages::*;
use rnic_abi::cqe;
use rnic_abi::errors::StreamError::*;
use rnic_abi::tables::*;

#[test]
fn mpa_errors_crc_marker_and_zero_length() {
    let good = write_at(SINK.base, 8);
    refused(
        &Record {
            crc_good: false,
            ..good.clone()
        },
        MpaCrc,
    );
    refused(
        &Record {
            crc_good: false,
            marker_good: false,
            ..good.clone()
        },
        MpaCrc,
    );
    refused(
        &Record {
            marker_good: false,
            ..good.clone()
        },
        MpaMarker,
    );
    let mut bench = Bench::world();
    accepted_in(&mut bench, &good);
    refused_in(
        &mut bench,
        &Record {
            ulpdu_length: 0,
            ..good
        },
        MpaLocalCatastrophic,
    );
}

/// MPA2-006: a zero-length FPDU is valid as the first of a stream.
#[test]
fn zero_length_fpdu_passes_only_as_the_first() {
    let mut bench = Bench::world();
    let ready = Record {
        ulpdu_length: 0,
        beats: 1,
        ..write_at(0, 0)
    };
    let command = accepted_in(&mut bench, &ready);
    assert_eq!(
        command,
        Command {
            beats: 1,
            ..Command::default()
        }
    );
    refused_in(&mut bench, &ready, MpaLocalCatastrophic);
    // A new stream on the same connection starts anew.
    bench.write(DDP, STREAM, &[PD | 1 << 16]);
    accepted_in(&mut bench, &ready);
}

#[test]
fn ulpdu_shorter_than_its_header_is_refused() {
    let short = |record: Record, ulpdu_length| Record {
        ulpdu_length,
        ..record
    };
    for ulpdu_length in [1, 2, 13] {
        refused(&short(write_at(SINK.base, 0), ulpdu_length), DdpShortHeader);
    }
    for ulpdu_length in [1, 14, 17] {
        refused(&short(send_at(1, 0, 0), ulpdu_length), DdpShortHeader);
    }
    accepted(&short(write_at(SINK.base, 0), 14));
    accepted(&short(send_at(1, 0, 0), 18));
}

#[test]
fn ddp_008_009_rdmap_004_versions_follow_the_stream() {
    let with = |record: &Record, ddp: u8, rdmap: u8, connection| {
        let mut record = Record {
            connection,
            ..record.clone()
        };
        record.header[2] = record.header[2] & 0xfc | ddp;
        record.header[3] = record.header[3] & 0x3f | rdmap << 6;
        record
    };
    let (write, send) = (write_at(SINK.base, 8), send_at(1, 0, 8));
    for version in [0, 2, 3] {
        refused(&with(&write, version, 1, STREAM), DdpTaggedVersion);
        refused(&with(&send, version, 1, STREAM), DdpUntaggedVersion);
        refused(&with(&write, 1, version, STREAM), RdmapVersion);
    }
    accepted(&with(&write, 0, 0, OLD));
    refused(&with(&write, 1, 1, OLD), DdpTaggedVersion);
    refused(&with(&write, 0, 1, OLD), RdmapVersion);
}

#[test]
fn ddp_007_reserved_control_bits_are_not_checked() {
    let mut record = write_at(SINK.base, 8);
    record.header[2] |= 0x3c;
    record.header[3] |= 0x30;
    assert_eq!(accepted(&record).kind, PlaceKind::Write);
}

#[test]
fn rdmap_003_005_opcodes_fit_their_buffer_model_and_queue() {
    for opcode in 0..16 {
        let write = tagged(opcode, false, SINK.stag, SINK.base, 8);
        anew_reading(16, |bench| match opcode {
            0 | 2 => assert_eq!(accepted_in(bench, &write).kind, PlaceKind::Write),
            _ => refused_in(bench, &write, RdmapOpcode),
        });
        for qn in 0..3 {
            let send = untagged(opcode, false, 0, [qn, 1, 0], 8);
            match (qn, opcode) {
                (0, 3..=6) | (1, 1) | (2, 7) => {
                    assert_eq!(accepted(&send).skip_words, 5);
                }
                _ => refused(&send, RdmapOpcode),
            }
        }
    }
}

/// RDMAP-016: what a Terminate repeats of the segment.
#[test]
fn rdmap_016_an_error_entry_repeats_the_header() {
    let header = |record: &Record| {
        let entry = Bench::alone(record).command.expect("an entry").cqe;
        entry[3..7].to_vec()
    };
    let to = 0x0123_4567_89ab_cdef;
    assert_eq!(
        header(&tagged(0, true, 0xdead_beef, to, 8)),
        [0xdead_beef, 0x0123_4567, 0x89ab_cdef, 0]
    );
    // The queue is unknown, and reported whole.
    assert_eq!(
        header(&untagged(4, true, 0x1111_2222, [0x8000_0003, 9, 70], 8)),
        [0x1111_2222, 0x8000_0003, 9, 70]
    );
    let short = Record {
        ulpdu_length: 17,
        ..untagged(4, true, 0x1111_2222, [0, 9, 70], 8)
    };
    assert_eq!(header(&short), [0; 4]);
}

#[test]
fn error_entry_shows_opcode_and_queue_if_known() {
    let word_0 = |record: &Record| Bench::alone(record).command.expect("an entry").cqe[0];
    let head = cqe::KIND_ERROR | (STREAM as u32) << 16;
    assert_eq!(
        word_0(&untagged(7, true, 0, [2, 9, 0], 8)),
        head | 7 << 4 | 2 << 8 | 0b01_01_10 << 10
    );
    assert_eq!(
        word_0(&tagged(2, true, 0, 0, 8)),
        head | 2 << 4 | 0b01_01_11 << 10
    );
    let crc = Record {
        crc_good: false,
        ..untagged(7, true, 0, [2, 1, 0], 8)
    };
    assert_eq!(word_0(&crc), head);
}

#[test]
fn long_fpdu_is_checked_twice_and_reported_once() {
    let mut bench = Bench::world();
    let place = Record {
        kind: FpduKind::Place,
        ..send_at(1, 0, 100)
    };
    let check = Record {
        kind: FpduKind::Check,
        ..place.clone()
    };
    let checked = bench.send(&check);
    let validated = Outcome {
        first: Some(checked.first.expect("it is the first one")),
        ..Outcome::default()
    };
    assert_eq!(checked, validated, "a good check changes nothing else");
    assert!(bench.send(&place).command.expect("a command").complete);
    let bad = Record {
        crc_good: false,
        ..check
    };
    let outcome = bench.send(&bad);
    let command = outcome.command.expect("an Error entry");
    assert_eq!(
        (command.kind, command.beats, command.complete),
        (PlaceKind::Discard, 0, true)
    );
    assert!(outcome.event.is_some() && !outcome.counted);
    let silence = bench.send(&place).command.expect("beats to take out");
    assert_eq!(
        (silence.kind, silence.complete),
        (PlaceKind::Discard, false)
    );
    assert_eq!(bench.send(&bad), Default::default());
}

#[test]
fn host_frame_passes_while_a_connection_is_in_error() {
    let mut bench = Bench::world();
    bench.send(&Record {
        crc_good: false,
        ..send_at(1, 0, 8)
    });
    let frame = Record {
        kind: FpduKind::Host,
        ulpdu_length: 60,
        ..send_at(1, 0, 8)
    };
    let command = bench.send(&frame).command.expect("a frame to place");
    assert_eq!(
        (command.kind, command.octets, command.skip_words),
        (PlaceKind::Host, 60, 0)
    );
    assert_eq!(command.cqe, [0x00aa_0155, 0, 0, 0, 0, 0, 0, 0]);
    assert!(!command.complete);
}
