//! Every order of delivery, loss, duplication and early timers of two small connections, from SYN
//! to the end: `cargo run --release -p rnic-tcp --example explore [--break NAME]`.
//!
//! ```text
//!  state: both ends | what is in flight | faults left     successors: deliver any of it, lose it,
//!                                                         deliver it twice, let a timer expire
//! ```
//!
//! A line for each set of bounds: the states of the pair, the steps to them, the different states
//! of one end, the different segments. States are told apart by a hash of 96 bits; one that was met
//! before with as many faults left is not followed again. While segments are in flight the clock
//! stands still, but for early timers, which expire whatever is in flight. A segment overtakes if
//! one that was sent before it, the same way, is still in flight. In each state the invariants of
//! `end` hold, and where nothing is left to happen everything was delivered once, acknowledged and
//! closed.
//!
//! `--break NAME` builds an error in, between a connection and the explorer; the connection itself
//! has no switch for it. Exit status 1: something was found.
mod end;
mod search;
mod space;

use end::Break;
use search::{bounds, explore, settings, Bounds, Limits, Order, Report};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What is explored, in ten minutes and 4 GiB on two cores. All faults at once are in reach where
/// segments arrive as they were sent, or are few; every order where faults are of one or two kinds.
/// Six records have one fault: a loss, a duplicate, an early timer, or a segment that overtakes.
const BOUNDS: [Bounds; 15] = [
    bounds(6, [1, 0, 0], Order::Sent { overtakings: 0 }),
    bounds(6, [0, 1, 0], Order::Sent { overtakings: 0 }),
    bounds(6, [0, 0, 1], Order::Sent { overtakings: 0 }),
    bounds(6, [0, 0, 0], Order::Sent { overtakings: 1 }),
    bounds(3, [2, 2, 0], Order::Sent { overtakings: 0 }),
    bounds(3, [0, 0, 2], Order::Sent { overtakings: 0 }),
    bounds(3, [0, 0, 0], Order::Sent { overtakings: 2 }),
    bounds(3, [1, 1, 1], Order::Sent { overtakings: 0 }),
    bounds(3, [2, 0, 0], Order::Any),
    bounds(3, [0, 1, 0], Order::Any),
    bounds(3, [1, 1, 0], Order::Any),
    bounds(1, [1, 1, 1], Order::Any),
    bounds(2, [0, 0, 1], Order::Any),
    // These are cut by their time where it is too short.
    bounds(3, [0, 0, 1], Order::Any),
    bounds(3, [2, 2, 2], Order::Sent { overtakings: 0 }),
];

/// A set of bounds has 2^26 places of 17 octets for its states, seven of eight of them used, and
/// half as much again while they grow; two sets are explored at once.
const LIMITS: Limits = Limits {
    states: 58_000_000,
    time: Duration::from_secs(280),
};

fn line(bounds: Bounds, report: &Report, time: Duration) -> String {
    let Bounds {
        records,
        losses,
        duplications,
        early_timers,
        order,
    } = bounds;
    let order = match order {
        Order::Any => "any".to_string(),
        Order::Sent { overtakings: 0 } => "as sent".to_string(),
        Order::Sent { overtakings } => format!("{overtakings} overtake"),
    };
    let extent = if report.is_whole { "all" } else { "not all" };
    let finding = report.finding.as_ref();
    let finding = finding.map_or(String::new(), |finding| format!("\nfound: {finding}"));
    format!(
        "{records:>7} {losses:>6} {duplications:>10} {early_timers:>6} {order:>10} {:>11} \
         {extent:>7} {:>12} {:>6} {:>8} {:>5} s{finding}",
        report.states,
        report.steps,
        report.parts.0,
        report.parts.1,
        time.as_secs()
    )
}

/// Explore the sets that are left, one after the other.
fn work(next: &AtomicUsize, failed: &AtomicBool, broken: Option<Break>) {
    while let Some(&bounds) = BOUNDS.get(next.fetch_add(1, Ordering::Relaxed)) {
        if failed.load(Ordering::Relaxed) {
            return;
        }
        let begin = Instant::now();
        let report = explore(bounds, LIMITS, settings(), broken);
        println!("{}", line(bounds, &report, begin.elapsed()));
        if report.finding.is_some() {
            failed.store(true, Ordering::Relaxed);
        }
    }
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
        "records losses duplicates timers      order      states                steps   ends \
         segments    time\neach way                   early"
    );
    let (next, failed) = (AtomicUsize::new(0), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| work(&next, &failed, broken));
        work(&next, &failed, broken);
    });
    std::process::exit(i32::from(failed.into_inner()));
}
