//! Frames of the peers, drawn from a seed: what each says, in which order, with which faults.

use rand::seq::{IndexedRandom, SliceRandom};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rnic_testbench::traffic::frame::{FLAG_ACK, FLAG_FIN, FLAG_PSH, FLAG_RST, FLAG_SYN};
use rnic_testbench::traffic::{Cutter, Endpoint, FrameBuilder, Sender, StreamConfig};
use std::net::{Ipv6Addr, SocketAddr};

/// Peers, each with a connection.
pub const PEERS: usize = 7;
/// Octets of each region.
pub const REGION_OCTETS: usize = MESSAGES * BUFFER_OCTETS;
/// Octets of each receive buffer.
pub const BUFFER_OCTETS: usize = 400;
/// Buffers of each Send queue; a read's sink has so many octets.
pub const BUFFERS: usize = 8;
pub const READ_OCTETS: usize = 700;
/// Tagged Offset of the first octet of a sink: more bits than an outstanding read holds.
pub const SINK_BASE: u64 = 0x5571_2fc8_ac30;
/// Messages of each peer.
const MESSAGES: usize = 20;
/// Longest payload of a segment.
const MSS: usize = 600;

/// What of a region a peer of number `peer` may do.
pub fn writable(peer: usize) -> u32 {
    (peer as u32 + 1) << 12 | 0x11
}

pub fn sink(peer: usize) -> u32 {
    writable(peer) + 0x100
}

pub fn invalidatable(peer: usize) -> u32 {
    writable(peer) + 0x200
}

/// How the segments of a peer arrive.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// One after the other, and the stream ends with an error.
    InOrder,
    /// Some late, some twice.
    Mixed,
    /// As `Mixed`, and one is missing for ever.
    WithGap,
}

/// A peer.
pub struct Peer {
    pub builder: FrameBuilder,
    pub stream: StreamConfig,
    pub arrival: Arrival,
    number: usize,
}

impl Peer {
    pub fn new(number: usize) -> Self {
        let port = 3_000 + number as u16;
        let ends = [(1, port), (2, 4_420)].map(|(host, port)| match number % 3 {
            0 => Endpoint {
                mac: [2, 0, 0, 0, 6, host],
                address: SocketAddr::new(Ipv6Addr::from([host.into(); 8]).into(), port),
            },
            _ => Endpoint::host(host, port),
        });
        let [source, destination] = ends;
        let arrival = match number {
            0 | 1 => Arrival::Mixed,
            2 => Arrival::WithGap,
            _ => Arrival::InOrder,
        };
        let stream = StreamConfig {
            markers: number % 2 == 1,
            crc: number != 4,
            // Around the end of sequence space.
            sequence_start: u32::MAX - 500 * number as u32,
            mulpdu: 512,
            ..StreamConfig::default()
        };
        Self {
            builder: FrameBuilder::new(source, destination),
            stream,
            arrival,
            number,
        }
    }

    /// The frames of its stream, in the order of their arrival.
    pub fn frames(&self, random: &mut ChaCha8Rng) -> Vec<Vec<u8>> {
        let mut sender = Sender::new(self.stream);
        self.speak(&mut sender, random);
        if self.arrival == Arrival::InOrder {
            self.go_wrong(&mut sender, random);
        }
        let cutter = *Cutter::ALL.choose(random).expect("four");
        let mut cut = cutter.cut(sender.fpdus(), MSS, random);
        if self.arrival == Arrival::WithGap {
            cut.remove(cut.len() - 3);
        }
        if self.arrival != Arrival::InOrder {
            for at in 1..cut.len() {
                if random.random_bool(0.3) {
                    cut.swap(at - 1, at);
                }
                if random.random_bool(0.1) {
                    cut.push(cut[at].clone());
                }
            }
        }
        let mut acknowledged = 1;
        let segment = |octets: std::ops::Range<usize>| {
            acknowledged += random.random_range(0..2);
            let flags = FLAG_ACK | [0, FLAG_PSH].choose(random).expect("two");
            let sequence = sender.sequence(octets.start);
            let payload = &sender.stream()[octets];
            self.builder.segment(sequence, acknowledged, flags, payload)
        };
        cut.into_iter().map(segment).collect()
    }

    /// Messages that a receiver accepts.
    fn speak(&self, sender: &mut Sender, random: &mut ChaCha8Rng) {
        let peer = self.number;
        let mut reads = vec![READ_OCTETS; 2];
        let mut sends = BUFFERS - 1;
        for message in 0..MESSAGES {
            let mut octets = vec![0; random.random_range(1..BUFFER_OCTETS)];
            random.fill(&mut octets[..]);
            match random.random_range(0..4) {
                0 if sends > 0 => {
                    sends -= 1;
                    sender.send(&octets);
                }
                1 if sends > 0 => {
                    sends -= 1;
                    let stag = invalidatable(peer);
                    // A second one finds it invalid, which is for those whose stream may stop.
                    match sends == BUFFERS - 3 {
                        true => sender.send_invalidate(stag, &octets),
                        false => sender.send_solicited(&octets),
                    };
                }
                2 if !reads.is_empty() => {
                    let mut octets = vec![0; reads.pop().expect("not empty")];
                    random.fill(&mut octets[..]);
                    let offset = SINK_BASE + ((1 - reads.len()) * READ_OCTETS) as u64;
                    sender.read_response(sink(peer), offset, &octets);
                }
                _ => {
                    // No two of them overlap: the hardware may place the later one first.
                    let offset = message * BUFFER_OCTETS;
                    sender.rdma_write(writable(peer), offset as u64, &octets);
                }
            }
        }
    }

    /// An error, and a Write after it that must not be placed.
    fn go_wrong(&self, sender: &mut Sender, random: &mut ChaCha8Rng) {
        let stag = writable(self.number);
        let octets = [0xee; 90];
        match self.number {
            3 => sender.rdma_write(stag, 0, &octets),
            4 => sender.rdma_write(stag ^ 0x1000_0000, 0, &octets),
            5 => sender.rdma_write(stag, REGION_OCTETS as u64 - 89, &octets),
            _ => match random.random_range(0..3) {
                0 => sender.rdma_write(sink(self.number), 0, &octets),
                1 => {
                    sender.set_next_msn(0, 77);
                    sender.send(&octets);
                }
                _ => sender.untagged_to_closed_queue(),
            },
        }
        if self.number == 3 {
            // The CRC of that Write.
            let end = sender.stream().len() - 1;
            sender.stream_mut()[end] ^= 1;
        }
        sender.rdma_write(stag, 0, &octets);
    }
}

/// Sends to a queue that is not open.
trait ClosedQueue {
    fn untagged_to_closed_queue(&mut self);
}

impl ClosedQueue for Sender {
    fn untagged_to_closed_queue(&mut self) {
        // A ULPDU as octets: untagged, last, version 1; Send; queue 2.
        let mut ulpdu = vec![0x41, 0x43, 0, 0, 0, 0, 0, 0, 0, 2];
        ulpdu.extend([0, 0, 0, 1, 0, 0, 0, 0, 7, 7, 7]);
        self.ulpdu(&ulpdu);
    }
}

/// Frames beside the streams: for the host, and for nobody.
pub fn others(peers: &[Peer], random: &mut ChaCha8Rng) -> Vec<(Vec<u8>, bool)> {
    let stranger = FrameBuilder::new(Endpoint::host(1, 99), Endpoint::host(2, 98));
    let mut frames = Vec::new();
    for number in 0..6 {
        let payload = vec![number; random.random_range(1..600)];
        frames.push((stranger.segment(1, 1, FLAG_ACK, &payload), false));
        let peer = &peers[random.random_range(0..peers.len())];
        let flags = *[FLAG_SYN, FLAG_RST, FLAG_FIN | FLAG_ACK]
            .choose(random)
            .expect("three");
        frames.push((peer.builder.segment(number.into(), 0, flags, &[]), false));
        // A wrong TCP checksum, a wrong IP checksum or address, a runt, a frame with an error.
        let mut damaged = peer.builder.segment(0, 0, FLAG_ACK, &payload);
        *damaged.last_mut().expect("it is long") ^= 1;
        frames.push((damaged, false));
        let mut damaged = stranger.segment(1, 1, FLAG_ACK, &payload);
        damaged[14 + 8] ^= 0x20;
        frames.push((damaged, false));
        frames.push((vec![0xff; random.random_range(1..14)], false));
        frames.push((stranger.segment(1, 1, FLAG_ACK, &payload), true));
        // Beyond the window, and an ACK that is acceptable nowhere.
        let start = peer.stream.sequence_start;
        let far = start.wrapping_add(1 << 24);
        frames.push((peer.builder.segment(far, 9, FLAG_ACK, &payload), false));
        frames.push((peer.builder.segment(far, 9, FLAG_ACK, &[]), false));
    }
    frames.shuffle(random);
    frames
}
