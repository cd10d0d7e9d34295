//! `rnic hub`: two served devices on one wire.

use crate::host::config;
use crate::server::{in_time, Dut, Server};
use rnic_driver::bus::{self, AnyDevice};
use rnic_driver::{Config, Piece, TransmitFrame, TransmitRing};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

const FRAMES: usize = 200;
/// What takes longer has not come.
const PATIENCE: Duration = Duration::from_secs(60);

/// A hub between two servers.
struct HubProcess {
    child: Child,
    stdout: BufReader<ChildStdout>,
}

impl HubProcess {
    /// Ports on the links of `servers`, and a further one in `folder`, on which it listens.
    fn start(servers: &[Server; 2], folder: &Path, options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rnic"));
        command.arg("hub").current_dir(folder);
        for server in servers {
            let link = server.socket().with_file_name("link");
            command
                .arg("--port")
                .arg(format!("unix-connect:{}", link.display()));
        }
        command.args(["--port", "unix:tap"]).args(options);
        let mut child = command
            .stdout(Stdio::piped())
            .spawn()
            .expect("cargo has built it");
        let mut stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut line = String::new();
        stdout.read_line(&mut line).expect("it is piped");
        assert!(line.starts_with("seed 7; joining unix-connect:"), "{line}");
        assert!(folder.join("tap").exists(), "it listens");
        Self { child, stdout }
    }

    /// Ends it; what it says then.
    fn end(&mut self) -> String {
        let command = format!("kill -TERM {}", self.child.id());
        let killed = Command::new("sh").args(["-c", &command]).status();
        assert!(killed.expect("a shell").success());
        let mut said = String::new();
        self.stdout.read_to_string(&mut said).expect("it is piped");
        assert!(self.child.wait().expect("it ends").success(), "{said}");
        said
    }
}

impl Drop for HubProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The device of `server`, which sends, and has room for all that comes.
fn open(server: &Server) -> AnyDevice {
    let config = Config {
        control_units_log2: 6,
        host_slots_log2: 9,
        ..config()
    };
    let opened = bus::open(&server.address(), config);
    opened.unwrap_or_else(|error| panic!("{error}; {}", server.errors()))
}

/// A frame that no connection takes: `number` is in it.
fn frame(number: usize) -> Vec<u8> {
    let mut frame = vec![number as u8; 200];
    frame[..6].fill(0xff);
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame
}

fn send(device: &mut AnyDevice, frame: &[u8]) {
    let frame = TransmitFrame {
        pieces: &[Piece::Octets(frame)],
        checksum: None,
        crc: None,
        cookie: 0,
    };
    let sent = device.transmit(TransmitRing::Control, &frame);
    sent.expect("the ring has room: results are read");
    while device.poll_transmitted().expect("sound reports").is_none() {}
}

/// All that `device` receives until nothing has come for a while.
fn received(device: &mut AnyDevice, least: usize) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    let mut last = Instant::now();
    while last.elapsed() < Duration::from_secs(1) || frames.len() < least {
        match device.poll_host_frame() {
            Some(frame) => {
                frames.push(frame);
                last = Instant::now();
            }
            None => std::thread::sleep(Duration::from_millis(1)),
        }
        assert!(
            last.elapsed() < PATIENCE,
            "{} of {least} frames",
            frames.len()
        );
    }
    frames
}

/// What one device sends and the hub does not drop, the other one receives, in the order of the
/// capture; what is dropped is in the other capture; the counts say the same.
#[test]
fn frames_of_one_device_reach_the_other_but_for_what_is_lost() {
    in_time(|| {
        let servers = [Server::start(Dut::Model), Server::start(Dut::Model)];
        let [mut from, mut to] = servers.each_ref().map(open);
        let folder = tempfile::tempdir().expect("a folder");
        let options = "--seed 7 --loss 0.2 --duplicate 0.1 --reorder 0.1 \
                       --pcap delivered.pcapng --dropped dropped.pcapng --json counts.json";
        let options: Vec<&str> = options.split_whitespace().collect();
        let mut hub = HubProcess::start(&servers, folder.path(), &options);
        (0..FRAMES).for_each(|number| send(&mut from, &frame(number)));
        let found = received(&mut to, 1);
        let said = hub.end();
        let captured = |name: &str| {
            let capture = rnic_capture::read(&folder.path().join(name));
            capture.expect("it is whole").frames
        };
        let dropped = captured("dropped.pcapng");
        assert!(found == captured("delivered.pcapng"), "{said}");
        let mut all: Vec<_> = found.iter().chain(&dropped).cloned().collect();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), FRAMES, "each is delivered or dropped");
        assert!((20..65).contains(&dropped.len()), "{said}");
        assert!(
            found.windows(2).any(|pair| pair[0][20] > pair[1][20]),
            "{said}"
        );
        let json = std::fs::read(folder.path().join("counts.json")).expect("it is written");
        let json: serde_json::Value = serde_json::from_slice(&json).expect("it is JSON");
        let port = |number: usize, field: &str| json["ports"][number][field].as_u64();
        assert_eq!(port(0, "received"), Some(FRAMES as u64));
        assert_eq!(port(0, "lost"), Some(dropped.len() as u64));
        assert_eq!(port(1, "sent"), Some(found.len() as u64));
        assert_eq!([port(0, "sent"), port(1, "unread")], [Some(0); 2]);
        assert_eq!(
            port(2, "unread"),
            Some(found.len() as u64),
            "nobody is there"
        );
        assert!(
            !folder.path().join("tap").exists(),
            "its socket goes with it"
        );
    });
}

/// A server that is killed and comes again is joined again, in the same hub.
#[test]
fn a_hub_outlives_what_it_joins() {
    in_time(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let mut servers = [Server::start(Dut::Model), Server::start(Dut::Model)];
        let mut hub = HubProcess::start(&servers, folder.path(), &["--seed", "7"]);
        for round in 0..3 {
            let [mut from, mut to] = servers.each_ref().map(open);
            let end = Instant::now() + PATIENCE;
            loop {
                send(&mut from, &frame(round));
                std::thread::sleep(Duration::from_millis(20));
                if let Some(found) = to.poll_host_frame() {
                    assert_eq!(found, frame(round));
                    break;
                }
                assert!(Instant::now() < end, "it is not joined again");
            }
            drop((from, to));
            servers = servers.map(|mut server| {
                server.kill();
                server.start_again()
            });
        }
        hub.end();
    });
}

#[test]
fn what_is_no_hub_is_refused_in_one_line() {
    let said = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_rnic"))
            .arg("hub")
            .args(arguments)
            .output();
        let output = output.expect("cargo has built it");
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a");
    let one = format!("unix:{}", path.display());
    assert_eq!(
        said(&["--port", &one]),
        "rnic: a hub has 2 to 64 ports, not 1\n"
    );
    assert!(!path.exists(), "its socket goes with it");
    let twice = said(&["--port", &one, "--port", &one]);
    assert!(
        twice.starts_with(&format!("rnic: link socket {}: ", path.display())),
        "{twice}"
    );
    for (option, value, reason) in [
        (
            "--port",
            "pcap:x.pcap",
            "use unix:PATH, unix-connect:PATH or tap:NAME",
        ),
        ("--loss", "1.1", "a rate is a number from 0 to 1"),
        ("--loss", "nan", "a rate is a number from 0 to 1"),
        ("--delay", "60000001", "is not in 0..=60000000"),
    ] {
        let said = said(&["--port", &one, "--port", "tap:x", option, value]);
        assert!(said.contains(reason), "{said}");
    }
}
