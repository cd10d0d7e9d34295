//! Writes `docs/registers.md`: the manual of the device for programmers of any language.
//!
//! ```text
//!  doc comments of rnic-abi --> source --> plain --+
//!  numbers of rnic-abi ------> values, resets -----+--> docs/registers.md
//!  manual/*.txt: order of steps, resets -----------+
//!  keys and hashes of the driver ------------------+
//! ```
use super::plain::plain;
use super::source::{Item, Module};
use super::values::value;
use super::{read, workspace_root};
use rnic_abi::limits::{HASH_SLOTS_LOG2, HASH_WAYS};
use rnic_abi::resets::{Access, AfterReset, Register, REGISTERS};
use rnic_abi::{counters, errors, registers, tables};
use rnic_driver::{stag_hash, ConnectionKey};
use std::fmt::Write;
use std::net::SocketAddr;

const HEAD: &str = "\
<!-- Generated from hdl/abi/src and testbench/src/docs/manual by `make generate`; edit those. -->

# Registers, tables, rings and codes

";

/// What CRC32C is tried with everywhere.
const CHECK_OCTETS: &[u8] = b"123456789";
/// A connection and a region to try hashes with.
const EXAMPLE_REMOTE: &str = "10.0.0.1:1000";
const EXAMPLE_LOCAL: &str = "10.0.0.2:2000";
const EXAMPLE_STAG_INDEX: u32 = 0x12_3456;

/// The document.
///
/// # Errors
/// A file of `hdl/abi/src` that cannot be read, or an item there without words or without a number.
pub fn text() -> Result<String, String> {
    let mut out = format!("{HEAD}{}", include_str!("manual/reading.txt"));
    constants(&mut out, "PCI function", "pci")?;
    section(&mut out, "Builds", &module("sizes")?.doc);
    bar(&mut out)?;
    for prose in [
        include_str!("manual/resets.txt"),
        include_str!("manual/steps.txt"),
    ] {
        out.push('\n');
        out.push_str(prose);
    }
    write_tables(&mut out, &module("tables")?)?;
    hashes(&mut out);
    constants(&mut out, "Completion queue entries", "cqe")?;
    constants(&mut out, "Host receive ring", "host_ring")?;
    constants(&mut out, "Event ring", "event_ring")?;
    constants(&mut out, "Transmit rings", "transmit_ring")?;
    interrupts(&mut out)?;
    write_counters(&mut out, &module("counters")?)?;
    write_errors(&mut out, &module("errors")?)?;
    constants(&mut out, "Limits", "limits")?;
    Ok(out)
}

fn module(name: &str) -> Result<Module, String> {
    let path = workspace_root()
        .join("hdl/abi/src")
        .join(format!("{name}.rs"));
    let mut module = Module::parse(&read(&path)?);
    module.doc = plain(&module.doc);
    for item in &mut module.items {
        item.doc = plain(&item.doc);
    }
    Ok(module)
}

/// An offset of a doubleword is written in hexadecimal with three digits in the source; all else is
/// not.
fn is_register(item: &Item) -> bool {
    let value = item.value.as_deref().unwrap_or_default();
    let digits = value.strip_prefix("0x").filter(|digits| digits.len() == 3);
    let offset = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    offset.is_some_and(|offset| offset % 4 == 0)
}

fn bar(out: &mut String) -> Result<(), String> {
    let module = module("registers")?;
    section(out, "BAR0", &module.doc);
    register_table(out, "registers", &module)?;
    out.push_str("\nValues and fields:\n");
    let others = module.items.iter().filter(|item| !is_register(item));
    value_table(out, "registers", others)?;
    formulas(out, &module);
    Ok(())
}

fn interrupts(out: &mut String) -> Result<(), String> {
    let module = module("interrupts")?;
    section(out, "Interrupts", &module.doc);
    register_table(out, "interrupts", &module)?;
    out.push_str("\nValues and fields:\n");
    let others = module.items.iter().filter(|item| !is_register(item));
    value_table(out, "interrupts", others)
}

fn register_table(out: &mut String, name: &str, module: &Module) -> Result<(), String> {
    out.push_str(
        "\n| offset | register | software | after reset | meaning |\n|---|---|---|---|---|\n",
    );
    for item in module.items.iter().filter(|item| is_register(item)) {
        let offset = value(name, &item.name)? as u32;
        let register = REGISTERS.iter().find(|register| register.offset == offset);
        let register = register.ok_or_else(|| {
            let name = &item.name;
            format!("{name}, {offset:#05x}, is not in hdl/abi/src/resets.rs: say what it resets to")
        })?;
        let software = match register.access {
            Access::Read => "reads",
            Access::ReadWrite => "reads, writes",
            Access::Write => "writes",
        };
        let (place, after) = (place(register), after_reset(register.after_reset));
        let (name, line) = (&item.name, item.line());
        let _ = writeln!(
            out,
            "| {place} | `{name}` | {software} | {after} | {line} |"
        );
    }
    Ok(())
}

fn place(register: &Register) -> String {
    let &Register {
        offset,
        count,
        stride,
        ..
    } = register;
    match count {
        1 => format!("{offset:#05x}"),
        _ => format!("{offset:#05x} + {stride} * n, n 0 to {}", count - 1),
    }
}

fn after_reset(after_reset: AfterReset) -> String {
    match after_reset {
        AfterReset::Value(value @ 0..=99_999) => value.to_string(),
        AfterReset::Value(value) => format!("{value:#010x}"),
        AfterReset::Build => "the build's".to_owned(),
        AfterReset::Kept => "as before".to_owned(),
    }
}

fn write_tables(out: &mut String, module: &Module) -> Result<(), String> {
    section(out, "Tables", &module.doc);
    let is_table = |item: &&Item| item.doc.contains("Index");
    out.push_str("\nOperations and rights:\n");
    let others = module.items.iter().filter(|item| !is_table(item));
    value_table(out, "tables", others)?;
    formulas(out, module);
    for item in module.items.iter().filter(is_table) {
        let number = value("tables", &item.name)?;
        let (name, doc) = (&item.name, &item.doc);
        let _ = write!(out, "\n### Table {number}: `{name}`\n\n{doc}\n");
    }
    Ok(())
}

fn constants(out: &mut String, title: &str, name: &str) -> Result<(), String> {
    let module = module(name)?;
    section(out, title, &module.doc);
    value_table(out, name, module.items.iter())?;
    formulas(out, &module);
    Ok(())
}

fn section(out: &mut String, title: &str, doc: &str) {
    let _ = write!(out, "\n## {title}\n\n{doc}\n");
}

fn value_table<'a>(
    out: &mut String,
    module: &str,
    items: impl Iterator<Item = &'a Item>,
) -> Result<(), String> {
    out.push_str("\n| name | value | hexadecimal | meaning |\n|---|---|---|---|\n");
    for item in items.filter(|item| item.value.is_some()) {
        let value = value(module, &item.name)?;
        let (name, line) = (&item.name, item.line());
        let _ = writeln!(out, "| `{name}` | {value} | {value:#x} | {line} |");
    }
    Ok(())
}

/// The functions of a module whose words have a formula after a colon; others serve Rust alone.
fn formulas(out: &mut String, module: &Module) {
    let is_formula = |item: &&Item| item.value.is_none() && item.line().contains(": `");
    let functions = || module.items.iter().filter(is_formula);
    if functions().next().is_some() {
        out.push_str("\nFormulas:\n\n");
    }
    for item in functions() {
        let _ = writeln!(out, "- `{}`: {}", item.name, item.line());
    }
}

/// Values to try a hash with: the usual one of CRC32C, a key of table `LOOKUP`, an stag_index.
fn hashes(out: &mut String) {
    section(out, "Hashes", include_str!("manual/hashes.txt").trim_end());
    let address = |text: &str| -> SocketAddr { text.parse().expect("an address of the example") };
    let key = ConnectionKey {
        remote: address(EXAMPLE_REMOTE),
        local: address(EXAMPLE_LOCAL),
    };
    let stag_octets = &EXAMPLE_STAG_INDEX.to_be_bytes()[1..];
    out.push_str("\n| what | octets | CRC32C | index in way 0 | way 1 | way 2 |\n");
    out.push_str("|---|---|---|---|---|---|\n");
    let mut row = |what: &str, octets: &[u8], hash: u32, has_slots: bool| {
        let octets: String = octets.iter().map(|octet| format!("{octet:02x}")).collect();
        let _ = write!(out, "| {what} | `{octets}` | {hash:#010x} |");
        for way in 0..HASH_WAYS {
            let index = way << HASH_SLOTS_LOG2 | tables::hash_slot(hash, way);
            let _ = match has_slots {
                true => write!(out, " {index} |"),
                false => write!(out, " |"),
            };
        }
        out.push('\n');
    };
    let check = crc32c::crc32c(CHECK_OCTETS);
    row("`123456789` in ASCII", CHECK_OCTETS, check, false);
    let connection = format!("key: remote {EXAMPLE_REMOTE}, local {EXAMPLE_LOCAL}");
    row(&connection, &key.octets(), key.hash(), true);
    let region = format!("stag_index {EXAMPLE_STAG_INDEX:#x}");
    row(&region, stag_octets, stag_hash(EXAMPLE_STAG_INDEX), true);
}

/// The words on the variant `name`, which must be there.
fn words(module: &Module, name: &str) -> Result<String, String> {
    let item = module.item(name).map(Item::line);
    item.ok_or_else(|| format!("hdl/abi/src: {name} has no doc comment"))
}

fn write_counters(out: &mut String, module: &Module) -> Result<(), String> {
    section(out, "Counters", &module.doc);
    out.push_str("\n| offset | counter | counts |\n|---|---|---|\n");
    for counter in counters::ALL {
        let offset = registers::COUNTERS as usize + 4 * counter.index();
        let counts = words(module, &format!("{counter:?}"))?;
        let _ = writeln!(out, "| {offset:#05x} | `{}` | {counts} |", counter.name());
    }
    Ok(())
}

fn write_errors(out: &mut String, module: &Module) -> Result<(), String> {
    section(out, "Errors of a stream", &module.doc);
    out.push_str("\nLayers: 0 RDMAP, 1 DDP, 2 MPA.\n");
    out.push_str(
        "\n| number | error | layer | type | code | meaning |\n|---|---|---|---|---|---|\n",
    );
    for error in errors::ALL {
        let (layer, kind, code) = error.terminate();
        let meaning = words(module, &format!("{error:?}"))?;
        let (number, name) = (error as u8, error.name());
        let _ = writeln!(
            out,
            "| {number} | `{name}` | {layer} | {kind} | {code:#04x} | {meaning} |"
        );
    }
    Ok(())
}
