//! The summary on a terminal.

use crate::play::report::{FlowReport, Opcodes, Report};
use rnic_capture::Finding;
use rnic_output::shown;
use std::fmt::Write;

/// Clock at which the core of a width is meant to run, in MHz.
pub const fn clock_mhz(width: usize) -> f64 {
    match width {
        512 => 322.0,
        _ => 156.25,
    }
}

/// The report as lines for people.
pub fn text(report: &Report) -> String {
    let mut text = String::new();
    write(&mut text, report).expect("writing to a string");
    text
}

/// Why nothing of a capture was played, cause by cause.
pub fn nothing_played(report: &Report) -> String {
    let mut text = format!(
        "rnic: {}: nothing could be played: no TCP connection here entered MPA full operation",
        shown(&report.capture)
    );
    // How it was read is no reason.
    let reasons = |finding: &&Finding| !["link_header", "offload_repaired"].contains(&finding.kind);
    for finding in report.causes.iter().chain(&report.notes).filter(reasons) {
        text += "\n  ";
        text += &finding.text;
    }
    text
}

fn write(text: &mut String, report: &Report) -> std::fmt::Result {
    let Report {
        capture,
        frames,
        host_path_frames,
        width,
        dut,
        ..
    } = report;
    writeln!(
        text,
        "{}: {frames} frames, {host_path_frames} to the host path, width {width}, dut {dut}",
        shown(capture)
    )?;
    for note in &report.notes {
        writeln!(text, "note: {}", note.text)?;
    }
    for flow in &report.flows {
        write_flow(text, flow)?;
    }
    if report.flows.is_empty() {
        writeln!(
            text,
            "  no flow: no TCP connection here entered MPA full operation"
        )?;
    }
    let seen: Vec<String> = report
        .counters
        .iter()
        .filter(|(_, &value)| value != 0)
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    writeln!(text, "counters: {}", seen.join(", "))?;
    if report.has_rtl() {
        write_speed(text, report)?;
    }
    for difference in &report.differences {
        writeln!(text, "difference: {difference}")?;
    }
    writeln!(text, "mismatches: {}", report.mismatches)
}

fn write_flow(text: &mut String, flow: &FlowReport) -> std::fmt::Result {
    let FlowReport {
        id,
        src,
        dst,
        fpdus,
        placed_octets,
        ..
    } = flow;
    let on = |flag| if flag { "on" } else { "off" };
    writeln!(
        text,
        "flow {id}: {src} > {dst}, MPA revision {}, markers {}, CRC {}",
        flow.mpa.revision,
        on(flow.mpa.markers),
        on(flow.mpa.crc)
    )?;
    writeln!(
        text,
        "  {} segments ({} in order, {} out of order, {} duplicate), {fpdus} FPDUs, \
         {placed_octets} octets placed, {} messages",
        flow.segments,
        flow.in_order,
        flow.out_of_order,
        flow.duplicate,
        flow.receives.len()
    )?;
    if flow.placed_out_of_order_octets > 0 {
        writeln!(
            text,
            "  {} octets placed out of order, at most {} pages held",
            flow.placed_out_of_order_octets, flow.peak_pages
        )?;
    }
    if flow.resent > 0 {
        writeln!(
            text,
            "  {} segments sent again, for which the device had no room at first",
            flow.resent
        )?;
    }
    if flow.closed_for_room {
        writeln!(
            text,
            "  closed before its end: its FPDU takes more pages than the reserve has (ADR 13)"
        )?;
    }
    writeln!(text, "  opcodes: {}", opcodes(&flow.opcodes))?;
    if flow.reads_without_request > 0 {
        writeln!(
            text,
            "  {} of {} reads posted as their responses are: the capture has no Read Request of \
             this receiver",
            flow.reads_without_request, flow.reads
        )?;
    }
    write_end(text, flow)
}

/// How a flow ended, if it was not with the capture.
fn write_end(text: &mut String, flow: &FlowReport) -> std::fmt::Result {
    if let Some(terminate) = &flow.terminate {
        writeln!(
            text,
            "  Terminate received: {} (layer {}, type {}, code {:#04x})",
            terminate.name, terminate.layer, terminate.etype, terminate.code
        )?;
    }
    if let Some(error) = &flow.error {
        writeln!(
            text,
            "  stopped: {} at sequence number {} (layer {}, type {}, code {:#04x})",
            error.name, error.seq, error.layer, error.etype, error.code
        )?;
    }
    Ok(())
}

/// The opcodes that were there, with their FPDUs.
pub fn opcodes(counts: &Opcodes) -> String {
    let named = [
        ("rdma_write", counts.rdma_write),
        ("read_request", counts.read_request),
        ("read_response", counts.read_response),
        ("send", counts.send),
        ("send_invalidate", counts.send_invalidate),
        ("send_se", counts.send_se),
        ("send_se_invalidate", counts.send_se_invalidate),
        ("terminate", counts.terminate),
    ];
    let seen = named.iter().filter(|(_, count)| *count != 0);
    let seen: Vec<String> = seen
        .map(|(name, count)| format!("{name} {count}"))
        .collect();
    if seen.is_empty() {
        "none".into()
    } else {
        seen.join(", ")
    }
}

/// How fast a playback went; of hardware only.
#[derive(Copy, Clone, Debug)]
pub struct Speed {
    /// What the cycles take at [`clock_mhz`].
    pub milliseconds: f64,
    /// Gigabits a second of placed octets in that time.
    pub gigabits: f64,
    /// Cycles simulated in a second.
    pub cycles_a_second: f64,
}

impl Speed {
    /// Of a whole playback.
    pub fn of(report: &Report) -> Self {
        let cycles = report.cycles as f64;
        let placed: u64 = report.flows.iter().map(|flow| flow.placed_octets).sum();
        let seconds = cycles / (clock_mhz(report.width) * 1e6);
        Self {
            milliseconds: seconds * 1e3,
            gigabits: placed as f64 * 8.0 / seconds / 1e9,
            cycles_a_second: cycles / report.wall_s.max(1e-9),
        }
    }
}

fn write_speed(text: &mut String, report: &Report) -> std::fmt::Result {
    let speed = Speed::of(report);
    writeln!(
        text,
        "{} cycles ({:.0} cycles/s), {:.3} ms at {} MHz, {:.3} Gb/s placed",
        report.cycles,
        speed.cycles_a_second,
        speed.milliseconds,
        clock_mhz(report.width),
        speed.gigabits
    )
}
