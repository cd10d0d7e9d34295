//! Many connections: at once, and one after another, without anything left behind.

use crate::scene::{completion, Scene, PATIENCE, PORT};
use rnic_driver::verbs::endpoint::{EndpointError, PairOptions, QueuePair, SendOperation};
use rnic_iwarp::queue_pair::Status;
use rnic_iwarp::startup::Settings;
use stats_alloc::{StatsAlloc, INSTRUMENTED_SYSTEM};
use std::alloc::System;
use std::net::SocketAddr;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Four receive entries of the device for each connection: two receives, a Read Request, a
/// Terminate.
fn small() -> (Settings, PairOptions) {
    let settings = Settings {
        ird: 1,
        ord: 0,
        ..Settings::default()
    };
    let options = PairOptions {
        receives: 2,
        sends: 4,
        ..PairOptions::default()
    };
    (settings, options)
}

/// `count` connections, with the initiator's end first. A thread accepts.
fn open(scene: &Scene, count: usize) -> Vec<[QueuePair; 2]> {
    let (settings, options) = small();
    let own = SocketAddr::new(scene.responder.address, PORT);
    let listener = scene.responder.endpoint.listen(own).expect("it listens");
    std::thread::scope(|scope| {
        let accepting = scope.spawn(|| {
            let accept = |_| {
                let stream = listener.accept(PATIENCE).expect("one comes");
                let request = stream.request(&settings, b"").expect("a Request");
                let pair = request.queue_pair(&scene.responder.domain, &options);
                let pair = pair.expect("there is room");
                let memory = scene.responder.context.allocate(64).expect("memory");
                pair.post_receive(1, memory).expect("posted");
                pair.accept(b"").expect("accepted");
                pair
            };
            (0..count).map(accept).collect::<Vec<QueuePair>>()
        });
        let connect = |_| {
            let stream = scene.initiator.endpoint.connect(own).expect("it connects");
            let pair = stream.queue_pair(&scene.initiator.domain, &settings, &options);
            let pair = pair.expect("there is room");
            pair.start(b"").expect("a Reply");
            pair
        };
        let initiators: Vec<QueuePair> = (0..count).map(connect).collect();
        let responders = accepting.join().expect("it does not panic");
        initiators
            .into_iter()
            .zip(responders)
            .map(|(a, b)| [a, b])
            .collect()
    })
}

/// What an end holds: connections, memory of the ledger, pages.
fn held(scene: &Scene) -> [(usize, String); 2] {
    [&scene.initiator, &scene.responder].map(|end| {
        let in_use = end.context.in_use().expect("it answers");
        (end.endpoint.connections(), format!("{in_use:?}"))
    })
}

fn greet(scene: &Scene, [from, to]: &[QueuePair; 2]) {
    let region = scene.initiator.region(b"hello");
    let payload = [region.part(0..5).expect("inside")];
    let operation = SendOperation::send(&payload);
    from.post_send(7, &operation).expect("posted");
    assert_eq!(completion(from).status, Status::Success);
    assert_eq!(completion(to).message(), b"hello");
}

#[test]
fn five_hundred_connections_are_open_at_once_and_one_more_is_refused() {
    let scene = Scene::new(false);
    let begun = std::time::Instant::now();
    let pairs = open(&scene, 500);
    println!("500 opened in {:?}", begun.elapsed());
    for pair in pairs.iter().step_by(50) {
        greet(&scene, pair);
    }
    // 2,048 entries hold 512 connections of four.
    let more = open(&scene, 12);
    greet(&scene, &more[11]);
    let own = SocketAddr::new(scene.responder.address, PORT);
    let listener = scene.responder.endpoint.listen(own).expect("it listens");
    let (settings, options) = small();
    let stream = scene.initiator.endpoint.connect(own).expect("TCP has room");
    let _accepted = listener.accept(PATIENCE).expect("it is there");
    let refused = stream.queue_pair(&scene.initiator.domain, &settings, &options);
    let refused = refused.expect_err("the device is full");
    assert!(matches!(refused, EndpointError::Device(_)), "{refused}");
    assert!(refused.to_string().contains("receive pool"), "{refused}");
}

/// Half of them are aborted at some moment; nothing is left of any, in the devices, the drivers or
/// the memory of the process. Tests of one process share its allocator, so this one has another.
#[test]
fn connections_that_come_and_go_leave_nothing() {
    if rnic_effort::is_alone(&[]) {
        come_and_go();
    }
}

/// Connections whose memory is that of tables, rings and queues at their full size.
const WARM: u64 = 100;
/// What may be held more at the end than after those: a queue grows now and then. One buffer of a
/// connection that stays, such as its records of segments, is more in three hundred connections.
const GROWTH_OCTETS: isize = 32 * 1024;
/// Mappings more: the allocator has one for each thread that has come and gone at the same time.
const GROWTH_MAPPINGS: usize = 8;

fn come_and_go() {
    let count = rnic_effort::count("connections", 300, 10_000);
    let scene = Scene::new(false);
    let mut random = 1_u32;
    rounds(&scene, WARM, &mut random);
    let warm = process();
    rounds(&scene, count, &mut random);
    let after = process();
    println!(
        "{count} connections: {warm:?}, then {after:?}; {:?}",
        held(&scene)
    );
    let growth = after.octets - warm.octets;
    assert!(growth <= GROWTH_OCTETS, "{warm:?}, then {after:?}");
    assert!(
        after.mappings <= warm.mappings + GROWTH_MAPPINGS,
        "{warm:?}, then {after:?}"
    );
}

/// What this process holds.
#[derive(Debug)]
struct Process {
    octets: isize,
    mappings: usize,
}

fn process() -> Process {
    let stats = ALLOCATOR.stats();
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux has it");
    Process {
        octets: stats.bytes_allocated as isize - stats.bytes_deallocated as isize,
        mappings: maps.lines().count(),
    }
}

/// Connections in groups of twenty; none is there in the end.
fn rounds(scene: &Scene, count: u64, random: &mut u32) {
    for round in 0..count / 20 {
        let pairs = open(scene, 20);
        if round == 0 {
            greet(scene, &pairs[0]);
        }
        for [initiator, responder] in pairs {
            *random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match *random >> 28 {
                0..=3 => drop(initiator),
                4..=7 => responder.abort().expect("it is open"),
                _ => {
                    initiator.disconnect().expect("it is open");
                    responder.disconnect().expect("it is open");
                }
            }
        }
    }
    // TIME-WAIT, and what is on its way.
    std::thread::sleep(Duration::from_millis(300));
    for (connections, in_use) in held(scene) {
        assert_eq!(connections, 0, "{in_use}");
    }
}
