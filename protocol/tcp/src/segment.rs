//! Segments as a connection takes them and gives them: without ports, addresses and checksum, which
//! the caller reads and writes.
use crate::options::Options;
use crate::seq::SeqNumber;

/// Control bits (RFC 9293 section 3.1). URG is not used: urgent data is read as ordinary data, and
/// none is sent.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Flags {
    /// Synchronise sequence numbers.
    pub syn: bool,
    /// The acknowledgement number counts.
    pub ack: bool,
    /// No more octets from the sender of the segment.
    pub fin: bool,
    /// Reset the connection.
    pub rst: bool,
    /// Push.
    pub psh: bool,
}

/// A header.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Default, Hash)]
pub struct Head {
    /// Sequence number (SEG.SEQ).
    pub seq: SeqNumber,
    /// Acknowledgement number (SEG.ACK); 0 without the control bit.
    pub ack: SeqNumber,
    /// Control bits.
    pub flags: Flags,
    /// Window (SEG.WND) as it is in the header, not shifted.
    pub window: u16,
    /// Options.
    pub options: Options,
}

/// A segment that has arrived. Its checksum has been verified.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segment<'a> {
    /// Header.
    pub head: Head,
    /// Payload, at most 65,535 octets.
    pub payload: &'a [u8],
}

impl Segment<'_> {
    /// SEG.LEN: octets of sequence space, SYN and FIN counted.
    pub fn sequence_octets(&self) -> u32 {
        let flags = self.head.flags;
        self.payload.len() as u32 + u32::from(flags.syn) + u32::from(flags.fin)
    }
}

/// Octets of a record: those from `offset_octets` on, `octets` of them.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// The record.
    pub id: u64,
    /// Octets of the record before the piece; 0 unless the record was split.
    pub offset_octets: u32,
    /// Octets of the piece.
    pub octets: u32,
}

/// A segment to be sent. The caller adds ports, checksum and the octets of the piece.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Outgoing {
    /// Header.
    pub head: Head,
    /// Payload.
    pub piece: Option<Piece>,
}

impl Outgoing {
    /// The segment may overtake others of its connection: a pure ACK, a handshake or an RST.
    /// Payload and FIN keep their order, and only they wait while the transmit ring is full.
    pub const fn is_control(&self) -> bool {
        self.piece.is_none() && !self.head.flags.fin
    }
}
