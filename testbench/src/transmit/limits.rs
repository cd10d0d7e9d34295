//! Heads at their limits, one below and one beyond, on a ring that is written as it is: the driver
//! would refuse half of them.
//!
//! ```text
//!  limit cases, shuffled --> units --> ring across 4 GiB --> device --> wire, statuses, report
//!        |                                                                  |
//!        +-- what `rnic_abi::transmit_ring` says of each -------------------+-> compared
//! ```
//!
//! Compared are each frame that leaves and their order, the status of each head, every report, and
//! the counters. A tail that is not to be taken is written before each one that is.

use super::heads::{carries, cases, empty_before_its_like, Head, Place};
use super::totals::{Case, Done, Totals};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::counters::{Counter, ALL};
use rnic_abi::registers::{
    tx_register, CONTROL, CONTROL_ENABLE, CONTROL_RESET, COUNTERS, TX_BASE_HIGH, TX_BASE_LOW,
    TX_REPORT_HIGH, TX_REPORT_LOW, TX_TAIL, TX_UNITS_LOG2,
};
use rnic_abi::transmit_ring::{
    units, BULK, CONTROL as CONTROL_RING, REPORT_OCTETS, STATUS_READ_FAILED, STATUS_REFUSED,
    STATUS_WORD, UNIT_OCTETS,
};
use rnic_driver::Bar;
use rnic_sim::{attach, Form, SimBar, SimError, Simulation, SimulationConfig};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// log2 of the units of the ring: 8 KiB, of which the second half lies above 4 GiB.
const UNITS_LOG2: u32 = 8;
const UNITS: u32 = 1 << UNITS_LOG2;
const RING: u64 = 0xffff_f000;
/// The report is the last thing below 4 GiB that a report can be, before the ring.
const REPORT: u64 = RING - 64;
/// Octets of frames, at places of their own.
const ARENA: u64 = 0x2_0000_0000;
const ARENA_OCTETS: usize = 1 << 20;
/// ... and of those whose sum carries.
const CARRIES_AT: u64 = 0x2_0100_0000;
/// Cycles after which a batch that is not over is stuck.
const CYCLES_MAX: u64 = 2_000_000;

/// The device, and what it is to do.
struct Raw {
    simulation: Rc<RefCell<Simulation>>,
    bar: SimBar,
    ring: u32,
    tail: u32,
    leaving: VecDeque<Vec<u8>>,
    refused: u32,
    failed: u32,
    ignored: u32,
    totals: Totals,
    differences: Vec<String>,
}

/// Put every limit case on a ring once, in an order that follows from the case.
///
/// # Errors
/// The core cannot be built.
pub(super) fn run(case: Case) -> Result<Done, SimError> {
    let seed = case.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ case.run ^ 1 << 63;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let simulation = Simulation::new(&SimulationConfig {
        width: case.width,
        seed: random.random(),
        stall: if random.random() { 0.2 } else { 0.0 },
        form: Form::of_verilog(case.silicon),
        ..SimulationConfig::default()
    })?;
    let simulation = Rc::new(RefCell::new(simulation));
    let (bar, _) = attach(&simulation);
    let mut raw = Raw {
        simulation,
        bar,
        ring: if random.random() { BULK } else { CONTROL_RING },
        tail: 0,
        leaving: VecDeque::new(),
        refused: 0,
        failed: 0,
        ignored: 0,
        totals: Totals::default(),
        differences: Vec::new(),
    };
    raw.set_up(&mut random);
    let mut heads = cases();
    heads.shuffle(&mut random);
    let mut heads = heads.into_iter().peekable();
    while heads.peek().is_some() && raw.differences.is_empty() {
        // As many as fit the ring, to its last unit if it happens so.
        let (mut batch, mut taken) = (Vec::new(), 0);
        while let Some(head) =
            heads.next_if(|head| taken + units(head.elements.len() as u32) <= UNITS)
        {
            taken += units(head.elements.len() as u32);
            batch.push(head);
        }
        raw.play(&batch, &mut random);
    }
    // To its last unit, in any case.
    let whole = vec![Head::new("octets of the frame", 64, vec![64]); (UNITS / units(1)) as usize];
    if raw.differences.is_empty() {
        raw.play(&whole, &mut random);
        raw.play(&empty_before_its_like(), &mut random);
    }
    raw.check_counters();
    raw.totals.cycles = raw.simulation.borrow().now();
    Ok(Done {
        totals: raw.totals,
        differences: raw.differences,
        sent: Vec::new(),
    })
}

impl Raw {
    fn set_up(&mut self, random: &mut ChaCha8Rng) {
        let ring_octets = UNIT_OCTETS << UNITS_LOG2;
        {
            let mut simulation = self.simulation.borrow_mut();
            assert!(simulation.map("report", REPORT, REPORT_OCTETS));
            assert!(simulation.map("ring", RING, ring_octets));
            assert!(simulation.map("frames", ARENA, ARENA_OCTETS));
            assert!(simulation.map("carries", CARRIES_AT, carries().len()));
            // The last page: what lies before the end is read.
            assert!(simulation.map("the end", 0_u64.wrapping_sub(4096), 4096));
        }
        self.write(CARRIES_AT, &carries());
        let octets: Vec<u8> = (0..ARENA_OCTETS).map(|_| random.random()).collect();
        self.write(ARENA, &octets);
        self.bar.write32(CONTROL, CONTROL_RESET);
        while self.bar.read32(CONTROL) & CONTROL_RESET != 0 {}
        for (register, value) in [
            (TX_BASE_LOW, RING as u32),
            (TX_BASE_HIGH, (RING >> 32) as u32),
            (TX_REPORT_LOW, REPORT as u32),
            (TX_REPORT_HIGH, (REPORT >> 32) as u32),
            (TX_UNITS_LOG2, UNITS_LOG2),
        ] {
            self.bar.write32(tx_register(self.ring, register), value);
        }
        self.bar.write32(CONTROL, CONTROL_ENABLE);
    }

    fn write(&mut self, address: u64, octets: &[u8]) {
        let mut simulation = self.simulation.borrow_mut();
        let written = simulation.complex_mut().memory_mut().write(address, octets);
        written.expect("it is mapped");
    }

    fn word(&self, address: u64) -> u32 {
        let simulation = self.simulation.borrow();
        let octets = simulation.complex().memory().read(address, 4);
        u32::from_le_bytes(octets.expect("it is mapped").try_into().expect("four"))
    }

    /// Put a batch on the ring, and see what comes of it.
    fn play(&mut self, batch: &[Head], random: &mut ChaCha8Rng) {
        let mut places = Vec::new();
        let first = self.tail;
        for head in batch {
            places.push(self.tail);
            let room = ARENA_OCTETS - head.elements.iter().sum::<usize>();
            let at = random.random_range(0..room);
            let address = match head.place {
                Place::Anywhere => ARENA + at as u64,
                Place::Carries => CARRIES_AT,
                Place::PastTheEnd => 0_u64.wrapping_sub(random.random_range(21..64)),
            };
            for unit in head.units(address).chunks(UNIT_OCTETS) {
                let place = u64::from(self.tail % UNITS) * UNIT_OCTETS as u64;
                self.write(RING + place, unit);
                self.tail = self.tail.wrapping_add(1);
            }
            let status = head.status();
            let limit = self.totals.limits.entry(head.limit).or_default();
            limit[usize::from(status != 0)] += 1;
            self.totals.frames += 1;
            self.totals.pieces += head.elements.len() as u64;
            match status {
                STATUS_REFUSED => self.refused += 1,
                STATUS_READ_FAILED => self.failed += 1,
                _ => {
                    let simulation = self.simulation.borrow();
                    let octets = simulation.complex().memory().read(address, head.octets);
                    let frame = head.frame(octets.expect("it is mapped"));
                    self.leaving.push_back(frame);
                }
            }
        }
        // One more than the ring has ahead of its head; 2^17 and 2^31 ahead, of which the low 17
        // bits, enough for the units of a ring, say nothing; one back of its tail.
        let tail = tx_register(self.ring, TX_TAIL);
        let wrongs = [UNITS + 1, 1 << 17, 1 << 31, u32::MAX];
        for wrong in wrongs.map(|distance| first.wrapping_add(distance)) {
            self.bar.write32(tail, wrong);
            self.ignored += 1;
        }
        self.bar.write32(tail, self.tail);
        self.finish(batch, &places);
    }

    /// Wait until the report has passed the batch, and check it.
    fn finish(&mut self, batch: &[Head], places: &[u32]) {
        let end = self.simulation.borrow().now() + CYCLES_MAX;
        while self.word(REPORT) != self.tail {
            self.simulation.borrow_mut().run(100);
            self.take_sent();
            if self.simulation.borrow().now() > end {
                let found = self.word(REPORT);
                self.differences
                    .push(format!("the report stays at {found} of {}", self.tail));
                return;
            }
        }
        self.simulation.borrow_mut().run_until_idle();
        self.take_sent();
        if !self.leaving.is_empty() {
            let left = self.leaving.len();
            self.differences.push(format!("{left} frames never left"));
        }
        let report = [1, 2, 3].map(|word| self.word(REPORT + 4 * word));
        let expected = self.refused + self.failed;
        if report != [expected, 0, 0] {
            self.differences
                .push(format!("report {report:?}: {expected} were given up"));
        }
        for (head, &place) in batch.iter().zip(places) {
            let at = u64::from(place % UNITS) * UNIT_OCTETS as u64 + 4 * STATUS_WORD as u64;
            let expected = head.status();
            let found = self.word(RING + at);
            if found != expected {
                let text = format!("status {found}, not {expected}, of {head:?}");
                self.differences.push(text);
            }
        }
    }

    fn take_sent(&mut self) {
        loop {
            let sent = self.simulation.borrow_mut().next_sent();
            let Some(sent) = sent else { break };
            self.totals.octets += sent.octets.len() as u64;
            let expected = self.leaving.pop_front();
            if sent.error || expected.as_ref() != Some(&sent.octets) {
                let octets = expected.map_or(0, |frame| frame.len());
                self.differences.push(format!(
                    "cycle {}: a frame of {} octets left that is not the next one, of {octets}",
                    sent.cycle,
                    sent.octets.len(),
                ));
            }
        }
    }

    fn check_counters(&mut self) {
        let frames = self.totals.frames as u32 - self.refused - self.failed;
        for (counter, expected) in [
            (Counter::TxFrames, frames),
            (Counter::TxRefused, self.refused),
            (Counter::TxFailed, self.failed),
            (Counter::ReadRefused, self.failed),
            (Counter::TxRingStopped, 0),
            (Counter::TxTailIgnored, self.ignored),
        ] {
            let place = ALL.iter().position(|&known| known == counter);
            let offset = COUNTERS + 4 * place.expect("every counter is there") as u32;
            let found = self.bar.read32(offset);
            if found != expected {
                let name = counter.name();
                self.differences
                    .push(format!("counter {name}: {found}, not {expected}"));
            }
        }
        self.totals.mismatches = self.differences.len() as u64;
    }
}
