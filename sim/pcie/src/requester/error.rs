//! Why a transfer failed: one name for each thing that a completer or a link can do to it.

use thiserror::Error;

use crate::tlp::CompletionStatus;

/// How a completion disagrees with the request that it answers (section 2.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
pub enum Mismatch {
    /// Byte Count is not the number of octets still owed.
    #[error("byte count is {found}, {owed} is owed")]
    ByteCount {
        /// Octets owed.
        owed: usize,
        /// The field.
        found: usize,
    },
    /// Lower Address is not that of the next octet owed.
    #[error("lower address is {found:#04x}, the next octet is at {expected:#04x}")]
    LowerAddress {
        /// Low seven bits of the next octet's address.
        expected: u8,
        /// The field.
        found: u8,
    },
    /// More octets than are owed.
    #[error("{found} octets, {owed} are owed")]
    TooLong {
        /// Octets owed, in whole dwords.
        owed: usize,
        /// Payload.
        found: usize,
    },
    /// Success, but no data although the request asked for some.
    #[error("successful, but without the data asked for")]
    DataMissing,
    /// Data for a request that asked for none.
    #[error("data for a request that asked for none")]
    DataUnexpected,
}

/// Why a transfer failed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Error)]
pub enum TransferError {
    /// The completer refused: Unsupported Request, Completer Abort, or a retry that is not done.
    #[error("completed with status {0:?}")]
    Status(CompletionStatus),
    /// A completion had its poison bit set: none of the data are to be used (section 2.7.2).
    #[error("completed with poisoned data")]
    Poisoned,
    /// A completion does not fit its request.
    #[error("completion does not fit its request: {0}")]
    Mismatch(Mismatch),
    /// A completion broke another rule; its receiver has discarded it.
    #[error("a completion broke a rule")]
    Malformed,
    /// The link or the function was reset while the transfer was under way.
    #[error("reset while the transfer was under way")]
    Reset,
    /// No result is kept under this token: it was taken before, or is another requester's.
    #[error("unknown token; a result can be taken once, from the side that asked")]
    UnknownToken,
    /// No completion came in time.
    #[error("no completion within {ticks} ticks")]
    TimedOut {
        /// The time allowed.
        ticks: u64,
    },
    /// The function may not ask: Bus Master Enable is clear.
    #[error("bus mastering is off; set Bus Master Enable in the Command register")]
    BusMasterDisabled,
    /// A configuration access that is not within one dword.
    #[error("configuration access at {register:#x} is not within one dword")]
    NotOneDword {
        /// The register offset asked for.
        register: u16,
    },
}
