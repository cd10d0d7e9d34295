//! One row for each violation: a packet that breaks the rule, and the name it must be given.
//!
//! Each row must produce exactly its violation and no other, so that no check hides another.
//!
//! - `packets`: legal packets and ways to change them.
//! - `rows`: the table; `monitor` plays it.
//! - `memory`: accesses that the host's memory refuses.

mod packets;
mod rows;
mod monitor;
mod memory;

/// The table is complete: each variant that the source declares is expected in one of these files.
#[test]
fn every_violation_has_a_row() {
    let source = include_str!("../../src/violation.rs");
    let names: Vec<&str> = source
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with(|first: char| first.is_ascii_uppercase()))
        .map(|line| line.trim_end_matches(|last: char| !last.is_alphanumeric()))
        .map(|line| line.split('(').next().unwrap_or(line))
        .collect();
    assert!(
        names.len() > 30,
        "the source is not laid out as expected: {names:?}"
    );
    let files = [
        include_str!("rows.rs"),
        include_str!("monitor.rs"),
        include_str!("memory.rs"),
    ];
    for name in names {
        let expected = format!("Violation::{name}");
        assert!(
            files.iter().any(|file| file.contains(&expected)),
            "{expected} has no row"
        );
    }
}
