//! Draws frames to send: what must leave, and what software hands to the device.
//!
//! ```text
//!  etherparse, crc32c --> expected octets --+--> must leave
//!                                           |
//!     checksum field: sum of the pseudo-header, CRC field: anything
//!                                           v
//!                                       cut into pieces
//! ```
//!
//! What leaves is built without this project's hardware, model or driver.

use crate::traffic::frame::{TcpOptions, FLAG_ACK, FLAG_PSH};
use crate::traffic::{Endpoint, FrameBuilder};
use rand::seq::IndexedRandom;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rnic_abi::limits::MAX_FRAME_OCTETS;
use rnic_abi::transmit_ring::{ELEMENTS_MAX, FRAME_OCTETS_MIN};
use rnic_driver::{InsertChecksum, InsertCrc};
use std::net::{IpAddr, SocketAddr};

/// Octets of a TCP header without options, and of its checksum's place in it.
const TCP_OCTETS: usize = 20;
const CHECKSUM_PLACE: usize = 16;
const TCP: u8 = 6;
/// Octets of an FPDU's length field, and of its CRC.
const LENGTH_OCTETS: usize = 2;
const CRC_OCTETS: usize = 4;

/// A frame to send.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// What must leave.
    pub expected: Vec<u8>,
    /// What is in memory.
    pub given: Vec<u8>,
    /// Ends of the pieces in `given`, rising.
    pub cuts: Vec<usize>,
    /// Insertions to ask for.
    pub checksum: Option<InsertChecksum>,
    /// As `checksum`.
    pub crc: Option<InsertCrc>,
}

impl Drawn {
    /// A frame of any kind.
    pub fn any(random: &mut ChaCha8Rng) -> Self {
        let mut drawn = match random.random_bool(0.8) {
            true => Self::segment(random),
            false => Self::raw(random),
        };
        drawn.cut(random);
        drawn
    }

    /// Cut it into pieces.
    pub fn cut(&mut self, random: &mut ChaCha8Rng) {
        let pieces = random.random_range(1..=ELEMENTS_MAX.min(self.given.len()));
        let inner = self.given.len() - 1;
        let cuts = rand::seq::index::sample(random, inner, pieces - 1);
        self.cuts = cuts.into_iter().map(|cut| cut + 1).collect();
        self.cuts.push(self.given.len());
        self.cuts.sort_unstable();
    }

    /// Octets without a meaning, of every length.
    fn raw(random: &mut ChaCha8Rng) -> Self {
        let octets = match random.random_bool(0.3) {
            true => random.random_range(FRAME_OCTETS_MIN..=MAX_FRAME_OCTETS),
            false => random.random_range(FRAME_OCTETS_MIN..200),
        };
        let octets: Vec<u8> = (0..octets).map(|_| random.random()).collect();
        Self {
            expected: octets.clone(),
            given: octets,
            cuts: Vec::new(),
            checksum: None,
            crc: None,
        }
    }

    /// A TCP segment with an FPDU, or with fewer octets.
    fn segment(random: &mut ChaCha8Rng) -> Self {
        let builder = builder(random);
        let most = *[8, 100, 1400, 8900].choose(random).expect("four");
        let mut payload: Vec<u8> = (0..random.random_range(0..=most))
            .map(|_| random.random())
            .collect();
        let has_crc = payload.len() > LENGTH_OCTETS + CRC_OCTETS && random.random_bool(0.7);
        let first = random.random_range(0..=payload.len().saturating_sub(CRC_OCTETS + 1));
        // Mostly up to the end, as in an FPDU.
        let mut covered = payload.len().saturating_sub(first + CRC_OCTETS);
        if has_crc && random.random_bool(0.3) {
            covered = random.random_range(1..=covered);
        }
        if has_crc {
            let (octets, crc) = payload[first..].split_at_mut(covered);
            crc[..CRC_OCTETS].copy_from_slice(&crc32c::crc32c(octets).to_le_bytes());
        }
        let flags = FLAG_ACK | [0, FLAG_PSH].choose(random).expect("two");
        let expected = builder.segment(random.random(), random.random(), flags, &payload);
        let mut given = expected.clone();
        let start = expected.len() - payload.len() - TCP_OCTETS - builder.options.octets();
        let place = start + CHECKSUM_PLACE;
        let has_checksum = random.random_bool(0.8);
        if has_checksum {
            let ends = (
                builder.source.address.ip(),
                builder.destination.address.ip(),
            );
            let sum = pseudo_header_sum(ends, expected.len() - start);
            given[place..place + 2].copy_from_slice(&sum.to_be_bytes());
        }
        let crc = has_crc.then(|| InsertCrc {
            first: expected.len() - payload.len() + first,
            octets: covered,
        });
        if let Some(crc) = crc {
            let place = crc.first + crc.octets;
            random.fill(&mut given[place..place + CRC_OCTETS]);
        }
        Self {
            expected,
            given,
            cuts: Vec::new(),
            checksum: has_checksum.then_some(InsertChecksum { start, place }),
            crc,
        }
    }
}

fn builder(random: &mut ChaCha8Rng) -> FrameBuilder {
    let port = |random: &mut ChaCha8Rng| random.random_range(1..=u16::MAX);
    let is_v6 = random.random_bool(0.5);
    let mut end = |host| {
        let ip: IpAddr = match is_v6 {
            true => random.random::<[u16; 8]>().into(),
            false => random.random::<[u8; 4]>().into(),
        };
        Endpoint {
            mac: [2, 0, 0, 0, 3, host],
            address: SocketAddr::new(ip, port(random)),
        }
    };
    let (source, destination) = (end(1), end(2));
    let mut builder = FrameBuilder::new(source, destination);
    builder.vlan = (0..random.random_range(0..3)).map(|tag| 7 + tag).collect();
    if random.random_bool(0.5) {
        builder.options = TcpOptions::Timestamps(random.random(), random.random());
    }
    builder
}

/// The ones' complement sum of the pseudo-header of a segment of `octets` octets (RFC 9293 section
/// 3.1, RFC 8200 section 8.1).
pub(super) fn pseudo_header_sum(ends: (IpAddr, IpAddr), octets: usize) -> u16 {
    let mut header = Vec::new();
    for end in [ends.0, ends.1] {
        match end {
            IpAddr::V4(address) => header.extend(address.octets()),
            IpAddr::V6(address) => header.extend(address.octets()),
        }
    }
    header.extend((octets as u32).to_be_bytes());
    header.extend([0, 0, 0, TCP]);
    let words = header.chunks_exact(2);
    let sum: u32 = words
        .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])))
        .sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}
