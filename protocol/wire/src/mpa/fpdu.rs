//! FPDUs: a ULPDU with its length, PAD and CRC (RFC 5044 section 4).
//!
//! ```text
//!  0               2                 2 + n        multiple of 4
//!  +---------------+-----------------+------------+--------------+
//!  | ULPDU_Length  |  ULPDU, n oct.  | PAD, 0..=3 | CRC, 4 oct.  |
//!  +---------------+-----------------+------------+--------------+
//! ```
//!
//! The view [`Fpdu`] covers an FPDU without markers. [`Framing`] writes FPDUs into a stream and
//! extracts them again; there an FPDU starts at its leading marker, if it has one.

use crate::error::{Error, Result};
use crate::mpa::crc32c;
use crate::mpa::marker::{
    fpduptr, octets_to_marker, octets_with_markers, Marker, MarkerRepr, MARKER_OCTETS,
};
use crate::octets::{get_u16, set_u16};
use alloc::vec::Vec;
use core::fmt;

mod field {
    use crate::mpa::crc32c::CRC_OCTETS;
    use crate::octets::Field;

    pub const ULPDU_LENGTH: Field = 0..2;

    pub const fn ulpdu(length: usize) -> Field {
        ULPDU_LENGTH.end..ULPDU_LENGTH.end + length
    }

    pub const fn pad(length: usize) -> Field {
        ulpdu(length).end..ulpdu(length).end.next_multiple_of(4)
    }

    pub const fn crc(length: usize) -> Field {
        pad(length).end..pad(length).end + CRC_OCTETS
    }
}

/// Octets of ULPDU_Length.
pub const LENGTH_OCTETS: usize = field::ULPDU_LENGTH.end;
/// Longest ULPDU that a sender may post (MPA-032, MPA-033).
pub const ULPDU_OCTETS_MAX: usize = 64768;
/// Smallest MULPDU (MPA-032).
pub const MULPDU_MIN: usize = 128;

/// Octets of an FPDU without markers.
pub const fn plain_octets(ulpdu_length: usize) -> usize {
    field::crc(ulpdu_length).end
}

/// The largest ULPDU whose FPDU fits a TCP segment of `emss` octets wherever its markers fall
/// (MPA-034, MPA-035), within the limits of MPA-032.
pub const fn mulpdu(emss: usize, markers: bool) -> usize {
    let markers = if markers {
        MARKER_OCTETS * emss.div_ceil(512)
    } else {
        0
    };
    let overhead = LENGTH_OCTETS + crc32c::CRC_OCTETS + markers + emss % 4;
    let mulpdu = emss.saturating_sub(overhead);
    if mulpdu < MULPDU_MIN {
        MULPDU_MIN
    } else if mulpdu > ULPDU_OCTETS_MAX {
        ULPDU_OCTETS_MAX
    } else {
        mulpdu
    }
}

/// A view of an FPDU without markers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Fpdu<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Fpdu<T> {
    /// A view without any check.
    pub const fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of an FPDU that is complete according to its length.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let fpdu = Self::new_unchecked(buffer);
        fpdu.check_len()?;
        Ok(fpdu)
    }

    /// `Ok` if no accessor can panic. Setting ULPDU_Length calls for another check.
    pub fn check_len(&self) -> Result<()> {
        let found = self.buffer.as_ref().len();
        Error::unless_whole(found, LENGTH_OCTETS)?;
        Error::unless_whole(found, plain_octets(self.ulpdu_length()))
    }

    /// ULPDU_Length, in octets.
    pub fn ulpdu_length(&self) -> usize {
        usize::from(get_u16(self.buffer.as_ref(), field::ULPDU_LENGTH))
    }

    /// The ULPDU.
    pub fn ulpdu(&self) -> &[u8] {
        &self.buffer.as_ref()[field::ulpdu(self.ulpdu_length())]
    }

    /// PAD: no meaning, but the CRC covers it (MPA-004).
    pub fn pad(&self) -> &[u8] {
        &self.buffer.as_ref()[field::pad(self.ulpdu_length())]
    }

    /// The CRC field, not checked.
    pub fn crc(&self) -> [u8; crc32c::CRC_OCTETS] {
        let field = &self.buffer.as_ref()[field::crc(self.ulpdu_length())];
        field.try_into().expect("the field has four octets")
    }

    /// Whether the CRC matches the FPDU.
    pub fn verify_crc(&self) -> bool {
        crc32c::verify(&self.buffer.as_ref()[..plain_octets(self.ulpdu_length())])
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Fpdu<T> {
    /// Set ULPDU_Length.
    pub fn set_ulpdu_length(&mut self, value: u16) {
        set_u16(self.buffer.as_mut(), field::ULPDU_LENGTH, value);
    }

    /// The ULPDU, to be written.
    pub fn ulpdu_mut(&mut self) -> &mut [u8] {
        let field = field::ulpdu(self.ulpdu_length());
        &mut self.buffer.as_mut()[field]
    }

    /// Set PAD to zeros (MPA-003).
    pub fn clear_pad(&mut self) {
        let field = field::pad(self.ulpdu_length());
        self.buffer.as_mut()[field].fill(0);
    }

    /// Set the CRC field.
    pub fn set_crc(&mut self, value: [u8; crc32c::CRC_OCTETS]) {
        let field = field::crc(self.ulpdu_length());
        self.buffer.as_mut()[field].copy_from_slice(&value);
    }

    /// Set the CRC field to the CRC of everything before it.
    pub fn fill_crc(&mut self) {
        let covered = field::crc(self.ulpdu_length()).start;
        let crc = crc32c::field(&self.buffer.as_ref()[..covered]);
        self.set_crc(crc);
    }
}

/// Meaning of an FPDU without markers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct FpduRepr<'a> {
    /// The ULPDU, at most 65535 octets.
    pub ulpdu: &'a [u8],
    /// The CRC field holds the CRC, instead of zero.
    pub crc: bool,
}

impl<'a> FpduRepr<'a> {
    /// Read an FPDU; a wrong CRC is reported in `crc` and is no error.
    pub fn parse<T: AsRef<[u8]>>(fpdu: &'a Fpdu<T>) -> Result<Self> {
        fpdu.check_len()?;
        Ok(Self {
            ulpdu: fpdu.ulpdu(),
            crc: fpdu.verify_crc(),
        })
    }

    /// Octets that [`Self::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        plain_octets(self.ulpdu.len())
    }

    /// Write the FPDU.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, fpdu: &mut Fpdu<T>) {
        fpdu.set_ulpdu_length(length_field(self.ulpdu.len()));
        fpdu.ulpdu_mut().copy_from_slice(self.ulpdu);
        fpdu.clear_pad();
        match self.crc {
            true => fpdu.fill_crc(),
            false => fpdu.set_crc([0; crc32c::CRC_OCTETS]),
        }
    }
}

impl fmt::Display for FpduRepr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FPDU of a ULPDU of {} octets", self.ulpdu.len())
    }
}

fn length_field(octets: usize) -> u16 {
    octets.try_into().expect("ULPDU_Length has 16 bits")
}

/// Framing of the FPDUs of one direction.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Framing {
    /// The receiver requested markers (START-027).
    pub markers: bool,
    /// CRC32C is in use; else the field is sent as zero.
    pub crc: bool,
}

impl Framing {
    /// Octets of an FPDU that starts `stream_offset` octets after SeqStart.
    pub const fn fpdu_octets(&self, stream_offset: u64, ulpdu_length: usize) -> usize {
        let plain = plain_octets(ulpdu_length);
        if self.markers {
            octets_with_markers(stream_offset, plain)
        } else {
            plain
        }
    }

    /// Append the FPDU of a ULPDU, given in pieces, to `stream`, whose octet 0 is SeqStart.
    ///
    /// # Panics
    /// If the ULPDU has more than 65535 octets.
    pub fn append(&self, stream: &mut Vec<u8>, ulpdu: &[&[u8]]) {
        let start = stream.len();
        let length = ulpdu.iter().map(|piece| piece.len()).sum();
        stream.reserve(self.fpdu_octets(start as u64, length));
        self.put(stream, start, &length_field(length).to_be_bytes());
        for piece in ulpdu {
            self.put(stream, start, piece);
        }
        self.put(stream, start, &[0; 3][..field::pad(length).len()]);
        // A marker between PAD and CRC is covered too (MPA-021).
        self.put_due_marker(stream, start);
        let crc = match self.crc {
            true => crc32c::field(&stream[start..]),
            false => [0; crc32c::CRC_OCTETS],
        };
        stream.extend_from_slice(&crc);
    }

    fn put(&self, stream: &mut Vec<u8>, start: usize, mut octets: &[u8]) {
        while !octets.is_empty() {
            self.put_due_marker(stream, start);
            let room = match self.markers {
                true => octets_to_marker(stream.len() as u64 + 1) + 1,
                false => octets.len(),
            };
            let (now, later) = octets.split_at(room.min(octets.len()));
            stream.extend_from_slice(now);
            octets = later;
        }
    }

    fn put_due_marker(&self, stream: &mut Vec<u8>, start: usize) {
        if !self.markers || octets_to_marker(stream.len() as u64) != 0 {
            return;
        }
        let fpduptr = fpduptr(stream.len() - start, octets_to_marker(start as u64) == 0);
        let mut marker = [0; MARKER_OCTETS];
        MarkerRepr { fpduptr }.emit(&mut Marker::new_unchecked(&mut marker));
        stream.extend_from_slice(&marker);
    }

    /// The FPDU that starts `start` octets into `stream`, without its markers, and its octets in
    /// the stream.
    pub fn extract(&self, stream: &[u8], start: usize) -> Result<(Fpdu<Vec<u8>>, usize)> {
        let offset = start as u64;
        let header_at = match self.markers && octets_to_marker(offset) == 0 {
            true => start + MARKER_OCTETS,
            false => start,
        };
        let found = stream.len().saturating_sub(start);
        Error::unless_whole(found, header_at - start + LENGTH_OCTETS)?;
        let header = Fpdu::new_unchecked(&stream[header_at..]);
        let octets = self.fpdu_octets(offset, header.ulpdu_length());
        Error::unless_whole(found, octets)?;
        let mut plain = Vec::with_capacity(octets);
        let mut at = start;
        while at < start + octets {
            if self.markers && octets_to_marker(at as u64) == 0 {
                at += MARKER_OCTETS;
            }
            let run_end = match self.markers {
                true => at + 1 + octets_to_marker(at as u64 + 1),
                false => start + octets,
            };
            let end = run_end.min(start + octets);
            plain.extend_from_slice(&stream[at..end]);
            at = end;
        }
        Ok((Fpdu::new_checked(plain)?, octets))
    }
}

#[cfg(test)]
mod tests;
