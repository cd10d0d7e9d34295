//! The mux of all TLPs that the device sends, non-posted requests apart.
//!
//! ```text
//! s_*[0 .. 5], whole packets --> [ chosen ] --> [ Skid ] --> tlp_*
//! hold -------------------------^        \--> held
//! ```
use crate::common::skid::Skid;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// TLP mux: whole packets of six sources on one stream, registered; `L = D / 32`.
///
/// | latency    | 1 cycle                                               |
/// | throughput | one beat per cycle, no bubble between waiting packets |
/// | units      | beats of `D` bits                                     |
///
/// Sources in falling priority: 4 messages of interrupts, 0 read completions, 1 CQE TLPs, 2 event
/// TLPs, 3 statuses and reports of transmit, 5 payload. A beat is taken only when it enters the
/// slice, so beats leave in the order in which they were taken: a CQE that is offered after its
/// payload was taken leaves after it. When a packet ends, the first other waiting source is next;
/// with none waiting, payload stays selected, so only a source that begins to wait while nothing
/// moves loses a cycle. No source starves: only payload can follow itself, and the others need
/// several cycles per packet, between which the next one has its turn.
///
/// From the cycle after `hold` on, no packet of sources 1 to 5 begins; the one under way goes on
/// to its end, and read completions pass.
#[derive(LogicBlock, Init)]
#[init(
    assert!(D == 32 * L, "TlpMux: D = {D} must be 32 L = {}", 32 * L);
)]
pub struct TlpMux<const D: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The six sources.
    pub s_data: [Signal<In, Bits<D>>; 6],
    pub s_keep: [Signal<In, Bits<L>>; 6],
    pub s_last: [Signal<In, Bit>; 6],
    pub s_valid: [Signal<In, Bit>; 6],
    pub s_ready: [Signal<Out, Bit>; 6],
    pub s_header: [Signal<In, Bits<128>>; 6],
    pub tlp_data: Signal<Out, Bits<D>>,
    pub tlp_keep: Signal<Out, Bits<L>>,
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    pub tlp_header: Signal<Out, Bits<128>>,
    pub hold: Signal<In, Bit>,
    /// It is obeyed, and no packet of sources 1 to 5 is under way or in the slice.
    pub held: Signal<Out, Bit>,
    data: Skid<Bits<D>>,
    keep: Skid<Bits<L>>,
    header: Skid<Bits<128>>,
    last: Skid<Bit>,
    // One bit for each of sources 0 to 4; none set: payload is selected.
    granted: DFF<Bits<5>>,
    // One is set; payload, which is far away, waits until none is.
    grants_other: DFF<Bit>,
    in_packet: DFF<Bit>,
    // The sequencer is far away, and all sources wait for this.
    holds: DFF<Bit>,
    next_granted: Signal<Local, Bits<5>>,
    moves: Signal<Local, Bit>,
    chosen_data: Signal<Local, Bits<D>>,
    chosen_keep: Signal<Local, Bits<L>>,
    chosen_header: Signal<Local, Bits<128>>,
    chosen_last: Signal<Local, Bit>,
    chosen_valid: Signal<Local, Bit>,
    // Sources 1 to 5 may send a beat.
    may_send: Signal<Local, Bit>,
}

impl<const D: usize, const L: usize> Logic for TlpMux<D, L> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; granted, grants_other, in_packet, holds);
        wire!(self => self.data; clock, reset);
        wire!(self => self.keep; clock, reset);
        wire!(self => self.header; clock, reset);
        wire!(self => self.last; clock, reset);

        self.chosen_data.next = self.s_data[5].val();
        self.chosen_keep.next = self.s_keep[5].val();
        self.chosen_header.next = self.s_header[5].val();
        self.chosen_last.next = self.s_last[5].val();
        self.holds.d.next = self.hold.val();
        self.may_send.next = !self.holds.q.val() | self.in_packet.q.val();
        self.chosen_valid.next = self.s_valid[5].val() & self.may_send.val();
        for i in 0..5 {
            if self.granted.q.val().get_bit(i) {
                self.chosen_data.next = self.s_data[i].val();
                self.chosen_keep.next = self.s_keep[i].val();
                self.chosen_header.next = self.s_header[i].val();
                self.chosen_last.next = self.s_last[i].val();
                self.chosen_valid.next = self.s_valid[i].val();
            }
        }
        for i in 1..5 {
            if self.granted.q.val().get_bit(i) {
                self.chosen_valid.next = self.s_valid[i].val() & self.may_send.val();
            }
        }
        self.s_ready[0].next = self.granted.q.val().get_bit(0) & self.data.s_ready.val();
        for i in 1..5 {
            self.s_ready[i].next =
                self.granted.q.val().get_bit(i) & self.data.s_ready.val() & self.may_send.val();
        }
        self.s_ready[5].next =
            !self.grants_other.q.val() & self.data.s_ready.val() & self.may_send.val();
        self.held.next = self.holds.q.val() & !self.in_packet.q.val() & !self.data.m_valid.val();
        // Choose again with the last beat of a packet, or while the selected source is idle.
        self.moves.next = self.chosen_valid.val() & self.data.s_ready.val();
        if self.moves.val() {
            self.in_packet.d.next = !self.chosen_last.val();
        }
        self.next_granted.next = self.granted.q.val();
        if (self.moves.val() & self.chosen_last.val())
            | (!self.in_packet.q.val() & !self.chosen_valid.val())
        {
            // The `valid` of the source that ends belongs to its last beat, not to its next packet.
            self.next_granted.next = 0.into();
            if self.s_valid[3].val() & !self.granted.q.val().get_bit(3) {
                self.next_granted.next = 8.into();
            }
            if self.s_valid[2].val() & !self.granted.q.val().get_bit(2) {
                self.next_granted.next = 4.into();
            }
            if self.s_valid[1].val() & !self.granted.q.val().get_bit(1) {
                self.next_granted.next = 2.into();
            }
            if self.s_valid[0].val() & !self.granted.q.val().get_bit(0) {
                self.next_granted.next = 1.into();
            }
            if self.s_valid[4].val() & !self.granted.q.val().get_bit(4) {
                self.next_granted.next = 16.into();
            }
        }

        self.granted.d.next = self.next_granted.val();
        self.grants_other.d.next = self.next_granted.val().any();
        wire!(self => self.data;
            chosen_data as s_data, chosen_valid as s_valid, tlp_ready as m_ready);
        wire!(self => self.keep;
            chosen_keep as s_data, chosen_valid as s_valid, tlp_ready as m_ready);
        wire!(self => self.header;
            chosen_header as s_data, chosen_valid as s_valid, tlp_ready as m_ready);
        wire!(self => self.last;
            chosen_last as s_data, chosen_valid as s_valid, tlp_ready as m_ready);
        wire!(self.data => self; m_data as tlp_data, m_valid as tlp_valid);
        self.tlp_keep.next = self.keep.m_data.val();
        self.tlp_header.next = self.header.m_data.val();
        self.tlp_last.next = self.last.m_data.val();
        if self.reset.val() {
            self.granted.d.next = 0.into();
            self.grants_other.d.next = false;
            self.in_packet.d.next = false;
            // As the sequencer does, so that nothing begins before its `hold` arrives.
            self.holds.d.next = true;
        }
    }
}
