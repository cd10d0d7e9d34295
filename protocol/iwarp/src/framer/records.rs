//! Records: what a TCP sender keeps, sends in one segment, and sends again with the same bounds.

use super::fpdu::{Copier, Fpdu, Unreadable};
use super::message::Ulpdu;
use super::pieces::Piece;
use crate::startup::Agreed;
use rnic_wire::mpa::fpdu::{mulpdu, Framing};

/// EMSS where TCP does not report it, in octets (MPA-026).
pub const EMSS_UNKNOWN: usize = 1460;
/// EMSS where TCP does not report it, and the path is believed to be a small one.
pub const EMSS_SMALL: usize = 536;
/// Longest FPDU that is copied for the sake of sharing a segment, in octets: about as much as costs
/// what a frame of its own does.
pub const PACKED_OCTETS_MAX: usize = 256;

/// What leaves as one unit of TCP.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// One whole FPDU in one segment, its payload in place.
    Scatter(Fpdu),
    /// FPDUs that are copied into the caller's buffer: packed, with markers, of a source that may
    /// change, or longer than a segment.
    Copied {
        /// Where they begin, in octets from SeqStart.
        stream_offset: u64,
        /// Their octets: all of the buffer.
        octets: usize,
        /// Octets of a segment: the record leaves in so many, with these bounds for good.
        segment_octets: usize,
    },
}

impl Record {
    /// The first octet after it, in octets from SeqStart.
    pub fn end(&self) -> u64 {
        match self {
            Self::Scatter(fpdu) => fpdu.stream_offset + fpdu.octets() as u64,
            Self::Copied {
                stream_offset,
                octets,
                ..
            } => stream_offset + *octets as u64,
        }
    }
}

/// Where ULPDUs come from, in the order in which they leave.
pub trait Source {
    /// Octets of the next ULPDU, if there is one.
    fn peek(&self, mulpdu: usize) -> Option<usize>;

    /// The next ULPDU, if there is one. `end` is where its FPDU ends, in octets from SeqStart.
    fn take(&mut self, mulpdu: usize, end: u64) -> Option<Ulpdu>;

    /// Copy a piece of a payload; `into` has its length.
    ///
    /// # Errors
    /// [`Unreadable`]: the FPDU does not leave, and its record ends before it.
    fn read(&mut self, piece: &Piece, into: &mut [u8]) -> Result<(), Unreadable>;
}

/// Puts ULPDUs into FPDUs, and FPDUs into records, of one direction of a connection. It holds no
/// octet: 40 octets of state.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Framer {
    framing: Framing,
    emss_octets: usize,
    stream_offset: u64,
}

impl Framer {
    /// A framer of what this end sends, at SeqStart.
    pub fn new(agreed: &Agreed, emss_octets: usize) -> Self {
        Self {
            framing: Framing {
                markers: agreed.markers_out,
                crc: agreed.crc,
            },
            emss_octets,
            stream_offset: 0,
        }
    }

    /// TCP's EMSS has changed: what is framed from now on follows it (MPA-036).
    pub fn set_emss(&mut self, emss_octets: usize) {
        self.emss_octets = emss_octets;
    }

    /// The longest ULPDU, from 128 to 64,768 octets (MPA-032).
    pub fn mulpdu(&self) -> usize {
        mulpdu(self.emss_octets, self.framing.markers)
    }

    /// Where the next FPDU begins, in octets from SeqStart.
    pub fn stream_offset(&self) -> u64 {
        self.stream_offset
    }

    fn fpdu_octets(&self, ulpdu_octets: usize) -> usize {
        self.framing.fpdu_octets(self.stream_offset, ulpdu_octets)
    }

    fn take(&self, source: &mut impl Source, octets: usize) -> Option<Ulpdu> {
        source.take(self.mulpdu(), self.stream_offset + octets as u64)
    }

    /// The next record, if the source has a ULPDU. Copied octets are in `out`, whose capacity is
    /// used again from call to call; otherwise it is empty.
    pub fn next_record(&mut self, source: &mut impl Source, out: &mut Vec<u8>) -> Option<Record> {
        out.clear();
        let (stream_offset, segment_octets) = (self.stream_offset, self.emss_octets.max(1));
        let octets = self.fpdu_octets(source.peek(self.mulpdu())?);
        let ulpdu = self.take(source, octets)?;
        if self.leaves_in_place(&ulpdu, octets, source) {
            let fpdu = Fpdu::new(&ulpdu, stream_offset, self.framing.crc);
            self.stream_offset += octets as u64;
            return Some(Record::Scatter(fpdu));
        }
        let mut copied = self.copy(&ulpdu, octets, source, out);
        while copied.is_ok() {
            // Only what fits in whole: a segment ends at an FPDU's end (MPA-025).
            let octets = source
                .peek(self.mulpdu())
                .map(|peek| self.fpdu_octets(peek));
            let Some(octets) = octets.filter(|&octets| self.shares(out.len(), octets)) else {
                break;
            };
            let Some(ulpdu) = self.take(source, octets) else {
                break;
            };
            copied = self.copy(&ulpdu, octets, source, out);
        }
        // Those before one that could not be read are whole.
        (!out.is_empty()).then_some(Record::Copied {
            stream_offset,
            octets: out.len(),
            segment_octets,
        })
    }

    /// Whether an FPDU goes into a segment that has `used_octets` already.
    fn shares(&self, used_octets: usize, octets: usize) -> bool {
        octets <= PACKED_OCTETS_MAX && used_octets + octets <= self.emss_octets
    }

    fn leaves_in_place(&self, ulpdu: &Ulpdu, octets: usize, source: &impl Source) -> bool {
        if self.framing.markers || ulpdu.snapshot || octets > self.emss_octets {
            return false;
        }
        let next = source
            .peek(self.mulpdu())
            .map(|peek| self.fpdu_octets(peek));
        let packed = next.is_some_and(|next| self.shares(octets, next));
        !(packed && octets <= PACKED_OCTETS_MAX)
    }

    fn copy(
        &mut self,
        ulpdu: &Ulpdu,
        octets: usize,
        source: &mut impl Source,
        out: &mut Vec<u8>,
    ) -> Result<(), Unreadable> {
        let start = out.len();
        out.reserve(octets);
        let mut copier = Copier {
            out,
            stream_offset: self.stream_offset,
            markers: self.framing.markers,
            start,
        };
        let read = &mut |piece: &Piece, into: &mut [u8]| source.read(piece, into);
        let copied = copier.copy(ulpdu, self.framing.crc, read);
        match copied {
            Ok(()) => self.stream_offset += (out.len() - start) as u64,
            Err(Unreadable) => out.truncate(start),
        }
        copied
    }
}
