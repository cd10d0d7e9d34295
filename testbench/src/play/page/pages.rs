//! Pages of packet memory held over time, exact to a column of the picture: where several changes
//! fall into one column, it shows the fewest and the most.

use crate::play::page::chart::{axis_end, grouped, number, Plot, Scale};
use crate::play::timeline::Timeline;
use maud::{html, Markup};
use rnic_abi::limits::PAGES;

const PLOT: Plot = Plot::new(260.0, 120.0);
/// Left edge and width of the gauge that shows the peak against all of packet memory.
const GAUGE: (f64, f64) = (1030.0, 22.0);

/// Pages within one column of the picture.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Column {
    /// Units from the plot's left edge.
    at: i64,
    fewest: u32,
    most: u32,
    last: u32,
}

/// Changes joined by the column they fall into.
fn columns(pages: &[(u64, u32)], x: &Scale) -> Vec<Column> {
    let mut columns: Vec<Column> = Vec::new();
    let mut held = pages.first().map_or(0, |&(_, pages)| pages);
    for &(cycle, pages) in pages {
        let at = x.at(cycle as f64).floor() as i64;
        match columns.last_mut().filter(|column| column.at == at) {
            Some(column) => {
                column.fewest = column.fewest.min(pages);
                column.most = column.most.max(pages);
                column.last = pages;
            }
            None => columns.push(Column {
                at,
                fewest: pages.min(held),
                most: pages.max(held),
                last: pages,
            }),
        }
        held = pages;
    }
    columns
}

/// The picture of a device; `host` ends its heading, `time` names the x axis.
pub fn picture(timeline: &Timeline, host: &str, time: &str) -> Markup {
    let pages = &timeline.pages;
    let peak = pages.iter().map(|&(_, pages)| pages).max().unwrap_or(0);
    let first = pages.first().map_or(0, |&(cycle, _)| cycle);
    let x = PLOT.x(first as f64, timeline.end_cycle as f64);
    let end = axis_end(f64::from(peak)).min(PAGES as f64);
    let y = PLOT.y(0.0, end);
    let columns = columns(pages, &x);
    let changes = pages.len().saturating_sub(1);
    let content = html! {
        (PLOT.axes((&x, time), (&y, "pages held")))
        (line(&columns, &y))
        (gauge(peak))
    };
    html! {
        figure {
            h4 { "Packet memory over time" (host) }
            (PLOT.picture("Pages of packet memory held over time", &content))
            figcaption.note {
                "At most " (peak) " of " (PAGES) " pages of 256 octets. "
                (grouped(changes as u64)) " changes in " (grouped(columns.len() as u64))
                " columns; a column shows the fewest and the most pages of its cycles. The table's \
                 peak is read after each frame and may be lower. Where nothing is held, the player \
                 sets connections up or waits for the device to go idle before it compares."
            }
        }
    }
}

fn line(columns: &[Column], y: &Scale) -> Markup {
    let height = |pages: u32| number(y.at(f64::from(pages)));
    let mut path = String::new();
    for (place, column) in columns.iter().enumerate() {
        let at = column.at;
        let Column {
            fewest, most, last, ..
        } = *column;
        path += &match place {
            0 => format!("M{at} {}", height(last)),
            _ if (fewest, most) == (last, last) => format!("H{at}V{}", height(last)),
            _ => format!("H{at}V{}V{}V{}", height(most), height(fewest), height(last)),
        };
    }
    path += &format!("H{}", number(PLOT.right));
    let start = columns.first().map_or(0, |column| column.at);
    let area = format!("{path}V{}H{start}z", number(PLOT.bottom));
    html! {
        g.pages {
            path.area d=(area) {}
            path.line d=(path) {}
        }
    }
}

/// All of packet memory, and how much of it was held at once.
fn gauge(peak: u32) -> Markup {
    let (left, width) = GAUGE;
    let whole = PLOT.y(0.0, PAGES as f64);
    let top = whole.at(f64::from(peak));
    let label_x = number(left + width + 6.0);
    html! {
        g.gauge {
            path.area d=(format!("M{} {}V{}h{}V{}z", number(left), number(PLOT.bottom),
                number(top), number(width), number(PLOT.bottom))) {}
            path.axis d=(format!("M{} {}V{}h{}V{}z", number(left), number(PLOT.bottom),
                number(PLOT.top), number(width), number(PLOT.bottom))) {
                title { "at most " (peak) " of " (PAGES) " pages" }
            }
            text x=(label_x) y=(number(PLOT.top + 10.0)) { "limit " (PAGES) }
            text x=(label_x) y=(number(top.clamp(PLOT.top + 28.0, PLOT.bottom))) {
                "peak " (peak)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_shows_the_fewest_and_the_most() {
        let x = Scale::new((0.0, 100.0), (0.0, 10.0));
        let pages = [(0, 5), (31, 9), (32, 2), (39, 4), (40, 7)];
        let column = |at, fewest, most, last| Column {
            at,
            fewest,
            most,
            last,
        };
        let expected = [column(0, 5, 5, 5), column(3, 2, 9, 4), column(4, 4, 7, 7)];
        assert_eq!(columns(&pages, &x), expected);
        assert_eq!(columns(&[], &x), []);
    }
}
