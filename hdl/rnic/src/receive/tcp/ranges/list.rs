//! The list of ranges of a connection, and the comparison of one of them with a segment.
//!
//! The list is in sequence order, and its ranges neither overlap nor touch. [`RangeWalk`](super)
//! controls both blocks. Units: sequence numbers modulo 2^32; pages of packet memory.
use crate::common::ram::SdpRam;
use crate::receive::tcp::context::{ClippedSegment, TcpContext};
use rnic_macros::{kernel, Init};
use rust_hdl::prelude::*;

/// A range of octets received beyond `rcv_nxt`: an entry of table `RANGE`.
#[derive(Copy, Clone, Debug, Default, PartialEq, LogicStruct)]
pub struct OutOfOrderRange {
    /// Sequence number of its first octet.
    pub left: Bits<32>,
    /// Sequence number after its last octet.
    pub right: Bits<32>,
    /// Pages charged for it.
    pub pages: Bits<10>,
    /// Number of the next range of the connection.
    pub following: Bits<8>,
    /// There is a next range.
    pub has_following: Bit,
}

/// The ranges of a connection, a linked list in block RAM: reads it, collects the changes of one
/// segment, and writes them.
///
/// ```text
/// context --> number --> [ ranges, 256 ] --> range --> held --+--> previous
///                ^                             |              +--> merged --> [ ranges ]
///                +--------- following ---------+              +--> result (context)
/// ```
///
/// | latency    | 2 cycles, `idle` (or `advance`) with a number to `range`                    |
/// | throughput | one range in 3 cycles                                                       |
///
/// A segment merges the ranges that it touches into one, or moves rcv_nxt to the end of the last of
/// them; a range that a segment in order does not touch stays unchanged. At most one strobe is
/// active in a cycle; `idle` discards the changes of the last segment.
#[derive(LogicBlock, Init)]
pub struct RangeList {
    pub clock: Signal<In, Clock>,
    /// Synchronous; writes an empty range `peek_number` in each cycle.
    pub reset: Signal<In, Bit>,
    // Stable until the walk is done: the context before the segment, the segment, its pages.
    pub current: Signal<In, TcpContext>,
    pub segment: Signal<In, ClippedSegment>,
    pub frame_pages: Signal<In, Bits<10>>,
    /// A free number, for `open`.
    pub free_number: Signal<In, Bits<8>>,
    /// No walk: reads the context's first range, or, with `peek`, range `peek_number`.
    pub idle: Signal<In, Bit>,
    pub peek: Signal<In, Bit>,
    pub peek_number: Signal<In, Bits<8>>,
    pub range: Signal<Out, OutOfOrderRange>,
    /// Holds that range and reads the following one.
    pub advance: Signal<In, Bit>,
    /// The held range is before the segment.
    pub skip: Signal<In, Bit>,
    /// The held range touches the segment, or a range that the segment touched.
    pub touch: Signal<In, Bit>,
    /// With `touch`: the segment begins before that range.
    pub gap: Signal<In, Bit>,
    /// The segment opens a range, number `free_number`.
    pub open: Signal<In, Bit>,
    /// With `open`: the held range follows it.
    pub followed: Signal<In, Bit>,
    /// The segment's last octets are new and follow all touched ranges.
    pub extend: Signal<In, Bit>,
    /// Writes the range that the segment is part of.
    pub store: Signal<In, Bit>,
    /// Writes its number into the range before it.
    pub link: Signal<In, Bit>,
    /// The held range.
    pub held_range: Signal<Out, OutOfOrderRange>,
    pub held_index: Signal<Out, Bits<8>>,
    /// The segment has touched a range.
    pub touched: Signal<Out, Bit>,
    /// Number of the range that an out-of-order segment is part of.
    pub merged_number: Signal<Out, Bits<8>>,
    /// That range, from `store` on.
    pub merged_range: Signal<Out, OutOfOrderRange>,
    /// There is a range before the segment.
    pub has_previous: Signal<Out, Bit>,
    /// The context after the segment: ranges, pages, rcv_nxt.
    pub result: Signal<Out, TcpContext>,
    memory: SdpRam<OutOfOrderRange, 8>,
    number: DFF<Bits<8>>,
    held: DFF<OutOfOrderRange>,
    held_number: DFF<Bits<8>>,
    previous: DFF<OutOfOrderRange>,
    previous_number: DFF<Bits<8>>,
    previous_valid: DFF<Bit>,
    merged: DFF<OutOfOrderRange>,
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
        self.merged_range.next = self.merged.q.val();
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
        // Pages of the merged range: of the frame, once, and of the ranges it touches.
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
            if !self.segment.val().ooo {
                // The range becomes in order.
                self.after.d.next.rcv_nxt = self.held.q.val().right;
                self.after.d.next.first_range = self.held.q.val().following;
                self.after.d.next.ranges = self.after.q.val().ranges - self.one.val();
                self.after.d.next.ooo_pages =
                    self.after.q.val().ooo_pages - self.held.q.val().pages;
            } else if self.merged_valid.q.val() {
                // The range becomes part of the first touched one.
                self.after.d.next.ranges = self.after.q.val().ranges - self.one.val();
            } else {
                self.merged_index.d.next = self.held_number.q.val();
                self.merged.d.next.left = self.held.q.val().left;
                if self.gap.val() {
                    self.merged.d.next.left = self.segment.val().left;
                }
                self.after.d.next.last_range = self.held_number.q.val();
                self.after.d.next.ooo_pages = self.after.q.val().ooo_pages + self.frame_pages.val();
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
            self.after.d.next.ooo_pages = self.after.q.val().ooo_pages + self.frame_pages.val();
            if !self.previous_valid.q.val() {
                self.after.d.next.first_range = self.free_number.val();
            }
        }
        if self.extend.val() {
            self.merged.d.next.right = self.segment.val().right;
            if !self.segment.val().ooo {
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
        if self.reset.val() {
            self.merged_index.d.next = self.peek_number.val();
            self.merged.d.next.left = 0.into();
            self.merged.d.next.right = 0.into();
            self.merged.d.next.pages = 0.into();
            self.merged.d.next.following = 0.into();
            self.merged.d.next.has_following = false;
            self.memory.write_enable.next = true;
        }
    }
}

/// Position of a range relative to the rest of a segment.
///
/// ```text
///     rcv_nxt   cursor         left_now      edge
///   -----|--------|===============|============|------------> sequence space
///                 |  piece: new   |
///                          range: [a ........... b)
/// ```
///
/// | latency    | 2 cycles, range to flags (`measure` in the first); 1 cycle, `cursor` to flags, |
/// |            | `tail_octets`, `offset`, `cursor_number`                                       |
/// | throughput | one range per cycle                                                            |
/// | units      | octets; sequence numbers modulo 2^32; all else are distances from rcv_nxt      |
///
/// The octets of the segment still to be processed are `[cursor, edge)`; the range is `[a, b)`.
/// Distances are below 2^31, as the window is at most 2^30.
#[derive(LogicBlock, Default)]
pub struct RangeCompare {
    pub clock: Signal<In, Clock>,
    /// Samples the range.
    pub measure: Signal<In, Bit>,
    pub range: Signal<In, OutOfOrderRange>,
    pub rcv_nxt: Signal<In, Bits<32>>,
    /// First octet of the segment still to be processed.
    pub cursor: Signal<In, Bits<32>>,
    /// End of the segment.
    pub edge_distance: Signal<In, Bits<32>>,
    /// Offset of rcv_nxt in the stored frame.
    pub origin: Signal<In, Bits<14>>,
    /// b < cursor.
    pub behind: Signal<Out, Bit>,
    /// a > edge.
    pub beyond: Signal<Out, Bit>,
    /// a > cursor.
    pub gap: Signal<Out, Bit>,
    /// b < edge.
    pub ends_inside: Signal<Out, Bit>,
    /// a < edge and b is not cursor: the range, if neither behind nor beyond, shares octets with
    /// the segment.
    pub overlaps: Signal<Out, Bit>,
    /// b.
    pub range_end: Signal<Out, Bits<32>>,
    /// Octets from cursor to a; valid with `gap`, unless `beyond`.
    pub octets: Signal<Out, Bits<14>>,
    /// Octets from cursor to edge.
    pub tail_octets: Signal<Out, Bits<14>>,
    /// Offset of cursor in the stored frame.
    pub offset: Signal<Out, Bits<14>>,
    /// Sequence number of cursor.
    pub cursor_number: Signal<Out, Bits<32>>,
    range_left: DFF<Bits<32>>,
    range_right: DFF<Bits<32>>,
    is_behind: DFF<Bit>,
    is_beyond: DFF<Bit>,
    has_gap: DFF<Bit>,
    is_inside: DFF<Bit>,
    has_overlap: DFF<Bit>,
    piece_octets: DFF<Bits<14>>,
    rest_octets: DFF<Bits<14>>,
    place: DFF<Bits<14>>,
    number: DFF<Bits<32>>,
    left_now: Signal<Local, Bits<32>>,
    right_now: Signal<Local, Bits<32>>,
    left_low: Signal<Local, Bits<14>>,
    cursor_low: Signal<Local, Bits<14>>,
    edge_low: Signal<Local, Bits<14>>,
}

impl Logic for RangeCompare {
    #[kernel]
    fn update(&mut self) {
        registers!(clock; range_left, range_right, is_behind, is_beyond, has_gap, is_inside);
        registers!(clock; has_overlap, piece_octets, rest_octets, place, number);
        if self.measure.val() {
            self.range_left.d.next = self.range.val().left - self.rcv_nxt.val();
            self.range_right.d.next = self.range.val().right - self.rcv_nxt.val();
        }
        self.left_now.next = self.range_left.q.val();
        self.right_now.next = self.range_right.q.val();
        self.is_behind.d.next = self.right_now.val() < self.cursor.val();
        self.is_beyond.d.next = self.left_now.val() > self.edge_distance.val();
        self.has_gap.d.next = self.left_now.val() > self.cursor.val();
        self.is_inside.d.next = self.right_now.val() < self.edge_distance.val();
        self.has_overlap.d.next = (self.left_now.val() < self.edge_distance.val())
            & (self.right_now.val() != self.cursor.val());
        self.left_low.next = self.left_now.val().get_bits::<14>(0);
        self.cursor_low.next = self.cursor.val().get_bits::<14>(0);
        self.edge_low.next = self.edge_distance.val().get_bits::<14>(0);
        self.piece_octets.d.next = self.left_low.val() - self.cursor_low.val();
        self.rest_octets.d.next = self.edge_low.val() - self.cursor_low.val();
        self.place.d.next = self.origin.val() + self.cursor_low.val();
        self.number.d.next = self.rcv_nxt.val() + self.cursor.val();
        self.cursor_number.next = self.number.q.val();
        self.behind.next = self.is_behind.q.val();
        self.beyond.next = self.is_beyond.q.val();
        self.gap.next = self.has_gap.q.val();
        self.ends_inside.next = self.is_inside.q.val();
        self.overlaps.next = self.has_overlap.q.val();
        self.range_end.next = self.range_right.q.val();
        self.octets.next = self.piece_octets.q.val();
        self.tail_octets.next = self.rest_octets.q.val();
        self.offset.next = self.place.q.val();
    }
}

#[cfg(test)]
mod tests;
