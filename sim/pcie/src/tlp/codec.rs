//! Headers as dwords: [`Header::pack`] and [`Header::parse`], each the inverse of the other.
//!
//! ```text
//!            31 29 28  24 23 22 20 19 18 17 16 15 14 13 12 11 10 9        0
//!   dword 0  Fmt   Type   -- TC    -- A2 -- -- TD EP A1 A0 --    Length
//!   request  Requester ID (31:16)   Tag (15:8)   Last BE (7:4)  First BE (3:0)
//!   Cpl(D)   Completer ID (31:16)   Status (15:13) BCM (12)  Byte Count (11:0)
//!            Requester ID (31:16)   Tag (15:8)   -- (7)     Lower Address (6:0)
//! ```
//!
//! A dword is kept as the specification prints it: octet 0 of the header, the first on the
//! link, is bits 31:24 of dword 0. [`octets_from_dwords`] gives the octets in that order.
//! Reserved bits (`--`) are packed as zero and ignored when parsed (section 2.2.1); the monitor
//! reports them.

use thiserror::Error;

use super::{
    AddressFormat, Bdf, Completion, CompletionStatus, ConfigurationRequest, Fmt, Header, Kind,
    Length, MemoryRequest, Message, Traffic, Type,
};
use crate::ByteEnables;

/// Why a header cannot be packed: a value does not fit its field.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
pub enum PackError {
    /// The field is too small for the value.
    #[error("{field} is {value:#x}; it must be {rule}")]
    FieldOutOfRange {
        /// The field's name.
        field: &'static str,
        /// The value given.
        value: u64,
        /// What the field can hold.
        rule: &'static str,
    },
    /// A memory address is not a multiple of four octets.
    #[error("address {address:#x} is not dword aligned; use byte enables for single octets")]
    AddressUnaligned {
        /// The address.
        address: u64,
    },
    /// A three-dword request has an address that needs four.
    #[error("address {address:#x} needs the four-dword format")]
    AddressBeyondFormat {
        /// The address.
        address: u64,
    },
}

/// Why dwords are not a header of the kinds modelled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
pub enum ParseError {
    /// Fmt is a prefix or reserved.
    #[error("format {fmt:#05b} is not modelled")]
    UnknownFormat {
        /// The three bits.
        fmt: u8,
    },
    /// Fmt and Type name a packet that does not exist or is not modelled.
    #[error("format {fmt:?} with type {packet_type:#07b} is not modelled")]
    UnknownType {
        /// The format.
        fmt: Fmt,
        /// The five bits of Type.
        packet_type: u8,
    },
    /// Fewer or more dwords than Fmt specifies.
    #[error("{found} header dwords; format needs {expected}")]
    HeaderSize {
        /// What Fmt says; 3 if there is no dword 0.
        expected: usize,
        /// What was given.
        found: usize,
    },
}

/// Three or four header dwords; dereferences to a slice of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PackedHeader {
    dwords: [u32; 4],
    count: usize,
}

impl std::ops::Deref for PackedHeader {
    type Target = [u32];
    fn deref(&self) -> &[u32] {
        &self.dwords[..self.count]
    }
}

/// The octets of `dwords` in the order in which they cross the link (big-endian).
///
/// ```
/// assert_eq!(pcie_sim::octets_from_dwords(&[0x4000_0001]), [0x40, 0x00, 0x00, 0x01]);
/// ```
pub fn octets_from_dwords(dwords: &[u32]) -> Vec<u8> {
    dwords
        .iter()
        .flat_map(|dword| dword.to_be_bytes())
        .collect()
}

fn ranged(
    field: &'static str,
    value: u64,
    fits: bool,
    rule: &'static str,
) -> Result<u32, PackError> {
    match fits {
        true => Ok(value as u32),
        false => Err(PackError::FieldOutOfRange { field, value, rule }),
    }
}

fn id_and_tag(id: Bdf, tag: u8) -> u32 {
    u32::from(id.bits()) << 16 | u32::from(tag) << 8
}

const fn bit(flag: bool, position: u32) -> u32 {
    (flag as u32) << position
}

impl Header {
    /// Packs the header into three or four dwords.
    ///
    /// # Errors
    /// Names the field whose value no header can hold.
    pub fn pack(&self) -> Result<PackedHeader, PackError> {
        let tail = match &self.kind {
            Kind::MRd(request) | Kind::MWr(request) => request.pack()?,
            Kind::CfgRd0(request) | Kind::CfgWr0(request) => request.pack()?,
            Kind::Cpl(completion) | Kind::CplD(completion) => completion.pack()?,
            Kind::Msg(message) | Kind::MsgD(message) => message.pack()?,
        };
        let fmt = self.fmt();
        let first = (fmt as u32) << 29
            | self.packet_type().field() << 24
            | self.traffic.pack()?
            | self.length.field();
        let dwords = [first, tail[0], tail[1], tail[2]];
        Ok(PackedHeader {
            dwords,
            count: fmt.header_dwords(),
        })
    }

    /// Reads a header from exactly the three or four dwords that its Fmt specifies.
    ///
    /// # Errors
    /// The count is wrong, or the packet is of a kind that is not modelled.
    pub fn parse(dwords: &[u32]) -> Result<Self, ParseError> {
        let found = dwords.len();
        let first = *dwords
            .first()
            .ok_or(ParseError::HeaderSize { expected: 3, found })?;
        let fmt_field = first >> 29;
        let fmt = Fmt::from_field(fmt_field).ok_or(ParseError::UnknownFormat {
            fmt: fmt_field as u8,
        })?;
        let type_field = first >> 24 & 0x1f;
        let unknown = ParseError::UnknownType {
            fmt,
            packet_type: type_field as u8,
        };
        let packet_type = Type::from_field(type_field).ok_or(unknown)?;
        let expected = fmt.header_dwords();
        if found != expected {
            return Err(ParseError::HeaderSize { expected, found });
        }
        let (second, third) = (dwords[1], dwords[2]);
        let fourth = dwords.get(3).copied();
        let kind = match (packet_type, fourth, fmt.with_data()) {
            (Type::Memory, _, false) => Kind::MRd(MemoryRequest::parse(second, third, fourth)),
            (Type::Memory, _, true) => Kind::MWr(MemoryRequest::parse(second, third, fourth)),
            (Type::Configuration0, None, false) => {
                Kind::CfgRd0(ConfigurationRequest::parse(second, third))
            }
            (Type::Configuration0, None, true) => {
                Kind::CfgWr0(ConfigurationRequest::parse(second, third))
            }
            (Type::Completion, None, false) => Kind::Cpl(Completion::parse(second, third)),
            (Type::Completion, None, true) => Kind::CplD(Completion::parse(second, third)),
            (Type::Message(routing), Some(fourth), with_data) => {
                let message = Message::parse(routing, second, [third, fourth]);
                match with_data {
                    false => Kind::Msg(message),
                    true => Kind::MsgD(message),
                }
            }
            _ => return Err(unknown),
        };
        Ok(Self {
            traffic: Traffic::parse(first),
            length: Length::from_field(first),
            kind,
        })
    }
}

impl Traffic {
    fn pack(self) -> Result<u32, PackError> {
        let class = ranged(
            "traffic class",
            self.class.into(),
            self.class < 8,
            "below 8",
        )?;
        Ok(class << 20
            | bit(self.id_ordering, 18)
            | bit(self.digest, 15)
            | bit(self.poisoned, 14)
            | bit(self.relaxed_ordering, 13)
            | bit(self.no_snoop, 12))
    }

    fn parse(first: u32) -> Self {
        let flag = |position: u32| first >> position & 1 == 1;
        Self {
            class: (first >> 20 & 0x7) as u8,
            id_ordering: flag(18),
            digest: flag(15),
            poisoned: flag(14),
            relaxed_ordering: flag(13),
            no_snoop: flag(12),
        }
    }
}

impl MemoryRequest {
    fn pack(&self) -> Result<[u32; 3], PackError> {
        let address = self.address;
        if address % 4 != 0 {
            return Err(PackError::AddressUnaligned { address });
        }
        let second = id_and_tag(self.requester, self.tag) | u32::from(self.enables.bits());
        let (high, low) = ((address >> 32) as u32, address as u32);
        match self.format {
            AddressFormat::Bits32 if high != 0 => Err(PackError::AddressBeyondFormat { address }),
            AddressFormat::Bits32 => Ok([second, low, 0]),
            AddressFormat::Bits64 => Ok([second, high, low]),
        }
    }

    fn parse(second: u32, third: u32, fourth: Option<u32>) -> Self {
        // The low two bits carry a processing hint, which is not modelled.
        let (format, address) = match fourth {
            None => (AddressFormat::Bits32, u64::from(third & !0x3)),
            Some(low) => (
                AddressFormat::Bits64,
                u64::from(third) << 32 | u64::from(low & !0x3),
            ),
        };
        Self {
            requester: Bdf::from_bits((second >> 16) as u16),
            tag: (second >> 8) as u8,
            enables: ByteEnables::from_bits(second as u8),
            format,
            address,
        }
    }
}

impl ConfigurationRequest {
    fn pack(&self) -> Result<[u32; 3], PackError> {
        let fits = self.register % 4 == 0 && self.register < 4096;
        let rule = "a multiple of 4 below 4096";
        let register = ranged("register offset", self.register.into(), fits, rule)?;
        let second = id_and_tag(self.requester, self.tag) | u32::from(self.enables.bits());
        Ok([second, u32::from(self.target.bits()) << 16 | register, 0])
    }

    fn parse(second: u32, third: u32) -> Self {
        Self {
            requester: Bdf::from_bits((second >> 16) as u16),
            tag: (second >> 8) as u8,
            enables: ByteEnables::from_bits(second as u8),
            target: Bdf::from_bits((third >> 16) as u16),
            register: (third & 0xffc) as u16,
        }
    }
}

impl Completion {
    fn pack(&self) -> Result<[u32; 3], PackError> {
        let fits = (1..=4096).contains(&self.byte_count);
        let count = ranged(
            "byte count",
            self.byte_count.into(),
            fits,
            "within 1..=4096",
        )?;
        let fits = self.lower_address < 0x80;
        let lower = ranged(
            "lower address",
            self.lower_address.into(),
            fits,
            "below 0x80",
        )?;
        // Byte Count is twelve bits, and 0 stands for 4096 (section 2.2.9).
        let second = u32::from(self.completer.bits()) << 16
            | self.status.field() << 13
            | bit(self.byte_count_modified, 12)
            | (count & 0xfff);
        Ok([second, id_and_tag(self.requester, self.tag) | lower, 0])
    }

    fn parse(second: u32, third: u32) -> Self {
        let byte_count = match second & 0xfff {
            0 => 4096,
            count => count as u16,
        };
        Self {
            completer: Bdf::from_bits((second >> 16) as u16),
            status: CompletionStatus::from_field(second >> 13 & 0x7),
            byte_count_modified: second >> 12 & 1 == 1,
            byte_count,
            requester: Bdf::from_bits((third >> 16) as u16),
            tag: (third >> 8) as u8,
            lower_address: (third & 0x7f) as u8,
        }
    }
}

impl Message {
    fn pack(&self) -> Result<[u32; 3], PackError> {
        ranged(
            "message routing",
            self.routing.into(),
            self.routing < 8,
            "below 8",
        )?;
        let second = id_and_tag(self.requester, self.tag) | u32::from(self.code);
        Ok([second, self.content[0], self.content[1]])
    }

    fn parse(routing: u8, second: u32, content: [u32; 2]) -> Self {
        Self {
            requester: Bdf::from_bits((second >> 16) as u16),
            tag: (second >> 8) as u8,
            routing,
            code: second as u8,
            content,
        }
    }
}
