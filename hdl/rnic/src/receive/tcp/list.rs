//! The received ranges of a connection: a list in block RAM, and what a segment makes of it.
//!
//! ```text
//! context --> number --> [ ranges, 256 ] --> range --> held --+--> previous
//!                ^                             |              +--> merged --> [ ranges ]
//!                +--------- following ---------+              +--> result (context)
//! ```
//!
//! | latency    | 2 cycles, `idle` (or `advance`) with a number to `range`                    |
//! | throughput | one range in 3 cycles                                                       |
//! | units      | sequence numbers modulo 2^32; pages of packet memory                        |
//!
//! The list is in sequence order, and its ranges neither overlap nor touch. A segment that touches
//! ranges makes one of them, or moves rcv_nxt behind the last of them; a range that a segment in
//! order does not touch stays as it is. The strobes come from [`super::walk`], one in a cycle;
//! `idle` forgets what the last segment did.
use super::records::{EarlyRange, TcpContext, WalkSegment};
use crate::common::ram::SdpRam;
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// Reads the list, collects what one segment changes, and writes it.
#[derive(LogicBlock, Init)]
pub struct RangeList {
    pub clock: Signal<In, Clock>,
    /// Context before the segment; holds until the walk is done.
    pub current: Signal<In, TcpContext>,
    /// The segment; holds likewise.
    pub segment: Signal<In, WalkSegment>,
    /// Pages of its frame; holds likewise.
    pub frame_pages: Signal<In, Bits<10>>,
    /// A free number, for `open`.
    pub free_number: Signal<In, Bits<8>>,
    /// No walk: read the context's first range, or, with `peek`, range `peek_number`.
    pub idle: Signal<In, Bit>,
    /// For the table bus.
    pub peek: Signal<In, Bit>,
    /// For the table bus.
    pub peek_number: Signal<In, Bits<8>>,
    /// The range read.
    pub range: Signal<Out, EarlyRange>,
    /// Hold that range and read the following one.
    pub advance: Signal<In, Bit>,
    /// The held range lies before the segment.
    pub skip: Signal<In, Bit>,
    /// The held range touches the segment, or what the segment touched before.
    pub touch: Signal<In, Bit>,
    /// With `touch`: the segment begins before that range.
    pub gap: Signal<In, Bit>,
    /// The segment opens a range, number `free_number`.
    pub open: Signal<In, Bit>,
    /// With `open`: the held range follows it.
    pub followed: Signal<In, Bit>,
    /// The segment's last octets are new and follow all it touched.
    pub extend: Signal<In, Bit>,
    /// Write the range that the segment is part of now.
    pub store: Signal<In, Bit>,
    /// Write its number into the range before it.
    pub link: Signal<In, Bit>,
    /// The held range.
    pub held_range: Signal<Out, EarlyRange>,
    /// Its number.
    pub held_index: Signal<Out, Bits<8>>,
    /// The segment has touched a range.
    pub touched: Signal<Out, Bit>,
    /// Number of the range that an early segment is part of.
    pub merged_number: Signal<Out, Bits<8>>,
    /// A range lies before the segment.
    pub has_previous: Signal<Out, Bit>,
    /// The context after the segment: ranges, pages, rcv_nxt.
    pub result: Signal<Out, TcpContext>,
    memory: SdpRam<EarlyRange, 8>,
    number: DFF<Bits<8>>,
    held: DFF<EarlyRange>,
    held_number: DFF<Bits<8>>,
    previous: DFF<EarlyRange>,
    previous_number: DFF<Bits<8>>,
    previous_valid: DFF<Bit>,
    merged: DFF<EarlyRange>,
    merged_index: DFF<Bits<8>>,
    merged_valid: DFF<Bit>,
    after: DFF<TcpContext>,
    first_pages: Signal<Local, Bits<10>>,
    #[constant(1)]
    one: Constant<Bits<5>>,
}

impl Logic for RangeList {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; number, held, held_number, merged, merged_index, merged_valid);
        registers!(clock; previous, previous_number, previous_valid, after);
        self.memory.clock.next = self.clock.val();
        self.memory.read_address.next = self.number.q.val();
        self.range.next = self.memory.read_data.val();
        self.held_range.next = self.held.q.val();
        self.held_index.next = self.held_number.q.val();
        self.touched.next = self.merged_valid.q.val();
        self.merged_number.next = self.merged_index.q.val();
        self.has_previous.next = self.previous_valid.q.val();
        self.result.next = self.after.q.val();

        if self.idle.val() {
            self.number.d.next = self.current.val().first_range;
            if self.peek.val() {
                self.number.d.next = self.peek_number.val();
            }
            self.after.d.next = self.current.val();
            self.previous_valid.d.next = false;
            self.merged_valid.d.next = false;
        }
        if self.advance.val() {
            self.held.d.next = self.memory.read_data.val();
            self.held_number.d.next = self.number.q.val();
            self.number.d.next = self.memory.read_data.val().following;
        }
        if self.skip.val() {
            self.previous.d.next = self.held.q.val();
            self.previous_number.d.next = self.held_number.q.val();
            self.previous_valid.d.next = true;
        }
        // The segment's pages are those of its frame, once, and of the ranges it touches.
        self.first_pages.next = self.frame_pages.val();
        if self.merged_valid.q.val() {
            self.first_pages.next = self.merged.q.val().pages;
        }
        if self.touch.val() {
            self.merged_valid.d.next = true;
            self.merged.d.next.right = self.held.q.val().right;
            self.merged.d.next.pages = self.first_pages.val() + self.held.q.val().pages;
            self.merged.d.next.following = self.held.q.val().following;
            self.merged.d.next.has_following = self.held.q.val().has_following;
            if !self.segment.val().early {
                // The range is in order from now on.
                self.after.d.next.rcv_nxt = self.held.q.val().right;
                self.after.d.next.first_range = self.held.q.val().following;
                self.after.d.next.ranges = self.after.q.val().ranges - self.one.val();
                self.after.d.next.early_pages =
                    self.after.q.val().early_pages - self.held.q.val().pages;
            } else if self.merged_valid.q.val() {
                // The range is part of the first one touched from now on.
                self.after.d.next.ranges = self.after.q.val().ranges - self.one.val();
            } else {
                self.merged_index.d.next = self.held_number.q.val();
                self.merged.d.next.left = self.held.q.val().left;
                if self.gap.val() {
                    self.merged.d.next.left = self.segment.val().left;
                }
                self.after.d.next.last_range = self.held_number.q.val();
                self.after.d.next.early_pages =
                    self.after.q.val().early_pages + self.frame_pages.val();
            }
        }
        if self.open.val() {
            self.merged_index.d.next = self.free_number.val();
            self.merged.d.next.left = self.segment.val().left;
            self.merged.d.next.right = self.segment.val().right;
            self.merged.d.next.pages = self.frame_pages.val();
            self.merged.d.next.following = self.held_number.q.val();
            self.merged.d.next.has_following = self.followed.val();
            self.after.d.next.last_range = self.free_number.val();
            self.after.d.next.ranges = self.after.q.val().ranges + self.one.val();
            self.after.d.next.early_pages = self.after.q.val().early_pages + self.frame_pages.val();
            if !self.previous_valid.q.val() {
                self.after.d.next.first_range = self.free_number.val();
            }
        }
        if self.extend.val() {
            self.merged.d.next.right = self.segment.val().right;
            if !self.segment.val().early {
                self.after.d.next.rcv_nxt = self.segment.val().right;
            }
        }
        self.memory.write_enable.next = self.store.val() | self.link.val();
        self.memory.write_address.next = self.merged_index.q.val();
        self.memory.write_data.next = self.merged.q.val();
        if self.link.val() {
            self.memory.write_address.next = self.previous_number.q.val();
            self.memory.write_data.next = self.previous.q.val();
            self.memory.write_data.next.following = self.merged_index.q.val();
            self.memory.write_data.next.has_following = true;
        }
    }
}
