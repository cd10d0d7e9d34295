//! Checks: every memory and every test that an FPDU meets, from the head of the FIFO to a verdict.
//!
//! ```text
//!          front, from the head of the FIFO          |     checks, from `take` on
//!  cycle   0        1,2         3         4          | 0        1,2      3        4       5
//!  hash -> STag RAMs ---------> compare -> select ---|-> region RAM -> compare -> bounds
//!  queue -> queue RAM -> entry -> pool RAM ----------|---------------> MO, length \
//!  header -> decode -> sums -------------------------|-> MSN, context RAM -> order -> verdict
//! ```
//!
//! | latency    | front: 4 cycles from a new head; checks: 5 cycles from `take` to `verdict`       |
//! | throughput | as [`super::sequencer`] steps it                                                 |
//! | units      | see [`crate::messages::FpduRecord`] and [`super::segment`]                       |
//!
//! What stands in front of `take` only table operations change; what stands behind it records
//! change too: `commit` writes it before the next `take`.
use super::context::StreamContext;
use super::header::HeaderDecode;
use super::octet_order::OctetOrder;
use super::pool::BufferPool;
use super::queue::QueueOrder;
use super::segment::{Segment, Verdict};
use super::tables::TablePort;
use super::verdict::VerdictEncode;
use crate::messages::{FpduRecord, TableRequest, FPDU_CHECK, FPDU_HOST};
use crate::stag::lookup::StagLookup;
use crate::stag::region::RegionCheck;
use rust_hdl::prelude::*;

/// Memories and tests of the room.
#[derive(LogicBlock)]
pub struct Checks {
    /// The only clock; every port is synchronous to its rising edge.
    pub clock: Signal<In, Clock>,
    /// Synchronous; forgets the table operation at hand.
    pub reset: Signal<In, Bit>,
    /// The record in front; holds still until `take`.
    pub head: Signal<In, FpduRecord>,
    /// Hash of its STag.
    pub head_hash: Signal<In, Bits<32>>,
    /// See [`super::sequencer::Sequencer`].
    pub take: Signal<In, Bit>,
    /// See [`super::sequencer::Sequencer`].
    pub address_there: Signal<In, Bit>,
    /// See [`super::sequencer::Sequencer`].
    pub decide: Signal<In, Bit>,
    /// See [`super::sequencer::Sequencer`].
    pub commit: Signal<In, Bit>,
    /// See [`TablePort`].
    pub may_start: Signal<In, Bit>,
    /// See [`TablePort`].
    pub may_run: Signal<In, Bit>,
    /// See [`TablePort`].
    pub hold: Signal<Out, Bit>,
    /// See [`TablePort`].
    pub restart: Signal<Out, Bit>,
    /// Table bus.
    pub table_request: Signal<In, TableRequest>,
    /// Table bus.
    pub table_valid: Signal<In, Bit>,
    /// Table bus.
    pub table_done: Signal<Out, Bit>,
    /// Table bus.
    pub table_data: Signal<Out, Bits<128>>,
    /// From one cycle after `take` on: the record in the checks.
    pub record: Signal<Out, FpduRecord>,
    /// Its segment.
    pub segment: Signal<Out, Segment>,
    /// Pool entry of its buffer.
    pub entry: Signal<Out, Bits<11>>,
    /// From one cycle after `address_there` on: bus address of the payload.
    pub address: Signal<Out, Bits<64>>,
    /// From one cycle after `decide` on: what was found.
    pub verdict: Signal<Out, Verdict>,
    header: HeaderDecode,
    order: OctetOrder<32>,
    lookup: StagLookup,
    pool: BufferPool,
    region: RegionCheck,
    queue: QueueOrder,
    contexts: StreamContext,
    judge: VerdictEncode,
    port: TablePort,
    held: DFF<FpduRecord>,
    held_segment: DFF<Segment>,
    held_open: DFF<Bit>,
    held_entry: DFF<Bits<11>>,
    held_found: DFF<Bit>,
    held_region: DFF<Bits<10>>,
    held_queue: DFF<Bits<12>>,
    next_msn: DFF<Bits<32>>,
    held_address: DFF<Bits<64>>,
    header_octets: Signal<Local, Bits<160>>,
    head_stag: Signal<Local, Bits<32>>,
    head_queue: Signal<Local, Bits<12>>,
    stag: Signal<Local, Bits<32>>,
    index: Signal<Local, Bits<16>>,
    one: Constant<Bits<32>>,
    fpdu_check: Constant<Bits<2>>,
    fpdu_host: Constant<Bits<2>>,
}

impl Default for Checks {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            head: Default::default(),
            head_hash: Default::default(),
            take: Default::default(),
            address_there: Default::default(),
            decide: Default::default(),
            commit: Default::default(),
            may_start: Default::default(),
            may_run: Default::default(),
            hold: Default::default(),
            restart: Default::default(),
            table_request: Default::default(),
            table_valid: Default::default(),
            table_done: Default::default(),
            table_data: Default::default(),
            record: Default::default(),
            segment: Default::default(),
            entry: Default::default(),
            address: Default::default(),
            verdict: Default::default(),
            header: Default::default(),
            order: Default::default(),
            lookup: Default::default(),
            pool: Default::default(),
            region: Default::default(),
            queue: Default::default(),
            contexts: Default::default(),
            judge: Default::default(),
            port: Default::default(),
            held: Default::default(),
            held_segment: Default::default(),
            held_open: Default::default(),
            held_entry: Default::default(),
            held_found: Default::default(),
            held_region: Default::default(),
            held_queue: Default::default(),
            next_msn: Default::default(),
            held_address: Default::default(),
            header_octets: Default::default(),
            head_stag: Default::default(),
            head_queue: Default::default(),
            stag: Default::default(),
            index: Default::default(),
            one: Constant::new(1u64.into()),
            fpdu_check: Constant::new(FPDU_CHECK.into()),
            fpdu_host: Constant::new(FPDU_HOST.into()),
        }
    }
}

impl Logic for Checks {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            held,
            held_segment,
            held_open,
            held_entry,
            held_found
        );
        dff_setup!(self, clock, held_region, held_queue, next_msn, held_address);
        clock!(self, clock, header, lookup, pool, region, queue, contexts, judge, port);

        // In front.
        self.header.header.next = self.head.val().header;
        self.header.ulpdu_length.next = self.head.val().ulpdu_length;
        self.header.crc_good.next = self.head.val().crc_good;
        self.header.marker_good.next = self.head.val().marker_good;
        self.header_octets.next = self.head.val().header;
        self.order.octets.next = self.header_octets.val().get_bits::<32>(32);
        self.head_stag.next = self.order.number.val();
        self.lookup.hash.next = self.head_hash.val();
        self.lookup.stag_index.next = self.head_stag.val().get_bits::<24>(8);
        // QN is in octets 8 to 11: its low bits are those of octet 11.
        self.head_queue.next = (bit_cast::<12, 10>(self.head.val().connection) << 2)
            | bit_cast::<12, 2>(self.header_octets.val().get_bits::<2>(88));
        self.pool.queue.next = self.head_queue.val();
        self.pool.msn.next = self.header.segment.val().msn;

        // At `take` the record moves into the checks.
        if self.take.val() {
            self.held.d.next = self.head.val();
            self.held_segment.d.next = self.header.segment.val();
            self.held_open.d.next = self.pool.is_open.val();
            self.held_entry.d.next = self.pool.entry.val();
            self.held_found.d.next = self.lookup.found.val();
            self.held_region.d.next = self.lookup.region.val();
            self.held_queue.d.next = self.head_queue.val();
        }
        self.contexts.connection.next = self.head.val().connection;
        self.queue.queue.next = self.head_queue.val();
        self.index.next = self.port.index.val();
        self.region.region.next = self.lookup.region.val();
        if self.port.read_region.val() {
            self.region.region.next = self.index.val().get_bits::<10>(0);
        }

        // Cycle 2 of the checks: operands meet what the memories hold.
        self.stag.next = self.held_segment.q.val().stag;
        self.region.found.next = self.held_found.q.val();
        self.region.stag_key.next = self.stag.val().get_bits::<8>(0);
        self.region.to.next = self.held_segment.q.val().to;
        self.region.to_end.next = self.held_segment.q.val().to_end;
        self.region.pd.next = self.contexts.profile.val().pd;
        self.region.connection.next = self.held.q.val().connection;
        self.queue.msn.next = self.held_segment.q.val().msn;
        self.pool.mo.next = self.held_segment.q.val().mo;
        self.pool.mo_end.next = self.held_segment.q.val().mo_end;
        self.pool.has_payload.next = self.held_segment.q.val().has_payload;
        self.next_msn.d.next = self.held_segment.q.val().msn + self.one.val();

        // Cycles 2 to 4: the verdict.
        self.judge.segment.next = self.held_segment.q.val();
        self.judge.is_open.next = self.held_open.q.val();
        self.judge.is_host.next = self.held.q.val().kind == self.fpdu_host.val();
        self.judge.is_check.next = self.held.q.val().kind == self.fpdu_check.val();
        self.judge.in_error.next = self.contexts.state.val().in_error;
        self.judge.is_first.next = self.contexts.state.val().is_first;
        self.judge.version.next = self.contexts.profile.val().version;
        self.judge.unknown.next = self.region.unknown.val();
        self.judge.foreign.next = self.region.foreign.val();
        self.judge.rights.next = self.region.rights.val();
        self.judge.outside.next = self.region.outside.val();
        self.judge.mo_bad.next = self.pool.mo_bad.val();
        self.judge.too_long.next = self.pool.too_long.val();
        self.judge.behind.next = self.queue.behind.val();
        self.judge.not_posted.next = self.queue.not_posted.val();
        self.judge.gap.next = self.queue.gap.val();
        self.judge.decide.next = self.decide.val();
        if self.address_there.val() {
            self.held_address.d.next = self.pool.address.val();
            if self.held_segment.q.val().tagged {
                self.held_address.d.next = self.region.bus_address.val();
            }
        }

        // `commit`: what the record changes; else what a table operation writes.
        self.contexts.mark.next = self.commit.val() & !self.judge.verdict.val().silent;
        self.contexts.mark_connection.next = self.held.q.val().connection;
        self.contexts.mark_error.next = self.judge.verdict.val().refused;
        self.contexts.start.next = self.port.write_context.val();
        self.contexts.start_connection.next = self.index.val().get_bits::<10>(0);
        self.contexts.new_profile.next = self.port.profile.val();
        self.queue.write_msn.next = self.port.write_queue.val();
        self.queue.msn_queue.next = self.index.val().get_bits::<12>(0);
        self.queue.next_msn.next = self.port.first_msn.val();
        if self.commit.val() {
            self.queue.write_msn.next = self.judge.verdict.val().receive;
            self.queue.msn_queue.next = self.held_queue.q.val();
            self.queue.next_msn.next = self.next_msn.q.val();
        }
        self.queue.write_tail.next = self.port.write_tail.val();
        self.queue.tail_queue.next = self.index.val().get_bits::<12>(0);
        self.queue.tail.next = self.port.tail.val();
        self.pool.write_shape.next = self.port.write_queue.val();
        self.pool.shape_queue.next = self.index.val().get_bits::<12>(0);
        self.pool.shape.next = self.port.shape.val();
        self.pool.write_buffer.next = self.port.write_buffer.val();
        self.pool.buffer_entry.next = self.index.val().get_bits::<11>(0);
        self.pool.buffer.next = self.port.buffer.val();
        self.lookup.write.next = self.port.write_stag.val();
        self.lookup.write_index.next = self.index.val().get_bits::<11>(0);
        self.lookup.write_entry.next = self.port.stag_entry.val();
        self.region.write.next = self.port.write_region.val();
        self.region.write_region.next = self.index.val().get_bits::<10>(0);
        self.region.write_entry.next = self.port.region_entry.val();
        self.region.write_valid.next = self.port.region_valid.val();
        self.region.invalidate.next = self.commit.val() & self.judge.verdict.val().invalidate;
        self.region.invalidate_region.next = self.held_region.q.val();

        self.port.reset.next = self.reset.val();
        self.port.table_request.next = self.table_request.val();
        self.port.table_valid.next = self.table_valid.val();
        self.port.may_start.next = self.may_start.val();
        self.port.may_run.next = self.may_run.val();
        self.port.read_entry.next = self.region.entry.val();
        self.port.read_valid.next = self.region.entry_valid.val();
        self.table_done.next = self.port.table_done.val();
        self.table_data.next = self.port.table_data.val();
        self.hold.next = self.port.hold.val();
        self.restart.next = self.port.restart.val();
        self.record.next = self.held.q.val();
        self.segment.next = self.held_segment.q.val();
        self.entry.next = self.held_entry.q.val();
        self.address.next = self.held_address.q.val();
        self.verdict.next = self.judge.verdict.val();
    }
}
