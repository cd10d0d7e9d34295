//! Each way of a message, in the sizes around its limits.
use crate::harness::{
    ask, pattern, write_call, Ask, World, GET, LIST, LONG_LIST, LONG_PUT, NULL, PAIR, PUT,
};
use rpcrdma::stream::Message;
use rpcrdma::verbs::Memory;
use rpcrdma::{Offer, Settings};

const SIZES: [u32; 16] = [
    0, 1, 3, 4, 5, 1_023, 1_024, 1_025, 3_900, 4_095, 4_096, 4_097, 12_345, 65_536, 131_072,
    1_048_576,
];

/// Every size by every procedure.
fn call_every_size(world: &mut World) {
    for procedure in [PUT, GET, LIST, LONG_PUT] {
        for (index, length) in SIZES.into_iter().enumerate() {
            if matches!(procedure, LONG_PUT) && length > 500_000 {
                continue;
            }
            world.call(ask(procedure, index as u32 * 3 + 1, length));
            world.assert_clean();
        }
    }
}

/// RPC-003, RPC-008, RPC-014, RPC-016, RPC-047: every size either way, inline or as a chunk,
/// arrives; a result in the caller's memory, a long reply in the pool's.
#[test]
fn every_size_arrives() {
    let mut world = World::default();
    world.call(ask(NULL, 0, 0));
    call_every_size(&mut world);
}

/// The same with steps by a seed, and peers that know RFC 5666 alone.
#[test]
fn every_size_arrives_without_private_data() {
    let settings = Settings {
        read_lists: true,
        ..Settings::default()
    };
    let mut world = World::new(Default::default(), settings, settings);
    world.peer_data = [None, None];
    world.is_stepped = true;
    world.connect();
    call_every_size(&mut world);
}

/// RPC-053: A call may be long and have a long reply, by a reply chunk or by a read list.
#[test]
fn a_long_call_has_a_long_reply() {
    let settings = Settings {
        read_lists: true,
        ..Settings::default()
    };
    for (offers_reply, knows_more) in [(true, true), (true, false), (false, false)] {
        let mut world = World::new(Default::default(), settings, settings);
        world.offers_reply = offers_reply;
        if !knows_more {
            world.peer_data = [None, None];
        }
        world.connect();
        for length in [4_097, 30_000] {
            let asked = ask(LONG_LIST, 3, length);
            world.call(asked);
            world.assert_clean();
        }
        let done = 2 * u64::from(!offers_reply);
        assert_eq!(world.client.endpoint.counters().dones_sent, done);
    }
}

/// RPC-012, RPC-017: each result takes its own write chunk, whole, also where the one before is
/// filled in part or not at all; a chunk is filled from its beginning.
#[test]
fn each_result_takes_one_write_chunk() {
    for (length, offered) in [
        (4_000, [4_000, 2_000]),
        (4_001, [9_000, 9_000]),
        (1, [8, 8]),
    ] {
        let mut world = World::default();
        let asked = ask(PAIR, 5, length);
        let xid = world.client.endpoint.next_xid();
        let mut message = Message::new();
        write_call(&mut message, xid, asked, world.client.pattern);
        let first = world.result(Ask {
            length: offered[0],
            ..asked
        });
        let second = world.result(Ask {
            length: offered[1],
            area: 1,
            ..asked
        });
        let results = [first, second];
        let offer = Offer {
            results: &results,
            reply_octets_max: 32,
        };
        let call = world
            .client
            .endpoint
            .submit(&mut message, offer)
            .expect("room");
        world.run();
        let reply = world.client.endpoint.reply(call).expect("a reply");
        let lengths = [length, length / 2];
        let mut reader = reply.reader();
        reader.fixed(24).expect("the header");
        for (result, length) in results.into_iter().zip(lengths) {
            let item = reader.opaque(1 << 20).expect("an item");
            assert_eq!(item.length(), length);
            let written = if length > 0 {
                Some(result.first(length))
            } else {
                None
            };
            assert_eq!(item.place(), written);
            let mut octets = vec![0; length as usize];
            let memory = world.fabric.memory(world.client.host);
            memory.load(result, &mut octets).expect("inside");
            assert!(octets == pattern(5, length));
        }
        let written = reply.results().iter().map(|place| place.length);
        assert_eq!(written.collect::<Vec<_>>(), lengths);
        world.client.endpoint.release(call, &mut world.client.pool);
        world.assert_clean();
    }
}

/// The program may keep the memory that a call's chunks were read into, and puts it back when it
/// likes.
#[test]
fn a_program_keeps_what_was_read() {
    let mut world = World::default();
    world.answers = false;
    let asked = ask(PUT, 7, 50_000);
    let call = world.submit(asked).expect("room");
    world.run();
    let id = world.open[0];
    let kept = world.server.endpoint.keep(id).expect("a chunk was read");
    assert_eq!(world.server.endpoint.keep(id), None, "once");
    world.answer(id);
    world.run();
    world.check(call, asked);
    assert!(world.server.pool.octets_in_use() >= 50_000);
    let mut octets = vec![0; 50_000];
    world
        .fabric
        .memory(world.server.host)
        .load(kept, &mut octets)
        .expect("inside");
    assert!(octets == pattern(7, 50_000));
    world.server.pool.put(kept);
    world.assert_clean();
}
