use super::*;
use crate::link::LinkKind;
use etherparse::PacketBuilder;
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use std::net::UdpSocket;
use std::process::Command;
use std::time::Duration;

const LINUX: [u8; 6] = [0x02, 0, 0, 0, 0, 1];
const DEVICE: [u8; 6] = [0x02, 0, 0, 0, 0, 2];
/// What takes longer hangs.
const PATIENCE: Timespec = Timespec {
    tv_sec: 60,
    tv_nsec: 0,
};

#[test]
fn an_interface_that_cannot_be_had_is_refused_by_its_name() {
    for name in ["", "0123456789abcdef", "a/b", "a b", "a:b", "t%d", "lo"] {
        let kind = LinkKind::Tap(name.to_owned());
        let refused = kind.open().expect_err(name).to_string();
        let begin = format!("interface {name}: ");
        assert!(
            refused.starts_with(&begin) && refused.contains("; "),
            "{refused}"
        );
    }
}

/// A command in a network of its own.
const UNSHARE: [&str; 2] = ["unshare", "-Urn"];

/// Linux' own UDP over the interface, in a process with a network of its own.
#[test]
fn frames_pass_between_the_device_and_linux() {
    let make = ["ip", "tuntap", "add", "dev", "rnic0", "mode", "tap"];
    let tried = Command::new(UNSHARE[0]).arg(UNSHARE[1]).args(make).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        let reason = format!("`{} {}` fails here", UNSHARE.join(" "), make.join(" "));
        return rnic_effort::not_possible("frames of a tap: link", &reason);
    }
    if rnic_effort::is_alone(&UNSHARE) {
        exchange();
    }
}

fn ip(arguments: &str) {
    let output = Command::new("ip").args(arguments.split(' ')).output();
    let output = output.expect("it is there");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {arguments}: {errors}");
}

/// The next IPv4 frame: Linux also announces itself by IPv6.
fn next_ipv4(link: &mut TapLink) -> Vec<u8> {
    loop {
        match link.receive().expect("it is of use") {
            Some(frame) if frame[12..14] == [0x08, 0x00] => return frame,
            Some(_) => {}
            None => {
                let mut fds = [PollFd::from_borrowed_fd(link.queue.as_fd(), PollFlags::IN)];
                assert_eq!(poll(&mut fds, Some(&PATIENCE)), Ok(1), "no frame comes");
            }
        }
    }
}

fn exchange() {
    // An interface that exists, as one of a user without privileges does.
    ip("tuntap add dev rnic0 mode tap");
    ip("link set dev rnic0 address 02:00:00:00:00:01");
    ip("address add 10.0.0.1/24 dev rnic0");
    let mut link = TapLink::open("rnic0").expect("it exists");
    let busy = TapLink::open("rnic0").expect_err("it is in use");
    let busy = busy.to_string();
    assert!(busy.contains("another process uses it"), "{busy}");
    // An interface that is down loses frames.
    link.send(&[0xff; 60]).expect("it is lost");
    assert_eq!(link.receive().expect("nothing comes"), None);
    ip("link set dev rnic0 up");
    ip("neighbour add 10.0.0.2 lladdr 02:00:00:00:00:02 dev rnic0");
    let socket = UdpSocket::bind("10.0.0.1:4000").expect("a port");
    let timeout = Duration::from_secs(PATIENCE.tv_sec as u64);
    socket.set_read_timeout(Some(timeout)).expect("a timeout");
    // 14, 20 and 8 octets of headers: the first one is padded, the last one has all of the MTU.
    for octets in [0, 18, 1_472] {
        let payload: Vec<u8> = (0..octets).map(|at| (at * 7 + octets) as u8).collect();
        let sent = socket.send_to(&payload, "10.0.0.2:5000");
        assert_eq!(sent.expect("it is sent"), octets);
        let frame = next_ipv4(&mut link);
        assert_eq!((&frame[..6], &frame[6..12]), (&DEVICE[..], &LINUX[..]));
        assert_eq!(frame.len(), (42 + octets).max(60));
        assert_eq!(frame[42..42 + octets], payload);
        assert!(frame[42 + octets..].iter().all(|&octet| octet == 0));

        let builder = PacketBuilder::ethernet2(DEVICE, LINUX)
            .ipv4([10, 0, 0, 2], [10, 0, 0, 1], 64)
            .udp(5000, 4000);
        let mut frame = Vec::new();
        builder.write(&mut frame, &payload).expect("it fits");
        link.send(&frame).expect("it is sent");
        let mut received = [0; 2_000];
        let (count, from) = socket.recv_from(&mut received).expect("it arrives");
        assert_eq!(from.to_string(), "10.0.0.2:5000");
        assert_eq!(received[..count], payload);
    }
    // A frame that Linux does not take is lost, and the link goes on.
    link.send(&[0]).expect("it is lost");
    link.send(&vec![0; 1 << 20]).expect("it is lost");
}
