//! Calls of every size between two ends whose world is unkind:
//! `cargo run --release -p rpcrdma --example soak -- --calls 1000000 --seed 1`.
//!
//! ```text
//!  first   a few calls, the connection cut after each step of the fabric in turn
//!  then    calls of 0 octets to 1 MiB at odd offsets, replies in any order, grants that move,
//!          8 STags for all calls, ORD 1, Writes late and in any order, cuts, collisions
//! ```
//!
//! Every payload is compared. At the end no STag is valid, no buffer lent and no call waits, or
//! the run panics. A line for each mode: calls, connections, what was waited for.
// Each program takes what it needs of it.
#[allow(unused)]
#[path = "../../tests/harness/mod.rs"]
mod harness;
mod run;

use run::{soak, MODES};

fn usage() -> ! {
    eprintln!("usage: soak [--calls COUNT] [--seed SEED]");
    std::process::exit(2);
}

fn main() {
    let (mut calls, mut seed) = (1_000_000, 1);
    let mut arguments = std::env::args().skip(1);
    while let Some(option) = arguments.next() {
        let value = arguments.next().and_then(|value| value.parse().ok());
        match (option.as_str(), value) {
            ("--calls", Some(value)) => calls = value,
            ("--seed", Some(value)) => seed = value,
            _ => usage(),
        }
    }
    let each = calls / MODES.len() as u64;
    std::thread::scope(|scope| {
        for (index, mode) in MODES.into_iter().enumerate() {
            let extra = if index == 0 {
                calls % MODES.len() as u64
            } else {
                0
            };
            scope.spawn(move || println!("{}", soak(mode, each + extra, seed)));
        }
    });
    println!("{calls} calls, seed {seed}: all payloads right, nothing valid, lent or waiting");
}
