//! One FPDU, by reference or copied.
//!
//! ```text
//!  by reference   [ head: length, DDP header ] [ payload, in place ] [ trailer: PAD, CRC ]
//!  copied         the same octets in one run, with markers if the peer asked for them
//! ```

use super::message::Ulpdu;
use super::pieces::{Octets, Piece, Pieces, HEAD_OCTETS_MAX, TRAILER_OCTETS_MAX};
use rnic_wire::mpa::crc32c::{self, CRC_OCTETS};
use rnic_wire::mpa::fpdu::LENGTH_OCTETS;
use rnic_wire::mpa::marker::{fpduptr, octets_to_marker, Marker, MarkerRepr, MARKER_OCTETS};

/// Who puts the CRC into the trailer.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Crc {
    /// The device: CRC32C of everything before the field, into the trailer's last four octets.
    Device,
    /// The field has its value already, which is 0 without CRC.
    Done,
}

/// An FPDU whose payload stays where it is.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Fpdu {
    /// Where it begins, in octets from SeqStart.
    pub stream_offset: u64,
    /// ULPDU_Length, DDP header, and short payload by value.
    pub head: Octets<HEAD_OCTETS_MAX>,
    /// Payload: to be left as it is until the peer has acknowledged it.
    pub payload: Pieces,
    /// PAD and CRC.
    pub trailer: Octets<TRAILER_OCTETS_MAX>,
    /// Who computes the CRC.
    pub crc: Crc,
}

impl Fpdu {
    /// The FPDU of a ULPDU, without markers.
    pub(super) fn new(ulpdu: &Ulpdu, stream_offset: u64, crc: bool) -> Self {
        Self {
            stream_offset,
            head: Octets::of(&[&length_field(ulpdu), ulpdu.head.as_slice()]),
            payload: ulpdu.payload,
            trailer: Octets::of(&[pad(ulpdu), &[0; CRC_OCTETS]]),
            crc: if crc { Crc::Device } else { Crc::Done },
        }
    }

    /// Its octets in the stream.
    pub fn octets(&self) -> usize {
        let ends = self.head.as_slice().len() + self.trailer.as_slice().len();
        ends + self.payload.octets() as usize
    }
}

/// ULPDUs are cut to a MULPDU of 64,768 octets at most.
fn length_field(ulpdu: &Ulpdu) -> [u8; LENGTH_OCTETS] {
    (ulpdu.octets() as u16).to_be_bytes()
}

/// PAD: zeros up to a multiple of four octets (MPA-003).
fn pad(ulpdu: &Ulpdu) -> &'static [u8] {
    let covered = LENGTH_OCTETS + ulpdu.octets();
    &[0; 3][..covered.next_multiple_of(4) - covered]
}

/// A payload that cannot be read any more, such as one of a region that has been revoked.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a part of the payload is not readable any more")]
pub struct Unreadable;

/// Copies a piece.
pub(super) type Read<'a> = &'a mut dyn FnMut(&Piece, &mut [u8]) -> Result<(), Unreadable>;

/// Writes an FPDU after those that `out` has already, whose first octet is at a place in the
/// stream that only matters to markers.
pub(super) struct Copier<'a> {
    pub out: &'a mut Vec<u8>,
    /// Where the FPDU begins, in octets from SeqStart.
    pub stream_offset: u64,
    pub markers: bool,
    /// Octets that `out` had before.
    pub start: usize,
}

impl Copier<'_> {
    /// Append the FPDU. If a piece cannot be read, what was written of it is to be thrown away.
    pub fn copy(&mut self, ulpdu: &Ulpdu, crc: bool, read: Read<'_>) -> Result<(), Unreadable> {
        self.put(&length_field(ulpdu));
        self.put(ulpdu.head.as_slice());
        for piece in ulpdu.payload.as_slice() {
            self.put_piece(piece, read)?;
        }
        self.put(pad(ulpdu));
        // A marker between PAD and CRC is covered too (MPA-021).
        self.put_due_marker();
        let crc = match crc {
            true => crc32c::field(&self.out[self.start..]),
            false => [0; CRC_OCTETS],
        };
        self.out.extend_from_slice(&crc);
        Ok(())
    }

    fn place(&self) -> u64 {
        self.stream_offset + (self.out.len() - self.start) as u64
    }

    /// Octets that may follow before the next marker.
    fn room(&mut self) -> usize {
        self.put_due_marker();
        match self.markers {
            true => octets_to_marker(self.place() + 1) + 1,
            false => usize::MAX,
        }
    }

    fn put(&mut self, mut octets: &[u8]) {
        while !octets.is_empty() {
            let (now, later) = octets.split_at(self.room().min(octets.len()));
            self.out.extend_from_slice(now);
            octets = later;
        }
    }

    fn put_piece(&mut self, piece: &Piece, read: Read<'_>) -> Result<(), Unreadable> {
        let mut rest = *piece;
        while rest.octets > 0 {
            let octets = self.room().min(rest.octets as usize);
            let at = self.out.len();
            self.out.resize(at + octets, 0);
            let now = Piece {
                octets: octets as u32,
                ..rest
            };
            read(&now, &mut self.out[at..])?;
            rest.offset = rest.offset.wrapping_add(octets as u64);
            rest.octets -= octets as u32;
        }
        Ok(())
    }

    fn put_due_marker(&mut self) {
        if !self.markers || octets_to_marker(self.place()) != 0 {
            return;
        }
        let into = self.out.len() - self.start;
        let fpduptr = fpduptr(into, octets_to_marker(self.stream_offset) == 0);
        let mut marker = [0; MARKER_OCTETS];
        MarkerRepr { fpduptr }.emit(&mut Marker::new_unchecked(&mut marker));
        self.out.extend_from_slice(&marker);
    }
}
