//! The room as one block: FIFO of records in, place commands, stop messages and trace out.
//!
//! ```text
//! record --> [ entrance ] ---> [ checks ] --> [ compose ] --> command
//!                  ^             ^   ^  ^ |         |-------> stopped
//! verdict --> [ FIFO, 32 ] ------+   |  | |         |-------> event, counts
//!                  |  [ sequencer ]--+  | |         \-------> early_result, early_octets
//!                  |            table bus |
//! replay --> [ deferred ] <---------------+ records of early FPDUs
//!                  \----------------------------------------> replayed
//! ```
//!
//! | latency    | 11 cycles, `record_valid` to `command_valid`, in an empty room; |
//! |            | 3 from `fpdu_verdict_valid`, if that is later                   |
//! | throughput | one record per 6 cycles                                         |
//! | units      | see [`crate::messages`]                                         |
//!
//! No verdict is lost: each comes after its record, and there are 17 records at most that have not
//! used theirs, one in the checks and 16 in the FIFO. Replayed records have none.
//!
//! The answer to an early FPDU leaves with its command: whatever a later record gives comes behind
//! its payload.
use super::checks::Checks;
use super::command::CommandCompose;
use super::deferred::DeferredRecords;
use super::entrance::Entrance;
use super::sequencer::Sequencer;
use crate::common::fifo::Fifo;
use crate::messages::{EarlyResult, FpduEvent, FpduRecord, FpduVerdict, PlaceCommand};
use crate::messages::{Replay, Replayed, TableRequest};
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// DDP and RDMAP checks of received FPDUs.
#[derive(LogicBlock, Default)]
pub struct DdpRoom {
    pub clock: Signal<In, Clock>,
    /// Synchronous; forgets the records inside, not the tables.
    pub reset: Signal<In, Bit>,
    /// An FPDU that passes MPA.
    pub record: Signal<In, FpduRecord>,
    pub record_valid: Signal<In, Bit>,
    /// Two records more can be taken.
    pub record_room: Signal<Out, Bit>,
    /// An FPDU has passed MPA.
    pub fpdu_verdict: Signal<In, FpduVerdict>,
    pub fpdu_verdict_valid: Signal<In, Bit>,
    /// What became of an early FPDU.
    pub early_result: Signal<Out, EarlyResult>,
    pub early_result_valid: Signal<Out, Bit>,
    /// Payload octets of a good early FPDU.
    pub early_octets: Signal<Out, Bits<16>>,
    pub early_octets_valid: Signal<Out, Bit>,
    /// What becomes of the records of a span.
    pub replay: Signal<In, Replay>,
    pub replay_valid: Signal<In, Bit>,
    pub replay_ready: Signal<Out, Bit>,
    pub replayed: Signal<Out, Replayed>,
    pub replayed_valid: Signal<Out, Bit>,
    pub replayed_ready: Signal<In, Bit>,
    /// What to do with the FPDU's beats.
    pub command: Signal<Out, PlaceCommand>,
    pub command_valid: Signal<Out, Bit>,
    pub command_ready: Signal<In, Bit>,
    /// A connection has just come to its end: an error, or its peer's Terminate.
    pub stopped: Signal<Out, Bits<10>>,
    pub stopped_valid: Signal<Out, Bit>,
    pub stopped_ready: Signal<In, Bit>,
    /// Trace: what became of an FPDU.
    pub fpdu_event: Signal<Out, FpduEvent>,
    pub fpdu_event_valid: Signal<Out, Bit>,
    /// An FPDU counts as received, one cycle.
    pub count_fpdu: Signal<Out, Bit>,
    /// `rnic_abi::errors::StreamError` of the FPDU at `fpdu_event`.
    pub error_number: Signal<Out, Bits<5>>,
    /// That FPDU is refused, one cycle.
    pub error_valid: Signal<Out, Bit>,
    pub table_request: Signal<In, TableRequest>,
    /// Table bus.
    pub table_valid: Signal<In, Bit>,
    /// Table bus.
    pub table_done: Signal<Out, Bit>,
    /// Table bus.
    pub table_data: Signal<Out, Bits<128>>,
    entrance: Entrance,
    verdicts: Fifo<FpduVerdict, 5, 6>,
    sequencer: Sequencer,
    checks: Checks,
    compose: CommandCompose,
    deferred: DeferredRecords,
    has_command: DFF<Bit>,
    has_stopped: DFF<Bit>,
    has_event: DFF<Bit>,
    counts: DFF<Bit>,
    has_error: DFF<Bit>,
    has_early: DFF<Bit>,
    has_kept: DFF<Bit>,
    told: Signal<Local, FpduEvent>,
}

impl Logic for DdpRoom {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; has_command, has_stopped, has_event, counts, has_error);
        registers!(clock; has_early, has_kept);
        wire!(self => self.{entrance, verdicts, sequencer, checks, compose, deferred}; clock);

        wire!(self => self.entrance; reset, record, record_valid);
        self.record_room.next = self.entrance.record_room.val();
        wire!(self.deferred => self.entrance; offered, offered_valid);
        self.entrance.leave.next = self.sequencer.leave.val();
        wire!(self => self.verdicts; reset, fpdu_verdict as data_in, fpdu_verdict_valid as write);

        self.sequencer.reset.next = self.reset.val();
        wire!(self.entrance => self.sequencer; head_valid, head_judged);
        self.sequencer.verdict_valid.next = !self.verdicts.empty.val();
        self.verdicts.read.next = self.sequencer.take_verdict.val();
        self.sequencer.outputs_free.next = !self.has_command.q.val() & !self.has_stopped.q.val();
        wire!(self.checks => self.sequencer; hold, restart);

        self.checks.reset.next = self.reset.val();
        wire!(self.entrance => self.checks; head, head_hash);
        wire!(self.sequencer => self.checks; take, address as address_there, decide);
        self.checks.fpdu_verdict.next = self.verdicts.data_out.val();
        wire!(self.sequencer => self.checks; is_judged, commit);
        wire!(self.deferred => self.checks; has_room, free_places as free_records);
        wire!(self.sequencer => self.checks; may_start, may_run);
        wire!(self => self.checks; table_request, table_valid);
        wire!(self.checks => self; table_done, table_data);

        wire!(self.checks => self.compose; record, segment, verdict, address, entry);
        self.compose.load.next = self.sequencer.load.val();

        self.deferred.reset.next = self.reset.val();
        wire!(self.checks => self.deferred; keep as push, record);
        self.deferred.offered_taken.next = self.entrance.offered_taken.val();
        stream!(self => self.deferred; replay);
        stream!(self.deferred => self; replayed);

        // A message holds until taken; the next record's is not loaded before.
        if self.command_ready.val() {
            self.has_command.d.next = false;
        }
        if self.stopped_ready.val() {
            self.has_stopped.d.next = false;
        }
        self.has_event.d.next = false;
        self.counts.d.next = false;
        self.has_error.d.next = false;
        self.has_early.d.next = false;
        self.has_kept.d.next = false;
        if self.sequencer.load.val() {
            self.has_early.d.next = self.checks.verdict.val().early;
            self.has_kept.d.next = self.checks.verdict.val().keep;
            self.has_command.d.next = self.checks.verdict.val().command;
            self.has_stopped.d.next = self.checks.verdict.val().stops;
            self.has_event.d.next = self.checks.verdict.val().event;
            self.counts.d.next = self.checks.verdict.val().count;
            self.has_error.d.next = self.checks.verdict.val().refused;
        }
        self.command.next = self.compose.command.val();
        self.command_valid.next = self.has_command.q.val();
        self.told.next = self.compose.fpdu_event.val();
        self.stopped.next = self.told.val().connection;
        self.stopped_valid.next = self.has_stopped.q.val();
        self.fpdu_event.next = self.told.val();
        self.fpdu_event_valid.next = self.has_event.q.val();
        self.early_result.next.good = self.has_kept.q.val();
        self.early_result.next.sequence_end = self.compose.sequence_end.val();
        self.early_result_valid.next = self.has_early.q.val();
        self.early_octets.next = self.told.val().placed_octets;
        self.early_octets_valid.next = self.has_kept.q.val();
        self.count_fpdu.next = self.counts.q.val();
        self.error_number.next = self.told.val().error;
        self.error_valid.next = self.has_error.q.val();
        if self.reset.val() {
            self.has_command.d.next = false;
            self.has_stopped.d.next = false;
            self.has_event.d.next = false;
            self.counts.d.next = false;
            self.has_error.d.next = false;
            self.has_early.d.next = false;
            self.has_kept.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
