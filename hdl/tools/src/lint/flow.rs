//! Paths: every assigned signal must be assigned on every path, and before it is read.
//!
//! Rust keeps the old value of a signal that a path does not assign, and evaluates a kernel again
//! until nothing changes. Verilog makes a latch of the first, and reads the old value in the
//! second. Defaults at the top of the kernel cure both.
use super::finding::{Report, Rule};
use super::render::render;
use super::scope::Scope;
use super::shape::constant;
use rust_hdl::core::ast::{
    VerilogBlock, VerilogBlockOrConditional, VerilogExpression, VerilogMatch, VerilogStatement,
};
use rust_hdl::core::verilog_visitor::walk_expression;
use rust_hdl::prelude::VerilogVisitor;
use std::collections::BTreeMap;

const NEEDS_DEFAULT: &str =
    "some path leaves (part of) it unassigned, a latch in Verilog: assign a \
     default at the top of the kernel";
const READ_TOO_EARLY: &str = "read above its assignment: Rust evaluates again, Verilog keeps the \
     old value; move the assignment up";

/// Refuses latches and early reads in the unrolled `kernel`.
pub(super) fn check(kernel: &VerilogBlock, scope: &Scope, report: &mut Report) {
    let mut targets = Covered::default();
    collect_targets(kernel, scope, &mut targets);
    let mut flow = Flow {
        scope,
        report,
        targets: &targets,
    };
    let covered = flow.block(kernel, Covered::default());
    for name in targets.bits.keys() {
        if !covered.holds(name, 0, width_of(name, scope)) {
            flow.report.add(Rule::Latch, name.clone(), NEEDS_DEFAULT);
        }
    }
}

/// Which bits of which signals are assigned.
#[derive(Clone, Default)]
struct Covered {
    bits: BTreeMap<String, Vec<bool>>,
}

impl Covered {
    fn add(&mut self, name: &str, width: usize, start: usize, count: usize) {
        let bits = self
            .bits
            .entry(name.to_string())
            .or_insert_with(|| vec![false; width]);
        let end = (start + count).min(width);
        bits[start.min(end)..end].fill(true);
    }

    fn holds(&self, name: &str, start: usize, count: usize) -> bool {
        let bits = self.bits.get(name);
        bits.is_some_and(|bits| bits.iter().skip(start).take(count).all(|&bit| bit))
    }

    fn keep_common(&mut self, other: &Self) {
        self.bits.retain(|name, _| other.bits.contains_key(name));
        for (name, bits) in &mut self.bits {
            bits.iter_mut()
                .zip(&other.bits[name])
                .for_each(|(mine, &theirs)| *mine &= theirs);
        }
    }
}

fn width_of(name: &str, scope: &Scope) -> usize {
    scope.declared.get(name).map_or(1, |declared| declared.bits)
}

/// The signal and bit range that `statement` assigns.
fn target<'a>(
    statement: &'a VerilogStatement,
    scope: &Scope,
) -> Option<(&'a str, usize, usize, usize)> {
    match statement {
        VerilogStatement::Assignment(VerilogExpression::Signal(name), _) => {
            let width = width_of(name, scope);
            Some((name, width, 0, width))
        }
        VerilogStatement::SliceAssignment {
            base: VerilogExpression::Signal(name),
            width,
            offset,
            ..
        } => Some((name, width_of(name, scope), constant(offset)?, *width)),
        _ => None,
    }
}

fn collect_targets(block: &VerilogBlock, scope: &Scope, targets: &mut Covered) {
    for statement in block {
        if let Some((name, width, start, count)) = target(statement, scope) {
            targets.add(name, width, start, count);
        }
        match statement {
            VerilogStatement::If(conditional) => {
                collect_targets(&conditional.then, scope, targets);
                if let VerilogBlockOrConditional::Block(block) = &conditional.otherwise {
                    collect_targets(block, scope, targets);
                }
            }
            VerilogStatement::Match(choice) => {
                choice
                    .cases
                    .iter()
                    .for_each(|case| collect_targets(&case.block, scope, targets));
            }
            _ => {}
        }
    }
}

struct Flow<'a> {
    scope: &'a Scope,
    report: &'a mut Report,
    targets: &'a Covered,
}

impl Flow<'_> {
    /// What is assigned after `block`, given what was assigned `before`.
    fn block(&mut self, block: &VerilogBlock, before: Covered) -> Covered {
        block.iter().fold(before, |covered, statement| {
            self.statement(statement, covered)
        })
    }

    fn statement(&mut self, statement: &VerilogStatement, mut covered: Covered) -> Covered {
        match statement {
            VerilogStatement::Assignment(_, value) => self.read(value, &covered),
            VerilogStatement::SliceAssignment { replacement, .. } => {
                self.read(replacement, &covered);
            }
            VerilogStatement::If(conditional) => {
                self.read(&conditional.test, &covered);
                let mut then = self.block(&conditional.then, covered.clone());
                let otherwise = match &conditional.otherwise {
                    VerilogBlockOrConditional::Block(block) => self.block(block, covered),
                    _ => covered,
                };
                then.keep_common(&otherwise);
                return then;
            }
            VerilogStatement::Match(choice) => return self.choice(choice, covered),
            _ => {}
        }
        if let Some((name, width, start, count)) = target(statement, self.scope) {
            covered.add(name, width, start, count);
        }
        covered
    }

    fn choice(&mut self, choice: &VerilogMatch, covered: Covered) -> Covered {
        self.read(&choice.test, &covered);
        let after: Vec<Covered> = choice
            .cases
            .iter()
            .map(|case| self.block(&case.block, covered.clone()))
            .collect();
        // Without a default arm, a value that no label names leaves everything as it was; an enum
        // of three variants has a fourth code in hardware.
        let codes = match &choice.test {
            VerilogExpression::Signal(name) => {
                1usize.checked_shl(width_of(name, self.scope) as u32)
            }
            _ => None,
        };
        let is_complete = choice.cases.iter().any(|case| case.condition == "default")
            || codes == Some(choice.cases.len());
        let start = if is_complete { None } else { Some(covered) };
        let mut all = start.into_iter().chain(after);
        let mut common = all.next().unwrap_or_default();
        all.for_each(|case| common.keep_common(&case));
        common
    }

    fn read(&mut self, expression: &VerilogExpression, covered: &Covered) {
        let mut reads = Reads::default();
        reads.visit_expression(expression);
        for (name, range) in reads.found {
            let (start, count) = range.unwrap_or((0, width_of(&name, self.scope)));
            let is_target = self.targets.bits.contains_key(&name);
            if is_target && !covered.holds(&name, start, count) {
                let whole = format!("{name} in {}", render(expression));
                self.report
                    .add(Rule::ReadBeforeWrite, whole, READ_TOO_EARLY);
            }
        }
    }
}

/// Signals that an expression reads, with the bit range where it is constant.
#[derive(Default)]
struct Reads {
    found: Vec<(String, Option<(usize, usize)>)>,
}

impl VerilogVisitor for Reads {
    fn visit_expression(&mut self, expression: &VerilogExpression) {
        use VerilogExpression as E;
        let (base, bits, offset) = match expression {
            E::Signal(name) => return self.found.push((name.clone(), None)),
            E::Slice(base, bits, offset) => (base, *bits, offset),
            E::Index(base, offset) => (base, 1, offset),
            _ => return walk_expression(self, expression),
        };
        match (base.as_ref(), constant(offset)) {
            (E::Signal(name), Some(start)) => self.found.push((name.clone(), Some((start, bits)))),
            _ => walk_expression(self, expression),
        }
    }
}
