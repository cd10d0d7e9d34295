//! The sizes that the two ends of a link agree on.
//!
//! Source: PCI Express Base Specification 5.0, sections 7.5.3.4 (Device Control) and 2.3.1.1
//! (Read Completion Boundary).

/// A payload or read request size as Device Control encodes it: 128 octets shifted left by
/// 0 to 5.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TransferSize {
    /// 128 octets.
    Octets128 = 0,
    /// 256 octets.
    Octets256 = 1,
    /// 512 octets.
    Octets512 = 2,
    /// 1024 octets.
    Octets1024 = 3,
    /// 2048 octets.
    Octets2048 = 4,
    /// 4096 octets.
    Octets4096 = 5,
}

impl TransferSize {
    /// Every size, smallest first, at the index of its encoding.
    pub const ALL: [Self; 6] = [
        Self::Octets128,
        Self::Octets256,
        Self::Octets512,
        Self::Octets1024,
        Self::Octets2048,
        Self::Octets4096,
    ];

    /// The size in octets.
    pub const fn octets(self) -> usize {
        128 << self as usize
    }

    /// The size of exactly `octets`, if there is one.
    pub fn from_octets(octets: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|size| size.octets() == octets)
    }

    /// The size for a three-bit Device Control field; `None` for the two reserved values.
    pub fn from_encoding(encoding: u32) -> Option<Self> {
        Self::ALL.get(encoding as usize).copied()
    }

    /// The three-bit Device Control field.
    pub const fn encoding(self) -> u32 {
        self as u32
    }
}

/// Where a root complex may cut a read's completions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum ReadCompletionBoundary {
    /// At multiples of 64 octets.
    Octets64,
    /// At multiples of 128 octets; the boundary of everything that is not a root complex.
    Octets128,
}

impl ReadCompletionBoundary {
    /// The boundary in octets.
    pub const fn octets(self) -> usize {
        match self {
            Self::Octets64 => 64,
            Self::Octets128 => 128,
        }
    }
}

/// The link's settings, which both models obey and the monitor holds the other side to.
///
/// ```
/// use pcie_sim::{Limits, TransferSize};
/// let limits = Limits { max_payload: TransferSize::Octets128, ..Limits::default() };
/// assert_eq!(limits.max_payload.octets(), 128);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Max_Payload_Size (MPS): the most octets after one header.
    pub max_payload: TransferSize,
    /// Max_Read_Request_Size (MRRS): the most octets one read may ask for.
    pub max_read_request: TransferSize,
    /// Read Completion Boundary (RCB) of the root complex.
    pub read_completion_boundary: ReadCompletionBoundary,
    /// Tag values a requester may use, from 0: 32, or 256 with Extended Tag enabled.
    pub tag_count: u16,
    /// Whether writes without an enabled octet are allowed. The specification permits them
    /// (section 2.2.5); for a device that never sends one, a violation is more useful.
    pub zero_length_writes: bool,
}

impl Default for Limits {
    /// 256-octet payloads, 512-octet reads, boundary 64, 256 tags, zero-length writes allowed.
    fn default() -> Self {
        Self {
            max_payload: TransferSize::Octets256,
            max_read_request: TransferSize::Octets512,
            read_completion_boundary: ReadCompletionBoundary::Octets64,
            tag_count: 256,
            zero_length_writes: true,
        }
    }
}
