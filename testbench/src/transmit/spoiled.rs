//! A host that answers some reads of transmission wrongly, late or not at all: what was read is
//! lost, and nothing else.
//!
//! ```text
//!  rounds of frames on both rings --> reads, of which the host spoils one a round
//!      units of a ring: it stops, and sends again once it is set up anew
//!      octets of a frame: that frame is given up
//!  long frames in no memory       --> each is given up, and its room comes back
//!  a host that is too slow        --> every tag waits for a late completion, reads are refused;
//!                                     the completions come, are counted, and tags are free again
//! ```
//!
//! Compared are the results of frames, the octets that leave, counters, and that no rule of the bus
//! is broken; not compared is the cycle.

mod exhausted;

use super::totals::{Case, Done, Totals};
use pcie_sim::{CompletionSplit, Fault, Record, Violation};
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::counters::Counter;
use rnic_driver::{
    Config, Device, Dma, DmaBuffer, DriverError, Piece, TransmitFrame, TransmitResult,
    TransmitRing, Transmitted,
};
use rnic_sim::{
    attach, Event, Form, ReadPath, SimBar, SimDma, SimError, Simulation, SimulationConfig, TlpKind,
};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

const ROUNDS: usize = 5;
const FRAMES_MAX: usize = 6;
const PLACE_OCTETS: usize = 2048;
/// Where no memory is.
const NOWHERE: u64 = 0x7_0000_0000_0000;
/// Cycles in which a round is over, a time-out included.
const SETTLED_CYCLES: usize = 8_000;
/// Microseconds after which the device gives up.
const TIMEOUT_US: u32 = 10;
/// Cycles that the slow host takes: so long that no tag comes back while they are used up.
const SLOW_CYCLES: u64 = 120_000;
/// One run in so many has a slow host.
const RUNS_A_SLOW_HOST: u64 = 4;

/// Device and host, and what is expected of both.
struct Spoiled {
    simulation: Rc<RefCell<Simulation>>,
    device: Device<SimBar, SimDma>,
    memory: DmaBuffer,
    /// Octets of a read at most.
    max_read_octets: usize,
    random: ChaCha8Rng,
    totals: Totals,
    expected: BTreeMap<&'static str, (Counter, u32)>,
    differences: Vec<String>,
}

/// A frame: its ring, and its octets, which lie at a place of their own.
#[derive(Clone, Debug)]
struct Given {
    ring: TransmitRing,
    piece: DmaBuffer,
    octets: Vec<u8>,
}

/// The counter that a read raises with this fault.
pub fn counter_of(fault: Fault) -> Counter {
    match fault {
        Fault::NoCompletion => Counter::ReadTimedOut,
        Fault::Poisoned => Counter::ReadPoisoned,
        Fault::UnsupportedRequest => Counter::ReadUnsupported,
        Fault::CompleterAbort => Counter::ReadAborted,
        Fault::UnknownTag | Fault::OtherFunction | Fault::AliasedTag => Counter::ReadUnexpected,
        Fault::TooManyOctets | Fault::ByteCount | Fault::Truncated => Counter::ReadMalformed,
    }
}

/// What a fault spoiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hit {
    /// All was read before it.
    Nothing,
    /// A completion more, which answers no read.
    Nobody,
    /// Octets of the frame of this number.
    Frame(usize),
    /// Units of a ring.
    Units,
}

impl Hit {
    fn name(self) -> &'static str {
        match self {
            Self::Nothing => "no read",
            Self::Nobody => "a completion of no read",
            Self::Frame(_) => "a frame's octets",
            Self::Units => "units of a ring",
        }
    }
}

/// Do a run.
///
/// # Errors
/// The core cannot be built.
pub(super) fn run(case: Case) -> Result<Done, SimError> {
    let mut spoiled = Spoiled::new(case, 60, TIMEOUT_US)?;
    for round in 0..ROUNDS {
        if spoiled.differences.is_empty() {
            spoiled.round(round);
        }
    }
    if spoiled.differences.is_empty() {
        spoiled.lose_long_frames();
    }
    let mut done = spoiled.end();
    if case.run % RUNS_A_SLOW_HOST == 0 && done.differences.is_empty() {
        let mut slow = Spoiled::new(case, SLOW_CYCLES, 1)?;
        slow.starve();
        let slow = slow.end();
        done.totals.add(&slow.totals);
        done.differences.extend(slow.differences);
    }
    Ok(done)
}

impl Spoiled {
    fn new(case: Case, latency_cycles: u64, read_timeout_us: u32) -> Result<Self, SimError> {
        let seed = case.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ case.run ^ 1 << 62;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let splits = [CompletionSplit::Largest, CompletionSplit::AtEveryBoundary];
        let simulation = Simulation::new(&SimulationConfig {
            width: case.width,
            seed: random.random(),
            reads: ReadPath {
                latency_cycles,
                split: *splits.choose(&mut random).expect("two"),
                ..ReadPath::default()
            },
            form: Form::of_verilog(case.silicon),
            ..SimulationConfig::default()
        })?;
        let simulation = Rc::new(RefCell::new(simulation));
        let (bar, dma) = attach(&simulation);
        let config = Config {
            control_units_log2: random.random_range(5..7),
            bulk_units_log2: random.random_range(5..7),
            read_timeout_us,
            max_read_request_octets: *[128, 256, 512].choose(&mut random).expect("three"),
            ..Config::default()
        };
        let mut device = Device::open(bar, dma, config).expect("the device opens");
        let octets = FRAMES_MAX * PLACE_OCTETS;
        let memory = device.dma().allocate("frames", octets, 64);
        let mut host = simulation.borrow_mut();
        let in_use = u64::from(read_timeout_us) * host.tick_cycles();
        host.complex_mut().faults_mut().set_reuse_ticks(in_use);
        drop(host);
        Ok(Self {
            simulation,
            device,
            memory: memory.expect("memory is there"),
            max_read_octets: config.max_read_request_octets as usize,
            random,
            totals: Totals::default(),
            expected: BTreeMap::new(),
            differences: Vec::new(),
        })
    }

    fn differ(&mut self, difference: String) {
        self.totals.mismatches += 1;
        self.differences.push(difference);
    }

    fn count(&mut self, counter: Counter, more: u32) {
        let (_, count) = self.expected.entry(counter.name()).or_insert((counter, 0));
        *count += more;
    }

    /// Frames on random rings, as many as `count`, whose octets lie at their places.
    fn draw(&mut self, count: usize) -> Vec<Given> {
        (0..count)
            .map(|number| {
                let octets: Vec<u8> = (0..self.random.random_range(14..PLACE_OCTETS))
                    .map(|_| self.random.random())
                    .collect();
                let piece = DmaBuffer {
                    address: self.memory.address + (number * PLACE_OCTETS) as u64,
                    octets: octets.len(),
                };
                self.device.dma().write(piece.address, &octets);
                let ring = *TransmitRing::ALL.choose(&mut self.random).expect("two");
                Given {
                    ring,
                    piece,
                    octets,
                }
            })
            .collect()
    }

    /// Hand a frame to the device; its place among those of a round is its cookie.
    fn send(&mut self, cookie: u64, ring: TransmitRing, pieces: &[Piece<'_>]) {
        let frame = TransmitFrame {
            pieces,
            checksum: None,
            crc: None,
            cookie,
        };
        self.totals.frames += 1;
        self.totals.pieces += pieces.len() as u64;
        if let Err(error) = self.device.transmit(ring, &frame) {
            self.differ(format!("frame {cookie}: {error}"));
        }
    }

    fn results(&mut self) -> Vec<Transmitted> {
        let mut results = Vec::new();
        loop {
            match self.device.poll_transmitted() {
                Ok(Some(result)) => results.push(result),
                Ok(None) => return results,
                Err(error) => {
                    self.differ(error.to_string());
                    return results;
                }
            }
        }
    }

    /// What left, in order.
    fn sent(&mut self) -> Vec<Vec<u8>> {
        let mut frames = Vec::new();
        loop {
            let sent = self.simulation.borrow_mut().next_sent();
            let Some(sent) = sent else { return frames };
            self.totals.octets += sent.octets.len() as u64;
            if sent.error {
                self.differ(format!("cycle {}: a frame left with an error", sent.cycle));
            }
            frames.push(sent.octets);
        }
    }

    /// Frames on both rings, of whose reads the host spoils one.
    fn round(&mut self, round: usize) {
        let count = self.random.random_range(2..=FRAMES_MAX);
        let given = self.draw(count);
        for (cookie, frame) in given.iter().enumerate() {
            self.send(cookie as u64, frame.ring, &[Piece::Memory(frame.piece)]);
        }
        let fault = *Fault::ALL.choose(&mut self.random).expect("there are some");
        let number = self.random.random_range(0..3 * count as u64);
        let address = self.spoil(number, fault);
        let holder = address.and_then(|at| given.iter().position(|frame| holds(frame, at)));
        let hit = match (address, holder) {
            (None, _) => Hit::Nothing,
            _ if fault.is_harmless() => Hit::Nobody,
            (_, Some(frame)) => Hit::Frame(frame),
            (_, None) => Hit::Units,
        };
        if hit != Hit::Nothing {
            // Completions after one with a wrong count are not what is due either.
            let after = match fault {
                Fault::ByteCount => self.simulation.borrow().complex().faults().after_spoiled(),
                _ => 0,
            };
            self.count(counter_of(fault), 1 + after as u32);
        }
        match hit {
            Hit::Frame(_) => self.count(Counter::TxFailed, 1),
            Hit::Units => self.count(Counter::TxRingStopped, 1),
            Hit::Nothing | Hit::Nobody => {}
        }
        *self.totals.spoiled.entry(hit.name()).or_default() += 1;
        let place = format!("round {round}, {fault:?} in read {number} ({})", hit.name());
        let results = match hit {
            Hit::Units => self.restarted(&place),
            _ => self.results(),
        };
        self.check_round(&place, &given, hit, &results);
        self.check_counters(&place);
    }

    /// Run until read `number` is the next, let the host spoil the first one that can have the
    /// fault, and wait until all is over; returns the address that it read, if there was such a
    /// read.
    fn spoil(&mut self, number: u64, fault: Fault) -> Option<u64> {
        let mut simulation = self.simulation.borrow_mut();
        let next = simulation.complex().statistics().reads + number;
        for _ in 0..SETTLED_CYCLES {
            if simulation.complex().statistics().reads == next {
                break;
            }
            simulation.step();
        }
        let before = simulation.complex().faults().count(fault);
        if simulation.complex().statistics().reads == next {
            simulation.complex_mut().faults_mut().inject(fault);
        }
        simulation.start_record();
        for _ in 0..SETTLED_CYCLES {
            if simulation.complex().faults().count(fault) > before {
                break;
            }
            simulation.step();
        }
        let is_met = simulation.complex().faults().count(fault) > before;
        // It met the last read so far, or nothing, and then the next round must not meet it.
        simulation.complex_mut().faults_mut().withdraw();
        let events = simulation.take_record().events;
        simulation.run(SETTLED_CYCLES);
        let mut reads = events
            .into_iter()
            .rev()
            .filter_map(|(_, event)| match event {
                Event::FromDevice {
                    kind: TlpKind::Read,
                    address,
                    ..
                } => Some(address),
                _ => None,
            });
        reads.next().filter(|_| is_met)
    }

    /// The results after one ring has stopped, which is set up again.
    fn restarted(&mut self, place: &str) -> Vec<Transmitted> {
        let mut running = 0;
        for ring in TransmitRing::ALL {
            match self.device.restart_transmit(ring) {
                Ok(()) => {}
                Err(DriverError::TransmitRunning { .. }) => running += 1,
                Err(error) => self.differ(format!("{place}: {error}")),
            }
        }
        if running != 1 {
            self.differ(format!("{place}: {running} rings run on"));
        }
        self.results()
    }

    /// Results are as they should be, and what left is what they say.
    fn check_round(&mut self, place: &str, given: &[Given], hit: Hit, results: &[Transmitted]) {
        let sent = self.sent();
        let mut stopped = Vec::new();
        for ring in TransmitRing::ALL {
            let mine = results.iter().filter(|result| result.ring == ring);
            let cookies: Vec<u64> = mine.clone().map(|result| result.cookie).collect();
            let wanted = (0..given.len()).filter(|&number| given[number].ring == ring);
            let wanted: Vec<u64> = wanted.map(|number| number as u64).collect();
            if cookies != wanted {
                self.differ(format!("{place}: {ring:?}: results of {cookies:?}"));
            }
            let mut is_over = false;
            for result in mine {
                let is_lost = hit == Hit::Frame(result.cookie as usize);
                is_over |= hit == Hit::Units && result.result == TransmitResult::NotSent;
                let expected = match (is_lost, is_over) {
                    (true, _) => TransmitResult::ReadFailed,
                    (false, true) => TransmitResult::NotSent,
                    (false, false) => TransmitResult::Sent,
                };
                if result.result != expected {
                    self.differ(format!("{place}: {result:?}, not {expected:?}"));
                }
            }
            stopped.extend(is_over.then_some(ring));
        }
        if stopped.len() != usize::from(hit == Hit::Units) {
            self.differ(format!("{place}: {stopped:?} have stopped"));
        }
        let left = results
            .iter()
            .filter(|result| result.result == TransmitResult::Sent);
        let mut left: Vec<&Vec<u8>> = left
            .filter_map(|result| given.get(result.cookie as usize))
            .map(|frame| &frame.octets)
            .collect();
        let mut found: Vec<&Vec<u8>> = sent.iter().collect();
        left.sort_unstable();
        found.sort_unstable();
        if left != found {
            let (left, found) = (left.len(), found.len());
            self.differ(format!("{place}: {found} frames left, not the {left} due"));
        }
    }

    fn check_counters(&mut self, place: &str) {
        let expected: Vec<(Counter, u32)> = self.expected.values().copied().collect();
        for (counter, expected) in expected {
            let name = counter.name();
            let found = self.device.counter(counter).expect("the device is there");
            if found != expected {
                self.differ(format!("{place}: counter {name}: {found}, not {expected}"));
            }
        }
    }

    fn end(mut self) -> Done {
        self.check_counters("at the end");
        let simulation = self.simulation.borrow();
        let records = simulation.complex().monitor().records().to_vec();
        self.totals.cycles = simulation.now();
        drop(simulation);
        // Frames of no memory are read, as they should be.
        let is_due = |record: &&Record| {
            matches!(record.violation, Violation::ReadOutsideMemory { address, .. }
                if address >= NOWHERE)
        };
        if let Some(broken) = records.iter().find(|record| !is_due(record)) {
            self.differ(format!("a rule of the bus: {broken:?}"));
        }
        Done {
            totals: self.totals,
            differences: self.differences,
            sent: Vec::new(),
        }
    }
}

/// Does the frame lie at the address?
fn holds(frame: &Given, address: u64) -> bool {
    let start = frame.piece.address & !3;
    (start..frame.piece.address + frame.piece.octets as u64).contains(&address)
}
