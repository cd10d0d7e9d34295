//! A conversation of MPA, both directions from SYN to FIN, of which the device computes the sums.
//!
//! A dissector that knows nothing of this project can judge what leaves: it finds the FPDUs by
//! themselves, and their CRCs.

use super::frame::{pseudo_header_sum, Drawn};
use crate::workload::{generate, IpFamily, Workload};
use etherparse::{SlicedPacket, TransportSlice};
use rand::seq::IndexedRandom;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rnic_capture::segment::Segment;
use rnic_capture::Capture;
use rnic_driver::{InsertChecksum, InsertCrc};
use rnic_wire::mpa::fpdu::ULPDU_OCTETS_MAX;
use std::path::Path;

/// Messages of each direction.
const MESSAGES: usize = 6;
/// Octets of a TCP header before its checksum.
const CHECKSUM_PLACE: usize = 16;
const LENGTH_OCTETS: usize = 2;
const CRC_OCTETS: usize = 4;

/// The frames of a conversation, in order: FPDUs each in a segment of its own.
pub fn conversation(random: &mut ChaCha8Rng) -> Vec<Drawn> {
    let workload = Workload {
        seed: random.random(),
        messages: MESSAGES,
        ip: *[IpFamily::V4, IpFamily::V6].choose(random).expect("two"),
        vlan: (0..random.random_range(0..3)).map(|tag| 7 + tag).collect(),
        timestamps: random.random(),
        mtu: *[1500, 9000].choose(random).expect("two"),
        ..Workload::default()
    };
    let generation = generate(&workload).expect("a workload within its limits");
    let capture: Capture = rnic_capture::parse(Path::new("conversation"), generation.file)
        .expect("the generator writes captures");
    let frames = capture.frames.into_iter();
    frames.map(|frame| drawn(frame, random)).collect()
}

/// The frame that must leave, given without its sums.
fn drawn(expected: Vec<u8>, random: &mut ChaCha8Rng) -> Drawn {
    let mut given = expected.clone();
    let segment = Segment::of_frame(&expected).expect("the generator's frames are segments");
    let octets = tcp_octets(&expected);
    let start = expected.len() - octets;
    let place = start + CHECKSUM_PLACE;
    let ends = (segment.source.ip(), segment.destination.ip());
    let sum = pseudo_header_sum(ends, octets);
    given[place..place + 2].copy_from_slice(&sum.to_be_bytes());
    let crc = covered(segment.payload).map(|octets| InsertCrc {
        first: expected.len() - segment.payload.len(),
        octets,
    });
    if let Some(crc) = crc {
        let place = crc.first + crc.octets;
        random.fill(&mut given[place..place + CRC_OCTETS]);
    }
    Drawn {
        expected,
        given,
        cuts: Vec::new(),
        checksum: Some(InsertChecksum { start, place }),
        crc,
    }
}

/// Octets of the TCP segment of a frame, header included.
fn tcp_octets(frame: &[u8]) -> usize {
    let sliced = SlicedPacket::from_ethernet(frame).expect("the generator's frames are sound");
    match sliced.transport {
        Some(TransportSlice::Tcp(tcp)) => tcp.slice().len(),
        _ => unreachable!("the generator's frames are segments"),
    }
}

/// The octets that the CRC of a payload covers, if it is one FPDU.
fn covered(payload: &[u8]) -> Option<usize> {
    let length = payload.first_chunk::<LENGTH_OCTETS>()?;
    let ulpdu = usize::from(u16::from_be_bytes(*length));
    let covered = (LENGTH_OCTETS + ulpdu).next_multiple_of(4);
    let is_fpdu = ulpdu <= ULPDU_OCTETS_MAX && covered + CRC_OCTETS == payload.len();
    is_fpdu.then_some(covered)
}
