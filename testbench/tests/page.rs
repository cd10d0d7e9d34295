//! The pictures of `rnic play --html`: what is drawn is what the run did, and all of it.
//!
//! The timeline is held against the report, which comes from the same run by another way; the marks
//! on the page against the timeline. A page from a timeline that lacks one series must fail.
use indicatif::ProgressBar;
use rnic_testbench::play::timeline::{SegmentKind, Stream, Timeline, TlpUse};
use rnic_testbench::play::{page, play, DutKind, Options, Report};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::OnceLock;

fn run(name: &str, dut: DutKind) -> Report {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("captures");
    let capture = rnic_capture::read(&path.join(name)).expect("the project's captures are whole");
    let flows = rnic_capture::flows(&capture, None);
    let options = Options {
        dut,
        timeline: true,
        ..Options::default()
    };
    let report = play(&capture, &flows, &options, &ProgressBar::hidden());
    let report = report.expect("it can be played");
    assert_eq!(report.mismatches, 0, "{name}: {:#?}", report.differences);
    report
}

/// Loss, reordering and duplicates, with markers.
fn lossy() -> &'static Report {
    static REPORT: OnceLock<Report> = OnceLock::new();
    REPORT.get_or_init(|| run("mk-loss.pcap", DutKind::Both))
}

fn streams(report: &Report, flow: usize) -> impl Iterator<Item = &Stream> {
    let streams = report
        .timelines
        .iter()
        .flat_map(|timeline| &timeline.streams);
    streams.filter(move |stream| stream.flow == flow)
}

fn packets(report: &Report, role: TlpUse) -> u64 {
    let counts = report.timelines.iter().flat_map(|timeline| &timeline.tlps);
    counts.filter(|c| c.role == role).map(|c| c.count).sum()
}

/// The timeline agrees with the report.
fn assert_agrees(report: &Report) {
    let name = &report.capture;
    for flow in &report.flows {
        let id = flow.id;
        let count = |kinds: &[SegmentKind]| {
            let segments = streams(report, id).flat_map(|stream| &stream.segments);
            segments.filter(|s| kinds.contains(&s.kind)).count() as u64
        };
        let beyond = count(&[SegmentKind::OutOfOrder, SegmentKind::OutsideWindow]);
        let in_order = count(&[SegmentKind::InOrder]);
        let counts = (in_order, beyond, count(&[SegmentKind::Duplicate]));
        let expected = (flow.in_order, flow.out_of_order, flow.duplicate);
        assert_eq!(counts, expected, "{name}, flow {id}: segments by kind");
        // What is sent again for lack of room was refused once or more often.
        let refused = count(&[SegmentKind::NoRoom, SegmentKind::Dropped]);
        let (again, none) = (flow.resent, flow.resent == 0);
        assert!(
            refused >= again && (refused == 0) == none,
            "{name}, flow {id}: {refused}"
        );
        let placed = || streams(report, id).flat_map(|stream| &stream.placements);
        let octets: u64 = placed().map(|p| u64::from(p.placed_octets)).sum();
        let out_of_order = placed().filter(|p| p.is_out_of_order);
        let out_of_order: u64 = out_of_order.map(|p| u64::from(p.placed_octets)).sum();
        let expected = (flow.placed_octets, flow.placed_out_of_order_octets);
        assert_eq!(
            (octets, out_of_order),
            expected,
            "{name}, flow {id}: octets placed"
        );
        let unmeasured = placed().filter(|p| p.latency().is_none()).count();
        assert_eq!(unmeasured, 0, "{name}, flow {id}: FPDUs without a latency");
        let pages = report.timelines.iter().flat_map(|timeline| &timeline.pages);
        let most = pages.map(|&(_, pages)| pages).max();
        assert!(most >= Some(flow.peak_pages), "{name}: {most:?} pages");
    }
    for timeline in &report.timelines {
        let odd = (timeline.unclaimed_writes, timeline.unmatched_verdicts);
        assert_eq!(odd, (0, 0), "{name}: writes and verdicts of nothing");
    }
    let entries = u64::from(report.counters["completions"]);
    assert_eq!(packets(report, TlpUse::CompletionEntry), entries, "{name}");
}

#[test]
fn timelines_agree_with_their_reports() {
    assert_agrees(lossy());
    let names = ["rping-v4-crc.pcap", "mk-chopped.pcap", "netem-send-bw.pcap"];
    for name in &names[..rnic_effort::count("captures", 2, names.len())] {
        assert_agrees(&run(name, DutKind::Rtl));
    }
}

/// Text of every `title` in `text`.
fn titles(text: &str) -> impl Iterator<Item = &str> {
    let rest = text.split("<title>").skip(1);
    rest.map(|rest| rest.split("</title>").next().unwrap_or_default())
}

/// The number at the start of `text`, with or without commas between its thousands.
fn leading_number(text: &str) -> u64 {
    let is_part = |&c: &char| c.is_ascii_digit() || c == ',';
    let digits = text.chars().take_while(is_part).filter(|c| *c != ',');
    digits.collect::<String>().parse().expect("a number")
}

type Counts = BTreeMap<String, u64>;

/// What a page shows of a playback, series by series, read from its text.
fn drawn(page: &str) -> Counts {
    let mut counts = Counts::new();
    let mut add = |name: String, count: u64| *counts.entry(name).or_default() += count;
    let mut sections = page.split("<details class=\"flow\"");
    let run = sections.next().expect("a text has a first part");
    for title in titles(run) {
        if let Some((_, bar)) = title.split_once(" cycles: ") {
            let (in_order, out_of_order) =
                bar.split_once(" FPDUs in order, ").expect("both counts");
            add("latency in order".into(), leading_number(in_order));
            add("latency out of order".into(), leading_number(out_of_order));
        }
    }
    for peak in run.split(">peak ").skip(1) {
        add("peak pages".into(), leading_number(peak));
    }
    let bars = run.split("Transaction layer packets by kind").nth(1);
    for row in bars.unwrap_or_default().split("class=\"end\"").skip(1) {
        let texts: Vec<&str> = row.split('>').collect();
        let name = texts[1].trim_end_matches("</text");
        let count = texts
            .iter()
            .find(|text| text.starts_with(|c: char| c.is_ascii_digit()));
        add(
            format!("TLPs, {name}"),
            leading_number(count.expect("a count")),
        );
    }
    for (flow, section) in sections.enumerate() {
        for title in titles(section) {
            let segment = title.strip_prefix("frame ");
            let cycle = segment.and_then(|text| text.split_once("cycle "));
            let series = match cycle.and_then(|(_, rest)| rest.split_once(", ")) {
                Some((_, kind)) => kind,
                None => title.split([':', ' ']).next().unwrap_or_default(),
            };
            add(format!("flow {flow}, {series}"), 1);
        }
    }
    counts
}

/// What a page has to show of `report`.
fn expected(report: &Report) -> Counts {
    let mut counts = Counts::new();
    let mut add = |name: String, count: usize| {
        if count > 0 {
            *counts.entry(name).or_default() += count as u64;
        }
    };
    for flow in &report.flows {
        let id = flow.id;
        let segments = || streams(report, id).flat_map(|stream| &stream.segments);
        let in_order = segments().filter(|s| s.kind == SegmentKind::InOrder);
        let late = in_order.filter(|s| s.is_late).count();
        let name = |series: &str| format!("flow {id}, {series}");
        add(name("in order"), flow.in_order as usize - late);
        add(name("in order, late: sent again or overtaken"), late);
        add(
            name("out of order: beyond a gap"),
            flow.out_of_order as usize,
        );
        add(name("duplicate: nothing new"), flow.duplicate as usize);
        let gaps = streams(report, id).map(|stream| stream.gaps.len());
        add(name("gap"), gaps.sum());
        let placed = || streams(report, id).flat_map(|stream| &stream.placements);
        let out_of_order = placed().filter(|p| p.is_out_of_order).count();
        add(name("FPDU"), out_of_order);
        add("latency in order".into(), placed().count() - out_of_order);
        add("latency out of order".into(), out_of_order);
    }
    for timeline in &report.timelines {
        let pages = timeline.pages.iter().map(|&(_, pages)| pages);
        add("peak pages".into(), pages.max().unwrap_or(0) as usize);
    }
    for (role, name) in [
        (TlpUse::Payload, "memory writes: payload"),
        (TlpUse::CompletionEntry, "memory writes: completion entries"),
        (TlpUse::HostFrame, "memory writes: host receive ring"),
        (TlpUse::Event, "memory writes: event ring"),
        (TlpUse::RegisterValue, "completions: register values"),
        (TlpUse::RegisterWrite, "to the device: register writes"),
        (TlpUse::RegisterRead, "to the device: register reads"),
    ] {
        add(format!("TLPs, {name}"), packets(report, role) as usize);
    }
    counts
}

#[test]
fn the_page_has_one_mark_for_each_segment_gap_and_placement() {
    let report = lossy();
    let page = page::text(std::slice::from_ref(report));
    let drawn = drawn(&page);
    assert_eq!(drawn, expected(report));
    for series in [
        "flow 0, in order, late: sent again or overtaken",
        "flow 0, out of order: beyond a gap",
        "flow 0, duplicate: nothing new",
        "flow 1, in order",
        "flow 1, gap",
        "flow 1, FPDU",
        "latency out of order",
    ] {
        assert!(drawn.contains_key(series), "the capture has {series}");
    }
    assert!(!page.contains("Thinned"), "nothing was thinned");
    for outside in ["http", "src=", "href=", "<script", "@import", "url("] {
        assert!(!page.contains(outside), "the page loads {outside}");
    }
    let frames = titles(&page).filter(|title| title.starts_with("frame "));
    let mut frames: Vec<&str> = frames.filter_map(|t| t.split(':').next()).collect();
    let marks = frames.len();
    frames.sort_unstable();
    frames.dedup();
    assert_eq!(frames.len(), marks, "each frame has one mark");
}

/// A change that takes one series from a timeline.
type Drop = fn(&mut Timeline);

fn segments_but(timeline: &mut Timeline, kind: SegmentKind) {
    for stream in &mut timeline.streams {
        stream.segments.retain(|segment| segment.kind != kind);
    }
}

/// The canary: a page that lacks a series is found out.
#[test]
fn a_dropped_series_is_noticed() {
    let drops: [(&str, Drop); 9] = [
        ("in order", |t| segments_but(t, SegmentKind::InOrder)),
        ("out of order", |t| segments_but(t, SegmentKind::OutOfOrder)),
        ("duplicates", |t| segments_but(t, SegmentKind::Duplicate)),
        ("gaps", |t| {
            t.streams.iter_mut().for_each(|s| s.gaps.clear())
        }),
        ("placed out of order", |t| {
            let streams = t.streams.iter_mut();
            streams.for_each(|s| s.placements.retain(|p| !p.is_out_of_order));
        }),
        ("latency", |t| {
            t.streams.iter_mut().for_each(|s| s.placements.clear())
        }),
        ("writes", |t| {
            let placements = t.streams.iter_mut().flat_map(|s| &mut s.placements);
            placements.for_each(|p| p.writes = None);
        }),
        ("pages", |t| t.pages.clear()),
        ("TLPs", |t| {
            t.tlps.retain(|count| count.role != TlpUse::Payload)
        }),
    ];
    let whole = expected(lossy());
    for (name, drop) in drops {
        let mut report = lossy().clone();
        report.timelines.iter_mut().for_each(drop);
        assert_ne!(drawn(&page::text(&[report])), whole, "{name}");
    }
}

#[test]
fn the_model_alone_has_no_pictures_and_the_page_says_why() {
    let report = run("mk-loss.pcap", DutKind::Model);
    assert!(report.timelines.is_empty());
    let page = page::text(&[report]);
    assert!(
        !page.contains("<svg") && page.contains("--dut both"),
        "{page}"
    );
    assert!(page.contains("the model has no clock"), "{page}");
}

#[test]
fn what_is_not_asked_for_is_not_kept_and_json_stays_as_it_is() {
    let report = lossy();
    let json = serde_json::to_value(report).expect("reports are plain data");
    assert!(json.get("timelines").is_none());
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("captures/rping-v4-crc.pcap");
    let capture = rnic_capture::read(&path).expect("the project's captures are whole");
    let flows = rnic_capture::flows(&capture, None);
    let report = play(
        &capture,
        &flows,
        &Options::default(),
        &ProgressBar::hidden(),
    );
    assert!(report.expect("it can be played").timelines.is_empty());
}
