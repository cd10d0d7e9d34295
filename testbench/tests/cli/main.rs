//! The command line as its user meets it: exit statuses, one line that says what is wrong and what
//! to do, never a panic.
//!
//! Status 0: all good, 1: a difference, 2: the input or the options cannot be used. Captures are
//! written here octet by octet; the software model plays them, so no test waits for Verilator.
mod outputs;
mod standard_output;
mod interrupted;
mod peer;

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

/// Runs `rnic` with `arguments`; whatever they are, it must not panic.
fn rnic(arguments: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_rnic"))
        .args(arguments)
        .output()
        .expect("cargo has built it");
    for word in ["panicked", "RUST_BACKTRACE", "stack backtrace"] {
        let said = stderr(&output);
        assert!(!said.contains(word), "{arguments:?} panics: {said}");
    }
    output
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// `rnic` refuses `arguments` with status 2 and words that hold each of `names`.
fn refuses(arguments: &[&str], names: &[&str]) -> Output {
    let output = rnic(arguments);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    for name in names {
        assert!(
            said.contains(name),
            "{arguments:?} does not name {name}: {said}"
        );
    }
    output
}

/// As [`refuses`], and the words are one line.
fn refuses_in_one_line(arguments: &[&str], names: &[&str]) {
    let said = stderr(&refuses(arguments, names));
    assert_eq!(said.trim_end().lines().count(), 1, "{said}");
}

/// A file of this test run that holds `octets`.
fn file(name: &str, octets: &[u8]) -> String {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, octets).expect("cargo's folder for tests is writable");
    path.to_str().expect("cargo's folder is UTF-8").to_owned()
}

const LINK_ETHERNET: u32 = 1;
const LINK_RADIOTAP: u32 = 127;

/// The head of a classic pcap file, little-endian, microseconds.
fn pcap_head(link: u32) -> Vec<u8> {
    let mut octets = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
    octets.extend([2, 0, 4, 0]); // version 2.4
    octets.extend([0; 8]); // time zone and accuracy
    octets.extend(65_535_u32.to_le_bytes());
    octets.extend(link.to_le_bytes());
    octets
}

/// A packet record: `frame`, of which the wire had `original` octets.
fn pcap_record(frame: &[u8], original: u32) -> Vec<u8> {
    let captured = u32::try_from(frame.len()).expect("a short frame");
    let mut octets = vec![0; 8]; // time
    octets.extend(captured.to_le_bytes());
    octets.extend(original.to_le_bytes());
    octets.extend(frame);
    octets
}

/// An ARP request for 192.0.2.1, padded to the shortest Ethernet frame.
fn arp_frame() -> Vec<u8> {
    let mut frame = vec![0xff; 6];
    frame.extend([2, 0, 0, 0, 0, 1, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
    frame.extend([
        2, 0, 0, 0, 0, 1, 192, 0, 2, 2, 0, 0, 0, 0, 0, 0, 192, 0, 2, 1,
    ]);
    frame.resize(60, 0);
    frame
}

/// A capture of one ARP request: sound, and without iWARP.
/// A capture with two flows, in [`FRAMES`] frames.
fn capture(name: &str) -> String {
    file(name, PLAYABLE)
}

const PLAYABLE: &[u8] = include_bytes!("../cases/base.pcap");
/// The beginning of its report's first line.
const FRAMES: &str = "25 frames,";

fn capture_without_iwarp(name: &str) -> String {
    let frame = arp_frame();
    let whole = [pcap_head(LINK_ETHERNET), pcap_record(&frame, 60)].concat();
    file(name, &whole)
}

#[test]
fn without_a_command_or_a_capture_the_usage_is_printed() {
    refuses(&[], &["Usage"]);
    refuses(&["play"], &["CAPTURE"]);
    refuses(&["juggle"], &["juggle"]);
}

#[test]
fn options_that_cannot_be_used_are_named_with_what_to_use() {
    let capture = capture_without_iwarp("options.pcap");
    let play = |option: &[&str], names: &[&str]| {
        refuses(&[&["play", &capture], option].concat(), names);
    };
    play(&["--colour"], &["--colour"]);
    play(&["--width", "65"], &["--width", "65", "64, 128 or 512"]);
    play(&["--dut", "hardware"], &["--dut", "hardware", "model"]);
    play(&["--stall", "1"], &["--stall"]);
    play(&["--seed", "-1"], &["-1"]);
    play(&["--mpa", "m=2"], &["--mpa", "m=0|1"]);
    play(&["--mpa", "m=1,c=1"], &["--mpa", "start"]);
    play(&["--mpa", "start=0x1F"], &["start=31 (0x1f)"]);
    play(&["--mpa", "start=0X1f"], &["start=31 (0x1f)"]);
    play(&["--mpa", "start=0y1f"], &["0y1f", "sequence number"]);
    play(&["--trace-frames", "1..2"], &["--trace"]);
    refuses(
        &["emit", "--width", "32", "--out", "never-made"],
        &["--width", "32"],
    );
    refuses(&["emit"], &["--out"]);
    refuses(
        &["emit", "--ip", "--amd", "--out", "never-made"],
        &["--ip", "--amd"],
    );
    refuses(&["bench", "--width", "65"], &["--width", "65"]);
    refuses(&["fuzz", "--width", "65"], &["--width", "65"]);
    refuses(&["fuzz", "--runs", "many"], &["--runs", "many"]);
    refuses(&["fuzz", "--only", "3"], &["--seed"]);
    refuses(
        &["fuzz", "--seed", "1", "--only", "3", "--runs", "2"],
        &["--runs"],
    );
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    refuses_in_one_line(
        &["play", "--dut", "model", "no-such-file.pcap"],
        &["no-such-file.pcap"],
    );
    let folder = env!("CARGO_TARGET_TMPDIR");
    refuses_in_one_line(&["play", "--dut", "model", folder], &[folder]);
}

#[test]
fn a_file_that_is_no_capture_is_named() {
    for (name, octets) in [
        ("text.pcap", &b"frames, some of them\n"[..]),
        ("half-a-head.pcap", &pcap_head(LINK_ETHERNET)[..11]),
        ("not-gzip.pcap.gz", &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 7]),
    ] {
        let path = file(name, octets);
        refuses_in_one_line(&["play", "--dut", "model", &path], &[name]);
    }
}

/// A recorder that saw nothing leaves such a file: the report is whole, and says why it is empty.
#[test]
fn an_empty_file_is_named_beside_its_report() {
    let path = file("nothing.pcap", &[]);
    let output = refuses(
        &["play", "--dut", "model", &path],
        &["nothing.pcap", "is empty: 0 octets"],
    );
    assert!(stdout(&output).contains("0 frames"), "{}", stdout(&output));
}

/// What is whole is played; here nothing of it has a flow.
#[test]
fn a_capture_cut_inside_a_packet_is_named_with_the_last_whole_frame() {
    let record = pcap_record(&arp_frame(), 60);
    let whole = [pcap_head(LINK_ETHERNET), record.clone(), record].concat();
    let path = file("cut.pcap", &whole[..whole.len() - 7]);
    let output = refuses(
        &["play", "--dut", "model", &path],
        &["cut.pcap", "after frame 1", "1 whole frame"],
    );
    assert!(stdout(&output).contains("1 frames"), "{}", stdout(&output));
}

/// A frame of no connection that is played may be cut short.
#[test]
fn a_frame_that_was_not_captured_whole_is_named() {
    let record = pcap_record(&arp_frame(), 1514);
    let octets = [pcap_head(LINK_ETHERNET), record].concat();
    let path = file("snapped.pcap", &octets);
    refuses(
        &["play", "--dut", "model", &path],
        &["snapped.pcap", "cut by a snap length: 1 frame (1)"],
    );
}

#[test]
fn a_capture_of_another_link_is_refused() {
    let octets = [pcap_head(LINK_RADIOTAP), pcap_record(&[0; 40], 40)].concat();
    let path = file("radiotap.pcap", &octets);
    refuses_in_one_line(
        &["play", "--dut", "model", &path],
        &["radiotap.pcap", "127 (802.11 with a radiotap header)"],
    );
}

/// It is played, the report is whole, and stderr says why it has no flow; one that has is played as
/// well.
#[test]
fn a_capture_without_iwarp_is_played_and_said_to_have_no_flow() {
    let empty = file("empty.pcap", &pcap_head(LINK_ETHERNET));
    let arp = capture_without_iwarp("arp.pcap");
    for (path, frames, why) in [
        (empty, "0 frames", "an empty capture"),
        (arp, "1 frames", "1 frame (1): without TCP"),
    ] {
        let output = refuses(&["play", "--dut", "model", &path], &["nothing", why]);
        let said = stdout(&output);
        assert!(said.contains(frames) && said.contains("no flow"), "{said}");
    }
}

#[test]
fn the_report_is_json_with_the_names_of_the_contract() {
    let path = capture_without_iwarp("json.pcap");
    let output = refuses(
        &["play", "--dut", "model", "--json", "-", &path],
        &["without TCP"],
    );
    let report: serde_json::Value =
        serde_json::from_slice(&output.stdout).expect("nothing but JSON on stdout");
    assert_eq!(report["tool"], "rnic");
    assert_eq!(report["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&report["width"], &report["seed"]), (&64.into(), &1.into()));
    assert_eq!(report["dut"], "model");
    assert_eq!(report["frames"], 1);
    assert_eq!(report["host_path_frames"], 1);
    assert_eq!(report["mismatches"], 0);
    assert!(report["cycles"].is_number() && report["wall_s"].is_number());
    assert!(report["counters"].is_object());
    assert_eq!(report["flows"], serde_json::json!([]));
    assert_eq!(report["notes"], serde_json::json!([]));
    assert_eq!(report["causes"][0]["kind"], "no_tcp");
    assert_eq!(report["causes"][0]["count"], 1);
    assert_eq!(report["causes"][0]["frames"], serde_json::json!([1]));
}

#[test]
fn the_page_shows_every_capture_and_loads_nothing() {
    let paths = ["page-1.pcap", "page-2.pcap"].map(capture_without_iwarp);
    let page = file("report.html", b"what was there before");
    let [first, second] = &paths;
    let arguments = ["play", "--dut", "model", "--html", &page, first, second];
    refuses(&arguments, &["page-1.pcap", "page-2.pcap"]);
    let text = fs::read_to_string(&page).expect("it was written");
    assert!(
        text.starts_with("<!DOCTYPE html>") && text.ends_with("</html>"),
        "{text}"
    );
    for part in ["page-1.pcap", "page-2.pcap", "host_frames", "model alone"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    for outside in [
        "http:", "https:", "src=", "href=", "<script", "@import", "url(",
    ] {
        assert!(!text.contains(outside), "{outside} in {text}");
    }
}

/// A netlist has no waveform, and is synthesised already.
/// Each thing that can be emitted alone, at each width.
#[test]
fn parts_of_the_core_are_emitted_at_every_width() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("emitted");
    let parts = [
        ("--amd", "amd_adapter"),
        ("--reads", "reads"),
        ("--transmit", "transmit"),
    ];
    for width in ["64", "128", "512"] {
        for (option, module) in parts {
            let out = folder.join(width);
            let arguments = [
                "emit",
                option,
                "--width",
                width,
                "--out",
                out.to_str().expect("UTF-8"),
            ];
            let output = rnic(&arguments);
            assert_eq!(
                output.status.code(),
                Some(0),
                "{arguments:?}: {}",
                stderr(&output)
            );
            let text = fs::read_to_string(out.join(format!("{module}.v")));
            let text = text.expect("the file that the command names");
            let head = format!("module {module}(");
            assert!(text.contains(&head), "{arguments:?}: no {head}");
        }
    }
}

#[test]
fn options_that_a_netlist_does_not_take_are_refused() {
    let capture = capture_without_iwarp("netlist.pcap");
    for option in [&["--silicon"][..], &["--trace", "netlist.fst"]] {
        let arguments = [&["play", "--dut", "netlist", &capture], option].concat();
        refuses_in_one_line(&arguments, &["--dut netlist", "--silicon and --trace"]);
    }
    refuses_in_one_line(
        &["play", "--dut", "netlist", "--connections", "300", &capture],
        &["300 connections"],
    );
}

#[test]
fn unusable_files_of_options_are_named() {
    let capture = capture_without_iwarp("options.pcap");
    let play = |option: &str, path: &str, names: &[&str]| {
        refuses_in_one_line(&["play", "--dut", "model", option, path, &capture], names);
    };
    play("--regions", "no-such.toml", &["no-such.toml"]);
    let below_a_file = format!("{capture}/report.json");
    play("--json", &below_a_file, &[&below_a_file]);
    play("--html", &below_a_file, &[&below_a_file]);
    // Before a run, not when there is something to write.
    refuses_in_one_line(&["fuzz", "--json", &below_a_file], &[&below_a_file]);
    refuses_in_one_line(&["fuzz", "--out", &below_a_file], &[&below_a_file]);
    let path = file("broken.toml", b"[[region]\n");
    refuses(
        &["play", "--dut", "model", "--regions", &path, &capture],
        &["broken.toml"],
    );
}

#[test]
fn help_shows_an_example_for_every_command() {
    for command in [
        &["--help"][..],
        &["play", "--help"],
        &["gen", "--help"],
        &["fuzz", "--help"],
        &["emit", "--help"],
        &["bench", "--help"],
    ] {
        let output = rnic(command);
        let said = stdout(&output);
        assert_eq!(output.status.code(), Some(0));
        let shown = said.split("Example").nth(1).unwrap_or_default();
        assert!(shown.contains("\n  rnic "), "{command:?}: {said}");
    }
}

/// A file without an octet is a capture from which nothing can be played, in JSON as well.
#[test]
fn an_empty_file_has_a_report_that_says_why() {
    let empty = file("empty.pcap", b"");
    let play = ["play", "--dut", "model", "--json", "-", &empty];
    let output = refuses(&play, &["nothing could be played", "is empty: 0 octets"]);
    let report = serde_json::from_str::<serde_json::Value>(&stdout(&output)).expect("one report");
    assert_eq!(report["causes"][0]["kind"], "empty");
    assert_eq!(report["frames"], 0);
}
