//! The initiator's rules.
use super::*;
use rnic_wire::ddp::errors::MPA_CONNECTION;

/// START-006, START-023, START-032, MPA2-001, MPA2-002: the Request of each revision, octet by
/// octet.
#[test]
fn a_request_is_sent_first() {
    let sent = |settings, private_data: &[u8]| {
        let mut end = Initiator::new(settings, private_data, 7).expect("settings");
        match end.poll(7) {
            Some(InitiatorOutput::Request(octets)) => octets,
            other => panic!("{other:?}"),
        }
    };
    let settings = Settings {
        revision: 0,
        revision_min: 0,
        markers: true,
        ..Settings::default()
    };
    assert_eq!(sent(settings, b"abcd"), request(0xc0, 0, b"abcd"));
    let settings = Settings {
        revision: 1,
        crc: false,
        ..Settings::default()
    };
    assert_eq!(sent(settings, b""), request(0x00, 1, b""));
    let settings = Settings {
        ird: 0x0102,
        ord: 0x3ffe,
        ..Settings::default()
    };
    let want = request(0x50, 2, &[0x01, 0x02, 0x3f, 0xfe, b'x']);
    assert_eq!(sent(settings, b"x"), want);
    for (kind, ird_flags, ord_flags) in [
        (Rtr::Fpdu, 0xc0, 0),
        (Rtr::Write, 0x80, 0x80),
        (Rtr::Read, 0x80, 0x40),
    ] {
        let settings = Settings {
            peer_to_peer: true,
            rtr: RtrKinds::only(kind),
            ..settings
        };
        let want = [ird_flags | 0x01, 0x02, ord_flags | 0x3f, 0xfe];
        assert_eq!(sent(settings, b""), request(0x50, 2, &want));
    }
}

/// START-033, START-034, MPA2-007: the longest Private Data of each revision; one octet more is
/// refused before anything is sent. With S, 508 octets are left.
#[test]
fn private_data_has_a_longest_length() {
    for (revision, most) in [(0, 65_535), (1, 512), (2, 508)] {
        let settings = Settings {
            revision,
            revision_min: 0,
            ..Settings::default()
        };
        assert!(Initiator::new(settings, &vec![1; most], 0).is_ok());
        let refused = Initiator::new(settings, &vec![1; most + 1], 0);
        let want = SettingsError::PrivateData {
            found_octets: most + 1,
            max_octets: most,
        };
        assert_eq!(refused.err(), Some(want));
    }
}

#[test]
fn settings_without_sense_are_refused() {
    let defaults = Settings::default();
    let timeout = |us| Settings {
        timeout_us: Some(us),
        ..defaults
    };
    let wrong = [
        Settings {
            revision: 3,
            ..defaults
        },
        Settings {
            revision: 0,
            ..defaults
        },
        Settings {
            revision_0_version: 2,
            ..defaults
        },
        Settings {
            ird: 0x3fff,
            ..defaults
        },
        Settings {
            ord: 0x3fff,
            ..defaults
        },
        Settings {
            peer_to_peer: true,
            rtr: RtrKinds::default(),
            ..defaults
        },
        Settings {
            peer_to_peer: true,
            revision: 1,
            ..defaults
        },
        timeout(TIMEOUT_US_MIN - 1),
        timeout(TIMEOUT_US_MAX + 1),
    ];
    for settings in wrong {
        assert!(Initiator::new(settings, b"", 0).is_err(), "{settings:?}");
        assert!(Responder::new(settings, 0).is_err(), "{settings:?}");
    }
    for us in [TIMEOUT_US_MIN, TIMEOUT_US_MAX] {
        assert!(Initiator::new(timeout(us), b"", 0).is_ok());
    }
    let limits = Settings {
        ird: DEPTH_MAX,
        ord: DEPTH_MAX,
        ..defaults
    };
    assert!(Initiator::new(limits, b"", 0).is_ok());
}

/// START-004, START-013, START-016: the Private Data is there before anything is bound to the
/// connection; what a queue pair is made of is there only then.
#[test]
fn an_accepting_reply_gives_full_operation() {
    let agreed = agreed(Settings::default(), &reply(0x40, 1, b"hello"));
    assert!(agreed.initiator);
    assert_eq!((agreed.revision, agreed.version), (1, 1));
    assert_eq!(agreed.private_data, b"hello");
    assert_eq!(agreed.rtr, None);
}

/// START-011, START-012: R = 1 leaves MPA, and what follows is the ULP's stream: not an octet of it
/// is taken, and nothing fails.
#[test]
fn a_rejection_leaves_the_stream_to_the_ulp() {
    let mut end = initiator(Settings::default());
    let mut octets = reply(0x60, 1, b"no room");
    let frame_octets = octets.len();
    octets.extend(b"and the ULP goes on");
    assert_eq!(end.feed(&octets), frame_octets);
    let want = Rejection {
        revision: 1,
        private_data: b"no room".to_vec(),
    };
    assert_eq!(end.poll(0), Some(InitiatorOutput::Rejected(want)));
    assert_eq!(end.feed(b"more"), 0);
    end.on_close();
    assert_eq!(end.poll(u64::MAX), None);
    assert_eq!(end.deadline(), None);
}

/// START-012, START-046: a responder that rejects may close at once, as in the worked example of
/// revision 0: the Reply before its FIN is delivered, and the FIN is no failure.
#[test]
fn a_rejection_is_delivered_though_a_fin_follows_at_once() {
    let mut end = initiator(Settings::default());
    let mut other = deciding(Settings::default(), &request(0x40, 1, b""));
    let octets = other.reject(b"busy").expect("there is a Request");
    assert_eq!(end.feed(&octets), octets.len());
    end.on_close();
    let want = Rejection {
        revision: 1,
        private_data: b"busy".to_vec(),
    };
    assert_eq!(end.poll(u64::MAX), Some(InitiatorOutput::Rejected(want)));
    assert_eq!(end.poll(u64::MAX), None);
}

/// START-018: both ends initiate, and each fails at the other's Request.
#[test]
fn two_initiators_notice_it() {
    let mut one = Initiator::new(Settings::default(), b"", 0).expect("settings");
    let Some(InitiatorOutput::Request(octets)) = one.poll(0) else {
        panic!("a Request");
    };
    let error = initiator_error(Settings::default(), &octets);
    assert_eq!(error, StartupError::BothInitiate);
    assert_eq!(error.octet(), Some(9));
}

/// START-021, START-010: the time of the whole Reply is limited, to the microsecond.
#[test]
fn a_reply_that_is_not_whole_in_time_fails() {
    let settings = Settings {
        timeout_us: Some(TIMEOUT_US_MIN),
        ..Settings::default()
    };
    for found_octets in [0, 1, 16, 19, 20, 23] {
        let mut end = Initiator::new(settings, b"", 5).expect("settings");
        end.poll(5);
        end.feed(&reply(0x40, 1, b"data")[..found_octets]);
        assert_eq!(end.deadline(), Some(5 + TIMEOUT_US_MIN));
        assert_eq!(end.poll(4 + TIMEOUT_US_MIN), None);
        let error = StartupError::TimedOut {
            found_octets,
            waited_us: TIMEOUT_US_MIN,
        };
        let fallback = None;
        let want = InitiatorOutput::Failed { error, fallback };
        assert_eq!(end.poll(5 + TIMEOUT_US_MIN), Some(want));
        assert_eq!(error.cause(), MPA_CONNECTION);
        assert_eq!(end.poll(u64::MAX), None);
    }
    let mut end = initiator(settings);
    end.feed(&reply(0x40, 1, b""));
    assert!(matches!(
        end.poll(u64::MAX),
        Some(InitiatorOutput::Agreed(_))
    ));
    let end = initiator(Settings::default());
    assert_eq!(end.deadline(), Some(REPLY_TIMEOUT_US));
}

/// START-034, START-043, MPA-053: TCP ends before the Reply, inside of it, and after it.
#[test]
fn a_close_is_told_apart() {
    let whole = reply(0x40, 1, b"data");
    for found_octets in 0..whole.len() {
        let mut end = initiator(Settings::default());
        end.feed(&whole[..found_octets]);
        end.on_close();
        let Some(InitiatorOutput::Failed { error, .. }) = end.poll(0) else {
            panic!("{found_octets} octets");
        };
        let needed_octets = if found_octets < 20 { 20 } else { 24 };
        match found_octets {
            0 => assert_eq!((error, error.cause().code), (StartupError::Closed, 1)),
            _ => {
                let want = StartupError::CutShort {
                    found_octets,
                    needed_octets,
                };
                assert_eq!((error, error.cause().code), (want, 4));
            }
        }
    }
    let mut end = initiator(Settings::default());
    end.feed(&whole);
    end.on_close();
    assert!(matches!(end.poll(0), Some(InitiatorOutput::Agreed(_))));
    assert_eq!(end.poll(0), None, "from here on it is the queue pair's");
}

/// MPA2-003: a responder that closes may not know revision 2; another attempt uses 1, if allowed.
#[test]
fn a_close_without_a_reply_allows_a_fallback() {
    for (revision_min, revision, want) in [
        (0, 2, Some(1)),
        (1, 2, Some(1)),
        (2, 2, None),
        (0, 1, Some(0)),
        (1, 1, None),
    ] {
        let settings = Settings {
            revision_min,
            revision,
            ..Settings::default()
        };
        let mut end = initiator(settings);
        end.on_close();
        let Some(InitiatorOutput::Failed { fallback, .. }) = end.poll(0) else {
            panic!("closed");
        };
        assert_eq!(fallback, want);
    }
}

/// START-044, MPA2-003: a Reply of a lower revision goes on in it, if that is allowed; none is
/// above its Request.
#[test]
fn a_reply_of_a_lower_revision_is_followed() {
    let settings = Settings {
        peer_to_peer: true,
        ..Settings::default()
    };
    let found = agreed(settings, &reply(0x40, 1, b""));
    assert_eq!((found.revision, found.rtr), (1, None));
    let strict = Settings {
        revision_min: 2,
        ..settings
    };
    let revision = |found, lowest, highest| StartupError::Revision {
        found,
        lowest,
        highest,
    };
    let error = initiator_error(strict, &reply(0x40, 1, b""));
    assert_eq!(error, revision(1, 2, 2));
    let old = Settings {
        revision: 1,
        ..Settings::default()
    };
    let error = initiator_error(old, &reply(0x40, 2, b""));
    assert_eq!(error, revision(2, 1, 1));
    assert_eq!(error.octet(), Some(17));
}

/// DDP-009: revision 0 has version 0, or with a permissive peer version 1.
#[test]
fn the_version_of_revision_0_is_a_setting() {
    for version in [0, 1] {
        let settings = Settings {
            revision_0_version: version,
            ..permissive()
        };
        assert_eq!(agreed(settings, &reply(0x40, 0, b"")).version, version);
        assert_eq!(agreed(settings, &reply(0x40, 1, b"")).version, 1);
    }
}

/// START-039, START-041, START-042: an octet after the Reply, in its segment or a later one, before
/// our first FPDU can have been there: never taken, and the connection fails.
#[test]
fn octets_after_a_reply_are_refused() {
    for polled in [false, true] {
        let mut end = initiator(Settings::default());
        let mut octets = reply(0x40, 1, b"");
        if polled {
            assert_eq!(end.feed(&octets), 20);
            assert!(end.poll(0).is_some());
            assert_eq!(end.feed(&[]), 0);
            assert_eq!(end.feed(&[0]), 0);
        } else {
            octets.push(0);
            assert_eq!(end.feed(&octets), 20);
        }
        let error = StartupError::Early { octet: 20 };
        let want = InitiatorOutput::Failed {
            error,
            fallback: None,
        };
        assert_eq!(end.poll(0), Some(want));
        assert_eq!(end.poll(0), None);
    }
}
