//! Markers: four octets every 512 of the stream that point back to their FPDU's start
//! (RFC 5044 section 4.3).
//!
//! ```text
//!  0                   1                   2                   3
//!  +-------------------------------+-------------------------------+
//!  |           reserved            |            FPDUPTR            |
//!  +-------------------------------+-------------------------------+
//! ```
//!
//! Positions count in octets from SeqStart, the first octet of full operation, which itself is one.
//! FPDUs and markers are multiples of four octets, so no FPDU ends inside a marker and no marker is
//! inside a CRC field.

use crate::error::{Error, Result};
use crate::octets::{get_u16, set_u16};
use core::fmt;

mod field {
    use crate::octets::Field;

    pub const RESERVED: Field = 0..2;
    pub const FPDUPTR: Field = 2..4;
}

/// Octets of a marker.
pub const MARKER_OCTETS: usize = field::FPDUPTR.end;
/// Octets of the stream from one marker to the next.
pub const MARKER_INTERVAL_OCTETS: usize = 512;

/// Octets from `stream_offset` to the next marker position; 0 if there is one at that offset.
pub const fn octets_to_marker(stream_offset: u64) -> usize {
    let into = (stream_offset % MARKER_INTERVAL_OCTETS as u64) as usize;
    (MARKER_INTERVAL_OCTETS - into) % MARKER_INTERVAL_OCTETS
}

/// Octets in the stream of an FPDU of `plain_octets` octets at `stream_offset`, including its
/// markers. A marker position directly after it belongs to the next FPDU.
pub const fn octets_with_markers(stream_offset: u64, plain_octets: usize) -> usize {
    let head = octets_to_marker(stream_offset);
    if plain_octets <= head {
        return plain_octets;
    }
    let each = MARKER_INTERVAL_OCTETS - MARKER_OCTETS;
    plain_octets + MARKER_OCTETS * (plain_octets - head).div_ceil(each)
}

/// FPDUPTR of a marker `offset` octets into its FPDU, from the leading marker on if there is one:
/// the distance from ULPDU_Length (MPA-009, MPA-011), and 0 for a leading marker (MPA-010).
pub const fn fpduptr(offset: usize, leading_marker: bool) -> u16 {
    if leading_marker && offset > 0 {
        (offset - MARKER_OCTETS) as u16
    } else {
        offset as u16
    }
}

/// A view of a marker.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Marker<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Marker<T> {
    /// A view without any check.
    pub const fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of a complete marker.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let marker = Self::new_unchecked(buffer);
        marker.check_len()?;
        Ok(marker)
    }

    /// `Ok` if no accessor can panic.
    pub fn check_len(&self) -> Result<()> {
        Error::unless_whole(self.buffer.as_ref().len(), MARKER_OCTETS)
    }

    /// The reserved half.
    pub fn reserved(&self) -> u16 {
        get_u16(self.buffer.as_ref(), field::RESERVED)
    }

    /// FPDUPTR with its reserved bits.
    pub fn fpduptr(&self) -> u16 {
        get_u16(self.buffer.as_ref(), field::FPDUPTR)
    }

    /// FPDUPTR as a receiver uses it: without the two reserved low bits (MPA-012).
    pub fn distance_octets(&self) -> u16 {
        self.fpduptr() & !3
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Marker<T> {
    /// Set the reserved half.
    pub fn set_reserved(&mut self, value: u16) {
        set_u16(self.buffer.as_mut(), field::RESERVED, value);
    }

    /// Set FPDUPTR.
    pub fn set_fpduptr(&mut self, value: u16) {
        set_u16(self.buffer.as_mut(), field::FPDUPTR, value);
    }
}

/// Meaning of a marker.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MarkerRepr {
    /// Octets from its FPDU's ULPDU_Length to the marker.
    pub fpduptr: u16,
}

impl MarkerRepr {
    /// Read a marker.
    pub fn parse<T: AsRef<[u8]>>(marker: &Marker<T>) -> Result<Self> {
        marker.check_len()?;
        Ok(Self {
            fpduptr: marker.distance_octets(),
        })
    }

    /// Octets that [`Self::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        MARKER_OCTETS
    }

    /// Write a marker; its reserved half becomes zero (MPA-008).
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, marker: &mut Marker<T>) {
        marker.set_reserved(0);
        marker.set_fpduptr(self.fpduptr);
    }
}

impl fmt::Display for MarkerRepr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "marker FPDUPTR {:#06x}", self.fpduptr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// MPA-008, MPA-009: network byte order; every octet is written.
    #[test]
    fn a_marker_is_written_over_a_dirty_buffer_and_read_back() {
        let mut octets = [0xa5; 4];
        let repr = MarkerRepr { fpduptr: 0x14 };
        repr.emit(&mut Marker::new_unchecked(&mut octets));
        assert_eq!(octets, [0, 0, 0, 0x14]);
        let marker = Marker::new_checked(&octets).expect("complete");
        assert_eq!(MarkerRepr::parse(&marker), Ok(repr));
    }

    /// MPA-012: the two low bits of FPDUPTR are taken as zero.
    #[test]
    fn low_bits_do_not_count() {
        let marker = Marker::new_unchecked([0xff, 0xff, 0x00, 0x17]);
        assert_eq!(marker.distance_octets(), 0x14);
        assert_eq!(marker.reserved(), 0xffff);
        assert!(Marker::new_checked([0u8; 3]).is_err());
    }

    /// MPA-010, MPA-011, MPA-015: zero in front, then distances from ULPDU_Length.
    #[test]
    fn pointers_count_from_the_length_field() {
        assert_eq!(
            [0, 512, 1024].map(|at| fpduptr(at, true)),
            [0, 0x1fc, 0x3fc]
        );
        assert_eq!([20, 532].map(|at| fpduptr(at, false)), [0x14, 0x214]);
    }

    /// MPA-013: the octets of an FPDU, counted one by one.
    #[test]
    fn octets_with_markers_agree_with_a_walk() {
        for start in (0..1024).step_by(4) {
            for plain in (8..1600).step_by(4) {
                let (mut wire, mut left) = (0, plain);
                while left > 0 {
                    if octets_to_marker(start + wire) == 0 {
                        wire += MARKER_OCTETS as u64;
                    }
                    let step = octets_to_marker(start + wire).min(left);
                    wire += step as u64;
                    left -= step;
                }
                assert_eq!(
                    octets_with_markers(start, plain),
                    wire as usize,
                    "{start} {plain}"
                );
            }
        }
    }
}
