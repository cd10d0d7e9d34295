//! What becomes of a connection's context, the counters and the trace when a segment with payload
//! is decided.
//!
//! ```text
//! judge: no ranges to go along --+
//!                                +--> verdict, counts, context
//! walk: it went along ranges ----+ settle
//! ```
//!
//! | latency    | none: combinational                                                         |
//! | throughput | one segment per cycle                                                       |
//! | units      | see [`super::records`]                                                      |
//!
//! A FIN is kept when all octets before it are there, whoever brought them. A duplicate ACK is due
//! for what is early, taken or not, for what has nothing new (RFC 5681 section 3.2), and for what
//! is refused for lack of pages: the peer then sends it again soon.
use super::accept::*;
use super::records::TcpContext;
use rnic_abi::events::SegmentVerdict;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Chooses between the answers of judge and walk.
#[derive(LogicBlock, Init)]
#[init(
    let pulse = |bit: usize| Constant::new((1 as LiteralType).wrapping_shl(bit as u32).into());
    let verdict = |verdict: SegmentVerdict| Constant::new((verdict as LiteralType).into());
)]
pub struct SegmentOutcome {
    /// The context before the segment.
    pub current: Signal<In, TcpContext>,
    /// It has payload; of others only SEG.ACK and SEG.WND are kept.
    pub is_data: Signal<In, Bit>,
    /// SEG.ACK.
    pub seg_ack: Signal<In, Bits<32>>,
    /// SEG.WND, unscaled.
    pub seg_wnd: Signal<In, Bits<16>>,
    /// FIN.
    pub fin: Signal<In, Bit>,
    /// Judge: `rnic_abi::events::SegmentVerdict`.
    pub judged: Signal<In, Bits<3>>,
    /// Judge: octets are accepted in order.
    pub accept: Signal<In, Bit>,
    /// Judge: the segment is early.
    pub early: Signal<In, Bit>,
    /// Judge: the window does not cut the segment.
    pub to_the_end: Signal<In, Bit>,
    /// Judge: rcv_nxt after the segment.
    pub rcv_nxt_after: Signal<In, Bits<32>>,
    /// The window that was judged is less than the connection's: few pages are left.
    pub limited: Signal<In, Bit>,
    /// The walk has decided, and what it says counts.
    pub settle: Signal<In, Bit>,
    /// Walk: `rnic_abi::events::SegmentVerdict`.
    pub walked: Signal<In, Bits<3>>,
    /// Walk: no octet is accepted.
    pub refused: Signal<In, Bit>,
    /// Walk: some octets were there already, or were not taken.
    pub trimmed: Signal<In, Bit>,
    /// Walk: every octet in the window is there now.
    pub complete: Signal<In, Bit>,
    /// Walk: the context's ranges, pages and rcv_nxt.
    pub result: Signal<In, TcpContext>,
    /// `rnic_abi::events::SegmentVerdict`.
    pub verdict: Signal<Out, Bits<3>>,
    /// Pulses, see `accept::COUNT_CHECKSUM` and the following.
    pub counts: Signal<Out, Bits<COUNTS>>,
    /// The context after the segment.
    pub updated: Signal<Out, TcpContext>,
    // Judge: outside of a window that is less than the connection's.
    no_room: Signal<Local, Bit>,
    asks: Signal<Local, Bit>,
    whole: Signal<Local, Bit>,
    #[constant(1)]
    one: Constant<Bits<8>>,
    #[init(pulse(COUNT_TRIMMED))]
    trimmed_bit: Constant<Bits<COUNTS>>,
    #[init(verdict(SegmentVerdict::Trimmed))]
    verdict_trimmed: Constant<Bits<3>>,
    #[init(verdict(SegmentVerdict::Duplicate))]
    verdict_duplicate: Constant<Bits<3>>,
    #[init(verdict(SegmentVerdict::OutsideWindow))]
    verdict_outside: Constant<Bits<3>>,
    #[init(verdict(SegmentVerdict::NoRoom))]
    verdict_no_room: Constant<Bits<3>>,
    #[init(pulse(COUNT_IN_ORDER))]
    count_in_order: Constant<Bits<COUNTS>>,
    #[init(pulse(COUNT_DUPLICATE))]
    count_duplicate: Constant<Bits<COUNTS>>,
    #[init(pulse(COUNT_OUT_OF_ORDER))]
    count_out_of_order: Constant<Bits<COUNTS>>,
    #[init(pulse(COUNT_OUTSIDE_WINDOW))]
    count_outside_window: Constant<Bits<COUNTS>>,
    #[init(pulse(COUNT_NO_ROOM))]
    count_no_room: Constant<Bits<COUNTS>>,
    #[init(pulse(COUNT_NO_RANGE))]
    count_no_range: Constant<Bits<COUNTS>>,
}

impl Logic for SegmentOutcome {
    #[kernel]
    fn update(&mut self) {
        self.no_room.next = self.limited.val() & (self.judged.val() == self.verdict_outside.val());
        self.verdict.next = self.judged.val();
        if self.no_room.val() {
            self.verdict.next = self.verdict_no_room.val();
        }
        self.asks.next = self.is_data.val()
            & ((self.judged.val() == self.verdict_duplicate.val())
                | (self.judged.val() == self.verdict_outside.val()));
        self.whole.next = self.is_data.val() & self.accept.val() & self.to_the_end.val();
        self.updated.next = self.current.val();
        if self.is_data.val() & self.accept.val() {
            self.updated.next.rcv_nxt = self.rcv_nxt_after.val();
        }
        if self.settle.val() {
            self.verdict.next = self.walked.val();
            self.asks.next = self.early.val();
            self.whole.next = !self.refused.val() & self.complete.val() & self.to_the_end.val();
            self.updated.next = self.result.val();
        }
        self.updated.next.seg_ack = self.seg_ack.val();
        self.updated.next.seg_wnd = self.seg_wnd.val();
        self.updated.next.fin = self.current.val().fin | (self.fin.val() & self.whole.val());
        if self.asks.val() {
            self.updated.next.answers = self.current.val().answers + self.one.val();
        }

        if self.settle.val() {
            if self.refused.val() {
                self.counts.next = self.count_no_range.val();
                if self.walked.val() == self.verdict_duplicate.val() {
                    self.counts.next = self.count_duplicate.val();
                } else if self.walked.val() == self.verdict_no_room.val() {
                    self.counts.next = self.count_no_room.val();
                }
            } else {
                self.counts.next = self.count_in_order.val();
                if self.early.val() {
                    self.counts.next = self.count_out_of_order.val();
                }
                if self.trimmed.val() {
                    self.counts.next = self.counts.val() | self.trimmed_bit.val();
                }
            }
        } else if self.accept.val() {
            self.counts.next = self.count_in_order.val();
            if self.judged.val() == self.verdict_trimmed.val() {
                self.counts.next = self.count_in_order.val() | self.trimmed_bit.val();
            }
        } else if self.judged.val() == self.verdict_duplicate.val() {
            self.counts.next = self.count_duplicate.val();
        } else if self.no_room.val() {
            self.counts.next = self.count_no_room.val();
        } else {
            self.counts.next = self.count_outside_window.val();
        }
    }
}

#[cfg(test)]
mod tests;
