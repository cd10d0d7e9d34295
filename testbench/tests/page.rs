//! The pictures of `rnic play --html`: what is drawn is what the run did, and all of it.
use indicatif::ProgressBar;
use rnic_testbench::capture;
use rnic_testbench::play::timeline::{SegmentKind, Timeline};
use rnic_testbench::play::{play, DutKind, Options, Report};
use std::path::PathBuf;

fn run(name: &str, dut: DutKind) -> Report {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("captures");
    let capture = capture::read(&path.join(name)).expect("the project's captures are whole");
    let flows = capture::flows(&capture, None);
    let options = Options {
        dut,
        timeline: true,
        ..Options::default()
    };
    let report = play(&capture, &flows, &options, &ProgressBar::hidden());
    let report = report.expect("it can be played");
    assert_eq!(report.mismatches, 0, "{:#?}", report.differences);
    report
}

/// Segments of a flow with one of `kinds`.
fn segments(timelines: &[Timeline], flow: usize, kinds: &[SegmentKind]) -> u64 {
    let streams = timelines.iter().flat_map(|timeline| &timeline.streams);
    let of_flow = streams.filter(|stream| stream.flow == flow);
    let segments = of_flow.flat_map(|stream| &stream.segments);
    segments.filter(|s| kinds.contains(&s.kind)).count() as u64
}

/// The timeline agrees with the report, which comes from the same run by another way.
fn assert_agrees(report: &Report) {
    let timelines = &report.timelines;
    for flow in &report.flows {
        let count = |kinds: &[SegmentKind]| segments(timelines, flow.id, kinds);
        assert_eq!(count(&[SegmentKind::InOrder]), flow.in_order);
        let beyond = [SegmentKind::OutOfOrder, SegmentKind::OutsideWindow];
        assert_eq!(count(&beyond), flow.out_of_order);
        assert_eq!(count(&[SegmentKind::Duplicate]), flow.duplicate);
        let streams = timelines.iter().flat_map(|timeline| &timeline.streams);
        let streams = streams.filter(|stream| stream.flow == flow.id);
        let placed = streams.flat_map(|stream| &stream.placements);
        let placed: Vec<_> = placed.copied().collect();
        let octets = |early: bool| {
            let placed = placed.iter().filter(|p| !early || p.is_early);
            placed.map(|p| u64::from(p.placed_octets)).sum::<u64>()
        };
        assert_eq!(octets(false), flow.placed_octets);
        assert_eq!(octets(true), flow.placed_out_of_order_octets);
        let measured: Vec<u64> = placed.iter().filter_map(|p| p.latency()).collect();
        eprintln!(
            "flow {}: latency {:?}..{:?} of {}",
            flow.id,
            measured.iter().min(),
            measured.iter().max(),
            measured.len()
        );
        assert_eq!(
            measured.len(),
            placed.len(),
            "every placed FPDU is measured"
        );
        let most = timelines.iter().flat_map(|timeline| &timeline.pages);
        assert!(most.map(|&(_, pages)| pages).max() >= Some(flow.peak_pages));
    }
    for timeline in timelines {
        assert_eq!(
            (timeline.unclaimed_writes, timeline.unmatched_verdicts),
            (0, 0)
        );
    }
}

#[test]
fn the_timeline_of_a_capture_with_loss_and_markers_agrees_with_its_report() {
    for name in ["mk-loss.pcap", "rping-v4-crc.pcap"] {
        let report = run(name, DutKind::Both);
        assert_agrees(&report);
        for t in &report.timelines {
            eprintln!("{:?} {} {}", t.tlps, t.pages.len(), t.end_cycle);
            for s in &t.streams {
                eprintln!(
                    "flow {} segs {} gaps {} {:?} early {} startup {} repeats {} ",
                    s.flow,
                    s.segments.len(),
                    s.gaps.len(),
                    s.gaps.first(),
                    s.placements.iter().filter(|p| p.is_early).count(),
                    s.startup_segments,
                    s.segments.iter().filter(|s| s.is_repeat).count()
                );
            }
        }
    }
}
