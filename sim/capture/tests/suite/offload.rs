//! What a sender's card had yet to do.

use super::conversation::{assert_whole, frame, frames, kinds, opened, pcap, segments};
use super::conversation::{open, write, Segment, SEQUENCE, STARTUP};
use etherparse::checksum::Sum16BitWords;
use rnic_abi::limits::MAX_FRAME_OCTETS;
use rnic_capture::segment::Segment as Read;
use rnic_capture::{Opened, ReadOptions};

const IP: usize = 14;
const IP_CHECKSUM: usize = IP + 10;

/// Where TCP begins.
fn tcp(is_ipv6: bool) -> usize {
    IP + if is_ipv6 { 40 } else { 20 }
}

/// The sum of the pseudo-header, with `octets` as the length, as Linux leaves it.
fn pseudo_sum(frame: &[u8], is_ipv6: bool, octets: u32) -> [u8; 2] {
    let addresses = match is_ipv6 {
        false => &frame[IP + 12..IP + 20],
        true => &frame[IP + 8..IP + 40],
    };
    let sum = Sum16BitWords::new().add_slice(addresses);
    let sum = sum.add_2bytes([0, 6]).add_4bytes(octets.to_be_bytes());
    (!sum.ones_complement()).to_ne_bytes()
}

fn fill_header_sum(frame: &mut [u8]) {
    frame[IP_CHECKSUM..IP_CHECKSUM + 2].fill(0);
    let sum = Sum16BitWords::new()
        .add_slice(&frame[IP..tcp(false)])
        .ones_complement();
    frame[IP_CHECKSUM..IP_CHECKSUM + 2].copy_from_slice(&sum.to_ne_bytes());
}

fn leave_sum(frame: &mut [u8], is_ipv6: bool, is_zero: bool) {
    let at = tcp(is_ipv6);
    let sum = match is_zero {
        true => [0; 2],
        false => pseudo_sum(frame, is_ipv6, (frame.len() - at) as u32),
    };
    frame[at + 16..at + 18].copy_from_slice(&sum);
}

/// The sender's own frames lack their checksums; those that it receives are whole.
#[test]
fn checksums_of_the_capturing_host_are_filled_in() {
    for is_ipv6 in [false, true] {
        let whole: Vec<_> = segments().iter().map(|one| frame(one, is_ipv6)).collect();
        for host in 0..2 {
            for is_zero in [false, true] {
                let mut left = whole.clone();
                let own = segments()
                    .iter()
                    .map(|one| one.from == host)
                    .collect::<Vec<_>>();
                for (frame, _) in left.iter_mut().zip(&own).filter(|(_, own)| **own) {
                    leave_sum(frame, is_ipv6, is_zero);
                }
                let opened = opened(pcap(1, &left));
                assert_whole(&opened);
                assert_eq!(opened.capture.frames, whole);
                assert_eq!(kinds(&opened.notes), ["offload_repaired"]);
                assert_eq!(
                    opened.notes[0].count,
                    own.iter().filter(|own| **own).count()
                );
            }
        }
    }
}

/// Headers without a checksum, by the same rule.
#[test]
fn checksums_of_ip_headers_are_filled_in() {
    let mut left = frames();
    for (frame, segment) in left.iter_mut().zip(segments()) {
        if segment.from == 0 {
            frame[IP_CHECKSUM..IP_CHECKSUM + 2].fill(0);
        }
    }
    let opened = opened(pcap(1, &left));
    assert_whole(&opened);
    assert_eq!(opened.capture.frames, frames());
}

/// A single 0 among good checksums is an error of the wire, and any other wrong value as well; the
/// pseudo-header's sum is none, since a receiver that merges segments leaves it in some frames.
#[test]
fn a_wrong_checksum_stays_wrong() {
    for (value, is_repaired) in [
        (Some([0, 0]), false),
        (Some([0x12, 0x34]), false),
        (None, true),
    ] {
        let mut all = frames();
        let at = tcp(false);
        let sum = value.unwrap_or_else(|| pseudo_sum(&all[5], false, (all[5].len() - at) as u32));
        all[5][at + 16..at + 18].copy_from_slice(&sum);
        let opened = opened(pcap(1, &all));
        assert_eq!(opened.capture.frames == frames(), is_repaired, "{value:?}");
        let gap = opened.flows[0].gap.map(|gap| gap.sequence);
        let first = SEQUENCE[0] + 1 + STARTUP;
        assert_eq!(gap, (!is_repaired).then_some(first), "{value:?}");
    }
}

/// Of two copies the good one counts, whichever comes first: the other one is left as it is, though
/// its payload is not what was on the wire.
#[test]
fn of_two_copies_the_good_one_counts() {
    for is_first in [false, true] {
        let mut all = Vec::new();
        for frame in frames() {
            let mut copy = frame.clone();
            leave_sum(&mut copy, false, false);
            let last = copy.len() - 1;
            if copy.len() > 100 {
                copy[last] ^= 0xff;
            }
            match is_first {
                true => all.extend([copy, frame]),
                false => all.extend([frame, copy]),
            }
        }
        let opened = opened(pcap(1, &all));
        assert_whole(&opened);
        assert_eq!((opened.notes, opened.capture.frames), (vec![], all));
    }
}

/// A conversation whose Write is one segment of `octets`.
fn with_long_segment(octets: usize, is_ipv6: bool) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut stream = Vec::new();
    let mut offset = 0;
    while stream.len() < octets {
        let rest = (octets - stream.len()).saturating_sub(22).clamp(1, 1400);
        stream.extend(write(offset, &vec![offset as u8 + 1; rest]));
        offset += rest as u64;
    }
    let mut frames: Vec<Vec<u8>> = segments()[..5]
        .iter()
        .map(|segment| frame(segment, is_ipv6))
        .collect();
    let segment = Segment {
        sequence: SEQUENCE[0] + 1 + STARTUP,
        acknowledgment: Some(SEQUENCE[1] + 1 + STARTUP),
        fin: true,
        ..Segment::default()
    };
    // No builder makes a datagram that is longer than its length field says.
    let mut long = frame(&segment, is_ipv6);
    long.extend(&stream);
    let length = long.len() - IP - if is_ipv6 { 40 } else { 0 };
    let length = u16::try_from(length).unwrap_or(0).to_be_bytes();
    let at = IP + if is_ipv6 { 4 } else { 2 };
    long[at..at + 2].copy_from_slice(&length);
    if !is_ipv6 {
        fill_header_sum(&mut long);
    }
    frames.push(long);
    (frames, stream)
}

/// The octets of the stream that `opened` has, and the flags of the frames that bring them.
fn streamed(opened: &Opened) -> (Vec<u8>, Vec<u8>) {
    let (mut octets, mut flags) = (Vec::new(), Vec::new());
    let mut next = SEQUENCE[0] + 1 + STARTUP;
    for frame in &opened.capture.frames[5..] {
        assert!(frame.len() <= MAX_FRAME_OCTETS);
        let segment = Read::of_frame(frame).expect("a sound header");
        assert!(segment.checksum_good);
        assert_eq!(segment.sequence, next);
        next = next.wrapping_add(segment.payload.len() as u32);
        octets.extend(segment.payload);
        flags.push(segment.flags);
    }
    (octets, flags)
}

/// Longer than the device takes: cut, in sequence, whole. Without a length as well, and beyond what
/// the length field can say.
#[test]
fn long_frames_are_cut() {
    const FIN: u8 = 1;
    for is_ipv6 in [false, true] {
        let header = tcp(is_ipv6) + 20;
        for octets in [
            9000,
            MAX_FRAME_OCTETS - header,
            MAX_FRAME_OCTETS,
            65_000,
            200_000,
        ] {
            let (frames, stream) = with_long_segment(octets, is_ipv6);
            let long = frames[5].len() > MAX_FRAME_OCTETS;
            let mut frames = frames;
            if !long {
                leave_sum(&mut frames[5], is_ipv6, false);
            }
            let opened = opened(pcap(1, &frames));
            let (found, flags) = streamed(&opened);
            assert!(found == stream, "{octets} octets, IPv6 {is_ipv6}");
            assert_eq!(flags.len() > 1, long, "{octets} octets");
            let (last, others) = flags.split_last().expect("there is one");
            assert!(last & FIN != 0 && others.iter().all(|flags| flags & FIN == 0));
            assert_eq!(opened.capture.number(5), 6);
            let last = opened.capture.frames.len() - 1;
            assert_eq!(
                (opened.capture.number(last), opened.capture.file_frames()),
                (6, 6)
            );
            assert_eq!(opened.flows[0].gap, None);
        }
    }
}

/// A long frame whose octets are damaged loses against segments that are good, whichever come
/// first; what they do not have is played.
#[test]
fn of_a_long_frame_and_its_segments_the_good_ones_count() {
    const PIECE: usize = 1000;
    let (frames, stream) = with_long_segment(20_000, false);
    let first = SEQUENCE[0] + 1 + STARTUP;
    let good = |at: usize| {
        let end = (at + PIECE).min(stream.len());
        let segment = Segment {
            sequence: first + at as u32,
            acknowledgment: Some(SEQUENCE[1] + 1 + STARTUP),
            payload: stream[at..end].to_vec(),
            ..Segment::default()
        };
        frame(&segment, false)
    };
    let whole: Vec<_> = (0..stream.len()).step_by(PIECE).map(good).collect();
    let mut damaged = frames[5].clone();
    damaged[100] ^= 0xff;
    let half = whole.len() / 2;
    for copies in [&whole[..], &whole[..half]] {
        for is_first in [false, true] {
            let mut all = frames[..5].to_vec();
            match is_first {
                true => all.extend(copies.iter().cloned().chain([damaged.clone()])),
                false => all.extend([damaged.clone()].into_iter().chain(copies.iter().cloned())),
            }
            let opened = opened(pcap(1, &all));
            let mut placed = vec![None; stream.len()];
            for frame in &opened.capture.frames[5..] {
                let segment = Read::of_frame(frame).expect("a sound header");
                let at = (segment.sequence - first) as usize;
                for (place, octet) in placed[at..].iter_mut().zip(segment.payload) {
                    place.get_or_insert(*octet);
                }
            }
            let placed: Option<Vec<u8>> = placed.into_iter().collect();
            assert!(placed == Some(stream.clone()), "{} copies", copies.len());
            assert_eq!(opened.flows[0].gap, None);
        }
    }
}

/// The jumbo payload option says how long a datagram is that has no length (RFC 2675).
#[test]
fn a_jumbo_payload_option_is_taken_off() {
    let (mut frames, stream) = with_long_segment(100_000, true);
    let long = &mut frames[5];
    let payload = (long.len() - IP - 40 + 8) as u32;
    long[IP + 6] = 0;
    let option = [&[6, 0, 0xc2, 4][..], &payload.to_be_bytes()].concat();
    long.splice(IP + 40..IP + 40, option);
    let opened = opened(pcap(1, &frames));
    let (found, _) = streamed(&opened);
    assert!(found == stream);
}

/// The pieces have the size that the receiver's SYN names, less the options of the segment.
#[test]
fn pieces_have_the_segment_size_of_the_connection() {
    let (mut frames, _) = with_long_segment(20_000, false);
    // Two words of options in the receiver's SYN: a maximum segment size of 1000, and padding.
    let mut syn = frame(&segments()[1], false);
    let at = tcp(false);
    syn[at + 12] = 7 << 4;
    syn.extend([2, 4, 3, 232, 1, 1, 1, 1]);
    let length = (syn.len() - IP) as u16;
    syn[IP + 2..IP + 4].copy_from_slice(&length.to_be_bytes());
    fill_header_sum(&mut syn);
    leave_sum(&mut syn, false, false);
    frames[1] = syn;
    let opened = opened(pcap(1, &frames));
    let octets = opened.capture.frames[5..]
        .iter()
        .map(|frame| frame.len() - at - 20);
    let octets: Vec<usize> = octets.collect();
    let (last, others) = octets.split_last().expect("there are some");
    assert!(
        others.iter().all(|&octets| octets == 1000) && *last <= 1000,
        "{octets:?}"
    );
}

/// What is no TCP cannot be cut.
#[test]
fn long_frames_without_tcp_are_left_out() {
    let mut all = frames();
    let mut udp = all[2].clone();
    udp[IP + 9] = 17;
    udp.extend(vec![0; MAX_FRAME_OCTETS]);
    all.push(udp);
    let opened = opened(pcap(1, &all));
    assert_whole(&opened);
    assert_eq!(kinds(&opened.notes), ["too_long"]);
    assert_eq!(opened.notes[0].frames, [8]);
}

/// `--as-captured`: nothing is changed, and what the device will drop is said.
#[test]
fn as_captured_frames_are_those_of_the_file() {
    let (mut frames, _) = with_long_segment(20_000, false);
    for frame in &mut frames[..5] {
        leave_sum(frame, false, false);
    }
    let options = ReadOptions {
        as_captured: true,
        ..ReadOptions::default()
    };
    let opened = open(pcap(1, &frames), &options).expect("it can be played");
    assert_eq!(opened.capture.frames, frames);
    assert_eq!(kinds(&opened.notes), ["too_long"]);
    assert!(opened.flows.is_empty());
}

/// Zeros are judged by direction of a connection, and by frames with payload where there are some:
/// another connection of the same host says nothing.
#[test]
fn zeros_are_judged_by_direction() {
    let other: Vec<Vec<u8>> = segments().iter().map(|one| frame(one, true)).collect();
    // Data without checksums, acknowledgements with them.
    let mut left = frames();
    for (frame, segment) in left.iter_mut().zip(segments()) {
        if segment.from == 0 && !segment.payload.is_empty() {
            leave_sum(frame, false, true);
        }
    }
    let read = opened(pcap(1, &[other.clone(), left].concat()));
    assert_eq!(read.capture.frames[other.len()..], frames());
    // All of one connection, one of the other.
    let mut all_left = frames();
    all_left
        .iter_mut()
        .for_each(|frame| leave_sum(frame, false, true));
    let mut one_left = other;
    leave_sum(&mut one_left[5], true, true);
    let read = opened(pcap(1, &[all_left, one_left.clone()].concat()));
    assert_eq!(read.capture.frames, [frames(), one_left].concat());
}
