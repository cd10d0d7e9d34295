//! Span lists: which slots of the record store hold the records of a span, in order, and which are
//! free.
//!
//! ```text
//!  push, span --> [ spans RAM: head, tail, records ] --> opened
//!                 [ links RAM: the next slot       ] --> next
//!                 [ list of free slots             ] --> place, has_room
//! ```
//!
//! | latency    | an operation takes 3 cycles, one at a time, a push first; freeing slots 1      |
//! | throughput | one push per 6 cycles                                                          |
//! | units      | slots of the record store, 0..512; spans 0..512                                |
//!
//! Every slot is in one list: that of a span, that of the replay which has opened a span, or the
//! free list. The free list is never empty: its last slot is not allocated, so that a whole list
//! can be appended to it in one cycle. 511 of 512 slots are thus usable.
//!
//! Block RAM keeps its contents over a reset. After one, a sweep of 512 cycles empties every span
//! and frees every slot; until its end no slot is free, and no span opens.
use crate::common::ram::SdpRam;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Usable slots.
pub const SLOTS: u64 = rnic_abi::limits::OUT_OF_ORDER_RECORDS as u64;

/// The list of one span.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SpanList {
    /// Slot of the first record.
    pub head: Bits<9>,
    /// Slot of the last record.
    pub tail: Bits<9>,
    /// Records in the list.
    pub records: Bits<10>,
    /// There is a record.
    pub used: Bit,
}

/// Step of the operation at hand.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ListWork {
    /// After reset: initialises every entry, one per cycle.
    Sweep,
    /// Waits for an operation.
    Rest,
    /// Reads the list of the span, and the link of the slot in use.
    FetchPush,
    /// Appends the slot to the list.
    Push,
    /// Reads the list of a span.
    FetchOpen,
    /// Outputs the list and empties the span.
    Open,
    /// Reads the link of a slot.
    FetchNext,
    /// Outputs it.
    Next,
}

/// The lists of all spans, and the free list.
#[derive(LogicBlock, Init)]
pub struct SpanLists {
    pub clock: Signal<In, Clock>,
    /// Synchronous; every span is empty and every slot free, after 512 cycles.
    pub reset: Signal<In, Bit>,
    /// Slot `place` gets the next record of `push_span`, one cycle; only with `has_room`.
    pub push: Signal<In, Bit>,
    pub push_span: Signal<In, Bits<9>>,
    /// Slot for the next record; follows a push after six cycles at most.
    pub place: Signal<Out, Bits<9>>,
    /// It is free (there is one).
    pub has_room: Signal<Out, Bit>,
    /// Free slots.
    pub free_places: Signal<Out, Bits<10>>,
    /// Open `open_span`, held until `opened`. At most one of `open`, `follow` and `give` is high.
    pub open: Signal<In, Bit>,
    pub open_span: Signal<In, Bits<9>>,
    /// `opened_list` is valid, one cycle, and the span is empty.
    pub opened: Signal<Out, Bit>,
    pub opened_list: Signal<Out, SpanList>,
    /// Read the link of slot `follow_place`, held until `followed` or no longer needed.
    pub follow: Signal<In, Bit>,
    pub follow_place: Signal<In, Bits<9>>,
    /// `next_place` is valid, one cycle.
    pub followed: Signal<Out, Bit>,
    pub next_place: Signal<Out, Bits<9>>,
    /// Free the slots of `give_list`, held until `given`.
    pub give: Signal<In, Bit>,
    /// A list that was opened, and had a record.
    pub give_list: Signal<In, SpanList>,
    pub given: Signal<Out, Bit>,
    spans: SdpRam<SpanList, 9>,
    links: SdpRam<Bits<9>, 9>,
    work: DFF<ListWork>,
    sweep: DFF<Bits<9>>,
    // First and last free slot, and how many may be allocated.
    first: DFF<Bits<9>>,
    last: DFF<Bits<9>>,
    free: DFF<Bits<10>>,
    has_push: DFF<Bit>,
    held_span: DFF<Bits<9>>,
    read: Signal<Local, SpanList>,
    written: Signal<Local, SpanList>,
    gives: Signal<Local, Bit>,
    // Free slots before the push of this cycle.
    more: Signal<Local, Bits<10>>,
    #[constant(1)]
    one: Constant<Bits<9>>,
    #[constant(1)]
    one_record: Constant<Bits<10>>,
    #[constant(SLOTS)]
    last_place: Constant<Bits<9>>,
    #[constant(SLOTS)]
    all_places: Constant<Bits<10>>,
}

impl Logic for SpanLists {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; work, sweep, first, last, free, has_push, held_span);
        wire!(self => self.{spans, links}; clock);
        self.spans.read_address.next = self.held_span.q.val();
        self.links.read_address.next = self.first.q.val();
        self.read.next = self.spans.read_data.val();
        self.spans.write_enable.next = false;
        self.spans.write_address.next = self.held_span.q.val();
        self.links.write_enable.next = false;
        self.links.write_address.next = self.read.val().tail;
        self.links.write_data.next = self.first.q.val();
        // The list with the slot appended; the fields of an empty list are zero.
        self.written.next = self.read.val();
        self.written.next.tail = self.first.q.val();
        self.written.next.records = self.read.val().records + self.one_record.val();
        self.written.next.used = true;
        if !self.read.val().used {
            self.written.next.head = self.first.q.val();
        }

        self.more.next = self.free.q.val();
        self.opened.next = false;
        self.followed.next = false;
        self.gives.next = false;
        match self.work.q.val() {
            ListWork::Sweep => {
                self.spans.write_enable.next = true;
                self.spans.write_address.next = self.sweep.q.val();
                self.written.next.head = 0.into();
                self.written.next.tail = 0.into();
                self.written.next.records = 0.into();
                self.written.next.used = false;
                self.links.write_enable.next = true;
                self.links.write_address.next = self.sweep.q.val();
                self.links.write_data.next = self.sweep.q.val() + self.one.val();
                self.sweep.d.next = self.sweep.q.val() + self.one.val();
                self.first.d.next = 0.into();
                self.last.d.next = self.last_place.val();
                if self.sweep.q.val().all() {
                    self.more.next = self.all_places.val();
                    self.work.d.next = ListWork::Rest;
                }
            }
            ListWork::Rest => {
                if self.has_push.q.val() {
                    self.work.d.next = ListWork::FetchPush;
                } else if self.open.val() {
                    self.spans.read_address.next = self.open_span.val();
                    self.work.d.next = ListWork::FetchOpen;
                } else if self.follow.val() {
                    self.links.read_address.next = self.follow_place.val();
                    self.work.d.next = ListWork::FetchNext;
                } else if self.give.val() {
                    self.gives.next = true;
                    self.links.write_enable.next = true;
                    self.links.write_address.next = self.last.q.val();
                    self.links.write_data.next = self.give_list.val().head;
                    self.last.d.next = self.give_list.val().tail;
                    self.more.next = self.free.q.val() + self.give_list.val().records;
                }
            }
            ListWork::FetchPush => self.work.d.next = ListWork::Push,
            ListWork::Push => {
                self.spans.write_enable.next = true;
                self.links.write_enable.next = self.read.val().used;
                self.first.d.next = self.links.read_data.val();
                self.has_push.d.next = false;
                self.work.d.next = ListWork::Rest;
            }
            ListWork::FetchOpen => self.work.d.next = ListWork::Open,
            ListWork::Open => {
                self.opened.next = true;
                self.spans.write_enable.next = true;
                self.spans.write_address.next = self.open_span.val();
                self.written.next.head = 0.into();
                self.written.next.tail = 0.into();
                self.written.next.records = 0.into();
                self.written.next.used = false;
                self.work.d.next = ListWork::Rest;
            }
            ListWork::FetchNext => self.work.d.next = ListWork::Next,
            ListWork::Next => {
                self.followed.next = true;
                self.work.d.next = ListWork::Rest;
            }
            _ => self.work.d.next = ListWork::Sweep,
        }
        self.spans.write_data.next = self.written.val();

        // A push counts at once, so that a slot is never promised twice.
        self.free.d.next = self.more.val();
        if self.push.val() {
            self.has_push.d.next = true;
            self.held_span.d.next = self.push_span.val();
            self.free.d.next = self.more.val() - self.one_record.val();
        }
        self.place.next = self.first.q.val();
        self.has_room.next = self.free.q.val().any();
        self.free_places.next = self.free.q.val();
        self.opened_list.next = self.read.val();
        self.next_place.next = self.links.read_data.val();
        self.given.next = self.gives.val();
        if self.reset.val() {
            self.work.d.next = ListWork::Sweep;
            self.sweep.d.next = 0.into();
            self.free.d.next = 0.into();
            self.has_push.d.next = false;
        }
    }
}

#[cfg(test)]
mod tests;
