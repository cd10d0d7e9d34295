//! Why a capture is not used.

use super::interface::LinkType;
use super::magic;
use std::path::{Path, PathBuf};
use thiserror::Error;

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
    /// What is packed in the file cannot be read.
    #[error(
        "{path} is damaged, and cannot be unpacked: {source}; copy it again, or unpack what is \
         whole first"
    )]
    Packed {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file holds nothing at all.
    #[error("{path} is empty: 0 octets; was the capture ended properly?")]
    Empty {
        /// Which file.
        path: PathBuf,
    },
    /// The file is in no format that is known.
    #[error("{path} is no pcap or pcapng capture{}; {way_out}", named(.format))]
    NotACapture {
        /// Which file.
        path: PathBuf,
        /// What it is, if that is known.
        format: Option<&'static str>,
        /// What to do.
        way_out: &'static str,
    },
    /// The file is damaged.
    #[error("{path} is damaged {}", after(path, *frame, reason))]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Last whole frame, counted from 1.
        frame: usize,
        /// What is wrong.
        reason: String,
    },
    /// A frame of a connection that is played was not captured whole.
    #[error(
        "{path}: frame {frame} holds {captured} of its {original} octets, and is of the connection \
         {connection}, which would be played; capture whole frames (`tcpdump -s 0`), or play \
         another connection with `--only-flow N`"
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
        /// Both ends of its connection.
        connection: String,
    },
    /// The capture has no interface that can be played.
    #[error(
        "{path} has link type {link}; Ethernet (1), Linux cooked (113, 276), raw IP (101, 228, \
         229) and BSD loopback (0, 108) can be played: capture on the interface that carries the \
         connection"
    )]
    LinkType {
        /// Which file.
        path: PathBuf,
        /// Its link type, by number and name.
        link: String,
    },
    /// A packet is of an interface that the file does not describe.
    #[error(
        "{path}: frame {frame} is of interface {interface}, which is not described before it; the \
         file was cut or joined by a tool that lost the description"
    )]
    UnknownInterface {
        /// Which file.
        path: PathBuf,
        /// Which frame, counted from 1.
        frame: usize,
        /// The number of the interface in its section.
        interface: usize,
    },
    /// More than is played at once.
    #[error(
        "{path} holds more than {} GiB of frames; play one connection with `--only-flow N`{flows}",
        .octets_max >> 30
    )]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// Octets of frames that are played at once.
        octets_max: u64,
        /// Its flows.
        flows: String,
    },
    /// An option names a flow that is not there.
    #[error("{path}: --only-flow {flow}: the capture has {known} flows, counted from 0{why}")]
    NoSuchFlow {
        /// Which file.
        path: PathBuf,
        /// The flow.
        flow: usize,
        /// How many there are.
        known: usize,
        /// Where there is none, each cause.
        why: String,
    },
    /// `--mpa` names a sequence number that no connection has.
    #[error(
        "{path}: --mpa start={start} ({start:#x}) lies in no connection of the capture\
         {seen}"
    )]
    NoSuchStart {
        /// Which file.
        path: PathBuf,
        /// The sequence number.
        start: u32,
        /// What the capture has, by direction.
        seen: String,
    },
}

impl CaptureError {
    /// A file that begins with `head` is no capture.
    pub(crate) fn unknown(path: &Path, head: &[u8]) -> Self {
        let convert = "convert it: `editcap -F pcap IN OUT`";
        let unpack = "unpack it once, and give what comes out";
        let as_text = "a copy in text mode changed its line ends; copy it again in binary mode";
        let known: [(&[u8], &str, &str); 16] = [
            (magic::GZIP, "packed twice", unpack),
            (magic::ZSTD, "packed twice", unpack),
            (magic::XZ, "packed twice", unpack),
            (b"\r\n\r\r\r\n", "one that was damaged", as_text),
            (b"\n\r\n", "one that was damaged", as_text),
            (b"7z\xbc\xaf", "7z", "unpack it first: `7z x`"),
            (&[0x5d, 0, 0], "lzma", "unpack it first: `unlzma`"),
            (b"BZh", "bzip2", "unpack it first: `bunzip2`"),
            (&[0x04, 0x22, 0x4d, 0x18], "lz4", "unpack it first: `unlz4`"),
            (b"PK\x03\x04", "zip", "unpack it first: `unzip`"),
            (&[0x1f, 0x9d], "compress", "unpack it first: `uncompress`"),
            (b"snoop\0", "snoop", convert),
            (b"GMBU", "Network Monitor", convert),
            (b"TRSNIFF data", "Sniffer", convert),
            (b"XCP\0", "NetXray", convert),
            (b"RTSS", "Network Monitor 1", convert),
        ];
        let found = known.iter().find(|(magic, _, _)| head.starts_with(magic));
        let written = "give a file as tcpdump or dumpcap writes it";
        Self::NotACapture {
            path: path.to_path_buf(),
            format: found.map(|found| found.1),
            way_out: found.map_or(written, |found| found.2),
        }
    }

    pub(crate) fn link_types(path: &Path, links: &[LinkType]) -> Self {
        let links: Vec<String> = links.iter().map(ToString::to_string).collect();
        Self::LinkType {
            path: path.to_path_buf(),
            link: links.join(", "),
        }
    }
}

/// Where a file is damaged, and what to do about it.
fn after(path: &Path, frame: usize, reason: &str) -> String {
    match frame {
        0 => format!("before its first frame: {reason}; capture it again"),
        _ => format!(
            "after frame {frame}: {reason}; capture it again, or write what is whole to another \
             file: `editcap -r {} OUT 1-{frame}`",
            path.display()
        ),
    }
}

fn named(format: &Option<&'static str>) -> String {
    format.map_or_else(String::new, |name| format!(", but {name}"))
}
