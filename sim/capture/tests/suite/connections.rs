//! Connections that begin oddly, or before the capture.

use super::conversation::{assert_whole, frame, frames, kinds, open, opened, pcap, segments};
use super::conversation::{send, startup, write, written, Segment, SEQUENCE, STARTUP};
use rnic_capture::{Opened, ReadOptions, StartupOverride};

fn file(segments: &[Segment]) -> Vec<u8> {
    let frames: Vec<_> = segments
        .iter()
        .map(|segment| frame(segment, false))
        .collect();
    pcap(1, &frames)
}

fn syn(from: usize, sequence: u32, acknowledgment: Option<u32>) -> Segment {
    Segment {
        from,
        sequence,
        acknowledgment,
        syn: true,
        ..Segment::default()
    }
}

/// The conversation with every sequence number moved on.
fn moved(by: [u32; 2]) -> Vec<Segment> {
    let mut moved = segments();
    for segment in &mut moved {
        segment.sequence = segment.sequence.wrapping_add(by[segment.from]);
        let acknowledgment = segment.acknowledgment.as_mut();
        if let Some(acknowledgment) = acknowledgment {
            *acknowledgment = acknowledgment.wrapping_add(by[1 - segment.from]);
        }
    }
    moved
}

/// RFC 5961 section 4: a SYN inside a connection changes nothing, unless a SYN-ACK answers it.
#[test]
fn a_stray_syn_opens_nothing() {
    for at in 3..segments().len() {
        for from in 0..2 {
            let mut all = segments();
            all.insert(at, syn(from, 31_337, None));
            assert_whole(&opened(file(&all)));
        }
    }
}

/// Ends that are used again, after FIN, after RST, and after neither (the old host has restarted).
#[test]
fn an_answered_syn_opens_another_connection() {
    let end = |fin, rst| {
        [0, 1].map(|from| Segment {
            from,
            sequence: SEQUENCE[from] + 5000,
            acknowledgment: Some(1),
            fin,
            rst,
            ..Segment::default()
        })
    };
    for between in [
        vec![],
        end(true, false).to_vec(),
        end(false, true)[..1].to_vec(),
    ] {
        if !between.is_empty() {
            // Then even with the earlier sequence numbers.
            let again = [segments(), between.clone(), segments()].concat();
            assert_eq!(opened(file(&again)).flows.len(), 4);
        }
        let all = [segments(), between, moved([77_000, 88_000])].concat();
        let opened = opened(file(&all));
        let fpdus: Vec<usize> = opened.flows.iter().map(|flow| flow.fpdus.len()).collect();
        assert_eq!(fpdus, [2, 0, 2, 0]);
        let starts = [0, 2].map(|flow| opened.flows[flow].sequence_start);
        assert_eq!(starts, [0, 77_000].map(|by| SEQUENCE[0] + by + 1 + STARTUP));
    }
}

/// A SYN-ACK for a sequence number that no SYN had answers nothing.
#[test]
fn a_syn_ack_for_another_syn_opens_nothing() {
    let mut all = segments();
    all.insert(5, syn(0, 31_337, None));
    all.insert(6, syn(1, 4_242, Some(31_339)));
    assert_whole(&opened(file(&all)));
    // One more, and it does: what follows is of the new connection.
    all[6].acknowledgment = Some(31_338);
    assert_ne!(opened(file(&all)).flows[0].fpdus.len(), 2);
}

/// The responder's first SYN-ACK was lost with its host; the second one counts.
#[test]
fn a_second_syn_ack_sets_the_start_anew() {
    let mut all = segments();
    all.insert(1, syn(1, 123_456, Some(SEQUENCE[0] + 1)));
    assert_whole(&opened(file(&all)));
    // After payload of either end it changes nothing any more.
    for at in [4, 5] {
        let mut all = segments();
        all.insert(at, syn(1, 123_456, Some(SEQUENCE[0] + 1)));
        assert_whole(&opened(file(&all)));
    }
}

/// Messages and a Write in mid-connection, as the capture has them from message `msn` on.
fn middle(msn: u32) -> Vec<Segment> {
    let mut sequence = [5_000_u32, 0xffff_ff00];
    let mut all = Vec::new();
    for (from, payload) in [
        (0, write(0x10_0000, &written())),
        (0, send(msn, b"first")),
        (1, send(msn.wrapping_add(7), b"answer")),
        (0, send(msn.wrapping_add(1), b"second")),
        (1, send(msn.wrapping_add(8), &[7; 300])),
    ] {
        let length = payload.len() as u32;
        all.push(Segment {
            from,
            sequence: sequence[from],
            acknowledgment: Some(sequence[1 - from]),
            payload,
            ..Segment::default()
        });
        sequence[from] = sequence[from].wrapping_add(length);
    }
    all
}

fn named(starts: &[u32]) -> ReadOptions {
    let startup = |&start| StartupOverride {
        markers: false,
        crc: true,
        start,
    };
    ReadOptions {
        startups: starts.iter().map(startup).collect(),
        ..ReadOptions::default()
    }
}

fn in_the_middle(msn: u32, starts: &[u32]) -> Opened {
    open(file(&middle(msn)), &named(starts)).expect("it can be played")
}

/// Both directions, each with the first MSN of its queue, near the end of the numbers as well.
#[test]
fn a_capture_may_begin_in_mid_connection() {
    for msn in [1, 6, 0xffff_fffe, 0xffff_ffff] {
        let opened = in_the_middle(msn, &[0xffff_ff00, 5_000]);
        let flows: Vec<_> = opened
            .flows
            .iter()
            .map(|flow| (flow.source.port(), flow.fpdus.len(), flow.first_msns[&0]))
            .collect();
        let own = [(40_001, 3, msn), (7_174, 2, msn.wrapping_add(7))];
        assert!(own.iter().all(|flow| flows.contains(flow)), "{flows:?}");
    }
    assert_eq!(in_the_middle(6, &[5_000]).flows.len(), 1);
}

/// Full operation may be named to begin later than what was captured.
#[test]
fn what_comes_before_the_named_start_is_left_out() {
    let later = 5_000 + middle(6)[0].payload.len() as u32;
    let opened = in_the_middle(6, &[later]);
    assert_eq!(
        (opened.flows[0].sequence_start, opened.flows[0].fpdus.len()),
        (later, 2)
    );
    assert!(opened.flows[0].regions.is_empty());
}

/// A start that no connection has is refused, with what there is; one more than the last octet is.
#[test]
fn a_start_that_is_nowhere_is_refused() {
    let octets: usize = middle(6)
        .iter()
        .filter(|one| one.from == 0)
        .map(|one| one.payload.len())
        .sum();
    let end = 5_000 + octets as u32;
    assert!(open(file(&middle(6)), &named(&[end - 1])).is_ok());
    for start in [4_999, end, 0x4000_0000] {
        let refused = open(file(&middle(6)), &named(&[start])).expect_err("it is nowhere");
        let words = refused.to_string();
        assert!(words.contains(&format!("start={start} ")), "{words}");
        assert!(
            words.contains("10.7.0.1:40001 > 10.7.0.2:7174: 5000"),
            "{words}"
        );
    }
}

/// What is named without need is said, and ignored.
#[test]
fn a_start_of_a_connection_with_start_up_frames_is_ignored() {
    let start = SEQUENCE[0] + 1 + STARTUP;
    let opened = open(pcap(1, &frames()), &named(&[start])).expect("it can be played");
    assert_whole(&opened);
    assert_eq!(kinds(&opened.notes), ["option_ignored"]);
    assert_eq!(
        kinds(&in_the_middle(6, &[5_000, 5_010]).notes),
        ["option_ignored"]
    );
}

/// One of two connections alone: its frames, its number.
#[test]
fn one_flow_of_several_is_read_alone() {
    let all = [segments(), moved([77_000, 88_000])].concat();
    for flow in 0..4 {
        let only = ReadOptions {
            only_flow: Some(flow),
            ..ReadOptions::default()
        };
        let opened = open(file(&all), &only).expect("it can be played");
        assert_eq!(opened.flows.len(), 1);
        assert_eq!(
            (opened.flows[0].number, opened.capture.frames.len()),
            (flow, 7)
        );
        assert_eq!(opened.capture.number(0), 1 + 7 * (flow / 2));
    }
    let only = ReadOptions {
        only_flow: Some(4),
        ..ReadOptions::default()
    };
    let refused = open(file(&all), &only).expect_err("there are four");
    assert!(refused.to_string().contains("has 4 flows"), "{refused}");
}

/// Revision 0 allows 65,535 octets of Private Data; whatever there is of it, the octets after it
/// are FPDUs (START-024).
#[test]
fn private_data_of_any_length_is_passed_over() {
    for octets in [0, 1, 512, 1_200] {
        let mut all = segments();
        let mut request = startup("Req", 0x40);
        request[18..20].copy_from_slice(&(octets as u16).to_be_bytes());
        request.extend(vec![0xaa; octets]);
        let (head, tail) = request.split_at(request.len() / 2);
        all[3].payload = head.to_vec();
        let mut second = all[3].clone();
        second.sequence += head.len() as u32;
        second.payload = tail.to_vec();
        all.insert(4, second);
        for segment in all.iter_mut().skip(6) {
            segment.sequence += octets as u32;
        }
        assert_whole(&opened(file(&all)));
    }
}

/// Other directions may be named beside the one that is read alone.
#[test]
fn one_flow_is_read_alone_though_others_are_named() {
    let mut other = middle(6);
    for segment in &mut other {
        segment.sequence = segment.sequence.wrapping_add(0x3000_0000);
    }
    let mut frames: Vec<_> = middle(6)
        .iter()
        .map(|segment| frame(segment, false))
        .collect();
    frames.extend(other.iter().map(|segment| frame(segment, true)));
    let starts = [5_000, 5_000 + 0x3000_0000];
    for flow in 0..2 {
        let only = ReadOptions {
            only_flow: Some(flow),
            ..named(&starts)
        };
        let opened = open(pcap(1, &frames), &only).expect("it can be played");
        let found: Vec<_> = opened
            .flows
            .iter()
            .map(|flow| flow.sequence_start)
            .collect();
        assert_eq!(
            (found, opened.capture.frames.len()),
            (vec![starts[flow]], 5)
        );
    }
}
