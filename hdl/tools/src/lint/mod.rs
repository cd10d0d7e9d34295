//! Emission lint: refuses kernels whose Verilog would differ from the Rust that was simulated.
//!
//! Enters a block; leaves the list of findings, each with block path, rule and expression. The
//! rules are the rows of the trap tables of `docs/rust-hdl.md`:
//!
//! | module  | refuses                                                                        |
//! |---------|--------------------------------------------------------------------------------|
//! | `names` | keywords as names, undeclared names, bad indices, labels that do not translate |
//! | `shape` | precedence that Verilog reads otherwise, slices of expressions or past the end |
//! | `width` | results that have more bits in Verilog than in Rust where those bits count     |
//! | `flow`  | signals not assigned on every path (latches), reads before the assignment      |
//!
//! The lint reads the public syntax tree (`Block::accept`, `node.hdl()`) with all loops unrolled.
//! `Verilog::Custom` and `Wrapper` text is not read: the lockstep test of each leaf covers it.

mod finding;
mod flow;
mod keywords;
mod names;
mod render;
mod scope;
mod shape;
mod width;

#[cfg(test)]
mod tests;

pub use finding::{Finding, Rule};

use finding::Report;
use rust_hdl::prelude::*;

/// Everything the lint refuses in `block` and below, the top module being called `name`.
pub fn findings<B: Block>(name: &str, block: &B) -> Vec<Finding> {
    let mut report = Report::default();
    for scope in scope::collect(name, block) {
        report.block = scope.path.join("$");
        names::check_declarations(&scope, &mut report);
        let Some(code) = &scope.code else { continue };
        // A kernel with unresolved names has no widths to judge: report the names alone.
        let before = report.findings.len();
        let kernel = names::resolve(code, &scope, &mut report);
        if report.findings.len() == before {
            shape::check(&kernel, &scope, &mut report);
        }
        if report.findings.len() == before {
            width::check(&kernel, &scope, &mut report);
            flow::check(&kernel, &scope, &mut report);
        }
    }
    report.findings
}
