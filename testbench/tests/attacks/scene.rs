//! Where attacks are played: hardware at W = 64 and model side by side, three connections, regions
//! and receive buffers with guards around each.
//!
//! ```text
//!  domain 7: PLAIN, MARKED (one of them is attacked)      domain 8: BYSTANDER
//!    STAG write, invalidate   SINK_STAG read sink           GOOD_STAG write, sink, invalidate
//!    SHARED_STAG write        EMPTY_STAG zero octets
//!    TOP_STAG up to 2^64      BOUND_STAG the bystander's alone
//!  each connection: three buffers on each of three queues, and room for four reads
//! ```
//!
//! No octet that is sent is zero, and memory is zero at first: what was written shows. What should
//! be written is noted by [`Scene::places`]; all else must stay as it was.

mod check;
mod setup;

use rnic_abi::counters::Counter;
use rnic_capture::Flow;
use rnic_driver::{Config, ConnectionId, DriverError, RegionConfig};
use rnic_model::Room;
use rnic_sim::{Form, SimulationConfig};
use rnic_testbench::play::compare::Comparison;
use rnic_testbench::play::dut::{settle, Dut};
use rnic_testbench::play::rtl::{Rtl, RtlOptions};
use rnic_testbench::play::software::Software;
use rnic_testbench::play::tally::Tally;
use rnic_testbench::traffic::frame::FLAG_ACK;
use rnic_testbench::traffic::{Endpoint, FrameBuilder, Sender, StreamConfig};
use std::ops::Range;
use std::sync::OnceLock;

/// Payload octets of a TCP segment.
pub const MSS: usize = 1448;
/// Receive window of each connection.
pub const WINDOW: u32 = 1 << 20;
/// Octets of a region.
pub const REGION_OCTETS: usize = 5000;
/// Tagged Offset of a region's first octet, but for [`TOP_STAG`].
pub const REGION_TO: u64 = 0x1_0000_0003;
/// Octets of a receive buffer.
pub const BUFFER_OCTETS: usize = 3000;
/// Receive buffers on each queue.
pub const BUFFERS: u32 = 3;
/// Pages of packet memory that one connection may hold beyond a gap.
pub const OOO_SHARE: u32 = 200;

/// The attacked connections' region: remote write and invalidate.
pub const STAG: u32 = 0x00a1_b201;
/// Their sink of Read Responses, and nothing else.
pub const SINK_STAG: u32 = 0x00a1_b302;
/// Shared by streams of their domain: remote write, no invalidation.
pub const SHARED_STAG: u32 = 0x00a1_b403;
/// A region without an octet.
pub const EMPTY_STAG: u32 = 0x00a1_b504;
/// A region whose last octet has Tagged Offset 2^64 - 2.
pub const TOP_STAG: u32 = 0x00a1_b605;
/// In their domain, but bound to the bystander's connection.
pub const BOUND_STAG: u32 = 0x00a1_b706;
/// The bystander's region, of another domain.
pub const GOOD_STAG: u32 = 0x00c0_ff07;

/// Tagged Offset of the first octet of [`TOP_STAG`]; the last one is 2^64 - 2.
pub const TOP_TO: u64 = u64::MAX - REGION_OCTETS as u64;

const BYSTANDER: usize = 0;
const PLAIN: usize = 1;
const MARKED: usize = 2;
/// Octets around each region and buffer that nothing may write.
const GUARD_OCTETS: u64 = 67;
/// Octets of the bystander's Write, which takes 41 segments, and its Sends after it.
const GOOD_OCTETS: usize = 57_400;
const GOOD_SENDS: usize = 3;
const GOOD_SEND_OCTETS: usize = 700;
/// Where the attacked connection's good Write goes, and its octets.
const AFTER_OFFSET: usize = 4500;
const AFTER_OCTETS: usize = 100;

/// Memory of a region or buffer, guards included.
struct Piece {
    name: Name,
    /// Of the first guard.
    address: u64,
    expected: Vec<u8>,
}

/// What a piece of memory is for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// The region of an STag.
    Region(u32),
    /// The buffer of a connection's queue for an MSN.
    Buffer(usize, u32, u32),
}

/// The sending end of a connection.
struct Peer {
    connection: ConnectionId,
    builder: FrameBuilder,
    sender: Sender,
    /// Octets of its stream that were sent.
    sent: usize,
}

/// Device, model, connections, memory.
pub struct Scene {
    rtl: Rtl,
    model: Software,
    tallies: [Tally; 2],
    comparison: Comparison,
    memory: Vec<Piece>,
    regions: Vec<RegionConfig>,
    peers: Vec<Peer>,
    attacked: usize,
    /// FPDU of the attacked stream that is refused, if it is not the last one of the attack.
    culprit: Option<usize>,
    /// Nothing of it was read when it was refused: its record has no length.
    unread: bool,
    silent: bool,
}

/// `octets` octets, none of which is zero.
pub fn pattern(octets: usize) -> Vec<u8> {
    (0..octets).map(|at| (at % 251 + 1) as u8).collect()
}

/// The bystander's traffic where there is no attack: cycles, and every counter.
pub fn bystander_alone() -> &'static (u64, Vec<(Counter, u32)>) {
    static ALONE: OnceLock<(u64, Vec<(Counter, u32)>)> = OnceLock::new();
    ALONE.get_or_init(|| {
        let mut scene = Scene::new(0.0);
        (scene.bystander_receives(), scene.rtl.counters())
    })
}

fn stream(number: usize) -> StreamConfig {
    StreamConfig {
        markers: number == MARKED,
        // The attacks and what follows them go past the end of sequence space.
        sequence_start: 0xffff_ff00 + number as u32,
        ..StreamConfig::default()
    }
}

/// What the tally must know of a connection.
fn flow(builder: &FrameBuilder, config: &StreamConfig) -> Flow {
    Flow {
        markers: config.markers,
        crc: config.crc,
        sequence_start: config.sequence_start,
        last_frame: usize::MAX,
        ..Flow::between(builder.source.address, builder.destination.address)
    }
}

impl Scene {
    /// A device after reset with everything set up; `stall` is the probability that its host takes
    /// nothing in a cycle.
    pub fn new(stall: f64) -> Self {
        Self::of(stall, false)
    }

    /// The same; with `silicon` of what is synthesised.
    pub fn of(stall: f64, silicon: bool) -> Self {
        let config = Config {
            out_of_order_share: OOO_SHARE,
            ..Config::default()
        };
        let rtl = Rtl::new(&RtlOptions {
            simulation: SimulationConfig {
                stall,
                form: Form::of_verilog(silicon),
                ..SimulationConfig::default()
            },
            config,
            ..RtlOptions::default()
        });
        let ends = [41_000, 42_000, 43_000]
            .map(|port| FrameBuilder::new(Endpoint::host(1, port), Endpoint::host(2, 4420)));
        let numbered = || ends.iter().enumerate();
        let flows: Vec<Flow> = numbered().map(|(n, ends)| flow(ends, &stream(n))).collect();
        let mut scene = Self {
            rtl: rtl.expect("the core is there"),
            model: Software::new(&config, false),
            tallies: [Tally::new(&flows), Tally::new(&flows)],
            comparison: Comparison::default(),
            memory: Vec::new(),
            regions: Vec::new(),
            peers: Vec::new(),
            attacked: PLAIN,
            culprit: None,
            unread: false,
            silent: false,
        };
        for (number, builder) in numbered() {
            scene.open(number, builder.clone());
        }
        scene.register_all();
        scene
    }

    fn duts(&mut self) -> [&mut dyn Dut; 2] {
        [&mut self.rtl, &mut self.model]
    }

    /// Do the same to both, which answer alike.
    pub fn each<T: PartialEq + std::fmt::Debug>(
        &mut self,
        act: impl Fn(&mut dyn Dut) -> Result<T, DriverError>,
    ) -> T {
        let [first, second] = self.duts().map(|dut| act(dut).expect("the driver agrees"));
        assert_eq!(first, second);
        first
    }

    /// A region as it was registered.
    pub fn region(&self, stag: u32) -> RegionConfig {
        let region = self.regions.iter().find(|region| region.stag == stag);
        *region.expect("the scene has it")
    }

    /// Attack the connection whose stream has markers.
    pub fn with_markers(&mut self) {
        self.attacked = MARKED;
    }

    /// The attacked connection's stream.
    pub fn sender(&mut self) -> &mut Sender {
        &mut self.peers[self.attacked].sender
    }

    /// Builds frames of the attacked connection.
    pub fn builder(&self) -> FrameBuilder {
        self.peers[self.attacked].builder.clone()
    }

    /// A segment of the attacked connection with octets of the caller's, `distance` octets after
    /// what its peer has sent.
    pub fn forged(&self, distance: i64, flags: u8, octets: &[u8]) -> Vec<u8> {
        let peer = &self.peers[self.attacked];
        let sequence = peer.sender.sequence(0).wrapping_add(peer.sent as u32);
        let sequence = sequence.wrapping_add(distance as u32);
        peer.builder.segment(sequence, 1, flags, octets)
    }

    /// A segment of the attacked connection with octets of its stream.
    pub fn segment(&self, octets: Range<usize>) -> Vec<u8> {
        let sender = &self.peers[self.attacked].sender;
        let sequence = sender.sequence(octets.start);
        let builder = &self.peers[self.attacked].builder;
        builder.segment(sequence, 1, FLAG_ACK, &sender.stream()[octets])
    }

    /// A frame to both.
    pub fn push(&mut self, frame: &[u8]) {
        let duts = self.duts().into_iter();
        duts.fold(Room::Enough, |room, dut| dut.push(frame, room));
    }

    /// The rest of the attacked connection's stream, in full segments.
    pub fn deliver(&mut self) {
        let end = self.sender().stream().len();
        self.deliver_to(end);
    }

    /// The attacked connection's stream up to octet `end`, in full segments.
    pub fn deliver_to(&mut self, end: usize) {
        let sent = self.peers[self.attacked].sent;
        for start in (sent..end).step_by(MSS) {
            let frame = self.segment(start..end.min(start + MSS));
            self.push(&frame);
        }
        self.skip_to(end);
    }

    /// Count the octets up to `end` as sent.
    pub fn skip_to(&mut self, end: usize) {
        self.peers[self.attacked].sent = end;
    }

    /// Change bits of octet `at` of the last FPDU.
    pub fn flip(&mut self, at: usize, bits: u8) {
        let sender = self.sender();
        let start = sender.fpdus().last().expect("an FPDU").octets.start;
        sender.stream_mut()[start + at] ^= bits;
    }

    /// Make the last FPDU's CRC right over what was changed.
    pub fn reseal(&mut self) {
        let sender = self.sender();
        sender.reseal(sender.fpdus().len() - 1);
    }

    /// FPDU `index` of the attacked stream is the one that is refused.
    pub fn refused_is(&mut self, index: usize) {
        self.culprit = Some(index);
    }

    /// FPDU `index` of the attacked stream is refused before anything of it is read.
    pub fn refused_unread(&mut self, index: usize) {
        self.refused_is(index);
        self.unread = true;
    }

    /// The attacked connection's peer sends nothing more.
    pub fn falls_silent(&mut self) {
        self.silent = true;
    }

    /// Take note that `data` belongs `offset` octets after the start of a piece of memory.
    pub fn places(&mut self, name: Name, offset: usize, data: &[u8]) {
        let piece = self.memory.iter_mut().find(|piece| piece.name == name);
        let piece = piece.expect("the scene has it");
        let from = GUARD_OCTETS as usize + offset;
        piece.expected[from..from + data.len()].copy_from_slice(data);
    }

    /// The buffer of the attacked connection for message `msn` of `qn`.
    pub fn buffer(&self, qn: u32, msn: u32) -> Name {
        Name::Buffer(self.attacked, qn, msn)
    }

    /// Wait until both are idle, and collect what they did.
    pub fn settle(&mut self) {
        let seen = settle(self.duts().into_iter());
        for (seen, tally) in seen.into_iter().zip(&mut self.tallies) {
            tally.take(seen);
        }
        let [rtl, model] = &mut self.tallies;
        self.comparison.compare(rtl, model);
    }

    /// Send segments with one FPDU each to the hardware and `act` when `first` of them are there,
    /// while the others arrive; the model then acts after as many as the hardware did not refuse.
    /// Gives their number, and the octets of `region` when the hardware's driver had acted.
    pub fn race(
        &mut self,
        frames: &[Vec<u8>],
        first: usize,
        act: impl Fn(&mut dyn Dut) -> Result<(), DriverError>,
        region: Name,
    ) -> (usize, Vec<u8>) {
        self.settle();
        let before = self.tallies[0].flows[self.attacked].fpdu_traces.len();
        let (first, others) = frames.split_at(first);
        first.iter().for_each(|frame| {
            self.rtl.push(frame, Room::Enough);
        });
        others.iter().for_each(|frame| self.rtl.queue(frame));
        act(&mut self.rtl).expect("the driver agrees");
        let piece = self.memory.iter().find(|piece| piece.name == region);
        let piece = piece.expect("the scene has it");
        let seen = self.rtl.read(piece.address, piece.expected.len());
        self.rtl.settle();
        self.tallies[0].take(self.rtl.observe());
        let traces = &self.tallies[0].flows[self.attacked].fpdu_traces[before..];
        let good = traces.iter().filter(|trace| trace.error == 0).count();
        for frame in &frames[..good] {
            self.model.push(frame, Room::Enough);
        }
        act(&mut self.model).expect("the driver agrees");
        for frame in &frames[good..] {
            self.model.push(frame, Room::Enough);
        }
        let octets = GUARD_OCTETS as usize..piece.expected.len() - GUARD_OCTETS as usize;
        (good, seen[octets].to_vec())
    }

    /// A good Write and a good Send of the attacked connection, which count if it `is_open`.
    pub fn attacked_goes_on(&mut self, is_open: bool) {
        let last = self.sender().fpdus().len().saturating_sub(1);
        self.culprit.get_or_insert(last);
        if self.silent {
            return;
        }
        let data = pattern(AFTER_OCTETS);
        let to = REGION_TO + AFTER_OFFSET as u64;
        self.sender().rdma_write(STAG, to, &data);
        let msn = self.sender().send(&data);
        self.deliver();
        if is_open {
            self.places(Name::Region(STAG), AFTER_OFFSET, &data);
            self.places(self.buffer(0, msn), 0, &data);
        }
    }

    /// The bystander's traffic, as fast as the wire is, until the last of it is in memory: cycles.
    pub fn bystander_receives(&mut self) -> u64 {
        let data = pattern(GOOD_OCTETS);
        self.places(Name::Region(GOOD_STAG), 0, &data);
        let sender = &mut self.peers[BYSTANDER].sender;
        sender.rdma_write(GOOD_STAG, REGION_TO, &data);
        let message = pattern(GOOD_SEND_OCTETS);
        for _ in 0..GOOD_SENDS {
            sender.send(&message);
        }
        for msn in 1..=GOOD_SENDS as u32 {
            self.places(Name::Buffer(BYSTANDER, 0, msn), 0, &message);
        }
        let peer = &self.peers[BYSTANDER];
        let segment = |octets: &Range<usize>| {
            let (stream, sequence) = (peer.sender.stream(), peer.sender.sequence(octets.start));
            let octets = &stream[octets.clone()];
            peer.builder.segment(sequence, 1, FLAG_ACK, octets)
        };
        let fpdus = peer.sender.fpdus().iter();
        let frames: Vec<Vec<u8>> = fpdus.map(|fpdu| segment(&fpdu.octets)).collect();
        let start = self.rtl.cycles();
        frames.iter().for_each(|frame| self.push(frame));
        self.settle();
        self.rtl.last_write() - start
    }
}
