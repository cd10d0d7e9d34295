//! Frames that a device sends to itself in its self-test.
//!
//! ```text
//!  payload -> tagged or untagged DDP segment -> FPDU with CRC -> TCP, IPv4, Ethernet
//! ```
//!
//! Both ends have addresses for documentation (RFC 5737), and Ethernet addresses that are locally
//! administered: in loopback none of these frames leaves the device.

use etherparse::PacketBuilder;
use rnic_driver::{ConnectionConfig, ConnectionKey, QueueId};
use rnic_wire::ddp::control::ControlRepr;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::tagged::TaggedRepr;
use rnic_wire::ddp::untagged::UntaggedRepr;
use rnic_wire::mpa::fpdu::Framing;

const REMOTE: ([u8; 6], [u8; 4], u16) = ([2, 0, 0, 0, 0, 1], [192, 0, 2, 1], 4_420);
const LOCAL: ([u8; 6], [u8; 4], u16) = ([2, 0, 0, 0, 0, 2], [192, 0, 2, 2], 4_421);
/// Sequence number of the first octet of full operation: the stream wraps soon.
const SEQUENCE_START: u32 = u32::MAX - 99;
const WINDOW: u32 = 1 << 16;
const HOP_LIMIT: u8 = 64;
/// DDP and RDMAP version.
const VERSION: u8 = 1;
/// Protection Domain of connection and region.
pub(crate) const PROTECTION_DOMAIN: u16 = 1;

/// A frame of `octets` octets of the EtherType that IEEE 802 leaves for experiments; other octets
/// for each `seed`.
pub(crate) fn plain(octets: usize, seed: usize) -> Vec<u8> {
    let mut frame: Vec<u8> = (0..octets).map(|at| (at * 7 + seed * 31) as u8).collect();
    frame[..6].copy_from_slice(&LOCAL.0);
    frame[6..12].copy_from_slice(&REMOTE.0);
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame
}

/// The connection that receives a [`Stream`].
pub(crate) fn connection() -> ConnectionConfig {
    ConnectionConfig {
        key: ConnectionKey {
            remote: (REMOTE.1, REMOTE.2).into(),
            local: (LOCAL.1, LOCAL.2).into(),
        },
        sequence_start: SEQUENCE_START,
        window: WINDOW,
        seg_ack: 0,
        seg_wnd: 0,
        markers: false,
        crc: true,
        version: VERSION,
        protection_domain: PROTECTION_DOMAIN,
        completion_queue: QueueId::default(),
    }
}

/// What a peer sends, a frame for each message.
#[derive(Debug)]
pub(crate) struct Stream {
    /// From the first octet of full operation on.
    octets: Vec<u8>,
    next_msn: u32,
}

impl Stream {
    /// Nothing was sent; MSNs begin at 1 (RFC 5041 section 4.3).
    pub(crate) fn new() -> Self {
        Self {
            octets: Vec::new(),
            next_msn: 1,
        }
    }

    /// The frame of an RDMA Write to the beginning of `stag`.
    pub(crate) fn write(&mut self, stag: u32, payload: &[u8]) -> Vec<u8> {
        let header = TaggedRepr {
            control: ControlRepr::new(VERSION, Opcode::RdmaWrite, true),
            stag,
            to: 0,
        };
        self.frame(&header.octets(), payload)
    }

    /// The frame of a Send.
    pub(crate) fn send(&mut self, payload: &[u8]) -> Vec<u8> {
        let header = UntaggedRepr {
            control: ControlRepr::new(VERSION, Opcode::Send, true),
            invalidate_stag: 0,
            qn: 0,
            msn: self.next_msn,
            mo: 0,
        };
        self.next_msn += 1;
        self.frame(&header.octets(), payload)
    }

    fn frame(&mut self, header: &[u8], payload: &[u8]) -> Vec<u8> {
        let framing = Framing {
            markers: false,
            crc: true,
        };
        let start = self.octets.len();
        framing.append(&mut self.octets, &[header, payload]);
        let sequence = SEQUENCE_START.wrapping_add(start as u32);
        let builder = PacketBuilder::ethernet2(REMOTE.0, LOCAL.0)
            .ipv4(REMOTE.1, LOCAL.1, HOP_LIMIT)
            .tcp(REMOTE.2, LOCAL.2, sequence, u16::MAX)
            .ack(1);
        let segment = &self.octets[start..];
        let mut frame = Vec::with_capacity(builder.size(segment.len()));
        let written = builder.write(&mut frame, segment);
        written.expect("a segment of one frame fits a packet");
        frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Octets of Ethernet, IPv4 and TCP headers.
    const HEADERS: usize = 14 + 20 + 20;

    #[test]
    fn segments_follow_each_other_and_wrap() {
        let mut stream = Stream::new();
        let (first, second) = (stream.write(0x105, &[7; 90]), stream.send(b"done"));
        let sequence =
            |frame: &[u8]| u32::from_be_bytes(frame[38..42].try_into().expect("4 octets"));
        assert_eq!(sequence(&first), SEQUENCE_START);
        // ULPDU_Length 2, header 14, payload 90, PAD 2, CRC 4.
        assert_eq!(first.len(), HEADERS + 112);
        assert_eq!(sequence(&second), SEQUENCE_START.wrapping_add(112));
        assert_eq!(first[HEADERS..HEADERS + 2], [0, 104]);
        assert_eq!(first[HEADERS + 4..HEADERS + 8], [0, 0, 1, 5]);
    }
}
