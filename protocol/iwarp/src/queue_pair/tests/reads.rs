//! Reads in both directions.
use super::*;
use rnic_wire::ddp::errors::{DDP_NO_BUFFER, RDMAP_STAG};
use rnic_wire::ddp::read_request::ReadRequestRepr;

fn request(size: u32) -> ReadRequestRepr {
    ReadRequestRepr {
        sink_stag: 3,
        sink_to: 1000,
        size,
        source_stag: 1,
        source_to: 2,
    }
}

fn ask(pair: &mut QueuePair, host: &mut TestHost, msn: u32, size: u32) {
    let payload = request(size).octets();
    let payload = &payload;
    pair.on_received(Received::ReadRequest { msn, payload }, host);
}

/// RDMAP-012: Reads leave within ORD; the next one, and what is posted after it, when a response
/// is complete. The device expects the response before the Request leaves.
#[test]
fn reads_wait_for_ord() {
    for ord in [0, 1, 2, 3] {
        let agreed = Agreed {
            ord,
            ..agreed(true)
        };
        let mut pair = QueuePair::new(&agreed, 1460, Limits::default());
        let mut host = TestHost::default();
        let mut reader = Reader::new(&agreed);
        for id in 0..5 {
            pair.post_send(read(id, 10)).expect("room");
        }
        pair.post_send(send(5, Pieces::NONE)).expect("room");
        let segments = sent(&mut pair, &mut host, &mut reader);
        assert_eq!(segments.len(), usize::from(ord));
        assert_eq!(host.calls.len(), usize::from(ord));
        if ord == 0 {
            continue;
        }
        for done in 0..5 {
            pair.on_received(Received::ReadResponse, &mut host);
            assert_eq!(completions(&mut pair), [(done, Status::Success)]);
            sent(&mut pair, &mut host, &mut reader);
            let begun = (done as usize + 1 + usize::from(ord)).min(5);
            assert_eq!(host.calls, vec![Call::ExpectRead(6, 7, 10); begun]);
        }
        pair.on_acknowledged(u64::MAX);
        assert_eq!(completions(&mut pair), [(5, Status::Success)]);
    }
}

/// RDMAP-015: a Send posted after a Read completes after it, though it is acknowledged before.
#[test]
fn a_send_waits_for_the_read_before_it() {
    let mut pair = pair(true);
    let mut host = TestHost::default();
    let mut reader = Reader::new(&agreed(true));
    pair.post_send(read(1, 10)).expect("room");
    pair.post_send(send(2, Pieces::NONE)).expect("room");
    sent(&mut pair, &mut host, &mut reader);
    pair.on_acknowledged(u64::MAX);
    assert_eq!(completions(&mut pair), []);
    pair.on_received(Received::ReadResponse, &mut host);
    assert_eq!(
        completions(&mut pair),
        [(1, Status::Success), (2, Status::Success)]
    );
}

/// RDMAP-008, MPA2-011: responses leave in the order of the Requests, to their sinks, with exactly
/// the octets asked for; one of size 0 is one segment and checks no source.
#[test]
fn responses_follow_the_requests() {
    let octets: Vec<u8> = (0..4000u32).map(|n| ((n * 7) >> 3) as u8).collect();
    let mut host = TestHost::with(1, octets.clone());
    let mut pair = pair(true);
    let mut reader = Reader::new(&agreed(true));
    ask(&mut pair, &mut host, 1, 3000);
    host.refusal = Some(ReadRefusal::Stag);
    ask(&mut pair, &mut host, 2, 0);
    let segments = sent(&mut pair, &mut host, &mut reader);
    let mut found = Vec::new();
    for (n, segment) in segments.iter().enumerate() {
        let Segment::Tagged(header, payload) = segment else {
            panic!("{segment:?}");
        };
        assert_eq!(header.control.opcode, Opcode::ReadResponse);
        assert_eq!((header.stag, header.control.last), (3, n >= 2));
        let offset = if n < 3 { found.len() as u64 } else { 0 };
        assert_eq!(header.to, 1000 + offset);
        found.extend_from_slice(payload);
    }
    assert_eq!((segments.len(), &found[..]), (4, &octets[2..3002]));
    assert_eq!(host.calls, [Call::Repost, Call::Repost]);
}

/// RDMAP-012: as many Requests as IRD are held; one more ends the stream, with its header. A buffer
/// is posted again before the last FPDU of a response is handed over, so that the next Request may
/// answer it.
#[test]
fn the_buffers_are_the_ird() {
    let mut host = TestHost::with(1, vec![5; 4000]);
    let mut pair = pair(true);
    for msn in 1..=2 {
        ask(&mut pair, &mut host, msn, 2000);
    }
    let mut out = Vec::new();
    pair.transmit(&mut host, &mut out)
        .expect("its first segment");
    assert_eq!(host.calls, []);
    let mut late = pair.clone();
    ask(&mut late, &mut host.clone(), 3, 10);
    let refused = |msn| {
        let (cause, place) = (DDP_NO_BUFFER, Place::ReadRequest(msn));
        Event::Failed(Failure::Refused { cause, place })
    };
    assert_eq!(events(&mut late)[1], refused(3));
    pair.transmit(&mut host, &mut out)
        .expect("its last segment");
    assert_eq!(host.calls, [Call::Repost]);
    ask(&mut pair, &mut host, 3, 10);
    assert_eq!(events(&mut pair), [Event::Established]);
    ask(&mut pair, &mut host, 4, 10);
    assert_eq!(events(&mut pair), [refused(4)]);
    let record = pair.transmit(&mut host, &mut out).expect("a Terminate");
    let Record::Scatter(fpdu) = record else {
        panic!("{record:?}");
    };
    let octets = fpdu.head.as_slice();
    // Length, header of queue 2, then the payload: DDP, no buffer, with the DDP header.
    assert_eq!(octets[20..26], [0x12, 0x02, 0xc0, 0, 0, 46]);
    assert_eq!(octets.len(), 26 + 18);
}

/// RDMAP-009, RDMAP-016, RDMAP-022: each failing check of a Read's source gives RDMAP's error with
/// the segment's length, its DDP header and its 28 octets.
#[test]
fn a_refused_read_is_reported_with_both_headers() {
    for (refusal, code) in [
        (ReadRefusal::Stag, 0x00),
        (ReadRefusal::Bounds, 0x01),
        (ReadRefusal::Access, 0x02),
        (ReadRefusal::Association, 0x03),
        (ReadRefusal::Wrap, 0x04),
    ] {
        let mut host = TestHost {
            refusal: Some(refusal),
            ..TestHost::default()
        };
        let mut pair = pair(true);
        let mut reader = Reader::new(&agreed(true));
        ask(&mut pair, &mut host, 7, 100);
        let segments = sent(&mut pair, &mut host, &mut reader);
        let [Segment::Untagged(header, payload)] = &segments[..] else {
            panic!("{segments:?}");
        };
        assert_eq!((header.qn, header.msn, header.control.last), (2, 1, true));
        assert_eq!(payload[..6], [0x01, code, 0xe0, 0, 0, 46]);
        let ddp = [0x41, 0x41, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 7, 0, 0, 0, 0];
        assert_eq!(payload[6..24], ddp);
        assert_eq!(payload[24..], request(100).octets());
    }
}

/// A region that is revoked while it is being read: what has left has left, and the Terminate names
/// the Request.
#[test]
fn a_source_that_is_revoked_ends_the_stream() {
    for readable_parts in [0, 1, 2] {
        let mut host = TestHost::with(1, vec![5; 4000]);
        let mut pair = pair(true);
        let mut reader = Reader::new(&agreed(true));
        ask(&mut pair, &mut host, 9, 3000);
        let mut out = Vec::new();
        for _ in 0..readable_parts {
            let record = pair.transmit(&mut host, &mut out).expect("a part");
            reader.push(&record, &out, &mut host);
        }
        host.unreadable.insert(1);
        let segments = sent(&mut pair, &mut host, &mut reader);
        assert_eq!(segments.len(), readable_parts + 1);
        let Some(Segment::Untagged(_, payload)) = segments.last() else {
            panic!("{segments:?}");
        };
        assert_eq!(payload[..3], [0x01, 0x00, 0xe0]);
        assert_eq!(payload[19], 9, "the MSN of the Request");
        let (cause, place) = (RDMAP_STAG, Place::ReadRequest(9));
        let want = Event::Failed(Failure::Refused { cause, place });
        assert_eq!(events(&mut pair)[1..], [want, Event::CloseSend]);
    }
}

/// Responses wait when as many copied octets as allowed are not acknowledged; without copies they
/// do not wait, and leave in place.
#[test]
fn snapshots_are_bounded() {
    for copy_responses in [true, false] {
        let limits = Limits {
            snapshot_octets: 5000,
            copy_responses,
            ..Limits::default()
        };
        let mut pair = QueuePair::new(&agreed(true), 1460, limits);
        let mut host = TestHost::with(1, vec![5; 20_000]);
        ask(&mut pair, &mut host, 1, 15_000);
        let mut out = Vec::new();
        let mut ends = Vec::new();
        while let Some(record) = pair.transmit(&mut host, &mut out) {
            assert_eq!(matches!(record, Record::Copied { .. }), copy_responses);
            ends.push(record.end());
            assert!(ends.len() <= 11, "15,000 octets are 11 segments");
        }
        if !copy_responses {
            assert_eq!((ends.len(), pair.take_response_waits()), (11, 0));
            continue;
        }
        assert_eq!(ends.len(), 4, "5000 octets and one FPDU at most");
        assert_eq!(pair.take_response_waits(), 1);
        // One more for each that is acknowledged wholly, to the end.
        for acknowledged in 0..7 {
            pair.on_acknowledged(ends[acknowledged] - 1);
            assert!(pair.transmit(&mut host, &mut out).is_none());
            pair.on_acknowledged(ends[acknowledged]);
            let record = pair.transmit(&mut host, &mut out).expect("room");
            ends.push(record.end());
            assert!(pair.transmit(&mut host, &mut out).is_none());
        }
        assert_eq!(ends.len(), 11);
        // All but the last one of these have left another one that waits.
        assert_eq!(pair.take_response_waits(), 6);
        // A Request that comes while as many are held waits at once, and the next one after it.
        ask(&mut pair, &mut host, 2, 1000);
        assert!(pair.transmit(&mut host, &mut out).is_some());
        assert_eq!(pair.take_response_waits(), 0);
        ask(&mut pair, &mut host, 3, 10);
        ask(&mut pair, &mut host, 4, 10);
        assert!(pair.transmit(&mut host, &mut out).is_none());
        assert_eq!(pair.take_response_waits(), 1);
    }
}

/// The bound is one that is reached, and not passed: two ULPDUs of 1454 octets fill it. What is
/// held ends with the connection.
#[test]
fn a_full_bound_is_full() {
    for (snapshot_octets, count) in [(2 * 1454 - 1, 2), (2 * 1454, 2), (2 * 1454 + 1, 3)] {
        let limits = Limits {
            snapshot_octets,
            ..Limits::default()
        };
        let mut pair = QueuePair::new(&agreed(true), 1460, limits);
        let mut host = TestHost::with(1, vec![5; 20_000]);
        ask(&mut pair, &mut host, 1, 15_000);
        let mut out = Vec::new();
        let records = std::iter::from_fn(|| pair.transmit(&mut host, &mut out));
        assert_eq!(records.take(count + 1).count(), count);
        assert!(!pair.responder.is_empty());
        pair.abort();
        assert!(pair.responder.is_empty());
    }
}

/// Work requests and responses leave in turns, each message whole (DDP-021).
#[test]
fn neither_side_starves() {
    let mut pair = pair(true);
    let mut host = TestHost::with(1, vec![5; 4000]);
    let mut reader = Reader::new(&agreed(true));
    for n in 1..=2 {
        ask(&mut pair, &mut host, n, 2000);
        pair.post_send(send(u64::from(n), piece(1, 2000)))
            .expect("room");
    }
    let found = opcodes(&sent(&mut pair, &mut host, &mut reader));
    let (response, send) = (Some(Opcode::ReadResponse), Some(Opcode::Send));
    assert_eq!(
        found,
        [response, response, send, send, response, response, send, send]
    );
}

/// RDMAP-011: a response to nothing ends the stream; so does a Request that is not 28 octets long.
#[test]
fn what_the_device_should_not_report_does_no_harm() {
    let mut host = TestHost::default();
    let mut one = pair(true);
    one.on_received(Received::ReadResponse, &mut host);
    assert!(matches!(
        events(&mut one)[1],
        Event::Failed(Failure::Refused { .. })
    ));
    for octets in 0..28 {
        let mut one = pair(true);
        let payload = &[0; 28][..octets];
        one.on_received(Received::ReadRequest { msn: 1, payload }, &mut host);
        assert!(matches!(
            events(&mut one)[1],
            Event::Failed(Failure::Refused { .. })
        ));
    }
    let mut one = pair(true);
    one.on_received(message(1), &mut host);
    let (cause, place) = (DDP_NO_BUFFER, Place::Send(1));
    let want = Event::Failed(Failure::Refused { cause, place });
    assert_eq!(events(&mut one)[1], want);
}
