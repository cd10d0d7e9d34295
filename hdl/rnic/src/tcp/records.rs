//! What the TCP blocks keep and hand each other inside the room, field by field.
//!
//! `LookupEntry` and `TcpContext` are the entries of the tables `LOOKUP` and `TCP` of
//! `rnic_abi::tables`; the other structs never leave the room.
// LogicStruct derives accessors without documentation; every field here is documented by hand.
#![allow(missing_docs)]
use super::hash::KEY_BITS;
use rust_hdl::prelude::*;

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
    /// A FIN came with payload, and all of that payload was accepted.
    pub fin: Bit,
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
