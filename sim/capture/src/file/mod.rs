//! Capture files: pcap and pcapng, plain or packed, into whole Ethernet frames.
//!
//! In: a file, from its beginning and as often as needed (`source`). Out: frames with their
//! numbers in the file, and what was left out or lost, in words.
//!
//! - `source`: files, stdin, gzip, zstd, xz.
//! - `zstd`: of a Zstandard frame that is cut, its whole blocks.
//! - `records`: packets of pcap and pcapng.
//! - `interface`: link types, into Ethernet.
//! - `error`: why a file is not used.

mod error;
mod interface;
mod magic;
pub(crate) mod records;
pub(crate) mod source;
mod zstd;

pub use error::CaptureError;

use crate::finding::{counted, grouped, Finding, Frames};
use interface::{Interface, LinkType};
use records::{Ending, Records};
use source::{Failure, Source};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The frames of a capture that are played.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Where it came from.
    pub path: PathBuf,
    /// Ethernet frames without FCS, in file order.
    pub frames: Vec<Vec<u8>>,
    /// The number of each in the file, counted from 1; empty if they are numbered in order.
    numbers: Vec<usize>,
}

impl Capture {
    /// Frames that are numbered in order.
    pub fn new(path: impl Into<PathBuf>, frames: Vec<Vec<u8>>) -> Self {
        Self {
            path: path.into(),
            frames,
            numbers: Vec::new(),
        }
    }

    /// As [`Capture::new`], each frame with its number in the file. Pieces of a frame that was cut
    /// have the same one.
    pub(crate) fn numbered(path: &Path, frames: Vec<(usize, Vec<u8>)>) -> Self {
        let (numbers, frames): (Vec<usize>, Vec<Vec<u8>>) = frames.into_iter().unzip();
        let in_order = numbers.iter().copied().eq(1..=frames.len());
        Self {
            path: path.to_path_buf(),
            frames,
            numbers: if in_order { Vec::new() } else { numbers },
        }
    }

    /// The number in the file, counted from 1, of the frame at `index`; beyond the last frame, a
    /// number beyond its number.
    pub fn number(&self, index: usize) -> usize {
        match self.numbers.get(index) {
            Some(&number) => number,
            None => index + 1 - self.numbers.len() + self.numbers.last().unwrap_or(&0),
        }
    }

    /// How many frames of the file are played.
    pub fn file_frames(&self) -> usize {
        if self.numbers.is_empty() {
            return self.frames.len();
        }
        let first = usize::from(!self.numbers.is_empty());
        first
            + self
                .numbers
                .windows(2)
                .filter(|pair| pair[0] != pair[1])
                .count()
    }
}

/// Read all frames of a capture, as they were captured.
///
/// # Errors
/// The file cannot be read, or is no capture that can be played; see [`CaptureError`].
pub fn read(path: &Path) -> Result<Capture, CaptureError> {
    frames(path, &Source::open(path)?)
}

/// As [`read`], of a file that holds `octets`.
///
/// # Errors
/// As [`read`].
pub fn parse(path: &Path, octets: Vec<u8>) -> Result<Capture, CaptureError> {
    frames(path, &Source::memory(path, octets))
}

fn frames(path: &Path, source: &Source) -> Result<Capture, CaptureError> {
    let mut frames = Vec::new();
    let mut cut = None;
    pass(path, source, |packet| {
        match packet.missing {
            0 => frames.push((packet.number, packet.frame)),
            _ => cut = cut.take().or(Some(packet)),
        }
        Ok(())
    })?;
    match cut {
        Some(packet) => Err(CaptureError::CutFrame {
            path: path.to_path_buf(),
            frame: packet.number,
            captured: packet.captured,
            original: packet.captured + packet.missing,
            connection: "of any kind".into(),
        }),
        None => Ok(Capture::numbered(path, frames)),
    }
}

/// A packet of the file, as an Ethernet frame.
#[derive(Debug)]
pub(crate) struct Packet {
    /// Its number in the file, counted from 1.
    pub(crate) number: usize,
    pub(crate) frame: Vec<u8>,
    /// Octets in the file.
    pub(crate) captured: u32,
    /// Octets that were not captured.
    pub(crate) missing: u32,
}

const ENDS_TOO_EARLY: &str = "it ends too early, before anything in it is whole";

/// Go through the packets of a file that can be played; says what is worth saying besides.
pub(crate) fn pass(
    path: &Path,
    source: &Source,
    mut take: impl FnMut(Packet) -> Result<(), CaptureError>,
) -> Result<Vec<Finding>, CaptureError> {
    let input = source.reader()?;
    let failure = input.failure();
    let mut records = Records::new(path, input).map_err(|error| {
        let source = match failure.take() {
            Some(Failure::Broken(source)) => source,
            Some(Failure::Cut) => io::Error::new(io::ErrorKind::UnexpectedEof, ENDS_TOO_EARLY),
            Some(Failure::Foreign) | None => return error,
        };
        CaptureError::Packed {
            path: path.to_path_buf(),
            source,
        }
    })?;
    let mut seen = Seen::default();
    let mut number = 0;
    while let Some(record) = records.next()? {
        number += 1;
        let (interface, captured) = (record.interface, record.octets.len() as u32);
        let missing = record.original.saturating_sub(captured);
        let octets = record.octets.to_vec();
        let known = &records.interfaces[interface];
        let frame = known.frame(octets, missing == 0);
        seen.note(interface, known.link, number, frame.is_some());
        if let Some(frame) = frame {
            take(Packet {
                number,
                frame,
                captured,
                missing,
            })?;
        }
    }
    let mut findings = seen.findings(path, &records.interfaces, number)?;
    if let Some(octets) = source.spooled_octets() {
        let text = format!(
            "{} octets were kept in a temporary file: the input can be read only once",
            grouped(octets)
        );
        findings.push(Finding::new("spooled", 1, &[], text));
    }
    for after in &records.joined_after {
        let text = format!(
            "a second capture file begins after frame {after}: two files were joined, both are \
             played, their frames numbered through; `mergecap` joins captures by time"
        );
        findings.push(Finding::new("joined", 1, &[*after], text));
    }
    findings.extend(ending(path, number, records.ending, failure.take())?);
    Ok(findings)
}

/// What is said of how a file ends after packet `number`.
fn ending(
    path: &Path,
    number: usize,
    ending: Option<Ending>,
    failure: Option<Failure>,
) -> Result<Option<Finding>, CaptureError> {
    if let Some(Failure::Broken(error)) = failure {
        return Err(CaptureError::Damaged {
            path: path.to_path_buf(),
            frame: number,
            reason: format!("what follows cannot be unpacked ({error})"),
        });
    }
    let (kind, what) = match (ending, failure) {
        (Some(Ending::Zeros(octets)), _) => ("zeros", format!("in {} zeros", grouped(octets))),
        (Some(Ending::Cut), _) => ("cut", "inside a packet".to_owned()),
        (_, Some(Failure::Foreign)) => (
            "foreign",
            "in octets that are not packed as those before,".to_owned(),
        ),
        (_, Some(_)) => ("cut", "inside its compressed data".to_owned()),
        (Some(Ending::Stray(octets)), None) => {
            let octets = counted(octets, "octet");
            let what = format!("in {octets}, too few for the header of a packet,");
            ("cut", what)
        }
        (None, None) => return Ok(None),
    };
    let text = match number {
        0 => format!("the file ends {what} before its first frame is whole: capture it again"),
        _ => format!(
            "the file ends {what} after frame {number}: its {} played; `editcap IN OUT` writes \
             them to another file",
            match number {
                1 => "1 whole frame is".to_owned(),
                _ => counted(number, "whole frame") + " are",
            }
        ),
    };
    Ok(Some(Finding::new(kind, 1, &[number], text)))
}

/// Packets of each interface that need a word.
#[derive(Debug, Default)]
struct Seen {
    left_out: BTreeMap<usize, Frames>,
    /// Played with an Ethernet header put in front.
    dressed: BTreeMap<usize, Frames>,
}

impl Seen {
    fn note(&mut self, interface: usize, link: LinkType, number: usize, is_played: bool) {
        if !is_played {
            self.left_out.entry(interface).or_default().add(number);
        } else if link.lacks_ethernet() {
            self.dressed.entry(interface).or_default().add(number);
        }
    }

    /// What is said of `packets` packets; where none can be played, that is an error.
    fn findings(
        self,
        path: &Path,
        interfaces: &[Interface],
        packets: usize,
    ) -> Result<Vec<Finding>, CaptureError> {
        let mut findings = Vec::new();
        let left_out = self
            .left_out
            .values()
            .map(|frames| frames.count)
            .sum::<usize>();
        for (&place, frames) in &self.left_out {
            let interface = &interfaces[place];
            let is_playable = interface.link.is_playable();
            if left_out == packets && !is_playable {
                let mut links: Vec<LinkType> = Vec::new();
                for &place in self.left_out.keys() {
                    if !links.contains(&interfaces[place].link) {
                        links.push(interfaces[place].link);
                    }
                }
                return Err(CaptureError::link_types(path, &links));
            }
            let what = match is_playable {
                true => "too short for the header of its link",
                false => "packets of that link cannot be played",
            };
            let text = format!(
                "{} of {interface}, left out: {what}",
                frames.count_of("frame")
            );
            findings.push(Finding::new("left_out", frames.count, &frames.first, text));
        }
        for (place, frames) in self.dressed {
            let text = format!(
                "{}: {} played with an Ethernet header put in front",
                interfaces[place],
                counted(frames.count, "frame")
            );
            findings.push(Finding::new(
                "link_header",
                frames.count,
                &frames.first,
                text,
            ));
        }
        Ok(findings)
    }
}
