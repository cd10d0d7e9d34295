//! Row of Read Responses: each segment continues the oldest outstanding read (RDMAP-011).
use super::super::bench::Bench;
use super::super::model::Record;
use super::super::world::*;
use super::*;
use crate::messages::*;
use rnic_abi::cqe;
use rnic_abi::errors::StreamError::*;
use rnic_abi::tables::*;

/// Where the read of most tests begins, and its octets.
const TO: u64 = SINK.base + 9;
const OCTETS: u32 = 48;

fn response(last: bool, to: u64, payload: u64) -> Record {
    tagged(2, last, SINK.stag, to, payload)
}

/// A world with one read.
fn one_read() -> Bench {
    Bench::reading(&[(&SINK, TO, OCTETS)])
}

#[test]
fn rdmap_011_a_read_completes_with_stag_end_and_pool_entry() {
    let mut bench = one_read();
    let command = accepted_in(&mut bench, &response(false, TO, 16));
    assert_eq!((command.kind, command.complete), (PlaceKind::Write, false));
    assert_eq!(command.address, TO.wrapping_add(SINK.bus_offset));
    assert!(!accepted_in(&mut bench, &response(false, TO + 16, 31)).complete);
    let command = accepted_in(&mut bench, &response(true, TO + 47, 1));
    let word_0 = cqe::KIND_READ_RESPONSE | 2 << 4 | (STREAM as u32) << 16;
    let end = TO + u64::from(OCTETS);
    let words = [
        word_0,
        SINK.stag,
        end as u32,
        (end >> 32) as u32,
        0x0123,
        192 + 5,
        0,
        cqe::PHASE,
    ];
    assert_eq!((command.complete, command.cqe), (true, words));
    refused_in(&mut bench, &response(true, TO, 16), RdmapReadResponse);
}

#[test]
fn rdmap_011_a_response_without_a_read_is_refused() {
    refused(&response(true, TO, 16), RdmapReadResponse);
    refused(&response(false, TO, 16), RdmapReadResponse);
    refused(&tagged(2, true, 0, 0, 0), RdmapReadResponse);
    // The read of another stream does not help, nor a queue that is closed.
    let mut bench = one_read();
    let sibling = Record {
        connection: SIBLING,
        ..response(true, TO, 48)
    };
    refused_in(&mut bench, &sibling, RdmapReadResponse);
    bench.write(QUEUE, STREAM << 2 | 3, &[3 << 16 | 192, 1]);
    bench.write(QUEUE_TAIL, STREAM << 2 | 3, &[2]);
    refused_in(&mut bench, &response(true, TO, 48), RdmapReadResponse);
}

#[test]
fn rdmap_011_a_response_begins_where_its_read_does() {
    for to in [TO - 1, TO + 1, TO + 16, TO ^ 1 << 8, SINK.base] {
        refused_in(&mut one_read(), &response(false, to, 16), RdmapReadResponse);
    }
    // The second segment where the first one ends, not before and not after.
    for to in [TO, TO + 15, TO + 17] {
        let mut bench = one_read();
        accepted_in(&mut bench, &response(false, TO, 16));
        refused_in(&mut bench, &response(false, to, 8), RdmapReadResponse);
    }
}

#[test]
fn rdmap_011_a_response_is_as_long_as_its_read() {
    let octets = u64::from(OCTETS);
    accepted_in(&mut one_read(), &response(true, TO, octets));
    for (last, payload) in [
        (true, octets - 1),
        (true, octets + 1),
        (false, octets),
        (false, octets + 1),
        (true, 1),
    ] {
        refused_in(
            &mut one_read(),
            &response(last, TO, payload),
            RdmapReadResponse,
        );
    }
    let mut bench = one_read();
    accepted_in(&mut bench, &response(false, TO, 40));
    refused_in(&mut bench, &response(true, TO + 40, 9), RdmapReadResponse);
}

#[test]
fn rdmap_011_a_response_has_the_stag_of_its_read() {
    let other = Region {
        number: 18,
        stag: SINK.stag ^ 0x100,
        ..SINK
    };
    let rekeyed = Region {
        stag: SINK.stag ^ 1,
        ..SINK
    };
    for region in [other, rekeyed] {
        let mut bench = one_read();
        bench.register(&region, 1);
        let record = tagged(2, true, region.stag, TO, u64::from(OCTETS));
        refused_in(&mut bench, &record, RdmapReadResponse);
    }
}

/// RDMAP-008: a zero-length read has one response without payload, whose STag and TO mean nothing
/// (DDP-019).
#[test]
fn a_zero_length_read_has_a_zero_length_response() {
    let reads = [(&SINK, TO, 0), (&SINK, TO, 8)];
    let empty = tagged(2, true, 0xdead_beef, u64::MAX, 0);
    let mut bench = Bench::reading(&reads);
    let command = accepted_in(&mut bench, &empty);
    assert_eq!((command.complete, command.cqe[5]), (true, 192 + 5));
    refused_in(&mut bench, &empty, RdmapReadResponse);
    let mut bench = Bench::reading(&reads);
    refused_in(&mut bench, &response(true, TO, 8), RdmapReadResponse);
    let mut bench = Bench::reading(&reads);
    refused_in(&mut bench, &tagged(2, false, 0, 0, 0), RdmapReadResponse);
    // Of a read that asks for octets, a segment without any changes nothing.
    let mut bench = one_read();
    let command = accepted_in(&mut bench, &tagged(2, false, 0, 0, 0));
    assert_eq!(
        (command.kind, command.complete),
        (PlaceKind::Discard, false)
    );
    accepted_in(&mut bench, &response(true, TO, u64::from(OCTETS)));
}

/// RDMAP-008: responses come in the order of the requests, each to its own sink.
#[test]
fn reads_are_answered_in_order() {
    let reads: Vec<_> = (0..6).map(|n| (&SINK, SINK.base + 8 * n, 8)).collect();
    let mut bench = Bench::reading(&reads);
    for (n, entry) in [5, 6, 7, 0, 1].into_iter().enumerate() {
        let to = SINK.base + 8 * n as u64;
        let command = accepted_in(&mut bench, &response(true, to, 8));
        assert_eq!((command.complete, command.cqe[5]), (true, 192 + entry));
    }
    let mut bench = Bench::reading(&reads);
    let second = response(true, SINK.base + 8, 8);
    refused_in(&mut bench, &second, RdmapReadResponse);
}

/// Responses that follow each other without a pause: each sees what the one before it left.
#[test]
fn responses_back_to_back_see_each_other() {
    let reads: Vec<_> = (0..4).map(|n| (&SINK, SINK.base + 64 * n, 64)).collect();
    let mut bench = Bench::reading(&reads);
    bench.drain();
    for segment in 0..32 {
        let to = SINK.base + 8 * segment;
        bench.records.push(response(segment % 8 == 7, to, 8));
    }
    bench.drain();
    assert!(bench.outcomes.iter().all(|outcome| outcome.error == 0));
    let commands = bench.outcomes.iter().flat_map(|outcome| &outcome.command);
    assert_eq!(commands.filter(|command| command.complete).count(), 4);
}

/// A long FPDU is checked, then placed: its first pass does not move the read.
#[test]
fn the_first_pass_over_a_long_response_changes_nothing() {
    let mut bench = one_read();
    let check = Record {
        kind: FpduKind::Check,
        ..response(true, TO, u64::from(OCTETS))
    };
    assert_eq!(bench.send(&check).command, None);
    let place = Record {
        kind: FpduKind::Place,
        ..check.clone()
    };
    assert!(accepted_in(&mut bench, &place).complete);
    let refused = bench.send(&check);
    assert_eq!(refused.error, RdmapReadResponse as u64);
}

/// Two octets of a region whose TO agree in the bits of a read would be one: it is no sink.
#[test]
fn a_region_of_2_to_the_35_octets_is_no_sink() {
    for (octets, is_sink) in [(1 << 35, false), ((1 << 35) - 1, true)] {
        let large = Region { octets, ..SINK };
        let mut bench = one_read();
        bench.register(&large, 2);
        let whole = response(true, TO, u64::from(OCTETS));
        if is_sink {
            accepted_in(&mut bench, &whole);
        } else {
            refused_in(&mut bench, &whole, RdmapReadResponse);
        }
        let mut bench = Bench::reading(&[(&large, TO, 0)]);
        bench.register(&large, 2);
        accepted_in(&mut bench, &response(true, TO, 0));
    }
}

#[test]
fn the_bits_of_to_that_a_read_lacks_are_those_of_its_region() {
    let high = Region {
        base: (6 << 35) - 8,
        ..SINK
    };
    let world = || {
        let mut bench = Bench::reading(&[(&high, high.base, 32)]);
        bench.register(&high, 2);
        bench
    };
    let mut bench = world();
    accepted_in(&mut bench, &response(false, high.base, 16));
    assert!(accepted_in(&mut bench, &response(true, high.base + 16, 16)).complete);
    refused_in(
        &mut world(),
        &response(true, high.base ^ 1 << 35, 32),
        DdpBounds,
    );
}
