//! Credits, DONE, entries, invalidation: what is sent when, and what is given back.
use crate::harness::{ask, write_call, World, GET, LIST, NULL, PATTERN_OCTETS, PUT};
use rpcrdma::fabric;
use rpcrdma::place::Place;
use rpcrdma::stream::Message;
use rpcrdma::wire::header_octets;
use rpcrdma::{Event, Failure, Offer, Settings, SubmitError};

/// RPC-035, RPC-005: one call until the first reply, then as many as were granted.
#[test]
fn calls_wait_for_credits() {
    let server = Settings {
        credits: 4,
        ..Settings::default()
    };
    let mut world = World::new(Default::default(), Settings::default(), server);
    world.answers = false;
    world.connect();
    for _ in 0..6 {
        world.submit(ask(NULL, 0, 0)).expect("room");
    }
    world.run();
    assert_eq!(world.open.len(), 1);
    let id = world.open.pop().expect("the first");
    world.answer(id);
    world.run();
    assert_eq!(world.open.len(), 4, "newest grant 4");
    // A lower grant holds at once: two in flight of two, while one more waits.
    world.server.endpoint.set_grant_max(2);
    for open in [3, 2, 2] {
        let id = world.open.pop().expect("one more");
        world.answer(id);
        world.run();
        assert_eq!(world.open.len(), open);
    }
}

/// RPC-010, RPC-015, RPC-022, RPC-052: without a write list and a reply chunk a long reply comes by
/// read list, and exactly one DONE follows; a call with a read list has none.
#[test]
fn a_reply_by_read_list_is_followed_by_one_done() {
    let settings = Settings {
        read_lists: true,
        credits: 1,
        ..Settings::default()
    };
    let mut world = World::new(Default::default(), settings, settings);
    world.peer_data = [None, None];
    world.offers_reply = false;
    world.connect();
    for (count, asked) in [ask(LIST, 4, 5_000), ask(GET, 1, 70_000)]
        .into_iter()
        .enumerate()
    {
        let call = world.submit_with(asked, false).expect("room");
        world.run();
        assert!(world.told.contains(&Event::Replied(call)), "{asked:?}");
        world.check(call, asked);
        assert_eq!(
            world.client.endpoint.counters().dones_sent,
            count as u64 + 1
        );
        assert_eq!(
            world.server.endpoint.counters().dones_received,
            count as u64 + 1
        );
        world.assert_clean();
    }
    world.call(ask(PUT, 1, 70_000));
    assert_eq!(
        world.client.endpoint.counters().dones_sent,
        2,
        "the reply frees a call's chunks"
    );
    world.assert_clean();
}

/// RPC-011: a long reply with nowhere to go fails the call, and the connection goes on.
#[test]
fn a_long_reply_without_a_chunk_fails() {
    let mut world = World::default();
    world.offers_reply = false;
    let call = world.submit(ask(LIST, 0, 5_000)).expect("room");
    world.run();
    let failed = Event::Failed(call, Failure::Chunk);
    assert!(world.told.contains(&failed));
    world.client.endpoint.release(call, &mut world.client.pool);
    world.offers_reply = true;
    world.call(ask(LIST, 0, 5_000));
    world.assert_clean();
}

/// A reply invalidates the only handle of its call; of several, none.
#[test]
fn a_single_handle_is_invalidated_remotely() {
    let mut world = World::default();
    world.call(ask(GET, 0, 9_000));
    world.call(ask(PUT, 0, 9_000));
    let counters = world.fabric.counters(world.client.host);
    assert_eq!(
        (
            counters.exposures,
            counters.invalidations,
            counters.revocations
        ),
        (2, 2, 0)
    );
    // A result and a reply chunk: two handles.
    let mut world = World::default();
    let call = world.submit_list_and_result();
    world.run();
    assert!(world.told.contains(&Event::Replied(call)));
    let counters = world.fabric.counters(world.client.host);
    assert_eq!(
        (
            counters.exposures,
            counters.invalidations,
            counters.revocations
        ),
        (2, 0, 2)
    );
    world.client.endpoint.release(call, &mut world.client.pool);
    // Without the flag in private data none is.
    let settings = Settings {
        remote_invalidation: false,
        ..Settings::default()
    };
    let mut world = World::new(Default::default(), settings, settings);
    world.connect();
    world.call(ask(GET, 0, 9_000));
    let counters = world.fabric.counters(world.client.host);
    assert_eq!((counters.invalidations, counters.revocations), (0, 1));
    world.assert_clean();
}

/// RPC-054: With two STags for all calls they wait for one another, and all end.
#[test]
fn calls_wait_for_entries() {
    let fabric = fabric::Settings {
        entries: 2,
        ..fabric::Settings::default()
    };
    let mut world = World::new(fabric, Settings::default(), Settings::default());
    world.is_stepped = true;
    world.connect();
    world.call(ask(NULL, 0, 0));
    let asked: Vec<_> = (0..12)
        .map(|at| ask([PUT, GET][at as usize % 2], at, 5_000))
        .collect();
    let calls: Vec<_> = asked
        .iter()
        .map(|&asked| {
            world.submit(crate::harness::Ask {
                area: asked.offset,
                ..asked
            })
        })
        .collect();
    world.run();
    for (call, asked) in calls.into_iter().zip(asked) {
        let call = call.expect("room");
        assert!(world.told.contains(&Event::Replied(call)));
        world.check(
            call,
            crate::harness::Ask {
                area: asked.offset,
                ..asked
            },
        );
    }
    assert!(world.client.endpoint.counters().entry_waits > 0);
    assert_eq!(world.fabric.counters(world.client.host).stags_max, 2);
    world.assert_clean();
}

/// RPC-036: a call of one octet more than the peer receives goes as a long call, which nothing
/// limits.
#[test]
fn a_call_above_the_inline_limit_goes_by_position_zero() {
    use rpcrdma::wire::Form;
    let mut world = World::default();
    world.call(ask(NULL, 0, 0));
    let header = header_octets(Form::Msg, 0, [], None) as u32;
    // Ten words, offset, length, two counts; the inline octets; an item of none.
    let fits = 4_096 - header - 4 * 14;
    assert_eq!(fits % 4, 0);
    for (length, exposures) in [(fits / 2 / 4 * 4, 1), (fits - 3, 2)] {
        let before = world.fabric.counters(world.client.host).exposures;
        world.call(ask(crate::harness::LONG_PUT, 0, length));
        let exposed = world.fabric.counters(world.client.host).exposures - before;
        assert_eq!(exposed, exposures, "{length}");
    }
    world.assert_clean();
}

/// Limits of a submission, at the limit.
#[test]
fn submissions_are_checked() {
    let client = Settings {
        calls_max: 2,
        ..Settings::default()
    };
    let mut world = World::new(Default::default(), client, Settings::default());
    world.connect();
    let first = world.client.endpoint.next_xid();
    for _ in 0..2 {
        world.submit(ask(NULL, 0, 0)).expect("room for two");
    }
    assert_eq!(world.submit(ask(NULL, 0, 0)), Err(SubmitError::Full));
    world.run();
    // An XID that was used, and one before it.
    for xid in [first, first.wrapping_sub(1), first + 1] {
        world.client.endpoint.set_next_xid(xid);
        assert_eq!(
            world.submit(ask(NULL, 0, 0)),
            Err(SubmitError::Xid),
            "{xid}"
        );
    }
}

/// A place that is not within its memory fails the call, and refuses the reply; nothing is lost
/// by it.
#[test]
fn places_outside_of_their_memory_are_found() {
    for (offset, length) in [
        (PATTERN_OCTETS - 4_000, 4_001),
        (u32::MAX, 64),
        (u32::MAX, 9_000),
    ] {
        let mut world = World::default();
        let asked = ask(PUT, 0, length);
        let xid = world.client.endpoint.next_xid();
        let mut message = Message::new();
        write_call(&mut message, xid, ask(NULL, 0, 0), world.client.pattern);
        let memory = world.client.pattern;
        let outside = Place {
            memory,
            offset: offset.into(),
            length,
        };
        message.item(outside).expect("one item");
        let offer = Offer {
            results: &[],
            reply_octets_max: 64,
        };
        let call = world
            .client
            .endpoint
            .submit(&mut message, offer)
            .expect("room");
        world.run();
        assert_eq!(
            world.told,
            [Event::Failed(call, Failure::Place)],
            "{asked:?}"
        );
        world.client.endpoint.release(call, &mut world.client.pool);
        world.call(ask(NULL, 0, 0));
        world.assert_clean();
    }
    let mut world = World::default();
    let call = world
        .submit(ask(GET, PATTERN_OCTETS - 4_000, 4_001))
        .expect("room");
    world.run();
    assert!(world.told.contains(&Event::Failed(call, Failure::Chunk)));
    assert_eq!(world.server.endpoint.counters().unsendable_replies, 1);
    world.client.endpoint.release(call, &mut world.client.pool);
    world.call(ask(GET, PATTERN_OCTETS - 4_000, 4_000));
    world.assert_clean();
}

/// Replies whose calls had read chunks give that memory back before they wait for other memory:
/// a pool that is too small for all of them does not stand still.
#[test]
fn replies_do_not_wait_for_one_another() {
    let mut world = World::default();
    world.call(ask(NULL, 0, 0));
    world.answers = false;
    let memory = world.fabric.allocate(world.server.host, 160 << 10);
    let small = Place {
        memory,
        offset: 0,
        length: 160 << 10,
    };
    world.server.pool = rpcrdma::Pool::new(small, 160 << 10);
    let calls: Vec<_> = (0..6)
        .map(|at| {
            let asked = ask(crate::harness::LONG_PUT, at, 20_000);
            (world.submit(asked).expect("room"), asked)
        })
        .collect();
    for _ in 0..6 {
        world.run();
        let id = world.open.pop().expect("at least one has its memory");
        world.answer(id);
    }
    world.run();
    calls
        .into_iter()
        .for_each(|(call, asked)| world.check(call, asked));
    assert!(world.server.endpoint.counters().pool_waits > 0);
    world.assert_clean();
}
