//! Answers of the read engine, each beat to the block that its read was for. Combinational.
use super::types::ReadKind;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Demultiplexer of answers: the oldest order says what the beats are.
#[derive(LogicBlock, Default)]
pub struct Answers {
    /// The oldest read that has not ended.
    pub order: Signal<In, ReadKind>,
    pub order_valid: Signal<In, Bit>,
    /// With the last beat of a read: its order is done.
    pub order_ready: Signal<Out, Bit>,
    pub read_last: Signal<In, Bit>,
    pub read_valid: Signal<In, Bit>,
    pub read_ready: Signal<Out, Bit>,
    pub unit_valid: Signal<Out, Bit>,
    pub unit_ready: Signal<In, Bit>,
    pub beat_valid: Signal<Out, Bit>,
    pub beat_ready: Signal<In, Bit>,
    valid: Signal<Local, Bit>,
    ready: Signal<Local, Bit>,
}

impl Logic for Answers {
    #[kernel]
    fn update(&mut self) {
        self.valid.next = self.read_valid.val() & self.order_valid.val();
        self.unit_valid.next = self.valid.val() & self.order.val().units;
        self.beat_valid.next = self.valid.val() & !self.order.val().units;
        self.ready.next = self.order_valid.val() & self.beat_ready.val();
        if self.order.val().units {
            self.ready.next = self.order_valid.val() & self.unit_ready.val();
        }
        self.read_ready.next = self.ready.val();
        self.order_ready.next = (self.valid.val() & self.ready.val()) & self.read_last.val();
    }
}
