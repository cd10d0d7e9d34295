//! The header of an untagged segment (RFC 5041 section 4.3; RsvdULP as in RFC 5040 section 4.3).
//!
//! ```text
//!  0         2                 6          10          14          18
//!  +---------+-----------------+----------+-----------+-----------+-----------
//!  | control | Invalidate STag |    QN    |    MSN    |    MO     | payload ..
//!  +---------+-----------------+----------+-----------+-----------+-----------
//! ```

use crate::ddp::control::{Control, ControlRepr};
use crate::error::{Error, Result};
use crate::octets::{get_u32, set_u32};
use core::fmt;

mod field {
    use crate::ddp::control::CONTROL_OCTETS;
    use crate::octets::{Field, Rest};

    pub const CONTROL: Field = 0..CONTROL_OCTETS;
    pub const INVALIDATE_STAG: Field = 2..6;
    pub const QN: Field = 6..10;
    pub const MSN: Field = 10..14;
    pub const MO: Field = 14..18;
    pub const PAYLOAD: Rest = 18..;
}

/// Octets of the header.
pub const HEADER_OCTETS: usize = field::MO.end;

/// A view of an untagged segment.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct UntaggedHeader<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> UntaggedHeader<T> {
    /// A view without any check.
    pub const fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of a segment with a complete untagged header.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let segment = Self::new_unchecked(buffer);
        segment.check_len()?;
        if segment.control().tagged() {
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

    /// Invalidate STag: a meaning in Sends with Invalidate only (RDMAP-006).
    pub fn invalidate_stag(&self) -> u32 {
        get_u32(self.buffer.as_ref(), field::INVALIDATE_STAG)
    }

    /// Queue Number (QN).
    pub fn qn(&self) -> u32 {
        get_u32(self.buffer.as_ref(), field::QN)
    }

    /// Message Sequence Number (MSN).
    pub fn msn(&self) -> u32 {
        get_u32(self.buffer.as_ref(), field::MSN)
    }

    /// Message Offset (MO), in octets.
    pub fn mo(&self) -> u32 {
        get_u32(self.buffer.as_ref(), field::MO)
    }

    /// Payload.
    pub fn payload(&self) -> &[u8] {
        &self.buffer.as_ref()[field::PAYLOAD]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> UntaggedHeader<T> {
    /// The control octets, to be written.
    pub fn control_mut(&mut self) -> Control<&mut [u8]> {
        Control::new_unchecked(&mut self.buffer.as_mut()[field::CONTROL])
    }

    /// Set the Invalidate STag.
    pub fn set_invalidate_stag(&mut self, value: u32) {
        set_u32(self.buffer.as_mut(), field::INVALIDATE_STAG, value);
    }

    /// Set QN.
    pub fn set_qn(&mut self, value: u32) {
        set_u32(self.buffer.as_mut(), field::QN, value);
    }

    /// Set MSN.
    pub fn set_msn(&mut self, value: u32) {
        set_u32(self.buffer.as_mut(), field::MSN, value);
    }

    /// Set MO.
    pub fn set_mo(&mut self, value: u32) {
        set_u32(self.buffer.as_mut(), field::MO, value);
    }

    /// Payload, to be written.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        &mut self.buffer.as_mut()[field::PAYLOAD]
    }
}

/// Meaning of the header of an untagged segment.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct UntaggedRepr {
    /// Control octets; T is clear by the kind of header.
    pub control: ControlRepr,
    /// Invalidate STag; 0 for opcodes that do not invalidate.
    pub invalidate_stag: u32,
    /// Queue Number (QN).
    pub qn: u32,
    /// Message Sequence Number (MSN).
    pub msn: u32,
    /// Message Offset (MO), in octets.
    pub mo: u32,
}

impl UntaggedRepr {
    /// Read a header.
    pub fn parse<T: AsRef<[u8]>>(segment: &UntaggedHeader<T>) -> Result<Self> {
        segment.check_len()?;
        if segment.control().tagged() {
            return Err(Error::BufferModel);
        }
        Ok(Self {
            control: ControlRepr::parse(&segment.control())?,
            invalidate_stag: segment.invalidate_stag(),
            qn: segment.qn(),
            msn: segment.msn(),
            mo: segment.mo(),
        })
    }

    /// Octets that [`Self::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        HEADER_OCTETS
    }

    /// Write the header.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, segment: &mut UntaggedHeader<T>) {
        self.control.emit(false, &mut segment.control_mut());
        segment.set_invalidate_stag(self.invalidate_stag);
        segment.set_qn(self.qn);
        segment.set_msn(self.msn);
        segment.set_mo(self.mo);
    }

    /// The header's octets.
    pub fn octets(&self) -> [u8; HEADER_OCTETS] {
        let mut octets = [0; HEADER_OCTETS];
        self.emit(&mut UntaggedHeader::new_unchecked(&mut octets));
        octets
    }
}

impl fmt::Display for UntaggedRepr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            control,
            qn,
            msn,
            mo,
            ..
        } = self;
        write!(f, "{control} QN={qn} MSN={msn} MO={mo}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddp::rdmap::Opcode;
    use proptest::prelude::*;

    const GOLDEN: [u8; 19] = [
        0x01, 0x46, 0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 1, 0, 2, 9,
    ];

    /// DDP-011, RDMAP-006: the layout, octet by octet.
    #[test]
    fn a_send_with_invalidate_is_read_and_written_over_a_dirty_buffer() {
        let segment = UntaggedHeader::new_checked(&GOLDEN).expect("complete");
        let repr = UntaggedRepr::parse(&segment).expect("untagged");
        let expected = UntaggedRepr {
            control: ControlRepr::new(1, Opcode::SendSolicitedInvalidate, false),
            invalidate_stag: 0xcafe_babe,
            qn: 0,
            msn: u32::MAX,
            mo: 0x0001_0002,
        };
        assert_eq!((repr, segment.payload()), (expected, &[9][..]));
        let mut octets = [0xa5; 19];
        let mut written = UntaggedHeader::new_unchecked(&mut octets);
        repr.emit(&mut written);
        written.payload_mut().copy_from_slice(&[9]);
        assert_eq!(octets, GOLDEN);
    }

    #[test]
    fn short_and_tagged_segments_are_refused() {
        let cut = Error::Truncated {
            needed_octets: 18,
            found_octets: 17,
        };
        assert_eq!(UntaggedHeader::new_checked(&GOLDEN[..17]), Err(cut));
        let mut octets = GOLDEN;
        octets[0] |= 0x80;
        assert_eq!(UntaggedHeader::new_checked(octets), Err(Error::BufferModel));
    }

    proptest! {
        #[test]
        fn headers_survive(
            last: bool, ddp_version in 0u8..4, rdmap_version in 0u8..4, opcode in 0u8..16,
            invalidate_stag: u32, qn: u32, msn: u32, mo: u32,
        ) {
            let opcode = Opcode::from(opcode);
            let control = ControlRepr { last, ddp_version, rdmap_version, opcode };
            let repr = UntaggedRepr { control, invalidate_stag, qn, msn, mo };
            let segment = UntaggedHeader::new_unchecked(repr.octets());
            prop_assert_eq!(UntaggedRepr::parse(&segment), Ok(repr));
        }
    }
}
