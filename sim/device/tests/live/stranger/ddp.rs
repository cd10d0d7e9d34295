//! DDP and RDMAP by hand (RFC 5041, RFC 5040): headers, a Read Request, a Terminate.
//!
//! ```text
//!  tagged     T L DV | RV opcode | STag 4 | TO 8
//!  untagged   T L DV | RV opcode | Invalidate STag 4 | QN 4 | MSN 4 | MO 4
//!  Terminate  layer, type | code | M D R 0 | 0 | length 2 | DDP header | Read Request 28
//! ```

/// Opcodes of RDMAP.
pub const WRITE: u8 = 0;
pub const READ_REQUEST: u8 = 1;
pub const READ_RESPONSE: u8 = 2;
pub const SEND: u8 = 3;
pub const SEND_INVALIDATE: u8 = 4;
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
    pub sink_stag: u32,
    pub sink_to: u64,
    pub octets: u32,
    pub source_stag: u32,
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
    pub fn read(ulpdu: &[u8]) -> Self {
        let payload = &ulpdu[UNTAGGED_OCTETS..];
        assert_eq!(payload.len(), READ_REQUEST_OCTETS);
        let word = |at: usize| u32::from_be_bytes(payload[at..at + 4].try_into().expect("four"));
        let long = |at: usize| u64::from_be_bytes(payload[at..at + 8].try_into().expect("eight"));
        Self {
            sink_stag: word(0),
            sink_to: long(4),
            octets: word(12),
            source_stag: word(16),
            source_to: long(20),
        }
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
    pub segment_octets: Option<u16>,
    pub ddp_header: Vec<u8>,
    pub read_request: Vec<u8>,
}

impl Terminate {
    /// Read a ULPDU.
    ///
    /// # Panics
    /// It is not the first message of queue 2 in one segment, its reserved bits are not zero, or
    /// its octets are not those that it announces.
    pub fn read(ulpdu: &[u8]) -> Self {
        let (header, payload) = ulpdu.split_at(UNTAGGED_OCTETS);
        assert_eq!(
            header,
            untagged(TERMINATE, 2, 1, 0),
            "header of the Terminate"
        );
        let flags = payload[2];
        let reserved = u16::from_be_bytes([flags & 0x1f, payload[3]]);
        assert_eq!(reserved, 0, "reserved bits of {payload:02x?}");
        let control = [0x80, 0x40, 0x20].map(|bit| flags & bit != 0);
        let [has_length, has_ddp, has_rdma] = control;
        assert!(
            has_length == has_ddp && (has_ddp || !has_rdma),
            "{payload:02x?}"
        );
        let (segment_octets, rest) = match has_length {
            true => (
                Some(u16::from_be_bytes([payload[4], payload[5]])),
                &payload[6..],
            ),
            false => (None, &payload[4..]),
        };
        let ddp_octets = match rest.first() {
            Some(first) if has_ddp && first & 0x80 != 0 => TAGGED_OCTETS,
            Some(_) if has_ddp => UNTAGGED_OCTETS,
            _ => 0,
        };
        let (ddp_header, read_request) = rest.split_at(ddp_octets);
        let rdma_octets = if has_rdma { READ_REQUEST_OCTETS } else { 0 };
        assert_eq!(read_request.len(), rdma_octets, "{payload:02x?}");
        Self {
            cause: (payload[0] >> 4, payload[0] & 0x0f, payload[1]),
            control,
            segment_octets,
            ddp_header: ddp_header.to_vec(),
            read_request: read_request.to_vec(),
        }
    }
}
