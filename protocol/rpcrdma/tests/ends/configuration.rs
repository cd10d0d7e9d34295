//! CONF_RDMA between both ends, and what is sent differently after it.
use crate::harness::{ask, World, GET, LIST, NULL, PUT};
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
    let settings = Settings {
        inline_octets: 16_384,
        ..Settings::default()
    };
    let mut world = World::new(fabric, settings, settings);
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
    let mut world = world(Some(weak), Some(POLICY), Default::default());
    world.call(ask(NULL, 0, 0));
    assert_eq!(world.server.endpoint.counters().refused_configurations, 1);
    assert_eq!(world.client.endpoint.counters().refused_configurations, 1);
    assert!(send_octets(&mut world, ask(PUT, 4, 6_000)) < 200);
    world.assert_clean();
}

/// RPC-037, RPC-045: a client that can be read from by nobody offers no read chunks; at most as
/// many Reads as the configuration says are outstanding, whatever the hardware takes.
#[test]
fn reads_keep_to_the_configuration() {
    for reads in [1, 2, 8] {
        let fabric = fabric::Settings {
            reads,
            ..fabric::Settings::default()
        };
        let mut world = world(Some(CONFIGURE), Some(POLICY), fabric);
        world.is_stepped = true;
        world.call(ask(NULL, 0, 0));
        let calls: Vec<_> = (0..12)
            .map(|index| {
                let asked = ask(PUT, index, 60_000 + index);
                (world.submit(asked).expect("room"), asked)
            })
            .collect();
        world.run();
        calls
            .into_iter()
            .for_each(|(call, asked)| world.check(call, asked));
        let counters = world.fabric.counters(world.client.host);
        assert_eq!((counters.excess_reads, counters.reads), (0, 12));
        world.assert_clean();
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
