//! Where a segment lies in the receive window, and what of it is new.
//!
//! ```text
//!               rcv_nxt
//!   ...----------|--------- window ---------|------->  sequence space
//!          [=====:======)                    a segment: d = SEG.SEQ - rcv_nxt < 0, trimmed
//!                [======)                    d = 0, in order
//! ```
//!
//! | latency    | 2 cycles, `rcv_nxt` and `window` to every output; the segment's own        |
//! |            | ports must have been stable for one cycle before                           |
//! | throughput | one segment per cycle                                                      |
//! | units      | octets; sequence numbers modulo 2^32, distances signed, window below 2^31  |
//! | source     | RFC 9293 section 3.10.7.4, first check                                     |
//!
//! The segment's octets lie in `[d, d + SEG.LEN)`, those wanted in `[0, window)`. Both ends are
//! found by one subtraction each, from numbers ready before the context arrives, so that no two
//! carry chains follow each other in a cycle.
use super::records::WalkSegment;
use rnic_abi::events::SegmentVerdict;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Judges one segment against one receive window.
#[derive(LogicBlock, Init)]
#[init(
    let verdict = |verdict: SegmentVerdict| Constant::new((verdict as LiteralType).into());
)]
pub struct SegmentJudge {
    pub clock: Signal<In, Clock>,
    /// SEG.SEQ.
    pub seg_seq: Signal<In, Bits<32>>,
    /// SEG.LEN, payload octets, at least 1.
    pub seg_len: Signal<In, Bits<14>>,
    /// First payload octet in the stored frame.
    pub payload_offset: Signal<In, Bits<14>>,
    /// Next octet wanted.
    pub rcv_nxt: Signal<In, Bits<32>>,
    /// Octets wanted from there.
    pub window: Signal<In, Bits<32>>,
    /// Next octet wanted, from a register: it counts while the outputs do.
    pub wanted: Signal<In, Bits<32>>,
    /// `rnic_abi::events::SegmentVerdict`.
    pub verdict: Signal<Out, Bits<3>>,
    /// Octets are accepted: the verdict is `InOrder` or `Trimmed`.
    pub accept: Signal<Out, Bit>,
    /// Number of accepted octets.
    pub octets: Signal<Out, Bits<14>>,
    /// The first of them in the stored frame.
    pub offset: Signal<Out, Bits<14>>,
    /// rcv_nxt after them; of an early segment, what follows its last octet within the window.
    pub rcv_nxt_after: Signal<Out, Bits<32>>,
    /// The segment's last octet is among them, or lies within the window of an early segment.
    pub to_the_end: Signal<Out, Bit>,
    /// The segment begins beyond rcv_nxt and within the window: the verdict is `OutOfOrder`.
    /// `offset` is then where rcv_nxt would lie in the stored frame, modulo 2^14.
    pub early: Signal<Out, Bit>,
    /// Distance from rcv_nxt of what follows the segment's last octet within the window.
    pub end_in_window: Signal<Out, Bits<32>>,
    /// The same for the way through the ranges; defined for what is accepted or early.
    pub segment: Signal<Out, WalkSegment>,
    // SEG.SEQ + SEG.LEN, one cycle after the segment's ports.
    seq_end: DFF<Bits<32>>,
    // First cycle: distances from rcv_nxt of the first octet and of the one after the last.
    start: DFF<Bits<32>>,
    end_distance: DFF<Bits<32>>,
    held_window: DFF<Bits<32>>,
    right_edge: DFF<Bits<32>>,
    // Second cycle.
    starts_before: DFF<Bit>,
    beyond: DFF<Bit>,
    outside: DFF<Bit>,
    old: DFF<Bit>,
    closed: DFF<Bit>,
    overhangs: DFF<Bit>,
    end_low: DFF<Bits<14>>,
    window_low: DFF<Bits<14>>,
    offset_held: DFF<Bits<14>>,
    edge_held: DFF<Bits<32>>,
    start_now: Signal<Local, Bits<32>>,
    end_now: Signal<Local, Bits<32>>,
    window_now: Signal<Local, Bits<32>>,
    trimmed_octets: Signal<Local, Bits<14>>,
    accepting: Signal<Local, Bit>,
    #[init(verdict(SegmentVerdict::InOrder))]
    in_order: Constant<Bits<3>>,
    #[init(verdict(SegmentVerdict::Trimmed))]
    trimmed: Constant<Bits<3>>,
    #[init(verdict(SegmentVerdict::Duplicate))]
    duplicate: Constant<Bits<3>>,
    #[init(verdict(SegmentVerdict::OutOfOrder))]
    out_of_order: Constant<Bits<3>>,
    #[init(verdict(SegmentVerdict::OutsideWindow))]
    outside_window: Constant<Bits<3>>,
}

impl Logic for SegmentJudge {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; seq_end, start, end_distance, held_window, right_edge);
        registers!(clock; starts_before, beyond, outside, old, closed, overhangs);
        registers!(clock; end_low, window_low, offset_held, edge_held);
        self.seq_end.d.next = self.seg_seq.val() + bit_cast::<32, 14>(self.seg_len.val());

        // First cycle: distances.
        self.start.d.next = self.seg_seq.val() - self.rcv_nxt.val();
        self.end_distance.d.next = self.seq_end.q.val() - self.rcv_nxt.val();
        self.right_edge.d.next = self.rcv_nxt.val() + self.window.val();
        self.held_window.d.next = self.window.val();

        // Second cycle: compares. The sign is bit 31.
        self.start_now.next = self.start.q.val();
        self.end_now.next = self.end_distance.q.val();
        self.window_now.next = self.held_window.q.val();
        self.starts_before.d.next = self.start_now.val().get_bit(31);
        self.beyond.d.next = !self.start_now.val().get_bit(31) & self.start_now.val().any();
        self.outside.d.next =
            !self.start_now.val().get_bit(31) & (self.start_now.val() >= self.window_now.val());
        self.old.d.next = self.end_now.val().get_bit(31) | !self.end_now.val().any();
        self.closed.d.next = !self.window_now.val().any();
        self.overhangs.d.next = self.end_now.val() > self.window_now.val();
        self.end_low.d.next = self.end_now.val().get_bits::<14>(0);
        self.window_low.d.next = self.window_now.val().get_bits::<14>(0);
        self.trimmed_octets.next = self.start_now.val().get_bits::<14>(0);
        self.offset_held.d.next = self.payload_offset.val() - self.trimmed_octets.val();
        self.edge_held.d.next = self.right_edge.q.val();

        // The first test that fails gives the verdict.
        self.accepting.next = false;
        if self.outside.q.val() {
            self.verdict.next = self.outside_window.val();
        } else if self.beyond.q.val() {
            self.verdict.next = self.out_of_order.val();
        } else if self.old.q.val() {
            self.verdict.next = self.duplicate.val();
        } else if self.closed.q.val() {
            self.verdict.next = self.outside_window.val();
        } else if self.starts_before.q.val() {
            self.verdict.next = self.trimmed.val();
            self.accepting.next = true;
        } else {
            self.verdict.next = self.in_order.val();
            self.accepting.next = true;
        }
        self.accept.next = self.accepting.val();
        self.offset.next = self.offset_held.q.val();
        self.to_the_end.next = !self.overhangs.q.val();
        self.early.next = self.beyond.q.val() & !self.outside.q.val();
        self.end_in_window.next = self.end_distance.q.val();
        self.octets.next = self.end_low.q.val();
        self.rcv_nxt_after.next = self.seq_end.q.val();
        if self.overhangs.q.val() {
            self.end_in_window.next = self.held_window.q.val();
            self.octets.next = self.window_low.q.val();
            self.rcv_nxt_after.next = self.edge_held.q.val();
        }
        self.segment.next.early = self.early.val();
        self.segment.next.trimmed = self.starts_before.q.val();
        self.segment.next.left_distance = 0.into();
        self.segment.next.left = self.wanted.val();
        if self.early.val() {
            self.segment.next.left_distance = self.start.q.val();
            self.segment.next.left = self.seg_seq.val();
        }
        self.segment.next.right_distance = self.end_in_window.val();
        self.segment.next.right = self.rcv_nxt_after.val();
        self.segment.next.origin = self.offset_held.q.val();
    }
}

#[cfg(test)]
mod tests;
