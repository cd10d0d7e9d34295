//! What is to be reported of each connection: reasons, and whether an event is pending.
//!
//! ```text
//! first_fpdu --+                                               +--> push (becomes pending)
//! report ------+--> operation --> [ entries, 1,024 ] --> new --+--> taken (of `take`)
//! take --------+                       |     ^           |
//! scan --------+        SEG.ACK minus -+     +-----------+-- the higher SEG.ACK, a cycle later
//! ```
//!
//! An *operation* reads the entry of a connection, changes it and writes it back. What is reported
//! of a connection whose event is pending joins that event, so a connection has at most one, and
//! none is lost. `take` ends it: its reasons leave, and the next one raises a new event.
//!
//! **SEG.ACK** of an entry is the highest of the acceptable segments that joined it, as the sign of
//! the difference says (RFC 9293 section 3.4), with the SEG.WND of that segment; of equal ones the
//! last counts. It leaves with the reasons: a connection's device does not know SND.NXT, so a
//! segment that acknowledges what was never sent hides no later one.
//!
//! | latency    | 5 cycles, `report_valid` to `push`, 7 after others; 3 cycles, `taking` to |
//! |            | `taken_valid`                                                             |
//! | throughput | one operation in 2 cycles, of any connections                             |
//! | units      | reasons: `rnic_abi::event_ring`; sequence numbers modulo 2^32; octets     |
//!
//! **Nothing waits.** `report` and `first_fpdu` have no ready. Two reports are at least 5 cycles
//! apart, as acceptance takes that long for a frame; two first FPDUs at least 6. In 5 cycles there
//! are two operations at least, and `take` and the scan come last, so each input is free again when
//! its next message arrives.
//!
//! **Delay.** A reason of `IN_ORDER` alone makes an event pending at once (`delay_log2` 0), or as
//! soon as a second one comes. The scan finds one that stays alone: it visits one connection after
//! the other, all of them in `2^delay_log2` cycles.
//!
//! **The same connection twice.** An operation follows the one before it by 2 cycles or more, and
//! its entry is written in the third cycle after its address was presented. The entry written last
//! is therefore taken from its register, older ones from the RAM; which it will be is known a cycle
//! before, so that a cycle has one choice and the difference of two SEG.ACKs, and no compare before
//! it. The sign is registered; in the next cycle it selects, while the entry is written.
use crate::common::ram::SdpRam;
use crate::messages::ConnectionReport;
use rnic_abi::event_ring;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = {
    assert!(event_ring::REASONS == 9 && event_ring::FIRST_FPDU == 1 << 8);
    assert!(event_ring::IN_ORDER == 1, "the kernel tests bit 0");
};

/// What is to be reported of a connection.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct EventEntry {
    /// Reasons since the last event.
    pub reasons: Bits<9>,
    /// An event is pending: the connection's number has left as `push`, and was not taken since.
    pub pending: Bit,
    /// Sequence number of the first octet of the out-of-order range changed last.
    pub left: Bits<32>,
    /// Its octets; 0 without one. The window, at most 2^30, holds it.
    pub octets: Bits<30>,
    /// Acceptable segments have joined; the highest SEG.ACK among them, and its SEG.WND.
    pub acknowledges: Bit,
    pub seg_ack: Bits<32>,
    pub seg_wnd: Bits<16>,
}

/// A change of an entry.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
struct EventOperation {
    connection: Bits<10>,
    reasons: Bits<9>,
    changes: Bit,
    left: Bits<32>,
    right: Bits<32>,
    begins: Bit,
    /// Takes the event.
    takes: Bit,
    /// Raises the event of a segment in order that stayed alone.
    visits: Bit,
    /// SEG.ACK and SEG.WND of an acceptable segment.
    acknowledges: Bit,
    seg_ack: Bits<32>,
    seg_wnd: Bits<16>,
}

/// Entries of all connections.
#[derive(LogicBlock, Init)]
pub struct PendingEvents {
    pub clock: Signal<In, Clock>,
    /// Synchronous; an empty entry is written in each cycle, for one connection after the other.
    pub reset: Signal<In, Bit>,
    pub report: Signal<In, ConnectionReport>,
    pub report_valid: Signal<In, Bit>,
    /// The first FPDU of this connection has passed all checks.
    pub first_fpdu: Signal<In, Bits<10>>,
    pub first_fpdu_valid: Signal<In, Bit>,
    /// Register `EVENT_DELAY_LOG2`.
    pub delay_log2: Signal<In, Bits<5>>,
    /// One cycle: an event of `push_connection` is pending from now on.
    pub push: Signal<Out, Bit>,
    pub push_connection: Signal<Out, Bits<10>>,
    /// Take the pending event of `take_connection`; both hold until `taking`.
    pub take: Signal<In, Bit>,
    pub take_connection: Signal<In, Bits<10>>,
    pub taking: Signal<Out, Bit>,
    /// The entry as it was when it was taken. Without reasons it belongs to an earlier connection.
    pub taken: Signal<Out, EventEntry>,
    pub taken_valid: Signal<Out, Bit>,
    entries: SdpRam<EventEntry, 10>,
    // Inputs that wait for their operation.
    held_report: DFF<ConnectionReport>,
    has_report: DFF<Bit>,
    held_fpdu: DFF<Bits<10>>,
    has_fpdu: DFF<Bit>,
    // The operation whose entry is addressed; the same two cycles later, when it was read.
    address: DFF<EventOperation>,
    is_address: DFF<Bit>,
    is_fetch: DFF<Bit>,
    change: DFF<EventOperation>,
    change_octets: DFF<Bits<30>>,
    is_change: DFF<Bit>,
    // The entry of `change` is the one written last.
    forwards: DFF<Bit>,
    // The entry written last: in the cycle of `writes` still with its old SEG.ACK.
    written: DFF<EventEntry>,
    // `change` has the higher SEG.ACK, or the first one.
    advances: DFF<Bit>,
    written_connection: DFF<Bits<10>>,
    writes: DFF<Bit>,
    pushes: DFF<Bit>,
    // The connection to visit next, and the cycles between two visits; in reset its entry is
    // written.
    scan: DFF<Bits<10>>,
    scan_count: DFF<Bits<22>>,
    scan_mask: DFF<Bits<22>>,
    scan_due: DFF<Bit>,
    at_once: DFF<Bit>,
    free: Signal<Local, Bit>,
    chosen: Signal<Local, EventOperation>,
    span: Signal<Local, Bits<32>>,
    entry: Signal<Local, EventEntry>,
    after: Signal<Local, EventEntry>,
    advance: Signal<Local, Bits<32>>,
    stored: Signal<Local, EventEntry>,
    old_reasons: Signal<Local, Bits<9>>,
    new_reasons: Signal<Local, Bits<9>>,
    raises: Signal<Local, Bit>,
    visit_log2: Signal<Local, Bits<5>>,
    scan_now: Signal<Local, Bits<22>>,
    #[constant(LiteralType::from(event_ring::FIRST_FPDU))]
    reason_first_fpdu: Constant<Bits<9>>,
    #[constant(1)]
    one: Constant<Bits<10>>,
    #[constant(1)]
    one_cycle: Constant<Bits<22>>,
    #[constant(10)]
    connections_log2: Constant<Bits<5>>,
    #[constant((1 << 22) - 1)]
    all_cycles: Constant<Bits<22>>,
}

impl Logic for PendingEvents {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held_report, has_report, held_fpdu, has_fpdu, address, is_address);
        registers!(clock; is_fetch, change, change_octets, is_change, forwards, written, advances);
        registers!(clock; written_connection, writes, pushes, scan, scan_count, scan_mask);
        registers!(clock; scan_due, at_once);

        // Inputs are held until their operation begins.
        if self.report_valid.val() {
            self.held_report.d.next = self.report.val();
        }
        if self.first_fpdu_valid.val() {
            self.held_fpdu.d.next = self.first_fpdu.val();
        }

        // Which operation is next: none in the cycle after one has begun.
        self.free.next = !self.is_address.q.val();
        self.chosen.next.connection = self.held_report.q.val().connection;
        self.chosen.next.reasons = bit_cast::<9, 8>(self.held_report.q.val().reasons);
        self.chosen.next.changes = self.held_report.q.val().changes;
        self.chosen.next.left = self.held_report.q.val().left;
        self.chosen.next.right = self.held_report.q.val().right;
        self.chosen.next.begins = self.held_report.q.val().begins;
        self.chosen.next.acknowledges = self.held_report.q.val().acknowledges;
        self.chosen.next.seg_ack = self.held_report.q.val().seg_ack;
        self.chosen.next.seg_wnd = self.held_report.q.val().seg_wnd;
        self.chosen.next.takes = false;
        self.chosen.next.visits = false;
        if self.has_fpdu.q.val() | !self.has_report.q.val() {
            self.chosen.next.reasons = 0.into();
            self.chosen.next.changes = false;
            self.chosen.next.begins = false;
            self.chosen.next.acknowledges = false;
        }
        self.taking.next = false;
        if self.has_fpdu.q.val() {
            self.chosen.next.connection = self.held_fpdu.q.val();
            self.chosen.next.reasons = self.reason_first_fpdu.val();
            if self.free.val() {
                self.has_fpdu.d.next = false;
            }
        } else if self.has_report.q.val() {
            if self.free.val() {
                self.has_report.d.next = false;
            }
        } else if self.take.val() {
            self.chosen.next.connection = self.take_connection.val();
            self.chosen.next.takes = true;
            self.taking.next = self.free.val();
        } else {
            self.chosen.next.connection = self.scan.q.val();
            self.chosen.next.visits = true;
            if self.free.val() & self.scan_due.q.val() {
                self.scan_due.d.next = false;
                self.scan.d.next = self.scan.q.val() + self.one.val();
            }
        }
        self.is_address.d.next = self.free.val()
            & (self.has_fpdu.q.val()
                | self.has_report.q.val()
                | self.take.val()
                | self.scan_due.q.val());
        if self.free.val() {
            self.address.d.next = self.chosen.val();
        }
        if self.report_valid.val() {
            self.has_report.d.next = true;
        }
        if self.first_fpdu_valid.val() {
            self.has_fpdu.d.next = true;
        }

        // The entry is read.
        wire!(self => self.entries; clock);
        self.entries.read_address.next = self.address.q.val().connection;
        self.is_fetch.d.next = self.is_address.q.val();
        self.is_change.d.next = self.is_fetch.q.val();
        self.span.next = self.address.q.val().right - self.address.q.val().left;
        if self.is_fetch.q.val() {
            self.change.d.next = self.address.q.val();
            self.change_octets.d.next = self.span.val().get_bits::<30>(0);
            // `change` is still the operation before, whose entry is written by then.
            self.forwards.d.next =
                self.address.q.val().connection == self.change.q.val().connection;
        }

        // The entry changes.
        self.entry.next = self.entries.read_data.val();
        if self.forwards.q.val() {
            self.entry.next = self.written.q.val();
        }
        self.old_reasons.next = self.entry.val().reasons;
        self.new_reasons.next = self.change.q.val().reasons;
        self.raises.next = self.new_reasons.val().get_bits::<8>(1).any()
            | (self.new_reasons.val().get_bit(0)
                & (self.at_once.q.val() | self.old_reasons.val().get_bit(0)))
            | (self.change.q.val().visits & self.old_reasons.val().get_bit(0));
        self.after.next = self.entry.val();
        self.after.next.reasons = self.old_reasons.val() | self.new_reasons.val();
        self.after.next.pending = self.entry.val().pending | self.raises.val();
        if self.change.q.val().changes {
            self.after.next.left = self.change.q.val().left;
            self.after.next.octets = self.change_octets.q.val();
        }
        if self.change.q.val().takes {
            self.after.next.pending = false;
        }
        if self.change.q.val().begins {
            // What is pending stays so, but will have nothing to report.
            self.after.next.left = 0.into();
            self.after.next.octets = 0.into();
        }
        if self.change.q.val().takes | self.change.q.val().begins {
            self.after.next.reasons = 0.into();
            self.after.next.acknowledges = false;
        }
        self.advance.next = self.change.q.val().seg_ack - self.entry.val().seg_ack;
        self.advances.d.next = self.is_change.q.val()
            & self.change.q.val().acknowledges
            & (!self.entry.val().acknowledges | !self.advance.val().get_bit(31));
        self.taken.next = self.entry.val();
        self.taken_valid.next = self.is_change.q.val() & self.change.q.val().takes;
        // SEG.ACK follows while the entry is written: `change` is the same for two cycles.
        self.stored.next = self.written.q.val();
        if self.advances.q.val() {
            self.stored.next.acknowledges = true;
            self.stored.next.seg_ack = self.change.q.val().seg_ack;
            self.stored.next.seg_wnd = self.change.q.val().seg_wnd;
        }
        self.written.d.next = self.stored.val();
        self.writes.d.next = self.is_change.q.val();
        self.pushes.d.next = self.is_change.q.val() & self.raises.val() & !self.entry.val().pending;
        if self.is_change.q.val() {
            self.written.d.next = self.after.val();
            self.written_connection.d.next = self.change.q.val().connection;
        }
        self.entries.write_enable.next = self.writes.q.val();
        self.entries.write_address.next = self.written_connection.q.val();
        self.entries.write_data.next = self.stored.val();
        self.push.next = self.pushes.q.val();
        self.push_connection.next = self.written_connection.q.val();

        // The scan.
        self.at_once.d.next = !self.delay_log2.val().any();
        self.visit_log2.next = self.delay_log2.val() - self.connections_log2.val();
        self.scan_mask.d.next = !(self.all_cycles.val() << self.visit_log2.val());
        self.scan_count.d.next = self.scan_count.q.val() + self.one_cycle.val();
        self.scan_now.next = self.scan_count.q.val() & self.scan_mask.q.val();
        if !self.at_once.q.val() & !self.scan_now.val().any() {
            self.scan_due.d.next = true;
        }

        if self.reset.val() {
            self.has_report.d.next = false;
            self.has_fpdu.d.next = false;
            self.is_address.d.next = false;
            self.is_fetch.d.next = false;
            self.is_change.d.next = false;
            self.pushes.d.next = false;
            self.scan_due.d.next = false;
            self.scan_count.d.next = 0.into();
            self.scan.d.next = self.scan.q.val() + self.one.val();
            self.writes.d.next = true;
            self.written_connection.d.next = self.scan.q.val();
            self.written.d.next.reasons = 0.into();
            self.written.d.next.pending = false;
            self.written.d.next.left = 0.into();
            self.written.d.next.octets = 0.into();
            self.written.d.next.acknowledges = false;
            self.advances.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
