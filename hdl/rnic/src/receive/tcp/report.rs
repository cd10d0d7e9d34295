//! What is reported of a decided segment to the sender's software: reasons of an event.
//!
//! ```text
//! result of the segment, ACK, flags --> [ reasons ] --> report (events)
//! walk: range it is part of now ------------------------^
//! tables: a context is written --- begins --------------^
//!
//! event_read --> [ waits for the port ] --> context RAM --> event_context
//! ```
//!
//! | latency    | 1 cycle, `decide`, `settle` or `begins` to `report_valid`                  |
//! | throughput | a report per cycle; there is one per segment, not less than 5 cycles apart |
//! | units      | sequence numbers modulo 2^32; reasons: `rnic_abi::event_ring`              |
//! | source     | RFC 5681 sections 2, 3.2 and 4.2; RFC 2018 section 4                       |
use super::context::TcpContext;
use super::ranges::list::OutOfOrderRange;
use crate::messages::{ConnectionReport, ReportedContext, SegmentEvent, SegmentInfo};
use rnic_abi::event_ring;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

const _: () = {
    assert!(event_ring::IN_ORDER == 1 << 0 && event_ring::OUT_OF_ORDER == 1 << 1);
    assert!(event_ring::NOT_ACCEPTED == 1 << 2 && event_ring::GAP_FILLED == 1 << 3);
    assert!(event_ring::PUSH == 1 << 4 && event_ring::ACK == 1 << 5);
    assert!(event_ring::ACK_REPEATED == 1 << 6 && event_ring::FIN == 1 << 7);
};

/// Reports each segment of a connection.
#[derive(LogicBlock, Default)]
pub struct SegmentReporter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub connection: Signal<In, Bits<10>>,
    pub segment: Signal<In, SegmentInfo>,
    /// The segment is decided without ranges, or after it was compared with them: it is out of
    /// order, or there were some. The inputs below are its result.
    pub decide: Signal<In, Bit>,
    pub settle: Signal<In, Bit>,
    /// It is one that acknowledges, or has payload.
    pub is_kept: Signal<In, Bit>,
    /// It has payload.
    pub is_data: Signal<In, Bit>,
    /// Without ranges: octets are accepted, in order.
    pub accept: Signal<In, Bit>,
    pub ooo: Signal<In, Bit>,
    pub refused: Signal<In, Bit>,
    /// SEG.ACK and SEG.WND are kept.
    pub acknowledges: Signal<In, Bit>,
    /// They equal those kept before; one cycle before `decided`.
    pub same_ack: Signal<In, Bit>,
    pub verdict: Signal<In, Bits<3>>,
    /// The contexts before and after the segment.
    pub current: Signal<In, TcpContext>,
    pub after: Signal<In, TcpContext>,
    /// The out-of-order range that the segment is part of, if it is accepted out of order.
    pub changed: Signal<In, OutOfOrderRange>,
    /// The driver writes the context of `connection`.
    pub begins: Signal<In, Bit>,
    pub report: Signal<Out, ConnectionReport>,
    pub report_valid: Signal<Out, Bit>,
    /// Trace of each segment with payload.
    pub segment_event: Signal<Out, SegmentEvent>,
    pub segment_event_valid: Signal<Out, Bit>,
    trace: DFF<SegmentEvent>,
    traced: DFF<Bit>,
    flags: Signal<Local, Bits<6>>,
    held: DFF<ConnectionReport>,
    is_valid: DFF<Bit>,
    in_order: Signal<Local, Bit>,
    out_of_order: Signal<Local, Bit>,
    nothing: Signal<Local, Bit>,
    fills: Signal<Local, Bit>,
    pushed: Signal<Local, Bit>,
    advances: Signal<Local, Bit>,
    repeats: Signal<Local, Bit>,
    finishes: Signal<Local, Bit>,
    reasons: Signal<Local, Bits<8>>,
}

impl Logic for SegmentReporter {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held, is_valid, trace, traced);
        self.flags.next = self.segment.val().flags;
        self.out_of_order.next = self.settle.val() & self.ooo.val() & !self.refused.val();
        self.in_order.next = (self.settle.val() & !self.ooo.val() & !self.refused.val())
            | (!self.settle.val() & self.is_data.val() & self.accept.val());
        self.nothing.next = !self.in_order.val()
            & !self.out_of_order.val()
            & (self.is_data.val() | !self.acknowledges.val());
        self.fills.next = self.in_order.val() & self.settle.val();
        self.pushed.next =
            (self.in_order.val() | self.out_of_order.val()) & self.flags.val().get_bit(3);
        self.advances.next = self.acknowledges.val() & !self.same_ack.val();
        self.repeats.next = self.acknowledges.val() & self.same_ack.val() & !self.is_data.val();
        self.finishes.next = self.after.val().fin & !self.current.val().fin;
        self.reasons.next = 0.into();
        self.reasons.next = self.reasons.val().replace_bit(0, self.in_order.val());
        self.reasons.next = self.reasons.val().replace_bit(1, self.out_of_order.val());
        self.reasons.next = self.reasons.val().replace_bit(2, self.nothing.val());
        self.reasons.next = self.reasons.val().replace_bit(3, self.fills.val());
        self.reasons.next = self.reasons.val().replace_bit(4, self.pushed.val());
        self.reasons.next = self.reasons.val().replace_bit(5, self.advances.val());
        self.reasons.next = self.reasons.val().replace_bit(6, self.repeats.val());
        self.reasons.next = self.reasons.val().replace_bit(7, self.finishes.val());
        if self.begins.val() {
            self.reasons.next = 0.into();
        }
        self.held.d.next.connection = self.connection.val();
        self.held.d.next.reasons = self.reasons.val();
        self.held.d.next.changes = self.out_of_order.val() & !self.begins.val();
        self.held.d.next.left = self.changed.val().left;
        self.held.d.next.right = self.changed.val().right;
        self.held.d.next.begins = self.begins.val();
        self.held.d.next.acknowledges = self.acknowledges.val() & !self.begins.val();
        self.held.d.next.seg_ack = self.segment.val().seg_ack;
        self.held.d.next.seg_wnd = self.segment.val().seg_wnd;
        self.is_valid.d.next =
            (self.decide.val() & self.is_kept.val()) | self.settle.val() | self.begins.val();
        self.report.next = self.held.q.val();
        self.report_valid.next = self.is_valid.q.val();
        self.trace.d.next.connection = self.connection.val();
        self.trace.d.next.verdict = self.verdict.val();
        self.trace.d.next.seg_seq = self.segment.val().seg_seq;
        self.trace.d.next.seg_len = self.segment.val().payload_octets;
        self.traced.d.next = (self.decide.val() & self.is_data.val()) | self.settle.val();
        self.segment_event.next = self.trace.q.val();
        self.segment_event_valid.next = self.traced.q.val();
        if self.reset.val() {
            self.is_valid.d.next = false;
            self.traced.d.next = false;
        }
    }
}

/// Reads the contexts that events ask for, while frames leave the RAM's port free.
///
/// | latency    | 2 cycles, `event_read_taken` to `event_context_valid` |
/// | throughput | a context per cycle in which the port is free         |
#[derive(LogicBlock, Default)]
pub struct EventContextReader {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub event_read: Signal<In, Bit>,
    /// The RAM's port addresses the context of the event in this cycle.
    pub port_free: Signal<In, Bit>,
    pub event_read_taken: Signal<Out, Bit>,
    /// The context addressed two cycles ago.
    pub stored: Signal<In, TcpContext>,
    pub event_context: Signal<Out, ReportedContext>,
    pub event_context_valid: Signal<Out, Bit>,
    fetches: DFF<Bit>,
    loads: DFF<Bit>,
}

impl Logic for EventContextReader {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; fetches, loads);
        self.event_read_taken.next = self.event_read.val() & self.port_free.val();
        self.fetches.d.next = self.event_read_taken.val();
        self.loads.d.next = self.fetches.q.val();
        self.event_context_valid.next = self.loads.q.val();
        self.event_context.next.rcv_nxt = self.stored.val().rcv_nxt;
        self.event_context.next.seg_ack = self.stored.val().seg_ack;
        self.event_context.next.seg_wnd = self.stored.val().seg_wnd;
        self.event_context.next.duplicates_due = self.stored.val().answers;
        self.event_context.next.duplicates_seen = self.stored.val().repeats;
        self.event_context.next.fin = self.stored.val().fin;
        self.event_context.next.fin_sequence = self.stored.val().fin_sequence;
        self.event_context.next.ranges = self.stored.val().ranges;
        if self.reset.val() {
            self.fetches.d.next = false;
            self.loads.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
