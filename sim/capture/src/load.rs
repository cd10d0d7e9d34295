//! A capture as users have it, made ready to be played: read, repaired, cut down to what is asked
//! for, its flows learned, and what is worth knowing of the rest.
//!
//! ```text
//!  file --> survey: what senders leave to their cards
//!       --> scan:   which frames are of flow N      (for one flow only)
//!       --> load:   frames, repaired                --> flows, findings
//! ```
//!
//! Each arrow is a pass over the file, so that memory is that of the frames which are played.

use crate::connections::{directions, Analysis};
use crate::file::source::Source;
use crate::file::{pass, Capture, CaptureError, Packet};
use crate::finding::Finding;
use crate::flow::{Flow, StartupOverride};
use crate::reader::Reader;
use crate::repair::Survey;
use crate::segment::{ends_of_head, Segment};
use crate::track::Tracker;
use crate::why;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::path::Path;

/// Octets of frames that are played at once.
const FRAMES_OCTETS_MAX: u64 = 4 << 30;
/// Flows that the refusal of a larger file lists.
const LISTED_MAX: usize = 12;

/// How to read a capture.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// Leave frames as they are in the file: fill in no checksum, cut no long frame.
    pub as_captured: bool,
    /// Leave out frames of all connections but this flow's.
    pub only_flow: Option<usize>,
    /// The flow that the device receives, if it is not all: frames of other connections may be cut
    /// short.
    pub flow: Option<usize>,
    /// Directions whose start-up frames are not in the capture.
    pub startups: Vec<StartupOverride>,
}

/// A capture, ready to be played.
#[derive(Clone, Debug)]
pub struct Opened {
    /// Its frames.
    pub capture: Capture,
    /// Its flows, in the order of their start.
    pub flows: Vec<Flow>,
    /// What was repaired, left out or lost.
    pub notes: Vec<Finding>,
    /// Why connections and frames have no flow; it is complete where there is none.
    pub causes: Vec<Finding>,
}

/// Read a capture and learn its flows.
///
/// # Errors
/// The file or the options cannot be used; see [`CaptureError`].
pub fn open(path: &Path, options: &ReadOptions) -> Result<Opened, CaptureError> {
    opened_or_empty(path, &Source::open(path)?, options)
}

/// As [`open`], of a file that holds `octets`.
///
/// # Errors
/// As [`open`].
pub fn open_octets(
    path: &Path,
    octets: Vec<u8>,
    options: &ReadOptions,
) -> Result<Opened, CaptureError> {
    opened_or_empty(path, &Source::memory(path, octets), options)
}

/// A file without an octet has no flows, and says so as others do.
fn opened_or_empty(
    path: &Path,
    source: &Source,
    options: &ReadOptions,
) -> Result<Opened, CaptureError> {
    match opened(path, source, options) {
        Err(error @ CaptureError::Empty { .. }) => Ok(Opened {
            capture: Capture::new(path, Vec::new()),
            flows: Vec::new(),
            notes: Vec::new(),
            causes: vec![Finding::new("empty", 0, &[], error.to_string())],
        }),
        opened => opened,
    }
}

fn opened(path: &Path, source: &Source, options: &ReadOptions) -> Result<Opened, CaptureError> {
    let survey = match options.as_captured {
        true => None,
        false => Some(survey(path, source)?),
    };
    let mut reader = Reader::new(path, survey);
    let wanted = match options.only_flow {
        Some(flow) => Some(scan(path, &mut reader, source, flow, options)?),
        None => None,
    };
    reader.reset();
    let mut frames: Vec<(usize, Vec<u8>)> = Vec::new();
    let (mut octets, mut is_too_large) = (0, false);
    let mut findings = pass(path, source, |packet| {
        let number = packet.number;
        if wanted.as_ref().is_some_and(|wanted| !wanted.has(&packet)) {
            return Ok(());
        }
        for frame in reader.frames(packet) {
            octets += frame.len() as u64;
            is_too_large |= octets > FRAMES_OCTETS_MAX;
            if !is_too_large {
                frames.push((number, frame));
            }
        }
        Ok(())
    })?;
    if is_too_large {
        drop(frames);
        return Err(too_large(path, &mut reader, source, options));
    }
    let capture = Capture::numbered(path, frames);
    // Those of other connections were seen to be there when one was looked for.
    let startups = wanted.as_ref().map(|wanted| &wanted.startups);
    let analysis = Analysis::of(&capture, startups.unwrap_or(&options.startups))?;
    let Analysis {
        mut flows,
        mut causes,
        mut notes,
    } = analysis;
    if let Some(wanted) = wanted {
        flows.retain(|flow| (flow.source, flow.destination) == wanted.ends);
        flows.iter_mut().for_each(|flow| flow.number = wanted.flow);
        flows.truncate(1);
    }
    reader.check_cut(&flows, options.flow)?;
    if flows.is_empty() {
        causes.splice(..0, reader.cut_short());
        if causes.is_empty() && capture.frames.is_empty() {
            causes.push(why::empty());
        }
    } else {
        findings.extend(reader.left_out());
    }
    findings.extend(reader.findings());
    findings.append(&mut notes);
    Ok(Opened {
        capture,
        flows,
        notes: findings,
        causes,
    })
}

/// What senders leave to their cards.
fn survey(path: &Path, source: &Source) -> Result<Survey, CaptureError> {
    let mut survey = Survey::default();
    pass(path, source, |packet| {
        if packet.missing == 0 {
            survey.note(packet.number, &packet.frame);
        }
        Ok(())
    })?;
    Ok(survey)
}

/// The frames of one flow's connection.
struct Wanted {
    flow: usize,
    ends: (SocketAddr, SocketAddr),
    /// Its first and last frame, by their numbers in the file.
    frames: RangeInclusive<usize>,
    /// What is given of it.
    startups: Vec<StartupOverride>,
}

impl Wanted {
    fn has(&self, packet: &Packet) -> bool {
        let (from, to) = self.ends;
        let is_own = |ends| ends == (from, to) || ends == (to, from);
        self.frames.contains(&packet.number) && ends_of_head(&packet.frame).is_some_and(is_own)
    }
}

/// Find the frames of flow `flow` without keeping any.
fn scan(
    path: &Path,
    reader: &mut Reader,
    source: &Source,
    flow: usize,
    options: &ReadOptions,
) -> Result<Wanted, CaptureError> {
    let tracker = track(path, reader, source)?;
    let none = Capture::new(path, Vec::new());
    let (found, _) = directions(&tracker, &options.startups, &none)?;
    let known = found.len();
    let found = found.get(flow).ok_or_else(|| CaptureError::NoSuchFlow {
        path: path.to_path_buf(),
        flow,
        known,
        why: match known {
            0 => why_none(reader, &tracker),
            _ => String::new(),
        },
    })?;
    let connection = &tracker.connections[found.connection];
    let is_own = |startup: &&StartupOverride| {
        let mut sides = connection.sides.iter();
        sides.any(|side| side.contains(startup.start))
    };
    Ok(Wanted {
        flow,
        startups: options.startups.iter().filter(is_own).copied().collect(),
        ends: (connection.ends[found.side], connection.ends[1 - found.side]),
        frames: connection.span.first..=connection.span.last,
    })
}

/// Why no connection has a flow, each cause after a semicolon.
fn why_none(reader: &Reader, tracker: &Tracker) -> String {
    let causes = why::causes(&|frame| frame, tracker, &BTreeSet::new(), &BTreeMap::new());
    let all = reader.cut_short().into_iter().chain(causes);
    all.map(|cause| format!("; {}", cause.text)).collect()
}

/// The connections of a file; their frames have the numbers of the file.
fn track(path: &Path, reader: &mut Reader, source: &Source) -> Result<Tracker, CaptureError> {
    let mut tracker = Tracker::default();
    pass(path, source, |packet| {
        let number = packet.number;
        for frame in reader.frames(packet) {
            if let Some(segment) = Segment::of_frame(&frame) {
                tracker.segment(number, number, &segment);
            }
        }
        Ok(())
    })?;
    Ok(tracker)
}

/// The refusal of a file that is too large, with its flows.
fn too_large(
    path: &Path,
    reader: &mut Reader,
    source: &Source,
    options: &ReadOptions,
) -> CaptureError {
    let tracker = match track(path, reader, source) {
        Ok(tracker) => tracker,
        Err(error) => return error,
    };
    let none = Capture::new(path, Vec::new());
    let found = match directions(&tracker, &options.startups, &none) {
        Ok((found, _)) => found,
        Err(error) => return error,
    };
    let mut flows = String::new();
    for (number, direction) in found.iter().enumerate().take(LISTED_MAX) {
        let connection = &tracker.connections[direction.connection];
        let (from, to) = (
            connection.ends[direction.side],
            connection.ends[1 - direction.side],
        );
        let count = connection.span.count;
        write!(flows, "; flow {number}: {from} > {to}, {count} frames").expect("a string");
    }
    match found.len() {
        0 => flows += "; but it has no flow",
        count if count > LISTED_MAX => {
            write!(flows, "; and {} more", count - LISTED_MAX).expect("a string");
        }
        _ => {}
    }
    CaptureError::TooLarge {
        path: path.to_path_buf(),
        octets_max: FRAMES_OCTETS_MAX,
        flows,
    }
}
