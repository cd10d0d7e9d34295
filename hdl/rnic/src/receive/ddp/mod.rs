//! DDP and RDMAP: from an FPDU of MPA to a place command.
//!
//! ```text
//!             +--------------------------------------------------------------+
//!  record --->| RecordQueue --> Checks: lookups, tests, verdict --> compose  |--> command
//!  verdict -->| FIFO 32 --------^ ^              |                           |--> stream_error
//!             |      steps: Sequencer            v                           |--> fpdu_event,
//!  replay --->| RecordStore <----- records of FPDUs out of order, by span    |     counts
//!  table <--->| TablePort --> RAMs of STags, regions, queues, pool, contexts |--> ooo_result
//!  begun ---->| RecordFence: earlier records have left                       |--> replayed
//!             +--------------------------------------------------------------+-> record_fence_done
//! ```
//!
//! | message                 | unit and meaning                                                 |
//! |-------------------------|------------------------------------------------------------------|
//! | `record: FpduRecord` in | one FPDU, or one frame for the host; of a connection in stream   |
//! |                         | order except for those out of order; no ready                    |
//! | `record_room`           | two more records can be taken                                    |
//! | `begun` in              | one cycle: an FPDU begins, its record will follow                |
//! | `fpdu_verdict` in       | CRC and markers of one FPDU, in the order of the records that    |
//! |                         | have one, and after its record; no ready                         |
//! | `ooo_result`            | one cycle, for each `FpduKind::OutOfOrder`, with its command; no |
//! |                         | ready                                                            |
//! | `replay: Replay` in     | deliver or discard the records of a span                         |
//! | `replayed: Replayed`    | the records are in the FIFO, or discarded                        |
//! | `record_fence` in       | held until `record_fence_done`, one cycle: all records begun or  |
//! |                         | inside before have left, and their outputs are taken             |
//! | `command: PlaceCommand` | one for each record that occupies beats or gives a CQE           |
//! | `stream_error`          | the connection that ends with the FPDU of the last command       |
//! | `fpdu_event: FpduEvent` | one cycle, for each FPDU of a connection not in error            |
//! | `first_fpdu`            | one cycle, the connection whose first FPDU passed all tests      |
//! | `count_fpdu`            | one cycle, counter `fpdus`                                       |
//! | `error_number`          | with `error_valid`, one cycle, counter `FIRST_REFUSAL + n - 1`   |
//! | `cq_write: CqWrite` in  | a register of a completion queue gets a value                    |
//! | `cq_report: CqReport`   | an entry of a completion queue got its number, or had no room    |
//! | table bus               | tables DDP, QUEUE, QUEUE_TAIL, RECEIVE_POOL, STAG, REGION        |
//! | `access_*` in           | the access of BAR0 at hand, for the posting port                 |
//! | `post_busy`             | a post is not done: no access may come                           |
//! | `post_closed`, `_full`  | one cycle: a post is refused, its counter                        |
//!
//! | latency    | 11 cycles, `record_valid` to `command_valid`, in an empty room, or 3 from  |
//! |            | `fpdu_verdict_valid`, if that is later; no FPDU takes longer (an STag to   |
//! |            | invalidate is looked up like any other); 8 cycles, `replay_valid` to its   |
//! |            | first record in the FIFO, 4 from one to the next, 2 from the last one to   |
//! |            | `replayed_valid`                                                           |
//! | throughput | one record per 6 cycles, whatever its verdict; 11 from a Read Response to  |
//! |            | the next record                                                            |
//! | units      | octets, beats of the placement buffer, words of 32 bits                    |
//! | size       | 2,166 LUT4, 375 carry cells, 3,454 FF, 84 LUT RAMs, 54 block RAMs (ECP5),  |
//! |            | 8 of them for records of FPDUs out of order                                |
//! | speed      | 180 MHz, LFE5UM5G-85F speed 8, out of context, seed 1; measured before its |
//! |            | worst path, from a push to the links of [`spans`], was removed             |
//! | source     | RFC 5041, RFC 5040, RFC 6581 section 8; draft-ietf-rddp-mpa-02 (version 0) |
//!
//! The tests, in their order, are the table "ddp, stag" of ARCHITECTURE.md; each error is an
//! `rnic_abi::errors::StreamError` with a counter of its own (`refuse_*`). Not one octet of a
//! refused FPDU is written; its connection is in error until the driver writes its DDP context, and
//! later FPDUs are discarded silently (RFC 5041 section 7.1). A Terminate of the peer is delivered
//! and also ends its stream, without a CQE of its own (RFC 5040 section 5.6).
//!
//! **Out of order.** `FpduKind::OutOfOrder` is an FPDU beyond a gap. It goes through the same
//! tests, except that its MSN may be any posted one. If it passes, certainly begins with an FPDU,
//! follows no failed FPDU of its job, and a slot for its record is free, its payload is placed at
//! once: RFC 5041 section 5.3 allows placement in any order. It has no other effect: no CQE, no
//! MSN, no invalidation, no event. If it fails, it has no effect at all. When the gap has closed,
//! its record is replayed at its position in the stream, as `FpduKind::Deliver`, through all tests
//! once more, with the same results as in order; only its octets are not moved again.
//! `FpduKind::Fault` has no octets and no header: it is refused as a marker error at `sequence`,
//! with ULPDU_Length 0 and the same sequence number after it. At most 511 records are stored; none
//! in the first 512 cycles after a reset.
//!
//! `FpduKind::Host` records pass without a test: `PlaceKind::Host`, `octets` = `ulpdu_length`, the
//! first page of the frame in bits 8:0 and its last page in bits 24:16 of `cqe`. In an Error CQE QN
//! is the low two bits of the received one. `cqe` is zero without a CQE.
//!
//! An in-order RDMA Write passes these files, in this order:
//!
//! | file             | decides                                                                |
//! |------------------|------------------------------------------------------------------------|
//! | [`sequencer`]    | order of records; when one enters the checks and leaves them           |
//! | [`types`]        | what the blocks exchange: segment, role, verdict, table writes         |
//! | [`checks`]       | header to fields; Protection Domain, version, error, first FPDU        |
//! | `stag`           | STag to region; rights, association, bounds, bus address               |
//! | [`verdict`]      | the first failing test, and what the FPDU gives                        |
//! | [`command`]      | place command, CQE, event                                              |
//!
//! The others are for untagged segments, FPDUs out of order and table operations, or are leaves:
//!
//! | file                  | decides                                                              |
//! |-----------------------|----------------------------------------------------------------------|
//! | [`untagged`]          | QN and MSN to buffer; MO and length against it; expected, posted MSN |
//! | [`reads`]             | does a Read Response continue the oldest outstanding read?           |
//! | [`completion_queues`] | has the completion queue room? number of the entry                   |
//! | [`record_store`]      | FPDUs out of order: chain of a job, records and their replay         |
//! | [`spans`]             | lists of the slots of each span, and the free slots                  |
//! | [`tables`]            | table operations, atomic between records                             |
//! | [`posting`]           | posts of the driver: entry and tail of a queue                       |
//! | [`record_fence`]      | have the checks processed every record of a released connection?     |
//! | [`octet_order`]       | octet string to number                                               |
//! | [`terminate`]         | error to Terminate code                                              |
//!
//! A table operation, or a post, waits for the checks of one record at most, and never for
//! `command_ready` or a verdict: a record in the checks that waits for its verdict has changed
//! nothing, is still the head of the FIFO, and goes back in front to repeat its lookups after the
//! operation. It does not wait for commands given before: revoking an STag also needs the fence of
//! placement. The release of a connection waits behind the record fence, for records that a full
//! completion queue may stop: the stream manager asks for it when nothing of the connection is left
//! there.
//!
//! No verdict is lost: each arrives after its record, and at most 17 records have not used theirs,
//! one in the checks and 16 in the FIFO. Replayed records have none. The result of an FPDU out of
//! order leaves with its command, so that what a later record gives follows its payload.
pub mod types;
pub mod octet_order;
pub mod sequencer;
pub mod record_fence;
pub mod untagged;
pub mod reads;
pub mod completion_queues;
pub mod verdict;
pub mod terminate;
pub mod command;
pub mod spans;
pub mod record_store;
pub mod tables;
pub mod posting;
pub mod checks;

use crate::common::fifo::Fifo;
use crate::messages::{CqReport, CqWrite, FpduEvent, FpduRecord, FpduVerdict, OutOfOrderResult};
use crate::messages::{PlaceCommand, Replay, Replayed, TableRequest};
use checks::Checks;
use command::CommandCompose;
use record_fence::RecordFence;
use record_store::RecordStore;
use rnic_macros::kernel;
use rust_hdl::prelude::*;
use sequencer::{RecordQueue, Sequencer};

/// DDP and RDMAP checks of received FPDUs.
#[derive(LogicBlock, Default)]
pub struct DdpRoom {
    pub clock: Signal<In, Clock>,
    /// Synchronous; discards the records inside, not the tables.
    pub reset: Signal<In, Bit>,
    // Messages: see the table above.
    pub record: Signal<In, FpduRecord>,
    pub record_valid: Signal<In, Bit>,
    pub record_room: Signal<Out, Bit>,
    pub begun: Signal<In, Bit>,
    pub fpdu_verdict: Signal<In, FpduVerdict>,
    pub fpdu_verdict_valid: Signal<In, Bit>,
    pub ooo_result: Signal<Out, OutOfOrderResult>,
    pub ooo_result_valid: Signal<Out, Bit>,
    pub replay: Signal<In, Replay>,
    pub replay_valid: Signal<In, Bit>,
    pub replay_ready: Signal<Out, Bit>,
    pub replayed: Signal<Out, Replayed>,
    pub replayed_valid: Signal<Out, Bit>,
    pub replayed_ready: Signal<In, Bit>,
    pub record_fence: Signal<In, Bit>,
    pub record_fence_done: Signal<Out, Bit>,
    pub command: Signal<Out, PlaceCommand>,
    pub command_valid: Signal<Out, Bit>,
    pub command_ready: Signal<In, Bit>,
    pub stream_error: Signal<Out, Bits<10>>,
    pub stream_error_valid: Signal<Out, Bit>,
    pub stream_error_ready: Signal<In, Bit>,
    pub fpdu_event: Signal<Out, FpduEvent>,
    pub fpdu_event_valid: Signal<Out, Bit>,
    /// One cycle: the first FPDU of `first_fpdu`, a connection, passed all tests (START-014).
    pub first_fpdu: Signal<Out, Bits<10>>,
    pub first_fpdu_valid: Signal<Out, Bit>,
    pub count_fpdu: Signal<Out, Bit>,
    pub error_number: Signal<Out, Bits<5>>,
    pub error_valid: Signal<Out, Bit>,
    pub cq_write: Signal<In, CqWrite>,
    pub cq_report: Signal<Out, CqReport>,
    pub table_request: Signal<In, TableRequest>,
    pub table_valid: Signal<In, Bit>,
    pub table_done: Signal<Out, Bit>,
    pub table_data: Signal<Out, Bits<128>>,
    pub access_address: Signal<In, Bits<10>>,
    pub access_data: Signal<In, Bits<32>>,
    pub access_write: Signal<In, Bit>,
    pub post_busy: Signal<Out, Bit>,
    pub post_closed: Signal<Out, Bit>,
    pub post_full: Signal<Out, Bit>,
    record_queue: RecordQueue,
    verdicts: Fifo<FpduVerdict, 5, 6>,
    sequencer: Sequencer,
    checks: Checks,
    compose: CommandCompose,
    record_store: RecordStore,
    fence: RecordFence,
    has_command: DFF<Bit>,
    has_stream_error: DFF<Bit>,
    has_event: DFF<Bit>,
    counts: DFF<Bit>,
    has_error: DFF<Bit>,
    has_ooo: DFF<Bit>,
    has_stored: DFF<Bit>,
    outputs_free: Signal<Local, Bit>,
    has_first: DFF<Bit>,
    reported: Signal<Local, FpduEvent>,
}

impl Logic for DdpRoom {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; has_command, has_stream_error, has_event, counts, has_error);
        registers!(clock; has_ooo, has_stored, has_first);
        wire!(self => self.{
            record_queue, verdicts, sequencer, checks, compose, record_store, fence
        }; clock);

        wire!(self => self.record_queue; reset, record, record_valid);
        self.record_room.next = self.record_queue.record_room.val();
        wire!(self.record_store => self.record_queue; offered, offered_valid);
        self.record_queue.leave.next = self.sequencer.leave.val();
        wire!(self => self.verdicts; reset, fpdu_verdict as data_in, fpdu_verdict_valid as write);

        self.sequencer.reset.next = self.reset.val();
        wire!(self.record_queue => self.sequencer; head_valid, head_judged);
        self.sequencer.verdict_valid.next = !self.verdicts.empty.val();
        self.verdicts.read.next = self.sequencer.take_verdict.val();
        self.outputs_free.next = !self.has_command.q.val() & !self.has_stream_error.q.val();
        self.sequencer.outputs_free.next = self.outputs_free.val();
        wire!(self.checks => self.sequencer; hold, restart, moved);

        self.checks.reset.next = self.reset.val();
        wire!(self.record_queue => self.checks; head, head_hash);
        wire!(self.sequencer => self.checks; take, address as address_there, decide);
        self.checks.fpdu_verdict.next = self.verdicts.data_out.val();
        wire!(self.sequencer => self.checks; is_judged, commit);
        wire!(self.record_store => self.checks; has_room, free_places as free_records);
        wire!(self.sequencer => self.checks; may_start, may_run);
        wire!(self => self.checks; table_request, table_valid);
        wire!(self.checks => self; table_done, table_data);
        wire!(self => self.checks; access_address, access_data, access_write);
        wire!(self.checks => self; post_busy, post_closed, post_full);

        self.checks.cq_write.next = self.cq_write.val();
        self.cq_report.next = self.checks.cq_report.val();
        wire!(self.checks => self.compose; record, segment, verdict, address, entry);
        wire!(self.checks => self.compose; entry_queue, word_7);
        self.compose.load.next = self.sequencer.load.val();

        self.record_store.reset.next = self.reset.val();
        wire!(self.checks => self.record_store; keep as push, record);
        self.record_store.offered_taken.next = self.record_queue.offered_taken.val();
        stream!(self => self.record_store; replay);
        stream!(self.record_store => self; replayed);

        wire!(self => self.fence; reset, begun, record_valid, outputs_free, record_fence as fence);
        self.fence.enters.next = self.record_valid.val() | self.record_queue.offered_taken.val();
        self.fence.load.next = self.sequencer.load.val();
        self.record_fence_done.next = self.fence.fence_done.val();

        // A message holds until taken; the next record is not loaded before.
        if self.command_ready.val() {
            self.has_command.d.next = false;
        }
        if self.stream_error_ready.val() {
            self.has_stream_error.d.next = false;
        }
        self.has_event.d.next = false;
        self.counts.d.next = false;
        self.has_error.d.next = false;
        self.has_ooo.d.next = false;
        self.has_stored.d.next = false;
        self.has_first.d.next = false;
        if self.sequencer.load.val() {
            self.has_first.d.next = self.checks.first_passed.val();
            self.has_ooo.d.next = self.checks.verdict.val().ooo;
            self.has_stored.d.next = self.checks.verdict.val().keep;
            self.has_command.d.next = self.checks.verdict.val().command;
            self.has_stream_error.d.next = self.checks.verdict.val().stops;
            self.has_event.d.next = self.checks.verdict.val().event;
            self.counts.d.next = self.checks.verdict.val().count;
            self.has_error.d.next = self.checks.verdict.val().refused;
        }
        self.command.next = self.compose.command.val();
        self.command_valid.next = self.has_command.q.val();
        self.reported.next = self.compose.fpdu_event.val();
        self.stream_error.next = self.reported.val().connection;
        self.stream_error_valid.next = self.has_stream_error.q.val();
        self.fpdu_event.next = self.reported.val();
        self.fpdu_event_valid.next = self.has_event.q.val();
        self.ooo_result.next.good = self.has_stored.q.val();
        self.ooo_result.next.sequence_end = self.compose.sequence_end.val();
        self.ooo_result_valid.next = self.has_ooo.q.val();
        self.first_fpdu.next = self.reported.val().connection;
        self.first_fpdu_valid.next = self.has_first.q.val();
        self.count_fpdu.next = self.counts.q.val();
        self.error_number.next = self.reported.val().error;
        self.error_valid.next = self.has_error.q.val();
        if self.reset.val() {
            self.has_command.d.next = false;
            self.has_stream_error.d.next = false;
            self.has_event.d.next = false;
            self.counts.d.next = false;
            self.has_error.d.next = false;
            self.has_ooo.d.next = false;
            self.has_stored.d.next = false;
            self.has_first.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
