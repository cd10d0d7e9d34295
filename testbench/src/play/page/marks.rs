//! Marks of a time-sequence diagram: each kind of segment with its own shape and colour, gaps as
//! boxes, FPDUs placed out of order as wide marks.

use crate::play::page::chart::{axis_end, number, Plot, Scale};
use crate::play::timeline::{Gap, Placement, Segment, SegmentKind, Stream};
use maud::{html, Markup};

/// Where the diagram lies in its picture.
pub const PLOT: Plot = Plot::new(400.0, 16.0);
/// Shortest mark in units, so that a small segment in a long stream is seen.
const MARK_UNITS_MIN: f64 = 3.0;

/// A kind of mark.
pub struct Kind {
    /// Class of the page's style sheet.
    pub class: &'static str,
    /// As the legend and the marks' titles call it.
    pub name: &'static str,
    /// Its path, relative to the lower end of the mark; `{h}` is its height.
    pub shape: &'static str,
    /// Is a segment of this kind?
    pub holds: fn(&Segment) -> bool,
}

/// Every segment is of exactly one of these.
pub const KINDS: [Kind; 7] = [
    Kind {
        class: "s-order",
        name: "in order",
        shape: "v-{h}",
        holds: |s| s.kind == SegmentKind::InOrder && !s.is_late,
    },
    Kind {
        class: "s-late",
        name: "in order, late: sent again or overtaken",
        shape: "v-{h}m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0-7 0",
        holds: |s| s.kind == SegmentKind::InOrder && s.is_late,
    },
    Kind {
        class: "s-beyond",
        name: "out of order: beyond a gap",
        shape: "v-{h}m-4 3l4-5l4 5",
        holds: |s| s.kind == SegmentKind::OutOfOrder,
    },
    Kind {
        class: "s-known",
        name: "duplicate: nothing new",
        shape: "m-4 2l8-8m0 8l-8-8",
        holds: |s| s.kind == SegmentKind::Duplicate,
    },
    Kind {
        class: "s-refused",
        name: "refused: outside the window",
        shape: "m-4-7h8l-4 7z",
        holds: |s| s.kind == SegmentKind::OutsideWindow,
    },
    Kind {
        class: "s-refused",
        name: "refused: no room",
        shape: "m-3.5-7h7v7h-7z",
        holds: |s| s.kind == SegmentKind::NoRoom,
    },
    Kind {
        class: "s-refused",
        name: "dropped before TCP acceptance",
        shape: "m-4-3h8m-4-4v8",
        holds: |s| s.kind == SegmentKind::Dropped,
    },
];

/// Added to the shape of a segment of which octets had arrived before.
const FOOT: &str = "m-4 0h8m-4 0";

/// The two scales, and the position up to which there is an axis.
pub struct Scales {
    /// Cycles.
    pub x: Scale,
    /// Positions.
    pub y: Scale,
    end: f64,
}

impl Scales {
    /// Scales that show all of `stream` that the device accepted.
    pub fn of(stream: &Stream) -> Self {
        let writes = stream.placements.iter().filter_map(|p| p.writes);
        let closed = stream.gaps.iter().filter_map(|gap| gap.closed);
        let segments = stream.segments.iter().map(|segment| segment.cycle);
        let first = segments.clone().min().unwrap_or(0) as f64;
        let last = segments.chain(writes.map(|(_, last)| last)).chain(closed);
        let last = last.max().unwrap_or(0) as f64;
        let margin = (last - first) * 0.015 + 1.0;
        let accepted =
            |s: &&Segment| matches!(s.kind, SegmentKind::InOrder | SegmentKind::OutOfOrder);
        let reach = |s: &Segment| s.position + i64::from(s.octets);
        let end = stream.segments.iter().filter(accepted).map(reach).max();
        let end = end.or_else(|| stream.segments.iter().map(reach).max());
        let end = axis_end(end.unwrap_or(0).max(0) as f64);
        Self {
            x: PLOT.x(first - margin, last + margin),
            y: PLOT.y(0.0, end),
            end,
        }
    }

    /// Lower end and height of what lies from `position` on; never outside the axis.
    fn bar(&self, position: i64, octets: i64) -> (f64, f64) {
        let at = |position: i64| self.y.at((position as f64).clamp(0.0, self.end));
        let (low, high) = (at(position), at(position + octets));
        (low, (low - high).max(MARK_UNITS_MIN))
    }

    /// Does a segment lie beyond the axis?
    pub fn is_outside(&self, segment: &Segment) -> bool {
        segment.position as f64 > self.end
    }
}

/// A shape of `height` units, with a foot if octets had arrived before.
pub fn shape(shape: &str, height: f64, is_repeat: bool) -> String {
    let foot = if is_repeat { FOOT } else { "" };
    format!("{foot}{}", shape.replace("{h}", &number(height)))
}

/// A segment.
pub fn segment_mark(kind: &Kind, segment: &Segment, scales: &Scales) -> Markup {
    let (low, height) = scales.bar(segment.position, i64::from(segment.octets));
    let x = scales.x.at(segment.cycle as f64);
    let path = shape(kind.shape, height, segment.is_repeat);
    html! {
        path d=(format!("M{} {}{path}", number(x), number(low))) {
            title {
                "frame " (segment.frame) ": sequence " (segment.sequence) ", "
                (segment.octets) " octets, cycle " (segment.cycle) ", " (kind.name)
            }
        }
    }
}

/// An FPDU placed out of order, at its last write.
pub fn out_of_order_mark(placement: &Placement, scales: &Scales) -> Markup {
    let (first, last) = placement.writes.unwrap_or_default();
    let (low, height) = scales.bar(placement.position, i64::from(placement.octets));
    let x = scales.x.at(last as f64);
    html! {
        path d=(format!("M{} {}v-{}", number(x), number(low), number(height))) {
            title {
                "FPDU at sequence " (placement.sequence) ": " (placement.placed_octets)
                " octets placed out of order, cycles " (first) " to " (last)
            }
        }
    }
}

/// A gap, as long as it was open.
pub fn gap_mark(stream: &Stream, gap: &Gap, scales: &Scales) -> Markup {
    let octets = gap.positions.end - gap.positions.start;
    let (low, height) = scales.bar(gap.positions.start, octets);
    let left = scales.x.at(gap.opened as f64);
    let right = gap
        .closed
        .map_or(PLOT.right, |cycle| scales.x.at(cycle as f64));
    let width = (right - left).max(1.0);
    let (first, end) = (gap.positions.start, gap.positions.end);
    html! {
        path d=(format!("M{} {}v-{}h{}v{}z", number(left), number(low), number(height),
            number(width), number(height))) {
            title {
                "gap: sequence " (stream.sequence(first)) " to " (stream.sequence(end - 1)) ", "
                (octets) " octets missing from cycle " (gap.opened)
                @match gap.closed {
                    Some(cycle) => { " to " (cycle) },
                    None => " on, never filled",
                }
            }
        }
    }
}
