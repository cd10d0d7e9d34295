//! What the blocks of the room hand each other: a DDP segment, and what was found of it.
use crate::messages::FpduRecord;
use rust_hdl::prelude::*;

/// A record in the FIFO.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Arrival {
    /// The record.
    pub record: FpduRecord,
    /// CRC32C of the index of its STag.
    pub hash: Bits<32>,
}

/// A DDP segment, as its header says. Fields mean something only where the header holds them.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Segment {
    /// ULPDU_Length is 0: there is no segment.
    pub zero_length: Bit,
    /// The ULPDU is shorter than its DDP header.
    pub short: Bit,
    /// The length is right: there is a DDP header, if CRC and markers are right.
    pub known: Bit,
    /// T: tagged buffer model.
    pub tagged: Bit,
    /// L: last segment of its message.
    pub last: Bit,
    /// DV.
    pub ddp_version: Bits<2>,
    /// RV.
    pub rdmap_version: Bits<2>,
    /// RDMAP opcode.
    pub opcode: Bits<4>,
    /// The opcode does not belong to the buffer model or queue.
    pub opcode_bad: Bit,
    /// The opcode is one of the two Sends with Invalidate, and this is its last segment.
    pub invalidates: Bit,
    /// QN is 3 or more.
    pub qn_bad: Bit,
    /// Low two bits of QN; 0 in a tagged segment.
    pub qn: Bits<2>,
    /// Tagged: STag. Untagged: Invalidate STag.
    pub stag: Bits<32>,
    /// Tagged Offset of the first payload octet.
    pub to: Bits<64>,
    /// Tagged Offset after the last payload octet, modulo 2^64.
    pub to_end: Bits<64>,
    /// TO plus payload reaches 2^64.
    pub wraps: Bit,
    /// MSN.
    pub msn: Bits<32>,
    /// MO.
    pub mo: Bits<32>,
    /// MO plus payload.
    pub mo_end: Bits<33>,
    /// Payload octets.
    pub payload: Bits<16>,
    /// There is payload.
    pub has_payload: Bit,
}

/// What kind of record is judged.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Role {
    /// A frame for the host.
    pub host: Bit,
    /// `FPDU_CHECK`: nothing is due but an error.
    pub check: Bit,
    /// `FPDU_EARLY`: nothing is due but its payload.
    pub early: Bit,
    /// An early one, and begins with an FPDU only if there is a marker in it.
    pub unproven: Bit,
    /// It has no octets any more: its payload is where it belongs, and a command is due only with
    /// an entry.
    pub replayed: Bit,
}

/// What the checks found, each in the cycle named at the port of its block.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Verdict {
    /// `rnic_abi::errors::StreamError`, 0 for none.
    pub error: Bits<5>,
    /// The FPDU is refused.
    pub refused: Bit,
    /// Nothing is to be told or done of this FPDU: its connection was in error before, or the time
    /// for it has not come.
    pub silent: Bit,
    /// The payload goes to memory.
    pub place: Bit,
    /// The payload counts as placed: it goes to memory, or went there early.
    pub placed: Bit,
    /// The FPDU is an early one, and an answer to MPA is due.
    pub early: Bit,
    /// It is good: its record is kept.
    pub keep: Bit,
    /// An untagged message is whole: Receive entry, next MSN.
    pub receive: Bit,
    /// An RDMA Read Response is whole: ReadResponse entry.
    pub response: Bit,
    /// The region of the STag becomes invalid.
    pub invalidate: Bit,
    /// The FPDU counts as received with right CRC and markers.
    pub count: Bit,
    /// A trace event is due.
    pub event: Bit,
    /// A place command is due.
    pub command: Bit,
    /// There is a DDP header, and CRC and markers vouch for it.
    pub known: Bit,
    /// The stream ends with this FPDU: it is refused, or the peer's Terminate is whole.
    pub stops: Bit,
}
