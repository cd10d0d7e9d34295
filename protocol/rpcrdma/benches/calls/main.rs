//! What a call costs both ends over the fabric: `cargo bench -p rpcrdma`.
//!
//! ```text
//!  client --call, chunks--> fabric --> server --Write, reply--> fabric --> client
//!  |<------------------------ ns a call, on one core ------------------------>|
//! ```
//!
//! Once warm: nanoseconds of both ends and the fabric together, allocations, payload octets that
//! software has copied, registrations. The fabric stands for the hardware: it moves the octets of
//! Writes and Reads, in the last column and not in the others. Goals are printed, not asserted: a
//! shared machine says little about another one.
mod ends;
// Each program takes what it needs of it.
#[allow(unused)]
#[path = "../../tests/harness/mod.rs"]
mod harness;

use ends::{Bench, Kind};
use stats_alloc::{Region, StatsAlloc, INSTRUMENTED_SYSTEM};
use std::alloc::System;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Calls before it is warm, and the time for those after.
const WARM: u32 = 200;
const TIME: Duration = Duration::from_millis(300);

/// Calls of a batch; the shortest batch counts, which other programs have not interrupted.
const BATCH: u32 = 16;

/// What a call costs: nanoseconds, allocations, copied octets, registrations.
fn measure(kind: Kind, moves_payload: bool) -> [f64; 4] {
    let mut bench = Bench::new(moves_payload);
    (0..WARM).for_each(|_| bench.call(kind));
    let region = Region::new(ALLOCATOR);
    let (before, begin, mut calls) = (bench.counts(), Instant::now(), 0_u32);
    let mut best = Duration::MAX;
    while begin.elapsed() < TIME {
        let batch = Instant::now();
        (0..BATCH).for_each(|_| bench.call(kind));
        best = best.min(batch.elapsed());
        calls += BATCH;
    }
    let after = bench.counts();
    let stats = region.change();
    let allocations = (stats.allocations + stats.reallocations) as f64;
    [
        best.as_nanos() as f64 / f64::from(BATCH),
        allocations / f64::from(calls),
        (after.0 - before.0) as f64 / f64::from(calls),
        (after.1 - before.1) as f64 / f64::from(calls),
    ]
}

fn main() {
    println!(
        "call                ns  of goal  allocations  payload octets copied  registrations   ns \
         with the fabric's copy"
    );
    let rows: [(&str, Kind, Option<f64>); 8] = [
        ("NULL", Kind::Null, Some(1_000.0)),
        ("GETATTR", Kind::Getattr, None),
        ("READ  4 KiB", Kind::Read(4 << 10), None),
        ("READ  64 KiB", Kind::Read(64 << 10), None),
        ("READ  1 MiB", Kind::Read(1 << 20), Some(2_000.0)),
        ("WRITE 4 KiB", Kind::Write(4 << 10), None),
        ("WRITE 64 KiB", Kind::Write(64 << 10), None),
        ("WRITE 1 MiB", Kind::Write(1 << 20), Some(2_000.0)),
    ];
    for (name, kind, goal) in rows {
        let [ns, allocations, copied, tables] = measure(kind, false);
        let [with_copy, ..] = measure(kind, true);
        let ratio = goal.map_or("      -".to_string(), |goal| format!("{:6.2}x", ns / goal));
        println!(
            "{name:<14} {ns:>7.0}  {ratio}  {allocations:>11.2}  {copied:>21.0}  {tables:>13.2}  \
             {with_copy:>22.0}"
        );
    }
    println!("goals: NULL 1,000 ns, 1 MiB 2,000 ns, 0 allocations, 0 octets copied");
}
