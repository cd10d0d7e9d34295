//! Every type of message, each way that it goes, over a wire that loses frames, with markers.
//!
//! | type       | to the server                      | to the client                       |
//! |------------|------------------------------------|-------------------------------------|
//! | RDMA_MSG   | calls, replies to reverse calls    | replies, reverse calls              |
//! | RDMA_NOMSG | calls that are too long for a Send | long replies, by chunk or read list |
//! | RDMA_MSGP  | calls whose item is padded         | -: a client tells no alignment      |
//! | RDMA_DONE  | after a read list                  | -: reverse calls have no chunks     |
//! | RDMA_ERROR | to a reverse call that is not one  | ERR_VERS and ERR_CHUNK              |

use crate::lossy::Wire;
use crate::program::{CALL_BACK, GET, LIST, NULL, PUT, TELL};
use crate::world::World;
use rnic_rpcrdma::{ClientSettings, ServerSettings};
use rpcrdma::binding::auth::flavor;
use rpcrdma::wire::{Caps, Header};
use rpcrdma::{Configure, Counters, Failure, Policy, Settings};
use std::array::from_fn;

const CONFIGURE: Configure = Configure {
    user: Some((0, 0)),
    padding_threshold: 512,
};
const POLICY: Policy = Policy {
    flavor: flavor::SYS,
    align: 4_096,
};

/// Messages by the number of their type, sent and received.
fn types(counters: &Counters) -> [[u64; 5]; 2] {
    [counters.sent, counters.received]
}

/// What an exchange adds to the client's counts.
fn grown(world: &mut World, exchange: impl FnOnce(&mut World)) -> [[u64; 5]; 2] {
    let before = types(world.client.machine().counters());
    exchange(world);
    let after = types(world.client.machine().counters());
    from_fn(|way| from_fn(|number| after[way][number] - before[way][number]))
}

/// Both ends know RFC 5666 alone, and have buffers of 16 KiB.
fn world(wire: &Wire, markers: bool) -> World {
    let rpc = Settings {
        inline_octets: 16_384,
        reverse_credits: 2,
        read_lists: true,
        back_off_us: (1_000, 10_000),
        log_headers: true,
        ..Settings::default()
    };
    let (mut client, mut server) = (ClientSettings::default(), ServerSettings::default());
    (client.rpc, server.rpc) = (rpc, rpc);
    (client.private_data, client.configure) = (false, Some(CONFIGURE));
    server.policy = Some(POLICY);
    (client.startup.markers, server.startup.markers) = (markers, markers);
    World::over(&wire.links, client, server)
}

/// What both ends say of an exchange.
pub struct Exchanged {
    /// What the client has counted.
    pub client: Counters,
    /// Frames of either end that were lost, at least.
    pub lost: u64,
    /// Headers of the client and of the server, a line for each that was sent or received.
    pub headers: [Vec<String>; 2],
}

/// A call that the server cannot answer yet, then a header of another version, or of a type that
/// there is not, with its XID: that is answered, and the call fails.
fn refused(world: &mut World, headers: &mut Vec<String>, version: u32, kind: u32) -> Failure {
    let xid = world.client.next_xid();
    let call = world.submit(CALL_BACK, 3, 9_000);
    let words = [xid, version, 1, kind, 0, 0, 0];
    world.send_words(&words);
    // The machine knows nothing of them; a log says of what is no header how long it is, and why.
    let octets: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
    let why = Header::parse(&octets, &Caps::default()).expect_err("it is to be refused");
    headers.push(format!("sent {} octets: {why}", octets.len()));
    let failure = world.fail(call);
    match failure {
        Failure::Chunk => world.answer_back(3, 9_000),
        _ => world.leave_back(),
    }
    failure
}

/// So many rounds of everything.
pub fn exchange(wire: Wire, rounds: u32, markers: bool) -> Exchanged {
    let mut world = world(&wire, markers);
    let mut headers = Vec::new();
    // The first answer tells the limits.
    world.call(NULL, 0, 0);
    for at in 0..rounds {
        inline_or_by_chunk(&mut world, at);
        by_read_list(&mut world, at);
        both_ways(&mut world, at);
    }
    assert_eq!(refused(&mut world, &mut headers, 1, 5), Failure::Chunk);
    // What else was in flight would fail, too: the connection ends, and there is another one.
    let failure = refused(&mut world, &mut headers, 2, 0);
    assert_eq!(failure, Failure::Version);
    world.call(NULL, 0, 0);
    assert_eq!(world.client.connections(), 2);
    let client = *world.client.machine().counters();
    headers.extend(std::iter::from_fn(|| world.client.machine_mut().logged()));
    let (server, of_server) = world.end();
    for number in 1..5 {
        let [to_server, to_client] = [client.sent[number], client.received[number]];
        assert_eq!(
            [to_server, to_client],
            [server.received[number], server.sent[number]]
        );
    }
    let rounds = u64::from(rounds);
    assert_eq!(client.sent[1..], [rounds, 3 * rounds, 2 * rounds, rounds]);
    assert_eq!(client.received[2..], [0, 0, 2]);
    assert_eq!(
        (client.received[1], server.dones_received),
        (2 * rounds, 2 * rounds)
    );
    let lost = wire.counts().iter().map(|port| port.lost).min();
    Exchanged {
        client,
        lost: lost.unwrap_or(0),
        headers: [headers, of_server],
    }
}

/// RPC-003, RPC-004, RPC-015, RPC-022, RPC-023, RPC-029, RPC-036, RPC-038: 1 % of the frames of
/// each end are lost.
#[test]
fn every_type_goes_each_way_over_a_wire_that_loses() {
    let exchanged = exchange(Wire::new(0.01, None), 8, true);
    assert!(exchanged.lost > 0);
    let [client, server] = exchanged.headers.each_ref().map(Vec::as_slice);
    let sent = headers_of(client, "sent ");
    assert_eq!(sent, headers_of(server, "received "));
    // With two that no machine has sent.
    assert_eq!(
        sent.len() as u64,
        exchanged.client.sent.iter().sum::<u64>() + 2
    );
}

/// What a log has of one way, in order of the text.
fn headers_of<'a>(log: &'a [String], way: &str) -> Vec<&'a str> {
    let lines = log.iter().filter_map(|line| line.strip_prefix(way));
    let mut lines: Vec<&str> = lines.collect();
    lines.sort_unstable();
    lines
}

/// From 1,024 to 16,384 octets nothing needs a chunk; beyond, everything does.
fn inline_or_by_chunk(world: &mut World, at: u32) {
    let exposed = world.client.machine().counters().exposures;
    let counts = grown(world, |world| {
        world.call(PUT, at, 511);
        world.call(LIST, at, 15_000 + at);
    });
    assert_eq!(counts, [[2, 0, 0, 0, 0], [2, 0, 0, 0, 0]]);
    let counts = grown(world, |world| {
        [512, 6_000, 12_288 - at]
            .into_iter()
            .for_each(|length| world.call(PUT, at, length));
    });
    assert_eq!(counts, [[0, 0, 3, 0, 0], [3, 0, 0, 0, 0]]);
    assert_eq!(world.client.machine().counters().exposures, exposed);
    let counts = grown(world, |world| {
        world.call(TELL, at, 60_000 + at);
        world.call(PUT, at, 400_000 + at);
        world.call(GET, at, 400_000 + at);
        world.call(LIST, at, 60_000 + at);
    });
    assert_eq!(counts, [[3, 1, 0, 0, 0], [3, 1, 0, 0, 0]]);
}

/// Without memory for a result or a reply there is the older text's way.
fn by_read_list(world: &mut World, at: u32) {
    (world.offers_results, world.offers_replies) = (false, false);
    let counts = grown(world, |world| {
        world.call(GET, at, 70_000 + at);
        world.call(LIST, at, 30_000 + at);
    });
    assert_eq!(counts[0], [2, 0, 0, 2, 0]);
    assert_eq!(counts[1][0] + counts[1][1], 2, "{counts:?}");
    (world.offers_results, world.offers_replies) = (true, true);
}

/// A reverse call that is answered, and one that is refused.
fn both_ways(world: &mut World, at: u32) {
    let counts = grown(world, |world| {
        for length in [9_000 + at, 0] {
            let call = world.submit(CALL_BACK, at, length);
            world.answer_back(at, length);
            world.finish(call);
        }
    });
    assert_eq!(counts, [[3, 0, 0, 0, 1], [4, 0, 0, 0, 0]]);
}
