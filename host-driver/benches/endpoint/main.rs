//! What a frame costs the driver, TCP and FPDU work included: `cargo bench -p rnic-driver`.
//!
//! ```text
//!  post_sends -> endpoint --> null device     an event acknowledges every second frame
//!  events of received octets --> endpoint --> an ACK for each
//! ```
//!
//! Beside it a frame of three pieces on the ring alone. Times, allocations and register writes are
//! those of the driver's calls; what the bench does as the device and the peer is left out of the
//! times and counted among no allocations. The goals are printed, not asserted: a shared machine
//! says little about another one.

mod null;
mod peer;

use null::NullDevice;
use peer::Peer;
use rnic_driver::stack::{AddressPrefix, Settings};
use rnic_driver::verbs::endpoint::{
    Endpoint, EndpointSettings, PairOptions, QueuePair, SendOperation,
};
use rnic_driver::verbs::{Context, RegionOptions, Rights};
use rnic_driver::{Device, Piece, TransmitFrame, TransmitRing};
use stats_alloc::{Region, StatsAlloc, INSTRUMENTED_SYSTEM};
use std::alloc::System;
use std::time::{Duration, Instant};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const FRAME_GOAL_NS: f64 = 600.0;
const ACK_GOAL_NS: f64 = 300.0;
const WRITES_GOAL: f64 = 1.0 / 8.0;
/// Writes that are posted and have not completed: more than a window of 64 KiB holds, so that
/// frames leave as the window moves.
const POSTED: usize = 128;
/// Connections of the device.
const CONNECTIONS: u32 = 16;
/// Octets of an FPDU that fills a segment of 1460 octets, and of its payload.
const SEGMENT: u32 = 1_460;
const PAYLOAD: usize = 1_440;
/// Rounds before the measurement: rings and queues have their room then.
const WARM: u32 = 500;
const ROUNDS: u32 = 2_000;
/// Frames on the ring alone.
const FRAMES: u32 = 100_000;

type Pair = QueuePair<NullDevice, NullDevice>;

/// Queue pairs in full operation over a null device, each with its peer.
struct Scene {
    device: NullDevice,
    now_us: u64,
    endpoint: Endpoint<NullDevice, NullDevice>,
    pairs: Vec<(Pair, Peer)>,
    context: Context<NullDevice, NullDevice>,
    domain: rnic_driver::verbs::ProtectionDomain<NullDevice, NullDevice>,
}

impl Scene {
    fn new() -> Self {
        let device = NullDevice::new();
        let config = Endpoint::device_config();
        let opened = Device::open(device.clone(), device.clone(), config).expect("it opens");
        let context = Context::new(opened).expect("it is unused");
        let domain = context.protection_domain().expect("the first");
        let settings = EndpointSettings::new(Settings::new(
            peer::OWN_MAC,
            vec![AddressPrefix {
                address: peer::OWN.into(),
                bits: 24,
            }],
        ));
        let endpoint = Endpoint::without_interrupts(&context, &settings).expect("it starts");
        let mut scene = Self {
            device,
            now_us: 0,
            endpoint,
            pairs: Vec::new(),
            context,
            domain,
        };
        for number in 0..CONNECTIONS {
            let connected = scene.connect(number);
            scene.pairs.push(connected);
        }
        scene.device.with(|null| null.keeps_frames = false);
        scene
    }

    /// A queue pair, which is connection `number` of the device.
    fn connect(&self, number: u32) -> (Pair, Peer) {
        let mut peer = Peer::new(self.device.clone(), number);
        let mut turn = || {
            peer.answer();
            self.endpoint.poll(0).expect("it is there");
        };
        let stream = self.endpoint.open(peer::ADDRESS, |_| {});
        let stream = stream.expect("it begins");
        while !stream.is_connected().expect("it answers") {
            turn();
        }
        let options = PairOptions {
            sends: 256,
            receives: 4,
            ..PairOptions::default()
        };
        let pair = stream.queue_pair(&self.domain, &Default::default(), &options);
        let pair = pair.expect("there is room");
        pair.begin(b"").expect("it is connected");
        while pair.poll_started().expect("it is accepted").is_none() {
            turn();
        }
        (pair, peer)
    }
}

/// What was measured, of so many frames.
struct Measured {
    time: Duration,
    allocations: usize,
    bar_writes: u64,
    frames: u64,
}

impl Measured {
    fn print(&self, what: &str, goal_ns: f64) {
        let frames = self.frames as f64;
        let ns = self.time.as_nanos() as f64 / frames;
        let allocations = self.allocations as f64 / frames;
        let writes = self.bar_writes as f64 / frames;
        println!(
            "{what}: {ns:.0} ns a frame (goal {goal_ns:.0}, ratio {:.2}), {allocations:.3} \
             allocations (goal 0), {writes:.3} register writes (goal {WRITES_GOAL:.3})",
            ns / goal_ns
        );
    }
}

/// Measure `round` after it has run [`WARM`] times; `between` is the rest of the world.
fn measure(
    scene: &mut Scene,
    mut round: impl FnMut(&mut Scene),
    mut between: impl FnMut(&mut Scene),
) -> Measured {
    let mut measured = Measured {
        time: Duration::ZERO,
        allocations: 0,
        bar_writes: 0,
        frames: 0,
    };
    for number in 0..WARM + ROUNDS {
        let counts = |scene: &Scene| {
            let null = |null: &mut null::Null| (null.bar_writes, null.frames_sent());
            scene.device.with(null)
        };
        let before = counts(scene);
        let region = Region::new(ALLOCATOR);
        let begun = Instant::now();
        round(scene);
        let passed = begun.elapsed();
        let allocated = region.change().allocations;
        let after = counts(scene);
        if number >= WARM {
            measured.time += passed;
            measured.allocations += allocated;
            measured.bar_writes += after.0 - before.0;
            measured.frames += after.1 - before.1;
        }
        between(scene);
    }
    measured
}

/// Writes of one full segment each, by the first queue pair.
fn writes(scene: &mut Scene) -> Measured {
    let memory = scene.context.allocate(PAYLOAD).expect("memory");
    let options = RegionOptions {
        rights: Rights::NONE,
        ..RegionOptions::default()
    };
    let region = scene.domain.register(memory, &options).expect("a region");
    let payload = [region.part(0..PAYLOAD).expect("all of it")];
    let operation = SendOperation::Write {
        payload: &payload,
        stag: 0x100,
        to: 0,
    };
    let requests = [(0, operation); POSTED];
    let mut outstanding = 0;
    let round = |scene: &mut Scene| {
        scene.now_us += 50;
        scene.endpoint.poll(scene.now_us).expect("it is there");
        let pair = &scene.pairs[0].0;
        while pair.poll_completion().expect("it is open").is_some() {
            outstanding -= 1;
        }
        // Posting is part of a frame's cost.
        let requests = &requests[outstanding..];
        pair.post_sends(requests).expect("there is room");
        outstanding = POSTED;
    };
    let mut acknowledged = scene.device.with(|null| null.bulk_sent);
    let between = |scene: &mut Scene| {
        let sent = scene.device.with(|null| null.bulk_sent);
        let segments = (sent - acknowledged) as u32;
        scene.pairs[0].1.acknowledge(segments, SEGMENT);
        acknowledged = sent;
    };
    measure(scene, round, between)
}

/// ACKs of what the device has received, for `connections` of them in each turn.
fn acks(scene: &mut Scene, connections: usize) -> Measured {
    let round = |scene: &mut Scene| {
        scene.now_us += 50;
        scene.endpoint.poll(scene.now_us).expect("it is there");
    };
    let between = |scene: &mut Scene| {
        for (_, peer) in &mut scene.pairs[..connections] {
            peer.received(2 * SEGMENT);
        }
    };
    between(scene);
    measure(scene, round, between)
}

/// Frames of three pieces on the ring alone.
fn ring() -> Measured {
    let device = NullDevice::new();
    device.with(|null| null.keeps_frames = false);
    let config = Endpoint::device_config();
    let mut opened = Device::open(device.clone(), device.clone(), config).expect("it opens");
    let memory = rnic_driver::DmaBuffer {
        address: 4096,
        octets: PAYLOAD,
    };
    let pieces = [
        Piece::Octets(&[0x5a; 70]),
        Piece::Memory(memory),
        Piece::Octets(&[0; 4]),
    ];
    let frame = TransmitFrame {
        pieces: &pieces,
        checksum: None,
        crc: None,
        cookie: 0,
    };
    let writes = device.with(|null| null.bar_writes);
    let region = Region::new(ALLOCATOR);
    let begun = Instant::now();
    for number in 0..FRAMES {
        opened
            .stage_frame(TransmitRing::Bulk, &frame)
            .expect("there is room");
        if number % 8 == 7 {
            opened
                .announce_frames(TransmitRing::Bulk)
                .expect("it is there");
            while opened
                .poll_transmitted()
                .expect("reports are right")
                .is_some()
            {}
        }
    }
    Measured {
        time: begun.elapsed(),
        allocations: region.change().allocations,
        bar_writes: device.with(|null| null.bar_writes) - writes,
        frames: FRAMES.into(),
    }
}

fn main() {
    // Cargo passes `--bench`; a word that is none of its options names a part to measure alone.
    let part = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let is_asked = |name| part.as_deref().is_none_or(|part| part == name);
    if is_asked("ring") {
        ring().print("a frame on the ring alone", FRAME_GOAL_NS);
    }
    let mut scene = Scene::new();
    if is_asked("write") {
        let what = "a Write of 1440 octets, sent and acknowledged";
        writes(&mut scene).print(what, FRAME_GOAL_NS);
    }
    if is_asked("ack") {
        let what = "an event of received octets, acknowledged, one a turn";
        acks(&mut scene, 1).print(what, ACK_GOAL_NS);
        let what = "the same, of 16 connections a turn";
        acks(&mut scene, CONNECTIONS as usize).print(what, ACK_GOAL_NS);
    }
}
