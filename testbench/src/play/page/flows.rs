//! Flows: a table of all, and for each one its diagrams, opcodes, regions and messages.

use crate::play::page::chart::{grouped, time_title};
use crate::play::page::sequence;
use crate::play::report::{FlowReport, Report};
use crate::play::summary::{clock_mhz, opcodes};
use crate::play::timeline::Stream;
use maud::{html, Markup};

/// Rows of a table of messages; the JSON has all.
const ROWS_MAX: usize = 1_000;
/// Marks of the commonest kind in all diagrams of a playback; one has some 150 octets.
const MARKS_MAX: usize = 40_000;
/// The same in one diagram, at most and at least.
const MARKS_OF_DIAGRAM: (usize, usize) = (100, 2_000);
/// Flows whose details are open when the page is.
const OPEN_FLOWS: usize = 8;
/// One row a flow.
pub fn table(flows: &[FlowReport]) -> Markup {
    html! {
        table.flows {
            tr {
                th { "Flow" } th.text { "From, to" } th.text { "MPA" } th { "Seg\u{00ad}ments" }
                th { "in order" } th { "out of order" } th { "dupli\u{00ad}cate" } th { "FPDUs" }
                th { "wrong CRC" } th { "Octets placed" } th { "out of order" }
                th { "Peak pages" } th { "Mes\u{00ad}sages" } th.text { "End" }
            }
            @for flow in flows {
                tr {
                    td { (flow.id) }
                    td.text { (flow.src) br; "\u{2192}\u{a0}" (flow.dst) }
                    td.text { (startup(flow)) }
                    td { (flow.segments) } td { (flow.in_order) } td { (flow.out_of_order) }
                    td { (flow.duplicate) } td { (flow.fpdus) } td { (flow.crc_errors) }
                    td { (flow.placed_octets) } td { (flow.placed_out_of_order_octets) }
                    td { (flow.peak_pages) } td { (flow.receives.len()) }
                    td.text { (end(flow)) }
                }
            }
        }
    }
}

fn startup(flow: &FlowReport) -> String {
    // Where the column is narrow, it breaks after a comma.
    let mut text = format!("revision\u{a0}{}", flow.mpa.revision);
    if flow.mpa.markers {
        text += ", markers";
    }
    if flow.mpa.crc {
        text += ", CRC";
    }
    text
}

fn end(flow: &FlowReport) -> Markup {
    html! {
        @if let Some(error) = &flow.error {
            span.bad { (error.name) }
            " at sequence number " (error.seq) ": " (error.layer) ", type " (error.etype)
            (format!(", code {:#04x}", error.code))
        } @else if let Some(terminate) = &flow.terminate {
            "Terminate: layer " (terminate.layer) ", type " (terminate.etype)
            (format!(", code {:#04x}", terminate.code))
        } @else { "no error" }
    }
}

/// A flow's diagrams, and what it left in memory.
pub fn details(report: &Report, flow: &FlowReport) -> Markup {
    let streams = report
        .timelines
        .iter()
        .flat_map(|timeline| &timeline.streams);
    let streams: Vec<&Stream> = streams.filter(|stream| stream.flow == flow.id).collect();
    let marks = marks_of_diagram(report);
    let time = time_title(clock_mhz(report.width));
    html! {
        details.flow open[flow.id < OPEN_FLOWS] {
            summary { "Flow " (flow.id) ": " (flow.src) " \u{2192} " (flow.dst) }
            @for (opening, stream) in streams.iter().enumerate() {
                @if streams.len() > 1 { p { "Opening " (opening + 1) " of its connection:" } }
                @if stream.segments.is_empty() {
                    p.note { "No segment with payload arrived." }
                } @else {
                    (sequence::diagram(stream, marks, &time))
                }
            }
            (uncounted(flow, &streams))
            (results(flow))
        }
    }
}

/// Marks that a diagram may have, as all of a playback share a limit.
fn marks_of_diagram(report: &Report) -> usize {
    let streams = report
        .timelines
        .iter()
        .map(|timeline| timeline.streams.len());
    let (least, most) = MARKS_OF_DIAGRAM;
    (MARKS_MAX / streams.sum::<usize>().max(1)).clamp(least, most)
}

/// Why a diagram shows more segments than the table counts.
fn uncounted(flow: &FlowReport, streams: &[&Stream]) -> Markup {
    let drawn: usize = streams.iter().map(|stream| stream.segments.len()).sum();
    let more = (drawn as u64).saturating_sub(flow.segments);
    html! {
        @if more > 0 {
            p.note {
                "The table counts " (grouped(flow.segments)) " segments: " (grouped(more))
                " arrivals here were refused for lack of room, taken in part or dropped, and count \
                 when they are sent again, if at all."
            }
        }
    }
}

fn results(flow: &FlowReport) -> Markup {
    html! {
        details {
            summary { "Opcodes, regions, messages" }
            p { "Opcodes: " (opcodes(&flow.opcodes)) "." }
            @if !flow.regions.is_empty() {
                table {
                    tr { th { "STag" } th { "First octet" } th { "Octets" } th.text { "SHA-256" } }
                    @for region in &flow.regions {
                        tr {
                            td { code { (region.stag) } }
                            td { code { (region.base) } }
                            td { (region.length) }
                            td.text { code { (hash(&region.sha256)) } }
                        }
                    }
                }
            }
            @if !flow.receives.is_empty() { (messages(flow)) }
        }
    }
}

/// A hash, or that there is none.
fn hash(sha256: &Option<String>) -> &str {
    sha256
        .as_deref()
        .unwrap_or("too many octets; --json has what was written")
}

fn messages(flow: &FlowReport) -> Markup {
    html! {
        table {
            tr {
                th { "Queue" } th { "MSN" } th.text { "Opcode" } th { "Octets" }
                th.text { "SHA-256" }
            }
            @for message in flow.receives.iter().take(ROWS_MAX) {
                tr {
                    td { (message.qn) }
                    td { (message.msn) }
                    td.text { (message.opcode) }
                    td { (message.length) }
                    td.text { code { (hash(&message.sha256)) } }
                }
            }
        }
        @if flow.receives.len() > ROWS_MAX {
            p { (flow.receives.len() - ROWS_MAX) " messages more; --json has all." }
        }
    }
}
