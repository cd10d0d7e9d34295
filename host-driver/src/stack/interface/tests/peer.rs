//! `smoltcp`'s interface at the other end: it resolves us, we resolve it, and echoes go both ways.

use super::*;
use smoltcp::iface::{Config, Interface as Peer, SocketHandle, SocketSet};
use smoltcp::phy::{Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::icmp;
use smoltcp::time::Instant;
use smoltcp::wire::{
    EthernetAddress, HardwareAddress, Icmpv4Packet, Icmpv4Repr, Icmpv6Packet, Icmpv6Repr, IpCidr,
};

/// Frames of the peer and for it.
#[derive(Default)]
struct Wire {
    to_peer: VecDeque<Vec<u8>>,
    of_peer: VecDeque<Vec<u8>>,
}

struct Received(Vec<u8>);

impl RxToken for Received {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

struct Sent<'a>(&'a mut VecDeque<Vec<u8>>);

impl TxToken for Sent<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, octets: usize, write: F) -> R {
        let mut frame = vec![0; octets];
        let result = write(&mut frame);
        self.0.push_back(frame);
        result
    }
}

impl Device for Wire {
    type RxToken<'a> = Received;
    type TxToken<'a> = Sent<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Received, Sent<'_>)> {
        let frame = self.to_peer.pop_front()?;
        Some((Received(frame), Sent(&mut self.of_peer)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sent<'_>> {
        Some(Sent(&mut self.of_peer))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = 1_514;
        capabilities
    }
}

/// Both ends.
struct Pair {
    ours: Interface,
    peer: Peer,
    wire: Wire,
    sockets: SocketSet<'static>,
    echoes: SocketHandle,
    now: u64,
}

impl Pair {
    fn new() -> Self {
        let mut wire = Wire::default();
        let mac = HardwareAddress::Ethernet(EthernetAddress(OTHER));
        let mut peer = Peer::new(Config::new(mac), &mut wire, Instant::ZERO);
        peer.update_ip_addrs(|addresses| {
            let v4 = IpCidr::new(IpAddr::from(OTHER_V4).into(), 24);
            let v6 = IpCidr::new(IpAddr::from(v6(2)).into(), 64);
            addresses
                .push(v4)
                .and_then(|()| addresses.push(v6))
                .expect("there is room");
        });
        let buffer =
            || icmp::PacketBuffer::new(vec![icmp::PacketMetadata::EMPTY; 8], vec![0; 16 << 10]);
        let mut socket = icmp::Socket::new(buffer(), buffer());
        socket.bind(icmp::Endpoint::Ident(7)).expect("it is free");
        let mut sockets = SocketSet::new(vec![]);
        let echoes = sockets.add(socket);
        let ours = interface();
        Self {
            ours,
            peer,
            wire,
            sockets,
            echoes,
            now: 0,
        }
    }

    /// Let both ends do what they have to, for a while.
    fn run(&mut self) {
        for _ in 0..50 {
            self.now += 10_000;
            let now = Instant::from_micros(self.now as i64);
            self.peer.poll(now, &mut self.wire, &mut self.sockets);
            while let Some(frame) = self.wire.of_peer.pop_front() {
                self.ours.receive(&frame, self.now);
            }
            self.wire.to_peer.extend(sent(&mut self.ours, self.now));
        }
    }

    fn echoes(&mut self) -> &mut icmp::Socket<'static> {
        self.sockets.get_mut(self.echoes)
    }
}

#[test]
fn the_peer_finds_us_and_its_echoes_come_back() {
    let mut pair = Pair::new();
    let sums = smoltcp::phy::ChecksumCapabilities::default();
    for octets in [0, 1, 56, 1_472] {
        let data = vec![0x5a; octets];
        let request = Icmpv4Repr::EchoRequest {
            ident: 7,
            seq_no: 1,
            data: &data,
        };
        let to = IpAddr::from(OWN_V4).into();
        let room = pair
            .echoes()
            .send(request.buffer_len(), to)
            .expect("there is room");
        request.emit(&mut Icmpv4Packet::new_unchecked(room), &sums);
        pair.run();
        let (received, from) = pair.echoes().recv().expect("it has come back");
        assert_eq!((from, &received[8..]), (to, &data[..]));
    }
    for octets in [0, 1, 56, 1_452] {
        let data = vec![0xa5; octets];
        let request = Icmpv6Repr::EchoRequest {
            ident: 7,
            seq_no: 1,
            data: &data,
        };
        let to: smoltcp::wire::IpAddress = IpAddr::from(v6(1)).into();
        let [own, other] = [v6(1), v6(2)].map(std::net::Ipv6Addr::from);
        let room = pair
            .echoes()
            .send(request.buffer_len(), to)
            .expect("there is room");
        request.emit(&other, &own, &mut Icmpv6Packet::new_unchecked(room), &sums);
        pair.run();
        let (received, from) = pair.echoes().recv().expect("it has come back");
        assert_eq!((from, &received[8..]), (to, &data[..]));
    }
    let counts = pair.ours.counts();
    assert_eq!(counts.echoes, 8, "{counts:?}");
    assert!(counts.resolution >= 2, "{counts:?}");
}

#[test]
fn we_find_the_peer_and_who_is_not_there_is_given_up() {
    let mut pair = Pair::new();
    for to in [IpAddr::from(OTHER_V4), v6(2).into()] {
        assert_eq!(pair.ours.header(to, pair.now), Ok(None));
        pair.run();
        let header = pair.ours.header(to, pair.now).expect("it is on the link");
        assert_eq!(header.expect("it has answered").octets()[..6], OTHER);
    }
    for to in [IpAddr::from([10, 0, 0, 77]), v6(77).into()] {
        assert_eq!(pair.ours.send(vec![0; 40], to, pair.now), Ok(()));
    }
    (0..10).for_each(|_| pair.run());
    assert_eq!(pair.ours.counts().unresolved, 2);
    assert_eq!(pair.ours.deadline(), None);
}
