//! A stream takes over the spans that follow it; and the spans of a range are dropped.
//!
//! ```text
//! Wait -> Fetch -> Read -> Load -> Test -> PopFetch -> PopRead -> PopLoad -> PopTest -+-> Fault
//!  ^                                |                                      |          |
//!  |                              done                                   done         v
//!  +---------- another span follows ----------------------------- Join <------------ Sum
//! ```
//!
//! | enters     | the stream's context and that of its first span, as the RAMs give them      |
//! | leaves     | result for the span: joined and freed, joined and delivered, or fault       |
//! | latency    | `go` to `done`: 5 cycles if no span is reached, 11 for each one taken over  |
//! | throughput | one stream at a time                                                        |
//!
//! A stream reaches a span when no job of the stream is in flight, and takes it over when none of
//! the span is. A span that has placed nothing is taken over even with octets queued before it, as
//! an FPDU may extend into it. If the span has placed an FPDU, these octets belong to an FPDU that
//! overlaps it: an error (MPA-055).
use super::types::StreamContext;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Step of the state machine.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum AdvanceState {
    /// Nothing; with `go` the stream's context is being written, ...
    Wait,
    /// ... and read ...
    Fetch,
    /// ... again.
    Read,
    /// It has been read.
    Load,
    /// Tests whether the stream has reached a span.
    Test,
    /// The address of the span's context is at the RAM.
    PopFetch,
    /// The RAM reads.
    PopRead,
    /// The span's context has been read.
    PopLoad,
    /// Tests whether the stream can take it over.
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
    /// A stream may have reached a span; holds to `done`.
    pub go: Signal<In, Bit>,
    /// The stream's context; valid from the cycle after `load` on.
    pub current: Signal<In, StreamContext>,
    /// The span's context; valid from the cycle after `keep_popped` on.
    pub popped: Signal<In, StreamContext>,
    /// Nothing of the stream is queued.
    pub was_empty: Signal<In, Bit>,
    /// The stream then holds enough octets for a job.
    pub complete: Signal<In, Bit>,
    /// The stream's context is at its RAM's output, or the sums are to be taken.
    pub load: Signal<Out, Bit>,
    /// The span's context is at its RAM's output.
    pub keep_popped: Signal<Out, Bit>,
    /// The stream's first span becomes the current one.
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
    // High in Load and Sum; high in Sum and Join. Registered for timing: the sums and the new
    // context depend on them.
    loads: DFF<Bit>,
    takes_over: DFF<Bit>,
    // High in Join; the number goes back at once, or after its records.
    joining: DFF<Bit>,
    freeing: DFF<Bit>,
    delivering: DFF<Bit>,
    reads_on: Signal<Local, Bit>,
}

impl Logic for SpanAdvance {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, loads, takes_over, joining, freeing, delivering);
        self.load.next = self.loads.q.val();
        self.loads.d.next = false;
        self.keep_popped.next = self.state.q.val() == AdvanceState::PopLoad;
        self.aims.next = self.state.q.val() == AdvanceState::Test;
        self.advancing.next = self.takes_over.q.val();
        self.takes_over.d.next = self.state.q.val() == AdvanceState::Sum;
        self.fault.next = self.state.q.val() == AdvanceState::Fault;
        self.joining.d.next = false;
        self.freeing.d.next = false;
        self.delivering.d.next = false;
        self.joins.next = self.joining.q.val();
        self.writes.next = self.joins.val() | self.fault.val();
        self.delivers.next = self.delivering.q.val();
        self.frees.next = self.freeing.q.val();
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
            AdvanceState::Sum => {
                self.joining.d.next = true;
                self.freeing.d.next = !self.popped.val().placed;
                self.delivering.d.next = self.popped.val().placed;
                self.state.d.next = AdvanceState::Join;
            }
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
            self.joining.d.next = false;
            self.freeing.d.next = false;
            self.delivering.d.next = false;
        }
    }
}

/// Step of the state machine.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum DropState {
    /// The address of the span's context is at the RAM.
    Fetch,
    /// The RAM reads.
    Read,
    /// The context has been read.
    Load,
    /// Tests whether a job of the span is in flight.
    Test,
    /// All octets of the span are to be consumed.
    Purge,
    /// The frame queue releases them.
    Consume,
    /// The span's number is freed, once its records are discarded.
    Free,
}

/// Drops the spans of a range, one by one.
///
/// ```text
/// begins, first --> [ the next one ] --> due     Fetch -> Read -> Load -> Test -> Purge -> Consume
///                          ^                                               |                  |
///                          +----------------- Free <-- nothing queued -----+------------------+
/// ```
///
/// | enters     | the first span of the range, and the contexts of its spans                  |
/// | leaves     | the octets and the number of each span, once                                |
/// | latency    | `go` to `done`: 5 cycles, 6 and the frame queue's where octets are queued   |
/// | throughput | one range at a time, one of its spans per `go`                              |
///
/// A span with a job in flight waits until a job has ended.
#[derive(LogicBlock, Default)]
pub struct SpanDrop {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Drops a range; only while none is `pending`.
    pub begins: Signal<In, Bit>,
    /// Its first span.
    pub first: Signal<In, Bits<9>>,
    /// A job has ended.
    pub job_ended: Signal<In, Bit>,
    /// An order to discard a span's records can be sent.
    pub forget_room: Signal<In, Bit>,
    /// Drops `span`, which is `due`; holds to `done`.
    pub go: Signal<In, Bit>,
    /// Its context; valid from the cycle after `load` on.
    pub current: Signal<In, StreamContext>,
    /// Nothing of it is queued.
    pub was_empty: Signal<In, Bit>,
    /// The frame queue has released the consumed octets.
    pub consumed: Signal<In, Bit>,
    /// More spans are to be dropped.
    pub pending: Signal<Out, Bit>,
    /// One of them can be dropped now.
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
    /// ... once its records are discarded.
    pub forgets: Signal<Out, Bit>,
    /// The last cycle.
    pub done: Signal<Out, Bit>,
    state: DFF<DropState>,
    // High in Load; high in Purge. Registered, as the sums depend on them.
    loads: DFF<Bit>,
    purges: DFF<Bit>,
    waiting: DFF<Bit>,
    next_span: DFF<Bits<9>>,
    // It has a job in flight.
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
