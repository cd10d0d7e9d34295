//! Every order of two calls, two DONEs, grants of 0 to 3 and a disconnect, by either end or by the
//! wire between them:
//! `cargo run --release -p rpcrdma --example explore [-- --break NAME]`.
//!
//! ```text
//!  state: both endpoints | what is in flight | STags     successors: deliver, place, acknowledge,
//!                                                        answer a Read; an end looks; a call is
//!                                                        answered with a grant; disconnect
//! ```
//!
//! A line for each set of bounds: states, steps, states at the end. In every state no Send was
//! above the grant, no XID was used twice on a connection and no result given out while one of
//! its STags was valid or its Send outstanding; where no step is left every call is replied to,
//! and nothing exposed, lent or awaited.
//!
//! `--break NAME` builds an error in between an end and the fabric, `--states LIMIT` is how many of
//! a set are explored. Exit status 1: something was found, or a set has more states.
mod model;
mod search;
mod tamper;

use model::Bounds;
use search::{explore, Report};
use std::time::Instant;
use tamper::Break;

const fn bounds(dones: bool, calls: u32, is_warm: bool, disconnects: u8) -> Bounds {
    let grants = &[0, 1, 2, 3];
    Bounds {
        dones,
        calls,
        is_warm,
        grants,
        disconnects,
    }
}

/// A state takes about 10 octets in the set; those on the way are few.
const STATES_MAX: usize = 100_000_000;

const BOUNDS: [Bounds; 6] = [
    bounds(true, 1, false, 1),
    bounds(true, 2, false, 0),
    bounds(false, 2, false, 1),
    bounds(true, 2, true, 0),
    bounds(true, 2, false, 1),
    bounds(true, 2, true, 1),
];

fn usage() -> ! {
    let names: Vec<&str> = Break::ALL.iter().map(|(name, _)| *name).collect();
    eprintln!(
        "usage: explore [--break NAME] [--states LIMIT], NAME one of {}",
        names.join(", ")
    );
    std::process::exit(2);
}

/// The error to build in, and the limit of states of a set.
fn arguments() -> (Option<Break>, usize) {
    let (mut broken, mut states_max) = (None, STATES_MAX);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().unwrap_or_else(|| usage());
        match argument.as_str() {
            "--break" => {
                let found = Break::ALL.into_iter().find(|(known, _)| *known == value);
                broken = Some(found.unwrap_or_else(|| usage()).1);
            }
            "--states" => states_max = value.parse().unwrap_or_else(|_| usage()),
            _ => usage(),
        }
    }
    (broken, states_max)
}

fn print(bounds: Bounds, report: &Report, seconds: u64) {
    println!(
        "{:>5} {:>5} {:>5} {:>6} {:>11} {:>10} {:>11} {:>7} {seconds:>5} s{}",
        if bounds.dones { bounds.calls } else { 0 },
        bounds.calls,
        if bounds.is_warm { "both" } else { "first" },
        format!("0..{}", bounds.grants.len() - 1),
        bounds.disconnects,
        report.states,
        report.steps,
        report.ends,
        if report.is_whole { "" } else { "  not all" },
    );
    if let Some(finding) = &report.finding {
        println!(
            "found: {}, after {} steps:",
            finding.what,
            finding.steps.len()
        );
        finding.steps.iter().for_each(|step| println!("  {step:?}"));
    }
}

fn main() {
    let (broken, states_max) = arguments();
    println!("DONEs calls  sent grants disconnects     states       steps    ends    time");
    let mut reports = Vec::new();
    for bounds in BOUNDS {
        let begin = Instant::now();
        let report = explore(bounds, states_max, broken);
        print(bounds, &report, begin.elapsed().as_secs());
        let is_found = report.finding.is_some();
        reports.push(report);
        if is_found {
            break;
        }
    }
    let verdict = Report::verdict(&reports);
    match &verdict {
        Ok(all) => println!("{all}"),
        Err(wrong) => println!("{wrong}"),
    }
    std::process::exit(i32::from(verdict.is_err()));
}
