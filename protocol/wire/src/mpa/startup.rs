//! Start-up frames: MPA Request and Reply (RFC 5044 section 7.1), with the enhanced data of
//! revision 2 (RFC 6581 section 9).
//!
//! ```text
//!  0                 16      17      18            20               20 + PD_Length
//!  +-----------------+-------+-------+-------------+----------------+
//!  | key             | MCRS  |  Rev  |  PD_Length  |  Private Data  |
//!  +-----------------+-------+-------+-------------+----------------+
//!
//!  enhanced data, the first four octets of the Private Data if S is set:
//!  | A | B | IRD, 14 bits | C | D | ORD, 14 bits |
//! ```

use crate::error::{Error, Result};
use crate::octets::{get_u16, set_u16};
use core::fmt;

mod field {
    use crate::octets::{Field, Rest};

    pub const KEY: Field = 0..16;
    pub const FLAGS: usize = 16;
    pub const REVISION: usize = 17;
    pub const PRIVATE_DATA_LENGTH: Field = 18..20;
    pub const PRIVATE_DATA: Rest = 20..;

    pub const IRD: Field = 0..2;
    pub const ORD: Field = 2..4;
}

/// Octets of a frame without Private Data.
pub const HEADER_OCTETS: usize = field::PRIVATE_DATA_LENGTH.end;
/// Octets of the enhanced data.
pub const ENHANCED_OCTETS: usize = field::ORD.end;
/// Longest Private Data from revision 1 on, enhanced data included (START-034).
pub const PRIVATE_DATA_OCTETS_MAX: usize = 512;
/// Key of a Request (START-024).
pub const KEY_REQUEST: &[u8; 16] = b"MPA ID Req Frame";
/// Key of a Reply.
pub const KEY_REPLY: &[u8; 16] = b"MPA ID Rep Frame";

/// M: the frame's sender requests markers in the stream it receives.
pub const FLAG_MARKERS: u8 = 0x80;
/// C: CRC32C is to be used.
pub const FLAG_CRC: u8 = 0x40;
/// R: the connection is rejected.
pub const FLAG_REJECTED: u8 = 0x20;
/// S: enhanced data opens the Private Data (MPA2-001).
pub const FLAG_ENHANCED: u8 = 0x10;

/// Value of IRD and ORD that means: not negotiated here (MPA2-002).
pub const DEPTH_UNSPECIFIED: u16 = 0x3fff;
const FLAG_HIGH: u16 = 0x8000;
const FLAG_LOW: u16 = 0x4000;

/// Which of the two frames.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sent by the initiator.
    Request,
    /// Sent by the responder.
    Reply,
}

/// A view of a start-up frame.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StartupFrame<T: AsRef<[u8]>> {
    buffer: T,
}

impl<T: AsRef<[u8]>> StartupFrame<T> {
    /// A view without any check.
    pub const fn new_unchecked(buffer: T) -> Self {
        Self { buffer }
    }

    /// A view of a frame that is complete according to its PD_Length.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let frame = Self::new_unchecked(buffer);
        frame.check_len()?;
        Ok(frame)
    }

    /// `Ok` if no accessor can panic. Setting PD_Length calls for another check.
    pub fn check_len(&self) -> Result<()> {
        let found = self.buffer.as_ref().len();
        Error::unless_whole(found, HEADER_OCTETS)?;
        Error::unless_whole(found, HEADER_OCTETS + self.private_data_length())
    }

    /// The key.
    pub fn key(&self) -> &[u8] {
        &self.buffer.as_ref()[field::KEY]
    }

    /// All flags.
    pub fn flags(&self) -> u8 {
        self.buffer.as_ref()[field::FLAGS]
    }

    /// Rev.
    pub fn revision(&self) -> u8 {
        self.buffer.as_ref()[field::REVISION]
    }

    /// PD_Length, in octets.
    pub fn private_data_length(&self) -> usize {
        usize::from(get_u16(self.buffer.as_ref(), field::PRIVATE_DATA_LENGTH))
    }

    /// Private Data, enhanced data included.
    pub fn private_data(&self) -> &[u8] {
        &self.buffer.as_ref()[field::PRIVATE_DATA][..self.private_data_length()]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> StartupFrame<T> {
    /// Set the key.
    pub fn set_key(&mut self, value: &[u8; 16]) {
        self.buffer.as_mut()[field::KEY].copy_from_slice(value);
    }

    /// Set all flags.
    pub fn set_flags(&mut self, value: u8) {
        self.buffer.as_mut()[field::FLAGS] = value;
    }

    /// Set Rev.
    pub fn set_revision(&mut self, value: u8) {
        self.buffer.as_mut()[field::REVISION] = value;
    }

    /// Set PD_Length.
    pub fn set_private_data_length(&mut self, value: u16) {
        set_u16(self.buffer.as_mut(), field::PRIVATE_DATA_LENGTH, value);
    }

    /// Private Data, to be written.
    pub fn private_data_mut(&mut self) -> &mut [u8] {
        let length = self.private_data_length();
        &mut self.buffer.as_mut()[field::PRIVATE_DATA][..length]
    }
}

/// Enhanced connection data of revision 2 (MPA2-002).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct EnhancedData {
    /// A: the peer-to-peer model, in which the initiator sends a ready-to-receive message.
    pub peer_to_peer: bool,
    /// B: that message may be a zero-length FPDU.
    pub rtr_fpdu: bool,
    /// C: that message may be a zero-length RDMA Write.
    pub rtr_write: bool,
    /// D: that message may be a zero-length RDMA Read.
    pub rtr_read: bool,
    /// Inbound RDMA Read depth, 14 bits.
    pub ird: u16,
    /// Outbound RDMA Read depth, 14 bits.
    pub ord: u16,
}

impl EnhancedData {
    /// Read the first four octets of the Private Data.
    pub fn parse(octets: &[u8]) -> Result<Self> {
        Error::unless_whole(octets.len(), ENHANCED_OCTETS)?;
        let (ird, ord) = (get_u16(octets, field::IRD), get_u16(octets, field::ORD));
        Ok(Self {
            peer_to_peer: ird & FLAG_HIGH != 0,
            rtr_fpdu: ird & FLAG_LOW != 0,
            rtr_write: ord & FLAG_HIGH != 0,
            rtr_read: ord & FLAG_LOW != 0,
            ird: ird & DEPTH_UNSPECIFIED,
            ord: ord & DEPTH_UNSPECIFIED,
        })
    }

    /// Write the first four octets of the Private Data.
    ///
    /// # Panics
    /// If IRD or ORD need more than 14 bits.
    pub fn emit(&self, octets: &mut [u8]) {
        let half = |high: bool, low: bool, depth: u16| {
            assert!(depth <= DEPTH_UNSPECIFIED, "IRD and ORD have 14 bits");
            u16::from(high) << 15 | u16::from(low) << 14 | depth
        };
        set_u16(
            octets,
            field::IRD,
            half(self.peer_to_peer, self.rtr_fpdu, self.ird),
        );
        set_u16(
            octets,
            field::ORD,
            half(self.rtr_write, self.rtr_read, self.ord),
        );
    }
}

/// What a start-up frame means.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StartupRepr<'a> {
    /// Request or Reply.
    pub role: Role,
    /// M.
    pub markers: bool,
    /// C.
    pub crc: bool,
    /// R; without meaning in a Request (START-029).
    pub rejected: bool,
    /// Rev.
    pub revision: u8,
    /// What S announces; from revision 2 on only.
    pub enhanced: Option<EnhancedData>,
    /// Private Data of the ULP.
    pub private_data: &'a [u8],
}

impl<'a> StartupRepr<'a> {
    /// Read a frame. Reserved flags are ignored (START-030).
    pub fn parse<T: AsRef<[u8]>>(frame: &'a StartupFrame<T>) -> Result<Self> {
        frame.check_len()?;
        let role = match frame.key() {
            key if key == KEY_REQUEST => Role::Request,
            key if key == KEY_REPLY => Role::Reply,
            _ => return Err(Error::UnknownKey),
        };
        let (flags, revision) = (frame.flags(), frame.revision());
        let mut private_data = frame.private_data();
        let found_octets = private_data.len();
        let refused = Error::PrivateDataLength { found_octets };
        if revision > 0 && found_octets > PRIVATE_DATA_OCTETS_MAX {
            return Err(refused);
        }
        let mut enhanced = None;
        if revision >= 2 && flags & FLAG_ENHANCED != 0 {
            enhanced = Some(EnhancedData::parse(private_data).map_err(|_| refused)?);
            private_data = &private_data[ENHANCED_OCTETS..];
        }
        Ok(Self {
            role,
            markers: flags & FLAG_MARKERS != 0,
            crc: flags & FLAG_CRC != 0,
            rejected: flags & FLAG_REJECTED != 0,
            revision,
            enhanced,
            private_data,
        })
    }

    /// Octets that [`Self::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        HEADER_OCTETS + self.enhanced_octets() + self.private_data.len()
    }

    const fn enhanced_octets(&self) -> usize {
        match self.enhanced {
            Some(_) => ENHANCED_OCTETS,
            None => 0,
        }
    }

    /// Write the frame; reserved flags become zero.
    ///
    /// # Panics
    /// If the Private Data needs a PD_Length of more than 16 bits.
    pub fn emit<T: AsRef<[u8]> + AsMut<[u8]>>(&self, frame: &mut StartupFrame<T>) {
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        frame.set_key(match self.role {
            Role::Request => KEY_REQUEST,
            Role::Reply => KEY_REPLY,
        });
        frame.set_flags(
            flag(self.markers, FLAG_MARKERS)
                | flag(self.crc, FLAG_CRC)
                | flag(self.rejected, FLAG_REJECTED)
                | flag(self.enhanced.is_some(), FLAG_ENHANCED),
        );
        frame.set_revision(self.revision);
        let length = u16::try_from(self.buffer_len() - HEADER_OCTETS);
        frame.set_private_data_length(length.expect("PD_Length has 16 bits"));
        let octets = frame.private_data_mut();
        if let Some(enhanced) = self.enhanced {
            enhanced.emit(octets);
        }
        octets[self.enhanced_octets()..].copy_from_slice(self.private_data);
    }
}

impl fmt::Display for StartupRepr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            role,
            markers,
            crc,
            rejected,
            revision,
            private_data,
            ..
        } = self;
        let (markers, crc, rejected) = (*markers as u8, *crc as u8, *rejected as u8);
        let octets = private_data.len();
        write!(
            f,
            "MPA {role:?} M={markers} C={crc} R={rejected} Rev={revision}, {octets} octets"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    fn emit(repr: &StartupRepr) -> Vec<u8> {
        let mut octets = vec![0xa5; repr.buffer_len()];
        repr.emit(&mut StartupFrame::new_unchecked(&mut octets));
        octets
    }

    /// START-023, START-024, START-033: the layout, octet by octet.
    #[test]
    fn a_request_of_revision_0_is_written_over_a_dirty_buffer() {
        let repr = StartupRepr {
            role: Role::Request,
            markers: true,
            crc: true,
            rejected: false,
            revision: 0,
            enhanced: None,
            private_data: &[1, 2, 3, 4],
        };
        let golden = [
            0x4d, 0x50, 0x41, 0x20, 0x49, 0x44, 0x20, 0x52, 0x65, 0x71, 0x20, 0x46, 0x72, 0x61,
            0x6d, 0x65, 0xc0, 0x00, 0x00, 0x04, 1, 2, 3, 4,
        ];
        assert_eq!(emit(&repr), golden);
        let frame = StartupFrame::new_checked(&golden).expect("complete");
        assert_eq!(StartupRepr::parse(&frame), Ok(repr));
    }

    /// MPA2-001, MPA2-002: a Reply of revision 2 with enhanced data, octet by octet.
    #[test]
    fn enhanced_data_opens_the_private_data() {
        let enhanced = EnhancedData {
            peer_to_peer: true,
            rtr_fpdu: false,
            rtr_write: false,
            rtr_read: true,
            ird: 0x1234,
            ord: DEPTH_UNSPECIFIED,
        };
        let repr = StartupRepr {
            role: Role::Reply,
            markers: false,
            crc: true,
            rejected: true,
            revision: 2,
            enhanced: Some(enhanced),
            private_data: &[9],
        };
        let octets = emit(&repr);
        assert_eq!(octets[..16], *b"MPA ID Rep Frame");
        assert_eq!(octets[16..], [0x70, 2, 0, 5, 0x92, 0x34, 0x7f, 0xff, 9]);
        let frame = StartupFrame::new_checked(&octets).expect("complete");
        assert_eq!(StartupRepr::parse(&frame), Ok(repr));
    }

    /// START-015, START-020, START-024, START-034: octets that are not a frame.
    #[test]
    fn bad_frames_are_refused_with_their_reason() {
        let mut repr = StartupRepr {
            role: Role::Request,
            markers: false,
            crc: false,
            rejected: false,
            revision: 1,
            enhanced: None,
            private_data: &[0; 513],
        };
        let parse = |octets: &[u8]| {
            let frame = StartupFrame::new_checked(octets)?;
            StartupRepr::parse(&frame).map(|_| ())
        };
        let too_long = emit(&repr);
        assert_eq!(
            parse(&too_long),
            Err(Error::PrivateDataLength { found_octets: 513 })
        );
        repr.revision = 0;
        assert_eq!(parse(&emit(&repr)), Ok(()), "revision 0 has no such limit");
        repr.private_data = &[0; 4];
        let mut octets = emit(&repr);
        let cut = Error::Truncated {
            needed_octets: 24,
            found_octets: 23,
        };
        assert_eq!(parse(&octets[..23]), Err(cut));
        octets[11] = b'f';
        assert_eq!(parse(&octets), Err(Error::UnknownKey), "lower case");
        repr.revision = 2;
        repr.private_data = &[0; 3];
        let mut octets = emit(&repr);
        octets[16] |= FLAG_ENHANCED;
        assert_eq!(
            parse(&octets),
            Err(Error::PrivateDataLength { found_octets: 3 })
        );
    }

    proptest! {
        /// START-026, START-028, START-030: any frame is read back, with any reserved flags.
        #[test]
        fn frames_survive_emit_and_parse(
            reply: bool, markers: bool, crc: bool, rejected: bool,
            revision in 0u8..3,
            depths in prop::option::of((0u16..0x4000, 0u16..0x4000)),
            modes: [bool; 4],
            reserved in 0u8..0x10,
            private_data in prop::collection::vec(any::<u8>(), 0..500),
        ) {
            let enhanced = depths.filter(|_| revision == 2).map(|(ird, ord)| EnhancedData {
                peer_to_peer: modes[0],
                rtr_fpdu: modes[1],
                rtr_write: modes[2],
                rtr_read: modes[3],
                ird,
                ord,
            });
            let role = if reply { Role::Reply } else { Role::Request };
            let private_data = &private_data[..];
            let repr =
                StartupRepr { role, markers, crc, rejected, revision, enhanced, private_data };
            let mut octets = emit(&repr);
            octets[16] |= reserved;
            let frame = StartupFrame::new_checked(&octets).expect("complete");
            prop_assert_eq!(StartupRepr::parse(&frame), Ok(repr));
        }
    }
}
