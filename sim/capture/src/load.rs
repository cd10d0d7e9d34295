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
use crate::finding::{grouped, Finding, Frames};
use crate::flow::{Flow, StartupOverride};
use crate::repair::{Repair, Survey};
use crate::segment::{ends_of_head, is_whole, Segment};
use crate::track::Tracker;
use rnic_abi::limits::MAX_FRAME_OCTETS;
use std::collections::BTreeMap;
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
    opened(path, &Source::open(path)?, options)
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
    opened(path, &Source::memory(path, octets), options)
}

fn opened(path: &Path, source: &Source, options: &ReadOptions) -> Result<Opened, CaptureError> {
    let survey = if options.as_captured {
        Survey::default()
    } else {
        survey(path, source)?
    };
    let mut reader = Reader {
        path,
        repair: Repair::new(survey),
        is_repaired: !options.as_captured,
        cut: BTreeMap::new(),
        cut_frames: Frames::default(),
        too_long: Frames::default(),
    };
    let wanted = match options.only_flow {
        Some(flow) => Some(scan(&mut reader, source, flow, options)?),
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
        return Err(too_large(&mut reader, source, options));
    }
    let capture = Capture::numbered(path, frames);
    // Those of other connections were seen to be there when one was looked for.
    let startups = wanted.as_ref().map(|wanted| &wanted.startups);
    let analysis = Analysis::of(&capture, startups.unwrap_or(&options.startups))?;
    let Analysis {
        mut flows,
        causes,
        mut notes,
    } = analysis;
    if let Some(wanted) = wanted {
        flows.retain(|flow| (flow.source, flow.destination) == wanted.ends);
        flows.iter_mut().for_each(|flow| flow.number = wanted.flow);
        flows.truncate(1);
    }
    reader.check_cut(&flows, options)?;
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
    reader: &mut Reader,
    source: &Source,
    flow: usize,
    options: &ReadOptions,
) -> Result<Wanted, CaptureError> {
    let tracker = track(reader, source)?;
    let none = Capture::new(reader.path, Vec::new());
    let (found, _) = directions(&tracker, &options.startups, &none)?;
    let known = found.len();
    let found = found.get(flow).ok_or_else(|| CaptureError::NoSuchFlow {
        path: reader.path.to_path_buf(),
        flow,
        known,
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

/// The connections of a file; their frames have the numbers of the file.
fn track(reader: &mut Reader, source: &Source) -> Result<Tracker, CaptureError> {
    let mut tracker = Tracker::default();
    pass(reader.path, source, |packet| {
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
fn too_large(reader: &mut Reader, source: &Source, options: &ReadOptions) -> CaptureError {
    let path = reader.path.to_path_buf();
    let tracker = match track(reader, source) {
        Ok(tracker) => tracker,
        Err(error) => return error,
    };
    let none = Capture::new(&path, Vec::new());
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
        path,
        octets_max: FRAMES_OCTETS_MAX,
        flows,
    }
}

/// A frame that was not captured whole.
struct Cut {
    number: usize,
    captured: u32,
    original: u32,
}

/// Makes frames of packets.
struct Reader<'a> {
    path: &'a Path,
    repair: Repair,
    is_repaired: bool,
    /// The first cut frame of each pair of ends, in order.
    cut: BTreeMap<(SocketAddr, SocketAddr), Cut>,
    cut_frames: Frames,
    /// Longer than the device takes, and not to be repaired.
    too_long: Frames,
}

impl Reader<'_> {
    /// Forget what was counted: another pass begins.
    fn reset(&mut self) {
        self.repair.reset();
        self.cut.clear();
        self.cut_frames = Frames::default();
        self.too_long = Frames::default();
    }

    /// The frames of a packet; none if it is cut short.
    fn frames(&mut self, packet: Packet) -> Vec<Vec<u8>> {
        if packet.missing > 0 && !is_whole(&packet.frame) {
            self.cut_frames.add(packet.number);
            if let Some(ends) = ends_of_head(&packet.frame) {
                self.cut.entry(ends).or_insert(Cut {
                    number: packet.number,
                    captured: packet.captured,
                    original: packet.captured + packet.missing,
                });
            }
            return Vec::new();
        }
        if self.is_repaired {
            return self.repair.frames(packet.number, packet.frame);
        }
        if packet.frame.len() > MAX_FRAME_OCTETS {
            self.too_long.add(packet.number);
        }
        vec![packet.frame]
    }

    /// A frame that was cut short matters if its connection is played.
    fn check_cut(&self, flows: &[Flow], options: &ReadOptions) -> Result<(), CaptureError> {
        let played = flows
            .iter()
            .filter(|flow| options.flow.is_none_or(|only| only == flow.number));
        for flow in played {
            if let Some(cut) = self.cut.get(&(flow.source, flow.destination)) {
                return Err(CaptureError::CutFrame {
                    path: self.path.to_path_buf(),
                    frame: cut.number,
                    captured: cut.captured,
                    original: cut.original,
                    connection: format!("{} > {}", flow.source, flow.destination),
                });
            }
        }
        Ok(())
    }

    /// What is said of frames that are not played, or that the device drops.
    fn findings(&self) -> Vec<Finding> {
        let mut findings = self.repair.findings();
        let mut say = |kind, frames: &Frames, what: &str| {
            if frames.count > 0 {
                let text = format!("{} {what}", frames.count_of("frame"));
                findings.push(Finding::new(kind, frames.count, &frames.first, text));
            }
        };
        let cut = "not captured whole, of no connection that is played, left out";
        say("cut_frames", &self.cut_frames, cut);
        let longest = grouped(MAX_FRAME_OCTETS as u64);
        let too_long = format!(
            "longer than the {longest} octets that the device takes: it drops them; without \
             `--as-captured` they are cut as a card would cut them"
        );
        say("too_long", &self.too_long, &too_long);
        findings
    }
}
