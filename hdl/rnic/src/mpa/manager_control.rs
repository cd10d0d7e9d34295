//! Control of the stream manager: the steps of each event, one event at a time.
//!
//! ```text
//! Idle -+-> Host, Start or Refuse ------------------------------------> Idle
//!       |
//!       +-> Fetch -> Read -> Load
//!                     |
//!                     +-> Accept --------------------------------------> Idle
//!                     +-> Gather -> Sum -> Accept -> Join -------------> Idle  (a gap closes)
//!                     +-> LeftLoad -> EarlyAppend ( -> EarlyJoin ) -> EarlyWrite -> Idle
//!                     +-> RunPurge -> RunConsume -> RunDone -----------> Idle  (nobody waits)
//!                     +-> Answer --------------------------------------> Idle  (TCP asks)
//!                     +-> Consume ------------> Finish ----------------> Idle
//!                     |    ^  | of a stopped      ^
//!                     |    |  v connection        |
//!                     |   Purge                   |
//!                     |    ^ octets queued        | none, or a job is out
//!                     +-> Settle -----------------+
//! ```
//!
//! | enters     | the next event, and what the blocks beside find out about it                |
//! | leaves     | the event, decoded, and what each of its steps does                         |
//! | latency    | `next_event` to its `take_*`: accepted octets 4 cycles, 7 where they close  |
//! |            | a gap, 7 or 8 where they lie beyond one; a question 4; a `job_done` 4 and   |
//! |            | what the frame queue takes, a host frame or a start 1, a stop or release 5, |
//! |            | and 1 and the frame queue's where octets are queued                         |
//! | throughput | one event at a time: a context is written back before the next one is read  |
//!
//! Octets beyond a gap are kept whatever the stream's state is: they are none of its queue. A run
//! that joins a stream nobody reads any more is released as the frame before it is.
//!
//! A release that finds a job out is not taken: it marks the connection stopped, and comes again
//! after the connection's `job_done`.
use super::context::{EventKind, StreamContext};
use super::inbox::StreamEvent;
use crate::messages::Accepted;
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
    /// The octets of the early run that follows are added.
    Gather,
    /// The sums are taken anew.
    Sum,
    /// Accepted octets join the queue, or are released.
    Accept,
    /// The early run that follows them joins the queue.
    Join,
    /// The early run that the octets follow is there.
    LeftLoad,
    /// Octets beyond a gap join an early run, or open one.
    EarlyAppend,
    /// The early run that follows them joins it.
    EarlyJoin,
    /// The early run is written.
    EarlyWrite,
    /// All octets of an early run are to be consumed.
    RunPurge,
    /// The frame queue gives them back.
    RunConsume,
    /// They are gone, and the message with them.
    RunDone,
    /// TCP is told what is unfinished.
    Answer,
    /// A stop or a release looks at what the connection holds.
    Settle,
    /// All that the connection holds is to be consumed.
    Purge,
    /// The frame queue gives back what is consumed.
    Consume,
    /// The context is written, the next job sent.
    Finish,
    /// A host frame becomes a job.
    Host,
    /// An empty stream is started.
    Start,
    /// A table operation that does not exist is answered.
    Refuse,
}

/// State machine of the stream manager.
#[derive(LogicBlock, Default)]
pub struct ManagerControl {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; forgets the event at hand.
    pub reset: Signal<In, Bit>,
    /// What to do next.
    pub next_event: Signal<In, StreamEvent>,
    /// For which connection.
    pub next_connection: Signal<In, Bits<10>>,
    /// Accepted octets, if that is the next event.
    pub next_accepted: Signal<In, Accepted>,
    /// The context as it was kept; counts from the cycle after `load` on.
    pub current: Signal<In, StreamContext>,
    /// Accepted octets make a job worth while.
    pub complete: Signal<In, Bit>,
    /// What a job left makes another one worth while.
    pub enough: Signal<In, Bit>,
    /// The frame queue has given back what is consumed.
    pub consumed: Signal<In, Bit>,
    /// A frame that is not wanted can be released.
    pub drop_ready: Signal<In, Bit>,
    /// The event at hand.
    pub at_hand: Signal<Out, EventKind>,
    /// Its connection.
    pub connection: Signal<Out, Bits<10>>,
    /// The context is at the RAM's output.
    pub load: Signal<Out, Bit>,
    /// All octets queued are to be consumed.
    pub purge: Signal<Out, Bit>,
    /// Octets are being consumed.
    pub consume: Signal<Out, Bit>,
    /// The accepted frame joins a queue.
    pub append: Signal<Out, Bit>,
    /// The head of the early run that follows it joins that queue.
    pub append_run: Signal<Out, Bit>,
    /// The context of the event at hand is to be read, and its early runs.
    pub fetch: Signal<Out, Bit>,
    /// The first of them is there.
    pub load_right: Signal<Out, Bit>,
    /// The octets of the first are added to those accepted: `load` comes a second time.
    pub gathered: Signal<Out, Bit>,
    /// The other one is there.
    pub load_left: Signal<Out, Bit>,
    /// The accepted frame was queued: the slot that it took is gone.
    pub frame_kept: Signal<Out, Bit>,
    /// `current` is the answer to what TCP asked.
    pub answer: Signal<Out, Bit>,
    /// An early run is written.
    pub write_run: Signal<Out, Bit>,
    /// All octets of the early run that was read are to be consumed.
    pub purge_run: Signal<Out, Bit>,
    /// The accepted frame is released.
    pub drop_frame: Signal<Out, Bit>,
    /// The context is written.
    pub write_context: Signal<Out, Bit>,
    /// A stream job is sent.
    pub send: Signal<Out, Bit>,
    /// A job for a host frame is sent.
    pub send_host: Signal<Out, Bit>,
    /// A release waits for its connection's job.
    pub release_waits: Signal<Out, Bit>,
    /// The accepted octets are done with.
    pub take_accepted: Signal<Out, Bit>,
    /// The host frame is done with.
    pub take_host: Signal<Out, Bit>,
    /// The ended job is done with.
    pub take_done: Signal<Out, Bit>,
    /// The stop is done with.
    pub take_stopped: Signal<Out, Bit>,
    /// The table operation is done.
    pub take_request: Signal<Out, Bit>,
    state: DFF<ManagerState>,
    kind: DFF<EventKind>,
    kind_connection: DFF<Bits<10>>,
    // Tried again after the connection's `job_done`.
    waits: DFF<Bit>,
    wanted: Signal<Local, Bit>,
    arrives: Signal<Local, Bit>,
    frame_done: Signal<Local, Bit>,
}

impl Logic for ManagerControl {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, kind, kind_connection, waits);
        self.at_hand.next = self.kind.q.val();
        self.connection.next = self.kind_connection.q.val();
        self.release_waits.next = self.waits.q.val();
        // Accepted octets of this connection are queued.
        self.wanted.next = self.current.val().active & !self.current.val().stopped;

        self.load.next =
            (self.state.q.val() == ManagerState::Load) | (self.state.q.val() == ManagerState::Sum);
        self.gathered.next = self.state.q.val() == ManagerState::Sum;
        self.purge.next = self.state.q.val() == ManagerState::Purge;
        self.send_host.next = self.state.q.val() == ManagerState::Host;
        self.consume.next = false;
        self.append.next = false;
        self.drop_frame.next = false;
        self.append_run.next = false;
        self.fetch.next = self.state.q.val() == ManagerState::Fetch;
        self.load_right.next = self.state.q.val() == ManagerState::Load;
        self.load_left.next = self.state.q.val() == ManagerState::LeftLoad;
        self.answer.next = self.state.q.val() == ManagerState::Answer;
        self.write_run.next = self.state.q.val() == ManagerState::EarlyWrite;
        self.purge_run.next = self.state.q.val() == ManagerState::RunPurge;
        self.write_context.next = false;
        self.send.next = false;
        self.arrives.next = self.next_event.val() == StreamEvent::Accept;
        self.frame_done.next = false;
        match self.state.q.val() {
            ManagerState::Idle => {
                self.kind_connection.d.next = self.next_connection.val();
                self.kind.d.next.accepting = self.arrives.val();
                self.kind.d.next.early = self.next_accepted.val().early;
                self.kind.d.next.joining = self.next_accepted.val().has_right;
                self.kind.d.next.dropping_run = self.next_accepted.val().purges;
                self.kind.d.next.asking = self.next_accepted.val().asks;
                self.kind.d.next.finishing = self.next_event.val() == StreamEvent::JobDone;
                self.kind.d.next.starting = self.next_event.val() == StreamEvent::Start;
                self.kind.d.next.hosting = self.next_event.val() == StreamEvent::Host;
                self.kind.d.next.stopping = self.next_event.val() == StreamEvent::Stop;
                self.kind.d.next.releasing = self.next_event.val() == StreamEvent::Release;
                self.kind.d.next.clearing = false;
                self.kind.d.next.purging = false;
                match self.next_event.val() {
                    StreamEvent::Nothing => {}
                    StreamEvent::Host => self.state.d.next = ManagerState::Host,
                    StreamEvent::Start => self.state.d.next = ManagerState::Start,
                    StreamEvent::Refuse => self.state.d.next = ManagerState::Refuse,
                    _ => self.state.d.next = ManagerState::Fetch,
                }
            }
            ManagerState::Fetch => self.state.d.next = ManagerState::Read,
            ManagerState::Read => self.state.d.next = ManagerState::Load,
            ManagerState::Load => {
                self.state.d.next = ManagerState::Settle;
                if self.kind.q.val().finishing {
                    self.state.d.next = ManagerState::Consume;
                }
                if self.kind.q.val().accepting {
                    self.state.d.next = ManagerState::Accept;
                    if self.kind.q.val().asking {
                        self.state.d.next = ManagerState::Answer;
                    } else if self.kind.q.val().dropping_run {
                        self.state.d.next = ManagerState::RunPurge;
                    } else if self.kind.q.val().early {
                        self.state.d.next = ManagerState::LeftLoad;
                    } else if self.kind.q.val().joining {
                        self.state.d.next = ManagerState::Gather;
                    }
                }
            }
            ManagerState::Gather => self.state.d.next = ManagerState::Sum,
            ManagerState::Sum => self.state.d.next = ManagerState::Accept,
            ManagerState::Accept => {
                self.append.next = self.wanted.val();
                self.drop_frame.next = !self.wanted.val();
                self.write_context.next = self.wanted.val() & !self.kind.q.val().joining;
                self.send.next =
                    self.wanted.val() & self.complete.val() & !self.kind.q.val().joining;
                if self.wanted.val() | self.drop_ready.val() {
                    self.state.d.next = ManagerState::Idle;
                    self.frame_done.next = !self.kind.q.val().joining;
                    if self.kind.q.val().joining & self.wanted.val() {
                        self.state.d.next = ManagerState::Join;
                    } else if self.kind.q.val().joining {
                        self.state.d.next = ManagerState::RunPurge;
                    }
                }
            }
            ManagerState::Join => {
                self.append_run.next = true;
                self.write_context.next = true;
                self.send.next = self.complete.val();
                self.frame_done.next = true;
                self.state.d.next = ManagerState::Idle;
            }
            ManagerState::LeftLoad => self.state.d.next = ManagerState::EarlyAppend,
            ManagerState::EarlyAppend => {
                self.append.next = true;
                self.state.d.next = ManagerState::EarlyWrite;
                if self.kind.q.val().joining {
                    self.state.d.next = ManagerState::EarlyJoin;
                }
            }
            ManagerState::EarlyJoin => {
                self.append_run.next = true;
                self.state.d.next = ManagerState::EarlyWrite;
            }
            ManagerState::EarlyWrite => {
                self.frame_done.next = true;
                self.state.d.next = ManagerState::Idle;
            }
            ManagerState::Answer => {
                self.frame_done.next = true;
                self.state.d.next = ManagerState::Idle;
            }
            ManagerState::RunPurge => self.state.d.next = ManagerState::RunConsume,
            ManagerState::RunConsume => {
                self.consume.next = true;
                if self.consumed.val() {
                    self.state.d.next = ManagerState::RunDone;
                }
            }
            ManagerState::RunDone => {
                self.frame_done.next = true;
                self.state.d.next = ManagerState::Idle;
            }
            ManagerState::Settle => {
                self.kind.d.next.clearing = self.kind.q.val().releasing & !self.current.val().busy;
                self.state.d.next = ManagerState::Finish;
                if !self.current.val().busy & self.current.val().avail.any() {
                    self.state.d.next = ManagerState::Purge;
                }
            }
            ManagerState::Purge => {
                self.kind.d.next.purging = true;
                self.state.d.next = ManagerState::Consume;
            }
            ManagerState::Consume => {
                if self.current.val().stopped & !self.kind.q.val().purging {
                    self.state.d.next = ManagerState::Purge;
                } else {
                    self.consume.next = true;
                    if self.consumed.val() {
                        self.state.d.next = ManagerState::Finish;
                    }
                }
            }
            ManagerState::Finish => {
                self.write_context.next = true;
                self.state.d.next = ManagerState::Idle;
                if self.kind.q.val().finishing {
                    self.send.next = self.enough.val();
                    self.waits.d.next = false;
                }
                if self.kind.q.val().releasing {
                    self.waits.d.next = self.current.val().busy;
                }
            }
            ManagerState::Start => {
                self.write_context.next = true;
                self.state.d.next = ManagerState::Idle;
            }
            _ => self.state.d.next = ManagerState::Idle,
        }
        self.frame_kept.next = self.frame_done.val()
            & ((self.state.q.val() == ManagerState::EarlyWrite)
                | (self.state.q.val() == ManagerState::Join)
                | ((self.state.q.val() == ManagerState::Accept) & self.wanted.val()));
        // What is done with leaves its queue.
        self.take_host.next = self.state.q.val() == ManagerState::Host;
        self.take_done.next =
            (self.state.q.val() == ManagerState::Finish) & self.kind.q.val().finishing;
        self.take_stopped.next =
            (self.state.q.val() == ManagerState::Finish) & self.kind.q.val().stopping;
        self.take_accepted.next = self.frame_done.val();
        self.take_request.next = (self.state.q.val() == ManagerState::Start)
            | (self.state.q.val() == ManagerState::Refuse)
            | ((self.state.q.val() == ManagerState::Finish) & self.kind.q.val().clearing);

        if self.reset.val() {
            self.state.d.next = ManagerState::Idle;
            self.waits.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testkit::{lockstep, settle};

    const EVENTS: [StreamEvent; 7] = [
        StreamEvent::JobDone,
        StreamEvent::Stop,
        StreamEvent::Accept,
        StreamEvent::Host,
        StreamEvent::Start,
        StreamEvent::Release,
        StreamEvent::Refuse,
    ];

    /// Every event is taken once, unless it is a release that finds a job out; every event but a
    /// refusal, a host frame, early runs and unwanted octets writes the context once.
    #[test]
    fn lockstep_with_verilog_and_each_event_is_done_once() {
        let (mut at, mut taken, mut written, mut events, mut purges) = (None, 0, 0, [0; 7], 0);
        lockstep(
            "manager_control",
            ManagerControl::default(),
            12_000,
            |uut| &mut uut.clock,
            |uut, random| {
                if at.is_none() {
                    at = random.chance(3, 4).then(|| random.below(7) as usize);
                    uut.current.next.active = random.chance(7, 8);
                    uut.current.next.stopped = random.chance(1, 4);
                    uut.current.next.busy = random.chance(1, 2);
                    uut.current.next.avail = random.below(2).into();
                    uut.next_accepted.next.early = random.chance(1, 3);
                    uut.next_accepted.next.has_left = random.chance(1, 2);
                    uut.next_accepted.next.has_right = random.chance(1, 2);
                    uut.next_accepted.next.purges = random.chance(1, 6);
                    uut.complete.next = random.chance(1, 2);
                    uut.enough.next = random.chance(1, 2);
                    (taken, written) = (0, 0);
                }
                uut.next_event.next = at.map_or(StreamEvent::Nothing, |at: usize| EVENTS[at]);
                uut.next_connection.next = random.wide();
                uut.consumed.next = random.chance(1, 2);
                uut.drop_ready.next = random.chance(1, 2);
                settle(uut);
                assert!(!(uut.append.val() && uut.drop_frame.val()), "{random}");
                let takes = [
                    uut.take_done.val(),
                    uut.take_stopped.val(),
                    uut.take_accepted.val(),
                    uut.take_host.val(),
                    uut.take_request.val(),
                ];
                taken += takes.iter().filter(|take| **take).count();
                written += usize::from(uut.write_context.val());
                purges += usize::from(uut.purge.val());
                // The last step of an event: it leaves its queue, or its context is written.
                let last = takes.contains(&true) || uut.write_context.val();
                let Some(kind) = at.filter(|_| last) else {
                    return;
                };
                let place = [0, 1, 2, 3, 4, 4, 4][kind];
                let current = uut.current.next;
                let waits = EVENTS[kind] == StreamEvent::Release && current.busy;
                assert_eq!(taken, usize::from(!waits), "{:?}, {random}", EVENTS[kind]);
                assert_eq!(takes[place], !waits, "{:?}, {random}", EVENTS[kind]);
                let arrived = uut.next_accepted.next;
                let of_the_stream = !arrived.early && !arrived.purges;
                let wanted = current.active && !current.stopped;
                let writes = match EVENTS[kind] {
                    StreamEvent::Host | StreamEvent::Refuse => false,
                    StreamEvent::Accept => wanted && of_the_stream,
                    _ => true,
                };
                assert_eq!(written, usize::from(writes), "{:?}, {random}", EVENTS[kind]);
                events[kind] += 1;
                at = None;
            },
        );
        assert!(events.iter().all(|count| *count > 50), "{events:?}");
        assert!(purges > 50, "{purges} purges");
    }
}
