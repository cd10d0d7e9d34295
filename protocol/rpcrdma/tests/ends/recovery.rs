//! What happens to calls when their connection ends.
use crate::harness::{ask, World, GET, LIST, NULL, PUT};
use rpcrdma::fabric::Choice;
use rpcrdma::{Event, Settings};

/// RPC-055: Calls go again on the next connection, oldest first, under the same XIDs, with chunks
/// exposed anew (RFC 5666 section 8); nothing is reported in between.
#[test]
fn calls_go_again_in_order() {
    let mut world = World::default();
    world.call(ask(NULL, 0, 0));
    world.told.clear();
    let asked = [
        ask(PUT, 0, 5_000),
        ask(GET, 8, 9_000),
        ask(NULL, 0, 0),
        ask(LIST, 0, 30_000),
    ];
    let first_xid = world.client.endpoint.next_xid();
    let calls = asked.map(|asked| world.submit(asked).expect("room"));
    world.answers = false;
    world.run();
    assert_eq!(world.open.len(), 4, "all are at the server");
    let exposed = world.fabric.counters(world.client.host).exposures;
    world.reconnect();
    assert_eq!(world.told, [Event::Disconnected, Event::Disconnected]);
    assert_eq!(world.fabric.valid_stags(world.client.host), 0);
    // The program still has the old calls; its answers go nowhere.
    for id in std::mem::take(&mut world.open) {
        world.answer(id);
    }
    world.told.clear();
    world.run();
    assert_eq!(world.open.len(), 1, "one call until the first reply");
    for at in 0..4 {
        let id = world.open.pop().expect("one more");
        let request = world.server.endpoint.request(id).expect("it is open");
        if at == 0 {
            assert_eq!(request.header().xid(), first_xid, "the oldest first");
        }
        world.answer(id);
        world.run();
    }
    for (call, asked) in calls.into_iter().zip(asked) {
        assert!(world.told.contains(&Event::Replied(call)), "{asked:?}");
        world.check(call, asked);
    }
    assert_eq!(
        world.fabric.counters(world.client.host).exposures,
        2 * exposed
    );
    assert_eq!(world.client.endpoint.counters().calls_repeated, 4);
    world.assert_clean();
}

/// A result is reported when every STag is invalid and the Send has completed: the reply alone is
/// not enough (RPC-039).
#[test]
fn a_reply_before_the_completion_of_its_send_is_not_told() {
    let mut world = World::default();
    let asked = ask(GET, 0, 4_096);
    let call = world.submit(asked).expect("room");
    world.poll();
    let (client, server) = (world.client.end, world.server.end);
    world.fabric.take(Choice::Deliver(client));
    world.poll();
    world.poll();
    // The Write and the Send of the reply.
    world.fabric.take(Choice::Deliver(server));
    world.fabric.take(Choice::Deliver(server));
    world.poll();
    assert_eq!(world.client.endpoint.counters().replies_received, 1);
    assert!(world.told.is_empty());
    assert_eq!(
        world.fabric.valid_stags(world.client.host),
        0,
        "invalidated by the reply"
    );
    world.fabric.take(Choice::Acknowledge(client));
    world.poll();
    assert_eq!(world.told, [Event::Replied(call)]);
    world.check(call, asked);
}

/// Memory that a reply lends stays lent until its Writes have completed, also when the connection
/// ends before.
#[test]
fn a_reply_lends_until_its_requests_have_completed() {
    for is_cut in [false, true] {
        let mut world = World::default();
        world.submit(ask(GET, 0, 4_096)).expect("room");
        let (client, server) = (world.client.end, world.server.end);
        world.poll();
        world.fabric.take(Choice::Deliver(client));
        world.poll();
        world.poll();
        let is_released = |world: &World| {
            world
                .told
                .iter()
                .any(|event| matches!(event, Event::Released(_)))
        };
        assert!(!is_released(&world));
        if is_cut {
            rpcrdma::verbs::Verbs::close(&mut world.fabric.end(server));
        } else {
            for choice in [Choice::Deliver(server), Choice::Deliver(server)] {
                world.fabric.take(choice);
            }
            world.poll();
            world.fabric.take(Choice::Acknowledge(server));
            world.poll();
            assert!(
                !is_released(&world),
                "the Write has completed, the Send has not"
            );
            world.fabric.take(Choice::Acknowledge(server));
        }
        world.poll();
        assert!(is_released(&world), "{is_cut}");
    }
}

/// Close the connection; the pause before the next one. It is made again.
fn cut(world: &mut World) -> u64 {
    rpcrdma::verbs::Verbs::close(&mut world.fabric.end(world.client.end));
    world.poll();
    let pause = world.client.endpoint.reconnect_at() - world.now;
    world.now += pause;
    world.fabric.reconnect(world.client.end);
    world.connect();
    pause
}

/// Back-off doubles from 1 s to 30 s, and begins again after a reply.
#[test]
fn back_off_doubles_until_a_reply() {
    let mut world = World::default();
    for seconds in [1, 2, 4, 8, 16, 30, 30] {
        assert_eq!(cut(&mut world), seconds * 1_000_000);
    }
    world.call(ask(NULL, 0, 0));
    assert_eq!(cut(&mut world), 1_000_000);
    assert_eq!(world.client.endpoint.counters().disconnects, 8);
}

/// An endpoint that is connected anew without having polled the old completions forgets them.
#[test]
fn completions_that_are_gone_are_not_waited_for() {
    let settings = Settings::default();
    let mut world = World::new(Default::default(), settings, settings);
    world.connect();
    let asked = ask(GET, 0, 70_000);
    let call = world.submit(asked).expect("room");
    world.poll();
    world.fabric.reconnect(world.client.end);
    world.connect();
    world.run();
    assert!(world.told.contains(&Event::Replied(call)));
    world.check(call, asked);
    world.assert_clean();
}

/// A program that leaves the calls of broken connections open does not stand in the way of those
/// that come on the next; there is a bound to it.
#[test]
fn open_calls_of_old_connections_leave_room() {
    let settings = Settings {
        credits: 4,
        ..Settings::default()
    };
    let mut world = World::new(Default::default(), settings, settings);
    world.connect();
    world.answers = false;
    for round in 1..=3 {
        for _ in 0..4 {
            world.submit(ask(NULL, 0, 0)).expect("room");
        }
        world.run();
        // The first is answered, so that the others leave.
        let id = world.open.pop().expect("the first call");
        world.answer(id);
        world.run();
        assert_eq!(world.server.endpoint.counters().excess_calls, 0, "{round}");
        world.reconnect();
    }
    for id in std::mem::take(&mut world.open) {
        world.answer(id);
    }
    world.answers = true;
    world.run();
    world.assert_clean();
}
