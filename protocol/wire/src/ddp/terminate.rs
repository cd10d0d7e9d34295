//! The payload of a Terminate (RFC 5040 section 4.8, RDMAP-016).
//!
//! ```text
//!  0       1       2               4                6
//!  +---+---+-------+---+-----------+----------------+-----------------+----------------+
//!  | L | E | code  |MDR| reserved  | segment length |   DDP header    |  RDMAP header  |
//!  +---+---+-------+---+-----------+----------------+-----------------+----------------+
//!    layer, error type               if M             if D, 14 or 18    if R, 28 octets
//! ```

use crate::ddp::errors::Cause;
use crate::ddp::{control, read_request, tagged, untagged};
use crate::error::{Error, Result};
use crate::octets::{get_u16, set_u16};
use core::fmt;

mod field {
    use crate::octets::{Field, Rest};

    pub const LAYER_TYPE: usize = 0;
    pub const CODE: usize = 1;
    pub const HEADER_CONTROL: Field = 2..4;
    pub const SEGMENT_LENGTH: Field = 4..6;
    pub const HEADERS: Rest = 6..;
}

/// Octets that every Terminate has.
pub const CONTROL_OCTETS: usize = field::HEADER_CONTROL.end;

/// M: the DDP Segment Length is there.
pub const FLAG_LENGTH: u16 = 0x8000;
/// D: the terminated DDP header is there.
pub const FLAG_DDP: u16 = 0x4000;
/// R: the terminated RDMAP header is there.
pub const FLAG_RDMAP: u16 = 0x2000;

/// A view of a Terminate's payload.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Terminate<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> Terminate<T> {
    /// A view without any check.
    pub const fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of a payload with everything that its flags announce.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let terminate = Self::new_unchecked(buffer);
        terminate.check_len()?;
        Ok(terminate)
    }

    /// `Ok` if no accessor can panic. Setting flags calls for another check.
    pub fn check_len(&self) -> Result<()> {
        let found = self.buffer.as_ref().len();
        Error::unless_whole(found, CONTROL_OCTETS)?;
        if self.flags() & (FLAG_LENGTH | FLAG_DDP | FLAG_RDMAP) == 0 {
            return Ok(());
        }
        Error::unless_whole(found, field::HEADERS.start)?;
        if self.flags() & FLAG_DDP != 0 {
            Error::unless_whole(found, field::HEADERS.start + control::CONTROL_OCTETS)?;
        }
        let headers = self.ddp_header_octets() + self.rdmap_header_octets();
        Error::unless_whole(found, field::HEADERS.start + headers)
    }

    /// Layer, error type and error code.
    pub fn cause(&self) -> Cause {
        let octets = self.buffer.as_ref();
        Cause {
            layer: octets[field::LAYER_TYPE] >> 4,
            error_type: octets[field::LAYER_TYPE] & 0xf,
            code: octets[field::CODE],
        }
    }

    /// Header control bits and the reserved bits after them.
    pub fn flags(&self) -> u16 {
        get_u16(self.buffer.as_ref(), field::HEADER_CONTROL)
    }

    /// DDP Segment Length in octets, if it is there.
    pub fn segment_length(&self) -> Option<u16> {
        let there = self.flags() & FLAG_LENGTH != 0;
        there.then(|| get_u16(self.buffer.as_ref(), field::SEGMENT_LENGTH))
    }

    /// The terminated DDP header; empty if it is not there.
    pub fn ddp_header(&self) -> &[u8] {
        self.headers(0, self.ddp_header_octets())
    }

    /// The terminated RDMAP header; empty if it is not there.
    pub fn rdmap_header(&self) -> &[u8] {
        self.headers(self.ddp_header_octets(), self.rdmap_header_octets())
    }

    fn headers(&self, from: usize, octets: usize) -> &[u8] {
        match octets {
            0 => &[],
            _ => &self.buffer.as_ref()[field::HEADERS][from..from + octets],
        }
    }

    fn ddp_header_octets(&self) -> usize {
        if self.flags() & FLAG_DDP == 0 {
            return 0;
        }
        let first = self.buffer.as_ref()[field::HEADERS.start];
        match first & control::FLAG_TAGGED != 0 {
            true => tagged::HEADER_OCTETS,
            false => untagged::HEADER_OCTETS,
        }
    }

    fn rdmap_header_octets(&self) -> usize {
        match self.flags() & FLAG_RDMAP != 0 {
            true => read_request::READ_REQUEST_OCTETS,
            false => 0,
        }
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Terminate<T> {
    /// Set layer, error type and error code.
    pub fn set_cause(&mut self, value: Cause) {
        let octets = self.buffer.as_mut();
        octets[field::LAYER_TYPE] = value.layer << 4 | value.error_type & 0xf;
        octets[field::CODE] = value.code;
    }

    /// Set the header control bits; the reserved bits too.
    pub fn set_flags(&mut self, value: u16) {
        set_u16(self.buffer.as_mut(), field::HEADER_CONTROL, value);
    }

    /// Set the DDP Segment Length.
    pub fn set_segment_length(&mut self, value: u16) {
        set_u16(self.buffer.as_mut(), field::SEGMENT_LENGTH, value);
    }

    /// Everything after the DDP Segment Length, to be written.
    pub fn headers_mut(&mut self) -> &mut [u8] {
        &mut self.buffer.as_mut()[field::HEADERS]
    }
}

/// Meaning of a Terminate.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct TerminateRepr<'a> {
    /// Why the stream ends.
    pub cause: Cause,
    /// DDP Segment Length of the segment that was refused, in octets.
    pub segment_length: Option<u16>,
    /// Its DDP header, 14 or 18 octets depending on its T flag; empty if not reported.
    pub ddp_header: &'a [u8],
    /// Its RDMAP header, the 28 octets of a Read Request; empty if not reported.
    pub rdmap_header: &'a [u8],
}

impl<'a> TerminateRepr<'a> {
    /// Read a payload.
    pub fn parse<T: AsRef<[u8]>>(terminate: &'a Terminate<T>) -> Result<Self> {
        terminate.check_len()?;
        Ok(Self {
            cause: terminate.cause(),
            segment_length: terminate.segment_length(),
            ddp_header: terminate.ddp_header(),
            rdmap_header: terminate.rdmap_header(),
        })
    }

    /// Octets that [`Self::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        let headers = self.ddp_header.len() + self.rdmap_header.len();
        match (self.segment_length, headers) {
            (None, 0) => CONTROL_OCTETS,
            _ => field::HEADERS.start + headers,
        }
    }

    /// Write the payload.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, terminate: &mut Terminate<T>) {
        let flag = |set: bool, flag: u16| if set { flag } else { 0 };
        terminate.set_cause(self.cause);
        terminate.set_flags(
            flag(self.segment_length.is_some(), FLAG_LENGTH)
                | flag(!self.ddp_header.is_empty(), FLAG_DDP)
                | flag(!self.rdmap_header.is_empty(), FLAG_RDMAP),
        );
        if self.buffer_len() == CONTROL_OCTETS {
            return;
        }
        terminate.set_segment_length(self.segment_length.unwrap_or(0));
        let (ddp, rdmap) = terminate.headers_mut().split_at_mut(self.ddp_header.len());
        ddp.copy_from_slice(self.ddp_header);
        rdmap[..self.rdmap_header.len()].copy_from_slice(self.rdmap_header);
    }
}

impl fmt::Display for TerminateRepr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "terminate: {}", self.cause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ddp::errors;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    fn emit(repr: &TerminateRepr) -> Vec<u8> {
        let mut octets = vec![0xa5; repr.buffer_len()];
        repr.emit(&mut Terminate::new_unchecked(&mut octets));
        octets
    }

    /// RDMAP-016, RDMAP-022: a write out of bounds, with its header, octet by octet.
    #[test]
    fn a_refused_write_is_reported_with_its_header() {
        let header = [0xc1, 0x40, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 9];
        let repr = TerminateRepr {
            cause: errors::DDP_BOUNDS,
            segment_length: Some(0x0123),
            ddp_header: &header,
            rdmap_header: &[],
        };
        let octets = emit(&repr);
        assert_eq!(octets[..6], [0x11, 0x01, 0xc0, 0x00, 0x01, 0x23]);
        assert_eq!(octets[6..], header);
        let terminate = Terminate::new_checked(&octets).expect("complete");
        assert_eq!(TerminateRepr::parse(&terminate), Ok(repr));
    }

    #[test]
    fn a_cause_alone_has_four_octets() {
        let cause = errors::MPA_CRC;
        let repr = TerminateRepr {
            cause,
            segment_length: None,
            ddp_header: &[],
            rdmap_header: &[],
        };
        assert_eq!(emit(&repr), [0x20, 0x02, 0, 0]);
    }

    #[test]
    fn payloads_that_lack_what_their_flags_announce_are_refused() {
        let header = [0x41; 18];
        let repr = TerminateRepr {
            cause: errors::DDP_MSN,
            segment_length: Some(46),
            ddp_header: &header,
            rdmap_header: &[7; 28],
        };
        let octets = emit(&repr);
        assert_eq!(octets.len(), 52);
        for end in 0..octets.len() {
            assert!(Terminate::new_checked(&octets[..end]).is_err(), "{end}");
        }
    }

    proptest! {
        #[test]
        fn terminates_survive(
            layer in 0u8..16, error_type in 0u8..16, code: u8,
            segment_length: Option<u16>,
            tagged: bool, with_ddp: bool, with_rdmap: bool,
            mut header: [u8; 18], rdmap: [u8; 28],
        ) {
            header[0] = header[0] & 0x7f | if tagged { 0x80 } else { 0 };
            let ddp_octets = if tagged { 14 } else { 18 };
            let repr = TerminateRepr {
                cause: Cause { layer, error_type, code },
                segment_length,
                ddp_header: &header[..if with_ddp { ddp_octets } else { 0 }],
                rdmap_header: &rdmap[..if with_rdmap { 28 } else { 0 }],
            };
            let octets = emit(&repr);
            let terminate = Terminate::new_checked(&octets).expect("complete");
            prop_assert_eq!(TerminateRepr::parse(&terminate), Ok(repr));
        }
    }
}
