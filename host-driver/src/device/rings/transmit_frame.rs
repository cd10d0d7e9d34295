//! Frames to send: what a user asks for, what the device refuses of it, and its units.
//!
//! ```text
//!  pieces: memory, octets -+
//!  checksum, CRC requests  +-> checked -> head, elements (`rnic_abi::transmit_ring`)
//!  cookie -----------------+-> comes back with the frame's result
//! ```

use crate::device::access::DmaBuffer;
use crate::device::error::FrameError;
use rnic_abi::limits::MAX_FRAME_OCTETS;
use rnic_abi::transmit_ring::{
    units, ELEMENTS_MAX, ELEMENTS_SHIFT, ELEMENT_OCTETS, FRAME_OCTETS_MIN, INSERT_CHECKSUM,
    INSERT_CRC, UNIT_OCTETS,
};

/// Octets of a checksum.
const CHECKSUM_OCTETS: usize = 2;
/// Units of the frame with most elements.
pub(crate) const UNITS_MAX: usize = units(ELEMENTS_MAX as u32) as usize;
/// Octets of a CRC32C.
const CRC_OCTETS: usize = 4;

/// A run of octets of a frame; `M` names memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a, M = DmaBuffer> {
    /// Memory that the device reads. It must stay as it is until the frame's result is polled.
    Memory(M),
    /// Octets that the driver copies into memory of its own: headers.
    Octets(&'a [u8]),
}

impl Piece<'_> {
    /// Its octets.
    pub fn octets(&self) -> usize {
        match self {
            Self::Memory(buffer) => buffer.octets,
            Self::Octets(octets) => octets.len(),
        }
    }
}

/// A checksum for the device to insert (RFC 1071). The two octets at `place` hold what software
/// summed already: for TCP the sum of the pseudo-header, not inverted.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct InsertChecksum {
    /// Octet of the frame from which on the device sums, up to the frame's end.
    pub start: usize,
    /// Octet of the frame where the checksum is written; an even distance from `start`.
    pub place: usize,
}

/// A CRC32C for the device to insert in the four octets after those that it covers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct InsertCrc {
    /// First octet of the frame that the CRC covers.
    pub first: usize,
    /// Octets that it covers.
    pub octets: usize,
}

/// A frame to send, from Ethernet's destination on, without its FCS; `M` names memory.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TransmitFrame<'a, M = DmaBuffer> {
    /// 1 to [`ELEMENTS_MAX`] runs of octets that follow each other.
    pub pieces: &'a [Piece<'a, M>],
    /// The checksum to insert, if any.
    pub checksum: Option<InsertChecksum>,
    /// The CRC32C to insert, if any; the checksum then sums it.
    pub crc: Option<InsertCrc>,
    /// Comes back with the frame's result.
    pub cookie: u64,
}

impl TransmitFrame<'_> {
    /// Its octets.
    pub fn octets(&self) -> usize {
        let octets = self.pieces.iter().map(Piece::octets);
        octets.fold(0, usize::saturating_add)
    }

    /// Refuses what the device cannot send.
    pub(crate) fn check(&self) -> Result<(), FrameError> {
        let pieces = self.pieces.len();
        if pieces == 0 || pieces > ELEMENTS_MAX {
            return Err(FrameError::Pieces { pieces });
        }
        for (piece, run) in self.pieces.iter().enumerate() {
            if run.octets() == 0 {
                return Err(FrameError::EmptyPiece { piece });
            }
            if let Piece::Memory(DmaBuffer { address, octets }) = *run {
                // The last octet of the address space may be part of it.
                if address.checked_add(octets as u64 - 1).is_none() {
                    return Err(FrameError::PieceWraps {
                        piece,
                        address,
                        octets,
                    });
                }
            }
        }
        let octets = self.octets();
        if !(FRAME_OCTETS_MIN..=MAX_FRAME_OCTETS).contains(&octets) {
            return Err(FrameError::Length { octets });
        }
        self.check_checksum(octets)?;
        self.check_crc(octets)
    }

    fn check_checksum(&self, octets: usize) -> Result<(), FrameError> {
        let Some(InsertChecksum { start, place }) = self.checksum else {
            return Ok(());
        };
        let is_inside = place
            .checked_add(CHECKSUM_OCTETS)
            .is_some_and(|end| end <= octets);
        let distance = place.checked_sub(start);
        if !is_inside || distance.is_none_or(|distance| distance % 2 != 0) {
            return Err(FrameError::Checksum {
                start,
                place,
                octets,
            });
        }
        Ok(())
    }

    fn check_crc(&self, octets: usize) -> Result<(), FrameError> {
        let Some(InsertCrc {
            first,
            octets: covered,
        }) = self.crc
        else {
            return Ok(());
        };
        let end = first
            .checked_add(covered)
            .and_then(|end| end.checked_add(CRC_OCTETS))
            .filter(|&end| covered > 0 && end <= octets);
        let Some(end) = end else {
            return Err(FrameError::Crc {
                first,
                covered,
                octets,
            });
        };
        match self.checksum {
            Some(InsertChecksum { place, .. })
                if place < end && place + CHECKSUM_OCTETS > first =>
            {
                Err(FrameError::ChecksumUnderCrc { place })
            }
            _ => Ok(()),
        }
    }

    /// Units of its head and elements.
    pub(crate) fn units(&self) -> u32 {
        units(self.pieces.len() as u32)
    }

    /// The units of a frame that was checked, of which it has [`TransmitFrame::units`]; `elements`
    /// are where its pieces are.
    pub(crate) fn encode(&self, elements: &[DmaBuffer]) -> [[u8; UNIT_OCTETS]; UNITS_MAX] {
        // What was checked fits 16 bits.
        let pair = |low: usize, high: usize| low as u32 | (high as u32) << 16;
        let mut head = [0; 8];
        head[0] = self.octets() as u32 | (elements.len() as u32) << ELEMENTS_SHIFT;
        if let Some(InsertChecksum { start, place }) = self.checksum {
            head[0] |= INSERT_CHECKSUM;
            head[1] = pair(start, place);
        }
        if let Some(InsertCrc { first, octets }) = self.crc {
            head[0] |= INSERT_CRC;
            head[2] = pair(first, octets);
        }
        let mut encoded = [[0; UNIT_OCTETS]; UNITS_MAX];
        put(&mut encoded[0], &head);
        let places = encoded[1..]
            .iter_mut()
            .flat_map(|unit| unit.chunks_exact_mut(ELEMENT_OCTETS));
        for (place, element) in places.zip(elements) {
            let DmaBuffer { address, octets } = *element;
            put(
                place,
                &[address as u32, (address >> 32) as u32, octets as u32, 0],
            );
        }
        encoded
    }
}

/// Write words as little-endian octets.
fn put(place: &mut [u8], words: &[u32]) {
    for (place, word) in place.chunks_exact_mut(4).zip(words) {
        place.copy_from_slice(&word.to_le_bytes());
    }
}

#[cfg(test)]
mod tests;
