//! What a call takes from end to end over two devices in software: `cargo bench -p rnic-rpcrdma`.
//!
//! ```text
//!  client --> queue pair --> device --> link --> device --> queue pair --> server, on a thread
//! ```
//!
//! One call at a time, so that a round trip is seen, then sixteen. Beside the times: chunks exposed
//! and payload octets that RPC's software has copied. The server copies what it is sent, to compare
//! it. Devices, links and threads share the machine's processors: the times are theirs, too, and no
//! goal is set for them.

// Each program takes what it needs of it.
#[allow(unused)]
#[path = "../tests/devices/program.rs"]
mod program;
#[allow(unused)]
#[path = "../tests/devices/serving.rs"]
mod serving;
#[allow(unused)]
#[path = "../tests/devices/world.rs"]
mod world;

use program::{GET, LIST, NULL, PUT};
use rpcrdma::Settings;
use std::time::{Duration, Instant};
use world::World;

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

fn main() {
    let mut world = World::new(Settings::default(), Settings::default());
    world.checks = false;
    println!("call             us, alone  us, of 16    MB/s  chunks a call  octets copied a call");
    for (name, procedure, length) in [
        ("NULL", NULL, 0),
        ("84 octets", LIST, 84),
        ("READ 4 KiB", GET, 4 << 10),
        ("READ 64 KiB", GET, 64 << 10),
        ("READ 1 MiB", GET, 1 << 20),
        ("WRITE 4 KiB", PUT, 4 << 10),
        ("WRITE 64 KiB", PUT, 64 << 10),
        ("WRITE 1 MiB", PUT, 1 << 20),
    ] {
        let before = *world.client.machine().counters();
        let (alone, took_alone) = measure(&mut world, procedure, length, 1);
        let (many, took_many) = measure(&mut world, procedure, length, 16);
        let after = world.client.machine().counters();
        let calls = (after.calls_sent - before.calls_sent) as f64;
        let us = |count: u32, took: Duration| took.as_secs_f64() * 1e6 / f64::from(count);
        println!(
            "{name:<16} {:>9.1} {:>10.1} {:>7.1} {:>14.2} {:>21.1}",
            us(alone, took_alone),
            us(many, took_many),
            f64::from(length) / us(many, took_many),
            (after.exposures - before.exposures) as f64 / calls,
            (after.copied_octets - before.copied_octets) as f64 / calls
        );
    }
    world.end();
}
