//! One connection of a workload: its start-up, and the segments of both sides that wait.

use crate::traffic::frame::{Endpoint, FrameBuilder, TcpOptions, FLAG_ACK, FLAG_FIN, FLAG_PSH};
use crate::traffic::sender::{Sender, StreamConfig};
use crate::traffic::{startup_frame, Conversation, Side};
use crate::workload::describe::{Faults, Field, IpFamily, Markers, Workload};
use crate::workload::faults::{Damage, Injected, Injector, Segment};
use crate::workload::messages::{speak, SentMessage};
use crate::workload::oddity::Oddity;
use crate::workload::purpose::{generator, Purpose};
use crate::workload::{neighbours, odd_frames};
use rand::{Rng, RngCore};
use rand_chacha::ChaCha8Rng;
use rnic_abi::limits::MAX_FRAME_OCTETS;
use rnic_wire::mpa::fpdu::mulpdu;
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;

/// Both sides.
pub const SIDES: [Side; 2] = [Side::Initiator, Side::Responder];
const FIRST_PORT: u16 = 40_000;
const RESPONDER_PORT: u16 = 7174;
const PRIVATE_DATA_OCTETS: usize = 64;
/// TSval and TSecr of every segment.
const TIMESTAMPS: TcpOptions = TcpOptions::Timestamps(1000, 2000);
/// Segments of one side after which the other acknowledges alone.
const SEGMENTS_TO_ACKNOWLEDGE: usize = 8;
const ETHERNET_OCTETS: usize = 14;
const TAG_OCTETS: usize = 4;
const TCP_OCTETS: usize = 20;
/// Octets of IPv4 and TCP header, both with all options they may have.
const IP_TCP_OCTETS_MAX: usize = 120;

/// What a direction said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Direction {
    /// Sender.
    pub source: SocketAddr,
    /// Receiver.
    pub destination: SocketAddr,
    /// FPDUs of its stream.
    pub fpdus: usize,
    /// Messages in the order of sending.
    pub messages: Vec<SentMessage>,
}

/// One side's stream on its way.
#[derive(Debug)]
struct Lane {
    stream: Vec<u8>,
    sequence_start: u32,
    /// Ends of FPDUs, rising.
    ends: Vec<usize>,
    waiting: VecDeque<Segment>,
    /// Segments that open the stream and still wait.
    opening: usize,
    arrived: Arrived,
    unacknowledged: usize,
}

/// Octets that arrived.
#[derive(Debug, Default)]
struct Arrived {
    /// All before this one.
    next: usize,
    /// Ranges after a gap: start and end.
    ahead: BTreeMap<usize, usize>,
}

/// A connection while its segments go out.
#[derive(Debug)]
pub struct Connection {
    conversation: Conversation,
    lanes: [Lane; 2],
    /// What each side said.
    pub directions: [Direction; 2],
    /// Octets of a frame before IP, and of the IP and TCP headers.
    headers: [usize; 3],
    bits: ChaCha8Rng,
    faults: Faults,
    oddities: ChaCha8Rng,
}

impl Connection {
    /// Connection `number` of `workload`: its start-up is done, its segments wait.
    pub fn open(workload: &Workload, number: usize, injected: &mut Injected) -> Self {
        let builders = builders(workload, number);
        let mss = builders[0].mss(workload.mtu);
        let mut content = generator(workload.seed, Purpose::Content, 2 * number);
        let private_data = SIDES.map(|_| {
            let mut octets = vec![0; content.random_range(0..PRIVATE_DATA_OCTETS)];
            content.fill_bytes(&mut octets);
            octets
        });
        let startups = SIDES.map(|side| {
            let markers = markers(workload, side.peer());
            let (crc, revision) = (workload.crc, workload.revision);
            startup_frame(side, markers, crc, revision, &private_data[side as usize])
        });
        let starts = SIDES.map(|_| {
            let random = content.random();
            workload.sequence_start.unwrap_or(random)
        });
        // SYN takes a number, and the start-up frame's octets follow.
        let initial = SIDES.map(|side| {
            let octets = 1 + startups[side as usize].buffer_len() as u32;
            starts[side as usize].wrapping_sub(octets)
        });
        let ends = [0, 1].map(|side: usize| builders[side].source.address);
        let headers = headers(&builders[0]);
        let mut conversation = Conversation::open(builders, initial);
        for side in SIDES {
            conversation.startup(side, &startups[side as usize]);
        }
        let both = SIDES.map(|side| {
            let direction = 2 * number + side as usize;
            let start = starts[side as usize];
            let (lane, fpdus, messages) = lane(workload, direction, start, mss, injected);
            let [source, destination] = [ends[side as usize], ends[side.peer() as usize]];
            (
                lane,
                Direction {
                    source,
                    destination,
                    fpdus,
                    messages,
                },
            )
        });
        let [(first, said), (second, answered)] = both;
        Self {
            conversation,
            lanes: [first, second],
            directions: [said, answered],
            headers,
            bits: generator(workload.seed, Purpose::Bits, 2 * number),
            faults: workload.faults.clone(),
            oddities: generator(workload.seed, Purpose::Oddities, 2 * number),
        }
    }

    /// Does `side` have segments left?
    pub fn waits(&self, side: Side) -> bool {
        !self.lanes[side as usize].waiting.is_empty()
    }

    /// Does `side` have segments left that open its stream?
    pub fn opens(&self, side: Side) -> bool {
        self.lanes[side as usize].opening > 0
    }

    /// Send the next segment of `side`; true if an FPDU ends in it or nothing is left.
    pub fn send(&mut self, side: Side, injected: &mut Injected) -> bool {
        let own = side as usize;
        let lane = &mut self.lanes[own];
        let Some(Segment { octets, damage }) = lane.waiting.pop_front() else {
            return true;
        };
        let opens = lane.opening > 0;
        lane.opening = lane.opening.saturating_sub(1);
        let frame = self.frame(side, &octets, damage, opens, injected);
        self.put(side, &octets, frame);
        match damage {
            Some(Damage::Bit(field)) => self.damage(field),
            Some(Damage::Odd(oddity)) => self.spoil(oddity),
            None => self.lanes[own].arrived.add(octets.start, octets.end),
        }
        self.acknowledge(side);
        let ends = &self.lanes[own].ends;
        let next = ends.partition_point(|&end| end <= octets.start);
        ends.get(next).is_some_and(|&end| end <= octets.end)
    }

    /// After some segments of `side`, the other side acknowledges alone.
    fn acknowledge(&mut self, side: Side) {
        let lane = &mut self.lanes[side as usize];
        lane.unacknowledged += 1;
        if lane.unacknowledged == SEGMENTS_TO_ACKNOWLEDGE {
            lane.unacknowledged = 0;
            let acknowledgement = lane.acknowledgement();
            let next = self.conversation.next_sequence(side.peer());
            self.conversation
                .segment_at(side.peer(), next, acknowledgement, &[]);
        }
    }

    /// How a segment is sent: what opens a stream, and what does not arrive, as it is.
    fn frame(
        &mut self,
        side: Side,
        octets: &Range<usize>,
        damage: Option<Damage>,
        opens: bool,
        injected: &mut Injected,
    ) -> OddFrame {
        let lane = &self.lanes[side as usize];
        let mut frame = OddFrame {
            builder: self.conversation.builder(side).clone(),
            flags: FLAG_ACK | FLAG_PSH,
            payload: lane.stream[octets.clone()].to_vec(),
            longest: false,
        };
        if opens || damage.is_some() {
            return frame;
        }
        let [ethernet, ..] = self.headers;
        let is_v4 = frame.builder.source.address.is_ipv4();
        for (&oddity, &rate) in self.faults.oddities.iter() {
            let possible = match oddity {
                Oddity::IpOptions => {
                    is_v4 && octets.len() + ethernet + IP_TCP_OCTETS_MAX <= MAX_FRAME_OCTETS
                }
                Oddity::Fin => octets.end == lane.stream.len(),
                Oddity::Differ => lane.arrived.has_some(octets),
                Oddity::Runt
                | Oddity::Stranger
                | Oddity::Window
                | Oddity::Longest
                | Oddity::Sack => true,
                Oddity::Fragments | Oddity::TooLong | Oddity::Terminate | Oddity::Reuse => false,
            };
            if !possible || !self.oddities.random_bool(rate) {
                continue;
            }
            let random = &mut self.oddities;
            match oddity {
                Oddity::IpOptions => frame.builder.ip_options = odd_frames::ip_options(random),
                Oddity::Window => frame.builder.window = random.random(),
                Oddity::Fin => frame.flags |= FLAG_FIN,
                Oddity::Longest => frame.longest = true,
                Oddity::Differ => lane.arrived.change(octets, &mut frame.payload, random),
                Oddity::Runt => {
                    let whole = frame.builder.segment(0, 0, FLAG_ACK, &[]);
                    self.conversation.insert(odd_frames::runt(&whole, random));
                }
                Oddity::Sack => {
                    let mut builder = frame.builder.clone();
                    let left = random.random::<u32>();
                    builder.options = TcpOptions::Sack(left, left.wrapping_add(random.random()));
                    let sequence = lane.sequence_start.wrapping_add(octets.start as u32);
                    let whole = builder.segment(sequence, random.random(), FLAG_ACK, &[]);
                    self.conversation.insert(whole);
                }
                _ => {
                    let stranger = odd_frames::stranger(&frame.builder, random);
                    let sequence = lane.sequence_start.wrapping_add(octets.start as u32);
                    let whole = stranger.segment(sequence, 0, frame.flags, &frame.payload);
                    self.conversation.insert(whole);
                }
            }
            injected.add_oddity(oddity);
        }
        frame
    }

    fn put(&mut self, side: Side, octets: &Range<usize>, frame: OddFrame) {
        let OddFrame {
            builder,
            flags,
            payload,
            longest,
        } = frame;
        let acknowledgement = self.lanes[side.peer() as usize].acknowledgement();
        let start = self.lanes[side as usize].sequence_start;
        let sequence = start.wrapping_add(octets.start as u32);
        let to = &mut self.conversation;
        to.segment_by(side, &builder, sequence, acknowledgement, flags, &payload);
        if longest {
            let frame = to.last_frame_mut();
            odd_frames::pad(frame, MAX_FRAME_OCTETS, &mut self.oddities);
        }
    }

    /// Both sides close.
    pub fn close(&mut self) {
        self.conversation.close();
    }

    /// Frames since the last call.
    pub fn take_frames(&mut self) -> Vec<Vec<u8>> {
        self.conversation.take_frames()
    }

    /// Make the newest frame one that the device does not take as a segment.
    fn spoil(&mut self, oddity: Oddity) {
        let [ethernet, ..] = self.headers;
        let frame = self.conversation.last_frame_mut();
        if oddity == Oddity::TooLong {
            return odd_frames::pad(frame, MAX_FRAME_OCTETS + 1, &mut self.oddities);
        }
        let [first, second] = odd_frames::fragments(frame, ethernet, &mut self.oddities);
        *frame = first;
        self.conversation.insert(second);
    }

    /// Turn a bit of the newest frame, in the header or payload that `field` names.
    fn damage(&mut self, field: Field) {
        let [ethernet, ip, tcp] = self.headers;
        let frame = self.conversation.last_frame_mut();
        let octets = match field {
            Field::Ip => ethernet..ethernet + ip,
            Field::Tcp => ethernet + ip..ethernet + ip + tcp,
            _ => ethernet + ip + tcp..frame.len(),
        };
        frame[self.bits.random_range(octets)] ^= 1 << self.bits.random_range(0..8);
    }
}

/// A segment as it is sent.
struct OddFrame {
    builder: FrameBuilder,
    flags: u8,
    payload: Vec<u8>,
    /// Its frame is padded to the longest there may be.
    longest: bool,
}

impl Lane {
    fn acknowledgement(&self) -> u32 {
        self.sequence_start.wrapping_add(self.arrived.next as u32)
    }
}

impl Arrived {
    fn add(&mut self, start: usize, end: usize) {
        let known = self.ahead.entry(start).or_insert(end);
        *known = end.max(*known);
        while let Some(first) = self
            .ahead
            .first_entry()
            .filter(|run| *run.key() <= self.next)
        {
            self.next = self.next.max(first.remove());
        }
    }

    fn has(&self, octet: usize) -> bool {
        let mut ahead = self.ahead.range(..=octet);
        octet < self.next || ahead.any(|(_, &end)| octet < end)
    }

    fn has_some(&self, octets: &Range<usize>) -> bool {
        let mut ahead = self.ahead.range(..octets.end);
        let is_ahead = ahead.any(|(_, &end)| end > octets.start);
        !octets.is_empty() && (octets.start < self.next || is_ahead)
    }

    /// Change each octet of `payload`, which is that of `octets`, that has arrived.
    fn change(&self, octets: &Range<usize>, payload: &mut [u8], generator: &mut ChaCha8Rng) {
        for (octet, value) in octets.clone().zip(payload) {
            if self.has(octet) {
                *value ^= generator.random_range(1..=u8::MAX);
            }
        }
    }
}

fn builders(workload: &Workload, number: usize) -> [FrameBuilder; 2] {
    let v6 = match workload.ip {
        IpFamily::V4 => false,
        IpFamily::V6 => true,
        IpFamily::Both => number % 2 == 1,
    };
    let endpoint = |number: usize, host: u8, port: u16| {
        let address = match v6 {
            false => IpAddr::from([10, 77, number as u8, host]),
            true => IpAddr::from([0xfd77, 0, 0, 0, 0, 0, number as u16, u16::from(host)]),
        };
        Endpoint {
            mac: [0x02, 0, 0, 0, number as u8, host],
            address: (address, port).into(),
        }
    };
    let own = |number: usize| {
        let pair = if workload.one_pair { 0 } else { number };
        [
            endpoint(pair, 1, FIRST_PORT + number as u16),
            endpoint(pair, 2, RESPONDER_PORT),
        ]
    };
    // The first connection of its IP version, and how many of it came between.
    let (first, families) = match workload.ip {
        IpFamily::Both => (number % 2, 2),
        IpFamily::V4 | IpFamily::V6 => (0, 1),
    };
    let ends = match (number - first) / families {
        after @ 1.. if workload.neighbours => {
            let pieces = neighbours::pieces(v6);
            let piece = pieces[after % pieces.len()];
            neighbours::neighbour(own(first), piece, 0, after / pieces.len())
        }
        _ => own(number),
    };
    let options = match workload.timestamps {
        true => TIMESTAMPS,
        false => TcpOptions::None,
    };
    [0, 1].map(|side: usize| FrameBuilder {
        vlan: workload.vlan.clone(),
        options,
        ..FrameBuilder::new(ends[side], ends[1 - side])
    })
}

/// Octets of a frame before IP, and of the IP and TCP headers.
fn headers(builder: &FrameBuilder) -> [usize; 3] {
    let ip = if builder.source.address.is_ipv4() {
        20
    } else {
        40
    };
    let ethernet = ETHERNET_OCTETS + TAG_OCTETS * builder.vlan.len();
    [ethernet, ip, TCP_OCTETS + builder.options.octets()]
}

/// Does the receiver of what `side` sends ask for markers?
fn markers(workload: &Workload, side: Side) -> bool {
    match workload.markers {
        Markers::Off => false,
        Markers::Initiator => side == Side::Responder,
        Markers::Responder => side == Side::Initiator,
        Markers::Both => true,
    }
}

/// The stream of a direction with its faults; its FPDUs and its messages.
fn lane(
    workload: &Workload,
    direction: usize,
    sequence_start: u32,
    mss: usize,
    injected: &mut Injected,
) -> (Lane, usize, Vec<SentMessage>) {
    let side = SIDES[direction % 2];
    let markers = markers(workload, side);
    let mut sender = Sender::new(StreamConfig {
        markers,
        crc: workload.crc,
        version: workload.revision.min(1),
        sequence_start,
        mulpdu: workload.mulpdu.unwrap_or(mulpdu(mss, markers)),
    });
    // The opening Send is the first FPDU; in revision 2 the ready-to-receive message is.
    let mut opening = 1;
    if workload.revision == 2 && side == Side::Initiator {
        sender.zero_length_fpdu();
        opening += 1;
    }
    // Streams 2n and 2n + 1 of the connection's start-up and its sides' messages are apart.
    let connections = 2 * workload.connections;
    let mut content = generator(workload.seed, Purpose::Content, connections + direction);
    let messages = speak(&mut sender, workload, direction, &mut content, injected);
    let mut cuts = generator(workload.seed, Purpose::Cuts, direction);
    let mut faults = generator(workload.seed, Purpose::Faults, direction);
    let mut injector = Injector::new(&workload.faults, mss, &mut faults, injected);
    injector.damage_stream(&mut sender, opening);
    let fpdus = sender.fpdus();
    let mut cut = |range| workload.cutter.cut(range, mss, &mut cuts);
    let first = cut(&fpdus[..opening]);
    let rest = injector.apply(cut(&fpdus[opening..]));
    let opening = first.len();
    let waiting = first.into_iter().map(Segment::from).chain(rest).collect();
    let lane = Lane {
        stream: sender.stream().to_vec(),
        sequence_start,
        ends: fpdus.iter().map(|fpdu| fpdu.octets.end).collect(),
        waiting,
        opening,
        arrived: Arrived::default(),
        unacknowledged: 0,
    };
    (lane, fpdus.len(), messages)
}
