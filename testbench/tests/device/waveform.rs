//! `rnic play --trace`: a waveform is written, of the frames that were asked for.
//!
//! Waveforms are compressed with zlib and lz4. Where their headers are missing, and `make tools`
//! could not install them, the test says so and ends: nothing else of the project needs them.

use rnic_testbench::skip::skipped;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The compiler finds `header`.
fn is_there(header: &str) -> bool {
    let source = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{header}.cpp"));
    std::fs::write(&source, format!("#include <{header}>\n")).expect("a writable folder");
    let compiler = Command::new("c++").arg("-E").arg(&source).output();
    compiler.is_ok_and(|output| output.status.success())
}

/// Plays a capture with the waveform of `frames`; gives the file.
fn trace(frames: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("trace-{frames}.fst"));
    let _ = std::fs::remove_file(&path);
    let output = Command::new(env!("CARGO_BIN_EXE_rnic"))
        .args(["play", "--dut", "rtl", "--trace-frames", frames, "--trace"])
        .args([&path, &folder.join("captures/rping-v4-crc.pcap")])
        .output()
        .expect("cargo has built it");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}; {said}", path.display()))
}

#[test]
fn a_waveform_holds_the_frames_that_were_asked_for() {
    for header in ["zlib.h", "lz4.h"] {
        if !is_there(header) {
            skipped("a_waveform_holds_the_frames_that_were_asked_for", header);
            return;
        }
    }
    let (short, long) = (trace("20..22"), trace("20..40"));
    // The first block of an FST file is its header, of 329 octets.
    for waveform in [&short, &long] {
        assert_eq!(waveform[..9], [0, 0, 0, 0, 0, 0, 0, 1, 0x49]);
    }
    assert!(short.len() < long.len(), "{}, {}", short.len(), long.len());
}
