//! Every state of a start-up of two ends, and every malformed frame, against the standard.
use super::standard::{initiated, request_of, responded, Judged};
use super::*;

/// What a responder in the crate makes of octets, in the standard's words.
fn responder_found(settings: &Settings, octets: &[u8], private_data: &[u8]) -> Judged {
    let mut end = responder(*settings);
    let taken = end.feed(octets);
    responder_says(&mut end, octets, taken, private_data)
}

fn responder_says(end: &mut Responder, octets: &[u8], taken: usize, private_data: &[u8]) -> Judged {
    match end.poll(0) {
        None => Judged::Incomplete,
        Some(ResponderOutput::Failed(error)) => closed(&error),
        Some(ResponderOutput::Request(_)) => {
            assert_eq!(taken, octets.len());
            match end.accept(private_data) {
                Ok(Accepted { agreed, reply }) => Judged::Agreed(agreed, reply),
                Err(AnswerError::NoCommonRtr) => Judged::NoCommonRtr,
                Err(other) => panic!("{other}"),
            }
        }
    }
}

/// A malformed frame has error 4 of MPA, and is known by its octet.
fn closed(error: &StartupError) -> Judged {
    assert_eq!(error.cause().code, 4);
    let octet = error.octet().expect("a malformed frame");
    assert!(error.to_string().contains(&octet.to_string()), "{error}");
    Judged::Closed(octet)
}

/// The same of an initiator.
fn initiator_found(settings: &Settings, octets: &[u8]) -> Judged {
    match initiator_after(*settings, octets) {
        None => Judged::Incomplete,
        Some(InitiatorOutput::Agreed(agreed)) => Judged::Agreed(agreed, Vec::new()),
        Some(InitiatorOutput::Terminate { agreed, cause }) => {
            // Full operation has been agreed on; only its one message is the Terminate.
            assert!(agreed.initiator && (cause.layer, cause.error_type) == (2, 0));
            Judged::Terminate(cause.code)
        }
        Some(InitiatorOutput::Rejected(rejection)) => Judged::Rejected(rejection.private_data),
        Some(InitiatorOutput::Failed { error, fallback }) => {
            assert_eq!(fallback, None, "the peer has answered");
            closed(&error)
        }
        Some(InitiatorOutput::Request(_)) => panic!("a second Request"),
    }
}

/// Settings whose frames and answers differ in each field.
fn some_settings() -> Vec<Settings> {
    let defaults = Settings {
        revision_min: 0,
        ird: 4,
        ord: 8,
        ..Settings::default()
    };
    let one = |change: fn(&mut Settings)| {
        let mut settings = defaults;
        change(&mut settings);
        settings
    };
    let peers = |rtr| Settings {
        peer_to_peer: true,
        rtr,
        ..defaults
    };
    vec![
        defaults,
        one(|settings| settings.revision_min = 2),
        one(|settings| settings.revision = 1),
        one(|settings| (settings.revision, settings.answer_newer) = (1, false)),
        one(|settings| settings.revision = 0),
        one(|settings| (settings.revision, settings.answer_newer) = (0, false)),
        one(|settings| (settings.markers, settings.crc) = (true, false)),
        one(|settings| settings.private_data_octets_max = 3),
        one(|settings| (settings.ird, settings.ord) = (0, 0)),
        peers(RtrKinds::ALL),
        peers(RtrKinds::only(Rtr::Fpdu)),
        peers(RtrKinds::only(Rtr::Read)),
        Settings {
            ird: 0,
            ord: 0,
            ..peers(RtrKinds::ALL)
        },
    ]
}

/// START-007, START-010, START-015, START-018, START-020, START-024, START-025, START-029,
/// START-030, START-031, START-032, START-033, START-034, START-041, START-042, MPA2-001, MPA2-002,
/// MPA2-004, MPA2-007, MPA2-008, MPA2-009: each octet of a frame of every revision with each value,
/// to all of the settings, in both roles: what becomes of it is what the standard says.
#[test]
fn every_octet_with_every_value_is_judged_by_the_standard() {
    let data = [0x80, 4, 0x80, 4, b'u', b'l', b'p'];
    for settings in some_settings() {
        for revision in 0..=2 {
            for (octets, is_request) in [
                (request(0x50, revision, &data), true),
                (reply(0x50, revision, &data), false),
            ] {
                for octet in 0..octets.len() {
                    let mut changed = octets.clone();
                    for value in 0..=255 {
                        changed[octet] = value;
                        let (found, want) = match is_request {
                            true => (
                                responder_found(&settings, &changed, b"me"),
                                responded(&settings, &changed, b"me"),
                            ),
                            false => (
                                initiator_found(&settings, &changed),
                                initiated(&settings, &changed),
                            ),
                        };
                        assert_eq!(found, want, "{changed:x?} to {settings:?}");
                    }
                }
            }
        }
    }
}

/// The same ids: all flags with all revisions there are and one more, lengths about the borders,
/// and every combination of A, B, C and D.
#[test]
fn every_combination_of_fields_is_judged_by_the_standard() {
    let mut outcomes = [0; 6];
    for settings in some_settings() {
        for flags in 0..=255u8 {
            for revision in 0..=3 {
                for length in [0, 3, 4, 7, 8] {
                    for bits in 0..16u8 {
                        let (first, second) = ((bits & 3) << 6, (bits >> 2) << 6);
                        let data = [first, 5, second, 2, 1, 2, 3, 4];
                        let data = &data[..length];
                        // Bits that are not there make no further case.
                        if length < 3 && bits > 0 {
                            continue;
                        }
                        let asked = request(flags, revision, data);
                        let want = responded(&settings, &asked, b"");
                        outcomes[number(&want)] += 1;
                        assert_eq!(responder_found(&settings, &asked, b""), want);
                        let answered = reply(flags, revision, data);
                        let want = initiated(&settings, &answered);
                        outcomes[number(&want)] += 1;
                        assert_eq!(initiator_found(&settings, &answered), want);
                    }
                }
            }
        }
    }
    assert!(outcomes[0] == 0 && outcomes[1..].iter().all(|&count| count > 1000));
}

fn number(judged: &Judged) -> usize {
    match judged {
        Judged::Incomplete => 0,
        Judged::Closed(_) => 1,
        Judged::NoCommonRtr => 2,
        Judged::Rejected(_) => 3,
        Judged::Terminate(_) => 4,
        Judged::Agreed(..) => 5,
    }
}

/// All that may happen to a responder that has `from` octets of a stream: more of them in any
/// arrival, the peer's FIN, its time-out.
fn look_at_responder(settings: &Settings, octets: &[u8], from: usize) {
    let mut at = responder(*settings);
    at.feed(&octets[..from]);
    for to in from + 1..=octets.len() {
        let mut next = at.clone();
        let taken = next.feed(&octets[from..to]);
        let found = responder_says(&mut next, &octets[from..to], taken, b"me");
        assert_eq!(found, responded(settings, &octets[..to], b"me"));
    }
    let judged = responded(settings, &octets[..from], b"me");
    let is_waiting = judged == Judged::Incomplete;
    assert_eq!(at.deadline(), is_waiting.then_some(REQUEST_TIMEOUT_US));
    let mut closed = at.clone();
    closed.on_close();
    let mut late = at.clone();
    let found = (closed.poll(0), late.poll(u64::MAX));
    match (is_waiting, found) {
        (true, (Some(ResponderOutput::Failed(one)), Some(ResponderOutput::Failed(other)))) => {
            let code = if from == 0 { 1 } else { 4 };
            assert_eq!((one.cause().code, other.cause().code), (code, 1));
        }
        (false, (Some(ResponderOutput::Failed(_)), Some(_))) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(closed.accept(b"").err(), Some(AnswerError::NoRequest));
    assert_eq!((closed.poll(u64::MAX), closed.deadline()), (None, None));
}

/// The same of an initiator.
fn look_at_initiator(settings: &Settings, octets: &[u8], from: usize) {
    let mut at = initiator(*settings);
    at.feed(&octets[..from]);
    for to in from + 1..=octets.len() {
        let mut next = at.clone();
        next.feed(&octets[from..to]);
        let mut whole = initiator(*settings);
        whole.feed(&octets[..to]);
        assert_eq!(next.poll(0), whole.poll(0), "cut at {from} of {to}");
        assert_eq!(initiator_found(settings, &octets[..to]), {
            initiated(settings, &octets[..to])
        });
    }
    let is_waiting = initiated(settings, &octets[..from]) == Judged::Incomplete;
    assert_eq!(at.deadline(), is_waiting.then_some(REPLY_TIMEOUT_US));
    let mut closed = at.clone();
    closed.on_close();
    let mut late = at.clone();
    match (is_waiting, closed.poll(0), late.poll(u64::MAX)) {
        (
            true,
            Some(InitiatorOutput::Failed { error, fallback }),
            Some(InitiatorOutput::Failed { error: late, .. }),
        ) => {
            let lower = settings.revision_min < settings.revision;
            let want = (from == 0 && lower).then(|| settings.revision - 1);
            assert_eq!(fallback, want, "only a peer that said nothing");
            let code = if from == 0 { 1 } else { 4 };
            assert_eq!((error.cause().code, late.cause().code), (code, 1));
        }
        (false, Some(closed), Some(late)) => assert_eq!(closed, late),
        other => panic!("{other:?}"),
    }
    assert_eq!((closed.poll(u64::MAX), closed.deadline()), (None, None));
}

/// START-003, START-006, START-008, START-011, START-019, START-021, START-022, START-026,
/// START-027, START-028, START-034, START-042, START-043, START-044, MPA2-003, MPA2-004, MPA2-005,
/// MPA-018, MPA-019, MPA-053, MPA-056: two ends with each pair of settings, in each state that
/// their octets can be in: frames cut at every octet, any arrival from there on, an octet too
/// many, TCP closed and time run out in each. Both frames are the standard's octets.
#[test]
fn every_state_of_every_pair_is_what_the_standard_says() {
    let all = some_settings();
    let mut accepted = 0;
    for one in &all {
        for other in &all {
            let mut initiator = Initiator::new(*one, b"hi", 0).expect("settings");
            let asked = request_of(one, b"hi");
            assert_eq!(
                initiator.poll(0),
                Some(InitiatorOutput::Request(asked.clone()))
            );
            let octets = [&asked[..], &[0xff]].concat();
            (0..octets.len()).for_each(|from| look_at_responder(other, &octets, from));

            let answered = match responded(other, &asked, b"me") {
                Judged::Closed(_) => continue,
                Judged::Agreed(_, answered) => {
                    accepted += 1;
                    answered
                }
                Judged::NoCommonRtr => {
                    let mut end = deciding(*other, &asked);
                    assert_eq!(end.accept(b"").err(), Some(AnswerError::NoCommonRtr));
                    end.reject(b"me").expect("it can be rejected")
                }
                judged => panic!("{judged:?}"),
            };
            for octets in [&answered[..], &[&answered[..], &[0]].concat()] {
                (0..octets.len()).for_each(|from| look_at_initiator(one, octets, from));
            }
            let mut end = deciding(*other, &asked);
            let rejected = end.reject(b"me").expect("there is a Request");
            assert_eq!(rejected[16] & 0x20, 0x20);
            let judged = initiated(one, &rejected);
            let is_read = (one.revision_min..=one.revision).contains(&rejected[17]);
            assert_eq!(judged == Judged::Rejected(b"me".to_vec()), is_read);
            assert_eq!(initiator_found(one, &rejected), judged);
        }
    }
    assert!(accepted > 80, "{accepted} are too few");
}
