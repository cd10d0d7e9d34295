//! Contexts of the spans, the spans that are not in use, and what becomes of their records.
//!
//! ```text
//! span, write, data --> [ RAM, 512 contexts ] --> stored
//! frees, span_back ---> [ free numbers ] -------> new_span, span_free     (credit to tcp)
//! delivers, forgets, fault ---------------------> order                   (to replays)
//! ```
//!
//! | latency    | `span` to `stored`: 2 cycles; an order and `span_free`: 1 cycle          |
//! | throughput | one span at a time; a number may come back in any cycle                   |
//!
//! A number is free again when nothing knows it any more: at once where the span has no records,
//! and by `span_back` where it has.
use super::context::StreamContext;
use crate::common::numbers::FreeNumbers;
use crate::common::ram::SdpRam;
use crate::messages::{Replay, REPLAY_DELIVER, REPLAY_FAULT, REPLAY_FORGET};
use rnic_abi::limits::SPANS;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

const _: () = assert!(SPANS == 1 << 9, "numbers of spans are 9 bits");

/// Spans, in use and free.
#[derive(LogicBlock, Init)]
pub struct SpanStore {
    pub clock: Signal<In, Clock>,
    /// Synchronous, and needed once; all spans are free.
    pub reset: Signal<In, Bit>,
    /// The span at hand.
    pub span: Signal<In, Bits<9>>,
    /// Its context is written.
    pub write: Signal<In, Bit>,
    /// The context, in the cycle after `write`.
    pub data: Signal<In, StreamContext>,
    /// The context that was kept.
    pub stored: Signal<Out, StreamContext>,
    /// A free span; TCP's credits say that there is one.
    pub new_span: Signal<Out, Bits<9>>,
    /// It is taken.
    pub take: Signal<In, Bit>,
    /// The span at hand has no records, and is free.
    pub frees: Signal<In, Bit>,
    /// Its records are delivered, and then it is free.
    pub delivers: Signal<In, Bit>,
    /// Its records are forgotten, and then it is free.
    pub forgets: Signal<In, Bit>,
    /// FPDU starts disagree; nothing becomes of the span.
    pub fault: Signal<In, Bit>,
    /// The connection.
    pub connection: Signal<In, Bits<10>>,
    /// Sequence number of the stream's next FPDU.
    pub next_sequence: Signal<In, Bits<32>>,
    /// What becomes of the records that DDP keeps.
    pub order: Signal<Out, Replay>,
    pub order_valid: Signal<Out, Bit>,
    /// DDP keeps no records of this span any more.
    pub span_back: Signal<In, Bits<9>>,
    pub span_back_valid: Signal<In, Bit>,
    pub span_back_ready: Signal<Out, Bit>,
    /// A span is free again; one cycle.
    pub span_free: Signal<Out, Bit>,
    contexts: SdpRam<StreamContext, 9>,
    free: FreeNumbers<9, 10>,
    writing: DFF<Bit>,
    written: DFF<Bits<9>>,
    returned: DFF<Bit>,
    ordered: DFF<Replay>,
    orders: DFF<Bit>,
    #[constant(REPLAY_DELIVER)]
    kind_deliver: Constant<Bits<2>>,
    #[constant(REPLAY_FORGET)]
    kind_forget: Constant<Bits<2>>,
    #[constant(REPLAY_FAULT)]
    kind_fault: Constant<Bits<2>>,
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

        // Two ways back; the span at hand goes first.
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
        self.ordered.d.next.kind = self.kind_deliver.val();
        if self.forgets.val() {
            self.ordered.d.next.kind = self.kind_forget.val();
        } else if self.fault.val() {
            self.ordered.d.next.kind = self.kind_fault.val();
        }
        self.orders.d.next = self.delivers.val() | self.forgets.val() | self.fault.val();
        self.order.next = self.ordered.q.val();
        self.order_valid.next = self.orders.q.val();
        if self.reset.val() {
            self.orders.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
