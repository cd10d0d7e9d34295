//! Start-up frames that are none, too early, or do not come.

use crate::hostile_frames::{REPLIES, REQUESTS};
use crate::hostile_ground::{options, refused, settings, Ground};
use crate::scene::{event, PATIENCE};
use crate::stranger::mpa::{
    self, start, start_enhanced, FLAG_CRC, FLAG_ENHANCED, FLAG_REJECTED, KEY_REPLY, KEY_REQUEST,
    PEER_TO_PEER,
};
use crate::stranger::{ddp, Conn, End, Talk};
use rnic_driver::verbs::endpoint::{EndpointError, PairEvent, QueuePair};
use rnic_iwarp::queue_pair::{Failure, Place};
use rnic_iwarp::startup::{Rtr, RtrKinds, Settings, StartupError};

/// Octets of a frame with enhanced data and nothing else.
const ENHANCED_OCTETS: usize = mpa::START_OCTETS + 4;

/// Long enough for a FIN to arrive.
const SHORTLY: std::time::Duration = std::time::Duration::from_millis(50);

/// A Request of the end that is judged, its Reply, and what it says.
fn begin(ground: &Ground, settings: &Settings, answer: impl FnOnce(&Conn)) -> (Conn, Begun) {
    let (conn, stream) = ground.connect();
    let pair = stream.queue_pair(&ground.end.domain, settings, &options());
    let pair = pair.expect("there is room");
    let started = std::thread::scope(|scope| {
        let starting = scope.spawn(|| pair.start(b""));
        conn.wait_octets(request_octets(settings));
        answer(&conn);
        starting.join().expect("it does not panic")
    });
    (conn, Begun { pair, started })
}

/// A queue pair, and what its start has led to.
struct Begun {
    pair: QueuePair,
    started: Result<Vec<u8>, EndpointError>,
}

/// Octets of a Request without Private Data.
fn request_octets(settings: &Settings) -> usize {
    match settings.revision {
        2 => ENHANCED_OCTETS,
        _ => mpa::START_OCTETS,
    }
}

/// START-003, START-007, START-015, START-018, START-020, START-021, START-023, START-024,
/// START-025, START-031, START-032, START-034, START-041, START-042, START-043, MPA-056, MPA2-001:
/// every malformed Request has its error, is answered by a FIN alone or, if octets are too early,
/// by an RST, and leaves nothing.
#[test]
fn a_malformed_request_is_answered_with_an_end_alone() {
    let ground = Ground::new("model");
    ground.beside_a_bystander(|bystander| {
        for case in &REQUESTS {
            for singly in [false, true] {
                if singly && (case.octets)().len() > 1000 {
                    continue;
                }
                println!("{} {singly}", case.name);
                let rounds = bystander.rounds();
                let (conn, stream) = ground.accept();
                case.say(&conn, singly);
                let failed = stream.request(&case.settings(), b"");
                case.judge(refused(failed));
                assert_eq!(conn.wait_end(), case.end());
                conn.close();
                bystander.wait_rounds(rounds + 1);
                ground.expect_clean(1);
                assert_eq!(conn.received(), b"");
            }
        }
    });
    ground.expect_clean(0);
}

/// START-003, START-010, START-015, START-018, START-020, START-021, START-024, START-025,
/// START-032, START-034, START-042, START-043, MPA-056, MPA2-001, MPA2-003, MPA2-005: every
/// malformed Reply has its error, is answered by a FIN alone or, if octets are too early, by an
/// RST, and leaves nothing.
#[test]
fn a_malformed_reply_is_answered_with_an_end_alone() {
    let ground = Ground::new("model");
    ground.beside_a_bystander(|bystander| {
        for case in &REPLIES {
            for singly in [false, true] {
                println!("{} {singly}", case.name);
                let rounds = bystander.rounds();
                let settings = case.settings();
                let (conn, begun) = begin(&ground, &settings, |conn| case.say(conn, singly));
                let failed = refused(begun.started);
                if let EndpointError::StartupFailed { fallback, .. } = &failed {
                    let is_closed = case.error == StartupError::Closed;
                    assert_eq!(*fallback, is_closed.then_some(1));
                }
                case.judge(failed);
                assert_eq!(conn.wait_end(), case.end());
                conn.close();
                drop(begun.pair);
                bystander.wait_rounds(rounds + 1);
                ground.expect_clean(1);
                assert_eq!(conn.received().len(), request_octets(&settings));
            }
        }
    });
    ground.expect_clean(0);
}

/// START-034, START-043, MPA-053: the peer has closed before the application begins: that is
/// reported at once, from either end, and of a frame that is there in part.
#[test]
fn a_fin_before_the_start_up_is_reported_at_once() {
    let ground = Ground::new("model");
    let key = KEY_REQUEST;
    for (octets, error) in [
        (&key[..0], StartupError::Closed),
        (
            &key[..9],
            StartupError::CutShort {
                found_octets: 9,
                needed_octets: 20,
            },
        ),
    ] {
        let (conn, stream) = ground.accept();
        conn.send(octets);
        conn.close();
        conn.wait_acknowledged();
        std::thread::sleep(SHORTLY);
        let failed = stream.request(&settings(false), b"");
        let EndpointError::StartupFailed { error: found, .. } = refused(failed) else {
            panic!("another error");
        };
        assert_eq!(found, error);
        ground.expect_clean(0);
    }
    let (conn, stream) = ground.connect();
    conn.close();
    std::thread::sleep(SHORTLY);
    let pair = stream.queue_pair(&ground.end.domain, &settings(false), &options());
    let failed = pair.expect("there is room").start(b"");
    let EndpointError::StartupFailed {
        error, fallback, ..
    } = refused(failed)
    else {
        panic!("another error");
    };
    assert_eq!((error, fallback), (StartupError::Closed, Some(1)));
    drop(conn);
    ground.expect_clean(0);
}

/// START-011, START-012, START-016, START-029: a rejection is none of these: TCP stays, and both go
/// on to talk.
#[test]
fn a_rejection_leaves_the_stream() {
    let ground = Ground::new("model");
    let settings = settings(false);
    let (conn, begun) = begin(&ground, &settings, |conn| {
        conn.send(&start(&KEY_REPLY, FLAG_CRC | FLAG_REJECTED, 1, b"not now"));
    });
    let Err(EndpointError::Rejected { reason, .. }) = begun.started else {
        panic!("{:?}", begun.started);
    };
    assert_eq!(reason, b"not now");
    let stream = begun.pair.into_stream().expect("it is one");
    conn.send(b"but later");
    let mut text = [0; 9];
    let mut count = 0;
    while count < text.len() {
        count += stream.read(&mut text[count..], PATIENCE).expect("octets");
    }
    assert_eq!(&text, b"but later");
    stream.write_all(b"fine").expect("sent");
    assert_eq!(
        conn.wait_octets(ENHANCED_OCTETS + 4)[ENHANCED_OCTETS..],
        *b"fine"
    );
    drop(stream);
    assert_eq!(conn.wait_end(), End::Fin);
    conn.close();
    ground.expect_clean(0);
}

/// MPA2-004, MPA2-005, RDMAP-020, START-013: a Reply that accepts what was not offered is answered
/// with the Terminate of RFC 6581, 0x06 or 0x07 of MPA, and a FIN.
#[test]
fn a_reply_that_accepts_too_much_is_answered_with_a_terminate() {
    type Set = fn(&mut Settings);
    let peer_to_peer: Set = |settings| {
        settings.peer_to_peer = true;
        settings.rtr = RtrKinds::only(Rtr::Write);
    };
    let rows: [(&str, Set, [u16; 2], u8); 3] = [
        ("ORD above IRD", |_| {}, [1, 3], 0x06),
        (
            "another RTR",
            peer_to_peer,
            [PEER_TO_PEER | 1, 0x4000 | 2],
            0x07,
        ),
        ("no A", peer_to_peer, [1, 2], 0x07),
    ];
    let ground = Ground::new("model");
    for (name, set, words, code) in rows {
        println!("{name}");
        let mark = ground.stranger.mark();
        let mut settings = settings(false);
        set(&mut settings);
        let (conn, begun) = begin(&ground, &settings, |conn| {
            conn.send(&start_enhanced(&KEY_REPLY, FLAG_CRC, words, b""));
        });
        assert_eq!(begun.started.expect("it accepts"), b"");
        let talk = Talk::new(conn, ENHANCED_OCTETS, [false, false]);
        assert_eq!(talk.conn.wait_end(), End::Fin);
        let (words, terminate) = talk.last_words();
        let terminate = terminate.expect("there is one");
        assert_eq!((words.len(), terminate.cause), (0, (2, 0, code)));
        assert_eq!(terminate.control, [false; 3]);
        assert_eq!(event(&begun.pair), PairEvent::Established);
        let failed = event(&begun.pair);
        let PairEvent::Failed(Failure::Refused { cause, place }) = failed else {
            panic!("{failed:?}");
        };
        assert_eq!((cause.layer, cause.error_type, cause.code), (2, 0, code));
        assert_eq!(place, Place::Here);
        talk.conn.close();
        begun.pair.disconnect().expect("it is there");
        assert_eq!(event(&begun.pair), PairEvent::Closed);
        crate::hostile::judge_end(&ground, mark, talk.conn.own_port());
        drop(begun.pair);
        ground.expect_clean(0);
    }
}

/// START-009, START-041, START-042, RDMAP-020: octets of full operation while the application still
/// thinks about the Request: they are delivered after its answer, once, or the connection is reset.
#[test]
fn an_fpdu_before_the_reply_is_held_or_ends_the_connection() {
    let ground = Ground::new("model");
    for wait_ms in [0, 5, 50, 400] {
        let (conn, stream) = ground.accept();
        conn.send(&start_enhanced(&KEY_REQUEST, FLAG_CRC, [1, 2], b""));
        let request = stream.request(&settings(false), b"").expect("a Request");
        let mut talk = Talk::new(conn, ENHANCED_OCTETS, [false, false]);
        talk.say(&ddp::send(1, b"too early"));
        std::thread::sleep(std::time::Duration::from_millis(wait_ms));
        let pair = request.queue_pair(&ground.end.domain, &options());
        let pair = pair.expect("there is room");
        let memory = ground.end.context.allocate(100).expect("memory");
        pair.post_receive(1, memory).expect("posted");
        match pair.accept(b"") {
            Ok(()) => {
                let received = crate::scene::completion(&pair);
                assert_eq!(received.message(), b"too early", "after {wait_ms} ms");
                assert_eq!(event(&pair), PairEvent::Established);
            }
            Err(error) => {
                assert!(matches!(error, EndpointError::State { .. }), "{error}");
                assert_eq!(talk.conn.wait_end(), End::Reset);
            }
        }
        drop(pair);
        drop(talk);
        ground.expect_clean(0);
    }
}

/// A Request that is odd and good: what of it the application sees.
fn accepted(ground: &Ground, name: &str, frame: &[u8], private_data: &[u8]) {
    println!("{name}");
    let (conn, stream) = ground.accept();
    conn.send_singly(frame);
    let request = stream.request(&settings(false), b"").expect("it is one");
    assert_eq!(request.private_data(), private_data);
    let pair = request.queue_pair(&ground.end.domain, &options());
    let pair = pair.expect("there is room");
    pair.accept(b"welcome").expect("accepted");
    let reply = conn.wait_octets(mpa::START_OCTETS + 7);
    assert_eq!(reply[..16], KEY_REPLY);
    assert_eq!(reply[reply.len() - 7..], *b"welcome");
    drop(pair);
    assert_eq!(conn.wait_end(), End::Reset);
    ground.expect_clean(0);
}

/// START-003, START-023, START-029, START-030, START-034, MPA2-001: what is odd and good: reserved
/// flags, R in a Request, S in revision 1, the longest Private Data, octet by octet.
#[test]
fn an_odd_request_is_accepted() {
    let ground = Ground::new("model");
    let long = vec![0x5a; 512];
    let [zero, one] = [[0; 2], [0, 1]];
    let enhanced = [&zero[..], &one, &long[..508]].concat();
    let with = |flags, revision, data: &[u8]| start(&KEY_REQUEST, FLAG_CRC | flags, revision, data);
    accepted(&ground, "reserved flags", &with(0x0f, 1, b"x"), b"x");
    accepted(&ground, "S in revision 1", &with(0x1f, 1, b"x"), b"x");
    accepted(&ground, "R", &with(FLAG_REJECTED, 1, b"x"), b"x");
    accepted(&ground, "512 octets", &with(0, 1, &long), &long);
    accepted(
        &ground,
        "4 and 508 octets",
        &with(FLAG_ENHANCED, 2, &enhanced),
        &long[..508],
    );
}
