//! A capture's TCP streams: classic pcap, Ethernet with VLAN tags, IPv4 or IPv6, as the captures
//! of this repository are. Octets that were sent twice are the same; the first ones count.

use std::collections::BTreeMap;

/// One direction of a TCP connection.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Direction {
    source: (Vec<u8>, u16),
    destination: (Vec<u8>, u16),
}

/// Segments of one direction by offset.
#[derive(Default)]
struct Segments {
    sequence_start: Option<u32>,
    by_offset: BTreeMap<u32, Vec<u8>>,
}

impl Segments {
    /// The octets from the first on, up to the first gap.
    fn octets(&self) -> Vec<u8> {
        let mut stream = Vec::new();
        for (&offset, octets) in &self.by_offset {
            let known = stream.len() - (offset as usize).min(stream.len());
            if offset as usize > stream.len() {
                break;
            }
            stream.extend_from_slice(octets.get(known..).unwrap_or(&[]));
        }
        stream
    }
}

fn number<const N: usize>(octets: &[u8], at: usize) -> Option<[u8; N]> {
    octets.get(at..at + N)?.try_into().ok()
}

fn u16_at(octets: &[u8], at: usize) -> Option<usize> {
    number(octets, at).map(|octets| usize::from(u16::from_be_bytes(octets)))
}

/// Frames of a classic pcap file in the byte order of its writer.
fn frames(file: &[u8]) -> Vec<&[u8]> {
    let little = number(file, 0) == Some([0xd4, 0xc3, 0xb2, 0xa1]);
    let mut frames = Vec::new();
    let mut at = 24;
    while let Some(octets) = number(file, at + 8) {
        let length = match little {
            true => u32::from_le_bytes(octets),
            false => u32::from_be_bytes(octets),
        };
        at += 16 + length as usize;
        frames.push(&file[at - length as usize..at]);
    }
    frames
}

/// Direction, sequence number, flags and payload of a frame with TCP.
fn segment(frame: &[u8]) -> Option<(Direction, u32, u8, &[u8])> {
    let mut at = 12;
    while matches!(u16_at(frame, at)?, 0x8100 | 0x88a8) {
        at += 4;
    }
    let kind = u16_at(frame, at)?;
    let ip = &frame[at + 2..];
    let (addresses, octets, tcp_at) = match kind {
        0x0800 => {
            let header = usize::from(ip[0] & 0xf) * 4;
            ((&ip[12..16], &ip[16..20]), u16_at(ip, 2)?, header)
        }
        0x86dd => ((&ip[8..24], &ip[24..40]), 40 + u16_at(ip, 4)?, 40),
        _ => return None,
    };
    let tcp = ip.get(tcp_at..octets)?;
    let port = |at| Some(u16_at(tcp, at)? as u16);
    let direction = Direction {
        source: (addresses.0.to_vec(), port(0)?),
        destination: (addresses.1.to_vec(), port(2)?),
    };
    let sequence = u32::from_be_bytes(number(tcp, 4)?);
    let payload = tcp.get(usize::from(tcp[12] >> 4) * 4..)?;
    Some((direction, sequence, tcp[13], payload))
}

/// The streams of a file's connections: what was sent by the end that sent the Request, and by the
/// other one.
pub fn streams(file: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut directions: BTreeMap<Direction, Segments> = BTreeMap::new();
    for frame in frames(file) {
        let Some((direction, sequence, flags, payload)) = segment(frame) else {
            continue;
        };
        let segments = directions.entry(direction).or_default();
        if flags & 2 != 0 {
            // A SYN counts as one; ports that are used again begin anew.
            segments.sequence_start = Some(sequence.wrapping_add(1));
            segments.by_offset.clear();
        } else if let (Some(start), false) = (segments.sequence_start, payload.is_empty()) {
            let offset = sequence.wrapping_sub(start);
            let known = segments.by_offset.entry(offset).or_default();
            if known.len() < payload.len() {
                *known = payload.to_vec();
            }
        }
    }
    let mut streams = Vec::new();
    for (direction, segments) in &directions {
        let back = Direction {
            source: direction.destination.clone(),
            destination: direction.source.clone(),
        };
        let (sent, answered) = (segments.octets(), directions.get(&back));
        if let (true, Some(answered)) = (sent.starts_with(b"MPA ID Req"), answered) {
            streams.push((sent, answered.octets()));
        }
    }
    streams
}
