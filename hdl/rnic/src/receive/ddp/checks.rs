//! Checks: all memories and tests for an FPDU, from the head of the FIFO to the verdict.
//!
//! ```text
//!          in front, at the head of the FIFO         |     checks, from `take` on
//!  cycle   0        1,2         3         4          | 0        1,2      3        4       5
//!  hash -> STag RAMs ---------> compare -> select ---|-> region RAM -> compare -> bounds
//!  queue -> queue RAM -> entry -> pool RAM ----------|-> read -------> MO, length \
//!  header -> decode -> sums -------------------------|-> MSN, context RAM -> order -> verdict
//! ```
//!
//! | latency    | in front: 4 cycles from a new head; checks: 5 cycles from `take` to         |
//! |            | `verdict`, or 1 from the verdict of MPA (`decide`), if that is later        |
//! | throughput | one record per 6 cycles, see [`super::sequencer`]                           |
//! | units      | see [`crate::messages::FpduRecord`] and [`super::types`]                    |
//!
//! What is read in front is changed by table operations, and the outstanding read also by Read
//! Responses: the record in front then repeats its lookups (`restart`, `moved`). What is read from
//! `take` on is also changed by other records: `commit` writes it before the next `take`. A record
//! that waits in cycle 4 for its verdict is still the head of the FIFO, and all inputs are stable.
//! For an FPDU out of order `commit` writes only its record (`keep`), or that it was bad.
use super::completion_queues::CompletionQueues;
use super::octet_order::OctetOrder;
use super::posting::PostingPort;
use super::reads::ReadCheck;
use super::record_store::OutOfOrderChain;
use super::tables::TablePort;
use super::types::{DdpSegment, Role, StreamProfile, TableWrites, Verdict};
use super::untagged::UntaggedQueues;
use super::verdict::{EnvelopeCheck, VerdictEncode};
use crate::common::build::sizes;
use crate::common::ram::SdpRam;
use crate::messages::{CqReport, CqWrite, FpduKind, FpduRecord, FpduVerdict, TableRequest};
use crate::receive::stag::StagRoom;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// All memories and tests of the room: joins the blocks of the picture.
#[derive(LogicBlock, Init)]
pub struct Checks {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The record in front and the hash of its STag; stable until it leaves, with `take` or later.
    pub head: Signal<In, FpduRecord>,
    pub head_hash: Signal<In, Bits<32>>,
    /// Steps: see [`super::sequencer::Sequencer`].
    pub take: Signal<In, Bit>,
    pub address_there: Signal<In, Bit>,
    pub decide: Signal<In, Bit>,
    /// With `decide`: the verdict of MPA, if the record has one (`is_judged`).
    pub fpdu_verdict: Signal<In, FpduVerdict>,
    pub is_judged: Signal<In, Bit>,
    pub commit: Signal<In, Bit>,
    /// The record of an FPDU out of order can be stored.
    pub has_room: Signal<In, Bit>,
    /// Records that may still be stored.
    pub free_records: Signal<In, Bits<10>>,
    /// With `commit`: the record is stored.
    pub keep: Signal<Out, Bit>,
    /// Table operations: see [`TablePort`].
    pub may_start: Signal<In, Bit>,
    pub may_run: Signal<In, Bit>,
    pub hold: Signal<Out, Bit>,
    pub restart: Signal<Out, Bit>,
    /// With `commit`: the oldest outstanding read changes, which the record in front looks up.
    pub moved: Signal<Out, Bit>,
    pub table_request: Signal<In, TableRequest>,
    pub table_valid: Signal<In, Bit>,
    pub table_done: Signal<Out, Bit>,
    pub table_data: Signal<Out, Bits<128>>,
    /// Posts: see [`PostingPort`].
    pub access_address: Signal<In, Bits<10>>,
    pub access_data: Signal<In, Bits<32>>,
    pub access_write: Signal<In, Bit>,
    pub post_busy: Signal<Out, Bit>,
    pub post_closed: Signal<Out, Bit>,
    pub post_full: Signal<Out, Bit>,
    /// From one cycle after `take` on: the record in the checks, its segment, and the pool entry of
    /// its buffer or read.
    pub record: Signal<Out, FpduRecord>,
    pub segment: Signal<Out, DdpSegment>,
    pub entry: Signal<Out, Bits<11>>,
    /// Completion queues: see [`CompletionQueues`].
    pub cq_write: Signal<In, CqWrite>,
    pub cq_report: Signal<Out, CqReport>,
    pub entry_queue: Signal<Out, Bits<4>>,
    pub word_7: Signal<Out, Bits<32>>,
    /// From one cycle after `address_there` on: bus address of the payload.
    pub address: Signal<Out, Bits<64>>,
    /// From one cycle after `decide` on: the result.
    pub verdict: Signal<Out, Verdict>,
    /// As `verdict`: the first FPDU of a stream passed all tests.
    pub first_passed: Signal<Out, Bit>,
    header: HeaderDecode,
    order: OctetOrder<32>,
    stag: StagRoom,
    untagged: UntaggedQueues,
    contexts: StreamContext,
    envelope: EnvelopeCheck,
    judge: VerdictEncode,
    chain: OutOfOrderChain,
    reads: ReadCheck,
    queues: CompletionQueues,
    port: TablePort,
    posting: PostingPort,
    held: DFF<FpduRecord>,
    held_segment: DFF<DdpSegment>,
    held_address: DFF<Bits<64>>,
    header_octets: Signal<Local, Bits<160>>,
    queue_number: Signal<Local, Bits<2>>,
    reads_move: Signal<Local, Bit>,
    writes: Signal<Local, TableWrites>,
    role: Signal<Local, Role>,
    is_fault: Signal<Local, Bit>,
}

impl Logic for Checks {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; held, held_segment, held_address);
        wire!(self => self.{header, stag, untagged, contexts, envelope}; clock);
        wire!(self => self.{judge, chain, reads, queues, port, posting}; clock);

        // In front; at `take` the record moves into the checks.
        self.header.header.next = self.head.val().header;
        self.header.ulpdu_length.next = self.head.val().ulpdu_length;
        self.header_octets.next = self.head.val().header;
        self.order.octets.next = self.header_octets.val().get_bits::<32>(32);
        self.stag.hash.next = self.head_hash.val();
        self.stag.stag.next = self.order.number.val();
        self.stag.take.next = self.take.val();
        // QN is in octets 8 to 11: its low bits are those of octet 11. T is in octet 2: a tagged
        // segment looks up the queue of outstanding reads.
        self.queue_number.next = self.header_octets.val().get_bits::<2>(88);
        if self.header_octets.val().get_bit(23) {
            self.queue_number.next = 3.into();
        }
        self.untagged.queue.next = (bit_cast::<12, 10>(self.head.val().connection) << 2)
            | bit_cast::<12, 2>(self.queue_number.val());
        self.untagged.front_segment.next = self.header.segment.val();
        self.untagged.take.next = self.take.val();
        self.contexts.connection.next = self.head.val().connection;
        if self.take.val() {
            self.held.d.next = self.head.val();
            self.held_segment.d.next = self.header.segment.val();
        }

        // Cycle 2: operands for the contents of the memories.
        self.stag.to.next = self.held_segment.q.val().to;
        self.stag.to_end.next = self.held_segment.q.val().to_end;
        self.stag.pd.next = self.contexts.profile.val().pd;
        self.stag.connection.next = self.held.q.val().connection;
        self.untagged.segment.next = self.held_segment.q.val();
        self.reads.segment.next = self.held_segment.q.val();
        wire!(self.untagged => self.reads; head, is_open);
        self.envelope.segment.next = self.held_segment.q.val();
        self.envelope.is_open.next = self.untagged.is_open.val();
        self.envelope.is_first.next = self.contexts.state.val().is_first;
        self.envelope.version.next = self.contexts.profile.val().version;

        // Cycles 2 to 4: the verdict.
        self.judge.segment.next = self.held_segment.q.val();
        self.is_fault.next = self.held.q.val().kind == FpduKind::Fault;
        self.role.next.host = self.held.q.val().kind == FpduKind::Host;
        self.role.next.check = self.held.q.val().kind == FpduKind::Check;
        self.role.next.ooo = self.held.q.val().kind == FpduKind::OutOfOrder;
        self.role.next.unproven = self.held.q.val().unproven;
        self.role.next.replayed =
            (self.held.q.val().kind == FpduKind::Deliver) | self.is_fault.val();
        self.judge.role.next = self.role.val();
        self.judge.in_error.next = self.contexts.state.val().in_error;
        self.judge.is_first.next = self.contexts.state.val().is_first;
        self.first_passed.next = self.judge.first_passed.val();
        wire!(self.envelope => self.judge; error as envelope_error, refused as envelope_refused);
        wire!(self.stag => self.judge; unknown, foreign, rights, outside);
        wire!(self.untagged => self.judge; mo_bad, too_long, behind, not_posted, gap, empty);
        self.judge.read_differs.next = self.reads.differs.val()
            | (self.held_segment.q.val().has_payload & self.stag.is_large.val());
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
        self.queues.cq.next = self.contexts.state.val().completion_queue;
        wire!(self => self.queues; cq_write, decide);
        self.judge.full.next = self.queues.full.val();
        if self.address_there.val() {
            self.held_address.d.next = self.untagged.address.val();
            if self.held_segment.q.val().tagged {
                self.held_address.d.next = self.stag.bus_address.val();
            }
        }

        // `commit`: writes of the record.
        self.contexts.mark.next = self.commit.val() & !self.judge.verdict.val().silent;
        self.contexts.mark_connection.next = self.held.q.val().connection;
        self.contexts.mark_error.next = self.judge.verdict.val().stops;
        self.contexts.mark_queue.next = self.queues.entry_queue.val();
        self.queues.numbers.next = self.commit.val() & self.judge.verdict.val().entry;
        self.queues.loses.next = self.commit.val() & self.judge.verdict.val().lost;
        wire!(self.queues => self; cq_report, entry_queue, word_7);
        self.untagged.advance.next = self.commit.val()
            & (self.judge.verdict.val().receive | self.judge.verdict.val().response);
        self.reads_move.next = self.commit.val() & self.judge.verdict.val().continues;
        self.untagged.moves.next = self.reads_move.val();
        self.untagged.moved_head.next = self.reads.moved_head.val();
        self.moved.next =
            self.reads_move.val() | (self.commit.val() & self.judge.verdict.val().response);
        self.chain.judged.next = self.commit.val() & self.judge.verdict.val().ooo;
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

        // Posts.
        wire!(self => self.posting;
            reset, access_address as address, access_data as data, access_write as write);
        wire!(self.posting => self; busy as post_busy, closed as post_closed, full as post_full);
        wire!(self.posting => self.port; wants as post_wants, done as post_done);
        self.posting.granted.next = self.port.post_granted.val();
        self.untagged.post_granted.next = self.port.post_granted.val();
        wire!(self.posting => self.untagged; writes as post);
        self.posting.queue_now.next = self.untagged.queue_now.val();

        self.record.next = self.held.q.val();
        self.segment.next = self.held_segment.q.val();
        self.entry.next = self.untagged.entry.val();
        self.address.next = self.held_address.q.val();
        self.verdict.next = self.judge.verdict.val();
    }
}

/// Octets of a tagged DDP header (RFC 5041 4.2).
pub const TAGGED_HEADER_OCTETS: u64 = 14;
/// Octets of an untagged DDP header (RFC 5041 4.3).
pub const UNTAGGED_HEADER_OCTETS: u64 = 18;

/// Header decode: octets of a DDP and RDMAP header into a [`DdpSegment`].
///
/// ```text
///        word 0             1          2      3       4        (RFC 5041 figures 4, 5)
/// | Length, DDP, RDMAP |  STag    |     TO          |          tagged, 14 octets of ULPDU
/// | Length, DDP, RDMAP | Inv.STag |  QN  |   MSN    |   MO  |  untagged, 18 octets
///
/// header ---> [ payload, short, opcode ] ---> [ TO, MO + payload ] ---> segment
///                     cycle 0                       cycle 1
/// ```
///
/// | latency    | 2 cycles; the inputs are stable from the first of them until `segment` is used |
/// | throughput | one header per 3 cycles                                                        |
/// | units      | lengths and offsets in octets                                                  |
/// | source     | RFC 5041 section 4 (reserved bits are not checked), RFC 5040 sections 4.1, 4.3 |
#[derive(LogicBlock, Init)]
pub struct HeaderDecode {
    pub clock: Signal<In, Clock>,
    /// Five words from ULPDU_Length on, octet string.
    pub header: Signal<In, Bits<160>>,
    /// Octets of the ULPDU.
    pub ulpdu_length: Signal<In, Bits<16>>,
    /// The segment, two cycles later.
    pub segment: Signal<Out, DdpSegment>,
    order: OctetOrder<160>,
    number: Signal<Local, Bits<160>>,
    control: Signal<Local, Bits<16>>,
    opcode: Signal<Local, Bits<4>>,
    queue_number: Signal<Local, Bits<32>>,
    high_queue_bits: Signal<Local, Bits<30>>,
    low_queue_bits: Signal<Local, Bits<2>>,
    is_tagged: Signal<Local, Bit>,
    is_send_with_invalidate: Signal<Local, Bit>,
    now: Signal<Local, DdpSegment>,
    decoded: DFF<DdpSegment>,
    summed: DFF<DdpSegment>,
    held: Signal<Local, DdpSegment>,
    to_sum: Signal<Local, Bits<65>>,
    #[constant(TAGGED_HEADER_OCTETS)]
    tagged_header: Constant<Bits<16>>,
    #[constant(UNTAGGED_HEADER_OCTETS)]
    untagged_header: Constant<Bits<16>>,
}

impl Logic for HeaderDecode {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; decoded, summed);
        // Cycle 0: fields, and what depends only on the length and the control octets.
        self.order.octets.next = self.header.val();
        self.number.next = self.order.number.val();
        self.control.next = self.number.val().get_bits::<16>(128);
        self.is_tagged.next = self.control.val().get_bit(15);
        self.opcode.next = self.control.val().get_bits::<4>(0);
        self.queue_number.next = self.number.val().get_bits::<32>(64);
        self.high_queue_bits.next = self.queue_number.val().get_bits::<30>(2);
        self.low_queue_bits.next = self.queue_number.val().get_bits::<2>(0);

        self.now.next = self.decoded.q.val();
        self.now.next.zero_length = !self.ulpdu_length.val().any();
        self.now.next.tagged = self.is_tagged.val();
        self.now.next.last = self.control.val().get_bit(14);
        self.now.next.ddp_version = self.control.val().get_bits::<2>(8);
        self.now.next.rdmap_version = self.control.val().get_bits::<2>(6);
        self.now.next.opcode = self.opcode.val();
        self.now.next.qn_bad = self.high_queue_bits.val().any() | self.low_queue_bits.val().all();
        self.now.next.stag = self.number.val().get_bits::<32>(96);
        self.now.next.to = self.number.val().get_bits::<64>(32);
        self.now.next.msn = self.number.val().get_bits::<32>(32);
        self.now.next.mo = self.number.val().get_bits::<32>(0);
        // RDMAP 4.2: 4 Send with Invalidate, 6 Send with Solicited Event and Invalidate.
        self.is_send_with_invalidate.next = (self.opcode.val() == 4) | (self.opcode.val() == 6);
        self.now.next.invalidates = self.is_send_with_invalidate.val()
            & self.control.val().get_bit(14)
            & !self.is_tagged.val();
        // RFC 5040 4.1: Write and Read Response are tagged; Sends use QN 0, Read Request QN 1,
        // Terminate QN 2. Any other pairing is an unexpected opcode.
        self.now.next.opcode_bad = true;
        if self.is_tagged.val() {
            self.now.next.short = self.ulpdu_length.val() < self.tagged_header.val();
            self.now.next.payload = self.ulpdu_length.val() - self.tagged_header.val();
            self.now.next.qn = 0.into();
            if (self.opcode.val() == 0) | (self.opcode.val() == 2) {
                self.now.next.opcode_bad = false;
            }
        } else {
            self.now.next.short = self.ulpdu_length.val() < self.untagged_header.val();
            self.now.next.payload = self.ulpdu_length.val() - self.untagged_header.val();
            self.now.next.qn = self.low_queue_bits.val();
            match self.low_queue_bits.val().index() {
                0 => {
                    if (self.opcode.val() == 3) | (self.opcode.val() == 5) {
                        self.now.next.opcode_bad = false;
                    }
                    if self.is_send_with_invalidate.val() {
                        self.now.next.opcode_bad = false;
                    }
                }
                1 => self.now.next.opcode_bad = self.opcode.val() != 1,
                2 => self.now.next.opcode_bad = self.opcode.val() != 7,
                _ => {}
            }
        }
        self.decoded.d.next = self.now.val();

        // Cycle 1: sums over the payload.
        self.held.next = self.decoded.q.val();
        self.to_sum.next = bit_cast::<65, 64>(self.decoded.q.val().to)
            + bit_cast::<65, 16>(self.decoded.q.val().payload);
        self.held.next.to_end = self.to_sum.val().get_bits::<64>(0);
        self.held.next.wraps = self.to_sum.val().get_bit(64);
        self.held.next.mo_end = bit_cast::<33, 32>(self.decoded.q.val().mo)
            + bit_cast::<33, 16>(self.decoded.q.val().payload);
        self.held.next.has_payload = self.decoded.q.val().payload != 0;
        self.held.next.known = !self.decoded.q.val().zero_length & !self.decoded.q.val().short;
        self.summed.d.next = self.held.val();
        self.segment.next = self.summed.q.val();
    }
}

/// State of a stream.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct StreamState {
    /// The stream has stopped, with an error or with the Terminate of the peer.
    pub in_error: Bit,
    /// No FPDU has arrived yet.
    pub is_first: Bit,
    /// Its completion queue. It never changes, but a word of this RAM has room for it.
    pub completion_queue: Bits<4>,
}

/// Stream contexts: profile and state of every connection.
///
/// | latency    | 2 cycles, `connection` to `profile` and `state` |
/// | throughput | one context per cycle                           |
/// | units      | see `rnic_abi::tables::DDP`                     |
///
/// The driver alone writes the profile and the completion queue. Its write also resets the state
/// (no error, first FPDU still to come), which each FPDU then updates (`mark`). A context read in
/// the cycle in which it is written is undefined; both writers avoid that.
#[derive(LogicBlock, Init)]
pub struct StreamContext {
    pub clock: Signal<In, Clock>,
    pub connection: Signal<In, Bits<10>>,
    pub profile: Signal<Out, StreamProfile>,
    pub state: Signal<Out, StreamState>,
    pub writes: Signal<In, TableWrites>,
    /// An FPDU of `mark_connection` updates the state; never together with a table write.
    pub mark: Signal<In, Bit>,
    pub mark_connection: Signal<In, Bits<10>>,
    /// It is the last one of the stream: refused, or a Terminate.
    pub mark_error: Signal<In, Bit>,
    /// The completion queue, as it was read.
    pub mark_queue: Signal<In, Bits<4>>,
    #[init(SdpRam::of_words(sizes().connections()))]
    profiles: SdpRam<StreamProfile, 10>,
    #[init(SdpRam::of_words(sizes().connections()))]
    states: SdpRam<StreamState, 10>,
    index: Signal<Local, Bits<16>>,
    start_connection: Signal<Local, Bits<10>>,
    new_state: Signal<Local, StreamState>,
}

impl Logic for StreamContext {
    #[kernel]
    fn update(&mut self) {
        self.index.next = self.writes.val().index;
        self.start_connection.next = self.index.val().get_bits::<10>(0);
        wire!(self => self.profiles; clock, connection as read_address);
        self.profiles.write_enable.next = self.writes.val().context;
        self.profiles.write_address.next = self.start_connection.val();
        self.profiles.write_data.next = self.writes.val().profile;
        wire!(self => self.states; clock, connection as read_address);
        self.states.write_enable.next = self.writes.val().context | self.mark.val();
        self.states.write_address.next = self.start_connection.val();
        self.new_state.next.in_error = false;
        self.new_state.next.is_first = true;
        self.new_state.next.completion_queue = self.writes.val().completion_queue;
        if self.mark.val() {
            self.states.write_address.next = self.mark_connection.val();
            self.new_state.next.in_error = self.mark_error.val();
            self.new_state.next.is_first = false;
            self.new_state.next.completion_queue = self.mark_queue.val();
        }
        self.states.write_data.next = self.new_state.val();
        self.profile.next = self.profiles.read_data.val();
        self.state.next = self.states.read_data.val();
    }
}

#[cfg(test)]
mod tests {
    mod context;
    mod header;
}
