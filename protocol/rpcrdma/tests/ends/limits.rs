//! What is taken, lent and forgotten, at the limit.
use crate::harness::{ask, write_call, World, GET, LIST, NULL, PUT};
use rpcrdma::binding::rpc::{CallHeader, ReplyHeader, ReplyStatus};
use rpcrdma::place::Place;
use rpcrdma::stream::{Message, Opaque};
use rpcrdma::wire::Refused;
use rpcrdma::{Event, Failure, NotOpen, Offer, SubmitError};

/// As many results as a header may have are taken, and not one more.
#[test]
fn results_are_limited() {
    let mut world = World::default();
    let place = world.result(ask(GET, 0, 64));
    let most = world.client.endpoint.settings().caps.write_chunks_max as usize;
    for count in [most + 1, most] {
        let mut message = Message::new();
        let xid = world.client.endpoint.next_xid();
        write_call(&mut message, xid, ask(GET, 0, 64), world.client.pattern);
        let results = vec![place; count];
        let offer = Offer {
            results: &results,
            reply_octets_max: 32,
        };
        let submitted = world.client.endpoint.submit(&mut message, offer);
        let refused = submitted.err();
        assert_eq!(refused, (count > most).then_some(SubmitError::Results));
    }
}

/// A call has no reply before it is reported, nor if it has failed.
#[test]
fn only_a_call_that_was_replied_to_has_a_reply() {
    let mut world = World::default();
    world.offers_reply = false;
    let call = world.submit(ask(LIST, 0, 5_000)).expect("room");
    assert!(world.client.endpoint.reply(call).is_none());
    world.run();
    assert!(
        matches!(world.told[..], [Event::Failed(failed, _), ..] | [_, Event::Failed(failed, _)]
        if failed == call)
    );
    assert!(world.client.endpoint.reply(call).is_none());
    world.client.endpoint.release(call, &mut world.client.pool);
    world.assert_clean();
}

/// RPC-055: The order is that of submission, whatever numbers the calls have inside.
#[test]
fn calls_go_again_in_the_order_of_their_submission() {
    let mut world = World::default();
    world.call(ask(NULL, 0, 0));
    let null = ask(NULL, 0, 0);
    let calls = [(); 2].map(|()| world.submit(null).expect("room"));
    world.run();
    // What is forgotten last is used first.
    calls.into_iter().for_each(|call| world.check(call, null));
    world.told.clear();
    world.answers = false;
    let first = world.client.endpoint.next_xid();
    for _ in 0..2 {
        world.submit(null).expect("room");
    }
    world.run();
    assert_eq!(world.open.len(), 2, "both are at the server");
    world.reconnect();
    for id in std::mem::take(&mut world.open) {
        world.answer(id);
    }
    world.run();
    let request = world.server.endpoint.request(world.open[0]);
    let xid = request
        .expect("one call until the first reply")
        .header()
        .xid();
    assert_eq!(xid, first);
}

/// A call that is over is nobody's: it is neither read nor replied to.
#[test]
fn a_call_that_is_over_is_not_open() {
    let mut world = World::default();
    world.answers = false;
    world.submit(ask(NULL, 0, 0)).expect("room");
    world.run();
    let id = world.open.pop().expect("it is at the server");
    assert_eq!(world.server.endpoint.calls_waiting(), 1);
    world.answer(id);
    world.run();
    let mut end = world.fabric.end(world.server.end);
    let server = &mut world.server;
    assert!(server.endpoint.request(id).is_none());
    let replied = server
        .endpoint
        .respond(0, &mut end, &mut server.pool, id, &mut world.message);
    assert!(replied.is_err());
    assert_eq!(server.endpoint.calls_waiting(), 0);
}

/// Memory of a call's chunks that its reply lends stays the call's; of any other reply it is free.
/// An octet of it is enough, and what only touches it is beside it.
#[test]
fn a_reply_may_lend_what_was_read() {
    let (length, before) = (20_000, 1 << 14);
    // A read segment may take as many octets more.
    let end = i64::from(length) + 8;
    for (begin, octets, lends) in [
        (0, length, true),
        (0, 4, true),
        (i64::from(length) - 4, 4, true),
        (end - 1, 4, true),
        (end, 4, false),
        (1 << 16, 4, false),
        (-3, 4, true),
        (-4, 4, false),
    ] {
        let mut world = World::default();
        world.answers = false;
        let other = world.server.pool.take(9, before).expect("room");
        world.submit(ask(PUT, 0, length)).expect("room");
        world.run();
        let id = world.open.pop().expect("it is at the server");
        let request = world.server.endpoint.request(id).expect("it is open");
        let mut reader = request.reader();
        let header = CallHeader::read(&mut reader).expect("a call");
        reader.fixed(8).expect("offset and length");
        let item = reader.opaque(length).expect("the item");
        let Opaque::Chunk(at) = item else {
            panic!("{item:?}");
        };
        let (xid, status) = (header.xid, ReplyStatus::Success);
        let mut message = Message::new();
        ReplyHeader { xid, status }.write(&mut message);
        let part = Place {
            offset: at.offset.checked_add_signed(begin).expect("after others"),
            length: octets,
            ..at
        };
        message.item(part).expect("one item");
        let mut verbs = world.fabric.end(world.server.end);
        let server = &mut world.server;
        let replied = server
            .endpoint
            .respond(0, &mut verbs, &mut server.pool, id, &mut message);
        replied.expect("it is open");
        let is_held = server.pool.octets_in_use() > u64::from(before);
        assert_eq!(is_held, lends, "{octets} octets at {begin}");
        world.run();
        world.server.pool.put(other);
        assert_eq!(world.server.pool.octets_in_use(), 0);
    }
}

/// What goes wrong says so, each in its own words.
#[test]
fn failures_have_texts() {
    use SubmitError::{Full, Results, Role, Xid};
    let mut texts: Vec<String> = [Full, Xid, Results, Role]
        .map(|error| error.to_string())
        .into();
    let failures = [
        Failure::Chunk,
        Failure::Version,
        Failure::Error(7),
        Failure::Error(8),
        Failure::Reply(Refused::OtherXid),
        Failure::Reply(Refused::Nowhere),
        Failure::Segments,
        Failure::ReadList,
        Failure::TooLong,
        Failure::Place,
        Failure::Attempts,
    ];
    texts.extend(failures.map(|failure| failure.to_string()));
    texts.push(NotOpen.to_string());
    assert!(texts.iter().all(|text| text.len() > 8), "{texts:?}");
    let count = texts.len();
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), count, "{texts:?}");
}
