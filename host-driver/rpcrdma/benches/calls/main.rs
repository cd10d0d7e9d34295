//! What a call takes from end to end over two devices in software: `cargo bench -p rnic-rpcrdma`.
//!
//! ```text
//!  client --> queue pair --> device --> link --> device --> queue pair --> server, on a thread
//! ```
//!
//! One call at a time, so that a round trip is seen, then sixteen. Beside the times: chunks
//! exposed, payload octets that RPC's software has copied, and of one call at a time register
//! writes, reads and table operations of both drivers. The server copies what it is sent, to
//! compare it. Devices, links and threads share the machine's processors: the times are theirs,
//! too, and no goal is set for them.
//!
//! Allocations are those of the whole process: both ends, both devices and the wire between them.
//!
//! The control is the same call of NFS, to `nfs_server` over the system's TCP on the loopback: the
//! processor copies there, and no device is simulated. Last comes what that server's own copy of a
//! WRITE takes, from where it was read to into the file (`docs/rpc.md`).

// Each program takes what it needs of it.
#[allow(unused)]
#[path = "../../../../protocol/rpcrdma/tests/harness/program.rs"]
mod program;
#[path = "../../../../protocol/rpcrdma/benches/calls/tcp.rs"]
mod tcp;
#[allow(unused)]
#[path = "../../tests/devices/serving.rs"]
mod serving;
#[allow(unused)]
#[path = "../../tests/devices/world.rs"]
mod world;

use program::{GET, LIST, NULL, PUT};
use rnic_driver::Accesses;
use rpcrdma::Settings;
use stats_alloc::{Region, StatsAlloc, INSTRUMENTED_SYSTEM};
use std::alloc::System;
use std::time::{Duration, Instant};
use tcp::{Asked, Tcp};
use world::World;

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How long each row is measured.
const TIME: Duration = Duration::from_millis(500);
/// Calls before.
const WARM: u32 = 20;

/// Calls of a kind, `depth` at a time: how many in what time.
fn measure(world: &mut World, procedure: u32, length: u32, depth: usize) -> (u32, Duration) {
    let mut calls = 0;
    let mut begun = Instant::now();
    while calls < WARM || begun.elapsed() < TIME {
        let made: Vec<_> = (0..depth)
            .map(|_| world.submit(procedure, 0, length))
            .collect();
        for call in made {
            world.finish(call);
        }
        let before = calls;
        calls += depth as u32;
        if before < WARM && calls >= WARM {
            (calls, begun) = (WARM, Instant::now());
        }
    }
    (calls - WARM, begun.elapsed())
}

/// What is called over RDMA, and what over TCP.
const ROWS: [(&str, (u32, u32), Asked); 8] = [
    ("NULL", (NULL, 0), Asked::Null),
    ("84 octets, GETATTR", (LIST, 84), Asked::Attributes),
    ("READ 4 KiB", (GET, 4 << 10), Asked::Read(4 << 10)),
    ("READ 64 KiB", (GET, 64 << 10), Asked::Read(64 << 10)),
    ("READ 1 MiB", (GET, 1 << 20), Asked::Read(1 << 20)),
    ("WRITE 4 KiB", (PUT, 4 << 10), Asked::Write(4 << 10)),
    ("WRITE 64 KiB", (PUT, 64 << 10), Asked::Write(64 << 10)),
    ("WRITE 1 MiB", (PUT, 1 << 20), Asked::Write(1 << 20)),
];

fn us(count: u32, took: Duration) -> f64 {
    took.as_secs_f64() * 1e6 / f64::from(count)
}

/// Writes, reads and table operations of a device, by call.
fn accesses_a_call(before: Accesses, after: Accesses, calls: f64) -> String {
    let per = |before: u64, after: u64| (after - before) as f64 / calls;
    format!(
        "{:.2} {:.2} {:.2}",
        per(before.writes, after.writes),
        per(before.reads, after.reads),
        per(before.table_operations, after.table_operations)
    )
}

/// Microseconds of a copy of 1 MiB from one place of registered memory to another, 64 KiB at a
/// time: the shortest of some.
fn copy_us(world: &World) -> f64 {
    const STEP: u32 = 64 << 10;
    let memories = world.client.memories();
    let places = [(); 2].map(|()| memories.allocate(1 << 20).expect("there is room"));
    let mut buffer = vec![0; STEP as usize];
    let mut copy = || {
        let begun = Instant::now();
        for at in (0..1 << 20).step_by(STEP as usize) {
            let [from, to] = places.map(|place| place.part(at, STEP).expect("inside"));
            memories.load(from, &mut buffer).expect("inside");
            memories.store(to, &buffer).expect("inside");
        }
        begun.elapsed()
    };
    let shortest = (0..200).map(|_| copy()).min().unwrap_or_default();
    us(1, shortest)
}

fn main() {
    let mut world = World::new(Settings::default(), Settings::default());
    world.checks = false;
    let mut control = Tcp::control();
    println!(
        "call                us, alone  us, of 16    MB/s  us, TCP  chunks a call  octets copied  \
         allocations  writes, reads, table operations: client; server"
    );
    for (name, (procedure, length), asked) in ROWS {
        let before = *world.client.machine().counters();
        let registers = world.accesses();
        let region = Region::new(ALLOCATOR);
        let (alone, took_alone) = measure(&mut world, procedure, length, 1);
        let allocated = region.change();
        let allocated = allocated.allocations + allocated.reallocations;
        let alone_calls = world.client.machine().counters().calls_sent - before.calls_sent;
        let registers = registers.into_iter().zip(world.accesses());
        let registers: Vec<_> = registers
            .map(|(before, after)| accesses_a_call(before, after, alone_calls as f64))
            .collect();
        let (many, took_many) = measure(&mut world, procedure, length, 16);
        let after = world.client.machine().counters();
        let calls = (after.calls_sent - before.calls_sent) as f64;
        let tcp = control.as_mut().map_or("-".to_owned(), |tcp| {
            let (count, took) = tcp.measure(asked, WARM, TIME);
            format!("{:.1}", us(count, took))
        });
        println!(
            "{name:<19} {:>9.1} {:>10.1} {:>7.1} {tcp:>8} {:>14.2} {:>14.1} {:>12.1}  {}",
            us(alone, took_alone),
            us(many, took_many),
            f64::from(length) / us(many, took_many),
            (after.exposures - before.exposures) as f64 / calls,
            (after.copied_octets - before.copied_octets) as f64 / calls,
            allocated as f64 / alone_calls as f64,
            registers.join("; ")
        );
    }
    println!("goal: a NULL is at most 5 register writes an end, no read and no table operation");
    println!(
        "1 MiB copied within registered memory, as nfs_server does at a WRITE: {:.0} us",
        copy_us(&world)
    );
    world.end();
}
