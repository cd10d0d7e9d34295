//! The name of everything that can be wrong with a packet.
//!
//! Each variant cites its clause of the PCI Express Base Specification 5.0.

use thiserror::Error;

use crate::flow_control::{CreditKind, FlowClass, NotHeld};
use crate::tlp::{Bdf, CompletionStatus, PackError, ParseError};

/// One broken rule.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
#[non_exhaustive]
pub enum Violation {
    /// The dwords are not a header that is modelled (section 2.2.1).
    #[error("header does not parse: {0}")]
    HeaderUnparsable(#[from] ParseError),
    /// A reserved header bit is set (section 2.2.1); a receiver ignores it.
    #[error("reserved bits {bits:#010x} are set in header dword {dword}")]
    ReservedBitsSet {
        /// Which dword of the header.
        dword: usize,
        /// The bits that ought to be zero.
        bits: u32,
    },
    /// A value does not fit its header field (section 2.2).
    #[error("header field out of range: {0}")]
    FieldOutOfRange(PackError),
    /// TLP Digest is set; this model carries no digest (section 2.2.3).
    #[error("TD is set, but digests are not modelled; clear it")]
    DigestPresent,
    /// Error Poisoned is set: the sender calls its own payload wrong (section 2.7.2).
    #[error("EP is set: the payload is poisoned and must not be used")]
    Poisoned,
    /// A packet from an id that no device on this link has (section 2.2.6.2).
    #[error("sent under id {sender}, which no device here has")]
    SenderUnknown {
        /// Requester id of a request, completer id of a completion.
        sender: Bdf,
    },

    /// Payload octets differ from the Length field (section 2.2.2).
    #[error("length says {length_octets} octets, payload has {payload_octets}")]
    PayloadLengthMismatch {
        /// Length field, in octets.
        length_octets: usize,
        /// What follows the header.
        payload_octets: usize,
    },
    /// Octets follow a header whose format has no payload (section 2.2.1).
    #[error("{payload_octets} payload octets after a header without data")]
    PayloadWithoutDataFormat {
        /// What follows the header.
        payload_octets: usize,
    },
    /// More payload than Max_Payload_Size (section 2.2.2).
    #[error("payload of {octets} octets exceeds Max_Payload_Size {limit_octets}")]
    MaxPayloadExceeded {
        /// Length field, in octets.
        octets: usize,
        /// The setting.
        limit_octets: usize,
    },
    /// A read for more than Max_Read_Request_Size (section 2.2.7).
    #[error("read of {octets} octets exceeds Max_Read_Request_Size {limit_octets}")]
    MaxReadRequestExceeded {
        /// Length field, in octets.
        octets: usize,
        /// The setting.
        limit_octets: usize,
    },

    /// A request reaches over a multiple of 4096 (section 2.2.7).
    #[error("{octets} octets from {address:#x} cross a 4 KiB boundary")]
    Crosses4Kib {
        /// First dword's address.
        address: u64,
        /// Length field, in octets.
        octets: usize,
    },
    /// A memory address is not a multiple of four (section 2.2.4.1).
    #[error("address {address:#x} is not dword aligned")]
    AddressUnaligned {
        /// The address.
        address: u64,
    },
    /// Four header dwords for an address that needs three (section 2.2.4.1).
    #[error("four-dword format with address {address:#x} below 4 GiB")]
    FourDwordBelow4Gib {
        /// The address.
        address: u64,
    },
    /// Three header dwords for an address that needs four (section 2.2.4.1).
    #[error("three-dword format with address {address:#x} at or above 4 GiB")]
    ThreeDwordAbove4Gib {
        /// The address.
        address: u64,
    },

    /// First DW BE is zero in a request of more than one dword (section 2.2.5).
    #[error("first byte enables are zero in a request of {dwords} dwords")]
    FirstEnablesZero {
        /// Length field.
        dwords: usize,
    },
    /// Last DW BE is zero in a request of more than one dword (section 2.2.5).
    #[error("last byte enables are zero in a request of {dwords} dwords")]
    LastEnablesZero {
        /// Length field.
        dwords: usize,
    },
    /// Last DW BE is not zero in a request of one dword (section 2.2.5).
    #[error("last byte enables are {last:#06b} in a request of one dword")]
    LastEnablesInSingleDword {
        /// The field.
        last: u8,
    },
    /// Holes in the enables of a long or unaligned request (section 2.2.5). Holes are allowed
    /// in one dword, and in two that form an aligned quadword.
    #[error("byte enables (first {first:#06b}, last {last:#06b}) have holes")]
    EnablesNotContiguous {
        /// First DW BE.
        first: u8,
        /// Last DW BE.
        last: u8,
    },
    /// A write without an enabled octet, where [`Limits`](crate::Limits) forbids it.
    #[error("zero-length write to {address:#x}")]
    ZeroLengthWrite {
        /// First dword's address.
        address: u64,
    },
    /// A configuration request that is not one dword (section 2.2.7).
    #[error("configuration request of {dwords} dwords; it must be one")]
    ConfigurationLength {
        /// Length field.
        dwords: usize,
    },
    /// A configuration request with a class or attribute (section 2.2.7).
    #[error("configuration request with traffic class or attributes; both must be zero")]
    ConfigurationTraffic,
    /// A configuration request from a device (section 2.2.7).
    #[error("configuration request sent upstream")]
    ConfigurationUpstream,

    /// A tag the requester was not given (section 2.2.6.2).
    #[error("tag {tag} is not below {tag_count}")]
    TagOutOfRange {
        /// The tag.
        tag: u8,
        /// The setting.
        tag_count: u16,
    },
    /// A tag whose earlier request is not complete (section 2.2.6.2).
    #[error("tag {tag} is still outstanding")]
    TagReused {
        /// The tag.
        tag: u8,
    },
    /// A completion without an outstanding request (section 2.3.2).
    #[error("completion for tag {tag}, which is not outstanding")]
    CompletionUnexpected {
        /// The tag.
        tag: u8,
    },
    /// A completion for a request from before the last reset (section 6.6): whatever was in flight
    /// then must not reach the other side.
    #[error("completion for tag {tag}, whose request was sent before the reset")]
    CompletionAfterReset {
        /// The tag.
        tag: u8,
    },
    /// Byte Count differs from the octets still owed (section 2.2.9).
    #[error("byte count is {found}, {expected} is owed")]
    CompletionByteCount {
        /// Octets owed.
        expected: usize,
        /// The field.
        found: usize,
    },
    /// Lower Address is not that of the next octet owed (section 2.2.9).
    #[error("lower address is {found:#04x}, the next octet is at {expected:#04x}")]
    CompletionLowerAddress {
        /// Low seven bits of the next octet's address.
        expected: u8,
        /// The field.
        found: u8,
    },
    /// A completion that is not the last ends off the Read Completion Boundary (section 2.3.1.1).
    #[error("completion ends at {end:#x}, not at a multiple of {boundary_octets}")]
    CompletionUnaligned {
        /// One past the last octet returned.
        end: u64,
        /// The boundary.
        boundary_octets: usize,
    },
    /// A completion brings more dwords than the request is owed (section 2.3.1.1).
    #[error("completion of {dwords} dwords, {expected_dwords} are owed")]
    CompletionTooLong {
        /// Length field.
        dwords: usize,
        /// The most that would be right.
        expected_dwords: usize,
    },
    /// Data where the status or the request allows none (section 2.2.9).
    #[error("completion with data and status {status:?} for a request that is owed none")]
    CompletionDataUnexpected {
        /// The status.
        status: CompletionStatus,
    },
    /// A successful completion without the data asked for (section 2.2.9).
    #[error("successful completion without the data asked for")]
    CompletionDataMissing,
    /// Class or attributes differ from the request's (section 2.2.9).
    #[error("completion's traffic class or attributes differ from its request's")]
    CompletionTraffic,
    /// At the end of a run, a request was not completed (section 2.8).
    #[error("tag {tag} was never completed, {owed} octets are owed")]
    RequestNotCompleted {
        /// The tag.
        tag: u8,
        /// Octets owed.
        owed: usize,
    },

    /// A packet that its sender has no credits for (section 2.6.1.1); the receiver has no room.
    #[error("{class:?} packet of {needed} {kind} credits, {available} are left")]
    CreditsExceeded {
        /// Its class.
        class: FlowClass,
        /// The credits that ran out.
        kind: CreditKind,
        /// What it costs.
        needed: u16,
        /// What the sender had.
        available: u16,
    },
    /// A receiver returned more credits than packets it has received (section 2.6.1.2).
    #[error("flow control: {0}")]
    CreditsNotHeld(NotHeld),

    /// A write reaches octets outside of all regions. It was refused as a whole.
    #[error("write of {octets} octets to {address:#x} leaves mapped memory")]
    WriteOutsideMemory {
        /// First enabled octet.
        address: u64,
        /// To the last enabled octet.
        octets: usize,
    },
    /// A read reaches octets that belong to no region.
    #[error("read of {octets} octets from {address:#x} leaves mapped memory")]
    ReadOutsideMemory {
        /// First enabled octet.
        address: u64,
        /// To the last enabled octet.
        octets: usize,
    },
    /// A write reaches a region that the device may not write. It was refused as a whole.
    #[error("write of {octets} octets to {address:#x}, which is not writable by the device")]
    WriteForbidden {
        /// First enabled octet.
        address: u64,
        /// To the last enabled octet.
        octets: usize,
    },
    /// A read reaches a region that the device may not read.
    #[error("read of {octets} octets from {address:#x}, which is not readable by the device")]
    ReadForbidden {
        /// First enabled octet.
        address: u64,
        /// To the last enabled octet.
        octets: usize,
    },
    /// A write to an interrupt window that is not one whole dword (section 6.1.4).
    #[error("interrupt write to {address:#x} is not one whole dword")]
    InterruptWriteMalformed {
        /// First dword's address.
        address: u64,
    },
}
