//! What every picture needs: a plot area, scales, ticks, axes, numbers, and thinning.
//!
//! Pictures are inline SVG: no script, no separate file, colours by class so that the page's style
//! sheet has a set for light and one for dark. The templates are `maud`'s, as of the rest of the
//! page; a plotting library would bring its own text and colours, and marks without titles.
//!
//! ```text
//!   +-- left --+---------- plot ----------+-- right --+
//!   | y labels |                          |           |  top
//!   |          |  x to the right, y up    |           |
//!   +----------+--- x labels, x title ----+-----------+  bottom
//! ```

use maud::{html, Markup};
pub use rnic_capture::finding::grouped;

/// Width of every picture in its own units; the page scales it to what there is.
pub const WIDTH: f64 = 1120.0;
/// Units between two labels of an axis, at least.
const X_LABEL_UNITS: f64 = 110.0;
const Y_LABEL_UNITS: f64 = 32.0;

/// Place of a plot in its picture.
#[derive(Copy, Clone, Debug)]
pub struct Plot {
    /// Units of the whole picture from top to bottom.
    pub height: f64,
    /// Left edge of the plot.
    pub left: f64,
    /// Right edge.
    pub right: f64,
    /// Top edge.
    pub top: f64,
    /// Bottom edge.
    pub bottom: f64,
}

impl Plot {
    /// A plot of a picture of `height` units, with `right` units free on its right.
    pub const fn new(height: f64, right: f64) -> Self {
        Self {
            height,
            left: 104.0,
            right: WIDTH - right,
            top: 10.0,
            bottom: height - 44.0,
        }
    }

    /// Scale of the x axis for values from `low` to `high`.
    pub fn x(&self, low: f64, high: f64) -> Scale {
        Scale::new((low, high), (self.left, self.right))
    }

    /// Scale of the y axis for values from `low` to `high`.
    pub fn y(&self, low: f64, high: f64) -> Scale {
        Scale::new((low, high), (self.bottom, self.top))
    }

    /// The picture around `content`, with `name` for those who do not see it.
    pub fn picture(&self, name: &str, content: &Markup) -> Markup {
        let view = format!("0 0 {} {}", number(WIDTH), number(self.height));
        html! { svg viewBox=(view) role="img" aria-label=(name) { (content) } }
    }

    /// Both axes: grid, labels, titles.
    pub fn axes(&self, x: (&Scale, &str), y: (&Scale, &str)) -> Markup {
        let middle = (self.top + self.bottom) / 2.0;
        let turned = format!("rotate(-90 14 {})", number(middle));
        let (x_most, y_most) = (
            (self.right - self.left) / X_LABEL_UNITS,
            (self.bottom - self.top) / Y_LABEL_UNITS,
        );
        html! {
            g.axes {
                @for value in y.0.ticks(y_most as usize) {
                    @let at = y.0.at(value);
                    path.grid d=(format!("M{} {}H{}", number(self.left), number(at),
                        number(self.right))) {}
                    text.end x=(number(self.left - 8.0)) y=(number(at + 4.0)) { (label(value)) }
                }
                @for value in x.0.ticks(x_most as usize) {
                    @let at = x.0.at(value);
                    path.grid d=(format!("M{} {}V{}", number(at), number(self.top),
                        number(self.bottom + 5.0))) {}
                    text.middle x=(number(at)) y=(number(self.bottom + 19.0)) { (label(value)) }
                }
                path.axis d=(format!("M{} {}V{}H{}", number(self.left), number(self.top),
                    number(self.bottom), number(self.right))) {}
                text.title.middle x=(number((self.left + self.right) / 2.0))
                    y=(number(self.height - 6.0)) { (x.1) }
                text.title.middle x="14" y=(number(middle)) transform=(turned) { (y.1) }
            }
        }
    }
}

/// A linear map from values to units of the picture.
#[derive(Copy, Clone, Debug)]
pub struct Scale {
    values: (f64, f64),
    units: (f64, f64),
}

impl Scale {
    /// From `values` to `units`; values that are all the same get room on their right.
    pub fn new(values: (f64, f64), units: (f64, f64)) -> Self {
        let (low, high) = values;
        let high = if high > low { high } else { low + 1.0 };
        Self {
            values: (low, high),
            units,
        }
    }

    /// Where `value` is drawn.
    pub fn at(&self, value: f64) -> f64 {
        let (low, high) = self.values;
        let (first, last) = self.units;
        first + (value - low) / (high - low) * (last - first)
    }

    /// At most `most + 1` round whole numbers among the values: multiples of 1, 2 or 5 times a
    /// power of ten.
    pub fn ticks(&self, most: usize) -> Vec<f64> {
        let (low, high) = self.values;
        let step = step((high - low) / most.max(1) as f64);
        let first = (low / step).ceil() as i64;
        let last = (high / step).floor() as i64;
        (first..=last).map(|tick| tick as f64 * step).collect()
    }
}

/// The smallest round number that is `least` or more, and whole.
fn step(least: f64) -> f64 {
    let power = 10f64.powf(least.max(1.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power);
    // Whatever is lost in powers and logarithms, the last one is large enough.
    steps
        .into_iter()
        .find(|step| *step >= least)
        .unwrap_or(steps[3])
}

/// The end of an axis that begins at 0 and shows `most`: round, and with some room above.
pub fn axis_end(most: f64) -> f64 {
    let step = step(most * 1.08 / 8.0);
    (most * 1.08 / step).ceil().max(1.0) * step
}

/// Title of an axis of time at a clock of so many MHz.
pub fn time_title(clock_mhz: f64) -> String {
    format!("cycle (1 \u{b5}s = {clock_mhz} cycles)")
}

/// A coordinate with one decimal, none if it is whole.
pub fn number(value: f64) -> String {
    let tenths = (value * 10.0).round() as i64;
    let sign = if tenths < 0 { "-" } else { "" };
    let (whole, tenth) = (tenths.abs() / 10, tenths.abs() % 10);
    match tenth {
        0 => format!("{sign}{whole}"),
        _ => format!("{sign}{whole}.{tenth}"),
    }
}

fn label(value: f64) -> String {
    let text = grouped(value.abs().round() as u64);
    if value < 0.0 {
        format!("\u{2212}{text}")
    } else {
        text
    }
}

/// The most that each of several series may draw so that all of them draw `most` at most: series
/// that are shorter are drawn whole, and leave their share to the longer ones.
pub fn share(counts: &[usize], most: usize) -> usize {
    let mut counts = counts.to_vec();
    counts.sort_unstable();
    let (mut left, mut series) = (most, counts.len());
    for count in counts {
        if count * series > left {
            return left / series;
        }
        left -= count;
        series -= 1;
    }
    most
}

/// Every which one of `count` things is drawn so that they are `most` at most: 1 for all.
pub fn every(count: usize, most: usize) -> usize {
    count.div_ceil(most.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_maps_its_ends_to_the_plots_edges() {
        let plot = Plot::new(300.0, 20.0);
        let (x, y) = (plot.x(100.0, 300.0), plot.y(0.0, 10.0));
        assert_eq!((x.at(100.0), x.at(300.0)), (plot.left, plot.right));
        assert_eq!(x.at(200.0), (plot.left + plot.right) / 2.0);
        assert_eq!((y.at(0.0), y.at(10.0)), (plot.bottom, plot.top));
        let flat = plot.x(7.0, 7.0);
        assert!(flat.at(7.0).is_finite(), "one value only is drawn, too");
    }

    #[test]
    fn ticks_are_round_inside_and_few() {
        let ticks = |low, high, most| Scale::new((low, high), (0.0, 1.0)).ticks(most);
        assert_eq!(
            ticks(0.0, 512.0, 6),
            [0.0, 100.0, 200.0, 300.0, 400.0, 500.0]
        );
        assert_eq!(ticks(1234.0, 1890.0, 4), [1400.0, 1600.0, 1800.0]);
        assert_eq!(ticks(0.0, 2.0, 8), [0.0, 1.0, 2.0], "whole numbers only");
        assert_eq!(ticks(-500.0, 600.0, 3), [-500.0, 0.0, 500.0]);
        for most in 1..20 {
            for high in [3.0, 17.0, 99.0, 1e3, 123_456.0, 9.9e9] {
                let ticks = ticks(0.0, high, most);
                assert!(ticks.len() <= most + 1, "{most} {high} {ticks:?}");
                assert!(ticks.iter().all(|&tick| tick <= high), "{ticks:?}");
            }
        }
    }

    #[test]
    fn an_axis_ends_beyond_what_it_shows() {
        for most in [0.0, 1.0, 7.0, 13.0, 100.0, 512.0, 98_765.0] {
            let end = axis_end(most);
            assert!(end > most && end <= most * 1.4 + 2.0, "{most}: {end}");
        }
    }

    #[test]
    fn numbers_are_short_and_counts_readable() {
        assert_eq!(number(12.0), "12");
        assert_eq!(number(12.34), "12.3");
        assert_eq!(number(-0.26), "-0.3");
        assert_eq!(number(-0.04), "0");
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(label(-1_500.0), "\u{2212}1,500");
    }

    #[test]
    fn short_series_leave_their_share_to_long_ones() {
        assert_eq!(share(&[10, 20, 30], 60), 60, "all fit");
        assert_eq!(share(&[10, 20, 31], 60), 30);
        assert_eq!(share(&[1_000, 5, 1_000], 105), 50);
        assert_eq!(share(&[], 10), 10);
        for most in [7, 50, 99, 1_000] {
            let counts = [0, 3, 17, 40, 2_000];
            let limit = share(&counts, most);
            let sum: usize = counts.iter().map(|&count| count.min(limit)).sum();
            assert!(sum <= most, "{most}: {sum}");
        }
    }

    #[test]
    fn thinning_keeps_at_most_what_is_asked_for() {
        assert_eq!((every(0, 10), every(10, 10)), (1, 1));
        assert_eq!((every(11, 10), every(20, 10), every(21, 10)), (2, 2, 3));
        for count in 0..200 {
            let kept = (0..count).step_by(every(count, 17)).count();
            assert!(kept <= 17 && (count == 0) == (kept == 0), "{count}: {kept}");
        }
    }
}
