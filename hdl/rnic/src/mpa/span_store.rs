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
        dff_setup!(self, clock, writing, written, returned, ordered, orders);
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
mod tests {
    use super::*;
    use rnic_hdl_tools::testkit::{lockstep, settle, Random};
    use std::collections::VecDeque;

    /// A span that was taken, and what its context holds.
    #[derive(Clone, Copy)]
    struct Taken {
        span: Bits<9>,
        sequence: Bits<32>,
    }

    fn order(uut: &SpanStore) -> Option<Replay> {
        let kind = match (uut.delivers.next, uut.forgets.next, uut.fault.next) {
            (true, ..) => REPLAY_DELIVER,
            (_, true, _) => REPLAY_FORGET,
            (.., true) => REPLAY_FAULT,
            _ => return None,
        };
        Some(Replay {
            kind: kind.into(),
            connection: uut.connection.next,
            span: uut.span.next,
            sequence: uut.next_sequence.next,
        })
    }

    /// One of the spans that are out goes, by itself or by way of DDP.
    fn give(uut: &mut SpanStore, out: &mut VecDeque<Taken>, random: &mut Random) -> usize {
        uut.frees.next = out.len() > 1 && random.chance(1, 6);
        if uut.frees.next {
            uut.span.next = out.pop_front().expect("it is out").span;
        }
        uut.span_back_valid.next = out.len() > 400 && random.chance(1, 2);
        if uut.span_back_valid.next {
            uut.span_back.next = out[0].span;
        }
        settle(uut);
        let back = uut.span_back_valid.next && uut.span_back_ready.val();
        if back {
            out.pop_front();
        }
        usize::from(uut.frees.next || back)
    }

    /// A span is out once; its context is the one written last; each order is told once.
    #[test]
    fn lockstep_with_verilog_and_spans_keep_their_contexts() {
        let (mut out, mut read) = (VecDeque::<Taken>::new(), None);
        let (mut cycle, mut most, mut looks) = (0usize, 0, 0);
        let (mut told, mut given) = (None, 0);
        lockstep(
            "span_store",
            SpanStore::default(),
            24_000,
            |uut| &mut uut.clock,
            |uut, random| {
                let step = cycle % 4;
                uut.reset.next = cycle < 4;
                assert_eq!(uut.order_valid.val(), told.is_some(), "{random}");
                if let Some(order) = told {
                    assert_eq!(uut.order.val(), order, "{random}");
                }
                assert_eq!(uut.span_free.val(), given > 0, "{random}");
                (uut.take.next, uut.write.next, uut.frees.next) = (false, false, false);
                (uut.delivers.next, uut.forgets.next) = (false, false);
                (uut.fault.next, uut.span_back_valid.next) = (false, false);
                (told, given) = (None, 0);
                match step {
                    // Takes and writes one, or looks at one.
                    0 if cycle >= 4 && out.len() < 500 && random.chance(2, 3) => {
                        settle(uut);
                        let new = uut.new_span.val();
                        assert!(out.iter().all(|taken| taken.span != new), "{random}");
                        (uut.take.next, uut.write.next, uut.span.next) = (true, true, new);
                        let sequence = random.wide();
                        out.push_back(Taken {
                            span: new,
                            sequence,
                        });
                        read = None;
                    }
                    0 => {
                        let at = random.below(out.len().max(1) as u64) as usize;
                        read = out.get(at).copied();
                        uut.span.next = read.map_or(uut.span.next, |taken| taken.span);
                    }
                    1 => uut.data.next.sequence = out.back().map_or(0.into(), |new| new.sequence),
                    2 => {
                        if let Some(taken) = read {
                            assert_eq!(uut.stored.val().sequence, taken.sequence, "{random}");
                            looks += 1;
                        }
                    }
                    _ => {
                        uut.connection.next = random.wide();
                        uut.next_sequence.next = random.wide();
                        uut.delivers.next = cycle > 4 && random.chance(1, 4);
                        uut.forgets.next = cycle > 4 && !uut.delivers.next && random.chance(1, 4);
                        uut.fault.next = cycle > 4
                            && !uut.delivers.next
                            && !uut.forgets.next
                            && random.chance(1, 4);
                        given = give(uut, &mut out, random);
                        told = order(uut);
                    }
                }
                most = most.max(out.len());
                cycle += 1;
            },
        );
        assert!(most > 400 && looks > 1000, "{most} out, {looks} looks");
    }
}
