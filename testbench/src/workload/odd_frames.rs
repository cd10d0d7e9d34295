//! Frames that are odd: datagrams in fragments, padding, runts, segments of strangers.

use crate::traffic::frame::{Endpoint, FrameBuilder};
use crate::workload::neighbours;
use etherparse::checksum::Sum16BitWords;
use rand::seq::IndexedRandom;
use rand::{Rng, RngCore};
use rand_chacha::ChaCha8Rng;
use rnic_abi::limits::{HASH_WAYS, MIN_FRAME_OCTETS};

/// Octets of an IPv6 header.
const IPV6_OCTETS: usize = 40;
/// Octets of an IPv6 fragment header.
const FRAGMENT_HEADER_OCTETS: usize = 8;
const NEXT_HEADER_FRAGMENT: u8 = 44;
const IPV4_MORE_FRAGMENTS: u16 = 0x2000;
/// Fragment offsets count in these octets.
const FRAGMENT_UNIT_OCTETS: usize = 8;
/// Octets of options: whole words.
const OPTION_OCTETS_MAX: usize = 40;
const OPTION_NOP: u8 = 1;

/// IPv4 options of one to ten words: NOPs, and an unknown option.
pub fn ip_options(generator: &mut ChaCha8Rng) -> Vec<u8> {
    let octets = 4 * generator.random_range(1..=OPTION_OCTETS_MAX / 4);
    let mut options = vec![0; octets];
    generator.fill_bytes(&mut options);
    // Number 30 is one for experiments (RFC 4727 section 3.2); the NOP before it moves it.
    let start = generator.random_range(0..2);
    options[..start].fill(OPTION_NOP);
    options[start] = 30;
    options[start + 1] = (octets - start) as u8;
    options
}

/// `frame`, whose datagram begins at octet `ip`, as two frames with a fragment each.
pub fn fragments(frame: &[u8], ip: usize, generator: &mut ChaCha8Rng) -> [Vec<u8>; 2] {
    let is_v4 = frame[ip] >> 4 == 4;
    let payload = match is_v4 {
        true => ip + 4 * usize::from(frame[ip] & 0xf),
        false => ip + IPV6_OCTETS,
    };
    let (header, payload) = frame.split_at(payload);
    let units = (payload.len() - 1) / FRAGMENT_UNIT_OCTETS;
    let cut = FRAGMENT_UNIT_OCTETS * generator.random_range(1..=units);
    let identification = generator.random::<u32>();
    let pieces = [(0, &payload[..cut], true), (cut, &payload[cut..], false)];
    pieces.map(|(offset, payload, more)| match is_v4 {
        true => fragment_v4(header, ip, identification as u16, offset, payload, more),
        false => fragment_v6(header, ip, identification, offset, payload, more),
    })
}

fn fragment_v4(
    header: &[u8],
    ip: usize,
    identification: u16,
    offset: usize,
    payload: &[u8],
    more: bool,
) -> Vec<u8> {
    let mut frame = [header, payload].concat();
    let (whole, headers) = (frame.len() - ip, header.len() - ip);
    let flags = if more { IPV4_MORE_FRAGMENTS } else { 0 };
    let fragment = flags | (offset / FRAGMENT_UNIT_OCTETS) as u16;
    let datagram = &mut frame[ip..];
    datagram[2..4].copy_from_slice(&(whole as u16).to_be_bytes());
    datagram[4..6].copy_from_slice(&identification.to_be_bytes());
    datagram[6..8].copy_from_slice(&fragment.to_be_bytes());
    datagram[10..12].fill(0);
    let sum = Sum16BitWords::new().add_slice(&datagram[..headers]);
    // The sum is of words in the machine's own order.
    datagram[10..12].copy_from_slice(&sum.ones_complement().to_ne_bytes());
    frame
}

fn fragment_v6(
    header: &[u8],
    ip: usize,
    identification: u32,
    offset: usize,
    payload: &[u8],
    more: bool,
) -> Vec<u8> {
    let mut header = header.to_vec();
    let length = (FRAGMENT_HEADER_OCTETS + payload.len()) as u16;
    let next = header[ip + 6];
    header[ip + 4..ip + 6].copy_from_slice(&length.to_be_bytes());
    header[ip + 6] = NEXT_HEADER_FRAGMENT;
    let fragment = (offset as u16 | u16::from(more)).to_be_bytes();
    let between = [
        [next, 0, fragment[0], fragment[1]],
        identification.to_be_bytes(),
    ]
    .concat();
    [header.as_slice(), &between, payload].concat()
}

/// Octets after the datagram until the frame has `octets`.
pub fn pad(frame: &mut Vec<u8>, octets: usize, generator: &mut ChaCha8Rng) {
    let before = frame.len();
    frame.resize(octets.max(before), 0);
    generator.fill_bytes(&mut frame[before..]);
}

/// A frame without a whole Ethernet header.
pub fn runt(frame: &[u8], generator: &mut ChaCha8Rng) -> Vec<u8> {
    frame[..generator.random_range(1..MIN_FRAME_OCTETS)].to_vec()
}

/// `builder`, for a neighbour in the device's connection table.
pub fn stranger(builder: &FrameBuilder, generator: &mut ChaCha8Rng) -> FrameBuilder {
    let ends: [Endpoint; 2] = [builder.source, builder.destination];
    let pieces = neighbours::pieces(builder.source.address.is_ipv6());
    let piece = *pieces.choose(generator).expect("there are some");
    let way = generator.random_range(0..HASH_WAYS);
    let number = generator.random_range(0..16);
    let [source, destination] = neighbours::neighbour(ends, piece, way, number);
    FrameBuilder {
        source,
        destination,
        ..builder.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::frame::FLAG_ACK;
    use rand::SeedableRng;
    use rnic_model::ethernet;
    use rnic_model::ip::{classify, IpVerdict};

    fn builders() -> [FrameBuilder; 2] {
        let pairs = [
            ["10.0.0.1:1000", "10.0.0.2:4420"],
            ["[fd00::1]:1000", "[fd00::2]:4420"],
        ];
        pairs.map(|ends| {
            let [source, destination] = ends.map(|address| Endpoint {
                mac: [2, 0, 0, 0, 0, 1],
                address: address.parse().expect("an address"),
            });
            FrameBuilder::new(source, destination)
        })
    }

    fn verdict(frame: &[u8]) -> IpVerdict<'_> {
        classify(&ethernet::payload(frame).expect("an IP datagram"))
    }

    #[test]
    fn fragments_hold_the_datagram_and_are_the_hosts() {
        let mut generator = ChaCha8Rng::seed_from_u64(1);
        for builder in builders() {
            for octets in [1, 300, 1400] {
                let payload = vec![7; octets];
                let whole = builder.segment(1, 2, FLAG_ACK, &payload);
                let pieces = fragments(&whole, 14, &mut generator);
                for piece in &pieces {
                    assert_eq!(verdict(piece), IpVerdict::Host, "{piece:02x?}");
                }
                let header = if whole[14] >> 4 == 4 { 34 } else { 54 };
                let own = if whole[14] >> 4 == 4 { 34 } else { 62 };
                let both = pieces.map(|piece| piece[own..].to_vec()).concat();
                assert_eq!(both, whole[header..]);
            }
        }
    }

    #[test]
    fn options_are_whole_words_and_the_segment_is_found_after_them() {
        let mut generator = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..100 {
            let mut builder = builders()[0].clone();
            let payload = [1, 2, 3];
            builder.ip_options = ip_options(&mut generator);
            let frame = builder.segment(1, 2, FLAG_ACK, &payload);
            let IpVerdict::Tcp(datagram) = verdict(&frame) else {
                panic!("{:02x?}", builder.ip_options);
            };
            assert_eq!(datagram.segment[20..], payload);
        }
    }

    #[test]
    fn a_strangers_segment_is_sound_and_its_own() {
        let mut generator = ChaCha8Rng::seed_from_u64(1);
        for builder in builders() {
            let other = stranger(&builder, &mut generator);
            let ends = |builder: &FrameBuilder| (builder.source, builder.destination);
            assert_ne!(ends(&other), ends(&builder));
            let frame = other.segment(1, 2, FLAG_ACK, &[1, 2, 3]);
            assert!(matches!(verdict(&frame), IpVerdict::Tcp(_)));
        }
    }
}
