//! Order of records: the FIFO before the checks, and the steps of each record through them.
//!
//! ```text
//!  record (has priority) --> [ hash ] --+--> [ FIFO, 16 ]
//!  replayed record --------> [ hash ] --+        |
//!                                                v
//!  FIFO head        lookups            checks                    outputs
//!   head_valid --> age 0,1,2,3,4 --> phase 1,2,3,4,5 --> load (or 6: wait for the receivers)
//!       ^               take ----^        |   |   |
//!       |                             address decide commit
//!       +------ hold, no verdict ---------+   ^-- verdict_valid
//! ```
//!
//! | latency    | 10 cycles, `record_valid` into an empty FIFO to `load` |
//! | throughput | one record per 6 cycles, 10 after a Read Response      |
//! | units      | cycles; see [`crate::messages::FpduRecord`]            |
use super::octet_order::OctetOrder;
use crate::common::fifo::Fifo;
use crate::messages::{FpduKind, FpduRecord};
use crate::receive::stag::hash::StagHash;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// A record in the FIFO.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct QueuedRecord {
    /// The record.
    pub record: FpduRecord,
    /// CRC32C of the index of its STag.
    pub hash: Bits<32>,
}

/// Record queue: the FIFO of records from MPA and of replays, with the hash of the STag of each.
///
/// | latency    | 1 cycle, `record_valid` into an empty FIFO to `head_valid` |
/// | throughput | one record per cycle                                       |
///
/// Records of MPA cannot wait. Up to two arrive after `record_room` was last high, so it is high
/// only while at most 12 entries are used. A replayed record enters in a cycle without a record of
/// MPA, and only while at most 13 entries are used, so that two stay free.
///
/// No replay starves, however busy MPA is. Below 13 entries it needs one cycle without a record of
/// MPA; without such a cycle the FIFO fills to 13, `record_room` falls, and MPA sends at most two
/// more. Before `record_room` rises at 12 the fill passes 13 again: MPA sends nothing in the last
/// cycle of 13, and the replayed record enters. A replay does not stop MPA for long either: it has
/// at most 511 records.
#[derive(LogicBlock, Init)]
pub struct RecordQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// From MPA.
    pub record: Signal<In, FpduRecord>,
    pub record_valid: Signal<In, Bit>,
    /// MPA may send two more records.
    pub record_room: Signal<Out, Bit>,
    /// A replayed record, taken with `offered_taken`.
    pub offered: Signal<In, FpduRecord>,
    pub offered_valid: Signal<In, Bit>,
    pub offered_taken: Signal<Out, Bit>,
    /// The oldest record, and the hash of its STag.
    pub head: Signal<Out, FpduRecord>,
    pub head_hash: Signal<Out, Bits<32>>,
    pub head_valid: Signal<Out, Bit>,
    /// It has a verdict of MPA.
    pub head_judged: Signal<Out, Bit>,
    /// It leaves the FIFO.
    pub leave: Signal<In, Bit>,
    record_order: OctetOrder<32>,
    record_hash: StagHash,
    offered_order: OctetOrder<32>,
    offered_hash: StagHash,
    // Not almost full: four entries are free.
    #[init(Fifo::new(3))]
    queue: Fifo<QueuedRecord, 4, 5>,
    record_header: Signal<Local, Bits<160>>,
    record_stag: Signal<Local, Bits<32>>,
    offered_header: Signal<Local, Bits<160>>,
    offered_stag: Signal<Local, Bits<32>>,
    arrival: Signal<Local, QueuedRecord>,
    enters: Signal<Local, Bit>,
    head_now: Signal<Local, FpduRecord>,
    // Fill from which no replayed record enters.
    #[constant(14)]
    crowded: Constant<Bits<5>>,
}

impl Logic for RecordQueue {
    #[kernel]
    fn update(&mut self) {
        self.queue.clock.next = self.clock.val();
        self.enters.next = self.offered_valid.val()
            & !self.record_valid.val()
            & (self.queue.fill.val() < self.crowded.val());
        self.offered_taken.next = self.enters.val();

        // The STag is hashed before it enters the FIFO: of both records, as `record_valid` comes
        // late.
        self.record_header.next = self.record.val().header;
        self.record_order.octets.next = self.record_header.val().get_bits::<32>(32);
        self.record_stag.next = self.record_order.number.val();
        self.record_hash.stag_index.next = self.record_stag.val().get_bits::<24>(8);
        self.offered_header.next = self.offered.val().header;
        self.offered_order.octets.next = self.offered_header.val().get_bits::<32>(32);
        self.offered_stag.next = self.offered_order.number.val();
        self.offered_hash.stag_index.next = self.offered_stag.val().get_bits::<24>(8);
        self.arrival.next.record = self.offered.val();
        self.arrival.next.hash = self.offered_hash.hash.val();
        if self.record_valid.val() {
            self.arrival.next.record = self.record.val();
            self.arrival.next.hash = self.record_hash.hash.val();
        }
        wire!(self => self.queue; reset, arrival as data_in);
        self.queue.write.next = self.record_valid.val() | self.enters.val();
        self.queue.read.next = self.leave.val();
        self.record_room.next = !self.queue.almost_full.val();

        self.head_now.next = self.queue.data_out.val().record;
        self.head.next = self.head_now.val();
        self.head_hash.next = self.queue.data_out.val().hash;
        self.head_valid.next = !self.queue.empty.val();
        self.head_judged.next = (self.head_now.val().kind == FpduKind::Normal)
            | (self.head_now.val().kind == FpduKind::Check)
            | (self.head_now.val().kind == FpduKind::OutOfOrder);
    }
}

/// Sequencer: steps the record at the head of the FIFO through lookups, checks and outputs.
///
/// | latency    | `head_valid` to `load`: 9 cycles without waits; `verdict_valid` to `load`:  |
/// |            | 1 cycle, if that is later                                                   |
/// | throughput | one record per 6 cycles if verdicts precede them; one per 10 if each waits  |
/// |            | for its verdict: the FPDUs of these take more than 10 cycles                |
/// | units      | `age` and `phase` count cycles                                              |
///
/// In front, a record looks up what only table operations and Read Responses change: it may wait
/// there and repeat the lookups, which it does after both. Between `take` and `commit` it reads and
/// writes what records change; one record at a time does so, and therefore sees all that its
/// predecessor wrote.
///
/// A record arrives while its FPDU still passes, and its verdict later. Until then the record stays
/// the head of the FIFO while it is in the checks: it writes nothing, and `hold` sends it back. A
/// table operation thus does not wait for the end of an FPDU, which may itself wait for a host that
/// takes no TLP.
#[derive(LogicBlock, Init)]
pub struct Sequencer {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A record is at the head of the FIFO.
    pub head_valid: Signal<In, Bit>,
    /// It has a verdict of MPA.
    pub head_judged: Signal<In, Bit>,
    /// The oldest verdict has arrived.
    pub verdict_valid: Signal<In, Bit>,
    /// All output messages have been taken.
    pub outputs_free: Signal<In, Bit>,
    /// A table operation keeps records out of the checks.
    pub hold: Signal<In, Bit>,
    /// A table operation makes the record in front repeat its lookups.
    pub restart: Signal<In, Bit>,
    /// A committed Read Response does so.
    pub moved: Signal<In, Bit>,
    /// The next table operation may stop the records.
    pub may_start: Signal<Out, Bit>,
    /// No record is between `take` and `commit`.
    pub may_run: Signal<Out, Bit>,
    /// Cycle 0 of the checks.
    pub take: Signal<Out, Bit>,
    /// The record leaves the FIFO: with `take`, or when its verdict arrives.
    pub leave: Signal<Out, Bit>,
    /// Cycle 3: the bus address is valid.
    pub address: Signal<Out, Bit>,
    /// Cycle 4, or when the verdict of MPA arrives: the result of all checks is valid.
    pub decide: Signal<Out, Bit>,
    /// From cycle 1 on: the record has a verdict of MPA.
    pub is_judged: Signal<Out, Bit>,
    /// With `decide`: the verdict of MPA is used.
    pub take_verdict: Signal<Out, Bit>,
    /// Cycle 5: the record writes what it changes.
    pub commit: Signal<Out, Bit>,
    /// Cycle 5 or later: the outputs are loaded.
    pub load: Signal<Out, Bit>,
    age: DFF<Bits<3>>,
    is_ready: DFF<Bit>,
    phase: DFF<Bits<3>>,
    is_busy: DFF<Bit>,
    // The record in the checks is still the head of the FIFO.
    is_head: DFF<Bit>,
    held_judged: DFF<Bit>,
    is_committing: DFF<Bit>,
    is_waiting: DFF<Bit>,
    // The record in front repeats its lookups after a table operation.
    was_restarted: DFF<Bit>,
    takes: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    yields: Signal<Local, Bit>,
    decides: Signal<Local, Bit>,
    loads: Signal<Local, Bit>,
    #[constant(1)]
    one: Constant<Bits<3>>,
}

impl Logic for Sequencer {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; age, is_ready, phase, is_busy, is_head);
        registers!(clock; held_judged, is_committing, is_waiting, was_restarted);
        self.takes.next = self.is_ready.q.val() & !self.is_busy.q.val() & !self.hold.val();
        self.leaves.next = (self.takes.val()
            & (self.verdict_valid.val() | !self.head_judged.val()))
            | (self.is_head.q.val() & self.verdict_valid.val());
        self.yields.next = self.is_head.q.val() & self.hold.val() & !self.verdict_valid.val();
        self.loads.next =
            (self.is_committing.q.val() | self.is_waiting.q.val()) & self.outputs_free.val();

        // In front: four cycles of lookups, then ready until it leaves.
        if self.head_valid.val() & !self.is_ready.q.val() {
            self.age.d.next = self.age.q.val() + self.one.val();
            self.is_ready.d.next = self.age.q.val() == 3;
        }
        if self.leaves.val() | self.restart.val() | self.moved.val() {
            self.age.d.next = 0.into();
            self.is_ready.d.next = false;
        }

        // One record at a time is in the checks.
        self.address.next = false;
        self.decides.next = false;
        self.commit.next = self.is_committing.q.val();
        self.is_committing.d.next = false;
        match self.phase.q.val().index() {
            1 => self.phase.d.next = 2.into(),
            2 => self.phase.d.next = 3.into(),
            3 => {
                self.address.next = true;
                self.phase.d.next = 4.into();
            }
            4 => {
                if self.verdict_valid.val() | !self.is_head.q.val() {
                    self.decides.next = true;
                    self.is_committing.d.next = true;
                    self.phase.d.next = 5.into();
                }
            }
            5 => {
                self.phase.d.next = 6.into();
                self.is_waiting.d.next = true;
            }
            _ => {}
        }
        if self.leaves.val() {
            self.is_head.d.next = false;
        }
        if self.takes.val() {
            self.phase.d.next = 1.into();
            self.is_busy.d.next = true;
            self.is_head.d.next = !self.leaves.val();
            self.held_judged.d.next = self.head_judged.val();
        }
        if self.yields.val() {
            self.phase.d.next = 0.into();
            self.is_busy.d.next = false;
            self.is_head.d.next = false;
        }
        if self.loads.val() {
            self.phase.d.next = 0.into();
            self.is_busy.d.next = false;
            self.is_waiting.d.next = false;
        }
        self.was_restarted.d.next = (self.was_restarted.q.val() | self.restart.val())
            & self.head_valid.val()
            & !self.takes.val();
        self.may_start.next = !self.was_restarted.q.val() | self.is_waiting.q.val();
        self.may_run.next = !self.is_busy.q.val() | self.is_waiting.q.val();
        self.take.next = self.takes.val();
        self.leave.next = self.leaves.val();
        self.decide.next = self.decides.val();
        self.is_judged.next = self.held_judged.q.val();
        self.take_verdict.next = self.decides.val() & self.held_judged.q.val();
        self.load.next = self.loads.val();
        if self.reset.val() {
            self.age.d.next = 0.into();
            self.is_ready.d.next = false;
            self.phase.d.next = 0.into();
            self.is_busy.d.next = false;
            self.is_head.d.next = false;
            self.is_committing.d.next = false;
            self.is_waiting.d.next = false;
            self.was_restarted.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    mod record_queue;
    mod sequencer;
}
