//! MPA's stream half: a queue of accepted frames per connection, and the jobs that read them.
//!
//! ```text
//! accepted, host_frame ---> [ arbiter ] --> [ control ] ---> [ job sender ] --> job
//! job_done, stream_error -->                    |    ^              ^     (to the packet reader)
//! table bus -------------->                     v    |              |
//!                               [ contexts ] <-> [ context update ]-+
//!                               [ out-of-order ranges ] <------+
//!                                                              |
//! link_*, jump_* ---> [ frame queue ] -------------------------+--> page_release (to the pool)
//!                          | [ free fragments ]                +--> frame_table_*, frame_link_*
//!                          +--> fragment_free   (credit to tcp)
//! job_done, queries ---> [ FPDU status ] --> fpdu_status, long_fpdu   (to tcp's reserve)
//! span_back --------> [ free spans ] --> span_free   (credit to tcp)
//!                                   \--> order       (to replays)
//! ```
//!
//! Input: [`Accepted`] octets and [`HostFrame`]s, each frame once. Output: [`ReadJob`]s; each page
//! of a stream frame once, in [`PageChain`]s to release; one [`FpduStatus`] per query. Placement
//! releases the pages of host frames.
//!
//! Octets beyond a gap are kept in spans (see [`types::StreamContext`]). A span's job is sent, read
//! and consumed as a stream's is, but its FPDUs are placed only and DDP stores their records. An
//! order then delivers or discards these records.
//!
//! | latency    | 6 cycles, `accepted` to `job_valid`, with nothing else queued               |
//! | throughput | an accepted message per 5 cycles; a `job_done` per 6, and 2 more for each   |
//! |            | frame it passes; a host frame per 2. Releasing a part of a frame takes 1    |
//! |            | more, and 2 for each link followed (11 links at most)                       |
//! | units      | octets; page numbers; `phase` in words                                      |
//! | drops      | frames of a stopped or never started connection: released, counted nowhere  |
//! |            | (DDP reports the stop itself)                                               |
//! | tables     | `MPA`: WRITE starts an empty stream, RELEASE releases its pages and ends    |
//! |            | when DDP has checked what was read of it (`record_fence`)                   |
//! | ECP5-5G -8 | 2153 LUT4, 1898 FF, 24 DP16KD in the whole core at W = 64                   |
//!
//! Events are handled one at a time: a context is written back before the next event reads it. A
//! connection has at most one job in flight, always over all octets queued when it is sent.
//! `job_done` reports how many of them belong to FPDUs handed on, and how many octets must be
//! queued before the next job (`need`, at least 1). When a job ends, pages that hold no remaining
//! octet are released, so a waiting connection holds less than a frame beyond its octets. After a
//! stop the queued frames are released as soon as no job is in flight.
//!
//! [`ooo_completion`] delays the end of an out-of-order job until DDP has reported on each of its
//! FPDUs; [`replays`] delays an order to DDP until the records before it have passed.
//!
//! A job begins at an FPDU's first octet, a leading marker included. Its one `JobDone` follows the
//! last beat of its last whole FPDU; octets not consumed stay in packet memory.
//!
//! Sources: RFC 5044; MPA-037 and MPA-038 for what TCP commits to.
pub mod types;
pub mod arbiter;
pub mod control;
pub mod context_update;
pub mod frame_queue;
pub mod span_tables;
pub mod span_control;
pub mod fpdu_status;
pub mod ooo_completion;
pub mod replays;

use crate::common::build::sizes;
use crate::common::ram::SdpRam;
use crate::messages::{Accepted, HostFrame, JobDone, PageChain, ReadJob, TableRequest};
use crate::messages::{FpduStatus, Replay};
use crate::receive::packet::reader::FrameEntry;
use arbiter::{EventArbiter, JobSender};
use context_update::ContextUpdate;
use control::ManagerControl;
use fpdu_status::FpduStatusReport;
use frame_queue::FrameQueue;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;
use span_tables::{FreeFragments, RangeTable, SpanStore};
use types::{EventKind, QueuedFrame, StreamContext};

/// Queues, jobs and releases of all connections.
#[derive(LogicBlock, Init)]
pub struct StreamManager {
    pub clock: Signal<In, Clock>,
    /// Synchronous; stops each stream that `table_request` counts.
    pub reset: Signal<In, Bit>,
    pub accepted: Signal<In, Accepted>,
    pub accepted_valid: Signal<In, Bit>,
    pub accepted_ready: Signal<Out, Bit>,
    pub host_frame: Signal<In, HostFrame>,
    pub host_frame_valid: Signal<In, Bit>,
    pub host_frame_ready: Signal<Out, Bit>,
    pub job_done: Signal<In, JobDone>,
    pub job_done_valid: Signal<In, Bit>,
    pub job_done_ready: Signal<Out, Bit>,
    /// A connection enters error.
    pub stream_error: Signal<In, Bits<10>>,
    pub stream_error_valid: Signal<In, Bit>,
    pub stream_error_ready: Signal<Out, Bit>,
    pub job: Signal<Out, ReadJob>,
    pub job_valid: Signal<Out, Bit>,
    pub job_ready: Signal<In, Bit>,
    /// Pages of a frame that is consumed or dropped.
    pub page_release: Signal<Out, PageChain>,
    pub page_release_valid: Signal<Out, Bit>,
    pub page_release_ready: Signal<In, Bit>,
    /// Writes the reader's frame table.
    pub frame_table_write: Signal<Out, Bit>,
    pub frame_table_index: Signal<Out, Bits<10>>,
    pub frame_table_data: Signal<Out, FrameEntry>,
    /// Writes the reader's frame links.
    pub frame_link_write: Signal<Out, Bit>,
    /// Slot of the frame before.
    pub frame_link_index: Signal<Out, Bits<10>>,
    /// Slot of the stream's next frame.
    pub frame_link_next: Signal<Out, Bits<10>>,
    /// `next[link_page] = link_next`: copy of the store's page links.
    pub link_write: Signal<In, Bit>,
    pub link_page: Signal<In, Bits<9>>,
    pub link_next: Signal<In, Bits<9>>,
    /// `jump[jump_page] = link_next`: copy of the store's links eight pages ahead.
    pub jump_write: Signal<In, Bit>,
    pub jump_page: Signal<In, Bits<9>>,
    pub table_request: Signal<In, TableRequest>,
    pub table_valid: Signal<In, Bit>,
    pub table_done: Signal<Out, Bit>,
    /// Zero: this table cannot be read.
    pub table_data: Signal<Out, Bits<128>>,
    /// Nothing of the connection that is released is left here; holds to `record_fence_done`.
    pub record_fence: Signal<Out, Bit>,
    /// One cycle: DDP has nothing of it any more either.
    pub record_fence_done: Signal<In, Bit>,
    /// A fragment is free again; one cycle.
    pub fragment_free: Signal<Out, Bit>,
    /// Delivers or discards the records that DDP stores of a span.
    pub order: Signal<Out, Replay>,
    pub order_valid: Signal<Out, Bit>,
    /// An order to discard a span's records can be sent.
    pub forget_room: Signal<In, Bit>,
    /// DDP stores no records of this span any more.
    pub span_back: Signal<In, Bits<9>>,
    pub span_back_valid: Signal<In, Bit>,
    pub span_back_ready: Signal<Out, Bit>,
    /// A span is free again; one cycle.
    pub span_free: Signal<Out, Bit>,
    /// Answer to a query of TCP.
    pub fpdu_status: Signal<Out, FpduStatus>,
    pub fpdu_status_valid: Signal<Out, Bit>,
    /// See [`fpdu_status`].
    pub long_fpdu: Signal<Out, Bit>,
    pub long_connection: Signal<Out, Bits<10>>,
    arbiter: EventArbiter,
    #[init(SdpRam::of_words(sizes().connections()))]
    contexts: SdpRam<StreamContext, 10>,
    control: ManagerControl,
    context_update: ContextUpdate,
    queue: FrameQueue,
    ranges: RangeTable,
    fragments: FreeFragments,
    spans: SpanStore,
    jobs: JobSender,
    reports: FpduStatusReport,
    arrived: Signal<Local, Accepted>,
    loading: Signal<Local, StreamContext>,
    popped: Signal<Local, StreamContext>,
    frame: Signal<Local, QueuedFrame>,
    popped_frame: Signal<Local, QueuedFrame>,
    first: Signal<Local, QueuedFrame>,
    // The accepted octets are a fragment with a slot of its own.
    own_slot: Signal<Local, Bit>,
    kind: Signal<Local, EventKind>,
    returned: DFF<Bit>,
    // The context to write, registered: written in the cycle in which the next event is taken, one
    // cycle before its context is read.
    writing: DFF<Bit>,
    written_connection: DFF<Bits<10>>,
    written: DFF<StreamContext>,
    request_index: Signal<Local, Bits<16>>,
}

impl Logic for StreamManager {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; returned, writing, written_connection, written);
        // The current event.
        self.kind.next = self.control.at_hand.val();
        self.arrived.next = self.arbiter.next_accepted.val();
        self.frame.next.head_page = self.arrived.val().head_page;
        self.frame.next.tail_page = self.arrived.val().tail_page;
        self.frame.next.offset = self.arrived.val().offset;
        self.frame.next.octets = self.arrived.val().octets;
        self.frame.next.shared = self.arrived.val().shared;
        self.frame.next.slot = bit_cast::<10, 9>(self.arrived.val().tail_page);
        self.own_slot.next = self.arrived.val().shared & !self.arrived.val().last;
        if self.own_slot.val() {
            self.frame.next.slot = self.fragments.slot.val();
        }
        self.popped.next = self.context_update.popped.val();
        self.popped_frame.next.head_page = self.popped.val().head_page;
        self.popped_frame.next.tail_page = self.popped.val().head_tail;
        self.popped_frame.next.offset = self.popped.val().head_offset;
        self.popped_frame.next.octets = self.popped.val().head_octets;
        self.popped_frame.next.slot = self.popped.val().head_slot;
        self.popped_frame.next.shared = self.popped.val().head_shared;
        // Messages in.
        wire!(self => self.arbiter; clock, reset);
        stream!(self => self.arbiter; accepted, host_frame, job_done, stream_error);
        wire!(self => self.arbiter; table_request, table_valid);
        self.table_done.next = self.arbiter.table_done.val();
        self.record_fence.next = self.arbiter.record_fence.val();
        self.arbiter.record_fence_done.next = self.record_fence_done.val();
        self.table_data.next = 0.into();
        wire!(self.jobs => self.arbiter; room as job_room, credit as job_credit);
        wire!(self.control => self.arbiter;
            release_waits, drop_pending, take_accepted, take_host, take_done, take_stream_error,
            take_request);

        // Steps of an event.
        wire!(self => self.control; clock, reset);
        wire!(self.arbiter => self.control;
            next_event, connection as next_connection, next_accepted, next_done);
        wire!(self.context_update => self.control; current, popped);
        wire!(self.ranges => self.control; right_range, left_range);
        self.control.new_span.next = self.spans.new_span.val();
        wire!(self.context_update => self.control; was_empty, complete, enough);
        wire!(self.queue => self.control; done as consumed, drop_ready);
        self.control.forget_room.next = self.forget_room.val();

        // The context: read, changed, written.
        self.contexts.clock.next = self.clock.val();
        // From a register: the current event keeps its context at the RAM's output.
        self.contexts.read_address.next = self.control.connection.val();
        self.request_index.next = self.table_request.val().index;
        self.writing.d.next = self.control.write_context.val() | self.reset.val();
        self.written_connection.d.next = self.control.connection.val();
        if self.control.write_context.val() | self.control.write_span.val() {
            self.written.d.next = self.context_update.updated.val();
        }
        if self.reset.val() {
            // A stream that was never started: it takes no frames and holds none.
            self.written_connection.d.next = self.request_index.val().get_bits::<10>(0);
            self.written.d.next.active = false;
            self.written.d.next.stopped = false;
            self.written.d.next.busy = false;
            self.written.d.next.has_next = false;
            self.written.d.next.avail = 0.into();
        }
        self.contexts.write_enable.next = self.writing.q.val();
        self.contexts.write_address.next = self.written_connection.q.val();
        self.contexts.write_data.next = self.written.q.val();
        wire!(self => self.spans; clock, reset);
        wire!(self.control => self.spans; span, write_span as write);
        self.spans.data.next = self.written.q.val();
        self.context_update.clock.next = self.clock.val();
        wire!(self.control => self.context_update; load, keep_popped);
        self.context_update.loaded.next = self.contexts.read_data.val();
        self.context_update.span_loaded.next = self.spans.stored.val();
        self.context_update.at_hand.next = self.control.at_hand.val();
        self.context_update.arrived.next = self.frame.val();
        self.context_update.arrived_octets.next = bit_cast::<18, 14>(self.arrived.val().octets);
        self.context_update.arrived_sequence.next = self.arrived.val().sequence;
        self.context_update.arrived_last.next = self.frame.val().slot;
        if self.kind.val().advancing {
            self.context_update.arrived.next = self.popped_frame.val();
            self.context_update.arrived_octets.next = self.popped.val().avail;
            self.context_update.arrived_last.next = self.popped.val().last_slot;
        }
        self.context_update.right_range.next = self.ranges.right_range.val();
        self.context_update.job_done.next = self.arbiter.next_done.val();
        self.context_update.request_data.next = self.table_request.val().data;
        self.context_update.front.next = self.queue.front.val();
        self.context_update.purge.next = self.control.purge.val();

        // Frames and their pages.
        self.first.next = self.queue.front.val();
        self.queue.amount.next = self.context_update.current.val().avail;
        self.loading.next = self.context_update.incoming.val();
        if self.control.load.val() {
            self.first.next.head_page = self.loading.val().head_page;
            self.first.next.tail_page = self.loading.val().head_tail;
            self.first.next.offset = self.loading.val().head_offset;
            self.first.next.octets = self.loading.val().head_octets;
            self.first.next.slot = self.loading.val().head_slot;
            self.first.next.shared = self.loading.val().head_shared;
            self.queue.amount.next = self.arbiter.next_done.val().consumed;
        }
        wire!(self => self.queue;
            clock, reset, link_write, link_page, link_next, jump_write, jump_page, frame);
        self.queue.append.next = self.control.append.val()
            | (self.control.append_span.val() & self.context_update.popped_any.val());
        self.queue.links_only.next = self.control.append_span.val();
        self.queue.opens.next = self.arrived.val().first;
        self.queue.closes.next = self.arrived.val().last;
        self.queue.follows.next = !self.context_update.was_empty.val();
        self.queue.behind.next = self.context_update.current.val().last_slot;
        if self.control.append_span.val() {
            self.queue.frame.next = self.popped_frame.val();
        }
        self.queue.drop.next = self.control.drop_frame.val();
        self.queue.begins.next = self.control.load.val() | self.control.purge.val();
        self.queue.first.next = self.first.val();
        self.queue.go.next = self.control.consume.val();
        self.queue.some_left.next =
            self.context_update.some_left.val() & !self.kind.val().accepting;
        stream!(self.queue => self; page_release);
        wire!(self.queue => self;
            frame_table_write, frame_table_index, frame_table_data, frame_link_write,
            frame_link_index, frame_link_next);

        // Out-of-order ranges, their spans, and fragments.
        self.ranges.clock.next = self.clock.val();
        self.ranges.arrived.next = self.arbiter.next_accepted.val();
        wire!(self.control => self.ranges;
            span, fetch, load_right, load_left, write_range as write);
        wire!(self => self.fragments; clock, reset);
        self.fragments.take.next = self.own_slot.val() & self.control.append.val();
        wire!(self.queue => self.fragments; slot_free as free, slot_free_valid as free_valid);
        self.returned.d.next = self.queue.slot_free_valid.val()
            | (self.own_slot.val() & self.control.drop_frame.val() & self.queue.drop_ready.val());
        self.fragment_free.next = self.returned.q.val();
        wire!(self.control => self.spans;
            take_span as take, free_span as frees, deliver as delivers, forget as forgets, fault,
            connection);
        self.spans.next_sequence.next = self.context_update.current.val().sequence;
        wire!(self.spans => self; order, order_valid);
        stream!(self => self.spans; span_back);
        self.span_free.next = self.spans.span_free.val();

        // Reports to the reserve.
        wire!(self => self.reports; clock, reset, job_done, job_done_valid);
        self.reports.query.next = self.control.answer.val();
        self.reports.current.next = self.context_update.current.val();
        wire!(self.reports => self;
            status as fpdu_status, status_valid as fpdu_status_valid, long_fpdu, long_connection);
        // Jobs in flight.
        wire!(self => self.jobs; clock, reset);
        wire!(self.control => self.jobs; send, connection);
        self.jobs.stream.next = self.context_update.updated.val();
        self.jobs.ooo.next = self.kind.val().of_span;
        self.jobs.span.next = self.control.span.val();
        self.jobs.replays.next = self.control.deliver.val() | self.control.fault.val();
        self.jobs.ended.next = self.control.take_done.val();
        self.jobs.hosting.next = self.control.at_hand.val().hosting;
        self.jobs.send_host.next = self.control.send_host.val();
        self.jobs.host_frame.next = self.arbiter.next_host.val();
        stream!(self.jobs => self; job);
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod ooo_tests;
