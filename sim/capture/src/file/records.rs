//! Packets out of a capture file, one after another: pcap and pcapng in either byte order.
//!
//! In: the octets of a file, unpacked. Out: each packet with its interface, and how the file ends.
//! This room finds where blocks begin and end; what is in a packet's block or an interface's is
//! read by `pcap-parser`. All other blocks are passed over unread, whatever their size: notes,
//! secrets and statistics hold nothing that is played.
//!
//! A file may end in mid-block (its writer was killed), in zeros (the system went down), or in a
//! second capture (two files were joined): what is whole is played, and [`Ending`] says so.

use super::error::CaptureError;
use super::interface::Interface;
use pcap_parser::nom::IResult;
use pcap_parser::pcap::{parse_pcap_frame, parse_pcap_frame_be, parse_pcap_frame_modified};
use pcap_parser::pcapng::{parse_block_be, parse_block_le, Block};
use pcap_parser::{parse_pcap_header, LegacyPcapBlock, PcapError, PcapHeader};
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

/// Longest block of a packet or an interface, in octets: what is longer is damage.
const BLOCK_OCTETS_MAX: usize = 16 << 20;
const PCAP_HEADER_OCTETS: usize = 24;
/// Before each packet: time (twice), captured and original length.
const PCAP_RECORD_OCTETS: usize = 16;
const BLOCK_HEADER_OCTETS: usize = 8;
/// A block without a body: type, length, and the length once more.
const BLOCK_OCTETS_MIN: usize = 12;
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER: [u8; 4] = 0x1a2b_3c4d_u32.to_be_bytes();
const INTERFACE_DESCRIPTION: u32 = 1;
/// The block for packets until 2004; `pcap-parser` does not know it.
const OBSOLETE_PACKET: u32 = 2;
const SIMPLE_PACKET: u32 = 3;
const ENHANCED_PACKET: u32 = 6;
/// Interface, drops, time (twice), captured and original length.
const OBSOLETE_PACKET_HEADER_OCTETS: usize = 20;

/// A packet, as it was captured.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    /// Place of its interface among [`Records::interfaces`].
    pub(crate) interface: usize,
    /// Octets on the wire, as the file says.
    pub(crate) original: u32,
    /// Octets in the file.
    pub(crate) octets: &'a [u8],
}

/// How a file ended, after a number of packets.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// In mid-block.
    Cut,
    /// With fewer octets than a block begins with, this many.
    Stray(usize),
    /// With zeros, this many octets.
    Zeros(u64),
}

/// The format from here on.
#[derive(Copy, Clone)]
enum Format {
    Pcap(PcapForm),
    PcapNg { is_big_endian: bool },
}

type ParsePacket = fn(&[u8]) -> IResult<&[u8], LegacyPcapBlock<'_>, PcapError<&[u8]>>;

/// How packets stand in a pcap file.
#[derive(Copy, Clone)]
struct PcapForm {
    header_octets: usize,
    is_big_endian: bool,
    parse: ParsePacket,
}

impl PcapForm {
    fn of(header: &PcapHeader) -> Self {
        let is_big_endian = header.is_bigendian();
        let (header_octets, parse): (usize, ParsePacket) = match is_big_endian {
            _ if header.is_modified_format() => (24, parse_pcap_frame_modified),
            true => (PCAP_RECORD_OCTETS, parse_pcap_frame_be),
            false => (PCAP_RECORD_OCTETS, parse_pcap_frame),
        };
        Self {
            header_octets,
            is_big_endian,
            parse,
        }
    }
}

/// The packets of one file.
pub(crate) struct Records<R> {
    path: PathBuf,
    input: R,
    format: Format,
    /// Interfaces described so far, of all sections.
    pub(crate) interfaces: Vec<Interface>,
    /// Where those of this section begin.
    section: usize,
    block: Vec<u8>,
    /// Packets so far.
    pub(crate) packets: usize,
    pub(crate) ending: Option<Ending>,
    /// Packets before each further capture that was joined to the first.
    pub(crate) joined_after: Vec<usize>,
}

/// Whether a capture file begins with these octets.
pub(crate) fn begins_capture(octets: &[u8]) -> bool {
    let is_ng = octets.starts_with(&SECTION_HEADER.to_be_bytes());
    let is_pcap = matches!(
        octets.first_chunk(),
        Some(
            [0xd4, 0xc3, 0xb2, 0xa1]
                | [0xa1, 0xb2, 0xc3, 0xd4]
                | [0x4d, 0x3c, 0xb2, 0xa1]
                | [0xa1, 0xb2, 0x3c, 0x4d]
                | [0x34, 0xcd, 0xb2, 0xa1]
        )
    );
    is_ng || is_pcap
}

/// Whether a pcap header stands where a packet's would: its version is 2.4, its time zone 0.
fn begins_another(octets: &[u8]) -> bool {
    let version = matches!(octets.get(4..8), Some([2, 0, 4, 0] | [0, 2, 0, 4]));
    let zone = octets.get(8..16) == Some(&[0; 8]);
    let is_section = octets.starts_with(&SECTION_HEADER.to_be_bytes())
        && octets
            .get(8..12)
            .is_some_and(|order| order == BYTE_ORDER || order.iter().rev().eq(BYTE_ORDER.iter()));
    begins_capture(octets) && (version && zone || is_section)
}

impl<R: BufRead> Records<R> {
    /// Read the head of a file.
    pub(crate) fn new(path: &Path, input: R) -> Result<Self, CaptureError> {
        let mut records = Self {
            path: path.to_path_buf(),
            input,
            format: Format::PcapNg {
                is_big_endian: false,
            },
            interfaces: Vec::new(),
            section: 0,
            block: Vec::new(),
            packets: 0,
            ending: None,
            joined_after: Vec::new(),
        };
        if records.fill(BLOCK_OCTETS_MIN)? == 0 {
            return Err(CaptureError::Empty { path: records.path });
        }
        if !begins_capture(&records.block) {
            return Err(CaptureError::unknown(&records.path, &records.block));
        }
        let is_whole = match records.block.starts_with(&SECTION_HEADER.to_be_bytes()) {
            true => records.begin_section()?,
            false => records.pcap_header()?,
        };
        match is_whole {
            true => Ok(records),
            false => Err(records.damaged("it ends inside its header")),
        }
    }

    /// The next packet; `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>, CaptureError> {
        while self.ending.is_none() {
            let found = match self.format {
                Format::Pcap(form) => self.next_of_pcap(form)?,
                Format::PcapNg { is_big_endian } => self.next_of_pcapng(is_big_endian)?,
            };
            match found {
                Step::Packet(found) => {
                    self.packets += 1;
                    self.check_interface(found.interface)?;
                    return Ok(Some(Record {
                        interface: found.interface,
                        original: found.original,
                        octets: &self.block[found.start..found.start + found.octets],
                    }));
                }
                Step::Other => {}
                Step::End => return Ok(None),
            }
        }
        Ok(None)
    }

    fn next_of_pcap(&mut self, form: PcapForm) -> Result<Step, CaptureError> {
        let header_octets = form.header_octets;
        self.block.clear();
        match self.fill(header_octets)? {
            0 => return Ok(Step::End),
            octets if octets < header_octets => return Ok(self.ends_in_stray(octets)),
            _ => {}
        }
        if begins_another(&self.block) {
            return self.begin_joined();
        }
        if self.block.iter().all(|&octet| octet == 0) && self.ends_in_zeros()? {
            return Ok(Step::End);
        }
        let captured = number(&self.block[8..12], form.is_big_endian) as usize;
        if captured > BLOCK_OCTETS_MAX {
            return Err(self.damaged(format!("a packet of {captured} octets follows")));
        }
        if self.fill(header_octets + captured)? < header_octets + captured {
            return Ok(self.ends_in_mid_block());
        }
        let packet = (form.parse)(&self.block).map(|(_, packet)| (packet.caplen, packet.origlen));
        let Ok((octets, original)) = packet else {
            return Err(self.damaged("the packet that follows cannot be read"));
        };
        Ok(Step::Packet(Found {
            interface: self.section,
            original,
            start: header_octets,
            octets: octets as usize,
        }))
    }

    fn next_of_pcapng(&mut self, is_big_endian: bool) -> Result<Step, CaptureError> {
        self.block.clear();
        match self.fill(BLOCK_OCTETS_MIN)? {
            0 => return Ok(Step::End),
            octets if octets < BLOCK_OCTETS_MIN => return Ok(self.ends_in_stray(octets)),
            _ => {}
        }
        if self.block.starts_with(&SECTION_HEADER.to_be_bytes()) {
            return Ok(match self.begin_section()? {
                true => Step::Other,
                false => self.ends_in_mid_block(),
            });
        }
        if begins_capture(&self.block) {
            self.fill(PCAP_RECORD_OCTETS)?;
            if begins_another(&self.block) {
                return self.begin_joined();
            }
        }
        let kind = number(&self.block, is_big_endian);
        let octets = number(&self.block[4..], is_big_endian) as usize;
        if self.block.iter().all(|&octet| octet == 0) && self.ends_in_zeros()? {
            return Ok(Step::End);
        }
        if octets < BLOCK_OCTETS_MIN || octets % 4 != 0 {
            return Err(self.damaged(format!("a block of {octets} octets follows")));
        }
        let known = [
            INTERFACE_DESCRIPTION,
            OBSOLETE_PACKET,
            SIMPLE_PACKET,
            ENHANCED_PACKET,
        ];
        if !known.contains(&kind) {
            return self.pass_over(octets);
        }
        if octets > BLOCK_OCTETS_MAX {
            return Err(self.damaged(format!("a packet's block of {octets} octets follows")));
        }
        if self.fill(octets)? < octets {
            return Ok(self.ends_in_mid_block());
        }
        let end = number(&self.block[octets - 4..], is_big_endian) as usize;
        if end != octets {
            return Err(self.damaged(format!("a block begins as {octets} octets, ends as {end}")));
        }
        self.read_block(kind, is_big_endian)
    }

    /// The block that is there, whole.
    fn read_block(&mut self, kind: u32, is_big_endian: bool) -> Result<Step, CaptureError> {
        if kind == OBSOLETE_PACKET {
            return match obsolete(&self.block, is_big_endian) {
                Some(found) => Ok(Step::Packet(Found {
                    interface: self.section + found.interface,
                    ..found
                })),
                None => Err(self.damaged("the packet that follows is longer than its block")),
            };
        }
        let parse = match is_big_endian {
            true => parse_block_be,
            false => parse_block_le,
        };
        let start = |data: &[u8]| data.as_ptr() as usize - self.block.as_ptr() as usize;
        let found = match parse(&self.block) {
            Ok((_, Block::InterfaceDescription(block))) => {
                let number = self.interfaces.len() - self.section;
                self.interfaces.push(Interface::of_block(number, &block));
                return Ok(Step::Other);
            }
            Ok((_, Block::EnhancedPacket(block))) => Found {
                interface: self.section + block.if_id as usize,
                original: block.origlen,
                start: start(block.data),
                octets: (block.caplen as usize).min(block.data.len()),
            },
            Ok((_, Block::SimplePacket(block))) => {
                let snap = self.interfaces.get(self.section);
                let snap = snap.map_or(0, |interface| interface.snap_octets);
                let longest = if snap == 0 { u32::MAX } else { snap };
                let captured = block.origlen.min(longest) as usize;
                Found {
                    interface: self.section,
                    original: block.origlen,
                    start: start(block.data),
                    octets: captured.min(block.data.len()),
                }
            }
            _ => return Err(self.damaged("the block that follows cannot be read")),
        };
        Ok(Step::Packet(found))
    }

    /// A packet must be of an interface that is described before it.
    fn check_interface(&self, interface: usize) -> Result<(), CaptureError> {
        if interface < self.interfaces.len() {
            return Ok(());
        }
        Err(CaptureError::UnknownInterface {
            path: self.path.clone(),
            frame: self.packets,
            interface: interface - self.section,
        })
    }

    /// Read on until the block has `octets`, or the file ends; says how many there are.
    fn fill(&mut self, octets: usize) -> Result<usize, CaptureError> {
        let missing = octets.saturating_sub(self.block.len()) as u64;
        let mut rest = self.input.by_ref().take(missing);
        let read = rest.read_to_end(&mut self.block);
        read.map_err(|source| CaptureError::Io {
            path: self.path.clone(),
            source,
        })?;
        Ok(self.block.len())
    }

    /// Read a pcap file's header, whose first octets are there; says whether it was whole.
    fn pcap_header(&mut self) -> Result<bool, CaptureError> {
        self.fill(PCAP_HEADER_OCTETS)?;
        let Ok((_, header)) = parse_pcap_header(&self.block) else {
            return Ok(false);
        };
        self.section = self.interfaces.len();
        self.interfaces.push(Interface::of_header(&header));
        self.format = Format::Pcap(PcapForm::of(&header));
        Ok(true)
    }

    /// A section, whose first octets are there; says whether its header was whole.
    fn begin_section(&mut self) -> Result<bool, CaptureError> {
        if self.fill(BLOCK_OCTETS_MIN)? < BLOCK_OCTETS_MIN {
            return Ok(false);
        }
        let is_big_endian = self.block[8..12] == BYTE_ORDER;
        if !is_big_endian && !self.block[8..12].iter().rev().eq(BYTE_ORDER.iter()) {
            return Err(self.damaged("the byte order of a section is neither of the two"));
        }
        self.format = Format::PcapNg { is_big_endian };
        self.section = self.interfaces.len();
        let octets = number(&self.block[4..], is_big_endian) as usize;
        if octets < BLOCK_OCTETS_MIN || octets % 4 != 0 {
            return Err(self.damaged(format!("a section header of {octets} octets follows")));
        }
        Ok(matches!(self.pass_over(octets)?, Step::Other))
    }

    /// Another capture file begins in this one.
    fn begin_joined(&mut self) -> Result<Step, CaptureError> {
        self.joined_after.push(self.packets);
        let is_whole = match self.block.starts_with(&SECTION_HEADER.to_be_bytes()) {
            true => self.begin_section()?,
            false => self.pcap_header()?,
        };
        Ok(match is_whole {
            true => Step::Other,
            false => self.ends_in_mid_block(),
        })
    }

    /// Leave out the rest of a block of `octets`.
    fn pass_over(&mut self, octets: usize) -> Result<Step, CaptureError> {
        let rest = octets.saturating_sub(self.block.len()) as u64;
        let passed = io::copy(&mut self.input.by_ref().take(rest), &mut io::sink());
        let passed = passed.map_err(|source| CaptureError::Io {
            path: self.path.clone(),
            source,
        })?;
        self.block.clear();
        match passed < rest {
            true => Ok(self.ends_in_mid_block()),
            false => Ok(Step::Other),
        }
    }

    fn ends_in_mid_block(&mut self) -> Step {
        self.ending = Some(Ending::Cut);
        Step::End
    }

    fn ends_in_stray(&mut self, octets: usize) -> Step {
        let is_zero = self.block.iter().all(|&octet| octet == 0);
        self.ending = Some(match is_zero {
            true => Ending::Zeros(octets as u64),
            false => Ending::Stray(octets),
        });
        Step::End
    }

    /// Whether nothing but zeros follows; then the file ends before them.
    fn ends_in_zeros(&mut self) -> Result<bool, CaptureError> {
        let mut zeros = self.block.len() as u64;
        let mut next = [0; 4096];
        loop {
            let read = self.input.read(&mut next);
            let octets = read.map_err(|source| CaptureError::Io {
                path: self.path.clone(),
                source,
            })?;
            if octets == 0 {
                self.ending = Some(Ending::Zeros(zeros));
                return Ok(true);
            }
            if next[..octets].iter().any(|&octet| octet != 0) {
                return Err(self.damaged("zeros follow, and other octets after them"));
            }
            zeros += octets as u64;
        }
    }

    fn damaged(&self, reason: impl ToString) -> CaptureError {
        CaptureError::Damaged {
            path: self.path.clone(),
            frame: self.packets,
            reason: reason.to_string(),
        }
    }
}

/// What a block was.
enum Step {
    Packet(Found),
    Other,
    End,
}

/// Where a packet is in its block.
struct Found {
    interface: usize,
    original: u32,
    start: usize,
    octets: usize,
}

fn number(octets: &[u8], is_big_endian: bool) -> u32 {
    let four = [octets[0], octets[1], octets[2], octets[3]];
    match is_big_endian {
        true => u32::from_be_bytes(four),
        false => u32::from_le_bytes(four),
    }
}

/// The packet of an obsolete block; its interface counts within the section.
fn obsolete(block: &[u8], is_big_endian: bool) -> Option<Found> {
    let body = block.get(BLOCK_HEADER_OCTETS..block.len() - 4)?;
    let octets = body.get(OBSOLETE_PACKET_HEADER_OCTETS..)?;
    let interface = match is_big_endian {
        true => u16::from_be_bytes([body[0], body[1]]),
        false => u16::from_le_bytes([body[0], body[1]]),
    };
    let captured = number(&body[12..], is_big_endian) as usize;
    (captured <= octets.len()).then_some(Found {
        interface: usize::from(interface),
        original: number(&body[16..], is_big_endian),
        start: BLOCK_HEADER_OCTETS + OBSOLETE_PACKET_HEADER_OCTETS,
        octets: captured,
    })
}
