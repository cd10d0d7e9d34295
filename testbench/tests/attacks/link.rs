//! Frames and datagrams that are not plain: tags in any order, headers with options, and frames
//! that end where a header goes on.

use crate::scene::{pattern, Name, Scene, REGION_TO, STAG};
use etherparse::Ipv4Header;
use rnic_abi::counters::Counter::*;
use rnic_testbench::docs::security::Answer::Counts;
use rnic_testbench::traffic::frame::FLAG_ACK;
use rnic_testbench::traffic::{Endpoint, FrameBuilder, StreamConfig};
use std::ops::Range;

/// Octets of the two Ethernet addresses, and of a tag.
const ADDRESSES: usize = 12;
const TAG_OCTETS: usize = 4;
/// Where the IPv4 header of an untagged frame stands, and its octets without options.
const IP: usize = 14;
const IP_OCTETS: usize = 20;
const CUSTOMER: u16 = 0x8100;
const SERVICE: u16 = 0x88a8;
/// Octets of each Write here.
const OCTETS: usize = 200;

/// Another Write after those before; where its octets stand in the stream.
fn write(scene: &mut Scene) -> Range<usize> {
    let written = OCTETS * scene.sender().fpdus().len();
    let start = scene.sender().stream().len();
    let data = pattern(OCTETS);
    scene
        .sender()
        .rdma_write(STAG, REGION_TO + written as u64, &data);
    scene.places(Name::Region(STAG), written, &data);
    start..scene.sender().stream().len()
}

/// A frame with another good Write, in order, and `change` done to it.
fn send_changed(scene: &mut Scene, change: impl Fn(Vec<u8>) -> Vec<u8>) {
    let octets = write(scene);
    let end = octets.end;
    let frame = change(scene.segment(octets));
    scene.push(&frame);
    scene.skip_to(end);
}

/// `frame` after tags of these types, outermost first.
fn tagged(frame: &[u8], tags: &[u16]) -> Vec<u8> {
    let mut out = frame[..ADDRESSES].to_vec();
    for tag in tags {
        out.extend_from_slice(&tag.to_be_bytes());
        out.extend_from_slice(&[0, 7]);
    }
    out.extend_from_slice(&frame[ADDRESSES..]);
    out
}

/// `frame` with these octets of options in its IPv4 header, under a right checksum.
fn with_options(frame: &[u8], options: &[u8]) -> Vec<u8> {
    let (mut header, rest) = Ipv4Header::from_slice(&frame[IP..]).expect("an IPv4 header");
    header.options = options.try_into().expect("words of options");
    header.total_len += options.len() as u16;
    header.header_checksum = header.calc_header_checksum();
    let mut out = frame[..IP].to_vec();
    out.extend_from_slice(&header.to_bytes());
    out.extend_from_slice(rest);
    out
}

/// Make the checksum of a plain IPv4 header right.
fn seal_ipv4(frame: &mut [u8]) {
    let header = &mut frame[IP..IP + IP_OCTETS];
    header[10..12].fill(0);
    let halves = header.chunks_exact(2);
    let sum: u32 = halves
        .map(|half| u32::from(u16::from_be_bytes([half[0], half[1]])))
        .sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let checksum = !((sum & 0xffff) + (sum >> 16)) as u16;
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
}

/// An IPv6 connection is offloaded: its first segment, of so many octets.
fn ipv6_segment(scene: &mut Scene, octets: usize) -> Vec<u8> {
    let end = |host: u16, port: u16| Endpoint {
        mac: [2, 0, 0, 0, 2, host as u8],
        address: ([0xfd00, 0, 0, 0, 0, 0, 0, host], port).into(),
    };
    let builder = FrameBuilder::new(end(1, 40_000), end(2, 4_420));
    let stream = StreamConfig::default();
    scene.open_one_more(&builder, &stream);
    builder.segment(stream.sequence_start, 1, FLAG_ACK, &pattern(octets))
}

attacks! {
    /// IEEE 802.1Q clause 9.6: good Writes after one tag and after two, of either type in either
    /// place.
    #[test]
    fn tags_of_both_types(scene) => Counts(TcpInOrder, 6), {
        let tags: [&[u16]; 6] = [
            &[CUSTOMER],
            &[SERVICE],
            &[CUSTOMER, CUSTOMER],
            &[SERVICE, SERVICE],
            &[SERVICE, CUSTOMER],
            &[CUSTOMER, SERVICE],
        ];
        for tags in tags {
            send_changed(scene, |frame| tagged(&frame, tags));
        }
        // Over IPv6 acknowledgements, which hardware and model count alike.
        let frame = ipv6_segment(scene, 0);
        for tags in tags {
            scene.push(&tagged(&frame, tags));
        }
        scene.falls_silent();
    }

    /// IEEE 802.1Q clause 9.6: a good Write after three tags, which are one too many.
    #[test]
    fn three_tags(scene) => Counts(HostFrames, 1), {
        let frame = scene.forged(0, FLAG_ACK, &pattern(100));
        scene.push(&tagged(&frame, &[SERVICE, CUSTOMER, CUSTOMER]));
    }

    /// IEEE 802.3 clause 3.2: frames that end before the type field is whole: right after a tag,
    /// and inside of the field.
    #[test]
    fn frames_without_a_whole_type(scene) => Counts(HostFrames, 6), {
        let frame = scene.forged(0, FLAG_ACK, &pattern(100));
        for tags in 1..=2 {
            let frame = tagged(&frame, &[CUSTOMER, CUSTOMER][..tags]);
            let header = ADDRESSES + TAG_OCTETS * tags;
            (header - 1..=header + 1).for_each(|octets| scene.push(&frame[..octets]));
        }
    }

    /// IEEE 802.3 clause 3.2: an Ethernet header and nothing else, of a type that is not IP.
    #[test]
    fn an_ethernet_header_alone(scene) => Counts(HostFrames, 1), {
        let mut frame = scene.forged(0, FLAG_ACK, &[]);
        frame.truncate(IP);
        frame[ADDRESSES..].copy_from_slice(&[0x08, 0x06]);
        scene.push(&frame);
    }

    /// RFC 791 section 3.1: good Writes after one to ten words of IPv4 options.
    #[test]
    fn ipv4_options(scene) => Counts(TcpInOrder, 10), {
        for words in 1..=10 {
            // A timestamp option that fills the header, all of it known octets.
            let mut options = pattern(4 * words);
            options[..2].copy_from_slice(&[68, 4 * words as u8]);
            send_changed(scene, |frame| with_options(&frame, &options));
        }
        scene.falls_silent();
    }

    /// RFC 791 section 3.1: a wrong octet in each of ten words of IPv4 options.
    #[test]
    fn ipv4_options_under_a_wrong_checksum(scene) => Counts(DropIpChecksum, 10), {
        let frame = scene.forged(0, FLAG_ACK, &pattern(100));
        let frame = with_options(&frame, &[1; 40]);
        for word in 0..10 {
            let mut frame = frame.clone();
            frame[IP + IP_OCTETS + 4 * word + word % 4] ^= 0x40;
            scene.push(&frame);
        }
    }

    /// RFC 791 section 3.1: IPv4 headers of other versions, a bit away from 4.
    #[test]
    fn ipv4_of_another_version(scene) => Counts(DropIpMalformed, 4), {
        let frame = scene.forged(0, FLAG_ACK, &pattern(100));
        for bit in 4..8 {
            let mut frame = frame.clone();
            frame[IP] ^= 1 << bit;
            seal_ipv4(&mut frame);
            scene.push(&frame);
        }
    }

    /// RFC 8200 section 3: IPv6 headers of other versions, a bit away from 6.
    #[test]
    fn ipv6_of_another_version(scene) => Counts(DropIpMalformed, 4), {
        let frame = ipv6_segment(scene, 100);
        for bit in 4..8 {
            let mut frame = frame.clone();
            frame[IP] ^= 1 << bit;
            scene.push(&frame);
        }
    }

    /// RFC 8200 section 3: segments of an offloaded connection that end inside of the IPv6 header,
    /// with a payload length that says so, and with the right one.
    #[test]
    fn ipv6_header_cut_short(scene) => Counts(DropIpMalformed, 4), {
        let frame = ipv6_segment(scene, 100);
        for octets in [IP + 8, IP + 39] {
            let mut frame = frame[..octets].to_vec();
            scene.push(&frame);
            frame[IP + 4..IP + 6].fill(0);
            scene.push(&frame);
        }
    }

    /// RFC 791 section 3.2: protocols a bit away from TCP, on an offloaded address pair.
    #[test]
    fn other_protocols_over_ipv4(scene) => Counts(HostFrames, 8), {
        let frame = scene.forged(0, FLAG_ACK, &pattern(100));
        for bit in 0..8 {
            let mut frame = frame.clone();
            frame[IP + 9] ^= 1 << bit;
            seal_ipv4(&mut frame);
            scene.push(&frame);
        }
    }

    /// RFC 8200 section 3: next headers a bit away from TCP, on an offloaded address pair.
    #[test]
    fn other_headers_over_ipv6(scene) => Counts(HostFrames, 8), {
        let frame = ipv6_segment(scene, 100);
        for bit in 0..8 {
            let mut frame = frame.clone();
            frame[IP + 6] ^= 1 << bit;
            scene.push(&frame);
        }
    }
}
