//! Control of the stream manager: the steps of each event, one event at a time.
//!
//! ```text
//! Idle -+-> Host, Start or Refuse -------------------------------------> Idle
//!       +-> Fetch -> Read -> Load -+-> Accept ------------------------> Idle or (A)
//!       |                          |     \-> (S): spans follow the stream already
//!       |                          +-> LeftLoad -> Aim -> (S)          octets beyond a gap
//!       |                          +-> Answer ------------------------> Idle   a query
//!       |                          +-> Consume -----------> Finish ---> Idle or (A)
//!       |                          |    ^  | of a stopped     ^
//!       |                          |    |  v connection       |
//!       |                          |   Purge                  |
//!       |                          |    ^ octets queued       | none, or a job in flight
//!       |                          +-> Inspect ---------------+
//!       |                          +-> DropSet -----------------------> Idle   dropped
//!       +-> (D) if a span is to be dropped
//!
//! (S) octets join a span:
//!       [ SpanFetch -> SpanRead ] -> SpanLoad -> Accept -> RangeWrite --> Idle
//!       of the stream's chain, with more after it: -> ChainLoad -> ChainWrite -> Idle
//! (A) a stream advances: Advance, while [`super::span_control`] works
//! (D) a span is dropped: Drop, while [`super::span_control`] works
//! ```
//!
//! | enters     | the next event, and its results in the other blocks of the manager          |
//! | leaves     | the event, decoded, and the actions of each of its steps                    |
//! | latency    | `next_event` to its `take_*`: accepted octets 4 cycles, 8 to 10 where they  |
//! |            | are beyond a gap; a query 4; a `job_done` 4 and the time of the frame       |
//! |            | queue; a host frame or a start 1; a stop or release 5, and 1 or more if     |
//! |            | octets are queued                                                           |
//! | throughput | one event at a time: a context is written back before the next one is read  |
//!
//! Octets beyond a gap are kept in any state of the stream, as they are not part of its queue. When
//! a gap closes, the range after it becomes a chain of spans that follows the stream, which takes
//! them over one by one ([`super::span_control`]).
//!
//! A release that finds a job in flight marks the connection stopped and is retried after a
//! `job_done`; one that finds spans after the stream is retried when they are dropped. A span to
//! be dropped waits for its job, too. A stopped stream keeps its spans until it is released.
use super::arbiter::StreamEvent;
use super::span_control::{SpanAdvance, SpanDrop};
use super::types::{EventKind, RangeSpans, StreamContext};
use crate::messages::{Accepted, JobDone};
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// State machine of the stream manager.
#[derive(LogicBlock, Default)]
pub struct ManagerControl {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub next_event: Signal<In, StreamEvent>,
    /// Its connection.
    pub next_connection: Signal<In, Bits<10>>,
    /// Accepted octets, if that is the next event.
    pub next_accepted: Signal<In, Accepted>,
    /// The ended job, if that is the next event.
    pub next_done: Signal<In, JobDone>,
    /// The stored context; valid from the cycle after `load` on.
    pub current: Signal<In, StreamContext>,
    /// The span that the stream has reached; valid from the cycle after `keep_popped` on.
    pub popped: Signal<In, StreamContext>,
    /// The range that follows the octets, or is dropped.
    pub right_range: Signal<In, RangeSpans>,
    /// The range that the octets follow.
    pub left_range: Signal<In, RangeSpans>,
    /// A free span.
    pub new_span: Signal<In, Bits<9>>,
    /// Nothing is queued.
    pub was_empty: Signal<In, Bit>,
    /// With the accepted octets, enough are queued for a job.
    pub complete: Signal<In, Bit>,
    /// After a job, enough are queued for another one.
    pub enough: Signal<In, Bit>,
    /// The frame queue has released the consumed octets.
    pub consumed: Signal<In, Bit>,
    /// A dropped frame can be released.
    pub drop_ready: Signal<In, Bit>,
    /// An order to discard a span's records can be sent.
    pub forget_room: Signal<In, Bit>,
    pub at_hand: Signal<Out, EventKind>,
    /// Its connection.
    pub connection: Signal<Out, Bits<10>>,
    /// The current span.
    pub span: Signal<Out, Bits<9>>,
    /// A context is at its RAM's output.
    pub load: Signal<Out, Bit>,
    /// The context of the span that the stream has reached is at its RAM's output.
    pub keep_popped: Signal<Out, Bit>,
    /// All queued octets are to be consumed.
    pub purge: Signal<Out, Bit>,
    /// Octets are being consumed.
    pub consume: Signal<Out, Bit>,
    /// The accepted frame joins a queue.
    pub append: Signal<Out, Bit>,
    /// The frames of the span that is taken over join the stream's queue.
    pub append_span: Signal<Out, Bit>,
    /// The context of the event at hand is to be read, and its out-of-order ranges.
    pub fetch: Signal<Out, Bit>,
    /// The right range has been read.
    pub load_right: Signal<Out, Bit>,
    /// The left range has been read.
    pub load_left: Signal<Out, Bit>,
    /// `current` is the answer to TCP's query.
    pub answer: Signal<Out, Bit>,
    /// An out-of-order range is written.
    pub write_range: Signal<Out, Bit>,
    /// The accepted frame is released.
    pub drop_frame: Signal<Out, Bit>,
    /// The stream's context is written.
    pub write_context: Signal<Out, Bit>,
    /// The span's context is written.
    pub write_span: Signal<Out, Bit>,
    /// `new_span` is taken.
    pub take_span: Signal<Out, Bit>,
    /// The span's number is free.
    pub free_span: Signal<Out, Bit>,
    /// ... once its records are discarded.
    pub forget: Signal<Out, Bit>,
    /// The span's records are delivered, and then its number is free.
    pub deliver: Signal<Out, Bit>,
    /// The stream is in error.
    pub fault: Signal<Out, Bit>,
    /// A stream job is sent.
    pub send: Signal<Out, Bit>,
    /// A job for a host frame is sent.
    pub send_host: Signal<Out, Bit>,
    /// A release waits for its connection's job.
    pub release_waits: Signal<Out, Bit>,
    /// More spans are to be dropped.
    pub drop_pending: Signal<Out, Bit>,
    /// The message has been handled, here and below.
    pub take_accepted: Signal<Out, Bit>,
    pub take_host: Signal<Out, Bit>,
    pub take_done: Signal<Out, Bit>,
    pub take_stream_error: Signal<Out, Bit>,
    /// The table operation is done.
    pub take_request: Signal<Out, Bit>,
    decode: EventDecode,
    step: StepDecode,
    advance: SpanAdvance,
    drops: SpanDrop,
    state: DFF<ManagerState>,
    // High in Load, SpanLoad and ChainLoad; high in Purge. Registered, as the sums depend on them.
    loads: DFF<Bit>,
    purges: DFF<Bit>,
    kind: DFF<EventKind>,
    kind_connection: DFF<Bits<10>>,
    span_at: DFF<Bits<9>>,
    // A release is retried after the connection's `job_done`.
    waits: DFF<Bit>,
    wanted: Signal<Local, Bit>,
    follows_spans: Signal<Local, Bit>,
    frame_done: Signal<Local, Bit>,
}

impl Logic for ManagerControl {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; state, loads, purges, kind, kind_connection, span_at, waits);
        self.at_hand.next = self.kind.q.val();
        self.at_hand.next.advancing = self.advance.advancing.val();
        self.at_hand.next.faulting = self.advance.fault.val();
        self.connection.next = self.kind_connection.q.val();
        self.span.next = self.span_at.q.val();
        self.release_waits.next = self.waits.q.val();
        // Accepted octets of this connection are queued.
        self.wanted.next = self.current.val().active & !self.current.val().stopped;
        // ... and the octets before them are in a span.
        self.follows_spans.next =
            !self.kind.q.val().of_span & self.current.val().has_next & self.wanted.val();

        self.step.state.next = self.state.q.val();
        self.load.next = self.loads.q.val() | self.advance.load.val() | self.drops.load.val();
        self.loads.d.next = false;
        self.purges.d.next = false;
        self.keep_popped.next = self.advance.keep_popped.val();
        self.purge.next = self.purges.q.val() | self.drops.purge.val();
        wire!(self.step => self; send_host, fetch, load_right, load_left, answer);

        // Dropping a span has priority.
        wire!(self => self.drops; clock, reset);
        self.drops.go.next = self.state.q.val() == ManagerState::Drop;
        self.drops.begins.next = false;
        self.drops.first.next = self.right_range.val().first;
        self.drops.job_ended.next = false;
        wire!(self => self.drops; current, was_empty, consumed, forget_room);
        self.drop_pending.next = self.drops.pending.val();
        self.decode.drops.next = self.drops.due.val();
        wire!(self => self.decode; next_event, next_accepted as accepted);
        self.decode.done_ooo.next = self.next_done.val().ooo;
        wire!(self => self.advance; clock, reset);
        self.advance.go.next = self.state.q.val() == ManagerState::Advance;
        wire!(self => self.advance; current, popped, was_empty, complete);
        self.consume.next = self.drops.consume.val();
        self.append.next = false;
        self.append_span.next = self.advance.joins.val();
        self.drop_frame.next = false;
        self.write_range.next = false;
        self.write_context.next = self.advance.writes.val();
        self.write_span.next = false;
        self.take_span.next = false;
        self.free_span.next = self.advance.frees.val() | self.drops.frees.val();
        self.forget.next = self.drops.forgets.val();
        wire!(self.advance => self; delivers as deliver, fault, sends as send);
        self.frame_done.next = false;
        match self.state.q.val() {
            ManagerState::Idle => {
                self.kind_connection.d.next = self.next_connection.val();
                self.span_at.d.next = self.next_done.val().span;
                self.kind.d.next = self.decode.kind.val();
                match self.next_event.val() {
                    StreamEvent::Nothing => {}
                    StreamEvent::Host => self.state.d.next = ManagerState::Host,
                    StreamEvent::Start => self.state.d.next = ManagerState::Start,
                    StreamEvent::Refuse => self.state.d.next = ManagerState::Refuse,
                    _ => self.state.d.next = ManagerState::Fetch,
                }
                if self.drops.due.val() {
                    self.span_at.d.next = self.drops.span.val();
                    self.state.d.next = ManagerState::Drop;
                }
            }
            ManagerState::Fetch => self.state.d.next = ManagerState::Read,
            ManagerState::Read => {
                self.loads.d.next = true;
                self.state.d.next = ManagerState::Load;
            }
            ManagerState::Load => {
                self.state.d.next = ManagerState::Inspect;
                if self.kind.q.val().finishing {
                    self.state.d.next = ManagerState::Consume;
                }
                if self.kind.q.val().accepting {
                    self.state.d.next = ManagerState::Accept;
                    if self.kind.q.val().asking {
                        self.state.d.next = ManagerState::Answer;
                    } else if self.kind.q.val().dropping_range {
                        self.state.d.next = ManagerState::DropSet;
                    } else if self.kind.q.val().ooo {
                        self.state.d.next = ManagerState::LeftLoad;
                    }
                }
            }
            ManagerState::LeftLoad => self.state.d.next = ManagerState::Aim,
            ManagerState::Aim => {
                self.kind.d.next.of_span = true;
                if self.next_accepted.val().has_left {
                    self.span_at.d.next = self.left_range.val().last;
                    self.state.d.next = ManagerState::SpanFetch;
                } else {
                    self.kind.d.next.opening = true;
                    self.span_at.d.next = self.new_span.val();
                    self.loads.d.next = true;
                    self.state.d.next = ManagerState::SpanLoad;
                }
            }
            ManagerState::SpanFetch => self.state.d.next = ManagerState::SpanRead,
            ManagerState::SpanRead => {
                self.loads.d.next = true;
                self.state.d.next = ManagerState::SpanLoad;
            }
            ManagerState::SpanLoad => self.state.d.next = ManagerState::Accept,
            ManagerState::Accept => {
                if self.kind.q.val().of_span {
                    self.append.next = true;
                    self.write_span.next = true;
                    self.send.next = self.complete.val();
                    self.take_span.next = self.kind.q.val().opening;
                    self.state.d.next = ManagerState::RangeWrite;
                } else if self.follows_spans.val() {
                    self.kind.d.next.of_span = true;
                    self.span_at.d.next = self.current.val().last_span;
                    self.state.d.next = ManagerState::SpanFetch;
                } else if self.wanted.val() {
                    self.append.next = true;
                    self.write_context.next = true;
                    self.send.next = self.complete.val();
                    self.frame_done.next = true;
                    self.state.d.next = ManagerState::Idle;
                    if self.kind.q.val().joining & !self.complete.val() & !self.current.val().busy {
                        self.kind.d.next.accepting = false;
                        self.state.d.next = ManagerState::Advance;
                    }
                } else {
                    self.drop_frame.next = true;
                    self.frame_done.next = self.drop_ready.val();
                    if self.drop_ready.val() {
                        self.state.d.next = ManagerState::Idle;
                        if self.kind.q.val().joining {
                            self.state.d.next = ManagerState::DropSet;
                        }
                    }
                }
            }
            ManagerState::RangeWrite => {
                self.write_range.next = self.kind.q.val().ooo;
                self.frame_done.next = true;
                self.state.d.next = ManagerState::Idle;
                if !self.kind.q.val().ooo & self.kind.q.val().joining {
                    self.kind.d.next.accepting = false;
                    self.kind.d.next.of_span = false;
                    self.kind.d.next.relinking = true;
                    self.loads.d.next = true;
                    self.state.d.next = ManagerState::ChainLoad;
                }
            }
            ManagerState::ChainLoad => self.state.d.next = ManagerState::ChainWrite,
            ManagerState::ChainWrite => {
                self.write_context.next = true;
                self.state.d.next = ManagerState::Idle;
            }
            ManagerState::Answer => {
                self.frame_done.next = true;
                self.state.d.next = ManagerState::Idle;
            }
            ManagerState::Inspect => {
                self.kind.d.next.clearing = self.kind.q.val().releasing
                    & !self.current.val().busy
                    & !self.current.val().has_next;
                self.state.d.next = ManagerState::Finish;
                if !self.current.val().busy & !self.was_empty.val() {
                    self.purges.d.next = true;
                    self.state.d.next = ManagerState::Purge;
                }
            }
            ManagerState::Purge => {
                self.kind.d.next.purging = true;
                self.state.d.next = ManagerState::Consume;
            }
            ManagerState::Consume => {
                if self.was_empty.val() {
                    self.state.d.next = ManagerState::Finish;
                } else if self.current.val().stopped & !self.kind.q.val().purging {
                    self.purges.d.next = true;
                    self.state.d.next = ManagerState::Purge;
                } else {
                    self.consume.next = true;
                    if self.consumed.val() {
                        self.state.d.next = ManagerState::Finish;
                    }
                }
            }
            ManagerState::Finish => {
                self.write_context.next = !self.kind.q.val().of_span;
                self.write_span.next = self.kind.q.val().of_span;
                self.state.d.next = ManagerState::Idle;
                if self.kind.q.val().finishing {
                    self.send.next = self.enough.val();
                    self.waits.d.next = false;
                    self.drops.job_ended.next = true;
                    if !self.enough.val()
                        & (self.kind.q.val().of_span | self.current.val().has_next)
                    {
                        self.state.d.next = ManagerState::Advance;
                    }
                }
                if self.kind.q.val().releasing {
                    self.drops.begins.next = self.current.val().has_next;
                    self.drops.first.next = self.current.val().next_span;
                    self.waits.d.next = self.current.val().busy;
                }
            }
            ManagerState::Advance => {
                self.kind.d.next.finishing = false;
                self.kind.d.next.of_span = false;
                if self.advance.aims.val() {
                    self.span_at.d.next = self.current.val().next_span;
                }
                if self.advance.done.val() {
                    self.state.d.next = ManagerState::Idle;
                }
            }
            ManagerState::DropSet => {
                self.frame_done.next = self.kind.q.val().dropping_range;
                self.drops.begins.next = true;
                self.state.d.next = ManagerState::Idle;
            }
            ManagerState::Drop => {
                if self.drops.done.val() {
                    self.state.d.next = ManagerState::Idle;
                }
            }
            ManagerState::Start => {
                self.write_context.next = true;
                self.state.d.next = ManagerState::Idle;
            }
            _ => self.state.d.next = ManagerState::Idle,
        }
        // Handled messages leave their queues.
        self.take_host.next = self.state.q.val() == ManagerState::Host;
        self.take_done.next =
            (self.state.q.val() == ManagerState::Finish) & self.kind.q.val().finishing;
        self.take_stream_error.next =
            (self.state.q.val() == ManagerState::Finish) & self.kind.q.val().stopping;
        self.take_accepted.next = self.frame_done.val();
        self.take_request.next = (self.state.q.val() == ManagerState::Start)
            | (self.state.q.val() == ManagerState::Refuse)
            | ((self.state.q.val() == ManagerState::Finish) & self.kind.q.val().clearing);

        if self.reset.val() {
            self.state.d.next = ManagerState::Idle;
            self.loads.d.next = false;
            self.purges.d.next = false;
            self.waits.d.next = false;
        }
    }
}

/// Step of the event in progress.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum ManagerState {
    /// Takes the next event.
    Idle,
    /// The context's address is at the RAM.
    Fetch,
    /// The RAM reads.
    Read,
    /// The context has been read: sums and differences.
    Load,
    /// Accepted octets join the queue, or are released.
    Accept,
    /// The out-of-order range that the octets follow has been read.
    LeftLoad,
    /// Selects the span for the octets.
    Aim,
    /// The span's context: its address is at the RAM.
    SpanFetch,
    /// The RAM reads.
    SpanRead,
    /// The context has been read, or is new: sums.
    SpanLoad,
    /// The out-of-order range is written.
    RangeWrite,
    /// TCP gets the FPDU status.
    Answer,
    /// Loads the stream's context again.
    ChainLoad,
    /// Writes it with its new last span.
    ChainWrite,
    /// A stop or a release checks what the connection holds.
    Inspect,
    /// All of it is to be consumed.
    Purge,
    /// The frame queue releases the consumed octets.
    Consume,
    /// The context is written, the next job sent.
    Finish,
    /// The stream reaches its next spans: [`super::span_control`].
    Advance,
    /// Begins to drop a range, span by span.
    DropSet,
    /// Drops a span: [`super::span_control`].
    Drop,
    /// A host frame becomes a job.
    Host,
    /// An empty stream is started.
    Start,
    /// An unknown table operation is acknowledged.
    Refuse,
}

/// Actions of a step that do not depend on the event; combinational.
#[derive(LogicBlock, Default)]
pub struct StepDecode {
    /// The step.
    pub state: Signal<In, ManagerState>,
    /// The context of the event at hand is to be read, and its out-of-order ranges.
    pub fetch: Signal<Out, Bit>,
    pub load_right: Signal<Out, Bit>,
    pub load_left: Signal<Out, Bit>,
    /// The context is the answer to TCP's query.
    pub answer: Signal<Out, Bit>,
    /// A job for a host frame is sent.
    pub send_host: Signal<Out, Bit>,
}

impl Logic for StepDecode {
    #[kernel]
    fn update(&mut self) {
        self.send_host.next = self.state.val() == ManagerState::Host;
        self.fetch.next = self.state.val() == ManagerState::Fetch;
        self.load_right.next = self.state.val() == ManagerState::Load;
        self.load_left.next = self.state.val() == ManagerState::LeftLoad;
        self.answer.next = self.state.val() == ManagerState::Answer;
    }
}

/// Decodes the next event into an [`EventKind`], with the flags that its steps set still false;
/// combinational.
#[derive(LogicBlock, Default)]
pub struct EventDecode {
    pub next_event: Signal<In, StreamEvent>,
    /// Accepted octets, if that is the next event.
    pub accepted: Signal<In, Accepted>,
    /// The ended job, if that is the next event, was a span's.
    pub done_ooo: Signal<In, Bit>,
    /// A span is dropped instead, and the event waits.
    pub drops: Signal<In, Bit>,
    /// The event.
    pub kind: Signal<Out, EventKind>,
    comes: Signal<Local, Bit>,
}

impl Logic for EventDecode {
    #[kernel]
    fn update(&mut self) {
        self.comes.next = !self.drops.val();
        self.kind.next.accepting =
            self.comes.val() & (self.next_event.val() == StreamEvent::Accept);
        self.kind.next.finishing =
            self.comes.val() & (self.next_event.val() == StreamEvent::JobDone);
        self.kind.next.starting = self.comes.val() & (self.next_event.val() == StreamEvent::Start);
        self.kind.next.hosting = self.comes.val() & (self.next_event.val() == StreamEvent::Host);
        self.kind.next.stopping = self.comes.val() & (self.next_event.val() == StreamEvent::Stop);
        self.kind.next.releasing =
            self.comes.val() & (self.next_event.val() == StreamEvent::Release);
        self.kind.next.of_span = self.drops.val()
            | ((self.next_event.val() == StreamEvent::JobDone) & self.done_ooo.val());
        self.kind.next.ooo = self.accepted.val().ooo;
        self.kind.next.joining = self.accepted.val().has_right;
        self.kind.next.dropping_range = self.accepted.val().purges;
        self.kind.next.asking = self.accepted.val().queries;
        self.kind.next.opening = false;
        self.kind.next.clearing = false;
        self.kind.next.purging = false;
        self.kind.next.advancing = false;
        self.kind.next.faulting = false;
        self.kind.next.relinking = false;
    }
}

#[cfg(test)]
mod tests;
