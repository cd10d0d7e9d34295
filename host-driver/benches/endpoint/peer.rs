//! The other end, as far as a bench needs it: it answers ARP, the handshake and the Request, and
//! then is a source of events.

use crate::null::NullDevice;
use etherparse::{NetSlice, PacketBuilder, SlicedPacket, TransportSlice};
use rnic_abi::event_ring::{ACK, IN_ORDER, PUSH};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

pub const OWN: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
pub const OWN_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const PEER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
const PEER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];
pub const ADDRESS: SocketAddr = SocketAddr::V4(SocketAddrV4::new(PEER, 7_174));
/// The peer's initial sequence number.
const IRS: u32 = 7_000;
/// A Reply: C, revision 1, no Private Data.
const REPLY: &[u8; 20] = b"MPA ID Rep Frame\x40\x01\x00\x00";
const KEY: &[u8] = b"MPA ID Req Frame";

/// What it has seen and said.
pub struct Peer {
    device: NullDevice,
    /// The device's number of the connection.
    connection: u32,
    /// Next number of ours that it expects, and its own next one.
    rcv_nxt: u32,
    snd_nxt: u32,
}

impl Peer {
    pub fn new(device: NullDevice, connection: u32) -> Self {
        Self {
            device,
            connection,
            rcv_nxt: 0,
            snd_nxt: IRS,
        }
    }

    /// Answer every frame that was sent.
    pub fn answer(&mut self) {
        while let Some(frame) = self.device.with(|null| null.frames.pop_front()) {
            if frame[12..14] == [8, 6] {
                self.answer_arp(&frame);
            } else {
                self.answer_segment(&frame);
            }
        }
    }

    fn answer_arp(&self, frame: &[u8]) {
        let mut answer = [&OWN_MAC[..], &PEER_MAC, &frame[12..20], &[0, 2], &PEER_MAC].concat();
        answer.extend_from_slice(&PEER.octets());
        answer.extend_from_slice(&OWN_MAC);
        answer.extend_from_slice(&OWN.octets());
        self.device.with(|null| null.receive(&answer));
    }

    fn answer_segment(&mut self, frame: &[u8]) {
        let packet = SlicedPacket::from_ethernet(frame).expect("it is whole");
        let (Some(NetSlice::Ipv4(_)), Some(TransportSlice::Tcp(tcp))) =
            (packet.net, packet.transport)
        else {
            return;
        };
        let payload = tcp.payload();
        let octets = payload.len() as u32 + u32::from(tcp.syn());
        if octets == 0 {
            return;
        }
        self.rcv_nxt = tcp.sequence_number() + octets;
        let reply: &[u8] = match payload.starts_with(KEY) {
            true => REPLY,
            false => &[],
        };
        let builder = PacketBuilder::ethernet2(PEER_MAC, OWN_MAC)
            .ipv4(PEER.octets(), OWN.octets(), 64)
            .tcp(ADDRESS.port(), tcp.source_port(), self.snd_nxt, u16::MAX)
            .ack(self.rcv_nxt);
        let builder = match tcp.syn() {
            true => builder.syn(),
            false => builder,
        };
        let mss = [etherparse::TcpOptionElement::MaximumSegmentSize(1_460)];
        let builder = match tcp.syn() {
            true => builder.options(&mss).expect("it fits"),
            false => builder,
        };
        let mut answer = Vec::new();
        builder.write(&mut answer, reply).expect("it fits");
        self.snd_nxt += reply.len() as u32 + u32::from(tcp.syn());
        self.device.with(|null| null.receive(&answer));
    }

    /// Acknowledge `segments` segments of `octets` octets, by an event for every second one and one
    /// for what is left.
    pub fn acknowledge(&mut self, segments: u32, octets: u32) {
        let mut left = segments;
        while left > 0 {
            let now = left.min(2);
            self.rcv_nxt = self.rcv_nxt.wrapping_add(now * octets);
            self.event(ACK);
            left -= now;
        }
    }

    /// The device has received `octets` octets.
    pub fn received(&mut self, octets: u32) {
        self.snd_nxt = self.snd_nxt.wrapping_add(octets);
        self.event(IN_ORDER | PUSH);
    }

    fn event(&self, reasons: u32) {
        let words = [
            self.connection << 16 | reasons,
            self.snd_nxt,
            self.rcv_nxt,
            u16::MAX.into(),
            0,
            0,
            0,
        ];
        self.device.with(|null| null.event(words));
    }
}
