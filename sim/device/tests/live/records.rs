//! Records of the crate `log` that state changes of a connection leave.

use crate::scene::{event, post_receives, Scene, PATIENCE};
use log::{Level, LevelFilter, Log, Metadata, Record};
use rnic_driver::verbs::endpoint::{EndpointError, PairEvent, PairOptions, Stream};
use rnic_iwarp::startup::Settings;
use std::net::SocketAddr;
use std::sync::Mutex;

/// Not that of any other test, whose connections leave records as well.
const PORT: u16 = 7_275;

/// Keeps what is said of connections with some peers.
struct Kept {
    peers: Mutex<Vec<String>>,
    lines: Mutex<Vec<String>>,
}

static KEPT: Kept = Kept {
    peers: Mutex::new(Vec::new()),
    lines: Mutex::new(Vec::new()),
};

impl Log for Kept {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() == Level::Debug
    }

    fn log(&self, record: &Record<'_>) {
        let line = record.args().to_string();
        let peers = self.peers.lock().expect("nobody panics with it");
        if peers.iter().any(|peer| line.starts_with(peer)) {
            let mut lines = self.lines.lock().expect("nobody panics with it");
            lines.push(line);
        }
    }

    fn flush(&self) {}
}

/// Keep what is said of connections with `peers` from now on.
fn keep(peers: &[SocketAddr]) {
    let names = peers.iter().map(|peer| format!("{peer}: "));
    *KEPT.peers.lock().expect("nobody panics with it") = names.collect();
}

/// What was said of connections with `peer` since that was asked last, in order.
fn said_of(peer: SocketAddr) -> Vec<String> {
    let name = format!("{peer}: ");
    let mut lines = KEPT.lines.lock().expect("nobody panics with it");
    let (of_peer, others): (Vec<_>, Vec<_>) =
        lines.drain(..).partition(|line| line.starts_with(&name));
    *lines = others;
    let said = of_peer.iter().map(|line| line[name.len()..].to_owned());
    // What TCP says is of its own time.
    said.filter(|line| !line.starts_with("TCP: ")).collect()
}

/// A connection: the end that opened it first.
fn streams(scene: &Scene) -> [Stream; 2] {
    let own = SocketAddr::new(scene.responder.address, PORT);
    let listener = scene.responder.endpoint.listen(own).expect("it listens");
    let opened = scene.initiator.endpoint.connect(own).expect("it connects");
    let accepted = listener.accept(PATIENCE).expect("it is there");
    keep(&[opened.peer_addr(), accepted.peer_addr()]);
    [opened, accepted]
}

fn agreed_and_closed(scene: &Scene) {
    let [opened, accepted] = streams(scene);
    let (server, client) = (opened.peer_addr(), accepted.peer_addr());
    let (settings, options) = (Settings::default(), PairOptions::default());
    std::thread::scope(|scope| {
        let responder = scope.spawn(|| {
            let request = accepted.request(&settings, b"").expect("a Request");
            let pair = request.queue_pair(&scene.responder.domain, &options);
            let pair = pair.expect("there is room");
            pair.accept(b"").expect("accepted");
            assert_eq!(event(&pair), PairEvent::HalfClosed);
            pair.disconnect().expect("it is open");
            assert_eq!(event(&pair), PairEvent::Closed);
        });
        let pair = opened.queue_pair(&scene.initiator.domain, &settings, &options);
        let pair = pair.expect("there is room");
        post_receives(&scene.initiator, &pair, 1);
        pair.start(b"").expect("a Reply");
        assert_eq!(event(&pair), PairEvent::Established);
        pair.disconnect().expect("it is open");
        assert_eq!(event(&pair), PairEvent::HalfClosed);
        assert_eq!(event(&pair), PairEvent::Closed);
        responder.join().expect("it does not panic");
    });
    let ends = ["HalfClosed", "Closed"];
    let begun = ["start-up: agreed", "Established"];
    assert_eq!(said_of(server), [begun, ends].concat());
    let begun = [
        "start-up: a Request waits for its answer",
        "start-up: accepted",
    ];
    assert_eq!(said_of(client), [begun, ends].concat());
}

fn rejected(scene: &Scene) {
    let [opened, accepted] = streams(scene);
    let (server, client) = (opened.peer_addr(), accepted.peer_addr());
    let settings = Settings::default();
    std::thread::scope(|scope| {
        let responder = scope.spawn(|| {
            let request = accepted.request(&settings, b"").expect("a Request");
            request.reject(b"no").expect("it waits")
        });
        let options = PairOptions::default();
        let pair = opened.queue_pair(&scene.initiator.domain, &settings, &options);
        let refused = pair.expect("there is room").start(b"");
        let refused = refused.expect_err("it is rejected");
        assert!(matches!(refused, EndpointError::Rejected { .. }));
        drop(responder.join().expect("it does not panic"));
    });
    assert_eq!(said_of(server)[0], "start-up: the peer has rejected it");
    let said = said_of(client);
    let want = [
        "start-up: a Request waits for its answer",
        "start-up: rejected",
    ];
    assert_eq!(said[..2], want);
}

fn failed(scene: &Scene) {
    let [opened, accepted] = streams(scene);
    let client = accepted.peer_addr();
    opened.write_all(&[b'x'; 20]).expect("it is open");
    let refused = accepted.request(&Settings::default(), b"");
    let refused = refused.expect_err("that is no Request");
    let EndpointError::StartupFailed { error, .. } = refused else {
        panic!("{refused}");
    };
    assert_eq!(said_of(client)[0], format!("start-up: failed: {error}"));
}

/// Whatever start-up leads to, and the end, is a record of level debug that names the peer.
#[test]
fn start_up_and_the_end_leave_records() {
    log::set_logger(&KEPT).expect("no other test has one");
    log::set_max_level(LevelFilter::Debug);
    let scene = Scene::new(false);
    agreed_and_closed(&scene);
    rejected(&scene);
    failed(&scene);
    keep(&[]);
    log::set_max_level(LevelFilter::Off);
}
