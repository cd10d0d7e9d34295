//! Strangers on the path, and peers that do not keep to TCP: segments, datagrams and frames that
//! must not reach the stream, though what they hold is a good FPDU for it.

use crate::scene::{pattern, Name, Scene, REGION_TO, STAG, WINDOW};
use etherparse::Ipv4Header;
use rnic_abi::counters::Counter::*;
use rnic_abi::errors::StreamError::{DdpBounds, MpaCrc};
use rnic_testbench::docs::security::Answer::{Counts, Stops};
use rnic_testbench::traffic::frame::{
    TcpOptions, FLAG_ACK, FLAG_FIN, FLAG_RST, FLAG_SYN, FLAG_URG,
};
use rnic_wire::ddp::control::ControlRepr;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::tagged::TaggedRepr;

/// Where headers of an untagged IPv4 frame stand.
const IP: usize = 14;
const TCP: usize = 34;
const HEADERS: usize = 54;

/// A good FPDU for the attacked stream as it stands: a Write of 200 octets.
fn forged_fpdu(scene: &mut Scene) -> Vec<u8> {
    let mut forger = scene.sender().clone();
    let start = forger.stream().len();
    forger.rdma_write(STAG, REGION_TO, &pattern(200));
    forger.stream()[start..].to_vec()
}

/// The same in a frame: in order, but for what is done to it.
fn forged(scene: &mut Scene) -> Vec<u8> {
    let fpdu = forged_fpdu(scene);
    scene.forged(0, FLAG_ACK, &fpdu)
}

/// Change the IPv4 header of `frame` and make its checksum right.
fn with_ip(mut frame: Vec<u8>, change: impl Fn(&mut Ipv4Header)) -> Vec<u8> {
    let (mut header, _) = Ipv4Header::from_slice(&frame[IP..]).expect("an IPv4 header");
    change(&mut header);
    header.header_checksum = header.calc_header_checksum();
    frame[IP..TCP].copy_from_slice(&header.to_bytes());
    frame
}

/// Add `added` to octet `at` of an IPv4 header and take it from its checksum; `at` is even.
fn added_to_ip(mut frame: Vec<u8>, at: usize, added: u16) -> Vec<u8> {
    for (at, added) in [(IP + at, added), (IP + 10, added.wrapping_neg())] {
        let half = u16::from_be_bytes([frame[at], frame[at + 1]]).wrapping_add(added);
        frame[at..at + 2].copy_from_slice(&half.to_be_bytes());
    }
    frame
}

/// A Write of 200 octets of the attacked connection, sent.
fn good(scene: &mut Scene) {
    scene.sender().rdma_write(STAG, REGION_TO, &pattern(200));
    scene.deliver();
    scene.places(Name::Region(STAG), 0, &pattern(200));
}

fn push_all(scene: &mut Scene, segments: &[(i64, u8, usize)]) {
    for &(distance, flags, octets) in segments {
        let frame = scene.forged(distance, flags, &pattern(octets));
        scene.push(&frame);
    }
}

attacks! {
    /// MPA-037: a good FPDU in order under a wrong TCP checksum.
    #[test]
    fn wrong_tcp_checksum(scene) => Counts(DropTcpChecksum, 1), {
        let mut frame = forged(scene);
        frame[TCP + 16] ^= 0x01;
        scene.push(&frame);
    }

    /// MPA-037: a good FPDU in order under a wrong IP header checksum.
    #[test]
    fn wrong_ip_checksum(scene) => Counts(DropIpChecksum, 1), {
        let mut frame = forged(scene);
        frame[IP + 10] ^= 0x01;
        scene.push(&frame);
    }

    /// RFC 9293 section 3.10.7.4: data at the window's right edge and beyond, as far as numbers go.
    #[test]
    fn blind_data_outside_the_window(scene) => Counts(DropTcpOutsideWindow, 3), {
        let fpdu = forged_fpdu(scene);
        for distance in [i64::from(WINDOW), i64::from(WINDOW) + 1000, (1 << 31) - 1] {
            let frame = scene.forged(distance, FLAG_ACK, &fpdu);
            scene.push(&frame);
        }
    }

    /// MPA-054, MPA-042: guessed data inside of the window, ahead of the peer's, which it spoils.
    #[test]
    fn blind_data_in_the_window(scene) => Stops(MpaCrc), {
        scene.sender().rdma_write(STAG, REGION_TO, &pattern(200));
        push_all(scene, &[(60, FLAG_ACK, 20)]);
        scene.deliver();
    }

    /// MPA-038: all of an accepted FPDU again, with other octets under a right CRC.
    #[test]
    fn accepted_octets_again_with_others(scene) => Counts(DropTcpDuplicate, 1), {
        good(scene);
        let mut forger = scene.sender().clone();
        let octets = forger.stream().len();
        forger.stream_mut()[100] ^= 0xff;
        forger.reseal(0);
        let frame = scene.forged(-(octets as i64), FLAG_ACK, forger.stream());
        scene.push(&frame);
    }

    /// MPA-038: octets from the far past.
    #[test]
    fn octets_from_the_far_past(scene) => Counts(DropTcpDuplicate, 2), {
        push_all(scene, &[(i64::from(i32::MIN), FLAG_ACK, 100), (-1000, FLAG_ACK, 100)]);
    }

    /// MPA-038, MPA-039: a segment that begins with other octets than were accepted before.
    #[test]
    fn overlap_with_other_octets(scene) => Counts(TcpTrimmed, 1), {
        scene.sender().rdma_write(STAG, REGION_TO, &pattern(200));
        scene.places(Name::Region(STAG), 0, &pattern(200));
        scene.deliver_to(100);
        let end = scene.sender().stream().len();
        let mut octets = scene.sender().stream()[50..].to_vec();
        octets[..50].fill(0xff);
        let frame = scene.forged(-50, FLAG_ACK, &octets);
        scene.push(&frame);
        scene.skip_to(end);
    }

    /// MPA-038, MPA-039: octets ahead of a gap, then others for the same places when it closes.
    #[test]
    fn overlap_ahead_of_a_gap_with_other_octets(scene) => Counts(TcpTrimmed, 1), {
        scene.sender().rdma_write(STAG, REGION_TO, &pattern(200));
        scene.places(Name::Region(STAG), 0, &pattern(200));
        let end = scene.sender().stream().len();
        let ahead = scene.segment(60..100);
        scene.push(&ahead);
        let mut octets = scene.sender().stream().to_vec();
        octets[60..100].fill(0xff);
        let frame = scene.forged(0, FLAG_ACK, &octets);
        scene.push(&frame);
        scene.skip_to(end);
    }

    /// RFC 9293 section 3.10.7.4, MPA-053: RST at the expected number and inside of the window; the
    /// host's stack judges it, the stream goes on.
    #[test]
    fn rst_in_the_window(scene) => Counts(TcpControl, 3), {
        push_all(scene, &[(0, FLAG_RST, 0), (1000, FLAG_RST | FLAG_ACK, 0), (0, FLAG_RST, 50)]);
    }

    /// RFC 9293 section 3.10.7.4: SYN inside of the window, with data and without.
    #[test]
    fn syn_in_the_window(scene) => Counts(TcpControl, 3), {
        push_all(scene, &[(0, FLAG_SYN, 0), (9, FLAG_SYN | FLAG_ACK, 0), (0, FLAG_SYN, 50)]);
    }

    /// MPA-060: FIN without data; the host's stack judges it, the stream goes on.
    #[test]
    fn fin_in_the_window(scene) => Counts(TcpControl, 1), {
        push_all(scene, &[(0, FLAG_FIN | FLAG_ACK, 0)]);
    }

    /// RFC 9293 section 3.8.5: a good FPDU in order as urgent data.
    #[test]
    fn urgent_data(scene) => Counts(TcpControl, 1), {
        let fpdu = forged_fpdu(scene);
        let frame = scene.forged(0, FLAG_ACK | FLAG_URG, &fpdu);
        scene.push(&frame);
    }

    /// MPA-027: a good FPDU in order from another port.
    #[test]
    fn segment_of_another_port(scene) => Counts(HostFrames, 1), {
        let fpdu = forged_fpdu(scene);
        let mut builder = scene.builder();
        builder.source.address.set_port(9);
        let sequence = scene.sender().sequence(0);
        scene.push(&builder.segment(sequence, 1, FLAG_ACK, &fpdu));
    }

    /// RFC 2018 section 4: acknowledgements with a SACK block go to the host ring.
    #[test]
    fn acknowledgements_with_sack_blocks(scene) => Counts(HostFrames, 20), {
        let mut builder = scene.builder();
        let sequence = scene.sender().sequence(0);
        for block in 0..20 {
            builder.options = TcpOptions::Sack(block * 1000, block * 1000 + 500);
            scene.push(&builder.segment(sequence, 1, FLAG_ACK, &[]));
        }
    }

    /// MPA-064: a good FPDU in order in the first of two fragments; the second overlaps it.
    #[test]
    fn overlapping_fragments(scene) => Counts(HostFrames, 2), {
        let frame = forged(scene);
        scene.push(&with_ip(frame.clone(), |header| header.more_fragments = true));
        let offset = etherparse::IpFragOffset::try_new(5).expect("13 bits");
        scene.push(&with_ip(frame, |header| header.fragment_offset = offset));
    }

    /// RFC 791 section 3.1: an IP datagram longer than the frame that holds it.
    #[test]
    fn ip_length_beyond_the_frame(scene) => Counts(DropIpMalformed, 1), {
        let frame = forged(scene);
        scene.push(&with_ip(frame, |header| header.total_len += 1));
    }

    /// RFC 791 section 3.1: an IP datagram shorter than its header.
    #[test]
    fn ip_length_below_the_header(scene) => Counts(DropIpMalformed, 1), {
        let frame = forged(scene);
        scene.push(&with_ip(frame, |header| header.total_len = 19));
    }

    /// RFC 791 section 3.1: an IP header of 16 octets.
    #[test]
    fn ip_header_too_short(scene) => Counts(DropIpMalformed, 1), {
        let frame = forged(scene);
        scene.push(&added_to_ip(frame, 0, 0xff00));
    }

    /// RFC 9293 section 3.1: TCP headers of 16 octets, and of more than the datagram has.
    #[test]
    fn tcp_data_offset(scene) => Counts(DropTcpMalformed, 2), {
        let mut frame = scene.forged(0, FLAG_ACK, &pattern(20));
        for words in [4, 15] {
            frame[TCP + 12] = words << 4;
            scene.push(&frame);
        }
    }

    /// RFC 9293 section 3.1: a datagram that ends inside of the TCP header.
    #[test]
    fn tcp_header_cut_short(scene) => Counts(DropTcpMalformed, 1), {
        let mut frame = scene.forged(0, FLAG_ACK, &[]);
        frame.truncate(HEADERS - 1);
        scene.push(&with_ip(frame, |header| header.total_len = 39));
    }

    /// IEEE 802.3 clause 3.1: frames of one octet up to one less than an Ethernet header.
    #[test]
    fn runts(scene) => Counts(DropRunt, 13), {
        let frame = forged(scene);
        (1..14).for_each(|octets| scene.push(&frame[..octets]));
    }

    /// IEEE 802.3 clause 3.1: a good FPDU in order in a frame of 9217 octets.
    #[test]
    fn jumbo_too_long(scene) => Counts(DropFrameTooLong, 1), {
        let mut octets = forged_fpdu(scene);
        octets.resize(9217 - HEADERS, 1);
        let frame = scene.forged(0, FLAG_ACK, &octets);
        assert_eq!(frame.len(), 9217);
        scene.push(&frame);
    }

    /// MPA-046, DDP-043: a frame of 9216 octets, the longest there is, with one Write beyond the
    /// region.
    #[test]
    fn jumbo_with_a_write_beyond_the_region(scene) => Stops(DdpBounds), {
        let header = TaggedRepr {
            control: ControlRepr::new(1, Opcode::RdmaWrite, true),
            stag: STAG,
            to: REGION_TO,
        };
        // An FPDU of 9160 octets, and the first two of the next one.
        scene.sender().tagged_segment(&header, &pattern(9160 - 6 - 14));
        scene.sender().rdma_write(STAG, REGION_TO, &pattern(100));
        let end = 9216 - HEADERS;
        let frame = scene.segment(0..end);
        assert_eq!(frame.len(), 9216);
        scene.push(&frame);
        scene.skip_to(end);
        scene.refused_is(0);
    }
}
