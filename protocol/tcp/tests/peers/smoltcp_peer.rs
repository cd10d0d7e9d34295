//! smoltcp's sockets as the peer, in simulated time: each sends back what it gets.
use crate::endpoint::Endpoint;
use crate::packet::Ends;
use rnic_tcp::{Settings, TimeOut};
use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr, Ipv4Address};
use std::collections::VecDeque;

const OWN: (Ipv4Address, u16) = (Ipv4Address::new(192, 0, 2, 1), 4_001);
const PEER: (Ipv4Address, u16) = (Ipv4Address::new(192, 0, 2, 2), 4_002);
/// smoltcp 0.12 adds to sequence numbers as `usize` where it makes SACK blocks: from 2^31 on its
/// sum overflows, and a debug build panics.
const ISS: u32 = 1_000;
/// One way.
const DELAY_US: u64 = 50;

/// Packets to and from smoltcp.
#[derive(Default)]
struct Queues {
    to: VecDeque<Vec<u8>>,
    from: VecDeque<Vec<u8>>,
}

struct Arriving(Vec<u8>);

impl RxToken for Arriving {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, take: F) -> R {
        take(&self.0)
    }
}

struct Leaving<'a>(&'a mut VecDeque<Vec<u8>>);

impl TxToken for Leaving<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, octets: usize, write: F) -> R {
        let mut packet = vec![0; octets];
        let result = write(&mut packet);
        self.0.push_back(packet);
        result
    }
}

impl Device for Queues {
    type RxToken<'a> = Arriving;
    type TxToken<'a> = Leaving<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Arriving, Leaving<'_>)> {
        let packet = self.to.pop_front()?;
        Some((Arriving(packet), Leaving(&mut self.from)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Leaving<'_>> {
        Some(Leaving(&mut self.from))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = 1_500;
        capabilities
    }
}

/// Send back what has come, and close once the other end has.
fn echo(socket: &mut Socket) {
    while socket.can_recv() && socket.can_send() {
        let room = socket.send_capacity() - socket.send_queue();
        let mut octets = vec![0; room];
        let count = socket.recv_slice(&mut octets).expect("it can receive");
        socket.send_slice(&octets[..count]).expect("it can send");
        if count == 0 {
            break;
        }
    }
    if socket.may_send() && !socket.may_recv() && socket.recv_queue() == 0 {
        socket.close();
    }
}

/// A connection, opened by smoltcp or by this end, to its end.
fn run(is_opened_by_peer: bool, loss: u32, seed: u64) -> String {
    let mut settings = Settings::default();
    settings
        .time_outs
        .set(TimeOut::TimeWait, 0)
        .expect("in range");
    let ends = Ends {
        own: OWN,
        peer: PEER,
    };
    let mut endpoint = Endpoint::new(ends, settings, ISS, 600, (loss, seed));
    let mut queues = Queues::default();
    let mut interface =
        Interface::new(Config::new(HardwareAddress::Ip), &mut queues, Instant::ZERO);
    interface.update_ip_addrs(|addresses| {
        let address = IpCidr::new(IpAddress::Ipv4(PEER.0), 24);
        addresses.push(address).expect("there is room for one");
    });
    let buffer = || SocketBuffer::new(vec![0; 60_000]);
    let mut sockets = SocketSet::new(Vec::new());
    let handle = sockets.add(Socket::new(buffer(), buffer()));
    let socket = sockets.get_mut::<Socket>(handle);
    if is_opened_by_peer {
        let own = (IpAddress::Ipv4(OWN.0), OWN.1);
        let opened = socket.connect(interface.context(), own, PEER.1);
        opened.expect("a socket that was just made");
    } else {
        socket.listen(PEER.1).expect("a socket that was just made");
        endpoint.connect(0);
    }
    let mut now_us = 0;
    while !endpoint.is_over() {
        queues.to.extend(endpoint.pump(now_us));
        now_us += DELAY_US;
        let now = Instant::from_micros(now_us as i64);
        while interface.poll(now, &mut queues, &mut sockets) != smoltcp::iface::PollResult::None {
            echo(sockets.get_mut::<Socket>(handle));
        }
        echo(sockets.get_mut::<Socket>(handle));
        interface.poll(now, &mut queues, &mut sockets);
        now_us += DELAY_US;
        if queues.from.is_empty() && queues.to.is_empty() {
            let peer_us = interface
                .poll_delay(now, &sockets)
                .map(|delay| now_us + delay.total_micros());
            let next_us = endpoint.deadline_us().into_iter().chain(peer_us).min();
            now_us = now_us.max(next_us.unwrap_or(now_us));
        }
        for packet in queues.from.drain(..) {
            endpoint.arrive(&packet, now_us);
        }
        assert!(now_us < 3_600_000_000, "no end after an hour");
    }
    let who = if is_opened_by_peer {
        "smoltcp connects"
    } else {
        "smoltcp listens"
    };
    let what = format!("{who}, loss {loss} in a million");
    endpoint.verify(&what);
    endpoint.report(&what, now_us)
}

/// TCP-002, TCP-007, TCP-008: both roles, with and without loss.
#[test]
fn smoltcp_gets_every_octet_and_sends_it_back() {
    for loss in [0, 10_000, 50_000] {
        for seed in 0..4 {
            for is_opened_by_peer in [false, true] {
                println!("{}", run(is_opened_by_peer, loss, seed));
            }
        }
    }
}
