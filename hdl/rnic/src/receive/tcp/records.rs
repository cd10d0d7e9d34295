//! What the TCP blocks keep and hand each other inside the room, field by field.
//!
//! `LookupEntry`, `TcpContext` and `EarlyRange` are the entries of the tables `LOOKUP`, `TCP` (with
//! `EARLY`) and `RANGE` of `rnic_abi::tables`; the other structs never leave the room.
use super::hash::KEY_BITS;
use rnic_abi::limits::{RANGES, SHARED_RUNS, SPANS};
use rust_hdl::prelude::*;

const _: () = assert!(
    RANGES == 1 << 8 && SHARED_RUNS == 1 << 6 && SPANS == 1 << 9,
    "numbers and credits of `RangeWalk` have 8, 6 and 9 bits"
);

/// A connection key in the order in which it is hashed and compared; octet strings.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct KeyFields {
    /// Source address of received segments.
    pub remote_address: Bits<128>,
    /// Destination address of received segments.
    pub local_address: Bits<128>,
    /// Source port, then destination port.
    pub ports: Bits<32>,
}

/// One slot of the connection lookup.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct LookupEntry {
    /// The slot is in use.
    pub valid: Bit,
    /// The key is IPv6.
    pub ipv6: Bit,
    /// The connection that the key belongs to.
    pub connection: Bits<10>,
    /// [`KeyFields`] as one octet string.
    pub key: Bits<KEY_BITS>,
}

/// What a lookup found.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct LookupResult {
    /// A connection has this key.
    pub hit: Bit,
    /// That connection; undefined without a hit.
    pub connection: Bits<10>,
}

/// TCP context of a connection.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct TcpContext {
    /// Sequence number of the next octet in order.
    pub rcv_nxt: Bits<32>,
    /// Octets, counted from `rcv_nxt`, that the peer may send.
    pub window: Bits<32>,
    /// SEG.ACK of the last segment that counts.
    pub seg_ack: Bits<32>,
    /// SEG.WND of that segment, unscaled.
    pub seg_wnd: Bits<16>,
    /// A FIN came with payload, and all of that payload is there.
    pub fin: Bit,
    /// Received ranges beyond `rcv_nxt`.
    pub ranges: Bits<5>,
    /// Number of the first of them.
    pub first_range: Bits<8>,
    /// Number of the range changed last; it may have become in order since.
    pub last_range: Bits<8>,
    /// Pages charged for the ranges.
    pub early_pages: Bits<10>,
    /// Segments that ask for a duplicate ACK, modulo 256.
    pub answers: Bits<8>,
}

/// What all connections hold of TCP's shared pools.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct PoolsInUse {
    /// Received ranges.
    pub ranges: Bits<9>,
    /// Spans that MPA has, or is told of.
    pub spans: Bits<10>,
    /// Keys of runs that were not the last one of their frame.
    pub runs: Bits<7>,
}

/// A received range beyond `rcv_nxt`.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct EarlyRange {
    /// Sequence number of its first octet.
    pub left: Bits<32>,
    /// Sequence number after its last octet.
    pub right: Bits<32>,
    /// Pages charged for it.
    pub pages: Bits<10>,
    /// Number of the next range of the connection.
    pub following: Bits<8>,
    /// There is a next range.
    pub has_following: Bit,
}

/// A segment with payload on its way through the ranges; the clipped segment is `[left, right)`.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct WalkSegment {
    /// It begins beyond `rcv_nxt`.
    pub early: Bit,
    /// It was cut at `rcv_nxt`.
    pub trimmed: Bit,
    /// Distance of `left` from `rcv_nxt`.
    pub left_distance: Bits<32>,
    /// Distance of `right` from `rcv_nxt`, above that of `left`.
    pub right_distance: Bits<32>,
    /// Sequence number `left`.
    pub left: Bits<32>,
    /// Sequence number `right`.
    pub right: Bits<32>,
    /// Place in the stored frame that `rcv_nxt` has or would have, modulo 2^14.
    pub origin: Bits<14>,
}

/// A stored frame that waits for its lookup: [`crate::messages::StoredFrame`] without the key.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct WaitingFrame {
    /// `VERDICT_HOST` or `VERDICT_TCP`.
    pub verdict: Bits<2>,
    /// Octets of the frame, without pad and FCS.
    pub frame_octets: Bits<14>,
    /// TCP flags: bit 0 FIN, 1 SYN, 2 RST, 3 PSH, 4 ACK, 5 URG.
    pub flags: Bits<6>,
    /// The TCP checksum is right.
    pub checksum_good: Bit,
    /// SEG.SEQ.
    pub seg_seq: Bits<32>,
    /// SEG.ACK.
    pub seg_ack: Bits<32>,
    /// SEG.WND, unscaled.
    pub seg_wnd: Bits<16>,
    /// First payload octet, from the start of the stored frame.
    pub payload_offset: Bits<14>,
    /// Payload octets.
    pub payload_octets: Bits<14>,
    /// First page of the frame.
    pub head_page: Bits<9>,
    /// Last page of the frame.
    pub tail_page: Bits<9>,
}
