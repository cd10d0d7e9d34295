//! A peer that closes while it owes something, or errs, as the scripted peer plays it.

use rnic_peer::ddp::{self, ReadRequest};
use rnic_peer::mpa::{start_enhanced, Framing, FLAG_CRC, KEY_REQUEST, START_OCTETS};
use rnic_peer::{End, Stranger, Talk};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long the server waits for a peer that keeps it waiting.
const TIMEOUT_SECONDS: u64 = 20;

/// `rping -s`, whose client has started and says what it likes.
struct Server {
    process: Child,
    talk: Talk,
    /// Open for as long as it runs.
    _held: (Stranger, BufReader<ChildStdout>, TempDir),
}

impl Server {
    fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let wire = folder.path().join("wire");
        let address = format!("sim:model,unix:{}", wire.display());
        let timeout = TIMEOUT_SECONDS.to_string();
        let own = ["--own", "192.0.2.1/24"];
        let mut process = Command::new(env!("CARGO_BIN_EXE_rping"))
            .args([&address, "-s", own[0], own[1], "--timeout", &timeout])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("cargo has built it");
        let mut line = String::new();
        let printed = process.stdout.take().expect("it is piped");
        let mut printed = BufReader::new(printed);
        printed.read_line(&mut line).expect("text");
        assert!(line.starts_with("listening on "), "{line}");

        let stranger = Stranger::join(&wire);
        let conn = stranger.connect(SocketAddr::from(([192, 0, 2, 1], 7174)));
        conn.send(&start_enhanced(&KEY_REQUEST, FLAG_CRC, [1, 1], b""));
        let octets = START_OCTETS + 4;
        conn.wait_octets(octets);
        Self {
            process,
            talk: Talk::new(conn, octets, [false, false]),
            _held: (stranger, printed, folder),
        }
    }

    /// Its status and what it says on standard error, when it has ended.
    fn end(self) -> (Option<i32>, String) {
        drop(self.talk);
        let output = self.process.wait_with_output().expect("it ends");
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), text)
    }
}

/// What a client of rping says first: where its source is.
fn record() -> Vec<u8> {
    [&7_u64.to_be_bytes()[..], &[0, 0, 1, 0], &[0, 0, 0, 64]].concat()
}

/// DDP-030, MPA-060: a peer that closes while the server waits for its Read Response has left: the
/// server closes at once, and does not wait for its time to be over.
#[test]
fn a_server_whose_read_is_not_answered_ends_with_the_peers_fin() {
    let mut server = Server::start();
    let talk = &mut server.talk;
    talk.say(&ddp::send(1, &record()));
    let heard = talk.wait_heard(1);
    assert_eq!(ReadRequest::read(&heard[0]).source_stag, 0x100);
    let begun = Instant::now();
    talk.conn.close();
    let end = talk
        .conn
        .end_within(Duration::from_secs(TIMEOUT_SECONDS / 2));
    assert!(matches!(end, Some(End::Fin | End::Reset)), "{end:?}");
    let (status, text) = server.end();
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("before a Read did"), "{text}");
    assert!(
        begun.elapsed() < Duration::from_secs(TIMEOUT_SECONDS),
        "{text}"
    );
}

/// DDP-040, RDMAP-020: a good message and a bad one in one segment: when the server posts for the
/// first one the connection has failed, and it says why.
#[test]
fn a_server_that_can_post_nothing_any_more_says_why() {
    let server = Server::start();
    let mut framing = Framing::new(false);
    let mut octets = framing.fpdu(&ddp::send(1, &record())).octets;
    octets.extend(framing.fpdu(&ddp::send(2, &[0; 17])).octets);
    server.talk.conn.send(&octets);
    let patience = Duration::from_secs(TIMEOUT_SECONDS / 2);
    assert!(matches!(
        server.talk.conn.end_within(patience),
        Some(End::Fin)
    ));
    let (_, terminate) = server.talk.last_words();
    let cause = terminate.expect("a Terminate").cause;
    assert_eq!(cause, (1, 2, 0x05));
    server.talk.conn.close();
    let (status, text) = server.end();
    assert_eq!(status, Some(2), "{text}");
    assert!(text.contains("message too long"), "{text}");
}
