//! Files that `rnic` writes: what it refuses to replace, and what is left when it fails.

use super::{
    pcap_head, refuses_in_one_line, rnic, stderr, stdout, FRAMES, LINK_ETHERNET, PLAYABLE,
};
use std::fs;
use std::os::unix::fs::{symlink, FileTypeExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A folder with a capture `a.pcap`, a file `text.pcap` that is none, and a report `old.json`.
struct Folder(TempDir);

const OLD: &str = "{\"old\":1}\n";

impl Folder {
    fn new() -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder"));
        fs::write(folder.0.path().join("a.pcap"), PLAYABLE).expect("room");
        fs::write(folder.0.path().join("text.pcap"), "frames, some of them\n").expect("room");
        fs::write(folder.0.path().join("old.json"), OLD).expect("room");
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_str().expect("UTF-8").to_owned()
    }

    /// Names of what is there, sorted.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).expect("a folder");
        let names = entries.map(|entry| entry.expect("a name").file_name().into_string());
        let mut names: Vec<String> = names.map(|name| name.expect("UTF-8")).collect();
        names.sort();
        names
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

#[test]
fn an_output_that_is_an_input_is_refused_whatever_its_name() {
    let folder = Folder::new();
    symlink("a.pcap", folder.path("link.json")).expect("a link");
    fs::hard_link(folder.path("a.pcap"), folder.path("hard.json")).expect("a link");
    fs::write(folder.path("regions.toml"), "").expect("room");
    symlink("regions.toml", folder.path("link.toml")).expect("a link");
    let before = fs::read(folder.path("a.pcap")).expect("a file");
    let (capture, regions) = (folder.text("a.pcap"), folder.text("regions.toml"));
    for option in ["--json", "--html", "--trace"] {
        for name in [
            "a.pcap",
            "link.json",
            "hard.json",
            "regions.toml",
            "link.toml",
        ] {
            let path = folder.text(name);
            refuses_in_one_line(
                &[
                    "play",
                    "--dut",
                    "both",
                    "--regions",
                    &regions,
                    option,
                    &path,
                    &capture,
                ],
                &[option, name, "this command reads that file"],
            );
        }
    }
    assert_eq!(fs::read(folder.path("a.pcap")).expect("a file"), before);
    assert_eq!(read(&folder.path("regions.toml")), "");
}

#[test]
fn an_existing_capture_is_no_place_for_another_output() {
    let folder = Folder::new();
    let (capture, other) = (folder.text("a.pcap"), folder.text("other"));
    let heads: [&[u8]; 5] = [
        &pcap_head(LINK_ETHERNET),
        b"\n\r\r\n and more",
        &[0x1f, 0x8b, 8, 0],
        &[0x28, 0xb5, 0x2f, 0xfd],
        &[0xfd, b'7', b'z', b'X', b'Z', 0],
    ];
    for head in heads {
        fs::write(&other, head).expect("room");
        let play = ["play", "--dut", "both", &capture];
        for (verb, option) in [
            (&play[..], "--json"),
            (&play, "--html"),
            (&play, "--trace"),
            (&["gen"], "--out"),
            (&["bench"], "--json"),
            (&["fuzz"], "--json"),
            (&["fuzz", "--transmit"], "--json"),
            (&["mutants"], "--json"),
            (&["selftest", "--dut", "script"], "--out"),
        ] {
            let arguments = [verb, &[option, &other]].concat();
            refuses_in_one_line(&arguments, &[option, &other, "a capture is there"]);
        }
        assert_eq!(fs::read(&other).expect("a file"), head);
    }
}

#[test]
fn two_outputs_do_not_share_a_file() {
    let folder = Folder::new();
    let (capture, new) = (folder.text("a.pcap"), folder.text("new"));
    let old = folder.text("old.json");
    for path in [&*new, &old, "-"] {
        refuses_in_one_line(
            &[
                "play", "--dut", "model", "--json", path, "--html", path, &capture,
            ],
            &["--html", path, "--json writes there"],
        );
        refuses_in_one_line(
            &["gen", "--out", path, "--json", path],
            &["--json", path, "--out writes there"],
        );
    }
    assert_eq!(read(&folder.path("old.json")), OLD);
    assert!(!folder.path("new").exists());
}

#[test]
fn an_unusable_capture_leaves_reports_as_they_were() {
    let folder = Folder::new();
    let (text, old) = (folder.text("text.pcap"), folder.text("old.json"));
    let new = folder.text("new.html");
    refuses_in_one_line(
        &[
            "play", "--dut", "model", "--json", &old, "--html", &new, &text,
        ],
        &["text.pcap"],
    );
    assert_eq!(read(&folder.path("old.json")), OLD);
    assert_eq!(folder.names(), ["a.pcap", "old.json", "text.pcap"]);
}

/// Each failure is a line with its file; what could be played is in the report.
#[test]
fn of_several_captures_the_usable_ones_are_played() {
    let folder = Folder::new();
    let (good, text) = (folder.text("a.pcap"), folder.text("text.pcap"));
    let (old, page) = (folder.text("old.json"), folder.text("page.html"));
    let none = folder.text("none.pcap");
    let outputs = ["play", "--dut", "model", "--json", &old, "--html", &page];
    let output = rnic(&[&outputs[..], &[&text, &good, &none, &good]].concat());
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 2, "{said}");
    assert!(
        lines[0].contains("text.pcap") && lines[1].contains("none.pcap"),
        "{said}"
    );
    assert_eq!(stdout(&output).matches(FRAMES).count(), 2);
    let report = read(&folder.path("old.json"));
    assert_eq!(report.lines().count(), 2, "{report}");
    assert!(read(&folder.path("page.html")).ends_with("</html>"));
    // A flow that one of them does not have is that one's failure.
    let flow = ["play", "--dut", "model", "--flow", "2", &good];
    refuses_in_one_line(&flow, &["a.pcap", "--flow 2"]);
}

#[test]
fn a_link_stays_a_link_and_an_older_report_is_replaced() {
    let folder = Folder::new();
    symlink("old.json", folder.path("link")).expect("a link");
    let (link, good) = (folder.text("link"), folder.text("a.pcap"));
    let output = rnic(&["play", "--dut", "model", "--json", &link, &good]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let found = fs::symlink_metadata(&link).expect("a link");
    assert!(found.is_symlink());
    assert!(read(&folder.path("old.json")).starts_with("{\"tool\":\"rnic\""));
    assert_eq!(folder.names(), ["a.pcap", "link", "old.json", "text.pcap"]);
}

/// The limit of a file's size is a full disk that needs no disk.
#[test]
fn a_full_disk_leaves_reports_as_they_were() {
    let folder = Folder::new();
    for option in ["--html", "--json"] {
        let full = Command::new("bash")
            .args(["-c", "ulimit -f 0; exec \"$0\" \"$@\""])
            .arg(env!("CARGO_BIN_EXE_rnic"))
            .args(["play", "--dut", "model", option])
            .args([folder.path("old.json"), folder.path("a.pcap")])
            .output()
            .expect("bash");
        let said = stderr(&full);
        assert_eq!(full.status.code(), Some(2), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
        assert!(said.contains(option) && said.contains("old.json"), "{said}");
        assert_eq!(read(&folder.path("old.json")), OLD);
        assert_eq!(folder.names(), ["a.pcap", "old.json", "text.pcap"]);
    }
    let good = folder.text("a.pcap");
    let device = ["play", "--dut", "model", "--json", "/dev/full", &good];
    refuses_in_one_line(&device, &["--json /dev/full", "No space left"]);
}

/// What is no regular file is written, and stays what it is.
#[test]
fn a_pipe_stays_a_pipe() {
    let folder = Folder::new();
    let made = Command::new("mkfifo").arg(folder.path("pipe")).status();
    assert!(made.expect("coreutils").success());
    let (pipe, good) = (folder.text("pipe"), folder.text("a.pcap"));
    for arguments in [
        &["play", "--dut", "model", "--json", &pipe, &good][..],
        &["play", "--dut", "model", "--html", &pipe, &good],
        &["gen", "--messages", "1", "--out", &pipe],
    ] {
        let reader = std::thread::spawn({
            let pipe = folder.path("pipe");
            move || fs::read(pipe).expect("a pipe")
        });
        let output = rnic(arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(reader.join().expect("it reads").len() > 100);
        let found = fs::symlink_metadata(&pipe).expect("it is there");
        assert!(found.file_type().is_fifo(), "{arguments:?}");
    }
    assert_eq!(folder.names(), ["a.pcap", "old.json", "pipe", "text.pcap"]);
}

#[test]
fn a_waveform_is_refused_before_the_run() {
    let folder = Folder::new();
    let good = folder.text("a.pcap");
    let (below, none) = (folder.text("a.pcap/x.fst"), folder.text("none/x.fst"));
    for path in [&*below, &none, &folder.text(""), "/dev/full", "-"] {
        refuses_in_one_line(
            &["play", "--dut", "both", "--trace", path, &good],
            &["--trace", path],
        );
    }
    let wave = folder.text("x.fst");
    let software = ["play", "--dut", "model", "--trace", &wave, &good];
    refuses_in_one_line(&software, &["--trace", "--dut model"]);
    assert_eq!(folder.names(), ["a.pcap", "old.json", "text.pcap"]);
}

#[test]
fn gen_writes_to_standard_output_and_nothing_else_there() {
    let folder = Folder::new();
    let arguments = ["gen", "--messages", "1", "--out"];
    let file = folder.text("new.pcap");
    let written = rnic(&[&arguments[..], &[&file]].concat());
    assert_eq!(written.status.code(), Some(0), "{}", stderr(&written));
    let piped = rnic(&[&arguments[..], &["-"]].concat());
    assert_eq!(piped.status.code(), Some(0), "{}", stderr(&piped));
    assert!(piped.stdout == fs::read(&file).expect("it was written"));
    assert!(stderr(&piped).contains("4 messages"), "{}", stderr(&piped));
    assert!(!Path::new("-").exists());
    // A capture is replaced if that is asked for, unless it is something else's input.
    refuses_in_one_line(
        &[&arguments[..], &[&file]].concat(),
        &["--out", "--overwrite"],
    );
    let again = [&arguments[..], &[&file, "--seed", "2", "--overwrite"]].concat();
    assert_eq!(rnic(&again).status.code(), Some(0));
    assert!(piped.stdout != fs::read(&file).expect("it was written"));
}

#[test]
fn names_are_printed_without_control_characters() {
    let folder = Folder::new();
    let name = "\u{1b}[2J\nrnic: all good.pcap";
    fs::copy(folder.path("a.pcap"), folder.path(name)).expect("room");
    let output = rnic(&["play", "--dut", "model", &folder.text(name)]);
    let said = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        said.contains(r"\u{1b}[2J\nrnic: all good.pcap: 25 frames"),
        "{said}"
    );
    fs::write(folder.path(name), "no capture").expect("room");
    let escaped = r"\u{1b}[2J\nrnic: all good.pcap";
    refuses_in_one_line(&["play", "--dut", "model", &folder.text(name)], &[escaped]);
    let (old, below) = (
        folder.text("a.pcap"),
        folder.text(&format!("a.pcap/{name}")),
    );
    refuses_in_one_line(
        &["play", "--dut", "model", "--json", &below, &old],
        &[escaped],
    );
    // What a file says is printed with its lines.
    let broken = folder.text("broken.toml");
    fs::write(&broken, "[[region]]\n\u{1b}[2J = 1\n").expect("room");
    let output = rnic(&["play", "--dut", "model", "--regions", &broken, &old]);
    assert_eq!(output.status.code(), Some(2));
    assert!(!stderr(&output).contains('\u{1b}'), "{}", stderr(&output));
}

#[test]
fn help_says_that_json_takes_a_file() {
    for verb in ["play", "gen", "fuzz", "bench", "mutants"] {
        let said = stdout(&rnic(&[verb, "--help"]));
        assert!(
            said.contains("as JSON into this file; `-` for stdout"),
            "{said}"
        );
    }
}
