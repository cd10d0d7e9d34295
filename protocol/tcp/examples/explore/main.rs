//! Every order of delivery, loss, duplication and early timers of two small connections, from SYN
//! to the end: `cargo run --release -p rnic-tcp --example explore [--break NAME]`.
//!
//! ```text
//!  state: both ends | what is in flight | faults left     successors: deliver any of it, lose it,
//!                                                         deliver it twice, let a timer expire
//! ```
//!
//! A state is a hash of 128 bits of both connections, their applications and the segments in
//! flight; one that was met before is not followed again. Without faults the clock stands still
//! while segments are in flight. In each state the invariants of `end` hold, and where nothing is
//! left to happen everything was delivered once, acknowledged and closed.
mod end;

use end::{End, Finding, Wire, BREAKS};
use rnic_tcp::{Connection, SeqNumber, Settings};
use std::collections::hash_map::DefaultHasher;
use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::time::{Duration, Instant};

/// How much may happen in one history.
#[derive(Copy, Clone, Debug, Hash)]
struct Bounds {
    /// Records each way, a segment each.
    records: u32,
    losses: u32,
    duplications: u32,
    early_timers: u32,
}

const BOUNDS: [Bounds; 6] = [
    bounds(1, 2, 2, 2),
    bounds(2, 1, 1, 1),
    bounds(3, 0, 0, 0),
    bounds(3, 1, 0, 0),
    bounds(3, 0, 1, 0),
    bounds(3, 0, 0, 1),
];

const fn bounds(records: u32, losses: u32, duplications: u32, early_timers: u32) -> Bounds {
    Bounds {
        records,
        losses,
        duplications,
        early_timers,
    }
}

/// States that are kept, at most: 64 octets each with the set's own room, 4 GiB in all.
const STATES_MAX: usize = 40_000_000;
/// Time of one set of bounds.
const TIME_MAX: Duration = Duration::from_secs(100);
const FIRST: [SeqNumber; 2] = [SeqNumber(u32::MAX - 60), SeqNumber(u32::MAX - 20)];

#[derive(Clone, Debug)]
struct Network {
    ends: [End; 2],
    /// Where each segment goes.
    flight: Vec<(usize, Wire)>,
    left: Bounds,
    now_us: u64,
}

fn settings() -> Settings {
    Settings {
        receive_octets: 400,
        records_max: 8,
        ..Settings::default()
    }
}

impl Network {
    fn new(bounds: Bounds, broken: &str) -> Result<Self, Finding> {
        let mut network = Self {
            ends: [0, 1].map(|side| End::new(side, FIRST[side], bounds.records)),
            flight: Vec::new(),
            left: bounds,
            now_us: 0,
        };
        let client = Connection::connect(settings(), FIRST[0] - 1, 0);
        network.ends[0].tcp = Some(client.map_err(|error| error.to_string())?);
        network.pump(broken)?;
        Ok(network)
    }

    fn pump(&mut self, broken: &str) -> Result<(), Finding> {
        for side in [0, 1] {
            for wire in self.ends[side].pump(broken, self.now_us)? {
                self.ends[1 - side].verify_peer(&wire.head)?;
                self.flight.push((1 - side, wire));
            }
        }
        Ok(())
    }

    /// The order in which segments were sent does not matter, so it is not part of the hash.
    fn hash(&self) -> u128 {
        let half = |salt: u8| {
            let hash_of = |wire: &(usize, Wire)| {
                let mut hasher = DefaultHasher::new();
                (salt, wire).hash(&mut hasher);
                hasher.finish()
            };
            let flight = self.flight.iter().map(hash_of);
            let flight = flight.fold(0u64, u64::wrapping_add);
            let mut hasher = DefaultHasher::new();
            (salt, &self.ends, flight, self.left, self.now_us).hash(&mut hasher);
            u128::from(hasher.finish())
        };
        half(0) << 64 | half(1)
    }

    fn deliver(&self, index: usize, broken: &str, keeps: bool) -> Result<Self, Finding> {
        let mut next = self.clone();
        let (side, wire) = if keeps {
            next.flight[index].clone()
        } else {
            next.flight.swap_remove(index)
        };
        next.ends[side].arrive(&wire, settings(), self.now_us)?;
        next.pump(broken)?;
        Ok(next)
    }

    fn next_deadline_us(&self, broken: &str) -> Option<u64> {
        self.ends
            .iter()
            .filter_map(|end| end.deadline_us(broken))
            .min()
    }

    /// All that can happen next.
    fn successors(&self, broken: &str) -> Result<Vec<Self>, Finding> {
        let mut found = Vec::new();
        for index in 0..self.flight.len() {
            found.push(self.deliver(index, broken, false)?);
            if self.left.losses > 0 {
                let mut lost = self.clone();
                lost.flight.swap_remove(index);
                lost.left.losses -= 1;
                found.push(lost);
            }
            if self.left.duplications > 0 {
                let mut twice = self.deliver(index, broken, true)?;
                twice.left.duplications -= 1;
                found.push(twice);
            }
        }
        let is_early = !self.flight.is_empty();
        let Some(deadline_us) = self.next_deadline_us(broken) else {
            if !is_early {
                self.ends[0].verify_over(&self.ends[1])?;
                self.ends[1].verify_over(&self.ends[0])?;
            }
            return Ok(found);
        };
        if !is_early || self.left.early_timers > 0 {
            let mut later = self.clone();
            later.left.early_timers -= u32::from(is_early);
            later.now_us = deadline_us;
            later.pump(broken)?;
            found.push(later);
        }
        Ok(found)
    }
}

/// What was explored.
struct Report {
    states: usize,
    is_whole: bool,
    finding: Option<Finding>,
}

fn explore(bounds: Bounds, broken: &str) -> Report {
    let begin = Instant::now();
    let mut seen = HashSet::new();
    let mut report = Report {
        states: 0,
        is_whole: true,
        finding: None,
    };
    let mut open = match Network::new(bounds, broken) {
        Ok(network) => vec![network],
        Err(finding) => {
            report.finding = Some(finding);
            return report;
        }
    };
    while let Some(network) = open.pop() {
        match network.successors(broken) {
            Ok(successors) => open.extend(
                successors
                    .into_iter()
                    .filter(|next| seen.insert(next.hash())),
            ),
            Err(finding) => {
                report.finding = Some(finding);
                break;
            }
        }
        if seen.len() >= STATES_MAX || begin.elapsed() > TIME_MAX {
            report.is_whole = false;
            break;
        }
    }
    report.states = seen.len();
    report
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (option, name) = (arguments.next(), arguments.next());
    let broken = match (option.as_deref(), name) {
        (None, _) => String::new(),
        (Some("--break"), Some(name)) if BREAKS.contains(&name.as_str()) => name,
        _ => {
            eprintln!(
                "usage: explore [--break NAME], NAME one of {}",
                BREAKS.join(", ")
            );
            std::process::exit(2);
        }
    };
    let mut failed = false;
    for bounds in BOUNDS {
        let report = explore(bounds, &broken);
        let extent = if report.is_whole { "all" } else { "not all" };
        println!("{bounds:?}: {} states, {extent}", report.states);
        if let Some(finding) = report.finding {
            println!("found: {finding}");
            failed = true;
            break;
        }
    }
    std::process::exit(i32::from(failed));
}
