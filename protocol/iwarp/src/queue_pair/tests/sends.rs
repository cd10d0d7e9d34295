//! Posting, sending, completing.
use super::*;

/// DDP-014, DDP-021, DDP-026, RDMAP-015: posted operations leave in order, each queue with its own
/// MSN from 1 on, and complete in order when acknowledged, not before.
#[test]
fn operations_leave_and_complete_in_order() {
    let mut host = TestHost::with(1, vec![9; 5000]);
    let mut pair = pair(true);
    let mut reader = Reader::new(&agreed(true));
    pair.post_send(send(10, piece(1, 3000))).expect("room");
    pair.post_send(write(11, piece(1, 1))).expect("room");
    pair.post_send(send(12, Pieces::NONE)).expect("room");
    let segments = sent(&mut pair, &mut host, &mut reader);
    let found: Vec<_> = segments
        .iter()
        .map(|segment| match segment {
            Segment::Untagged(header, octets) => (header.msn, header.mo, octets.len()),
            Segment::Tagged(_, octets) => (0, 0, octets.len()),
            Segment::Empty => panic!("no RTR"),
        })
        .collect();
    assert_eq!(
        found,
        [
            (1, 0, 1436),
            (1, 1436, 1436),
            (1, 2872, 128),
            (0, 0, 1),
            (2, 0, 0)
        ]
    );
    let ends: Vec<u64> = {
        let octets = [1460, 1460, 152, 24, 24];
        octets
            .iter()
            .scan(0, |end, octets| {
                *end += octets;
                Some(*end)
            })
            .collect()
    };
    assert_eq!(*ends.last().expect("five") as usize, reader.stream.len());
    pair.on_acknowledged(ends[2] - 1);
    assert_eq!(completions(&mut pair), []);
    pair.on_acknowledged(ends[2]);
    assert_eq!(completions(&mut pair), [(10, Status::Success)]);
    pair.on_acknowledged(u64::MAX);
    assert_eq!(
        completions(&mut pair),
        [(11, Status::Success), (12, Status::Success)]
    );
    assert_eq!(events(&mut pair), [Event::Established]);
}

/// MPA2-005, MPA2-010, START-014: each kind of RTR leaves before what is posted, and completes
/// nothing; the responder holds what is posted until it has come.
#[test]
fn the_rtr_leaves_first_and_is_not_delivered() {
    for rtr in [Rtr::Fpdu, Rtr::Write, Rtr::Read] {
        let agreed = with_rtr(rtr, true);
        let mut pair = QueuePair::new(&agreed, 1460, Limits::default());
        let mut host = TestHost::default();
        let mut reader = Reader::new(&agreed);
        pair.post_send(read(1, 0)).expect("room");
        pair.post_send(read(2, 0)).expect("room");
        let segments = sent(&mut pair, &mut host, &mut reader);
        let request = Some(Opcode::ReadRequest);
        let first = match rtr {
            Rtr::Fpdu => None,
            Rtr::Write => Some(Opcode::RdmaWrite),
            Rtr::Read => request,
        };
        // A Read as RTR takes a place of ORD, which is 2.
        let rest = if rtr == Rtr::Read { 1 } else { 2 };
        assert_eq!(opcodes(&segments)[0], first);
        assert_eq!(opcodes(&segments)[1..], vec![request; rest]);
        if rtr == Rtr::Read {
            assert_eq!(host.calls[0], Call::ExpectRead(0, 0, 0));
            pair.on_received(Received::ReadResponse, &mut host);
            assert_eq!(completions(&mut pair), []);
            assert_eq!(sent(&mut pair, &mut host, &mut reader).len(), 1);
        }
        pair.on_received(Received::ReadResponse, &mut host);
        assert_eq!(completions(&mut pair), [(1, Status::Success)]);

        let agreed = with_rtr(rtr, false);
        let mut responder = QueuePair::new(&agreed, 1460, Limits::default());
        let mut reader = Reader::new(&agreed);
        responder.post_send(send(1, Pieces::NONE)).expect("room");
        assert_eq!(sent(&mut responder, &mut host, &mut reader), []);
        assert_eq!(events(&mut responder), []);
        responder.on_received(Received::FirstFpdu, &mut host);
        assert_eq!(sent(&mut responder, &mut host, &mut reader).len(), 1);
        assert_eq!(events(&mut responder), [Event::Established]);
    }
}

/// START-014: a responder is released by its first valid FPDU, whatever it is, and not by one that
/// MPA refuses; then it may not even send a Terminate.
#[test]
fn a_responder_holds_everything_until_the_first_fpdu() {
    let request = rnic_wire::ddp::read_request::ReadRequestRepr {
        sink_stag: 1,
        sink_to: 0,
        size: 0,
        source_stag: 0,
        source_to: 0,
    };
    let payload = request.octets();
    let refused = |cause| Received::Refused {
        cause,
        stream_offset: 0,
        segment: None,
    };
    use rnic_wire::ddp::errors::{DDP_STAG, MPA_CRC, MPA_MARKER};
    for (received, want) in [
        (Received::FirstFpdu, vec![Some(Opcode::Send)]),
        (message(1), vec![Some(Opcode::Send)]),
        (
            Received::ReadRequest {
                msn: 1,
                payload: &payload,
            },
            vec![Some(Opcode::ReadResponse), Some(Opcode::Send)],
        ),
        (refused(DDP_STAG), vec![Some(Opcode::Terminate)]),
        (refused(MPA_CRC), vec![]),
        (refused(MPA_MARKER), vec![]),
        (Received::Terminate { payload: &[0; 4] }, vec![]),
    ] {
        let mut pair = pair(false);
        let mut host = TestHost::default();
        let mut reader = Reader::new(&agreed(false));
        pair.post_receive(1).expect("room");
        pair.post_send(send(1, Pieces::NONE)).expect("room");
        assert_eq!(sent(&mut pair, &mut host, &mut reader), []);
        pair.on_received(received, &mut host);
        let segments = sent(&mut pair, &mut host, &mut reader);
        assert_eq!(opcodes(&segments), want, "{received:?}");
    }
}

/// DDP-017, DDP-028: what cannot be posted.
#[test]
fn what_cannot_be_sent_is_refused_at_once() {
    let mut pair = QueuePair::new(
        &agreed(true),
        1460,
        Limits {
            sends: 3,
            receives: 1,
            ..Limits::default()
        },
    );
    let huge = Piece {
        region: 1,
        offset: 0,
        octets: u32::MAX,
    };
    let one = Piece { octets: 1, ..huge };
    let most = Pieces::new(&[huge]).expect("one piece");
    let more = Pieces::new(&[huge, one]).expect("two pieces");
    assert_eq!(
        pair.post_send(send(1, more)),
        Err(PostError::Length(1 << 32))
    );
    assert_eq!(pair.post_send(send(1, most)), Ok(()));
    let with_payload = WorkRequest {
        payload: piece(1, 1),
        ..read(1, 1)
    };
    assert_eq!(pair.post_send(with_payload), Err(PostError::Length(1)));
    assert_eq!(pair.post_send(read(2, 1)), Ok(()));
    assert_eq!(pair.post_send(read(3, 1)), Ok(()));
    assert_eq!(pair.post_send(read(4, 1)), Err(PostError::Full(3)));
    assert_eq!(pair.post_receive(1), Ok(()));
    assert_eq!(pair.post_receive(2), Err(PostError::Full(1)));
    pair.close();
    assert_eq!(
        pair.post_send(send(5, Pieces::NONE)),
        Err(PostError::Closed)
    );
    pair.on_fin();
    assert_eq!(pair.post_receive(2), Err(PostError::HalfClosed));
    pair.abort();
    assert_eq!(pair.post_receive(2), Err(PostError::Closed));
}

/// RDMAP-013, RDMAP-006: a Send with Invalidate makes our STag invalid before its receive
/// completes; other Sends invalidate nothing.
#[test]
fn an_invalidation_comes_before_the_completion() {
    let mut pair = pair(true);
    let mut host = TestHost::default();
    for (msn, opcode) in [(1, Opcode::SendInvalidate), (2, Opcode::SendSolicited)] {
        pair.post_receive(u64::from(msn)).expect("room");
        let delivered = Delivered::new(opcode, msn, 8, 77).expect("a Send");
        pair.on_received(Received::Send(delivered), &mut host);
    }
    assert_eq!(host.calls, [Call::Invalidated(77)]);
    let done = pair.poll_completion().expect("delivered");
    let Kind::Receive(Some(delivered)) = done.kind else {
        panic!("{done:?}");
    };
    assert_eq!(
        (delivered.octets, delivered.invalidated_stag),
        (8, Some(77))
    );
    let done = pair.poll_completion().expect("delivered");
    assert!(matches!(
        done.kind,
        Kind::Receive(Some(Delivered {
            invalidated_stag: None,
            ..
        }))
    ));
    assert_eq!(Delivered::new(Opcode::RdmaWrite, 1, 1, 1), None);
    assert_eq!(Delivered::new(Opcode::Terminate, 1, 1, 1), None);
}

/// DDP-014: MSNs go from 0xFFFFFFFF to 0.
#[test]
fn message_numbers_wrap() {
    let mut pair = pair(true);
    (pair.send_msn, pair.read_msn) = (u32::MAX, u32::MAX);
    let mut reader = Reader::new(&agreed(true));
    for id in 0..2 {
        pair.post_send(send(id, Pieces::NONE)).expect("room");
        pair.post_send(read(id, 1)).expect("room");
    }
    let segments = sent(&mut pair, &mut TestHost::default(), &mut reader);
    let found: Vec<_> = segments
        .iter()
        .map(|segment| match segment {
            Segment::Untagged(header, _) => (header.qn, header.msn),
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(found, [(0, u32::MAX), (1, u32::MAX), (0, 0), (1, 0)]);
}

/// A payload that is gone: that request alone has LocalProtection, one Terminate leaves, and the
/// rest is flushed.
#[test]
fn an_unreadable_payload_ends_the_stream() {
    let markers = Agreed {
        markers_out: true,
        ..agreed(true)
    };
    let mut pair = QueuePair::new(&markers, 1460, Limits::default());
    let mut host = TestHost::with(1, vec![1; 4000]);
    host.unreadable.insert(2);
    let mut reader = Reader::new(&markers);
    let both = [piece(1, 3000).as_slice()[0], piece(2, 9).as_slice()[0]];
    pair.post_send(send(1, piece(1, 10))).expect("room");
    pair.post_send(send(2, Pieces::new(&both).expect("two")))
        .expect("room");
    pair.post_send(send(3, piece(1, 10))).expect("room");
    let segments = sent(&mut pair, &mut host, &mut reader);
    let send = Some(Opcode::Send);
    let want = [send, send, send, Some(Opcode::Terminate)];
    assert_eq!(
        opcodes(&segments),
        want,
        "two of its three segments were readable"
    );
    pair.on_acknowledged(u64::MAX);
    let want = [
        (1, Status::Success),
        (2, Status::LocalProtection),
        (3, Status::Flushed),
    ];
    assert_eq!(completions(&mut pair), want);
}

/// The same after segments that have left in place: TCP may send those again, so that the request
/// completes when they are acknowledged, or lost, and not before.
#[test]
fn an_unreadable_payload_waits_for_what_has_left_of_it() {
    for is_lost in [false, true] {
        let mut pair = pair(true);
        let mut host = TestHost::with(1, vec![1; 4000]);
        host.unreadable.insert(2);
        let mut out = Vec::new();
        let both = [piece(1, 2880).as_slice()[0], piece(2, 9).as_slice()[0]];
        let both = Pieces::new(&both).expect("two");
        pair.post_send(write(1, both)).expect("room");
        pair.post_send(write(2, piece(1, 9))).expect("room");
        let mut end = 0;
        for _ in 0..2 {
            let record = pair.transmit(&mut host, &mut out).expect("in place");
            assert!(matches!(record, Record::Scatter(_)));
            end = record.end();
        }
        // The third segment would share its own with the second Write: it is copied.
        let record = pair.transmit(&mut host, &mut out).expect("a Terminate");
        assert_eq!(record.end(), end + 28);
        assert_eq!(completions(&mut pair), []);
        pair.on_acknowledged(end - 1);
        assert_eq!(completions(&mut pair), []);
        match is_lost {
            true => pair.on_lost(),
            false => pair.on_acknowledged(end),
        }
        let want = [(1, Status::LocalProtection), (2, Status::Flushed)];
        assert_eq!(completions(&mut pair), want);
    }
}

/// MPA-036: an EMSS that changes in the middle of a message cuts what is left of it.
#[test]
fn a_message_follows_the_emss() {
    let mut pair = pair(true);
    let mut host = TestHost::with(1, vec![1; 4000]);
    let mut out = Vec::new();
    pair.post_send(write(1, piece(1, 2500))).expect("room");
    let mut ends = vec![0];
    for emss_octets in [1460, 536, 536] {
        pair.set_emss(emss_octets);
        let record = pair.transmit(&mut host, &mut out).expect("a part");
        ends.push(record.end());
    }
    // 20 octets of header and FPDU in each.
    assert_eq!(ends, [0, 1460, 1996, 2532]);
    pair.set_emss(1460);
    let record = pair.transmit(&mut host, &mut out).expect("the rest");
    assert_eq!(record.end(), 2500 + 4 * 20);
}
