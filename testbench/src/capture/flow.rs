//! Flows: one direction each of the TCP connections that entered MPA full operation.

use crate::capture::learn::{self, Direction};
use crate::capture::reassembly::Reassembly;
use crate::capture::startup::{Role, StartupFrame};
use crate::capture::Capture;
use crate::model::ethernet;
use crate::model::ip::{self, IpVerdict};
use crate::model::tcp::TcpSegment;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::ops::Range;

const FLAG_SYN: u8 = 0x02;

/// A flow, and what the device must know before its frames are played.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Sender.
    pub source: SocketAddr,
    /// Receiver: the side the device plays.
    pub destination: SocketAddr,
    /// MPA revision of the Reply.
    pub revision: u8,
    /// Markers are expected: the receiver's own start-up frame has M.
    pub markers: bool,
    /// CRC32C is in use: either start-up frame has C.
    pub crc: bool,
    /// Sequence number of the first octet of full operation.
    pub sequence_start: u32,
    /// Frame, from 0, before which the device must know the connection.
    pub first_frame: usize,
    /// Last frame, from 0, of its connection.
    pub last_frame: usize,
    /// Regions that it writes, by rising STag.
    pub regions: Vec<RegionUse>,
    /// Untagged messages, in order of their last segment.
    pub messages: Vec<Message>,
    /// Octets on the wire of its longest FPDU, whole or not.
    pub longest_fpdu: u32,
    /// Sequence numbers of its whole FPDUs, markers included, up to the first bad one.
    pub fpdus: Vec<Range<u32>>,
}

/// Use of one STag by a flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegionUse {
    /// STag.
    pub stag: u32,
    /// Lowest Tagged Offset written.
    pub base: u64,
    /// Octets from there to the highest one written; 0 if it is only invalidated.
    pub octets: u64,
    /// Rights it must have, `rnic_abi::tables::RIGHT_*`.
    pub rights: u32,
    /// No other STag of the flow had its stag_index before: it is registered with the connection.
    pub initial: bool,
    /// Frames before which it must be made valid again, because the flow invalidated it before, or
    /// used its stag_index with another key.
    pub renewals: Vec<usize>,
    /// Frames that write to it or invalidate it.
    pub uses: Vec<usize>,
}

/// An untagged message.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Queue.
    pub qn: u32,
    /// Message Sequence Number.
    pub msn: u32,
    /// Octets.
    pub octets: u32,
    /// RDMAP opcode.
    pub opcode: u8,
    /// Frame, from 0, before which its buffer must be posted.
    pub first_frame: usize,
}

/// What `--mpa` says of a flow whose start-up frames are not in the capture.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StartupOverride {
    /// Markers are expected.
    pub markers: bool,
    /// CRC32C is in use.
    pub crc: bool,
    /// Sequence number of the first octet of full operation.
    pub start: u32,
}

/// One TCP connection of the capture while it is read.
#[derive(Debug)]
struct Tracked {
    ends: [SocketAddr; 2],
    /// Octets sent by each end.
    streams: [Reassembly; 2],
    first_frame: usize,
    last_frame: usize,
}

/// The flows of a capture in the order of their start.
pub fn flows(capture: &Capture, startup: Option<StartupOverride>) -> Vec<Flow> {
    let connections = track(capture);
    let mut directions: Vec<Direction> = Vec::new();
    for connection in &connections {
        directions.extend(full_operation(connection));
    }
    if let (Some(startup), true) = (startup, directions.is_empty()) {
        directions.extend(
            connections
                .iter()
                .find_map(|connection| forced(connection, startup)),
        );
    }
    directions.sort_by_key(|direction| direction.first_frame);
    directions.iter().map(learn::flow).collect()
}

fn track(capture: &Capture) -> Vec<Tracked> {
    let mut connections: Vec<Tracked> = Vec::new();
    let mut current: HashMap<(SocketAddr, SocketAddr), usize> = HashMap::new();
    for (frame, octets) in capture.frames.iter().enumerate() {
        let Some(datagram) = ethernet::payload(octets) else {
            continue;
        };
        let IpVerdict::Tcp(datagram) = ip::classify(&datagram) else {
            continue;
        };
        let Some(segment) = TcpSegment::parse(&datagram) else {
            continue;
        };
        if !segment.checksum_good {
            continue;
        }
        let ends = [segment.source, segment.destination];
        let key = (ends[0].min(ends[1]), ends[0].max(ends[1]));
        let known = current.get(&key).copied();
        // A SYN with another initial sequence number opens a new connection on the same ends.
        let renewed = known.is_some_and(|index| reopens(&connections[index], &segment));
        let index = match known {
            Some(index) if !renewed => index,
            _ => {
                connections.push(Tracked {
                    ends,
                    streams: [Reassembly::default(), Reassembly::default()],
                    first_frame: frame,
                    last_frame: frame,
                });
                connections.len() - 1
            }
        };
        current.insert(key, index);
        take(&mut connections[index], &segment, frame);
    }
    connections
}

/// Does a SYN without ACK begin another connection than the one known?
fn reopens(connection: &Tracked, segment: &TcpSegment) -> bool {
    const FLAG_ACK: u8 = 0x10;
    if segment.flags & (FLAG_SYN | FLAG_ACK) != FLAG_SYN {
        return false;
    }
    let side = usize::from(connection.ends[0] != segment.source);
    let first = segment.sequence.wrapping_add(1);
    connection.streams[side].offset(first) != Some(0)
}

fn take(connection: &mut Tracked, segment: &TcpSegment, frame: usize) {
    connection.last_frame = frame;
    let side = usize::from(connection.ends[0] != segment.source);
    let stream = &mut connection.streams[side];
    let syn = segment.flags & FLAG_SYN != 0;
    let first = segment.sequence.wrapping_add(u32::from(syn));
    if syn || !segment.payload.is_empty() {
        stream.begin(first);
    }
    stream.push(first, segment.payload, frame);
}

/// Both directions of a connection whose start-up frames are there and whose Reply accepts.
fn full_operation(connection: &Tracked) -> Vec<Direction<'_>> {
    let startups = [0, 1].map(|side| StartupFrame::parse(connection.streams[side].octets()));
    let [Some(first), Some(second)] = startups else {
        return Vec::new();
    };
    let (request, reply) = match (first.role, second.role) {
        (Role::Request, Role::Reply) => (first, second),
        (Role::Reply, Role::Request) => (second, first),
        _ => return Vec::new(),
    };
    if reply.rejected {
        return Vec::new();
    }
    let direction = |side: usize| {
        let own = [first, second][side];
        // The receiver's own frame says whether it wants markers (START-027).
        let receiver = [second, first][side];
        Direction {
            source: connection.ends[side],
            destination: connection.ends[1 - side],
            stream: &connection.streams[side],
            start: own.octets,
            revision: reply.revision,
            markers: receiver.markers,
            crc: request.crc || reply.crc,
            first_frame: first_frame(&connection.streams[side], own.octets),
            last_frame: connection.last_frame,
        }
    };
    vec![direction(0), direction(1)]
}

/// The frame before which the device must know of full operation: the one behind the start-up
/// frame, or the start-up frame's own if FPDU octets share it (START-042).
fn first_frame(stream: &Reassembly, startup_octets: usize) -> usize {
    let arrival = stream.arrival(startup_octets);
    let shared =
        stream.octets().len() > startup_octets && stream.arrival(startup_octets + 1) == arrival;
    arrival + usize::from(!shared)
}

/// The direction that carries the sequence number the user named.
fn forced(connection: &Tracked, startup: StartupOverride) -> Option<Direction<'_>> {
    let side = [0, 1].into_iter().find(|&side| {
        let stream = &connection.streams[side];
        stream
            .offset(startup.start)
            .is_some_and(|offset| offset < stream.octets().len())
    })?;
    Some(Direction {
        source: connection.ends[side],
        destination: connection.ends[1 - side],
        stream: &connection.streams[side],
        start: connection.streams[side].offset(startup.start)?,
        revision: 1,
        markers: startup.markers,
        crc: startup.crc,
        first_frame: connection.first_frame,
        last_frame: connection.last_frame,
    })
}
