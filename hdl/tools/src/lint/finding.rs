//! Findings of the lint, and the report that collects them.

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

/// Collects findings under the path of the block at hand, each once.
#[derive(Default)]
pub(super) struct Report {
    pub(super) block: String,
    pub(super) findings: Vec<Finding>,
}

impl Report {
    pub(super) fn add(&mut self, rule: Rule, expression: String, remedy: &'static str) {
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
