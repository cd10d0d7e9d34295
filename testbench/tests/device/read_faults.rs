//! A host that answers one read of the device wrongly, or not at all: only what was read is lost.
//!
//! ```text
//!  6 frames on 2 rings -> reads of units and of frames, of which the host spoils one
//!                                         |
//!      units:  the ring stops; frames after them are not sent; restarted, it sends them
//!      frame:  that frame is given up; all others leave
//! ```
//!
//! Each kind of fault meets each read in turn. What is compared: frames that leave, results of
//! frames, counters, and that no rule of the bus is broken. Not compared: the cycle.

use pcie_sim::{CompletionSplit, Fault};
use rnic_abi::counters::Counter;
use rnic_driver::{
    Config, Device, Dma, DmaBuffer, Piece, TransmitFrame, TransmitResult, TransmitRing, Transmitted,
};
use rnic_sim::{
    attach, attach_at, Event, ReadPath, SimBar, SimDma, Simulation, SimulationConfig, TlpKind,
};
use rnic_testbench::transmit::counter_of;
use std::cell::RefCell;
use std::rc::Rc;

const FRAMES: u64 = 6;
/// Two reads of 512 octets.
const FRAME_OCTETS: usize = 700;
const PLACE_OCTETS: usize = 1024;
/// Cycles from a request to its completions, and in which a frame or a time-out is over.
const LATENCY_CYCLES: u64 = 60;
const SETTLED_CYCLES: usize = 8_000;
/// Microseconds after which the device gives up, and cycles of one.
const TIMEOUT_US: u32 = 10;
const TICK_CYCLES: u64 = 156;

/// Faults that each read meets in turn; `rnic fuzz --transmit` draws all there are.
const FAULTS: [Fault; 7] = [
    Fault::NoCompletion,
    Fault::Poisoned,
    Fault::UnsupportedRequest,
    Fault::CompleterAbort,
    Fault::UnknownTag,
    Fault::TooManyOctets,
    Fault::ByteCount,
];

/// A device whose host spoils the read of a number.
struct Spoiled {
    simulation: Rc<RefCell<Simulation>>,
    device: Device<SimBar, SimDma>,
    memory: DmaBuffer,
    /// What the host was asked for so far when the fault was set up.
    place: String,
}

fn simulation(latency_cycles: u64) -> Rc<RefCell<Simulation>> {
    let reads = ReadPath {
        latency_cycles,
        split: CompletionSplit::AtEveryBoundary,
        ..ReadPath::default()
    };
    let simulation = Simulation::new(&SimulationConfig {
        reads,
        ..SimulationConfig::default()
    });
    Rc::new(RefCell::new(simulation.expect("the core is there")))
}

fn config(read_timeout_us: u32) -> Config {
    Config {
        control_units_log2: 5,
        bulk_units_log2: 5,
        read_timeout_us,
        ..Config::default()
    }
}

fn octets_of(number: u64) -> Vec<u8> {
    (0..FRAME_OCTETS)
        .map(|at| number as u8 ^ at as u8)
        .collect()
}

fn ring_of(number: u64) -> TransmitRing {
    TransmitRing::ALL[(number % 2) as usize]
}

impl Spoiled {
    fn new(place: String) -> Self {
        let simulation = simulation(LATENCY_CYCLES);
        let (bar, dma) = attach(&simulation);
        let mut device = Device::open(bar, dma, config(TIMEOUT_US)).expect("it opens");
        let memory = device
            .dma()
            .allocate("frames", FRAMES as usize * PLACE_OCTETS, 64);
        let in_use = u64::from(TIMEOUT_US) * TICK_CYCLES;
        let faults = |simulation: &mut Simulation| {
            simulation
                .complex_mut()
                .faults_mut()
                .set_reuse_ticks(in_use);
        };
        faults(&mut simulation.borrow_mut());
        Self {
            simulation: Rc::clone(&simulation),
            device,
            memory: memory.expect("memory is there"),
            place,
        }
    }

    fn place_of(&self, number: u64) -> DmaBuffer {
        DmaBuffer {
            address: self.memory.address + number * PLACE_OCTETS as u64,
            octets: FRAME_OCTETS,
        }
    }

    fn send(&mut self, number: u64) {
        let piece = self.place_of(number);
        self.device.dma().write(piece.address, &octets_of(number));
        let frame = TransmitFrame {
            pieces: &[Piece::Memory(piece)],
            checksum: None,
            crc: None,
            cookie: number,
        };
        let pushed = self.device.transmit(ring_of(number), &frame);
        assert_eq!(pushed, Ok(()), "{}", self.place);
    }

    /// Run until read `number` is the next one, or nothing is left to do; set up `fault` for it,
    /// let it end, and return what address it read.
    fn spoil(&mut self, number: u64, fault: Fault) -> Option<u64> {
        let mut simulation = self.simulation.borrow_mut();
        for _ in 0..SETTLED_CYCLES {
            if simulation.complex().statistics().reads == number {
                break;
            }
            simulation.step();
        }
        if simulation.complex().statistics().reads != number {
            return None;
        }
        simulation.complex_mut().faults_mut().inject(fault);
        simulation.start_record();
        simulation.run(SETTLED_CYCLES);
        let events = simulation.take_record().events;
        if simulation.complex().faults().count(fault) == 0 {
            return None;
        }
        events.into_iter().find_map(|(_, event)| match event {
            Event::FromDevice {
                kind: TlpKind::Read,
                address,
                ..
            } => Some(address),
            _ => None,
        })
    }

    fn results(&mut self) -> Vec<Transmitted> {
        let place = &self.place;
        std::iter::from_fn(|| {
            let polled = self.device.poll_transmitted();
            polled.unwrap_or_else(|error| panic!("{place}: {error}"))
        })
        .collect()
    }

    /// Numbers of the frames that left, each of them whole.
    fn sent(&mut self) -> Vec<u64> {
        let mut numbers = Vec::new();
        while let Some(sent) = self.simulation.borrow_mut().next_sent() {
            let number = (0..FRAMES).find(|&number| octets_of(number) == sent.octets);
            assert!(!sent.error, "{}", self.place);
            numbers.push(number.unwrap_or_else(|| panic!("{}: not a frame", self.place)));
        }
        numbers.sort_unstable();
        numbers
    }

    fn assert_counter(&mut self, counter: Counter, expected: u32) {
        let (place, name) = (&self.place, counter.name());
        let found = self.device.counter(counter);
        assert_eq!(found, Ok(expected), "{place}: {name}");
    }

    /// Results and frames fit each other and `results`; frames that did not leave are given again.
    fn expect(&mut self, wanted: impl Fn(u64) -> TransmitResult) {
        let results = self.results();
        for ring in TransmitRing::ALL {
            let found = results.iter().filter(|result| result.ring == ring);
            let found: Vec<_> = found.map(|result| (result.cookie, result.result)).collect();
            let wanted: Vec<_> = (0..FRAMES)
                .filter(|&number| ring_of(number) == ring)
                .map(|number| (number, wanted(number)))
                .collect();
            assert_eq!(found, wanted, "{}: {ring:?}", self.place);
        }
        let left = (0..FRAMES).filter(|&number| wanted(number) == TransmitResult::Sent);
        assert_eq!(self.sent(), left.collect::<Vec<_>>(), "{}", self.place);
    }
}

/// What the host was asked for when it did wrong, over all cases of a fault.
#[derive(Debug, Default)]
struct Met {
    units: u32,
    frames: u32,
}

fn meets(number: u64, fault: Fault, met: &mut Met) -> bool {
    let counter = counter_of(fault);
    let mut spoiled = Spoiled::new(format!("{fault:?} in read {number}"));
    for frame in 0..FRAMES {
        spoiled.send(frame);
    }
    let Some(address) = spoiled.spoil(number, fault) else {
        return false;
    };
    if fault == Fault::ByteCount {
        // The completions after the wrong one are not what is due either.
        let found = spoiled.device.counter(counter).expect("it is there");
        assert!(found >= 1, "{}", spoiled.place);
    } else {
        spoiled.assert_counter(counter, 1);
    }
    let hit = (0..FRAMES).find(|&frame| {
        let place = spoiled.place_of(frame);
        (place.address..place.address + FRAME_OCTETS as u64).contains(&address)
    });
    let is_harmless = fault.is_harmless();
    match hit {
        _ if is_harmless => spoiled.expect(|_| TransmitResult::Sent),
        Some(lost) => {
            met.frames += 1;
            spoiled.expect(|frame| match frame == lost {
                true => TransmitResult::ReadFailed,
                false => TransmitResult::Sent,
            });
        }
        None => {
            met.units += 1;
            meets_units(&mut spoiled);
        }
    }
    let given_up = u32::from(hit.is_some() && !is_harmless);
    let stopped = u32::from(hit.is_none() && !is_harmless);
    spoiled.assert_counter(Counter::TxFailed, given_up);
    spoiled.assert_counter(Counter::TxRingStopped, stopped);
    for other in FAULTS.map(counter_of) {
        if other != counter {
            spoiled.assert_counter(other, 0);
        }
    }
    let simulation = spoiled.simulation.borrow();
    let records = simulation.complex().monitor().records();
    assert!(records.is_empty(), "{}: {records:?}", spoiled.place);
    true
}

/// One ring has stopped: a tail of its frames is not sent. Set up again, it sends them.
fn meets_units(spoiled: &mut Spoiled) {
    let sent = spoiled.sent();
    let stopped = (0..FRAMES).find(|number| !sent.contains(number));
    let ring = ring_of(stopped.expect("a ring has stopped"));
    assert_eq!(
        spoiled.device.restart_transmit(ring),
        Ok(()),
        "{}",
        spoiled.place
    );
    let results = spoiled.results();
    assert_eq!(results.len() as u64, FRAMES, "{}", spoiled.place);
    for result in &results {
        let is_sent = sent.contains(&result.cookie);
        let wanted = match is_sent {
            true => TransmitResult::Sent,
            false => TransmitResult::NotSent,
        };
        assert_eq!(result.result, wanted, "{}: {result:?}", spoiled.place);
        assert!(
            is_sent || result.ring == ring,
            "{}: {result:?}",
            spoiled.place
        );
    }
    let again: Vec<u64> = (0..FRAMES)
        .filter(|number| !sent.contains(number))
        .collect();
    for &number in &again {
        spoiled.send(number);
    }
    spoiled.simulation.borrow_mut().run(SETTLED_CYCLES);
    assert_eq!(spoiled.sent(), again, "{}", spoiled.place);
    assert_eq!(spoiled.results().len(), again.len(), "{}", spoiled.place);
}

/// Time-out, poison, Unsupported Request, Completer Abort, completions that do not fit, one for no
/// read: in every read of a run.
#[test]
fn a_fault_costs_what_was_read() {
    for fault in FAULTS {
        let mut met = Met::default();
        let reads = (0..)
            .take_while(|&number| meets(number, fault, &mut met))
            .count();
        println!("{fault:?}: {reads} reads, {met:?}");
        assert!(reads > FRAMES as usize, "{fault:?}: {reads} reads");
        let is_harmless = fault.is_harmless();
        assert_eq!(
            is_harmless,
            met.frames == 0 || met.units == 0,
            "{fault:?}: {met:?}"
        );
    }
}

/// Completions that come after the time-out are counted and dropped: their octets go nowhere.
#[test]
fn late_completions_are_dropped() {
    let simulation = simulation(3 * TICK_CYCLES);
    let (bar, dma) = attach(&simulation);
    let mut device = Device::open(bar, dma, config(1)).expect("it opens");
    let frame = TransmitFrame {
        pieces: &[Piece::Octets(&[7; 60])],
        checksum: None,
        crc: None,
        cookie: 1,
    };
    device
        .transmit(TransmitRing::Bulk, &frame)
        .expect("there is room");
    simulation.borrow_mut().run(SETTLED_CYCLES);
    assert_eq!(device.counter(Counter::ReadTimedOut), Ok(1));
    assert_eq!(device.counter(Counter::ReadLate), Ok(1));
    assert_eq!(device.counter(Counter::TxRingStopped), Ok(1));
    assert_eq!(simulation.borrow_mut().next_sent(), None);
    let (bar, dma) = device.close().expect("the reset ends");
    let mut device = Device::open(bar, dma, config(TIMEOUT_US)).expect("it opens");
    device
        .transmit(TransmitRing::Bulk, &frame)
        .expect("there is room");
    simulation.borrow_mut().run(SETTLED_CYCLES);
    let left = simulation.borrow_mut().next_sent().expect("it left");
    assert_eq!(left.octets, [7; 60]);
}

/// A link that goes down at any moment of transmission: what was on its way is gone, frames are cut
/// with an error or whole, and the next driver's frames leave.
#[test]
fn a_link_that_goes_down_takes_its_reads_along() {
    const OTHER_ADDRESS: u64 = 0x40_0000_0000;
    for moment in 0..30 {
        let mut spoiled = Spoiled::new(format!("link down {moment}"));
        for frame in 0..FRAMES {
            spoiled.send(frame);
        }
        let simulation = Rc::clone(&spoiled.simulation);
        simulation.borrow_mut().run(37 * moment);
        simulation.borrow_mut().reset();
        while simulation.borrow_mut().next_sent().is_some() {}
        let (bar, dma) = attach_at(&simulation, OTHER_ADDRESS);
        spoiled.device = Device::open(bar, dma, config(TIMEOUT_US)).expect("it opens");
        for frame in 0..FRAMES {
            spoiled.send(frame);
        }
        simulation.borrow_mut().run(SETTLED_CYCLES);
        spoiled.expect(|_| TransmitResult::Sent);
        for counter in FAULTS.map(counter_of) {
            spoiled.assert_counter(counter, 0);
        }
        spoiled.assert_counter(Counter::ReadLate, 0);
        let records = simulation.borrow().complex().monitor().records().to_vec();
        assert!(records.is_empty(), "{}: {records:?}", spoiled.place);
    }
}
