//! Why a start-up failed: what the peer did, and in which octet of its frame.

use super::settings::Settings;
use rnic_wire::ddp::errors::{Cause, MPA_CONNECTION, MPA_STARTUP};

/// Why a start-up failed. TCP is to be closed, and MPA left (START-007, START-010).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum StartupError {
    /// The frame does not open with the key of a start-up frame (START-015, START-024).
    #[error("octet {octet} of the peer's key is {found:#04x} and not {expected:#04x}")]
    Key {
        /// The first wrong octet, from 0.
        octet: usize,
        /// What the peer sent.
        found: u8,
        /// What the key has there.
        expected: u8,
    },
    /// The peer sent a Request to an initiator (START-018).
    #[error("octet 9 of the peer's key makes it a Request: both ends are initiators")]
    BothInitiate,
    /// The peer sent a Reply to a responder, which had asked for nothing.
    #[error("octet 9 of the peer's key makes it a Reply, to no Request")]
    ReplyToResponder,
    /// Rev is not one that this end can work with (START-031, START-032), or in a Reply higher than
    /// in the Request.
    #[error("octet 17 of the peer's frame is revision {found}, not {lowest} to {highest}")]
    Revision {
        /// Rev.
        found: u8,
        /// Lowest revision accepted.
        lowest: u8,
        /// Highest revision accepted.
        highest: u8,
    },
    /// PD_Length exceeds what the revision allows, or what the application takes (START-020,
    /// START-034).
    #[error("octet 18 of the peer's frame: PD_Length is {found_octets}, more than {max_octets}")]
    PrivateDataLength {
        /// PD_Length.
        found_octets: usize,
        /// Longest PD_Length accepted.
        max_octets: usize,
    },
    /// S announces enhanced data, and PD_Length has no room for it (MPA2-001).
    #[error("octet 18 of the peer's frame: S is set, and PD_Length is {found_octets}, below 4")]
    EnhancedLength {
        /// PD_Length.
        found_octets: usize,
    },
    /// A is set in the Reply to a Request without it.
    #[error("octet 20 of the peer's Reply has A, and the Request had not")]
    PeerToPeerUnasked,
    /// The peer closed TCP in the middle of its frame (START-034).
    #[error("the peer closed TCP after {found_octets} octets of a frame of {needed_octets}")]
    CutShort {
        /// Octets that came.
        found_octets: usize,
        /// Octets of the frame as far as it is known: 20 until PD_Length is there.
        needed_octets: usize,
    },
    /// The peer sent octets of full operation before it may (START-041, START-042).
    #[error("the peer sent octet {octet} of its stream, after its frame, too early")]
    Early {
        /// Where these octets begin, from the first octet of the frame.
        octet: usize,
    },
    /// The peer's frame was not whole in time (START-019, START-021).
    #[error("{found_octets} octets of the peer's frame in {waited_us} us")]
    TimedOut {
        /// Octets that came.
        found_octets: usize,
        /// Time waited, in microseconds.
        waited_us: u64,
    },
    /// TCP was closed or lost before the first octet of the peer's frame (START-043).
    #[error("TCP was closed before octet 0 of the peer's frame")]
    Closed,
}

impl StartupError {
    /// The octet of the peer's frame that is wrong, from 0; `None` if it is none.
    pub const fn octet(&self) -> Option<usize> {
        match *self {
            Self::Key { octet, .. } | Self::Early { octet } => Some(octet),
            Self::BothInitiate | Self::ReplyToResponder => Some(9),
            Self::Revision { .. } => Some(17),
            Self::PrivateDataLength { .. } | Self::EnhancedLength { .. } => Some(18),
            Self::PeerToPeerUnasked => Some(20),
            Self::CutShort { .. } | Self::TimedOut { .. } | Self::Closed => None,
        }
    }

    /// MPA's code for the ULP: 1 if TCP was lost or time ran out, 4 if the frame is invalid
    /// (MPA-053, MPA-056).
    pub const fn cause(&self) -> Cause {
        match self {
            Self::TimedOut { .. } | Self::Closed => MPA_CONNECTION,
            _ => MPA_STARTUP,
        }
    }
}

/// The revision to try on a new TCP connection after `error`, if the settings allow one (MPA2-003):
/// a responder that does not know the Request's revision closes.
pub(super) fn fallback(settings: &Settings, error: &StartupError) -> Option<u8> {
    let closed = matches!(error, StartupError::Closed);
    (closed && settings.revision_min < settings.revision).then(|| settings.revision - 1)
}
