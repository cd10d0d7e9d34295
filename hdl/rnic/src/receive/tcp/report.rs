//! What a decided segment tells the sender's software: reasons of an event.
//!
//! ```text
//! result of the segment, ACK, flags --> [ reasons ] --> report (events)
//! walk: range it is part of now ------------------------^
//! tables: a context is written --- begins --------------^
//! ```
//!
//! | latency    | 1 cycle, `decided` or `begins` to `report_valid`                           |
//! | throughput | a report per cycle; there is one per segment, not less than 5 cycles apart |
//! | units      | sequence numbers modulo 2^32; reasons: `rnic_abi::event_ring`              |
//! | source     | RFC 5681 sections 2, 3.2 and 4.2; RFC 2018 section 4                       |
use super::context::TcpContext;
use crate::messages::ConnectionReport;
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
    /// The segment is decided; the inputs below are its result.
    pub decided: Signal<In, Bit>,
    /// It has payload.
    pub is_data: Signal<In, Bit>,
    /// Without ranges: octets are accepted, in order.
    pub accept: Signal<In, Bit>,
    /// It was compared with the ranges: it is out of order, or there were some.
    pub walked: Signal<In, Bit>,
    pub ooo: Signal<In, Bit>,
    pub refused: Signal<In, Bit>,
    /// SEG.ACK and SEG.WND are kept.
    pub acknowledges: Signal<In, Bit>,
    /// They equal those kept before; one cycle before `decided`.
    pub same_ack: Signal<In, Bit>,
    /// PSH.
    pub push: Signal<In, Bit>,
    /// The contexts before and after the segment.
    pub earlier: Signal<In, TcpContext>,
    pub after: Signal<In, TcpContext>,
    /// The out-of-order range that the segment is part of, if it is accepted out of order.
    pub left: Signal<In, Bits<32>>,
    pub right: Signal<In, Bits<32>>,
    /// The driver writes the context of `connection`.
    pub begins: Signal<In, Bit>,
    pub report: Signal<Out, ConnectionReport>,
    pub report_valid: Signal<Out, Bit>,
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
        registers!(clock; held, is_valid);
        self.out_of_order.next = self.walked.val() & self.ooo.val() & !self.refused.val();
        self.in_order.next = (self.walked.val() & !self.ooo.val() & !self.refused.val())
            | (!self.walked.val() & self.is_data.val() & self.accept.val());
        self.nothing.next = !self.in_order.val()
            & !self.out_of_order.val()
            & (self.is_data.val() | !self.acknowledges.val());
        self.fills.next = self.in_order.val() & self.walked.val();
        self.pushed.next = (self.in_order.val() | self.out_of_order.val()) & self.push.val();
        self.advances.next = self.acknowledges.val() & !self.same_ack.val();
        self.repeats.next = self.acknowledges.val() & self.same_ack.val() & !self.is_data.val();
        self.finishes.next = self.after.val().fin & !self.earlier.val().fin;
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
        self.held.d.next.left = self.left.val();
        self.held.d.next.right = self.right.val();
        self.held.d.next.begins = self.begins.val();
        self.is_valid.d.next = self.decided.val() | self.begins.val();
        self.report.next = self.held.q.val();
        self.report_valid.next = self.is_valid.q.val();
        if self.reset.val() {
            self.is_valid.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
