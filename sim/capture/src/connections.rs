//! From a capture to its flows: TCP connections, their start-up frames, and what is learned of each
//! direction.

use crate::file::{Capture, CaptureError};
use crate::finding::{grouped, Finding, Frames};
use crate::flow::{Flow, StartupOverride};
use crate::learn::{self, Direction};
use crate::reassembly::{Gap, Reassembly};
use crate::segment::Segment;
use crate::shape::Shape;
use crate::startup::{Role, StartupFrame};
use crate::track::{Side, Tracked, Tracker};
use crate::why;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Directions that an error lists.
const LISTED_MAX: usize = 8;

/// The flows of a capture in the order of their start; `startup` is of a direction whose start-up
/// frames are not in it.
pub fn flows(capture: &Capture, startup: Option<StartupOverride>) -> Vec<Flow> {
    let analysis = Analysis::of(capture, startup.as_slice());
    analysis.map(|analysis| analysis.flows).unwrap_or_default()
}

/// A direction of a connection in full operation, before its octets are read.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// Its connection.
    pub(crate) connection: usize,
    /// The end that sends.
    pub(crate) side: usize,
    start: Start,
    revision: u8,
    markers: bool,
    crc: bool,
    /// Frame before which the device must know it.
    pub(crate) first_frame: usize,
}

/// Where full operation begins.
#[derive(Copy, Clone, Debug)]
enum Start {
    /// After the start-up frame, of so many octets.
    After(u32),
    /// At a sequence number that the user named.
    At(u32),
}

/// The directions in full operation, in the order of their start, and what is said of `startups`.
pub(crate) fn directions(
    tracker: &Tracker,
    startups: &[StartupOverride],
    capture: &Capture,
) -> Result<(Vec<Found>, Vec<Finding>), CaptureError> {
    let mut found: Vec<Found> = Vec::new();
    for (number, connection) in tracker.connections.iter().enumerate() {
        found.extend(full_operation(number, connection));
    }
    let mut notes = Vec::new();
    for startup in startups {
        match named(tracker, startup, &found) {
            Named::Direction(direction) => found.push(direction),
            Named::Ignored(number) => {
                let [a, b] = tracker.connections[number].ends;
                let text = format!(
                    "--mpa start={} is ignored: the connection {a} > {b} has its start-up frames \
                     in the capture, or was named already",
                    startup.start
                );
                notes.push(Finding::new("option_ignored", 1, &[], text));
            }
            Named::Nowhere => {
                return Err(CaptureError::NoSuchStart {
                    path: capture.path.clone(),
                    start: startup.start,
                    seen: seen(tracker),
                })
            }
        }
    }
    found.sort_by_key(|direction| direction.first_frame);
    Ok((found, notes))
}

/// Both directions of a connection whose start-up frames are there and whose Reply accepts.
fn full_operation(number: usize, connection: &Tracked) -> Vec<Found> {
    let startups = [0, 1].map(|side| StartupFrame::parse(connection.heads[side].octets()));
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
        Found {
            connection: number,
            side,
            start: Start::After(own.octets as u32),
            revision: reply.revision,
            markers: receiver.markers,
            crc: request.crc || reply.crc,
            first_frame: first_frame(&connection.heads[side], own.octets),
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

/// What a sequence number that the user named stands for.
enum Named {
    Direction(Found),
    /// Its direction is known without it.
    Ignored(usize),
    Nowhere,
}

fn named(tracker: &Tracker, startup: &StartupOverride, found: &[Found]) -> Named {
    let sides = tracker.connections.iter().enumerate();
    let sides = sides
        .flat_map(|(number, connection)| [0, 1].map(|side| (number, side, connection.sides[side])));
    let has_it = sides.filter(|(_, _, side)| side.contains(startup.start));
    // Where ranges overlap, the direction that begins with it is meant.
    let begins = |side: &Side| {
        side.sequence
            .is_some_and(|(first, _)| first == startup.start)
    };
    let (exact, others): (Vec<_>, Vec<_>) = has_it.partition(|(_, _, side)| begins(side));
    let mut ignored = None;
    for (number, side, _) in exact.into_iter().chain(others) {
        let is_known = |known: &Found| (known.connection, known.side) == (number, side);
        if found.iter().any(is_known) {
            ignored = ignored.or(Some(number));
            continue;
        }
        return Named::Direction(Found {
            connection: number,
            side,
            start: Start::At(startup.start),
            revision: 1,
            markers: startup.markers,
            crc: startup.crc,
            first_frame: tracker.connections[number].span.first,
        });
    }
    ignored.map_or(Named::Nowhere, Named::Ignored)
}

/// The sequence numbers that the capture has, by direction.
fn seen(tracker: &Tracker) -> String {
    let mut text = String::new();
    let sides = tracker.connections.iter().flat_map(|connection| {
        [0, 1].map(|side| {
            (
                connection.ends[side],
                connection.ends[1 - side],
                connection.sides[side],
            )
        })
    });
    let with_payload = sides.filter_map(|(from, to, side)| Some((from, to, side.sequence?)));
    for (from, to, (first, end)) in with_payload.clone().take(LISTED_MAX) {
        write!(text, "; {from} > {to}: {first} ({first:#x}) to {end}").expect("a string");
    }
    match with_payload.count() {
        0 => text += "; no TCP payload at all",
        count if count > LISTED_MAX => {
            write!(text, "; and {} more", count - LISTED_MAX).expect("a string");
        }
        _ => {}
    }
    text
}

/// What a capture holds.
#[derive(Debug)]
pub(crate) struct Analysis {
    /// Its flows, in the order of their start.
    pub(crate) flows: Vec<Flow>,
    /// What is worth saying of them, and of options.
    pub(crate) notes: Vec<Finding>,
    /// Why the rest has no flow.
    pub(crate) causes: Vec<Finding>,
}

impl Analysis {
    /// Of the frames of `capture`.
    pub(crate) fn of(
        capture: &Capture,
        startups: &[StartupOverride],
    ) -> Result<Self, CaptureError> {
        let mut tracker = Tracker::with_frames();
        let mut others: BTreeMap<Shape, Frames> = BTreeMap::new();
        for (index, frame) in capture.frames.iter().enumerate() {
            let number = capture.number(index);
            match Segment::of_frame(frame) {
                Some(segment) => tracker.segment(index, number, &segment),
                None => others.entry(Shape::of(frame)).or_default().add(number),
            }
        }
        let (found, mut notes) = directions(&tracker, startups, capture)?;
        let flows = flows_of(capture, &tracker, &found);
        notes.extend(flows.iter().filter_map(|flow| gap(capture, flow)));
        let played = found.iter().map(|direction| direction.connection).collect();
        let causes = why::causes(&|frame| capture.number(frame), &tracker, &played, &others);
        if flows.iter().any(|flow| flow.gap.is_some()) {
            let dropped = causes.iter().filter(|cause| why::may_leave_gaps(cause));
            notes.extend(dropped.cloned());
        }
        if !flows.is_empty() {
            let beside = why::beside(&causes, &tracker, &played);
            let is_new = |cause: &Finding| notes.iter().all(|note| note.kind != cause.kind);
            let new: Vec<Finding> = beside.into_iter().filter(is_new).collect();
            notes.extend(new);
        }
        Ok(Self {
            flows,
            notes,
            causes,
        })
    }
}

/// What is learned of each direction; the octets of one connection are kept at a time.
fn flows_of(capture: &Capture, tracker: &Tracker, found: &[Found]) -> Vec<Flow> {
    let mut places: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, direction) in found.iter().enumerate() {
        places.entry(direction.connection).or_default().push(place);
    }
    let mut flows: BTreeMap<usize, Flow> = BTreeMap::new();
    for (number, places) in places {
        let connection = &tracker.connections[number];
        let mut named = [None; 2];
        for &place in &places {
            if let Start::At(sequence) = found[place].start {
                named[found[place].side] = Some(sequence);
            }
        }
        let segment = |frame: usize| Segment::of_frame(&capture.frames[frame]);
        let streams = connection.streams(named, segment);
        let own = places
            .iter()
            .map(|&place| direction(connection, &streams, &found[place]));
        let directions: Vec<Direction> = own.collect();
        for (&place, own) in places.iter().zip(&directions) {
            let peer = directions
                .iter()
                .find(|other| other.source == own.destination);
            flows.insert(place, learn::flow(own, peer));
        }
    }
    for (place, flow) in &mut flows {
        let connection = &tracker.connections[found[*place].connection];
        flow.gap = flow
            .gap
            .or_else(|| lost_end(connection, found[*place].side, flow));
    }
    let numbered = flows.into_values().enumerate();
    numbered
        .map(|(number, flow)| Flow { number, ..flow })
        .collect()
}

fn direction<'a>(
    connection: &Tracked,
    streams: &'a [Reassembly; 2],
    found: &Found,
) -> Direction<'a> {
    let (start, has_startup) = match found.start {
        Start::After(octets) => (octets as usize, true),
        Start::At(_) => (0, false),
    };
    Direction {
        source: connection.ends[found.side],
        destination: connection.ends[1 - found.side],
        stream: &streams[found.side],
        start,
        has_startup,
        revision: found.revision,
        markers: found.markers,
        crc: found.crc,
        first_frame: found.first_frame,
        last_frame: connection.span.last,
    }
}

/// The gap at the end of a flow, whose receiver has acknowledged more than the capture has, or
/// whose FIN comes after more.
fn lost_end(connection: &Tracked, side: usize, flow: &Flow) -> Option<Gap> {
    let sent = &connection.sides[side];
    let acknowledged = connection.sides[1 - side].acknowledged;
    // What is acknowledged beyond the octets may be a FIN that is not in the capture.
    let end = sent.end.or(acknowledged.map(|end| end.wrapping_sub(1)))?;
    let missing = end.wrapping_sub(flow.sequence_end);
    (missing > 0 && missing <= learn::GAP_OCTETS_MAX as u32).then_some(Gap {
        sequence: flow.sequence_end,
        missing: missing as usize + usize::from(sent.end.is_none()),
        waiting: 0,
    })
}

/// What is said of a flow that stops at a gap.
fn gap(capture: &Capture, flow: &Flow) -> Option<Finding> {
    let gap = flow.gap?;
    let before = capture.number(flow.gap_after?);
    let waiting = match gap.waiting {
        0 => "nothing of it comes after them, though the receiver has them".to_owned(),
        octets => format!("{} octets wait beyond it", grouped(octets as u64)),
    };
    let text = format!(
        "flow {} stops at a gap of {} octets at sequence number {}, after frame {before}: no \
         segment that a device takes has them; {waiting}",
        flow.number,
        grouped(gap.missing as u64),
        gap.sequence,
    );
    Some(Finding::new("gap", 1, &[before], text))
}
