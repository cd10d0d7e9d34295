//! A run of spans that nobody waits for goes, span by span.
//!
//! ```text
//! begins, first --> [ the next one ] --> due     Fetch -> Read -> Load -> Test -> Purge -> Consume
//!                          ^                                               |                  |
//!                          +----------------- Free <-- nothing queued -----+------------------+
//! ```
//!
//! | enters     | the first span of the run, and the contexts of its spans                    |
//! | leaves     | each span, its octets and its number once                                   |
//! | latency    | `go` to `done`: 5 cycles, 6 and the frame queue's where octets are queued   |
//! | throughput | one run at a time; its spans one for each `go`                              |
//!
//! A span with a job out waits: it is due again when a job has ended.
use super::context::StreamContext;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// What the machine does.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum DropState {
    /// The address of the span's context is at the RAM.
    Fetch,
    /// The RAM reads.
    Read,
    /// The context is there.
    Load,
    /// Is a job of the span out?
    Test,
    /// All octets of the span are to be consumed.
    Purge,
    /// The frame queue gives them back.
    Consume,
    /// The span's number is free, or its records go first.
    Free,
}

/// Gives the spans of a run back.
#[derive(LogicBlock, Default)]
pub struct SpanDrop {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A run has to go; only while none is `pending`.
    pub begins: Signal<In, Bit>,
    /// Its first span.
    pub first: Signal<In, Bits<9>>,
    /// A job has ended.
    pub job_ended: Signal<In, Bit>,
    /// A span's records can be forgotten.
    pub forget_room: Signal<In, Bit>,
    /// The span that is due goes; holds to `done`.
    pub go: Signal<In, Bit>,
    /// Its context; counts from the cycle after `load` on.
    pub current: Signal<In, StreamContext>,
    /// Nothing of it is queued.
    pub was_empty: Signal<In, Bit>,
    /// The frame queue has given back what is consumed.
    pub consumed: Signal<In, Bit>,
    /// Spans have still to go.
    pub pending: Signal<Out, Bit>,
    /// One can.
    pub due: Signal<Out, Bit>,
    /// Its number.
    pub span: Signal<Out, Bits<9>>,
    /// Its context is at the RAM's output.
    pub load: Signal<Out, Bit>,
    /// All octets queued are to be consumed.
    pub purge: Signal<Out, Bit>,
    /// Octets are being consumed.
    pub consume: Signal<Out, Bit>,
    /// The span's number is free.
    pub frees: Signal<Out, Bit>,
    /// ... when its records are forgotten.
    pub forgets: Signal<Out, Bit>,
    /// The last cycle.
    pub done: Signal<Out, Bit>,
    state: DFF<DropState>,
    // In Load; in Purge: the sums begin with them.
    loads: DFF<Bit>,
    purges: DFF<Bit>,
    waiting: DFF<Bit>,
    next_span: DFF<Bits<9>>,
    // It has a job out.
    job_out: DFF<Bit>,
    leaves: Signal<Local, Bit>,
}

impl Logic for SpanDrop {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, loads, purges, waiting, next_span, job_out);
        self.pending.next = self.waiting.q.val();
        self.due.next = self.waiting.q.val() & !self.job_out.q.val() & self.forget_room.val();
        self.span.next = self.next_span.q.val();
        self.load.next = self.loads.q.val();
        self.loads.d.next = self.state.q.val() == DropState::Read;
        self.purge.next = self.purges.q.val();
        self.purges.d.next = false;
        self.consume.next = self.state.q.val() == DropState::Consume;
        self.leaves.next = self.state.q.val() == DropState::Free;
        self.frees.next = self.leaves.val() & !self.current.val().placed;
        self.forgets.next = self.leaves.val() & self.current.val().placed;
        self.done.next = self.leaves.val();
        if self.begins.val() {
            self.waiting.d.next = true;
            self.next_span.d.next = self.first.val();
        }
        if self.job_ended.val() {
            self.job_out.d.next = false;
        }
        match self.state.q.val() {
            DropState::Fetch => {
                if self.go.val() {
                    self.state.d.next = DropState::Read;
                }
            }
            DropState::Read => self.state.d.next = DropState::Load,
            DropState::Load => self.state.d.next = DropState::Test,
            DropState::Test => {
                self.state.d.next = DropState::Purge;
                self.purges.d.next = true;
                if self.current.val().busy {
                    self.purges.d.next = false;
                    self.job_out.d.next = true;
                    self.done.next = true;
                    self.state.d.next = DropState::Fetch;
                } else if self.was_empty.val() {
                    self.purges.d.next = false;
                    self.state.d.next = DropState::Free;
                }
            }
            DropState::Purge => self.state.d.next = DropState::Consume,
            DropState::Consume => {
                if self.consumed.val() {
                    self.state.d.next = DropState::Free;
                }
            }
            DropState::Free => {
                self.waiting.d.next = self.current.val().has_next;
                self.next_span.d.next = self.current.val().next_span;
                self.state.d.next = DropState::Fetch;
            }
        }
        if self.reset.val() {
            self.state.d.next = DropState::Fetch;
            self.loads.d.next = false;
            self.purges.d.next = false;
            self.waiting.d.next = false;
            self.job_out.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
