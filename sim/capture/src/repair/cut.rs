//! A frame longer than the device takes, cut as a card that segments cuts it.
//!
//! In: a frame with one TCP segment of any length. Out: frames of the connection's segment size in
//! sequence, each with the headers of the first: lengths, sequence numbers and checksums are its
//! own, IPv4's Identification counts up, FIN and PSH stay with the last one, CWR with the first.

use super::datagram::Datagram;
use crate::segment::FLAG_FIN;
use std::net::IpAddr;
use std::ops::Range;

const FLAG_PSH: u8 = 0x08;
const FLAG_CWR: u8 = 0x80;
/// Octets of an IPv6 header without extension headers.
const IPV6_HEADER_OCTETS: usize = 40;

/// The pieces of `frame`, of at most `segment_octets` of payload and `frame_octets` in all, but for
/// those whose payload `is_elsewhere`.
pub(super) fn cut(
    frame: &[u8],
    datagram: &Datagram,
    segment_octets: usize,
    frame_octets: usize,
    is_elsewhere: impl Fn(&Range<usize>) -> bool,
) -> Option<Vec<Vec<u8>>> {
    let transport = datagram.transport;
    let header_octets = 4 * usize::from(frame[transport + 12] >> 4);
    let payload = frame.get(transport + header_octets..datagram.octets.end)?;
    let heads = Heads::of(frame, datagram, header_octets);
    let room = frame_octets.checked_sub(heads.octets.len())?;
    let piece_octets = segment_octets.clamp(1, room.max(1));
    let pieces = payload.chunks(piece_octets).enumerate();
    let count = payload.len().div_ceil(piece_octets);
    let cut = pieces.filter_map(|(number, payload)| {
        let first = number * piece_octets;
        let is_last = number + 1 == count;
        let is_needed = !is_elsewhere(&(first..first + payload.len()));
        is_needed.then(|| heads.piece(number, is_last, first, payload))
    });
    Some(cut.collect())
}

/// The headers of all pieces.
struct Heads {
    octets: Vec<u8>,
    /// Where IP and TCP begin in them.
    ip: usize,
    tcp: usize,
    is_ipv6: bool,
    like: Datagram,
}

impl Heads {
    fn of(frame: &[u8], datagram: &Datagram, header_octets: usize) -> Self {
        let is_ipv6 = matches!(datagram.source, IpAddr::V6(_));
        let ip = datagram.octets.start;
        let mut octets = frame[..datagram.transport].to_vec();
        if is_ipv6 {
            // The jumbo payload option said how long it was.
            octets.truncate(ip + IPV6_HEADER_OCTETS);
            octets[ip + 6] = datagram.protocol.0;
        }
        let tcp = octets.len();
        octets.extend(&frame[datagram.transport..][..header_octets]);
        Self {
            octets,
            ip,
            tcp,
            is_ipv6,
            like: datagram.clone(),
        }
    }

    /// Piece `number`, whose payload begins `offset` octets after the first one's.
    fn piece(&self, number: usize, is_last: bool, offset: usize, payload: &[u8]) -> Vec<u8> {
        let mut frame = [&self.octets, payload].concat();
        let (ip, tcp) = (self.ip, self.tcp);
        let length = |from: usize| ((frame.len() - from) as u16).to_be_bytes();
        if self.is_ipv6 {
            let length = length(ip + IPV6_HEADER_OCTETS);
            frame[ip + 4..ip + 6].copy_from_slice(&length);
        } else {
            let length = length(ip);
            frame[ip + 2..ip + 4].copy_from_slice(&length);
            let identification = u16::from_be_bytes([frame[ip + 4], frame[ip + 5]]);
            let own = identification.wrapping_add(number as u16);
            frame[ip + 4..ip + 6].copy_from_slice(&own.to_be_bytes());
        }
        let field = [0, 1, 2, 3].map(|octet| frame[tcp + 4 + octet]);
        let sequence = u32::from_be_bytes(field).wrapping_add(offset as u32);
        frame[tcp + 4..tcp + 8].copy_from_slice(&sequence.to_be_bytes());
        if !is_last {
            frame[tcp + 13] &= !(FLAG_FIN | FLAG_PSH);
        }
        if number > 0 {
            frame[tcp + 13] &= !FLAG_CWR;
        }
        let datagram = Datagram {
            octets: ip..frame.len(),
            transport: tcp,
            ..self.like.clone()
        };
        datagram.fill_header(&mut frame);
        datagram.fill_transport(&mut frame);
        frame
    }
}
