//! Steps of the stream manager, and what those do that are the same in every event.
//!
//! | latency    | 0 cycles                                                                  |
//! | throughput | one step per cycle                                                        |
//!
//! The order of the steps is drawn in [`super::manager_control`].
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// What the machine does.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum ManagerState {
    /// Takes the next event.
    Idle,
    /// The context's address is at the RAM.
    Fetch,
    /// The RAM reads.
    Read,
    /// The context is there: sums and differences.
    Load,
    /// Accepted octets join the queue, or are released.
    Accept,
    /// The early run that the octets follow is there.
    LeftLoad,
    /// Which span gets the octets?
    Aim,
    /// A span's context: its address goes to the RAM.
    SpanFetch,
    /// The RAM reads.
    SpanRead,
    /// The context is there, or a new one: sums.
    SpanLoad,
    /// The early run is written.
    RunWrite,
    /// TCP is told what is unfinished.
    Answer,
    /// The stream's context is there again.
    ChainLoad,
    /// It is written with another last span.
    ChainWrite,
    /// A stop or a release looks at what the connection holds.
    Settle,
    /// All that the connection holds is to be consumed.
    Purge,
    /// The frame queue gives back what is consumed.
    Consume,
    /// The context is written, the next job sent.
    Finish,
    /// The stream comes to its next spans: [`super::span_advance`].
    Advance,
    /// A run goes, span by span.
    DropSet,
    /// A span goes: [`super::span_drop`].
    Drop,
    /// A host frame becomes a job.
    Host,
    /// An empty stream is started.
    Start,
    /// A table operation that does not exist is answered.
    Refuse,
}

/// What a step does whatever the event is; no state.
#[derive(LogicBlock, Default)]
pub struct StepDecode {
    /// The step.
    pub state: Signal<In, ManagerState>,
    /// The context of the event at hand is to be read, and its early runs.
    pub fetch: Signal<Out, Bit>,
    /// The first of them is there.
    pub load_right: Signal<Out, Bit>,
    /// The other one is there.
    pub load_left: Signal<Out, Bit>,
    /// The context is the answer to what TCP asked.
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
