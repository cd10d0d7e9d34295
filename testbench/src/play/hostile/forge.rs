//! Frames that no honest peer sends: a capture's frame with a change, sealed again.
//!
//! | change | octets                                                   | sealed                      |
//! |--------|----------------------------------------------------------|-----------------------------|
//! | bits   | Ethernet to TCP header, up to three bits                 | IP and TCP checksum, mostly |
//! | octet  | the same, one octet to any value                         | the same                    |
//! | cut    | the frame ends anywhere                                  | the same                    |
//! | header | DDP and RDMAP header of an FPDU that is whole in it      | CRC and TCP checksum        |
//! | framing| ULPDU_Length, CRC, a marker's pointer of such an FPDU    | TCP checksum                |
//!
//! A Tagged Offset or a Message Offset is changed in its upper half only, so that it leads out of
//! the region: inside of it, two writes of one place could meet, and which one lands last is open
//! where they come out of order.

use crate::workload::places::Places;
use etherparse::checksum::Sum16BitWords;
use etherparse::ether_type;
use rand::seq::IndexedRandom;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rnic_capture::segment::{datagram, Segment};
use rnic_capture::Flow;
use rnic_wire::ddp::{tagged, untagged};
use rnic_wire::mpa::crc32c::{self, CRC_OCTETS};
use rnic_wire::mpa::fpdu::LENGTH_OCTETS;
use std::ops::Range;

/// Octets of Ethernet, IPv4 and TCP header, none with options.
const PLAIN_HEADERS: usize = 54;
const PROTOCOL_TCP: u8 = 6;

/// `frame` with a change; `flows` are those that it could belong to.
pub fn forge(frame: &[u8], flows: &[Flow], generator: &mut ChaCha8Rng) -> Vec<u8> {
    let mut forged = frame.to_vec();
    if frame.is_empty() {
        return forged;
    }
    let segment = Located::of(frame);
    let headers = segment.as_ref().map_or(PLAIN_HEADERS, |s| s.payload.start);
    let headers = headers.min(frame.len());
    let fpdus = segment.and_then(|segment| segment.fpdus(flows));
    match (generator.random_range(0..8), fpdus) {
        (0..=2, Some((flow, fpdus))) if !fpdus.is_empty() => {
            let fpdu = fpdus.choose(generator).expect("there is one").clone();
            change_header(&mut forged, flow, &fpdu, generator);
            seal(&mut forged);
            return forged;
        }
        (3, Some((flow, fpdus))) if flow.crc && !fpdus.is_empty() => {
            let fpdu = fpdus.choose(generator).expect("there is one").clone();
            change_framing(&mut forged, &fpdu, generator);
            seal(&mut forged);
            return forged;
        }
        (4, _) => forged.truncate(generator.random_range(1..=frame.len())),
        (5, _) => forged[generator.random_range(0..headers)] = generator.random(),
        _ => {
            for _ in 0..generator.random_range(1..=3) {
                flip(&mut forged, generator.random_range(0..headers), generator);
            }
        }
    }
    if generator.random_bool(0.75) {
        seal(&mut forged);
    }
    forged
}

/// An FPDU that is whole in a frame: where its octets are in the frame, markers' and others'.
#[derive(Clone, Debug)]
struct WholeFpdu {
    octets: Range<usize>,
    plain: Vec<usize>,
    pointers: Vec<usize>,
}

/// Where a frame's TCP payload is, and whose it is.
struct Located<'a> {
    segment: Segment<'a>,
    payload: Range<usize>,
}

impl<'a> Located<'a> {
    fn of(frame: &'a [u8]) -> Option<Self> {
        let segment = Segment::of_frame(frame)?;
        let offset = |part: &[u8]| part.as_ptr() as usize - frame.as_ptr() as usize;
        let start = offset(segment.payload);
        let payload = start..start + segment.payload.len();
        Some(Self { segment, payload })
    }

    /// Its flow, and the FPDUs of that flow which are whole in it.
    fn fpdus<'f>(&self, flows: &'f [Flow]) -> Option<(&'f Flow, Vec<WholeFpdu>)> {
        let ends = (self.segment.source, self.segment.destination);
        let mut flows = flows.iter();
        let flow = flows.find(|flow| (flow.source, flow.destination) == ends)?;
        let first = self.segment.sequence;
        let inside = |octets: &&Range<u32>| {
            let start = octets.start.wrapping_sub(first) as usize;
            let length = octets.end.wrapping_sub(octets.start) as usize;
            start < self.payload.len() && start + length <= self.payload.len()
        };
        let whole = flow.fpdus.iter().filter(inside);
        Some((flow, whole.map(|octets| self.whole(flow, octets)).collect()))
    }

    fn whole(&self, flow: &Flow, octets: &Range<u32>) -> WholeFpdu {
        let length = octets.end.wrapping_sub(octets.start) as usize;
        let first = octets.start.wrapping_sub(self.segment.sequence) as usize;
        let start = self.payload.start + first;
        let stream_start = octets.start.wrapping_sub(flow.sequence_start) as usize;
        let in_frame = |octets: Vec<usize>| {
            let octets = octets.into_iter();
            octets.map(|octet| octet - stream_start + start).collect()
        };
        let places = Places::of(stream_start..stream_start + length, flow.markers);
        WholeFpdu {
            octets: start..start + length,
            plain: in_frame(places.plain),
            pointers: in_frame(places.pointers),
        }
    }
}

fn flip(octets: &mut [u8], at: usize, generator: &mut ChaCha8Rng) {
    octets[at] ^= 1 << generator.random_range(0..8);
}

/// A bit of DDP and RDMAP header, and a CRC that is right.
fn change_header(frame: &mut [u8], flow: &Flow, fpdu: &WholeFpdu, generator: &mut ChaCha8Rng) {
    let is_tagged = frame[fpdu.plain[LENGTH_OCTETS]] & 0x80 != 0;
    // The lower half of the offset, which ends the header, stays.
    let (header, kept) = match is_tagged {
        true => (tagged::HEADER_OCTETS, 4),
        false => (untagged::HEADER_OCTETS, 2),
    };
    let end = fpdu.plain.len() - CRC_OCTETS;
    let places = &fpdu.plain[LENGTH_OCTETS..(LENGTH_OCTETS + header - kept).min(end)];
    if let Some(&at) = places.choose(generator) {
        flip(frame, at, generator);
    }
    if flow.crc {
        let (covered, crc) =
            frame[fpdu.octets.clone()].split_at_mut(fpdu.octets.len() - CRC_OCTETS);
        crc.copy_from_slice(&crc32c::field(covered));
    }
}

/// A bit of what finds and checks an FPDU.
fn change_framing(frame: &mut [u8], fpdu: &WholeFpdu, generator: &mut ChaCha8Rng) {
    let length = &fpdu.plain[..LENGTH_OCTETS];
    let crc = &fpdu.plain[fpdu.plain.len() - CRC_OCTETS..];
    let places = [length, crc, &fpdu.pointers].concat();
    let at = *places.choose(generator).expect("an FPDU has a length");
    flip(frame, at, generator);
}

/// Make the checksums of IPv4 and TCP right, as far as there are such headers.
fn seal(frame: &mut [u8]) {
    let Some((kind, octets)) = datagram(frame) else {
        return;
    };
    let half = |at: usize| usize::from(u16::from_be_bytes([octets[at], octets[at + 1]]));
    let is_v4 = kind == ether_type::IPV4;
    let (header, addresses, protocol, length) = match octets.len() {
        20.. if is_v4 => {
            let header = usize::from(octets[0] & 0xf) * 4;
            (header.max(20), 12..20, octets[9], half(2))
        }
        40.. if !is_v4 => (40, 8..40, octets[6], 40 + half(4)),
        _ => return,
    };
    let (whole, octets) = (frame.len(), octets.len());
    let datagram = &mut frame[whole - octets..];
    if header > octets {
        return;
    }
    if is_v4 {
        put_checksum(&mut datagram[..header], 10, Sum16BitWords::new());
    }
    let end = length.min(octets);
    if protocol != PROTOCOL_TCP || end < header + 20 {
        return;
    }
    let pseudo = Sum16BitWords::new()
        .add_slice(&datagram[addresses])
        .add_2bytes([0, PROTOCOL_TCP])
        .add_2bytes(((end - header) as u16).to_be_bytes());
    put_checksum(&mut datagram[header..end], 16, pseudo);
}

/// Write the checksum over `octets` at offset `at` in them; `start` is the sum of what else it
/// covers.
fn put_checksum(octets: &mut [u8], at: usize, start: Sum16BitWords) {
    octets[at..at + 2].fill(0);
    let sum = start.add_slice(octets).ones_complement();
    // The sum is of words in the machine's own order.
    octets[at..at + 2].copy_from_slice(&sum.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::{generate, Markers, Workload};
    use rand::SeedableRng;
    use std::path::Path;

    /// All ways are taken; most forged frames pass the checksums, and a changed header the CRC too.
    #[test]
    fn forged_frames_get_past_the_checksums() {
        let workload = Workload {
            markers: Markers::Both,
            ..Workload::default()
        };
        let generation = generate(&workload).expect("it can be made");
        let capture = rnic_capture::parse(Path::new("forge.pcap"), generation.file);
        let capture = capture.expect("a sound capture");
        let flows = rnic_capture::flows(&capture, None);
        let flow = flows
            .iter()
            .find(|flow| flow.markers)
            .expect("there is one");
        let frame = capture.frames.iter().find(|frame| {
            let located = Located::of(frame).and_then(|located| located.fpdus(&flows));
            located.is_some_and(|(of, fpdus)| of.source == flow.source && !fpdus.is_empty())
        });
        let frame = frame.expect("an FPDU is whole in a frame");
        let mut generator = ChaCha8Rng::seed_from_u64(1);
        let (mut sealed, mut shorter, mut headers, mut framings) = (0, 0, 0, 0);
        for _ in 0..2000 {
            let forged = forge(frame, &flows, &mut generator);
            shorter += usize::from(forged.len() < frame.len());
            let Some(located) = Located::of(&forged) else {
                continue;
            };
            if !located.segment.checksum_good {
                continue;
            }
            sealed += 1;
            if forged[located.payload.clone()] == frame[located.payload.clone()] {
                continue;
            }
            let (_, fpdus) = located.fpdus(&flows).expect("it is of the flow still");
            let good = fpdus.iter().all(|fpdu| {
                let (covered, crc) = forged[fpdu.octets.clone()].split_at(fpdu.octets.len() - 4);
                crc == crc32c::field(covered)
            });
            *(if good { &mut headers } else { &mut framings }) += 1;
        }
        let seen = [sealed, shorter, headers, framings];
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
    }
}
