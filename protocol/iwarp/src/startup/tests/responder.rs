//! The responder's rules.
use super::*;

/// START-007, START-009, START-040, START-045: nothing before the Request; the Reply is handed
/// over with what it agrees on, before it is sent.
#[test]
fn a_request_is_answered_when_the_ulp_accepts() {
    let mut end = responder(Settings::default());
    assert_eq!(end.accept(b"").err(), Some(AnswerError::NoRequest));
    assert_eq!(end.poll(0), None);
    assert_eq!(end.feed(&request(0xc0, 1, b"who")), 23);
    let Some(ResponderOutput::Request(found)) = end.poll(0) else {
        panic!("a Request");
    };
    assert_eq!(found.private_data, b"who");
    let accepted = end.accept(b"me").expect("it can be accepted");
    assert_eq!(accepted.reply, reply(0x40, 1, b"me"));
    assert!(!accepted.agreed.initiator);
    assert_eq!(accepted.agreed.private_data, b"who");
    assert!(accepted.agreed.markers_out && !accepted.agreed.markers_in);
    assert_eq!(end.accept(b"").err(), Some(AnswerError::NoRequest));
    assert_eq!(end.feed(b"an FPDU"), 0, "full operation is not start-up's");
    assert_eq!(end.poll(u64::MAX), None);
}

/// START-008: a rejection has R = 1 and Private Data; MPA is left, and what follows is the ULP's.
#[test]
fn a_rejected_peer_keeps_its_stream() {
    let mut end = deciding(Settings::default(), &request(0x40, 1, b""));
    let octets = end.reject(b"busy").expect("there is a Request");
    assert_eq!(octets, reply(0x60, 1, b"busy"));
    assert_eq!(end.feed(b"something else"), 0);
    end.on_close();
    assert_eq!(end.poll(u64::MAX), None);
}

/// START-019, START-021: two responders time out, each alone; a Request that stalls does too.
#[test]
fn a_responder_waits_so_long_and_no_longer() {
    for found_octets in [0, 19, 20] {
        let mut end = Responder::new(Settings::default(), 3).expect("settings");
        end.feed(&request(0x40, 1, b"x")[..found_octets]);
        assert_eq!(end.deadline(), Some(3 + REQUEST_TIMEOUT_US));
        assert_eq!(end.poll(2 + REQUEST_TIMEOUT_US), None);
        let want = StartupError::TimedOut {
            found_octets,
            waited_us: REQUEST_TIMEOUT_US,
        };
        let found = end.poll(3 + REQUEST_TIMEOUT_US);
        assert_eq!(found, Some(ResponderOutput::Failed(want)));
        assert_eq!(end.deadline(), None);
    }
    let end = deciding(Settings::default(), &request(0x40, 1, b""));
    assert_eq!(end.deadline(), None, "the ULP decides in its own time");
}

/// START-034, START-043, MPA-053: TCP ends at each octet of a Request, and while the ULP decides.
#[test]
fn a_close_in_the_request_is_told_apart() {
    let whole = request(0x40, 1, b"ab");
    for found_octets in 0..=whole.len() {
        let mut end = responder(Settings::default());
        end.feed(&whole[..found_octets]);
        end.on_close();
        let Some(ResponderOutput::Failed(error)) = end.poll(0) else {
            panic!("{found_octets} octets");
        };
        let needed_octets = if found_octets < 20 { 20 } else { 22 };
        let want = match found_octets {
            0 | 22 => StartupError::Closed,
            _ => StartupError::CutShort {
                found_octets,
                needed_octets,
            },
        };
        assert_eq!(error, want);
        assert_eq!(end.accept(b"").err(), Some(AnswerError::NoRequest));
    }
}

/// START-041, START-042: octets after the Request, with it or while the ULP decides, end the
/// connection, and there is no Reply.
#[test]
fn octets_before_the_reply_are_refused() {
    for with_it in [false, true] {
        let mut end = responder(Settings::default());
        let mut octets = request(0x40, 1, b"");
        if with_it {
            octets.push(0);
        }
        assert_eq!(end.feed(&octets), 20);
        if !with_it {
            assert!(matches!(end.poll(0), Some(ResponderOutput::Request(_))));
            assert_eq!(end.feed(b""), 0);
            assert_eq!(end.feed(&[0, 1]), 0);
        }
        let want = StartupError::Early { octet: 20 };
        assert_eq!(end.poll(0), Some(ResponderOutput::Failed(want)));
        assert_eq!(end.accept(b"").err(), Some(AnswerError::NoRequest));
    }
}

/// START-020, START-034, MPA2-007: a Reply's Private Data has the length of its own revision; one
/// octet more is refused, and the Request can still be answered.
#[test]
fn a_reply_has_a_longest_private_data() {
    for (octets, most) in [
        (request(0x40, 0, b""), 65_535),
        (request(0x40, 1, b""), 512),
        (request(0x40, 2, b""), 512),
        (request(0x50, 2, &[0; 4]), 508),
    ] {
        let mut end = deciding(permissive(), &octets);
        let refused = end.accept(&vec![1; most + 1]).err();
        assert!(matches!(refused, Some(AnswerError::PrivateData(_))));
        assert!(end.accept(&vec![1; most]).is_ok());
    }
}

/// MPA2-003, START-031, START-032, START-044: a Request above this end's revision is answered in
/// it, without S, or TCP is closed; a lower one is answered in its own, or refused.
#[test]
fn the_revision_is_the_requests_or_a_lower_one() {
    let settings = |revision_min, revision, answer_newer| Settings {
        revision_min,
        revision,
        answer_newer,
        ..Settings::default()
    };
    let asked = |revision| match revision {
        2 => request(0x50, 2, &[0, 4, 0, 4]),
        revision => request(0x40, revision, b""),
    };
    for revision in 0..=2 {
        for (lowest, highest) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)] {
            for answer_newer in [false, true] {
                let settings = settings(lowest, highest, answer_newer);
                let limit = if answer_newer { 2 } else { highest };
                if (lowest..=limit).contains(&revision) {
                    let found = accepted(settings, &asked(revision));
                    let used = revision.min(highest);
                    assert_eq!(found.agreed.revision, used);
                    assert_eq!(found.reply[17], used);
                    assert_eq!(found.reply[16] & 0x10 != 0, used == 2);
                    assert!(found.agreed.private_data.is_empty());
                    continue;
                }
                let want = StartupError::Revision {
                    found: revision,
                    lowest,
                    highest: limit,
                };
                assert_eq!(responder_error(settings, &asked(revision)), want);
            }
        }
    }
}

/// DDP-009: the version of revision 0, and what a permissive peer sends instead.
#[test]
fn the_version_of_revision_0_is_a_setting() {
    for version in [0, 1] {
        let settings = Settings {
            revision_0_version: version,
            ..permissive()
        };
        let found = accepted(settings, &request(0x40, 0, b"")).agreed;
        assert_eq!((found.revision, found.version), (0, version));
    }
}

/// START-028, MPA-018, MPA-019: CRC is in use unless neither end calls for it; the Reply says what
/// is agreed.
#[test]
fn crc_is_in_use_if_either_end_calls_for_it() {
    for (ours, peers) in [(false, false), (false, true), (true, false), (true, true)] {
        let settings = Settings {
            crc: ours,
            ..Settings::default()
        };
        let flags = if peers { 0x40 } else { 0 };
        let found = accepted(settings, &request(flags, 1, b""));
        assert_eq!(found.agreed.crc, ours || peers);
        assert_eq!(found.reply[16] & 0x40 != 0, ours || peers);
        assert_eq!(agreed(settings, &reply(flags, 1, b"")).crc, ours || peers);
    }
    assert!(Settings::default().crc);
}

/// MPA2-004: the Reply's ORD is not above the Request's IRD; its IRD covers the Request's ORD, or
/// is all there is. 0x3FFF is not negotiated, and answered alike.
#[test]
fn depths_are_answered() {
    let settings = Settings {
        ird: 2,
        ord: 5,
        ..Settings::default()
    };
    let depths = [0u16, 1, 2, 3, 4, 5, 6, 0x3ffe, 0x3fff];
    for ird in depths {
        for ord in depths {
            let data = [ird.to_be_bytes(), ord.to_be_bytes()].concat();
            let found = accepted(settings, &request(0x50, 2, &data));
            assert_eq!(
                (found.agreed.ird, found.agreed.ord),
                (ord.min(2), ird.min(5))
            );
            let echo = |peer: u16, ours: u16| if peer == 0x3fff { peer } else { ours.min(peer) };
            let want = [echo(ord, 2).to_be_bytes(), echo(ird, 5).to_be_bytes()].concat();
            assert_eq!(found.reply, reply(0x50, 2, &want));
        }
    }
}

/// MPA2-005, MPA2-008: of all offers to all settings one kind is selected, and A echoed; B, C and
/// D without A are ignored; without a common kind the Request can be rejected and not accepted.
#[test]
fn one_rtr_is_selected() {
    let kinds = |set: u8| RtrKinds {
        fpdu: set & 1 != 0,
        read: set & 2 != 0,
        write: set & 4 != 0,
    };
    for known in 0..8u8 {
        for offered in 0..8u8 {
            for (a, ird) in [(false, 4), (true, 4), (true, 0)] {
                let settings = Settings {
                    rtr: kinds(known),
                    ird,
                    ..Settings::default()
                };
                // ORD 0: a Read as RTR has to make room for itself.
                let first = if a { 0x80 } else { 0 } | (offered & 1) << 6;
                let data = [first, 4, (offered >> 1) << 6, 0];
                let mut end = deciding(settings, &request(0x50, 2, &data));
                let common = known & offered & if ird == 0 { 5 } else { 7 };
                if a && common == 0 {
                    assert_eq!(end.accept(b"").err(), Some(AnswerError::NoCommonRtr));
                    let octets = end.reject(b"").expect("it can be rejected");
                    assert_eq!((octets[16], octets[20] & 0x80), (0x70, 0x80));
                    continue;
                }
                let found = end.accept(b"").expect("it can be accepted");
                let want = match common {
                    _ if !a => None,
                    common if common & 4 != 0 => Some(Rtr::Write),
                    common if common & 1 != 0 => Some(Rtr::Fpdu),
                    _ => Some(Rtr::Read),
                };
                assert_eq!(found.agreed.rtr, want);
                let (b, cd) = match want {
                    None => (0, 0),
                    Some(Rtr::Fpdu) => (0xc0, 0),
                    Some(Rtr::Write) => (0x80, 0x80),
                    Some(Rtr::Read) => (0x80, 0x40),
                };
                assert_eq!((found.reply[20] & 0xc0, found.reply[22] & 0xc0), (b, cd));
                assert_eq!(found.agreed.ird, u16::from(want == Some(Rtr::Read)));
            }
        }
    }
}
