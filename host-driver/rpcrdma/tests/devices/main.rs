//! RPC over RDMA between two devices in software, each with an interface of its own: every way of
//! a message, calls that outlive their connection, clients that go.

// Each program takes what it needs of it.
#[allow(unused)]
#[path = "../../../../protocol/rpcrdma/tests/harness/program.rs"]
mod program;

mod every_type;
mod lossy;
mod serving;
mod world;

use program::{pattern, GET, LIST, NULL, PUT};
use rpcrdma::place::Place;
use rpcrdma::verbs::Verbs;
use rpcrdma::Settings;
use world::World;

/// Sizes on both sides of each limit: words, what is inline, pages, more than a segment of TCP.
const SIZES: [u32; 12] = [
    0, 1, 3, 4, 5, 1_023, 1_024, 1_025, 4_097, 12_345, 65_536, 131_072,
];

/// RPC-003, RPC-016, RPC-032, RPC-033: Items of every size each way: inline, by read and write
/// chunks, at odd offsets, and long replies by reply chunk.
#[test]
fn items_of_every_size_go_each_way() {
    let mut world = World::new(Settings::default(), Settings::default());
    for _ in 0..10 {
        world.call(NULL, 0, 0);
    }
    for (length, offset) in SIZES.into_iter().zip([0, 1, 3, 1_001].into_iter().cycle()) {
        world.call(PUT, offset, length);
        world.call(GET, offset, length);
        world.call(LIST, offset, length.min(20_000));
    }
    let counters = world.client.machine().counters();
    assert_eq!(counters.bad_replies, 0, "{counters:?}");
    world.end();
}

/// RPC-005: As many calls as the grant allows are in flight; replies come whatever their order.
#[test]
fn many_calls_are_in_flight() {
    let settings = Settings {
        credits: 8,
        ..Settings::default()
    };
    let mut world = World::new(settings, settings);
    for round in 0..8 {
        let calls: Vec<_> = (0..40)
            .map(|number| world.submit([PUT, GET, LIST][number % 3], round, 3_000))
            .collect();
        for call in calls.into_iter().rev() {
            world.finish(call);
        }
    }
    world.end();
}

/// A NULL costs each end two writes for the receive that it uses and two doorbells, beside rings
/// that are given back by the quarter; no read, and no table operation.
#[test]
fn a_call_costs_at_most_five_register_writes() {
    const CALLS: u64 = 400;
    let mut world = World::new(Settings::default(), Settings::default());
    world.checks = false;
    for _ in 0..40 {
        world.call(NULL, 0, 0);
    }
    let before = world.accesses();
    for _ in 0..CALLS {
        world.call(NULL, 0, 0);
    }
    for (before, after) in before.into_iter().zip(world.accesses()) {
        let writes = after.writes - before.writes;
        println!("{writes} writes");
        assert!(writes <= 5 * CALLS, "{writes} writes of {CALLS} calls");
        assert_eq!(
            (after.reads, after.table_operations),
            (before.reads, before.table_operations)
        );
    }
    world.end();
}

/// RPC-041: What a call has exposed is of no use once its result was given out.
#[test]
fn nothing_stays_exposed() {
    let mut world = World::new(Settings::default(), Settings::default());
    let mut exposed = 0;
    for _ in 0..20 {
        for procedure in [PUT, GET, LIST] {
            let call = world.submit(procedure, 1, 20_000);
            exposed = exposed.max(world.link().exposed());
            world.finish(call);
            assert_eq!(world.link().exposed(), 0);
        }
    }
    assert_eq!(exposed, 1, "a chunk is a window");
    world.end();
}

/// RPC-055: Calls that a connection has left without a reply go again on the next one.
#[test]
fn calls_outlive_their_connection() {
    let settings = Settings {
        back_off_us: (1_000, 10_000),
        ..Settings::default()
    };
    let mut world = World::new(settings, settings);
    for round in 0..6 {
        let calls: Vec<_> = (0..6)
            .map(|number| world.submit([PUT, GET][number % 2], round, 60_000))
            .collect();
        world.cut();
        for call in calls {
            world.finish(call);
        }
    }
    assert_eq!(world.client.connections(), 7);
    world.end();
}

/// RFC 5531, 9: A server's reply cache may know a client by its address and XIDs: the next client
/// of an address begins with others.
#[test]
fn clients_begin_with_other_transactions() {
    let mut world = World::new(Settings::default(), Settings::default());
    let first = world.client.next_xid();
    world.next_client();
    assert_ne!(world.client.next_xid(), first);
    world.call(GET, 0, 10_000);
    world.end();
}

/// RPC-034, RPC-042: A client that goes takes nothing along: the next one has its place.
#[test]
fn clients_come_and_go() {
    let mut world = World::new(Settings::default(), Settings::default());
    for _ in 0..6 {
        world.call(PUT, 0, 10_000);
        world.next_client();
    }
    world.call(GET, 0, 10_000);
    world.end();
}

/// RPC-010, RPC-015: To a peer that says nothing of RFC 8797 a long result may go by read list,
/// and DONE ends it.
#[test]
fn a_result_goes_by_read_list_to_a_client_of_the_first_standard() {
    let settings = Settings {
        read_lists: true,
        inline_octets: 1_024,
        ..Settings::default()
    };
    let mut world = World::with(settings, settings, false);
    world.offers_results = false;
    for length in [900, 5_000, 70_000] {
        world.call(GET, 5, length);
    }
    assert!(world.client.machine().counters().dones_sent >= 2);
    world.end();
}

/// Requests that name what is not there are refused before anything is posted.
#[test]
fn places_are_checked_when_they_are_posted() {
    let mut world = World::new(Settings::default(), Settings::default());
    let (memories, pattern_place) = (world.client.memories().clone(), world.pattern);
    let beyond = Place {
        length: pattern_place.length + 1,
        ..pattern_place
    };
    let mut octets = [0; 4];
    assert!(memories.load(beyond, &mut octets).is_err());
    assert!(memories.store(beyond, &octets).is_err());
    let last = Place {
        offset: u64::from(pattern_place.length) - 4,
        length: 4,
        ..pattern_place
    };
    memories.load(last, &mut octets).expect("the last four");
    assert_eq!(octets[..], pattern(pattern_place.length - 4, 4));
    assert!(memories.load(last, &mut [0; 5]).is_err());
    let link = world.link();
    let limits = link.limits();
    assert!(limits.pieces >= 2 && limits.receives >= 32, "{limits:?}");
    assert!(link.send(0, &[beyond], None).is_err());
    assert!(link.send(0, &[last; 5], None).is_err(), "five pieces");
    assert!(link.revoke(0x1234).is_err(), "nobody's handle");
    world.end();
}
