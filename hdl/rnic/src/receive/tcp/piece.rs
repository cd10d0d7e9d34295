//! Where a received range lies against the rest of a segment.
//!
//! ```text
//!     rcv_nxt   cursor         left_now      edge
//!   -----|--------|===============|============|------------> sequence space
//!                 |  piece: new   |
//!                          range: [a ........... b)
//! ```
//!
//! | latency    | 2 cycles, range to flags (`measure` in the first); 1 cycle, `cursor` to     |
//! |            | flags, `tail_octets`, `offset`, `cursor_number`                               |
//! | throughput | one range per cycle                                                         |
//! | units      | octets; sequence numbers modulo 2^32; all else are distances from rcv_nxt   |
//!
//! What of the segment is not yet dealt with is `[cursor, edge)`; the range is `[a, b)`. Distances
//! are below 2^31, as the window is at most 2^30.
use super::records::EarlyRange;
use rnic_macros::kernel;
use rust_hdl::prelude::*;

/// Subtracts, then compares.
#[derive(LogicBlock, Default)]
pub struct PieceMeasure {
    pub clock: Signal<In, Clock>,
    /// Takes the range.
    pub measure: Signal<In, Bit>,
    /// A received range beyond rcv_nxt.
    pub range: Signal<In, EarlyRange>,
    /// Next octet in order.
    pub rcv_nxt: Signal<In, Bits<32>>,
    /// First octet of the segment not yet dealt with.
    pub cursor: Signal<In, Bits<32>>,
    /// After the segment's last octet.
    pub edge_distance: Signal<In, Bits<32>>,
    /// Place of rcv_nxt in the stored frame.
    pub origin: Signal<In, Bits<14>>,
    /// b < cursor.
    pub behind: Signal<Out, Bit>,
    /// a > edge.
    pub beyond: Signal<Out, Bit>,
    /// a > cursor.
    pub gap: Signal<Out, Bit>,
    /// b < edge.
    pub ends_inside: Signal<Out, Bit>,
    /// a < edge and b is not cursor: of a range that is neither behind nor beyond, some octets are
    /// in the segment.
    pub overlaps: Signal<Out, Bit>,
    /// b.
    pub range_end: Signal<Out, Bits<32>>,
    /// Octets from cursor to a; counts with `gap`, unless `beyond`.
    pub octets: Signal<Out, Bits<14>>,
    /// Octets from cursor to edge.
    pub tail_octets: Signal<Out, Bits<14>>,
    /// Place of cursor in the stored frame.
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

impl Logic for PieceMeasure {
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
