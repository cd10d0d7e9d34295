//! The payload of an RDMA Read Request (RFC 5040 section 4.4, RDMAP-007).
//!
//! ```text
//!  0           4             12       16             20               28
//!  +-----------+-------------+--------+--------------+----------------+
//!  | sink STag |   sink TO   |  size  | source STag  |   source TO    |
//!  +-----------+-------------+--------+--------------+----------------+
//! ```

use crate::error::{Error, Result};
use crate::octets::{get_u32, get_u64, set_u32, set_u64};
use core::fmt;

mod field {
    use crate::octets::Field;

    pub const SINK_STAG: Field = 0..4;
    pub const SINK_TO: Field = 4..12;
    pub const SIZE: Field = 12..16;
    pub const SOURCE_STAG: Field = 16..20;
    pub const SOURCE_TO: Field = 20..28;
}

/// Octets of the payload.
pub const READ_REQUEST_OCTETS: usize = field::SOURCE_TO.end;

/// A view of a Read Request's payload.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ReadRequest<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> ReadRequest<T> {
    /// A view without any check.
    pub const fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of a complete payload.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let request = Self::new_unchecked(buffer);
        request.check_len()?;
        Ok(request)
    }

    /// `Ok` if no accessor can panic.
    pub fn check_len(&self) -> Result<()> {
        Error::unless_whole(self.buffer.as_ref().len(), READ_REQUEST_OCTETS)
    }

    /// Data Sink STag.
    pub fn sink_stag(&self) -> u32 {
        get_u32(self.buffer.as_ref(), field::SINK_STAG)
    }

    /// Data Sink Tagged Offset, in octets.
    pub fn sink_to(&self) -> u64 {
        get_u64(self.buffer.as_ref(), field::SINK_TO)
    }

    /// RDMA Read Message Size, in octets.
    pub fn size(&self) -> u32 {
        get_u32(self.buffer.as_ref(), field::SIZE)
    }

    /// Data Source STag.
    pub fn source_stag(&self) -> u32 {
        get_u32(self.buffer.as_ref(), field::SOURCE_STAG)
    }

    /// Data Source Tagged Offset, in octets.
    pub fn source_to(&self) -> u64 {
        get_u64(self.buffer.as_ref(), field::SOURCE_TO)
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> ReadRequest<T> {
    /// Set the Data Sink STag.
    pub fn set_sink_stag(&mut self, value: u32) {
        set_u32(self.buffer.as_mut(), field::SINK_STAG, value);
    }

    /// Set the Data Sink Tagged Offset.
    pub fn set_sink_to(&mut self, value: u64) {
        set_u64(self.buffer.as_mut(), field::SINK_TO, value);
    }

    /// Set the RDMA Read Message Size.
    pub fn set_size(&mut self, value: u32) {
        set_u32(self.buffer.as_mut(), field::SIZE, value);
    }

    /// Set the Data Source STag.
    pub fn set_source_stag(&mut self, value: u32) {
        set_u32(self.buffer.as_mut(), field::SOURCE_STAG, value);
    }

    /// Set the Data Source Tagged Offset.
    pub fn set_source_to(&mut self, value: u64) {
        set_u64(self.buffer.as_mut(), field::SOURCE_TO, value);
    }
}

/// Meaning of a Read Request.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ReadRequestRepr {
    /// Data Sink STag.
    pub sink_stag: u32,
    /// Data Sink Tagged Offset, in octets.
    pub sink_to: u64,
    /// RDMA Read Message Size, in octets.
    pub size: u32,
    /// Data Source STag.
    pub source_stag: u32,
    /// Data Source Tagged Offset, in octets.
    pub source_to: u64,
}

impl ReadRequestRepr {
    /// Read a payload.
    pub fn parse<T: AsRef<[u8]>>(request: &ReadRequest<T>) -> Result<Self> {
        request.check_len()?;
        Ok(Self {
            sink_stag: request.sink_stag(),
            sink_to: request.sink_to(),
            size: request.size(),
            source_stag: request.source_stag(),
            source_to: request.source_to(),
        })
    }

    /// Octets that [`Self::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        READ_REQUEST_OCTETS
    }

    /// Write the payload.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, request: &mut ReadRequest<T>) {
        request.set_sink_stag(self.sink_stag);
        request.set_sink_to(self.sink_to);
        request.set_size(self.size);
        request.set_source_stag(self.source_stag);
        request.set_source_to(self.source_to);
    }

    /// The payload's octets.
    pub fn octets(&self) -> [u8; READ_REQUEST_OCTETS] {
        let mut octets = [0; READ_REQUEST_OCTETS];
        self.emit(&mut ReadRequest::new_unchecked(&mut octets));
        octets
    }
}

impl fmt::Display for ReadRequestRepr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            sink_stag,
            sink_to,
            size,
            source_stag,
            source_to,
        } = self;
        write!(
            f,
            "{size} octets, {source_stag:#010x}+{source_to:#x} to {sink_stag:#010x}+{sink_to:#x}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// RDMAP-007: the layout, octet by octet.
    #[test]
    fn a_request_is_read_and_written_over_a_dirty_buffer() {
        let golden = core::array::from_fn::<u8, 28, _>(|at| at as u8);
        let repr = ReadRequestRepr {
            sink_stag: 0x0001_0203,
            sink_to: 0x0405_0607_0809_0a0b,
            size: 0x0c0d_0e0f,
            source_stag: 0x1011_1213,
            source_to: 0x1415_1617_1819_1a1b,
        };
        let request = ReadRequest::new_checked(golden).expect("complete");
        assert_eq!(ReadRequestRepr::parse(&request), Ok(repr));
        let mut octets = [0xa5; 28];
        repr.emit(&mut ReadRequest::new_unchecked(&mut octets));
        assert_eq!(octets, golden);
        assert!(ReadRequest::new_checked(&golden[..27]).is_err());
    }

    proptest! {
        #[test]
        fn requests_survive(
            sink_stag: u32, sink_to: u64, size: u32, source_stag: u32, source_to: u64,
        ) {
            let repr = ReadRequestRepr { sink_stag, sink_to, size, source_stag, source_to };
            let request = ReadRequest::new_unchecked(repr.octets());
            prop_assert_eq!(ReadRequestRepr::parse(&request), Ok(repr));
        }
    }
}
