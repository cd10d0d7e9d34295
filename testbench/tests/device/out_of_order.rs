//! Loss with markers: what arrives beyond a gap is placed as it comes, and fills no packet memory.

use indicatif::ProgressBar;
use rnic_abi::limits::PAGES;
use rnic_capture::Capture;
use rnic_testbench::play::{play, summary, FlowReport, Options, Report};
use rnic_testbench::workload::{generate, Markers, Mix, Workload};
use rnic_wire::ddp::rdmap::Opcode;
use std::path::Path;

/// Of so many segments one is late, ...
const LATE_OF: usize = 100;
/// ... and so many pass it.
const PASSED_BY: usize = 30;
/// Header octets of a tagged DDP segment.
const TAGGED_HEADER: u64 = 14;

/// Writes with markers: an FPDU to a segment, and in each of them a marker.
fn in_order() -> Capture {
    let workload = Workload {
        messages: 2,
        sizes: 400_000..=400_000,
        mix: Mix([(Opcode::RdmaWrite, 1)].into()),
        markers: Markers::Responder,
        ..Workload::default()
    };
    let generation = generate(&workload).expect("a sound workload");
    rnic_capture::parse(Path::new("writes.pcap"), generation.file).expect("a sound capture")
}

/// TCP payload of an untagged IPv4 frame.
fn payload(frame: &[u8]) -> &[u8] {
    let ip = &frame[14..];
    let ip_octets = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
    let tcp = &ip[usize::from(ip[0] & 0xf) * 4..ip_octets];
    &tcp[usize::from(tcp[12] >> 4) * 4..]
}

/// Octets that the FPDU at the start of this segment writes; it may open with a marker, which is 0.
fn written(segment: &[u8]) -> u64 {
    let fpdu = if segment[..4] == [0; 4] {
        &segment[4..]
    } else {
        segment
    };
    assert_eq!(fpdu[2] & 0x80, 0x80, "writes are tagged");
    u64::from(u16::from_be_bytes([fpdu[0], fpdu[1]])) - TAGGED_HEADER
}

/// The capture with each 100th full segment of the initiator late, and the octets that arrive
/// beyond a gap.
fn late(capture: &Capture) -> (Capture, u64) {
    let source = |frame: &[u8]| frame[26..30].to_vec();
    let initiator = source(&capture.frames[0]);
    let is_full = |frame: &Vec<u8>| source(frame) == initiator && payload(frame).len() > 1000;
    let frames = capture.frames.iter().enumerate();
    let full: Vec<usize> = frames
        .filter(|(_, frame)| is_full(frame))
        .map(|(at, _)| at)
        .collect();
    let mut order: Vec<(usize, usize)> = (0..capture.frames.len()).map(|at| (at, at)).collect();
    let mut beyond = 0;
    let mut delayed = 0;
    for at in (LATE_OF - 1..full.len() - PASSED_BY).step_by(LATE_OF) {
        let passing = &full[at + 1..=at + PASSED_BY];
        beyond += passing
            .iter()
            .map(|&at| written(payload(&capture.frames[at])))
            .sum::<u64>();
        order[full[at]].0 = full[at + PASSED_BY];
        delayed += 1;
    }
    assert!(delayed >= 5, "{delayed} segments are late");
    // Of two with the same place the late one, which stands before it, comes after.
    order.sort_by_key(|&(place, at)| (place, place - at));
    let frames = order.iter().map(|&(_, at)| capture.frames[at].clone());
    let frames = frames.collect();
    let path = capture.path.clone();
    (Capture::new(path, frames), beyond)
}

fn run(capture: &Capture) -> Report {
    let flows = rnic_capture::flows(capture, None);
    let report = play(capture, &flows, &Options::default(), &ProgressBar::hidden());
    let report = report.expect("it can be played");
    assert_eq!(report.mismatches, 0, "{:#?}", report.differences);
    report
}

/// What does not depend on the order of arrival.
fn results(flow: &FlowReport) -> String {
    let results = (
        &flow.regions,
        &flow.receives,
        flow.fpdus,
        flow.placed_octets,
    );
    serde_json::to_string(&results).expect("reports are plain data")
}

/// MPA-044, MPA-045, DDP-024: placed at arrival, delivered in order.
#[test]
fn mpa_045_with_markers_what_passes_a_late_segment_is_placed_at_arrival() {
    let capture = in_order();
    let (late, beyond) = late(&capture);
    let (expected, report) = (run(&capture), run(&late));
    let flow = &report.flows[0];
    assert!(flow.mpa.markers && flow.error.is_none());
    assert_eq!(expected.flows[0].placed_out_of_order_octets, 0);
    let placed = flow.placed_out_of_order_octets;
    assert!(
        placed <= beyond && placed * 100 >= beyond * 99,
        "{placed} of {beyond} octets were placed at arrival"
    );
    let line = format!("{placed} octets placed out of order");
    assert!(summary::text(&report).contains(&line), "{line}");
    let pages = flow.peak_pages;
    assert!(pages < 16, "{pages} of {PAGES} pages were in use");
    for (flow, expected) in report.flows.iter().zip(&expected.flows) {
        assert_eq!(results(flow), results(expected), "flow {}", flow.id);
    }
}
