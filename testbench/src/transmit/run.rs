//! One run: a device with random rings, on a random host.

use super::conversation::conversation;
use super::frame::Drawn;
use super::interrupts::Interrupts;
use super::totals::{Case, Done, Totals};
use crate::play::rtl::WIRE_512;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::counters::Counter;
use rnic_abi::registers::COUNTERS;
use rnic_driver::{
    Config, Device, Dma, DmaBuffer, DriverError, Piece, TransmitFrame, TransmitResult,
    TransmitRing, Transmitted,
};
use rnic_sim::{
    attach_at, CompletionSplit, Form, ReadPath, SentFrame, SimBar, SimDma, SimError, Simulation,
    SimulationConfig,
};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Octets of the memory that pieces are in, and where nothing is mapped.
const ARENA_OCTETS: usize = 1 << 20;
const NOWHERE: u64 = 0x7_0000_0000_0000;
const FOUR_GIB: u64 = 1 << 32;
/// Octets of the driver's memory, of which one piece or another lies across 4 GiB.
const ACROSS_OCTETS: u64 = 1 << 19;
/// Cycles after which a run that goes on is stuck.
const CYCLES_MAX: u64 = 20_000_000;

/// A frame on a ring whose end was not seen yet.
#[derive(Debug)]
struct Pending {
    cookie: u64,
    expected: Vec<u8>,
    is_readable: bool,
}

/// Host, device, and what is expected of both.
struct Run {
    simulation: Rc<RefCell<Simulation>>,
    bar: SimBar,
    device: Device<SimBar, SimDma>,
    interrupts: Interrupts,
    arena: DmaBuffer,
    used: usize,
    /// Frames of a conversation, which keep their order.
    conversation: VecDeque<Drawn>,
    random: ChaCha8Rng,
    /// By ring: frames without a result, and frames that have not left.
    results: [VecDeque<Pending>; 2],
    leaving: [VecDeque<Vec<u8>>; 2],
    totals: Totals,
    differences: Vec<String>,
    sent: Vec<Vec<u8>>,
}

/// Do a run.
///
/// # Errors
/// The core cannot be built.
pub(super) fn run(case: Case) -> Result<Done, SimError> {
    let seed = case.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ case.run;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let reads = ReadPath {
        stall: *[0.0, 0.05, 0.2, 0.9].choose(&mut random).expect("four"),
        latency_cycles: *[0, 60, 400].choose(&mut random).expect("three"),
        spread_cycles: *[0, 100].choose(&mut random).expect("two"),
        reorders: random.random_bool(0.5),
        split: *[
            CompletionSplit::Largest,
            CompletionSplit::AtEveryBoundary,
            CompletionSplit::Chosen,
        ]
        .choose(&mut random)
        .expect("three"),
    };
    let mut simulation = Simulation::new(&SimulationConfig {
        width: case.width,
        seed: random.random(),
        stall: *[0.0, 0.05, 0.2, 0.8].choose(&mut random).expect("four"),
        reads,
        form: Form::of_verilog(case.silicon),
        ..SimulationConfig::default()
    })?;
    if case.width == 512 {
        let (cycles, octets) = WIRE_512;
        simulation.sink_mut().set_rate(cycles, octets);
    }
    let simulation = Rc::new(RefCell::new(simulation));
    // Half of the hosts have the first memory they give below 4 GiB, and the next above.
    let below = random.random_range(1..=ACROSS_OCTETS) * u64::from(random.random::<bool>());
    let (bar, dma) = attach_at(&simulation, FOUR_GIB - below);
    let config = Config {
        control_units_log2: random.random_range(4..8),
        bulk_units_log2: random.random_range(4..9),
        max_read_request_octets: *[128, 256, 512].choose(&mut random).expect("three"),
        ..Config::default()
    };
    let mut device = Device::open(bar.clone(), dma, config).expect("the device opens");
    let interrupts = Interrupts::new(&simulation, bar.clone(), &mut device, case.run);
    let arena = device.dma().allocate("pieces", ARENA_OCTETS, 4096);
    let conversation = conversation(&mut random).into();
    let mut run = Run {
        simulation,
        bar,
        interrupts,
        conversation,
        arena: arena.expect("memory is there"),
        device,
        used: 0,
        random,
        results: Default::default(),
        leaving: Default::default(),
        totals: Totals::default(),
        differences: Vec::new(),
        sent: Vec::new(),
    };
    run.go();
    Ok(Done {
        totals: run.totals,
        differences: run.differences,
        sent: run.sent,
    })
}

impl Run {
    fn go(&mut self) {
        let frames = self.random.random_range(20..80);
        for cookie in 0..frames {
            let ring = match self.random.random_bool(0.3) {
                true => TransmitRing::Control,
                false => TransmitRing::Bulk,
            };
            let is_lost = self.random.random_bool(0.03);
            let drawn = Drawn::any(&mut self.random);
            if !self.send(ring, cookie, drawn, is_lost) || !self.converse(cookie + frames) {
                break;
            }
            if self.random.random_bool(0.5) {
                let cycles = self.random.random_range(0..300);
                self.advance(cycles);
            }
        }
        let end = self.simulation.borrow().now() + CYCLES_MAX;
        while self.results.iter().any(|ring| !ring.is_empty()) {
            self.advance(200);
            if self.simulation.borrow().now() > end {
                self.differ("frames have no result".into());
                break;
            }
        }
        self.simulation.borrow_mut().run_until_idle();
        self.advance(1);
        self.check_end();
    }

    /// Hand the next frame of the conversation to the device; false if there is never room.
    fn converse(&mut self, cookie: u64) -> bool {
        let Some(mut drawn) = self.conversation.pop_front() else {
            return true;
        };
        drawn.cut(&mut self.random);
        self.totals.fpdus += u64::from(drawn.crc.is_some());
        self.send(TransmitRing::Bulk, cookie, drawn, false)
    }

    fn differ(&mut self, difference: String) {
        self.totals.mismatches += 1;
        self.differences.push(difference);
    }

    /// Hand a frame to the device as soon as there is room, with a piece in no memory if it is to
    /// be lost; false if there never is room.
    fn send(&mut self, ring: TransmitRing, cookie: u64, drawn: Drawn, is_lost: bool) -> bool {
        let lost = is_lost.then(|| self.random.random_range(0..drawn.cuts.len()));
        let mut start = 0;
        let mut pieces = Vec::new();
        for (number, &end) in drawn.cuts.iter().enumerate() {
            let octets = &drawn.given[start..end];
            let is_copied = octets.len() < 256 && self.random.random_bool(0.2);
            pieces.push(match (lost == Some(number), is_copied) {
                (true, _) => Piece::Memory(DmaBuffer {
                    address: NOWHERE + self.random.random_range(0..4096),
                    octets: octets.len(),
                }),
                (false, true) => Piece::Octets(octets),
                (false, false) => Piece::Memory(self.place(octets)),
            });
            start = end;
        }
        let frame = TransmitFrame {
            pieces: &pieces,
            checksum: drawn.checksum,
            crc: drawn.crc,
            cookie,
        };
        let end = self.simulation.borrow().now() + CYCLES_MAX;
        loop {
            match self.device.transmit(ring, &frame) {
                Ok(()) => break,
                Err(DriverError::TransmitFull { .. }) if self.simulation.borrow().now() < end => {
                    self.advance(100);
                }
                Err(error) => {
                    self.differ(format!("frame {cookie}: {error}"));
                    return false;
                }
            }
        }
        self.totals.frames += 1;
        self.totals.pieces += pieces.len() as u64;
        self.totals.checksums += u64::from(drawn.checksum.is_some());
        self.totals.crcs += u64::from(drawn.crc.is_some());
        self.totals.unreadable += u64::from(lost.is_some());
        let number = ring.number() as usize;
        if lost.is_none() {
            self.leaving[number].push_back(drawn.expected.clone());
        }
        self.results[number].push_back(Pending {
            cookie,
            expected: drawn.expected,
            is_readable: lost.is_none(),
        });
        true
    }

    /// Octets at the next place in memory, at any alignment. Memory is used again only after more
    /// than all rings can hold.
    fn place(&mut self, octets: &[u8]) -> DmaBuffer {
        let mut start = self.used + self.random.random_range(0..40);
        if start + octets.len() > ARENA_OCTETS {
            start = self.random.random_range(0..40);
        }
        self.used = start + octets.len();
        let address = self.arena.address + start as u64;
        self.device.dma().write(address, octets);
        DmaBuffer {
            address,
            octets: octets.len(),
        }
    }

    /// Run so many cycles, and take what there is by then.
    fn advance(&mut self, cycles: usize) {
        self.simulation.borrow_mut().run(cycles);
        if self.random.random_bool(0.1) {
            let pauses = self.random.random_bool(0.5);
            self.simulation.borrow_mut().sink_mut().set_paused(pauses);
        }
        let wrong = match self.random.random_bool(0.1) {
            true => self.interrupts.mask(self.random.random_bool(0.5)),
            false => self.interrupts.take(),
        };
        if let Some(wrong) = wrong {
            self.differ(wrong);
        }
        loop {
            match self.device.poll_transmitted() {
                Ok(Some(transmitted)) => self.check_result(transmitted),
                Ok(None) => break,
                Err(error) => {
                    self.differ(error.to_string());
                    break;
                }
            }
        }
        loop {
            let sent = self.simulation.borrow_mut().next_sent();
            let Some(sent) = sent else { break };
            self.check_sent(sent);
        }
    }

    fn check_result(&mut self, transmitted: Transmitted) {
        let pending = self.results[transmitted.ring.number() as usize].pop_front();
        let expected = pending.as_ref().map(|pending| {
            let result = match pending.is_readable {
                true => TransmitResult::Sent,
                false => TransmitResult::ReadFailed,
            };
            (pending.cookie, result)
        });
        if expected != Some((transmitted.cookie, transmitted.result)) {
            let octets = pending.map_or(0, |pending| pending.expected.len());
            self.differ(format!(
                "result: expected {expected:?} of {octets} octets, found {transmitted:?}"
            ));
        }
    }

    fn check_sent(&mut self, sent: SentFrame) {
        self.totals.octets += sent.octets.len() as u64;
        let is_next = |ring: &VecDeque<Vec<u8>>| ring.front() == Some(&sent.octets);
        let ring = self
            .leaving
            .iter()
            .position(is_next)
            .filter(|_| !sent.error);
        match ring {
            Some(ring) => self.sent.extend(self.leaving[ring].pop_front()),
            None => self.differ(format!(
                "cycle {}: a frame of {} octets left that is not the next of a ring: {:02x?}",
                sent.cycle,
                sent.octets.len(),
                &sent.octets[..sent.octets.len().min(64)],
            )),
        }
    }

    /// Counters read in one request are those read one by one.
    fn check_wide_read(&mut self) {
        let counters = self.device.counters().expect("they are there");
        let octets: Vec<u8> = counters
            .iter()
            .flat_map(|(_, value)| value.to_le_bytes())
            .collect();
        let start = self.random.random_range(0..octets.len());
        let end = self.random.random_range(start..octets.len()) + 1;
        let found = self.bar.read(COUNTERS + start as u32, end - start);
        if found != octets[start..end] {
            self.differ(format!(
                "counters, octets {start} to {end}: expected {:02x?}, found {found:02x?}",
                &octets[start..end]
            ));
        }
    }

    fn check_end(&mut self) {
        self.simulation.borrow_mut().sink_mut().set_paused(false);
        self.simulation.borrow_mut().run_until_idle();
        self.advance(0);
        for ring in 0..2 {
            if !self.leaving[ring].is_empty() {
                let left = self.leaving[ring].len();
                self.differ(format!("ring {ring}: {left} frames never left"));
            }
        }
        let (frames, unreadable) = (self.totals.frames, self.totals.unreadable);
        for (counter, expected) in [
            (Counter::TxFrames, frames - unreadable),
            (Counter::TxFailed, unreadable),
            (Counter::TxRefused, 0),
            (Counter::TxRingStopped, 0),
            (Counter::TxTailIgnored, 0),
            (Counter::ReadTimedOut, 0),
            (Counter::ReadMalformed, 0),
            (Counter::ReadUnexpected, 0),
        ] {
            let found = self.device.counter(counter).expect("it is there");
            if u64::from(found) != expected {
                let name = counter.name();
                self.differ(format!(
                    "counter {name}: expected {expected}, found {found}"
                ));
            }
        }
        match self.interrupts.end() {
            Ok(count) => self.totals.interrupts += count,
            Err(wrong) => self.differ(wrong),
        }
        self.check_wide_read();
        self.totals.runs = 1;
        self.totals.drawn = frames;
        self.totals.cycles = self.simulation.borrow().now();
    }
}
