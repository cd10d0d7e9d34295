//! Each example on a device of its own process: the one in software.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Exit status of a program whose reader has left: 128 and SIGPIPE.
const CLOSED: i32 = 128 + 13;

/// The project's folder.
fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The capture that `make demo` plays.
fn demo_capture() -> String {
    let capture = project().join("testbench/captures/rping-v4-crc.pcap");
    capture.to_str().expect("a path of letters").to_owned()
}

/// What a program prints, if it succeeds.
fn output(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.expect("cargo has built it");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

#[test]
fn receive_prints_what_the_guide_shows() {
    let capture = demo_capture();
    let address = format!("sim:model,pcap:{capture}");
    let printed = output(env!("CARGO_BIN_EXE_receive"), &[&address, &capture]);
    let guide = std::fs::read_to_string(project().join("docs/driver.md")).expect("it is there");
    let (_, sample) = guide
        .split_once("<!-- receive sample: begin -->\n```text\n")
        .expect("the guide has a sample");
    let (sample, _) = sample.split_once("```").expect("it ends");
    assert!(sample.lines().count() >= 3, "{sample}");
    for line in sample.lines() {
        assert!(printed.lines().any(|printed| printed == line), "{line}");
    }
}

#[test]
fn raw_frames_are_equal_both_ways() {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("link.sock");
    let link = link.to_str().expect("a path of letters");
    let address = format!("sim:model,unix:{link}");
    let printed = output(env!("CARGO_BIN_EXE_raw_frames"), &[&address, link]);
    assert_eq!(printed, "64 frames, 50208 octets each way: equal\n");
}

#[test]
fn counters_name_what_came_back() {
    let printed = output(env!("CARGO_BIN_EXE_counters"), &["sim:model,none"]);
    for line in ["1024 connections", "host_frames 5", "tx_frames 5"] {
        assert!(printed.contains(line), "{printed}");
    }
}

/// As with `| head -1`: status 141, and no word about it.
#[test]
fn a_program_whose_reader_has_left_ends_quietly() {
    let capture = demo_capture();
    let pcap = format!("sim:model,pcap:{capture}");
    for (program, arguments) in [
        (env!("CARGO_BIN_EXE_receive"), vec![&*pcap, &*capture]),
        (env!("CARGO_BIN_EXE_counters"), vec!["sim:model,none"]),
    ] {
        let (reader, writer) = UnixStream::pair().expect("two sockets");
        drop(reader);
        let mut command = Command::new(program);
        let ended = command
            .args(arguments)
            .stdout(OwnedFd::from(writer))
            .output();
        let ended = ended.expect("cargo has built it");
        let text = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(CLOSED), "{program}: {text}");
        assert_eq!(text, "", "{program}");
    }
}

/// A link that does not exist, and an address that is none: status 2, and what to write.
#[test]
fn what_cannot_be_opened_is_named() {
    for (address, named) in [
        ("sim:model,pcap:nowhere.pcap", "nowhere.pcap"),
        ("sim:model", "sim:rtl,LINK"),
        ("pci:0000:01:00.0", "sim:model,LINK"),
    ] {
        let refused = Command::new(env!("CARGO_BIN_EXE_counters"))
            .arg(address)
            .output();
        let refused = refused.expect("cargo has built it");
        let text = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(2), "{text}");
        assert!(
            text.starts_with("counters: ") && text.contains(named),
            "{text}"
        );
    }
}
