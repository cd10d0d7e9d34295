//! Fence: when has everything that was taken in before now left?
//!
//! ```text
//! opens, closes --> commands inside --(fence)--> still to wait for --> fence_done
//! ```
//!
//! | latency    | 1 cycle if nothing is inside, else until the last command has left |
//! | throughput | one fence at a time                                                |
//! | units      | commands, at most 127 inside                                       |
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Counts commands in and out.
#[derive(LogicBlock, Init)]
pub struct Fence {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A command comes in.
    pub opens: Signal<In, Bit>,
    /// The oldest command inside has left.
    pub closes: Signal<In, Bit>,
    /// One cycle: begins a fence.
    pub fence: Signal<In, Bit>,
    /// One cycle: all that was inside at `fence` has left.
    pub fence_done: Signal<Out, Bit>,
    held: DFF<Bits<7>>,
    ahead: DFF<Bits<7>>,
    waiting: DFF<Bit>,
    #[constant(1)]
    one: Constant<Bits<7>>,
}

impl Logic for Fence {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held, ahead, waiting);
        if self.opens.val() & !self.closes.val() {
            self.held.d.next = self.held.q.val() + self.one.val();
        }
        if self.closes.val() & !self.opens.val() {
            self.held.d.next = self.held.q.val() - self.one.val();
        }
        if self.closes.val() & self.ahead.q.val().any() {
            self.ahead.d.next = self.ahead.q.val() - self.one.val();
        }
        self.fence_done.next = self.waiting.q.val() & !self.ahead.q.val().any();
        if self.fence_done.val() {
            self.waiting.d.next = false;
        }
        if self.fence.val() {
            // A command that leaves in this very cycle is not waited for.
            self.waiting.d.next = true;
            self.ahead.d.next = self.held.q.val();
            if self.closes.val() {
                self.ahead.d.next = self.held.q.val() - self.one.val();
            }
        }
        if self.reset.val() {
            self.held.d.next = 0.into();
            self.waiting.d.next = false;
        }
    }
}
