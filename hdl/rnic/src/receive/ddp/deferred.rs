//! Deferred records: those of FPDUs placed beyond a gap, kept by span until the span is in order.
//!
//! ```text
//!  record, push --> [ KeptRecords ] ---------------> offered (FPDU_DELIVER, FPDU_FAULT)
//!         \-------> [ SpanLists   ] -- cursor --^
//!  replay --> [ skid ] --> [ step ] ---------------> replayed
//! ```
//!
//! | latency    | 8 cycles, `replay_valid` to the first record offered, 2 for `REPLAY_FAULT`; 2 |
//! |            | from the last one taken to `replayed_valid`; 5 from `replay_valid` to it of a |
//! |            | span without records, 6 with records to forget; a push adds up to 4 to each   |
//! | throughput | one push per 6 cycles; one record offered per 4 cycles; one replay at a time  |
//! | units      | see [`crate::messages::Replay`]                                               |
//! | size       | 8 block RAMs (ECP5)                                                           |
//!
//! A replay takes the records that the span has when it is opened; what is pushed for that span
//! from then on begins a new list. Its places are free once its last record has been taken.
//!
//! `FPDU_FAULT` says what the replay says: no FPDU has been seen, so its ULPDU_Length is 0, and the
//! sequence number after it is that of its first octet.
use super::kept::KeptRecords;
use super::spans::{SpanList, SpanLists};
use crate::common::skid::Skid;
use crate::messages::{FpduRecord, Replay, Replayed, FPDU_FAULT, REPLAY_DELIVER, REPLAY_FAULT};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// How far the replay at hand is.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ReplayStep {
    /// None is at hand.
    Idle,
    /// The list of its span is being looked up.
    Open,
    /// The records are offered, one after the other.
    Deliver,
    /// A disagreement of FPDU starts is offered.
    Fault,
    /// The places are given back.
    Free,
    /// `replayed` is offered.
    Done,
}

/// Keeps records by span and replays them.
#[derive(LogicBlock, Init)]
pub struct DeferredRecords {
    pub clock: Signal<In, Clock>,
    /// Synchronous; forgets all records. There is no room for new ones in the next 512 cycles.
    pub reset: Signal<In, Bit>,
    /// `record` is to be kept, one cycle; only with `has_room`.
    pub push: Signal<In, Bit>,
    pub record: Signal<In, FpduRecord>,
    /// A place is free.
    pub has_room: Signal<Out, Bit>,
    /// Places that are.
    pub free_places: Signal<Out, Bits<10>>,
    /// What becomes of a span.
    pub replay: Signal<In, Replay>,
    pub replay_valid: Signal<In, Bit>,
    pub replay_ready: Signal<Out, Bit>,
    /// A record for the checks.
    pub offered: Signal<Out, FpduRecord>,
    /// `offered` is there, and holds still until taken.
    pub offered_valid: Signal<Out, Bit>,
    /// `offered` is taken; only while it is there.
    pub offered_taken: Signal<In, Bit>,
    pub replayed: Signal<Out, Replayed>,
    pub replayed_valid: Signal<Out, Bit>,
    pub replayed_ready: Signal<In, Bit>,
    requests: Skid<Replay>,
    lists: SpanLists,
    kept: KeptRecords,
    step: DFF<ReplayStep>,
    list: DFF<SpanList>,
    // Place of the record at hand; `age` counts the cycles since it is known.
    cursor: DFF<Bits<9>>,
    age: DFF<Bits<2>>,
    is_last: DFF<Bit>,
    has_next: DFF<Bit>,
    next_place: DFF<Bits<9>>,
    // `offered` may be taken.
    offers: DFF<Bit>,
    message: Signal<Local, Replay>,
    opened_list: Signal<Local, SpanList>,
    is_fault: Signal<Local, Bit>,
    finds: Signal<Local, Bit>,
    done: Signal<Local, Bit>,
    #[constant(1)]
    one: Constant<Bits<2>>,
    #[constant(FPDU_FAULT)]
    fpdu_fault: Constant<Bits<3>>,
    #[constant(REPLAY_DELIVER)]
    replay_deliver: Constant<Bits<2>>,
    #[constant(REPLAY_FAULT)]
    replay_fault: Constant<Bits<2>>,
}

impl Logic for DeferredRecords {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; step, list, cursor, age, is_last);
        registers!(clock; has_next, next_place, offers);
        wire!(self => self.{requests, lists, kept}; clock);
        wire!(self => self.requests; reset, replay as s_data, replay_valid as s_valid);
        wire!(self.requests => self; s_ready as replay_ready, m_data as message);
        self.is_fault.next = self.message.val().kind == self.replay_fault.val();

        // A record is written where the lists have a place for it; the lists follow.
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
                    } else if self.message.val().kind == self.replay_deliver.val() {
                        self.step.d.next = ReplayStep::Deliver;
                    }
                }
            }
            ReplayStep::Deliver => {
                // From age 1 on `is_last` is of this record, from age 3 on the record is there.
                // What is found behind the last one is not used.
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
            self.offered.next.kind = self.fpdu_fault.val();
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

#[cfg(test)]
mod tests;
