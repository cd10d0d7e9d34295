//! A monitor of a device in memory, and clients that behave or do not.

use super::*;
use crate::device::config::Config;
use crate::device::tables::RegionConfig;
use crate::testing::{connection_config, NoMemory, Tables};
use crate::{ConnectionId, ConnectionKey, Device};
use rnic_abi::tables::{RIGHT_READ_SINK, RIGHT_REMOTE_WRITE};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

/// What takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

struct Bench {
    device: Device<Tables, NoMemory>,
    monitor: Monitor,
    path: PathBuf,
    _folder: TempDir,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("monitor");
        let device = Device::open(Tables::default(), NoMemory, Config::default());
        Self {
            device: device.expect("it opens"),
            monitor: Monitor::bind(&path).expect("it binds"),
            path,
            _folder: folder,
        }
    }

    fn is_ready(&self) -> bool {
        let at_once = Timespec::default();
        let mut fds = [PollFd::new(&self.monitor, PollFlags::IN)];
        poll(&mut fds, Some(&at_once)).expect("it polls") == 1
    }

    /// Serve until nothing is to be done; the calls it took.
    fn settle(&mut self) -> usize {
        let mut calls = 0;
        while self.is_ready() {
            self.monitor.serve(&mut self.device).expect("it serves");
            calls += 1;
            assert!(calls < 10_000, "it is never done");
        }
        calls
    }

    fn connect(&self) -> UnixStream {
        let socket = UnixStream::connect(&self.path).expect("it listens");
        socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
        socket
    }

    /// The answer to the octets of a request.
    fn ask(&mut self, request: &[u8]) -> String {
        let mut socket = self.connect();
        socket.write_all(request).expect("it has room");
        self.settle();
        read(socket)
    }

    /// What a client of another thread gets, while this one serves.
    fn serve_while<T: Send>(&mut self, ask: impl FnOnce(&Client) -> T + Send) -> T {
        let client = Client::new(&self.path, PATIENCE);
        std::thread::scope(|scope| {
            let asks = scope.spawn(move || ask(&client));
            while !asks.is_finished() {
                self.settle();
                std::thread::yield_now();
            }
            asks.join().expect("it does not panic")
        })
    }
}

fn read(mut socket: UnixStream) -> String {
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn requests_are_read_as_they_are_written() {
    for request in [
        Request::Info,
        Request::Counters,
        Request::Regions { from: 1 << 32 },
        Request::Connections { from: 16 },
    ] {
        let line = request.to_string();
        assert!(line.len() < REQUEST_OCTETS_MAX);
        assert_eq!(Request::parse(line.as_bytes()), Ok(request));
    }
    for (line, reason) in [
        (&b""[..], "a request begins with `ferrowarp-monitor/1 `"),
        (
            b"ferrowarp-monitor/2 info",
            "a request begins with `ferrowarp-monitor/1 `",
        ),
        (
            b"ferrowarp-monitor/1 reset",
            "ask for `info`, `counters`, `regions FROM` or `connections FROM`",
        ),
        (
            b"ferrowarp-monitor/1 regions -1",
            "`-1` is not a decimal number",
        ),
        (b"\xff", "the request is not UTF-8"),
    ] {
        assert_eq!(Request::parse(line), Err(reason.to_owned()));
    }
}

#[test]
fn counters_and_info_are_those_of_the_device() {
    let mut bench = Bench::new();
    bench.device.double().counters.insert(0, 7);
    let counters = bench.serve_while(Client::counters).expect("an answer");
    assert_eq!(counters.len(), rnic_abi::counters::COUNT);
    assert_eq!((counters["frames"], counters["fpdus"]), (7, 0));
    let info = bench.serve_while(Client::info).expect("an answer");
    assert_eq!(info.process, std::process::id());
    assert_eq!((info.connections, info.connections_open), (1024, 0));
    // The device in memory reads 0 as the number of free records.
    let records = PoolReport {
        used: 511,
        size: 511,
    };
    assert_eq!(info.pools["records"], records);
    assert_eq!(info.pools["shared_runs"], info.pools["fragments"]);
}

#[test]
fn a_pool_under_a_former_name_is_listed_only_if_it_has_no_other() {
    let mut bench = Bench::new();
    let mut info = bench.serve_while(Client::info).expect("an answer");
    let names = |info: &Info| -> Vec<String> {
        let pools = info.present_pools();
        pools.map(|(name, _)| name.to_owned()).collect()
    };
    assert_eq!(names(&info), ["fragments", "ranges", "records", "spans"]);
    // A server that is older than the present name.
    info.pools.remove("fragments");
    assert_eq!(names(&info), ["ranges", "records", "shared_runs", "spans"]);
}

#[test]
fn lists_come_in_pages_and_in_order() {
    let mut bench = Bench::new();
    let count = 2 * PAGE_ITEMS + 1;
    for number in (0..count as u32).rev() {
        let key = ConnectionKey {
            remote: ([192, 0, 2, 1], 1000 + number as u16).into(),
            local: ([192, 0, 2, 2], 2000).into(),
        };
        let config = crate::ConnectionConfig {
            key,
            ..connection_config()
        };
        bench.device.open_connection(&config).expect("it has room");
        let region = RegionConfig {
            stag: (number + 1) << 8 | 5,
            rights: RIGHT_REMOTE_WRITE | RIGHT_READ_SINK,
            protection_domain: 3,
            connection: (number == 0).then_some(ConnectionId(2)),
            tagged_offset: 0x1234_5000,
            octets: 4096,
            address: 0x1234_5000,
        };
        bench.device.register_region(&region).expect("it has room");
    }
    let regions = bench.serve_while(Client::regions).expect("an answer");
    assert_eq!(regions.len(), count);
    assert!(regions.is_sorted_by_key(|region| region.stag));
    let expected = RegionReport {
        stag: 0x105,
        octets: 4096,
        rights: vec!["remote_write".to_owned(), "read_sink".to_owned()],
        protection_domain: 3,
        connection: Some(2),
        // The device in memory has no valid one.
        valid: false,
    };
    assert_eq!(regions[0], expected);
    let connections = bench.serve_while(Client::connections).expect("an answer");
    let ids: Vec<u16> = connections.iter().map(|connection| connection.id).collect();
    assert!(ids.into_iter().eq(0..count as u16));
    assert_eq!(connections[0].remote.port(), 1000 + count as u16 - 1);
    let answer = bench.ask(b"ferrowarp-monitor/1 regions 0\n");
    assert!(!answer.contains("12345000") && !answer.contains("305418240"));
    // A page costs no more table operations than the bound says.
    bench.device.double().operations.clear();
    bench.ask(b"ferrowarp-monitor/1 connections 0\n");
    let operations = bench.device.double().operations.len();
    assert_eq!(operations, 2 * PAGE_ITEMS);
}

#[test]
fn a_wrong_request_is_answered_and_ends() {
    let mut bench = Bench::new();
    let answer = bench.ask(b"GET / HTTP/1.1\r\n\r\n");
    let expected = "{\"version\":1,\"error\":\"a request begins with `ferrowarp-monitor/1 `\"}\n";
    assert_eq!(answer, expected);
    let long = [b'x'; 100 * REQUEST_OCTETS_MAX];
    let mut socket = bench.connect();
    socket.write_all(&long).expect("it has room");
    bench.settle();
    // Whether the rest of what was sent makes the end an error is the system's choice.
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).expect("text");
    assert!(
        answer.contains("the request has more than 64 octets"),
        "{answer}"
    );
}

#[test]
fn a_request_may_come_octet_by_octet() {
    let mut bench = Bench::new();
    let mut socket = bench.connect();
    for octet in b"ferrowarp-monitor/1 info\n" {
        socket.write_all(&[*octet]).expect("it has room");
        bench.settle();
    }
    assert!(read(socket).starts_with("{\"version\":1,\"info\":{"));
}

#[test]
fn clients_that_say_nothing_lose_their_places_and_block_no_other() {
    let mut bench = Bench::new();
    let silent: Vec<UnixStream> = (0..3 * CLIENTS_MAX).map(|_| bench.connect()).collect();
    bench.settle();
    assert!(!bench.is_ready(), "silent clients do not keep it awake");
    let answer = bench.ask(b"ferrowarp-monitor/1 counters\n");
    assert!(answer.contains("\"frames\":0"));
    // The first ones have been let go.
    let mut first = silent.into_iter().next().expect("there are some");
    assert_eq!(first.read(&mut [0]).expect("an end"), 0);
}

#[test]
fn who_leaves_early_is_forgotten() {
    let mut bench = Bench::new();
    drop(bench.connect());
    let mut socket = bench.connect();
    socket.write_all(b"ferrowarp-mon").expect("it has room");
    drop(socket);
    let mut socket = bench.connect();
    socket
        .write_all(b"ferrowarp-monitor/1 info\n")
        .expect("it has room");
    drop(socket);
    bench.settle();
    assert!(bench.ask(b"ferrowarp-monitor/1 info\n").contains("info"));
}

/// Each call answers one request, however many wait.
#[test]
fn a_call_answers_once() {
    let mut bench = Bench::new();
    let clients: Vec<UnixStream> = (0..4)
        .map(|_| {
            let mut socket = bench.connect();
            socket
                .write_all(b"ferrowarp-monitor/1 counters\n")
                .expect("it has room");
            socket
        })
        .collect();
    assert!(bench.settle() >= clients.len());
    for client in clients {
        assert!(read(client).contains("counters"));
    }
}

#[test]
fn a_device_that_is_gone_is_an_error_with_its_reason() {
    let mut bench = Bench::new();
    bench.device.double().gone_after = Some(0);
    let refused = bench.serve_while(Client::counters).expect_err("it is gone");
    assert!(
        matches!(&refused, MonitorError::Refused { reason, .. }
            if *reason == crate::DriverError::Gone.to_string()),
        "{refused}"
    );
}

#[test]
fn the_socket_is_its_users_alone() {
    let bench = Bench::new();
    let found = std::fs::metadata(&bench.path).expect("it is bound");
    assert_eq!(found.permissions().mode() & 0o777, 0o600);
    assert!(!bench.is_ready());
    assert!(Monitor::bind(&bench.path).is_err(), "it is served");
    let path = bench.path.clone();
    drop(bench);
    assert!(!path.exists());
}

#[test]
fn a_client_says_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("monitor");
    let ask = |timeout| {
        let refused = Client::new(&path, timeout).info();
        refused.expect_err("it has no owner").to_string()
    };
    assert_eq!(
        ask(PATIENCE),
        format!(
            "there is no socket {}: start the application with a monitor first, and check the \
             path; `rnicctl list` shows the monitors that answer",
            path.display()
        )
    );
    let silent = std::os::unix::net::UnixListener::bind(&path).expect("it binds");
    let answer = ask(Duration::from_millis(1));
    assert!(answer.contains("has not answered in 0.001 s"), "{answer}");
    drop(silent);
    let answer = ask(PATIENCE);
    assert!(answer.contains("its application has ended"), "{answer}");
    // Another protocol: the end of the connection is the whole answer.
    let other = rnic_vfio_user::Listener::bind(&path).expect("it is left");
    std::thread::scope(|scope| {
        scope.spawn(|| loop {
            if let Some(mut client) = other.accept().expect("it accepts") {
                // What is asked is read first: the socket of a client that still writes breaks.
                while client.read(&mut [0; 64]).expect("it asks") == 64 {}
                client.write_all(b"hello\n").expect("it has room");
                break;
            }
            std::thread::yield_now();
        });
        let answer = ask(PATIENCE);
        assert!(answer.contains("is not the socket of a"), "{answer}");
    });
}
