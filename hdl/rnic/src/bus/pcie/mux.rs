//! TLP mux: whole packets of three sources on one stream, registered.
//!
//! ```text
//! 0 read completions --+
//! 1 completions -------+--> granted --> slice --> tlp
//! 2 payload -----------+
//! ```
//!
//! | latency    | 1 cycle                                                               |
//! | throughput | one beat per cycle, no bubble between packets that wait               |
//! | units      | beats of `D` bits                                                     |
//!
//! A source's beat is taken only when it goes into the slice, so beats leave in the order in which
//! they were taken: a completion that its source offers after payload was taken comes after it.
//! When a packet ends the lowest other source that waits comes next; the choice rests on payload,
//! so only a source that waits while nothing moves loses a cycle. No source is shut out: none
//! follows itself but payload, and sources 0 and 1 need several cycles a packet of their own.
use crate::common::skid::Skid;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Mux of width `D`, `L = D / 32`.
#[derive(LogicBlock, Init)]
#[init(
    assert!(D == 32 * L, "TlpMux: D = {D} must be 32 L = {}", 32 * L);
)]
pub struct TlpMux<const D: usize, const L: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Payload of each source's beat.
    pub s_data: [Signal<In, Bits<D>>; 3],
    /// Lanes that count.
    pub s_keep: [Signal<In, Bits<L>>; 3],
    /// The packet ends.
    pub s_last: [Signal<In, Bit>; 3],
    /// The beat counts.
    pub s_valid: [Signal<In, Bit>; 3],
    /// The beat is taken.
    pub s_ready: [Signal<Out, Bit>; 3],
    /// Header, beside all beats.
    pub s_header: [Signal<In, Bits<128>>; 3],
    /// Payload.
    pub tlp_data: Signal<Out, Bits<D>>,
    /// Lanes that count.
    pub tlp_keep: Signal<Out, Bits<L>>,
    /// The packet ends.
    pub tlp_last: Signal<Out, Bit>,
    pub tlp_valid: Signal<Out, Bit>,
    pub tlp_ready: Signal<In, Bit>,
    /// Header.
    pub tlp_header: Signal<Out, Bits<128>>,
    data: Skid<Bits<D>>,
    keep: Skid<Bits<L>>,
    header: Skid<Bits<128>>,
    last: Skid<Bit>,
    // One bit for each of the first two sources: its beats are taken; none: payload's.
    granted: DFF<Bits<2>>,
    in_packet: DFF<Bit>,
    moves: Signal<Local, Bit>,
    chosen_data: Signal<Local, Bits<D>>,
    chosen_keep: Signal<Local, Bits<L>>,
    chosen_header: Signal<Local, Bits<128>>,
    chosen_last: Signal<Local, Bit>,
    chosen_valid: Signal<Local, Bit>,
}

impl<const D: usize, const L: usize> Logic for TlpMux<D, L> {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; granted, in_packet);
        wire!(self => self.data; clock, reset);
        wire!(self => self.keep; clock, reset);
        wire!(self => self.header; clock, reset);
        wire!(self => self.last; clock, reset);

        self.chosen_data.next = self.s_data[2].val();
        self.chosen_keep.next = self.s_keep[2].val();
        self.chosen_header.next = self.s_header[2].val();
        self.chosen_last.next = self.s_last[2].val();
        self.chosen_valid.next = self.s_valid[2].val();
        for i in 0..2 {
            if self.granted.q.val().get_bit(i) {
                self.chosen_data.next = self.s_data[i].val();
                self.chosen_keep.next = self.s_keep[i].val();
                self.chosen_header.next = self.s_header[i].val();
                self.chosen_last.next = self.s_last[i].val();
                self.chosen_valid.next = self.s_valid[i].val();
            }
        }
        for i in 0..2 {
            self.s_ready[i].next = self.granted.q.val().get_bit(i) & self.data.s_ready.val();
        }
        self.s_ready[2].next = !self.granted.q.val().any() & self.data.s_ready.val();
        // The next choice is made while the last beat of a packet goes, or while nothing waits.
        self.moves.next = self.chosen_valid.val() & self.data.s_ready.val();
        if self.moves.val() {
            self.in_packet.d.next = !self.chosen_last.val();
        }
        if (self.moves.val() & self.chosen_last.val())
            | (!self.in_packet.q.val() & !self.chosen_valid.val())
        {
            // A source's own last beat is not its next packet.
            self.granted.d.next = 0.into();
            if self.s_valid[1].val() & !self.granted.q.val().get_bit(1) {
                self.granted.d.next = 2.into();
            }
            if self.s_valid[0].val() & !self.granted.q.val().get_bit(0) {
                self.granted.d.next = 1.into();
            }
        }

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
            self.in_packet.d.next = false;
        }
    }
}
