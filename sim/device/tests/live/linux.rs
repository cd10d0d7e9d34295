//! Linux' own TCP at the other end: an interface of Linux is a port of the hub.
//!
//! ```text
//!  TcpStream --> TCP of Linux --> tap --> hub, faults --> device, endpoint
//! ```
//!
//! MPA, DDP and RDMAP of that end are written by hand ([`stranger`](crate::stranger)). Where the
//! system gives no process a network of its own, this is skipped.

use crate::scene::{completion, event, octets, post_receives, End, PATIENCE, PORT};
use crate::stranger::{ddp, mpa};
use crate::wire::Wire;
use rnic_device::hub::{Rate, Settings};
use rnic_driver::verbs::endpoint::{
    PairEvent, PairOptions, QueuePair, SendOperation, Stream, WorkKind,
};
use rnic_iwarp::queue_pair::Status;
use rnic_iwarp::startup;
use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};

/// The interface.
const NAME: &str = "rnic0";
const ADDRESSES: [&str; 2] = ["192.0.2.9", "fd00::9"];
/// Octets that go each way before MPA: more than any window.
const STREAM_OCTETS: usize = 1 << 20;
/// Sends each way, and how many of them are on their way.
const MESSAGES: usize = 400;
const AHEAD: usize = 8;
/// Payload of a segment of a message.
const SEGMENT_OCTETS: usize = 1_371;

/// A command in a network of its own.
const UNSHARE: [&str; 2] = ["unshare", "-Urn"];

#[test]
fn the_tcp_of_linux_carries_streams_and_queue_pairs() {
    let make = ["ip", "tuntap", "add", "dev", NAME, "mode", "tap"];
    let tried = Command::new(UNSHARE[0]).arg(UNSHARE[1]).args(make).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        let reason = format!("`{} {}` fails here", UNSHARE.join(" "), make.join(" "));
        return rnic_effort::not_possible("TCP of Linux: live", &reason);
    }
    if !rnic_effort::is_alone(&UNSHARE) {
        return;
    }
    ip(&make[1..]);
    ip(&["address", "add", "192.0.2.9/24", "dev", NAME]);
    ip(&["address", "add", "fd00::9/64", "dev", NAME, "nodad"]);
    ip(&["link", "set", NAME, "up"]);
    for v6 in [false, true] {
        let meeting = Meeting::new(v6);
        meeting.stream_from_linux();
        meeting.stream_to_linux();
        for markers in [false, true] {
            meeting.messages(markers);
        }
        meeting.end();
    }
}

fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output();
    let output = output.expect("it is there");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {arguments:?}: {errors}");
}

/// An end of ours, and Linux.
struct Meeting {
    end: End,
    wire: Wire,
    linux: IpAddr,
    _folder: tempfile::TempDir,
}

impl Meeting {
    fn new(v6: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let rate = |rate| Rate::new(rate).expect("a rate");
        let faults = Settings {
            loss: rate(0.01),
            duplicate: rate(0.01),
            reorder: rate(0.01),
            seed: 1 + u64::from(v6),
            ..Settings::default()
        };
        let wire = Wire::with_tap(folder.path(), 1, Some(NAME), faults);
        let link = format!("unix-connect:{}", wire.ports[0].display());
        Self {
            end: End::open("model", 1, &link, v6),
            wire,
            linux: ADDRESSES[usize::from(v6)].parse().expect("an address"),
            _folder: folder,
        }
    }

    fn own(&self) -> SocketAddr {
        SocketAddr::new(self.end.address, PORT)
    }

    /// A connection that Linux opens; `speak` is its end.
    fn accepted<T: Send + 'static>(
        &self,
        speak: impl FnOnce(TcpStream) -> T + Send + 'static,
    ) -> (Stream, JoinHandle<T>) {
        let own = self.own();
        let listener = self.end.endpoint.listen(own).expect("it listens");
        let linux = thread::spawn(move || speak(TcpStream::connect(own).expect("it connects")));
        let stream = listener.accept(PATIENCE).expect("it is there");
        assert_eq!(stream.peer_addr().ip(), self.linux);
        (stream, linux)
    }

    fn stream_from_linux(&self) {
        let (stream, linux) = self.accepted(both_ways);
        echo(&stream);
        linux.join().expect("all of it comes back");
    }

    fn stream_to_linux(&self) {
        let listener = TcpListener::bind((self.linux, 0)).expect("a port");
        let address = listener.local_addr().expect("it has one");
        let linux = thread::spawn(move || both_ways(listener.accept().expect("it comes").0));
        let stream = self.end.endpoint.connect(address).expect("it connects");
        echo(&stream);
        linux.join().expect("all of it comes back");
    }

    /// Sends of Linux' end, each of which comes back; then Linux' end closes.
    fn messages(&self, markers: bool) {
        let (credits, allowed) = mpsc::channel();
        let (stream, linux) =
            self.accepted(move |stream| Linux::new(stream, markers).run(&allowed));
        let settings = startup::Settings {
            markers,
            ..startup::Settings::default()
        };
        let request = stream.request(&settings, b"").expect("a Request");
        assert_eq!(request.private_data(), b"hello");
        let options = PairOptions::default();
        let pair = request.queue_pair(&self.end.domain, &options);
        let pair = pair.expect("there is room");
        post_receives(&self.end, &pair, options.receives);
        pair.accept(b"welcome").expect("accepted");
        let (mut received, mut sent) = (0, 0);
        while sent < MESSAGES {
            let done = completion(&pair);
            assert_eq!(done.status, Status::Success, "{done:?}");
            if done.kind == WorkKind::Receive {
                let text = message(received);
                assert!(done.message() == text, "message {received}");
                self.send(&pair, &text);
                let memory = self.end.context.allocate(4096).expect("memory");
                pair.post_receive(0, memory).expect("posted");
                received += 1;
            } else {
                sent += 1;
                credits.send(()).expect("Linux' end waits for it");
            }
        }
        drop(credits);
        assert_eq!(event(&pair), PairEvent::Established);
        assert_eq!(event(&pair), PairEvent::HalfClosed);
        pair.disconnect().expect("it is open");
        linux.join().expect("all messages come back");
    }

    fn send(&self, pair: &QueuePair, text: &[u8]) {
        let region = self.end.region(text);
        let payload = [region.part(0..text.len()).expect("inside")];
        let operation = SendOperation::send(&payload);
        pair.post_send(7, &operation).expect("posted");
    }

    /// Frames were lost, twice and in another order, and nothing is left.
    fn end(mut self) {
        let counts = self.wire.end();
        let [lost, twice, overtaken] = [
            counts.iter().map(|port| port.lost).sum::<u64>(),
            counts.iter().map(|port| port.duplicated).sum(),
            counts.iter().map(|port| port.late).sum(),
        ];
        println!("{lost} frames lost, {twice} twice, {overtaken} late");
        assert!(lost > 0 && twice > 0 && overtaken > 0, "{counts:?}");
    }
}

/// Octets of Linux' end, which come back.
fn both_ways(stream: TcpStream) {
    let text = octets(STREAM_OCTETS, 3);
    let mut writer = stream.try_clone().expect("the same socket");
    let written = text.clone();
    let writing = thread::spawn(move || {
        writer.write_all(&written).expect("it is read");
        writer.shutdown(Shutdown::Write).expect("it is open");
    });
    let mut heard = Vec::new();
    (&stream).read_to_end(&mut heard).expect("it is closed");
    writing.join().expect("all is written");
    assert!(heard == text, "{} octets come back", heard.len());
}

/// What comes goes back, until the other end has finished.
fn echo(stream: &Stream) {
    let mut buffer = vec![0; 10_000];
    loop {
        match stream.read(&mut buffer, PATIENCE).expect("it is open") {
            0 => break,
            octets => stream.write_all(&buffer[..octets]).expect("it is open"),
        }
    }
    stream.finish().expect("it is open");
}

/// Message `number`: 0 to 4,096 octets.
fn message(number: usize) -> Vec<u8> {
    octets(number * 1_237 % 4_097, number)
}

/// MPA over a socket of Linux, as initiator.
struct Linux {
    stream: TcpStream,
    framing: mpa::Framing,
}

impl Linux {
    fn new(mut stream: TcpStream, markers: bool) -> Self {
        let markers_flag = if markers { mpa::FLAG_MARKERS } else { 0 };
        let flags = mpa::FLAG_CRC | markers_flag;
        let request = mpa::start(&mpa::KEY_REQUEST, flags, 1, b"hello");
        stream.write_all(&request).expect("it is open");
        let expected = mpa::start(&mpa::KEY_REPLY, flags, 1, b"welcome");
        let mut reply = vec![0; expected.len()];
        stream.read_exact(&mut reply).expect("it is open");
        assert_eq!(reply, expected);
        Self {
            stream,
            framing: mpa::Framing::new(markers),
        }
    }

    /// All messages, each as soon as it is allowed to be sent; what comes has to be the same.
    fn run(mut self, allowed: &Receiver<()>) {
        let mut reader = self.stream.try_clone().expect("the same socket");
        let reading = thread::spawn(move || {
            let mut heard = Vec::new();
            reader.read_to_end(&mut heard).expect("it is closed");
            heard
        });
        for number in 0..MESSAGES {
            if number >= AHEAD {
                allowed.recv().expect("the other end lives");
            }
            self.send(number);
        }
        while allowed.recv().is_ok() {}
        self.stream.shutdown(Shutdown::Write).expect("it is open");
        let heard = reading.join().expect("it is read");
        let messages = messages_of(&mpa::Framing::read(self.framing.markers, &heard));
        assert_eq!(messages.len(), MESSAGES);
        for (number, heard) in messages.iter().enumerate() {
            assert!(*heard == message(number), "message {number} comes back");
        }
    }

    fn send(&mut self, number: usize) {
        let text = message(number);
        let segments = text.len().div_ceil(SEGMENT_OCTETS).max(1);
        for segment in 0..segments {
            let begin = segment * SEGMENT_OCTETS;
            let payload = &text[begin..text.len().min(begin + SEGMENT_OCTETS)];
            let mut head = ddp::untagged(ddp::SEND, 0, number as u32 + 1, begin as u32);
            if segment + 1 < segments {
                head[0] &= !ddp::LAST;
            }
            let fpdu = self.framing.fpdu(&[&head[..], payload].concat());
            self.stream.write_all(&fpdu.octets).expect("it is open");
        }
    }
}

/// The messages that Sends make.
fn messages_of(ulpdus: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut messages = vec![Vec::new()];
    for ulpdu in ulpdus {
        assert_eq!(ddp::opcode(ulpdu), ddp::SEND);
        let open = messages.last_mut().expect("there is one");
        open.extend_from_slice(&ulpdu[ddp::UNTAGGED_OCTETS..]);
        if ulpdu[0] & ddp::LAST != 0 {
            messages.push(Vec::new());
        }
    }
    messages.pop();
    messages
}
