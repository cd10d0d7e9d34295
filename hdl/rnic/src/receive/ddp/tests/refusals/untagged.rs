//! Rows of untagged segments: queue, MSN, MO, length, Invalidate STag.
use super::super::bench::Bench;
use super::super::model::Record;
use super::super::world::*;
use super::*;
use crate::messages::*;
use rnic_abi::cqe;
use rnic_abi::errors::StreamError::*;
use rnic_abi::tables::*;

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
    assert_eq!(command.cqe, [word_0, 1, 0, 0, 0x0123, 1, 0, cqe::PHASE]);
    assert_eq!(command.kind, PlaceKind::Discard);
}

#[test]
fn ddp_024_message_advances_with_its_last_segment_only() {
    let mut bench = Bench::world();
    let first = accepted_in(&mut bench, &untagged(3, false, 0, [0, 1, 0], 100));
    assert_eq!(
        (first.kind, first.complete, first.octets),
        (PlaceKind::Write, false, 100)
    );
    let last = accepted_in(&mut bench, &untagged(3, true, 0, [0, 1, 100], 50));
    assert_eq!((last.complete, last.cqe[2]), (true, 150));
    assert_eq!(last.address, first.address + 100);
    accepted_in(&mut bench, &send_at(2, 0, 8));
}

/// RDMAP-006, RDMAP-014: the Invalidate STag must be valid for the stream.
#[test]
fn send_with_invalidate_needs_a_valid_stag() {
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
