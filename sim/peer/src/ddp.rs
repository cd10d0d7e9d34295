//! DDP and RDMAP by hand (RFC 5041, RFC 5040): headers, a Read Request, a Terminate.
//!
//! ```text
//!  tagged     T L DV | RV opcode | STag 4 | TO 8
//!  untagged   T L DV | RV opcode | Invalidate STag 4 | QN 4 | MSN 4 | MO 4
//!  Terminate  layer, type | code | M D R 0 | 0 | length 2 | DDP header | Read Request 28
//! ```

use thiserror::Error;

/// Opcodes of RDMAP: RDMA Write.
pub const WRITE: u8 = 0;
/// RDMA Read Request.
pub const READ_REQUEST: u8 = 1;
/// RDMA Read Response.
pub const READ_RESPONSE: u8 = 2;
/// Send.
pub const SEND: u8 = 3;
/// Send with Invalidate.
pub const SEND_INVALIDATE: u8 = 4;
/// Send with Solicited Event.
pub const SEND_SOLICITED: u8 = 5;
/// Terminate.
pub const TERMINATE: u8 = 7;
/// Octets of a tagged header.
pub const TAGGED_OCTETS: usize = 14;
/// Octets of an untagged header.
pub const UNTAGGED_OCTETS: usize = 18;
/// Octets of a Read Request's payload.
pub const READ_REQUEST_OCTETS: usize = 28;
/// T, L and DDP version 1.
const TAGGED_LAST: u8 = 0xc1;
/// L and DDP version 1.
const UNTAGGED_LAST: u8 = 0x41;
/// RDMAP version 1.
const RDMAP_VERSION: u8 = 0x40;
/// L, in the first octet.
pub const LAST: u8 = 0x40;

/// The header of the only segment of a tagged message.
pub fn tagged(opcode: u8, stag: u32, to: u64) -> [u8; TAGGED_OCTETS] {
    let mut header = [0; TAGGED_OCTETS];
    header[0] = TAGGED_LAST;
    header[1] = RDMAP_VERSION | opcode;
    header[2..6].copy_from_slice(&stag.to_be_bytes());
    header[6..].copy_from_slice(&to.to_be_bytes());
    header
}

/// The header of the only segment of an untagged message.
pub fn untagged(opcode: u8, qn: u32, msn: u32, mo: u32) -> [u8; UNTAGGED_OCTETS] {
    let mut header = [0; UNTAGGED_OCTETS];
    header[0] = UNTAGGED_LAST;
    header[1] = RDMAP_VERSION | opcode;
    let words = [qn, msn, mo].map(u32::to_be_bytes).concat();
    header[6..].copy_from_slice(&words);
    header
}

/// A tagged message of one segment.
pub fn write(stag: u32, to: u64, payload: &[u8]) -> Vec<u8> {
    [&tagged(WRITE, stag, to)[..], payload].concat()
}

/// A Send of one segment.
pub fn send(msn: u32, payload: &[u8]) -> Vec<u8> {
    [&untagged(SEND, 0, msn, 0)[..], payload].concat()
}

/// What a Read Request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadRequest {
    /// Data Sink STag.
    pub sink_stag: u32,
    /// Data Sink Tagged Offset.
    pub sink_to: u64,
    /// RDMA Read Message Size.
    pub octets: u32,
    /// Data Source STag.
    pub source_stag: u32,
    /// Data Source Tagged Offset.
    pub source_to: u64,
}

impl ReadRequest {
    /// Its ULPDU.
    pub fn ulpdu(&self, msn: u32) -> Vec<u8> {
        let mut ulpdu = untagged(READ_REQUEST, 1, msn, 0).to_vec();
        ulpdu.extend_from_slice(&self.sink_stag.to_be_bytes());
        ulpdu.extend_from_slice(&self.sink_to.to_be_bytes());
        ulpdu.extend_from_slice(&self.octets.to_be_bytes());
        ulpdu.extend_from_slice(&self.source_stag.to_be_bytes());
        ulpdu.extend_from_slice(&self.source_to.to_be_bytes());
        ulpdu
    }

    /// A Read Request's ULPDU, read.
    ///
    /// # Panics
    /// Its payload has not 28 octets.
    pub fn read(ulpdu: &[u8]) -> Self {
        Self::checked(ulpdu).expect("28 octets")
    }

    /// A Read Request's ULPDU, read; `None`: its payload has not 28 octets.
    pub fn checked(ulpdu: &[u8]) -> Option<Self> {
        let payload = ulpdu.get(UNTAGGED_OCTETS..)?;
        if payload.len() != READ_REQUEST_OCTETS {
            return None;
        }
        let word = |at: usize| u32::from_be_bytes(payload[at..at + 4].try_into().expect("four"));
        let long = |at: usize| u64::from_be_bytes(payload[at..at + 8].try_into().expect("eight"));
        Some(Self {
            sink_stag: word(0),
            sink_to: long(4),
            octets: word(12),
            source_stag: word(16),
            source_to: long(20),
        })
    }
}

/// The RDMAP opcode of a ULPDU.
pub fn opcode(ulpdu: &[u8]) -> u8 {
    ulpdu[1] & 0x0f
}

/// A Terminate, read field by field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terminate {
    /// Layer, error type, error code.
    pub cause: (u8, u8, u8),
    /// M, D and R.
    pub control: [bool; 3],
    /// DDP Segment Length.
    pub segment_octets: Option<u16>,
    /// The header of the DDP segment that it is about.
    pub ddp_header: Vec<u8>,
    /// The payload of the Read Request that it is about.
    pub read_request: Vec<u8>,
}

/// What a Terminate must not be.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum TerminateFault {
    /// DDP-014, RDMAP-020.
    #[error("its header is {0:02x?}: it is the first message of queue 2, in one segment")]
    Header(Vec<u8>),
    /// RDMAP-016.
    #[error("its reserved bits are not zero: {0:02x?}")]
    Reserved(Vec<u8>),
    /// RDMAP-016.
    #[error("its flags M, D and R do not fit each other: {0:02x?}")]
    Flags(Vec<u8>),
    /// RDMAP-016.
    #[error("its octets are not those that its flags announce: {0:02x?}")]
    Length(Vec<u8>),
}

impl Terminate {
    /// Read a ULPDU.
    ///
    /// # Panics
    /// It is not the first message of queue 2 in one segment, its reserved bits are not zero, or
    /// its octets are not those that it announces.
    pub fn read(ulpdu: &[u8]) -> Self {
        Self::checked(ulpdu).unwrap_or_else(|fault| panic!("Terminate: {fault}"))
    }

    /// Read a ULPDU whose control word is laid out by the bit fields of a little-endian machine:
    /// the layer in the low half of its octet, M, D and R in the lowest bits of theirs.
    ///
    /// # Errors
    /// It is none even so.
    pub fn swapped(ulpdu: &[u8]) -> Result<Self, TerminateFault> {
        let mut turned = ulpdu.to_vec();
        if let Some(control) = turned.get_mut(UNTAGGED_OCTETS..UNTAGGED_OCTETS + 4) {
            control[0] = control[0].rotate_left(4);
            control[2] = control[2].reverse_bits();
        }
        Self::checked(&turned)
    }

    /// Read a ULPDU.
    ///
    /// # Errors
    /// It is none that RFC 5040 section 4.8 knows.
    pub fn checked(ulpdu: &[u8]) -> Result<Self, TerminateFault> {
        let header = ulpdu.get(..UNTAGGED_OCTETS).unwrap_or(ulpdu);
        if header != untagged(TERMINATE, 2, 1, 0) {
            return Err(TerminateFault::Header(header.to_vec()));
        }
        let payload = &ulpdu[UNTAGGED_OCTETS..];
        let length = || TerminateFault::Length(payload.to_vec());
        let (control, rest) = payload.split_first_chunk::<4>().ok_or_else(length)?;
        if control[2] & 0x1f != 0 || control[3] != 0 {
            return Err(TerminateFault::Reserved(payload.to_vec()));
        }
        let flags = [0x80, 0x40, 0x20].map(|bit| control[2] & bit != 0);
        let [has_length, has_ddp, has_rdma] = flags;
        if has_length != has_ddp || has_rdma && !has_ddp {
            return Err(TerminateFault::Flags(payload.to_vec()));
        }
        let (segment_octets, rest) = match has_length {
            true => {
                let (octets, rest) = rest.split_first_chunk().ok_or_else(length)?;
                (Some(u16::from_be_bytes(*octets)), rest)
            }
            false => (None, rest),
        };
        let ddp_octets = match rest.first() {
            Some(first) if has_ddp && first & 0x80 != 0 => TAGGED_OCTETS,
            Some(_) if has_ddp => UNTAGGED_OCTETS,
            _ => 0,
        };
        let (ddp_header, read_request) = rest.split_at_checked(ddp_octets).ok_or_else(length)?;
        let rdma_octets = if has_rdma { READ_REQUEST_OCTETS } else { 0 };
        if read_request.len() != rdma_octets {
            return Err(length());
        }
        Ok(Self {
            cause: (control[0] >> 4, control[0] & 0x0f, control[1]),
            control: flags,
            segment_octets,
            ddp_header: ddp_header.to_vec(),
            read_request: read_request.to_vec(),
        })
    }
}
