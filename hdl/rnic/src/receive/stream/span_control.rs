//! A stream comes to the spans that follow it, and takes them over one by one.
//!
//! ```text
//! Wait -> Fetch -> Read -> Load -> Test -> PopFetch -> PopRead -> PopLoad -> PopTest -+-> Fault
//!  ^                                |                                      |          |
//!  |                              done                                   done         v
//!  +---------- another span follows ----------------------------- Join <------------ Sum
//! ```
//!
//! | enters     | the stream's context and that of its first span, as the RAMs give them      |
//! | leaves     | what becomes of the span: joined and freed, joined and delivered, or fault  |
//! | latency    | `go` to `done`: 5 cycles to no span, 11 for each span taken over            |
//! | throughput | one stream at a time                                                        |
//!
//! It is come to when no job of the stream is out, and taken over when none of the span is. One
//! that has placed nothing is taken over with octets before it left, as an FPDU may reach into it;
//! one that has placed an FPDU is not: an FPDU that reaches into another one is an error (MPA-055).
use super::types::StreamContext;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// What the machine does.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum AdvanceState {
    /// Nothing; with `go` the stream's context is being written, ...
    Wait,
    /// ... and read ...
    Fetch,
    /// ... again.
    Read,
    /// It is there.
    Load,
    /// Has the stream come to a span?
    Test,
    /// The address of the span's context is at the RAM.
    PopFetch,
    /// The RAM reads.
    PopRead,
    /// The span's context is there.
    PopLoad,
    /// Can the stream take it over?
    PopTest,
    /// Sums of the two.
    Sum,
    /// The stream takes it over.
    Join,
    /// FPDU starts disagree.
    Fault,
}

/// Takes spans over.
#[derive(LogicBlock, Default)]
pub struct SpanAdvance {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A stream may have come to a span; holds to `done`.
    pub go: Signal<In, Bit>,
    /// The stream's context; counts from the cycle after `load` on.
    pub current: Signal<In, StreamContext>,
    /// The span's context; counts from the cycle after `keep_popped` on.
    pub popped: Signal<In, StreamContext>,
    /// Nothing of the stream is queued.
    pub was_empty: Signal<In, Bit>,
    /// What the stream then holds makes a job worth while.
    pub complete: Signal<In, Bit>,
    /// The stream's context is at its RAM's output, or the sums are to be taken.
    pub load: Signal<Out, Bit>,
    /// The span's context is at its RAM's output.
    pub keep_popped: Signal<Out, Bit>,
    /// The stream's first span is the one at hand from now on.
    pub aims: Signal<Out, Bit>,
    /// The span is being taken over.
    pub advancing: Signal<Out, Bit>,
    /// The stream's context is written.
    pub writes: Signal<Out, Bit>,
    /// The frames of the span join the stream's queue.
    pub joins: Signal<Out, Bit>,
    /// The span's number is free.
    pub frees: Signal<Out, Bit>,
    /// The span's records are delivered, and then its number is free.
    pub delivers: Signal<Out, Bit>,
    /// The stream is in error.
    pub fault: Signal<Out, Bit>,
    /// A stream job is sent.
    pub sends: Signal<Out, Bit>,
    /// The last cycle.
    pub done: Signal<Out, Bit>,
    state: DFF<AdvanceState>,
    // In Load and Sum; in Sum and Join. Sums begin with the one, and the other decides late what
    // the context becomes, so they come from registers.
    loads: DFF<Bit>,
    takes_over: DFF<Bit>,
    reads_on: Signal<Local, Bit>,
}

impl Logic for SpanAdvance {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, loads, takes_over);
        self.load.next = self.loads.q.val();
        self.loads.d.next = false;
        self.keep_popped.next = self.state.q.val() == AdvanceState::PopLoad;
        self.aims.next = self.state.q.val() == AdvanceState::Test;
        self.advancing.next = self.takes_over.q.val();
        self.takes_over.d.next = self.state.q.val() == AdvanceState::Sum;
        self.fault.next = self.state.q.val() == AdvanceState::Fault;
        self.joins.next = self.state.q.val() == AdvanceState::Join;
        self.writes.next = self.joins.val() | self.fault.val();
        self.delivers.next = self.joins.val() & self.popped.val().placed;
        self.frees.next = self.joins.val() & !self.popped.val().placed;
        self.sends.next = self.frees.val() & self.complete.val();
        self.reads_on.next =
            self.popped.val().has_next & !self.popped.val().placed & !self.complete.val();
        self.done.next = self.fault.val();
        match self.state.q.val() {
            AdvanceState::Wait => {
                if self.go.val() {
                    self.state.d.next = AdvanceState::Fetch;
                }
            }
            AdvanceState::Fetch => self.state.d.next = AdvanceState::Read,
            AdvanceState::Read => {
                self.loads.d.next = true;
                self.state.d.next = AdvanceState::Load;
            }
            AdvanceState::Load => self.state.d.next = AdvanceState::Test,
            AdvanceState::Test => {
                self.state.d.next = AdvanceState::PopFetch;
                if !self.current.val().active
                    | self.current.val().stopped
                    | self.current.val().busy
                    | !self.current.val().has_next
                {
                    self.done.next = true;
                    self.state.d.next = AdvanceState::Wait;
                }
            }
            AdvanceState::PopFetch => self.state.d.next = AdvanceState::PopRead,
            AdvanceState::PopRead => self.state.d.next = AdvanceState::PopLoad,
            AdvanceState::PopLoad => self.state.d.next = AdvanceState::PopTest,
            AdvanceState::PopTest => {
                self.state.d.next = AdvanceState::Sum;
                self.loads.d.next = true;
                self.takes_over.d.next = true;
                if self.popped.val().busy {
                    self.loads.d.next = false;
                    self.takes_over.d.next = false;
                    self.done.next = true;
                    self.state.d.next = AdvanceState::Wait;
                } else if self.popped.val().placed & !self.was_empty.val() {
                    self.loads.d.next = false;
                    self.takes_over.d.next = false;
                    self.state.d.next = AdvanceState::Fault;
                }
            }
            AdvanceState::Sum => self.state.d.next = AdvanceState::Join,
            AdvanceState::Join => {
                self.done.next = !self.reads_on.val();
                self.state.d.next = AdvanceState::Wait;
            }
            AdvanceState::Fault => self.state.d.next = AdvanceState::Wait,
        }
        if self.reset.val() {
            self.state.d.next = AdvanceState::Wait;
            self.loads.d.next = false;
            self.takes_over.d.next = false;
        }
    }
}

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

/// A run of spans that nobody waits for goes, span by span.
///
/// ```text
/// begins, first --> [ the next one ] --> due     Fetch -> Read -> Load -> Test -> Purge -> Consume
///                          ^                                               |                  |
///                          +----------------- Free <-- nothing queued -----+------------------+
/// ```
///
/// | enters     | the first span of the run, and the contexts of its spans                    |
/// | leaves     | each span, its octets and its number once                                   |
/// | latency    | `go` to `done`: 5 cycles, 6 and the frame queue's where octets are queued   |
/// | throughput | one run at a time; its spans one for each `go`                              |
///
/// A span with a job out waits: it is due again when a job has ended.
///
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
