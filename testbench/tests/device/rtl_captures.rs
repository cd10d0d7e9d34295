//! RTL against model over every capture: each octet, completion, verdict and counter.

use indicatif::ProgressBar;
use rnic_testbench::docs;
use rnic_testbench::play::{play, summary, Options, Report};
use std::path::{Path, PathBuf};

/// Markers in segments cut anywhere; losses; VLAN tags and IPv6; every opcode; two FPDUs a segment.
const SOME: [&str; 5] = [
    "mk-chopped",
    "mk-loss",
    "mk-v6-vlan",
    "ops-v4-crc",
    "rping-v4-crc",
];

fn captures() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("captures");
    let entries = std::fs::read_dir(&folder).expect("testbench/captures is part of the project");
    let paths = entries.map(|entry| entry.expect("a readable folder").path());
    let is_capture = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "pcap");
    let mut paths: Vec<PathBuf> = paths.filter(is_capture).collect();
    paths.sort();
    assert!(
        paths.len() >= 10,
        "{} holds {} captures only",
        folder.display(),
        paths.len()
    );
    paths
}

/// All captures in a long run; in a short one those named, which differ most in what they hold.
fn some_or_all(some: &[&str]) -> Vec<PathBuf> {
    let all = captures();
    let count = rnic_effort::count("captures", some.len(), all.len());
    match count == all.len() {
        true => all,
        false => named(all, some),
    }
}

/// Those of `captures` with these names.
fn named(captures: Vec<PathBuf>, names: &[&str]) -> Vec<PathBuf> {
    let is_one = |path: &PathBuf| {
        names
            .iter()
            .any(|name| path.file_stem() == Some(name.as_ref()))
    };
    let found: Vec<PathBuf> = captures.into_iter().filter(is_one).collect();
    assert_eq!(found.len(), names.len(), "{names:?}");
    found
}

fn run(path: &Path, options: &Options) -> Report {
    let capture = rnic_capture::read(path).expect("the project's captures are whole");
    let flows = rnic_capture::flows(&capture, None);
    let report = play(&capture, &flows, options, &ProgressBar::hidden());
    let report = report.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert_eq!(
        report.mismatches,
        0,
        "{} at width {}, seed {}: {:#?}",
        path.display(),
        options.width,
        options.seed,
        report.differences
    );
    report
}

/// What must not depend on the width: flows with their counts, memory and messages.
fn stable(report: &Report) -> String {
    let mut flows = report.flows.clone();
    for flow in &mut flows {
        flow.peak_pages = 0;
        // Whether a gap has closed when an FPDU after it is whole is a matter of cycles.
        flow.placed_out_of_order_octets = 0;
    }
    serde_json::to_string(&flows).expect("reports are plain data")
}

/// MPA-017, MPA-043, DDP-020, DDP-025, RDMAP-015 on real and generated traffic.
#[test]
fn rtl_and_model_agree_on_every_capture() {
    for path in captures() {
        run(&path, &Options::default());
    }
}

/// The lines of a report, but for how fast this machine simulates.
fn without_speed(text: &str) -> Vec<String> {
    let lines = text.lines().map(|line| match line.split_once(" (") {
        Some((cycles, rest)) if cycles.ends_with(" cycles") => {
            let (_, rest) = rest.split_once("), ").expect("the speed, then the time");
            format!("{cycles}, {rest}")
        }
        _ => line.to_owned(),
    });
    lines.collect()
}

/// What `make demo` prints is what docs/play.md shows, cycles included.
#[test]
fn the_demo_prints_what_its_page_shows() {
    let path = named(captures(), &["rping-v4-crc"]).remove(0);
    let printed = summary::text(&run(&path, &Options::default()));
    let page = docs::workspace_root().join("docs/play.md");
    let page = docs::read(&page).unwrap_or_else(|problem| panic!("{problem}"));
    let sample = docs::markdown::sample(&page, "demo").expect("play.md has the sample");
    assert_eq!(without_speed(&printed), without_speed(sample));
}

#[test]
fn canary_other_cycles_are_found() {
    let line = |cycles: u32, speed: u32| format!("{cycles} cycles ({speed} cycles/s), 1 ms\n");
    let [text, slower, other] = [line(20, 7), line(20, 5), line(21, 7)].map(|x| without_speed(&x));
    assert_eq!(text, slower);
    assert_ne!(text, other);
}

#[test]
fn rtl_and_model_agree_on_captures_at_128_and_widths_give_the_same() {
    if rnic_effort::is_left_out("W = 128") {
        return;
    }
    for path in some_or_all(&SOME) {
        let narrow = run(&path, &Options::default());
        let wide = run(
            &path,
            &Options {
                width: 128,
                ..Options::default()
            },
        );
        assert_eq!(stable(&narrow), stable(&wide), "{}", path.display());
    }
}

#[test]
fn rtl_and_model_agree_on_some_captures_at_512() {
    let some = [
        "mk-aligned",
        "mk-chopped",
        "mk-v6-vlan",
        "nagle-send-bw",
        "rping-v4-crc",
    ];
    for path in named(captures(), &some) {
        run(
            &path,
            &Options {
                width: 512,
                ..Options::default()
            },
        );
    }
}

/// The device sends each capture to itself, through its transmit rings: what it receives is the
/// same as from the wire.
#[test]
fn captures_looped_back_give_the_same() {
    for path in some_or_all(&SOME) {
        let looped = Options {
            loopback: true,
            ..Options::default()
        };
        let looped = run(&path, &looped);
        let sent = looped.counters["tx_frames"];
        assert_eq!(sent, looped.counters["frames"], "{}", path.display());
        assert_eq!(stable(&looped), stable(&run(&path, &Options::default())));
    }
}

#[test]
fn back_pressure_from_the_host_changes_nothing() {
    let path = captures()
        .into_iter()
        .find(|path| path.ends_with("rping-v4-crc.pcap"));
    let path = path.expect("the demo's capture");
    let calm = run(&path, &Options::default());
    for seed in [1, 2] {
        let stalled = run(
            &path,
            &Options {
                stall: 0.5,
                seed,
                ..Options::default()
            },
        );
        assert_eq!(stable(&calm), stable(&stalled), "seed {seed}");
    }
}

/// The canary: a comparison that is blind would let this pass.
#[test]
fn a_region_that_is_too_short_is_seen_as_a_refusal_and_not_as_a_difference() {
    let path = captures()
        .into_iter()
        .find(|path| path.ends_with("rping-v4-crc.pcap"));
    let path = path.expect("the demo's capture");
    let capture = rnic_capture::read(&path).expect("the project's captures are whole");
    let flows = rnic_capture::flows(&capture, None);
    let region = &flows[1].regions[0];
    let short = format!(
        "[[region]]\nstag = {}\nlength = {}\n",
        region.stag,
        region.octets - 1
    );
    let file = std::env::temp_dir().join(format!("rnic-regions-{}.toml", std::process::id()));
    std::fs::write(&file, short).expect("a writable temporary folder");
    let regions = rnic_testbench::play::regions::read(&file).expect("a good file");
    std::fs::remove_file(&file).expect("it was just written");
    let report = run(
        &path,
        &Options {
            regions: Some(regions),
            ..Options::default()
        },
    );
    let error = report.flows[1]
        .error
        .as_ref()
        .expect("the last octet lies outside");
    assert_eq!((error.layer, error.etype, error.code), ("ddp", 1, 1));
    assert!(report.flows[1].placed_octets < 41_560);
}
