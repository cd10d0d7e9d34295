//! Words of the sender: records, what it emits, the peer's window, where recovery is, counters.
use crate::congestion::Congestion;
use crate::segment::Piece;
use crate::seq::SeqNumber;
use std::hash::{Hash, Hasher};

/// Octets of a record, at most: an FPDU of the largest ULPDU, rounded down to what 16 bits count.
pub const RECORD_OCTETS_MAX: u32 = 65_535;

/// A record to be sent. The caller keeps its octets, unchanged, until it is acknowledged.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Record {
    /// How the caller calls it; comes back in pieces and with the acknowledgement.
    pub id: u64,
    /// How many octets it has, 1 to 65,535.
    pub octets: u32,
}

/// What the sender wants to send.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Emission {
    /// Octets of a record; `push` with the last of them.
    Data {
        /// Sequence number.
        seq: SeqNumber,
        /// Which.
        piece: Piece,
        /// They end the record.
        push: bool,
    },
    /// The FIN.
    Fin {
        /// Its sequence number.
        seq: SeqNumber,
    },
    /// A segment without payload that the peer has to answer, at SND.UNA - 1.
    Probe {
        /// Its sequence number.
        seq: SeqNumber,
    },
}

#[derive(Copy, Clone, Debug, Hash)]
pub(super) struct Pending {
    pub(super) record: Record,
    pub(super) sent_octets: u32,
}

/// The peer's window (RFC 9293 section 3.10.7.4).
#[derive(Copy, Clone, Debug, Hash)]
pub(super) struct Window {
    pub(super) octets: u32,
    pub(super) shift: u8,
    /// SND.WL1 and SND.WL2: the segment that the window is from.
    pub(super) seq: SeqNumber,
    pub(super) ack: SeqNumber,
    /// As in the header.
    pub(super) unscaled: u16,
    /// The largest there was (MAX.SND.WND of RFC 5961 section 5).
    pub(super) max_octets: u32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Recovery {
    /// No loss is known.
    None,
    /// Fast recovery, until `point` is acknowledged.
    Fast { point: SeqNumber },
    /// After a time-out, until `point` is acknowledged.
    TimeOut { point: SeqNumber },
}

/// What fast recovery has changed, in case it was for nothing.
#[derive(Clone, Debug, Hash)]
pub(super) struct Undo {
    /// The congestion control before.
    pub(super) congestion: Congestion,
    /// Segments that were sent again and have not been found sent in vain.
    pub(super) sent_again: u32,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Fin {
    No,
    Wanted,
    Sent(SeqNumber),
}

/// Why the last call for a segment gave none.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Limit {
    Application,
    Congestion,
    Window,
}

/// Counters of the sender.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default)]
pub struct SenderCounts {
    /// Segments with payload that were sent for the first time.
    pub segments: u64,
    /// Octets that were sent for the first time.
    pub octets: u64,
    /// Segments that were sent again.
    pub retransmitted_segments: u64,
    /// Octets that were sent again.
    pub retransmitted_octets: u64,
    /// Duplicate ACKs that arrived.
    pub duplicate_acks: u64,
    /// Fast recoveries.
    pub fast_recoveries: u64,
    /// Retransmissions that were found lost without the timer.
    pub lost_retransmissions: u64,
    /// Fast recoveries that were taken back: the path had reordered, not lost.
    pub undone_recoveries: u64,
    /// Expiries of the retransmission timer.
    pub time_outs: u64,
    /// Probes of a window that was closed.
    pub window_probes: u64,
    /// Pieces that records were split into beyond the first.
    pub splits: u64,
}

/// Nothing, as those of what arrived.
impl Hash for SenderCounts {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// What the handshake agreed on, for the sender.
#[derive(Copy, Clone, Debug, Hash)]
pub struct Agreed {
    /// Number of the first octet: ISS + 1.
    pub first: SeqNumber,
    /// SEG.SEQ, SEG.ACK and SEG.WND of the segment that completed the handshake.
    pub seq: SeqNumber,
    /// Its window in octets.
    pub window_octets: u32,
    /// Its window as it was in the header.
    pub window_unscaled: u16,
    /// Shift of the peer's later windows.
    pub shift: u8,
    /// Largest segment, in octets.
    pub emss_octets: u16,
    /// Both ends read SACK.
    pub sack: bool,
    /// Round-trip time of the SYN, if it was sent once.
    pub rtt_us: Option<u64>,
    /// The SYN had to be sent again.
    pub syn_was_lost: bool,
}
