//! The time-sequence diagram of a stream: one mark a segment, where it lies in the stream against
//! the cycle in which its last octet entered.
//!
//! ```text
//!  octets |            ^^           ^ out of order     | in order
//!         |          ^^  +-----+    o late: sent again or overtaken, closes a gap
//!         |              | gap o|||
//!         |         |||||+-----+    wide mark: an FPDU placed out of order
//!         +-------------------------> cycles
//! ```
//!
//! Each kind of mark has a shape of its own beside its colour. Long streams are thinned, kind by
//! kind, and the text below the diagram says how many marks are left out.

use crate::play::page::chart::{axis_end, every, grouped, number, share, Plot, Scale};
use crate::play::timeline::{Gap, Placement, Segment, SegmentKind, Stream};
use maud::{html, Markup};

const PLOT: Plot = Plot::new(400.0, 16.0);
/// Shortest mark in units, so that a small segment in a long stream is seen.
const MARK_UNITS_MIN: f64 = 3.0;

/// A kind of mark.
struct Kind {
    class: &'static str,
    name: &'static str,
    /// Its path, relative to the lower end of the mark; `{h}` is its height.
    shape: &'static str,
    holds: fn(&Segment) -> bool,
}

/// Every segment is of exactly one of these.
const KINDS: [Kind; 7] = [
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
        name: "dropped: no verdict of TCP",
        shape: "m-4-3h8m-4-4v8",
        holds: |s| s.kind == SegmentKind::Dropped,
    },
];

/// Added to the shape of a segment of which octets had arrived before.
const FOOT: &str = "m-4 0h8m-4 0";

/// Things of one kind, and which of them are drawn.
struct Drawn<'a, T> {
    all: Vec<&'a T>,
    every: usize,
}

impl<'a, T> Drawn<'a, T> {
    fn new(all: Vec<&'a T>) -> Self {
        Self { all, every: 1 }
    }

    /// Draw `most` at most.
    fn thin(&mut self, most: usize) {
        self.every = every(self.all.len(), most);
    }

    fn drawn(&self) -> impl Iterator<Item = &'a T> + '_ {
        self.all.iter().copied().step_by(self.every)
    }

    /// What the page says if not all are drawn.
    fn left_out(&self, name: &str) -> Option<String> {
        let (all, drawn) = (self.all.len(), self.drawn().count());
        (drawn < all).then(|| {
            let (drawn, all) = (grouped(drawn as u64), grouped(all as u64));
            format!("{name} {drawn} of {all}")
        })
    }
}

/// The two scales, and the position up to which there is an axis.
struct Scales {
    x: Scale,
    y: Scale,
    end: f64,
}

impl Scales {
    fn of(stream: &Stream) -> Self {
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

    fn is_outside(&self, segment: &Segment) -> bool {
        segment.position as f64 > self.end
    }
}

/// The diagram with its legend, and what is left out of it: it has `marks_max` marks at most. `time`
/// names the x axis.
pub fn diagram(stream: &Stream, marks_max: usize, time: &str) -> Markup {
    let scales = Scales::of(stream);
    let of_kind = KINDS.iter().map(|kind| {
        let all = stream.segments.iter().filter(|s| (kind.holds)(s));
        (kind, Drawn::new(all.collect()))
    });
    let mut segments: Vec<(&Kind, Drawn<Segment>)> = of_kind.collect();
    let early = stream.placements.iter().filter(|p| p.is_early);
    let (early, lost): (Vec<&Placement>, Vec<&Placement>) = early.partition(|p| p.writes.is_some());
    let (mut early, mut gaps) = (Drawn::new(early), Drawn::new(stream.gaps.iter().collect()));
    let mut counts: Vec<usize> = segments.iter().map(|(_, marks)| marks.all.len()).collect();
    counts.extend([early.all.len(), gaps.all.len()]);
    let most = share(&counts, marks_max);
    segments.iter_mut().for_each(|(_, marks)| marks.thin(most));
    early.thin(most);
    gaps.thin(most);
    let octets = format!("octets from sequence number {}", stream.sequence_start);
    let picture = html! {
        (PLOT.axes((&scales.x, time), (&scales.y, &octets)))
        g.gap { @for gap in gaps.drawn() { (gap_mark(stream, gap, &scales)) } }
        g.early { @for placement in early.drawn() { (early_mark(placement, &scales)) } }
        @for (kind, marks) in &segments {
            g class=(kind.class) {
                @for segment in marks.drawn() { (segment_mark(kind, segment, &scales)) }
            }
        }
    };
    let name = format!("Time-sequence diagram of flow {}", stream.flow);
    let thinned = segments
        .iter()
        .filter_map(|(kind, marks)| marks.left_out(kind.name));
    let thinned = thinned.chain(early.left_out("FPDU placed out of order"));
    let thinned: Vec<String> = thinned.chain(gaps.left_out("gap")).collect();
    let notes = notes_of(stream, &scales, lost.len());
    html! {
        figure {
            (legend(&segments, &gaps, &early, stream))
            (PLOT.picture(&name, &picture))
            @if !thinned.is_empty() || !notes.is_empty() {
                figcaption.note {
                    @if !thinned.is_empty() {
                        "Thinned evenly to keep the page small; drawn are: " (thinned.join("; "))
                        ". "
                    }
                    @if !notes.is_empty() { "Also: " (notes.join("; ")) "." }
                }
            }
        }
    }
}

/// What else the diagram does not show.
fn notes_of(stream: &Stream, scales: &Scales, lost: usize) -> Vec<String> {
    let outside = stream.segments.iter().filter(|s| scales.is_outside(s));
    let counts = [
        (
            outside.count(),
            "segments beyond the axis, drawn at its edge",
        ),
        (
            lost,
            "FPDUs placed out of order whose writes were not found, left out",
        ),
        (
            stream.startup_segments as usize,
            "segments from before full operation, left out",
        ),
    ];
    let there = counts.into_iter().filter(|(count, _)| *count > 0);
    there
        .map(|(count, what)| format!("{what}: {count}"))
        .collect()
}

fn legend(
    segments: &[(&Kind, Drawn<Segment>)],
    gaps: &Drawn<Gap>,
    early: &Drawn<Placement>,
    stream: &Stream,
) -> Markup {
    let repeats = stream.segments.iter().filter(|s| s.is_repeat).count();
    html! {
        ul.legend {
            @for (kind, marks) in segments.iter().filter(|(_, marks)| !marks.all.is_empty()) {
                (entry(kind.class, &shape(kind.shape, 11.0, false), 14.0, kind.name,
                    marks.all.len()))
            }
            @if repeats > 0 {
                (entry("s-order", "v-11m-5 11h10", 14.0, "foot: octets had arrived before",
                    repeats))
            }
            @if !gaps.all.is_empty() {
                (entry("gap", "m-7 0v-11h14v11z", 14.0, "gap", gaps.all.len()))
            }
            @if !early.all.is_empty() {
                (entry("early", "v-11", 14.0, "FPDU placed out of order",
                    early.all.len()))
            }
        }
    }
}

fn entry(class: &str, path: &str, y: f64, name: &str, count: usize) -> Markup {
    html! {
        li {
            svg.key viewBox="0 0 18 18" { g class=(class) {
                path d=(format!("M9 {}{path}", number(y))) {}
            } }
            (name) " " b { (grouped(count as u64)) }
        }
    }
}

fn shape(shape: &str, height: f64, is_repeat: bool) -> String {
    let foot = if is_repeat { FOOT } else { "" };
    format!("{foot}{}", shape.replace("{h}", &number(height)))
}

fn segment_mark(kind: &Kind, segment: &Segment, scales: &Scales) -> Markup {
    let (low, height) = scales.bar(segment.position, i64::from(segment.octets));
    let x = scales.x.at(segment.cycle as f64);
    let path = shape(kind.shape, height, segment.is_repeat);
    html! {
        path d=(format!("M{} {}{path}", number(x), number(low))) {
            title {
                "frame " (segment.frame + 1) ": sequence " (segment.sequence) ", "
                (segment.octets) " octets, cycle " (segment.cycle) ", " (kind.name)
            }
        }
    }
}

fn early_mark(placement: &Placement, scales: &Scales) -> Markup {
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

fn gap_mark(stream: &Stream, gap: &Gap, scales: &Scales) -> Markup {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(number: usize, kind: SegmentKind) -> Segment {
        Segment {
            frame: number,
            cycle: 100 + 10 * number as u64,
            kind,
            is_repeat: false,
            is_late: false,
            sequence: 1_000 * number as u32,
            position: 1_000 * number as i64,
            octets: 1_000,
        }
    }

    fn stream(segments: Vec<Segment>) -> Stream {
        Stream {
            flow: 3,
            sequence_start: 0,
            segments,
            gaps: Vec::new(),
            placements: Vec::new(),
            startup_segments: 0,
        }
    }

    fn titles(text: &str, of: &str) -> usize {
        text.matches(&format!(", {of}</title>")).count()
    }

    #[test]
    fn every_segment_is_of_one_kind_of_mark() {
        for kind in SegmentKind::ALL {
            for is_late in [false, true] {
                let segment = Segment {
                    is_late,
                    ..segment(1, kind)
                };
                let marks = KINDS.iter().filter(|mark| (mark.holds)(&segment));
                assert_eq!(marks.count(), 1, "{segment:?}");
            }
        }
    }

    #[test]
    fn a_long_stream_is_thinned_the_rare_stays_and_the_page_says_so() {
        let mut segments: Vec<Segment> = (0..5_000)
            .map(|number| segment(number, SegmentKind::InOrder))
            .collect();
        segments.push(segment(4_000, SegmentKind::Duplicate));
        let stream = stream(segments);
        let text = diagram(&stream, 100, "cycle").into_string();
        let drawn = titles(&text, "in order");
        assert!((50..=99).contains(&drawn), "{drawn}");
        assert_eq!(titles(&text, "duplicate: nothing new"), 1);
        let note = format!("drawn are: in order {drawn} of 5,000.");
        assert!(text.contains(&note), "{note}");
        let whole = diagram(&stream, 6_000, "cycle").into_string();
        assert_eq!(titles(&whole, "in order"), 5_000);
        assert!(!whole.contains("Thinned"));
        assert_eq!(text, diagram(&stream, 100, "cycle").into_string());
    }

    #[test]
    fn what_lies_far_outside_stays_inside_of_the_picture() {
        let far = Segment {
            position: 1 << 30,
            ..segment(2, SegmentKind::OutsideWindow)
        };
        let stream = stream(vec![segment(0, SegmentKind::InOrder), far]);
        let text = diagram(&stream, 100, "cycle").into_string();
        assert!(
            text.contains("beyond the axis, drawn at its edge: 1"),
            "{text}"
        );
        assert_eq!(titles(&text, "refused: outside the window"), 1);
        assert!(!text.contains("V-") && !text.contains(" -"), "{text}");
    }
}
