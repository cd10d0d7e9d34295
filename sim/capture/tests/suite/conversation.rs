//! The conversation of all captures, and the files that hold it.

use etherparse::PacketBuilder;
use rnic_capture::{open_octets, CaptureError, Opened, ReadOptions};
use rnic_wire::mpa::fpdu::Framing;
use std::path::Path;

pub const STAG: u32 = 0x1122_3300;
/// Octets of the Write.
pub const WRITTEN: usize = 1000;
/// Initial sequence number of each end.
pub const SEQUENCE: [u32; 2] = [1000, 900_000];
const PORTS: [u16; 2] = [40_001, 7_174];
/// Octets of each start-up frame.
pub const STARTUP: u32 = 20;
/// Frames of [`frames`], and of them those with octets of FPDUs.
pub const FRAMES: usize = 7;

/// A TCP segment: who sends, what.
#[derive(Clone, Debug, Default)]
pub struct Segment {
    pub from: usize,
    pub sequence: u32,
    pub acknowledgment: Option<u32>,
    pub syn: bool,
    pub fin: bool,
    pub rst: bool,
    pub payload: Vec<u8>,
}

/// In an Ethernet frame, over IPv4 or IPv6.
pub fn frame(segment: &Segment, is_ipv6: bool) -> Vec<u8> {
    let (from, to) = (segment.from, 1 - segment.from);
    let ethernet = PacketBuilder::ethernet2([2, 0, 0, 0, 0, 9], [2, 0, 0, 0, 0, 8]);
    let ip = match is_ipv6 {
        false => ethernet.ipv4([10, 7, 0, 1 + from as u8], [10, 7, 0, 1 + to as u8], 64),
        true => {
            let address = |end: usize| {
                let mut address = [0; 16];
                (address[0], address[15]) = (0xfd, 1 + end as u8);
                address
            };
            ethernet.ipv6(address(from), address(to), 64)
        }
    };
    let mut tcp = ip.tcp(PORTS[from], PORTS[to], segment.sequence, 0xffff);
    if let Some(acknowledgment) = segment.acknowledgment {
        tcp = tcp.ack(acknowledgment);
    }
    if segment.syn {
        tcp = tcp.syn();
    }
    if segment.fin {
        tcp = tcp.fin();
    }
    if segment.rst {
        tcp = tcp.rst();
    }
    let mut octets = Vec::new();
    tcp.write(&mut octets, &segment.payload)
        .expect("memory takes all");
    octets
}

/// A start-up frame: `Req` or `Rep`, with its flags.
pub fn startup(which: &str, flags: u8) -> Vec<u8> {
    let mut octets = format!("MPA ID {which} Frame").into_bytes();
    octets.extend([flags, 1, 0, 0]);
    octets
}

pub fn written() -> Vec<u8> {
    (0..WRITTEN).map(|octet| (octet % 251) as u8).collect()
}

/// An FPDU with `ulpdu`, with CRC32C and without markers.
pub fn fpdu(ulpdu: &[u8]) -> Vec<u8> {
    let framing = Framing {
        markers: false,
        crc: true,
    };
    let mut octets = Vec::new();
    framing.append(&mut octets, &[ulpdu]);
    octets
}

/// RFC 5040 section 4.3: a Write to `offset` of the region.
pub fn write(offset: u64, octets: &[u8]) -> Vec<u8> {
    let mut ulpdu = vec![0xc1, 0x40];
    ulpdu.extend(STAG.to_be_bytes());
    ulpdu.extend(offset.to_be_bytes());
    ulpdu.extend(octets);
    fpdu(&ulpdu)
}

/// RFC 5040 section 4.4: a Send as message `msn`.
pub fn send(msn: u32, octets: &[u8]) -> Vec<u8> {
    let mut ulpdu = vec![0x41, 0x43, 0, 0, 0, 0];
    for word in [0, msn, 0] {
        ulpdu.extend(u32::to_be_bytes(word));
    }
    ulpdu.extend(octets);
    fpdu(&ulpdu)
}

/// The segments of the conversation: three of the handshake, Request and Reply, a Write, a Send.
pub fn segments() -> Vec<Segment> {
    let [a, b] = SEQUENCE;
    let write = write(0x10_0000, &written());
    let length = write.len() as u32;
    let first = a + 1 + STARTUP;
    let segment = |from, sequence, acknowledgment, payload: Vec<u8>| Segment {
        from,
        sequence,
        acknowledgment: Some(acknowledgment),
        payload,
        ..Segment::default()
    };
    let syn = |from, sequence, acknowledgment| Segment {
        from,
        sequence,
        acknowledgment,
        syn: true,
        ..Segment::default()
    };
    vec![
        syn(0, a, None),
        syn(1, b, Some(a + 1)),
        segment(0, a + 1, b + 1, Vec::new()),
        segment(0, a + 1, b + 1, startup("Req", 0x40)),
        segment(1, b + 1, first, startup("Rep", 0x40)),
        segment(0, first, b + 1 + STARTUP, write),
        segment(
            0,
            first + length,
            b + 1 + STARTUP,
            send(1, b"sixteen octets.."),
        ),
    ]
}

pub fn frames() -> Vec<Vec<u8>> {
    segments()
        .iter()
        .map(|segment| frame(segment, false))
        .collect()
}

/// A pcap file of packets that were captured whole.
pub fn pcap(link: u32, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut octets = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
    octets.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    octets.extend(262_144_u32.to_le_bytes());
    octets.extend(link.to_le_bytes());
    for packet in packets {
        octets.extend(record(packet, packet.len() as u32));
    }
    octets
}

/// A packet of a pcap file, of which the wire had `original` octets.
pub fn record(packet: &[u8], original: u32) -> Vec<u8> {
    let mut octets = vec![1, 0, 0, 0, 0, 0, 0, 0];
    octets.extend((packet.len() as u32).to_le_bytes());
    octets.extend(original.to_le_bytes());
    octets.extend(packet);
    octets
}

pub fn open(octets: Vec<u8>, options: &ReadOptions) -> Result<Opened, CaptureError> {
    open_octets(Path::new("made.pcap"), octets, options)
}

/// What comes of a file that can be played.
pub fn opened(octets: Vec<u8>) -> Opened {
    open(octets, &ReadOptions::default()).expect("it can be played")
}

/// The words of its refusal.
pub fn refused(octets: Vec<u8>) -> String {
    let refused = open(octets, &ReadOptions::default());
    refused.expect_err("it cannot be played").to_string()
}

/// The kinds of what is said.
pub fn kinds(findings: &[rnic_capture::Finding]) -> Vec<&'static str> {
    findings.iter().map(|finding| finding.kind).collect()
}

/// The conversation was read whole: both FPDUs of its first flow, none of the other.
pub fn assert_whole(opened: &Opened) {
    let fpdus: Vec<usize> = opened.flows.iter().map(|flow| flow.fpdus.len()).collect();
    assert_eq!(fpdus, [2, 0], "{:?} {:?}", opened.notes, opened.causes);
    let region = &opened.flows[0].regions[0];
    assert_eq!((region.stag, region.octets), (STAG, WRITTEN as u64));
    assert_eq!(opened.flows[0].messages.len(), 1);
    assert_eq!(opened.flows[0].gap, None);
}
