//! Tables of the out-of-order ranges, by TCP's numbers, of their spans, and of free fragments.
//!
//! ```text
//! arrived.left, arrived.right --> [ ranges ] --> left_range, right_range
//!                                     ^                 |
//! span -------------------------------+-----------------+
//! ```
//!
//! | enters     | an accepted message that opens, extends, joins or ends a range; the span  |
//! |            | that it opens                                                             |
//! | leaves     | the adjacent ranges; the resulting range is written                       |
//! | latency    | `fetch` to `load_right`: 2 cycles, to `load_left`: 3; the loaded range is |
//! |            | valid from the next cycle on                                              |
//! | throughput | one message at a time                                                     |
//! | units      | numbers of spans                                                          |
//!
//! A range is a chain of spans, each of which links to the next one, so one link joins two ranges
//! of any length.
use super::types::{RangeSpans, StreamContext};
use crate::common::fifo::Fifo;
use crate::common::free_list::FreeList;
use crate::common::ram::SdpRam;
use crate::messages::{Accepted, Replay, ReplayKind};
use rnic_abi::limits::{FRAGMENTS, SPANS};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// First and last span of every out-of-order range.
#[derive(LogicBlock, Default)]
pub struct RangeTable {
    pub clock: Signal<In, Clock>,
    /// The message; it holds from `fetch` to `write`.
    pub arrived: Signal<In, Accepted>,
    /// The span that it opens, if it follows no range.
    pub span: Signal<In, Bits<9>>,
    /// Reads range `right`, and in the next cycle range `left`.
    pub fetch: Signal<In, Bit>,
    /// `right` is at the RAM's output.
    pub load_right: Signal<In, Bit>,
    /// `left` is at the RAM's output.
    pub load_left: Signal<In, Bit>,
    /// Writes the range that now holds the octets.
    pub write: Signal<In, Bit>,
    /// The range that follows the octets; valid from the cycle after `load_right` on.
    pub right_range: Signal<Out, RangeSpans>,
    /// The range that the octets follow; valid from the cycle after `load_left` on.
    pub left_range: Signal<Out, RangeSpans>,
    ranges: SdpRam<RangeSpans, 8>,
    right_kept: DFF<RangeSpans>,
    left_kept: DFF<RangeSpans>,
    written: Signal<Local, RangeSpans>,
}

impl Logic for RangeTable {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; right_kept, left_kept);
        self.ranges.clock.next = self.clock.val();
        self.right_range.next = self.right_kept.q.val();
        self.left_range.next = self.left_kept.q.val();

        self.ranges.read_address.next = self.arrived.val().left;
        if self.fetch.val() {
            self.ranges.read_address.next = self.arrived.val().right;
        }
        if self.load_right.val() {
            self.right_kept.d.next = self.ranges.read_data.val();
        }
        if self.load_left.val() {
            self.left_kept.d.next = self.ranges.read_data.val();
        }

        // The left range's spans, or the new one, then the right range's.
        self.written.next.first = self.span.val();
        self.written.next.last = self.span.val();
        if self.arrived.val().has_left {
            self.written.next = self.left_kept.q.val();
        }
        if self.arrived.val().has_right {
            self.written.next.last = self.right_kept.q.val().last;
        }
        // A range extended only at its front keeps its number.
        self.ranges.write_address.next = self.arrived.val().left;
        if self.arrived.val().has_right & !self.arrived.val().has_left {
            self.ranges.write_address.next = self.arrived.val().right;
        }
        wire!(self => self.ranges; written as write_data, write as write_enable);
    }
}

const _: () = assert!(SPANS == 1 << 9, "numbers of spans are 9 bits");

/// Contexts of the spans, the free spans, and the orders for their records.
///
/// ```text
/// span, write, data --> [ RAM, 512 contexts ] --> stored
/// frees, span_back ---> [ free numbers ] -------> new_span, span_free     (credit to tcp)
/// delivers, forgets, fault ---------------------> order                   (to replays)
/// ```
///
/// | latency    | `span` to `stored`: 2 cycles; an order and `span_free`: 1 cycle |
/// | throughput | one span at a time; a number may come back in any cycle         |
///
/// A number is free again at once if the span has no records, else with `span_back`.
#[derive(LogicBlock, Init)]
pub struct SpanStore {
    pub clock: Signal<In, Clock>,
    /// Synchronous, and needed once; all spans are free.
    pub reset: Signal<In, Bit>,
    /// The current span.
    pub span: Signal<In, Bits<9>>,
    /// Its context is written.
    pub write: Signal<In, Bit>,
    /// The context, in the cycle after `write`.
    pub data: Signal<In, StreamContext>,
    /// The stored context.
    pub stored: Signal<Out, StreamContext>,
    /// A free span; TCP's credits say that there is one.
    pub new_span: Signal<Out, Bits<9>>,
    /// It is taken.
    pub take: Signal<In, Bit>,
    /// The current span has no records, and is free.
    pub frees: Signal<In, Bit>,
    /// Its records are delivered, and then it is free.
    pub delivers: Signal<In, Bit>,
    /// Its records are discarded, and then it is free.
    pub forgets: Signal<In, Bit>,
    /// FPDU starts disagree; the span is kept.
    pub fault: Signal<In, Bit>,
    /// The connection.
    pub connection: Signal<In, Bits<10>>,
    /// Sequence number of the stream's next FPDU.
    pub next_sequence: Signal<In, Bits<32>>,
    /// Delivers or discards the records that DDP stores.
    pub order: Signal<Out, Replay>,
    pub order_valid: Signal<Out, Bit>,
    /// DDP stores no records of this span any more.
    pub span_back: Signal<In, Bits<9>>,
    pub span_back_valid: Signal<In, Bit>,
    pub span_back_ready: Signal<Out, Bit>,
    /// A span is free again; one cycle.
    pub span_free: Signal<Out, Bit>,
    contexts: SdpRam<StreamContext, 9>,
    free: FreeList<9, 10>,
    writing: DFF<Bit>,
    written: DFF<Bits<9>>,
    returned: DFF<Bit>,
    ordered: DFF<Replay>,
    orders: DFF<Bit>,
}

impl Logic for SpanStore {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; writing, written, returned, ordered, orders);
        wire!(self => self.contexts; clock, span as read_address);
        self.stored.next = self.contexts.read_data.val();
        self.writing.d.next = self.write.val() & !self.reset.val();
        self.written.d.next = self.span.val();
        self.contexts.write_enable.next = self.writing.q.val();
        self.contexts.write_address.next = self.written.q.val();
        self.contexts.write_data.next = self.data.val();

        // Two sources of free numbers; the current span has priority.
        wire!(self => self.free; clock, reset);
        self.new_span.next = self.free.number.val();
        wire!(self => self.free; take, span_back as given);
        if self.frees.val() {
            self.free.given.next = self.span.val();
        }
        self.span_back_ready.next = !self.frees.val();
        self.free.give.next = self.frees.val() | self.span_back_valid.val();
        self.returned.d.next = self.frees.val() | self.span_back_valid.val();
        self.span_free.next = self.returned.q.val();

        self.ordered.d.next.connection = self.connection.val();
        self.ordered.d.next.span = self.span.val();
        self.ordered.d.next.sequence = self.next_sequence.val();
        self.ordered.d.next.kind = ReplayKind::Deliver;
        if self.forgets.val() {
            self.ordered.d.next.kind = ReplayKind::Forget;
        } else if self.fault.val() {
            self.ordered.d.next.kind = ReplayKind::Fault;
        }
        self.orders.d.next = self.delivers.val() | self.forgets.val() | self.fault.val();
        self.order.next = self.ordered.q.val();
        self.order_valid.next = self.orders.q.val();
        if self.reset.val() {
            self.orders.d.next = false;
        }
    }
}

/// Free fragments: slots of the frame tables for frames with several runs of accepted octets.
///
/// ```text
/// free ------> [ freed (FIFO)           ] --+
///              [ never used: counts up  ] --+--> slot
/// ```
///
/// | enters     | slots that are free again                                                   |
/// | leaves     | a free slot, 512 to 575                                                     |
/// | latency    | 1 cycle from `free_valid` to `slot`, if there was no other                  |
/// | throughput | one slot per cycle each way                                                 |
/// | units      | slots                                                                       |
///
/// TCP has a credit for each slot, so one is free at every `take`.
#[derive(LogicBlock, Init)]
#[init(
    const {
        assert!(
            FRAGMENTS == 64,
            "bit 6 of `unused`: none is left"
        )
    }
)]
pub struct FreeFragments {
    pub clock: Signal<In, Clock>,
    /// Synchronous; every slot is free.
    pub reset: Signal<In, Bit>,
    /// A free slot.
    pub slot: Signal<Out, Bits<10>>,
    /// It is taken.
    pub take: Signal<In, Bit>,
    /// Lower bits of a slot that is free again.
    pub free: Signal<In, Bits<6>>,
    pub free_valid: Signal<In, Bit>,
    freed: Fifo<Bits<6>, 6, 7>,
    // The first slot never used; its highest bit is set when none is left.
    unused: DFF<Bits<7>>,
    number: Signal<Local, Bits<6>>,
    exhausted: Signal<Local, Bit>,
    #[constant(1)]
    one: Constant<Bits<7>>,
    #[constant(512)]
    upper_half: Constant<Bits<10>>,
}

impl Logic for FreeFragments {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; unused);
        wire!(self => self.freed; clock, reset, free as data_in, free_valid as write);
        self.exhausted.next = self.unused.q.val().get_bit(6);
        self.freed.read.next = self.take.val() & self.exhausted.val();
        self.number.next = self.unused.q.val().get_bits::<6>(0);
        if self.exhausted.val() {
            self.number.next = self.freed.data_out.val();
        }
        self.slot.next = self.upper_half.val() | bit_cast::<10, 6>(self.number.val());
        if self.take.val() & !self.exhausted.val() {
            self.unused.d.next = self.unused.q.val() + self.one.val();
        }
        if self.reset.val() {
            self.unused.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
