//! Programs about connections, each end a process with a device of its own: the one in software.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What takes longer hangs.
const LIMIT: Duration = Duration::from_secs(60);
/// How long a program is to wait for its peer before it says so.
const TIMEOUT: [&str; 2] = ["--timeout", "30"];

/// A program that runs; killed when it is dropped.
struct Running {
    child: Child,
    lines: Receiver<String>,
    /// What was read of standard output.
    said: String,
}

impl Running {
    fn start(program: &str, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments);
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.expect("cargo has built it");
        let lines = lines(child.stdout.take().expect("it is piped"));
        Self {
            child,
            lines,
            said: String::new(),
        }
    }

    /// Wait for a line of standard output that begins so.
    fn wait_for(&mut self, begin: &str) {
        let end = Instant::now() + LIMIT;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left);
            let line = line.unwrap_or_else(|error| panic!("{error}: no `{begin}`: {}", self.said));
            self.said += &format!("{line}\n");
            if line.starts_with(begin) {
                return;
            }
        }
    }

    /// Wait for the end; its status, standard output and standard error.
    fn end(mut self) -> (ExitStatus, String, String) {
        let end = Instant::now() + LIMIT;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left) {
                Ok(line) => self.said += &format!("{line}\n"),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => panic!("it does not end: {}", self.said),
            }
        }
        // Its standard output is closed, and nothing of it is left to wait for.
        let status = self.child.wait().expect("it is a child");
        let mut errors = String::new();
        let stderr = self.child.stderr.as_mut().expect("it is piped");
        stderr.read_to_string(&mut errors).expect("text");
        (status, std::mem::take(&mut self.said), errors)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lines of a program, as they come.
fn lines(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let lines = BufReader::new(stdout).lines();
        let mut lines = lines.map_while(Result::ok);
        lines.all(|line| sender.send(line).is_ok())
    });
    receiver
}

/// The wire between two ends, in a folder of its own.
struct Wire(TempDir);

impl Wire {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    /// The device at one end of it: the first one listens.
    fn device(&self, is_first: bool) -> String {
        let kind = if is_first { "unix" } else { "unix-connect" };
        let path = self.0.path().join("wire");
        format!("sim:model,{kind}:{}", path.to_str().expect("letters"))
    }

    /// A server, listening.
    fn server(&self, program: &str, own: &str, options: &[&str]) -> Running {
        let device = self.device(true);
        let arguments = [
            &[device.as_str(), "--server", "--own", own],
            &TIMEOUT[..],
            options,
        ];
        let mut server = Running::start(program, &arguments.concat());
        server.wait_for("listening on ");
        server
    }

    /// What a client prints that succeeds.
    fn client(&self, program: &str, own: &str, options: &[&str]) -> String {
        let (status, said, errors) = self.end_of_client(program, own, options);
        assert!(status.success(), "{options:?}: {said}{errors}");
        said
    }

    fn end_of_client(
        &self,
        program: &str,
        own: &str,
        options: &[&str],
    ) -> (ExitStatus, String, String) {
        let device = self.device(false);
        let arguments = [&[device.as_str(), "--client", "--own", own], options];
        Running::start(program, &arguments.concat()).end()
    }
}

const RPING: &str = env!("CARGO_BIN_EXE_rping");
const PINGPONG: &str = env!("CARGO_BIN_EXE_pingpong");
const BANDWIDTH: &str = env!("CARGO_BIN_EXE_bandwidth");
const TALK_FIRST: &str = env!("CARGO_BIN_EXE_talk_first");
/// Addresses of server and client.
const V4: [&str; 2] = ["192.0.2.1/24", "192.0.2.2/24"];
const V6: [&str; 2] = ["fd00::1/64", "fd00::2/64"];

/// Three pings of `size` octets; returns what the client says on standard error.
fn ping(own: [&str; 2], address: &str, server: &[&str], client: &[&str]) -> String {
    let wire = Wire::new();
    let server = wire.server(RPING, own[0], server);
    let pings = ["-a", address, "-C", "3", "-S", "4096", "-V", "-v"];
    let options = [&pings, &TIMEOUT[..], client].concat();
    let (status, said, errors) = wire.end_of_client(RPING, own[1], &options);
    assert!(status.success(), "{options:?}: {said}{errors}");
    let last = said.lines().last().expect("a result");
    assert!(last.starts_with("3 pings of 4096 octets"), "{said}");
    assert!(last.contains("contents equal"), "{said}");
    assert!(said.contains("ping data: rdma-ping-2: CDEFGHIJ"), "{said}");
    let (status, said, server_errors) = server.end();
    assert!(status.success(), "{said}{server_errors}");
    assert!(said.contains("3 pings of "), "{said}");
    assert!(said.contains("12288 octets read and written"), "{said}");
    errors
}

#[test]
fn rping_pings_in_every_revision_with_and_without_markers_and_crc() {
    for revision in ["0", "1", "2"] {
        let revision = ["--revision", revision];
        ping(V4, "192.0.2.1", &revision, &revision);
        let markers = [&revision[..], &["--markers"]].concat();
        ping(V6, "fd00::1", &markers, &markers);
        let no_crc = [&revision[..], &["--no-crc"]].concat();
        ping(
            V4,
            "192.0.2.1",
            &no_crc,
            &[&no_crc[..], &["--markers"]].concat(),
        );
    }
}

#[test]
fn rping_pings_over_other_interfaces_and_start_ups() {
    ping(
        V4,
        "192.0.2.1:7000",
        &["--port", "7000"],
        &["--peer-to-peer"],
    );
    ping(V6, "[fd00::1]:7000", &["-a", "[fd00::1]:7000"], &[]);
    let options = ["--vlan", "7", "--mtu", "9000"];
    ping(V4, "192.0.2.1", &options, &options);
}

/// `--pcap`: the start-up frames of both ends, the client's FPDUs, and none that the device kept.
#[test]
fn a_capture_has_the_frames_of_its_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("client.pcapng");
    let option = path.to_str().expect("a path of letters");
    // The server reads three times what this end sends, and writes it back past the host.
    let texts = [
        "MPA ID Req Frame",
        "MPA ID Rep Frame",
        "rdma-ping-2: CDEFGHIJ",
    ];
    let counts = || {
        ping(V4, "192.0.2.1", &[], &["--pcap", option]);
        let octets = std::fs::read(&path).expect("it is there");
        texts.map(|text| {
            let places = octets.windows(text.len());
            places.filter(|place| *place == text.as_bytes()).count()
        })
    };
    // Beside other programs an answer may come late, and a segment is sent again: not every time.
    let tries = std::iter::repeat_with(counts).take(3);
    let mut tries = tries.inspect(|counts| println!("{counts:?}"));
    assert!(tries.any(|counts| counts == [1; 3]));
}

/// MPA2-003: a server that knows revision 1 alone closes, and the client tries that.
#[test]
fn rping_falls_back_on_a_new_connection() {
    let said = ping(V4, "192.0.2.1", &["--revision", "1"], &[]);
    assert!(said.contains("trying 1"), "{said}");
}

/// One client after another, the first of which is none.
#[test]
fn rping_serves_one_client_after_another() {
    let wire = Wire::new();
    let mut server = wire.server(RPING, V4[0], &["--persistent"]);
    let options = ["-a", "192.0.2.1", "-C", "1", "-V"];
    // Its messages are no records.
    let other = ["-a", "192.0.2.1:7174", "-C", "1", "--size", "7"];
    let (status, _, _) = wire.end_of_client(PINGPONG, V4[1], &other);
    assert_eq!(status.code(), Some(2));
    wire.client(RPING, V4[1], &options);
    server.wait_for("1 pings of ");
}

#[test]
fn a_monitor_tells_that_nothing_is_left_of_a_connection() {
    let wire = Wire::new();
    let path = wire.0.path().join("monitor");
    let path = path.to_str().expect("letters");
    let options = ["-P", "--monitor", path, "--keepalive", "1"];
    let mut server = wire.server(RPING, V4[0], &options);
    wire.client(RPING, V4[1], &["-a", "192.0.2.1", "-C", "3", "-V"]);
    server.wait_for("3 pings of");
    let client = rnic_driver::monitor::Client::new(path.as_ref(), Duration::from_secs(5));
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        let info = client.info().expect("it answers");
        // The server keeps its own region.
        assert_eq!(info.regions_registered, 1);
        if info.connections_open == 0 {
            break;
        }
        assert!(Instant::now() < end, "{info:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// What a client says that fails, with status 2.
fn refused(wire: &Wire, program: &str, options: &[&str]) -> String {
    let (status, said, errors) = wire.end_of_client(program, V4[1], options);
    assert_eq!(status.code(), Some(2), "{said}{errors}");
    errors
}

#[test]
fn what_cannot_be_reached_is_named_with_what_to_do() {
    let wire = Wire::new();
    let _server = wire.server(RPING, V4[0], &["--revision", "2"]);
    for (options, named) in [
        (
            ["-a", "192.0.2.9", "--timeout", "1"],
            "192.0.2.9:7174: no answer",
        ),
        (
            ["-a", "192.0.2.1", "-p", "7175"],
            "192.0.2.1:7175: the peer refused",
        ),
        (
            ["-a", "198.51.100.1", "-p", "7175"],
            "198.51.100.1 is on no link",
        ),
        (
            ["-a", "fd00::1", "-p", "7175"],
            "fd00::1; give an address of its family",
        ),
        (["-a", "192.0.2.1", "--revision", "1"], "try --revision"),
        (["-a", "192.0.2.1:x", "-p", "7174"], "x is no port"),
    ] {
        let said = refused(&wire, RPING, &options);
        assert!(said.contains("rping: ") && said.contains(named), "{said}");
    }
    let said = refused(&wire, RPING, &[]);
    assert!(said.contains("the server's --address"), "{said}");
}

/// A server of another program says why, in its Private Data.
#[test]
fn a_client_of_another_program_is_rejected() {
    let wire = Wire::new();
    let mut server = wire.server(PINGPONG, V4[0], &[]);
    let said = refused(&wire, BANDWIDTH, &["-a", "192.0.2.1"]);
    assert!(said.contains("this is pingpong"), "{said}");
    wire.client(PINGPONG, V4[1], &["-a", "192.0.2.1", "-C", "1"]);
    server.wait_for("11 messages of ");
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn pingpong_reports_as_text_and_json() {
    for (own, address, size) in [(V4, "192.0.2.1", "1"), (V6, "fd00::1", "20000")] {
        let wire = Wire::new();
        let _server = wire.server(PINGPONG, own[0], &[]);
        let options = ["-a", address, "-C", "5", "-S", size, "--json"];
        let report = json(&wire.client(PINGPONG, own[1], &options));
        assert_eq!(report["size_octets"].to_string(), size);
        let median = report["median_us"].as_f64().expect("a number");
        assert!(median > 0.0 && report["max_us"].as_f64() >= Some(median));
        let steps = report["histogram"].as_array().expect("steps").iter();
        let counts = steps.map(|step| step["count"].as_u64().expect("a count"));
        assert_eq!(counts.sum::<u64>(), 5);
    }
    let wire = Wire::new();
    let _server = wire.server(PINGPONG, V4[0], &[]);
    let said = wire.client(PINGPONG, V4[1], &["-a", "192.0.2.1", "-C", "5"]);
    assert!(said.starts_with("5 Sends of 64 octets"), "{said}");
    assert!(said.contains("median ") && said.contains('#'), "{said}");
}

/// START-002, START-005, START-008, START-011, START-037: words first, then MPA, whose initiator
/// is the TCP server and whose responder's last word goes with its call; or a stream again.
#[test]
fn two_programs_talk_first_and_switch_later_or_not_at_all() {
    for (own, address, size) in [(V4, "192.0.2.1", "5000"), (V6, "fd00::1", "65536")] {
        for (options, way) in [(&[][..], "by RDMA"), (&["--plain"], "over the stream")] {
            let wire = Wire::new();
            let server = wire.server(TALK_FIRST, own[0], &[]);
            let options = [&["-a", address, "-S", size], &TIMEOUT[..], options].concat();
            let said = wire.client(TALK_FIRST, own[1], &options);
            assert!(
                said.contains(way) && said.contains("contents equal"),
                "{said}"
            );
            let (status, said, errors) = server.end();
            assert!(status.success(), "{said}{errors}");
            let rejected = said.contains("has rejected MPA: as plain octets, please");
            assert_eq!(rejected, options.contains(&"--plain"), "{said}");
        }
    }
}

#[test]
fn bandwidth_reports_every_operation_as_text_and_json() {
    for operation in ["send", "write", "read"] {
        for depth in ["1", "5"] {
            let wire = Wire::new();
            let connections = if depth == "1" { "1" } else { "3" };
            let both = ["--verify", "--connections", connections];
            let server = wire.server(BANDWIDTH, V4[0], &both);
            let load = [
                "--operation",
                operation,
                "-C",
                "20",
                "-S",
                "3000",
                "--depth",
                depth,
            ];
            let options = [&["-a", "192.0.2.1", "--json"], &load[..], &both].concat();
            let report = json(&wire.client(BANDWIDTH, V4[1], &options));
            assert_eq!(report["operation"], operation);
            assert_eq!(report["connections"].to_string(), connections);
            let messages = 20 * connections.parse::<u64>().expect("a number");
            assert_eq!(report["messages"], messages);
            assert!(report["megabits_per_second"].as_f64() > Some(0.0));
            let (status, said, errors) = server.end();
            assert!(status.success(), "{said}{errors}");
        }
    }
    let wire = Wire::new();
    let _server = wire.server(BANDWIDTH, V6[0], &[]);
    let said = wire.client(BANDWIDTH, V6[1], &["-a", "fd00::1", "--seconds", "1"]);
    let [head, row] = said.lines().collect::<Vec<_>>()[..] else {
        panic!("{said}");
    };
    assert!(
        head.starts_with("operation") && row.starts_with("write"),
        "{said}"
    );
}
