//! Queue of replays: none reaches DDP before the records of the FPDUs handed on earlier.
//!
//! ```text
//! order, order_valid --> [ deliver, fault (32) ] --> [ target ] --> replay
//!                   \--> [ forget (16)         ] ----------------->
//! begun, passed -------> [ counts ] ------------------^
//! ```
//!
//! | enters     | orders for a span's records; an FPDU begun, a record passed on              |
//! | leaves     | the orders, to DDP                                                          |
//! | latency    | 3 cycles, `order_valid` to `replay_valid`, if no record is in flight        |
//! | throughput | one order per cycle in, one in 3 cycles out                                 |
//!
//! When a job ends, records of its FPDUs may still wait in [`crate::receive::fpdu`]. A delivery or
//! a fault must not overtake them: at the head of its queue it waits until as many records have
//! passed as were begun. An order to discard does not wait.
//!
//! `order` has no `ready`: each delivery or fault takes the credit of a stream job, and orders to
//! discard are sent only while `forget_room`.
use super::arbiter::JOBS_OUT_MAX;
use crate::common::fifo::Fifo;
use crate::messages::{Replay, ReplayKind};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Queues orders until the records before them have passed.
#[derive(LogicBlock, Init)]
#[init(
    const { assert!(JOBS_OUT_MAX == 32, "the queue holds 32 orders") }
)]
pub struct ReplayQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Delivers or discards a span's records.
    pub order: Signal<In, Replay>,
    pub order_valid: Signal<In, Bit>,
    /// An FPDU begins, its record will follow; one cycle.
    pub begun: Signal<In, Bit>,
    /// A record enters DDP; one cycle.
    pub passed: Signal<In, Bit>,
    /// Two orders to discard can be taken.
    pub forget_room: Signal<Out, Bit>,
    pub replay: Signal<Out, Replay>,
    pub replay_valid: Signal<Out, Bit>,
    pub replay_ready: Signal<In, Bit>,
    orders: Fifo<Replay, 5, 6>,
    #[init(Fifo::new(2))]
    forgets: Fifo<Bits<9>, 4, 5>,
    begun_count: DFF<Bits<6>>,
    passed_count: DFF<Bits<6>>,
    // Records begun when the first order reached the head of the queue.
    target: DFF<Bits<6>>,
    aimed: DFF<Bit>,
    due: DFF<Bit>,
    out: DFF<Replay>,
    out_valid: DFF<Bit>,
    is_forget: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    #[constant(1)]
    one: Constant<Bits<6>>,
}

impl Logic for ReplayQueue {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; begun_count, passed_count, target, aimed, due);
        registers!(clock; out, out_valid);
        wire!(self => self.orders; clock, reset);
        wire!(self => self.forgets; clock, reset);
        self.is_forget.next = self.order.val().kind == ReplayKind::Forget;
        self.orders.data_in.next = self.order.val();
        self.orders.write.next = self.order_valid.val() & !self.is_forget.val();
        self.forgets.data_in.next = self.order.val().span;
        self.forgets.write.next = self.order_valid.val() & self.is_forget.val();

        self.forget_room.next = !self.forgets.almost_full.val();

        // The counts cannot alias: far fewer than 64 records are in flight.
        if self.begun.val() {
            self.begun_count.d.next = self.begun_count.q.val() + self.one.val();
        }
        if self.passed.val() {
            self.passed_count.d.next = self.passed_count.q.val() + self.one.val();
        }
        if !self.aimed.q.val() {
            self.target.d.next = self.begun_count.q.val();
            self.aimed.d.next = !self.orders.empty.val();
        } else if self.passed_count.q.val() == self.target.q.val() {
            self.due.d.next = true;
        }

        self.takes.next = !self.out_valid.q.val() | self.replay_ready.val();
        self.orders.read.next = false;
        self.forgets.read.next = false;
        if self.takes.val() {
            self.out_valid.d.next = false;
            if self.due.q.val() {
                self.out.d.next = self.orders.data_out.val();
                self.out_valid.d.next = true;
                self.orders.read.next = true;
                self.aimed.d.next = false;
                self.due.d.next = false;
            } else if !self.forgets.empty.val() {
                self.out.d.next.kind = ReplayKind::Forget;
                self.out.d.next.span = self.forgets.data_out.val();
                self.out_valid.d.next = true;
                self.forgets.read.next = true;
            }
        }
        self.replay.next = self.out.q.val();
        self.replay_valid.next = self.out_valid.q.val();
        if self.reset.val() {
            self.aimed.d.next = false;
            self.due.d.next = false;
            self.out_valid.d.next = false;
            self.begun_count.d.next = 0.into();
            self.passed_count.d.next = 0.into();
        }
    }
}

#[cfg(test)]
mod tests;
