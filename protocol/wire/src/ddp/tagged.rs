//! The header of a tagged segment (RFC 5041 section 4.2).
//!
//! ```text
//!  0         2                 6                                14
//!  +---------+-----------------+--------------------------------+-------------
//!  | control |      STag       |        Tagged Offset (TO)      |  payload ..
//!  +---------+-----------------+--------------------------------+-------------
//! ```

use crate::ddp::control::{Control, ControlRepr};
use crate::error::{Error, Result};
use crate::octets::{get_u32, get_u64, set_u32, set_u64};
use core::fmt;

mod field {
    use crate::ddp::control::CONTROL_OCTETS;
    use crate::octets::{Field, Rest};

    pub const CONTROL: Field = 0..CONTROL_OCTETS;
    pub const STAG: Field = 2..6;
    pub const TO: Field = 6..14;
    pub const PAYLOAD: Rest = 14..;
}

/// Octets of the header.
pub const HEADER_OCTETS: usize = field::TO.end;

/// A view of a tagged segment.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TaggedHeader<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> TaggedHeader<T> {
    /// A view without any check.
    pub const fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of a segment with a complete tagged header.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let segment = Self::new_unchecked(buffer);
        segment.check_len()?;
        if !segment.control().tagged() {
            return Err(Error::BufferModel);
        }
        Ok(segment)
    }

    /// `Ok` if no accessor can panic.
    pub fn check_len(&self) -> Result<()> {
        Error::unless_whole(self.buffer.as_ref().len(), HEADER_OCTETS)
    }

    /// The control octets.
    pub fn control(&self) -> Control<&[u8]> {
        Control::new_unchecked(&self.buffer.as_ref()[field::CONTROL])
    }

    /// STag.
    pub fn stag(&self) -> u32 {
        get_u32(self.buffer.as_ref(), field::STAG)
    }

    /// Tagged Offset (TO), in octets.
    pub fn to(&self) -> u64 {
        get_u64(self.buffer.as_ref(), field::TO)
    }

    /// Payload.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[field::PAYLOAD]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> TaggedHeader<T> {
    /// The control octets, to be written.
    pub fn control_mut(&mut self) -> Control<&mut [u8]> {
        Control::new_unchecked(&mut self.buffer.as_mut()[field::CONTROL])
    }

    /// Set STag.
    pub fn set_stag(&mut self, value: u32) {
        set_u32(self.buffer.as_mut(), field::STAG, value);
    }

    /// Set the Tagged Offset.
    pub fn set_to(&mut self, value: u64) {
        set_u64(self.buffer.as_mut(), field::TO, value);
    }

    /// Payload, to be written.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.buffer.as_mut()[field::PAYLOAD]
    }
}

/// Meaning of the header of a tagged segment.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TaggedRepr {
    /// Control octets; T is set by the kind of header.
    pub control: ControlRepr,
    /// STag.
    pub stag: u32,
    /// Tagged Offset (TO), in octets.
    pub to: u64,
}

impl TaggedRepr {
    /// Read a header.
    pub fn parse<T: AsRef<[u8]>>(segment: &TaggedHeader<T>) -> Result<Self> {
        segment.check_len()?;
        if !segment.control().tagged() {
            return Err(Error::BufferModel);
        }
        Ok(Self {
            control: ControlRepr::parse(&segment.control())?,
            stag: segment.stag(),
            to: segment.to(),
        })
    }

    /// Octets that [`Self::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        HEADER_OCTETS
    }

    /// Write the header.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, segment: &mut TaggedHeader<T>) {
        self.control.emit(true, &mut segment.control_mut());
        segment.set_stag(self.stag);
        segment.set_to(self.to);
    }

    /// The header's octets.
    pub fn octets(&self) -> [u8; HEADER_OCTETS] {
        let mut octets = [0; HEADER_OCTETS];
        self.emit(&mut TaggedHeader::new_unchecked(&mut octets));
        octets
    }
}

impl fmt::Display for TaggedRepr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} STag={:#010x} TO={:#x}",
            self.control, self.stag, self.to
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddp::rdmap::Opcode;
    use proptest::prelude::*;

    const GOLDEN: [u8; 16] = [
        0xc1, 0x40, 0x12, 0x34, 0x56, 0x78, 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 7, 8,
    ];

    /// DDP-005, DDP-010: the layout, octet by octet.
    #[test]
    fn a_write_is_read_and_written_over_a_dirty_buffer() {
        let segment = TaggedHeader::new_checked(&GOLDEN).expect("complete");
        let repr = TaggedRepr::parse(&segment).expect("tagged");
        let expected = TaggedRepr {
            control: ControlRepr::new(1, Opcode::RdmaWrite, true),
            stag: 0x1234_5678,
            to: 0x0123_4567_89ab_cdef,
        };
        assert_eq!((repr, segment.payload()), (expected, &[7, 8][..]));
        let mut octets = [0xa5; 16];
        let mut written = TaggedHeader::new_unchecked(&mut octets);
        repr.emit(&mut written);
        written.payload_mut().copy_from_slice(&[7, 8]);
        assert_eq!(octets, GOLDEN);
    }

    #[test]
    fn short_and_untagged_segments_are_refused() {
        let cut = Error::Truncated {
            needed_octets: 14,
            found_octets: 13,
        };
        assert_eq!(TaggedHeader::new_checked(&GOLDEN[..13]), Err(cut));
        let mut octets = GOLDEN;
        octets[0] &= 0x7f;
        assert_eq!(TaggedHeader::new_checked(octets), Err(Error::BufferModel));
    }

    proptest! {
        #[test]
        fn headers_survive(
            last: bool, ddp_version in 0u8..4, rdmap_version in 0u8..4, opcode in 0u8..16,
            stag: u32, to: u64,
        ) {
            let opcode = Opcode::from(opcode);
            let control = ControlRepr { last, ddp_version, rdmap_version, opcode };
            let repr = TaggedRepr { control, stag, to };
            let segment = TaggedHeader::new_unchecked(repr.octets());
            prop_assert_eq!(TaggedRepr::parse(&segment), Ok(repr));
        }
    }
}
