//! One row for each violation a single packet shows, by what of the packet is wrong.

use crate::packets::{
    changed, cpl_d, memory, read, with_enables, with_status, without_data, write, DEVICE, HOST,
};
use pcie_sim::tlp::{AddressFormat, CompletionStatus, PackError};
use pcie_sim::{Direction, Length, Tlp, Violation};
use Direction::{Downstream, Upstream};

/// Name of the rule, packets before, the packet that breaks it, and what it must be called.
pub type Row = (Vec<(Direction, Tlp)>, (Direction, Tlp), Violation);

pub fn payload_rows() -> Vec<Row> {
    let up = |tlp| (Upstream, tlp);
    let row = |tlp, violation| (vec![], up(tlp), violation);
    vec![
        row(
            changed(write(0x1000, 8), |tlp| tlp.payload.truncate(4)),
            Violation::PayloadLengthMismatch {
                length_octets: 8,
                payload_octets: 4,
            },
        ),
        row(
            changed(write(0x1000, 8), |tlp| tlp.payload.push(0)),
            Violation::PayloadLengthMismatch {
                length_octets: 8,
                payload_octets: 9,
            },
        ),
        row(
            changed(read(0, 0x1000, 4), |tlp| tlp.payload = vec![0; 4]),
            Violation::PayloadWithoutDataFormat { payload_octets: 4 },
        ),
        row(
            write(0x1000, 260),
            Violation::MaxPayloadExceeded {
                octets: 260,
                limit_octets: 256,
            },
        ),
        row(
            read(0, 0x1000, 516),
            Violation::MaxReadRequestExceeded {
                octets: 516,
                limit_octets: 512,
            },
        ),
        row(
            changed(write(0x1000, 4), |tlp| tlp.header.traffic.digest = true),
            Violation::DigestPresent,
        ),
        row(
            changed(write(0x1000, 4), |tlp| tlp.header.traffic.poisoned = true),
            Violation::Poisoned,
        ),
        row(
            changed(write(0x1000, 4), |tlp| tlp.header.traffic.class = 8),
            Violation::FieldOutOfRange(PackError::FieldOutOfRange {
                field: "traffic class",
                value: 8,
                rule: "below 8",
            }),
        ),
    ]
}

pub fn address_rows() -> Vec<Row> {
    let row = |tlp, violation| (vec![], (Upstream, tlp), violation);
    let far = 0x1_0000_0000;
    vec![
        row(
            write(0x1ffc, 8),
            Violation::Crosses4Kib {
                address: 0x1ffc,
                octets: 8,
            },
        ),
        // The last octet touched is the first of the next 4 KiB.
        row(
            read(0, 0x1fff, 2),
            Violation::Crosses4Kib {
                address: 0x1ffc,
                octets: 8,
            },
        ),
        row(
            memory(write(0x1000, 4), |request| request.address = 0x1002),
            Violation::AddressUnaligned { address: 0x1002 },
        ),
        row(
            memory(write(0xffff_f000, 4), |request| {
                request.format = AddressFormat::Bits64
            }),
            Violation::FourDwordBelow4Gib {
                address: 0xffff_f000,
            },
        ),
        row(
            memory(read(0, far, 4), |request| {
                request.format = AddressFormat::Bits32
            }),
            Violation::ThreeDwordAbove4Gib { address: far },
        ),
    ]
}

pub fn enables_rows() -> Vec<Row> {
    let row = |tlp, violation| (vec![], (Upstream, tlp), violation);
    let holes = |first, last| Violation::EnablesNotContiguous { first, last };
    vec![
        row(
            with_enables(write(0x1000, 12), 0, 0xf),
            Violation::FirstEnablesZero { dwords: 3 },
        ),
        row(
            with_enables(write(0x1000, 12), 0xf, 0),
            Violation::LastEnablesZero { dwords: 3 },
        ),
        row(
            with_enables(write(0x1000, 4), 0xf, 0x1),
            Violation::LastEnablesInSingleDword { last: 1 },
        ),
        row(
            with_enables(write(0x1000, 12), 0b0111, 0xf),
            holes(0b0111, 0xf),
        ),
        row(
            with_enables(write(0x1000, 12), 0xf, 0b1110),
            holes(0xf, 0b1110),
        ),
        row(
            with_enables(read(0, 0x1000, 12), 0b1010, 0xf),
            holes(0b1010, 0xf),
        ),
        // Two dwords, but not an aligned quadword.
        row(
            with_enables(write(0x1004, 8), 0b1010, 0xf),
            holes(0b1010, 0xf),
        ),
    ]
}

pub fn configuration_rows() -> Vec<Row> {
    let request = Tlp::configuration_read(HOST, 0, DEVICE, 0x10);
    let row = |tlp, violation| (vec![], (Downstream, tlp), violation);
    vec![
        row(
            changed(request.clone(), |tlp| {
                tlp.header.length = Length::from_field(2)
            }),
            Violation::ConfigurationLength { dwords: 2 },
        ),
        row(
            with_enables(request.clone(), 0xf, 0xf),
            Violation::LastEnablesInSingleDword { last: 0xf },
        ),
        row(
            changed(request.clone(), |tlp| {
                tlp.header.traffic.relaxed_ordering = true
            }),
            Violation::ConfigurationTraffic,
        ),
        (
            vec![],
            (Upstream, request),
            Violation::ConfigurationUpstream,
        ),
    ]
}

pub fn completion_rows() -> Vec<Row> {
    // The device reads octets 0x1010..0x1110 under tag 1.
    let row = |tlp, violation| {
        (
            vec![(Upstream, read(1, 0x1010, 256))],
            (Downstream, tlp),
            violation,
        )
    };
    let whole = || cpl_d(0x10, 256, 256);
    let refused = CompletionStatus::UnsupportedRequest;
    let after_first = |tlp, violation| {
        let before = vec![
            (Upstream, read(1, 0x1010, 256)),
            (Downstream, cpl_d(0x10, 256, 48)),
        ];
        (before, (Downstream, tlp), violation)
    };
    vec![
        (
            vec![],
            (Downstream, whole()),
            Violation::CompletionUnexpected { tag: 1 },
        ),
        // A completion must come from the other side.
        (
            vec![(Upstream, read(1, 0x1010, 256))],
            (Upstream, whole()),
            Violation::CompletionUnexpected { tag: 1 },
        ),
        // One completion too many.
        (
            vec![(Upstream, read(1, 0x1010, 256)), (Downstream, whole())],
            (Downstream, whole()),
            Violation::CompletionUnexpected { tag: 1 },
        ),
        row(
            cpl_d(0x10, 252, 256),
            Violation::CompletionByteCount {
                expected: 256,
                found: 252,
            },
        ),
        after_first(
            cpl_d(0x40, 256, 208),
            Violation::CompletionByteCount {
                expected: 208,
                found: 256,
            },
        ),
        row(
            cpl_d(0x14, 256, 256),
            Violation::CompletionLowerAddress {
                expected: 0x10,
                found: 0x14,
            },
        ),
        after_first(
            cpl_d(0x10, 208, 208),
            Violation::CompletionLowerAddress {
                expected: 0x40,
                found: 0x10,
            },
        ),
        row(
            cpl_d(0x10, 256, 64),
            Violation::CompletionUnaligned {
                end: 0x1050,
                boundary_octets: 64,
            },
        ),
        after_first(
            cpl_d(0x40, 208, 212),
            Violation::CompletionTooLong {
                dwords: 53,
                expected_dwords: 52,
            },
        ),
        row(
            with_status(whole(), refused),
            Violation::CompletionDataUnexpected { status: refused },
        ),
        row(without_data(whole()), Violation::CompletionDataMissing),
        row(
            changed(whole(), |tlp| tlp.header.traffic.class = 1),
            Violation::CompletionTraffic,
        ),
    ]
}

pub fn tag_rows() -> Vec<Row> {
    vec![
        (
            vec![(Upstream, read(1, 0x1000, 4))],
            (Upstream, read(1, 0x2000, 4)),
            Violation::TagReused { tag: 1 },
        ),
        // After the first of two completions the tag is still taken.
        (
            vec![
                (Upstream, read(1, 0x1010, 256)),
                (Downstream, cpl_d(0x10, 256, 48)),
            ],
            (Upstream, read(1, 0x2000, 4)),
            Violation::TagReused { tag: 1 },
        ),
        (
            vec![],
            (Upstream, read(64, 0x1000, 4)),
            Violation::TagOutOfRange {
                tag: 64,
                tag_count: 64,
            },
        ),
    ]
}
