//! DDP segments: control octets and the headers of both buffer models (RFC 5041 section 4, RFC 5040
//! section 4).

use crate::mpa::Fpdu;

const TAGGED_HEADER_OCTETS: usize = 14;
const UNTAGGED_HEADER_OCTETS: usize = 18;

/// The two control octets, common to both buffer models (DDP-005, RDMAP-001).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// T: the segment addresses a tagged buffer.
    pub tagged: bool,
    /// L: the last segment of its message.
    pub last: bool,
    /// DV.
    pub ddp_version: u8,
    /// RV.
    pub rdmap_version: u8,
    /// RDMAP opcode.
    pub opcode: u8,
}

impl Head {
    /// The head of a ULPDU that holds a whole DDP header.
    pub fn parse(ulpdu: &[u8]) -> Option<Self> {
        let control = *ulpdu.first()?;
        let tagged = control & 0x80 != 0;
        let needed = if tagged {
            TAGGED_HEADER_OCTETS
        } else {
            UNTAGGED_HEADER_OCTETS
        };
        if ulpdu.len() < needed {
            return None;
        }
        Some(Self {
            tagged,
            last: control & 0x40 != 0,
            ddp_version: control & 0x03,
            rdmap_version: ulpdu[1] >> 6,
            opcode: ulpdu[1] & 0x0f,
        })
    }

    /// The head of an FPDU whose CRC and markers are right.
    pub fn trusted(fpdu: &Fpdu) -> Option<Self> {
        (fpdu.crc_good && fpdu.marker_good)
            .then(|| Self::parse(&fpdu.ulpdu))
            .flatten()
    }
}

/// The RDMAP opcode an FPDU counts under, if it counts.
pub fn counted_opcode(fpdu: &Fpdu) -> Option<u8> {
    Head::trusted(fpdu).map(|head| head.opcode)
}

/// A tagged segment (DDP-010).
#[derive(Copy, Clone, Debug)]
pub struct Tagged<'a> {
    /// Control octets.
    pub head: Head,
    /// STag.
    pub stag: u32,
    /// TO.
    pub offset: u64,
    /// Payload.
    pub payload: &'a [u8],
}

/// An untagged segment (DDP-011).
#[derive(Copy, Clone, Debug)]
pub struct Untagged<'a> {
    /// Control octets.
    pub head: Head,
    /// Invalidate STag (RDMAP-006).
    pub invalidate_stag: u32,
    /// QN.
    pub qn: u32,
    /// MSN.
    pub msn: u32,
    /// MO.
    pub mo: u32,
    /// Payload.
    pub payload: &'a [u8],
}

/// A number of four octets.
pub fn word(octets: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(octets[at..at + 4].try_into().expect("four octets"))
}

/// A segment of either buffer model.
#[derive(Copy, Clone, Debug)]
pub enum Segment<'a> {
    /// T set.
    Tagged(Tagged<'a>),
    /// T clear.
    Untagged(Untagged<'a>),
}

impl<'a> Segment<'a> {
    /// Read the segment after a head that [`Head::parse`] gave of the same ULPDU.
    pub fn parse(head: Head, ulpdu: &'a [u8]) -> Self {
        match head.tagged {
            true => Self::Tagged(Tagged::parse(head, ulpdu)),
            false => Self::Untagged(Untagged::parse(head, ulpdu)),
        }
    }
}

impl<'a> Tagged<'a> {
    fn parse(head: Head, ulpdu: &'a [u8]) -> Self {
        Self {
            head,
            stag: word(ulpdu, 2),
            offset: u64::from(word(ulpdu, 6)) << 32 | u64::from(word(ulpdu, 10)),
            payload: &ulpdu[TAGGED_HEADER_OCTETS..],
        }
    }
}

impl<'a> Untagged<'a> {
    fn parse(head: Head, ulpdu: &'a [u8]) -> Self {
        Self {
            head,
            invalidate_stag: word(ulpdu, 2),
            qn: Self::qn_of(ulpdu),
            msn: word(ulpdu, 10),
            mo: word(ulpdu, 14),
            payload: &ulpdu[UNTAGGED_HEADER_OCTETS..],
        }
    }

    /// QN of a ULPDU that holds a whole untagged header.
    pub fn qn_of(ulpdu: &[u8]) -> u32 {
        word(ulpdu, 6)
    }
}
