//! The reserve: what segments may take of packet memory when few pages are left.
//!
//! ```text
//! free_pages < reserve_pages --> short, early_limit       holder: one connection, or none
//!              (long_pages, once two streams have shown long FPDUs)
//!
//! start --> asks (MPA: what is unfinished of the segment's connection, `subject`) --> answer
//!             ^                                                                       |
//!             +------ the same of the holder, if the segment needs its turn <---------+--> decided
//! ```
//!
//! | latency    | 2 cycles, `free_pages` to `short`; `start` to `asks` 1 cycle, `answer_valid` |
//! |            | to the next `asks` 3, to `decided` 3                                         |
//! | throughput | one segment at a time                                                        |
//! | units      | pages of `rnic_abi::limits::PAGE_OCTETS`; octets; cycles                     |
//!
//! While memory is *short*, a segment may end the FPDU that its connection has begun, and no more:
//! then all pages of that connection in order go back. What does not end one is for one connection
//! at a time, the *holder*, until one of its segments ends its FPDU. First row that fits:
//!
//! | the segment                                | window of the segment | holder, if it is taken |
//! |--------------------------------------------|-----------------------|------------------------|
//! | a job of its connection is out             | 0: refused            |                        |
//! | reaches the end of its FPDU                | to the FPDU's end     | none, if it was its own |
//! | misses too much, see below                 | 0: refused            |                        |
//! | there is no holder, or it is its own       | its own               | its own                |
//! | the holder has nothing queued in order     | its own               | its own                |
//! | else                                       | 0: refused            |                        |
//!
//! There is no holder while memory is not short, and none after `2^hold_log2` cycles in which
//! nothing of it was accepted. Early segments are given no page while memory is short. Why no
//! traffic then waits for ever: docs/adr/0013.
//!
//! The reserve grows when a second stream shows a long FPDU: one alone needs none, and the other
//! connections do not wait for its turns. The first one then has the turn, as it may hold most.
//! More pages may be held by then than the reserve leaves. Until `long_pages` have been free once,
//! a segment whose FPDU misses 16,384 octets or more is refused while fewer than `reserve_pages`
//! are free: they would not hold it, and stay for FPDUs that end, and give back what they hold.
//! What its connection holds beyond gaps may be in the way itself: `distant` says to give it up.
use crate::messages::Unfinished;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Keeps the holder and says how far a segment may go.
#[derive(LogicBlock, Init)]
pub struct PageReserve {
    pub clock: Signal<In, Clock>,
    /// Synchronous; there is no holder.
    pub reset: Signal<In, Bit>,
    /// Pages that nobody owns.
    pub free_pages: Signal<In, Bits<10>>,
    /// Register `IN_ORDER_RESERVE`: pages below which memory is short; 0: never.
    pub reserve_pages: Signal<In, Bits<10>>,
    /// Register `IN_ORDER_RESERVE`: the same once there was a long FPDU.
    pub long_pages: Signal<In, Bits<10>>,
    /// There were two, and `reserve_pages` is not 0.
    pub grown: Signal<In, Bit>,
    /// A stream has shown a long FPDU; one cycle or more.
    pub long_fpdu: Signal<In, Bit>,
    /// Its connection.
    pub long_connection: Signal<In, Bits<10>>,
    /// It is another one than the first; one cycle or more.
    pub grows: Signal<Out, Bit>,
    /// Register `IN_ORDER_RESERVE`: log2 of the cycles that a silent holder stays.
    pub hold_log2: Signal<In, Bits<5>>,
    /// Register `EARLY_PAGES`.
    pub early_pages: Signal<In, Bits<10>>,
    /// A segment wants to know how far it may go.
    pub start: Signal<In, Bit>,
    /// Its connection; this and the next two hold until it is decided on.
    pub connection: Signal<In, Bits<10>>,
    /// Its window.
    pub window: Signal<In, Bits<32>>,
    /// Distance from rcv_nxt of what follows its last octet within the window.
    pub reach: Signal<In, Bits<32>>,
    /// Octets of the segment that asked last were accepted in order.
    pub in_order: Signal<In, Bit>,
    /// MPA is to be asked about `subject`; one cycle.
    pub asks: Signal<Out, Bit>,
    /// See `asks`.
    pub subject: Signal<Out, Bits<10>>,
    /// What is unfinished of `subject`.
    pub answer: Signal<In, Unfinished>,
    pub answer_valid: Signal<In, Bit>,
    /// Few pages are left.
    pub short: Signal<Out, Bit>,
    /// `early_pages`, or 0 while few pages are left.
    pub early_limit: Signal<Out, Bits<10>>,
    /// For one cycle: `limit` and `limited` count.
    pub decided: Signal<Out, Bit>,
    /// `limit` is not the segment's window.
    pub limited: Signal<Out, Bit>,
    /// Octets from rcv_nxt on that the segment may bring.
    pub limit: Signal<Out, Bits<32>>,
    /// With `decided`: none, as its FPDU misses too much.
    pub distant: Signal<Out, Bit>,
    free: DFF<Bits<10>>,
    few: DFF<Bit>,
    few_for_long: DFF<Bit>,
    is_short: Signal<Local, Bit>,
    // The reserve has grown, and its pages have been free since.
    settled: DFF<Bit>,
    // The first stream that has shown a long FPDU.
    first: DFF<Bits<10>>,
    has_first: DFF<Bit>,
    grown_before: DFF<Bit>,
    early: DFF<Bits<10>>,
    holder: DFF<Bits<10>>,
    held: DFF<Bit>,
    // The holder is the segment's connection.
    own: DFF<Bit>,
    age: DFF<Bits<32>>,
    expired: DFF<Bit>,
    asking: DFF<Bit>,
    // The question is about the holder.
    second: DFF<Bit>,
    // The answer; a cycle later it is weighed.
    told: DFF<Unfinished>,
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
    missing: Signal<Local, Bits<32>>,
    aged: Signal<Local, Bits<32>>,
    #[constant(1)]
    one: Constant<Bits<32>>,
}

impl Logic for PageReserve {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; free, few, early, holder, held, own, age, expired);
        registers!(clock; asking, second, told, arrived, weighs, reached);
        registers!(clock; ends, far, too_far, nothing, ready, refuses, clips);
        registers!(clock; few_for_long, settled, first, has_first, grown_before);
        // Registers on both sides: the pool is far away, and so are those who look.
        self.free.d.next = self.free_pages.val();
        self.few.d.next = self.free.q.val() < self.reserve_pages.val();
        self.few_for_long.d.next = self.free.q.val() < self.long_pages.val();
        self.settled.d.next =
            self.grown.val() & (self.settled.q.val() | !self.few_for_long.q.val());
        self.is_short.next = self.few.q.val() | (self.grown.val() & self.few_for_long.q.val());
        self.short.next = self.is_short.val();
        self.early.d.next = self.early_pages.val();
        if self.is_short.val() {
            self.early.d.next = 0.into();
        }
        self.early_limit.next = self.early.q.val();

        // Long FPDUs: the first stream that has one, and whether there is another.
        self.grows.next = self.long_fpdu.val()
            & self.has_first.q.val()
            & (self.long_connection.val() != self.first.q.val());
        if self.long_fpdu.val() & !self.has_first.q.val() {
            self.has_first.d.next = true;
            self.first.d.next = self.long_connection.val();
        }

        // Questions: about the segment's connection, then perhaps about the holder.
        self.asking.d.next = self.start.val();
        if self.start.val() {
            self.second.d.next = false;
        }
        self.asks.next = self.asking.q.val();
        self.subject.next = self.connection.val();
        if self.second.q.val() {
            self.subject.next = self.holder.q.val();
        }

        // The answer: one cycle to compare, one to decide.
        self.arrived.d.next = self.answer_valid.val();
        if self.answer_valid.val() {
            self.told.d.next = self.answer.val();
        }
        self.reached.d.next = self.reach.val();
        self.own.d.next = self.holder.q.val() == self.connection.val();
        self.missing.next = bit_cast::<32, 18>(self.told.q.val().missing);
        self.ends.d.next = self.told.q.val().known & (self.reached.q.val() >= self.missing.val());
        self.far.d.next = self.told.q.val().known
            & self.missing.val().get_bits::<4>(14).any()
            & self.few.q.val()
            & !self.settled.q.val();
        self.nothing.d.next = self.told.q.val().empty & !self.told.q.val().busy;
        self.weighs.d.next = self.arrived.q.val();
        self.ready.d.next = false;
        if self.weighs.q.val() {
            self.ready.d.next = true;
            self.refuses.d.next = false;
            self.clips.d.next = false;
            self.too_far.d.next = false;
            if self.second.q.val() {
                self.refuses.d.next = self.held.q.val() & !self.nothing.q.val();
            } else if self.told.q.val().busy {
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
        self.distant.next = self.too_far.q.val();
        self.limited.next = self.refuses.q.val() | self.clips.q.val();
        self.limit.next = self.window.val();
        if self.refuses.q.val() {
            self.limit.next = 0.into();
        } else if self.clips.q.val() {
            self.limit.next = self.missing.val();
        }

        // The holder.
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
                self.holder.d.next = self.connection.val();
            } else if self.own.q.val() {
                self.held.d.next = false;
            }
        }
        self.grown_before.d.next = self.grown.val();
        if self.grown.val() & !self.grown_before.q.val() {
            self.held.d.next = true;
            self.holder.d.next = self.first.q.val();
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
