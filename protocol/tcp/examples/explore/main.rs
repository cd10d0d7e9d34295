//! Every order of delivery, loss, duplication and early timers of two small connections, from SYN
//! to the end: `cargo run --release -p rnic-tcp --example explore [--break NAME]`.
//!
//! ```text
//!  state: both ends | what is in flight | faults left     successors: deliver any of it, lose it,
//!                                                         deliver it twice, let a timer expire
//! ```
//!
//! States are told apart by a hash of 96 bits; one that was met before with as many faults left is
//! not followed again. While segments are in flight the clock stands still, but for early timers,
//! which expire whatever is in flight. In each state the invariants of `end` hold, and where
//! nothing is left to happen everything was delivered once, acknowledged and closed.
//!
//! `--break NAME` builds an error in, between a connection and the explorer; the connection itself
//! has no switch for it. Exit status 1: something was found.
mod end;
mod search;
mod space;

use end::Break;
use search::{explore, settings, Bounds, Limits, Report};
use std::time::{Duration, Instant};

/// What is explored, in ten minutes and 4 GiB on two cores: what is in reach of all faults at once,
/// then more records with fewer of them.
const BOUNDS: [Bounds; 3] = [bounds(1, 2, 2, 2), bounds(3, 1, 0, 0), bounds(6, 1, 0, 0)];

const fn bounds(records: u32, losses: u8, duplications: u8, early_timers: u8) -> Bounds {
    Bounds {
        records,
        losses,
        duplications,
        early_timers,
    }
}

/// States of one set of bounds: 2^27 places of 17 octets, seven of eight of them used, and half as
/// much again while the set grows.
const LIMITS: Limits = Limits {
    states: 116_000_000,
    time: Duration::from_secs(300),
};

fn print(bounds: Bounds, report: &Report, time: Duration) {
    let Bounds {
        records,
        losses,
        duplications,
        early_timers,
    } = bounds;
    let extent = if report.is_whole { "all" } else { "not all" };
    println!(
        "{records:>7} {losses:>6} {duplications:>10} {early_timers:>12} {:>11} {extent:>7} {:>11} \
         {:>9} {:>8} {:>5} s",
        report.states,
        report.steps,
        report.parts.0,
        report.parts.1,
        time.as_secs()
    );
}

fn usage() -> ! {
    let names: Vec<&str> = Break::ALL.iter().map(|(name, _)| *name).collect();
    eprintln!(
        "usage: explore [--break NAME], NAME one of {}",
        names.join(", ")
    );
    std::process::exit(2);
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (option, name) = (arguments.next(), arguments.next());
    let broken = match (option.as_deref(), name) {
        (None, _) => None,
        (Some("--break"), Some(name)) => {
            let found = Break::ALL.into_iter().find(|(known, _)| *known == name);
            Some(found.unwrap_or_else(|| usage()).1)
        }
        _ => usage(),
    };
    println!(
        "records losses duplicates early timers      states            steps   states \
         segments    time\neach way                                                         \
         of an end"
    );
    for bounds in BOUNDS {
        let begin = Instant::now();
        let report = explore(bounds, LIMITS, settings(), broken);
        print(bounds, &report, begin.elapsed());
        if let Some(finding) = report.finding {
            println!("found: {finding}");
            std::process::exit(1);
        }
    }
}
