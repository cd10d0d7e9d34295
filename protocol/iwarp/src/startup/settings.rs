//! What an endpoint wants of its connections, and may be given.

use rnic_wire::mpa::startup::{DEPTH_UNSPECIFIED, ENHANCED_OCTETS, PRIVATE_DATA_OCTETS_MAX};

/// Newest revision there is (RFC 6581).
pub const REVISION_MAX: u8 = 2;
/// Deepest IRD and ORD: 14 bits, of which the last value means that they are not negotiated.
pub const DEPTH_MAX: u16 = DEPTH_UNSPECIFIED - 1;
/// Shortest time-out, in microseconds.
pub const TIMEOUT_US_MIN: u64 = 1_000;
/// Longest time-out, in microseconds: ten minutes.
pub const TIMEOUT_US_MAX: u64 = 600_000_000;
/// How long a responder waits for a whole Request by default, in microseconds.
pub const REQUEST_TIMEOUT_US: u64 = 5_000_000;
/// How long an initiator waits for a whole Reply by default, in microseconds.
pub const REPLY_TIMEOUT_US: u64 = 10_000_000;

/// A ready-to-receive message (RTR): what an initiator sends first in the peer-to-peer model
/// (MPA2-002, MPA2-005).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Rtr {
    /// A zero-length FPDU: ULPDU_Length is 0.
    Fpdu,
    /// A zero-length RDMA Write.
    Write,
    /// A zero-length RDMA Read.
    Read,
}

/// A set of kinds of RTR.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct RtrKinds {
    /// B: a zero-length FPDU.
    pub fpdu: bool,
    /// C: a zero-length RDMA Write.
    pub write: bool,
    /// D: a zero-length RDMA Read.
    pub read: bool,
}

impl RtrKinds {
    /// Every kind.
    pub const ALL: Self = Self {
        fpdu: true,
        write: true,
        read: true,
    };

    /// The set of one kind.
    pub const fn only(kind: Rtr) -> Self {
        Self {
            fpdu: matches!(kind, Rtr::Fpdu),
            write: matches!(kind, Rtr::Write),
            read: matches!(kind, Rtr::Read),
        }
    }

    /// The kinds in both sets.
    pub const fn common(self, other: Self) -> Self {
        Self {
            fpdu: self.fpdu && other.fpdu,
            write: self.write && other.write,
            read: self.read && other.read,
        }
    }

    /// The cheapest kind in the set: a Write calls for no answer and no queue, an FPDU neither, but
    /// fewer implementations know it; a Read takes a place of IRD and an answer.
    pub const fn cheapest(self) -> Option<Rtr> {
        match self {
            Self { write: true, .. } => Some(Rtr::Write),
            Self { fpdu: true, .. } => Some(Rtr::Fpdu),
            Self { read: true, .. } => Some(Rtr::Read),
            _ => None,
        }
    }
}

/// What an endpoint wants. [`Settings::default`] is revision 2 with revision 1 as its fallback,
/// CRC, no markers, and the client-server model.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Highest revision, at most [`REVISION_MAX`]. An initiator sends its Request in it.
    pub revision: u8,
    /// Lowest revision that is accepted of the peer, at most `revision`.
    pub revision_min: u8,
    /// A responder answers a Request of a higher revision than `revision` in its own one; otherwise
    /// it closes (MPA2-003, START-032).
    pub answer_newer: bool,
    /// DDP and RDMAP version in streams of revision 0: 0 as that revision's text has it (DDP-009),
    /// or 1 for peers that accept revision 0 and then go on as in revision 1, as Linux' siw does.
    pub revision_0_version: u8,
    /// M: markers in the stream that this end receives (START-026).
    pub markers: bool,
    /// C: this end calls for CRC32C (MPA-018). If the peer does, it is in use all the same.
    pub crc: bool,
    /// Inbound RDMA Reads that this end can hold, at most [`DEPTH_MAX`].
    pub ird: u16,
    /// Outbound RDMA Reads that this end would like to have outstanding, at most [`DEPTH_MAX`].
    pub ord: u16,
    /// An initiator asks for the peer-to-peer model, in revision 2 (MPA2-005).
    pub peer_to_peer: bool,
    /// Kinds of RTR that this end can send as an initiator and receive as a responder.
    pub rtr: RtrKinds,
    /// Longest Private Data that the application takes, in octets (START-020).
    pub private_data_octets_max: usize,
    /// Time for the peer's whole frame, from [`TIMEOUT_US_MIN`] to [`TIMEOUT_US_MAX`]; `None` is
    /// [`REQUEST_TIMEOUT_US`] or [`REPLY_TIMEOUT_US`] (START-019, START-021).
    pub timeout_us: Option<u64>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            revision: REVISION_MAX,
            revision_min: 1,
            answer_newer: true,
            revision_0_version: 0,
            markers: false,
            crc: true,
            ird: 16,
            ord: 16,
            peer_to_peer: false,
            rtr: RtrKinds::ALL,
            private_data_octets_max: PRIVATE_DATA_OCTETS_MAX,
            timeout_us: None,
        }
    }
}

/// Why settings, or Private Data to be sent, cannot be used.
#[derive(Copy, Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// `revision` is unknown, or less than `revision_min`.
    #[error("revisions {revision_min} to {revision} are no range within 0 to {REVISION_MAX}")]
    Revision {
        /// Lowest revision.
        revision_min: u8,
        /// Highest revision.
        revision: u8,
    },
    /// `revision_0_version` is neither 0 nor 1.
    #[error("DDP and RDMAP have no version {0}")]
    Version(u8),
    /// IRD or ORD needs more than 14 bits, or has the value that means: not negotiated.
    #[error("an IRD or ORD of {0} is more than {DEPTH_MAX}")]
    Depth(u16),
    /// The peer-to-peer model is asked for without a kind of RTR, or in a revision without it.
    #[error("the peer-to-peer model needs revision 2 and a kind of RTR")]
    PeerToPeer,
    /// The time-out is not in its range.
    #[error("a time-out of {0} us is not within {TIMEOUT_US_MIN} to {TIMEOUT_US_MAX} us")]
    Timeout(u64),
    /// The Private Data to be sent is too long for its frame.
    #[error("{found_octets} octets of Private Data where {max_octets} fit")]
    PrivateData {
        /// Octets given.
        found_octets: usize,
        /// Octets that a frame of this revision holds for the ULP.
        max_octets: usize,
    },
}

impl Settings {
    /// These settings for another attempt in `revision`, such as a fallback (MPA2-003). Below 2
    /// there is no peer-to-peer model.
    pub fn in_revision(self, revision: u8) -> Self {
        Self {
            revision,
            peer_to_peer: self.peer_to_peer && revision >= 2,
            ..self
        }
    }

    pub(super) fn check(&self) -> Result<(), SettingsError> {
        let (revision, revision_min) = (self.revision, self.revision_min);
        if revision > REVISION_MAX || revision_min > revision {
            return Err(SettingsError::Revision {
                revision_min,
                revision,
            });
        }
        if self.revision_0_version > 1 {
            return Err(SettingsError::Version(self.revision_0_version));
        }
        let depth = self.ird.max(self.ord);
        if depth > DEPTH_MAX {
            return Err(SettingsError::Depth(depth));
        }
        if self.peer_to_peer && (revision < 2 || self.rtr == RtrKinds::default()) {
            return Err(SettingsError::PeerToPeer);
        }
        match self.timeout_us {
            Some(us) if !(TIMEOUT_US_MIN..=TIMEOUT_US_MAX).contains(&us) => {
                Err(SettingsError::Timeout(us))
            }
            _ => Ok(()),
        }
    }

    /// DDP and RDMAP version of a stream of `revision`.
    pub(super) fn version(&self, revision: u8) -> u8 {
        match revision {
            0 => self.revision_0_version,
            _ => 1,
        }
    }
}

/// Octets of Private Data that a frame holds for the ULP (START-033, START-034): with enhanced data
/// 508.
pub const fn private_data_octets_max(revision: u8, enhanced: bool) -> usize {
    match (revision, enhanced) {
        (0, _) => u16::MAX as usize,
        (_, false) => PRIVATE_DATA_OCTETS_MAX,
        (_, true) => PRIVATE_DATA_OCTETS_MAX - ENHANCED_OCTETS,
    }
}

pub(super) fn check_private_data(
    private_data: &[u8],
    revision: u8,
    enhanced: bool,
) -> Result<(), SettingsError> {
    let found_octets = private_data.len();
    let max_octets = private_data_octets_max(revision, enhanced);
    if found_octets > max_octets {
        return Err(SettingsError::PrivateData {
            found_octets,
            max_octets,
        });
    }
    Ok(())
}
