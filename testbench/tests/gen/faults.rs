//! Each fault happens, and does what it is said to do.

use crate::rig::{a_beginning_is_delivered, everything_is_delivered, made, path, said};
use rnic_testbench::play::report::FlowReport;
use rnic_testbench::workload::{Faults, Field, Markers, Resend, Workload};

/// Contents draw from a generator of their own: a fault leaves the messages as they are.
#[test]
fn faults_leave_what_is_said() {
    let plain = Workload::default();
    let mut lossy = plain.clone();
    lossy.faults.loss = 0.5;
    assert_eq!(made(&plain).directions, made(&lossy).directions);
}

/// MPA-046: cut at any octet, sent twice, over borders - in order, so nothing may be missing.
#[test]
fn faults_that_lose_nothing_change_nothing() {
    let faults = Faults {
        resegment: 0.5,
        overlap: 0.3,
        duplicate: 0.3,
        ..Faults::default()
    };
    let workload = Workload {
        faults,
        markers: Markers::Both,
        connections: 4,
        ..Workload::default()
    };
    let (generation, report) = everything_is_delivered("gen-in-order.pcap", &workload);
    let injected = &generation.summary.faults;
    let sum = |count: fn(&FlowReport) -> u64| report.flows.iter().map(count).sum::<u64>();
    assert!(injected.resegment > 0);
    assert!(injected.overlap > 0 && sum(|flow| flow.retransmit_trimmed) > 0);
    assert!(injected.duplicate > 0 && sum(|flow| flow.duplicate) >= injected.duplicate);
    assert_eq!(sum(|flow| flow.out_of_order), 0);
}

/// All from the gap on is sent again: a receiver that keeps nothing ahead of a gap gets all.
#[test]
fn after_loss_and_reordering_all_is_sent_again() {
    let faults = Faults {
        loss: 0.05,
        reorder: 0.1,
        errors: [
            (Field::Ip, 0.05),
            (Field::Tcp, 0.05),
            (Field::Payload, 0.05),
        ]
        .into(),
        resend: Resend::All,
        ..Faults::default()
    };
    let workload = Workload {
        faults,
        connections: 3,
        messages: 60,
        ..Workload::default()
    };
    let (generation, report) = everything_is_delivered("gen-resend-all.pcap", &workload);
    let injected = &generation.summary.faults;
    assert!(injected.loss > 0 && injected.reorder > 0 && injected.resent > 0);
    for field in [Field::Ip, Field::Tcp, Field::Payload] {
        assert!(injected.errors[&field] > 0, "{field:?}");
    }
    assert!(report.flows.iter().any(|flow| flow.out_of_order > 0));
    // A wrong port is another connection's, a wrong data offset is no header: the rest is seen by
    // the checksum, and every wrong payload is.
    let (tcp, payload) = (
        injected.errors[&Field::Tcp],
        injected.errors[&Field::Payload],
    );
    let checksums = u64::from(report.counters["drop_tcp_checksum"]);
    assert!(
        (payload + 1..=payload + tcp).contains(&checksums),
        "{checksums}"
    );
    let headers = ["drop_ip_checksum", "drop_ip_malformed"];
    let headers: u32 = headers.iter().map(|name| report.counters[name]).sum();
    assert_eq!(u64::from(headers), injected.errors[&Field::Ip]);
}

/// Only what was lost is sent again: in order, the model finds the beginning; a reader that keeps
/// what is ahead of a gap finds all.
#[test]
fn what_was_lost_is_sent_again_once() {
    let mut workload = Workload {
        connections: 4,
        messages: 40,
        ..Workload::default()
    };
    workload.faults.loss = 0.1;
    workload.faults.reorder = 0.1;
    let report = a_beginning_is_delivered("gen-lost.pcap", &workload);
    assert!(report.flows.iter().any(|flow| flow.out_of_order > 0));
    let generation = made(&workload);
    let faults = &generation.summary.faults;
    assert_eq!(faults.resent, faults.loss);
    // Learning puts the whole stream together.
    let capture = rnic_capture::read(&path("gen-lost.pcap")).expect("a sound capture");
    let flows = rnic_capture::flows(&capture, None);
    let learned: usize = flows.iter().map(|flow| flow.messages.len()).sum();
    let said: usize = generation.directions.iter().map(|d| said(d).len()).sum();
    assert_eq!(learned, said);
    workload.faults.resend = Resend::Never;
    a_beginning_is_delivered("gen-never.pcap", &workload);
    assert_eq!(made(&workload).summary.faults.resent, 0);
}

/// A wrong bit that TCP does not see stops the flow at its FPDU; nothing false is placed.
#[test]
fn a_wrong_bit_in_an_fpdu_stops_its_flow() {
    let fields = [
        Field::Length,
        Field::Header,
        Field::Data,
        Field::Crc,
        Field::Marker,
    ];
    for field in fields {
        let mut workload = Workload {
            markers: Markers::Both,
            messages: 40,
            ..Workload::default()
        };
        workload.faults.errors.insert(field, 0.1);
        let name = format!("gen-error-{}.pcap", field.name());
        let report = a_beginning_is_delivered(&name, &workload);
        assert!(
            made(&workload).summary.faults.errors[&field] > 0,
            "{field:?}"
        );
        let stopped = report.flows.iter().filter(|flow| flow.error.is_some());
        let layers: Vec<_> = stopped
            .flat_map(|flow| &flow.error)
            .map(|e| e.layer)
            .collect();
        assert!(!layers.is_empty(), "{field:?}: no flow notices");
        assert!(
            layers.iter().all(|layer| *layer == "mpa"),
            "{field:?}: {layers:?}"
        );
    }
}
