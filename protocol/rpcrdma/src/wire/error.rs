//! What a received header may cost, and why one is refused.
use std::fmt;

/// What a received header may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caps {
    /// Segments of all lists of a header.
    pub segments_max: u32,
    /// Chunks of a write list: results of one call.
    pub write_chunks_max: u32,
    /// Octets of all read chunks of a header. Space that is offered for results has no bound: it
    /// costs only what is written.
    pub read_octets_max: u64,
}

impl Default for Caps {
    /// 64 segments, 16 results, and an item of 1 MiB with 64 KiB around it.
    fn default() -> Self {
        Self {
            segments_max: 64,
            write_chunks_max: 16,
            read_octets_max: (1 << 20) + (64 << 10),
        }
    }
}

/// What a server sends to the sender of a header that it refuses (RPC-028, RPC-029). A client sends
/// nothing: its call fails, or what came is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Answer {
    /// Nothing.
    Drop,
    /// `RDMA_ERROR` with `ERR_VERS`, 1 to 1.
    Versions,
    /// `RDMA_ERROR` with `ERR_CHUNK`.
    Chunk,
}

/// Why a message is refused.
///
/// Of several reasons the first in the order of the octets is given while the header is read, then
/// the first in the order below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refused {
    /// Fewer than 16 octets: there is nothing to answer to (RPC-024).
    Short,
    /// An error without the words of its code. Errors are never answered, which could go on for
    /// ever between two ends.
    ShortError,
    /// An error of another version.
    OtherVersionError,
    /// Another version (RPC-029).
    Version,
    /// A type above 4 (RPC-026).
    Type,
    /// The octets end within a list or the words of a padded message.
    Truncated,
    /// A word that says whether something follows is neither 0 nor 1.
    Option,
    /// A chunk counts more segments than the octets that are left can hold.
    Count,
    /// More segments than [`Caps::segments_max`].
    Segments,
    /// More write chunks than [`Caps::write_chunks_max`].
    WriteChunks,
    /// A segment ends after the last address, 2^64 - 1.
    Wraps,
    /// An alignment that is no power of two, or less than a word (RPC-023).
    Align,
    /// A read position that is not a multiple of 4.
    Unaligned,
    /// A read position within the chunk before it, or before that.
    Inside,
    /// A read chunk of position 0 in a message that has its RPC message after the header
    /// (RPC-032).
    PositionZero,
    /// A message without a body whose RPC message is in no chunk: there is neither a read chunk of
    /// position 0 nor a reply chunk (RPC-032, RPC-033).
    Nowhere,
    /// Octets after a header that has no body.
    Behind,
    /// An RPC message of fewer than four octets (RPC-025).
    ShortBody,
    /// An RPC message of another transaction than its header (RPC-025).
    OtherXid,
    /// A read position beyond all octets that are before it.
    Beyond,
    /// More octets to be read than [`Caps::read_octets_max`], or than there is memory for; or any,
    /// from a peer that takes no Reads (RPC-037).
    ReadOctets,
    /// Two segments for results share octets.
    Overlap,
    /// A read chunk where the program has no item that may be one (RPC-007).
    NotEligible,
    /// The count in the stream is neither the length of the chunk nor, rounded up to words, it
    /// (RPC-009).
    ItemLength,
    /// A chunk beside the position 0 one in a call whose arguments are protected by RPCSEC_GSS.
    Protected,
}

impl Refused {
    /// Every reason.
    pub const ALL: [Self; 25] = [
        Self::Short,
        Self::ShortError,
        Self::OtherVersionError,
        Self::Version,
        Self::Type,
        Self::Truncated,
        Self::Option,
        Self::Count,
        Self::Segments,
        Self::WriteChunks,
        Self::Wraps,
        Self::Align,
        Self::Unaligned,
        Self::Inside,
        Self::PositionZero,
        Self::Nowhere,
        Self::Behind,
        Self::ShortBody,
        Self::OtherXid,
        Self::Beyond,
        Self::ReadOctets,
        Self::Overlap,
        Self::NotEligible,
        Self::ItemLength,
        Self::Protected,
    ];

    /// What a server sends back.
    #[must_use]
    pub fn answer(self) -> Answer {
        match self {
            Self::Short | Self::ShortError | Self::OtherVersionError => Answer::Drop,
            Self::Version => Answer::Versions,
            _ => Answer::Chunk,
        }
    }

    /// The place in [`Refused::ALL`], for counters.
    #[must_use]
    pub fn index(self) -> usize {
        self as usize
    }

    /// A short name, for counters and messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Short => "fewer than 16 octets",
            Self::ShortError => "an error without its words",
            Self::OtherVersionError => "an error of another version",
            Self::Version => "another version",
            Self::Type => "an unknown type",
            Self::Truncated => "a list that is cut off",
            Self::Option => "an optional word that is neither 0 nor 1",
            Self::Count => "a count beyond the message",
            Self::Segments => "too many segments",
            Self::WriteChunks => "too many write chunks",
            Self::Wraps => "a segment beyond the last address",
            Self::Align => "an alignment that is none",
            Self::Unaligned => "a position within a word",
            Self::Inside => "a position within the chunk before",
            Self::PositionZero => "position 0 beside a body",
            Self::Nowhere => "no RPC message",
            Self::Behind => "octets after the header",
            Self::ShortBody => "an RPC message without XID",
            Self::OtherXid => "an RPC message of another XID",
            Self::Beyond => "a position beyond the stream",
            Self::ReadOctets => "too much to be read",
            Self::Overlap => "results that overlap",
            Self::NotEligible => "a chunk where none may be",
            Self::ItemLength => "a chunk of another length than its item",
            Self::Protected => "an item outside of a protected body",
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl std::error::Error for Refused {}
