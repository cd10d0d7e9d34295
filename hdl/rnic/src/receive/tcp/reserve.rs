//! The reserve: which segments get pages of packet memory while few are free.
//!
//! ```text
//! free_pages < reserve_pages --> short, ooo_limit       owner: one connection, or none
//!              (long_pages, once two streams have long FPDUs)
//!
//! start --> queries (MPA: incomplete FPDU of the segment's connection, `subject`) --> answer
//!             ^                                                                         |
//!             +------ the same of the owner, if the segment needs its turn <------------+
//!                                                                                       |
//!                                                                 decided, limit <------+
//! ```
//!
//! | latency    | 2 cycles, `free_pages` to `short`; `start` to `queries` 1 cycle, `answer_valid` |
//! |            | to the next `queries` 3, to `decided` 3                                         |
//! | throughput | one segment at a time                                                           |
//! | units      | pages of `rnic_abi::limits::PAGE_OCTETS`; octets; cycles                        |
//!
//! While memory is *short*, a segment may complete the FPDU that its connection has begun, but not
//! begin another: then all in-order pages of that connection are released. A segment that completes
//! none is accepted for one connection at a time, the *reserve owner*, until one of its segments
//! completes its FPDU. The first row that applies:
//!
//! | the segment                           | its window        | owner, if accepted      |
//! |---------------------------------------|-------------------|-------------------------|
//! | a job of its connection is in flight  | 0: refused        |                         |
//! | reaches the end of its FPDU           | to the FPDU's end | none, if it was its own |
//! | misses too much, see below            | 0: refused        |                         |
//! | there is no owner, or it is its own   | its own           | its own                 |
//! | the owner has nothing queued in order | its own           | its own                 |
//! | else                                  | 0: refused        |                         |
//!
//! There is no owner while memory is not short, and none after the timeout: `2^hold_log2` cycles in
//! which no octet of it was accepted. Out-of-order segments get no page while memory is short.
//! docs/adr/0013 argues that there is no deadlock.
//!
//! The reserve grows when a second stream has a long FPDU: a single one needs no reserve, and the
//! other connections do not wait for its turns. The first of the two then becomes the owner, as it
//! may hold most pages. At that time more pages may be held than the grown reserve leaves. Until
//! `long_pages` have been free once, a segment whose FPDU misses 16,384 octets or more is refused
//! while fewer than `reserve_pages` are free: they would not suffice for it, and are left to FPDUs
//! that complete and release theirs. The connection's own ranges may hold the pages that it needs:
//! with `discards` acceptance discards them.
use crate::messages::FpduStatus;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Keeps the reserve owner and limits the window of each segment.
#[derive(LogicBlock, Init)]
pub struct PageReserve {
    pub clock: Signal<In, Clock>,
    /// Synchronous; clears the owner.
    pub reset: Signal<In, Bit>,
    /// Pages of packet memory without owner.
    pub free_pages: Signal<In, Bits<10>>,
    /// Register `IN_ORDER_RESERVE`: pages below which memory is short; 0: never.
    pub reserve_pages: Signal<In, Bits<10>>,
    /// Register `IN_ORDER_RESERVE`: the same once the reserve has grown.
    pub long_pages: Signal<In, Bits<10>>,
    /// The reserve has grown, and `reserve_pages` is not 0.
    pub grown: Signal<In, Bit>,
    /// A stream, of connection `long_connection`, has a long FPDU; one cycle or more.
    pub long_fpdu: Signal<In, Bit>,
    pub long_connection: Signal<In, Bits<10>>,
    /// It is another stream than the first such one; one cycle or more.
    pub grows: Signal<Out, Bit>,
    /// Register `IN_ORDER_RESERVE`: timeout of a silent owner, log2 of cycles.
    pub hold_log2: Signal<In, Bits<5>>,
    /// Register `OUT_OF_ORDER_PAGES`.
    pub ooo_pages: Signal<In, Bits<10>>,
    /// A segment needs a window.
    pub start: Signal<In, Bit>,
    // Of the segment, stable until it is decided: connection, window, and distance from rcv_nxt to
    // the end of its octets in the window.
    pub connection: Signal<In, Bits<10>>,
    pub window: Signal<In, Bits<32>>,
    pub reach: Signal<In, Bits<32>>,
    /// The segment is in order, and its connection has ranges; stable like these.
    pub has_ranges: Signal<In, Bit>,
    /// Octets of the last segment with `start` were accepted in order.
    pub in_order: Signal<In, Bit>,
    /// Query to MPA about connection `subject`; one cycle.
    pub queries: Signal<Out, Bit>,
    pub subject: Signal<Out, Bits<10>>,
    pub answer: Signal<In, FpduStatus>,
    pub answer_valid: Signal<In, Bit>,
    /// Memory is short.
    pub short: Signal<Out, Bit>,
    /// `ooo_pages`, or 0 while memory is short.
    pub ooo_limit: Signal<Out, Bits<10>>,
    /// The outputs below are valid; one cycle.
    pub decided: Signal<Out, Bit>,
    /// `limit` is not the segment's window.
    pub limited: Signal<Out, Bit>,
    /// Window of the segment, octets from rcv_nxt.
    pub limit: Signal<Out, Bits<32>>,
    /// No window, because its FPDU misses too many octets; first discard the connection's ranges.
    pub discards: Signal<Out, Bit>,
    free: DFF<Bits<10>>,
    few: DFF<Bit>,
    few_for_long: DFF<Bit>,
    is_short: Signal<Local, Bit>,
    // The reserve has grown, and all its pages have been free since.
    settled: DFF<Bit>,
    // The first stream with a long FPDU.
    first: DFF<Bits<10>>,
    has_first: DFF<Bit>,
    grown_before: DFF<Bit>,
    ooo: DFF<Bits<10>>,
    owner: DFF<Bits<10>>,
    held: DFF<Bit>,
    // The segment's connection is the owner.
    own: DFF<Bit>,
    age: DFF<Bits<32>>,
    expired: DFF<Bit>,
    asking: DFF<Bit>,
    // The query is about the owner.
    second: DFF<Bit>,
    // The answer, compared one cycle later.
    status: DFF<FpduStatus>,
    arrived: DFF<Bit>,
    weighs: DFF<Bit>,
    reached: DFF<Bits<32>>,
    ends: DFF<Bit>,
    far: DFF<Bit>,
    too_far: DFF<Bit>,
    nothing: DFF<Bit>,
    // The decision.
    ready: DFF<Bit>,
    refuses: DFF<Bit>,
    clips: DFF<Bit>,
    // `has_ranges` comes late from the window check, and the answer of MPA much later.
    loses_ranges: DFF<Bit>,
    missing: Signal<Local, Bits<32>>,
    aged: Signal<Local, Bits<32>>,
    #[constant(1)]
    one: Constant<Bits<32>>,
}

impl Logic for PageReserve {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; free, few, ooo, owner, held, own, age, expired);
        registers!(clock; asking, second, status, arrived, weighs, reached);
        registers!(clock; ends, far, too_far, nothing, ready, refuses, clips);
        registers!(clock; few_for_long, settled, first, has_first, grown_before, loses_ranges);
        self.loses_ranges.d.next = self.has_ranges.val();
        // Registers on both sides: the pool and the users of `short` are placed far away.
        self.free.d.next = self.free_pages.val();
        self.few.d.next = self.free.q.val() < self.reserve_pages.val();
        self.few_for_long.d.next = self.free.q.val() < self.long_pages.val();
        self.settled.d.next =
            self.grown.val() & (self.settled.q.val() | !self.few_for_long.q.val());
        self.is_short.next = self.few.q.val() | (self.grown.val() & self.few_for_long.q.val());
        self.short.next = self.is_short.val();
        self.ooo.d.next = self.ooo_pages.val();
        if self.is_short.val() {
            self.ooo.d.next = 0.into();
        }
        self.ooo_limit.next = self.ooo.q.val();

        // Long FPDUs: the first stream, and whether there is another.
        self.grows.next = self.long_fpdu.val()
            & self.has_first.q.val()
            & (self.long_connection.val() != self.first.q.val());
        if self.long_fpdu.val() & !self.has_first.q.val() {
            self.has_first.d.next = true;
            self.first.d.next = self.long_connection.val();
        }

        // Queries: about the segment's connection, then, if its result depends on it, the owner.
        self.asking.d.next = self.start.val();
        if self.start.val() {
            self.second.d.next = false;
        }
        self.queries.next = self.asking.q.val();
        self.subject.next = self.connection.val();
        if self.second.q.val() {
            self.subject.next = self.owner.q.val();
        }

        // The answer: one cycle to compare, one to decide by the rows of the table.
        self.arrived.d.next = self.answer_valid.val();
        if self.answer_valid.val() {
            self.status.d.next = self.answer.val();
        }
        self.reached.d.next = self.reach.val();
        self.own.d.next = self.owner.q.val() == self.connection.val();
        self.missing.next = bit_cast::<32, 18>(self.status.q.val().missing);
        self.ends.d.next = self.status.q.val().known & (self.reached.q.val() >= self.missing.val());
        self.far.d.next = self.status.q.val().known
            & self.missing.val().get_bits::<4>(14).any()
            & self.few.q.val()
            & !self.settled.q.val();
        self.nothing.d.next = self.status.q.val().empty & !self.status.q.val().busy;
        self.weighs.d.next = self.arrived.q.val();
        self.ready.d.next = false;
        if self.weighs.q.val() {
            self.ready.d.next = true;
            self.refuses.d.next = false;
            self.clips.d.next = false;
            self.too_far.d.next = false;
            if self.second.q.val() {
                self.refuses.d.next = self.held.q.val() & !self.nothing.q.val();
            } else if self.status.q.val().busy {
                self.refuses.d.next = true;
            } else if self.ends.q.val() {
                self.clips.d.next = true;
            } else if self.far.q.val() {
                self.refuses.d.next = true;
                self.too_far.d.next = true;
            } else if self.held.q.val() & !self.own.q.val() {
                self.ready.d.next = false;
                self.second.d.next = true;
                self.asking.d.next = true;
            }
        }
        self.decided.next = self.ready.q.val();
        self.discards.next = self.ready.q.val() & self.too_far.q.val() & self.loses_ranges.q.val();
        self.limited.next = self.refuses.q.val() | self.clips.q.val();
        self.limit.next = self.window.val();
        if self.refuses.q.val() {
            self.limit.next = 0.into();
        } else if self.clips.q.val() {
            self.limit.next = self.missing.val();
        }

        // The owner, and its timeout.
        self.age.d.next = self.age.q.val() + self.one.val();
        self.aged.next = self.age.q.val() >> self.hold_log2.val();
        self.expired.d.next = self.aged.val().get_bit(0);
        if !self.held.q.val() | self.in_order.val() {
            self.age.d.next = 0.into();
            self.expired.d.next = false;
        }
        if self.expired.q.val() {
            self.held.d.next = false;
        }
        if self.in_order.val() {
            if !self.clips.q.val() {
                self.held.d.next = true;
                self.owner.d.next = self.connection.val();
            } else if self.own.q.val() {
                self.held.d.next = false;
            }
        }
        self.grown_before.d.next = self.grown.val();
        if self.grown.val() & !self.grown_before.q.val() {
            self.held.d.next = true;
            self.owner.d.next = self.first.q.val();
        }
        if self.reset.val() | !self.is_short.val() {
            self.held.d.next = false;
        }
        if self.reset.val() {
            self.has_first.d.next = false;
            self.grown_before.d.next = false;
            self.asking.d.next = false;
            self.arrived.d.next = false;
            self.weighs.d.next = false;
            self.ready.d.next = false;
        }
    }
}
