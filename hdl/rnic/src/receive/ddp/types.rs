//! Types that the blocks of ddp exchange: a decoded segment, the verdict, and table writes.
use crate::receive::stag::{RegionEntry, StagEntry};
use rust_hdl::prelude::*;

/// A DDP segment as decoded from its header. A field is valid only if the header has it.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct DdpSegment {
    /// ULPDU_Length is 0: there is no segment.
    pub zero_length: Bit,
    /// The ULPDU is shorter than its DDP header.
    pub short: Bit,
    /// Not `zero_length` and not `short`: there is a DDP header, if CRC and markers are good.
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

/// What a record is checked for.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Role {
    /// A frame for the host.
    pub host: Bit,
    /// `FpduKind::Check`: reports only an error.
    pub check: Bit,
    /// `FpduKind::OutOfOrder`, out of order: places only its payload.
    pub ooo: Bit,
    /// Out of order, and known to begin with an FPDU only if it has a marker.
    pub unproven: Bit,
    /// Replayed: its payload is placed already, and it gives a command only with a CQE.
    pub replayed: Bit,
}

/// Result of the checks.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Verdict {
    /// `rnic_abi::errors::StreamError`, 0 for none.
    pub error: Bits<5>,
    /// The FPDU is refused.
    pub refused: Bit,
    /// No effect in stream order: a frame for the host, an FPDU of a connection already in error,
    /// or one out of order.
    pub silent: Bit,
    /// The payload goes to memory.
    pub place: Bit,
    /// The payload counts as placed: it goes to memory, or went there out of order.
    pub placed: Bit,
    /// The FPDU is out of order: MPA gets an `OutOfOrderResult`.
    pub ooo: Bit,
    /// ... and good: its record is stored.
    pub keep: Bit,
    /// An untagged message is complete: Receive CQE, next MSN.
    pub receive: Bit,
    /// An RDMA Read Response is complete: ReadResponse CQE.
    pub response: Bit,
    /// The region of the STag becomes invalid.
    pub invalidate: Bit,
    /// Counter `fpdus`: CRC and markers are good.
    pub count: Bit,
    /// There is a trace event.
    pub event: Bit,
    /// There is a place command.
    pub command: Bit,
    /// There is a DDP header, and CRC and markers are good.
    pub known: Bit,
    /// The stream ends with this FPDU: it is refused, or it completes the Terminate of the peer.
    pub stops: Bit,
    /// A segment of a Read Response, not the last one: its read moves on by the payload.
    pub continues: Bit,
    /// There is a CQE: Receive, ReadResponse or Error.
    pub entry: Bit,
    /// There would be one, but the completion queue has no room.
    pub lost: Bit,
}

/// A stream, as the driver sets it up.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct StreamProfile {
    /// Protection Domain.
    pub pd: Bits<16>,
    /// Expected DDP and RDMAP version.
    pub version: Bit,
}

/// The entries of the buffer pool that belong to a queue.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct QueueShape {
    /// First entry in the pool.
    pub first: Bits<11>,
    /// log2 of its entries, 0..=11.
    pub entries_log2: Bits<4>,
    /// The queue is open.
    pub is_open: Bit,
}

/// A receive buffer; or an outstanding read, see [`super::reads`].
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct Buffer {
    /// Bus address of its first octet. Of a read: bits 31:0 of TO, and the STag above them.
    pub address: Bits<64>,
    /// Octets. Of a read: those that are missing.
    pub octets: Bits<32>,
    /// Of a read: bits 34:32 of TO.
    pub to_high: Bits<3>,
}

/// What the posting port goes by: a queue as it is now.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct QueueNow {
    /// Its entries of the pool.
    pub shape: QueueShape,
    /// Low half of the MSN after the last posted one.
    pub tail: Bits<16>,
    /// Low half of the MSN expected.
    pub expected: Bits<16>,
}

/// What the posting port reads and writes: a queue, and at most one strobe.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PostWrite {
    /// The queue, `connection << 2 | queue`.
    pub queue: Bits<12>,
    /// Entry of the pool.
    pub entry: Bits<11>,
    /// Low half of the MSN after the post.
    pub tail_msn: Bits<16>,
    pub buffer: Buffer,
    /// Writes `buffer` in `entry`.
    pub pool: Bit,
    /// Writes `tail_msn` of `queue`.
    pub tail: Bit,
}

/// A table write: at most one strobe (two for a queue), and the words of the request as an entry of
/// each table.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct TableWrites {
    /// Index of the entry.
    pub index: Bits<16>,
    /// Writes `profile` and `completion_queue`: a stream starts.
    pub context: Bit,
    pub profile: StreamProfile,
    /// Its completion queue.
    pub completion_queue: Bits<4>,
    /// Writes `shape` and `first_msn`: a queue is set up.
    pub queue: Bit,
    pub shape: QueueShape,
    pub first_msn: Bits<32>,
    /// Writes `tail_msn`; also when the queue is set up.
    pub tail: Bit,
    pub tail_msn: Bits<16>,
    /// Writes `buffer`.
    pub pool: Bit,
    pub buffer: Buffer,
    /// Writes `stag_entry`.
    pub stag: Bit,
    pub stag_entry: StagEntry,
    /// Writes `region_entry` and `region_valid`.
    pub region: Bit,
    pub region_entry: RegionEntry,
    pub region_valid: Bit,
}
