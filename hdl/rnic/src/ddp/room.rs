//! The room as one block: FIFO of records in, place commands, stop messages and trace out.
//!
//! ```text
//! record --> [ FIFO, 16 ] ---> [ checks ] --> [ compose ] --> command
//!     \--> hash --^              ^   ^  ^           |-------> stopped
//! verdict --> [ FIFO, 32 ] ------+   |  |           \-------> event, counts
//!                     [ sequencer ]--+  table bus
//! ```
//!
//! | latency    | 11 cycles, `record_valid` to `command_valid`, in an empty room; |
//! |            | 3 from `fpdu_verdict_valid`, if that is later                   |
//! | throughput | one record per 6 cycles                                         |
//! | units      | see [`crate::messages`]                                         |
//!
//! No verdict is lost: each comes after its record, and there are 17 records at most that have not
//! used theirs, one in the checks and 16 in the FIFO.
use super::checks::Checks;
use super::command::CommandCompose;
use super::octet_order::OctetOrder;
use super::segment::Arrival;
use super::sequencer::Sequencer;
use crate::common::fifo::Fifo;
use crate::messages::{FpduEvent, FpduRecord, FpduVerdict, PlaceCommand, TableRequest};
use crate::messages::{FPDU_CHECK, FPDU_NORMAL};
use crate::stag::hash::StagHash;
use rust_hdl::prelude::*;

/// DDP and RDMAP checks of received FPDUs.
#[derive(LogicBlock)]
pub struct DdpRoom {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; forgets the records inside, not the tables.
    pub reset: Signal<In, Bit>,
    /// An FPDU that passes MPA.
    pub record: Signal<In, FpduRecord>,
    /// `record` is new, and taken.
    pub record_valid: Signal<In, Bit>,
    /// Two records more can be taken.
    pub record_room: Signal<Out, Bit>,
    /// An FPDU has passed MPA.
    pub fpdu_verdict: Signal<In, FpduVerdict>,
    /// `fpdu_verdict` is new, and taken.
    pub fpdu_verdict_valid: Signal<In, Bit>,
    /// What to do with the FPDU's beats.
    pub command: Signal<Out, PlaceCommand>,
    /// `command` is offered.
    pub command_valid: Signal<Out, Bit>,
    /// `command` is taken.
    pub command_ready: Signal<In, Bit>,
    /// A connection has just been put in error.
    pub stopped: Signal<Out, Bits<10>>,
    /// `stopped` is offered.
    pub stopped_valid: Signal<Out, Bit>,
    /// `stopped` is taken.
    pub stopped_ready: Signal<In, Bit>,
    /// Trace: what became of an FPDU.
    pub fpdu_event: Signal<Out, FpduEvent>,
    /// `fpdu_event` is new, one cycle.
    pub fpdu_event_valid: Signal<Out, Bit>,
    /// An FPDU counts as received, one cycle.
    pub count_fpdu: Signal<Out, Bit>,
    /// `rnic_abi::errors::StreamError` of the FPDU at `fpdu_event`.
    pub error_number: Signal<Out, Bits<5>>,
    /// That FPDU is refused, one cycle.
    pub error_valid: Signal<Out, Bit>,
    /// Table bus.
    pub table_request: Signal<In, TableRequest>,
    /// Table bus.
    pub table_valid: Signal<In, Bit>,
    /// Table bus.
    pub table_done: Signal<Out, Bit>,
    /// Table bus.
    pub table_data: Signal<Out, Bits<128>>,
    order: OctetOrder<32>,
    hash: StagHash,
    queue: Fifo<Arrival, 4, 5>,
    verdicts: Fifo<FpduVerdict, 5, 6>,
    sequencer: Sequencer,
    checks: Checks,
    compose: CommandCompose,
    has_command: DFF<Bit>,
    has_stopped: DFF<Bit>,
    has_event: DFF<Bit>,
    counts: DFF<Bit>,
    has_error: DFF<Bit>,
    header: Signal<Local, Bits<160>>,
    stag: Signal<Local, Bits<32>>,
    arrival: Signal<Local, Arrival>,
    head: Signal<Local, FpduRecord>,
    told: Signal<Local, FpduEvent>,
    fpdu_normal: Constant<Bits<3>>,
    fpdu_check: Constant<Bits<3>>,
}

impl Default for DdpRoom {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            record: Default::default(),
            record_valid: Default::default(),
            record_room: Default::default(),
            fpdu_verdict: Default::default(),
            fpdu_verdict_valid: Default::default(),
            command: Default::default(),
            command_valid: Default::default(),
            command_ready: Default::default(),
            stopped: Default::default(),
            stopped_valid: Default::default(),
            stopped_ready: Default::default(),
            fpdu_event: Default::default(),
            fpdu_event_valid: Default::default(),
            count_fpdu: Default::default(),
            error_number: Default::default(),
            error_valid: Default::default(),
            table_request: Default::default(),
            table_valid: Default::default(),
            table_done: Default::default(),
            table_data: Default::default(),
            order: Default::default(),
            hash: Default::default(),
            // Not almost full: two places are free.
            queue: Fifo::new(1),
            verdicts: Default::default(),
            sequencer: Default::default(),
            checks: Default::default(),
            compose: Default::default(),
            has_command: Default::default(),
            has_stopped: Default::default(),
            has_event: Default::default(),
            counts: Default::default(),
            has_error: Default::default(),
            header: Default::default(),
            stag: Default::default(),
            arrival: Default::default(),
            head: Default::default(),
            told: Default::default(),
            fpdu_normal: Constant::new(FPDU_NORMAL.into()),
            fpdu_check: Constant::new(FPDU_CHECK.into()),
        }
    }
}

impl Logic for DdpRoom {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            has_command,
            has_stopped,
            has_event,
            counts,
            has_error
        );
        clock!(self, clock, queue, verdicts, sequencer, checks, compose);

        // The STag is hashed on its way into the FIFO.
        self.header.next = self.record.val().header;
        self.order.octets.next = self.header.val().get_bits::<32>(32);
        self.stag.next = self.order.number.val();
        self.hash.stag_index.next = self.stag.val().get_bits::<24>(8);
        self.arrival.next.record = self.record.val();
        self.arrival.next.hash = self.hash.hash.val();
        self.queue.reset.next = self.reset.val();
        self.queue.data_in.next = self.arrival.val();
        self.queue.write.next = self.record_valid.val();
        self.record_room.next = !self.queue.almost_full.val();
        self.verdicts.reset.next = self.reset.val();
        self.verdicts.data_in.next = self.fpdu_verdict.val();
        self.verdicts.write.next = self.fpdu_verdict_valid.val();

        self.sequencer.reset.next = self.reset.val();
        self.sequencer.head_valid.next = !self.queue.empty.val();
        self.head.next = self.queue.data_out.val().record;
        self.sequencer.head_judged.next = (self.head.val().kind == self.fpdu_normal.val())
            | (self.head.val().kind == self.fpdu_check.val());
        self.sequencer.verdict_valid.next = !self.verdicts.empty.val();
        self.verdicts.read.next = self.sequencer.take_verdict.val();
        self.sequencer.outputs_free.next = !self.has_command.q.val() & !self.has_stopped.q.val();
        self.sequencer.hold.next = self.checks.hold.val();
        self.sequencer.restart.next = self.checks.restart.val();
        self.queue.read.next = self.sequencer.leave.val();

        self.checks.reset.next = self.reset.val();
        self.checks.head.next = self.head.val();
        self.checks.head_hash.next = self.queue.data_out.val().hash;
        self.checks.take.next = self.sequencer.take.val();
        self.checks.address_there.next = self.sequencer.address.val();
        self.checks.decide.next = self.sequencer.decide.val();
        self.checks.fpdu_verdict.next = self.verdicts.data_out.val();
        self.checks.is_judged.next = self.sequencer.is_judged.val();
        self.checks.commit.next = self.sequencer.commit.val();
        self.checks.may_start.next = self.sequencer.may_start.val();
        self.checks.may_run.next = self.sequencer.may_run.val();
        self.checks.table_request.next = self.table_request.val();
        self.checks.table_valid.next = self.table_valid.val();
        self.table_done.next = self.checks.table_done.val();
        self.table_data.next = self.checks.table_data.val();

        self.compose.record.next = self.checks.record.val();
        self.compose.segment.next = self.checks.segment.val();
        self.compose.verdict.next = self.checks.verdict.val();
        self.compose.address.next = self.checks.address.val();
        self.compose.entry.next = self.checks.entry.val();
        self.compose.load.next = self.sequencer.load.val();

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
        if self.sequencer.load.val() {
            self.has_command.d.next = self.checks.verdict.val().command;
            self.has_stopped.d.next = self.checks.verdict.val().refused;
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
        self.count_fpdu.next = self.counts.q.val();
        self.error_number.next = self.told.val().error;
        self.error_valid.next = self.has_error.q.val();
        if self.reset.val() {
            self.has_command.d.next = false;
            self.has_stopped.d.next = false;
            self.has_event.d.next = false;
            self.counts.d.next = false;
            self.has_error.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
