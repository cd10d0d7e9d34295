//! From a capture to its flows: TCP connections, their start-up frames, and what is learned of each
//! direction.

use crate::file::Capture;
use crate::flow::{Flow, StartupOverride};
use crate::learn::{self, Direction};
use crate::reassembly::Reassembly;
use crate::segment::Segment;
use crate::startup::{Role, StartupFrame};
use std::collections::HashMap;
use std::net::SocketAddr;

const FLAG_SYN: u8 = 0x02;

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
    let learned = directions.iter().map(|direction| {
        let ends = (direction.destination, direction.source);
        let peer = directions.iter().find(|other| {
            (other.source, other.destination) == ends && other.last_frame == direction.last_frame
        });
        learn::flow(direction, peer)
    });
    learned.collect()
}

fn track(capture: &Capture) -> Vec<Tracked> {
    let mut connections: Vec<Tracked> = Vec::new();
    let mut current: HashMap<(SocketAddr, SocketAddr), usize> = HashMap::new();
    for (frame, octets) in capture.frames.iter().enumerate() {
        let Some(segment) = Segment::of_frame(octets) else {
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
fn reopens(connection: &Tracked, segment: &Segment) -> bool {
    const FLAG_ACK: u8 = 0x10;
    if segment.flags & (FLAG_SYN | FLAG_ACK) != FLAG_SYN {
        return false;
    }
    let side = usize::from(connection.ends[0] != segment.source);
    let first = segment.sequence.wrapping_add(1);
    connection.streams[side].offset(first) != Some(0)
}

fn take(connection: &mut Tracked, segment: &Segment, frame: usize) {
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

/// The frame before which the device must know of full operation: the one after the start-up
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
