//! Reverse calls (RFC 8167): a server calls its client over the same connection.
use crate::harness::{ask, write_call, World, GET, NULL, PUT};
use rpcrdma::place::MemoryId;
use rpcrdma::stream::Message;
use rpcrdma::{Credits, Event, Failure, Offer, Settings, SubmitError};

fn world(reverse_credits: u32) -> World {
    let settings = Settings {
        reverse_credits,
        ..Settings::default()
    };
    let mut world = World::new(Default::default(), settings, settings);
    world.connect();
    world
}

fn reverse_call(world: &mut World) -> Result<rpcrdma::CallId, SubmitError> {
    let mut message = Message::new();
    let xid = world.server.endpoint.next_xid();
    write_call(&mut message, xid, ask(NULL, 0, 0), MemoryId(0));
    world.server.endpoint.submit(
        &mut message,
        Offer {
            results: &[],
            reply_octets_max: 24,
        },
    )
}

/// Answer reverse calls at the client until nothing happens.
fn run(world: &mut World) -> usize {
    let mut answered = 0;
    loop {
        world.run();
        let told = std::mem::take(&mut world.told);
        let mut any = false;
        for event in told {
            let Event::Call(id) = event else {
                world.told.push(event);
                continue;
            };
            let client = &mut world.client;
            let request = client.endpoint.request(id).expect("it is open");
            let xid = request.header().xid();
            let mut reply = Message::new();
            [xid, 1, 0, 0, 0, 0]
                .into_iter()
                .for_each(|word| reply.u32(word));
            let mut end = world.fabric.end(client.end);
            let replied = client
                .endpoint
                .respond(0, &mut end, &mut client.pool, id, &mut reply);
            replied.expect("it is open");
            answered += 1;
            any = true;
        }
        if !any {
            return answered;
        }
    }
}

/// Calls go both ways at once, each under its own credits; the same XIDs in both directions do
/// not meet.
#[test]
fn calls_go_both_ways() {
    let mut world = world(2);
    world.call(ask(NULL, 0, 0));
    world.told.clear();
    let asked = [ask(GET, 0, 9_000), ask(PUT, 3, 9_000), ask(NULL, 0, 0)];
    let calls = asked.map(|asked| world.submit(asked).expect("room"));
    let reverse = [(); 5].map(|()| reverse_call(&mut world).expect("room"));
    assert_eq!(run(&mut world), 5);
    for (call, asked) in calls.into_iter().zip(asked) {
        assert!(world.told.contains(&Event::Replied(call)));
        world.check(call, asked);
    }
    for call in reverse {
        let reply = world.server.endpoint.reply(call).expect("a reply");
        assert_eq!(reply.octets().len(), 24);
        world.server.endpoint.release(call, &mut world.server.pool);
    }
    assert!(world
        .server
        .endpoint
        .credits()
        .is_some_and(|credits| credits.granted() == 2));
    // Receives for reverse calls' replies are beside those that are granted.
    let granted = world.client.endpoint.credits().map(Credits::granted);
    assert_eq!(granted, Some(Settings::default().credits));
    world.assert_clean();
}

/// Off unless asked for: a server makes none, and reverse calls offer no chunks.
#[test]
fn reverse_calls_are_off_unless_asked_for() {
    let mut world = world(0);
    assert_eq!(reverse_call(&mut world), Err(SubmitError::Role));
    let mut world = self::world(1);
    let mut message = Message::new();
    let xid = world.server.endpoint.next_xid();
    write_call(&mut message, xid, ask(NULL, 0, 0), MemoryId(0));
    let result = [world.result(ask(GET, 0, 10))];
    let offer = Offer {
        results: &result,
        reply_octets_max: 24,
    };
    let submitted = world.server.endpoint.submit(&mut message, offer);
    assert_eq!(submitted, Err(SubmitError::Results));
    assert!(!message.inline().is_empty(), "the message is as it was");
}

/// A reverse call is for one client: it ends with the connection, sent or not, as the next one is
/// another client's.
#[test]
fn reverse_calls_end_with_their_connection() {
    let mut world = world(2);
    world.call(ask(NULL, 0, 0));
    world.told.clear();
    let reverse = [(); 5].map(|()| reverse_call(&mut world).expect("room"));
    world.run();
    world.reconnect();
    // What the client has got it may answer; the answers go nowhere, and nothing else comes.
    assert_eq!(run(&mut world), 1);
    let failed = |call| Event::Failed(call, Failure::Attempts);
    for call in reverse {
        assert!(world.told.contains(&failed(call)), "{:?}", world.told);
        world.server.endpoint.release(call, &mut world.server.pool);
    }
    world.assert_clean();
}
