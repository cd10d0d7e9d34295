//! A peer that closes while it owes something, as the scripted peer plays it.

use rnic_peer::ddp::{self, ReadRequest};
use rnic_peer::mpa::{start_enhanced, FLAG_CRC, KEY_REQUEST, START_OCTETS};
use rnic_peer::{End, Stranger, Talk};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How long the server waits for a peer that keeps it waiting.
const TIMEOUT_SECONDS: u64 = 20;

/// DDP-030, MPA-060: a peer that closes while the server waits for its Read Response has left: the
/// server closes at once, and does not wait for its time to be over.
#[test]
fn a_server_whose_read_is_not_answered_ends_with_the_peers_fin() {
    let folder = tempfile::tempdir().expect("a folder");
    let wire = folder.path().join("wire");
    let address = format!("sim:model,unix:{}", wire.display());
    let timeout = TIMEOUT_SECONDS.to_string();
    let mut server = Command::new(env!("CARGO_BIN_EXE_rping"))
        .args([
            &address,
            "-s",
            "--own",
            "192.0.2.1/24",
            "--timeout",
            &timeout,
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cargo has built it");
    let mut line = String::new();
    let printed = server.stdout.take().expect("it is piped");
    let mut printed = BufReader::new(printed);
    printed.read_line(&mut line).expect("text");
    assert!(line.starts_with("listening on "), "{line}");

    let stranger = Stranger::join(&wire);
    let conn = stranger.connect(SocketAddr::from(([192, 0, 2, 1], 7174)));
    conn.send(&start_enhanced(&KEY_REQUEST, FLAG_CRC, [1, 1], b""));
    let octets = START_OCTETS + 4;
    conn.wait_octets(octets);
    let mut talk = Talk::new(conn, octets, [false, false]);
    let record = [&7_u64.to_be_bytes()[..], &[0, 0, 1, 0], &[0, 0, 0, 64]].concat();
    talk.say(&ddp::send(1, &record));
    let heard = talk.wait_heard(1);
    assert_eq!(ReadRequest::read(&heard[0]).source_stag, 0x100);
    let begun = Instant::now();
    talk.conn.close();
    let end = talk
        .conn
        .end_within(Duration::from_secs(TIMEOUT_SECONDS / 2));
    assert!(matches!(end, Some(End::Fin | End::Reset)), "{end:?}");
    drop(talk);
    let output = server.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("before a Read did"), "{text}");
    assert!(
        begun.elapsed() < Duration::from_secs(TIMEOUT_SECONDS),
        "{text}"
    );
}
