//! What the monitor says of the rows, of legal packets, and of what no single packet shows.

use crate::packets::{changed, cpl_d, memory, read, with_enables, write, DEVICE, HOST};
use crate::rows::{
    address_rows, completion_rows, configuration_rows, enables_rows, payload_rows, tag_rows,
};
use pcie_sim::flow_control::{Advertised, CreditKind, Credits, FlowClass, FlowControl, NotHeld};
use pcie_sim::tlp::{CompletionStatus, Message, ParseError, Traffic};
use pcie_sim::Direction::{Downstream, Upstream};
use pcie_sim::{
    Bdf, Header, Kind, Length, Limits, Monitor, RootComplex, RootComplexSettings, Tlp,
    TransferSize, Violation,
};

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

fn with_flow_control() -> Monitor {
    let limits = Limits::default();
    let mut monitor = Monitor::new(limits);
    let minimum = Advertised::minimum(limits.max_payload);
    let flow = FlowControl::new(minimum, limits.max_payload).expect("the minimum");
    monitor.set_flow_control(Upstream, flow);
    monitor
}

#[test]
fn a_packet_without_credits_is_flagged_in_its_direction_and_class() {
    let mut monitor = with_flow_control();
    assert_eq!(monitor.observe(0, Upstream, &write(0x1000, 32)), 0);
    assert_eq!(monitor.observe(0, Downstream, &write(0x1000, 4)), 0);
    assert_eq!(monitor.observe(0, Upstream, &read(0, 0x1000, 4)), 0);
    assert_eq!(monitor.observe(1, Upstream, &write(0x1000, 32)), 1);
    let class = FlowClass::Posted;
    let expected = Violation::CreditsExceeded {
        class,
        kind: CreditKind::Header,
        needed: 1,
        available: 0,
    };
    assert_eq!(monitor.records()[0].violation, expected);
    // Both packets are let go: one header and the data of both are there again.
    monitor.release_credits(2, Upstream, class, Credits::for_payload(32));
    monitor.release_credits(2, Upstream, class, Credits::for_payload(32));
    assert_eq!(monitor.observe(3, Upstream, &write(0x1000, 256)), 0);
    assert_eq!(monitor.violation_count(), 1);
}

#[test]
fn credits_that_no_packet_holds_are_flagged() {
    let mut monitor = with_flow_control();
    let class = FlowClass::NonPosted;
    monitor.release_credits(0, Upstream, class, Credits::for_payload(0));
    let (kind, returned, held) = (CreditKind::Header, 1, 0);
    let expected = Violation::CreditsNotHeld(NotHeld {
        class,
        kind,
        returned,
        held,
    });
    assert_eq!(monitor.records()[0].violation, expected);
    // Nobody counts downstream.
    monitor.release_credits(0, Downstream, class, Credits::for_payload(0));
    assert_eq!(monitor.violation_count(), 1);
}

#[test]
fn a_completion_from_before_a_reset_is_flagged_until_its_tag_is_used_again() {
    let mut monitor = Monitor::new(Limits::default());
    monitor.observe(0, Upstream, &read(1, 0x1000, 4));
    monitor.reset();
    assert_eq!(monitor.outstanding_count(Upstream), 0);
    assert_eq!(monitor.finish(1), 0, "a reset drops it, nobody misses it");
    for _ in 0..2 {
        assert_eq!(monitor.observe(2, Downstream, &cpl_d(0, 4, 4)), 1);
        let record = monitor.take_records().pop().expect("one violation");
        assert_eq!(record.violation, Violation::CompletionAfterReset { tag: 1 });
    }
    assert_eq!(monitor.observe(3, Upstream, &read(1, 0x1000, 4)), 0);
    assert_eq!(monitor.observe(4, Downstream, &cpl_d(0, 4, 4)), 0);
    monitor.observe(5, Downstream, &cpl_d(0, 4, 4));
    let expected = Violation::CompletionUnexpected { tag: 1 };
    assert_eq!(monitor.records()[0].violation, expected);
}

#[test]
fn a_request_that_is_lost_on_purpose_keeps_its_tag_for_a_while() {
    let mut monitor = Monitor::new(Limits::default());
    monitor.observe(0, Upstream, &read(1, 0x1000, 4));
    monitor.lose(Upstream, DEVICE, 1, 50);
    assert!(monitor.is_outstanding(Upstream, DEVICE, 1));
    assert_eq!(monitor.observe(49, Upstream, &read(1, 0x1000, 4)), 1);
    let expected = Violation::TagReused { tag: 1 };
    assert_eq!(monitor.records()[0].violation, expected);
    assert_eq!(monitor.observe(50, Upstream, &read(1, 0x1000, 4)), 0);
    assert_eq!(monitor.observe(51, Downstream, &cpl_d(0, 4, 4)), 0);
    assert!(!monitor.is_outstanding(Upstream, DEVICE, 1));
    assert_eq!(monitor.finish(60), 0);
}

#[test]
fn a_fault_on_purpose_is_followed_and_not_recorded() {
    let mut monitor = Monitor::new(Limits::default());
    monitor.observe(0, Upstream, &read(1, 0x1000, 8));
    let poisoned = changed(cpl_d(0, 8, 8), |tlp| tlp.header.traffic.poisoned = true);
    monitor.observe_fault(1, Downstream, &poisoned);
    assert_eq!(monitor.verdict(), Ok(()));
    assert_eq!(monitor.finish(2), 0, "it did complete the request");
}
