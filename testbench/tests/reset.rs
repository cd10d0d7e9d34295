//! The device is reset, and its driver opens it anew. Block RAM keeps what it holds over a reset:
//! the connections, STags and buffers of before must not reach memory that was given back, and
//! traffic must find what a fresh device has.

use indicatif::ProgressBar;
use rnic_abi::limits::PAGES;
use rnic_abi::tables::RIGHT_REMOTE_WRITE;
use rnic_driver::{Completion, Config, Device, Dma, DmaBuffer, RegionConfig};
use rnic_sim::{attach, SimBar, SimDma, Simulation, SimulationConfig};
use rnic_testbench::capture;
use rnic_testbench::play::used::use_and_reset;
use rnic_testbench::play::{play, Options};
use rnic_testbench::traffic::frame::{Endpoint, FrameBuilder, FLAG_ACK};
use rnic_testbench::traffic::{Sender, StreamConfig};
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

const STAG: u32 = 0x0044_5500;
const PROTECTION_DOMAIN: u16 = 9;
/// Octets of a Write, which is one FPDU in one segment, and Writes before and after the reset.
const WRITE_OCTETS: usize = 500;
const WRITES: usize = 4;
/// What the memory holds when its next owner has it.
const PATTERN: u8 = 0xa5;
/// Seeds of the resets in mid-traffic: each comes in another cycle.
const SEEDS: std::ops::Range<u64> = 1..7;

/// A device with one connection and a region open to it, its peer, and the region's memory.
struct World {
    simulation: Rc<RefCell<Simulation>>,
    device: Device<SimBar, SimDma>,
    sender: Sender,
    region: DmaBuffer,
    buffer: DmaBuffer,
}

fn builder() -> FrameBuilder {
    FrameBuilder::new(Endpoint::host(1, 40_100), Endpoint::host(2, 4_420))
}

fn config(fresh: bool) -> Config {
    Config {
        fresh,
        ..Config::default()
    }
}

impl World {
    /// Writes have arrived, the core is idle, the device is reset and opened again, and its memory
    /// now belongs to another owner. `fresh` is what the driver then takes the device for.
    fn after_reset(fresh: bool) -> Self {
        let simulation = Simulation::new(&SimulationConfig::default()).expect("the core is there");
        let simulation = Rc::new(RefCell::new(simulation));
        let (bar, dma) = attach(&simulation);
        let mut device = Device::open(bar, dma, config(true)).expect("opens");
        let octets = 2 * WRITES * WRITE_OCTETS;
        let region = device.dma().allocate("region", octets, 64).expect("memory");
        let buffer = device.dma().allocate("buffer", WRITE_OCTETS, 64);
        let buffer = buffer.expect("memory");
        let stream = StreamConfig::default();
        let connection = builder().connection(&stream, 1 << 16, PROTECTION_DOMAIN);
        let connection = device.open_connection(&connection).expect("opens");
        let region_config = RegionConfig {
            stag: STAG,
            rights: RIGHT_REMOTE_WRITE,
            protection_domain: PROTECTION_DOMAIN,
            connection: None,
            tagged_offset: 0,
            octets: octets as u64,
            address: region.address,
        };
        device.register_region(&region_config).expect("one region");
        device.open_queue(connection, 0, 0).expect("one queue");
        let posted = device.post_receive(connection, 0, buffer);
        posted.expect("room for one");
        let mut world = Self {
            simulation,
            device,
            sender: Sender::new(stream),
            region,
            buffer,
        };
        world.write_all(0);
        let mut written = vec![0; octets];
        world.device.dma().read(region.address, &mut written);
        assert!(written.contains(&1), "the Writes before the reset came");
        world.reset(fresh)
    }

    fn reset(self, fresh: bool) -> Self {
        self.simulation.borrow_mut().reset();
        let (bar, dma) = self.device.close();
        let mut device = Device::open(bar, dma, config(fresh)).expect("opens again");
        for memory in [self.region, self.buffer] {
            let pattern = vec![PATTERN; memory.octets];
            device.dma().write(memory.address, &pattern);
        }
        Self { device, ..self }
    }

    /// Writes from number `first` on, and then a Send, of the one stream.
    fn write_all(&mut self, first: usize) {
        let start = self.sender.stream().len();
        for number in first..first + WRITES {
            let at = (number * WRITE_OCTETS) as u64;
            self.sender.rdma_write(STAG, at, &[1; WRITE_OCTETS]);
        }
        if first > 0 {
            self.sender.send(&[2; WRITE_OCTETS]);
        }
        self.push_from(start);
    }

    /// The FPDUs from `start` of the stream on, each in a segment.
    fn push_from(&mut self, start: usize) {
        let fpdus = self.sender.fpdus().iter();
        for fpdu in fpdus.filter(|fpdu| fpdu.octets.start >= start) {
            let octets = &self.sender.stream()[fpdu.octets.clone()];
            let sequence = self.sender.sequence(fpdu.octets.start);
            let frame = builder().segment(sequence, 1, FLAG_ACK, octets);
            self.simulation.borrow_mut().push_frame(frame, false);
        }
        self.simulation.borrow_mut().run_until_idle();
    }

    /// Octets of the memory that was given back which are not its next owner's any more.
    fn changed(&mut self) -> usize {
        let mut changed = 0;
        for memory in [self.region, self.buffer] {
            let mut octets = vec![0; memory.octets];
            self.device.dma().read(memory.address, &mut octets);
            changed += octets.iter().filter(|octet| **octet != PATTERN).count();
        }
        changed
    }

    /// The connection of before goes on.
    fn old_connection_goes_on(&mut self) {
        self.write_all(WRITES);
    }

    /// A new connection, on the same addresses and ports, writes to the STag of before.
    fn new_connection_uses_the_old_stag(&mut self) {
        let stream = StreamConfig::default();
        let connection = builder().connection(&stream, 1 << 16, PROTECTION_DOMAIN);
        self.device.open_connection(&connection).expect("opens");
        self.sender = Sender::new(stream);
        self.write_all(0);
    }
}

/// Nobody of before gets into memory: segments of the old connection are frames for the host, and
/// the old STag is none.
#[test]
fn old_connections_and_stags_do_not_reach_memory_after_a_reset() {
    let mut world = World::after_reset(false);
    world.old_connection_goes_on();
    assert_eq!(world.changed(), 0, "octets changed by the old connection");
    assert!(world.device.poll_completion().is_none());
    let frames = std::iter::from_fn(|| world.device.poll_host_frame()).count();
    assert_eq!(frames, WRITES + 1, "frames for the host");
    world.new_connection_uses_the_old_stag();
    assert_eq!(world.changed(), 0, "octets changed through the old STag");
    let completion = world.device.poll_completion();
    assert!(
        matches!(completion, Some(Completion::Error { .. })),
        "{completion:?}"
    );
    let simulation = world.simulation.borrow();
    assert_eq!(simulation.free_pages(), PAGES as u32);
    let violations = simulation.complex().monitor().records();
    assert!(violations.is_empty(), "{violations:?}");
}

/// A driver that takes the device for a fresh one lets both in: what the test before shows is the
/// clearing's doing.
#[test]
fn without_the_clearing_old_connections_and_stags_reach_memory() {
    let mut world = World::after_reset(true);
    world.old_connection_goes_on();
    assert!(world.changed() > 0, "by the old connection");
    let mut world = World::after_reset(true);
    world.new_connection_uses_the_old_stag();
    assert!(world.changed() > 0, "through the old STag");
}

/// Reset at any time, in a frame, a FPDU, a TLP: the next driver finds all pages and counters from
/// zero, and captures play as on a fresh device.
#[test]
fn a_device_that_was_reset_in_mid_traffic_plays_as_a_fresh_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures/mk-loss.pcap");
    let capture = capture::read(&path).expect("a capture of the project");
    let flows = capture::flows(&capture, None);
    for seed in SEEDS {
        let simulation = Simulation::new(&SimulationConfig {
            seed,
            ..SimulationConfig::default()
        });
        let simulation = Rc::new(RefCell::new(simulation.expect("the core is there")));
        use_and_reset(&simulation, seed, Config::default().max_payload_octets).expect("it is used");
        let (bar, dma) = attach(&simulation);
        let mut device = Device::open(bar, dma, config(false)).expect("opens again");
        assert_eq!(device.free_pages(), PAGES as u32, "seed {seed}");
        let counted = device.counters().into_iter().find(|(_, count)| *count > 0);
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
