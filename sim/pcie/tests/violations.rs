//! One row for each violation: a packet that breaks the rule, and the name it must be given.
//!
//! Each row must produce exactly its violation and no other, so that no check hides another.

use pcie_sim::memory::Access;
use pcie_sim::tlp::{
    AddressFormat, Completion, CompletionStatus, ConfigurationRequest, MemoryRequest, Message,
    PackError, ParseError, Traffic,
};
use pcie_sim::{
    Bdf, ByteEnables, Direction, Header, Kind, Length, Limits, Monitor, RootComplex,
    RootComplexSettings, Tlp, TransferSize, Violation,
};

use Direction::{Downstream, Upstream};

const DEVICE: Bdf = Bdf::new(1, 0, 0);
const HOST: Bdf = Bdf::new(0, 0, 0);

/// Name of the rule, packets before, the packet that breaks it, and what it must be called.
type Row = (Vec<(Direction, Tlp)>, (Direction, Tlp), Violation);

fn write(address: u64, octets: usize) -> Tlp {
    Tlp::memory_write(DEVICE, address, &vec![0x5a; octets]).expect("at most 1024 dwords")
}

fn read(tag: u8, address: u64, octets: usize) -> Tlp {
    Tlp::memory_read(DEVICE, tag, address, octets).expect("at most 1024 dwords")
}

fn changed(mut tlp: Tlp, change: impl FnOnce(&mut Tlp)) -> Tlp {
    change(&mut tlp);
    tlp
}

fn with_enables(tlp: Tlp, first: u8, last: u8) -> Tlp {
    changed(tlp, |tlp| match &mut tlp.header.kind {
        Kind::MWr(request) | Kind::MRd(request) => request.enables = ByteEnables::new(first, last),
        Kind::CfgRd0(request) => request.enables = ByteEnables::new(first, last),
        other => panic!("{other:?} has no byte enables"),
    })
}

fn memory(tlp: Tlp, change: impl FnOnce(&mut MemoryRequest)) -> Tlp {
    changed(tlp, |tlp| match &mut tlp.header.kind {
        Kind::MWr(request) | Kind::MRd(request) => change(request),
        other => panic!("{other:?} is not a memory request"),
    })
}

/// A completion for tag 1 of the device: `octets` octets of which `byte_count` are owed.
fn cpl_d(lower_address: u8, byte_count: u16, octets: usize) -> Tlp {
    let completion = Completion {
        completer: HOST,
        status: CompletionStatus::Successful,
        byte_count_modified: false,
        byte_count,
        requester: DEVICE,
        tag: 1,
        lower_address,
    };
    let length = Length::from_dwords(octets / 4).expect("at most 1024 dwords");
    Tlp::new(length, Kind::CplD(completion), vec![0; octets])
}

fn with_status(tlp: Tlp, status: CompletionStatus) -> Tlp {
    changed(tlp, |tlp| match &mut tlp.header.kind {
        Kind::Cpl(completion) | Kind::CplD(completion) => completion.status = status,
        other => panic!("{other:?} is not a completion"),
    })
}

fn without_data(tlp: Tlp) -> Tlp {
    let Kind::CplD(completion) = tlp.header.kind else {
        panic!("not a completion with data")
    };
    Tlp::new(Length::RESERVED, Kind::Cpl(completion), Vec::new())
}

fn payload_rows() -> Vec<Row> {
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

fn address_rows() -> Vec<Row> {
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

fn enables_rows() -> Vec<Row> {
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

fn configuration_rows() -> Vec<Row> {
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

fn completion_rows() -> Vec<Row> {
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

fn tag_rows() -> Vec<Row> {
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

#[test]
fn every_malformed_packet_is_flagged_by_its_name_and_by_no_other() {
    let rows = [
        payload_rows(),
        address_rows(),
        enables_rows(),
        configuration_rows(),
        completion_rows(),
        tag_rows(),
    ];
    let limits = Limits {
        tag_count: 64,
        ..Limits::default()
    };
    for (before, (direction, tlp), expected) in rows.into_iter().flatten() {
        let mut monitor = Monitor::new(limits);
        for (direction, tlp) in &before {
            assert_eq!(
                monitor.observe(1, *direction, tlp),
                0,
                "before {expected}: {tlp:?}"
            );
        }
        assert_eq!(
            monitor.observe(2, direction, &tlp),
            1,
            "{expected}: {:?}",
            monitor.records()
        );
        let record = monitor.verdict().expect_err("one violation");
        assert_eq!(record.violation, expected);
        assert_eq!((record.now, record.direction), (2, direction));
        assert_eq!(record.tlp.as_ref(), Some(&tlp));
    }
}

#[test]
fn legal_corners_are_not_flagged() {
    let limits = Limits {
        max_payload: TransferSize::Octets4096,
        ..Limits::default()
    };
    let mut monitor = Monitor::new(limits);
    let legal = [
        write(0x1000, 4096),
        write(0x1ffc, 4),
        write(0x1_0000_0000, 4),
        // Holes within one dword, and within an aligned quadword.
        with_enables(write(0x1004, 4), 0b1001, 0),
        with_enables(write(0x1008, 8), 0b1010, 0b0101),
        // No octet at all: a zero-length write and read.
        with_enables(write(0x1000, 4), 0, 0),
        read(0, 0x1000, 0),
        read(1, 0x1fff, 1),
    ];
    for tlp in &legal {
        assert_eq!(
            monitor.observe(0, Upstream, tlp),
            0,
            "{:?}",
            monitor.records()
        );
    }
    assert_eq!(monitor.verdict(), Ok(()));
}

#[test]
fn a_packet_under_a_foreign_id_is_flagged_once_a_device_is_named() {
    let mut monitor = Monitor::new(Limits::default());
    let sender = Bdf::new(2, 0, 0);
    let foreign = memory(write(0x1000, 4), |request| request.requester = sender);
    assert_eq!(
        monitor.observe(0, Upstream, &foreign),
        0,
        "any id, as none is named"
    );
    monitor.expect_device(DEVICE);
    assert_eq!(monitor.observe(1, Upstream, &write(0x1000, 4)), 0);
    assert_eq!(
        monitor.observe(1, Downstream, &foreign),
        0,
        "downstream is not restricted"
    );
    assert_eq!(monitor.observe(1, Upstream, &foreign), 1);
    assert_eq!(
        monitor.records()[0].violation,
        Violation::SenderUnknown { sender }
    );
}

/// The table is complete: each variant that the source declares is expected in this file.
#[test]
fn every_violation_has_a_row() {
    let source = include_str!("../src/violation.rs");
    let names: Vec<&str> = source
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()))
        .map(|line| line.trim_end_matches(|last: char| !last.is_alphanumeric()))
        .map(|line| line.split('(').next().unwrap_or(line))
        .collect();
    assert!(
        names.len() > 30,
        "the source is not laid out as expected: {names:?}"
    );
    for name in names {
        let expected = format!("Violation::{name}");
        assert!(
            include_str!("violations.rs").contains(&expected),
            "{expected} has no row"
        );
    }
}

#[test]
fn a_zero_length_write_is_flagged_where_the_limits_forbid_it() {
    let limits = Limits {
        zero_length_writes: false,
        ..Limits::default()
    };
    let mut monitor = Monitor::new(limits);
    monitor.observe(0, Upstream, &write(0x1000, 0));
    let expected = Violation::ZeroLengthWrite { address: 0x1000 };
    assert_eq!(monitor.records()[0].violation, expected);
    assert_eq!(monitor.observe(0, Upstream, &write(0x1000, 1)), 0);
}

#[test]
fn data_for_a_configuration_write_is_flagged() {
    let mut monitor = Monitor::new(Limits::default());
    let request = Tlp::configuration_write(HOST, 1, DEVICE, 4, &[6, 0]).expect("one dword");
    assert_eq!(monitor.observe(0, Downstream, &request), 0);
    let answer = changed(cpl_d(0, 4, 4), |tlp| match &mut tlp.header.kind {
        Kind::CplD(completion) => completion.requester = HOST,
        other => panic!("{other:?} is not a completion with data"),
    });
    monitor.observe(0, Upstream, &answer);
    let status = CompletionStatus::Successful;
    let expected = Violation::CompletionDataUnexpected { status };
    assert_eq!(monitor.records()[0].violation, expected);
}

#[test]
fn a_request_that_is_never_completed_is_flagged_at_the_end() {
    let mut monitor = Monitor::new(Limits::default());
    monitor.observe(0, Upstream, &read(1, 0x1010, 256));
    monitor.observe(0, Downstream, &cpl_d(0x10, 256, 48));
    assert_eq!(monitor.finish(9), 1);
    let expected = Violation::RequestNotCompleted { tag: 1, owed: 208 };
    assert_eq!(monitor.records()[0].violation, expected);
    assert_eq!(monitor.finish(9), 0);
}

#[test]
fn headers_that_do_not_parse_and_reserved_bits_are_flagged() {
    let mut monitor = Monitor::new(Limits::default());
    let mut observed = |dwords: &[u32], payload: usize| {
        monitor.observe_dwords(0, Upstream, dwords, vec![0; payload]);
        monitor
            .take_records()
            .into_iter()
            .map(|record| record.violation)
            .collect::<Vec<_>>()
    };
    let unparsable = Violation::HeaderUnparsable;
    let prefix = unparsable(ParseError::UnknownFormat { fmt: 0b100 });
    assert_eq!(observed(&[0x8000_0001, 0, 0], 0), [prefix]);
    let short = unparsable(ParseError::HeaderSize {
        expected: 4,
        found: 3,
    });
    assert_eq!(observed(&[0x6000_0001, 0xf, 0], 4), [short]);
    assert_eq!(
        observed(&[], 0),
        [unparsable(ParseError::HeaderSize {
            expected: 3,
            found: 0
        })]
    );
    // An I/O write.
    assert!(matches!(
        observed(&[0x4200_0001, 0xf, 0], 4)[..],
        [Violation::HeaderUnparsable(ParseError::UnknownType {
            packet_type: 0b00010,
            ..
        })]
    ));
    let reserved = |dword, bits| Violation::ReservedBitsSet { dword, bits };
    assert_eq!(
        observed(&[0x4081_0001, 0xf, 0x1003], 4),
        [reserved(0, 0x0081_0000), reserved(2, 0x3)]
    );
}

#[test]
fn a_message_breaks_no_rule() {
    let message = Message {
        requester: DEVICE,
        tag: 0,
        routing: 4,
        code: 0x20,
        content: [0; 2],
    };
    let header = Header {
        traffic: Traffic::default(),
        length: Length::RESERVED,
        kind: Kind::Msg(message),
    };
    let mut root_complex = RootComplex::new(RootComplexSettings::default());
    root_complex.upstream(
        0,
        Tlp {
            header,
            payload: Vec::new(),
        },
    );
    assert_eq!(root_complex.statistics().messages, 1);
    assert_eq!(root_complex.monitor().verdict(), Ok(()));
}

fn guarded() -> RootComplex {
    let mut root_complex = RootComplex::new(RootComplexSettings::default());
    let memory = root_complex.memory_mut();
    memory
        .map("sink", 0x1000, 0x100, Access::WRITE)
        .expect("free");
    memory
        .map("source", 0x2000, 0x100, Access::READ)
        .expect("free");
    root_complex.add_interrupt_window(0xfee0_0000..0xfef0_0000);
    root_complex
}

#[test]
fn accesses_that_leave_or_disobey_memory_are_flagged_and_have_no_effect() {
    let rows = [
        (
            write(0x10fe, 3),
            Violation::WriteOutsideMemory {
                address: 0x10fe,
                octets: 3,
            },
        ),
        (
            write(0x0fff, 1),
            Violation::WriteOutsideMemory {
                address: 0x0fff,
                octets: 1,
            },
        ),
        (
            write(0x2000, 4),
            Violation::WriteForbidden {
                address: 0x2000,
                octets: 4,
            },
        ),
        (
            read(0, 0x20ff, 2),
            Violation::ReadOutsideMemory {
                address: 0x20ff,
                octets: 2,
            },
        ),
        (
            read(0, 0x1000, 4),
            Violation::ReadForbidden {
                address: 0x1000,
                octets: 4,
            },
        ),
        (
            write(0xfee0_0000, 2),
            Violation::InterruptWriteMalformed {
                address: 0xfee0_0000,
            },
        ),
        (
            write(0xfee0_0000, 8),
            Violation::InterruptWriteMalformed {
                address: 0xfee0_0000,
            },
        ),
    ];
    for (tlp, expected) in rows {
        let mut root_complex = guarded();
        root_complex.upstream(3, &tlp);
        let found: Vec<_> = root_complex
            .monitor()
            .records()
            .iter()
            .map(|record| record.violation)
            .collect();
        assert_eq!(found, [expected]);
        assert_eq!(root_complex.next_interrupt(), None);
        for region in root_complex.memory().regions() {
            assert!(region.bytes().iter().all(|octet| *octet == 0), "{expected}");
        }
        let answer = root_complex.next_downstream(3).map(|tlp| tlp.header.kind);
        match tlp.header.kind {
            Kind::MRd(_) => assert!(matches!(
                answer,
                Some(Kind::Cpl(Completion {
                    status: CompletionStatus::UnsupportedRequest,
                    ..
                }))
            )),
            _ => assert_eq!(answer, None),
        }
        assert_eq!(
            root_complex.monitor().violation_count(),
            1,
            "the answer itself is legal"
        );
    }
}

#[test]
fn octets_that_are_not_enabled_need_no_memory() {
    let mut root_complex = guarded();
    // The dwords reach from 0x10fc to 0x1104, the enabled octets to 0x1100.
    root_complex.upstream(0, write(0x10fd, 3));
    // A zero-length read, which asks for no octet, is answered wherever it points.
    root_complex.upstream(0, read(0, 0x9000, 0));
    assert_eq!(root_complex.monitor().verdict(), Ok(()));
    assert_eq!(
        root_complex.memory().slice(0x10fc, 4),
        Ok(&[0, 0x5a, 0x5a, 0x5a][..])
    );
    assert!(root_complex.next_downstream(0).is_some());
}

#[test]
fn a_malformed_write_is_discarded() {
    let mut root_complex = guarded();
    let tlp = changed(write(0x1000, 8), |tlp| tlp.payload.truncate(4));
    root_complex.upstream(0, tlp);
    assert_eq!(root_complex.statistics().discarded, 1);
    assert_eq!(root_complex.memory().slice(0x1000, 8), Ok(&[0; 8][..]));
}

#[test]
fn a_configuration_request_keeps_its_register_within_4096() {
    let request = ConfigurationRequest {
        requester: HOST,
        tag: 0,
        enables: ByteEnables::ONE_DWORD,
        target: DEVICE,
        register: 4096,
    };
    let tlp = Tlp::new(Length::ONE, Kind::CfgRd0(request), Vec::new());
    let mut monitor = Monitor::new(Limits::default());
    monitor.observe(0, Downstream, &tlp);
    let found = monitor.records()[0].violation;
    assert!(matches!(
        found,
        Violation::FieldOutOfRange(PackError::FieldOutOfRange {
            field: "register offset",
            ..
        })
    ));
}
