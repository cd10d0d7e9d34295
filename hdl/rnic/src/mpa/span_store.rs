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
use rust_hdl::prelude::*;

/// Spans, in use and free.
#[derive(LogicBlock)]
pub struct SpanStore {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; all spans are free after 512 cycles.
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
    /// `order` is new, one cycle.
    pub order_valid: Signal<Out, Bit>,
    /// DDP keeps no records of this span any more.
    pub span_back: Signal<In, Bits<9>>,
    /// `span_back` is offered.
    pub span_back_valid: Signal<In, Bit>,
    /// It is taken.
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
    kind_deliver: Constant<Bits<2>>,
    kind_forget: Constant<Bits<2>>,
    kind_fault: Constant<Bits<2>>,
}

impl Default for SpanStore {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            span: Default::default(),
            write: Default::default(),
            data: Default::default(),
            stored: Default::default(),
            new_span: Default::default(),
            take: Default::default(),
            frees: Default::default(),
            delivers: Default::default(),
            forgets: Default::default(),
            fault: Default::default(),
            connection: Default::default(),
            next_sequence: Default::default(),
            order: Default::default(),
            order_valid: Default::default(),
            span_back: Default::default(),
            span_back_valid: Default::default(),
            span_back_ready: Default::default(),
            span_free: Default::default(),
            contexts: Default::default(),
            free: Default::default(),
            writing: Default::default(),
            written: Default::default(),
            returned: Default::default(),
            ordered: Default::default(),
            orders: Default::default(),
            kind_deliver: Constant::new(REPLAY_DELIVER.into()),
            kind_forget: Constant::new(REPLAY_FORGET.into()),
            kind_fault: Constant::new(REPLAY_FAULT.into()),
        }
    }
}

impl Logic for SpanStore {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, writing, written, returned, ordered, orders);
        self.contexts.clock.next = self.clock.val();
        self.contexts.read_address.next = self.span.val();
        self.stored.next = self.contexts.read_data.val();
        self.writing.d.next = self.write.val() & !self.reset.val();
        self.written.d.next = self.span.val();
        self.contexts.write_enable.next = self.writing.q.val();
        self.contexts.write_address.next = self.written.q.val();
        self.contexts.write_data.next = self.data.val();

        // Two ways back; the span at hand goes first.
        self.free.clock.next = self.clock.val();
        self.free.reset.next = self.reset.val();
        self.new_span.next = self.free.number.val();
        self.free.take.next = self.take.val();
        self.free.given.next = self.span_back.val();
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
