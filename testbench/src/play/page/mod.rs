//! The report as one self-contained page: no script, nothing loaded from elsewhere.
//!
//! - `flows`: a table of flows, and each flow's details.
//! - `sequence`, `marks`: a flow's time-sequence diagram; `pages`: packet memory; `latency`:
//!   a histogram; `tlps`: packets by kind. They show the run's timeline, which only hardware has.
//! - `chart`: scales, axes and thinning for all of them.

mod chart;
mod flows;
mod latency;
mod marks;
mod pages;
mod sequence;
mod tlps;

use crate::play::report::Report;
use crate::play::summary::{clock_mhz, Speed};
use chart::{grouped, time_title};
use maud::{html, Markup, PreEscaped, DOCTYPE};
use rnic_capture::Finding;

/// Devices whose packet memory is drawn: those that held the most pages.
const MEMORY_PICTURES: usize = 4;

const STYLE: &str = include_str!("style.css");

/// One page about one playback or several.
pub fn text(reports: &[Report]) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { "rnic play" }
                style { (PreEscaped(STYLE)) }
            }
            body {
                h1 { "rnic play" }
                @for report in reports { (playback(report)) }
                @if let Some(report) = reports.first() {
                    p { (report.tool) " " (report.version) }
                }
            }
        }
    };
    page.into_string()
}

fn playback(report: &Report) -> Markup {
    html! {
        section {
            h2 { code { (report.capture) } " " (verdict(report)) }
            (facts(report))
            @if !report.differences.is_empty() {
                h3 { "First differences" }
                ul { @for difference in &report.differences { li { (difference) } } }
            }
            h3 { "Flows" }
            @if report.flows.is_empty() {
                p { "None: no TCP connection here entered MPA full operation." }
                (findings(&report.causes))
            } @else {
                (flows::table(&report.flows))
            }
            @if !report.notes.is_empty() {
                h3 { "The capture" }
                (findings(&report.notes))
            }
            h3 { "The run" }
            (run(report))
            @if !report.flows.is_empty() {
                h3 { "Flow by flow" }
                @for flow in &report.flows { (flows::details(report, flow)) }
            }
            h3 { "Counters that are not zero" }
            (pairs(report.counters.iter().map(|(name, value)| (*name, u64::from(*value)))))
            @if !report.actions.is_empty() {
                h3 { "Hostile actions" }
                (pairs(report.actions.iter().map(|(action, count)| (action.name(), *count))))
            }
        }
    }
}

/// What is said of a capture, a line each.
fn findings(findings: &[Finding]) -> Markup {
    html! {
        ul { @for finding in findings { li { (finding.text) } } }
    }
}

fn verdict(report: &Report) -> Markup {
    html! {
        @match (report.mismatches, report.dut) {
            (0, "both") => span.good { "hardware and model agree" },
            (0, "netlist") => span.good { "netlist and model agree" },
            (0, dut) => span.good { (dut) " alone, no fault seen" },
            (count, _) => span.bad { (count) " mismatches" },
        }
    }
}

fn facts(report: &Report) -> Markup {
    html! {
        table {
            tr { th { "Receiver" } td.text { (report.dut) ", width " (report.width) " bits" } }
            tr { th { "Seed" } td.text { (report.seed) } }
            tr {
                th { "Frames" }
                td.text {
                    (report.frames) ", of them " (report.host_path_frames) " to the host path"
                }
            }
            @if report.has_rtl() {
                @let speed = Speed::of(report);
                tr {
                    th { "Hardware" }
                    td.text {
                        (report.cycles) " cycles, "
                        (format!("{:.3} ms at {} MHz", speed.milliseconds, clock_mhz(report.width)))
                        (format!(", {:.3} Gb/s placed", speed.gigabits))
                    }
                }
                tr {
                    th { "Simulation" }
                    td.text { (format!("{:.0} cycles/s", speed.cycles_a_second)) }
                }
            }
        }
    }
}

/// The pictures of the run as a whole.
fn run(report: &Report) -> Markup {
    let mut devices: Vec<usize> = (0..report.timelines.len()).collect();
    let peak = |device: usize| {
        let pages = report.timelines[device].pages.iter();
        pages.map(|&(_, pages)| pages).max()
    };
    devices.sort_by_key(|&device| (std::cmp::Reverse(peak(device)), device));
    let count = devices.len();
    devices.truncate(MEMORY_PICTURES);
    devices.sort_unstable();
    let odd = report.timelines.iter();
    let odd: u64 = odd.map(|t| t.unclaimed_writes + t.unmatched_verdicts).sum();
    let time = time_title(clock_mhz(report.width));
    html! {
        @if report.timelines.is_empty() {
            p { (without_timeline(report)) }
        } @else {
            (latency::picture(&report.timelines))
            @for &device in &devices {
                (pages::picture(&report.timelines[device], &host(report, device), &time))
            }
            @if count > devices.len() {
                p.note {
                    "Packet memory of " (count - devices.len()) " more receiving hosts is not \
                     drawn; they held no more pages than these."
                }
            }
            (tlps::picture(&report.timelines))
            @if odd > 0 {
                p.note {
                    "Left out of the pictures: " (grouped(odd)) " payload writes and verdicts that \
                     belong to no FPDU or segment the run has reported, as on streams that end in \
                     an error or before a gap has closed."
                }
            }
        }
    }
}

fn without_timeline(report: &Report) -> &'static str {
    if report.has_rtl() {
        "No pictures: this playback kept no timeline."
    } else {
        "No pictures: time-sequence diagrams, packet memory, latency and TLPs need the hardware, \
         as the model has no clock, no packet memory and no bus. Play with --dut rtl or --dut both."
    }
}

/// Where the frames of device `device` go, as words of a heading, if there are several devices.
fn host(report: &Report, device: usize) -> String {
    let streams = &report.timelines[device].streams;
    let flow = streams
        .first()
        .and_then(|stream| report.flows.get(stream.flow));
    let address = flow.and_then(|flow| flow.dst.rsplit_once(':'));
    match (report.timelines.len(), address) {
        (1, _) => String::new(),
        (_, Some((address, _))) => format!(", received by {address}"),
        (_, None) => ", received by a host without flows".into(),
    }
}

fn pairs<'a>(rows: impl Iterator<Item = (&'a str, u64)>) -> Markup {
    html! {
        table {
            @for (name, value) in rows.filter(|(_, value)| *value != 0) {
                tr { td { code { (name) } } td { (value) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::difference::{Difference, What};
    use crate::play::report::{
        ErrorReport, FlowReport, MpaReport, Opcodes, ReceiveReport, RegionReport,
    };
    use std::collections::BTreeMap;

    fn flow(messages: u32) -> FlowReport {
        let message = |msn| ReceiveReport {
            qn: 0,
            msn,
            opcode: "send".into(),
            length: 7,
            sha256: Some(format!("digest{msn}.")),
        };
        FlowReport {
            id: 0,
            src: "192.0.2.1:1000".into(),
            dst: "192.0.2.2:2000".into(),
            mpa: MpaReport {
                revision: 1,
                markers: true,
                crc: true,
                rejected: false,
            },
            segments: 3,
            in_order: 2,
            out_of_order: 1,
            duplicate: 0,
            retransmit_trimmed: 0,
            fpdus: 3,
            crc_errors: 0,
            opcodes: Opcodes {
                send: u64::from(messages),
                ..Opcodes::default()
            },
            reads: 0,
            reads_without_request: 0,
            placed_octets: 4321,
            placed_out_of_order_octets: 1234,
            peak_pages: 5,
            resent: 0,
            closed_for_room: false,
            regions: vec![RegionReport {
                stag: "0x00012345".into(),
                base: "0x1000".into(),
                length: 64,
                sha256: Some("of the region".into()),
                written: Vec::new(),
            }],
            receives: (1..=messages).map(message).collect(),
            terminate: None,
            error: None,
        }
    }

    fn report() -> Report {
        Report {
            tool: "rnic",
            version: "1.2.3",
            capture: "<b>.pcap".into(),
            width: 64,
            dut: "both",
            seed: 9,
            frames: 12,
            host_path_frames: 2,
            cycles: 156_250,
            wall_s: 0.5,
            mismatches: 0,
            counters: BTreeMap::from([("fpdus", 3), ("drop_runt", 0)]),
            flows: vec![flow(2)],
            actions: BTreeMap::new(),
            conditions: BTreeMap::new(),
            differences: Vec::new(),
            notes: Vec::new(),
            causes: Vec::new(),
            timelines: Vec::new(),
        }
    }

    fn assert_shows(text: &str, parts: &[&str]) {
        for part in parts {
            assert!(text.contains(part), "no {part} in {text}");
        }
    }

    #[test]
    fn what_is_said_of_the_capture_is_shown_and_escaped() {
        let finding = |text: &str| Finding {
            kind: "gap",
            count: 1,
            frames: vec![3],
            text: text.into(),
        };
        let mut report = report();
        report.notes = vec![finding("a gap of <b>")];
        report.causes = vec![finding("rejected")];
        let shown = text(&[report.clone()]);
        assert_shows(&shown, &["The capture", "<li>a gap of &lt;b&gt;</li>"]);
        assert!(!shown.contains("rejected"), "{shown}");
        report.flows.clear();
        assert_shows(&text(&[report]), &["<li>rejected</li>"]);
    }

    #[test]
    fn a_good_run_is_shown_with_flow_regions_messages_and_speed() {
        let text = text(&[report()]);
        assert_shows(
            &text,
            &["hardware and model agree", "192.0.2.1:1000", "1234"],
        );
        assert_shows(
            &text,
            &["revision\u{a0}1, markers, CRC", "0x00012345", "digest2."],
        );
        assert_shows(
            &text,
            &["1.000 ms at 156.25 MHz", "312500 cycles/s", "no error"],
        );
        assert!(text.contains("fpdus") && !text.contains("drop_runt"));
    }

    #[test]
    fn differences_and_errors_stand_out() {
        let mut bad = report();
        bad.mismatches = 3;
        bad.differences = vec![Difference {
            frames: Some([7, 7]),
            flow: Some(0),
            what: What::Region { stag: 0x1234 },
            place: Some(16),
            expected: "00".into(),
            found: "<01>".into(),
        }];
        bad.flows[0].error = Some(ErrorReport {
            layer: "mpa",
            etype: 0,
            code: 2,
            seq: 77,
            name: "MpaCrc",
        });
        let text = text(&[report(), bad]);
        assert_shows(
            &text,
            &["3 mismatches", "octet 0x10: expected 00, found &lt;01&gt;"],
        );
        assert_shows(&text, &["MpaCrc", "sequence number 77", "code 0x02"]);
        assert_eq!(text.matches("&lt;b&gt;.pcap").count(), 2, "{text}");
        assert!(!text.contains("<b>"), "names are text: {text}");
    }

    #[test]
    fn a_long_list_of_messages_ends_with_how_many_are_left_out() {
        let mut long = report();
        long.flows = vec![flow(1_002)];
        let text = text(&[long]);
        assert_shows(&text, &["digest1000.", "2 messages more"]);
        assert!(!text.contains("digest1001."));
    }

    #[test]
    fn without_flows_it_says_so() {
        let mut none = report();
        none.flows = Vec::new();
        assert_shows(&text(&[none]), &["entered MPA full operation"]);
    }
}
