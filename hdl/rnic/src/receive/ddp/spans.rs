//! Span lists: which places of the pool hold the records of a span, in order, and which are free.
//!
//! ```text
//!  push, span --> [ spans RAM: head, tail, records ] --> opened
//!                 [ links RAM: the place behind    ] --> next
//!                 [ list of free places            ] --> place, has_room
//! ```
//!
//! | latency    | an operation takes 3 cycles, one at a time, a push first; giving places back 1 |
//! | throughput | one push per 6 cycles                                                          |
//! | units      | places of the pool, 0..512; spans 0..512                                       |
//!
//! Every place is in one list: that of a span, that of the replay which has opened a span, or that
//! of the free ones. That list is never empty: its last place is not given out, so places can
//! always be hung behind it, a whole span's in one cycle. Of 512 places 511 are thus of use.
//!
//! Block RAM keeps what it holds over a reset. After one, a sweep of 512 cycles makes every span
//! empty and every place free; until its end there is no room, and no span opens.
// LogicStruct derives accessors without documentation.
use crate::common::ram::SdpRam;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Places that can hold records at a time.
pub const PLACES: u64 = rnic_abi::limits::EARLY_RECORDS as u64;

/// The list of one span.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct SpanList {
    /// Place of the first record.
    pub head: Bits<9>,
    /// Place of the last record.
    pub tail: Bits<9>,
    /// Records in the list.
    pub records: Bits<10>,
    /// There is a record.
    pub used: Bit,
}

/// What the lists are busy with.
#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
pub enum ListWork {
    /// Nothing is kept: every entry is written, one a cycle.
    Sweep,
    /// Nothing.
    Rest,
    /// Reads the list of the span, and the place behind the one in use.
    FetchPush,
    /// Hangs the place into the list.
    Push,
    /// Reads the list of a span.
    FetchOpen,
    /// Hands the list out; the span is empty.
    Open,
    /// Reads the place behind another.
    FetchNext,
    /// Hands it out.
    Next,
}

/// The lists of all spans and of the free places.
#[derive(LogicBlock, Init)]
pub struct SpanLists {
    pub clock: Signal<In, Clock>,
    /// Synchronous; every span is empty and every place free, after 512 cycles.
    pub reset: Signal<In, Bit>,
    /// `place` is filled with the next record of `push_span`, one cycle; only with `has_room`.
    pub push: Signal<In, Bit>,
    /// See `push`.
    pub push_span: Signal<In, Bits<9>>,
    /// Place for the next record; still for six cycles after a push at most.
    pub place: Signal<Out, Bits<9>>,
    /// It is free.
    pub has_room: Signal<Out, Bit>,
    /// Places that are free.
    pub free_places: Signal<Out, Bits<10>>,
    /// Open `open_span`, held until `opened`. At most one of `open`, `follow` and `give` is high.
    pub open: Signal<In, Bit>,
    /// See `open`.
    pub open_span: Signal<In, Bits<9>>,
    /// `opened_list` is there, one cycle, and the span is empty.
    pub opened: Signal<Out, Bit>,
    /// The list that the span had.
    pub opened_list: Signal<Out, SpanList>,
    /// Look up the place behind `follow_place`, held until `followed` or not needed any more.
    pub follow: Signal<In, Bit>,
    /// See `follow`.
    pub follow_place: Signal<In, Bits<9>>,
    /// `next_place` is there, one cycle.
    pub followed: Signal<Out, Bit>,
    /// The place behind.
    pub next_place: Signal<Out, Bits<9>>,
    /// The places of `give_list` are free, held until `given`.
    pub give: Signal<In, Bit>,
    /// A list that was opened, and had a record.
    pub give_list: Signal<In, SpanList>,
    /// They are taken back, one cycle.
    pub given: Signal<Out, Bit>,
    spans: SdpRam<SpanList, 9>,
    links: SdpRam<Bits<9>, 9>,
    work: DFF<ListWork>,
    sweep: DFF<Bits<9>>,
    // First and last of the free places, and how many of them may be given out.
    first: DFF<Bits<9>>,
    last: DFF<Bits<9>>,
    free: DFF<Bits<10>>,
    has_push: DFF<Bit>,
    held_span: DFF<Bits<9>>,
    read: Signal<Local, SpanList>,
    written: Signal<Local, SpanList>,
    gives: Signal<Local, Bit>,
    // Places free but for the push of this cycle.
    more: Signal<Local, Bits<10>>,
    #[constant(1)]
    one: Constant<Bits<9>>,
    #[constant(1)]
    one_record: Constant<Bits<10>>,
    #[constant(PLACES)]
    last_place: Constant<Bits<9>>,
    #[constant(PLACES)]
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
        // The list with the place hung behind; an empty list's fields are zero.
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

        // A push counts at once, so that room is never promised twice.
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
