//! What the next event of the stream manager is, as flags that hold while it is handled.
//!
//! | enters     | the next event, and the message that it is about                          |
//! | leaves     | its [`EventKind`]; what its steps find out later is still false           |
//! | latency    | 0 cycles                                                                  |
//! | throughput | one event per cycle                                                       |
use super::context::EventKind;
use super::inbox::StreamEvent;
use crate::messages::Accepted;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Decodes an event; no state.
#[derive(LogicBlock, Default)]
pub struct EventDecode {
    pub next_event: Signal<In, StreamEvent>,
    /// Accepted octets, if that is the next event.
    pub accepted: Signal<In, Accepted>,
    /// The job that has ended, if that is the next event, was a span's.
    pub done_early: Signal<In, Bit>,
    /// A span goes instead, and the event waits.
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
            | ((self.next_event.val() == StreamEvent::JobDone) & self.done_early.val());
        self.kind.next.early = self.accepted.val().early;
        self.kind.next.joining = self.accepted.val().has_right;
        self.kind.next.dropping_run = self.accepted.val().purges;
        self.kind.next.asking = self.accepted.val().asks;
        self.kind.next.opening = false;
        self.kind.next.clearing = false;
        self.kind.next.purging = false;
        self.kind.next.advancing = false;
        self.kind.next.faulting = false;
        self.kind.next.relinking = false;
    }
}
