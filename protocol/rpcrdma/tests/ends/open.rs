//! Calls that a program has: how each of them is over, once.
use crate::harness::{ask, World, NULL, PUT};
use rpcrdma::stream::Message;
use rpcrdma::wire::Refused;
use rpcrdma::{Event, Failure, NotOpen, RequestId};

/// A call that the server's program has, and its answer is still to come.
fn opened(world: &mut World) -> RequestId {
    world.answers = false;
    world.submit(ask(PUT, 3, 20_000)).expect("room");
    world.run();
    world.open.pop().expect("it is at the server")
}

fn refuse(world: &mut World, id: RequestId) -> Result<(), NotOpen> {
    let (mut verbs, server) = (world.fabric.end(world.server.end), &mut world.server);
    let pool = &mut server.pool;
    let refused = Refused::NotEligible;
    server.endpoint.refuse(0, &mut verbs, pool, id, refused)
}

fn respond(world: &mut World, id: RequestId) -> Result<(), NotOpen> {
    let (mut verbs, server) = (world.fabric.end(world.server.end), &mut world.server);
    let (pool, mut message) = (&mut server.pool, Message::new());
    server
        .endpoint
        .respond(0, &mut verbs, pool, id, &mut message)
}

fn errors(world: &World) -> (u64, u64) {
    let counters = world.server.endpoint.counters();
    let refused = counters.refused[Refused::NotEligible.index()];
    (refused, counters.errors_sent)
}

/// RPC-028: A program that finds a call's chunks wrong has it answered by ERR_CHUNK, which ends the
/// call for good; then it is nobody's.
#[test]
fn a_refused_call_fails_and_is_over() {
    let mut world = World::default();
    let id = opened(&mut world);
    assert_eq!(refuse(&mut world, id), Ok(()));
    assert_eq!(refuse(&mut world, id), Err(NotOpen));
    assert_eq!(respond(&mut world, id), Err(NotOpen));
    assert_eq!(errors(&world), (1, 0), "it leaves at the next poll");
    world.run();
    assert_eq!(errors(&world), (1, 1));
    let [Event::Failed(call, Failure::Chunk)] = world.told[..] else {
        panic!("{:?}", world.told);
    };
    world.client.endpoint.release(call, &mut world.client.pool);
    world.assert_clean();
}

/// A refusal of a call whose connection has ended goes nowhere: the next one is another client's.
#[test]
fn a_refusal_does_not_reach_another_connection() {
    let mut world = World::default();
    let id = opened(&mut world);
    world.reconnect();
    assert_eq!(refuse(&mut world, id), Ok(()));
    world.run();
    assert_eq!(errors(&world), (0, 0));
    assert_eq!(refuse(&mut world, id), Err(NotOpen));
}

/// A call is replied to once: neither while its reply is on its way nor when another call has its
/// place.
#[test]
fn a_call_is_replied_to_once() {
    let mut world = World::default();
    let first = opened(&mut world);
    world.answer(first);
    assert!(world.server.endpoint.request(first).is_none());
    assert_eq!(respond(&mut world, first), Err(NotOpen));
    world.run();
    let second = opened(&mut world);
    assert_ne!(first, second);
    assert!(world.server.endpoint.request(first).is_none());
    assert_eq!(respond(&mut world, first), Err(NotOpen));
    assert!(world.server.endpoint.request(second).is_some());
    world.answer(second);
    world.run();
    assert_eq!(world.server.endpoint.counters().replies_sent, 2);
}

/// A program may take longer over a call than several connections last. The call is its own until
/// it answers, and as many others have room beside it as before.
#[test]
fn a_call_outlives_connections_until_it_is_answered() {
    let mut world = World::default();
    let id = opened(&mut world);
    for _ in 0..3 {
        world.reconnect();
        let request = world.server.endpoint.request(id);
        assert!(request.is_some(), "its memory is the program's");
        assert!(world.server.pool.octets_in_use() >= 20_000);
    }
    world.answer(id);
    assert!(world.server.endpoint.request(id).is_none());
    world.answers = true;
    world.run();
    world.told.clear();
    let calls = [(); 40].map(|()| world.submit(ask(NULL, 0, 0)).expect("room"));
    world.run();
    for call in calls {
        assert!(world.told.contains(&Event::Replied(call)));
    }
}
