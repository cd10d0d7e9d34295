//! What becomes of the output of `rnicctl`: a full disk, a reader that leaves, existing files.

use super::{run, while_served, Served};
use rnic_driver::{bus, Config};
use std::fs::{self, File};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{symlink, FileTypeExt};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};

/// Status of a command whose reader has left, as a shell has it for SIGPIPE.
const CLOSED: i32 = 128 + 13;

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rnicctl"));
    command
        .args(arguments)
        .env("XDG_RUNTIME_DIR", "/nonexistent");
    command
}

/// `rnicctl ARGUMENTS > /dev/full`: a line, and status 2.
fn finds_no_room(arguments: &[&str]) {
    let full = File::options().write(true).open("/dev/full");
    let output = command(arguments)
        .stdout(full.expect("a device"))
        .output()
        .expect("cargo has built it");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    assert_eq!(
        said,
        "rnicctl: standard output: No space left on device (os error 28)\n"
    );
}

/// `rnicctl ARGUMENTS | true`: not a word.
fn ends_quietly(arguments: &[&str]) {
    // A socket breaks as a pipe does.
    let (reader, writer) = UnixStream::pair().expect("sockets");
    drop(reader);
    let output = command(arguments)
        .stdout(OwnedFd::from(writer))
        .output()
        .expect("cargo has built it");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(CLOSED), "{arguments:?}: {said}");
    assert_eq!(said, "", "{arguments:?}");
}

#[test]
fn every_command_minds_where_it_prints() {
    let served = Served::start(None);
    let address = served.address();
    for arguments in [
        &["list"][..],
        &["list", "--json"],
        &["info", &address],
        &["info", &address, "--json"],
        &["counters", &address],
        &["counters", &address, "--all", "--json"],
        &["counters", &address, "--openmetrics"],
        &["counters", &address, "--openmetrics", "--out", "-"],
        &["regions", &address],
        &["connections", &address, "--json"],
        &["self-test", &address],
        &["reset", &address],
    ] {
        finds_no_room(arguments);
        ends_quietly(arguments);
    }
}

/// Runs `counters --openmetrics --out PATH`: status and words.
fn metrics(address: &str, path: &Path) -> (Option<i32>, String) {
    let path = path.to_str().expect("UTF-8");
    let (status, stdout, stderr) = run(&["counters", address, "--openmetrics", "--out", path]);
    assert_eq!(stdout, "");
    (status, stderr)
}

#[test]
fn a_file_of_metrics_is_replaced_and_other_files_are_not() {
    let served = Served::start(None);
    let mut device = bus::open(&served.address(), Config::default()).expect("it opens");
    let path = |name: &str| served.path(name);
    fs::write(path("a.prom"), "earlier").expect("room");
    symlink("a.prom", path("link.prom")).expect("a link");
    fs::write(path("a.pcapng"), b"\n\r\r\n and more").expect("room");
    let pipe = path("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("coreutils").success());
    while_served(&mut device, &path("monitor.sock"), |address| {
        let (status, said) = metrics(address, &path("link.prom"));
        assert_eq!(status, Some(0), "{said}");
        let (status, said) = metrics(address, &path("a.pcapng"));
        assert_eq!(status, Some(2));
        assert!(
            said.contains("--out") && said.contains("a.pcapng"),
            "{said}"
        );
        assert_eq!(said.lines().count(), 1, "{said}");
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || {
                let mut text = String::new();
                let mut file = File::open(pipe).expect("a pipe");
                file.read_to_string(&mut text).expect("UTF-8");
                text
            }
        });
        let (status, said) = metrics(address, &pipe);
        assert_eq!(status, Some(0), "{said}");
        assert!(reader.join().expect("it reads").ends_with("# EOF\n"));
        let (status, said) = metrics(address, Path::new("/dev/full"));
        assert_eq!(status, Some(2));
        assert!(said.contains("--out /dev/full: No space left"), "{said}");
    });
    let text = fs::read_to_string(path("a.prom")).expect("a file");
    assert!(text.ends_with("# EOF\n"), "{text}");
    let kept = fs::read(path("a.pcapng")).expect("a file");
    assert_eq!(kept, b"\n\r\r\n and more");
    let kind = |name: &str| {
        fs::symlink_metadata(path(name))
            .expect("it is there")
            .file_type()
    };
    assert!(kind("link.prom").is_symlink() && kind("pipe").is_fifo());
    let left = fs::read_dir(path("")).expect("a folder").filter(|entry| {
        let name = entry.as_ref().expect("a name").file_name();
        name.to_string_lossy().starts_with(".ferrowarp-")
    });
    assert_eq!(left.count(), 0);
    device.close().expect("it answers");
}

/// A path that cannot be written fails before the device is opened, which would reset it.
#[test]
fn the_file_comes_before_the_device() {
    let (status, said) = metrics("vfio-user:/nonexistent", Path::new("/nonexistent/x.prom"));
    assert_eq!(status, Some(2));
    assert!(
        said.starts_with("rnicctl: --out /nonexistent/x.prom: No such file"),
        "{said}"
    );
}

#[test]
fn names_are_printed_without_control_characters() {
    let (status, _, said) = run(&["info", "monitor:/nonexistent/\u{1b}[2J\nrnicctl: fine"]);
    assert_eq!(status, Some(2));
    assert_eq!(said.lines().count(), 1, "{said}");
    assert!(
        said.contains(r"\u{1b}[2J\nrnicctl") && !said.contains('\u{1b}'),
        "{said}"
    );
}

#[test]
fn an_address_of_no_form_is_refused_with_those_there_are() {
    let (status, _, said) = run(&["info", "monitor:"]);
    assert_eq!(status, Some(2));
    assert!(
        said.starts_with("rnicctl: `monitor:` is not the address of a device; "),
        "{said}"
    );
    for form in ["vfio:", "vfio-user:PATH", "monitor:PATH"] {
        assert!(said.contains(form), "{form}: {said}");
    }
}

#[test]
fn help_says_that_json_is_a_flag() {
    for verb in ["list", "info", "counters", "regions", "connections"] {
        let output = command(&[verb, "--help"])
            .stdin(Stdio::null())
            .output()
            .expect("cargo has built it");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(
            said.contains("; a flag, the file is standard output"),
            "{said}"
        );
    }
}
