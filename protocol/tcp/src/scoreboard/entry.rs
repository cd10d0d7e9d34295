//! A segment in flight, and what an acknowledgement brings.
use crate::segment::Piece;
use crate::seq::SeqNumber;

/// A segment that was sent and is not acknowledged.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// Its first octet.
    pub seq: SeqNumber,
    /// Its octets; none in a FIN.
    pub piece: Option<Piece>,
    /// The piece is the last of its record.
    pub is_last: bool,
    /// How often it was sent, up to 255.
    pub transmissions: u8,
    pub(super) sent_us: u64,
    pub(super) state: State,
}

/// Where it is believed to be.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum State {
    Flying,
    Sacked,
    Lost,
}

impl Entry {
    /// Octets of payload.
    pub fn octets(&self) -> u32 {
        self.piece.map_or(0, |piece| piece.octets)
    }

    /// The number after its last octet, or after its FIN.
    pub fn end(&self) -> SeqNumber {
        self.seq + self.piece.map_or(1, |piece| piece.octets)
    }
}

/// What an acknowledgement brought.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default, Hash)]
pub struct Progress {
    /// Octets that had not been acknowledged or sacked before.
    pub octets: u64,
    /// When the latest segment among them was sent, if it was sent once (Karn's algorithm) and the
    /// acknowledgement did not wait for another one that was sent again.
    pub sent_us: Option<u64>,
    /// How far behind the furthest octet that had arrived the latest of them was: reordering.
    pub late_octets: u32,
    /// Segments that were sent again although they had arrived, or were on their way.
    pub in_vain: u32,
}

impl Progress {
    /// Take in what another part of the same report brought.
    pub fn join(&mut self, other: Self) {
        self.octets += other.octets;
        self.sent_us = self.sent_us.max(other.sent_us);
        self.late_octets = self.late_octets.max(other.late_octets);
        self.in_vain += other.in_vain;
    }

    pub(super) fn add(&mut self, entry: &Entry) {
        self.octets += u64::from(entry.octets());
        if entry.transmissions == 1 {
            self.sent_us = self.sent_us.max(Some(entry.sent_us));
        }
    }
}
