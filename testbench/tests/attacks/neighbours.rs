//! Keys that share a slot of a hash table with a present one: the device must compare all of a key,
//! in each of the three ways.
//!
//! The hash is a CRC32C, so for each part of a key there are values that change this part alone and
//! leave the slot of a way as it was. A key stands in the first way whose slot is free; others that
//! take its slots in the ways before bring it to the way that is wanted.

use crate::scene::{pattern, Scene, REGION_TO, STAG};
use rnic_abi::counters::Counter::HostFrames;
use rnic_abi::errors::StreamError::DdpStag;
use rnic_abi::tables::hash_slot;
use rnic_driver::{ConnectionKey, RegionConfig};
use rnic_testbench::docs::security::Answer::{Counts, Stops};
use rnic_testbench::traffic::frame::FLAG_ACK;
use rnic_testbench::traffic::{Endpoint, FrameBuilder, StreamConfig};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Octets of a piece; each part that the lookup compares by itself has one of them.
const PIECE_OCTETS: usize = 2;
const PIECES: usize = ConnectionKey::OCTETS / PIECE_OCTETS;
/// The hosts of the connection; its IPv6 addresses have the same octets in a key as these.
const REMOTE: Ipv4Addr = Ipv4Addr::new(10, 1, 2, 3);
const LOCAL: Ipv4Addr = Ipv4Addr::new(10, 1, 2, 4);
const PORTS: (u16, u16) = (40_000, 4_420);

/// Index and key of the STag whose neighbours are written to.
const INDEX: u32 = 0x0051_7ac3;
const KEY: u32 = 0x2d;
/// Half of an STag's index: an octet alone decides the slot.
const HALF_BITS: u32 = 12;

fn pair(remote: impl Into<SocketAddr>, local: impl Into<SocketAddr>) -> ConnectionKey {
    ConnectionKey {
        remote: remote.into(),
        local: local.into(),
    }
}

/// IPv6 ends whose key has these octets.
fn of_octets(octets: [u8; ConnectionKey::OCTETS]) -> ConnectionKey {
    let address = |at: usize| {
        let octets: [u8; 16] = octets[at..at + 16].try_into().expect("16 octets");
        Ipv6Addr::from(octets)
    };
    let port = |at: usize| u16::from_be_bytes([octets[at], octets[at + 1]]);
    pair((address(0), port(32)), (address(16), port(34)))
}

/// The connection whose neighbours are heard.
fn own() -> ConnectionKey {
    let [remote, local] = [REMOTE, LOCAL].map(|address| address.to_ipv6_compatible());
    pair((remote, PORTS.0), (local, PORTS.1))
}

/// Do both stand in the same slots of `ways`?
fn meet(a: u32, b: u32, ways: std::ops::RangeInclusive<usize>) -> bool {
    ways.into_iter()
        .all(|way| hash_slot(a, way) == hash_slot(b, way))
}

/// A key that takes the place of `key` in `way`, and those of the ways before are taken. It has the
/// remote host and port of `key`, of which the ways hold what they compare, so that both are
/// candidates.
fn in_front(key: &ConnectionKey, way: usize) -> ConnectionKey {
    let with_local_end = |bits: u32| {
        let mut octets = key.octets();
        let [host, port] = [bits >> 16, bits & 0xffff].map(|part| (part as u16).to_be_bytes());
        octets[30..32].copy_from_slice(&host);
        octets[34..].copy_from_slice(&port);
        of_octets(octets)
    };
    let others = (1..u32::MAX).map(with_local_end);
    let mut others = others.filter(|other| other != key);
    let found = others.find(|other| meet(other.hash(), key.hash(), 0..=way));
    found.expect("there are 2^32 local ends and at most 2^27 places")
}

/// `key` with other octets in one piece, in the same slot of `way`.
fn neighbour(key: &ConnectionKey, way: usize, piece: usize) -> ConnectionKey {
    let changed = |bits: u16| {
        let mut octets = key.octets();
        let [first, second] = bits.to_be_bytes();
        octets[PIECE_OCTETS * piece] ^= first;
        octets[PIECE_OCTETS * piece + 1] ^= second;
        of_octets(octets)
    };
    let mut others = (1..=u16::MAX).map(changed);
    let found = others.find(|other| meet(other.hash(), key.hash(), way..=way));
    found.expect("16 bits have 2^7 values for each slot")
}

fn builder(key: &ConnectionKey) -> FrameBuilder {
    let end = |address, host| Endpoint {
        mac: [2, 0, 0, 0, 1, host],
        address,
    };
    FrameBuilder::new(end(key.remote, 3), end(key.local, 4))
}

fn open(scene: &mut Scene, key: &ConnectionKey) {
    scene.open_one_more(&builder(key), &StreamConfig::default());
}

/// What would be the first octets of an offloaded stream.
fn send(scene: &mut Scene, key: &ConnectionKey, octets: usize) {
    let sequence = StreamConfig::default().sequence_start;
    let frame = builder(key).segment(sequence, 1, FLAG_ACK, &pattern(octets));
    scene.push(&frame);
}

/// Segments of every neighbour of a connection that stands in `way`, and of two that have no key in
/// the table: its own octets over IPv4, and what an empty slot stands for.
fn hear_the_neighbours(scene: &mut Scene, way: usize) {
    let own = own();
    for before in 0..way {
        open(scene, &in_front(&own, before));
    }
    open(scene, &own);
    // An acknowledgement: it is there.
    send(scene, &own, 0);
    for piece in 0..PIECES {
        send(scene, &neighbour(&own, way, piece), 100);
    }
    send(scene, &pair((REMOTE, PORTS.0), (LOCAL, PORTS.1)), 100);
    send(scene, &empty_slot(&scene.builder()), 100);
}

/// What an empty slot would be the key of, if it counted: connection 0, which has the local end of
/// every connection of the scene, from a host and a port whose octets in the slot are zeros.
fn empty_slot(ends: &FrameBuilder) -> ConnectionKey {
    let IpAddr::V4(remote) = ends.source.address.ip() else {
        panic!("the scene's connections are IPv4");
    };
    let [a, b, c, _] = remote.octets();
    pair((Ipv4Addr::new(a, b, c, 0), 0), ends.destination.address)
}

/// CRC32C of an STag's index, most significant octet first.
fn stag_hash(index: u32) -> u32 {
    crc32c::crc32c(&index.to_be_bytes()[1..])
}

/// A Write to the neighbour of an STag that stands in `way`; its index differs in one half.
fn write_to_the_neighbour(scene: &mut Scene, way: usize, half: u32) {
    let own = stag_hash(INDEX);
    let mut indices: Vec<u32> = (0..way)
        .map(|before| {
            let mut others = (1..1 << 24).filter(|&index| index != INDEX);
            let found = others.find(|&index| meet(stag_hash(index), own, 0..=before));
            found.expect("2^24 indices have 2^6 for each pair of slots")
        })
        .collect();
    indices.push(INDEX);
    for index in indices {
        let region = RegionConfig {
            stag: index << 8 | KEY,
            ..scene.region(STAG)
        };
        scene.each(|dut| dut.register(&region));
    }
    let halves = (1..1 << HALF_BITS).map(|bits| INDEX ^ bits << (HALF_BITS * half));
    let mut others = halves.filter(|&index| meet(stag_hash(index), own, way..=way));
    let neighbour = others
        .next()
        .expect("12 bits have 2^3 values for each slot");
    let stag = neighbour << 8 | KEY;
    scene.sender().rdma_write(stag, REGION_TO, &pattern(100));
}

attacks! {
    /// MPA-027: segments whose address pair shares the slot of an offloaded one in the first way
    /// and differs in 16 bits, each 16 of the 288 in turn.
    #[test]
    fn neighbours_of_a_connection_in_way_0(scene) => Counts(HostFrames, 20), {
        hear_the_neighbours(scene, 0);
    }

    /// MPA-027: the same in the second way.
    #[test]
    fn neighbours_of_a_connection_in_way_1(scene) => Counts(HostFrames, 20), {
        hear_the_neighbours(scene, 1);
    }

    /// MPA-027: the same in the third way.
    #[test]
    fn neighbours_of_a_connection_in_way_2(scene) => Counts(HostFrames, 20), {
        hear_the_neighbours(scene, 2);
    }

    /// DDP-042: a Write to an STag that shares the slot of a known one in the first way; the lower
    /// half of its index differs.
    #[test]
    fn neighbour_of_an_stag_in_way_0_half_0(scene) => Stops(DdpStag), {
        write_to_the_neighbour(scene, 0, 0);
    }

    /// DDP-042: the same; the upper half differs.
    #[test]
    fn neighbour_of_an_stag_in_way_0_half_1(scene) => Stops(DdpStag), {
        write_to_the_neighbour(scene, 0, 1);
    }

    /// DDP-042: the same in the second way; the lower half differs.
    #[test]
    fn neighbour_of_an_stag_in_way_1_half_0(scene) => Stops(DdpStag), {
        write_to_the_neighbour(scene, 1, 0);
    }

    /// DDP-042: the same in the second way; the upper half differs.
    #[test]
    fn neighbour_of_an_stag_in_way_1_half_1(scene) => Stops(DdpStag), {
        write_to_the_neighbour(scene, 1, 1);
    }

    /// DDP-042: the same in the third way; the lower half differs.
    #[test]
    fn neighbour_of_an_stag_in_way_2_half_0(scene) => Stops(DdpStag), {
        write_to_the_neighbour(scene, 2, 0);
    }

    /// DDP-042: the same in the third way; the upper half differs.
    #[test]
    fn neighbour_of_an_stag_in_way_2_half_1(scene) => Stops(DdpStag), {
        write_to_the_neighbour(scene, 2, 1);
    }

    /// DDP-042: a Write to the STag index of an empty slot, with the key of region 0.
    #[test]
    fn stag_of_an_empty_slot(scene) => Stops(DdpStag), {
        scene.sender().rdma_write(STAG & 0xff, REGION_TO, &pattern(100));
    }
}
