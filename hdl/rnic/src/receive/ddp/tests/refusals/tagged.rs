//! Rows of tagged segments: STag, association, rights, wrap, bounds.
use super::super::bench::Bench;
use super::super::model::Record;
use super::super::world::*;
use super::*;
use crate::messages::*;
use rnic_abi::errors::StreamError::*;
use rnic_abi::limits::HASH_WAYS;
use rnic_abi::tables::*;

#[test]
fn ddp_042_unknown_stale_or_invalid_stag_is_refused() {
    let stag = |stag| tagged(0, true, stag, SINK.base, 8);
    refused(&stag(SINK.stag ^ 1), DdpStag);
    refused(&stag(SINK.stag ^ 0x100), DdpStag);
    refused(&stag(0), DdpStag);
    let mut bench = Bench::world();
    bench.write(REGION, u64::from(SINK.number), &region_words(&SINK, false));
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
    for way in 0..HASH_WAYS {
        let mut bench = Bench::world();
        let region = Region {
            stag: 0x0102_0300 + way as u32,
            number: 1000,
            ..SINK
        };
        bench.register(&region, way);
        let record = tagged(0, true, region.stag, region.base, 8);
        assert_eq!(accepted_in(&mut bench, &record).kind, PlaceKind::Write);
    }
}

#[test]
fn ddp_019_tagged_segment_without_payload_is_not_checked() {
    let command = accepted(&tagged(0, true, 0xdead_beef, u64::MAX, 0));
    assert_eq!(
        (command.kind, command.complete),
        (PlaceKind::Discard, false)
    );
    let empty = tagged(2, true, 0xdead_beef, u64::MAX, 0);
    let response = accepted_in(&mut Bench::reading(&[(&SINK, SINK.base, 0)]), &empty);
    assert_eq!(
        (response.kind, response.complete),
        (PlaceKind::Discard, true)
    );
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

/// RDMAP-010, DDP-052: every set of rights permits exactly its operations.
#[test]
fn every_set_of_rights() {
    for rights in 0..32 {
        for opcode in [0, 2] {
            let record = tagged(opcode, true, SINK.stag, SINK.base, 8);
            let needed = if opcode == 0 {
                RIGHT_REMOTE_WRITE
            } else {
                RIGHT_READ_SINK
            };
            anew_reading(8, |bench| {
                bench.register(&Region { rights, ..SINK }, 2);
                if rights & needed == 0 {
                    refused_in(bench, &record, RdmapAccess);
                } else {
                    accepted_in(bench, &record);
                }
            });
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
        assert_eq!(command.kind, PlaceKind::Write);
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
