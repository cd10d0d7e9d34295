//! Stream manager: the queue of accepted frames of each connection, and the jobs that read them.
//!
//! ```text
//! accepted, host_frame --> [ inbox ] --> [ machine ] --> job       (to the packet reader)
//! job_done, stopped ------>               |       |  --> page_release   (pages to the pool)
//! table bus -------------->               |       |  --> frame_table_*, frame_link_*
//!                                    [ contexts ] [ followers ]
//! ```
//!
//! Enters: [`Accepted`] octets and [`HostFrame`]s, each frame once. Leaves: [`ReadJob`]s, and each
//! stream frame once as a [`PageChain`] to release. Pages of a host frame are given back by
//! placement.
//!
//! | latency    | 5 cycles, `accepted` taken to `job_valid` (nothing else waiting)            |
//! | throughput | an accepted message per 4 cycles, a `job_done` per 5 and 2 more for each    |
//! |            | frame that it passes into, a host frame per 2                               |
//! | units      | octets; page numbers; `phase` in words                                      |
//! | drops      | frames of a connection that is stopped or was never started: released,      |
//! |            | counted nowhere (the stop itself is reported by DDP)                        |
//! | tables     | `MPA`: WRITE starts an empty stream, RELEASE gives its pages back           |
//! | ECP5-5G -8 | 941 LUT4, 1051 FF, 10 DP16KD; 198 MHz out of context, seed 1                |
//!
//! One event at a time: a context is written back before the next event reads it. A connection has
//! at most one job out, always over all octets queued at that time; `job_done` says how many of
//! them belong to FPDUs handed on, and how many more octets make another job worth while (`need`,
//! at least 1). At a stop the queued frames are released as soon as no job is out.
use super::context::{QueuedFrame, StreamContext};
use super::inbox::{ManagerInbox, StreamEvent, JOBS_OUT_MAX};
use crate::common::ram::SdpRam;
use crate::common::skid::Skid;
use crate::messages::{
    Accepted, HostFrame, JobDone, PageChain, ReadJob, TableRequest, JOB_HOST, JOB_PLACE, JOB_STREAM,
};
use crate::packet::types::FrameEntry;
use rnic_abi::limits::FRAME_PAD_OCTETS;
use rust_hdl::prelude::*;

/// Octets that show an FPDU's length: its first word.
const NEED_LENGTH: u64 = 4;
/// The same behind a marker.
const NEED_MARKER_AND_LENGTH: u64 = 8;

/// What the machine does.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum ManagerState {
    /// Takes the next event; its context's address goes to the RAM.
    Idle,
    /// The RAM reads.
    Fetch,
    /// The context is there: sums and differences.
    Load,
    /// Accepted octets join the queue, or are released.
    Accept,
    /// A stop or a release looks at what the connection holds.
    Settle,
    /// All that the connection holds is to be consumed.
    Purge,
    /// The first queued frame: consumed wholly and released, or in part.
    Consume,
    /// The frame after it becomes the first one.
    Next,
    /// The context is written, the next job sent.
    Finish,
    /// A host frame becomes a job.
    Host,
    /// An empty stream is started.
    Start,
    /// A table operation that does not exist is answered.
    Refuse,
}

/// Queues, jobs and releases of all connections.
#[derive(LogicBlock)]
pub struct StreamManager {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; clears control and the queues of messages, not the contexts.
    pub reset: Signal<In, Bit>,
    /// Octets accepted in order.
    pub accepted: Signal<In, Accepted>,
    /// `accepted` holds a message.
    pub accepted_valid: Signal<In, Bit>,
    /// It is taken.
    pub accepted_ready: Signal<Out, Bit>,
    /// A frame for the host.
    pub host_frame: Signal<In, HostFrame>,
    /// `host_frame` holds a message.
    pub host_frame_valid: Signal<In, Bit>,
    /// It is taken.
    pub host_frame_ready: Signal<Out, Bit>,
    /// A stream job has ended.
    pub job_done: Signal<In, JobDone>,
    /// `job_done` holds a message.
    pub job_done_valid: Signal<In, Bit>,
    /// It is taken.
    pub job_done_ready: Signal<Out, Bit>,
    /// A connection was put in error.
    pub stopped: Signal<In, Bits<10>>,
    /// `stopped` holds a message.
    pub stopped_valid: Signal<In, Bit>,
    /// It is taken.
    pub stopped_ready: Signal<Out, Bit>,
    /// Octets to read.
    pub job: Signal<Out, ReadJob>,
    /// `job` holds a message.
    pub job_valid: Signal<Out, Bit>,
    /// It is taken.
    pub job_ready: Signal<In, Bit>,
    /// Pages of a frame that is consumed or not wanted.
    pub page_release: Signal<Out, PageChain>,
    /// `page_release` holds a message.
    pub page_release_valid: Signal<Out, Bit>,
    /// It is taken.
    pub page_release_ready: Signal<In, Bit>,
    /// Writes the reader's frame table.
    pub frame_table_write: Signal<Out, Bit>,
    /// First page of the frame.
    pub frame_table_index: Signal<Out, Bits<9>>,
    /// Where its accepted octets lie.
    pub frame_table_data: Signal<Out, FrameEntry>,
    /// Writes the reader's frame links.
    pub frame_link_write: Signal<Out, Bit>,
    /// First page of a frame.
    pub frame_link_index: Signal<Out, Bits<9>>,
    /// First page of the stream's next frame.
    pub frame_link_next: Signal<Out, Bits<9>>,
    /// Table bus; table `MPA` is answered here.
    pub table_request: Signal<In, TableRequest>,
    /// The request stands.
    pub table_valid: Signal<In, Bit>,
    /// It is done, for one cycle.
    pub table_done: Signal<Out, Bit>,
    /// Zero: nothing of this table can be read.
    pub table_data: Signal<Out, Bits<128>>,
    inbox: ManagerInbox,
    contexts: SdpRam<StreamContext, 10>,
    // Under the first page of a queued frame: the frame after it.
    followers: SdpRam<QueuedFrame, 9>,
    job_out: Skid<ReadJob>,
    release_out: Skid<PageChain>,
    state: DFF<ManagerState>,
    doing: DFF<StreamEvent>,
    // The same, decoded.
    accepting: DFF<Bit>,
    finishing: DFF<Bit>,
    starting: DFF<Bit>,
    hosting: DFF<Bit>,
    stopping: DFF<Bit>,
    // A release that found no job out.
    clearing: DFF<Bit>,
    connection: DFF<Bits<10>>,
    current: DFF<StreamContext>,
    // All queued octets are to go, whatever they are.
    purging: DFF<Bit>,
    // Octets of the first frame against those to consume, see state Consume.
    head_gone: DFF<Bit>,
    amount: DFF<Bits<18>>,
    beyond_head: DFF<Bits<18>>,
    left_in_head: DFF<Bits<18>>,
    // Sums of state Load.
    more: DFF<Bits<18>>,
    less_missing: DFF<Bits<18>>,
    complete: DFF<Bit>,
    was_empty: DFF<Bit>,
    fewer: DFF<Bits<18>>,
    sequence_after: DFF<Bits<32>>,
    phase_after: DFF<Bits<7>>,
    // `need` against what is left, from state Consume.
    enough: DFF<Bit>,
    missing: DFF<Bits<18>>,
    release_waits: DFF<Bit>,
    jobs_out: DFF<Bits<6>>,
    job_credit: DFF<Bit>,
    table_writing: DFF<Bit>,
    table_index: DFF<Bits<9>>,
    table_entry: DFF<FrameEntry>,
    link_writing: DFF<Bit>,
    link_index: DFF<Bits<9>>,
    wanted: Signal<Local, Bit>,
    send_stream: Signal<Local, Bit>,
    write_context: Signal<Local, Bit>,
    arrived: Signal<Local, Accepted>,
    done: Signal<Local, JobDone>,
    arrived_octets: Signal<Local, Bits<18>>,
    consumed: Signal<Local, Bits<18>>,
    front_octets: Signal<Local, Bits<18>>,
    front_amount: Signal<Local, Bits<18>>,
    updated: Signal<Local, StreamContext>,
    follower: Signal<Local, QueuedFrame>,
    next_job: Signal<Local, ReadJob>,
    chain: Signal<Local, PageChain>,
    amount_low: Signal<Local, Bits<14>>,
    left_low: Signal<Local, Bits<14>>,
    left_value: Signal<Local, Bits<18>>,
    amount_value: Signal<Local, Bits<18>>,
    request_data: Signal<Local, Bits<320>>,
    jobs_next: Signal<Local, Bits<6>>,
    fresh: Signal<Local, StreamContext>,
    kind_stream: Constant<Bits<2>>,
    kind_place: Constant<Bits<2>>,
    kind_host: Constant<Bits<2>>,
    pad_octets: Constant<Bits<14>>,
    need_length: Constant<Bits<18>>,
    need_marker_and_length: Constant<Bits<18>>,
    one_job: Constant<Bits<6>>,
    jobs_max: Constant<Bits<6>>,
    nothing: Constant<StreamContext>,
}

impl Default for StreamManager {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            accepted: Default::default(),
            accepted_valid: Default::default(),
            accepted_ready: Default::default(),
            host_frame: Default::default(),
            host_frame_valid: Default::default(),
            host_frame_ready: Default::default(),
            job_done: Default::default(),
            job_done_valid: Default::default(),
            job_done_ready: Default::default(),
            stopped: Default::default(),
            stopped_valid: Default::default(),
            stopped_ready: Default::default(),
            job: Default::default(),
            job_valid: Default::default(),
            job_ready: Default::default(),
            page_release: Default::default(),
            page_release_valid: Default::default(),
            page_release_ready: Default::default(),
            frame_table_write: Default::default(),
            frame_table_index: Default::default(),
            frame_table_data: Default::default(),
            frame_link_write: Default::default(),
            frame_link_index: Default::default(),
            frame_link_next: Default::default(),
            table_request: Default::default(),
            table_valid: Default::default(),
            table_done: Default::default(),
            table_data: Default::default(),
            inbox: Default::default(),
            contexts: Default::default(),
            followers: Default::default(),
            job_out: Default::default(),
            release_out: Default::default(),
            state: Default::default(),
            doing: Default::default(),
            accepting: Default::default(),
            finishing: Default::default(),
            starting: Default::default(),
            hosting: Default::default(),
            stopping: Default::default(),
            clearing: Default::default(),
            connection: Default::default(),
            current: Default::default(),
            purging: Default::default(),
            head_gone: Default::default(),
            amount: Default::default(),
            beyond_head: Default::default(),
            left_in_head: Default::default(),
            more: Default::default(),
            less_missing: Default::default(),
            complete: Default::default(),
            was_empty: Default::default(),
            fewer: Default::default(),
            sequence_after: Default::default(),
            phase_after: Default::default(),
            enough: Default::default(),
            missing: Default::default(),
            release_waits: Default::default(),
            jobs_out: Default::default(),
            job_credit: Default::default(),
            table_writing: Default::default(),
            table_index: Default::default(),
            table_entry: Default::default(),
            link_writing: Default::default(),
            link_index: Default::default(),
            wanted: Default::default(),
            send_stream: Default::default(),
            write_context: Default::default(),
            arrived: Default::default(),
            done: Default::default(),
            arrived_octets: Default::default(),
            consumed: Default::default(),
            front_octets: Default::default(),
            front_amount: Default::default(),
            updated: Default::default(),
            follower: Default::default(),
            next_job: Default::default(),
            chain: Default::default(),
            amount_low: Default::default(),
            left_low: Default::default(),
            left_value: Default::default(),
            amount_value: Default::default(),
            request_data: Default::default(),
            jobs_next: Default::default(),
            fresh: Default::default(),
            kind_stream: Constant::new(JOB_STREAM.into()),
            kind_place: Constant::new(JOB_PLACE.into()),
            kind_host: Constant::new(JOB_HOST.into()),
            pad_octets: Constant::new((FRAME_PAD_OCTETS as LiteralType).into()),
            need_length: Constant::new(NEED_LENGTH.into()),
            need_marker_and_length: Constant::new(NEED_MARKER_AND_LENGTH.into()),
            one_job: Constant::new(1u64.into()),
            jobs_max: Constant::new((JOBS_OUT_MAX as LiteralType).into()),
            nothing: Constant::new(StreamContext::default()),
        }
    }
}

impl Logic for StreamManager {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, doing, connection, current, purging);
        dff_setup!(
            self, clock, accepting, finishing, starting, hosting, stopping, clearing, was_empty
        );
        dff_setup!(self, clock, head_gone, amount, beyond_head, left_in_head);
        dff_setup!(
            self,
            clock,
            more,
            less_missing,
            complete,
            fewer,
            sequence_after,
            phase_after
        );
        dff_setup!(
            self,
            clock,
            enough,
            missing,
            release_waits,
            jobs_out,
            job_credit
        );
        dff_setup!(
            self,
            clock,
            table_writing,
            table_index,
            table_entry,
            link_writing,
            link_index
        );
        self.inbox.clock.next = self.clock.val();
        self.inbox.reset.next = self.reset.val();
        self.inbox.accepted.next = self.accepted.val();
        self.inbox.accepted_valid.next = self.accepted_valid.val();
        self.accepted_ready.next = self.inbox.accepted_ready.val();
        self.inbox.host_frame.next = self.host_frame.val();
        self.inbox.host_frame_valid.next = self.host_frame_valid.val();
        self.host_frame_ready.next = self.inbox.host_frame_ready.val();
        self.inbox.job_done.next = self.job_done.val();
        self.inbox.job_done_valid.next = self.job_done_valid.val();
        self.job_done_ready.next = self.inbox.job_done_ready.val();
        self.inbox.stopped.next = self.stopped.val();
        self.inbox.stopped_valid.next = self.stopped_valid.val();
        self.stopped_ready.next = self.inbox.stopped_ready.val();
        self.inbox.table_request.next = self.table_request.val();
        self.inbox.table_valid.next = self.table_valid.val();
        self.table_done.next = self.inbox.table_done.val();
        self.table_data.next = 0.into();
        self.inbox.job_room.next = self.job_out.s_ready.val();
        self.inbox.job_credit.next = self.job_credit.q.val();
        self.inbox.release_waits.next = self.release_waits.q.val();
        self.contexts.clock.next = self.clock.val();
        self.followers.clock.next = self.clock.val();
        self.job_out.clock.next = self.clock.val();
        self.job_out.reset.next = self.reset.val();
        self.job.next = self.job_out.m_data.val();
        self.job_valid.next = self.job_out.m_valid.val();
        self.job_out.m_ready.next = self.job_ready.val();
        self.release_out.clock.next = self.clock.val();
        self.release_out.reset.next = self.reset.val();
        self.page_release.next = self.release_out.m_data.val();
        self.page_release_valid.next = self.release_out.m_valid.val();
        self.release_out.m_ready.next = self.page_release_ready.val();
        self.frame_table_write.next = self.table_writing.q.val();
        self.frame_table_index.next = self.table_index.q.val();
        self.frame_table_data.next = self.table_entry.q.val();
        self.frame_link_write.next = self.link_writing.q.val();
        self.frame_link_index.next = self.link_index.q.val();
        self.frame_link_next.next = self.table_index.q.val();

        self.arrived.next = self.inbox.next_accepted.val();
        self.arrived_octets.next = bit_cast::<18, 14>(self.inbox.next_accepted.val().octets);
        self.done.next = self.inbox.next_done.val();
        self.consumed.next = self.inbox.next_done.val().consumed;
        self.request_data.next = self.table_request.val().data;

        // Accepted octets of this connection are queued.
        self.wanted.next = self.current.q.val().active & !self.current.q.val().stopped;

        // Defaults: nothing happens.
        self.send_stream.next = false;
        self.write_context.next = false;
        self.job_out.s_valid.next = false;
        self.release_out.s_valid.next = false;
        self.table_writing.d.next = false;
        self.link_writing.d.next = false;
        self.followers.write_enable.next = false;

        // An arrived frame as an entry of the frame table and of the queue.
        self.table_index.d.next = self.arrived.val().head_page;
        self.table_entry.d.next.tail_page = self.arrived.val().tail_page;
        self.table_entry.d.next.offset = self.arrived.val().offset;
        self.table_entry.d.next.octets = self.arrived.val().octets;
        self.link_index.d.next = self.current.q.val().last_frame;
        self.follower.next.head_page = self.arrived.val().head_page;
        self.follower.next.tail_page = self.arrived.val().tail_page;
        self.follower.next.offset = self.arrived.val().offset;
        self.follower.next.octets = self.arrived.val().octets;
        self.followers.write_data.next = self.follower.val();
        self.followers.write_address.next = self.current.q.val().last_frame;

        // The RAMs' read addresses: a frame is looked up as soon as the one before it is known.
        self.contexts.read_address.next = self.inbox.connection.val();
        self.followers.read_address.next = self.current.q.val().head_page;
        if self.state.q.val() == ManagerState::Load {
            self.followers.read_address.next = self.contexts.read_data.val().head_page;
        } else if self.state.q.val() == ManagerState::Next {
            self.followers.read_address.next = self.followers.read_data.val().head_page;
        }

        // The first frame's octets against those to consume.
        self.front_octets.next = bit_cast::<18, 14>(self.current.q.val().head_octets);
        self.front_amount.next = self.current.q.val().avail;
        if self.state.q.val() == ManagerState::Load {
            self.front_octets.next = bit_cast::<18, 14>(self.contexts.read_data.val().head_octets);
            self.front_amount.next = self.consumed.val();
        } else if self.state.q.val() == ManagerState::Next {
            self.front_octets.next = bit_cast::<18, 14>(self.followers.read_data.val().octets);
            self.front_amount.next = self.beyond_head.q.val();
        }
        self.amount_value.next = self.amount.q.val();
        self.amount_low.next = self.amount_value.val().get_bits::<14>(0);
        self.left_value.next = self.left_in_head.q.val();
        self.left_low.next = self.left_value.val().get_bits::<14>(0);

        // What the context becomes. Each event writes it once, so the event alone decides.
        self.updated.next = self.current.q.val();
        self.fresh.next = self.nothing.val();
        self.fresh.next.sequence = self.request_data.val().get_bits::<32>(0);
        self.fresh.next.markers = self.request_data.val().get_bit(32);
        self.fresh.next.crc = self.request_data.val().get_bit(33);
        self.fresh.next.active = true;
        self.fresh.next.missing = self.need_length.val();
        if self.request_data.val().get_bit(32) {
            self.fresh.next.missing = self.need_marker_and_length.val();
        }
        if self.accepting.q.val() {
            self.updated.next.avail = self.more.q.val();
            self.updated.next.missing = self.less_missing.q.val();
            self.updated.next.last_frame = self.arrived.val().head_page;
            self.updated.next.busy = self.current.q.val().busy | self.complete.q.val();
            if self.was_empty.q.val() {
                self.updated.next.head_page = self.arrived.val().head_page;
                self.updated.next.head_tail = self.arrived.val().tail_page;
                self.updated.next.head_offset = self.arrived.val().offset;
                self.updated.next.head_octets = self.arrived.val().octets;
            }
        } else if self.finishing.q.val() {
            self.updated.next.avail = self.fewer.q.val();
            self.updated.next.missing = self.missing.q.val();
            self.updated.next.sequence = self.sequence_after.q.val();
            self.updated.next.phase = self.phase_after.q.val();
            self.updated.next.place_next = self.done.val().place_next;
            self.updated.next.busy = self.enough.q.val();
        } else if self.starting.q.val() {
            self.updated.next = self.fresh.val();
        } else if self.clearing.q.val() {
            self.updated.next = self.nothing.val();
        } else {
            // Stop, or a release that must wait for the job that is out.
            self.updated.next.stopped = true;
            if self.purging.q.val() {
                self.updated.next.avail = 0.into();
            }
        }
        self.chain.next.head_page = self.current.q.val().head_page;
        self.chain.next.tail_page = self.current.q.val().head_tail;
        if self.accepting.q.val() {
            self.chain.next.head_page = self.arrived.val().head_page;
            self.chain.next.tail_page = self.arrived.val().tail_page;
        }
        self.release_out.s_data.next = self.chain.val();

        match self.state.q.val() {
            ManagerState::Idle => {
                self.doing.d.next = self.inbox.next_event.val();
                self.connection.d.next = self.inbox.connection.val();
                self.accepting.d.next = self.inbox.next_event.val() == StreamEvent::Accept;
                self.finishing.d.next = self.inbox.next_event.val() == StreamEvent::JobDone;
                self.starting.d.next = self.inbox.next_event.val() == StreamEvent::Start;
                self.hosting.d.next = self.inbox.next_event.val() == StreamEvent::Host;
                self.stopping.d.next = self.inbox.next_event.val() == StreamEvent::Stop;
                self.purging.d.next = false;
                self.clearing.d.next = false;
                match self.inbox.next_event.val() {
                    StreamEvent::Nothing => {}
                    StreamEvent::Host => self.state.d.next = ManagerState::Host,
                    StreamEvent::Start => self.state.d.next = ManagerState::Start,
                    StreamEvent::Refuse => self.state.d.next = ManagerState::Refuse,
                    _ => self.state.d.next = ManagerState::Fetch,
                }
            }
            ManagerState::Fetch => self.state.d.next = ManagerState::Load,
            ManagerState::Load => {
                self.current.d.next = self.contexts.read_data.val();
                match self.doing.q.val() {
                    StreamEvent::JobDone => self.state.d.next = ManagerState::Consume,
                    StreamEvent::Accept => self.state.d.next = ManagerState::Accept,
                    _ => self.state.d.next = ManagerState::Settle,
                }
            }
            ManagerState::Accept => {
                if self.wanted.val() {
                    self.table_writing.d.next = true;
                    self.link_writing.d.next = !self.was_empty.q.val();
                    self.followers.write_enable.next = !self.was_empty.q.val();
                    self.write_context.next = true;
                    self.send_stream.next = self.complete.q.val();
                    self.state.d.next = ManagerState::Idle;
                } else {
                    self.release_out.s_valid.next = true;
                    if self.release_out.s_ready.val() {
                        self.state.d.next = ManagerState::Idle;
                    }
                }
            }
            ManagerState::Settle => {
                self.clearing.d.next =
                    (self.doing.q.val() == StreamEvent::Release) & !self.current.q.val().busy;
                if !self.current.q.val().busy & self.current.q.val().avail.any() {
                    self.state.d.next = ManagerState::Purge;
                } else {
                    self.state.d.next = ManagerState::Finish;
                }
            }
            ManagerState::Purge => {
                self.purging.d.next = true;
                self.fewer.d.next = 0.into();
                self.state.d.next = ManagerState::Consume;
            }
            ManagerState::Consume => {
                if self.current.q.val().stopped & !self.purging.q.val() {
                    self.state.d.next = ManagerState::Purge;
                } else if self.head_gone.q.val() {
                    self.release_out.s_valid.next = true;
                    if self.release_out.s_ready.val() {
                        self.state.d.next = ManagerState::Next;
                        if !self.beyond_head.q.val().any() & !self.fewer.q.val().any() {
                            self.state.d.next = ManagerState::Finish;
                        }
                    }
                } else {
                    self.current.d.next.head_offset =
                        self.current.q.val().head_offset + self.amount_low.val();
                    self.current.d.next.head_octets = self.left_low.val();
                    self.state.d.next = ManagerState::Finish;
                }
            }
            ManagerState::Next => {
                self.current.d.next.head_page = self.followers.read_data.val().head_page;
                self.current.d.next.head_tail = self.followers.read_data.val().tail_page;
                self.current.d.next.head_offset = self.followers.read_data.val().offset;
                self.current.d.next.head_octets = self.followers.read_data.val().octets;
                self.state.d.next = ManagerState::Consume;
            }
            ManagerState::Finish => {
                self.write_context.next = true;
                self.state.d.next = ManagerState::Idle;
                match self.doing.q.val() {
                    StreamEvent::JobDone => {
                        self.send_stream.next = self.enough.q.val();
                        self.release_waits.d.next = false;
                    }
                    StreamEvent::Release => {
                        // Done only if no job was out; tried again after the next job_done.
                        self.release_waits.d.next = self.current.q.val().busy;
                    }
                    _ => {}
                }
            }
            ManagerState::Host => {
                self.job_out.s_valid.next = true;
                self.state.d.next = ManagerState::Idle;
            }
            ManagerState::Start => {
                self.write_context.next = true;
                self.state.d.next = ManagerState::Idle;
            }
            ManagerState::Refuse => self.state.d.next = ManagerState::Idle,
            _ => {}
        }
        // What is done with leaves its queue.
        self.inbox.take_host.next = self.state.q.val() == ManagerState::Host;
        self.inbox.take_done.next =
            (self.state.q.val() == ManagerState::Finish) & self.finishing.q.val();
        self.inbox.take_stopped.next =
            (self.state.q.val() == ManagerState::Finish) & self.stopping.q.val();
        self.inbox.take_accepted.next = (self.state.q.val() == ManagerState::Accept)
            & (self.wanted.val() | self.release_out.s_ready.val());
        self.inbox.take_request.next = (self.state.q.val() == ManagerState::Start)
            | (self.state.q.val() == ManagerState::Refuse)
            | ((self.state.q.val() == ManagerState::Finish) & self.clearing.q.val());

        // Sums of state Load, kept for the states after it.
        if self.state.q.val() == ManagerState::Load {
            self.more.d.next = self.contexts.read_data.val().avail + self.arrived_octets.val();
            self.less_missing.d.next =
                self.contexts.read_data.val().missing - self.arrived_octets.val();
            self.complete.d.next = !self.contexts.read_data.val().busy
                & (self.arrived_octets.val() >= self.contexts.read_data.val().missing);
            self.was_empty.d.next = !self.contexts.read_data.val().avail.any();
            self.fewer.d.next = self.contexts.read_data.val().avail - self.consumed.val();
            self.sequence_after.d.next =
                self.contexts.read_data.val().sequence + bit_cast::<32, 18>(self.consumed.val());
            self.phase_after.d.next =
                self.contexts.read_data.val().phase + self.consumed.val().get_bits::<7>(2);
        }
        if (self.state.q.val() == ManagerState::Load)
            | (self.state.q.val() == ManagerState::Purge)
            | (self.state.q.val() == ManagerState::Next)
        {
            self.head_gone.d.next = self.front_amount.val() >= self.front_octets.val();
            self.beyond_head.d.next = self.front_amount.val() - self.front_octets.val();
            self.left_in_head.d.next = self.front_octets.val() - self.front_amount.val();
            self.amount.d.next = self.front_amount.val();
        }
        // Nothing is left of a stopped connection's queue, so no job follows.
        self.enough.d.next =
            (self.fewer.q.val() >= self.done.val().need) & !self.current.q.val().stopped;
        self.missing.d.next = self.done.val().need - self.fewer.q.val();

        // The job: over all that is queued, from the first frame on; or a host frame.
        self.next_job.next.kind = self.kind_stream.val();
        if self.updated.val().place_next {
            self.next_job.next.kind = self.kind_place.val();
        }
        self.next_job.next.connection = self.connection.q.val();
        self.next_job.next.head_page = self.updated.val().head_page;
        self.next_job.next.tail_page = self.updated.val().head_tail;
        self.next_job.next.offset = self.updated.val().head_offset;
        self.next_job.next.run_octets = self.updated.val().head_octets;
        self.next_job.next.octets = self.updated.val().avail;
        self.next_job.next.sequence = self.updated.val().sequence;
        self.next_job.next.phase = self.updated.val().phase;
        self.next_job.next.markers = self.updated.val().markers;
        self.next_job.next.crc = self.updated.val().crc;
        if self.hosting.q.val() {
            self.next_job.next.kind = self.kind_host.val();
            self.next_job.next.head_page = self.inbox.next_host.val().head_page;
            self.next_job.next.tail_page = self.inbox.next_host.val().tail_page;
            self.next_job.next.offset = self.pad_octets.val();
            self.next_job.next.run_octets = self.inbox.next_host.val().frame_octets;
            self.next_job.next.octets = bit_cast::<18, 14>(self.inbox.next_host.val().frame_octets);
        }
        self.job_out.s_data.next = self.next_job.val();
        if self.send_stream.val() {
            self.job_out.s_valid.next = true;
        }

        // Stream jobs out; a job_done makes room for one before it may send the next.
        self.jobs_next.next = self.jobs_out.q.val();
        if self.send_stream.val() & self.accepting.q.val() {
            self.jobs_next.next = self.jobs_out.q.val() + self.one_job.val();
        } else if !self.send_stream.val()
            & (self.state.q.val() == ManagerState::Finish)
            & self.finishing.q.val()
        {
            self.jobs_next.next = self.jobs_out.q.val() - self.one_job.val();
        }
        self.jobs_out.d.next = self.jobs_next.val();
        self.job_credit.d.next = self.jobs_next.val() != self.jobs_max.val();

        self.contexts.write_enable.next = self.write_context.val();
        self.contexts.write_address.next = self.connection.q.val();
        self.contexts.write_data.next = self.updated.val();

        if self.reset.val() {
            self.state.d.next = ManagerState::Idle;
            self.table_writing.d.next = false;
            self.link_writing.d.next = false;
            self.release_waits.d.next = false;
            self.jobs_out.d.next = 0.into();
            self.job_credit.d.next = true;
        }
    }
}

#[cfg(test)]
#[path = "manager_tests.rs"]
mod tests;
