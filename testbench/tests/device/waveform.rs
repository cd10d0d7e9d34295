//! `rnic play --trace`: a waveform is written, of the frames that were asked for.
//!
//! Waveforms are compressed with zlib and lz4. Where their headers are missing, and `make tools`
//! could not install them, the test says so and ends: nothing else of the project needs them.

use rnic_effort::skipped;
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

/// Are waveforms to be compiled, and can they be? Else the test is said to be left out or skipped.
#[track_caller]
fn can_trace(test: &str) -> bool {
    if rnic_effort::is_left_out("a core that draws its waveform") {
        return false;
    }
    let missing = ["zlib.h", "lz4.h"]
        .into_iter()
        .find(|header| !is_there(header));
    if let Some(header) = missing {
        skipped(test, header);
    }
    missing.is_none()
}

#[test]
fn a_waveform_holds_the_frames_that_were_asked_for() {
    if !can_trace("a_waveform_holds_the_frames_that_were_asked_for") {
        return;
    }
    let (short, long) = (trace("20..22"), trace("20..40"));
    // The first block of an FST file is its header, of 329 octets.
    for waveform in [&short, &long] {
        assert_eq!(waveform[..9], [0, 0, 0, 0, 0, 0, 0, 1, 0x49]);
    }
    assert!(short.len() < long.len(), "{}, {}", short.len(), long.len());
}

/// Kinds of the blocks of an FST file, which fill it.
fn blocks(waveform: &[u8]) -> Vec<u8> {
    let (mut kinds, mut rest) = (Vec::new(), waveform);
    while let Some((kind, tail)) = rest.split_first() {
        let length: [u8; 8] = tail[..8].try_into().expect("eight octets");
        kinds.push(*kind);
        rest = &tail[u64::from_be_bytes(length) as usize..];
    }
    kinds
}

/// Ctrl-C while a capture is played: the waveform is closed, and of the frames so far.
#[test]
fn a_waveform_is_closed_by_ctrl_c() {
    if !can_trace("a_waveform_is_closed_by_ctrl_c") {
        return;
    }
    use std::os::unix::process::ExitStatusExt;
    // The library is built before.
    trace("20..22");
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    let made = Command::new(env!("CARGO_BIN_EXE_rnic"))
        .args(["gen", "--messages", "3000", "--out"])
        .arg(path("long.pcap"))
        .output();
    assert!(made.expect("cargo has built it").status.success());
    let mut play = Command::new(env!("CARGO_BIN_EXE_rnic"))
        .args(["play", "--dut", "rtl", "--trace"])
        .args([path("x.fst"), path("long.pcap")])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("cargo has built it");
    // The simulation opens it beside its place.
    let is_begun = || {
        let entries = std::fs::read_dir(folder.path()).expect("a folder");
        let mut paths = entries.map(|entry| entry.expect("a name").path().join("x.fst"));
        paths.any(|path| path.exists())
    };
    while !is_begun() {
        assert!(play.try_wait().expect("ours").is_none(), "it has ended");
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    let command = format!("kill -INT {}", play.id());
    let killed = Command::new("sh").args(["-c", &command]).status();
    assert!(killed.expect("a shell").success());
    let output = play.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.signal(), Some(2), "{said}");
    assert!(said.starts_with("rnic: interrupted after "), "{said}");
    let kinds = blocks(&std::fs::read(path("x.fst")).expect("a waveform"));
    assert!(kinds.first() == Some(&0) && kinds.contains(&3), "{kinds:?}");
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("a folder").count(),
        2
    );
}

/// A full disk, as the limit of a file's size: an error, and an earlier waveform stays.
#[test]
fn a_waveform_that_has_no_room_is_an_error() {
    if !can_trace("a_waveform_that_has_no_room_is_an_error") {
        return;
    }
    trace("20..22");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.fst");
    std::fs::write(&path, "old").expect("room");
    let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures/rping-v4-crc.pcap");
    for blocks in ["1", "100"] {
        let play = Command::new("bash")
            .args(["-c", &format!("ulimit -f {blocks}; exec \"$0\" \"$@\"")])
            .arg(env!("CARGO_BIN_EXE_rnic"))
            .args(["play", "--dut", "rtl", "--trace"])
            .args([&path, &capture])
            .output()
            .expect("bash");
        let said = String::from_utf8_lossy(&play.stderr);
        assert_eq!(play.status.code(), Some(2), "{said}");
        assert!(said.contains("x.fst: the waveform is not whole"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert_eq!(std::fs::read(&path).expect("it is there"), b"old");
        assert_eq!(
            std::fs::read_dir(folder.path()).expect("a folder").count(),
            1
        );
    }
}
