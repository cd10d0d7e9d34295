//! Ctrl-C and SIGTERM: earlier reports stay, nothing temporary is left, and totals are printed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const OLD: &str = "{\"old\":1}\n";
/// What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

fn kill(child: &Child, signal: &str) {
    let command = format!("kill -{signal} {}", child.id());
    let killed = Command::new("sh").args(["-c", &command]).status();
    assert!(killed.expect("a shell").success());
}

/// A folder with an earlier report.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("old.json"), OLD).expect("room");
    folder
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_rnic"))
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cargo has built it")
}

/// Waits for the end; the rest of the output.
fn end(mut child: Child) -> Output {
    let end = Instant::now() + PATIENCE;
    while child.try_wait().expect("ours").is_none() {
        assert!(Instant::now() < end, "it does not end");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("it has ended")
}

/// Names in a folder that begin with a dot.
fn hidden(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).expect("a folder");
    let names = entries.map(|entry| entry.expect("a name").file_name());
    names
        .filter(|name| name.to_string_lossy().starts_with('.'))
        .count()
}

/// Captures of one frame, more than are played before a signal arrives.
fn many_captures() -> Vec<String> {
    let capture = super::capture("interrupted.pcap");
    vec![capture; 5_000]
}

/// A signal while captures are played: the reports of those that were are kept where no report was,
/// and replace none.
#[test]
fn reports_so_far_are_kept_beside_earlier_ones() {
    let captures = many_captures();
    for (signal, number) in [("INT", 2), ("TERM", 15)] {
        let folder = folder();
        let mut arguments = vec!["play", "--dut", "model", "--json", "old.json"];
        arguments.extend(["--html", "new.html"]);
        arguments.extend(captures.iter().map(String::as_str));
        let mut child = start(folder.path(), &arguments);
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        // The second capture is read when the first one's report is kept.
        let summaries = lines.by_ref().map(|line| line.expect("it is piped"));
        let second = summaries.filter(|line| line.contains(super::FRAMES)).nth(1);
        assert!(second.is_some());
        kill(&child, signal);
        let rest = lines.map(|line| line.expect("it is piped"));
        let played = rest.filter(|line| line.contains(super::FRAMES)).count();
        assert!(played < captures.len() - 2, "the signal was too late");
        let output = end(child);
        assert_eq!(output.status.signal(), Some(number), "{output:?}");
        assert_eq!(hidden(folder.path()), 0);
        let old = fs::read_to_string(folder.path().join("old.json"));
        assert_eq!(old.expect("it is there"), OLD);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.starts_with("rnic: interrupted "), "{said}");
        assert!(said.contains("old.json is as it was before"), "{said}");
        assert!(said.contains("new.html has these"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        let page = fs::read_to_string(folder.path().join("new.html"));
        assert!(page.expect("a page").ends_with("</html>"));
    }
}

/// In the middle of a capture: what was played until then is printed.
#[test]
fn totals_so_far_are_printed() {
    let folder = folder();
    let size = [
        "--messages",
        "2000",
        "--connections",
        "4",
        "--sizes",
        "0..64",
    ];
    let made = start(
        folder.path(),
        &[&["gen", "--out", "a.pcap"][..], &size].concat(),
    );
    assert!(end(made).status.success());
    // Playing takes longer than reading: one of a few delays falls into it. Beside other programs a
    // try may take long, and the next one have ended before its signal: then all delays come again.
    for delay_ms in (40..2_000).step_by(40).cycle().take(150) {
        let child = start(
            folder.path(),
            &["play", "--dut", "model", "--json", "old.json", "a.pcap"],
        );
        std::thread::sleep(Duration::from_millis(delay_ms));
        kill(&child, "INT");
        let output = end(child);
        let text = String::from_utf8_lossy(&output.stdout);
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() {
            fs::write(folder.path().join("old.json"), OLD).expect("it can be written");
            continue;
        }
        assert_eq!(output.status.signal(), Some(2), "{delay_ms} ms: {said}");
        assert_eq!(hidden(folder.path()), 0);
        let old = fs::read_to_string(folder.path().join("old.json"));
        assert_eq!(old.expect("it is there"), OLD);
        if said.is_empty() {
            assert_eq!(text, "", "{delay_ms} ms");
            continue;
        }
        let frames = said
            .split_whitespace()
            .nth(3)
            .and_then(|count| count.parse().ok());
        let frames: u64 = frames.unwrap_or_else(|| panic!("{said}"));
        assert!(
            text.starts_with(&format!("a.pcap: {frames} frames, ")),
            "{text}"
        );
        assert!(text.ends_with("mismatches: 0\n"), "{text}");
        assert!(
            said.contains("0 of 1 captures were played before"),
            "{said}"
        );
        if frames > 0 {
            return;
        }
    }
    panic!("no signal fell into the playback");
}

/// What waits for a pipe has nothing to finish.
#[test]
fn a_command_that_waits_ends_at_once() {
    let folder = folder();
    let made = Command::new("mkfifo")
        .arg(folder.path().join("pipe"))
        .status();
    assert!(made.expect("coreutils").success());
    for arguments in [
        &["play", "--dut", "model", "--json", "old.json", "pipe"][..],
        &["play", "--dut", "model", "--json", "pipe", "none.pcap"],
        &["gen", "--json", "old.json", "--out", "pipe"],
    ] {
        let child = start(folder.path(), arguments);
        std::thread::sleep(Duration::from_millis(300));
        kill(&child, "INT");
        let output = end(child);
        assert_eq!(output.status.signal(), Some(2), "{arguments:?}: {output:?}");
        assert_eq!(hidden(folder.path()), 0, "{arguments:?}");
        let old = fs::read_to_string(folder.path().join("old.json"));
        assert_eq!(old.expect("it is there"), OLD);
    }
}
