//! Reads of what a client lets be read, as it has said by CONF_RDMA (RFC 5666, 6.2).
use crate::client_actions::{assert_clean, body, XID};
use crate::configuring_clients::{
    call, configure, root, server, BUFFER, CONF_RDMA, POLICY, SYSTEM_ERROR,
};
use crate::harness::{ask, PUT};
use crate::peer::{message, words, Lists, Scene};
use rpcrdma::fabric::{Choice, EndId};
use rpcrdma::verbs::Rights;
use rpcrdma::wire::{ErrorBody, Form, Refused};

/// Reads of the server's that are at the client now, which answers all of them.
fn answer_reads(scene: &mut Scene, server: EndId) -> u32 {
    let has = |scene: &Scene, choice| {
        let mut choices = Vec::new();
        scene.world.fabric.choices(&mut choices);
        choices.contains(&choice)
    };
    while has(scene, Choice::Deliver(server)) {
        scene.world.fabric.take(Choice::Deliver(server));
    }
    let mut count = 0;
    while has(scene, Choice::Respond(server)) {
        scene.world.fabric.take(Choice::Respond(server));
        count += 1;
    }
    scene.poll_tested();
    count
}

/// RPC-037, RPC-045: Reads queue at the server, no more of them outstanding than the client takes,
/// nor than the server's ORD; at 0 a call that has to be read is refused, and its memory is not
/// taken for the time of a Read.
#[test]
fn reads_keep_to_what_the_client_takes() {
    let all: [(u32, &[u32]); 5] = [
        (0, &[]),
        (1, &[1; 12]),
        (5, &[5, 5, 2]),
        (8, &[8, 4]),
        (u32::MAX, &[8, 4]),
    ];
    for (takes, expected) in all {
        let mut scene = server(Some(POLICY));
        configure(&mut scene, 1, &[BUFFER, BUFFER, takes]);
        let body = body(ask(PUT, 0, 12 * 100));
        let part = |scene: &mut Scene, at: u32| scene.expose(100 * at, 100, Rights::Read);
        let reads = (0..12).map(|at| (body.len() as u32, part(&mut scene, at)));
        let lists = Lists {
            reads: reads.collect(),
            ..Lists::default()
        };
        scene.deliver_only(&message(XID, 8, Form::Msg, &lists, &body));
        let end = scene.world.server.end;
        let mut counts = Vec::new();
        while scene.opened.is_empty() && scene.received.len() < 2 {
            match answer_reads(&mut scene, end) {
                0 => scene.run(),
                count => counts.push(count),
            }
        }
        assert_eq!(counts, expected, "{takes}");
        let refused = scene.endpoint().counters().refused[Refused::ReadOctets.index()];
        assert_eq!(refused, u64::from(takes == 0));
        if takes == 0 {
            assert!(scene.received[1].is_error(ErrorBody::Chunk));
            assert_clean(&scene, "no Reads");
        }
    }
}

/// RPC-038: a call that is still being read is a call: CONF_RDMA after it comes too late, and
/// changes nothing for the Reads that are outstanding.
#[test]
fn a_call_that_is_being_read_comes_first() {
    let mut scene = server(Some(POLICY));
    let body = body(ask(PUT, 0, 64));
    let source = scene.expose(0, 64, Rights::Read);
    let lists = Lists {
        reads: vec![(body.len() as u32, source)],
        ..Lists::default()
    };
    scene.deliver_only(&message(XID, 8, Form::Msg, &lists, &body));
    assert_eq!(scene.endpoint().counters().refused_configurations, 0);
    let late = call(XID + 1, CONF_RDMA, root(), &[BUFFER, BUFFER, 0]);
    scene.deliver_only(&message(XID + 1, 8, Form::Msg, &Lists::default(), &late));
    assert_eq!(scene.endpoint().counters().refused_configurations, 1);
    scene.run();
    let refusal = [&[XID + 1], SYSTEM_ERROR].concat();
    assert_eq!(scene.received[0].header().body(), words(&refusal));
    assert_eq!(scene.opened.len(), 1);
}
