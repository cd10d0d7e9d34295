//! SIGKILL of one end in mid-transfer: what the other end does.

use crate::programs::{random, Running, Wire, NFS_COPY};
use std::fs;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Long enough to be killed in the middle: 768 READs or WRITEs.
const OCTETS: usize = 48 << 20;
/// READs or WRITEs of a copy that has begun; more than are under way at a time.
const BEGUN: usize = 20;

/// READs and WRITEs that a server has had, by its log of headers.
fn moves(log: &str) -> usize {
    let log = fs::read_to_string(log).expect("the server has made it");
    let has_chunk = |line: &&str| line.contains(" read ") || line.contains(" write ");
    let received = log.lines().filter(|line| line.starts_with("received "));
    received.filter(has_chunk).count()
}

/// A copy that has begun.
fn begun(log: &str, copy: impl FnOnce() -> Running) -> Running {
    let before = moves(log);
    let copy = copy();
    let end = Instant::now() + Duration::from_secs(30);
    while moves(log) < before + BEGUN {
        assert!(Instant::now() < end, "no copy begins");
        sleep(Duration::from_millis(5));
    }
    copy
}

/// RPC-034, RPC-042: The server goes on with the next client, and holds nothing of the last one.
#[test]
fn a_client_that_is_killed_leaves_the_server_as_it_was() {
    let wire = Wire::new();
    let [large, log] = [wire.path("large"), wire.path("headers")];
    let _server = wire.server(&["--headers", &log]);
    fs::write(&large, random(OCTETS)).expect("a file");
    for _ in 0..2 {
        let mut copy = begun(&log, || wire.begin(NFS_COPY, &["put", &large, "file"]));
        copy.kill();
        let (status, said, _) = copy.end();
        assert_eq!((status.code(), said.as_str()), (None, ""), "in the middle");
        let list = wire.client(NFS_COPY, &["list"]);
        let of_file = |line: &str| {
            line.strip_suffix(" file")?
                .split_whitespace()
                .last()?
                .parse()
                .ok()
        };
        let size = list.lines().find_map(of_file).unwrap_or(0);
        assert!((1..OCTETS).contains(&size), "{list}");
    }
    crate::there_and_back(&wire, &random(200_000), "file", &[]);
}

/// A copy that has begun, and whose server is killed then.
fn copy_without_server(wire: &Wire, what: [&str; 3], seconds: &str) -> Running {
    let log = wire.path("headers");
    let mut server = wire.server(&["--headers", &log]);
    let [there, back] = [wire.path("there"), wire.path("back")];
    fs::write(&there, random(OCTETS)).expect("a file");
    let [way, from, to] = what.map(|word| match word {
        "THERE" => there.as_str(),
        "BACK" => back.as_str(),
        word => word,
    });
    if way == "get" {
        wire.client(NFS_COPY, &["put", &there, from]);
    }
    let copy = begun(&log, || {
        wire.begin_patient(NFS_COPY, seconds, &[way, from, to])
    });
    server.kill();
    copy
}

/// The client says whom it has waited for, and for which file; of a file that did not come whole
/// there is nothing.
#[test]
fn a_server_that_is_killed_is_named_by_its_client() {
    for (what, expected) in [
        (["put", "THERE", "file"], "nfs_copy: put file: "),
        (["get", "file", "BACK"], "nfs_copy: get file: "),
    ] {
        let wire = Wire::new();
        let copy = copy_without_server(&wire, what, "2");
        let (status, said, errors) = copy.end();
        assert_eq!((status.code(), said.as_str()), (Some(2), ""), "{errors}");
        assert!(errors.contains(expected), "{errors}");
        assert!(errors.contains("192.0.2.1:20049"), "{errors}");
        assert!(!fs::exists(wire.path("back")).expect("a folder"));
    }
}

/// The client connects again; that server has other files, and says so. Of one that only waits for
/// replies the probes find out.
#[test]
fn a_server_that_starts_again_is_found_by_its_client() {
    for what in [["put", "THERE", "file"], ["get", "file", "BACK"]] {
        let wire = Wire::new();
        let copy = copy_without_server(&wire, what, "20");
        let _next = wire.server(&[]);
        let (status, said, errors) = copy.end();
        assert_eq!((status.code(), said.as_str()), (Some(2), ""), "{errors}");
        let expected = "file at 192.0.2.1:20049: the file is gone; has the server started again?";
        assert!(errors.contains(expected), "{errors}");
    }
}
