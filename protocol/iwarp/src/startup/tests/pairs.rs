//! Two ends talking to each other over two queues in memory: all pairs of their settings.
use super::*;

/// Both ends after their exchange: what each of them made of it.
#[derive(Debug, PartialEq)]
enum End {
    Agreed(Agreed),
    Rejected,
    Failed(StartupError),
    Terminate,
}

/// A responder, in reaction to octets: its Reply, or that it closed.
fn respond(settings: Settings, octets: &[u8]) -> (End, Option<Vec<u8>>) {
    let mut end = responder(settings);
    end.feed(octets);
    match end.poll(0) {
        Some(ResponderOutput::Failed(error)) => (End::Failed(error), None),
        Some(ResponderOutput::Request(_)) => match end.accept(b"re") {
            Ok(Accepted { agreed, reply }) => (End::Agreed(agreed), Some(reply)),
            Err(AnswerError::NoCommonRtr) => (End::Rejected, Some(end.reject(b"").expect("R"))),
            Err(other) => panic!("{other}"),
        },
        None => panic!("a whole Request"),
    }
}

fn talk(one: Settings, other: Settings) -> (End, End) {
    let mut initiator = Initiator::new(one, b"rq", 0).expect("settings");
    let Some(InitiatorOutput::Request(request)) = initiator.poll(0) else {
        panic!("a Request");
    };
    let (responded, reply) = respond(other, &request);
    match reply {
        Some(reply) => _ = initiator.feed(&reply),
        None => initiator.on_close(),
    }
    let initiated = match initiator.poll(0) {
        Some(InitiatorOutput::Agreed(agreed)) => End::Agreed(agreed),
        Some(InitiatorOutput::Rejected(_)) => End::Rejected,
        Some(InitiatorOutput::Failed { error, .. }) => End::Failed(error),
        Some(InitiatorOutput::Terminate { .. }) => End::Terminate,
        other => panic!("{other:?}"),
    };
    (initiated, responded)
}

fn all_settings() -> Vec<Settings> {
    let mut all = Vec::new();
    for (revision_min, revision) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)] {
        for bits in 0..8u8 {
            let (markers, crc) = (bits & 1 != 0, bits & 2 != 0);
            let answer_newer = bits & 4 != 0;
            for (ird, ord) in [(0, 0), (4, 8), (2, 1)] {
                for (peer_to_peer, kinds) in [(false, 7), (true, 1), (true, 2), (true, 4)] {
                    let rtr = RtrKinds {
                        fpdu: kinds & 1 != 0,
                        write: kinds & 2 != 0,
                        read: kinds & 4 != 0,
                    };
                    if peer_to_peer && revision < 2 {
                        continue;
                    }
                    all.push(Settings {
                        revision,
                        revision_min,
                        answer_newer,
                        markers,
                        crc,
                        ird,
                        ord,
                        peer_to_peer,
                        rtr,
                        ..Settings::default()
                    });
                }
            }
        }
    }
    all
}

/// START-022, START-026, START-027, START-028, START-032, START-044, MPA2-003, MPA2-004, MPA2-005:
/// whatever two ends want, they agree on the same, or both know that they do not.
#[test]
fn two_ends_agree_on_the_same_or_not_at_all() {
    let all = all_settings();
    let (mut agreements, mut failures) = (0, 0);
    for one in &all {
        for other in &all {
            let highest = if other.answer_newer {
                2
            } else {
                other.revision
            };
            let revision = one.revision.min(other.revision);
            let meets = other.revision_min <= one.revision && one.revision <= highest;
            let meets = meets && one.revision_min <= revision;
            match talk(*one, *other) {
                (End::Agreed(one_side), End::Agreed(other_side)) => {
                    assert!(meets, "{one:?} {other:?}");
                    agreements += 1;
                    compare(one, other, &one_side, &other_side);
                }
                (End::Rejected, End::Rejected) => {
                    let common = one.rtr.common(other.rtr);
                    let read = Some(Rtr::Read);
                    assert!(one.peer_to_peer && revision == 2);
                    assert!(common.cheapest().is_none_or(|_| common.cheapest() == read));
                }
                // The responder closed, or the initiator did at a Reply below its lowest revision.
                (End::Failed(StartupError::Closed), End::Failed(_)) => {
                    assert!(!meets);
                    failures += 1;
                }
                (End::Failed(error), End::Agreed(_)) => {
                    assert!(!meets && error.octet() == Some(17), "{error}");
                    failures += 1;
                }
                other => panic!("{one:?} {other:?}"),
            }
        }
    }
    assert!(
        agreements > 50_000 && failures > 20_000,
        "{agreements} {failures}"
    );
}

fn compare(one: &Settings, other: &Settings, one_side: &Agreed, other_side: &Agreed) {
    let revision = one.revision.min(other.revision);
    assert_eq!(
        (one_side.revision, other_side.revision),
        (revision, revision)
    );
    assert_eq!(one_side.version, u8::from(revision > 0));
    assert_eq!(one_side.version, other_side.version);
    let crc = one.crc || other.crc;
    assert_eq!((one_side.crc, other_side.crc), (crc, crc));
    assert_eq!(
        (one_side.markers_in, other_side.markers_out),
        (one.markers, one.markers)
    );
    assert_eq!(
        (one_side.markers_out, other_side.markers_in),
        (other.markers, other.markers)
    );
    assert_eq!(one_side.rtr, other_side.rtr);
    assert_eq!(one_side.rtr.is_some(), one.peer_to_peer && revision == 2);
    assert_eq!(
        (&one_side.private_data[..], &other_side.private_data[..]),
        (&b"re"[..], &b"rq"[..])
    );
    if revision == 2 {
        // No end may read deeper than the other one holds.
        assert_eq!(
            (one_side.ord, one_side.ird),
            (other_side.ird, other_side.ord)
        );
        assert!(one_side.ird <= one.ird && other_side.ird <= other.ird);
        assert!(other_side.ord <= other.ord);
        assert!(one_side.ord <= one.ord.max(1));
    } else {
        assert_eq!((one_side.ird, one_side.ord), (one.ird, one.ord));
    }
}

/// MPA2-003: a responder that knows only an older revision answers in it, or closes, and then the
/// initiator finds it in another attempt, as far down as its settings allow.
#[test]
fn an_initiator_finds_a_responder_of_an_older_revision() {
    for answer_newer in [false, true] {
        for (theirs, lowest) in [(2, 1), (1, 1), (0, 0), (0, 1)] {
            let other = Settings {
                revision: theirs,
                revision_min: theirs,
                answer_newer,
                ..Settings::default()
            };
            let mut one = Settings {
                revision_min: lowest,
                peer_to_peer: true,
                ..Settings::default()
            };
            let mut attempts = 1;
            let agreed = loop {
                match talk(one, other) {
                    (End::Agreed(agreed), _) => break Some(agreed),
                    (End::Failed(StartupError::Closed), _) if one.revision > lowest => {
                        one = one.in_revision(one.revision - 1);
                        attempts += 1;
                    }
                    (End::Failed(_), _) => break None,
                    other => panic!("{other:?}"),
                }
            };
            assert_eq!(agreed.is_some(), theirs >= lowest);
            let rtr = agreed.and_then(|agreed| {
                assert_eq!(agreed.revision, theirs);
                assert_eq!(attempts, if answer_newer { 1 } else { 3 - theirs });
                agreed.rtr
            });
            assert_eq!(rtr.is_some(), theirs == 2);
        }
    }
}

/// MPA2-004: the example of the rule.
#[test]
fn an_initiator_of_ird_4_and_ord_8_meets_a_responder_of_ird_2() {
    let one = Settings {
        ird: 4,
        ord: 8,
        ..Settings::default()
    };
    let other = Settings {
        ird: 2,
        ..Settings::default()
    };
    let (End::Agreed(one), End::Agreed(other)) = talk(one, other) else {
        panic!("they agree");
    };
    assert_eq!((one.ord, one.ird), (2, 4));
    assert_eq!((other.ird, other.ord), (2, 4));
}

/// START-002, START-005, START-035, START-036, START-037: the roles follow neither TCP's nor the
/// place in the stream: an end that has exchanged octets before starts where its caller says.
#[test]
fn start_up_may_come_late_and_from_either_side() {
    let mut end = responder(Settings::default());
    let streaming = [b'x'; 1024];
    let mut stream = streaming.to_vec();
    stream.extend(request(0x40, 1, b""));
    // The ULP read its 1024 octets; the Request came with the last of them.
    let taken = end.feed(&stream[streaming.len()..]);
    assert_eq!(streaming.len() + taken, stream.len());
    assert!(matches!(end.poll(0), Some(ResponderOutput::Request(_))));
}
