//! Decisions on one segment: its class, its position in the receive window, and the result for
//! verdict, counters and context.
//!
//! ```text
//! frame, found --> FrameClassifier --to host, dropped, or data--+
//! segment, context --> WindowCheck --accepted octets------------+--> SegmentResult
//!                                   \--> (RangeWalk) -----------/
//! ```
//!
//! | source | RFC 9293 section 3.10.7.4; the table in [`tcp`](super), top down    |
//! | units  | octets; sequence numbers modulo 2^32                                |
use super::context::{ClippedSegment, QueuedFrame, TcpContext};
use crate::messages::{FrameVerdict, SegmentInfo};
use rnic_abi::events::SegmentVerdict;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Pulses of `counts`, one bit each.
pub const COUNTS: usize = 10;
/// Bit of `counts`: `Counter::DropTcpChecksum`.
pub const COUNT_CHECKSUM: usize = 0;
/// Bit of `counts`: `Counter::TcpPureAck`.
pub const COUNT_PURE_ACK: usize = 1;
/// Bit of `counts`: `Counter::TcpControl`.
pub const COUNT_CONTROL: usize = 2;
/// Bit of `counts`: `Counter::TcpInOrder`.
pub const COUNT_IN_ORDER: usize = 3;
/// Bit of `counts`: `Counter::TcpTrimmed`.
pub const COUNT_TRIMMED: usize = 4;
/// Bit of `counts`: `Counter::DropTcpDuplicate`.
pub const COUNT_DUPLICATE: usize = 5;
/// Bit of `counts`: `Counter::TcpOutOfOrder`.
pub const COUNT_OUT_OF_ORDER: usize = 6;
/// Bit of `counts`: `Counter::DropTcpOutsideWindow`.
pub const COUNT_OUTSIDE_WINDOW: usize = 7;
/// Bit of `counts`: `Counter::DropTcpNoRoom`.
pub const COUNT_NO_ROOM: usize = 8;
/// Bit of `counts`: `Counter::DropTcpNoRange`.
pub const COUNT_NO_RANGE: usize = 9;

const _: () = assert!(COUNT_IN_ORDER == 3, "acceptance tests this bit");

/// The first rows of the table in [`tcp`](super).
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum FrameClass {
    /// Not TCP, or no connection.
    Foreign,
    /// TCP checksum wrong.
    BadChecksum,
    /// SYN, RST, URG, or FIN without payload.
    Control,
    /// No payload.
    PureAck,
    /// No payload, and options that software may want to see: SACK blocks (RFC 2018).
    OptionsAck,
    /// Payload.
    Data,
}

/// Classifies a frame, without its connection's context.
///
/// | latency    | 1 cycle, `classify` to all outputs, which stay                              |
/// | throughput | one frame per cycle                                                         |
#[derive(LogicBlock, Init)]
#[init(
    let pulse = |bit: usize| Constant::new((1 as LiteralType).wrapping_shl(bit as u32).into());
)]
pub struct FrameClassifier {
    pub clock: Signal<In, Clock>,
    pub frame: Signal<In, QueuedFrame>,
    /// The lookup found a connection.
    pub connected: Signal<In, Bit>,
    /// Samples both.
    pub classify: Signal<In, Bit>,
    /// Class `Data`.
    pub is_data: Signal<Out, Bit>,
    /// Class `Data`, `PureAck` or `OptionsAck`: SEG.ACK and SEG.WND are kept if the segment is
    /// acceptable.
    pub is_kept: Signal<Out, Bit>,
    /// The frame goes to the host.
    pub to_host: Signal<Out, Bit>,
    /// `COUNT_*`, zero for data.
    pub counts: Signal<Out, Bits<COUNTS>>,
    found: DFF<FrameClass>,
    data: DFF<Bit>,
    segment: Signal<Local, SegmentInfo>,
    flags: Signal<Local, Bits<6>>,
    empty: Signal<Local, Bit>,
    #[init(pulse(COUNT_CHECKSUM))]
    count_checksum: Constant<Bits<COUNTS>>,
    #[init(pulse(COUNT_PURE_ACK))]
    count_pure_ack: Constant<Bits<COUNTS>>,
    #[init(pulse(COUNT_CONTROL))]
    count_control: Constant<Bits<COUNTS>>,
}

impl Logic for FrameClassifier {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; found, data);
        self.segment.next = self.frame.val().segment;
        self.flags.next = self.segment.val().flags;
        self.empty.next = self.segment.val().payload_octets == 0;
        self.is_data.next = self.data.q.val();
        self.is_kept.next = self.data.q.val()
            | (self.found.q.val() == FrameClass::PureAck)
            | (self.found.q.val() == FrameClass::OptionsAck);
        self.to_host.next = (self.found.q.val() == FrameClass::Foreign)
            | (self.found.q.val() == FrameClass::Control)
            | (self.found.q.val() == FrameClass::OptionsAck);
        self.counts.next = 0.into();
        match self.found.q.val() {
            FrameClass::BadChecksum => self.counts.next = self.count_checksum.val(),
            FrameClass::Control => self.counts.next = self.count_control.val(),
            FrameClass::PureAck => self.counts.next = self.count_pure_ack.val(),
            FrameClass::OptionsAck => self.counts.next = self.count_pure_ack.val(),
            _ => {}
        }
        if self.classify.val() {
            self.data.d.next = false;
            if (self.segment.val().verdict != FrameVerdict::Tcp) | !self.connected.val() {
                self.found.d.next = FrameClass::Foreign;
            } else if !self.segment.val().checksum_good {
                self.found.d.next = FrameClass::BadChecksum;
            } else if self.flags.val().get_bit(1)
                | self.flags.val().get_bit(2)
                | self.flags.val().get_bit(5)
                | (self.flags.val().get_bit(0) & self.empty.val())
            {
                self.found.d.next = FrameClass::Control;
            } else if self.empty.val() {
                self.found.d.next = FrameClass::PureAck;
                if self.segment.val().more_options {
                    self.found.d.next = FrameClass::OptionsAck;
                }
            } else {
                self.found.d.next = FrameClass::Data;
                self.data.d.next = true;
            }
        }
    }
}

/// Compares a segment with the receive window.
///
/// ```text
///               rcv_nxt
///   ...----------|--------- window ---------|------->  sequence space
///          [=====:======)                    a segment: d = SEG.SEQ - rcv_nxt < 0, trimmed
///                [======)                    d = 0, in order
/// ```
///
/// | latency    | 2 cycles, `rcv_nxt` and `window` to every output; the segment's own ports  |
/// |            | must have been stable for one cycle before                                 |
/// | throughput | one segment per cycle                                                      |
/// | units      | octets; sequence numbers modulo 2^32, distances signed, window below 2^31  |
/// | source     | RFC 9293 section 3.10.7.4, first check                                     |
///
/// The segment's octets are `[d, d + SEG.LEN)`, those in the window `[0, window)`. Both ends are
/// found by one subtraction each, from numbers ready before the context arrives, so that no cycle
/// has two carry chains in series.
#[derive(LogicBlock, Init)]
#[init(
    let verdict = |verdict: SegmentVerdict| Constant::new((verdict as LiteralType).into());
)]
pub struct WindowCheck {
    pub clock: Signal<In, Clock>,
    // The segment; `payload_offset` is in the stored frame.
    pub seg_seq: Signal<In, Bits<32>>,
    /// SEG.LEN, payload octets; without any only `acknowledges` has a meaning.
    pub seg_len: Signal<In, Bits<14>>,
    pub payload_offset: Signal<In, Bits<14>>,
    pub rcv_nxt: Signal<In, Bits<32>>,
    /// Octets from `rcv_nxt` that may be accepted.
    pub window: Signal<In, Bits<32>>,
    /// `rcv_nxt` from a register, sampled with the outputs.
    pub wanted: Signal<In, Bits<32>>,
    /// `rnic_abi::events::SegmentVerdict`.
    pub verdict: Signal<Out, Bits<3>>,
    /// Octets are accepted: the verdict is `InOrder` or `Trimmed`.
    pub accept: Signal<Out, Bit>,
    /// Number of accepted octets.
    pub octets: Signal<Out, Bits<14>>,
    /// Offset of the first one in the stored frame.
    pub offset: Signal<Out, Bits<14>>,
    /// rcv_nxt after them; of an out-of-order segment the end of its octets in the window.
    pub rcv_nxt_after: Signal<Out, Bits<32>>,
    /// The window does not cut the segment.
    pub to_the_end: Signal<Out, Bit>,
    /// The segment begins beyond rcv_nxt and within the window: the verdict is `OutOfOrder`.
    /// `offset` is then what rcv_nxt's would be in the stored frame, modulo 2^14.
    pub ooo: Signal<Out, Bit>,
    /// The segment is acceptable, with payload or without: its SEG.ACK and SEG.WND count. At
    /// rcv_nxt they count with a window of zero too.
    pub acknowledges: Signal<Out, Bit>,
    /// Distance from rcv_nxt to the end of the segment's octets in the window.
    pub end_in_window: Signal<Out, Bits<32>>,
    /// The clipped segment; valid if it is accepted or out of order.
    pub segment: Signal<Out, ClippedSegment>,
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

impl Logic for WindowCheck {
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

        // The first test that fails decides (RFC 9293 section 3.10.7.4).
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
        self.ooo.next = self.beyond.q.val() & !self.outside.q.val();
        self.acknowledges.next = self.accepting.val()
            | self.ooo.val()
            | (!self.starts_before.q.val() & !self.beyond.q.val());
        self.end_in_window.next = self.end_distance.q.val();
        self.octets.next = self.end_low.q.val();
        self.rcv_nxt_after.next = self.seq_end.q.val();
        if self.overhangs.q.val() {
            self.end_in_window.next = self.held_window.q.val();
            self.octets.next = self.window_low.q.val();
            self.rcv_nxt_after.next = self.edge_held.q.val();
        }
        self.segment.next.ooo = self.ooo.val();
        self.segment.next.trimmed = self.starts_before.q.val();
        self.segment.next.left_distance = 0.into();
        self.segment.next.left = self.wanted.val();
        if self.ooo.val() {
            self.segment.next.left_distance = self.start.q.val();
            self.segment.next.left = self.seg_seq.val();
        }
        self.segment.next.right_distance = self.end_in_window.val();
        self.segment.next.right = self.rcv_nxt_after.val();
        self.segment.next.origin = self.offset_held.q.val();
    }
}

/// Verdict, counters and context after a segment with payload, from the window check or, if the
/// segment was compared with ranges, from the walk.
///
/// ```text
/// WindowCheck: no ranges --------+
///                                +--> verdict, counts, updated (combinational)
/// RangeWalk: along the ranges ---+ settle
/// ```
///
/// A FIN is stored, with its place, once all octets of its segment are received, in whatever order;
/// without one its place means nothing. The peer needs a
/// duplicate ACK for a segment out of order, accepted or not, for one without new octets (RFC 5681
/// section 3.2), for one beyond the window (RFC 9293 section 3.10.7.4), and for one refused for
/// lack of pages, so that it soon retransmits. SEG.ACK and SEG.WND of a segment that is not
/// acceptable may be anybody's, and are not kept (RFC 5961 section 5); nor are those of one that is
/// refused for lack of pages, as the window that it was compared with is not the connection's. One
/// without payload that repeats both is a duplicate ACK (RFC 5681 section 2), and counted.
#[derive(LogicBlock, Init)]
#[init(
    let pulse = |bit: usize| Constant::new((1 as LiteralType).wrapping_shl(bit as u32).into());
    let verdict = |verdict: SegmentVerdict| Constant::new((verdict as LiteralType).into());
)]
pub struct SegmentResult {
    /// The context before the segment.
    pub current: Signal<In, TcpContext>,
    /// The segment has payload; of others only SEG.ACK and SEG.WND are kept.
    pub is_data: Signal<In, Bit>,
    pub seg_ack: Signal<In, Bits<32>>,
    pub seg_wnd: Signal<In, Bits<16>>,
    pub fin: Signal<In, Bit>,
    // From `WindowCheck`.
    pub judged: Signal<In, Bits<3>>,
    pub accept: Signal<In, Bit>,
    pub ooo: Signal<In, Bit>,
    pub acknowledges: Signal<In, Bit>,
    pub to_the_end: Signal<In, Bit>,
    /// Of a segment that the window does not cut, in order or not: its end.
    pub rcv_nxt_after: Signal<In, Bits<32>>,
    /// SEG.ACK and SEG.WND equal those of the context.
    pub same_ack: Signal<In, Bit>,
    /// The window used is smaller than the connection's: memory is short.
    pub limited: Signal<In, Bit>,
    /// The walk is done, and its result applies.
    pub settle: Signal<In, Bit>,
    // From `RangeWalk`.
    pub walked: Signal<In, Bits<3>>,
    pub refused: Signal<In, Bit>,
    pub trimmed: Signal<In, Bit>,
    pub complete: Signal<In, Bit>,
    pub result: Signal<In, TcpContext>,
    /// `rnic_abi::events::SegmentVerdict`.
    pub verdict: Signal<Out, Bits<3>>,
    /// `COUNT_*`.
    pub counts: Signal<Out, Bits<COUNTS>>,
    /// The context after the segment.
    pub updated: Signal<Out, TcpContext>,
    /// SEG.ACK and SEG.WND are kept.
    pub keeps_ack: Signal<Out, Bit>,
    // Outside of a window that is smaller than the connection's.
    no_room: Signal<Local, Bit>,
    queries: Signal<Local, Bit>,
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

impl Logic for SegmentResult {
    #[kernel]
    fn update(&mut self) {
        self.no_room.next = self.limited.val() & (self.judged.val() == self.verdict_outside.val());
        self.verdict.next = self.judged.val();
        if self.no_room.val() {
            self.verdict.next = self.verdict_no_room.val();
        }
        self.queries.next = self.is_data.val()
            & ((self.judged.val() == self.verdict_duplicate.val())
                | (self.judged.val() == self.verdict_outside.val()));
        self.whole.next = self.is_data.val() & self.accept.val() & self.to_the_end.val();
        self.updated.next = self.current.val();
        if self.is_data.val() & self.accept.val() {
            self.updated.next.rcv_nxt = self.rcv_nxt_after.val();
        }
        if self.settle.val() {
            self.verdict.next = self.walked.val();
            self.queries.next = self.ooo.val();
            self.whole.next = !self.refused.val() & self.complete.val() & self.to_the_end.val();
            self.updated.next = self.result.val();
        }
        self.keeps_ack.next =
            self.acknowledges.val() & (self.verdict.val() != self.verdict_no_room.val());
        if self.keeps_ack.val() {
            self.updated.next.seg_ack = self.seg_ack.val();
            self.updated.next.seg_wnd = self.seg_wnd.val();
            if self.same_ack.val() & !self.is_data.val() {
                self.updated.next.repeats = self.current.val().repeats + self.one.val();
            }
        }
        self.updated.next.fin = self.current.val().fin | (self.fin.val() & self.whole.val());
        // The first one stands; what changes it later comes after it.
        self.updated.next.fin_sequence = self.current.val().fin_sequence;
        if !self.current.val().fin {
            self.updated.next.fin_sequence = self.rcv_nxt_after.val();
        }
        if self.queries.val() {
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
                if self.ooo.val() {
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
