//! Transaction-layer packets as values: the meaning of a header, apart from its packing.
//!
//! ```text
//!   dwords on the link  --parse-->  Header  --pack-->  dwords on the link
//!                                     |
//!                        Tlp = Header + payload octets
//! ```
//!
//! A [`Tlp`] can hold a packet that breaks the rules: the length field is kept apart from the
//! payload and the address format apart from the address, so that [`check`](crate::check) can
//! report it. [`Header::pack`] refuses only values that no header can hold.
//!
//! Units: lengths in dwords of four octets, addresses in octets, payload in memory order
//! (`payload[0]` belongs to the lowest address).
//! Source: PCI Express Base Specification 5.0, section 2.2.
//!
//! Not modelled: I/O requests, locked reads, atomic operations, type 1 configuration requests,
//! prefixes, 10-bit tags, translated addresses, processing hints, the digest.

mod bdf;
mod build;
mod codec;
mod length;

pub use bdf::Bdf;
pub use codec::{octets_from_dwords, PackError, PackedHeader, ParseError};
pub use length::{Length, DWORD_OCTETS};

use crate::ByteEnables;

/// The Fmt field: header size, and whether a payload follows (section 2.2.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fmt {
    /// Three header dwords, no payload.
    ThreeDword = 0b000,
    /// Four header dwords, no payload.
    FourDword = 0b001,
    /// Three header dwords and a payload.
    ThreeDwordData = 0b010,
    /// Four header dwords and a payload.
    FourDwordData = 0b011,
}

impl Fmt {
    /// The format for a header of four dwords or three, with a payload or without.
    pub const fn new(four_dwords: bool, with_data: bool) -> Self {
        match (four_dwords, with_data) {
            (false, false) => Self::ThreeDword,
            (true, false) => Self::FourDword,
            (false, true) => Self::ThreeDwordData,
            (true, true) => Self::FourDwordData,
        }
    }

    /// Decodes the three bits of the field; `None` for a prefix or a reserved value.
    pub const fn from_field(bits: u32) -> Option<Self> {
        match bits {
            0b000 => Some(Self::ThreeDword),
            0b001 => Some(Self::FourDword),
            0b010 => Some(Self::ThreeDwordData),
            0b011 => Some(Self::FourDwordData),
            _ => None,
        }
    }

    /// Header dwords: 3 or 4.
    pub const fn header_dwords(self) -> usize {
        match self {
            Self::ThreeDword | Self::ThreeDwordData => 3,
            Self::FourDword | Self::FourDwordData => 4,
        }
    }

    /// Whether a payload follows the header.
    pub const fn with_data(self) -> bool {
        matches!(self, Self::ThreeDwordData | Self::FourDwordData)
    }
}

/// The Type field, for the packets modelled here (section 2.2.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A memory read or write.
    Memory,
    /// A type 0 configuration read or write.
    Configuration0,
    /// A completion.
    Completion,
    /// A message with its routing (`Type[2:0]`).
    Message(u8),
}

impl Type {
    /// Decodes the five bits of the field; `None` for a type that is not modelled.
    pub const fn from_field(bits: u32) -> Option<Self> {
        match bits {
            0b0_0000 => Some(Self::Memory),
            0b0_0100 => Some(Self::Configuration0),
            0b0_1010 => Some(Self::Completion),
            0b1_0000..=0b1_0111 => Some(Self::Message(bits as u8 & 0b111)),
            _ => None,
        }
    }

    /// The five bits of the field.
    pub const fn field(self) -> u32 {
        match self {
            Self::Memory => 0b0_0000,
            Self::Configuration0 => 0b0_0100,
            Self::Completion => 0b0_1010,
            Self::Message(routing) => 0b1_0000 | (routing as u32 & 0b111),
        }
    }
}

/// What every header carries besides its kind and length (section 2.2.6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Traffic {
    /// Traffic Class (TC), `0..=7`.
    pub class: u8,
    /// Attr\[2\], ID-based ordering.
    pub id_ordering: bool,
    /// Attr\[1\], relaxed ordering.
    pub relaxed_ordering: bool,
    /// Attr\[0\], no snoop.
    pub no_snoop: bool,
    /// TLP Digest (TD): a digest follows the payload. The digest itself is not modelled.
    pub digest: bool,
    /// Error Poisoned (EP): the payload is known to be wrong.
    pub poisoned: bool,
}

impl Traffic {
    /// Whether class and attributes agree, which a completion owes its request.
    pub fn matches(self, other: Self) -> bool {
        let key = |traffic: Self| {
            (
                traffic.class,
                traffic.id_ordering,
                traffic.relaxed_ordering,
                traffic.no_snoop,
            )
        };
        key(self) == key(other)
    }
}

/// How a memory request carries its address (section 2.2.4.1).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AddressFormat {
    /// Three header dwords; the address is below 4 GiB.
    Bits32,
    /// Four header dwords; the address is at or above 4 GiB.
    Bits64,
}

impl AddressFormat {
    /// The one format the specification allows for `address`.
    pub const fn for_address(address: u64) -> Self {
        if address >> 32 == 0 {
            Self::Bits32
        } else {
            Self::Bits64
        }
    }

    const fn four_dwords(self) -> bool {
        matches!(self, Self::Bits64)
    }
}

/// A memory read or write request (section 2.2.7).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryRequest {
    /// Who asks.
    pub requester: Bdf,
    /// Tag: distinguishes this request's completions from those of others. Without meaning in a
    /// write.
    pub tag: u8,
    /// First and Last DW Byte Enables.
    pub enables: ByteEnables,
    /// 32-bit or 64-bit form.
    pub format: AddressFormat,
    /// Address of the first dword; a multiple of four octets.
    pub address: u64,
}

/// A type 0 configuration request (section 2.2.7).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ConfigurationRequest {
    /// Who asks.
    pub requester: Bdf,
    /// Tag of the completion.
    pub tag: u8,
    /// First DW Byte Enables; the last must be zero.
    pub enables: ByteEnables,
    /// The function asked.
    pub target: Bdf,
    /// Octet offset of the register: a multiple of four below 4096.
    pub register: u16,
}

/// Completion Status (section 2.2.9).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CompletionStatus {
    /// Successful Completion (SC).
    Successful,
    /// Unsupported Request (UR): nothing answers at this address.
    UnsupportedRequest,
    /// Configuration Request Retry Status (CRS).
    ConfigurationRetry,
    /// Completer Abort (CA).
    CompleterAbort,
}

impl CompletionStatus {
    /// Decodes the three bits of the field. A reserved value counts as UR (section 2.3.2).
    pub const fn from_field(bits: u32) -> Self {
        match bits {
            0b000 => Self::Successful,
            0b010 => Self::ConfigurationRetry,
            0b100 => Self::CompleterAbort,
            _ => Self::UnsupportedRequest,
        }
    }

    /// The three bits of the field.
    pub const fn field(self) -> u32 {
        match self {
            Self::Successful => 0b000,
            Self::UnsupportedRequest => 0b001,
            Self::ConfigurationRetry => 0b010,
            Self::CompleterAbort => 0b100,
        }
    }
}

/// A completion, with data or without (section 2.2.9).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Completion {
    /// Who answers.
    pub completer: Bdf,
    /// How it went.
    pub status: CompletionStatus,
    /// Byte Count Modified (BCM); never set by a PCI Express completer.
    pub byte_count_modified: bool,
    /// Byte Count: octets still owed to the request, this packet included; `1..=4096`.
    pub byte_count: u16,
    /// Who asked.
    pub requester: Bdf,
    /// The request's tag.
    pub tag: u8,
    /// Lower Address: low seven bits of the address of the first octet returned.
    pub lower_address: u8,
}

/// A message (section 2.2.8).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Message {
    /// Who sends it.
    pub requester: Bdf,
    /// Tag; without meaning in a message.
    pub tag: u8,
    /// Routing, `Type[2:0]`.
    pub routing: u8,
    /// Message Code.
    pub code: u8,
    /// Header dwords 2 and 3, whose meaning depends on routing and code.
    pub content: [u32; 2],
}

/// Which packet it is, under the specification's mnemonics, with the fields of that kind.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// Memory Read Request (MRd).
    MRd(MemoryRequest),
    /// Memory Write Request (MWr).
    MWr(MemoryRequest),
    /// Configuration Read Type 0 (CfgRd0).
    CfgRd0(ConfigurationRequest),
    /// Configuration Write Type 0 (CfgWr0).
    CfgWr0(ConfigurationRequest),
    /// Completion without Data (Cpl).
    Cpl(Completion),
    /// Completion with Data (CplD).
    CplD(Completion),
    /// Message without Data (Msg).
    Msg(Message),
    /// Message with Data (MsgD).
    MsgD(Message),
}

/// One header.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Header {
    /// Class, attributes, digest and poison.
    pub traffic: Traffic,
    /// Length field; [`Length::RESERVED`] in `Cpl` and `Msg`.
    pub length: Length,
    /// Which packet, and its own fields.
    pub kind: Kind,
}

impl Header {
    /// The Fmt field of this header.
    pub const fn fmt(&self) -> Fmt {
        match &self.kind {
            Kind::MRd(request) => Fmt::new(request.format.four_dwords(), false),
            Kind::MWr(request) => Fmt::new(request.format.four_dwords(), true),
            Kind::CfgRd0(_) | Kind::Cpl(_) => Fmt::ThreeDword,
            Kind::CfgWr0(_) | Kind::CplD(_) => Fmt::ThreeDwordData,
            Kind::Msg(_) => Fmt::FourDword,
            Kind::MsgD(_) => Fmt::FourDwordData,
        }
    }

    /// The Type field of this header.
    pub const fn packet_type(&self) -> Type {
        match &self.kind {
            Kind::MRd(_) | Kind::MWr(_) => Type::Memory,
            Kind::CfgRd0(_) | Kind::CfgWr0(_) => Type::Configuration0,
            Kind::Cpl(_) | Kind::CplD(_) => Type::Completion,
            Kind::Msg(message) | Kind::MsgD(message) => Type::Message(message.routing),
        }
    }

    /// Who sends this packet: the requester of a request, the completer of a completion.
    pub const fn sender(&self) -> Bdf {
        match &self.kind {
            Kind::MRd(request) | Kind::MWr(request) => request.requester,
            Kind::CfgRd0(request) | Kind::CfgWr0(request) => request.requester,
            Kind::Cpl(completion) | Kind::CplD(completion) => completion.completer,
            Kind::Msg(message) | Kind::MsgD(message) => message.requester,
        }
    }

    /// Requester and tag, if this packet asks for a completion.
    pub const fn expects_completion(&self) -> Option<(Bdf, u8)> {
        match &self.kind {
            Kind::MRd(request) => Some((request.requester, request.tag)),
            Kind::CfgRd0(request) | Kind::CfgWr0(request) => Some((request.requester, request.tag)),
            _ => None,
        }
    }
}

/// One packet: a header and the octets that follow it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Tlp {
    /// The header.
    pub header: Header,
    /// Payload in memory order; empty or a multiple of four octets.
    pub payload: Vec<u8>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_and_type_field_decodes_to_itself() {
        for bits in 0..8 {
            let decoded = Fmt::from_field(bits).map(|fmt| fmt as u32);
            assert_eq!(decoded, (bits < 4).then_some(bits));
        }
        for bits in 0..32 {
            let known = matches!(bits, 0 | 4 | 10 | 16..=23);
            assert_eq!(
                Type::from_field(bits).map(Type::field),
                known.then_some(bits)
            );
        }
    }
}
