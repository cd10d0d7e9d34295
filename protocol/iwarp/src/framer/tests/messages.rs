//! Messages cut into ULPDUs.
use super::*;
use rnic_wire::ddp::rdmap::Opcode;
use rnic_wire::ddp::read_request::ReadRequestRepr;
use rnic_wire::ddp::tagged::{TaggedHeader, TaggedRepr};
use rnic_wire::ddp::untagged::{UntaggedHeader, UntaggedRepr};

/// Each ULPDU takes payload along as long as there is any (MPA-032), so there are no more of them
/// than octets, and a message of none is one.
fn all(mut message: Message, mulpdu: usize) -> Vec<Ulpdu> {
    let count_max = message.octets().max(1);
    let mut ulpdus = Vec::new();
    while let Some(peeked) = message.next_octets(mulpdu) {
        let last = message.next_is_last(mulpdu);
        let ulpdu = message.next(mulpdu).expect("it was announced");
        assert_eq!(ulpdu.octets(), peeked);
        assert!(peeked <= mulpdu);
        ulpdus.push(ulpdu);
        assert!(ulpdus.len() as u64 <= count_max, "a message without end");
        assert_eq!(message.is_done(), last);
    }
    assert!(message.next(mulpdu).is_none() && !message.next_is_last(mulpdu));
    ulpdus
}

fn tagged(ulpdu: &Ulpdu) -> TaggedRepr {
    let header = TaggedHeader::new_checked(ulpdu.head.as_slice()).expect("tagged");
    TaggedRepr::parse(&header).expect("a header")
}

fn untagged(ulpdu: &Ulpdu) -> UntaggedRepr {
    let header = UntaggedHeader::new_checked(ulpdu.head.as_slice()).expect("untagged");
    UntaggedRepr::parse(&header).expect("a header")
}

/// DDP-015, DDP-016: the worked examples: 2048 octets at a MULPDU of 1500.
#[test]
fn the_examples_of_the_text_are_cut_as_printed() {
    let ulpdus = all(Message::send(1, 1, false, None, payload(2048)), 1500);
    let found: Vec<_> = ulpdus
        .iter()
        .map(|u| (untagged(u).mo, u.payload.octets()))
        .collect();
    assert_eq!(found, [(0, 1482), (1482, 566)]);
    let ulpdus = all(Message::write(1, 9, 16384, payload(2048)), 1500);
    let found: Vec<_> = ulpdus
        .iter()
        .map(|u| (tagged(u).to, u.payload.octets()))
        .collect();
    assert_eq!(found, [(16384, 1486), (17870, 562)]);
}

/// DDP-005, DDP-006, DDP-007, DDP-008, DDP-010, DDP-011, DDP-012, DDP-017, DDP-018, MPA-029: sizes
/// about the borders of segments: the parts make the whole, L is on the last one alone, the rest
/// of the header is the same in all.
#[test]
fn the_parts_make_the_message() {
    for mulpdu in [128usize, 129, 1442, 1454, 64_768] {
        for near in [
            0,
            mulpdu - 18,
            2 * (mulpdu - 18),
            mulpdu - 14,
            3 * (mulpdu - 14),
        ] {
            for octets in near.saturating_sub(2)..near + 3 {
                let whole = payload(octets);
                let sent = all(Message::send(1, 7, true, Some(5), whole), mulpdu);
                let written = all(Message::write(1, 8, u64::MAX - 5, whole), mulpdu);
                for (ulpdus, header) in [(&sent, 18), (&written, 14)] {
                    let count = octets.div_ceil(mulpdu - header).max(1);
                    assert_eq!(ulpdus.len(), count, "{octets} at {mulpdu}");
                    let parts = ulpdus.iter().flat_map(|ulpdu| contents(&ulpdu.payload));
                    assert!(parts.eq(contents(&whole)));
                    for (n, ulpdu) in ulpdus.iter().enumerate() {
                        let head = ulpdu.head.as_slice();
                        assert_eq!(head.len(), header);
                        let tag = if header == 14 { 0x80 } else { 0 };
                        let last = if n + 1 == count { 0x40 } else { 0 };
                        assert_eq!(head[0], tag | last | 1);
                    }
                }
                let mut offset = 0;
                for ulpdu in &sent {
                    let found = untagged(ulpdu);
                    assert_eq!((found.qn, found.msn, found.mo), (0, 7, offset));
                    assert_eq!(found.invalidate_stag, 5);
                    assert_eq!(found.control.opcode, Opcode::SendSolicitedInvalidate);
                    offset += ulpdu.payload.octets() as u32;
                }
                let mut to = u64::MAX - 5;
                for ulpdu in &written {
                    let found = tagged(ulpdu);
                    assert_eq!((found.stag, found.to), (8, to));
                    to = to.wrapping_add(ulpdu.payload.octets());
                }
            }
        }
    }
}

/// DDP-001, MPA-036: a MULPDU that changes in the middle of a message: what has left stays, what
/// leaves then is shorter, and the parts make the whole.
#[test]
fn a_mulpdu_that_shrinks_cuts_what_is_left_shorter() {
    let mut message = Message::write(1, 1, 0, payload(5000));
    let mut parts = Vec::new();
    for mulpdu in [1454, 1454, 522, 128, 8882] {
        parts.push(message.next(mulpdu).expect("there is more"));
    }
    let found: Vec<_> = parts.iter().map(|part| part.payload.octets()).collect();
    assert_eq!(found, [1440, 1440, 508, 114, 1498]);
    assert!(message.is_done());
}

/// MPA-032, MPA-033: a MULPDU beyond the limits counts as the limit, and a Terminate that is too
/// long is cut: what comes out is always what its length says, and it ends.
#[test]
fn limits_hold_for_every_caller() {
    for (mulpdu, count) in [(0, 1756), (127, 1756), (usize::MAX, 4)] {
        let mut message = Message::write(1, 1, 0, payload(200_184));
        let ulpdus = std::iter::from_fn(|| message.next(mulpdu));
        // One more than there are would be noticed, and any number more would not end.
        let ulpdus = ulpdus.take(count + 1);
        let octets: Vec<_> = ulpdus.map(|ulpdu| ulpdu.octets()).collect();
        assert_eq!(octets.len(), count);
        assert!(octets.iter().all(|octets| (14..=64_768).contains(octets)));
    }
    let mut terminate = Message::terminate(1, &[1; 100]);
    let ulpdu = terminate.next(0).expect("one segment");
    assert_eq!((ulpdu.octets(), terminate.is_done()), (18 + 52, true));
    // With ULPDU_Length it is the longest head.
    assert_eq!(HEAD_OCTETS_MAX, 2 + ulpdu.head.as_slice().len());
    let mut odd = Message::write(1, 1, 0, payload(3));
    let fpdu = Fpdu::new(&odd.next(128).expect("one segment"), 0, true);
    assert_eq!(fpdu.trailer.as_slice().len(), 1 + 4);
    let mut odd = Message::write(1, 1, 0, payload(1));
    let fpdu = Fpdu::new(&odd.next(128).expect("one segment"), 0, true);
    assert_eq!(fpdu.trailer.as_slice().len(), TRAILER_OCTETS_MAX);
}

/// RDMAP-002, RDMAP-003, RDMAP-006: every opcode, its buffer model and queue; octets 1 to 4 of
/// RsvdULP are zero where nothing is invalidated.
#[test]
fn every_opcode_has_its_header() {
    let sends = [
        (false, None, Opcode::Send),
        (false, Some(9), Opcode::SendInvalidate),
        (true, None, Opcode::SendSolicited),
        (true, Some(9), Opcode::SendSolicitedInvalidate),
    ];
    for version in [0, 1] {
        for (solicited, invalidate, opcode) in sends {
            let message = Message::send(version, 3, solicited, invalidate, payload(1));
            assert_eq!(message.opcode(), opcode);
            let found = untagged(&all(message, 128)[0]);
            assert_eq!((found.qn, found.msn), (0, 3));
            assert_eq!(found.invalidate_stag, invalidate.unwrap_or(0));
            assert_eq!(found.control.opcode, opcode);
            assert_eq!(found.control.ddp_version, version);
            assert_eq!(found.control.rdmap_version, version);
        }
        assert_eq!(Message::write(version, 1, 2, payload(9)).octets(), 9);
        let write = all(Message::write(version, 1, 2, payload(1)), 128);
        assert_eq!(tagged(&write[0]).control.opcode, Opcode::RdmaWrite);
        let response = Message::read_response(version, 1, 2, payload(1), true);
        let response = all(response, 128);
        assert_eq!(tagged(&response[0]).control.opcode, Opcode::ReadResponse);
        assert!(response[0].snapshot && !write[0].snapshot);
        let terminate = Message::terminate(version, &[0x20, 2, 0, 0]);
        assert_eq!(terminate.octets(), 4);
        let terminate = all(terminate, 128);
        let found = untagged(&terminate[0]);
        assert_eq!((found.qn, found.msn, found.mo), (2, 1, 0));
        assert_eq!(terminate[0].head.as_slice()[18..], [0x20, 2, 0, 0]);
    }
}

/// RDMAP-007: a Read Request has 28 octets of payload, by value.
#[test]
fn a_read_request_is_one_segment() {
    let request = ReadRequestRepr {
        sink_stag: 1,
        sink_to: 2,
        size: 3,
        source_stag: 4,
        source_to: 5,
    };
    let ulpdus = all(Message::read_request(1, 6, &request), 128);
    assert_eq!(ulpdus.len(), 1);
    let found = untagged(&ulpdus[0]);
    assert_eq!((found.qn, found.msn, found.mo), (1, 6, 0));
    assert!(found.control.last && found.control.opcode == Opcode::ReadRequest);
    assert_eq!(ulpdus[0].head.as_slice()[18..], request.octets());
    assert_eq!(ulpdus[0].octets(), 46);
}

/// Every part of every list of pieces is what its octets say.
#[test]
fn parts_of_pieces_are_exact() {
    let piece = |region, octets| Piece {
        region,
        offset: u64::from(region) * 1000,
        octets,
    };
    let pieces = [
        piece(1, 3),
        piece(2, 0),
        piece(3, 1),
        piece(4, 5),
        piece(5, 2),
    ];
    let whole = Pieces::new(&pieces).expect("four have octets");
    assert_eq!(whole.octets(), 11);
    let octets = contents(&whole);
    for from in 0..=13 {
        for count in 0..=13 {
            let part = whole.part(from, count);
            let (start, end) = (from.min(11) as usize, (from + count).min(11) as usize);
            assert_eq!(contents(&part), octets[start.min(end)..end]);
            assert_eq!(part.octets() as usize, end - start.min(end));
            assert!(part.as_slice().iter().all(|piece| piece.octets > 0));
        }
    }
    let five = [piece(1, 1); 5];
    assert_eq!(Pieces::new(&five), Err(TooManyPieces(5)));
    assert!(Pieces::new(&five[..4]).is_ok());
}

/// Octets by value are those that fit, and are shown as a capture shows them.
#[test]
fn octets_by_value_are_shown_in_hexadecimal() {
    let octets = Octets::<4>::of(&[&[0x01, 0xab], &[0xff], &[2, 3, 4]]);
    assert_eq!(octets.as_slice(), [0x01, 0xab, 0xff, 0x02]);
    assert_eq!(format!("{octets:?}"), "01abff02");
    assert_eq!(format!("{:?}", Octets::<4>::of(&[])), "");
    assert_ne!(Octets::<4>::of(&[&[0]]), Octets::<4>::of(&[]));
}
