//! The Verilog of the wrapper: ports, what is repacked, and one instance of the core.
//!
//! | enters | the connections                                                    |
//! | leaves | Verilog 2005; no register, no decision, lint-clean without waivers |

use crate::names::{Form, STREAMS};
use crate::plan::Connection;
use rnic_abi::sizes::Sizes;
use std::fmt::Write;

/// Name of the module, and of the file that holds it.
const WRAPPER: &str = "ferrowarp_rnic";

/// The module.
pub(crate) fn verilog(plan: &[Connection], width: usize, sizes: Sizes) -> String {
    let mut text = head(width, sizes);
    let _ = writeln!(text, "module {WRAPPER} (\n{}\n);", declarations(plan));
    let repacked = plan
        .iter()
        .filter(|connection| connection.form != Form::Same);
    for connection in repacked {
        text.push('\n');
        text.push_str(&repack(connection));
    }
    text.push_str("\n    // The core takes every beat of these.\n");
    for name in always_ready() {
        let _ = writeln!(text, "    assign {name} = 1'b1;");
    }
    text.push_str(&instance(plan));
    text.push_str("endmodule\n\n`default_nettype wire\n");
    text
}

/// The ports: sidebands, then stream by stream, then the trace.
fn declarations(plan: &[Connection]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut stream = None;
    let mut ready: Vec<String> = always_ready().collect();
    let mut connections = plan.iter().peekable();
    while let Some(connection) = connections.next() {
        if connection.stream != stream {
            lines.push(format!("    // {}", connection.stream.unwrap_or("Trace.")));
            stream = connection.stream;
        }
        let direction = if connection.is_input() {
            "input "
        } else {
            "output"
        };
        let range = range(connection.bits);
        lines.push(format!(
            "    {direction} wire {range:>8} {},",
            connection.name
        ));
        let ends = connections.peek().is_none_or(|next| next.stream != stream);
        let own = ready.iter().position(|name| {
            let prefix = stream.map(|stream| format!("{stream}_"));
            prefix.is_some_and(|prefix| name.starts_with(&prefix))
        });
        if let (true, Some(own)) = (ends, own) {
            lines.push(format!("    output wire {:>8} {},", "", ready.remove(own)));
        }
    }
    lines.join("\n").trim_end_matches(',').to_owned()
}

fn head(width: usize, sizes: Sizes) -> String {
    format!(
        "// {WRAPPER}: the Ferrowarp RNIC under AXI-Stream names.\n\
         //\n\
         // Frame path of {width} bits, {} connections, {} regions; README.md has the ports.\n\
         // Made by `rnic emit --ip`; it renames and repacks, and decides nothing.\n\
         // SPDX-License-Identifier: MIT OR Apache-2.0\n\n\
         `default_nettype none\n\n",
        sizes.connections(),
        sizes.regions()
    )
}

/// Ready signals that the core does not have.
pub(crate) fn always_ready() -> impl Iterator<Item = String> {
    let streams = STREAMS.iter().filter(|stream| stream.always_taken);
    streams.map(|stream| format!("{}_tready", stream.name))
}

fn range(bits: usize) -> String {
    match bits {
        1 => String::new(),
        bits => format!("[{}:0]", bits - 1),
    }
}

/// The net between a port of the wrapper and one of the core that is written differently.
fn repack(connection: &Connection) -> String {
    let (outside, inside) = (&connection.name, &connection.core.name);
    let (octets, bits) = (connection.bits, connection.core.bits);
    let net = format!("    wire {} {inside};\n", range(bits));
    match (connection.form, connection.is_input()) {
        (Form::Same, _) => String::new(),
        (Form::Octets, true) => {
            // A sum of single bits, each as wide as the sum.
            let zeros = bits - 1;
            let terms = (0..octets).map(|octet| format!("{{{zeros}'d0, {outside}[{octet}]}}"));
            let sum = lines(terms, " + ", 2);
            format!("    // Octets of the beat.\n{net}    assign {inside} =\n{sum};\n")
        }
        (Form::Octets, false) => format!(
            "    // Its low bits set, one for each octet of the beat.\n{net}    assign {outside} = \
             ~({{{octets}{{1'b1}}}} << {inside});\n"
        ),
        (Form::Doublewords, true) => {
            let parts = (0..bits).rev().map(|lane| {
                let (high, low) = (4 * lane + 3, 4 * lane);
                format!("|{outside}[{high}:{low}]")
            });
            let parts = lines(parts, ", ", 2);
            format!(
                "    // A doubleword counts if an octet does.\n{net}    assign {inside} = \
                 {{\n{parts}}};\n"
            )
        }
        (Form::Doublewords, false) => {
            let parts = (0..bits)
                .rev()
                .map(|lane| format!("{{4{{{inside}[{lane}]}}}}"));
            let parts = lines(parts, ", ", 4);
            format!(
                "    // Four octets for each doubleword.\n{net}    assign {outside} = \
                 {{\n{parts}}};\n"
            )
        }
    }
}

/// `parts` with a separator, so many on a line.
fn lines(parts: impl Iterator<Item = String>, separator: &str, on_a_line: usize) -> String {
    let parts: Vec<String> = parts.collect();
    let lines = parts.chunks(on_a_line).map(|line| line.join(separator));
    let lines: Vec<String> = lines.map(|line| format!("        {line}")).collect();
    lines.join(&format!("{}\n", separator.trim_end()))
}

fn instance(plan: &[Connection]) -> String {
    let pins = plan.iter().map(|connection| {
        let net = match connection.form {
            Form::Same => &connection.name,
            _ => &connection.core.name,
        };
        format!("        .{}({net})", connection.core.name)
    });
    let pins: Vec<String> = pins.collect();
    format!("\n    rnic core (\n{}\n    );\n", pins.join(",\n"))
}
