//! Why nothing is played: each cause alone, by its kind, with counts and frame numbers.

use super::conversation::{
    assert_whole, frame, frames, kinds, open, opened, pcap, record, segments, startup,
};
use super::conversation::{Segment, SEQUENCE, STARTUP};
use rnic_capture::ReadOptions;

const ETHERNET_ADDRESSES: usize = 12;
const IP: usize = 14;

/// The only cause, and its words.
fn cause(frames: &[Vec<u8>]) -> (&'static str, String) {
    let opened = opened(pcap(1, frames));
    assert!(opened.flows.is_empty());
    assert_eq!(opened.causes.len(), 1, "{:?}", opened.causes);
    (opened.causes[0].kind, opened.causes[0].text.clone())
}

#[test]
fn connections_without_full_operation_are_explained() {
    let all = frames();
    let from = |end: usize| {
        let own = segments().into_iter().filter(|segment| segment.from == end);
        own.map(|segment| frame(&segment, false))
            .collect::<Vec<_>>()
    };
    let mut rejected = all[..5].to_vec();
    let mut reply = segments()[4].clone();
    reply.payload = startup("Rep", 0x60);
    rejected[4] = frame(&reply, false);
    let acknowledgment = frame(&segments()[2], false);
    let mut without_reply = all[..4].to_vec();
    without_reply.push({
        let mut segment = segments()[4].clone();
        segment.payload.clear();
        frame(&segment, false)
    });
    for (frames, kind, words) in [
        (all[5..].to_vec(), "one_direction", "frames 1 to 2"),
        (
            [&all[5..], &[all[1].clone()]].concat(),
            "no_start_up",
            "1 connection",
        ),
        (
            [
                &all[5..],
                std::slice::from_ref(&frame(&segments()[4], false)),
            ]
            .concat(),
            "reply_without_request",
            "10.7.0.1:40001 > 10.7.0.2:7174",
        ),
        (from(0), "one_direction", "one direction only"),
        (from(1), "one_direction", "one direction only"),
        (without_reply, "request_without_reply", "no Reply to it"),
        (rejected, "rejected", "rejected"),
        (
            all[..3].to_vec(),
            "no_payload",
            "nothing but acknowledgements",
        ),
        (vec![acknowledgment; 3], "one_direction", "frames 1 to 3"),
    ] {
        let (found, text) = cause(&frames);
        assert_eq!(found, kind, "{text}");
        assert!(text.contains(words), "no {words} in {text}");
    }
}

/// The frames of another connection, over IPv6.
fn of_another(segments: &[Segment]) -> Vec<Vec<u8>> {
    segments.iter().map(|one| frame(one, true)).collect()
}

/// Where one connection is played, the lines say what keeps the others from it.
#[test]
fn what_is_not_played_is_said_beside_what_is() {
    let mut rejected = segments()[..5].to_vec();
    rejected[4].payload = startup("Rep", 0x60);
    let mut middle = segments()[5..].to_vec();
    middle.push(Segment {
        from: 1,
        sequence: SEQUENCE[1] + 1 + STARTUP,
        acknowledgment: Some(SEQUENCE[0]),
        payload: vec![7; 30],
        ..Segment::default()
    });
    let own = |segment: &&Segment| segment.from == 0;
    let one_direction: Vec<Segment> = segments().iter().filter(own).cloned().collect();
    let mut no_reply = segments()[..4].to_vec();
    no_reply.push(Segment {
        payload: Vec::new(),
        ..segments()[4].clone()
    });
    let mut bad = of_another(&segments());
    bad.iter_mut().for_each(|frame| frame[IP + 40 + 4] ^= 0x5a);
    let mut tunnelled = of_another(&segments());
    tunnelled.iter_mut().for_each(|frame| frame[IP + 6] = 47);
    for (others, kind) in [
        (of_another(&rejected), "rejected"),
        (of_another(&no_reply), "request_without_reply"),
        (of_another(&one_direction), "one_direction"),
        (of_another(&middle), "mid_connection"),
        (bad, "bad_checksum"),
        (tunnelled, "tunnelled"),
    ] {
        let opened = opened(pcap(1, &[frames(), others].concat()));
        assert_whole(&opened);
        assert_eq!(kinds(&opened.notes), [kind], "{:?}", opened.notes);
        let text = &opened.notes[0].text;
        assert!(text.starts_with("not played: "), "{text}");
    }
    // A connection that is no iWARP is nobody's loss.
    let mut plain = segments();
    plain[3].payload = b"GET / HTTP/1.1".to_vec();
    plain[4].payload = b"HTTP/1.1 200 OK".to_vec();
    let opened = opened(pcap(1, &[frames(), of_another(&plain)].concat()));
    assert_eq!(kinds(&opened.notes), [""; 0]);
}

/// Frames of which the headers alone were kept: by what, of which connection, and the way out; also
/// where not even the ports are there.
#[test]
fn a_snap_length_that_leaves_nothing_is_named() {
    for (kept, words) in [
        (
            54,
            "of 10.7.0.1:40001 > 10.7.0.2:7174 and 1 more direction; frame 4 holds 54 of",
        ),
        (
            68,
            "of 10.7.0.1:40001 > 10.7.0.2:7174 and 1 more direction; frame 4 holds 68 of",
        ),
        (
            33,
            "7 frames (1, 2, 3, 4, 5 and 2 more), before the ports of a TCP header",
        ),
    ] {
        let mut file = pcap(1, &[]);
        for frame in frames() {
            let original = frame.len();
            file.extend(record(&frame[..kept.min(original)], original as u32));
        }
        let opened = opened(file);
        assert!(opened.flows.is_empty());
        assert_eq!(opened.causes[0].kind, "cut_frames");
        let text = &opened.causes[0].text;
        assert!(text.starts_with("cut by a snap length"), "{text}");
        assert!(text.contains(words) && text.contains("-s 0"), "{text}");
        assert!(!kinds(&opened.causes).contains(&"empty"));
    }
}

/// `--only-flow` of a capture without flows says why there is none.
#[test]
fn a_flow_that_is_not_there_is_explained() {
    let mut rejected = segments()[..5].to_vec();
    rejected[4].payload = startup("Rep", 0x60);
    let options = ReadOptions {
        only_flow: Some(0),
        ..ReadOptions::default()
    };
    let words = open(pcap(1, &of_another(&rejected)), &options);
    let words = words.expect_err("there is none").to_string();
    let parts = ["--only-flow 0", "0 flows", "rejected", "frames 1 to 5"];
    for part in parts {
        assert!(words.contains(part), "no {part} in {words}");
    }
}

/// Both directions, from their middle.
#[test]
fn a_capture_from_mid_connection_is_said_to_be_one() {
    let mut reply = segments()[4].clone();
    reply.payload = vec![7; 30];
    reply.sequence += STARTUP;
    let (kind, text) = cause(&[frames()[5].clone(), frame(&reply, false)]);
    assert_eq!(kind, "mid_connection");
    assert!(
        text.contains("--mpa") && text.contains("no start-up frames"),
        "{text}"
    );
}

/// The frames with `octets` put in at `at`.
fn with(at: usize, octets: &[u8]) -> Vec<Vec<u8>> {
    let put = |mut frame: Vec<u8>| {
        frame.splice(at..at, octets.iter().copied());
        frame
    };
    frames().into_iter().map(put).collect()
}

/// The frames with the fields of IP's header changed by `change`, whose checksum is right again.
fn changed(change: impl Fn(&mut [u8])) -> Vec<Vec<u8>> {
    let change = |mut frame: Vec<u8>| {
        change(&mut frame[IP..]);
        frame[IP + 10..IP + 12].fill(0);
        let header = etherparse::checksum::Sum16BitWords::new().add_slice(&frame[IP..IP + 20]);
        frame[IP + 10..IP + 12].copy_from_slice(&header.ones_complement().to_ne_bytes());
        frame
    };
    frames().into_iter().map(change).collect()
}

/// What the device leaves to the host, by name.
#[test]
fn frames_without_a_segment_are_explained() {
    let protocol = |number: u8| changed(move |ip| ip[9] = number);
    let udp = |port: u16| {
        changed(move |ip| {
            ip[9] = 17;
            ip[22..24].copy_from_slice(&port.to_be_bytes());
        })
    };
    let gre = |inner: u16| {
        changed(move |ip| {
            ip[9] = 47;
            ip[22..24].copy_from_slice(&inner.to_be_bytes());
        })
    };
    let link = |kind: u16| {
        let typed = |mut frame: Vec<u8>| {
            frame[ETHERNET_ADDRESSES..IP].copy_from_slice(&kind.to_be_bytes());
            frame
        };
        frames().into_iter().map(typed).collect::<Vec<_>>()
    };
    let tag = |kind: u8| [0x81, kind, 0, 7];
    let three_tags = [tag(0), tag(0), tag(0)].concat();
    for (frames, kind, words) in [
        (udp(4789), "tunnelled", "VXLAN"),
        (udp(8472), "tunnelled", "VXLAN"),
        (udp(6081), "tunnelled", "Geneve"),
        (udp(4791), "roce", "RoCE version 2"),
        (udp(53), "no_tcp", "without TCP"),
        (gre(0x0800), "tunnelled", "GRE"),
        (gre(0x88be), "tunnelled", "ERSPAN"),
        (gre(0x22eb), "tunnelled", "ERSPAN"),
        (protocol(4), "tunnelled", "IPv4 in IP"),
        (protocol(41), "tunnelled", "IPv6 in IP"),
        (protocol(50), "tunnelled", "ESP"),
        (changed(|ip| ip[6] = 0x20), "fragment", "fragments"),
        (changed(|ip| ip[7] = 1), "fragment", "fragments"),
        (link(0x8847), "tunnelled", "MPLS"),
        (link(0x8864), "tunnelled", "PPPoE"),
        (link(0x8915), "roce", "RoCE version 1"),
        (link(0x0806), "no_tcp", "without TCP"),
        (
            with(ETHERNET_ADDRESSES, &three_tags),
            "tagged",
            "more than two VLAN tags",
        ),
        (
            with(ETHERNET_ADDRESSES, &[0x91, 0, 0, 7]),
            "tagged",
            "0x9100",
        ),
    ] {
        let (found, text) = cause(&frames);
        assert_eq!(found, kind, "{text}");
        assert!(
            text.contains(words) && text.starts_with("7 frames (1, 2, 3, 4, 5 and 2"),
            "{text}"
        );
    }
    // Two tags are played.
    let two_tags = [tag(0), tag(0)].concat();
    assert_whole(&opened(pcap(1, &with(ETHERNET_ADDRESSES, &two_tags))));
}

#[test]
fn extension_headers_of_ipv6_are_named() {
    for (next, kind, words) in [
        (0, "ipv6_extension", "hop-by-hop"),
        (43, "ipv6_extension", "routing"),
        (60, "ipv6_extension", "destination options"),
        (44, "fragment", "fragments"),
        (4, "tunnelled", "IPv4 in IP"),
    ] {
        let frames: Vec<_> = segments()
            .iter()
            .map(|segment| {
                let mut frame = frame(segment, true);
                frame[IP + 6] = next;
                frame
            })
            .collect();
        let (found, text) = cause(&frames);
        assert_eq!(found, kind, "{text}");
        assert!(text.contains(words), "{text}");
    }
}

/// Segments that the device drops: TCP's checksum, and IP's.
#[test]
fn bad_checksums_are_counted() {
    let damaged = |at: usize| {
        let damage = |mut frame: Vec<u8>| {
            frame[at] ^= 0x5a;
            frame
        };
        frames().into_iter().map(damage).collect::<Vec<_>>()
    };
    let (kind, text) = cause(&damaged(IP + 20 + 4));
    assert_eq!(kind, "bad_checksum");
    assert!(text.contains("7 frames"), "{text}");
    assert_eq!(cause(&damaged(IP + 8)).0, "bad_ip_checksum");
}

/// A gap: where, how much is missing, how much waits.
#[test]
fn a_gap_is_said_with_its_place_and_size() {
    let all = frames();
    let missing = all[5].len() - IP - 40;
    let waiting = all[6].len() - IP - 40;
    let opened = opened(pcap(1, &[&all[..5], &all[6..]].concat()));
    let gap = opened.flows[0].gap.expect("a segment is missing");
    assert_eq!((gap.missing, gap.waiting), (missing, waiting));
    assert_eq!(gap.sequence, SEQUENCE[0] + 1 + STARTUP);
    assert_eq!(kinds(&opened.notes), ["gap"]);
    let words = format!(
        "flow 0 stops at a gap of 1,020 octets at sequence number {}, after frame 4: no \
         segment that a device takes has them; {waiting} octets wait beyond it",
        gap.sequence
    );
    assert_eq!(opened.notes[0].text, words);
}

/// What is missing may be in frames that the device drops: they are said beside the gap.
#[test]
fn dropped_frames_are_said_beside_a_gap() {
    let mut all = frames();
    all[5][IP + 20 + 4] ^= 1;
    let opened = opened(pcap(1, &all));
    assert_eq!(kinds(&opened.notes), ["gap", "bad_checksum"]);
    assert_eq!(opened.notes[1].frames, [6]);
}

/// What the receiver has acknowledged, and what a FIN comes after, was sent: if it is not there,
/// the flow has a gap at its end.
#[test]
fn a_gap_at_the_end_is_said() {
    let all = segments();
    let end = all[6].sequence + all[6].payload.len() as u32;
    let acknowledged = Segment {
        from: 1,
        sequence: SEQUENCE[1] + 1 + STARTUP,
        acknowledgment: Some(end),
        ..Segment::default()
    };
    let fin = Segment {
        sequence: end,
        acknowledgment: Some(SEQUENCE[1] + 1 + STARTUP),
        fin: true,
        ..Segment::default()
    };
    for (kept, lost) in [(7, 0), (6, 40), (5, 1_060)] {
        for last in [&acknowledged, &fin] {
            let mut segments = all[..kept].to_vec();
            segments.push(last.clone());
            let frames: Vec<_> = segments.iter().map(|one| frame(one, false)).collect();
            let opened = opened(pcap(1, &frames));
            let gap = opened.flows[0].gap.map(|gap| (gap.missing, gap.waiting));
            assert_eq!(gap, (lost > 0).then_some((lost, 0)));
            assert_eq!(kinds(&opened.notes).len(), usize::from(lost > 0));
        }
    }
}
