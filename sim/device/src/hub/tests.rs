use super::*;
use crate::link::LinkKind;
use rnic_output::Claims;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;

/// What makes a hang a failure.
const PATIENCE: Duration = Duration::from_secs(20);

fn send(peer: &mut UnixStream, frame: &[u8]) {
    let octets = [&(frame.len() as u32).to_be_bytes()[..], frame].concat();
    peer.write_all(&octets).expect("it is read");
}

fn receive(peer: &mut UnixStream) -> Vec<u8> {
    let mut length = [0; 4];
    peer.read_exact(&mut length).expect("a frame comes");
    let mut frame = vec![0; u32::from_be_bytes(length) as usize];
    peer.read_exact(&mut frame).expect("all of it");
    frame
}

fn has_nothing(peer: &mut UnixStream) -> bool {
    peer.set_nonblocking(true).expect("a socket");
    let read = peer.read(&mut [0]);
    peer.set_nonblocking(false).expect("a socket");
    read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock)
}

/// A hub on a thread, with ports on which it listens, and their peers.
struct Joined {
    hub: Running,
    peers: Vec<UnixStream>,
}

impl Joined {
    fn new(folder: &Path, ports: usize, settings: Settings, records: [Option<&str>; 2]) -> Self {
        let names: Vec<String> = (0..ports).map(|port| format!("port {port}")).collect();
        let mut claims = Claims::new();
        let mut record = |path: Option<&str>| {
            let output = claims
                .output("--pcap", &folder.join(path?))
                .expect("a new file");
            let names = names.iter().map(String::as_str);
            Some(Record::begin(output, names).expect("there is room"))
        };
        let records = Records {
            delivered: record(records[0]),
            dropped: record(records[1]),
        };
        let path = |port: usize| folder.join(port.to_string());
        let kinds: Vec<LinkKind> = (0..ports).map(|port| LinkKind::Unix(path(port))).collect();
        let hub = Running::open(&kinds, settings, records).expect("ports enough");
        let connect = |port| {
            let peer = UnixStream::connect(path(port)).expect("it listens");
            peer.set_read_timeout(Some(PATIENCE)).expect("a socket");
            peer
        };
        let peers = (0..ports).map(connect).collect();
        Self { hub, peers }
    }

    fn end(self) -> Vec<Counts> {
        self.hub.end().expect("all ports are of use")
    }
}

#[test]
fn a_frame_goes_to_every_other_port_and_into_the_capture() {
    let folder = tempfile::tempdir().expect("a folder");
    let records = [Some("delivered.pcapng"), Some("dropped.pcapng")];
    let mut joined = Joined::new(folder.path(), 3, Settings::default(), records);
    for port in 0..3 {
        let file = fs::metadata(folder.path().join(port.to_string())).expect("a socket");
        assert_eq!(file.permissions().mode() & 0o777, 0o600);
    }
    // All have connected: they are taken in the turn of the first frame, before it is delivered.
    let frames: Vec<Vec<u8>> = (0..3)
        .map(|port| vec![port; 60 + usize::from(port)])
        .collect();
    for (from, frame) in frames.iter().enumerate() {
        send(&mut joined.peers[from], frame);
        for to in (0..3).filter(|&to| to != from) {
            assert_eq!(&receive(&mut joined.peers[to]), frame);
        }
        assert!(has_nothing(&mut joined.peers[from]), "not back");
    }
    let counts = joined.end();
    let expected = |port: u64| Counts {
        received: 1,
        octets: 60 + port,
        sent: 2,
        ..Counts::default()
    };
    assert_eq!(counts, [0, 1, 2].map(expected));
    assert_eq!(captured(folder.path(), "delivered.pcapng"), frames);
    assert_eq!(captured(folder.path(), "dropped.pcapng"), [[0; 0]; 0]);
    assert!(!folder.path().join("0").exists(), "sockets go with the hub");
}

/// Frames of a capture, which may have none.
fn captured(folder: &Path, name: &str) -> Vec<Vec<u8>> {
    let capture = rnic_capture::read(&folder.join(name));
    capture.map_or_else(|error| panic!("{error}"), |capture| capture.frames)
}

#[test]
fn frames_that_are_dropped_have_a_capture_of_their_own() {
    const FRAMES: usize = 200;
    let folder = tempfile::tempdir().expect("a folder");
    let settings = Settings {
        loss: Rate::new(0.3).expect("a rate"),
        ..Settings::default()
    };
    let records = [Some("delivered.pcapng"), Some("dropped.pcapng")];
    let mut joined = Joined::new(folder.path(), 2, settings, records);
    let frames: Vec<Vec<u8>> = (0..FRAMES).map(|n| vec![n as u8; 60]).collect();
    for frame in &frames {
        send(&mut joined.peers[0], frame);
    }
    let mut medium = Medium::new(settings, 2);
    let is_lost = |frame: &Vec<u8>| medium.enter(0, 0, frame.clone()).is_some();
    let (lost, delivered): (Vec<_>, Vec<_>) = frames.into_iter().partition(is_lost);
    for frame in &delivered {
        assert_eq!(&receive(&mut joined.peers[1]), frame);
    }
    let counts = joined.end();
    assert_eq!(counts[0].lost, lost.len() as u64);
    assert_eq!(captured(folder.path(), "delivered.pcapng"), delivered);
    assert_eq!(captured(folder.path(), "dropped.pcapng"), lost);
}

/// A port that nobody reads, or where nobody is, keeps no other port waiting.
#[test]
fn a_peer_that_does_not_read_loses_its_own_frames_only() {
    const FRAMES: usize = 6_000;
    let folder = tempfile::tempdir().expect("a folder");
    let mut joined = Joined::new(folder.path(), 3, Settings::default(), [None; 2]);
    let mut reader = joined.peers.pop().expect("three");
    // Who reads is never so far behind that frames of its own are lost.
    let (count, counted) = std::sync::mpsc::sync_channel(1_000);
    let read = std::thread::spawn(move || {
        for n in counted {
            assert_eq!(receive(&mut reader), [n as u8; 1_500]);
        }
        reader
    });
    for n in 0..FRAMES {
        send(&mut joined.peers[0], &[n as u8; 1_500]);
        count.send(n).expect("it reads");
    }
    drop(count);
    drop(read.join().expect("all of them"));
    let counts = joined.end();
    assert_eq!([counts[2].sent, counts[2].unread], [FRAMES as u64, 0]);
    assert!(counts[1].unread > 0, "{counts:?}");
    assert_eq!(counts[1].sent + counts[1].unread, FRAMES as u64);
}

#[test]
fn a_hub_has_two_to_sixty_four_ports() {
    for count in [0, 1, PORTS_MAX + 1] {
        let ports = (0..count).map(|_| LinkKind::None.open().expect("it needs nothing"));
        let (_ours, theirs) = UnixStream::pair().expect("sockets");
        let hub = Hub::new(
            ports.collect(),
            Settings::default(),
            Records::default(),
            theirs.into(),
        );
        let refused = hub.expect_err("too few or too many").to_string();
        assert_eq!(refused, format!("a hub has 2 to 64 ports, not {count}"));
    }
}
