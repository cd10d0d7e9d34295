//! Completions, decoded from the queue in memory.

use crate::device::ids::ConnectionId;
use rnic_abi::cqe::{KIND_ERROR, KIND_READ_RESPONSE, KIND_RECEIVE};
use rnic_abi::errors::LAYER_MPA;
use rnic_wire::ddp::control::{FLAG_LAST, FLAG_TAGGED};
use rnic_wire::ddp::{tagged, untagged};

/// What the device reports; layouts in `rnic_abi::cqe`.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Completion {
    /// An untagged message is complete in its buffer. On queue 2 it is a Terminate, after which the
    /// device processes nothing more of the connection's stream (RFC 5040 section 5.6).
    Receive {
        /// Connection.
        connection: ConnectionId,
        /// Queue number.
        qn: u32,
        /// RDMAP opcode.
        opcode: u32,
        /// Message Sequence Number.
        msn: u32,
        /// Message length in octets.
        length: u32,
        /// STag the message invalidated; 0 for other opcodes.
        invalidated_stag: u32,
        /// Sequence number after the message.
        sequence_end: u32,
    },
    /// An RDMA Read is complete: the last segment of its response has been placed.
    ReadResponse {
        /// Connection.
        connection: ConnectionId,
        /// STag.
        stag: u32,
        /// Tagged Offset after the last octet.
        tagged_offset_end: u64,
        /// Sequence number after the segment.
        sequence_end: u32,
        /// Entry of the pool that held the read, as [`Device::post_read`] gave it.
        ///
        /// [`Device::post_read`]: crate::Device::post_read
        pool_entry: u32,
    },
    /// The connection has stopped.
    Error {
        /// Connection.
        connection: ConnectionId,
        /// Layer of a Terminate.
        layer: u32,
        /// Error type of a Terminate.
        error_type: u32,
        /// Error code of a Terminate.
        code: u32,
        /// ULPDU_Length of the refused FPDU, in octets.
        ulpdu_length: u32,
        /// Sequence number of the FPDU's first octet.
        sequence: u32,
        /// The refused segment's DDP header; `None` if there is no valid one.
        header: Option<RefusedHeader>,
    },
    /// The words of an entry whose kind this driver does not know.
    Unknown([u32; 8]),
}

impl Completion {
    /// Decode an entry.
    pub fn decode(words: [u32; 8]) -> Self {
        let connection = ConnectionId((words[0] >> 16) as u16);
        match words[0] & 0xf {
            KIND_RECEIVE => Self::Receive {
                connection,
                qn: words[0] >> 8 & 3,
                opcode: words[0] >> 4 & 0xf,
                msn: words[1],
                length: words[2],
                invalidated_stag: words[3],
                sequence_end: words[4],
            },
            KIND_READ_RESPONSE => Self::ReadResponse {
                connection,
                stag: words[1],
                tagged_offset_end: u64::from(words[3]) << 32 | u64::from(words[2]),
                sequence_end: words[4],
                pool_entry: words[5],
            },
            KIND_ERROR => Self::Error {
                connection,
                layer: words[1] & 0xf,
                error_type: words[1] >> 4 & 0xf,
                code: words[1] >> 8 & 0xff,
                ulpdu_length: words[1] >> 16,
                sequence: words[2],
                header: RefusedHeader::decode(&words),
            },
            _ => Self::Unknown(words),
        }
    }
}

/// The DDP header of a segment that the device refused. The entry holds it without its
/// reserved bits, which are zero in what a sender of RFC 5041 emits (`rnic_abi::cqe`).
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct RefusedHeader {
    octets: [u8; untagged::HEADER_OCTETS],
}

impl RefusedHeader {
    /// The header in an Error entry, if there is one (`rnic_abi::cqe`).
    pub(crate) fn decode(words: &[u32; 8]) -> Option<Self> {
        let is_tagged = words[0] >> 10 & 1 == 1;
        let needed = if is_tagged {
            tagged::HEADER_OCTETS
        } else {
            untagged::HEADER_OCTETS
        };
        if words[1] & 0xf == LAYER_MPA || (words[1] >> 16) < needed as u32 {
            return None;
        }
        let mut octets = [0; untagged::HEADER_OCTETS];
        // T, L, DV; RV, opcode.
        let bits = |low: u32, mask: u32| (words[0] >> low & mask) as u8;
        octets[0] = (bits(10, 1) * FLAG_TAGGED) | (bits(11, 1) * FLAG_LAST) | bits(12, 3);
        octets[1] = bits(14, 3) << 6 | bits(4, 0xf);
        for (target, word) in octets[2..].chunks_exact_mut(4).zip(&words[3..7]) {
            target.copy_from_slice(&word.to_be_bytes());
        }
        Some(Self { octets })
    }

    /// 14 octets of a tagged header, 18 of an untagged one, as on the wire.
    pub fn octets(&self) -> &[u8] {
        match self.octets[0] & FLAG_TAGGED != 0 {
            true => &self.octets[..tagged::HEADER_OCTETS],
            false => &self.octets,
        }
    }
}
