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
//! | latency    | front: 4 cycles from a new head; checks: 5 cycles from `take` to `verdict` |
//! |            | or 1 from the verdict of MPA (`decide`), if that is later                  |
//! | throughput | as [`super::sequencer`] steps it                                           |
//! | units      | see [`crate::messages::FpduRecord`] and [`super::segment`]                 |
//!
//! What stands in front of `take` only table operations change; what stands behind it records
//! change too: `commit` writes it before the next `take`. A record that waits in cycle 4 for its
//! verdict is still the head of the FIFO, and everything holds still. Of an early FPDU `commit`
//! writes nothing but its record, which is kept elsewhere (`keep`), and whether it was bad.
use super::context::StreamContext;
use super::early::EarlyChain;
use super::envelope::EnvelopeCheck;
use super::header::HeaderDecode;
use super::octet_order::OctetOrder;
use super::segment::{Role, Segment, Verdict};
use super::tables::{TablePort, TableWrites};
use super::untagged::UntaggedQueues;
use super::verdict::VerdictEncode;
use crate::messages::{FpduRecord, FpduVerdict, TableRequest, FPDU_CHECK, FPDU_DELIVER};
use crate::messages::{FPDU_EARLY, FPDU_FAULT, FPDU_HOST};
use crate::receive::stag::StagRoom;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Memories and tests of the room.
#[derive(LogicBlock, Init)]
pub struct Checks {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The record in front; holds still until it leaves, with `take` or later.
    pub head: Signal<In, FpduRecord>,
    /// Hash of its STag.
    pub head_hash: Signal<In, Bits<32>>,
    /// See [`super::sequencer::Sequencer`].
    pub take: Signal<In, Bit>,
    /// See [`super::sequencer::Sequencer`].
    pub address_there: Signal<In, Bit>,
    /// See [`super::sequencer::Sequencer`].
    pub decide: Signal<In, Bit>,
    /// With `decide`: the verdict of MPA ...
    pub fpdu_verdict: Signal<In, FpduVerdict>,
    /// ... if the record has one.
    pub is_judged: Signal<In, Bit>,
    /// See [`super::sequencer::Sequencer`].
    pub commit: Signal<In, Bit>,
    /// The record of an early FPDU can be kept.
    pub has_room: Signal<In, Bit>,
    /// Records that may still be kept.
    pub free_records: Signal<In, Bits<10>>,
    /// With `commit`: it is to be kept.
    pub keep: Signal<Out, Bit>,
    /// See [`TablePort`].
    pub may_start: Signal<In, Bit>,
    /// See [`TablePort`].
    pub may_run: Signal<In, Bit>,
    /// See [`TablePort`].
    pub hold: Signal<Out, Bit>,
    /// See [`TablePort`].
    pub restart: Signal<Out, Bit>,
    pub table_request: Signal<In, TableRequest>,
    /// Table bus.
    pub table_valid: Signal<In, Bit>,
    /// Table bus.
    pub table_done: Signal<Out, Bit>,
    /// Table bus.
    pub table_data: Signal<Out, Bits<128>>,
    /// From one cycle after `take` on: the record in the checks.
    pub record: Signal<Out, FpduRecord>,
    pub segment: Signal<Out, Segment>,
    /// Pool entry of its buffer.
    pub entry: Signal<Out, Bits<11>>,
    /// From one cycle after `address_there` on: bus address of the payload.
    pub address: Signal<Out, Bits<64>>,
    /// From one cycle after `decide` on: what was found.
    pub verdict: Signal<Out, Verdict>,
    header: HeaderDecode,
    order: OctetOrder<32>,
    stag: StagRoom,
    untagged: UntaggedQueues,
    contexts: StreamContext,
    envelope: EnvelopeCheck,
    judge: VerdictEncode,
    chain: EarlyChain,
    port: TablePort,
    held: DFF<FpduRecord>,
    held_segment: DFF<Segment>,
    held_address: DFF<Bits<64>>,
    header_octets: Signal<Local, Bits<160>>,
    writes: Signal<Local, TableWrites>,
    role: Signal<Local, Role>,
    is_fault: Signal<Local, Bit>,
    #[constant(FPDU_CHECK)]
    fpdu_check: Constant<Bits<3>>,
    #[constant(FPDU_HOST)]
    fpdu_host: Constant<Bits<3>>,
    #[constant(FPDU_EARLY)]
    fpdu_early: Constant<Bits<3>>,
    #[constant(FPDU_DELIVER)]
    fpdu_deliver: Constant<Bits<3>>,
    #[constant(FPDU_FAULT)]
    fpdu_fault: Constant<Bits<3>>,
}

impl Logic for Checks {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held, held_segment, held_address);
        wire!(self => self.{header, stag, untagged, contexts, envelope, judge, chain, port}; clock);

        // In front; at `take` the record moves into the checks.
        self.header.header.next = self.head.val().header;
        self.header.ulpdu_length.next = self.head.val().ulpdu_length;
        self.header_octets.next = self.head.val().header;
        self.order.octets.next = self.header_octets.val().get_bits::<32>(32);
        self.stag.hash.next = self.head_hash.val();
        self.stag.stag.next = self.order.number.val();
        self.stag.take.next = self.take.val();
        // QN is in octets 8 to 11: its low bits are those of octet 11.
        self.untagged.queue.next = (bit_cast::<12, 10>(self.head.val().connection) << 2)
            | bit_cast::<12, 2>(self.header_octets.val().get_bits::<2>(88));
        self.untagged.front_segment.next = self.header.segment.val();
        self.untagged.take.next = self.take.val();
        self.contexts.connection.next = self.head.val().connection;
        if self.take.val() {
            self.held.d.next = self.head.val();
            self.held_segment.d.next = self.header.segment.val();
        }

        // Cycle 2: operands meet what the memories hold.
        self.stag.to.next = self.held_segment.q.val().to;
        self.stag.to_end.next = self.held_segment.q.val().to_end;
        self.stag.pd.next = self.contexts.profile.val().pd;
        self.stag.connection.next = self.held.q.val().connection;
        self.untagged.segment.next = self.held_segment.q.val();
        self.envelope.segment.next = self.held_segment.q.val();
        self.envelope.is_open.next = self.untagged.is_open.val();
        self.envelope.is_first.next = self.contexts.state.val().is_first;
        self.envelope.version.next = self.contexts.profile.val().version;

        // Cycles 2 to 4: the verdict.
        self.judge.segment.next = self.held_segment.q.val();
        self.is_fault.next = self.held.q.val().kind == self.fpdu_fault.val();
        self.role.next.host = self.held.q.val().kind == self.fpdu_host.val();
        self.role.next.check = self.held.q.val().kind == self.fpdu_check.val();
        self.role.next.early = self.held.q.val().kind == self.fpdu_early.val();
        self.role.next.unproven = self.held.q.val().unproven;
        self.role.next.replayed =
            (self.held.q.val().kind == self.fpdu_deliver.val()) | self.is_fault.val();
        self.judge.role.next = self.role.val();
        self.judge.in_error.next = self.contexts.state.val().in_error;
        wire!(self.envelope => self.judge; error as envelope_error, refused as envelope_refused);
        wire!(self.stag => self.judge; unknown, foreign, rights, outside);
        wire!(self.untagged => self.judge; mo_bad, too_long, behind, not_posted, gap);
        self.chain.reset.next = self.reset.val();
        self.chain.record.next = self.held.q.val();
        self.judge.has_room.next = self.has_room.val();
        self.port.free_records.next = self.free_records.val();
        self.judge.follows_bad.next = self.chain.follows_bad.val();
        self.judge.crc_good.next = self.fpdu_verdict.val().crc_good | !self.is_judged.val();
        self.judge.marker_good.next =
            (self.fpdu_verdict.val().marker_good | !self.is_judged.val()) & !self.is_fault.val();
        self.judge.marker_seen.next = self.fpdu_verdict.val().marker_seen;
        self.judge.decide.next = self.decide.val();
        if self.address_there.val() {
            self.held_address.d.next = self.untagged.address.val();
            if self.held_segment.q.val().tagged {
                self.held_address.d.next = self.stag.bus_address.val();
            }
        }

        // `commit`: what the record changes.
        self.contexts.mark.next = self.commit.val() & !self.judge.verdict.val().silent;
        self.contexts.mark_connection.next = self.held.q.val().connection;
        self.contexts.mark_error.next = self.judge.verdict.val().stops;
        self.untagged.advance.next = self.commit.val() & self.judge.verdict.val().receive;
        self.chain.judged.next = self.commit.val() & self.judge.verdict.val().early;
        self.chain.good.next = self.judge.verdict.val().keep;
        self.keep.next = self.commit.val() & self.judge.verdict.val().keep;
        self.stag.invalidate.next = self.commit.val() & self.judge.verdict.val().invalidate;

        // Table operations.
        wire!(self => self.port; reset, table_request, table_valid, may_start, may_run);
        wire!(self.stag => self.port; read_entry, read_valid);
        wire!(self.port => self; table_done, table_data, hold, restart, writes);
        self.contexts.writes.next = self.writes.val();
        self.untagged.writes.next = self.writes.val();
        self.stag.index.next = self.writes.val().index;
        self.stag.write_stag.next = self.writes.val().stag;
        self.stag.stag_entry.next = self.writes.val().stag_entry;
        self.stag.write_region.next = self.writes.val().region;
        self.stag.region_entry.next = self.writes.val().region_entry;
        self.stag.region_valid.next = self.writes.val().region_valid;
        self.stag.read_region.next = self.port.read_region.val();

        self.record.next = self.held.q.val();
        self.segment.next = self.held_segment.q.val();
        self.entry.next = self.untagged.entry.val();
        self.address.next = self.held_address.q.val();
        self.verdict.next = self.judge.verdict.val();
    }
}
