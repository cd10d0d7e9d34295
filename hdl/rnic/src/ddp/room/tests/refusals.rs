//! One test for each row of the table of tests in ARCHITECTURE.md, with the rows' neighbours that
//! must pass. Every send also compares the room with the model in all it says.
use super::bench::Bench;
use super::model::{Command, Record};
use super::world::*;
use crate::messages::*;
use rnic_abi::cqe;
use rnic_abi::errors::StreamError::{self, *};
use rnic_abi::tables::{self, *};

/// `record` is refused with `error` in a fresh world: one Error entry, nothing placed, the
/// connection stopped (DDP-045), and the next FPDU of the stream is dropped in silence.
fn refused(record: &Record, error: StreamError) {
    refused_in(&mut Bench::world(), record, error);
}

fn refused_in(bench: &mut Bench, record: &Record, error: StreamError) {
    let outcome = bench.send(record);
    assert_eq!(outcome.error, error as u64, "{record:?}");
    assert_eq!(outcome.stopped, Some(record.connection));
    let command = outcome.command.expect("an Error entry is due");
    assert_eq!(command.kind, PLACE_DISCARD);
    assert!(command.complete);
    let (layer, error_type, code) = error.terminate();
    assert_eq!(command.cqe[0] & 0xf, cqe::KIND_ERROR);
    assert_eq!(command.cqe[0] >> 16, record.connection as u32);
    assert_eq!(command.cqe[1] & 0xffff, layer | error_type << 4 | code << 8);
    assert_eq!(command.cqe[1] >> 16, record.ulpdu_length as u32);
    assert_eq!(
        command.cqe[2..],
        [record.sequence, 0, record.sequence_end, 0]
    );
    let mut next = tagged(0, true, SINK.stag, SINK.base, 8);
    next.connection = record.connection;
    let silence = bench.send(&next);
    let dropped = Command {
        beats: next.beats,
        ..Command::default()
    };
    assert_eq!(silence.command, Some(dropped));
    assert!(silence.event.is_none() && silence.stopped.is_none() && !silence.counted);
}

/// `record` is accepted in a fresh world; what is to be done with it.
fn accepted(record: &Record) -> Command {
    accepted_in(&mut Bench::world(), record)
}

fn accepted_in(bench: &mut Bench, record: &Record) -> Command {
    let outcome = bench.send(record);
    assert_eq!(outcome.error, 0, "{record:?}");
    assert!(outcome.counted && outcome.stopped.is_none());
    outcome.command.expect("beats to take out")
}

fn write_at(to: u64, payload: u64) -> Record {
    tagged(0, true, SINK.stag, to, payload)
}

fn send_at(msn: u32, mo: u32, payload: u64) -> Record {
    untagged(3, true, 0, [0, msn, mo], payload)
}

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
        MpaZeroLength,
    );
}

#[test]
fn mpa2_006_zero_length_fpdu_passes_as_the_first_of_a_stream_only() {
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
    refused_in(&mut bench, &ready, MpaZeroLength);
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
    assert_eq!(accepted(&record).kind, PLACE_WRITE);
}

#[test]
fn ddp_036_unknown_or_closed_queue_is_refused() {
    for qn in [3, 4, 0x100, 0x8000_0000] {
        refused(&untagged(3, true, 0, [qn, 1, 0], 8), DdpQn);
    }
    let mut bench = Bench::world();
    bench.write(QUEUE, STREAM << 2, &[0, 1]);
    refused_in(&mut bench, &send_at(1, 0, 8), DdpQn);
    refused(
        &Record {
            connection: SIBLING,
            ..send_at(1, 0, 8)
        },
        DdpQn,
    );
}

#[test]
fn rdmap_003_005_opcodes_fit_their_buffer_model_and_queue() {
    for opcode in 0..16 {
        let write = tagged(opcode, false, SINK.stag, SINK.base, 8);
        match opcode {
            0 | 2 => assert_eq!(accepted(&write).kind, PLACE_WRITE),
            _ => refused(&write, RdmapOpcode),
        }
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

#[test]
fn ddp_042_unknown_stale_or_invalid_stag_is_refused() {
    let stag = |stag| tagged(0, true, stag, SINK.base, 8);
    refused(&stag(SINK.stag ^ 1), DdpStag);
    refused(&stag(SINK.stag ^ 0x100), DdpStag);
    refused(&stag(0), DdpStag);
    let mut bench = Bench::world();
    bench.write(
        tables::REGION,
        u64::from(SINK.number),
        &region_words(&SINK, false),
    );
    refused_in(&mut bench, &stag(SINK.stag), DdpStag);
    let mut bench = Bench::world();
    bench.write(
        STAG,
        stag_slot(SINK.stag, 2),
        &[SINK.number, SINK.stag >> 8],
    );
    refused_in(&mut bench, &stag(SINK.stag), DdpStag);
}

#[test]
fn ddp_042_every_way_of_the_lookup_finds_an_stag() {
    for way in 0..4 {
        let mut bench = Bench::world();
        let region = Region {
            stag: 0x0102_0300 + way as u32,
            number: 1000,
            ..SINK
        };
        bench.register(&region, way);
        let record = tagged(0, true, region.stag, region.base, 8);
        assert_eq!(accepted_in(&mut bench, &record).kind, PLACE_WRITE);
    }
}

#[test]
fn ddp_019_tagged_segment_without_payload_is_not_checked() {
    let command = accepted(&tagged(0, true, 0xdead_beef, u64::MAX, 0));
    assert_eq!((command.kind, command.complete), (PLACE_DISCARD, false));
    let response = accepted(&tagged(2, true, 0xdead_beef, u64::MAX, 0));
    assert_eq!((response.kind, response.complete), (PLACE_DISCARD, true));
    assert_eq!(response.cqe[1..4], [0xdead_beef, u32::MAX, u32::MAX]);
}

#[test]
fn ddp_047_region_of_another_pd_is_refused() {
    refused(
        &Record {
            connection: STRANGER,
            ..write_at(SINK.base, 8)
        },
        DdpAssociation,
    );
    accepted(&Record {
        connection: SIBLING,
        ..write_at(SINK.base, 8)
    });
}

#[test]
fn ddp_048_049_bound_region_serves_its_stream_alone() {
    let bound = Region {
        rights: SINK.rights | RIGHT_STREAM_BOUND,
        ..SINK
    };
    let world = || {
        let mut bench = Bench::world();
        bench.register(&bound, 2);
        bench
    };
    accepted_in(&mut world(), &write_at(bound.base, 8));
    let sibling = Record {
        connection: SIBLING,
        ..write_at(bound.base, 8)
    };
    refused_in(&mut world(), &sibling, DdpAssociation);
    // Bound or not, the Protection Domain must be the stream's.
    let mut bench = Bench::world();
    bench.register(&Region { pd: 1, ..bound }, 2);
    refused_in(&mut bench, &write_at(bound.base, 8), DdpAssociation);
}

#[test]
fn rdmap_010_ddp_052_every_set_of_rights_admits_what_it_names() {
    for rights in 0..32 {
        for opcode in [0, 2] {
            let mut bench = Bench::world();
            bench.register(&Region { rights, ..SINK }, 2);
            let record = tagged(opcode, true, SINK.stag, SINK.base, 8);
            let needed = if opcode == 0 {
                RIGHT_REMOTE_WRITE
            } else {
                RIGHT_READ_SINK
            };
            if rights & needed == 0 {
                refused_in(&mut bench, &record, RdmapAccess);
            } else {
                accepted_in(&mut bench, &record);
            }
        }
    }
}

#[test]
fn ddp_043_bounds_are_exact_to_the_octet() {
    let (base, octets) = (SINK.base, SINK.octets);
    let end = base + octets;
    refused(&write_at(base - 1, 1), DdpBounds);
    refused(&write_at(base - 1, octets), DdpBounds);
    refused(&write_at(base, octets + 1), DdpBounds);
    refused(&write_at(end - 1, 2), DdpBounds);
    refused(&write_at(end, 1), DdpBounds);
    refused(&write_at(0, 1), DdpBounds);
    refused(&write_at(base + (1 << 32), 1), DdpBounds);
    refused(&write_at(base ^ (1 << 63), 1), DdpBounds);
    for (to, payload) in [(base, octets), (base, 1), (end - 1, 1), (end - 7, 7)] {
        let command = accepted(&write_at(to, payload));
        assert_eq!(command.kind, PLACE_WRITE);
        assert_eq!(command.address, to.wrapping_add(SINK.bus_offset));
        assert_eq!((command.octets, command.skip_words), (payload, 4));
        assert!(!command.complete, "RDMAP-015: a Write raises no completion");
    }
}

#[test]
fn ddp_044_to_plus_length_must_stay_below_2_to_the_64() {
    let top = Region {
        base: u64::MAX - 63,
        octets: 64,
        ..SINK
    };
    let world = || {
        let mut bench = Bench::world();
        bench.register(&top, 2);
        bench
    };
    refused_in(&mut world(), &write_at(u64::MAX - 15, 32), DdpWrap);
    refused_in(&mut world(), &write_at(u64::MAX, 1), DdpWrap);
    refused_in(&mut world(), &write_at(u64::MAX - 63, 64), DdpWrap);
    accepted_in(&mut world(), &write_at(u64::MAX - 63, 63));
    accepted_in(&mut world(), &write_at(u64::MAX - 1, 1));
    let all = Region {
        base: 0,
        octets: (1 << 48) - 1,
        ..SINK
    };
    let mut bench = Bench::world();
    bench.register(&all, 2);
    accepted_in(&mut bench, &write_at((1 << 48) - 2, 1));
    refused_in(&mut bench, &write_at((1 << 48) - 1, 1), DdpBounds);
}

#[test]
fn ddp_037_041_msn_must_be_the_expected_one_and_posted() {
    refused(&send_at(0, 0, 8), DdpMsn);
    refused(&send_at(0x8000_0001, 0, 8), DdpMsn);
    refused(&send_at(2, 0, 8), DdpMsn);
    refused(&send_at(4, 0, 8), DdpMsn);
    refused(&send_at(5, 0, 8), DdpNoBuffer);
    refused(&send_at(0x1_0001, 0, 8), DdpNoBuffer);
    refused(&send_at(0x8000_0000, 0, 8), DdpNoBuffer);
    let mut bench = Bench::world();
    for msn in 1..5 {
        let command = accepted_in(&mut bench, &send_at(msn, 0, 8));
        assert_eq!(command.cqe[5], msn, "pool entry first + msn mod entries");
    }
    refused_in(&mut bench, &send_at(5, 0, 8), DdpNoBuffer);
    let mut bench = Bench::world();
    accepted_in(&mut bench, &send_at(1, 0, 8));
    refused_in(&mut bench, &send_at(1, 0, 8), DdpMsn);
}

#[test]
fn ddp_014_041_msn_wraps_from_all_ones_to_zero() {
    let mut bench = Bench::world();
    bench.open(STREAM, 0, 2040, 3, 0xffff_fffe, 8);
    for (msn, entry) in [
        (0xffff_fffe, 2046),
        (0xffff_ffff, 2047),
        (0, 2040),
        (1, 2041),
    ] {
        bench.buffer(entry, 0xffff_ffff_ffff_f000, 512);
        let command = accepted_in(&mut bench, &send_at(msn, 0, 512));
        assert_eq!((command.cqe[1], command.cqe[5]), (msn, entry as u32));
    }
    refused_in(&mut bench, &send_at(0xffff_ffff, 0, 8), DdpMsn);
}

#[test]
fn ddp_039_040_mo_and_end_stay_in_the_buffer() {
    refused(&send_at(1, 256, 1), DdpMo);
    refused(&send_at(1, 0xffff_ffff, 1), DdpMo);
    refused(&send_at(1, 257, 0), DdpMo);
    refused(&send_at(1, 0, 257), DdpTooLong);
    refused(&send_at(1, 255, 2), DdpTooLong);
    for (mo, payload) in [(0, 256), (255, 1), (256, 0), (0, 0)] {
        let command = accepted(&send_at(1, mo, payload));
        assert_eq!(
            command.cqe[2],
            mo + payload as u32,
            "DDP-025: MO plus payload"
        );
    }
    let mut bench = Bench::world();
    bench.buffer(1, 0x10, u32::MAX);
    refused_in(&mut bench, &send_at(1, u32::MAX - 1, 2), DdpTooLong);
}

#[test]
fn ddp_018_zero_length_send_completes_with_length_zero() {
    let command = accepted(&send_at(1, 0, 0));
    let word_0 = cqe::KIND_RECEIVE | 3 << 4 | (STREAM as u32) << 16;
    assert_eq!(command.cqe, [word_0, 1, 0, 0, 0x0123, 1]);
    assert_eq!(command.kind, PLACE_DISCARD);
}

#[test]
fn ddp_024_message_advances_with_its_last_segment_only() {
    let mut bench = Bench::world();
    let first = accepted_in(&mut bench, &untagged(3, false, 0, [0, 1, 0], 100));
    assert_eq!(
        (first.kind, first.complete, first.octets),
        (PLACE_WRITE, false, 100)
    );
    let last = accepted_in(&mut bench, &untagged(3, true, 0, [0, 1, 100], 50));
    assert_eq!((last.complete, last.cqe[2]), (true, 150));
    assert_eq!(last.address, first.address + 100);
    accepted_in(&mut bench, &send_at(2, 0, 8));
}

#[test]
fn rdmap_006_014_send_with_invalidate_needs_a_valid_stag_of_the_stream() {
    let invalidate = |opcode, last, stag| untagged(opcode, last, stag, [0, 1, 0], 8);
    for opcode in [4, 6] {
        refused(&invalidate(opcode, true, SINK.stag ^ 1), RdmapInvalidate);
        refused(
            &invalidate(opcode, true, SINK.stag ^ 0x8000_0000),
            RdmapInvalidate,
        );
        for change in [
            Region {
                rights: SINK.rights & !RIGHT_REMOTE_INVALIDATE,
                ..SINK
            },
            Region { pd: 1, ..SINK },
            Region {
                rights: 0x1f,
                connection: SIBLING,
                ..SINK
            },
        ] {
            let mut bench = Bench::world();
            bench.register(&change, 2);
            refused_in(
                &mut bench,
                &invalidate(opcode, true, SINK.stag),
                RdmapInvalidate,
            );
        }
        // Only the last segment invalidates.
        accepted(&invalidate(opcode, false, 0));
        let mut bench = Bench::world();
        let command = accepted_in(&mut bench, &invalidate(opcode, true, SINK.stag));
        assert_eq!(command.cqe[3], SINK.stag);
        refused_in(&mut bench, &write_at(SINK.base, 8), DdpStag);
    }
    // The other Sends ignore the field.
    assert_eq!(accepted(&invalidate(3, true, SINK.stag)).cqe[3], 0);
    assert_eq!(accepted(&invalidate(5, true, 1)).cqe[3], 0);
}

#[test]
fn read_response_completes_with_stag_and_end() {
    let command = accepted(&tagged(2, true, SINK.stag, SINK.base + 9, 16));
    let word_0 = cqe::KIND_READ_RESPONSE | 2 << 4 | (STREAM as u32) << 16;
    let end = SINK.base + 25;
    let words = [word_0, SINK.stag, end as u32, (end >> 32) as u32, 0x0123, 0];
    assert_eq!((command.complete, command.cqe), (true, words));
    assert!(!accepted(&tagged(2, false, SINK.stag, SINK.base, 16)).complete);
}

#[test]
fn error_entry_shows_opcode_and_queue_as_received_where_they_are_known() {
    let word_0 = |record: &Record| Bench::alone(record).command.expect("an entry").cqe[0];
    let head = cqe::KIND_ERROR | (STREAM as u32) << 16;
    assert_eq!(
        word_0(&untagged(7, true, 0, [2, 9, 0], 8)),
        head | 7 << 4 | 2 << 8
    );
    assert_eq!(word_0(&tagged(2, true, 0, 0, 8)), head | 2 << 4);
    let crc = Record {
        crc_good: false,
        ..untagged(7, true, 0, [2, 1, 0], 8)
    };
    assert_eq!(word_0(&crc), head);
}

#[test]
fn long_fpdu_is_judged_twice_and_told_once() {
    let mut bench = Bench::world();
    let place = Record {
        kind: FPDU_PLACE,
        ..send_at(1, 0, 100)
    };
    let check = Record {
        kind: FPDU_CHECK,
        ..place.clone()
    };
    let checked = bench.send(&check);
    assert_eq!(
        checked,
        Default::default(),
        "a good check says and changes nothing"
    );
    assert!(bench.send(&place).command.expect("a command").complete);
    let bad = Record {
        crc_good: false,
        ..check
    };
    let outcome = bench.send(&bad);
    let command = outcome.command.expect("an Error entry");
    assert_eq!(
        (command.kind, command.beats, command.complete),
        (PLACE_DISCARD, 0, true)
    );
    assert!(outcome.event.is_some() && !outcome.counted);
    let silence = bench.send(&place).command.expect("beats to take out");
    assert_eq!((silence.kind, silence.complete), (PLACE_DISCARD, false));
    assert_eq!(bench.send(&bad), Default::default());
}

#[test]
fn host_frame_passes_with_its_pages_even_if_its_connection_field_names_one_in_error() {
    let mut bench = Bench::world();
    bench.send(&Record {
        crc_good: false,
        ..send_at(1, 0, 8)
    });
    let frame = Record {
        kind: FPDU_HOST,
        ulpdu_length: 60,
        ..send_at(1, 0, 8)
    };
    let command = bench.send(&frame).command.expect("a frame to place");
    assert_eq!(
        (command.kind, command.octets, command.skip_words),
        (PLACE_HOST, 60, 0)
    );
    assert_eq!(command.cqe, [0x00aa_0155, 0, 0, 0, 0, 0]);
    assert!(!command.complete);
}
