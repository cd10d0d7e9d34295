//! `nfs_server` with its clients, each a process with a device of its own: the one in software.

mod kills;
mod programs;
mod tcp;

use programs::{random, Wire, NFS_COPY, RPC_PING};
use sha2::{Digest, Sha256};
use std::fs;

/// Sizes on both sides of each limit: words, what is inline, pages, blocks.
const SIZES: [usize; 14] = [
    0, 1, 3, 4, 5, 1_023, 1_024, 1_025, 4_095, 4_096, 4_097, 12_345, 65_536, 131_072,
];

/// The SHA-256 that a program has printed.
fn sha256_of(said: &str) -> &str {
    let (_, sha256) = said.split_once("SHA-256 ").expect("a copy prints it");
    sha256.trim_end()
}

/// Copy `octets` to the server and back with these options; both ends' SHA-256 are equal.
fn there_and_back(wire: &Wire, octets: &[u8], name: &str, options: &[&str]) {
    let [there, back] = ["there", "back"].map(|way| wire.path(way));
    fs::write(&there, octets).expect("a file");
    let expected = Sha256::digest(octets);
    let expected: String = expected
        .iter()
        .map(|octet| format!("{octet:02x}"))
        .collect();
    let put = wire.client(NFS_COPY, &[options, &["put", &there, name]].concat());
    assert!(
        put.starts_with(&format!("put {name}: {} octets in ", octets.len())),
        "{put}"
    );
    let get = wire.client(NFS_COPY, &[options, &["get", name, &back]].concat());
    assert_eq!([sha256_of(&put), sha256_of(&get)], [&expected; 2]);
    assert!(fs::read(&back).expect("it was copied") == octets);
}

/// RPC-003, RPC-016, RPC-032: Files of every size, by both ends' SHA-256 and octet by octet.
#[test]
fn files_of_every_size_come_back() {
    let wire = Wire::new();
    let _server = wire.server(&[]);
    for size in SIZES {
        there_and_back(&wire, &random(size), &format!("of-{size}"), &[]);
    }
    let list = wire.client(NFS_COPY, &["list"]);
    let mut lines = list
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>());
    assert!(
        lines.by_ref().take(2).all(|words| words[0] == "d"),
        "{list}"
    );
    for (size, words) in SIZES.into_iter().zip(lines.by_ref()) {
        assert_eq!(
            words,
            ["-", "0644", &size.to_string(), &format!("of-{size}")]
        );
    }
    assert_eq!(lines.next(), None);
}

/// READs and WRITEs that cross segments of files, of one octet more or less than words, and of the
/// largest size; one at a time and many.
#[test]
fn blocks_of_every_size_come_back() {
    let wire = Wire::new();
    let _server = wire.server(&[]);
    let octets = random((1 << 20) + 70_001);
    for options in [
        ["--block", "12345", "--calls", "64"],
        ["--block", "1048576", "--calls", "2"],
        ["--block", "65537", "--calls", "1"],
    ] {
        there_and_back(&wire, &octets, "blocks", &options);
    }
    there_and_back(&wire, &octets[..9_000], "blocks", &["--block", "7"]);
    // Both ends with the least that is inline.
    there_and_back(&wire, &octets, "blocks", &["--inline", "1024"]);
}

/// RPC-010: Paths of links on both sides of what is inline, there and back; the headers of their
/// messages are lines of a file.
#[test]
fn links_come_back() {
    let wire = Wire::new();
    let _server = wire.server(&[]);
    let headers = wire.path("headers");
    for length in [1, 4, 1_000, 1_023, 1_024] {
        let (path, name) = ("p".repeat(length), format!("of-{length}"));
        let log = ["--headers", headers.as_str()];
        wire.client(NFS_COPY, &[&log[..], &["link", &path, &name]].concat());
        let log = fs::read_to_string(&headers).expect("a log");
        let chunks = log.lines().filter(|line| line.contains(" read ")).count();
        // An item of so many octets is a chunk.
        assert_eq!(chunks, usize::from(length >= 1_024), "{log}");
        assert!(log.starts_with("sent xid 0x"), "{log}");
        let said = wire.client(NFS_COPY, &["readlink", &name]);
        assert_eq!(said.trim_end(), path);
    }
    let errors = wire.refused(NFS_COPY, &["link", "other", "of-1"]);
    assert!(
        errors.contains("of-1 at 192.0.2.1:20049: the name is taken"),
        "{errors}"
    );
    let errors = wire.refused(NFS_COPY, &["--headers", "/none/file", "readlink", "of-1"]);
    assert!(errors.contains("--headers /none/file: "), "{errors}");
}

/// RPC-032, RPC-033: Calls by read chunk of position 0, replies by reply chunk.
#[test]
fn pings_go_by_every_wire_type() {
    let wire = Wire::new();
    let _server = wire.server(&[]);
    for wire_type in ["plain", "long-call", "long-reply"] {
        let options = ["-C", "5", "-v", "--wire-type", wire_type];
        let said = wire.client(RPC_PING, &options);
        let last = said.lines().last().expect("figures");
        assert!(
            last.starts_with(&format!("5 {wire_type} calls to ")),
            "{said}"
        );
        assert_eq!(said.lines().count(), 6);
    }
    let empty = wire.path("empty");
    fs::write(&empty, "").expect("a file");
    for number in 0..30 {
        let name = format!("{number}{}", "x".repeat(200));
        wire.client(NFS_COPY, &["put", &empty, &name]);
    }
    // More than is inline: the reply is in its chunk.
    let said = wire.client(RPC_PING, &["-C", "1", "-v", "--wire-type", "long-reply"]);
    let octets = said.split_whitespace().nth(2).expect("a count");
    assert!(octets.parse::<u32>().expect("a count") > 30 * 200, "{said}");
}

/// Errors name the peer and the file, and say what to do next.
#[test]
fn errors_name_peer_and_file() {
    let wire = Wire::new();
    let _server = wire.server(&["--memory", "1", "--files", "3"]);
    let [large, empty] = ["large", "empty"].map(|name| wire.path(name));
    fs::write(&large, random(1_100_000)).expect("a file");
    fs::write(&empty, "").expect("a file");
    let peer = "192.0.2.1:20049";
    let no_space = "the server has no space left: remove files there (NFS3ERR_NOSPC)";
    let absent = "there is no such file (NFS3ERR_NOENT)";
    wire.client(NFS_COPY, &["put", &empty, "one"]);
    for (program, options, expected) in [
        (
            NFS_COPY,
            &["get", "two", &empty][..],
            format!("two at {peer}: {absent}"),
        ),
        (
            NFS_COPY,
            &["list", "a/b"],
            format!("a/b: a at {peer}: {absent}"),
        ),
        (
            NFS_COPY,
            &["list", "one"],
            format!("one at {peer}: it is no directory"),
        ),
        (
            NFS_COPY,
            &["get", "", &empty],
            "no regular file; try `list`".to_owned(),
        ),
        (
            NFS_COPY,
            &["put", &large, "one"],
            format!("one at {peer}: {no_space}"),
        ),
        (
            NFS_COPY,
            &["--export", "/three", "list"],
            format!("/three at {peer}: {absent}; without MOUNT over RDMA give"),
        ),
        (
            NFS_COPY,
            &["--handle", "00", "list"],
            format!("/ at {peer}: the server does not know this handle"),
        ),
        (
            NFS_COPY,
            &["--vers", "4", "list"],
            format!("{peer} has the program in versions 3 to 3"),
        ),
        (
            NFS_COPY,
            &["--vers", "4", "link", "a", "b"],
            "links are of NFSv3 here: leave --vers 4 out".to_owned(),
        ),
        (
            NFS_COPY,
            &["readlink", "one"],
            format!("one at {peer}: the server does not take these arguments"),
        ),
        (
            RPC_PING,
            &["--program", "100004"],
            format!("{peer} does not have the program"),
        ),
        (
            RPC_PING,
            &["--program-version", "4"],
            format!("{peer} has the program in versions 3 to 3"),
        ),
    ] {
        let errors = wire.refused(program, options);
        assert!(errors.contains(&expected), "{options:?}: {errors}");
    }
    wire.client(NFS_COPY, &["put", &empty, "two"]);
    let errors = wire.refused(NFS_COPY, &["put", &empty, "three"]);
    assert!(errors.contains(no_space), "{errors}");
    // What has failed is no half of a file here, and the file before is still there.
    assert_eq!(fs::read(&empty).expect("it is there"), b"");
}
