//! Capture files: pcap and pcapng, plain or gzip, Ethernet frames whole or not at all.

use pcap_parser::{create_reader, Block, Linktype, PcapBlockOwned, PcapError};
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Largest packet record taken at once, in octets.
const RECORD_OCTETS_MAX: usize = 1 << 20;
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The frames of a capture.
#[derive(Clone, Debug)]
pub struct Capture {
    /// Where it came from.
    pub path: PathBuf,
    /// Ethernet frames without FCS, in file order.
    pub frames: Vec<Vec<u8>>,
}

/// Why a file is not used.
#[derive(Debug, Error)]
pub enum CaptureError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is in no format that is known.
    #[error("{path} is no pcap or pcapng capture; give a file as tcpdump or dumpcap writes it")]
    NotACapture {
        /// Which file.
        path: PathBuf,
    },
    /// The file ends inside a packet or is damaged.
    #[error(
        "{path} is damaged after frame {frame}: {reason}; capture it again, or cut it after \
         that frame"
    )]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Last whole frame, counted from 1.
        frame: usize,
        /// What is wrong.
        reason: String,
    },
    /// A frame was not captured whole.
    #[error(
        "{path}: frame {frame} holds {captured} of its {original} octets; capture with a snap \
         length of 0 (whole frames)"
    )]
    CutFrame {
        /// Which file.
        path: PathBuf,
        /// Which frame, counted from 1.
        frame: usize,
        /// Octets in the file.
        captured: u32,
        /// Octets on the wire.
        original: u32,
    },
    /// The capture is not of Ethernet.
    #[error("{path} has link type {link}; only Ethernet (1) can be played")]
    LinkType {
        /// Which file.
        path: PathBuf,
        /// Its link type.
        link: i32,
    },
}

/// Read all frames of a capture.
pub fn read(path: &Path) -> Result<Capture, CaptureError> {
    let io = |source| CaptureError::Io {
        path: path.to_path_buf(),
        source,
    };
    let mut file = BufReader::new(File::open(path).map_err(io)?);
    let mut octets = Vec::new();
    file.read_to_end(&mut octets).map_err(io)?;
    parse(path, octets)
}

/// As [`read`], of a file that holds `octets`.
pub fn parse(path: &Path, mut octets: Vec<u8>) -> Result<Capture, CaptureError> {
    if octets.starts_with(&GZIP_MAGIC) {
        let mut plain = Vec::new();
        let unpacked = flate2::read::MultiGzDecoder::new(octets.as_slice()).read_to_end(&mut plain);
        unpacked.map_err(|source| CaptureError::Io {
            path: path.to_path_buf(),
            source,
        })?;
        octets = plain;
    }
    Ok(Capture {
        path: path.to_path_buf(),
        frames: frames(path, &octets)?,
    })
}

fn frames(path: &Path, octets: &[u8]) -> Result<Vec<Vec<u8>>, CaptureError> {
    let path = || path.to_path_buf();
    let reader = create_reader(RECORD_OCTETS_MAX, octets);
    let mut reader = reader.map_err(|_| CaptureError::NotACapture { path: path() })?;
    let mut links: Vec<Linktype> = Vec::new();
    let mut frames: Vec<Vec<u8>> = Vec::new();
    loop {
        let starved = match reader.next() {
            Ok((offset, block)) => {
                if let Some(record) = record(&block, &mut links) {
                    frames.push(record.check(path(), frames.len() + 1)?);
                }
                reader.consume(offset);
                false
            }
            Err(PcapError::Eof) => return Ok(frames),
            Err(PcapError::Incomplete(_)) => true,
            Err(PcapError::UnexpectedEof) => return Err(damaged(path(), &frames, CUT)),
            Err(error) => return Err(damaged(path(), &frames, format!("{error:?}"))),
        };
        if starved {
            if reader.reader_exhausted() {
                return Err(damaged(path(), &frames, CUT));
            }
            let refilled = reader.refill();
            refilled.map_err(|error| damaged(path(), &frames, format!("{error:?}")))?;
        }
    }
}

const CUT: &str = "the file ends inside a packet";

fn damaged(path: PathBuf, frames: &[Vec<u8>], reason: impl ToString) -> CaptureError {
    CaptureError::Damaged {
        path,
        frame: frames.len(),
        reason: reason.to_string(),
    }
}

struct Record<'a> {
    link: Linktype,
    captured: u32,
    original: u32,
    data: &'a [u8],
}

impl Record<'_> {
    fn check(&self, path: PathBuf, frame: usize) -> Result<Vec<u8>, CaptureError> {
        if self.link != Linktype::ETHERNET {
            return Err(CaptureError::LinkType {
                path,
                link: self.link.0,
            });
        }
        let whole = self.data.get(..self.captured as usize);
        match whole {
            Some(octets) if self.captured == self.original && !octets.is_empty() => {
                Ok(octets.to_vec())
            }
            _ => Err(CaptureError::CutFrame {
                path,
                frame,
                captured: self.captured.min(self.data.len() as u32),
                original: self.original,
            }),
        }
    }
}

/// The packet of a block, if it holds one; interface descriptions are remembered in `links`.
fn record<'a>(block: &PcapBlockOwned<'a>, links: &mut Vec<Linktype>) -> Option<Record<'a>> {
    match block {
        PcapBlockOwned::LegacyHeader(header) => {
            links.push(header.network);
            None
        }
        PcapBlockOwned::Legacy(packet) => Some(Record {
            link: links[0],
            captured: packet.caplen,
            original: packet.origlen,
            data: packet.data,
        }),
        PcapBlockOwned::NG(Block::SectionHeader(_)) => {
            links.clear();
            None
        }
        PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
            links.push(interface.linktype);
            None
        }
        PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => Some(Record {
            link: *links.get(packet.if_id as usize)?,
            captured: packet.caplen,
            original: packet.origlen,
            data: packet.data,
        }),
        PcapBlockOwned::NG(Block::SimplePacket(packet)) => Some(Record {
            link: *links.first()?,
            captured: packet.origlen.min(packet.data.len() as u32),
            original: packet.origlen,
            data: packet.data,
        }),
        PcapBlockOwned::NG(_) => None,
    }
}
