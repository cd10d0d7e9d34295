//! Rooms of the core that get no clock edge while an edge would change nothing in them.
//!
//! ```text
//!  inputs of the room --+-> room -> outputs         awake = reset
//!                       |     ^ clock_room                | the last edge changed a register
//!                       +-> before (copy of the inputs    | or a word of a RAM
//!                           at the last edge) --> differ -+
//! ```
//!
//! At ordinary load most rooms wait most of the time, and Verilator evaluates what depends on a
//! clock only when that clock rises. An edge is left out if the last edge that the room got changed
//! no register and no word of a RAM, and the inputs still are what they were at that edge: the next
//! state is a function of state and inputs, so this edge would change nothing either. That holds
//! for any circuit; nothing is assumed about what the room does. What it takes is that every
//! register of the room is compared, so a room with a clocked block that is not written as one of
//! those below keeps the clock of the core.
//!
//! | enters | the core's Verilog, instances of it to gate by their path from the top module      |
//! | leaves | the Verilog with those instances on clocks of the outer module (`wrapper.rs`), and |
//! |        | for each what to compare                                                           |

use std::collections::{BTreeMap, HashMap};

/// Rooms that sleep most of the time at the rate of the wire, as measured with full frames in
/// order. Whatever takes part in each beat is awake in each cycle, and so is what sees the counters
/// take their turns (`csr.registers`, `pcie.endpoint`); to compare their registers would cost more
/// than it saves.
pub const ROOMS: &[&str] = &[
    "ddp",
    "replays",
    "ooo_completion",
    "tcp.lookup",
    "tcp.acceptance.walk",
    "tcp.acceptance.judge",
    "tcp.acceptance.reserve",
    "tcp.acceptance.tables",
    "stream.control",
    "stream.queue",
    "stream.context_update",
    "stream.spans",
    "stream.fragments",
    "packet.pool",
    "placement.cqe",
    "reads",
    "transmit.control",
    "transmit.bulk",
    "transmit.units",
    "transmit.heads",
    "transmit.commands",
    "transmit.finisher",
    "transmit.store",
    "transmit.sender",
    "transmit.writer",
];

/// A room with a clock of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Room {
    /// Path of the instance from the outer module, such as `rnic.tcp.lookup`.
    pub path: String,
    /// Inputs without the clock: name and Verilog range, empty for one bit.
    pub inputs: Vec<(String, String)>,
    /// Conditions, one of which holds if an edge changes a register or a word of a RAM.
    pub changes: Vec<String>,
}

impl Room {
    /// `kind` of the room as one identifier: `clock_tcp_lookup`.
    pub fn name(&self, kind: &str) -> String {
        let path = self.path.trim_start_matches("rnic.");
        format!("{kind}_{}", path.replace(['.', '$'], "_"))
    }
}

/// The Verilog with gated clocks.
#[derive(Clone, Debug)]
pub struct Gated {
    /// The core.
    pub verilog: String,
    /// The rooms that are gated; those that are not there or cannot be are left out.
    pub rooms: Vec<Room>,
}

/// Gate the instances `paths` of the top module `rnic`.
pub fn gate(verilog: &str, paths: &[&str]) -> Gated {
    let mut gated = Gated {
        verilog: verilog.to_owned(),
        rooms: Vec::new(),
    };
    if paths.is_empty() {
        return gated;
    }
    let modules = modules(verilog);
    let mut clocks = BTreeMap::new();
    for path in paths {
        if let Some((room, at)) = room(&modules, verilog, path) {
            clocks.insert(at, format!("bench.{}", room.name("clock")));
            gated.rooms.push(room);
        }
    }
    // From the end, so that the places before stay where they are.
    for ((start, end), clock) in clocks.into_iter().rev() {
        gated.verilog.replace_range(start..end, &clock);
    }
    gated
}

/// A room, and where in the text the net stands that its clock is connected to.
fn room(
    modules: &HashMap<&str, &str>,
    verilog: &str,
    path: &str,
) -> Option<(Room, (usize, usize))> {
    let (mut module, mut parent, mut instance) = ("rnic", "", "");
    for name in path.split('.') {
        parent = module;
        let (kind, found) = instances(modules.get(module)?).find(|(_, found)| *found == name)?;
        (module, instance) = (kind, found);
    }
    let parent = modules.get(parent)?;
    let head = format!("{module} {instance}(");
    let connections = &parent[parent.find(&head)? + head.len()..];
    let connections = &connections[..connections.find(';')?];
    let clock = &connections[connections.find(".clock(")? + ".clock(".len()..];
    let clock = &clock[..clock.find(')')?];
    let start = clock.as_ptr() as usize - verilog.as_ptr() as usize;
    let path = format!("rnic.{path}");
    let mut changes = Vec::new();
    collect(modules, module, &path, &mut changes)?;
    let inputs = inputs(modules.get(module)?);
    let room = Room {
        path,
        inputs,
        changes,
    };
    Some((room, (start, start + clock.len())))
}

/// Every module's text by its name.
fn modules(verilog: &str) -> HashMap<&str, &str> {
    let parts = verilog.split("\nmodule ").flat_map(|part| {
        let part = part.strip_prefix("module ").unwrap_or(part);
        let name = part.split('(').next()?;
        let end = part.find("\nendmodule")?;
        Some((name.trim(), &part[..end]))
    });
    parts.collect()
}

/// Module and name of every instance in a module; its first line is `module name(`.
fn instances(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let (module, name) = line.trim().strip_suffix('(')?.split_once(' ')?;
        let is_name = !name.contains(' ') && module.starts_with("rnic$");
        is_name.then_some((module, name))
    })
}

/// Name and range of every input but the clock.
fn inputs(text: &str) -> Vec<(String, String)> {
    let ports = text.lines().filter_map(|line| {
        let port = line.trim().strip_prefix("input wire ")?.strip_suffix(';')?;
        let (range, name) = port.trim().rsplit_once(' ').unwrap_or(("", port.trim()));
        (name != "clock").then(|| (name.to_owned(), range.trim().to_owned()))
    });
    ports.collect()
}

/// Add what can change in an instance of `module` and in all that it is made of; `None` if it has
/// a clocked block that is not known.
fn collect(
    modules: &HashMap<&str, &str>,
    module: &str,
    path: &str,
    changes: &mut Vec<String>,
) -> Option<()> {
    let text = modules.get(module)?;
    let mut lines = text.lines().map(str::trim);
    while let Some(line) = lines.next() {
        let Some(rest) = line.strip_prefix("always @(posedge clock)") else {
            // Another clock, another edge, or a form of the first that is not known.
            if line.contains("posedge") || line.contains("negedge") {
                return None;
            }
            continue;
        };
        match rest.trim() {
            "begin" => {
                let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "end").collect();
                changes.extend(block(&body, path)?);
            }
            "" if lines.by_ref().take(3).eq(HASH_CONDITION) => {
                // Changes only with `key_before`, which is compared.
                lines.by_ref().take_while(|line| *line != "end").count();
            }
            statement => changes.push(assignment(statement, path)?),
        }
    }
    for (kind, name) in instances(text) {
        collect(modules, kind, &format!("{path}.{name}"), changes)?;
    }
    Some(())
}

/// How the hash of the connection lookup is written: evaluated in simulation for a new key only.
const HASH_CONDITION: [&str; 3] = ["`ifdef VERILATOR", "if (key != key_before)", "`endif"];
/// How the lines of a RAM begin that write to it, or say what a read then gives in simulation.
const RAM_WRITE: &str = "if (write_enable";

/// What can change with a block of a register or of a RAM. A RAM that is written in each cycle, as
/// the next place of a FIFO may be, changes by another value only.
fn block(body: &[&str], path: &str) -> Option<Vec<String>> {
    let mut changes: Vec<(&str, String)> = Vec::new();
    for line in body {
        if line.starts_with("//") || line.starts_with('`') || line.is_empty() {
            continue;
        }
        let (condition, statement) = match line.strip_prefix("if (") {
            Some(rest) if line.starts_with(RAM_WRITE) => {
                let (condition, statement) = rest.split_once(") ")?;
                (Some(within(condition, path)), statement)
            }
            _ => (None, *line),
        };
        let (target, _) = statement.split_once(" <= ")?;
        let mut change = assignment(statement, path)?;
        if let Some(condition) = condition {
            // Of two assignments to a register the later one holds.
            for (_, earlier) in changes.iter_mut().filter(|(other, _)| *other == target) {
                *earlier = format!("!({condition}) && ({earlier})");
            }
            change = format!("({condition}) && ({change})");
        }
        changes.push((target, change));
    }
    Some(changes.into_iter().map(|(_, change)| change).collect())
}

/// `target <= value;` changes the target if the two differ.
fn assignment(statement: &str, path: &str) -> Option<String> {
    let (target, value) = statement.strip_suffix(';')?.split_once(" <= ")?;
    let plain = |text: &str| !text.contains(['?', '{', '(', '=', '<']);
    if !plain(target) || !plain(value) || target.contains(' ') && !target.contains('[') {
        return None;
    }
    let (target, value) = (within(target, path), within(value, path));
    Some(format!("({target}) != ({value})"))
}

/// An expression of an instance's module as the outer module writes it.
fn within(expression: &str, path: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for letter in expression.chars() {
        let part_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'' || c == '$';
        if letter.is_ascii_alphabetic() && !part_of_word(before) {
            out.push_str(path);
            out.push('.');
        }
        out.push(letter);
        before = letter;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A RAM that has fewer entries than its address has values.
    #[test]
    fn a_ram_changes_by_another_value_and_by_what_is_read() {
        let body = [
            "if (write_enable) memory[write_address[2:0]] <= write_data;",
            "fetched <= memory[read_address[2:0]];",
            "if (write_enable && write_address[2:0] == read_address[2:0]) fetched <= 8'h0;",
        ];
        let collision = "r.write_enable && r.write_address[2:0] == r.read_address[2:0]";
        let expected = [
            "(r.write_enable) && ((r.memory[r.write_address[2:0]]) != (r.write_data))".to_owned(),
            format!("!({collision}) && ((r.fetched) != (r.memory[r.read_address[2:0]]))"),
            format!("({collision}) && ((r.fetched) != (8'h0))"),
        ];
        assert_eq!(block(&body, "r").expect("all lines are known"), expected);
    }
}
