//! Events: what must have been reported of a connection to a sender in software
//! (`rnic_abi::event_ring`).
//!
//! When the device writes an event depends on the cycle, so the model has no list of them: it keeps
//! which reasons occurred, and what an event composed now says.

use crate::tcp::{Acceptance, TcpReceiver, TcpSegment};
use rnic_driver::{ConnectionId, Event, OutOfOrderRange, Reason};

const FLAG_PSH: u8 = 0x08;

/// A receiver before a segment, as far as reasons depend on it.
#[derive(Copy, Clone, Debug)]
pub(super) struct Before {
    /// SEG.ACK and SEG.WND.
    pub(super) acknowledged: (u32, u16),
    fin: Option<u32>,
    has_ranges: bool,
}

impl TcpReceiver {
    /// A segment without payload.
    pub fn receive_empty(&mut self, segment: &TcpSegment) {
        let before = (self.seg_ack, self.seg_wnd);
        if !self.acknowledge(segment) {
            // It calls for an ACK (RFC 9293 section 3.10.7.4).
            return self.reasons.extend([Reason::NotAccepted]);
        }
        self.join_acknowledgement();
        if before != (self.seg_ack, self.seg_wnd) {
            return self.reasons.extend([Reason::Ack]);
        }
        // A duplicate ACK, as far as a receiver can tell (RFC 5681 section 2).
        self.duplicate_acks_seen = self.duplicate_acks_seen.wrapping_add(1);
        self.reasons.extend([Reason::AckRepeated]);
    }

    /// SEG.ACK and SEG.WND just kept are to be reported, unless a higher SEG.ACK is; of equal ones
    /// the last window is the peer's.
    pub(super) fn join_acknowledgement(&mut self) {
        let is_before = |(highest, _): (u32, u16)| {
            let distance = self.seg_ack.wrapping_sub(highest) as i32;
            distance < 0
        };
        if !self.acknowledged.is_some_and(is_before) {
            self.acknowledged = Some((self.seg_ack, self.seg_wnd));
        }
    }

    /// What a segment's reasons are judged by.
    pub(super) fn before(&self) -> Before {
        Before {
            acknowledged: (self.seg_ack, self.seg_wnd),
            fin: self.fin,
            has_ranges: self.out_of_order.ranges().next().is_some(),
        }
    }

    /// `segment`, which has payload, was judged; `before` is the receiver as it was.
    pub(super) fn note(&mut self, before: Before, segment: &TcpSegment, acceptance: &Acceptance) {
        match acceptance {
            Acceptance::InOrder { .. } => {
                self.reasons.extend([Reason::InOrder]);
                if before.has_ranges {
                    self.reasons.extend([Reason::GapFilled]);
                }
            }
            Acceptance::OutOfOrder { .. } => {
                self.reasons.extend([Reason::OutOfOrder]);
                let first = u64::from(segment.sequence.wrapping_sub(self.rcv_nxt));
                let mut ranges = self.out_of_order.ranges();
                let own = ranges.find(|range| range.contains(&first));
                self.changed = own.map(|range| OutOfOrderRange {
                    left: self.rcv_nxt.wrapping_add(range.start as u32),
                    right: self.rcv_nxt.wrapping_add(range.end as u32),
                });
            }
            _ => return self.note_rest(before, true),
        }
        if segment.flags & FLAG_PSH != 0 {
            self.reasons.extend([Reason::Push]);
        }
        self.note_rest(before, false);
    }

    fn note_rest(&mut self, before: Before, is_dropped: bool) {
        let acknowledged = before.acknowledged != (self.seg_ack, self.seg_wnd);
        let rows = [
            (is_dropped, Reason::NotAccepted),
            (acknowledged, Reason::Ack),
            (self.fin != before.fin, Reason::Fin),
        ];
        let occurred = rows.into_iter().filter(|(occurred, _)| *occurred);
        self.reasons.extend(occurred.map(|(_, reason)| reason));
    }

    /// What one event says that is composed now and has all reasons since the last one; nothing if
    /// there were none. Of a first FPDU alone it has the connection's acknowledgement.
    pub fn event(&self, connection: ConnectionId) -> Option<Event> {
        self.reasons.iter().next()?;
        let is_beyond = |range: &OutOfOrderRange| range.right.wrapping_sub(self.rcv_nxt) as i32 > 0;
        let ranges = self.out_of_order.ranges().count();
        let kept = (self.seg_ack, self.seg_wnd);
        let (seg_ack, seg_wnd) = self.acknowledged.unwrap_or(kept);
        Some(Event {
            connection,
            reasons: self.reasons,
            rcv_nxt: self.rcv_nxt,
            seg_ack,
            seg_wnd,
            fin: self.fin,
            duplicate_acks_due: self.duplicate_acks,
            duplicate_acks_seen: self.duplicate_acks_seen,
            ranges: ranges as u8,
            changed: self.changed.filter(is_beyond).filter(|_| ranges > 0),
        })
    }
}
