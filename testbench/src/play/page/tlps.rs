//! TLPs by what they are for, as bars.

use crate::play::page::chart::{grouped, number, Scale, WIDTH};
use crate::play::timeline::{Timeline, TlpCount, TlpUse};
use maud::{html, Markup};

/// Units of a row, and of its bar.
const ROW: (f64, f64) = (26.0, 16.0);
/// Where bars begin, and where the longest one ends.
const BARS: (f64, f64) = (300.0, 860.0);

const fn name(role: TlpUse) -> &'static str {
    match role {
        TlpUse::Payload => "memory writes: payload",
        TlpUse::CompletionEntry => "memory writes: completion entries",
        TlpUse::HostFrame => "memory writes: host receive ring",
        TlpUse::Event => "memory writes: event ring",
        TlpUse::RegisterValue => "completions: register values",
        TlpUse::RegisterWrite => "to the device: register writes",
        TlpUse::RegisterRead => "to the device: register reads",
        TlpUse::Other => "other",
    }
}

/// The picture over all devices of a run.
pub fn picture(timelines: &[Timeline]) -> Markup {
    let sums = TlpUse::ALL.map(|role| {
        let counts = timelines.iter().flat_map(|timeline| &timeline.tlps);
        let of_role = counts.filter(|count| count.role == role);
        of_role.fold((0, 0), |(count, octets), one: &TlpCount| {
            (count + one.count, octets + one.octets)
        })
    });
    let rows = TlpUse::ALL
        .into_iter()
        .zip(sums)
        .filter(|(_, (count, _))| *count > 0);
    let rows: Vec<(TlpUse, (u64, u64))> = rows.collect();
    let most = rows.iter().map(|(_, (count, _))| *count).max().unwrap_or(0);
    let x = Scale::new((0.0, most as f64), BARS);
    let view = format!(
        "0 0 {} {}",
        number(WIDTH),
        number(ROW.0 * rows.len() as f64)
    );
    html! {
        figure {
            h4 { "TLPs by kind" }
            svg viewBox=(view) role="img" aria-label="Transaction layer packets by kind" {
                @for (row, (role, (count, octets))) in rows.iter().enumerate() {
                    @let top = ROW.0 * row as f64;
                    @let end = x.at(*count as f64).max(BARS.0 + 1.0);
                    @let bar = format!("M{} {}V{}H{}V{}z", number(BARS.0), number(top + 4.0),
                        number(top + 4.0 + ROW.1), number(end), number(top + 4.0));
                    text.end x=(number(BARS.0 - 10.0)) y=(number(top + 16.0)) { (name(*role)) }
                    path.h-order d=(bar) {}
                    text x=(number(end + 8.0)) y=(number(top + 16.0)) {
                        (grouped(*count))
                        @if *octets > 0 { ", " (grouped(*octets)) " octets" }
                    }
                }
            }
            figcaption.note {
                "All packets since the device was brought up, also those that set up connections, \
                 regions and buffers and read counters. Octets in whole doublewords."
            }
        }
    }
}
