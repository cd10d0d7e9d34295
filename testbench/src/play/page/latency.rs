//! Histogram of latency: cycles from the last octet of an FPDU's frames to the last memory write of
//! its payload.

use crate::play::page::chart::{axis_end, grouped, number, Plot, Scale};
use crate::play::timeline::{Placement, Timeline};
use maud::{html, Markup};

const PLOT: Plot = Plot::new(280.0, 16.0);
/// Bars, at most; their width is a whole number of cycles.
const BARS_MAX: u64 = 64;
/// What is slower than this times the 99th percentile is one bar at the right.
const TAIL_FACTOR: f64 = 1.5;
/// Units between two texts so that they do not touch.
const TEXT_UNITS: f64 = 150.0;

/// FPDUs of one range of latencies.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
struct Bar {
    in_order: u64,
    out_of_order: u64,
}

impl Bar {
    fn sum(self) -> u64 {
        self.in_order + self.out_of_order
    }
}

/// Latencies, in order, each with whether its FPDU was placed out of order.
#[derive(Debug)]
struct Histogram {
    first: u64,
    /// Cycles of a bar.
    width: u64,
    bars: Vec<Bar>,
    /// What is slower than the last bar.
    tail: Bar,
}

impl Histogram {
    fn new(latencies: &[(u64, bool)]) -> Self {
        let at = |part: usize| latencies[(latencies.len() - 1) * part / 100].0;
        let (first, most) = (at(0), at(100));
        let limit = (at(99) as f64 * TAIL_FACTOR) as u64;
        // A long tail would leave no room for the rest.
        let last = if most > limit { limit } else { most };
        let width = (last - first + 1).div_ceil(BARS_MAX);
        let first = first - first % width;
        let count = (last - first) / width + 1;
        let mut histogram = Self {
            first,
            width,
            bars: vec![Bar::default(); count as usize],
            tail: Bar::default(),
        };
        for &(latency, is_out_of_order) in latencies {
            let index = ((latency - first) / width) as usize;
            let bar = histogram.bars.get_mut(index);
            let bar = bar.unwrap_or(&mut histogram.tail);
            match is_out_of_order {
                true => bar.out_of_order += 1,
                false => bar.in_order += 1,
            }
        }
        histogram
    }

    /// The end of the last bar.
    fn end(&self) -> u64 {
        self.first + self.width * self.bars.len() as u64
    }
}

/// The picture over all devices of a run.
pub fn picture(timelines: &[Timeline]) -> Markup {
    let streams = timelines.iter().flat_map(|timeline| &timeline.streams);
    let placements: Vec<&Placement> = streams.flat_map(|stream| &stream.placements).collect();
    let measured = placements
        .iter()
        .filter_map(|p| Some((p.latency()?, p.is_out_of_order)));
    let mut latencies: Vec<(u64, bool)> = measured.collect();
    latencies.sort_unstable();
    let missing = placements.len() - latencies.len();
    html! {
        figure {
            h4 { "Latency: last octet in to last memory write" }
            @if latencies.is_empty() {
                p { "Nothing was placed in memory." }
            } @else {
                (histogram(&latencies))
            }
            figcaption.note {
                "Each FPDU with payload counts once: from the last octet it waited for - its \
                 own last one if it was placed out of order, else the last one of the stream up to \
                 its end - to the last memory write of its payload. This includes the read of \
                 packet memory."
                @if missing > 0 {
                    " Not measured: " (grouped(missing as u64)) " FPDUs, whose octets or writes \
                     were not seen whole."
                }
            }
        }
    }
}

fn histogram(latencies: &[(u64, bool)]) -> Markup {
    let count = latencies.len();
    let histogram = Histogram::new(latencies);
    let (median, most) = (latencies[count / 2].0, latencies[count - 1].0);
    let out_of_order = latencies
        .iter()
        .filter(|(_, is_out_of_order)| *is_out_of_order)
        .count();
    let has_tail = histogram.tail.sum() > 0;
    // The tail's bar has an empty place between itself and the rest.
    let places = histogram.bars.len() + if has_tail { 2 } else { 0 };
    let end = histogram.first + histogram.width * places as u64;
    let x = PLOT.x(histogram.first as f64, end as f64);
    let bars = histogram.bars.iter().chain([&histogram.tail]);
    let highest = bars.map(|bar| bar.sum()).max().unwrap_or(0);
    let y = PLOT.y(0.0, axis_end(highest as f64));
    let labelled = Scale::new(
        (histogram.first as f64, histogram.end() as f64),
        (PLOT.left, x.at(histogram.end() as f64)),
    );
    let content = html! {
        (PLOT.axes((&labelled, "cycles"), (&y, "FPDUs")))
        @for (index, bar) in histogram.bars.iter().enumerate() {
            @let first = histogram.first + histogram.width * index as u64;
            @let last = first + histogram.width - 1;
            @let name = match first == last {
                true => format!("{first}"),
                false => format!("{first} to {last}"),
            };
            (bar_mark(*bar, (x.at(first as f64), x.at((last + 1) as f64)), &y, &name))
        }
        @if has_tail {
            @let at = (x.at((end - histogram.width) as f64), x.at(end as f64));
            @let name = format!("{} to {most}", histogram.end());
            (bar_mark(histogram.tail, at, &y, &name))
        }
        (lines(median, most.min(end - 1), most, &x))
        @if has_tail {
            text.end x=(number(x.at(end as f64 - 0.5) - 5.0)) y=(number(PLOT.top + 42.0)) {
                "beyond " (grouped(histogram.end() - 1)) ": " (grouped(histogram.tail.sum()))
            }
        }
    };
    html! {
        ul.legend {
            li { "FPDUs " b { (grouped(count as u64)) } }
            li { span.key.h-order {} "in order " b { (grouped((count - out_of_order) as u64)) } }
            @if out_of_order > 0 {
                li {
                    span.key.h-out-of-order {} "out of order " b { (grouped(out_of_order as u64)) }
                }
            }
            li { "least " b { (grouped(latencies[0].0)) } }
            li { "median " b { (grouped(median)) } }
            li { "max " b { (grouped(most)) } " cycles" }
        }
        (PLOT.picture("Histogram of latency in cycles", &content))
    }
}

fn bar_mark(bar: Bar, (left, right): (f64, f64), y: &Scale, name: &str) -> Markup {
    let (in_order, sum) = (y.at(bar.in_order as f64), y.at(bar.sum() as f64));
    let left = left + 0.5;
    let width = number((right - left - 0.5).max(0.5));
    let path = |bottom: f64, top: f64| {
        format!(
            "M{} {}V{}h{width}V{}z",
            number(left),
            number(bottom),
            number(top),
            number(bottom)
        )
    };
    html! {
        @if bar.sum() > 0 {
            g {
                title {
                    (name) " cycles: " (bar.in_order) " FPDUs in order, " (bar.out_of_order)
                    " out of order"
                }
                @if bar.in_order > 0 { path.h-order d=(path(PLOT.bottom, in_order)) {} }
                @if bar.out_of_order > 0 { path.h-out-of-order d=(path(in_order, sum)) {} }
            }
        }
    }
}

/// Median and maximum as lines with their names; `most_at` is where the maximum is drawn.
fn lines(median: u64, most_at: u64, most: u64, x: &Scale) -> Markup {
    let marks = [
        ("median", median, x.at(median as f64 + 0.5)),
        ("max", most, x.at(most_at as f64 + 0.5).min(PLOT.right)),
    ];
    let close = (marks[1].2 - marks[0].2).abs() < TEXT_UNITS;
    html! {
        g.median {
            @for (index, (name, value, at)) in marks.into_iter().enumerate() {
                @let line = if close { index as f64 * 15.0 } else { 0.0 };
                @let is_right = at > PLOT.right - TEXT_UNITS;
                @let text_at = if is_right { at - 5.0 } else { at + 5.0 };
                path d=(format!("M{} {}V{}", number(at), number(PLOT.top), number(PLOT.bottom))) {}
                text.end[is_right] x=(number(text_at)) y=(number(PLOT.top + 12.0 + line)) {
                    (name) " " (grouped(value))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_latency_is_in_one_bar() {
        let latencies: Vec<(u64, bool)> =
            (50..350).map(|cycles| (cycles, cycles % 3 == 0)).collect();
        let histogram = Histogram::new(&latencies);
        assert!(histogram.bars.len() as u64 <= BARS_MAX + 1);
        let sum: u64 = histogram.bars.iter().map(|bar| bar.sum()).sum();
        let out_of_order: u64 = histogram.bars.iter().map(|bar| bar.out_of_order).sum();
        assert_eq!(
            (sum, out_of_order, histogram.tail),
            (300, 100, Bar::default())
        );
        assert!(histogram.first <= 50 && histogram.end() > 349);
    }

    #[test]
    fn a_long_tail_is_counted_apart() {
        let mut latencies = vec![(60, false); 99];
        latencies.push((1_000_000, true));
        let histogram = Histogram::new(&latencies);
        assert_eq!(
            histogram.tail,
            Bar {
                in_order: 0,
                out_of_order: 1
            }
        );
        assert_eq!(
            histogram.bars[0],
            Bar {
                in_order: 99,
                out_of_order: 0
            }
        );
        assert!(histogram.end() <= 90 + histogram.width);
    }

    #[test]
    fn one_latency_makes_one_bar() {
        let histogram = Histogram::new(&[(70, false)]);
        assert_eq!((histogram.first, histogram.bars.len()), (70, 1));
    }
}
