//! A hostile server against a client: late accesses, foreign handles, grants, counts.
use crate::harness::{ask, LIST, PUT};
use crate::peer::{message, words, Lists, Scene};
use crate::server_actions::{reply, reply_body, submit, GET_CALL, NULL_CALL};
use rpcrdma::verbs::{Memory, Verbs};
use rpcrdma::wire::{Form, Refused, Segment};
use rpcrdma::{Event, Failure, Settings};

/// RPC-041: after the reply a Write or a Read of what was lent is refused.
#[test]
fn late_accesses_are_refused() {
    for is_write in [true, false] {
        let mut scene = Scene::client(Settings::default(), true);
        let asked = if is_write {
            GET_CALL
        } else {
            ask(PUT, 8, 4_096)
        };
        let call = submit(&mut scene, asked);
        let header = scene.received[0].header();
        let xid = header.xid();
        let lent = match is_write {
            true => header.results().next().expect("a result"),
            false => header.reads().next().expect("an argument").segment,
        };
        let writes = match is_write {
            true => vec![vec![Segment { length: 0, ..lent }]],
            false => vec![],
        };
        reply(
            &mut scene,
            xid,
            &Lists {
                writes,
                ..Lists::default()
            },
        );
        assert_eq!(scene.world.told, [Event::Replied(call)]);
        let (place, end) = (scene.data(0, 8), scene.hostile_end());
        let segment = Segment { length: 8, ..lent };
        let mut end = scene.world.fabric.end(end);
        match is_write {
            true => end.write(5, place, segment).expect("room"),
            false => end.read(5, segment, place).expect("room"),
        }
        scene.run();
        assert!(scene.is_closed);
        let counters = scene.world.fabric.counters(scene.world.client.host);
        assert_eq!((counters.refused_accesses, counters.write_octets), (1, 0));
    }
}

/// RPC-041: a reply that invalidates another call's handle closes the connection: that call could
/// never end on it.
#[test]
fn a_foreign_invalidation_closes_the_connection() {
    let mut scene = Scene::client(Settings::default(), true);
    let first = submit(&mut scene, NULL_CALL);
    let xid = scene.received[0].xid();
    reply(&mut scene, xid, &Lists::default());
    scene.world.told.clear();
    scene
        .world
        .client
        .endpoint
        .release(first, &mut scene.world.client.pool);
    let calls = [submit(&mut scene, GET_CALL), submit(&mut scene, NULL_CALL)];
    let handle = scene.received[1]
        .header()
        .results()
        .next()
        .expect("a result")
        .handle;
    let xid = scene.received[2].xid();
    let octets = message(xid, 8, Form::Msg, &Lists::default(), &reply_body(xid));
    scene.send_with(&octets, Some(handle));
    assert!(scene.is_closed);
    assert_eq!(scene.endpoint().counters().foreign_invalidations, 1);
    assert_eq!(
        scene.world.told,
        [Event::Replied(calls[1])],
        "the first goes again"
    );
    assert_eq!(scene.endpoint().calls_waiting(), 1);
    assert_eq!(scene.world.fabric.valid_stags(scene.world.client.host), 0);
}

/// RPC-005: grants of 0 and of 2^32 - 1 are followed as 1 and as what can be received.
#[test]
fn no_grant_moves_a_client_beyond_its_receives() {
    for (grant, most) in [(0, 1), (1, 1), (7, 7), (32, 32), (u32::MAX, 32)] {
        let mut scene = Scene::client(Settings::default(), true);
        submit(&mut scene, NULL_CALL);
        let xid = scene.received[0].xid();
        scene.send(&message(
            xid,
            grant,
            Form::Msg,
            &Lists::default(),
            &reply_body(xid),
        ));
        for _ in 0..40 {
            scene.world.submit(NULL_CALL).expect("room");
        }
        scene.run();
        assert_eq!(scene.received.len(), 1 + most, "{grant}");
    }
}

/// RPC-009: a count unlike the chunk's length is found where the result is decoded.
#[test]
fn a_count_unlike_its_chunk_is_a_decode_error() {
    for (count, is_right) in [(5, true), (6, false), (4, false), (8, false), (0, false)] {
        let mut scene = Scene::client(Settings::default(), true);
        let call = submit(&mut scene, GET_CALL);
        let header = scene.received[0].header();
        let (xid, offered) = (header.xid(), header.results().next().expect("a result"));
        let lists = Lists {
            writes: vec![vec![Segment {
                length: 5,
                ..offered
            }]],
            ..Lists::default()
        };
        let mut body = reply_body(xid);
        body.extend(words(&[count]));
        scene.send(&message(xid, 8, Form::Msg, &lists, &body));
        let reply = scene.world.client.endpoint.reply(call).expect("a reply");
        let mut reader = reply.reader();
        reader.fixed(24).expect("the header");
        let opaque = reader.opaque(8_192);
        assert_eq!(opaque.is_ok(), is_right, "{count}: {opaque:?}");
    }
}

/// RPC-051: A long reply is judged when it is read: of another XID, or too short to have one, it
/// fails its call, draws no answer, and the connection goes on.
#[test]
fn a_long_reply_of_another_call_fails_its_own() {
    let asked = ask(LIST, 0, 8_000);
    for (length, other, failure) in [
        (24, 0, None),
        (4, 0, None),
        (24, 1, Some(Failure::Reply(Refused::OtherXid))),
        (3, 0, Some(Failure::Reply(Refused::OtherXid))),
        (0, 0, Some(Failure::Reply(Refused::Nowhere))),
    ] {
        let mut scene = Scene::client(Settings::default(), true);
        let call = submit(&mut scene, asked);
        let header = scene.received[0].header();
        let (xid, offered) = (header.xid(), header.reply().expect("a reply chunk"));
        let offered = offered.segments().next().expect("one segment");
        let (place, end) = (scene.data(0, 24), scene.hostile_end());
        let mut end = scene.world.fabric.end(end);
        end.store(place, &reply_body(xid ^ other)).expect("inside");
        end.write(5, place.first(length), offered).expect("room");
        let returned = Segment { length, ..offered };
        let lists = Lists {
            reply: Some(vec![returned]),
            ..Lists::default()
        };
        scene.send(&message(xid, 8, Form::Nomsg, &lists, &[]));
        let expected = match failure {
            None => Event::Replied(call),
            Some(failure) => Event::Failed(call, failure),
        };
        assert_eq!(scene.world.told, [expected], "{length} octets");
        let counters = *scene.endpoint().counters();
        assert_eq!(counters.bad_replies, u64::from(failure.is_some()));
        assert!(!scene.is_closed && scene.received.len() == 1);
        let client = &mut scene.world.client;
        client.endpoint.release(call, &mut client.pool);
        assert_eq!(client.pool.octets_in_use(), 0);
        assert_eq!(scene.world.fabric.valid_stags(scene.world.client.host), 0);
    }
}
