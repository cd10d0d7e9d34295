//! Writes `docs/registers.md`: BAR map, tables, rings, counters, error codes and limits.
//!
//! Words come from the doc comments of the crate `rnic-abi`; numbers of counters and errors from
//! the crate itself, others are shown as its source has them.
use super::source::{Item, Module};
use super::{read, workspace_root};
use rnic_abi::{counters, errors, registers};
use std::fmt::Write;

const HEAD: &str = "\
<!-- Generated from hdl/abi/src by `make generate`; edit the comments there. -->

# Registers, tables, rings and codes

What hardware and driver agree on. The numbers stand once, in `hdl/abi`; the decoder of the core,
the driver and this page are made from them.
";

/// The document.
///
/// # Errors
/// A file of `hdl/abi/src` that cannot be read, or an item there without words.
pub fn text() -> Result<String, String> {
    let mut out = HEAD.to_owned();
    bar(&mut out, &module("registers")?);
    tables(&mut out, &module("tables")?);
    constants(&mut out, "Completion queue entries", &module("cqe")?);
    constants(&mut out, "Host receive ring", &module("host_ring")?);
    constants(&mut out, "Event ring", &module("event_ring")?);
    constants(&mut out, "Transmit rings", &module("transmit_ring")?);
    constants(&mut out, "Interrupts", &module("interrupts")?);
    write_counters(&mut out, &module("counters")?)?;
    write_errors(&mut out, &module("errors")?)?;
    constants(&mut out, "Limits", &module("limits")?);
    Ok(out)
}

fn module(name: &str) -> Result<Module, String> {
    let path = workspace_root()
        .join("hdl/abi/src")
        .join(format!("{name}.rs"));
    Ok(Module::parse(&read(&path)?))
}

/// An offset is written in hexadecimal with three digits in the source; all else is not.
fn is_register(item: &Item) -> bool {
    let value = item.value.as_deref().unwrap_or_default();
    value.len() == 5 && value.starts_with("0x")
}

fn bar(out: &mut String, module: &Module) {
    section(out, "BAR0", &module.doc);
    out.push_str("\n| offset | register | meaning |\n|---|---|---|\n");
    for item in module.items.iter().filter(|item| is_register(item)) {
        let offset = item.value.as_deref().unwrap_or_default();
        let _ = writeln!(out, "| {offset} | `{}` | {} |", item.name, item.line());
    }
    out.push_str("\nValues and fields:\n");
    value_table(out, module.items.iter().filter(|item| !is_register(item)));
}

fn tables(out: &mut String, module: &Module) {
    section(out, "Tables", &module.doc);
    let is_table = |item: &&Item| item.doc.contains("Index");
    out.push_str("\nOperations, rights and functions:\n");
    value_table(out, module.items.iter().filter(|item| !is_table(item)));
    for item in module.items.iter().filter(is_table) {
        let number = item.value.as_deref().unwrap_or_default();
        let _ = write!(
            out,
            "\n### Table {number}: `{}`\n\n{}\n",
            item.name, item.doc
        );
    }
}

fn constants(out: &mut String, title: &str, module: &Module) {
    section(out, title, &module.doc);
    value_table(out, module.items.iter());
}

fn section(out: &mut String, title: &str, doc: &str) {
    let _ = write!(out, "\n## {title}\n\n{doc}\n");
}

fn value_table<'a>(out: &mut String, items: impl Iterator<Item = &'a Item>) {
    out.push_str("\n| name | value | meaning |\n|---|---|---|\n");
    for item in items {
        let value = match &item.value {
            Some(value) => format!("`{}`", value.replace('|', "\\|")),
            None => "function".to_owned(),
        };
        let _ = writeln!(out, "| `{}` | {value} | {} |", item.name, item.line());
    }
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
