//! Standard output that takes nothing: a full disk is a line and status 2, a reader that has left
//! is no matter for words.

use super::capture;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Status of a command whose reader has left, as a shell has it for SIGPIPE.
const CLOSED: i32 = 128 + 13;

fn rnic(arguments: &[&str], stdout: impl Into<Stdio>, stderr: impl Into<Stdio>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rnic"))
        .args(arguments)
        .stdout(stdout)
        .stderr(stderr)
        .output()
        .expect("cargo has built it")
}

fn full() -> File {
    let full = File::options().write(true).open("/dev/full");
    full.expect("a device")
}

/// The end of a pipe, as it were, whose reader has left.
fn closed() -> OwnedFd {
    let (reader, writer) = UnixStream::pair().expect("sockets");
    drop(reader);
    writer.into()
}

/// Runs `check` with each command line that prints something.
fn with_each(check: impl Fn(&[&str])) {
    let capture = capture("standard-output.pcap");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let name = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    let (emitted, written) = (name("emitted-unseen"), name("unseen.pcap"));
    let short = ["gen", "--messages", "1", "--overwrite", "--out"];
    check(&["play", "--dut", "model", &capture]);
    check(&["play", "--dut", "model", "--json", "-", &capture, &capture]);
    check(&["play", "--dut", "model", "--html", "-", &capture]);
    check(&[&short[..], &["-"]].concat());
    check(&[&short[..], &[&written]].concat());
    check(&[&short[..], &[&written, "--json", "-"]].concat());
    check(&["emit", "--reads", "--out", &emitted]);
    check(&["fuzz", "--runs", "0"]);
    check(&["fuzz", "--runs", "0", "--json", "-"]);
    check(&["fuzz", "--transmit", "--runs", "0"]);
}

#[test]
fn a_full_disk_is_a_line_and_status_2() {
    with_each(|arguments| {
        let output = rnic(arguments, full(), Stdio::piped());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        let line = "rnic: standard output: No space left on device (os error 28)";
        assert_eq!(said.trim_end(), line, "{arguments:?}");
    });
}

#[test]
fn a_reader_that_has_left_is_no_matter_for_words() {
    with_each(|arguments| {
        let output = rnic(arguments, closed(), Stdio::piped());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(CLOSED), "{arguments:?}: {said}");
        assert_eq!(said, "", "{arguments:?}");
    });
    for arguments in [&["--help"][..], &["play", "--help"], &["--version"]] {
        let output = rnic(arguments, closed(), Stdio::piped());
        assert_eq!(output.stderr, b"", "{arguments:?}");
    }
}

/// There is no place left to say so, and no reason to end otherwise than before.
#[test]
fn standard_error_that_takes_nothing_changes_no_status() {
    for stderr in [Stdio::from(full()), Stdio::from(closed())] {
        let arguments = ["play", "--dut", "model", "no-such-file.pcap"];
        let output = rnic(&arguments, Stdio::piped(), stderr);
        assert_eq!(output.status.code(), Some(2));
    }
}
