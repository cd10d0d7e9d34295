//! Graceful, half-closed, failed and abortive ends.
use super::*;
use rnic_wire::ddp::errors::{
    DDP_MO, DDP_MSN, DDP_TABLE, DDP_TOO_LONG, MPA_CRC, MPA_TABLE, RDMAP_BOUNDS, RDMAP_OPCODE,
    RDMAP_TABLE,
};

const TERMINATE: Option<Opcode> = Some(Opcode::Terminate);

/// DDP-028, DDP-031: with a full queue all leaves, then the FIN; what the peer sends is still
/// delivered, and the end is reported when its FIN has come.
#[test]
fn a_graceful_end_sends_everything_first() {
    let mut pair = pair(true);
    let mut host = TestHost::with(1, vec![1; 3000]);
    let mut reader = Reader::new(&agreed(true));
    for id in 0..4 {
        pair.post_send(send(id, piece(1, 3000))).expect("room");
    }
    pair.close();
    assert_eq!(events(&mut pair), [Event::Established]);
    assert_eq!(sent(&mut pair, &mut host, &mut reader).len(), 12);
    assert_eq!(events(&mut pair), [Event::CloseSend]);
    pair.post_receive(9).expect("room");
    pair.on_received(message(1), &mut host);
    assert_eq!(completions(&mut pair), [(9, Status::Success)]);
    pair.on_fin();
    assert_eq!(events(&mut pair), [Event::HalfClosed]);
    pair.on_acknowledged(u64::MAX);
    assert_eq!(completions(&mut pair).len(), 4);
    assert_eq!(events(&mut pair), [Event::Closed]);
    pair.on_lost();
    pair.abort();
    assert_eq!(events(&mut pair), []);
}

/// DDP-030, MPA-060: the peer's FIN is reported, receives are flushed, sending goes on until this
/// end closes.
#[test]
fn a_half_closed_connection_still_sends() {
    let mut pair = pair(true);
    let mut host = TestHost::with(1, vec![1; 3000]);
    let mut reader = Reader::new(&agreed(true));
    for id in 0..3 {
        pair.post_receive(id).expect("room");
    }
    pair.post_send(read(10, 1)).expect("room");
    sent(&mut pair, &mut host, &mut reader);
    pair.post_send(send(11, piece(1, 5))).expect("room");
    pair.post_send(read(12, 1)).expect("room");
    pair.post_send(send(13, piece(1, 5))).expect("room");
    pair.on_fin();
    pair.on_fin();
    assert_eq!(events(&mut pair), [Event::Established, Event::HalfClosed]);
    assert_eq!(pair.post_send(read(14, 1)), Err(PostError::HalfClosed));
    let found = opcodes(&sent(&mut pair, &mut host, &mut reader));
    assert_eq!(
        found,
        vec![Some(Opcode::Send); 2],
        "no Read that cannot be answered"
    );
    pair.on_acknowledged(u64::MAX);
    let (good, flushed) = (Status::Success, Status::Flushed);
    let want = [(10, flushed), (11, good), (12, flushed), (13, good)];
    let found = completions(&mut pair);
    assert_eq!(found[..4], want);
    assert_eq!(found[4..], [(0, flushed), (1, flushed), (2, flushed)]);
    pair.close();
    assert_eq!(events(&mut pair), [Event::CloseSend, Event::Closed]);
}

/// RDMAP-020, RDMAP-021, DDP-004, DDP-027, DDP-034, DDP-035, DDP-045, DDP-051, MPA-058, MPA-059:
/// every error of a device is reported, and TCP stays until the application lets go; one Terminate
/// of it, nothing after it, a FIN; each request completes once, in order; a storm of
/// errors changes nothing.
#[test]
fn every_error_ends_the_stream_with_one_terminate() {
    let segment = terminate_segment();
    for &(cause, name) in [RDMAP_TABLE, DDP_TABLE, MPA_TABLE].into_iter().flatten() {
        let mut pair = pair(true);
        let mut host = TestHost::with(1, vec![1; 5000]);
        let mut reader = Reader::new(&agreed(true));
        for id in 0..3 {
            pair.post_receive(id).expect("room");
            pair.post_send(send(10 + id, piece(1, 3000))).expect("room");
        }
        pair.on_received(message(1), &mut host);
        let mut out = Vec::new();
        for _ in 0..4 {
            let record = pair.transmit(&mut host, &mut out).expect("a part");
            reader.push(&record, &out, &mut host);
        }
        for _ in 0..3 {
            let segment = Some(segment);
            let refused = Received::Refused {
                cause,
                stream_offset: 77,
                segment,
            };
            pair.on_received(refused, &mut host);
            pair.on_received(message(2), &mut host);
            pair.terminate(RDMAP_OPCODE);
        }
        let segments = sent(&mut pair, &mut host, &mut reader);
        assert_eq!(segments.len(), 5, "{name}");
        let Some(Segment::Untagged(header, payload)) = segments.last() else {
            panic!("{name}");
        };
        assert_eq!((header.qn, header.msn, header.mo), (2, 1, 0));
        assert_eq!(payload[0], cause.layer << 4 | cause.error_type);
        assert_eq!(payload[1], cause.code);
        let place = Place::Fpdu(77);
        let failed = Event::Failed(Failure::Refused { cause, place });
        let want = [Event::Established, failed, Event::CloseSend];
        assert_eq!(events(&mut pair), want, "{name}");
        // The first Send has left, and its octets may be sent again: it completes when they cannot.
        let (good, flushed) = (Status::Success, Status::Flushed);
        assert_eq!(
            completions(&mut pair),
            [(0, good), (1, flushed), (2, flushed)]
        );
        pair.on_acknowledged(u64::MAX);
        assert_eq!(
            completions(&mut pair),
            [(10, good), (11, flushed), (12, flushed)]
        );
        assert_eq!(
            pair.post_send(send(1, Pieces::NONE)),
            Err(PostError::Closed)
        );
        pair.on_fin();
        assert_eq!(events(&mut pair), []);
        pair.close();
        assert_eq!(events(&mut pair), [Event::Closed]);
    }
}

/// DDP-039, DDP-040: the receive that a Send does not fit says so, whichever of the two ways the
/// device found it in; those after it are flushed, and so is every one if the message was another
/// queue's.
#[test]
fn the_receive_that_is_too_short_for_a_message_says_so() {
    let segment = |qn: u8, msn: u8| {
        let mut header = [0; 18];
        header[..2].copy_from_slice(&[0x41, 0x43]);
        (header[9], header[13]) = (qn, msn);
        crate::terminate::Refused::new(60, &header).expect("18 octets")
    };
    let (long, flushed) = (Status::LocalLength, Status::Flushed);
    for (cause, segment, want) in [
        (DDP_TOO_LONG, Some(segment(0, 2)), [long, flushed]),
        (DDP_MO, Some(segment(0, 2)), [long, flushed]),
        (DDP_TOO_LONG, Some(segment(1, 2)), [flushed; 2]),
        (DDP_TOO_LONG, Some(segment(0, 1)), [flushed; 2]),
        (DDP_TOO_LONG, Some(segment(0, 9)), [flushed; 2]),
        (DDP_TOO_LONG, Some(terminate_segment()), [flushed; 2]),
        (DDP_TOO_LONG, None, [flushed; 2]),
        (DDP_MSN, Some(segment(0, 2)), [flushed; 2]),
    ] {
        for polls_first in [false, true] {
            let mut pair = pair(true);
            let mut host = TestHost::default();
            for id in 0..3 {
                pair.post_receive(id).expect("room");
            }
            pair.on_received(message(1), &mut host);
            let mut done = Vec::new();
            if polls_first {
                done = completions(&mut pair);
            }
            let refused = Received::Refused {
                cause,
                stream_offset: 77,
                segment,
            };
            pair.on_received(refused, &mut host);
            done.extend(completions(&mut pair));
            let want = [(0, Status::Success), (1, want[0]), (2, want[1])];
            assert_eq!(done, want, "{cause} {segment:?}");
        }
    }
}

fn terminate_segment() -> crate::terminate::Refused {
    let header = [0xc1, 0x40, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2];
    crate::terminate::Refused::new(100, &header).expect("14 octets")
}

/// MPA2-004, MPA2-005, MPA2-009: a Reply that names what was not offered ends in a Terminate, the
/// only FPDU: an ORD above the offered IRD, and a kind of RTR, or none.
#[test]
fn a_reply_that_cannot_be_met_gets_a_terminate() {
    use crate::startup::{Initiator, InitiatorOutput, RtrKinds, Settings};
    let settings = Settings {
        ird: 4,
        peer_to_peer: true,
        rtr: RtrKinds::only(Rtr::Write),
        ..Settings::default()
    };
    for (data, code) in [
        ([0x80, 4, 0x80, 5], 0x06),
        ([0x80, 4, 0x40, 4], 0x07),
        ([0x80, 4, 0x00, 4], 0x07),
        ([0x00, 4, 0x80, 4], 0x07),
    ] {
        let mut initiator = Initiator::new(settings, b"", 0).expect("settings");
        initiator.poll(0);
        let mut reply = b"MPA ID Rep Frame\x50\x02\x00\x04".to_vec();
        reply.extend(data);
        initiator.feed(&reply);
        let Some(InitiatorOutput::Terminate { agreed, cause }) = initiator.poll(0) else {
            panic!("{data:x?}");
        };
        let mut pair = QueuePair::new(&agreed, 1460, Limits::default());
        let mut reader = Reader::new(&agreed);
        pair.terminate(cause);
        let segments = sent(&mut pair, &mut TestHost::default(), &mut reader);
        let [Segment::Untagged(_, payload)] = &segments[..] else {
            panic!("{segments:?}");
        };
        assert_eq!(payload[..], [0x20, code, 0, 0]);
    }
}

/// RDMAP-020: a received Terminate is reported with its fields; nothing is sent, not even one of
/// our own; the Read that it names has the status of its error.
#[test]
fn a_received_terminate_stops_the_stream() {
    for (cause, status) in [
        (RDMAP_BOUNDS, Status::RemoteAccess),
        (RDMAP_OPCODE, Status::RemoteOperation),
    ] {
        let mut pair = pair(true);
        let mut host = TestHost::default();
        let mut reader = Reader::new(&agreed(true));
        for id in 1..=3 {
            pair.post_send(read(id, 10)).expect("room");
        }
        let segments = sent(&mut pair, &mut host, &mut reader);
        assert_eq!(segments.len(), 2);
        let header = [0x41, 0x41, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0];
        let refused = crate::terminate::Refused::new(46, &header).expect("18 octets");
        let payload = crate::terminate::payload(cause, Some(&refused));
        let payload = payload.as_slice();
        pair.on_received(Received::Terminate { payload }, &mut host);
        pair.on_received(Received::Terminate { payload }, &mut host);
        pair.terminate(MPA_CRC);
        assert_eq!(sent(&mut pair, &mut host, &mut reader), []);
        let found = events(&mut pair);
        let Event::Failed(Failure::Terminated(received)) = found[1] else {
            panic!("{found:?}");
        };
        assert_eq!((received.cause, received.read_msn), (Some(cause), Some(2)));
        assert_eq!(found[2..], [Event::CloseSend]);
        let flushed = Status::Flushed;
        assert_eq!(
            completions(&mut pair),
            [(1, flushed), (2, status), (3, flushed)]
        );
    }
}

/// DDP-002, DDP-032, DDP-033, MPA-053: TCP is lost with five requests outstanding: five flushed
/// completions and the event.
#[test]
fn a_lost_connection_flushes_everything() {
    let mut pair = pair(true);
    let mut host = TestHost::with(1, vec![1; 3000]);
    for id in 0..5 {
        pair.post_send(send(id, piece(1, 2000))).expect("room");
        pair.post_receive(10 + id).expect("room");
    }
    let mut out = Vec::new();
    for _ in 0..3 {
        pair.transmit(&mut host, &mut out).expect("a part");
    }
    pair.on_lost();
    pair.on_lost();
    assert_eq!(pair.transmit(&mut host, &mut out), None);
    let ids = (0..5).chain(10..15);
    let want: Vec<_> = ids.map(|id| (id, Status::Flushed)).collect();
    assert_eq!(completions(&mut pair), want);
    assert_eq!(events(&mut pair)[1..], [Event::Failed(Failure::Lost)]);
    pair.close();
    assert_eq!(events(&mut pair), [Event::Closed]);
}

/// DDP-029: what comes after the peer's FIN is an error, and the connection is reset.
#[test]
fn data_after_a_fin_aborts() {
    let mut pair = pair(true);
    let mut host = TestHost::default();
    pair.post_send(send(1, Pieces::NONE)).expect("room");
    pair.on_fin();
    // What is no octet after the FIN: an event of an FPDU before it.
    pair.on_received(Received::FirstFpdu, &mut host);
    assert_eq!(events(&mut pair), [Event::Established, Event::HalfClosed]);
    pair.on_received(message(1), &mut host);
    pair.on_received(message(2), &mut host);
    let failed = Event::Failed(Failure::DataAfterFin);
    assert_eq!(events(&mut pair), [failed, Event::Abort]);
    assert_eq!(completions(&mut pair), [(1, Status::Flushed)]);
}

/// DDP-035: the application aborts, from whatever state.
#[test]
fn an_abort_flushes_and_resets() {
    let mut pair = pair(true);
    pair.post_send(send(1, Pieces::NONE)).expect("room");
    pair.post_receive(2).expect("room");
    pair.abort();
    pair.abort();
    let failed = Event::Failed(Failure::Aborted);
    assert_eq!(
        events(&mut pair)[1..],
        [failed, Event::Abort, Event::Closed]
    );
    let flushed = Status::Flushed;
    assert_eq!(completions(&mut pair), [(1, flushed), (2, flushed)]);
}

/// START-014: a responder whose peer closes without an FPDU may never send: everything is flushed.
#[test]
fn a_responder_that_gets_no_fpdu_closes() {
    for closes_before in [false, true] {
        let mut pair = pair(false);
        let mut host = TestHost::default();
        pair.post_send(send(1, Pieces::NONE)).expect("room");
        if closes_before {
            pair.close();
        }
        pair.on_fin();
        assert_eq!(pair.transmit(&mut host, &mut Vec::new()), None);
        assert_eq!(completions(&mut pair), [(1, Status::Flushed)]);
        let mut want = vec![Event::HalfClosed, Event::CloseSend];
        if closes_before {
            want.push(Event::Closed);
        }
        assert_eq!(events(&mut pair), want);
    }
}

/// The Terminate is the last FPDU even if it is due while a message is leaving.
#[test]
fn a_terminate_comes_between_two_segments() {
    let mut pair = pair(true);
    let mut host = TestHost::with(1, vec![1; 9000]);
    let mut reader = Reader::new(&agreed(true));
    pair.post_send(write(1, piece(1, 9000))).expect("room");
    let mut out = Vec::new();
    let record = pair.transmit(&mut host, &mut out).expect("a part");
    reader.push(&record, &out, &mut host);
    pair.terminate(MPA_CRC);
    let found = opcodes(&sent(&mut pair, &mut host, &mut reader));
    assert_eq!(found, [Some(Opcode::RdmaWrite), TERMINATE]);
    assert_eq!(completions(&mut pair), []);
    pair.on_acknowledged(record.end() - 1);
    assert_eq!(completions(&mut pair), []);
    pair.on_acknowledged(record.end());
    assert_eq!(completions(&mut pair), [(1, Status::Flushed)]);
}

/// Failures say what the peer did, and where in its stream.
#[test]
fn failures_name_the_peers_fault_and_its_octet() {
    let cause = RDMAP_BOUNDS;
    let refused = |place| Failure::Refused { cause, place }.to_string();
    let name = "RDMAP (0x1, 0x01): base or bounds";
    for (place, want) in [
        (
            Place::Fpdu(512),
            "the peer's FPDU at octet 512 of its stream",
        ),
        (Place::ReadRequest(7), "the peer's Read Request 7"),
        (Place::Send(8), "the peer's Send 8"),
        (Place::Here, "this end"),
    ] {
        assert_eq!(refused(place), format!("{want}: {name}"));
    }
    let terminated = |payload: &[u8]| {
        let received = crate::terminate::Received::new(payload);
        Failure::Terminated(received).to_string()
    };
    let header = [0x41, 0x41, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0];
    let segment = crate::terminate::Refused::new(46, &header).expect("18 octets");
    let read = crate::terminate::payload(cause, Some(&segment));
    for (payload, want) in [
        (
            read.as_slice(),
            format!("the peer refused our Read Request 2: {name}"),
        ),
        (
            &read.as_slice()[..4],
            format!("the peer sent a Terminate: {name}"),
        ),
        (
            &[1, 2, 3],
            "the peer sent a Terminate of 3 octets, too few to name an error".to_owned(),
        ),
    ] {
        assert_eq!(terminated(payload), want);
    }
    let others = [Failure::Lost, Failure::DataAfterFin, Failure::Aborted];
    let want = [
        "TCP is lost",
        "the peer sent octets after its FIN",
        "this end aborted",
    ];
    assert!(others.iter().map(Failure::to_string).eq(want));
}
