//! What a call costs both ends over the fabric: `cargo bench -p rpcrdma`.
//!
//! ```text
//!  client --call, chunks--> fabric --> server --Write, reply--> fabric --> client
//!  |<------------------------ ns a call, on one core ------------------------>|
//! ```
//!
//! Once warm: nanoseconds of both ends and the fabric together, allocations, payload octets that
//! software has copied, operations on tables of STags: chunks exposed, and revoked from here. The
//! fabric stands for the hardware: it moves the octets of Writes and Reads, in one column and not
//! in the others. Goals are printed, not asserted: a shared machine says little about another one.
//!
//! The control is the same call of NFS to `nfs_server` over the system's TCP on the loopback, in
//! the same run: two processes and the system's copies, all of it (`cargo bench -p rnic-rpcrdma`
//! has devices in between).
mod ends;
mod tcp;
// Each program takes what it needs of it.
#[allow(unused)]
#[path = "../../tests/harness/mod.rs"]
mod harness;

use ends::{Bench, Kind};
use std::time::{Duration, Instant};
use tcp::{Asked, Tcp};

/// Calls before it is warm, and the time for those after.
const WARM: u32 = 200;
const TIME: Duration = Duration::from_millis(300);

/// Calls of a batch; the shortest batch counts, which other programs have not interrupted.
const BATCH: u32 = 16;

/// What a call costs: nanoseconds, allocations, copied octets, table operations.
fn measure(kind: Kind, moves_payload: bool) -> [f64; 4] {
    let mut bench = Bench::new(moves_payload);
    (0..WARM).for_each(|_| bench.call(kind));
    let (before, begin, mut calls) = (bench.counts(), Instant::now(), 0_u32);
    let mut best = Duration::MAX;
    let counted = allocation_counter::measure(|| {
        while begin.elapsed() < TIME {
            let batch = Instant::now();
            (0..BATCH).for_each(|_| bench.call(kind));
            best = best.min(batch.elapsed());
            calls += BATCH;
        }
    });
    let after = bench.counts();
    [
        best.as_nanos() as f64 / f64::from(BATCH),
        counted.count_total as f64 / f64::from(calls),
        (after.0 - before.0) as f64 / f64::from(calls),
        (after.1 - before.1) as f64 / f64::from(calls),
    ]
}

/// A name, what is called over the fabric, what over TCP, and the goal over the fabric.
type Row = (&'static str, Kind, Asked, Option<f64>);

const ROWS: [Row; 8] = [
    ("NULL", Kind::Null, Asked::Null, Some(1_000.0)),
    ("GETATTR", Kind::Getattr, Asked::Attributes, None),
    read("READ  4 KiB", 4 << 10, None),
    read("READ  64 KiB", 64 << 10, None),
    read("READ  1 MiB", 1 << 20, Some(2_000.0)),
    write("WRITE 4 KiB", 4 << 10, None),
    write("WRITE 64 KiB", 64 << 10, None),
    write("WRITE 1 MiB", 1 << 20, Some(2_000.0)),
];

const fn read(name: &'static str, octets: u32, goal: Option<f64>) -> Row {
    (name, Kind::Read(octets), Asked::Read(octets), goal)
}

const fn write(name: &'static str, octets: u32, goal: Option<f64>) -> Row {
    (name, Kind::Write(octets), Asked::Write(octets), goal)
}

fn main() {
    let mut control = Tcp::control();
    println!(
        "call                ns  of goal  allocations  payload octets copied  table operations   \
         ns with the fabric's copy  ns, nfs_server over TCP"
    );
    for (name, kind, asked, goal) in ROWS {
        let [ns, allocations, copied, tables] = measure(kind, false);
        let [with_copy, ..] = measure(kind, true);
        let ratio = goal.map_or("      -".to_string(), |goal| format!("{:6.2}x", ns / goal));
        let tcp = control.as_mut().map_or("-".to_owned(), |tcp| {
            let (count, took) = tcp.measure(asked, WARM, TIME);
            format!("{:.0}", took.as_nanos() as f64 / f64::from(count))
        });
        println!(
            "{name:<14} {ns:>7.0}  {ratio}  {allocations:>11.2}  {copied:>21.0}  {tables:>16.2}  \
             {with_copy:>23.0}  {tcp:>23}"
        );
    }
    println!("goals: NULL 1,000 ns, 1 MiB 2,000 ns, 0 allocations, 0 octets copied");
}
