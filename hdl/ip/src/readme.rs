//! README.md of the folder: its text, and tables of ports made from the connections.

use crate::names::{Form, STREAMS};
use crate::plan::Connection;
use crate::wrapper::always_ready;
use rnic_abi::sizes::Sizes;
use std::fmt::Write;

const TEMPLATE: &str = include_str!("../files/README.md");

/// The whole text.
pub(crate) fn text(plan: &[Connection], width: usize, sizes: Sizes) -> String {
    let (clock, rate) = match width {
        64 => ("156.25", "10 Gb/s"),
        128 => ("156.25", "20 Gb/s"),
        _ => ("322", "100 Gb/s"),
    };
    TEMPLATE
        .replace("{WIDTH}", &width.to_string())
        .replace("{CONNECTIONS}", &sizes.connections().to_string())
        .replace("{REGIONS}", &sizes.regions().to_string())
        .replace("{CLOCK}", clock)
        .replace("{RATE}", rate)
        .replace("{PORTS}", tables(plan).trim_end())
}

/// A table of the sidebands, and one for each stream.
fn tables(plan: &[Connection]) -> String {
    let mut text = table(plan.iter().filter(|connection| connection.stream.is_none()));
    for stream in &STREAMS {
        let _ = write!(text, "\n### `{}`\n\n{}\n\n", stream.name, stream.meaning);
        let signals = plan
            .iter()
            .filter(|connection| connection.stream == Some(stream.name));
        text.push_str(&table(signals));
        if let Some(ready) = always_ready().find(|ready| ready.starts_with(stream.name)) {
            let _ = writeln!(text, "| `{ready}` | out | 1 | always 1 | none |");
        }
    }
    text
}

fn table<'a>(connections: impl Iterator<Item = &'a Connection>) -> String {
    let mut text =
        String::from("| port | | bits | meaning | port of the core |\n|---|---|---|---|---|\n");
    for connection in connections {
        let direction = if connection.is_input() { "in" } else { "out" };
        let repacked = match connection.form {
            Form::Same => "",
            Form::Octets => ", as a number",
            Form::Doublewords => ", by doublewords",
        };
        let _ = writeln!(
            text,
            "| `{}` | {direction} | {} | {} | `{}`{repacked} |",
            connection.name, connection.bits, connection.meaning, connection.core.name
        );
    }
    text
}
