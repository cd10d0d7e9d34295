//! Emission lint: refuses kernels whose Verilog would differ from the Rust that was simulated.
//!
//! Enters a block; leaves the list of findings, each with block path, rule and expression. The
//! rules are the rows of the trap tables of `docs/rust-hdl.md`:
//!
//! | module    | refuses                                                                       |
//! |-----------|-------------------------------------------------------------------------------|
//! | `names`   | keywords as names, undeclared names, bad indices, labels that do not translate |
//! | `shape`   | precedence that Verilog reads otherwise, slices of expressions or past the end |
//! | `width`   | results that have more bits in Verilog than in Rust where those bits count     |
//! | `flow`    | signals not assigned on every path (latches), reads before the assignment      |
//!
//! The lint reads the public syntax tree (`Block::accept`, `node.hdl()`) with all loops unrolled.
//! `Verilog::Custom` and `Wrapper` text is not read: the lockstep test of each leaf covers it.

mod flow;
mod keywords;
mod names;
mod render;
mod scope;
mod shape;
mod width;

#[cfg(test)]
mod tests;

use rust_hdl::prelude::*;
use std::fmt;

/// Which rule a kernel breaks.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A port, wire, instance or module is called like a Verilog or SystemVerilog keyword.
    Keyword,
    /// A name that no declaration in the module carries.
    UnknownName,
    /// An array index that is not arithmetic of loop variables and numbers, or is negative.
    ArrayIndex,
    /// A match label that Verilog does not read as Rust does.
    MatchLabel,
    /// Verilog's precedence groups the expression differently.
    Precedence,
    /// A slice or bit of something that is not a plain vector.
    SliceOfExpression,
    /// A slice or bit beyond the width of its signal.
    PastTheEnd,
    /// An operator that does not translate.
    Operator,
    /// A result that is wider in Verilog than in Rust, where the extra bits change the outcome.
    Width,
    /// A signal that some path through the kernel does not assign.
    Latch,
    /// A Local or an output that is read above its assignment.
    ReadBeforeWrite,
}

/// One refusal.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Path of the block from the top, joined by `$`.
    pub block: String,
    /// The rule that is broken.
    pub rule: Rule,
    /// The expression or name, as it would be emitted.
    pub expression: String,
    /// What to write instead.
    pub remedy: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            block,
            rule,
            expression,
            remedy,
        } = self;
        write!(formatter, "{block}: {rule:?}: `{expression}`: {remedy}")
    }
}

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

/// Collects findings under the path of the block at hand, each once.
#[derive(Default)]
struct Report {
    block: String,
    findings: Vec<Finding>,
}

impl Report {
    fn add(&mut self, rule: Rule, expression: String, remedy: &'static str) {
        let known = |finding: &Finding| {
            finding.block == self.block && finding.rule == rule && finding.expression == expression
        };
        if !self.findings.iter().any(known) {
            let block = self.block.clone();
            self.findings.push(Finding {
                block,
                rule,
                expression,
                remedy,
            });
        }
    }
}
