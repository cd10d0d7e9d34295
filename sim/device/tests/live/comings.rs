//! Connections that come and go, half of them aborted at some step, and nothing is left of any.
//!
//! ```text
//!  handshake | start-up | Write, Read or neither, with a region at either end | close
//!      X          X                X                                             X     an abort
//! ```
//!
//! One thread is the initiator of each connection in turn, another accepts whatever comes.

use crate::many::{greet, one_more_is_refused, open};
use crate::scene::{completion, End, Scene, PORT};
use rnic_driver::monitor::{Client, Info, Monitor, MonitorError};
use rnic_driver::verbs::endpoint::{
    EndpointError, Listener, PairOptions, QueuePair, SendOperation, Stream,
};
use rnic_driver::verbs::MemoryRegion;
use rnic_iwarp::queue_pair::Status;
use rnic_iwarp::startup::Settings;
use stats_alloc::{StatsAlloc, INSTRUMENTED_SYSTEM};
use std::alloc::System;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Octets of the region that each end has for a connection; two Writes or Reads have all of them.
const OCTETS: usize = 64 * 1024;
/// Connections that are done while the listener is the same.
const ROUND: u64 = 20;
/// Connections whose memory is that of tables, rings and queues at their full size.
const WARM: u64 = 100;
/// What may be held more at the end than after those: a queue grows now and then. One buffer of a
/// connection that stays, such as its records of segments, is more in three hundred connections.
const GROWTH_OCTETS: isize = 32 * 1024;
/// Mappings more: the allocator has one for each thread that has come and gone at the same time.
const GROWTH_MAPPINGS: usize = 8;
/// Nothing is left after this time.
const SETTLED: Duration = Duration::from_secs(20);

/// Where a connection ends.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Handshake,
    StartUp,
    Write,
    Read,
    Idle,
    Close,
    /// It is not aborted.
    None,
}

/// The steps of aborts; as often, there is none.
const STEPS: [Step; 6] = [
    Step::Handshake,
    Step::StartUp,
    Step::Write,
    Step::Read,
    Step::Idle,
    Step::Close,
];

/// Numbers from a seed.
struct Random(u32);

impl Random {
    fn below(&mut self, count: u32) -> u32 {
        self.0 = self.0.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (self.0 >> 8) % count
    }

    fn step(&mut self) -> Step {
        match self.below(2) {
            0 => STEPS[self.below(STEPS.len() as u32) as usize],
            _ => Step::None,
        }
    }
}

/// Each end of a connection has a pool entry for one Read Request.
fn settings() -> Settings {
    Settings {
        ird: 1,
        ord: 1,
        ..Settings::default()
    }
}

fn options() -> PairOptions {
    PairOptions {
        receives: 2,
        sends: 4,
        ..PairOptions::default()
    }
}

/// A responder's end: what was accepted, by its peer.
#[derive(Default)]
struct Accepted {
    pairs: Mutex<BTreeMap<SocketAddr, (QueuePair, MemoryRegion)>>,
    some: Condvar,
}

impl Accepted {
    /// The end of the connection that the initiator has this address on.
    fn take(&self, peer: SocketAddr) -> (QueuePair, MemoryRegion) {
        let pairs = self.pairs.lock().expect("nobody panics");
        let waited = self
            .some
            .wait_timeout_while(pairs, SETTLED, |pairs| !pairs.contains_key(&peer));
        let (mut pairs, _) = waited.expect("nobody panics");
        pairs.remove(&peer).expect("it has been accepted")
    }

    /// Answer whoever comes until it is the end; an error is one that was aborted meanwhile.
    fn serve(&self, end: &End, listener: &Listener, is_over: &AtomicBool) {
        while !is_over.load(Ordering::Acquire) {
            match listener.accept(Some(Duration::from_millis(2))) {
                Ok(stream) => {
                    let peer = stream.peer_addr();
                    if let Ok(pair) = accept(end, stream) {
                        self.pairs.lock().expect("nobody panics").insert(peer, pair);
                        self.some.notify_all();
                    }
                }
                Err(EndpointError::TimedOut) => (),
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// The Reply has the STag of the region.
fn accept(end: &End, stream: Stream) -> Result<(QueuePair, MemoryRegion), EndpointError> {
    let request = stream.request(&settings(), b"")?;
    let pair = request.queue_pair(&end.domain, &options())?;
    let region = end.region(&vec![1; OCTETS]);
    pair.post_receive(1, end.context.allocate(64)?)?;
    pair.accept(&region.stag().to_be_bytes())?;
    Ok((pair, region))
}

/// A connection from its beginning to its end.
fn one(scene: &Scene, accepted: &Accepted, step: Step, random: &mut Random) {
    let (end, own) = (
        &scene.initiator,
        SocketAddr::new(scene.responder.address, PORT),
    );
    if step == Step::Handshake {
        let opened = end.endpoint.open(own, |_| ()).expect("it begins");
        linger(random);
        return drop(opened);
    }
    let stream = end.endpoint.connect(own).expect("it connects");
    let local = stream.local_addr();
    let pair = stream.queue_pair(&end.domain, &settings(), &options());
    let pair = pair.expect("there is room");
    if step == Step::StartUp {
        if random.below(2) == 0 {
            pair.begin(b"").expect("a Request is sent");
        }
        linger(random);
        return pair.abort().expect("it is open");
    }
    let stag = pair.start(b"").expect("a Reply");
    let stag = u32::from_be_bytes(stag.try_into().expect("its STag"));
    let region = end.region(&vec![0; OCTETS]);
    let (peer, _peers_region) = accepted.take(local);
    let aborting = [&pair, &peer][random.below(2) as usize];
    if step != Step::Idle {
        for half in 0..2 {
            post(&pair, &region, stag, half, step == Step::Read);
        }
    }
    match step {
        Step::Write | Step::Read => {
            until_some(&pair, step, random.below(OCTETS as u32));
            aborting.abort().expect("it is open");
        }
        Step::Idle => aborting.abort().expect("it is open"),
        _ => {
            for _ in 0..2 {
                assert_eq!(completion(&pair).status, Status::Success);
            }
            let [first, second] = match random.below(2) {
                0 => [&pair, &peer],
                _ => [&peer, &pair],
            };
            first.disconnect().expect("it is open");
            if step == Step::Close {
                linger(random);
                aborting.abort().expect("it is there");
            } else {
                second.disconnect().expect("it is open");
            }
        }
    }
}

/// Half of the octets, written to the peer's region or read from it.
fn post(pair: &QueuePair, region: &MemoryRegion, stag: u32, half: usize, is_read: bool) {
    let begin = half * OCTETS / 2;
    let payload = [region.part(begin..begin + OCTETS / 2).expect("inside")];
    let operation = match is_read {
        false => SendOperation::Write {
            payload: &payload,
            stag,
            to: begin as u64,
        },
        true => SendOperation::Read {
            sink: region,
            sink_to: begin as u64,
            source_stag: stag,
            source_to: begin as u64,
            octets: OCTETS as u32 / 2,
        },
    };
    pair.post_send(half as u64, &operation).expect("posted");
}

/// Until so many octets of a Write were sent; a Read is as far as it comes in that many spins.
fn until_some(pair: &QueuePair, step: Step, octets: u32) {
    let end = Instant::now() + Duration::from_secs(10);
    let sent = || pair.statistics().expect("it is there").sent.octets;
    while step == Step::Write && sent() < u64::from(octets) {
        assert!(Instant::now() < end, "{:?}", pair.statistics());
    }
    if step == Step::Read {
        std::thread::sleep(Duration::from_micros(u64::from(octets / 64)));
    }
}

/// Somewhere in the next half millisecond.
fn linger(random: &mut Random) {
    std::thread::sleep(Duration::from_micros(random.below(500).into()));
}

/// So many connections; how many ended at each step.
fn rounds(scene: &Scene, count: u64, random: &mut Random) -> BTreeMap<Step, u64> {
    let mut counts = BTreeMap::new();
    let own = SocketAddr::new(scene.responder.address, PORT);
    for _ in 0..count / ROUND {
        let listener = scene.responder.endpoint.listen(own).expect("it listens");
        let (accepted, is_over) = (Accepted::default(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| accepted.serve(&scene.responder, &listener, &is_over));
            for _ in 0..ROUND {
                let step = random.step();
                one(scene, &accepted, step, random);
                *counts.entry(step).or_default() += 1;
            }
            is_over.store(true, Ordering::Release);
        });
    }
    counts
}

/// What a monitor of an end says.
fn ask<T: Send>(scene: &Scene, end: &End, what: fn(&Client) -> Result<T, MonitorError>) -> T {
    let socket = scene.folder().join("held");
    let mut monitor = Monitor::bind(&socket).expect("a socket");
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| what(&Client::new(&socket, SETTLED)).expect("it answers"));
        while !asked.is_finished() {
            let served = end.endpoint.serve_monitor(&mut monitor);
            served.expect("there is memory");
            std::thread::yield_now();
        }
        asked.join().expect("it does not panic")
    })
}

/// What a device has: connections, regions, pages and pools.
fn held(scene: &Scene, end: &End) -> Info {
    ask(scene, end, Client::info)
}

/// Both ends hold what they did `before`, when TIME-WAIT is over.
fn nothing_is_left(scene: &Scene, before: &[Info; 2]) {
    let until = Instant::now() + SETTLED;
    let ends = [&scene.initiator, &scene.responder];
    for (end, before) in ends.into_iter().zip(before) {
        while end.endpoint.connections() > 0 || held(scene, end) != *before {
            if Instant::now() > until {
                let left = ask(scene, end, Client::connections);
                panic!("{}: {:?}; {left:?}", end.address, held(scene, end));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
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

/// DDP-032, RDMAP-021: half of them are aborted, at any step; nothing is left of any, in the
/// devices, the drivers or the memory of the process. Tests of one process share its allocator, so
/// this one has another.
#[test]
fn connections_that_come_and_go_leave_nothing() {
    if rnic_effort::is_alone(&[]) {
        come_and_go();
    }
}

fn come_and_go() {
    const SEED: u32 = 1;
    println!("seed {SEED}");
    let count = rnic_effort::count("connections", 300, 10_000);
    let (scene, mut random) = (Scene::new(false), Random(SEED));
    let before = [&scene.initiator, &scene.responder].map(|end| held(&scene, end));
    assert!(before
        .iter()
        .all(|info| info.regions_registered == 0 && info.connections_open == 0));
    rounds(&scene, WARM, &mut random);
    nothing_is_left(&scene, &before);
    let warm = process();
    let counts = rounds(&scene, count, &mut random);
    nothing_is_left(&scene, &before);
    let after = process();
    println!("{counts:?}: {warm:?}, then {after:?}");
    let least = count / 40;
    assert!(STEPS.iter().all(|step| counts[step] >= least), "{counts:?}");
    let growth = after.octets - warm.octets;
    assert!(growth <= GROWTH_OCTETS, "{warm:?}, then {after:?}");
    assert!(
        after.mappings <= warm.mappings + GROWTH_MAPPINGS,
        "{warm:?}, then {after:?}"
    );
    // All that the devices have is there for others.
    let pairs = open(&scene, 512);
    greet(&scene, &pairs[511]);
    one_more_is_refused(&scene);
    drop(pairs);
    nothing_is_left(&scene, &before);
}
