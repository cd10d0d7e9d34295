//! Context of a connection, and the records of a segment that is checked against it.
//!
//! `TcpContext` is the entry of tables `TCP` and `OUT_OF_ORDER` of `rnic_abi::tables`. Units:
//! octets; sequence numbers modulo 2^32; pages of packet memory.
use crate::common::build::sizes;
use crate::common::ram::SdpRam;
use crate::messages::{PageChain, SegmentInfo};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// TCP context of a connection.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct TcpContext {
    /// Sequence number of the next octet in order.
    pub rcv_nxt: Bits<32>,
    /// Octets, counted from `rcv_nxt`, that the peer may send.
    pub window: Bits<32>,
    /// SEG.ACK of the last valid segment.
    pub seg_ack: Bits<32>,
    /// SEG.WND of that segment, unscaled.
    pub seg_wnd: Bits<16>,
    /// A FIN was received with payload, and all of that payload has been received.
    pub fin: Bit,
    /// Its sequence number: that of the octet after its payload.
    pub fin_sequence: Bits<32>,
    /// Number of out-of-order ranges.
    pub ranges: Bits<5>,
    /// The first range.
    pub first_range: Bits<8>,
    /// The range changed last; it may have become in order since.
    pub last_range: Bits<8>,
    /// Pages charged for the ranges.
    pub ooo_pages: Bits<10>,
    /// Segments that require a duplicate ACK, modulo 256.
    pub answers: Bits<8>,
    /// Duplicate ACKs received, modulo 256.
    pub repeats: Bits<8>,
}

/// A stored frame without its key, queued until the key is looked up.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct QueuedFrame {
    pub segment: SegmentInfo,
    /// All its pages.
    pub pages: PageChain,
}

/// A segment with payload, clipped to the window: `[left, right)`.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct ClippedSegment {
    /// It begins beyond `rcv_nxt`.
    pub ooo: Bit,
    /// It was clipped at `rcv_nxt`.
    pub trimmed: Bit,
    /// Distance of `left` from `rcv_nxt`.
    pub left_distance: Bits<32>,
    /// Distance of `right` from `rcv_nxt`, above that of `left`.
    pub right_distance: Bits<32>,
    /// Sequence number `left`.
    pub left: Bits<32>,
    /// Sequence number `right`.
    pub right: Bits<32>,
    /// Offset of `rcv_nxt` in the stored frame, or what it would be, modulo 2^14.
    pub origin: Bits<14>,
}

/// RAM of contexts, with a register before it that forwards.
///
/// ```text
/// connection --> [ RAM ] --+--> stored
///                  ^       +--> loaded
/// updated --> [ register ]-+      (the context written last, or one that is only shown)
/// ```
///
/// | latency    | 2 cycles, `connection` to `loaded` and `stored`; 1 cycle, `write` to the RAM |
/// | throughput | one context read and one written per cycle                                   |
///
/// A context still being written when the next frame of its connection is taken is `loaded` from
/// the register, for as long as that frame is processed.
#[derive(LogicBlock, Init)]
pub struct ContextStore {
    pub clock: Signal<In, Clock>,
    /// Synchronous; `updated` is written for `owner` in each cycle, as with `write` and `hold`.
    pub reset: Signal<In, Bit>,
    /// Context to read; stable while `loaded` and `stored` are used.
    pub connection: Signal<In, Bits<10>>,
    /// A frame of that connection is taken: forward, if its context is in the register.
    pub take: Signal<In, Bit>,
    /// The context of the frame taken.
    pub loaded: Signal<Out, TcpContext>,
    /// The same, but never forwarded.
    pub stored: Signal<Out, TcpContext>,
    /// The register's next context.
    pub updated: Signal<In, TcpContext>,
    /// Loads the register.
    pub hold: Signal<In, Bit>,
    /// Also writes it to the RAM, for connection `owner`.
    pub write: Signal<In, Bit>,
    pub owner: Signal<In, Bits<10>>,
    /// Forwards the register until the next frame is taken.
    pub show: Signal<In, Bit>,
    #[init(SdpRam::of_words(sizes().connections()))]
    contexts: SdpRam<TcpContext, 10>,
    writing: DFF<Bit>,
    written_connection: DFF<Bits<10>>,
    written: DFF<TcpContext>,
    forwards: DFF<Bit>,
}

impl Logic for ContextStore {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; writing, written_connection, written, forwards);
        wire!(self => self.contexts; clock, connection as read_address);
        wire!(self.contexts => self; read_data as stored, read_data as loaded);
        if self.forwards.q.val() {
            self.loaded.next = self.written.q.val();
        }
        if self.take.val() {
            self.forwards.d.next =
                self.writing.q.val() & (self.written_connection.q.val() == self.connection.val());
        }
        if self.show.val() {
            self.forwards.d.next = true;
        }
        if self.hold.val() | self.reset.val() {
            self.written.d.next = self.updated.val();
        }
        self.writing.d.next = self.write.val();
        self.written_connection.d.next = self.owner.val();
        self.contexts.write_enable.next = self.writing.q.val();
        self.contexts.write_address.next = self.written_connection.q.val();
        self.contexts.write_data.next = self.written.q.val();
        if self.reset.val() {
            self.writing.d.next = true;
        }
    }
}

#[cfg(test)]
mod tests;
