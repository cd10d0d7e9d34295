//! Captures that need more than one device has to give: STags of two hosts that are equal, FPDUs
//! and gaps that fill packet memory. Everything recorded is delivered; what the device had no room
//! for was sent again.

use indicatif::ProgressBar;
use rnic_capture::{Capture, Flow};
use rnic_testbench::play::{play, FlowReport, Options, Report};
use rnic_testbench::traffic::Cutter;
use rnic_testbench::workload::{generate, Faults, Generation, Markers, Resend, Workload};
use std::path::Path;

/// Hardware and model play `capture`, and agree.
fn agreed(capture: &Capture, flows: &[Flow]) -> Report {
    let name = capture.path.display();
    let report = play(capture, flows, &Options::default(), &ProgressBar::hidden());
    let report = report.unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(report.mismatches, 0, "{name}: {:#?}", report.differences);
    report
}

/// Hardware and model play what `workload` describes, and every message of it is delivered.
fn delivered(name: &str, workload: &Workload) -> Report {
    let Generation {
        file,
        summary,
        directions,
    } = generate(workload).unwrap_or_else(|error| panic!("{name}: {error}"));
    let capture = rnic_capture::parse(Path::new(name), file).expect("a sound capture");
    let flows = rnic_capture::flows(&capture, None);
    assert_eq!(flows.len(), directions.len(), "{name}");
    let report = agreed(&capture, &flows);
    let fpdus: u64 = report.flows.iter().map(|flow| flow.fpdus).sum();
    assert_eq!(fpdus, summary.fpdus as u64, "{name}: FPDUs");
    for direction in &directions {
        let ends = (
            direction.source.to_string(),
            direction.destination.to_string(),
        );
        let mut flows = report.flows.iter();
        let flow = flows.find(|flow| (&flow.src, &flow.dst) == (&ends.0, &ends.1));
        let flow = flow.expect("each direction is a flow");
        let said = direction.messages.iter();
        let untagged = said.filter(|message| message.msn.is_some()).count();
        assert_eq!(flow.receives.len(), untagged, "{name}: {ends:?}");
    }
    report
}

fn resent(report: &Report) -> u64 {
    report.flows.iter().map(|flow| flow.resent).sum()
}

/// Each host is a device of its own, so that both may give the same STags.
#[test]
fn eight_connections_each_way_whose_stags_collide() {
    let workload = Workload {
        connections: 8,
        one_pair: true,
        same_stags: true,
        messages: 30,
        markers: Markers::Both,
        ..Workload::default()
    };
    let report = delivered("collide.pcap", &workload);
    let stags = |number: usize| -> Vec<&String> {
        let regions = report.flows[number].regions.iter();
        regions.map(|region| &region.stag).collect()
    };
    let index = |stag: &&String| stag[..stag.len() - 2].to_owned();
    let (mine, other): (Vec<String>, Vec<String>) = (
        stags(0).iter().map(index).collect(),
        stags(1).iter().map(index).collect(),
    );
    assert!(!mine.is_empty() && mine.iter().any(|stag| other.contains(stag)));
}

/// FPDUs of 64,000 octets on two connections at a time: ADR 13.
#[test]
fn two_flows_with_fpdus_of_64_000_octets() {
    let workload = Workload {
        connections: 1,
        messages: rnic_effort::count("messages", 1, 3),
        sizes: 60_000..=63_950,
        mulpdu: Some(64_000),
        cutter: Cutter::Full,
        one_pair: true,
        ..Workload::default()
    };
    let one_device = delivered("long.pcap", &workload);
    assert_eq!(one_device.flows.len(), 2);
    let crowded = Workload {
        connections: 3,
        ..workload
    };
    let report = delivered("long-crowded.pcap", &crowded);
    assert!(resent(&report) > 0, "each FPDU found room at once");
}

/// FPDUs of 64,000 octets in segments so small that one of them takes more pages than the reserve:
/// several fill packet memory. The driver closes a connection, and all others get through (ADR 13).
#[test]
fn fpdus_beyond_the_reserve_stop_only_their_own_connection() {
    if rnic_effort::is_left_out("a connection that is closed for its small segments") {
        return;
    }
    let workload = Workload {
        connections: 2,
        seed: 2,
        messages: 1,
        sizes: 60_000..=63_950,
        mulpdu: Some(64_000),
        mtu: 576,
        cutter: Cutter::Chopped,
        one_pair: true,
        ..Workload::default()
    };
    let file = generate(&workload).expect("a capture").file;
    let capture = rnic_capture::parse(Path::new("small.pcap"), file).expect("a sound capture");
    let flows = rnic_capture::flows(&capture, None);
    let report = agreed(&capture, &flows);
    let is_closed = |flow: &&FlowReport| flow.closed_for_room;
    let (closed, others): (Vec<_>, Vec<_>) = report.flows.iter().partition(is_closed);
    assert!(!closed.is_empty(), "each had room");
    assert!(!others.is_empty(), "all were closed");
    for flow in others {
        assert_eq!(
            flow.fpdus, 2,
            "{}: the opening Send and a message",
            flow.src
        );
    }
}

/// 64 connections that lose segments, with markers.
#[test]
fn sixty_four_lossy_flows_with_markers() {
    let workload = Workload {
        connections: 32,
        one_pair: true,
        messages: rnic_effort::count("messages", 6, 12),
        markers: Markers::Both,
        faults: Faults {
            loss: 0.05,
            resend: Resend::Lost,
            resend_after: 30,
            ..Faults::default()
        },
        ..Workload::default()
    };
    let report = delivered("lossy.pcap", &workload);
    assert_eq!(report.flows.len(), 64);
}

/// One connection that loses a fifth of its segments, with FPDUs of 64,000 octets and more on its
/// way than packet memory holds: what lies after an FPDU's gaps is given up for it, and comes
/// again.
#[test]
fn a_lossy_flow_with_long_fpdus_and_a_wide_window() {
    let workload = Workload {
        connections: 1,
        messages: rnic_effort::count("messages", 3, 8),
        sizes: 60_000..=63_950,
        mulpdu: Some(64_000),
        seed: 3,
        faults: Faults {
            loss: 0.2,
            resend: Resend::Lost,
            resend_after: 150,
            ..Faults::default()
        },
        ..Workload::default()
    };
    let report = delivered("wide.pcap", &workload);
    assert!(resent(&report) > 0, "everything found room at once");
}

/// A segment that is dropped for its checksum is not among what comes again for want of room.
#[test]
fn a_damaged_segment_of_a_flow_that_gives_up_ranges() {
    let workload = Workload {
        connections: 3,
        messages: 1,
        sizes: 60_000..=63_950,
        mulpdu: Some(64_000),
        cutter: Cutter::Full,
        one_pair: true,
        ..Workload::default()
    };
    let file = generate(&workload).expect("a capture").file;
    let mut capture =
        rnic_capture::parse(Path::new("damaged.pcap"), file).expect("a sound capture");
    let flows = rnic_capture::flows(&capture, None);
    // After it the same flow is refused pages, so that what it holds beyond gaps would come again.
    let damaged = &mut capture.frames[100];
    *damaged.last_mut().expect("a frame has octets") ^= 1;
    let report = agreed(&capture, &flows);
    assert!(resent(&report) > 0, "everything found room at once");
    assert_eq!(report.counters["drop_tcp_checksum"], 1, "sent again");
}
