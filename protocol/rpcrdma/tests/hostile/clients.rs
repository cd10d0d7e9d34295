//! A hostile client against a server: credits, handles that are not the client's, floods.
use crate::client_actions::{assert_clean, body, null, segment, send, XID};
use crate::harness::{ask, GET, LIST};
use crate::peer::{message, words, Lists, Scene};
use rpcrdma::verbs::{Rights, Verbs};
use rpcrdma::wire::{write_done, ErrorBody, Form, Segment};
use rpcrdma::Settings;

/// RPC-004, RPC-006: whatever is asked for, the grant is from 1 to what the server has.
#[test]
fn grants_are_within_what_the_server_has() {
    for (asked, granted) in [(0, 1), (1, 1), (31, 31), (32, 32), (33, 32), (u32::MAX, 32)] {
        let mut scene = Scene::server(Settings::default(), true);
        scene.send(&message(XID, asked, Form::Msg, &Lists::default(), &null()));
        scene.answer();
        assert_eq!(scene.received[0].header().credits(), granted, "{asked}");
    }
}

/// RPC-041: a result under a handle that is none, or beyond what was exposed, ends the connection
/// and leaves nothing; the program learns that its memory is its own.
#[test]
fn results_go_nowhere_but_where_they_may() {
    for is_short in [true, false] {
        let mut scene = Scene::server(Settings::default(), true);
        let exposed = scene.expose(0, 4_096, Rights::Write);
        let sink = match is_short {
            true => Segment {
                length: 8_192,
                ..exposed
            },
            false => Segment {
                handle: exposed.handle ^ 1,
                ..exposed
            },
        };
        let lists = Lists {
            writes: vec![vec![sink]],
            ..Lists::default()
        };
        let body = body(ask(GET, 0, sink.length));
        scene.send(&message(XID, 8, Form::Msg, &lists, &body));
        scene.answer();
        assert!(scene.is_closed && scene.received.is_empty());
        assert!(matches!(
            scene.world.told[..],
            [rpcrdma::Event::Released(_)]
        ));
        assert_clean(&scene, "a result");
    }
}

/// RPC-041: memory of the server is out of a client's reach.
#[test]
fn a_server_exposes_nothing() {
    for is_write in [true, false] {
        let mut scene = Scene::server(Settings::default(), true);
        let (place, end) = (scene.data(0, 8), scene.hostile_end());
        let mut end = scene.world.fabric.end(end);
        for handle in [1, 0x101, 0x201] {
            let _ = match is_write {
                true => end.write(9, place, segment(handle, 8, 0)),
                false => end.read(9, segment(handle, 8, 0), place),
            };
        }
        scene.run();
        assert!(scene.is_closed);
        let counters = scene.world.fabric.counters(scene.world.server.host);
        assert_eq!((counters.refused_accesses, counters.write_octets), (1, 0));
    }
}

/// RPC-011, RPC-033: a reply that fits into nothing is an error, and the connection goes on.
#[test]
fn a_reply_that_fits_nowhere_is_err_chunk() {
    for room in [0, 64, 5_000] {
        let mut scene = Scene::server(Settings::default(), true);
        let reply = (room > 0).then(|| vec![scene.expose(0, room, Rights::Write)]);
        let lists = Lists {
            reply,
            ..Lists::default()
        };
        scene.send(&message(
            XID,
            8,
            Form::Msg,
            &lists,
            &body(ask(LIST, 0, 8_000)),
        ));
        scene.answer();
        assert!(scene.received[0].is_error(ErrorBody::Chunk), "{room}");
        assert_eq!(scene.endpoint().counters().unsendable_replies, 1);
        assert_clean(&scene, "a long reply");
    }
}

/// RPC-006: calls far beyond the grant end in a closed connection, and nothing else.
#[test]
fn calls_beyond_every_slot_close_the_connection() {
    let mut scene = Scene::server(
        Settings {
            credits: 4,
            ..Settings::default()
        },
        true,
    );
    for xid in 0..8 {
        let mut octets = message(XID, 8, Form::Msg, &Lists::default(), &null());
        octets[..4].copy_from_slice(&words(&[xid]));
        octets[28..32].copy_from_slice(&words(&[xid]));
        scene.send(&octets);
    }
    assert!(scene.is_closed);
    assert_eq!(scene.endpoint().counters().excess_calls, 1);
    assert_eq!(scene.opened.len(), 6, "as many as there are receives");
    scene.answer();
    assert_clean(&scene, "too many calls");
}

/// An XID that comes again while it is worked on is dropped.
#[test]
fn an_xid_is_worked_on_once() {
    let mut scene = Scene::server(Settings::default(), true);
    for _ in 0..3 {
        send(&mut scene, Form::Msg, Lists::default(), &null());
    }
    assert_eq!(
        (
            scene.opened.len(),
            scene.endpoint().counters().repeated_xids
        ),
        (1, 2)
    );
    scene.answer();
    assert_eq!(scene.received.len(), 1);
    assert_clean(&scene, "three calls");
}

/// RPC-042: DONEs in a flood are dropped, one by one.
#[test]
fn a_flood_of_dones_is_dropped() {
    let mut scene = Scene::server(
        Settings {
            read_lists: true,
            ..Settings::default()
        },
        false,
    );
    let mut octets = Vec::new();
    write_done(&mut octets, XID, 8);
    (0..1_000).for_each(|_| scene.send(&octets));
    assert_eq!(scene.endpoint().counters().stray_dones, 1_000);
    assert_eq!(scene.endpoint().dones_pending(), 0);
    send(&mut scene, Form::Msg, Lists::default(), &null());
    scene.answer();
    assert_eq!(scene.received[0].header().credits(), 8);
}

/// RPC-029: As many errors wait for buffers as there are receives; what comes beyond has no answer.
#[test]
fn errors_that_wait_are_limited() {
    let settings = Settings {
        credits: 1,
        ..Settings::default()
    };
    let mut scene = Scene::server(settings, true);
    // A call of a version that there is not; Sends leave, and none of them completes.
    let wrong = words(&[XID, 2, 8, 0, 0, 0, 0]);
    let count = |scene: &Scene| {
        let counters = scene.endpoint().counters();
        (counters.errors_sent, counters.dropped_errors)
    };
    let (buffers, waiting) = (5, u64::from(settings.receives()));
    for number in 1..=buffers + waiting + 2 {
        scene.deliver_only(&wrong);
        let dropped = number.saturating_sub(buffers + waiting);
        assert_eq!(count(&scene), (number.min(buffers), dropped), "{number}");
    }
    scene.run();
    assert_eq!(count(&scene), (buffers + waiting, 2));
    let versions = ErrorBody::Versions { low: 1, high: 1 };
    let mut answers = scene.received.iter();
    assert!(answers.all(|answer| answer.is_error(versions)));
    assert!(!scene.is_closed);
    assert_clean(&scene, "errors");
}
