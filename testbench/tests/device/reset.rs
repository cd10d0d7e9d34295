//! The device is reset in mid-traffic and opened anew: by its pin, by a driver that closes it, and
//! by the driver that comes after a killed one.
//!
//! ```text
//!  12 peers at the wire's rate -> reset, in a random cycle -> the next driver opens
//!  2 full transmit rings               |                            |
//!                                      |                            |
//!  from its end on: no write to earlier memory        tables empty; earlier peers go on, one
//!  and no read of it; frames that had begun to        with a new connection: refused; then a
//!  leave are whole, or marked as cut                  whole conversation, and frames that leave
//! ```
//!
//! `FERROWARP_RESETS` sets the number of resets, `FERROWARP_SEED` replays those of a failure.

use indicatif::ProgressBar;
use pcie_sim::memory::Memory;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rnic_abi::counters::Counter;
use rnic_abi::limits::{CONNECTIONS, PAGES, RANGES, REGIONS};
use rnic_abi::registers::{CONTROL, CONTROL_RESET};
use rnic_abi::tables::{self, RIGHT_REMOTE_WRITE};
use rnic_driver::{Bar, Completion, Config, Device, Dma, DmaBuffer, InUse, RegionConfig};
use rnic_sim::{
    attach, attach_at, Event, ReadPath, SimBar, SimDma, Simulation, SimulationConfig, TlpKind,
    WriteObserver,
};
use rnic_testbench::play::used::{
    use_and_reset, Ending, Peer, Remains, Use, ENDINGS, NEXT_ADDRESS, RESET_WITHIN,
};
use rnic_testbench::play::used_frames::{fill_rings, is_whole, with_rings};
use rnic_testbench::play::{play, Options};
use rnic_testbench::traffic::frame::{Endpoint, FrameBuilder, FLAG_ACK};
use rnic_testbench::traffic::{Sender, StreamConfig};
use std::cell::{Cell, RefCell};
use std::path::Path;
use std::rc::Rc;

/// Resets of a run, unless `FERROWARP_RESETS` says otherwise; a campaign has 1,000.
const RESETS: u64 = 12;
/// Seeds of the plays on a device that was reset.
const PLAY_SEEDS: std::ops::Range<u64> = 1..7;
/// Protection Domain of the next driver's connections: that of the earlier peers, so that nothing
/// but the reset keeps these out.
const PROTECTION_DOMAIN: u16 = 5;
const WINDOW: u32 = 1 << 20;
/// The conversation after a reset.
const STAG: u32 = 0x00c0_0100;
const WRITES: usize = 6;
const WRITE_OCTETS: usize = 1_300;
const SENDS: usize = 4;
const SEND_OCTETS: usize = 200;
/// Octets that an earlier peer writes with its old STag.
const OLD_OCTETS: usize = 600;
/// Tables that can be read, with their entries (`rnic_abi::tables::READ`).
const READABLE: [(u32, u32); 4] = [
    (tables::TCP, CONNECTIONS as u32),
    (tables::OUT_OF_ORDER, CONNECTIONS as u32),
    (tables::REGION, REGIONS as u32),
    (tables::RANGE, RANGES as u32),
];
/// Entries of each that are read after each reset.
const SAMPLE: usize = 12;
/// Probabilities that the host takes no TLP beat in a cycle.
const STALLS: [f64; 3] = [0.0, 0.5, 0.9];
/// Probabilities that the host takes no read request in a cycle.
const READ_STALLS: [f64; 3] = [0.0, 0.2, 0.9];

/// A number from the environment.
fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    let number = text.parse();
    Some(number.unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

/// Cycle and bus address of each memory write of the device.
#[derive(Clone, Debug, Default)]
struct Writes(Rc<RefCell<Vec<(u64, u64)>>>);

impl WriteObserver for Writes {
    fn written(&mut self, now: u64, address: u64, _: usize, _: &Memory) {
        self.0.borrow_mut().push((now, address));
    }
}

/// BAR0 that notes the cycle in which the driver sees a reset end.
struct Watched {
    bar: SimBar,
    simulation: Rc<RefCell<Simulation>>,
    ready: Rc<Cell<u64>>,
}

impl Bar for Watched {
    fn read32(&mut self, offset: u32) -> u32 {
        let value = self.bar.read32(offset);
        if offset == CONTROL && value & CONTROL_RESET == 0 && self.ready.get() == 0 {
            self.ready.set(self.simulation.borrow().now());
        }
        value
    }

    fn write32(&mut self, offset: u32, value: u32) {
        self.bar.write32(offset, value);
    }
}

/// The device under its next driver.
struct Next {
    simulation: Rc<RefCell<Simulation>>,
    device: Device<Watched, SimDma>,
    /// Where it stands, for a failure.
    place: String,
}

impl Next {
    fn open(simulation: &Rc<RefCell<Simulation>>, ready: &Rc<Cell<u64>>, place: String) -> Self {
        let (bar, dma) = attach_at(simulation, NEXT_ADDRESS);
        let watched = Watched {
            bar,
            simulation: Rc::clone(simulation),
            ready: Rc::clone(ready),
        };
        let opened = Device::open(watched, dma, with_rings(Config::default()));
        let device = opened.unwrap_or_else(|error| panic!("{place}: {error}"));
        Self {
            simulation: Rc::clone(simulation),
            device,
            place,
        }
    }

    fn assert_empty(&mut self, table: u32, index: u32) {
        let entry = self.device.table_entry(table, index);
        let place = &self.place;
        assert_eq!(entry, Ok([0; 4]), "{place}: table {table}, entry {index}");
    }

    /// All entries, or a sample of each table.
    fn assert_tables_empty(&mut self, random: &mut ChaCha8Rng, all: bool) {
        for (table, entries) in READABLE {
            for number in 0..if all { entries } else { SAMPLE as u32 } {
                let drawn = random.random_range(0..entries);
                self.assert_empty(table, if all { number } else { drawn });
            }
        }
        let in_use = self.device.in_use();
        assert_eq!(in_use, Ok(InUse::default()), "{}", self.place);
    }

    /// Put frames on the wire, wait until the core is idle, and take what came for the host and, as
    /// the result, the completions.
    fn receive(&mut self, frames: impl IntoIterator<Item = Vec<u8>>) -> Vec<Completion> {
        let mut simulation = self.simulation.borrow_mut();
        for frame in frames {
            simulation.push_frame(frame, false);
        }
        simulation.run_until_idle();
        drop(simulation);
        while self.device.poll_host_frame().is_some() {}
        std::iter::from_fn(|| self.device.poll_completion()).collect()
    }

    /// Earlier peers send again all that they sent, and one has a new connection and writes with
    /// its old STag.
    fn meet_the_earlier_peers(&mut self, remains: &Remains, random: &mut ChaCha8Rng) {
        let completions = self.receive(remains.frames.clone());
        assert_eq!(completions, [], "{}", self.place);
        let peer: &Peer = &remains.peers[random.random_range(0..remains.peers.len())];
        let stream = StreamConfig::default();
        let config = peer.builder.connection(&stream, WINDOW, PROTECTION_DOMAIN);
        let connection = self.device.open_connection(&config).expect("it is empty");
        let mut sender = Sender::new(stream);
        sender.rdma_write(peer.stag, 0, &[0xee; OLD_OCTETS]);
        let frame = |sender: &Sender| {
            let sequence = sender.sequence(0);
            peer.builder.segment(sequence, 1, FLAG_ACK, sender.stream())
        };
        let completions = self.receive([frame(&sender)]);
        assert!(
            matches!(completions[..], [Completion::Error { .. }]),
            "{}: {completions:?}",
            self.place
        );
        let closed = self.device.close_connection(connection);
        assert_eq!(closed, Ok(()), "{}", self.place);
    }

    /// A whole conversation: every octet arrives, and every message is reported.
    fn converse(&mut self, random: &mut ChaCha8Rng) {
        let (stream, place) = (StreamConfig::default(), self.place.clone());
        let builder = FrameBuilder::new(Endpoint::host(3, 41_000), Endpoint::host(4, 4_420));
        let config = builder.connection(&stream, WINDOW, PROTECTION_DOMAIN);
        let connection = self.device.open_connection(&config).expect("it is empty");
        let mut allocate = |name, octets| {
            let buffer = self.device.dma().allocate(name, octets, 64);
            buffer.unwrap_or_else(|error| panic!("{place}: {error}"))
        };
        let region = allocate("region", WRITES * WRITE_OCTETS);
        let buffers = allocate("buffers", SENDS * SEND_OCTETS);
        let registered = self.device.register_region(&RegionConfig {
            stag: STAG,
            rights: RIGHT_REMOTE_WRITE,
            protection_domain: PROTECTION_DOMAIN,
            connection: Some(connection),
            tagged_offset: 0,
            octets: region.octets as u64,
            address: region.address,
        });
        assert_eq!(registered, Ok(()), "{place}");
        let opened = self.device.open_queue(connection, 0, SENDS.ilog2());
        assert_eq!(opened, Ok(()), "{place}");
        let mut sender = Sender::new(stream);
        let mut data = vec![0; region.octets + buffers.octets];
        random.fill_bytes(&mut data);
        let (writes, sends) = data.split_at(region.octets);
        for (write, at) in writes.chunks(WRITE_OCTETS).zip((0..).step_by(WRITE_OCTETS)) {
            sender.rdma_write(STAG, at, write);
        }
        for (send, at) in sends.chunks(SEND_OCTETS).zip((0..).step_by(SEND_OCTETS)) {
            sender.send(send);
            let buffer = DmaBuffer {
                address: buffers.address + at,
                octets: SEND_OCTETS,
            };
            let posted = self.device.post_receive(connection, 0, buffer);
            posted.unwrap_or_else(|error| panic!("{place}: {error}"));
        }
        let segments = sender.fpdus().iter().map(|fpdu| {
            let octets = &sender.stream()[fpdu.octets.clone()];
            builder.segment(sender.sequence(fpdu.octets.start), 1, FLAG_ACK, octets)
        });
        let completions = self.receive(segments.collect::<Vec<_>>());
        let msns = completions
            .iter()
            .filter_map(|completion| match completion {
                Completion::Receive { msn, length, .. } => Some((*msn as usize, *length as usize)),
                _ => None,
            });
        let expected: Vec<_> = (1..=SENDS).map(|msn| (msn, SEND_OCTETS)).collect();
        assert_eq!(msns.collect::<Vec<_>>(), expected, "{place}");
        for (memory, expected) in [(region, writes), (buffers, sends)] {
            assert!(self.read(memory) == expected, "{place}: octets differ");
        }
        let closed = self.device.close_connection(connection);
        assert_eq!(closed, Ok(()), "{place}");
        for memory in [region, buffers] {
            self.device.dma().free(memory);
        }
    }

    /// Both rings full of frames: all leave.
    fn transmit(&mut self, random: &mut ChaCha8Rng) {
        let filled = fill_rings(&mut self.device, random);
        let memory = filled.unwrap_or_else(|error| panic!("{}: {error}", self.place));
        self.simulation.borrow_mut().run_until_idle();
        let (sent, cut) = sent(&self.simulation);
        assert!(sent > 100, "{}: {sent} frames left", self.place);
        assert_eq!(cut, 0, "{}", self.place);
        let counted = self.device.counter(Counter::TxFrames);
        assert_eq!(counted, Ok(sent), "{}", self.place);
        for buffer in memory {
            self.device.dma().free(buffer);
        }
    }

    fn read(&mut self, memory: DmaBuffer) -> Vec<u8> {
        let mut octets = vec![0; memory.octets];
        self.device.dma().read(memory.address, &mut octets);
        octets
    }

    /// The device holds nothing, and the host saw nothing wrong.
    fn end(mut self) {
        let place = &self.place;
        assert_eq!(self.device.free_pages(), Ok(PAGES as u32), "{place}");
        let in_use = self.device.in_use();
        assert_eq!(in_use, Ok(InUse::default()), "{place}");
        let closed = self.device.close();
        assert!(closed.is_ok(), "{place}: {:?}", closed.err());
        let simulation = self.simulation.borrow();
        let violations = simulation.complex().monitor().records();
        assert!(violations.is_empty(), "{place}: {violations:?}");
    }
}

/// Frames that have left, and those of them that were cut. A frame that is neither cut nor whole is
/// a failure.
fn sent(simulation: &Rc<RefCell<Simulation>>) -> (u32, u32) {
    let (mut all, mut cut) = (0, 0);
    while let Some(sent) = simulation.borrow_mut().next_sent() {
        assert!(sent.error || is_whole(&sent.octets), "cycle {}", sent.cycle);
        all += 1;
        cut += u32::from(sent.error);
    }
    (all, cut)
}

/// What the device did until a reset.
#[derive(Debug, Default)]
struct Done {
    /// Writes to the previous driver's memory.
    writes: usize,
    /// Frames that left, and those that the reset cut.
    sent: u32,
    cut: u32,
}

/// One reset under load, and what the device did until then.
fn reset_once(
    simulation: &Rc<RefCell<Simulation>>,
    random: &mut ChaCha8Rng,
    (ending, place): (Ending, String),
    all_entries: bool,
) -> Done {
    let writes = Writes::default();
    let stall = STALLS[random.random_range(0..STALLS.len())];
    let octets = Config::default().max_payload_octets;
    let used = Use::start(simulation, random.next_u64(), octets);
    let used = used.unwrap_or_else(|error| panic!("{place}: {error}"));
    {
        let mut simulation = simulation.borrow_mut();
        simulation.observe_writes(Box::new(writes.clone()));
        simulation.set_stall(stall);
        simulation.set_read_stall(READ_STALLS[random.random_range(0..READ_STALLS.len())]);
        simulation.start_record();
        simulation.run(random.random_range(1..RESET_WITHIN));
    }
    let remains = used.end(ending);
    let remains = remains.unwrap_or_else(|error| panic!("{place}: {error}"));
    // The pin and the close have reset the device; after a killed driver the next one does.
    let ready = Rc::new(Cell::new(match ending {
        Ending::Kill => 0,
        Ending::Pin | Ending::Close => simulation.borrow().now(),
    }));
    let mut next = Next::open(simulation, &ready, place);
    simulation.borrow_mut().set_stall(0.0);
    simulation.borrow_mut().set_read_stall(0.0);
    let (sent, cut) = sent(simulation);
    let old = |next: &mut Next| -> Vec<Vec<u8>> {
        let memory = remains.memory.iter();
        memory.map(|&buffer| next.read(buffer)).collect()
    };
    let before = old(&mut next);
    next.assert_tables_empty(random, all_entries);
    next.meet_the_earlier_peers(&remains, random);
    next.converse(random);
    next.transmit(random);
    let late = |(now, address): &&(u64, u64)| *now >= ready.get() && *address < NEXT_ADDRESS;
    let place = &next.place;
    let first_late = writes.0.borrow().iter().find(late).copied();
    assert_eq!(first_late, None, "{place}: ready in {}", ready.get());
    let events = simulation.borrow_mut().take_record().events;
    let late_read = events.into_iter().find(|(now, event)| {
        let Event::FromDevice { kind, address, .. } = event else {
            return false;
        };
        *kind == TlpKind::Read && late(&&(*now, *address))
    });
    assert_eq!(late_read, None, "{place}: ready in {}", ready.get());
    let place = place.clone();
    assert!(
        old(&mut next) == before,
        "{place}: the previous driver's memory"
    );
    next.end();
    remains.free(simulation);
    simulation.borrow_mut().clear_verdicts();
    let is_old = |(_, address): &&(u64, u64)| *address < NEXT_ADDRESS;
    let writes = writes.0.borrow().iter().filter(is_old).count();
    Done { writes, sent, cut }
}

/// However a reset comes, under full load and in any cycle: from its end on the device writes to no
/// earlier memory, its tables are empty, and it works.
#[test]
fn a_reset_leaves_nothing_from_before_and_a_device_that_works() {
    let resets = number("FERROWARP_RESETS").unwrap_or(RESETS);
    let seed = number("FERROWARP_SEED").unwrap_or(1);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let reads = ReadPath {
        latency_cycles: 100,
        spread_cycles: 100,
        reorders: true,
        ..ReadPath::default()
    };
    let simulation = Simulation::new(&SimulationConfig {
        seed,
        reads,
        ..SimulationConfig::default()
    });
    let simulation = Rc::new(RefCell::new(simulation.expect("the core is there")));
    let mut done = Done::default();
    for round in 0..resets {
        let ending = ENDINGS[round as usize % ENDINGS.len()];
        let place = format!("FERROWARP_SEED={seed}, reset {round} ({ending:?})");
        // All entries once after each ending.
        let all_entries = round < ENDINGS.len() as u64;
        let once = reset_once(&simulation, &mut random, (ending, place), all_entries);
        done.writes += once.writes;
        done.sent += once.sent;
        done.cut += once.cut;
    }
    println!("{resets} resets, seed {seed}; before them {done:?}");
    assert!(done.writes as u64 > 50 * resets, "{done:?}: no load");
    assert!(u64::from(done.sent) > 10 * resets, "{done:?}: no load");
    assert!(done.cut > 0, "{done:?}: no frame was under way");
}

/// Reset at any time, in a frame, a FPDU, a TLP: the next driver finds all pages and counters from
/// zero, and captures play as on a fresh device.
#[test]
fn a_device_that_was_reset_in_mid_traffic_plays_as_a_fresh_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures/mk-loss.pcap");
    let capture = rnic_capture::read(&path).expect("a capture of the project");
    let flows = rnic_capture::flows(&capture, None);
    for seed in PLAY_SEEDS {
        let simulation = Simulation::new(&SimulationConfig {
            seed,
            ..SimulationConfig::default()
        });
        let simulation = Rc::new(RefCell::new(simulation.expect("the core is there")));
        use_and_reset(&simulation, seed, Config::default().max_payload_octets).expect("it is used");
        let (bar, dma) = attach(&simulation);
        let mut device = Device::open(bar, dma, Config::default()).expect("opens again");
        assert_eq!(device.free_pages(), Ok(PAGES as u32), "seed {seed}");
        let counters = device.counters().expect("the device answers");
        let counted = counters.into_iter().find(|(_, count)| *count > 0);
        assert_eq!(counted, None, "seed {seed}");
        let options = Options {
            seed,
            used: true,
            ..Options::default()
        };
        let report = play(&capture, &flows, &options, &ProgressBar::hidden());
        let report = report.expect("it plays");
        assert_eq!(
            report.mismatches, 0,
            "seed {seed}: {:?}",
            report.differences
        );
    }
}
