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
//! Each kind of mark has its own shape and colour. Long streams are thinned, kind by kind, and the
//! text below the diagram says how many marks are left out.

use crate::play::page::chart::{every, grouped, number, share};
use crate::play::page::marks::{
    gap_mark, out_of_order_mark, segment_mark, shape, Kind, Scales, KINDS, PLOT,
};
use crate::play::timeline::{Gap, Placement, Segment, Stream};
use maud::{html, Markup};

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

/// The diagram with its legend, and what is left out of it: it has `marks_max` marks at most.
/// `time` names the x axis.
pub fn diagram(stream: &Stream, marks_max: usize, time: &str) -> Markup {
    let scales = Scales::of(stream);
    let of_kind = KINDS.iter().map(|kind| {
        let all = stream.segments.iter().filter(|s| (kind.holds)(s));
        (kind, Drawn::new(all.collect()))
    });
    let mut segments: Vec<(&Kind, Drawn<Segment>)> = of_kind.collect();
    let out_of_order = stream.placements.iter().filter(|p| p.is_out_of_order);
    let (out_of_order, lost): (Vec<&Placement>, Vec<&Placement>) =
        out_of_order.partition(|p| p.writes.is_some());
    let (mut out_of_order, mut gaps) = (
        Drawn::new(out_of_order),
        Drawn::new(stream.gaps.iter().collect()),
    );
    let mut counts: Vec<usize> = segments.iter().map(|(_, marks)| marks.all.len()).collect();
    counts.extend([out_of_order.all.len(), gaps.all.len()]);
    let most = share(&counts, marks_max);
    segments.iter_mut().for_each(|(_, marks)| marks.thin(most));
    out_of_order.thin(most);
    gaps.thin(most);
    let octets = format!("octets from sequence number {}", stream.sequence_start);
    let picture = html! {
        (PLOT.axes((&scales.x, time), (&scales.y, &octets)))
        g.gap { @for gap in gaps.drawn() { (gap_mark(stream, gap, &scales)) } }
        g.out-of-order {
            @for placement in out_of_order.drawn() { (out_of_order_mark(placement, &scales)) }
        }
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
    let thinned = thinned.chain(out_of_order.left_out("FPDU placed out of order"));
    let thinned: Vec<String> = thinned.chain(gaps.left_out("gap")).collect();
    let notes = notes_of(stream, &scales, lost.len());
    html! {
        figure {
            (legend(&segments, &gaps, &out_of_order, stream))
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
    out_of_order: &Drawn<Placement>,
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
            @if !out_of_order.all.is_empty() {
                (entry("out-of-order", "v-11", 14.0, "FPDU placed out of order",
                    out_of_order.all.len()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::timeline::SegmentKind;

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
