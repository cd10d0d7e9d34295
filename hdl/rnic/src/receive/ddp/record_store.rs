//! Out-of-order FPDUs: whether one may be placed after its predecessor, and the records of those
//! that were, stored by span until the span is in order.
//!
//! ```text
//!  record, push --> [ RecordMemory ] ---------------> offered (FpduKind::Deliver, FpduKind::Fault)
//!         \-------> [ SpanLists    ] -- cursor --^
//!  replay --> [ skid ] --> [ step ] ---------------> replayed
//!
//!  bad FPDU --> [ OutOfOrderChain: span, sequence_end ] --> compare with the next --> follows_bad
//! ```
//!
//! | latency    | see [`RecordStore`]                                                           |
//! | throughput | one push per 6 cycles; one record offered per 4 cycles                        |
//! | units      | slots, 0..512; spans of MPA; TCP sequence numbers                             |
//! | size       | 8 block RAMs (ECP5)                                                           |
use super::octet_order::OctetOrder;
use super::spans::{SpanList, SpanLists};
use crate::common::ram::SdpRam;
use crate::common::skid::Skid;
use crate::messages::{FpduKind, FpduRecord, Replay, ReplayKind, Replayed};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Step of the replay at hand.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ReplayStep {
    /// Waits for a replay.
    Idle,
    /// Looks up the list of its span.
    Open,
    /// Offers the records, one after the other.
    Deliver,
    /// Offers an `FpduKind::Fault`: FPDU starts disagree.
    Fault,
    /// Frees the slots.
    Free,
    /// Offers `replayed`.
    Done,
}

/// Record store: stores records by span and replays them.
///
/// | latency    | 8 cycles, `replay_valid` to the first record offered, 2 for               |
/// |            | `ReplayKind::Fault`; 2 from the last one taken to `replayed_valid`; 5     |
/// |            | from `replay_valid` to `replayed_valid` for a span without records, 6     |
/// |            | with records to discard; a push adds up to 4                              |
/// | throughput | one push per 6 cycles; one record offered per 4; one replay at a time     |
/// | units      | see [`crate::messages::Replay`]                                           |
///
/// A replay takes the records that the span has when it is opened; a later push for that span
/// begins a new list. Its slots are free once its last record has been taken.
///
/// `FpduKind::Fault` repeats what the replay says: no FPDU was seen, so its ULPDU_Length is 0, and
/// the sequence number after it is that of its first octet.
#[derive(LogicBlock, Init)]
pub struct RecordStore {
    pub clock: Signal<In, Clock>,
    /// Synchronous; discards all records. No slot is free in the next 512 cycles.
    pub reset: Signal<In, Bit>,
    /// Stores `record`, one cycle; only with `has_room`.
    pub push: Signal<In, Bit>,
    pub record: Signal<In, FpduRecord>,
    /// A slot is free.
    pub has_room: Signal<Out, Bit>,
    /// Free slots.
    pub free_places: Signal<Out, Bits<10>>,
    pub replay: Signal<In, Replay>,
    pub replay_valid: Signal<In, Bit>,
    pub replay_ready: Signal<Out, Bit>,
    /// A record for the checks, stable until `offered_taken`.
    pub offered: Signal<Out, FpduRecord>,
    pub offered_valid: Signal<Out, Bit>,
    /// Only while `offered_valid`.
    pub offered_taken: Signal<In, Bit>,
    pub replayed: Signal<Out, Replayed>,
    pub replayed_valid: Signal<Out, Bit>,
    pub replayed_ready: Signal<In, Bit>,
    requests: Skid<Replay>,
    lists: SpanLists,
    kept: RecordMemory,
    step: DFF<ReplayStep>,
    list: DFF<SpanList>,
    // Slot of the record at hand; `age` counts the cycles since it is known.
    cursor: DFF<Bits<9>>,
    age: DFF<Bits<2>>,
    is_last: DFF<Bit>,
    has_next: DFF<Bit>,
    next_place: DFF<Bits<9>>,
    // `offered` is valid.
    offers: DFF<Bit>,
    message: Signal<Local, Replay>,
    opened_list: Signal<Local, SpanList>,
    is_fault: Signal<Local, Bit>,
    finds: Signal<Local, Bit>,
    done: Signal<Local, Bit>,
    #[constant(1)]
    one: Constant<Bits<2>>,
}

impl Logic for RecordStore {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; step, list, cursor, age, is_last);
        registers!(clock; has_next, next_place, offers);
        wire!(self => self.{requests, lists, kept}; clock);
        wire!(self => self.requests; reset, replay as s_data, replay_valid as s_valid);
        wire!(self.requests => self; s_ready as replay_ready, m_data as message);
        self.is_fault.next = self.message.val().kind == ReplayKind::Fault;

        // A record is written to the next free slot; the lists follow.
        wire!(self => self.lists; reset, push);
        self.lists.push_span.next = self.record.val().span;
        wire!(self.lists => self; has_room, free_places);
        self.kept.write.next = self.push.val();
        self.kept.place.next = self.lists.place.val();
        self.kept.record.next = self.record.val();

        self.lists.open.next = self.step.q.val() == ReplayStep::Open;
        self.lists.open_span.next = self.message.val().span;
        self.lists.follow.next = false;
        self.lists.follow_place.next = self.cursor.q.val();
        self.lists.give.next = self.step.q.val() == ReplayStep::Free;
        self.lists.give_list.next = self.list.q.val();
        self.opened_list.next = self.lists.opened_list.val();
        self.kept.read_place.next = self.cursor.q.val();
        self.is_last.d.next = self.cursor.q.val() == self.list.q.val().tail;
        self.offers.d.next = false;
        self.finds.next = false;
        self.done.next = false;
        match self.step.q.val() {
            ReplayStep::Idle => {
                self.age.d.next = 0.into();
                if self.requests.m_valid.val() {
                    self.step.d.next = ReplayStep::Open;
                    if self.is_fault.val() {
                        self.step.d.next = ReplayStep::Fault;
                        self.offers.d.next = true;
                    }
                }
            }
            ReplayStep::Open => {
                self.list.d.next = self.opened_list.val();
                self.cursor.d.next = self.opened_list.val().head;
                self.has_next.d.next = false;
                if self.lists.opened.val() {
                    self.step.d.next = ReplayStep::Free;
                    if !self.opened_list.val().used {
                        self.step.d.next = ReplayStep::Done;
                    } else if self.message.val().kind == ReplayKind::Deliver {
                        self.step.d.next = ReplayStep::Deliver;
                    }
                }
            }
            ReplayStep::Deliver => {
                // From age 1 on `is_last` belongs to this record, from age 3 on `offered` does.
                // The link of the last one is not used.
                self.lists.follow.next =
                    !self.has_next.q.val() & !(self.age.q.val().any() & self.is_last.q.val());
                self.finds.next = self.has_next.q.val() | self.lists.followed.val();
                if self.lists.followed.val() {
                    self.has_next.d.next = true;
                    self.next_place.d.next = self.lists.next_place.val();
                }
                if !self.age.q.val().all() {
                    self.age.d.next = self.age.q.val() + self.one.val();
                }
                self.offers.d.next =
                    self.age.q.val().get_bit(1) & (self.is_last.q.val() | self.finds.val());
                if self.offered_taken.val() {
                    self.offers.d.next = false;
                    self.age.d.next = 0.into();
                    self.has_next.d.next = false;
                    self.cursor.d.next = self.next_place.q.val();
                    if self.is_last.q.val() {
                        self.step.d.next = ReplayStep::Free;
                    }
                }
            }
            ReplayStep::Fault => {
                self.offers.d.next = !self.offered_taken.val();
                if self.offered_taken.val() {
                    self.step.d.next = ReplayStep::Done;
                }
            }
            ReplayStep::Free => {
                if self.lists.given.val() {
                    self.step.d.next = ReplayStep::Done;
                }
            }
            ReplayStep::Done => self.done.next = self.replayed_ready.val(),
            _ => self.done.next = true,
        }
        if self.done.val() {
            self.step.d.next = ReplayStep::Idle;
        }
        self.requests.m_ready.next = self.done.val();

        self.offered.next = self.kept.read.val();
        self.offered.next.connection = self.message.val().connection;
        if self.is_fault.val() {
            self.offered.next.kind = FpduKind::Fault;
            self.offered.next.sequence = self.message.val().sequence;
            self.offered.next.sequence_end = self.message.val().sequence;
            self.offered.next.ulpdu_length = 0.into();
        }
        self.offered_valid.next = self.offers.q.val();
        self.replayed.next.kind = self.message.val().kind;
        self.replayed.next.connection = self.message.val().connection;
        self.replayed.next.span = self.message.val().span;
        self.replayed_valid.next = self.step.q.val() == ReplayStep::Done;
        if self.reset.val() {
            self.step.d.next = ReplayStep::Idle;
            self.offers.d.next = false;
        }
    }
}

/// A record in block RAM.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct StoredRecord {
    /// Sequence number of the FPDU's first octet.
    pub sequence: Bits<32>,
    /// Octets on the wire: ULPDU and MPA framing, 66,064 at most.
    pub wire_octets: Bits<17>,
    /// ULPDU_Length and DDP header, octet string.
    pub header: Bits<160>,
}

/// Record memory: block RAM of records.
///
/// ```text
///  record --> [ wire octets ] --> [ RAM, 512 x 209 ] --> [ sequence_end ] --> read
///                       slot --------^        ^-------- slot to read
/// ```
///
/// | latency    | 3 cycles, `read_place` to `read`, which then holds while `read_place` does |
/// | throughput | one record written and one read per cycle                                  |
/// | size       | 6 block RAMs (ECP5)                                                        |
///
/// Stored are the header, its sequence number, and the octets of the FPDU on the wire; ULPDU_Length
/// is in the first two octets of the header. The other fields of `read` are those of any
/// `FpduKind::Deliver`, except for the connection, which the replay knows.
#[derive(LogicBlock, Init)]
pub struct RecordMemory {
    pub clock: Signal<In, Clock>,
    /// Stores `record` in slot `place`.
    pub write: Signal<In, Bit>,
    pub place: Signal<In, Bits<9>>,
    pub record: Signal<In, FpduRecord>,
    /// Slot to read; not one that is being written.
    pub read_place: Signal<In, Bits<9>>,
    /// Three cycles later: the record there as an `FpduKind::Deliver`, connection 0.
    pub read: Signal<Out, FpduRecord>,
    memory: SdpRam<StoredRecord, 9>,
    order: OctetOrder<16>,
    sequence_end: DFF<Bits<32>>,
    fetched: Signal<Local, StoredRecord>,
    wire_octets: Signal<Local, Bits<32>>,
    written: Signal<Local, StoredRecord>,
    header: Signal<Local, Bits<160>>,
}

impl Logic for RecordMemory {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; sequence_end);
        self.memory.clock.next = self.clock.val();
        self.wire_octets.next = self.record.val().sequence_end - self.record.val().sequence;
        self.written.next.sequence = self.record.val().sequence;
        self.written.next.wire_octets = self.wire_octets.val().get_bits::<17>(0);
        self.written.next.header = self.record.val().header;
        wire!(self => self.memory;
            write as write_enable, place as write_address, written as write_data);

        // Two cycles after `read_place`; the output of the memory is a register.
        self.memory.read_address.next = self.read_place.val();
        self.fetched.next = self.memory.read_data.val();
        self.sequence_end.d.next =
            self.fetched.val().sequence + bit_cast::<32, 17>(self.fetched.val().wire_octets);
        self.header.next = self.fetched.val().header;
        self.order.octets.next = self.header.val().get_bits::<16>(0);
        self.read.next.kind = FpduKind::Deliver;
        self.read.next.connection = 0.into();
        self.read.next.span = 0.into();
        self.read.next.unproven = false;
        self.read.next.sequence = self.fetched.val().sequence;
        self.read.next.sequence_end = self.sequence_end.q.val();
        self.read.next.ulpdu_length = self.order.number.val();
        self.read.next.header = self.header.val();
        self.read.next.beats = 0.into();
        self.read.next.head_page = 0.into();
        self.read.next.tail_page = 0.into();
    }
}

/// Out-of-order chain: does an FPDU out of order follow one of the same job that was not placed?
///
/// | latency    | 1 cycle, `record` to `follows_bad`; `judged` counts from the next cycle on |
/// | throughput | one record per 5 cycles, as [`super::sequencer`] steps them                |
///
/// The FPDUs of an out-of-order job are contiguous: each begins where its predecessor ends, in the
/// same span. After one that was not placed none is, so that only a beginning of a job is placed.
/// Only the last result is stored: if it was good, another job has begun since the last bad one.
#[derive(LogicBlock, Default)]
pub struct OutOfOrderChain {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// The record in the checks.
    pub record: Signal<In, FpduRecord>,
    /// It begins where the last bad FPDU of its span ended.
    pub follows_bad: Signal<Out, Bit>,
    /// The record is an `FpduKind::OutOfOrder` and its verdict is known, one cycle.
    pub judged: Signal<In, Bit>,
    /// With `judged`: it is good.
    pub good: Signal<In, Bit>,
    bad_span: DFF<Bits<9>>,
    bad_end: DFF<Bits<32>>,
    bad_valid: DFF<Bit>,
    follows: DFF<Bit>,
}

impl Logic for OutOfOrderChain {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; bad_span, bad_end, bad_valid, follows);
        self.follows.d.next = self.bad_valid.q.val()
            & (self.record.val().span == self.bad_span.q.val())
            & (self.record.val().sequence == self.bad_end.q.val());
        self.follows_bad.next = self.follows.q.val();
        if self.judged.val() {
            self.bad_span.d.next = self.record.val().span;
            self.bad_end.d.next = self.record.val().sequence_end;
            self.bad_valid.d.next = !self.good.val();
        }
        if self.reset.val() {
            self.bad_valid.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests {
    mod ooo_chain;
    mod record_store;
}
