//! CONF_RDMA between both ends, and what is sent differently after it.
use crate::harness::{ask, World, GET, LIST, NULL, PARTS, PUT};
use rpcrdma::binding::auth::flavor;
use rpcrdma::fabric;
use rpcrdma::{Configure, Policy, Settings};

const CONFIGURE: Configure = Configure {
    user: Some((0, 0)),
    padding_threshold: 512,
};
const POLICY: Policy = Policy {
    flavor: flavor::SYS,
    align: 4_096,
};

/// Both ends have buffers of 16 KiB, and no private data.
fn world(configure: Option<Configure>, policy: Option<Policy>, fabric: fabric::Settings) -> World {
    world_of([16_384; 2], configure, policy, fabric)
}

/// Both ends have buffers of their own, and no private data.
fn world_of(
    octets: [u32; 2],
    configure: Option<Configure>,
    policy: Option<Policy>,
    fabric: fabric::Settings,
) -> World {
    let [client, server] = octets.map(|inline_octets| Settings {
        inline_octets,
        ..Settings::default()
    });
    let mut world = World::new(fabric, client, server);
    world.peer_data = [None, None];
    world.client.endpoint.set_configure(configure);
    world.server.endpoint.set_configuration_policy(policy);
    world.connect();
    world
}

/// Octets of all Sends that the server received for one call.
fn send_octets(world: &mut World, asked: crate::harness::Ask) -> u64 {
    let before = world.fabric.counters(world.server.host).send_octets;
    world.call(asked);
    world.fabric.counters(world.server.host).send_octets - before
}

/// RPC-035, RPC-036, RPC-038: 1,024 octets without, 16,384 with CONF_RDMA; a long item then goes
/// padded in the Send, which RDMA_MSGP is for (RPC-023).
#[test]
fn configuration_goes_before_the_default() {
    let mut world = world(None, None, Default::default());
    world.call(ask(NULL, 0, 0));
    assert!(send_octets(&mut world, ask(PUT, 4, 6_000)) < 200, "a chunk");
    assert_eq!(world.fabric.counters(world.client.host).exposures, 1);

    let mut world = self::world(Some(CONFIGURE), Some(POLICY), Default::default());
    world.call(ask(NULL, 0, 0));
    let octets = send_octets(&mut world, ask(PUT, 4, 6_000));
    assert_eq!(octets, 4_096 + 6_000, "the item begins at the alignment");
    assert_eq!(world.fabric.counters(world.client.host).exposures, 0);
    // One octet below the threshold it is not padded, and at it it is.
    assert!(send_octets(&mut world, ask(PUT, 4, 511)) < 1_024);
    assert_eq!(send_octets(&mut world, ask(PUT, 4, 512)), 4_096 + 512);
    // A reply of 10,000 octets needs no reply chunk any more.
    world.call(ask(LIST, 4, 10_000));
    assert_eq!(world.fabric.counters(world.client.host).exposures, 0);
    world.call(ask(GET, 4, 10_000));
    world.assert_clean();
}

/// RPC-043: without the flavour of the policy, or without a policy, nothing is configured, and
/// calls go on under the default.
#[test]
fn a_weak_flavor_configures_nothing() {
    let weak = Configure {
        user: None,
        ..CONFIGURE
    };
    for (configure, policy) in [(weak, Some(POLICY)), (CONFIGURE, None)] {
        let mut world = world(Some(configure), policy, Default::default());
        world.call(ask(NULL, 0, 0));
        let refused = [&world.server, &world.client]
            .map(|side| side.endpoint.counters().refused_configurations);
        assert_eq!(refused, [u64::from(policy.is_some()), 1]);
        assert!(send_octets(&mut world, ask(PUT, 4, 6_000)) < 200);
        world.assert_clean();
    }
}

/// RPC-033, RPC-036: the server's answer says what it receives, and nothing of what it can send:
/// where that is less than the client takes, a long reply has its chunk all the same.
#[test]
fn a_server_with_shorter_buffers_has_room_for_its_replies() {
    for octets in [[16_384, 4_096], [4_096, 16_384], [1_024, 2_048]] {
        let mut world = world_of(octets, Some(CONFIGURE), Some(POLICY), Default::default());
        world.call(ask(NULL, 0, 0));
        for length in [900, 3_900, 4_100, 10_000, 17_000] {
            world.call(ask(LIST, 4, length));
            world.call(ask(PUT, 4, length));
        }
        world.assert_clean();
    }
}

/// RPC-037: as many Reads as the configuration says are outstanding, whatever the hardware takes.
#[test]
fn reads_keep_to_the_configuration() {
    for reads in [1, 2, 8] {
        let mut world = world(Some(CONFIGURE), Some(POLICY), Default::default());
        world.fabric.limit_reads(world.client.end, reads);
        world.reconnect();
        world.is_stepped = true;
        world.call(ask(NULL, 0, 0));
        call_all(&mut world, PUT);
        let counters = world.fabric.counters(world.client.host);
        assert_eq!((counters.excess_reads, counters.reads), (0, 12));
        let most = world
            .fabric
            .counters(world.server.host)
            .reads_outstanding_max;
        assert_eq!(most, reads);
    }
}

/// Twelve calls at once, each of 60,000 octets an item.
fn call_all(world: &mut World, procedure: u32) {
    let calls: Vec<_> = (0..12)
        .map(|index| {
            let asked = ask(procedure, index, 60_000 + index);
            (world.submit(asked).expect("room"), asked)
        })
        .collect();
    world.run();
    for (call, asked) in calls {
        world.check(call, asked);
    }
    world.assert_clean();
}

/// RPC-045: the three read chunks of a call queue at the server, which has one Read outstanding
/// where the client takes one, by its configuration or by the ORD of the connection; and as many
/// as both take where they take more.
#[test]
fn read_chunks_of_one_call_queue() {
    for (ord, takes, most) in [(8, 1, 1), (1, 8, 1), (8, 2, 2), (8, 8, 3)] {
        let mut world = world(Some(CONFIGURE), Some(POLICY), Default::default());
        world.fabric.limit_reads(world.client.end, takes);
        world.fabric.limit_reads(world.server.end, ord);
        world.reconnect();
        world.is_stepped = true;
        world.call(ask(NULL, 0, 0));
        world.call(ask(PARTS, 3, 20_001));
        let [client, server] =
            [&world.client, &world.server].map(|side| world.fabric.counters(side.host));
        assert_eq!((client.reads, client.excess_reads), (3, 0));
        assert_eq!(server.reads_outstanding_max, most, "{ord} {takes}");
        call_all(&mut world, PARTS);
        let server = world.fabric.counters(world.server.host);
        assert_eq!(server.reads_outstanding_max, ord.min(takes));
    }
}

/// The configuration is asked for again on each connection.
#[test]
fn each_connection_is_configured() {
    let mut world = world(Some(CONFIGURE), Some(POLICY), Default::default());
    world.call(ask(NULL, 0, 0));
    world.reconnect();
    world.call(ask(NULL, 0, 0));
    assert_eq!(send_octets(&mut world, ask(PUT, 4, 6_000)), 4_096 + 6_000);
    assert_eq!(world.server.endpoint.counters().refused_configurations, 0);
    world.assert_clean();
}
